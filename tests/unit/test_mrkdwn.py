"""Slack's notation to readable text, and text to safe notation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.mrkdwn import DIRECTIONS, bare, escape, link, mentions, readable, safe_url, tidy, without_mention

BOT = "U0BOT00001"


def test_a_question_full_of_markup_reads_as_a_person_would_read_it() -> None:
    text = (
        "<@U0BOT00001> does <@U0ONA00001> know if R&amp;D &lt; 5 items in <#C0SHIP0001|ship-room> follow "
        "<https://docs.example.test/a?x=1&amp;y=2|the guide>? <!here> <!subteam^S01|@leads> "
        "<!date^1893456000^{date}|1 Jan 2030> :wave:"
    )
    assert readable(without_mention(text, BOT), {"U0ONA00001": "Ona"}) == (
        "does @Ona know if R&D < 5 items in #ship-room follow the guide https://docs.example.test/a?x=1&y=2 ? "
        "@here @leads 1 Jan 2030 :wave:"
    )


@pytest.mark.parametrize("text", ["<@U0BOT00001> why?", "why? <@U0BOT00001>", "why<@U0BOT00001|footnote>: ?"])
def test_the_bots_mention_goes_wherever_it_stands(text: str) -> None:
    assert BOT not in without_mention(text, BOT)
    assert "why" in without_mention(text, BOT)


def test_entities_are_decoded_once() -> None:
    assert readable("&amp;lt; &amp;amp;", {}) == "&lt; &amp;"


def test_somebody_without_a_name_is_shown_by_id() -> None:
    assert readable("ask <@U1><@U2> in <#C1>", {}) == "ask @U1@U2 in #C1"


def test_a_link_without_a_label_and_an_address_for_mail_are_shown_once() -> None:
    assert readable("<https://a.example> <mailto:x@a.example|x@a.example>", {}) == "https://a.example x@a.example"


@pytest.mark.parametrize("text", ["help", "“help”", "help\u200b", "  ＨＥＬＰ", "Help!", "help :wave:"])
def test_help_is_understood_however_it_is_typed(text: str) -> None:
    assert bare(text) == "help"


def test_curly_quotes_become_straight_and_odd_spaces_plain() -> None:
    assert tidy("“a\u00a0b” ‘c’\u202fd") == "\"a b\" 'c' d"


def test_joiners_stay_where_scripts_and_emoji_need_them() -> None:
    assert tidy("می\u200cخواهم 👩\u200d💻 a\u200db") == "می\u200cخواهم 👩\u200d💻 ab"


def test_a_title_with_every_special_character_makes_one_link() -> None:
    made = link("https://docs.example.test/a b|c.md", "A <b> & C | D > E]")
    assert made == "<https://docs.example.test/a%20b%7Cc.md|A &lt;b&gt; &amp; C ¦ D &gt; E]>"


def test_an_address_that_is_not_for_a_browser_makes_no_link() -> None:
    assert safe_url("javascript:alert(1)") == ""
    assert link("javascript:alert(1)", "here") == "here"


def test_an_address_is_escaped_but_never_twice() -> None:
    assert link("https://a.example/x?y=1&z=%20", "l") == "<https://a.example/x?y=1&amp;z=%20|l>"


def test_mentions_are_found_by_id() -> None:
    assert mentions("<@U1> <@W2|x> <#C3|general> <!here>") == ({"U1", "W2"}, {"C3"})


def test_a_document_does_not_turn_the_text_beside_it() -> None:
    assert escape("\u202egpj.exe\u202c & \u2067x\u2069") == "gpj.exe &amp; x"


@given(st.text().filter(lambda text: not DIRECTIONS.search(text)))
def test_escaped_text_is_read_back_as_it_was_and_holds_no_live_entity(text: str) -> None:
    shown = escape(text)
    assert "<" not in shown
    assert ">" not in shown
    assert shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == text
