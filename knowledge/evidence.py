"""The passages a model was given, and the checks of its words against them. Pure."""

import re
import unicodedata
from bisect import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from knowledge import markup
from knowledge.absences import denies
from knowledge.analysis import STOP_WORDS
from knowledge.answers import Removed
from knowledge.citable import Piece, cut
from knowledge.figures import readings, unsupported
from knowledge.language import is_english, is_foreign
from knowledge.orders import is_order, ordering
from knowledge.passages import Passage

_FRAMING = (
    "yes no not the and are was were can may you your for from this that these those there here with have has but both "
    "according based document documents page pages policy passage passages source sources says say summary short brief "
    "follow follows following step steps answer depend depends example case cases also however newer older current "
    "apply applies list lists table overview detail details note in is it of on to be by as at or if so do does an we "
    "one other others two first comes disagree differ gives give states while whereas means version versions"
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

_FORMS = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', **dict.fromkeys("‐‑‒–—−", "-")}
)


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

    @cached_property
    def text(self) -> str:
        """The passage without them."""
        return "".join(piece.text for number, piece in enumerate(self.pieces) if number not in self.orders)

    def places(self, cited: "Cited", quote: str) -> range:
        """The pieces that a quote, which is in the passage, stands in."""
        if quote in "".join(piece.text for piece in self.pieces[cited.start : cited.end]):
            return range(cited.start, cited.end)
        at = self.passage.body.index(quote)
        ends = list(accumulate(len(piece.text) for piece in self.pieces))
        return range(bisect(ends, at), bisect(ends, at + len(quote) - 1) + 1)


class Checks:
    """The question and the evidence, and what of the evidence has been cited so far."""

    def __init__(self, evidence: Sequence[Evidence], question: str) -> None:
        self._evidence = evidence
        self._own_hosts = {markup.host(e.passage.url) for e in evidence} - {""}
        self._question = readings(question)
        self._question_urls = markup.addresses(question)
        self._question_words = words(question)
        self._asked_in_english = is_english(question)
        self._cited_words = words(_FRAMING)
        self._cited_facts = frozenset[str]()
        self.failed: list[Removed] = []
        """Citations that do not hold."""

    def held(self, cited: Cited) -> Cited | None:
        """The citation with the passage's own words, when they are there; a failure is recorded.

        White space, case and the forms of quotes and dashes may differ in what the model repeats of the pieces it names.
        """
        if not 0 <= cited.index < len(self._evidence):
            self.failed.append(Removed(cited.text, f"cites source {cited.index + 1} of {len(self._evidence)}"))
            return None
        given, quote = self._evidence[cited.index], cited.text.strip()
        if quote not in given.passage.body:
            named = "".join(piece.text for piece in given.pieces[max(0, cited.start) : max(0, cited.end)]).strip()
            quote = named if _folded(named) == _folded(quote) else ""
        if not quote:
            self.failed.append(Removed(cited.text, f"is not in source {cited.index + 1}"))
            return None
        if not given.orders.isdisjoint(given.places(cited, quote)) or is_order(quote):
            self.failed.append(Removed(cited.text, "speaks to a machine"))
            return None
        return replace(cited, text=quote)

    def unsupported(self, text: str, cited: Sequence[Cited]) -> tuple[str, ...]:
        """Facts and addresses of a claim that neither what it cites nor the question contains."""
        support = [self._question, *(readings(self._support(c)) for c in cited)]
        return unsupported(markup.without_addresses(text), *support) or self._loose_addresses(text, cited)

    def unrelated(self, text: str, cited: Iterable[Cited]) -> bool:
        """Whether an English claim speaks of something else than the English passages it cites, or to a machine."""
        if is_order(text):
            return True
        said, known = self._compared(text, cited)
        return len(said) >= FEWEST_WORDS and len(said & known) < LEAST_SHARED * len(said)

    def strange(self, text: str, cited: Iterable[Cited]) -> bool:
        """Whether a stretch that cites nothing has no word at all of what its claim cites."""
        said, known = self._compared(text, cited)
        return len(said) >= FEWEST_WORDS and not said & known

    def _compared(self, text: str, cited: Iterable[Cited]) -> tuple[frozenset[str], frozenset[str]]:
        """The content words of an English text, and those it may have; none of a text in another language."""
        passages = "\n".join(f"{e.passage.label}\n{e.text}" for e in (self._evidence[c.index] for c in cited))
        if not (is_english(passages) and (is_english(text) or (self._asked_in_english and not is_foreign(text)))):
            return frozenset(), frozenset()
        said = words(" ".join(w for w in _WORD.findall(text) if w.casefold() not in STOP_WORDS)) - words(_FRAMING)
        return said, words(passages) | self._question_words

    def learn(self, cited: Iterable[Cited]) -> None:
        """What was cited may be said again without a citation."""
        for support in map(self._support, cited):
            self._cited_words = self._cited_words | words(support)
            self._cited_facts = self._cited_facts | readings(support)

    def added(self, text: str, with_question: bool) -> tuple[str, ...]:
        """What an uncited text says beyond what was cited and, perhaps, the question: facts, addresses, words."""
        facts = (self._cited_facts, self._question) if with_question else (self._cited_facts,)
        known = self._cited_words | (self._question_words if with_question else frozenset())
        loose = unsupported(markup.without_addresses(text), *facts) or self._loose_addresses(text, ())
        return loose or tuple(sorted(words(text) - known))

    def about_question(self, statement: str) -> bool:
        """A statement of what is missing: short, with a word of the question, with no fact that is not in it.

        It says that something is not there, or has hardly a word that is not in the question.
        """
        said = words(statement)
        return (
            len(statement) <= _LONGEST_STATEMENT
            and bool(said & (self._question_words - words(_FRAMING)))
            and not unsupported(statement, self._question)
            and (denies(statement) or len(said - self._question_words - words(_FRAMING)) <= 1)
        )

    def shown(self, url: str, cited: Iterable[Cited]) -> markup.Shown:
        """How an address may be posted in a claim with these citations; `url` without a slash at its end."""
        given = [self._evidence[c.index] for c in cited]
        if any(url == each.passage.url.rstrip("/") for each in given):
            return "link"
        if any(url in markup.addresses(each.text) for each in given):
            return "link" if markup.host(url) in self._own_hosts else "code"
        return "code" if url in self._question_urls else "nothing"

    def _loose_addresses(self, text: str, cited: Sequence[Cited]) -> tuple[str, ...]:
        return tuple(sorted(url for url in markup.addresses(text) if self.shown(url, cited) == "nothing"))

    def _support(self, cited: Cited) -> str:
        """What a citation brings as evidence: its quote, its rows' headers, its title, headings and date."""
        given = self._evidence[cited.index]
        whole = given.text if cited.whole else ""
        headers = sorted({p.header for p in given.pieces if p.header and p.text.strip() in cited.text})
        updated = given.passage.updated_at
        return "\n".join((cited.text, whole, *headers, given.passage.label, f"{updated:%Y-%m-%d}" if updated else ""))


def _folded(text: str) -> str:
    """One spelling of white space, case, quotes and dashes."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().translate(_FORMS).split())


def words(text: str) -> frozenset[str]:
    """The words of a text, each by its first letters."""
    return frozenset(word[:_STEM].casefold() for word in _WORD.findall(text))
