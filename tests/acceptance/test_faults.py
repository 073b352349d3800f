"""Bad days: each fault comes while questions are answered, more arrive, and changed documents are being synced.

Afterwards each question has one reply and one final receipt, each document is wholly old or wholly new, the next sync
makes all of them new, and no job is left.
"""

import asyncio
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import HttpUrl, SecretStr
from sqlalchemy.exc import DBAPIError

from bot.local_slack import LocalSlack, Message, serve
from jobs.schedule import Job, Scheduler
from knowledge.db import MIGRATIONS, Database, known_revisions, open_database
from knowledge.encoders import Embedder
from knowledge.errors import DatabaseUnusable
from knowledge.local_claude import LocalClaude, Step
from knowledge.local_claude import serve as serve_claude
from knowledge.postgres import EmbeddedPostgres
from knowledge.reranking import Reranker
from knowledge.settings import Answers
from knowledge.slots import Slot
from tests.benchmarks.delivery import crowd
from tests.company import WORKSPACE, Company, running, until
from tests.conftest import IMPATIENT

LEAVE = "how many days of annual leave do full-time staff get?"
PARTS = 3
PAGES = 25
"""Documents, so that a fault finds some of them exchanged and some not."""
WITHIN_S = 90.0


class Thinker(LocalClaude):
    """Begins to answer only when `free` is set; `thinking` counts the requests that wait for that."""

    def __init__(self) -> None:
        super().__init__()
        self.free = threading.Event()
        self.thinking = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.thinking += 1
        while scope["type"] == "http" and not self.free.is_set():
            await asyncio.sleep(0.02)
        self.thinking -= 1
        await super().__call__(scope, receive, send)


@dataclass
class Scene:
    """A company, the Claude it asks, and the server its database is on."""

    company: Company
    claude: Thinker
    server: EmbeddedPostgres
    asked: list[Message] = field(default_factory=list)
    syncing: Future[object] = field(default_factory=Future)
    version: int = 0

    @property
    def database(self) -> Database:
        return self.company.database

    @property
    def slack(self) -> LocalSlack:
        return self.company.slack

    def ask(self, count: int = 2) -> None:
        for _ in range(count):
            self.asked.append(self.company.ask("ben", "general", f"{len(self.asked)}: {LEAVE}"))

    def write_pages(self, version: int) -> None:
        self.version = version
        for number in range(PAGES):
            sections = (f"## Part {part}\n\nPage {number} has version v{version}.\n" for part in range(PARTS))
            self.company.write(f"everyone/page-{number}.md", f"# Page {number}\n\n" + "\n".join(sections))

    def begin_sync(self, pool: ThreadPoolExecutor) -> None:
        """A sync of changed documents, up to the moment when the first of them was exchanged."""
        self.write_pages(2)
        self.syncing = pool.submit(self.company.service.sync)
        until(lambda: self.syncing.done() or "v2" in versions(self.database))

    def settled(self) -> None:
        """Until each question has its final receipt and no job is left."""

        def done() -> bool:
            try:
                with self.database.plain() as connection:
                    jobs = connection.scalar(sa.text("select count(*) from procrastinate.procrastinate_jobs"))
            except DBAPIError:
                return False
            return sum(self.outcomes().values()) == len(self.asked) and jobs == 0

        until(done, WITHIN_S)
        self.slack.wait_until_idle()

    def outcomes(self) -> Counter[str]:
        finished = "message_key is not null and state not in ('received', 'working')"
        with self.database.plain() as connection:
            return Counter(connection.scalars(sa.text(f"select state from inbox where {finished}")))


Fault = Callable[[Scene], AbstractContextManager[None]]


# the faults


@contextmanager
def connections_terminated(scene: Scene) -> Iterator[None]:
    """Every session ends, and again a moment later."""
    cut(scene.database)
    yield
    cut(scene.database)


@contextmanager
def database_read_only(scene: Scene) -> Iterator[None]:
    """As after a failover to a standby: sessions are cut, new ones cannot write."""
    set_read_only(scene.database, "on")
    yield
    scene.slack.wait_for(heard_again)
    set_read_only(scene.database, "off")


@contextmanager
def database_full(scene: Scene) -> Iterator[None]:
    """New rows are refused as on a disk without room, where old ones can still be read and often changed."""
    tables = ("inbox", "answers", "chunks")
    raised = "raise disk_full using message = 'could not extend file: No space left on device';"
    function = f"create function no_room() returns trigger language plpgsql as $$ begin {raised} end $$"
    refusals = (
        f"create trigger no_room before insert on {table} for each row execute function no_room()" for table in tables
    )
    administer(scene.database, function, *refusals)
    scene.claude.free.set()
    yield
    scene.slack.wait_for(heard_again)
    administer(scene.database, "drop function no_room() cascade")


@contextmanager
def newer_version_deployed(scene: Scene) -> Iterator[None]:
    """The next version's schema under running processes of this one: they go on, and no more of them can be started."""
    with TemporaryDirectory() as folder:
        newer = Path(folder) / "migrations"
        shutil.copytree(MIGRATIONS, newer)
        (newer / "versions" / "9999_next.py").write_text(NEXT_VERSION.format(before=known_revisions()[0]))
        scene.database.migrate(newer)
    yield
    with pytest.raises(DatabaseUnusable, match="newer than this program's"):
        open_database(scene.company.settings.knowledge)


NEXT_VERSION = """
from alembic import op
revision = "9999"
down_revision = "{before}"

def upgrade():
    op.execute("alter table answers add column mood text not null default 'calm'")
    op.execute("alter table documents add column pages int")
    op.execute("create table moods (name text primary key)")
"""
"""What a version may do to the schema while the one before it still runs: add, with defaults."""


@contextmanager
def server_restarted(scene: Scene) -> Iterator[None]:
    scene.server.release()
    yield
    scene.slack.wait_for(heard_again)
    scene.server.start()


@contextmanager
def slack_limits_calls(scene: Scene) -> Iterator[None]:
    scene.slack.fault("rate_limited", times=6, seconds=1)
    yield


@contextmanager
def slack_takes_no_posts(scene: Scene) -> Iterator[None]:
    """For longer than a post is tried at once, so that the queue has to try again."""
    scene.slack.fault("server_error", "chat.postMessage", times=15)
    yield


@contextmanager
def socket_dead(scene: Scene) -> Iterator[None]:
    """A connection swallows an event and breaks; then all of them break."""
    scene.slack.fault("dead_socket", times=1)
    yield
    scene.company.server.break_connections()


@contextmanager
def claude_breaks_down(scene: Scene) -> Iterator[None]:
    """In the middle of what it writes, and then altogether."""
    scene.claude.script.extend((Step(error_after=6, error="overloaded_error"), Step(cut_after=7)))
    scene.claude.always = Step(status=529, error="overloaded_error")
    scene.claude.free.set()
    yield
    scene.slack.wait_for_reply(scene.asked[-1], timeout=WITHIN_S)
    scene.claude.always = Step()


def heard_again(slack: LocalSlack) -> bool:
    """Whether Slack had to repeat an event, because nobody could write it down."""
    return any(envelope.attempt > 0 for envelope in slack.delivery.sent)


def cut(database: Database) -> None:
    others = "datname = current_database() and pid <> pg_backend_pid()"
    administer(database, f"select pg_terminate_backend(pid) from pg_stat_activity where {others}")


def set_read_only(database: Database, value: str) -> None:
    name = database.engine.url.database
    administer(
        database,
        "set default_transaction_read_only = off",
        f'alter database "{name}" set default_transaction_read_only = {value}',
    )
    cut(database)


def administer(database: Database, *statements: str) -> None:
    """In a session of its own."""
    engine = sa.create_engine(database.url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


# what is true afterwards

UNEVEN = sa.text(
    """
    select external_id from documents join chunks on chunks.document_id = documents.id
        left join chunk_vectors on chunk_vectors.chunk_id = chunks.id
        left join chunk_terms on chunk_terms.chunk_id = chunks.id
    where external_id like 'page-%'
    group by documents.id having count(*) <> :parts or count(distinct substring(text from 'v[0-9]+')) <> 1
        or bool_or(documents.acl_id <> chunks.acl_id or chunk_vectors.acl_id is distinct from chunks.acl_id
            or chunk_terms.acl_id is distinct from chunks.acl_id)
    """
)
"""Documents whose parts are of two versions, missing, or not in both indexes under the document's readers."""

MISCOUNTED = sa.text(
    """
    select acls.id from acls left join chunks on chunks.acl_id = acls.id
    group by acls.id having count(chunks.id) <> acls.chunk_count
    """
)

VERSIONS = sa.text(
    """
    select substring(text from 'v[0-9]+') from chunks join documents on documents.id = document_id
    where external_id like 'page-%'
    """
)


def versions(database: Database) -> set[str]:
    """Of all pages' parts together."""
    with database.writing() as connection:
        return set(connection.scalars(VERSIONS))


def broken_documents(database: Database) -> list[str]:
    with database.writing() as connection:
        assert connection.execute(MISCOUNTED).all() == []
        return list(connection.scalars(UNEVEN, {"parts": PARTS}))


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[EmbeddedPostgres]:
    """A server that may be stopped: no other test uses it."""
    started = EmbeddedPostgres(home / "faults", IMPATIENT).start()
    yield started
    started.release()


@pytest.fixture
def url(server: EmbeddedPostgres) -> Iterator[str]:
    with Database(server.url("postgres")) as administration, administration.scratch() as database:
        yield database.url


@pytest.fixture
def scene(tmp_path: Path, url: str, server: EmbeddedPostgres, models: tuple[Embedder, Reranker]) -> Iterator[Scene]:
    claude = Thinker()
    with serve_claude(claude) as address:
        answers = Answers(api_key=SecretStr("sk-test"), base_url=HttpUrl(address))
        with running(tmp_path, url, models, answers=answers) as company:
            yield Scene(company, claude, server)
            claude.free.set()


@pytest.mark.parametrize(
    "fault",
    [
        connections_terminated,
        database_read_only,
        database_full,
        server_restarted,
        newer_version_deployed,
        slack_limits_calls,
        slack_takes_no_posts,
        socket_dead,
        claude_breaks_down,
    ],
)
def test_nothing_is_lost_doubled_or_half_done(scene: Scene, fault: Fault) -> None:
    scene.write_pages(1)
    scene.company.sync()
    scene.ask()
    until(lambda: scene.claude.thinking == len(scene.asked))
    with ThreadPoolExecutor(1) as pool:
        scene.begin_sync(pool)
        with fault(scene):
            scene.ask()
        scene.claude.free.set()
        scene.ask()
        scene.syncing.exception(WITHIN_S)
    assert broken_documents(scene.database) == []
    scene.settled()
    scene.company.sync()
    assert versions(scene.database) == {f"v{scene.version}"}
    assert broken_documents(scene.database) == []
    assert scene.outcomes() == {"answered": len(scene.asked)}
    replies = [scene.slack.replies(message) for message in scene.asked]
    assert [len(each) for each in replies] == [1] * len(scene.asked)
    assert all("25 days" in reply.text for [reply] in replies)


def test_a_worker_killed_in_the_middle_of_an_answer_leaves_it_to_another(url: str, home: Path) -> None:
    claude = Thinker()
    folder = home / "killed"
    folder.mkdir()
    with serve_claude(claude) as claude_url, serve(WORKSPACE) as slack:
        environment = {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": claude_url}
        with crowd(folder, url, slack, f"{slack.state.address}/api/", environment) as processes:
            asked = [slack.say("ben", "general", f"<@UFOOTNOTE> {number}: {LEAVE}") for number in range(4)]
            until(lambda: claude.thinking == len(asked), WITHIN_S)
            for _ in range(2):
                processes.kill(next(n for n, (part, _) in enumerate(processes.running) if part == "worker"))
            asked.append(slack.say("ben", "general", f"<@UFOOTNOTE> {LEAVE}"))
            claude.free.set()
            for message in asked:
                assert "25 days" in slack.wait_for_reply(message, timeout=WITHIN_S).text
            slack.wait_until_idle()
        assert [len(slack.replies(message)) for message in asked] == [1] * len(asked)


def test_a_clock_that_jumps_runs_no_slot_twice(scene: Scene) -> None:
    """Days ahead, back again, and on: what was missed is caught up once, what has run does not run again."""
    scene.claude.free.set()
    clock = [datetime(2026, 6, 1, 12, 30, tzinfo=UTC)]
    runs: list[datetime] = []

    def sync(slot: Slot) -> None:
        runs.append(slot.at)
        scene.company.sync()

    job = Job("hourly", "0 * * * *", "UTC", sync)
    schedulers = [Scheduler(scene.database, [job], lambda: clock[-1], look_s=0.1, election_s=0.1) for _ in range(2)]
    for scheduler in schedulers:
        scheduler.start()
    until(lambda: any(scheduler.leading.is_set() for scheduler in schedulers))
    for hours, runs_then in ((1, 1), (72, 2), (-3, 2), (2, 2), (2, 3)):
        clock.append(clock[-1] + timedelta(hours=hours))
        scene.ask(1)
        scene.company.reply(scene.asked[-1])
        until(lambda: len(runs) >= runs_then)  # noqa: B023 -- awaited before the next round
    for scheduler in schedulers:
        scheduler.stop()
    assert runs == [datetime(2026, 6, day, hour, tzinfo=UTC) for day, hour in ((1, 13), (4, 13), (4, 14))]
    assert sum(scheduler.skipped["hourly"] for scheduler in schedulers) == 71
    assert scene.outcomes() == {"answered": len(scene.asked)}
