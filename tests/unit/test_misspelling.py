"""Which words of a question may be misspelt, and what was meant."""

import pytest

from knowledge.misspelling import corrected, doubtful, edits, meant, unknown


def parts(word: str) -> int:
    """Of a model that has read every word but these."""
    return 2 if word in {"expences", "celler", "bicylce", "hollidays", "wifipass", "gefragt"} else 1


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("how do i get my expences back", ("expences",)),
        ("Where is Celler street?", ()),
        ("what is expences.md or celler/x?", ()),
        ("my lease ends", ()),
        ("expences, celler; bicylce?", ("expences", "celler", "bicylce")),
        ("expences celler bicylce hollidays", ()),
    ],
)
def test_doubtful_are_words_that_the_model_reads_in_parts_and_that_are_no_names(
    question: str, found: tuple[str, ...]
) -> None:
    assert doubtful(question, parts) == found


def test_an_edit_is_one_letter_more_less_or_other_or_two_that_changed_places() -> None:
    assert {"expenses", "expence", "expencess", "expecnes"} <= set(edits("expences"))
    assert not {"expences", "xpences", "pexences", "expense"} & set(edits("expences"))


def test_a_word_that_some_document_has_in_any_form_is_known() -> None:
    assert unknown(["expences", "celler"], {"expenc": 1}) == ("celler",)


@pytest.mark.parametrize(
    ("word", "counts", "found"),
    [
        ("expences", {"~expenses": 3, "~expencer": 1}, {"expences": "expenses"}),
        ("celler", {"~cellar": 2, "~seller": 9, "cellars": 7}, {"celler": "cellar"}),
        ("wifipass", {"~password": 7}, {}),
    ],
)
def test_meant_is_what_most_chunks_have_as_it_is_written(
    word: str, counts: dict[str, int], found: dict[str, str]
) -> None:
    assert meant({word: edits(word)}, counts) == found


def test_meant_is_sought_among_the_edits_that_were_counted() -> None:
    assert meant({"expences": ("expense", "expanse")}, {"~expanse": 1, "~expenses": 9}) == {"expences": "expanse"}


def test_only_whole_words_are_corrected() -> None:
    assert corrected("expences: see expences.md", {"expences": "expenses"}) == "expenses: see expences.md"
