"""reStructuredText as text, with its headings, tables, code, links and roles as those of Markdown and without its comments:
the rest of its markup can be read as it is."""

import re
from itertools import groupby

from knowledge.loaders.decoding import decode
from knowledge.loaders.literals import parted
from knowledge.loaders.loaded import Loaded, titled
from knowledge.loaders.markdown import first_heading
from knowledge.loaders.rst_inline import addresses, unmarked
from knowledge.loaders.rst_numbers import Numbers
from knowledge.loaders.rst_tables import tabled

_HEADING = re.compile(
    r"^(?:(?P<over>(?P<over_mark>[=\-`:.'\"~^_*+#<>])(?P=over_mark){2,})[ \t]*\n)?"
    r"(?P<name>[ \t]?\S[^\n]*)\n(?P<mark>[=\-`:.'\"~^_*+#<>])(?P=mark){2,}[ \t]*(?=\n|\Z)",
    re.M,
)
_MARKS = re.compile(r"^\.\. (?:_[^:\n]+:|(?:currentmodule|highlight|index)::[^\n]*)[ \t]*\n", re.M)
"""Lines that no reader of the page sees: names of places, and settings of the tool."""

_NO_HEADING = re.compile(r"^( {0,3})(?=#{1,6}[ \t]+\S)", re.M)
"""Begins a line that Markdown would take for one."""

_OVER = re.compile(r"^[=\-`:.'\"~^_*+#<>]{3,}[ \t]*$")


def load(name: str, content: bytes) -> Loaded:
    decoded = decode(content)
    styles: list[tuple[bool, str]] = []

    def heading(match: re.Match[str]) -> str:
        under = match[0].rsplit("\n", 1)[-1].strip()
        over = match["over"]
        if len(under) < len(match["name"].strip()) or _OVER.match(match["name"]) or (over and over.strip() != under):
            return match[0]
        style = (bool(over), match["mark"])
        if style not in styles:
            styles.append(style)
        return f"\n{'#' * min(styles.index(style) + 1, 6)} {match['name'].strip()}\n"

    def written(prose: str) -> str:
        prose = numbers.counted(_NO_HEADING.sub(r"\1\\", prose))
        return unmarked(_HEADING.sub(heading, tabled(prose)), known)

    known, numbers = addresses(decoded.text), Numbers()
    parts = (
        (code, "".join(text for text, _ in group))
        for code, group in groupby(parted(_MARKS.sub("", decoded.text)), lambda part: part[1])
    )
    markdown = "".join(text if code else written(text) for code, text in parts)
    return Loaded(title=titled(name, first_heading(markdown)), markdown=markdown, remarks=decoded.remarks)
