"""Gold cases as lines of JSON in a file: read whole and checked before any of them is used, then written to the set."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import sqlalchemy as sa
from pydantic import AfterValidator, Field, ValidationError
from sqlalchemy.dialects.postgresql import insert

from knowledge.errors import GoldFileInvalid
from knowledge.faults import dotted, faults
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
    """One case. `expected` empty: not in the documents; None: nobody has said yet. `state` None: the import decides."""

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


def read(file: Path, state: Literal["proposed", "accepted"] = "proposed") -> tuple[GoldLine, ...]:
    """The cases of a file; blank lines are passed over, and `state` is that of lines without one.

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
        wrong += [f"line {number}: {says}" for says in _contradictions(settled, lines)]
        lines[case.id] = settled
    if wrong:
        shown = [
            *wrong[:FAULTS_SHOWN],
            *([f"and {len(wrong) - FAULTS_SHOWN} more"] if len(wrong) > FAULTS_SHOWN else []),
        ]
        raise GoldFileInvalid(
            "\n  ".join(
                [f"{file}: nothing was imported", *shown, "the form of a line is that of `footnote gold export`"]
            )
        )
    return tuple(lines.values())


def load(connection: sa.Connection, lines: Iterable[GoldLine], by: str) -> int:
    """Write the cases of a file, in a transaction that writes; one with a known id is replaced. How many were written."""
    count = 0
    imported = Change(at=datetime.now(UTC), by=by, what="imported")
    for line in lines:
        told = line.model_copy(update={"history": (*line.history, imported)})
        row = told.model_dump(mode="json", exclude={"id"}) | {
            "standalone": line.standalone or line.question,
            "scopes": sorted(set(line.scopes)),
            "state": line.state or "proposed",
            "expected": None if line.expected is None else [p.model_dump(exclude_defaults=True) for p in line.expected],
        }
        statement = insert(gold_cases).values(id=line.id, **row)
        connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=row))
        count += 1
    return count


def _contradictions(case: GoldLine, before: dict[str, GoldLine]) -> Iterator[str]:
    if case.id in before:
        yield f"`id` is {case.id!r} as on a line before; give each case an id of its own"
    if case.state == "accepted" and case.expected is None:
        yield "`expected` is null, which cannot be accepted; name documents, or write [] for not in the documents"
