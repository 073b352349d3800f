"""Comma-separated values, whatever the comma is."""

import csv
import io

from knowledge.loaders.decoding import decode
from knowledge.loaders.loaded import Loaded, titled
from knowledge.loaders.tables import table

DELIMITERS = ",;\t|"


def load(name: str, content: bytes) -> Loaded:
    decoded = decode(content)
    csv.field_size_limit(10_000_000)
    rows = csv.reader(io.StringIO(decoded.text), delimiter=_delimiter(decoded.text))
    return Loaded(title=titled(name), markdown=table(rows), remarks=decoded.remarks)


def _delimiter(text: str) -> str:
    """The mark that parts the first lines into the same number of cells, and the most of them."""
    lines = [line for line in text.split("\n", 30)[:30] if line.strip()][:20]

    def quality(mark: str) -> tuple[float, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=mark)]
        usual = max(set(widths), key=widths.count) if widths else 1
        return (widths.count(usual) / len(widths) if usual > 1 else 0.0, usual)

    return max(DELIMITERS, key=quality)
