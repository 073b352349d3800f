"""Comma-separated values, whatever the comma is."""

import csv
import io
import re

from knowledge.loaders.decoding import decode
from knowledge.loaders.loaded import Loaded, titled
from knowledge.loaders.tables import captioned, table

DELIMITERS = ",;\t|"
_TOLD = re.compile(r"\"?sep=([^\n\"])\"?\n", re.I)
"""A first line for spreadsheets that says which."""


def load(name: str, content: bytes) -> Loaded:
    decoded = decode(content)
    csv.field_size_limit(10_000_000)
    told = _TOLD.match(decoded.text)
    text = decoded.text[told.end() :] if told else decoded.text
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=told[1] if told else _delimiter(text)) if any(row)]
    is_list = all(sum(map(bool, row)) == 1 for row in rows)
    markdown = table(rows) if is_list else "\n\n".join(captioned(rows))
    return Loaded(title=titled(name), markdown=markdown, remarks=decoded.remarks)


def _delimiter(text: str) -> str:
    """The mark that parts the first lines into the same number of cells, and the most of them."""
    lines = [line for line in text.split("\n", 30)[:30] if line.strip()][:20]

    def quality(mark: str) -> tuple[float, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=mark)]
        usual = max(set(widths), key=widths.count) if widths else 1
        return (widths.count(usual) / len(widths) if usual > 1 else 0.0, usual)

    return max(DELIMITERS, key=quality)
