"""Items of reStructuredText that are numbered by itself (`#.`) with the numbers that its readers see. Pure but for the count,
which goes on behind code that stands between two items."""

import re

_ITEM = re.compile(r"^[ \t]*\(?(#|\d+)[.)](?=[ \t]+\S)")


class Numbers:
    """The lists that are open at the place that was read up to."""

    def __init__(self) -> None:
        self._last: dict[int, int] = {}
        """The last number of each list, by its indent."""

    def counted(self, prose: str) -> str:
        """The prose with a number in the place of each `#`."""
        return "\n".join(map(self._counted, prose.split("\n")))

    def _counted(self, line: str) -> str:
        if not line.strip():
            return line
        indent, item = len(line) - len(line.lstrip()), _ITEM.match(line)
        self._last = {at: n for at, n in self._last.items() if at < indent or (item and at == indent)}
        if item is None:
            return line
        number = self._last.get(indent, 0) + 1 if item[1] == "#" else int(item[1])
        self._last[indent] = number
        return f"{' ' * indent}{number}.{line[item.end() :]}" if item[1] == "#" else line
