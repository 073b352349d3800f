"""What somebody mistyped, and the names that they may have meant."""

import pytest

from knowledge.spelling import nearest

NAMES = ("Annual leave", "Annual leave and other absences of full-time staff", "Invoices", "Data base", "leave.md")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Anual leave", ["Annual leave", "Annual leave and other absences of full-time staff"]),
        ("INVOICE", ["Invoices"]),
        ("absenses of staf", ["Annual leave and other absences of full-time staff"]),
        ("moon base", []),
        ("a trip to the moon and its base", []),
        ("data about trips to the moon", []),
        ("?", []),
        ("", []),
    ],
)
def test_the_nearest_names_come_first_and_far_ones_not_at_all(typed: str, meant: list[str]) -> None:
    assert nearest(typed, NAMES, 3) == meant


def test_no_more_than_the_limit_are_named() -> None:
    assert nearest("Invoice", [f"Invoices {year}" for year in range(2000, 2020)], 3) == [
        "Invoices 2019",
        "Invoices 2018",
        "Invoices 2017",
    ]
