"""The bot in one process: receiver, worker and schedule on one database. The composition root of the Slack side.

Started with `only`, a process does a part of it; any number of such processes share the database and nothing else.
"""

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import Any

import structlog
from slack_bolt import App

import jobs.sync
from bot.app import build_app
from bot.channel_source import opener
from bot.client import identify, web_client
from bot.directory import Directory
from bot.errors import SlackUnavailable
from bot.feedback import Feedback, unknown
from bot.handling import Handling
from bot.home import Home
from bot.inbox import Inbox
from bot.monitoring import Monitor
from bot.nightly import Nightly
from bot.outcome import Outcomes
from bot.private import Private
from bot.prompts import Prompts
from bot.receiving import receiver
from bot.reindex import Reindex
from bot.replies import Replies
from bot.responder import Responder
from bot.review import Review
from bot.settings import Settings
from bot.withdrawal import Withdrawals
from jobs.queue import Queue
from jobs.schedule import Job, Scheduler
from knowledge.engine import Engine
from knowledge.errors import FootnoteError
from knowledge.outcomes import SyncOutcome
from knowledge.strays import strays

log = structlog.get_logger()

BACKGROUND = frozenset({"read_again", "help", "nightly"})
"""Tasks that may take minutes; they have threads of their own, so that no question waits for them."""


FORM_PATIENCE_S = 1
"""A form is answered within three seconds, so that no call for it waits for its turn as long as others do."""


class Part(StrEnum):
    RECEIVER = "receiver"
    WORKER = "worker"
    SCHEDULE = "schedule"


class Service:
    """`start` returns when the bot is ready; `stop` ends it, letting running work finish."""

    def __init__(self, settings: Settings, engine: Engine, only: Sequence[Part] = tuple(Part)) -> None:
        """Asks Slack whose token this is: raises `SlackMisconfigured` or `SlackUnavailable`, and `PortUnusable`."""
        openers = {"slack": opener(settings.slack, engine.database)}
        engine = replace(engine, indexer=engine.indexer.opening(openers, self._invite))
        self._settings = settings
        self._engine = engine
        self._parts = frozenset(only)
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._ended_by: list[FootnoteError] = []
        database, client = engine.database, web_client(settings.slack)
        me = identify(client)
        self.directory = Directory(client, database, settings.slack, me)
        replies = Replies(client, database, me)
        handling = Handling(database, replies)
        outcomes = Outcomes(database, self.directory, replies, engine.answerer)
        self.private = Private(database, self.directory, replies, handling, outcomes, engine.retriever)
        self.withdrawals = Withdrawals(database, replies, handling)
        self.responder = Responder(
            database,
            self.directory,
            replies,
            handling,
            outcomes,
            self.private,
            me=me,
            streaming=settings.slack.streaming,
        )
        home = Home(database, self.directory, handling, client, me)
        reindex = Reindex(
            database,
            self.directory,
            handling,
            sources=settings.sources,
            sync=engine.indexer.sync,
            afterwards=self.withdrawals.correct,
            later=lambda inbox_id: self.queue.defer("read_again", inbox_id=inbox_id),
            refresh=home.publish,
        )
        self.nightly = Nightly(settings, engine, self.directory, replies, handling, client, me, home.publish)
        tasks: dict[str, Callable[..., object]] = {
            **self.responder.tasks,
            **self.private.tasks,
            **self.withdrawals.tasks,
            **Feedback(database, self.directory, replies, handling).tasks,
            **reindex.tasks,
            "help": jobs.sync.Helper(engine.indexer, settings.sources).help,
            **self.nightly.tasks,
            **Prompts(database, self.directory, handling, client, me).tasks,
            **home.tasks,
            **Review(database, self.directory, replies, handling, home.publish).tasks,
        }
        self.queue = Queue(database, tasks, BACKGROUND, transient=(SlackUnavailable,))
        inbox = Inbox(database, self.queue.defer, settings.slack, me)
        hasty = Directory(web_client(settings.slack, FORM_PATIENCE_S), database, settings.slack, me)
        self.app: App = build_app(settings.slack, client, inbox, partial(unknown, database, hasty))
        self.receiver = receiver(self.app, settings.slack) if Part.RECEIVER in self._parts else None
        self.scheduler = Scheduler(database, self._jobs())
        port = settings.monitoring_port
        self._monitor = Monitor(database, port, self.lacking, settings.monitoring_host) if port else None

    def start(self) -> None:
        self.queue.migrate()
        self._engine.narrow(self._settings.sources)
        if self._monitor:
            self._monitor.start()
        if self.receiver is not None:
            self._run("receiver", partial(self.receiver.run, self._stop))
        if Part.WORKER in self._parts:
            self._engine.answerer.warm()
            self._run("worker", lambda: self.queue.run(self._stop))
        if Part.SCHEDULE in self._parts:
            self.scheduler.start()

    def wait(self, stop: threading.Event, on_ready: Callable[[], None] = lambda: None) -> None:
        """Until `stop` is set, or a part of the bot has ended by itself. `on_ready` is called once when nothing is lacking.

        Raises what a part ended by, if that is an error of ours, such as `SlackMisconfigured`.
        """
        ready = False
        while not stop.wait(0.5):
            if dead := [thread.name for thread in self._threads if not thread.is_alive()]:
                if self._ended_by:
                    raise self._ended_by[0]
                log.error("a part of the bot ended", part=dead[0])
                return
            if not ready and not self.lacking():
                ready = True
                on_ready()

    def stop(self) -> None:
        """Take nothing more, finish what is running (up to the queue's grace), close the connection."""
        self._stop.set()
        if Part.SCHEDULE in self._parts:
            self.scheduler.stop()
        for thread in self._threads:
            thread.join()
        if self._monitor:
            self._monitor.stop()

    def lacking(self) -> tuple[str, ...]:
        """What this process cannot do right now: parts that did not begin yet or ended, a lost connection to Slack."""
        alive = {thread.name for thread in self._threads if thread.is_alive()}
        wanted = [part for part in (Part.RECEIVER, Part.WORKER) if part in self._parts]
        absent = [part.value for part in wanted if f"footnote-{part.value}" not in alive]
        connected = self.receiver is None or self.receiver.healthy
        return (*absent, *(() if connected else ("connection to Slack",)))

    def sync(self, names: Collection[str] = ()) -> tuple[SyncOutcome, ...]:
        """Bring the named sources up to date (all for no names), and take back answers that rest on what is gone.

        Raises `TryAgain` when a source broke down in a way that its outcome does not tell.
        """
        try:
            outcomes = jobs.sync.run(self._engine.indexer, self._settings.sources, names)
            for outcome in outcomes:
                told = {name: value for name, value in outcome.as_json().items() if name != "failed"}
                level = log.warning if outcome.error or outcome.outdated else log.info
                level("synced", **told, failed=len(outcome.failed))
            for stray in strays(self._engine.database, [source.name for source in self._settings.sources]):
                if stray.documents:
                    log.warning(str(stray))
            return outcomes
        finally:
            self.withdrawals.correct()

    def _jobs(self) -> list[Job]:
        syncing = jobs.sync.jobs(self._settings.schedule, self._settings.sources, lambda _, names: self.sync(names))
        return [*syncing, *self.nightly.jobs]

    def _invite(self, source: str, shares: int) -> None:
        for _ in range(jobs.sync.HELPERS):
            self.queue.defer("help", source=source, shares=shares)

    def _run(self, name: str, target: Callable[[], Any]) -> None:
        def live() -> None:
            try:
                target()
            except FootnoteError as error:
                self._ended_by.append(error)  # `wait` raises it

        thread = threading.Thread(target=live, name=f"footnote-{name}")
        thread.start()
        self._threads.append(thread)
