"""Gold cases as a terminal shows them, in lines. Pure."""

from collections.abc import Iterator, Sequence

from bot.blocks import clip
from bot.check import counted
from knowledge.gold import GoldCase
from knowledge.labels import Label, Located
from knowledge.replied import Replied

REPLY_CHARS = 160
"""Of a reply in a list: about a line of a wide terminal."""
NO_ANSWER = "no answer"
UNCHECKED = "this is only what the bot found, and nobody has checked it"


def whole(case: GoldCase, reply: Replied | None = None) -> Iterator[str]:
    """A case with all that it names, the whole reply if that is known, and its history."""
    yield f"{case.id}  {case.state}"
    yield case.question
    yield from (f"  {place(label)}" for label in case.expected or ())
    if not case.expected:
        yield f"  {nowhere(case)}"
    if case.is_unchecked:
        yield f"  {UNCHECKED}"
    if reply is not None:
        yield f"  the bot replied{_doubt(reply)}: {'' if reply.text else NO_ANSWER}".rstrip()
        yield from (f"  > {line}".rstrip() for line in reply.text.splitlines())
    for change in case.history:
        yield f"  {change.at:%Y-%m-%d %H:%M}  {change.by}: {change.what}"


def today(case: GoldCase, places: Sequence[Located], reply: Replied | None = None) -> Iterator[str]:
    """Where the case is answered, in a line each, and the reply, shortened to one.

    Of what whoever looks cannot open today only how many there are.
    """
    if not case.expected:
        yield nowhere(case)
    yield from (place(found.label) for found in places if found.chunk_ids)
    if lost := sum(not found.chunk_ids for found in places):
        yield f"{counted(lost, 'place')} that cannot be opened today"
    if case.is_unchecked:
        yield UNCHECKED
    if reply is not None:
        said = clip(" ".join(reply.text.split()), REPLY_CHARS)
        yield f"the bot replied{_doubt(reply)}: {f'“{said}”' if said else NO_ANSWER}"


def place(label: Label) -> str:
    return f"{label.source}/{label.external_id}  {' › '.join(label.heading_path)}  {label.quote}".rstrip()


def nowhere(case: GoldCase) -> str:
    return "nobody has said where it is answered" if case.expected is None else "not in the documents"


def contradicted(case: GoldCase, other: GoldCase, retire: str) -> str:
    """Of two accepted cases of one question. `retire`: the command that takes the other one out."""
    return f"{case.id}: {other.id} is accepted too and {differs(case, other)}; if that is wrong: {retire}"


def differs(case: GoldCase, other: GoldCase) -> str:
    """What the other case says of the same question."""
    if not other.expected:
        return "asks the same, but says that it is not in the documents"
    return f"asks the same, but says that it is in {'another document' if case.expected else 'the documents'}"


def _doubt(reply: Replied) -> str:
    return ", not sure that it answers" if reply.is_doubtful else ""
