"""A question under somebody's scopes -> an answer, or an honest statement that there is none.

1. The question is made to stand alone.  2. Passages are found under the scopes.  3. With a key, and while the day's
tokens last, the model writes from them and what it wrote is verified.  4. Otherwise, and whenever that gives nothing
that holds, the documents' own sentences are quoted if they answer clearly enough.  5. Else it abstains.

No fault of the service is raised: the outcome and the notice say what happened, within `settings.timeout_s` plus the
time of a local search.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import structlog

from knowledge import analysis, budget, followups, markup, prompting
from knowledge.answers import Answer, Notice, Question, new_id
from knowledge.claims import Segment
from knowledge.claude import Claude, Draft
from knowledge.db import Database
from knowledge.encoders import Embedder
from knowledge.errors import AnsweringFailed
from knowledge.evidence import Evidence
from knowledge.figures import readings, unsupported
from knowledge.grounding import Grounded, verify
from knowledge.passages import Found
from knowledge.permissions import Scopes
from knowledge.quoting import Quoting
from knowledge.retrieval import Retriever
from knowledge.settings import Answers

log = structlog.get_logger(__name__)

LONGEST_STANDALONE = 600


@dataclass
class _Work:
    """One question while it is being answered."""

    question: Question
    scopes: Scopes
    deadline: float
    show: Callable[[str], None] | None
    ms: dict[str, float] = field(default_factory=dict)
    usage: dict[str, float] = field(default_factory=dict)
    shown: str = ""

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.ms[stage] = round((time.perf_counter() - started) * 1000, 2)

    def show_more(self, text: str) -> None:
        """Hand on what is new in `text`; nothing when it is not a continuation of what was shown."""
        if self.show and len(text) > len(self.shown) and text.startswith(self.shown):
            more = text[len(self.shown) :]
            self.shown = text
            self.show(more)

    def add_usage(self, usage: Mapping[str, float]) -> None:
        for kind, amount in usage.items():
            self.usage[kind] = self.usage.get(kind, 0) + amount


class Answerer:
    """Answers questions over one database. Threads may share it."""

    def __init__(
        self,
        database: Database,
        retriever: Retriever,
        embedder: Embedder,
        settings: Answers,
        claude: Claude | None = None,
    ) -> None:
        """`claude`: None = the service of the settings, or no service when they hold no key."""
        self._database = database
        self._retriever = retriever
        self._embedder = embedder
        self._quoting = Quoting(database, retriever, embedder)
        self._settings = settings
        self._claude = claude or (Claude(settings) if settings.api_key else None)

    def answer(self, question: Question, scopes: Scopes, on_text: Callable[[str], None] | None = None) -> Answer:
        """The answer for a reader who holds `scopes`; without any, outcome "refused" and no document is read.

        `on_text` gets the verified text piece by piece while it is written. It is a preview: the answer's own text
        replaces it, because an attempt that failed half-way is begun again and its text is not.
        """
        work = _Work(question, scopes, time.monotonic() + self._settings.timeout_s, on_text)
        with work.timed("total"):
            answer = self._answer(work)
        if work.usage:
            with self._database.plain() as connection:
                budget.spend(connection, budget.tokens(work.usage), datetime.now(UTC))
        log.info("answer", id=answer.id, outcome=answer.outcome, notice=answer.notice, removed=len(answer.removed))
        return replace(answer, usage=work.usage, ms=work.ms)

    def warm(self) -> None:
        """Load what the first question would wait for: the models of the search and the service's SDK."""
        self._retriever.warm()
        if self._claude is not None:
            self._claude.warm()

    def close(self) -> None:
        """Let go of the connection to the service."""
        if self._claude is not None:
            self._claude.close()

    def _answer(self, work: _Work) -> Answer:
        text = analysis.clean(work.question.text).strip()
        nothing = Found((), {}, "", 0, {})
        if not work.scopes:
            return Answer(new_id(), text, text, "", "refused", (), (), nothing)
        writes, notice = self._may_write()
        with work.timed("follow_up"):
            standalone = self._stand_alone(text, work, writes)
        found = self._retriever.search(standalone, work.scopes)
        work.ms.update(found.ms)
        answer = Answer(new_id(), text, standalone, "", "abstained", (), found.passages, found)
        if not found.passages:
            return answer
        evidence = tuple(Evidence.of(passage) for passage in found.passages)
        if not writes or self._claude is None:
            return self._quoted(answer, evidence, work, notice)
        return self._written(self._claude, answer, evidence, work)

    def _may_write(self) -> tuple[bool, Notice | None]:
        limit = self._settings.daily_token_budget
        if self._claude is None:
            return False, None
        if limit is not None:
            with self._database.plain() as connection:
                if budget.spent(connection, datetime.now(UTC)) >= limit:
                    return False, Notice.OVER_BUDGET
        return True, None

    def _stand_alone(self, text: str, work: _Work, writes: bool) -> str:
        """By the small model when it may be asked, by the rule otherwise; untouched outside a thread."""
        thread = work.question.thread
        if not any(turn.role == "person" for turn in thread):
            return text
        if writes and self._claude is not None:
            try:
                rewritten, usage = self._claude.stand_alone(text, thread, work.deadline)
            except AnsweringFailed as fault:
                log.warning("follow-up by the rule", reason=str(fault))
            else:
                work.add_usage(usage)
                rewritten = markup.without_mentions(analysis.clean(rewritten)).strip()
                said = readings("\n".join([text, *(turn.text for turn in thread)]))
                if 0 < len(rewritten) <= LONGEST_STANDALONE and not unsupported(rewritten, said):
                    return rewritten
        return followups.stand_alone(text, thread)

    def _written(self, claude: Claude, answer: Answer, evidence: Sequence[Evidence], work: _Work) -> Answer:
        asked = f"{answer.standalone}\n{answer.question}"

        def preview(segments: Sequence[Segment], given: Sequence[Evidence]) -> None:
            work.show_more(verify(segments, given, asked, complete=False).text)

        def search(query: str) -> Sequence[Evidence]:
            return [Evidence.of(passage) for passage in self._retriever.search(query, work.scopes).passages]

        try:
            with work.timed("write"):
                draft = claude.write(answer.standalone, evidence, work.deadline, search, preview if work.show else None)
        except AnsweringFailed as fault:
            log.warning("quotes instead of an answer", reason=str(fault))
            return self._quoted(answer, evidence, work, Notice.UNAVAILABLE)
        work.add_usage(draft.usage)
        with work.timed("verify"):
            grounded = verify(draft.segments, draft.evidence, asked, complete=draft.stop == "complete")
        answer = replace(
            answer,
            passages=tuple(given.passage for given in draft.evidence),
            model=self._settings.model,
            prompt_hash=prompting.prompt_hash(self._settings.citations),
            removed=grounded.removed,
            searches=draft.searches,
        )
        return self._judged(answer, draft, grounded, work)

    def _judged(self, answer: Answer, draft: Draft, grounded: Grounded, work: _Work) -> Answer:
        """What a verified draft amounts to."""
        if draft.stop == "declined":
            return self._quoted(answer, draft.evidence, work, Notice.DECLINED)
        if grounded.text:
            text = "\n\n".join(part for part in (grounded.text, grounded.missing) if part)
            work.show_more(text)
            notice = Notice.CUT_SHORT if draft.stop == "cut" else None
            return replace(answer, text=text, outcome="answered", citations=grounded.citations, notice=notice)
        if grounded.missing is not None:
            return replace(answer, text=grounded.missing)
        return self._quoted(
            answer, draft.evidence, work, Notice.UNAVAILABLE if draft.stop == "cut" else Notice.UNVERIFIED
        )

    def _quoted(self, answer: Answer, evidence: Sequence[Evidence], work: _Work, notice: Notice | None) -> Answer:
        with work.timed("quote"):
            quoted = self._quoting.quote(answer.standalone, evidence, work.scopes, answer.question)
        answer = replace(answer, notice=notice, strength=quoted.strength)
        if quoted.grounded is None or not quoted.grounded.text:
            return replace(answer, outcome="failed" if notice is Notice.UNAVAILABLE else "abstained")
        work.show_more(quoted.grounded.text)
        return replace(
            answer,
            text=quoted.grounded.text,
            outcome="quoted",
            passages=tuple(given.passage for given in quoted.evidence),
            citations=quoted.grounded.citations,
            removed=(*answer.removed, *quoted.grounded.removed),
            model=answer.model or f"quotes by {self._embedder.name}",
        )
