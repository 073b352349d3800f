"""Replies as a terminal shows them: plain text, no markup of Slack's. Pure."""

import json
from collections.abc import Sequence

from bot import review_wording, wording
from bot.blocks import label
from bot.facts import DIRECT
from bot.mrkdwn import unmarked
from bot.script import Reply, Turn, checked
from knowledge.answer_rows import StoredAnswer
from knowledge.answers import Answer, Citation
from knowledge.passages import Passage
from knowledge.why import Explanation

FOUND = 10
"""Passages listed of a search, if not more were given to be answered from."""


def reply(found: Answer, lead: str) -> str:
    """What came out of answering, with its sources, or with what is missing and the nearest documents.

    `lead`: our own sentence for it, see `blocks.lead`; may be empty.
    """
    if not found.abstained:
        sources = [f"[{cited.n}] {_named(cited)}{_address(cited)}" for cited in found.citations]
        return _paragraphs(lead, found.text, "\n".join(sources))
    nearest = [f"• {_named(passage)}{_address(passage)}" for passage in found.nearest]
    return _paragraphs(lead, found.text, "\n".join([wording.NEAREST, *nearest]) if nearest else "")


def why(explained: Explanation, found: Sequence[Passage]) -> str:
    """An answer's question and outcome, what its search found at which rank, and what went wrong or how to say so.

    `found`: what whoever looks may read of it, what was given first.
    """
    answer = explained.answer
    full = [] if answer.standalone == answer.question else [review_wording.standalone(answer.standalone)]
    denied = [f"denied:  {denial.scope}: {denial.reason}" for denial in explained.denials]
    quotes = [review_wording.strength(answer.strength)] if answer.strength else []
    outcome = review_wording.hedged(answer.outcome, answer.is_doubtful)
    head = "\n".join([answer.question, *full, outcome, *quotes, *denied])
    given = frozenset(answer.stages.get("passages", ()))
    shown = found[: max(FOUND, sum(passage.chunk_id in given for passage in found))]
    rows = [_ranked(passage, passage.chunk_id in given) for passage in shown]
    more = [f"and {len(found) - len(shown)} more, all in --json"] if len(found) > len(shown) else []
    table = (
        "\n".join([review_wording.FOUND, "given  vector  keyword  fused  reranked", *rows, *more])
        if rows
        else wording.NOTHING_FOUND
    )
    # All that was given could be read by whoever may read the answer. What was only found need not have been: it is not
    # counted, and what exists but is not theirs any more is not told from what is gone.
    gone = len(given - {passage.chunk_id for passage in found})
    return _paragraphs(head, table, wording.changed_since(gone) if gone else "", _diagnosis(explained))


def played(turn: Turn, posted: Reply, faults: Sequence[str]) -> str:
    """A turn of a scripted conversation: who asked, what was posted with its sources, and what was checked of it.

    Without addresses: the script's documents are served no longer than it plays.
    """
    sources = [f"[{cited.n}] {_named(cited)}" for cited in posted.citations]
    verdict = [f"✗ {fault}" for fault in faults] or [f"✓ {'; '.join(checked(turn.expect))}"]
    place = "a direct message" if turn.place == DIRECT else f"#{turn.place}"
    head = f"── {turn.number}. {turn.about}\n{turn.asker} in {place}: {turn.asked}"
    return "\n".join(filter(None, [head, unmarked(posted.text), *sources, *verdict]))


def _ranked(passage: Passage, given: bool) -> str:
    r = passage.ranks
    ranks = [
        str(rank or "–").rjust(width)
        for rank, width in zip((r.vector, r.keyword, r.fused, r.rerank), (6, 7, 5, 8), strict=True)
    ]
    name = label(passage.title, passage.heading_path)
    return "  ".join(["  ✓  " if given else " " * 5, *ranks, f"{name} ({passage.source}/{passage.external_id})"])


def _diagnosis(explained: Explanation) -> str:
    """In words, with the place that would have been right; how to say which one where nobody has."""
    found = explained.diagnosis
    if explained.expected == ():
        return review_wording.IN_NONE
    if found is None or explained.expected is None:
        in_slack = explained.answer.reply_channel is not None
        how = review_wording.LABEL_IN_SLACK if in_slack else review_wording.label_by_file(_case(explained.answer))
        return f"{review_wording.UNSAID}\n{how}"
    places = [" › ".join((f"{p.source}/{p.external_id}", *p.heading_path)) for p in explained.readable]
    expected = review_wording.expected(places, len(explained.expected) - len(places))
    ranks = ", ".join(f"{stage} {rank or 'absent'}" for stage, rank in found.ranks.items())
    which = "best passage of that document" if found.is_somewhere else "right passage"
    ranked = f"rank of the {which}: {ranks}" if ranks else ""
    cited = {"answering": review_wording.GIVEN, "answering_somewhere": review_wording.GIVEN_SOMEWHERE}
    said = cited.get(found.cause) or review_wording.DIAGNOSES[found.cause]
    return "\n".join(filter(None, [expected, said, ranked]))


def _case(answer: StoredAnswer) -> str:
    """A gold case of the answer's question, in which the document is still to be named."""
    place = {"source": "SOURCE", "external_id": "PATH"}
    case = {"id": answer.id, "question": answer.standalone, "scopes": sorted(answer.scopes), "expected": [place]}
    return json.dumps(case, ensure_ascii=False)


def _named(source: Citation | Passage) -> str:
    """`Title › Heading · date`, as far as they are known."""
    name = label(source.title, source.heading_path, source.url.rstrip("/").rpartition("/")[2])
    changed = wording.date(source.updated_at) if source.updated_at else ""
    if source.stale_days is not None:
        changed = wording.last_changed(source.stale_days)
    return " · ".join(filter(None, (name, changed)))


def _address(source: Citation | Passage) -> str:
    return f" · {source.url}" if source.url else ""


def _paragraphs(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))
