"""`footnote demo`: the whole product on a copy of the sample company, an embedded Postgres and a local Slack."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.errors import DemoFailed
from bot.facts import DIRECT
from bot.local_slack import LocalSlack, Message, Server, serve
from bot.script import Edit, Reply, Turn, faults, openers, read_script
from bot.service import Part, Service
from bot.settings import Settings, load
from bot.shelf import Shelf
from knowledge import answer_rows, gold_file, receipts, samples
from knowledge.db import Database
from knowledge.engine import Engine, open_engine
from knowledge.postgres import EmbeddedPostgres
from knowledge.receipts import Receipt

REPLY_WITHIN_S = 120.0

Say = Callable[[str], None]


@dataclass(frozen=True)
class Played:
    """One turn of the script and what came back. `faults`: what was not as expected, in words."""

    turn: Turn
    reply: Reply
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Demo:
    """A running sample company. `documents`: the copy that may be changed."""

    settings: Settings
    engine: Engine
    service: Service
    server: Server
    documents: Path

    @property
    def slack(self) -> LocalSlack:
        return self.server.slack

    def play(self, script: tuple[Turn, ...]) -> Iterator[Played]:
        """Ask every question of the script in Slack, one after the other."""
        asked: dict[int, Message] = {}
        for turn in script:
            self._edit(turn.before)
            root = asked[turn.thread].root if turn.thread is not None else None
            asked[turn.number] = message = self._ask(turn, root)
            reply = self._reply_to(message)
            yield Played(turn, reply, faults(turn.expect, reply))

    def _edit(self, edits: tuple[Edit, ...]) -> None:
        for edit in edits:
            file = self.documents / edit.document
            if edit.old is None or edit.new is None:
                file.unlink()
            else:
                file.write_text(file.read_text(encoding="utf-8").replace(edit.old, edit.new), encoding="utf-8")
        touched = {edit.document.split("/", maxsplit=1)[0] for edit in edits}
        if touched:
            self.service.sync(touched)

    def _ask(self, turn: Turn, root: str | None) -> Message:
        if turn.place == DIRECT:
            return self.slack.say(turn.asker, self.slack.dm(turn.asker).id, turn.asked, root)
        return self.slack.say(turn.asker, turn.place, f"<@{self.slack.state.bot.id}> {turn.asked}", root)

    def _reply_to(self, message: Message) -> Reply:
        """What was posted for a question, once its work is finished, with the record behind it."""
        receipt = self._finished(message)
        with self.engine.database.plain() as connection:
            sent = {reply.ts for reply in receipts.replies_to(connection, receipt.id)}
        text = "\n".join(reply.text for reply in self.slack.replies(message) if reply.ts in sent)
        if receipt.answer_id is None:
            return Reply(text, receipt.state, ())
        with self.engine.database.writing() as connection:
            answer = answer_rows.load(connection, receipt.answer_id)
        assert answer is not None, f"answer {receipt.answer_id} was posted and is not stored"
        return Reply(text, answer.outcome, answer.citations)

    def _finished(self, message: Message) -> Receipt:
        key = f"{self.slack.state.team.id}:{message.channel}:{message.ts}"
        deadline = time.monotonic() + REPLY_WITHIN_S
        while time.monotonic() < deadline:
            with self.engine.database.plain() as connection:
                receipt = receipts.by_message(connection, key)
            if receipt is not None and receipt.finished:
                return receipt
            time.sleep(0.02)
        raise DemoFailed(f"no reply within {REPLY_WITHIN_S:.0f} s to {message.text!r}; the log above says why")


@contextmanager
def running_demo(
    home: Path,
    environment: Mapping[str, str],
    say: Say,
    *,
    parts: tuple[Part, ...] = tuple(Part),
    port: int = 0,
) -> Iterator[Demo]:
    """The sample company with its documents indexed and the bot listening. Each start begins with a fresh database.

    Raises `LocalSlackError`, before anything else is done, when the page's `port` is taken.
    """
    with ExitStack() as stack:
        server = serve(samples.WORKSPACE, port)
        stack.callback(server.stop)
        folder = _copy_of_samples(home / "demo")
        say("starting an embedded Postgres")
        cluster = EmbeddedPostgres(home / "postgres").start()
        stack.callback(cluster.release)
        administration = stack.enter_context(Database(cluster.url()))
        database = stack.enter_context(administration.scratch())
        stack.callback(server.stop)  # before its database goes, which the page reads documents from
        _suggest(server.slack)
        settings = load(folder / samples.CONFIG.name, _environment(environment, home, database.url, server))
        settings = _with_documents_at(f"{server.url}documents", settings)
        engine = open_engine(settings.knowledge)
        stack.callback(engine.close)
        service = Service(settings, engine, parts)
        server.slack.add_route(_shelf(settings, engine, service).route)
        _index(service, engine, say)
        stack.callback(service.stop)
        service.start()
        server.slack.wait_for_connection()
        yield Demo(settings, engine, service, server, folder / samples.DOCUMENTS.name)


def _copy_of_samples(folder: Path) -> Path:
    """The demo changes documents, and an installed package may be read-only."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(samples.ROOT, folder, ignore=shutil.ignore_patterns("__pycache__", "*.py"))
    return folder


def _suggest(slack: LocalSlack) -> None:
    """Every channel offers the questions that the script asks there; in direct messages the bot offers its own."""
    for place, questions in openers(read_script(samples.CONVERSATION)).items():
        if place != DIRECT:
            slack.suggest(place, questions)


def _environment(environment: Mapping[str, str], home: Path, database_url: str, server: Server) -> dict[str, str]:
    """The caller's environment with everything pointed at this demo; a key for Claude is kept."""
    tokens = server.slack.tokens
    return {
        **environment,
        "FOOTNOTE_HOME": str(home),
        "FOOTNOTE_DATABASE_URL": database_url,
        "SLACK_API_URL": server.base_url,
        "SLACK_BOT_TOKEN": tokens.bot,
        "SLACK_APP_TOKEN": tokens.app,
    }


def _with_documents_at(address: str, settings: Settings) -> Settings:
    """The sample company has no site of its own; its documents are opened at the local page."""
    sources = tuple(s.model_copy(update={"url": f"{address}/{s.name}/{{path}}"}) for s in settings.sources)
    return settings.model_copy(update={"sources": sources})


def _shelf(settings: Settings, engine: Engine, service: Service) -> Shelf:
    return Shelf(engine.database, settings.sources, lambda person: service.directory.decide(person, None).allowed)


def _index(service: Service, engine: Engine, say: Say) -> None:
    """The documents, and the sample company's reviewed gold cases for the nightly evaluation."""
    say("indexing the documents of the sample company")
    for outcome in service.sync():
        say(f"  {outcome.summary()}")
    lines = gold_file.read(samples.GOLD, "accepted")
    with engine.database.writing() as connection:
        gold_file.load(connection, lines, "samples")
