"""The list of removals fits the code: each edit's text is there once, and its tests exist."""

import pytest

from tests.mutations import CHECKOUT, Mutation, mutations


@pytest.mark.parametrize("mutation", mutations(), ids=lambda mutation: mutation.removes)
def test_what_is_removed_is_there_to_be_removed(mutation: Mutation) -> None:
    text = (CHECKOUT / mutation.file).read_text(encoding="utf-8")
    assert mutation.applied(text) != text
    assert (CHECKOUT / mutation.tests[0]).is_file()


def test_an_edit_that_fits_no_more_is_an_error() -> None:
    with pytest.raises(ValueError, match="0 times"):
        Mutation("a rule", "file.py", "there", "", ()).applied("gone")
