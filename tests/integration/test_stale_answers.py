"""A reply that rests on an old document says so."""

import os
import time

from bot.local_slack import Message
from bot.service import Part, Service
from knowledge.encoders import Embedder
from knowledge.reranking import Reranker
from tests.company import Company, open_engine


def limited(company: Company, models: tuple[Embedder, Reranker], **limits: object) -> None:
    """Give every source staleness limits, and let a worker begin under them."""
    sources = tuple(source.model_copy(update=limits) for source in company.settings.sources)
    company.settings = company.settings.model_copy(update={"sources": sources})
    company.engine = open_engine(company.database, company.settings, models)
    company.service = Service(company.settings, company.engine, ())


def shown(reply: Message) -> str:
    return str(reply.blocks)


def test_a_source_that_changed_long_ago_is_marked_in_the_reply(
    listening: Company, models: tuple[Embedder, Reranker]
) -> None:
    limited(listening, models, stale_after_days=365)
    then = time.time() - 426 * 86_400
    os.utime(listening.documents / "everyone" / "leave.md", (then, then))
    listening.sync()
    listening.start(Part.WORKER)
    old = listening.reply(listening.ask("ben", "general", "how many days of annual leave do full-time staff get?"))
    new = listening.reply(listening.ask("ben", "general", "when do customer invoices go out?"))
    assert "25 days" in old.text
    assert "last changed 14 months ago" in shown(old)
    assert "Monday" in new.text
    assert "last changed" not in shown(new)


def test_a_source_that_drops_stale_documents_answers_as_if_they_were_not_there(
    listening: Company, models: tuple[Embedder, Reranker]
) -> None:
    limited(listening, models, stale_after_days=365, drop_stale=True)
    then = time.time() - 426 * 86_400
    os.utime(listening.documents / "everyone" / "leave.md", (then, then))
    listening.sync()
    listening.start(Part.WORKER)
    question = listening.ask("ben", "general", "how many days of annual leave do full-time staff get?")
    reply = listening.reply(question)
    assert listening.answer(question).outcome == "abstained"
    assert "25 days" not in f"{reply.text}{reply.blocks}"
    assert "Annual leave" not in f"{reply.text}{reply.blocks}"
