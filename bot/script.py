"""A scripted conversation and how each reply is judged: pure, read from a YAML file (see `knowledge/samples`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from knowledge.answers import Citation

Kind = Literal["answered", "abstained", "refused"]


@dataclass(frozen=True)
class Expectation:
    """What a reply must be. Titles are those of cited documents; texts are searched in the whole reply, in any case."""

    kind: Kind
    must_cite: tuple[str, ...] = ()
    must_not_cite: tuple[str, ...] = ()
    must_contain: tuple[str, ...] = ()
    must_not_contain: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edit:
    """Something done to the documents before a question. `old` and `new` are None when the document is deleted."""

    document: str
    old: str | None = None
    new: str | None = None


@dataclass(frozen=True)
class Turn:
    """One question. `thread`: number of the turn in whose thread it is asked; None: a new message."""

    number: int
    about: str
    asker: str
    place: str
    asked: str
    expect: Expectation
    thread: int | None = None
    before: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class Reply:
    """What was posted: the text a person reads, and the stored record behind it."""

    text: str
    outcome: str
    citations: tuple[Citation, ...]

    @property
    def titles(self) -> frozenset[str]:
        return frozenset(c.title for c in self.citations)


def faults(expect: Expectation, reply: Reply) -> tuple[str, ...]:
    """What is wrong with `reply`, in words; empty when it is as expected."""
    text = reply.text.casefold()
    answered = reply.outcome in {"answered", "quoted"}
    found = [f"{reply.outcome}, expected {expect.kind}"] if answered != (expect.kind == "answered") else []
    found += [f"does not cite {title!r}" for title in expect.must_cite if title not in reply.titles]
    found += [f"cites {title!r}" for title in expect.must_not_cite if title in reply.titles]
    found += [f"does not say {words!r}" for words in expect.must_contain if words.casefold() not in text]
    found += [f"says {words!r}" for words in expect.must_not_contain if words.casefold() in text]
    if answered != bool(reply.citations):
        found.append(f"{reply.outcome} with {len(reply.citations)} citations")
    return tuple(found)


def checked(expect: Expectation) -> tuple[str, ...]:
    """What `faults` looks at, in words, for a reply that has none."""
    kinds = {"answered": "answered with sources", "abstained": "no answer, no source", "refused": "nothing told"}
    looked_for = {
        "cites": expect.must_cite,
        "does not cite": expect.must_not_cite,
        "says": [f"“{words}”" for words in expect.must_contain],
        "does not say": [f"“{words}”" for words in expect.must_not_contain],
    }
    return (kinds[expect.kind], *(f"{what} {', '.join(texts)}" for what, texts in looked_for.items() if texts))


def read_script(file: Path) -> tuple[Turn, ...]:
    return tuple(_turn(entry) for entry in yaml.safe_load(file.read_text(encoding="utf-8"))["turns"])


def openers(script: Sequence[Turn], each: int = 3) -> Mapping[str, tuple[str, ...]]:
    """By place, the first questions that begin a thread and need no change of a document before."""
    found: dict[str, list[str]] = {}
    for turn in script:
        if turn.thread is None and not turn.before:
            found.setdefault(turn.place, []).append(turn.asked)
    return {place: tuple(dict.fromkeys(asked))[:each] for place, asked in found.items()}


def _turn(entry: Mapping[str, Any]) -> Turn:
    expect = entry["expect"]
    return Turn(
        number=entry["turn"],
        about=entry["about"],
        asker=entry["as"],
        place=entry["place"],
        asked=entry["asked"],
        thread=entry.get("thread"),
        before=tuple(_edit(edit) for edit in entry.get("before", ())),
        expect=Expectation(expect["kind"], *(_texts(expect.get(name)) for name in _LISTS)),
    )


_LISTS = ("must_cite", "must_not_cite", "must_contain", "must_not_contain")


def _texts(values: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(values or ())


def _edit(entry: Mapping[str, Any]) -> Edit:
    if "delete" in entry:
        return Edit(entry["delete"]["document"])
    change = entry["change"]
    return Edit(change["document"], change["old"], change["new"])
