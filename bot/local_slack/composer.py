"""What a person types into the message field, turned into Slack's notation. Pure."""

import re
from collections.abc import Mapping

_WORD = re.compile(r"(?<![\w@#])([@#])([\w.-]*\w)")


def encode(typed: str, people: Mapping[str, str], channels: Mapping[str, str]) -> str:
    """Escape &, < and >; turn @handle and #channel into references. Both mappings go from name to id."""
    escaped = typed.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    def reference(match: re.Match[str]) -> str:
        sign, name = match.groups()
        if sign == "@" and name in people:
            return f"<@{people[name]}>"
        if sign == "#" and name in channels:
            return f"<#{channels[name]}|{name}>"
        return match.group()

    return _WORD.sub(reference, escaped)
