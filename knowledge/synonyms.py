"""Words of office life that say the same, so that "sick" answers who is "ill". English; one group a line of
`data/synonyms.txt`.

Only quotes are chosen and judged by them, which is done for a half by words. Retrieval knows meanings by its vectors.
"""

from functools import cache
from pathlib import Path

from knowledge import analysis

GROUPS = Path(__file__).with_name("data") / "synonyms.txt"


def others(term: str) -> frozenset[str]:
    """The terms of the words that say the same as this term's; empty for most."""
    return _table().get(term, frozenset())


@cache
def _table() -> dict[str, frozenset[str]]:
    table: dict[str, frozenset[str]] = {}
    for line in GROUPS.read_text(encoding="utf-8").splitlines():
        group = frozenset(analysis.stems(line))
        for term in group:
            table[term] = table.get(term, frozenset()) | (group - {term})
    return table
