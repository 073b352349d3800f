"""The work queue: jobs are rows in Postgres, put there in the caller's own transaction and worked off by threads.

1. `defer` inserts a job; with the caller's connection it exists exactly when the caller's transaction commits.
2. `run` fetches jobs and calls the handler of that name with the job's arguments as keywords.
3. A transient error is tried again after a growing pause, any other once.
4. A worker that is killed stops sending heartbeats; whoever notices gives its jobs back. A handler may therefore run
   again after it has worked, and must be idempotent.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import resources

from procrastinate import App, BaseRetryStrategy, JobContext, PsycopgConnector, RetryDecision, SyncPsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job
from procrastinate.types import JSONValue
from sqlalchemy import Connection

from jobs.errors import QueueUnusable, TryAgain
from knowledge import queue_schema
from knowledge.db import Database
from knowledge.outages import OUTAGES, caused_by

Handler = Callable[..., object]

log = logging.getLogger(__name__)

URGENT, BACKGROUND = "urgent", "background"
AT_ONCE = 12
"""Jobs of one process. Most are answers, which wait for the model: at five seconds each that is two a second."""
ATTEMPTS = 5
LONGEST_PAUSE_S = 300.0
RECONNECT_PAUSE_S = 1.0
TRANSIENT: tuple[type[BaseException], ...] = (TryAgain, ConnectionError, TimeoutError, *OUTAGES)


def is_transient(error: BaseException, more: tuple[type[BaseException], ...] = ()) -> bool:
    """Whether the error, or one that it was raised from, may go away by itself."""
    return caused_by(error, TRANSIENT + more) is not None


def pause_s(attempts: int, base_s: float) -> float:
    """Seconds to wait before the next try, after `attempts` earlier ones: doubled each time, at most five minutes."""
    return float(min(base_s * 2.0**attempts, LONGEST_PAUSE_S))


class Queue:
    """`handlers`: what to call for each task name. `background`: tasks that may take long and never hold up the others.

    `transient`: further errors worth another try. `base_pause_s`: the first pause before one. `silent_s`: a worker
    without a heartbeat for that long is taken for dead.
    """

    def __init__(
        self,
        database: Database,
        handlers: Mapping[str, Handler],
        background: Collection[str] = (),
        *,
        transient: tuple[type[BaseException], ...] = (),
        base_pause_s: float = 2.0,
        silent_s: float = 15.0,
    ) -> None:
        self._database = database
        self._handlers = dict(handlers)
        self._background = frozenset(background)
        self._transient = transient
        self._base_pause_s = base_pause_s
        self._silent_s = silent_s
        self._deferring = App(connector=SyncPsycopgConnector())  # never opened: every job goes over a given connection

    def migrate(self) -> None:
        """Build the queue's schema, or bring it to this version's. Several processes may call it at once."""
        whole, migrations = _scripts()
        with self._database.plain() as connection:
            queue_schema.build(connection, whole, migrations)

    def check(self) -> None:
        """Raise `QueueUnusable` when the schema is missing or of another version."""
        newest = _scripts()[1][-1].name
        with self._database.plain() as connection:
            found = queue_schema.version(connection)
        if found != newest:
            raise QueueUnusable(
                f"the work queue's schema is {found or 'missing'}, this program needs {newest}; `footnote run` builds it"
            )

    def defer(
        self,
        task: str,
        connection: Connection | None = None,
        *,
        lock: str | None = None,
        **arguments: JSONValue,
    ) -> None:
        """Queue one job, in the transaction of `connection` when one is given.

        Jobs with the same `lock` run one after the other, in the order they came.
        """
        if connection is None:
            with self._database.plain() as own:
                return self.defer(task, own, lock=lock, **arguments)
        job = self._deferring.configure_task(
            task,
            queue=BACKGROUND if task in self._background else URGENT,
            lock=lock,
            connection=queue_schema.raw_connection(connection),
        )
        with queue_schema.lent(connection):
            job.defer(**arguments)

    def run(
        self, stop: threading.Event, concurrency: int = AT_ONCE, grace_s: float = 20.0, *, background: int = 2
    ) -> bool:
        """Work in this thread until `stop` is set, then let running jobs end for up to `grace_s` seconds.

        Background tasks have `background` threads of their own. False when jobs were still running at the end: their
        threads keep the process from exiting by itself. Another worker takes such jobs over.
        """
        self.check()
        crews = {URGENT: concurrency, BACKGROUND: background}
        threads = ThreadPoolExecutor(sum(crews.values()) + 1, thread_name_prefix="footnote-task")
        loop = asyncio.new_event_loop()
        loop.set_default_executor(threads)
        left: set[asyncio.Task[None]] = set()
        while not stop.is_set():
            try:
                loop.run_until_complete(self._work(stop, crews, grace_s, left))
            except Exception as error:
                if not is_transient(error, (ConnectorException,)):
                    raise
                log.warning("the queue lost its database (%s); trying again", type(error).__name__)
                stop.wait(RECONNECT_PAUSE_S)
        finished = not left
        threads.shutdown(wait=finished, cancel_futures=True)
        if finished:
            loop.close()
        return finished

    async def _work(
        self, stop: threading.Event, crews: Mapping[str, int], grace_s: float, left: set[asyncio.Task[None]]
    ) -> None:
        """Work until `stop` is set or the database is lost. `left` is kept: the workers that still have jobs then.

        After a loss they are not waited for. The end of such a job cannot be noted, so it is given out again.
        """
        app = App(
            connector=PsycopgConnector(conninfo=queue_schema.conninfo(self._database.url), min_size=1, max_size=4)
        )
        for name, handler in self._handlers.items():
            app.task(name=name, pass_context=True, retry=_Backoff(self._base_pause_s))(self._task(handler))
        async with app.open_async():
            workers = {
                asyncio.create_task(
                    app.run_worker_async(
                        name=queue,
                        queues=[queue],
                        concurrency=threads,
                        fetch_job_polling_interval=1.0,
                        shutdown_graceful_timeout=grace_s,
                        delete_jobs="successful",
                        install_signal_handlers=False,
                        update_heartbeat_interval=self._silent_s / 5,
                        stalled_worker_timeout=self._silent_s,
                    )
                )
                for queue, threads in crews.items()
            }
            rescue = asyncio.create_task(self._rescue())
            everything = {*workers, rescue}
            while not stop.is_set() and not any(task.done() for task in everything):
                await asyncio.wait(everything, timeout=0.1, return_when=asyncio.FIRST_COMPLETED)
            for task in everything:
                task.cancel()
            patience_s = grace_s if stop.is_set() else 0.0
            ended, running = await asyncio.wait(everything | left, timeout=patience_s + 1.0)
            for task in ended & left:
                with suppress(asyncio.CancelledError):
                    task.exception()  # of the lost connection, which was told already
            left.clear()
            left |= running
            for task in ended & everything:
                with suppress(asyncio.CancelledError):
                    task.result()

    async def _rescue(self) -> None:
        """Give back the jobs of dead workers, again and again."""
        while True:
            ids = await asyncio.to_thread(self._requeue_stalled)
            if ids:
                log.warning("jobs %s of a worker that died are tried again", ids)
            await asyncio.sleep(self._silent_s / 5)

    def _requeue_stalled(self) -> list[int]:
        with self._database.plain() as connection:
            return queue_schema.requeue_stalled(connection, self._silent_s, ATTEMPTS)

    def _task(self, handler: Handler) -> Callable[..., None]:
        def task(context: JobContext, **arguments: object) -> None:
            try:
                handler(**arguments)
            except Exception as error:
                if self._is_worth_a_retry(error, context.job):
                    raise _Again from error
                raise

        return task

    def _is_worth_a_retry(self, error: BaseException, job: Job) -> bool:
        return job.attempts + 1 < ATTEMPTS and is_transient(error, self._transient)


class _Again(Exception):
    """Raised in place of a transient error, which is its cause."""


class _Backoff(BaseRetryStrategy):
    def __init__(self, base_pause_s: float) -> None:
        self._base_pause_s = base_pause_s

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if not isinstance(exception, _Again):
            return None
        milliseconds = round(1000 * pause_s(job.attempts, self._base_pause_s))
        return RetryDecision(retry_in={"milliseconds": milliseconds})


def _scripts() -> tuple[queue_schema.Script, list[queue_schema.Script]]:
    """The library's whole schema, and its migrations in order."""
    folder = resources.files("procrastinate.sql")
    files = sorted((f for f in (folder / "migrations").iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    migrations = [queue_schema.Script(f.name.removesuffix(".sql"), f.read_text("utf-8")) for f in files]
    return queue_schema.Script("schema", (folder / "schema.sql").read_text("utf-8")), migrations
