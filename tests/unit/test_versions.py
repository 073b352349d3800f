"""Two editions of a rule: both are quoted, and which of them is the newer one is told when their dates tell."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from knowledge.evidence import Evidence
from knowledge.extractive import choose, quote
from knowledge.quotable import units
from knowledge.scores import score
from knowledge.versions import DIFFER, EDITIONS, NEWER_EDITION_FIRST, NEWER_FIRST, beside
from tests.unit.test_extractive import ALL_RARE
from tests.unit.test_grounding import passage

QUESTION = "What may a hotel cost a night?"
OLD, NEW = "A hotel costs at most EUR 110 a night.", "A hotel costs at most EUR 135 a night."


def edition(text: str, number: int, title: str, year: int | None, section: str = "") -> Evidence:
    moment = datetime(year, 1, 1, tzinfo=UTC) if year else None
    return Evidence.of(
        replace(passage(text, number, (title, section or f"Part {number}")), title=title, updated_at=moment)
    )


def quoted(evidence: Sequence[Evidence], most: int = 1) -> str:
    scored = score(QUESTION, evidence, ALL_RARE, None)
    return quote(beside(choose(scored, QUESTION)[:most], scored, evidence), evidence, QUESTION).text


def both(note: str, first: str, second: str) -> str:
    return f"{note}\n\n> {first.rstrip('.')} [1].\n\n> {second.rstrip('.')} [2]."


def test_another_version_of_the_section_is_quoted_too_and_the_newer_one_first() -> None:
    evidence = [
        edition(OLD, 1, "Policy", 2025, "Hotels"),
        edition("We pay up to EUR 135.", 2, "Travel", 2026, "Hotels"),
    ]
    assert quoted(evidence).index("We pay up to EUR 135") < quoted(evidence).index("EUR 110")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (("Policy", 2025), ("Travel", 2026), both(NEWER_FIRST, NEW, OLD)),
        (("Policy 2025", 2026), ("Policy 2026", 2026), both(NEWER_FIRST, NEW, OLD)),
        (("Policy 2025", 2027), ("Policy 2026", 2026), both(NEWER_FIRST, NEW, OLD)),
        (("Policy", None), ("Travel", None), both(DIFFER, OLD, NEW)),
        (("Policy", None), ("Travel", 2020), both(NEWER_FIRST, NEW, OLD)),
    ],
)
def test_the_same_words_with_other_figures_are_another_version_and_differ(
    old: tuple[str, int | None], new: tuple[str, int | None], said: str
) -> None:
    assert quoted([edition(OLD, 1, *old), edition(NEW, 2, *new)]) == said


def test_what_is_no_version_comes_after_them_however_new_it_is() -> None:
    other = edition("What a night may cost is known.", 3, "News", 2030)
    found = quoted([edition(OLD, 1, "Policy", 2025), edition(NEW, 2, "Travel", 2026), other], 3)
    assert found == f"{both(NEWER_FIRST, NEW, OLD)}\n\n> What a night may cost is known [3]."


@pytest.mark.parametrize(
    "other",
    [
        "A hotel costs at most EUR 110 a night, with breakfast.",
        "Trains leave at 9:15 from platform 4.",
        "Nobody asks what a hotel costs.",
        "At most 3 nights.",
    ],
)
def test_the_same_figures_or_other_words_are_no_other_version(other: str) -> None:
    assert quoted([edition(OLD, 1, "Policy", 2025), edition(other, 2, "Travel", 2026)]) == (
        "> A hotel costs at most EUR 110 a night [1]."
    )


def test_of_a_year_that_the_question_names_that_version_comes_first() -> None:
    evidence = [edition(OLD, 1, "Policy 2025", 2025), edition(NEW, 2, "Policy 2026", 2026)]
    question = f"{QUESTION[:-1]} in 2025?"
    scored = score(question, evidence, ALL_RARE, None)
    found = quote(beside(choose(scored, question)[:1], scored, evidence, question), evidence, question)
    assert found.text == both(DIFFER, OLD, NEW)


def test_the_same_sentence_of_two_versions_is_told_once() -> None:
    evidence = [edition(OLD, 1, "Policy", 2025, "Hotels"), edition(OLD, 2, "Travel", 2026, "Hotels")]
    assert quoted(evidence) == "> A hotel costs at most EUR 110 a night [1]."


def test_numbers_of_steps_are_no_figures() -> None:
    steps = "1. Check the delivery note first.", "2. Check the delivery note first of all."
    assert quoted([edition(steps[0], 1, "Policy", 2025), edition(steps[1], 2, "Travel", 2026)]).count("[") == 1


def test_two_rules_of_one_document_are_no_versions() -> None:
    evidence = [edition(OLD, 1, "Policy", 2025), edition(NEW, 2, "Policy", 2025)]
    same = [Evidence.of(replace(each.passage, document_id=1)) for each in evidence]
    assert quoted(same) == "> A hotel costs at most EUR 110 a night [1]."


def editions(newer: str, older: str, as_of: tuple[int | None, int | None] = (2026, 2026)) -> list[Evidence]:
    """What the newer one says to the question has none of its words, so that the older one answers it best."""
    return [
        edition("A hotel may cost EUR 110 a night.", 1, older, as_of[1]),
        edition("Nights are paid in full. Keep the bill.", 2, newer, as_of[0], "Abroad"),
        edition("Take a train.", 2, newer, as_of[0], "Trains"),
    ]


@pytest.mark.parametrize(
    ("newer", "older", "as_of"),
    [
        ("Policy 2026", "Policy 2024", (2026, 2026)),
        ("Policy, version 2", "Policy v1", (2025, 2026)),
        ("Policy", "Policy old", (2025, 2026)),
    ],
)
def test_where_an_older_edition_answers_best_the_newer_one_is_quoted_first(
    newer: str, older: str, as_of: tuple[int, int]
) -> None:
    said = quoted(editions(newer, older, as_of))
    assert said == f"{NEWER_EDITION_FIRST}\n\n> Nights are paid in full [1].\n\n> A hotel may cost EUR 110 a night [2]."


def test_where_the_newest_edition_answers_best_an_older_one_is_not_looked_for() -> None:
    assert quoted(editions("Policy 2024", "Policy 2026")) == "> A hotel may cost EUR 110 a night [1]."


def test_editions_without_any_date_are_told_as_such() -> None:
    evidence = editions("Policy copy", "Policy final", (None, None))
    scored = score(QUESTION, evidence, ALL_RARE, None)
    both_of_them = [next(each.unit for each in scored if each.unit.index == index) for index in (0, 1)]
    assert quote(both_of_them, evidence, QUESTION).text.startswith(f"{EDITIONS}\n")


def test_an_edition_that_the_question_names_by_its_number_comes_first() -> None:
    evidence = editions("Policy v2", "Policy v1")
    question = f"{QUESTION[:-1]} by version 1?"
    scored = score(question, evidence, ALL_RARE, None)
    found = quote(beside(choose(scored, question)[:1], scored, evidence, question), evidence, question)
    assert found.text.startswith(f"{EDITIONS}\n\n> A hotel may cost EUR 110 a night [1].")


def test_that_two_further_quotes_differ_is_not_said_of_the_first_one() -> None:
    evidence = [
        edition("We meet on the 27th.", 3, "Other", 2030),
        edition(OLD, 1, "Policy", 2025),
        edition(NEW, 2, "T", 2026),
    ]
    found = [unit for index in range(3) for unit in units(evidence) if unit.index == index]
    assert quote(found, evidence, QUESTION).text.startswith("> We meet on the 27th [1].")
