"""Names in a question, and those of which nothing that was found says anything."""

import pytest

from knowledge.names import missing, names
from tests.unit.test_extractive import given


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What is the extension of Tom Feldberg?", ("Tom", "Feldberg")),
        ("Who is Anna's boss?", ("Anna",)),
        ("I think I'm lost. Where is Runa?", ("Runa",)),
        ("What does CT-12 mean?", ("CT-12",)),
        ("How much was it in 2024?", ("2024",)),
        ("What does Bosch error 512 mean?", ("Bosch", "512")),
        ("Who has extension 5011, and is room #12 free?", ("5011", "12")),
        ("Is a hotel for 150 euros fine with 20 people and form 3?", ()),
        ("Is the 2nd floor open on Monday?", ()),
        ("Do I get a 24h badge with 5GHz in May?", ()),
        ("How many days of leave do I get after 6 years?", ()),
        ("How Do I Book A Meeting Room In Oslo?", ()),
        ("Wie komme ich nach Jena?", ()),
    ],
)
def test_a_name_is_a_word_with_a_capital_a_code_or_a_year(question: str, found: tuple[str, ...]) -> None:
    assert names(question) == found


@pytest.mark.parametrize(
    ("question", "gone"),
    [
        ("What is the extension of Tom Feldberg?", ("Feldberg",)),
        ("What is the extension of Tom Feldmann?", ()),
        ("What is the extension of feldberg?", ()),
        ("What does the code CT-12 mean?", ("CT-12",)),
        ("What does the code CT-11 mean?", ()),
        ("What is in the section about Tom?", ()),
        ("What does the error 512 mean?", ("512",)),
        ("Who has the extension 5301?", ()),
        ("Who was in Section 9 of 2019?", ("2019",)),
        ("What did version 1 of the form say?", ("version 1",)),
        ("What does version 3.1 of the form say?", ()),
    ],
)
def test_missing_is_a_name_that_neither_a_passage_nor_its_headings_have(question: str, gone: tuple[str, ...]) -> None:
    evidence = given("Tom Feldmann has extension 5301.", "The code CT-11 is for 1 shutter, see form v3.1.")
    assert missing(question, evidence) == gone
