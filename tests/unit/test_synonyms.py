"""Words of the same meaning, and what they count when quotes are chosen."""

import pytest

from knowledge import analysis
from knowledge.evidence import Evidence
from knowledge.scores import HEADING_SHARE, SYNONYM_SHARE, score
from knowledge.synonyms import GROUPS, others
from tests.unit.test_extractive import ALL_RARE, given
from tests.unit.test_grounding import passage


def stem(word: str) -> str:
    [term] = analysis.stems(word)
    return term


@pytest.mark.parametrize(
    ("asked", "written"), [("ill", "sickness"), ("payday", "paid"), ("kids", "child"), ("crashed", "accidents")]
)
def test_words_that_say_the_same_are_known_in_all_their_forms(asked: str, written: str) -> None:
    assert stem(written) in others(stem(asked))
    assert stem(asked) in others(stem(written))


def test_a_word_in_two_groups_says_the_same_as_both_which_do_not_as_each_other() -> None:
    assert {stem("telephone"), stem("dial")} <= others(stem("phone"))
    assert stem("telephone") not in others(stem("dial"))


def test_most_words_have_no_others_and_none_is_its_own() -> None:
    assert others(stem("anthem")) == frozenset()
    for word in GROUPS.read_text(encoding="utf-8").split():
        assert stem(word) not in others(stem(word))


def test_every_word_of_a_group_is_one_word_with_a_meaning() -> None:
    for line in GROUPS.read_text(encoding="utf-8").splitlines():
        assert len({stem(word) for word in line.split()}) > 1, line


@pytest.mark.parametrize(
    ("text", "share"),
    [("The doctor waits.", 1.0), ("A physician waits.", SYNONYM_SHARE), ("A nurse waits.", 0.0)],
)
def test_another_word_of_the_same_meaning_counts_a_little_less(text: str, share: float) -> None:
    [only] = score("doctor", given(text), ALL_RARE, None)
    assert only.plain == pytest.approx(share)


def test_in_a_heading_it_counts_as_little_less_than_the_word_itself_there() -> None:
    evidence = [Evidence.of(passage("Wait here.", 1, ("Doctors",)))]
    [same], [alike] = (score(word, evidence, ALL_RARE, None) for word in ("doctor", "physician"))
    assert same.plain == pytest.approx(HEADING_SHARE)
    assert alike.plain == pytest.approx(HEADING_SHARE * SYNONYM_SHARE)
