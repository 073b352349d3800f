"""Answers as Slack messages: within every limit, nothing live in them, nothing lost."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot import blocks, home, review, review_wording, right_source, wording
from bot.blocks import Post
from bot.local_slack.validation import check_message_blocks, check_view
from bot.markdown import pieces
from bot.parts import cut
from bot.table import columns
from knowledge.answers import Answer, Citation, Notice, Strength
from knowledge.catalog import Failures, SourceState
from knowledge.gold import GoldCase
from knowledge.labels import Label
from knowledge.passages import Found
from knowledge.replied import Replied
from knowledge.reviews import Waiting
from knowledge.votes import Tally

URL = "https://docs.example.test/x"


def citation(n: int = 1, title: str = "Leave", url: str = URL, path: tuple[str, ...] = ("Carrying over",)) -> Citation:
    return Citation(n, n, n, title, url, path, "quote", datetime(2026, 3, 3, tzinfo=UTC), frozenset({"workspace"}))


def posted(text: str, *citations: Citation) -> tuple[Post, ...]:
    """The messages of an answer, each checked as Slack would."""
    made = blocks.answer("abc", text, citations or (citation(),))
    for post in made:
        check_message_blocks(list(post.blocks))
        assert len(post.text) <= blocks.FALLBACK_CHARS
    return made


def markdown(posts: tuple[Post, ...]) -> str:
    return "\n\n".join(b["text"] for post in posts for b in post.blocks if b["type"] == "markdown")


def test_markdown_is_shown_as_meant_in_both_notations() -> None:
    text = (
        "## Steps\n**Do** this & *that*, see [label](https://a.example.test/x?y=1&z=2).\n\n"
        "1. one\n   - two\n\n~~old~~\n\n```python\nx = 1\n```"
    )
    (post,) = posted(text, citation(url="https://a.example.test/x?y=1&z=2"))
    assert "[label](https://a.example.test/x?y=1&z=2)" in markdown((post,))
    assert "```python\nx = 1\n```" in markdown((post,))
    assert post.text.startswith("*Steps*\n*Do* this &amp; _that_, see <https://a.example.test/x?y=1&amp;z=2|label>.")
    assert "&amp;amp;" not in str(post)
    assert "**" not in post.text


def test_a_table_is_a_native_table_with_working_links() -> None:
    (post,) = posted(f"| Name | Link |\n|---|--:|\n| A | [doc]({URL}) |\n| | **b** |")
    table = next(b for b in post.blocks if b["type"] == "table")
    assert table["rows"][0] == [{"type": "raw_text", "text": "Name"}, {"type": "raw_text", "text": "Link"}]
    assert {"type": "link", "url": URL, "text": "doc"} in table["rows"][1][1]["elements"][0]["elements"]


def test_of_several_tables_in_one_message_the_first_is_native_and_the_others_text_because_slack_takes_one_each() -> (
    None
):
    (post,) = posted("| a | b |\n|---|---|\n| 1 | x |\n\nand\n\n| c | d |\n|---|---|\n| 22 | y [1] |")
    assert [block["type"] for block in post.blocks][:2] == ["table", "markdown"]
    assert "and\n\n```\nc   d\n--  -----\n22  y [1]\n```" in markdown((post,))


def test_a_further_table_that_fills_a_message_of_its_own_is_native_there() -> None:
    tables = [f"| {name} |\n|---|\n" + f"| {'x' * 400} |\n" * 20 for name in "ab"]
    posts = posted("\n\n".join(tables))
    assert [[block["type"] for block in post.blocks].count("table") for post in posts] == [1, 1]


def test_a_table_beyond_slacks_limits_becomes_aligned_text() -> None:
    rows = "\n".join(f"| {n} | {'x' * 5} |" for n in range(150))
    posts = posted(f"| n | x |\n|---|---|\n{rows}")
    assert not [b for post in posts for b in post.blocks if b["type"] == "table"]
    assert "149  xxxxx" in markdown(posts)


def test_a_table_too_wide_for_either_becomes_a_list_of_its_rows() -> None:
    names = [f"Column {n}" for n in range(25)]
    rows = "\n".join("|" + "|".join(f"{row}.{n}" if n else "" for n in range(25)) + "|" for row in range(3))
    (post,) = posted(f"|{'|'.join(names)}|\n|{'---|' * 25}\n{rows}")
    lines = markdown((post,)).split("\n")
    assert [line[:30] for line in lines] == [f"- **Column 1**: {row}.1 · **Column" for row in range(3)]
    assert "•" in post.text


def test_a_second_table_that_a_thread_would_wrap_becomes_a_list_of_its_rows() -> None:
    calls = "| Call | Does |\n|---|---|\n| `releaseTourLock` | gives up a lock that a planner left behind |"
    (post,) = posted(f"| a | b |\n|---|---|\n| 1 | 2 |\n\n{calls}")
    assert [b["type"] for b in post.blocks].count("table") == 1
    shown = "- **Call**: `releaseTourLock` · **Does**: gives up a lock that a planner left behind"
    assert shown in markdown((post,))


def test_columns_line_up_where_characters_are_twice_as_wide() -> None:
    rows = "\n".join(f"| {'日' * (n % 3)} | x |" for n in range(101))
    (post,) = posted(f"| 区分 | x |\n|---|---|\n{rows}")
    lines = markdown((post,)).split("\n")
    assert {columns(line.partition("x")[0]) for line in lines if "x" in line} == {6}


def test_a_list_stays_within_its_item() -> None:
    (post,) = posted("1. first\n   - inner\n\n     3. deep\n2. second\n\n   more of it\n\n   ```sh\n   make\n   ```")
    shown = "1. first\n   - inner\n\n     3. deep\n2. second\n\n   more of it\n\n   ```sh\n   make\n   ```"
    assert markdown((post,)) == shown


def test_only_what_would_mean_something_is_escaped() -> None:
    text = "R&D, AT&amp;T, 5 > 3, &amp;amp; &lt;b>\n\n\\> no quote, in*word*s [1]"
    (post,) = posted(text)
    assert markdown((post,)) == "R&D, AT&T, 5 > 3, &amp;amp; &lt;b>\n\n\\> no quote, in*word*s [1]"


def test_an_address_without_a_label_keeps_its_underscores_and_is_a_link_when_it_is_a_source() -> None:
    wiki = "https://docs.example.test/wiki/Leave_(annual)?a=1&b_=2"
    (post,) = posted(f"See {wiki}. Not https://other.example.test/a_(b)!", citation(url=wiki))
    target = wiki.replace("(", "%28").replace(")", "%29")
    assert f"]({target}). Not https://other.example.test/a_(b)!" in markdown((post,))
    assert markdown((post,)).count("](") == 1


def test_a_right_to_left_title_leaves_number_and_date_where_they_are() -> None:
    (post,) = posted("x [1]", citation(title="חופשה", path=()))
    assert post.blocks[1]["elements"][0]["text"] == f"[1] <{URL}|\u2068חופשה\u2069> · 3 Mar 2026"


def test_a_heading_alone_is_an_answer() -> None:
    (post,) = posted("# Annual leave")
    assert markdown((post,)) == "# Annual leave"
    assert post.text == "*Annual leave*"


@pytest.mark.parametrize("live", ["<!channel>", "<!here>", "<!everyone>", "<!subteam^S1>", "<@U0BOSS0001>", "<#C1>"])
@pytest.mark.parametrize("place", ["{}", "**{}**", "`{}`", "```\n{}\n```", "| a |\n|---|\n| {} |", "> {}", "- {}"])
def test_nothing_from_a_document_notifies_anybody(live: str, place: str) -> None:
    made = posted(place.format(live), citation(title=live, path=(live,)))
    assert live not in json.dumps([b for post in made for b in post.blocks if b["type"] != "table"])
    assert live not in " ".join(post.text for post in made)


def test_a_link_that_is_no_source_loses_its_address() -> None:
    text = f"See <{URL}|the page>, <https://evil.example.test|other> and [third](https://evil.example.test)."
    (post,) = posted(text)
    assert post.text.startswith(f"See <{URL}|the page>, other and third.")
    assert "evil" not in str(post)


def test_a_title_full_of_special_characters_is_one_working_link() -> None:
    (post,) = posted("x [1]", citation(title="A <b> & C | D > E]", url="https://docs.example.test/a b|c.md", path=()))
    shown = "<https://docs.example.test/a%20b%7Cc.md|A &lt;b&gt; &amp; C ¦ D &gt; E]> · 3 Mar 2026"
    assert f"[1] {shown}" in str(post.blocks)


def test_a_document_without_a_title_is_called_by_its_path() -> None:
    (post,) = posted("x [1]", citation(title="", path=(), url="https://docs.example.test/handbook/leave.md"))
    assert "|leave.md>" in str(post.blocks)


def test_a_very_long_answer_comes_in_parts_and_the_sources_in_the_last() -> None:
    code = "\n".join(f"line {n} of the program" for n in range(270))
    prose = " ".join(f"Sentence {n} says something [1]." for n in range(160))
    posts = posted(f"{prose}\n\n```text\n{code}\n```\n\n{prose[:4000]}", citation())
    assert len(posts) == 2
    assert all(b["text"].count("```") % 2 == 0 for post in posts for b in post.blocks if b["type"] == "markdown")
    assert [any(b["type"] == "context_actions" for b in post.blocks) for post in posts] == [False, True]
    assert all(f"line {n} of" in markdown(posts) for n in range(270))


def test_a_code_block_is_closed_and_opened_again_where_it_is_cut() -> None:
    parts = cut("```js\n" + "abc def\n" * 900 + "```", 3_000)
    assert all(part.startswith("```js\n") and part.endswith("\n```") and len(part) <= 3_000 for part in parts)
    assert sum(part.count("abc def") for part in parts) == 900


@pytest.mark.parametrize(("first", "more"), [("- x\n  ", "  "), ("> x\n> ", "> "), ("- ", "  "), ("10. ", "    ")])
def test_a_code_block_in_a_list_or_a_quotation_is_closed_and_opened_again_in_its_place(first: str, more: str) -> None:
    parts = cut(f"{first}```js\n" + f"{more}abc def\n" * 900 + f"{more}```\n\nafter", 3_000)
    assert all(len(part) <= 3_000 and part.count("```") == 2 for part in parts)
    assert all(part.startswith(f"{more}```js\n{more}abc") for part in parts[1:])
    assert sum(part.count("abc def") for part in parts) == 900


@pytest.mark.parametrize(
    "text",
    [
        "שלום **עולם** [1]",
        "年次有給休暇は**25日**です [1]。",
        "👩‍💻 **yes** :tada: [1]",
        "x" * 20_000,
        "word " * 5_000,
        "\\*no\\*",
    ],
)
def test_odd_answers_are_whole(text: str) -> None:
    made = markdown(posted(text))
    wanted = text.replace("**", "")
    assert "".join(made.replace("**", "").split()) == "".join(wanted.split())


def test_forty_sources_are_all_listed() -> None:
    posts = posted("x", *(citation(n, "T" * 190, f"https://docs.example.test/{'p' * 200}/{n}") for n in range(1, 41)))
    assert all(f"[{n}] <" in str(posts) for n in range(1, 41))


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab*_~`#>-|[]()<!@:/.1 \n\\&"), max_size=400))
def test_no_markdown_breaks_a_limit_or_pings(text: str) -> None:
    for piece in pieces(text, lambda url: True, 200):
        assert len(piece.markdown) <= 200 or piece.table
        assert "<!" not in piece.plain.replace("<\u200b", "")
        assert "<@" not in piece.plain
        assert "<!" not in piece.markdown


def state(name: str, error: str = "", failures: Failures | None = None) -> SourceState:
    return SourceState(name, "folder", 3, datetime(2026, 3, 3, tzinfo=UTC), error, failures or Failures())


def test_the_home_tab_is_a_view_that_slack_takes() -> None:
    failed = Failures((("a.pdf", "is scanned <b>"),), 2)
    shown = home.view_blocks(
        [state(f"s{n}", "gone", failed) for n in range(60)], ["why <&>?"] * 5, (3, 1), datetime(2026, 3, 9, tzinfo=UTC)
    )
    check_view({"type": "home", "blocks": shown})
    assert "6 days ago" in str(shown)


def test_the_question_which_source_was_right_is_within_the_limits() -> None:
    many = [right_source.Candidate(n, "A very long title " * 20, ("Heading " * 300,)) for n in range(20)]
    post = right_source.ask("abc", many, "Which?")
    check_message_blocks(list(post.blocks))
    check_view(right_source.form("abc"))


def test_the_longest_questions_to_review_fit_into_one_message() -> None:
    """Slack refuses a message as a whole, and nobody would be asked."""
    places = tuple(Label("handbook", f"{'folder/' * 40}{n}.md", ("Heading " * 30,)) for n in range(9))
    long = "why & how? " * 500
    case = GoldCase(
        "g1", long, f"really {long}", frozenset(), places, "proposed", "vote", None, (), (), datetime.now(UTC)
    )
    reply = Replied("**Twenty** & <!channel> ```one``` days\n\n```\n" + "&<>" * 2_000)
    waiting = [Waiting(replace(case, id=f"g{n}"), places, 0, Tally(0, 1), None, reply) for n in range(5)]
    check_message_blocks([blocks.section(review_wording.TOLD), *review.pending_blocks(waiting, 9, on_tab=False)])
    on_tab = review.pending_blocks(waiting, 9, on_tab=True)
    check_view({"type": "home", "blocks": on_tab})
    assert "<!channel>" not in str(on_tab)
    assert str(on_tab).count("\\n> *Twenty* &amp; &lt;!channel&gt; `one` days\\n> ") == 5


AWAY = wording.NOTICES["unavailable"]


@pytest.mark.parametrize(
    ("strength", "notice", "said"),
    [
        (Strength(0.61, 0.41, 0.5), None, wording.QUOTED),
        (Strength(0.5, 0.41, 0.5), None, wording.QUOTED),
        (Strength(0.49, 0.41, 0.5), None, wording.doubtful(())),
        (Strength(0.61, 0.41, 0.5), Notice.UNAVAILABLE, f"{AWAY} {wording.QUOTED}"),
        (Strength(0.49, 0.41, 0.5), Notice.UNAVAILABLE, f"{AWAY} {wording.doubtful(())}"),
        (Strength(0.61, 0.41, 0.5, ("Tom", "CT-12")), None, wording.doubtful(("Tom", "CT-12"))),
        (
            Strength(0.61, 0.41, 0.5, (), ("I am *ill*. <!here> Who & when?",)),
            None,
            wording.doubtful((), ("I am ill. !here Who  when",)),
        ),
    ],
)
def test_quotes_on_weak_evidence_or_without_a_name_of_the_question_are_not_told_as_an_answer(
    strength: Strength, notice: Notice | None, said: str
) -> None:
    nothing = Found((), {}, "none", 1, {})
    quoted = Answer("a", "q?", "q?", "Words.", "quoted", (), (), nothing, notice=notice, strength=strength)
    assert blocks.lead(quoted, direct=True) == said


def test_the_question_for_which_nothing_was_found_is_named() -> None:
    said = wording.doubtful(("Tom",), ("Who pays",))
    assert "answers all of it: nothing I found mentions `Tom`, and I found nothing for “Who pays”." in said


def test_what_nothing_mentions_is_named() -> None:
    assert "nothing I found mentions `Tom` or `CT-12`." in wording.doubtful(("Tom", "CT-12"))
