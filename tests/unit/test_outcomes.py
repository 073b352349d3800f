"""What a sync says that it did."""

from knowledge.outcomes import SyncOutcome


def test_of_many_documents_with_one_reason_the_first_five_are_named() -> None:
    failed = tuple((f"{number}.md", "it has no text") for number in range(8))
    outcome = SyncOutcome("handbook", added=1, failed=(*failed, ("z.pdf", "encrypted")))
    _, *lines = outcome.summary().splitlines()
    assert lines == [
        *(f"  {number}.md: it has no text" for number in range(5)),
        "  and 3 more: it has no text (all in --json)",
        "  z.pdf: encrypted",
    ]
    assert len(outcome.as_json()["failed"]) == 9
