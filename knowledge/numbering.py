"""The numbers of an answer's citations, and the entries of its source list. Pure."""

from collections.abc import Iterable, Sequence

from knowledge.answers import Citation
from knowledge.evidence import Cited, Evidence


class Numbering:
    """Numbers from 1 in order of first use, one for each document and heading path."""

    def __init__(self, evidence: Sequence[Evidence]) -> None:
        self._evidence = evidence
        self._numbers: dict[tuple[int, tuple[str, ...]], int] = {}
        self._quotes: dict[int, list[Cited]] = {}

    def numbers(self, cited: Iterable[Cited]) -> tuple[int, ...]:
        """The numbers of these citations, given out on first use."""
        found: dict[int, None] = {}
        for one in cited:
            n = self._numbers.setdefault(self._section(one), len(self._numbers) + 1)
            self._quotes.setdefault(n, []).append(one)
            found[n] = None
        return tuple(found)

    def peek(self, cited: Iterable[Cited]) -> tuple[int | None, ...]:
        """The numbers that are there already; `None` where there is none yet."""
        return tuple(dict.fromkeys(self._numbers.get(self._section(one)) for one in cited))

    def citations(self) -> tuple[Citation, ...]:
        return tuple(self._citation(n, quotes) for n, quotes in sorted(self._quotes.items()))

    def _section(self, cited: Cited) -> tuple[int, tuple[str, ...]]:
        passage = self._evidence[cited.index].passage
        return passage.document_id, passage.heading_path

    def _citation(self, n: int, cited: Sequence[Cited]) -> Citation:
        p = self._evidence[cited[0].index].passage
        quote, *more = dict.fromkeys(c.text.strip() for c in cited)
        return Citation(
            n=n,
            chunk_id=p.chunk_id,
            document_id=p.document_id,
            title=p.title,
            url=p.url,
            heading_path=p.heading_path,
            quote=quote,
            updated_at=p.updated_at,
            scopes=p.scopes,
            more=tuple(more),
            stale_days=p.stale_days,
        )
