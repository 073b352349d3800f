"""Titles of documents that are editions of one another."""

import pytest

from knowledge.editions import edition, versions_in, years_in


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Holiday policy 2024", "Holiday policy 2026"),
        ("Hire terms v1", "Hire terms, version 2"),
        ("hire_terms_V1.2", "Hire Terms (final) v1.10"),
        ("Price list old", "Price list 2026"),
        ("Travel policy", "Travel policy 2026"),
    ],
)
def test_titles_that_differ_in_a_year_or_a_version_are_editions_of_one_document(one: str, other: str) -> None:
    assert edition(one).is_of(edition(other))
    assert edition(other).is_of(edition(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Chapter 1", "Chapter 2"),
        ("Minutes January 2026", "Minutes February 2026"),
        ("Holiday policy 2024", "Sickness policy 2026"),
        ("Holiday policy 2026", "Holiday policy 2026"),
        ("2024", "2026"),
        ("FAQ", "FAQ"),
        ("Working from home", "Home, working from"),
    ],
)
def test_other_titles_and_equal_ones_are_not(one: str, other: str) -> None:
    assert not edition(one).is_of(edition(other))


def test_versions_are_compared_as_numbers() -> None:
    older, newer = edition("Terms v1.2").version, edition("Terms v1.10").version
    assert (older, newer) == ((1, 2), (1, 10))


def test_years_and_versions_are_read_from_a_question() -> None:
    assert years_in("What was it in 2024, and in 20245?") == {2024}
    assert versions_in("What is in version 1 and in V2.3, but not in valve 7?") == {(1,), (2, 3)}
