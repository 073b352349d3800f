"""The embedded server as the rest of the program sees it: start or adopt it, where to connect, let go of it."""

import fcntl
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, Self

import psycopg
import sqlalchemy as sa

from knowledge.errors import EmbeddedPostgresFailed
from knowledge.postgres import roles, watchdog
from knowledge.postgres.account import Account, server_account
from knowledge.postgres.binaries import check_this_platform, reachable_binaries
from knowledge.postgres.cluster import SUPERUSER, Cluster
from knowledge.postgres.secret import secret

log = logging.getLogger(__name__)

LOOK_EVERY_S = 2.0


class EmbeddedPostgres:
    """A PostgreSQL server in `home`, shared by every process that starts it there.

    The first `start()` makes and starts it, later ones adopt it; it stops when the last process has released it or
    ended, however it ended. It listens on a unix socket only. `settings` are server settings by name; they take
    effect when the server is started, not when a running one is adopted.
    """

    def __init__(self, home: Path, settings: Mapping[str, str] = MappingProxyType({})) -> None:
        self.home = home.expanduser().resolve()
        self.settings = dict(settings)
        self._cluster: Cluster | None = None
        self._users: BinaryIO | None = None
        self._released = threading.Event()
        self._nurse: threading.Thread | None = None

    def start(self) -> Self:
        """Start or adopt the server and prepare its roles and database.

        Raises `EmbeddedPostgresFailed` where it cannot run (system, processor, account, directory, version).
        """
        if self._users is not None:
            return self
        check_this_platform()
        account = server_account()
        try:
            self._make_home(account)
            self._users = _lock_file(self.home / "users.lock")
            fcntl.flock(self._users, fcntl.LOCK_SH)  # waits while the watchdog is stopping the server
            with self._alone():
                self._cluster = Cluster(self.home, account, reachable_binaries(account, self.home))
                self._bring_up(self._cluster)
        except BaseException as error:
            self.release()
            if isinstance(error, OSError | psycopg.Error):
                raise EmbeddedPostgresFailed(
                    f"the embedded PostgreSQL in {self.home} cannot be started: {error}"
                ) from error
            raise
        return self

    def stay_up(self) -> None:
        """From now on, until it is released, start the server again whenever it is down.

        It ends by itself when its disk is full or the system takes its memory, and comes back when there is room.
        """
        self._released.clear()
        self._nurse = threading.Thread(target=self._look_after, name="footnote-postgres", daemon=True)
        self._nurse.start()

    def _look_after(self) -> None:
        while not self._released.wait(LOOK_EVERY_S):
            try:
                if not self._started.answers():
                    log.warning("the embedded PostgreSQL in %s is down; starting it", self.home)
                    with self._alone():
                        self._bring_up(self._started)
            except (EmbeddedPostgresFailed, OSError, psycopg.Error) as error:
                log.warning("the embedded PostgreSQL does not start: %s", str(error).splitlines()[0])

    def url(self, database: str = roles.OWNER) -> str:
        """SQLAlchemy URL of a database for the application's role, with its password in it."""
        return sa.URL.create(
            "postgresql+psycopg",
            username=roles.OWNER,
            password=secret(self._owner_password),
            database=database,
            query={"host": str(self._started.sockets)},
        ).render_as_string(hide_password=False)

    def release(self) -> None:
        """Let go of the server; the last one to do so stops it and waits until it is down. May be repeated."""
        self._released.set()
        if self._nurse is not None:
            self._nurse.join()
            self._nurse = None
        if self._users is None:
            return
        with self._users as users:
            self._users = None
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return  # somebody else uses it
            watchdog.stop_server(self.home / "data")

    @property
    def _started(self) -> Cluster:
        if self._users is None or self._cluster is None:
            raise EmbeddedPostgresFailed(f"the embedded PostgreSQL in {self.home} is not started: call start() first")
        return self._cluster

    @property
    def _owner_password(self) -> Path:
        return self.home / f"{roles.OWNER}.password"

    def _make_home(self, account: Account) -> None:
        if not self.home.exists():
            self.home.mkdir(parents=True)
            self.home.chmod(0o711 if account.other else 0o700)  # the server's account walks through, and lists nothing
        if account.other and not account.can("test", "-x", self.home):
            raise EmbeddedPostgresFailed(
                f"{self.home} is inside a private directory, and PostgreSQL, which does not run as root, cannot reach it. "
                "Choose another one, for example below /var/lib, or run as an ordinary user."
            )

    def _bring_up(self, cluster: Cluster) -> None:
        cluster.initialise()
        self._start_watchdog()
        if not cluster.answers():
            cluster.start(self.settings)
            if roles.is_prepared(self._connect):
                roles.update_extension(self._connect)
        if not (self._owner_password.exists() and roles.is_prepared(self._connect)):
            roles.prepare(self._connect, secret(self._owner_password))

    def _start_watchdog(self) -> None:
        """Before the server, so that there is no moment at which it would be left alone."""
        _lock_file(self.home / "watch.lock").close()
        # A shell starts it in the background and ends, so that it is not a child of ours and never our zombie.
        command = [sys.executable, "-I", watchdog.__file__, str(self.home), str(self.home / "data")]
        subprocess.run(
            ["/bin/sh", "-c", '"$@" &', "sh", *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
            check=True,
        )

    def _connect(self, database: str) -> psycopg.Connection:
        cluster = self._started
        password = cluster.superuser_password.read_text()
        return psycopg.connect(
            host=str(cluster.sockets), user=SUPERUSER, password=password, dbname=database, autocommit=True
        )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time makes or starts the server."""
        with _lock_file(self.home / "start.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _lock_file(path: Path) -> BinaryIO:
    """Ours alone: whoever can open a lock can hold it."""
    return open(path, "ab", opener=lambda name, flags: os.open(name, flags, 0o600))
