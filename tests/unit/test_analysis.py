"""Text -> terms: what people type finds what documents say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge import analysis


def meets(question: str, document: str) -> bool:
    return bool(set(analysis.terms(question)) & set(analysis.terms(document)))


@pytest.mark.parametrize(
    "question",
    [
        "What's your password policy?",
        "What’s your password policy?",
        "users' password",
        "PASSWORDS",
        "ｐａｓｓｗｏｒｄ",
    ],
)
def test_prose_is_found_whatever_its_case_quotes_number_or_width(question: str) -> None:
    assert meets(question, "Password policies: change it twice a year.")


@pytest.mark.parametrize("name", ["OʼBrien", "OʻBrien", "O＇Brien", "O′Brien", "O’Brien", "o'brien"])
def test_every_quote_like_character_is_an_apostrophe(name: str) -> None:
    assert analysis.terms(name) == analysis.terms("O'Brien")


LINE = "Pool kite_pool_v2 in /srv/kite/conf.d/pool.yaml of v2.14.0-rc.1 raised ERR_CONN_4012; see net.kite.KitePoolManager, "
LINE += "--max-idle=30, C++ and C#, ops@kite.test"


@pytest.mark.parametrize(
    "identifier",
    [
        "kite_pool_v2",
        "pool.yaml",
        "conf.d",
        "/srv/kite/conf.d/pool.yaml",
        "v2.14.0-rc.1",
        "2.14",
        "2.14.0",
        "ERR_CONN_4012",
        "err_conn_4012",
        "net.kite.KitePoolManager",
        "--max-idle",
        "C++",
        "C#",
        "ops@kite.test",
    ],
)
def test_an_identifier_is_kept_whole_and_found_as_typed(identifier: str) -> None:
    wholes = [t for t in analysis.terms(identifier) if t.startswith("=")]
    assert wholes
    assert set(wholes) & set(analysis.terms(LINE))


@pytest.mark.parametrize("part", ["pool manager", "error 4012", "kite", "rc", "idle"])
def test_an_identifier_is_found_by_its_parts(part: str) -> None:
    assert meets(part, LINE)


def test_a_code_without_joiners_is_one_term_and_its_number_another() -> None:
    assert "e4012" in analysis.terms("E4012")
    assert "4012" in analysis.terms("E4012")


def test_a_brand_name_is_not_taken_apart() -> None:
    assert analysis.terms("GitHub")[0] == "github"
    assert not meets("hub", "GitHub")
    assert meets("user id", "getUserById")


def test_accents_fold_and_other_marks_stay() -> None:
    assert analysis.terms("Café naïve") == analysis.terms("cafe naive")
    assert analysis.terms("ガス") != analysis.terms("カス")


@pytest.mark.parametrize("question", ["who are you", "what is it?", "???", "   ", "the", "don't", "can’t"])
def test_function_words_and_punctuation_have_no_terms(question: str) -> None:
    assert analysis.terms(question) == []


@pytest.mark.parametrize("question", ["緊急停止コード", "七七三一", "緊急停止コードは何ですか"])
def test_scripts_without_spaces_are_found_by_pairs_of_characters(question: str) -> None:
    assert meets(question, "非常時は緊急停止コード七七三一を入力してください。")


def test_spans_point_at_the_word_of_each_term() -> None:
    text = "Où est “foo_bar”?"
    words = {text[t.start : t.end] for t in analysis.spans(text)}
    assert words == {"Où", "est", "foo_bar"}


@given(st.text(max_size=300))
def test_any_text_is_safe_and_gives_non_empty_terms_within_its_bounds(text: str) -> None:
    for term in analysis.spans(text):
        assert term.term
        assert 0 <= term.start < term.end <= len(text)


@given(st.text(max_size=300))
def test_clean_text_can_be_stored(text: str) -> None:
    cleaned = analysis.clean(text + "\x00\ud800")
    cleaned.encode("utf-8")
    assert "\x00" not in cleaned
    assert analysis.clean(cleaned) == cleaned


def test_a_megabyte_without_spaces_is_one_term() -> None:
    assert len(analysis.terms("a" * 1_000_000)) == 1
