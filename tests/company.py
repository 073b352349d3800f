"""A whole company for tests: the real bot on a real database, in a local Slack, with documents in a folder.

`company`, `own_company` and `models` are fixtures of every test. Nothing is faked but Slack itself, and that is a server.
"""

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import pytest

from bot.inbox import private_key
from bot.local_slack import LocalSlack, Message, Server, serve
from bot.receiving import HttpReceiver
from bot.service import Part, Service
from bot.settings import Settings
from knowledge import answer_rows, receipts
from knowledge.answer_rows import StoredAnswer
from knowledge.answering import Answerer
from knowledge.db import Database
from knowledge.encoders import Embedder, load_embedder
from knowledge.engine import Engine
from knowledge.index import Indexer
from knowledge.postgres import EmbeddedPostgres
from knowledge.receipts import Receipt
from knowledge.reranking import Reranker, load_reranker
from knowledge.retrieval import Retriever
from knowledge.settings import Models, Section, Source

WORKSPACE = Path(__file__).parent / "data" / "workspace.yaml"
SCOPES = {
    "everyone": "workspace",
    "legal": "channel:CLEGAL",
    "partner": "channel:CPARTNER",
    "guests": "channel:CGUESTS",
}
"""Source (and folder) -> who may read it."""
ADDRESS = "https://docs.example.test"
WITHIN_S = 30.0

Value = TypeVar("Value")


@dataclass
class Company:
    """`say` and `reply` are what tests mostly need; everything else is reached through the parts."""

    server: Server
    settings: Settings
    engine: Engine
    service: Service
    documents: Path
    started: list[Service] = field(default_factory=list)

    @property
    def slack(self) -> LocalSlack:
        return self.server.slack

    @property
    def database(self) -> Database:
        return self.engine.database

    def write(self, name: str, text: str) -> None:
        """Put a document into a source's folder: `everyone/leave.md`."""
        file = self.documents / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def sync(self) -> None:
        self.service.sync()

    def start(self, *parts: Part) -> Service:
        """One more process' worth of the bot, on the same database and workspace."""
        service = Service(self.settings, self.engine, parts or (Part.RECEIVER, Part.WORKER))
        before = len(self.slack.socket_mode.connections)
        self.started.append(service)
        service.start()
        if isinstance(service.receiver, HttpReceiver):
            receiver = service.receiver
            until(lambda: receiver.healthy)
            self.slack.deliver_to(f"http://127.0.0.1:{receiver.port}/slack/events")
        elif service.receiver is not None:
            self.slack.wait_for_connection(before + 1)
        return service

    def stop(self) -> None:
        """Stop every process' worth of the bot."""
        for service in self.started:
            service.stop()

    def ask(self, user: str, channel: str, text: str, thread: str | None = None) -> Message:
        """Mention the bot in a channel; `dm` is the conversation with it."""
        if channel == "dm":
            return self.slack.say(user, self.slack.dm(user).id, text, thread)
        return self.slack.say(user, channel, f"<@{self.slack.state.bot.id}> {text}", thread)

    def reply(self, message: Message) -> Message:
        """The first reply to a question, once everything about the question is finished."""
        self.receipt(message)
        return self.slack.replies(message)[-1]

    def receipt(self, message: Message) -> Receipt:
        """The finished receipt of a question."""
        key = f"{self.slack.state.team.id}:{message.channel}:{message.ts}"

        def finished() -> Receipt | None:
            with self.database.plain() as connection:
                receipt = receipts.by_message(connection, key)
            return receipt if receipt is not None and receipt.finished else None

        return until(finished)

    def answer(self, message: Message) -> StoredAnswer:
        """The stored answer to a question."""
        receipt = self.receipt(message)
        assert receipt.answer_id is not None, f"no answer but {receipt.state}"
        with self.database.writing() as connection:
            stored = answer_rows.load(connection, receipt.answer_id)
        assert stored is not None
        return stored

    def press(self, task: str, question: Message, user: str) -> Receipt:
        """What becomes of a click under the answer to a question for which Slack shows this person no button, or no more."""
        answer, person = self.answer(question).id, self.slack.state.person(user).id
        with self.database.plain() as connection:
            made = receipts.record(
                connection,
                f"made up {secrets.token_hex(8)}",
                task,
                {"value": answer},
                person=person,
                thread_key=private_key(answer),
            )
        assert made is not None
        self.service.private.tasks[task](made)
        with self.database.plain() as connection:
            receipt = receipts.load(connection, made)
        assert receipt is not None
        return receipt

    def settled(self) -> None:
        """Until everything that was sent is received and every receipt is finished."""
        self.slack.wait_until_idle()
        self.finished()

    def answer_again(self, receipt_id: int) -> None:
        """As after a worker died: its receipt is given out once more."""
        self.service.queue.defer("answer", inbox_id=receipt_id)
        self.finished()

    def finished(self) -> None:
        """Until every receipt is finished."""

        def nothing_open() -> bool:
            with self.database.plain() as connection:
                return receipts.count_open(connection) == 0

        until(nothing_open)


def until(look: Callable[[], Value | None], within_s: float = WITHIN_S) -> Value:
    """The first value of `look` that is not false; the database has nothing to wait on."""
    deadline = time.monotonic() + within_s
    pause = threading.Event()
    while time.monotonic() < deadline:
        if found := look():
            return found
        pause.wait(0.02)
    raise AssertionError(f"nothing within {within_s} s from {look.__qualname__}")


@pytest.fixture(scope="session")
def models() -> tuple[Embedder, Reranker]:
    embedder = load_embedder(Models())
    return embedder, load_reranker(Models())


def make_settings(
    home: Path, server: Server, url: str, scopes: Mapping[str, str], slack: Mapping[str, object], **parts: Section
) -> Settings:
    sources = tuple(
        Source(name=name, location=str(home / "documents" / name), scopes=(scope,), url=f"{ADDRESS}/{name}/{{path}}")
        for name, scope in scopes.items()
    )
    tokens = server.slack.tokens
    chosen = {
        "bot_token": tokens.bot,
        "app_token": tokens.app,
        "signing_secret": tokens.signing_secret,
        "api_url": server.base_url,
        "admins": ("UANA",),
        **slack,
    }
    return Settings.model_validate({"home": home, "database_url": url, "sources": sources, "slack": chosen, **parts})


def open_engine(database: Database, settings: Settings, models: tuple[Embedder, Reranker]) -> Engine:
    embedder, reranker = models
    retriever = Retriever(database, embedder, reranker, settings.retrieval, settings.sources)
    answerer = Answerer(database, retriever, embedder, settings.answers)
    indexer = Indexer(database, embedder, settings.chunking)
    return Engine(settings.knowledge, database, embedder, retriever, answerer, indexer)


@contextmanager
def running(
    home: Path,
    url: str,
    models: tuple[Embedder, Reranker],
    *,
    workspace: Path = WORKSPACE,
    scopes: Mapping[str, str] = SCOPES,
    documents: Mapping[str, str] | None = None,
    parts: tuple[Part, ...] = (Part.RECEIVER, Part.WORKER),
    slack: Mapping[str, object] = MappingProxyType({}),
    **sections: Section,
) -> Iterator[Company]:
    """A company with its documents indexed; `documents` None: one for everyone, for #legal, #partner and #guests.

    `slack` and `sections` are further settings.
    """
    with ExitStack() as stack:
        database = stack.enter_context(Database(url))
        server = serve(workspace)
        stack.callback(server.stop)
        settings = make_settings(home, server, url, scopes, slack, **sections)
        engine = open_engine(database, settings, models)
        stack.callback(engine.answerer.close)
        made = Company(server, settings, engine, Service(settings, engine, ()), home / "documents")
        for source in scopes:
            (made.documents / source).mkdir(parents=True)
        for name, text in (DOCUMENTS if documents is None else documents).items():
            made.write(name, text)
        if Part.WORKER in parts:
            made.sync()
        stack.callback(made.stop)
        made.service = made.start(*parts)
        yield made


@pytest.fixture(scope="module")
def company(
    tmp_path_factory: pytest.TempPathFactory,
    embedded_postgres: EmbeddedPostgres,
    models: tuple[Embedder, Reranker],
) -> Iterator[Company]:
    """One company for the questions of a whole module; each test asks in threads of its own."""
    with (
        Database(embedded_postgres.url("postgres")) as administration,
        administration.scratch() as database,
        running(tmp_path_factory.mktemp("company"), database.url, models) as made,
    ):
        yield made


@pytest.fixture
def own_company(tmp_path: Path, postgres_url: str, models: tuple[Embedder, Reranker]) -> Iterator[Company]:
    """A company for one test, which may change people, channels and documents."""
    with running(tmp_path, postgres_url, models) as made:
        yield made


@pytest.fixture
def listening(tmp_path: Path, postgres_url: str, models: tuple[Embedder, Reranker]) -> Iterator[Company]:
    """A company without documents whose bot hears everything and answers nothing."""
    with running(tmp_path, postgres_url, models, parts=(Part.RECEIVER,)) as made:
        yield made


DOCUMENTS = {
    "everyone/leave.md": """# Annual leave

Full-time staff get 25 days of annual leave a year.

## Carrying days over

Up to five days of leave can be carried over into March of the next year.
""",
    "everyone/invoices.md": """# Invoices

Customer invoices go out on the first Monday of each month.
""",
    "legal/lease.md": """# Lease dispute

The landlord of the Harbour Street office demands 48,000 euros for the roof repair.
""",
    "partner/handover.md": """# Parcel handover

The partner picks up parcels at dock seven at 16:30 every working day.
""",
    "guests/access.md": """# Site access

Contractors get their badge from the gate house and return it by 18:00.
""",
}
