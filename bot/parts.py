"""Long text in parts that are each within a limit. Pure."""

from collections.abc import Sequence


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
        # A break in the first third would leave a stub; the next finer kind of break is better then.
        ends = (text.rfind(each, limit // 3, limit - len(each) + 1) + len(each) for each in breaks)
        end = next((end for end, each in zip(ends, breaks, strict=True) if end >= limit // 3 + len(each)), limit)
        parts.append(text[:end].rstrip())
        text = text[end:].lstrip("\n")
    return [*parts, text] if text else parts
