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


def test_readers_that_changed_are_told_without_saying_that_they_are_fewer() -> None:
    """From one channel to the whole workspace some lose and many win."""
    outcome = SyncOutcome("handbook", narrowed=9)
    assert outcome.summary() == "handbook: 9 with other readers (0 chunks encoded, 0.0 s)"
    assert outcome.as_json()["narrowed"] == 9
