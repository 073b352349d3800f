"""The block of metadata at the very start of a Markdown file: YAML between `---` lines, TOML between `+++` lines, or a
JSON object."""

import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

import yaml

from knowledge.permissions import NOTHING, Scopes
from knowledge.settings import SCOPE_PATTERN

_BLOCK = re.compile(
    r"\A(?:---[ \t]*\n(?P<yaml>.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)|\+\+\+[ \t]*\n(?P<toml>.*?)^\+\+\+[ \t]*(?:\n|\Z)"
    r"|(?P<json>\{[ \t]*\n.*?^\})[ \t]*(?:\n|\Z))",
    re.S | re.M,
)
_PARSERS: dict[str, Callable[[str], Any]] = {"yaml": yaml.safe_load, "toml": tomllib.loads, "json": json.loads}
_ELSEWHERE = re.compile(
    r"\A\s*(?:<!--.*?-->\s*)*(?:---|\+\+\+|\{)[ \t]*\n(?P<lines>(?:[^\n]*\S[^\n]*(?:\n|\Z))*)", re.S
)
"""What looks like such a block below blank lines or a comment, or without an end."""

_LINE = re.compile(r"^([A-Za-z][\w -]*):[ \t]+(.+?)[ \t]*$", re.M)
_SCOPES_MEANT = re.compile(r"^\W*scopes\b", re.I | re.M)
_SCOPES_SET = re.compile(r"^\W*scopes\W*[:=]", re.I | re.M)
_CHANGED = ("updated", "updated_at", "last_updated", "lastmod", "last_modified")
_DATES = (*_CHANGED, "date")
_SCOPE = re.compile(SCOPE_PATTERN)


@dataclass(frozen=True)
class FrontMatter:
    """`end`: where the text begins. `scopes`: None = the document does not narrow its readers; empty = nobody.

    `problem`: why the scopes or the date could not be read, for the report of the sync; empty when there is nothing to say.
    """

    end: int = 0
    title: str = ""
    updated_at: datetime | None = None
    scopes: Scopes | None = None
    problem: str = ""


def read(text: str) -> FrontMatter:
    """Front matter of `text` (line ends are `\\n`); an empty one when it does not begin with such a block."""
    block = _BLOCK.match(text)
    kind = block.lastgroup if block else None
    fields = _fields(block[kind], kind) if block and kind else None
    if block is None or kind is None or fields is None:
        return _misplaced(text)
    scopes, problem = _scopes(fields, block[kind])
    problems = "; ".join(filter(None, (problem, _no_date(fields))))
    return FrontMatter(block.end(), _title(fields, block[kind]), _updated_at(fields), scopes, problems)


def _misplaced(text: str) -> FrontMatter:
    """Text without front matter. When it meant to narrow its readers all the same, it has none."""
    found = _ELSEWHERE.match(text)
    if not found or not _SCOPES_SET.search(found["lines"]):
        return FrontMatter()
    problem = (
        "its scopes stand in no front matter, so nobody may read it; begin the file with a block between --- lines"
    )
    return FrontMatter(scopes=NOTHING, problem=problem)


def _fields(source: str, kind: str) -> dict[str, Any] | None:
    """Fields by lower-case name; None when the block is text between two rules. A broken block is read line by line."""
    try:
        loaded = _PARSERS[kind](source)
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError, RecursionError):
        if kind == "json":
            return None
        loaded = {m[1]: m[2].strip("\"'") for m in _LINE.finditer(source) if m[1].lower() != "scopes"}
    if loaded is None:
        loaded = {}
    return {str(key).lower(): value for key, value in loaded.items()} if isinstance(loaded, dict) else None


def _title(fields: dict[str, Any], source: str) -> str:
    """As it is written: `1.10` is a version and `No` is a word."""
    title = fields.get("title")
    if isinstance(title, int | float | date):
        title = next((m[2] for m in _LINE.finditer(source) if m[1].lower() == "title"), str(title))
    return " ".join(title.split()) if isinstance(title, str) else ""


def _updated_at(fields: dict[str, Any]) -> datetime | None:
    return next((found for name in _DATES if (found := _moment(fields.get(name)))), None)


def _no_date(fields: dict[str, Any]) -> str:
    """What is said of the first field that means the last change and is no date. A `date` alone may mean anything."""
    for name in _CHANGED:
        value = fields.get(name)
        if value not in (None, "") and _moment(value) is None:
            remedy = "so it is left out; write one such as 2026-01-31"
            return f"its front matter says {name}: {value!r:.60}, which is no date, {remedy}"
    return ""


def _moment(value: object) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    return None


def _scopes(fields: dict[str, Any], source: str) -> tuple[Scopes | None, str]:
    if "scopes" not in fields:
        if _SCOPES_MEANT.search(source):
            return NOTHING, "its front matter cannot be parsed, so nobody may read it; correct the YAML"
        return None, ""
    value = fields["scopes"]
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not items:
        return (
            NOTHING,
            f"its front matter says scopes: {value!r}, so nobody may read it; list scopes such as channel:C0123",
        )
    wrong = [item for item in items if not (isinstance(item, str) and _SCOPE.fullmatch(item))]
    if wrong:
        return (
            NOTHING,
            f"{wrong[0]!r} in its front matter is not a scope, so nobody may read it; use workspace, channel:ID or user:ID",
        )
    return frozenset(items), ""
