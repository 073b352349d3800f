"""Gold cases as lines of JSON in a file: read whole and checked before any of them is used, then written to the set."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import sqlalchemy as sa
from pydantic import AfterValidator, Field, PrivateAttr, ValidationError

from knowledge import gold, spelling, turns
from knowledge.errors import GoldFileInvalid
from knowledge.faults import dotted, faults
from knowledge.labels import Label
from knowledge.settings import Scope, Section
from knowledge.tables import gold_cases


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("text has no zero characters")
    return text


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("it should have some text")
    return text


Text = Annotated[str, AfterValidator(_storable)]
Filled = Annotated[Text, AfterValidator(_filled)]


def _id(text: str) -> str:
    """A button is named by it, so it must be short and without spaces."""
    if not re.fullmatch(r"[^\s\x00]{1,100}", text):
        raise ValueError("an id is one word of at most 100 characters")
    return text


FAULTS_SHOWN = 10


class Place(Section):
    """As `labels.Label`."""

    source: Filled
    external_id: Filled
    heading_path: tuple[Text, ...] = ()
    quote: Text = ""
    content_hash: Text = ""


class Change(Section):
    at: datetime
    by: Text
    what: Text


class GoldLine(Section):
    """One case. `expected` empty: not in the documents; None: nobody has said yet. `state` None: as in `load`."""

    id: Annotated[str, AfterValidator(_id)]
    question: Filled
    scopes: Annotated[tuple[Scope, ...], Field(min_length=1)]
    expected: tuple[Place, ...] | None
    standalone: Text = ""
    state: Literal["proposed", "accepted", "retired"] | None = None
    origin: Literal["vote", "label", "import", "suggestion"] = "import"
    answer_id: Text | None = None
    proposed_by: tuple[Text, ...] = ()
    history: tuple[Change, ...] = ()
    _number: int = PrivateAttr(default=0)
    """Of the line in its file, from 1."""


def read(file: Path, state: Literal["accepted"] | None = None) -> tuple[GoldLine, ...]:
    """The cases of a file; blank lines are passed over, and `state` is that of lines without one, if it is given.

    Raises `GoldFileInvalid` with the first faults of the whole file, by line.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise GoldFileInvalid(f"{file} cannot be read: {error.strerror}; nothing was imported") from error
    except UnicodeDecodeError as error:
        raise GoldFileInvalid(f"{file} is not UTF-8 text; nothing was imported") from error
    lines: dict[str, GoldLine] = {}
    wrong: list[str] = []
    for number, line in ((n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()):
        try:
            case = GoldLine.model_validate_json(line)
        except ValidationError as error:
            wrong += [
                f"line {number}: {f'`{dotted(place)}` ' if place else ''}{says}"
                for place, says in faults(error, GoldLine)
            ]
            continue
        settled = case.model_copy(update={"state": case.state or state})
        settled._number = number
        wrong += [f"line {number}: {says}" for says in _contradictions(settled, lines)]
        lines[case.id] = settled
    if wrong:
        raise _refusal(file, wrong, "the form of a line is that of `footnote gold export`")
    return tuple(lines.values())


def check_sources(file: Path, lines: Iterable[GoldLine], known: Collection[str]) -> None:
    """Raises `GoldFileInvalid` for places in a source that is not `known`: a name typed wrongly would take from a case all that
    can be found for it. A line with the state `retired` may name a source that is gone.
    """
    wrong = [
        f"line {line._number}: case {line.id!r}: {no_source(name, known)}"
        for line in lines
        if line.state != "retired"
        for name in dict.fromkeys(place.source for place in line.expected or ())
        if name not in known
    ]
    if wrong:
        raise _refusal(file, wrong, "correct the name, or put that source into the settings and sync it first")


def no_source(name: str, known: Collection[str]) -> str:
    """That no source has this name, with the one that is meant or those that there are."""
    there = f"there are {', '.join(known)}" if known else "none is in the settings or in the index"
    return f"no source is called {name!r}; {spelling.hint(name, known, there)}"


def _refusal(file: Path, wrong: Sequence[str], remedy: str) -> GoldFileInvalid:
    more = [f"and {len(wrong) - FAULTS_SHOWN} more"] if len(wrong) > FAULTS_SHOWN else []
    told = (f"{file}: nothing was imported", *wrong[:FAULTS_SHOWN], *more, remedy)
    return GoldFileInvalid("\n  ".join(told))


@dataclass(frozen=True)
class Loaded:
    """What became of one line. `before`: the state of the case that was there; None when it is new."""

    id: str
    state: gold.State
    before: gold.State | None
    changed: tuple[str, ...]
    """What of a case that was there is another now; empty when the line says the same."""


def load(connection: sa.Connection, lines: Iterable[GoldLine], by: str) -> tuple[Loaded, ...]:
    """Write the cases of a file, in a transaction that writes.

    1. A case with a known id is replaced, in what the line says.
    2. Its state stays unless the line has one: an accepted case never leaves the gold set unsaid.
    3. Its history goes on; who proposed it and the answer it came from are kept.

    Raises `GoldFileInvalid` for an accepted case that a line without a state would leave without `expected`.
    """
    turns.take(connection, "footnote gold import")
    return tuple(_load(connection, line, by) for line in lines)


def _load(connection: sa.Connection, line: GoldLine, by: str) -> Loaded:
    this = sa.select(gold_cases).where(gold_cases.c.id == line.id).with_for_update()
    old = connection.execute(this).mappings().first()
    before: gold.State | None = old["state"] if old else None
    state = line.state or before or "proposed"
    if state == "accepted" and line.expected is None:
        raise GoldFileInvalid(
            f"{line.id!r} is accepted, and its line has no `expected`, without which it cannot be measured; name documents, "
            'or write [] for not in the documents, or "state": "proposed"; nothing was imported'
        )
    row = line.model_dump(mode="json", exclude={"id", "history"}) | {
        "standalone": line.standalone or line.question,
        "scopes": sorted(set(line.scopes)),
        "state": state,
        "expected": None if line.expected is None else [p.model_dump(exclude_defaults=True) for p in line.expected],
    }
    history = [change.model_dump(mode="json") for change in line.history]
    if old is None:
        row["history"] = [*history, _entry(by, f"imported as {state}")]
        connection.execute(sa.insert(gold_cases).values(id=line.id, **row))
        return Loaded(line.id, state, None, ())
    changed = tuple(name for name in COMPARED if _comparable(name, row[name]) != _comparable(name, old[name]))
    if changed:
        row |= {
            "answer_id": line.answer_id or old["answer_id"],
            "proposed_by": list(dict.fromkeys((*old["proposed_by"], *line.proposed_by))),
            "history": [*_joined(old["history"], history), _entry(by, _what(changed, old["state"], state))],
        }
        connection.execute(sa.update(gold_cases).where(gold_cases.c.id == line.id).values(**row))
    return Loaded(line.id, state, before, changed)


NAMES = {"question": "question", "standalone": "question in full", "scopes": "scopes", "expected": "expected places"}
COMPARED = (*NAMES, "state")
"""What a case says; a line that says the same of all of them changes nothing."""


def _comparable(name: str, value: Any) -> Any:
    return [Label.from_json(place) for place in value] if name == "expected" and value is not None else value


def _what(changed: Collection[str], before: str, state: str) -> str:
    """For the history: what an import changed of a case that was there."""
    said = [NAMES[name] for name in changed if name != "state"]
    replaced = [f"replaced {', '.join(said)}"] if said else []
    moved = [f"{before} before, {state} now"] if before != state else []
    return f"imported again: {'; '.join([*moved, *replaced])}"


def _joined(old: Collection[dict[str, str]], imported: Collection[dict[str, str]]) -> list[dict[str, str]]:
    """Both histories by time, what is in both once: as it is here, where somebody may have been forgotten since."""
    known = {(datetime.fromisoformat(entry["at"]), entry["what"]) for entry in old}
    more = [entry for entry in imported if (datetime.fromisoformat(entry["at"]), entry["what"]) not in known]
    return sorted((*old, *more), key=lambda entry: _aware(datetime.fromisoformat(entry["at"])))


def _aware(at: datetime) -> datetime:
    """A time that a file gives without its zone is taken as UTC."""
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _entry(by: str, what: str) -> dict[str, str]:
    return {"at": datetime.now(UTC).isoformat(), "by": by, "what": what}


def _contradictions(case: GoldLine, before: dict[str, GoldLine]) -> Iterator[str]:
    if case.id in before:
        yield f"`id` is {case.id!r} as on a line before; give each case an id of its own"
    if case.state == "accepted" and case.expected is None:
        yield "`expected` is null, which cannot be accepted; name documents, or write [] for not in the documents"
