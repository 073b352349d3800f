"""The digest in words: every sentence of it, as Markdown of one screen at most. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence

from jobs.digest import Cases, Digest
from knowledge.activity import SourceProblem, Spent, Unanswered

BUCKETS: Mapping[str, tuple[str, str]] = {
    "not_in_corpus": ("nothing in the index says it", "check the source's last sync, or write the missing paragraph"),
    "not_retrieved": ("it is there and was not found", "put the question's words into its heading or its text"),
    "ranked_low": (
        "the right place was found, but too far below others",
        "split the long section, or retire the older document above it",
    ),
    "unanswered": (
        "there was no answer: what was found was judged too weak for one",
        "ask it again; if there is still none, say it in the document in the question's words",
    ),
    "answered_wrongly": ("the right place was found, and the answer is wrong", "read the answer and the prompt"),
    "wrongly_answered": (
        "it is accepted as not in the documents, and was answered all the same",
        "ask it and read the reply; if that is a fair answer, correct what is expected",
    ),
    "doubtful": (
        "it is accepted as not in the documents, and quotes were given, with doubt",
        "ask it and read the quotes; if they answer it, correct what is expected",
    ),
}
"""What went wrong with a case, and what to do about it."""
CORRECTING = (
    "To correct what is expected of a case: `footnote gold accept ID --as NAME --document SOURCE/PATH`, or `--nowhere` for "
    "not in the documents. To take it out: `footnote gold retire ID --as NAME`."
)
DOUBTED = "Something of the right document was found, but people voted the reply down"
NEW = "Measured for the first time, and not as expected"
STALE = "To be reviewed, because what they expect is gone"


def markdown(digest: Digest) -> str:
    """Paragraphs, the most pressing first."""
    parts = [_headline(digest)]
    if digest.leaks:
        found = _count(digest.leaks, "passage")
        parts.append(f"**{found} came up that the asker may not read. Stop and look at this first.**")
    if digest.quiet:
        return f"{parts[0]} Nothing changed."
    parts += [
        _cases("Newly broken", digest.broken),
        _cases(NEW, digest.new),
        _cases("Newly fixed", digest.fixed, ids=False),
    ]
    parts += [_cases(STALE, digest.stale), _cases(DOUBTED, digest.doubted)]
    parts.append(CORRECTING if _may_expect_wrongly(digest) else "")
    parts += [_unanswered(digest.unanswered), _list("Sources", map(_source, digest.sources), _others(digest))]
    notes = list(_notes(digest))
    parts.append(_list("Also", notes) if len(notes) > 1 else notes[0])
    return "\n\n".join(part for part in parts if part)


def _headline(digest: Digest) -> str:
    if digest.recall is None:
        return f"**Retrieval: {digest.problem or 'no figures'}.**"
    change = "" if digest.change is None else f", {_signed(digest.change)}"
    known = _count(digest.used - digest.absent, "question")
    line = (
        f"**Recall@5 {digest.recall:.0%}{change}: the share of {known} whose right place was among the first 5 found.**"
    )
    if digest.absent:
        answered = f"{digest.answered or 'none'} {_were(digest.answered)} answered all the same"
        if digest.hedged:
            answered += f", and {digest.hedged} {_were(digest.hedged)} given quotes with doubt"
        line += f" Of {_count(digest.absent, 'question')} accepted as not in the documents {answered}."
    if digest.used < digest.accepted:
        line += f" Measured: {digest.used} of {_count(digest.accepted, 'accepted question')}."
    if digest.problem:
        line += f" {digest.problem[0].upper()}{digest.problem[1:]}; these are the figures before."
    worse, better = len(digest.broken), len(digest.fixed)
    if worse or better:
        line += f" {worse} got worse and {better} better; chance alone does as much in {digest.chance:.0%} of nights."
    if digest.configured:
        line += f" Changed since the last run: {', '.join(digest.configured)}."
    return line


def _were(count: int) -> str:
    return "was" if count < 2 else "were"


def _signed(change: float) -> str:
    points = round(100 * change)
    return "unchanged" if points == 0 else f"{points:+d} {'point' if abs(points) == 1 else 'points'}".replace("-", "−")


def _cases(title: str, cases: Cases, *, ids: bool = True) -> str:
    """`ids`: with each case's own, where there is something to do about it."""
    lines = []
    for case in cases.shown:
        fault, step = BUCKETS.get(case.bucket or "", ("", ""))
        named = f"{_quoted(case.question)} (case {_quoted(case.id)})" if ids else _quoted(case.question)
        lines.append(named + (f" *{fault}*: {step}" if fault else ""))
    more = f"{cases.withheld} more" if cases.shown else ""
    return _list(f"{title}: {len(cases)}", lines, more if cases.withheld else "") if len(cases) else ""


def _may_expect_wrongly(digest: Digest) -> bool:
    """Whether a case is named whose expectation is to be looked at."""
    named = (*digest.broken.shown, *digest.new.shown)
    return bool(digest.stale.shown or digest.doubted.shown) or any(
        c.bucket in ("wrongly_answered", "doubtful") for c in named
    )


def _unanswered(asked: Sequence[tuple[Unanswered, int]]) -> str:
    lines = (_asked(each) + (f" ({count} times)" if count > 1 else "") for each, count in asked)
    return _list("Asked without an answer", lines)


def _asked(each: Unanswered) -> str:
    """As it was asked; one that leans on its thread with the question that it went on from, as far as that is known."""
    before = f" to “{_quoted(each.followed)}”" if each.followed else ""
    return f"{_quoted(each.question)} (a follow-up{before})" if each.leans else _quoted(each.question)


def _source(problem: SourceProblem) -> str:
    if problem.error:
        return f"{problem.name}: the last sync failed."
    if problem.overdue:
        return f"{problem.name}: not read to the end for two of its turns."
    return f"{problem.name}: {_count(problem.documents, 'document')} could not be read, or only in part."


def _others(digest: Digest) -> str:
    return f"{_count(digest.other_sources, 'other source')} had problems." if digest.other_sources else ""


def _notes(digest: Digest) -> Iterable[str]:
    if digest.failed:
        yield f"{_count(digest.failed, 'question')} could not be scored."
    for job, count in digest.failed_runs.items():
        yield f"The job “{job}” failed {_count(count, 'time')}."
    if digest.proposed:
        yield f"{_count(digest.proposed, 'proposed question')} to review."
    count, supported, relevant = digest.judged
    if supported is not None and relevant is not None:
        judged = f"{supported:.0%} of the claims supported, {relevant:.0%} to the point"
        yield f"A model's opinion of {_count(count, 'answer')}: {judged}."
    yield _cost(digest.spent)


def _cost(spent: Spent) -> str:
    line = f"{_count(spent.questions, 'question')} asked, {spent.unanswered} without an answer"
    return f"{line}; {spent.tokens:,} tokens, ${spent.dollars:.2f}." if spent.tokens else f"{line}."


def _list(title: str, items: Iterable[str], last: str = "") -> str:
    """A titled list; empty when there is nothing in it but its title."""
    lines = [f"- {item}" for item in (*items, *([last] if last else []))]
    return "\n".join([f"**{title}**", *lines]) if lines or title.rpartition(": ")[2].isdigit() else ""


def _quoted(text: str) -> str:
    """What a person wrote, on one line and without any meaning as Markdown."""
    return " ".join(re.sub(r"([\\`*_\[\]<>~#|])", r"\\\1", text).split())


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
