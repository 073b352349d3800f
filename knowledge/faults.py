"""What is wrong with what a person wrote, in words: each fault with its place, the value that was found, and what would do."""

import difflib
import json
import re
from collections.abc import Collection, Iterator, Sequence
from datetime import date, time
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

Place = tuple[str | int, ...]
"""Keys and positions from the outside to the fault."""

SHOWN = 80
"""Characters of a value that are repeated."""

TYPES = {
    "tuple_type": "a list",
    "string_type": "text in quotes",
    "path_type": "a path in quotes",
    "url_type": "an address in quotes",
    "url_parsing": "an address that begins with https:// or http://",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
}
"""What a person calls the type that a value should be of, by the library's name of the fault."""


def faults(error: ValidationError, model: type[BaseModel], secret: Collection[str] = ()) -> Iterator[tuple[Place, str]]:
    """Every fault's place and what is to be said after it. The values of keys named in `secret` are not repeated."""
    found = error.errors(include_url=False)
    for each in found:
        place = each["loc"]
        match each["type"]:
            case "too_short" if any(place == other["loc"][: len(place)] != other["loc"] for other in found):
                continue  # what is wrong in a list was left out before it was counted
            case "too_short" if not each["input"]:
                least = each["ctx"]["min_length"]
                yield place, f"is empty; it should have at least {least} item{'s' if least > 1 else ''}"
            case "extra_forbidden":
                yield place, f"is not a known key; {_alternatives(str(place[-1]), _keys(model, place[:-1]))}"
            case "missing":
                yield place, f"is missing{_meaning(model, place)}"
            case "json_invalid":
                yield place, f"is not JSON ({each['ctx']['error']})"
            case "value_error" if isinstance(each["input"], dict):  # all its keys, which the message names
                yield place, _expected(each["msg"], place)
            case kind:
                value = "" if secret and place and place[-1] in secret else _shown(each["input"])
                said = _expected(each["msg"], place)
                if kind in TYPES:
                    said = f"it should be {TYPES[kind]}{_such_as(model, place, each['input'])}"
                yield place, f"{value}{said if value else said.removeprefix('it ')}"


def dotted(place: Sequence[str | int]) -> str:
    """`expected[0].source` for ("expected", 0, "source")."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")


def _meaning(model: type[BaseModel], place: Place) -> str:
    field = _field(model, place)
    return f". {field.description}" if field and field.description else ""


def _such_as(model: type[BaseModel], place: Place, value: Any) -> str:
    """An example: a list of the value that stands there without brackets, or the default; else what the key means."""
    field = _field(model, place)
    if field is None or field.annotation is bool:
        return ""
    texts = get_origin(field.annotation) is tuple and _model(field.annotation) is None
    example = (value,) if texts and value and isinstance(value, str) else field.default
    if isinstance(example, str | int | float | tuple) and example not in ("", ()):
        return f", such as {json.dumps(example, ensure_ascii=False)}"
    return _meaning(model, place)


def _shown(value: Any) -> str:
    """The value, of a list or a table only that it is one."""
    match value:
        case list() | tuple():
            return "is a list; "
        case dict():
            return "has keys; "
        case bool():
            text = str(value).lower()
        case date() | time():
            text = str(value)
        case _:
            text = repr(value)
    return f"is {text[:SHOWN]}{'…' if len(text) > SHOWN else ''}; "


def _expected(message: str, place: Place) -> str:
    table = f"table: write [{dotted(place)}] above its keys" if len(place) == 1 else "table"
    said = re.sub(r"valid dictionary or instance of \w+", table, message.removeprefix("Value error, "))
    return re.sub("^(Input|Tuple) ", "it ", said)


def _alternatives(key: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return f"did you mean `{near[0]}`?" if near else f"known here are: {', '.join(known)}"


def _keys(model: type[BaseModel], place: Place) -> list[str]:
    holder = _holder(model, place)
    return list(holder.model_fields) if holder else []


def _field(model: type[BaseModel], place: Place) -> FieldInfo | None:
    """The field at the place; None when nothing is known of it, as of one item of a list."""
    holder = _holder(model, place[:-1])
    return holder.model_fields.get(str(place[-1])) if holder and place else None


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
