"""Gold cases as a terminal shows them, in lines. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from bot import review_wording
from bot.blocks import clip
from bot.check import counted
from knowledge.gold import GoldCase, State
from knowledge.gold_file import Loaded
from knowledge.labels import Label, Located
from knowledge.replied import Replied

REPLY_CHARS = 160
"""Of a reply in a list: about a line of a wide terminal."""
RULE = re.compile(r"\|(?:\s*:?-{2,}:?\s*\|)+")
"""Of a Markdown table, between its head and its rows."""
NO_ANSWER = "no answer"
UNCHECKED = "this is only what the bot found, and nobody has checked it"


def whole(case: GoldCase, reply: Replied | None = None) -> Iterator[str]:
    """A case with all that it names, the whole reply if that is known, and its history."""
    yield f"{case.id}  {case.state}"
    yield case.question
    yield from (f"  {line}" for line in _in_full(case))
    yield from (f"  {place(label)}" for label in case.expected or ())
    if not case.expected:
        yield f"  {nowhere(case)}"
    if case.is_unchecked:
        yield f"  {UNCHECKED}"
    if reply is not None:
        yield f"  {review_wording.hedged('the bot replied', reply.is_doubtful)}: {'' if reply.text else NO_ANSWER}".rstrip()
        yield from (f"  > {line}".rstrip() for line in reply.text.splitlines())
    for change in case.history:
        yield f"  {change.at:%Y-%m-%d %H:%M}  {change.by}: {change.what}"


def today(case: GoldCase, places: Sequence[Located], reply: Replied | None = None) -> Iterator[str]:
    """The question as it stands alone, where the case is answered, in a line each, and the reply, shortened to one.

    Of what whoever looks cannot open today only how many there are.
    """
    yield from _in_full(case)
    if not case.expected:
        yield nowhere(case)
    yield from (place(found.label) for found in places if found.chunk_ids)
    if lost := sum(not found.chunk_ids for found in places):
        yield f"{counted(lost, 'place')} that cannot be opened today"
    if case.is_unchecked:
        yield UNCHECKED
    if reply is not None:
        said = clip(one_line(reply.text), REPLY_CHARS)
        yield f"{review_wording.hedged('the bot replied', reply.is_doubtful)}: {f'“{said}”' if said else NO_ANSWER}"


def place(label: Label) -> str:
    """Document, heading and quote, as far as the label has them."""
    parts = (f"{label.source}/{label.external_id}", " › ".join(label.heading_path), one_line(label.quote))
    return "  ".join(part for part in parts if part)


def one_line(markdown: str) -> str:
    """Markdown as a line to read: without marks of quotation and the rules of tables, with a semicolon between their rows."""
    said, in_table = "", False
    for line in (" ".join(re.sub(r"^[\s>]+", "", line).split()) for line in markdown.splitlines()):
        if not line.strip("|-: "):
            continue
        is_row = line.startswith("|")
        shown = re.sub(r"\|(?:\s*\|)+", "|", RULE.sub("|", line)).strip("| ") if is_row else line
        said += f"{'; ' if is_row and in_table else ' '}{shown}"
        in_table = is_row
    return said.strip()


def nowhere(case: GoldCase) -> str:
    return "nobody has said where it is answered" if case.expected is None else "not in the documents"


def imported(loaded: Sequence[Loaded], accept: str) -> Iterator[str]:
    """What became of the cases of a file. `accept`: the command that takes a proposed one into the gold set."""
    states = Counter(each.state for each in loaded)
    told = ", ".join(f"{states[state]} {state}" for state in ("accepted", "proposed", "retired") if states[state])
    remedy = f"; one that is proposed is measured once it is accepted: {accept}" if states["proposed"] else ""
    yield f"{counted(len(loaded), 'case')}{f': {told}{remedy}' if told else ''}"
    known = [bool(each.changed) for each in loaded if each.before is not None]
    if known:
        yield _known(len(loaded), known)
    moves: dict[tuple[State, State], list[str]] = {}
    for each in loaded:
        if each.before is not None and each.before != each.state:
            moves.setdefault((each.before, each.state), []).append(each.id)
    for (before, now), ids in moves.items():
        yield f"{before} before, {now} now: {', '.join(ids)}"


def _known(cases: int, replaced: Sequence[bool]) -> str:
    """`replaced`: of each case that was there before, whether the import changed it."""
    if cases == 1:
        return f"it was there before: {'replaced' if replaced[0] else 'left as it is'}"
    known, new = len(replaced), sum(replaced)
    who = "they were" if known == cases else f"{known} of them {'was' if known == 1 else 'were'}"
    same = "left as it is" if known - new == 1 else "left as they are"
    parts = [f"{count} {said}" for count, said in ((new, "replaced"), (known - new, same)) if count]
    return f"{who} there before: {', '.join(parts)}"


def contradicted(case: GoldCase, other: GoldCase, retire: str) -> str:
    """Of two accepted cases of one question. `retire`: the command that takes the other one out."""
    return f"{case.id}: {other.id} is accepted too and {differs(case, other)}; if that is wrong: {retire}"


def differs(case: GoldCase, other: GoldCase) -> str:
    """What the other case says of the same question."""
    if not other.expected:
        return "asks the same, but says that it is not in the documents"
    return f"asks the same, but says that it is in {'another document' if case.expected else 'the documents'}"


def _in_full(case: GoldCase) -> Iterator[str]:
    """What a question stands for that leans on its thread, such as “and 503?”; nothing for another."""
    if case.standalone != case.question:
        yield f"in full: {' '.join(case.standalone.split())}"
