"""Long text in parts that are each within a limit. Pure."""

import re
from collections.abc import Sequence

FENCE = re.compile(r"(?m)^([ >]*)((?:[-•]|\d+\.) +)?(```.*)$")
"""The line that opens or closes a code block, also one within a list or a quotation."""
REOPENED = 80
"""Room for closing a code block at a cut and opening it again."""


def cut(text: str, limit: int) -> list[str]:
    """`text` in parts of at most `limit` characters. A part that ends inside a code block closes it; the next opens it."""
    if len(text) <= limit:
        return [text]
    if text.startswith("```"):
        opening, _, body = text.partition("\n")
        room = limit - len(opening) - len("\n\n```")
        return [f"{opening}\n{part}\n```" for part in _cut_plain(body.removesuffix("\n```"), room, ("\n",))]
    return _cut_plain(text, limit, ("\n\n", "\n", ". ", " "))


def _cut_plain(text: str, limit: int, breaks: Sequence[str]) -> list[str]:
    parts = []
    while len(text) > limit:
        room = limit - REOPENED if FENCE.search(text) else limit
        # A break in the first third would leave a stub; the next finer kind of break is better then.
        ends = (text.rfind(each, room // 3, room - len(each) + 1) + len(each) for each in breaks)
        end = next((end for end, each in zip(ends, breaks, strict=True) if end >= room // 3 + len(each)), room)
        part, text = text[:end].rstrip(), text[end:].lstrip("\n")
        if opened := _left_open(part):
            part, text = f"{part}\n{opened.partition('`')[0]}```", f"{opened}\n{text}"
        parts.append(part)
    return [*parts, text] if text else parts


def _left_open(part: str) -> str:
    """The line that opens the code block in which `part` ends, as it stands inside its list; empty outside of one."""
    fences = list(FENCE.finditer(part))
    if len(fences) % 2 == 0:
        return ""
    indent, marker, opening = fences[-1].groups(default="")
    return f"{indent}{' ' * len(marker)}{opening}"[: REOPENED // 2]
