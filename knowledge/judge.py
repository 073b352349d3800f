"""A model's opinion of answers that were given: how much of them their passages support, and whether they are to the point.

Kept apart from what is measured, because it is an opinion. The rubric is `prompts/judge.md`. Each answer is read under
the scopes it was given under; only numbers, by answer id, come out of it, so that anybody can look an answer up.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import sqlalchemy as sa
import structlog
from pydantic import BaseModel, NonNegativeInt

from knowledge import answer_rows, budget, metrics, prompting, retrieval
from knowledge.answer_rows import StoredAnswer
from knowledge.answers import hash_of
from knowledge.calls import Calls
from knowledge.db import Database
from knowledge.errors import AnsweringFailed
from knowledge.evidence import Evidence
from knowledge.passages import Passage
from knowledge.permissions import Scopes
from knowledge.settings import Answers
from knowledge.tables import answers as answers_table

log = structlog.get_logger(__name__)

VERDICT_TOKENS = 400


class Verdict(BaseModel):
    """What the model says of one answer."""

    claims: NonNegativeInt
    supported: NonNegativeInt
    relevance: Literal[0, 1, 2]


@dataclass(frozen=True)
class Judged:
    """`verdicts` by answer id, of `of` answers that could have been judged."""

    verdicts: dict[str, Verdict]
    of: int
    model: str
    usage: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        """As an evaluation stores it: numbers only, None where there is nothing to divide."""
        all_of_them = self.verdicts.values()
        claims = sum(v.claims for v in all_of_them)
        return {
            "answers": len(self.verdicts),
            "of": self.of,
            "faithfulness": metrics.share(sum(min(v.supported, v.claims) for v in all_of_them), claims),
            "relevance": metrics.mean(v.relevance / 2 for v in all_of_them),
            "model": self.model,
            "rubric": hash_of(prompting.rubric()),
            "usage": self.usage,
            "verdicts": {answer_id: verdict.model_dump() for answer_id, verdict in self.verdicts.items()},
        }


def judge(database: Database, settings: Answers, since: datetime) -> Judged | None:
    """Judge the newest answers that the model has written since then, as many as the settings and the day's tokens allow.

    None without a key, without a daily budget, or when the settings want none judged. A failing service ends it early.
    """
    if settings.api_key is None or settings.daily_token_budget is None or not settings.judged_a_night:
        return None
    written = _written(database, since, settings.judged_a_night)
    made = Judged({}, len(written), settings.model, {})
    calls = Calls(settings)
    try:
        for answer, passages in written:
            with database.plain() as connection:
                if budget.spent(connection, datetime.now(UTC)) >= settings.daily_token_budget:
                    break
            made.verdicts[answer.id] = _verdict(database, calls, settings, answer, passages, made.usage)
    except AnsweringFailed as fault:
        log.warning("the judging of answers ended early", reason=str(fault), judged=len(made.verdicts))
    finally:
        calls.close()
    return made


def _verdict(
    database: Database,
    calls: Calls,
    settings: Answers,
    answer: StoredAnswer,
    passages: Sequence[Passage],
    usage: dict[str, float],
) -> Verdict:
    said = f"Question: {answer.standalone}\n\nAnswer to check:\n{answer.text}"
    given = prompting.passages([Evidence.of(passage) for passage in passages], "markers")
    request = {
        "model": settings.model,
        "max_tokens": VERDICT_TOKENS,
        "system": prompting.rubric(),
        "messages": [{"role": "user", "content": [*given, {"type": "text", "text": said}]}],
        "output_format": Verdict,
    }
    message = calls.complete(request, time.monotonic() + settings.timeout_s, lambda _: None)
    spent = {kind: getattr(message.usage, kind, None) or 0 for kind in budget.KINDS}
    for kind, amount in (*spent.items(), ("dollars", budget.dollars(settings.model, spent) or 0.0)):
        usage[kind] = usage.get(kind, 0.0) + amount
    with database.plain() as connection:
        budget.spend(connection, budget.tokens(spent), datetime.now(UTC))
    read = next((b.parsed_output for b in message.content if b.type == "text" and b.parsed_output), None)
    if read is None:
        raise AnsweringFailed(f"no verdict: the model stopped for {message.stop_reason!r}")
    verdict: Verdict = read
    return verdict


def _written(database: Database, since: datetime, limit: int) -> list[tuple[StoredAnswer, list[Passage]]]:
    """Newest first, with their passages; without those whose passages are not all there any more."""
    c = answers_table.c
    query = sa.select(c.id, c.scopes).where(c.created_at > since, c.outcome == "answered")
    with database.writing() as connection:
        rights = [(row.id, frozenset(row.scopes)) for row in connection.execute(query.order_by(c.created_at.desc()))]
    found: list[tuple[StoredAnswer, list[Passage]]] = []
    for read in _read(database, rights):
        if len(found) == limit:
            break
        found.append(read)
    return found


def _read(database: Database, rights: Sequence[tuple[str, Scopes]]) -> Iterator[tuple[StoredAnswer, list[Passage]]]:
    for answer_id, scopes in rights:
        with database.reading(scopes) as connection:
            answer = answer_rows.load(connection, answer_id)
            passages = retrieval.read(connection, answer.stages["passages"], scopes) if answer else {}
        if answer and passages and set(answer.stages["passages"]) == set(passages):
            yield answer, [passages[chunk] for chunk in answer.stages["passages"]]
