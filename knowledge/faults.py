"""What is wrong with what a person wrote, in words: each fault with its place, the value that was found, and what would do."""

import difflib
from collections.abc import Collection, Iterator, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

Place = tuple[str | int, ...]
"""Keys and positions from the outside to the fault."""

SHOWN = 80
"""Characters of a value that are repeated."""


def faults(error: ValidationError, model: type[BaseModel], secret: Collection[str] = ()) -> Iterator[tuple[Place, str]]:
    """Every fault's place and what is to be said after it. The values of keys named in `secret` are not repeated."""
    for each in error.errors(include_url=False):
        place = each["loc"]
        match each["type"]:
            case "extra_forbidden":
                yield place, f"is not a known key; {_alternatives(str(place[-1]), _keys(model, place[:-1]))}"
            case "missing":
                yield place, f"is missing{_meaning(model, place)}"
            case "json_invalid":
                yield place, f"is not JSON ({each['ctx']['error']})"
            case _:
                value = "" if secret and place and place[-1] in secret else _shown(each["input"])
                yield place, f"{value}{_expected(each['msg'])}"


def dotted(place: Sequence[str | int]) -> str:
    """`expected[0].source` for ("expected", 0, "source")."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")


def _meaning(model: type[BaseModel], place: Place) -> str:
    holder = _holder(model, place[:-1])
    said = holder.model_fields[str(place[-1])].description if holder else None
    return f". {said}" if said else ""


def _shown(value: Any) -> str:
    if not isinstance(value, str | int | float | bool | None):
        return ""
    text = repr(value)
    return f"is {text[:SHOWN]}{'…' if len(text) > SHOWN else ''}; "


def _expected(message: str) -> str:
    said = message.removeprefix("Value error, ")
    return f"it {said.removeprefix('Input ')}" if said.startswith("Input ") else said


def _alternatives(key: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return f"did you mean `{near[0]}`?" if near else f"known here are: {', '.join(known)}"


def _keys(model: type[BaseModel], place: Place) -> list[str]:
    holder = _holder(model, place)
    return list(holder.model_fields) if holder else []


def _holder(model: type[BaseModel], place: Place) -> type[BaseModel] | None:
    """The model of what is at the place."""
    inner: type[BaseModel] | None = model
    for part in place:
        if inner is not None and isinstance(part, str):
            inner = _model(inner.model_fields[part].annotation)
    return inner


def _model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _model(inner))), None)
