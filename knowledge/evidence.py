"""The passages a model was given, and the checks of its words against them. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from knowledge import markup
from knowledge.analysis import STOP_WORDS
from knowledge.answers import Citation, Removed
from knowledge.citable import Piece, cut
from knowledge.figures import readings, unsupported
from knowledge.orders import is_order, ordering
from knowledge.passages import Passage

_FRAMING = (
    "yes no not the and are was were can may you your for from this that these those there here with have has but both "
    "according based document documents page pages policy passage passages source sources says say summary short brief "
    "follow follows following step steps answer depend depends example case cases also however newer older current "
    "apply applies list lists table overview detail details note in is it of on to be by as at or if so do does an we"
)
FRAMING = frozenset(_FRAMING.split())
"""Words that lead to a statement without making one (English; in other languages such lead-ins are left out)."""

_WORD = re.compile(r"[^\W\d_]+")
_STEM = 5
"""Letters by which two words count as the same: crude, alike in every language, and only ever asked of uncited text."""

_LONGEST_STATEMENT = 400

LEAST_SHARED = 0.3
"""Share of an English claim's content words that an English passage it cites (or the question) must have. Paraphrases of
one fact share more than that, sentences about something else less; a rough guess, kept low so that it spares honest ones."""

FEWEST_WORDS = 3
"""Content words from which a claim says enough to be compared."""

_ENGLISH = 0.2
"""Share of function words from which a text is taken to be English."""


@dataclass(frozen=True)
class Cited:
    """A citation as the model gave it: a passage by index from 0, its pieces [start, end), and their text.

    `whole`: the model cited the passage as a whole; the pieces are only what is shown of it.
    """

    index: int
    start: int
    end: int
    text: str
    whole: bool = False


@dataclass(frozen=True)
class Evidence:
    """A passage as the model was given it."""

    passage: Passage
    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, passage: Passage) -> "Evidence":
        return cls(passage, cut(passage.body))

    @cached_property
    def orders(self) -> frozenset[int]:
        """Numbers of the pieces that speak to a machine: no evidence for anything."""
        return ordering(self.pieces)


class Checks:
    """The question and the evidence, and what of the evidence has been cited so far."""

    def __init__(self, evidence: Sequence[Evidence], question: str) -> None:
        self._evidence = evidence
        self._own_hosts = {markup.host(e.passage.url) for e in evidence} - {""}
        self._question = readings(question)
        self._question_urls = markup.addresses(question)
        self._question_words = words(question)
        self._known_words = self._question_words | words(_FRAMING)
        self._known_facts = self._question
        self.failed: list[Removed] = []
        """Citations that do not hold."""

    def holds(self, cited: Cited) -> bool:
        """The passage exists and the quote is in it; a failure is recorded."""
        if not 0 <= cited.index < len(self._evidence):
            self.failed.append(Removed(cited.text, f"cites source {cited.index + 1} of {len(self._evidence)}"))
            return False
        given, quote = self._evidence[cited.index], cited.text.strip()
        if not quote or quote not in given.passage.body:
            self.failed.append(Removed(cited.text, f"is not in source {cited.index + 1}"))
            return False
        if not given.orders.isdisjoint(range(cited.start, cited.end)) or is_order(quote):
            self.failed.append(Removed(cited.text, "speaks to a machine"))
            return False
        return True

    def unsupported(self, text: str, cited: Sequence[Cited]) -> tuple[str, ...]:
        """Facts and addresses of a claim that neither what it cites nor the question contains."""
        support = [self._question, *(readings(self._support(c)) for c in cited)]
        return unsupported(markup.without_addresses(text), *support) or self._loose_addresses(text, cited)

    def unrelated(self, text: str, cited: Iterable[Cited]) -> bool:
        """Whether an English claim speaks of something else than the English passages it cites, or to a machine."""
        if is_order(text):
            return True
        bodies = "\n".join(f"{p.label}\n{p.body}" for p in (self._evidence[c.index].passage for c in cited))
        if not (_is_english(text) and _is_english(bodies)):
            return False
        said = words(" ".join(w for w in _WORD.findall(text) if w.casefold() not in STOP_WORDS))
        return len(said) >= FEWEST_WORDS and len(said & (words(bodies) | self._question_words)) < LEAST_SHARED * len(
            said
        )

    def learn(self, cited: Iterable[Cited]) -> None:
        """What was cited may be said again without a citation."""
        for support in map(self._support, cited):
            self._known_words = self._known_words | words(support)
            self._known_facts = self._known_facts | readings(support)

    def added(self, text: str) -> tuple[str, ...]:
        """What an uncited text says beyond the question and what was cited: facts, addresses, words."""
        loose = unsupported(markup.without_addresses(text), self._known_facts) or self._loose_addresses(text, ())
        return loose or tuple(sorted(words(text) - self._known_words))

    def about_question(self, statement: str) -> bool:
        """A statement of what is missing: short, with a word of the question, with no fact that is not in it."""
        return (
            len(statement) <= _LONGEST_STATEMENT
            and bool(words(statement) & (self._question_words - words(_FRAMING)))
            and not unsupported(statement, self._question)
        )

    def shown(self, url: str, cited: Iterable[Cited]) -> markup.Shown:
        """How an address may be posted in a claim with these citations; `url` without a slash at its end."""
        passages = [self._evidence[c.index].passage for c in cited]
        if any(url == p.url.rstrip("/") for p in passages):
            return "link"
        if any(url in markup.addresses(p.body) for p in passages):
            return "link" if markup.host(url) in self._own_hosts else "code"
        return "code" if url in self._question_urls else "nothing"

    def _loose_addresses(self, text: str, cited: Sequence[Cited]) -> tuple[str, ...]:
        return tuple(sorted(url for url in markup.addresses(text) if self.shown(url, cited) == "nothing"))

    def _support(self, cited: Cited) -> str:
        """What a citation brings as evidence: its quote, its rows' headers, its title, headings and date."""
        given = self._evidence[cited.index]
        whole = "".join(p.text for n, p in enumerate(given.pieces) if n not in given.orders) if cited.whole else ""
        headers = sorted({p.header for p in given.pieces if p.header and p.text.strip() in cited.text})
        updated = given.passage.updated_at
        return "\n".join((cited.text, whole, *headers, given.passage.label, f"{updated:%Y-%m-%d}" if updated else ""))


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


def _is_english(text: str) -> bool:
    found = _WORD.findall(text.casefold())
    return sum(word in STOP_WORDS for word in found) >= _ENGLISH * len(found) > 0


def words(text: str) -> frozenset[str]:
    """The words of a text, each by its first letters."""
    return frozenset(word[:_STEM].casefold() for word in _WORD.findall(text))
