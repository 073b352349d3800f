"""Which paths of a source are meant: `include` and `exclude` patterns."""

import re
from collections.abc import Sequence
from functools import cache


def wanted(path: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """`path` uses `/`. In a pattern `*` and `?` stay within a folder, `**` does not; a pattern ending in `/` is a folder."""
    return any(_compiled(p).fullmatch(path) for p in include) and not any(_compiled(p).fullmatch(path) for p in exclude)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    pattern = pattern.removeprefix("./").removeprefix("/")
    if pattern.endswith("/"):
        pattern += "**"
    translated = re.sub(r"\*\*/|\*\*|\*|\?|[^*?]+", lambda m: _PARTS.get(m[0]) or re.escape(m[0]), pattern)
    return re.compile(translated, re.S)


_PARTS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
