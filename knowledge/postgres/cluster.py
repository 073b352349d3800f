"""One data directory and the server on it: make it, configure it, start it, ask whether it answers."""

import hashlib
import re
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from psycopg import conninfo, pq

from knowledge.errors import EmbeddedPostgresFailed
from knowledge.postgres.account import Account
from knowledge.postgres.binaries import major_version
from knowledge.postgres.secret import secret
from knowledge.postgres.watchdog import kill_server, server_pids

SUPERUSER = "postgres"
START_TIMEOUT_S = 300
"""Recovery after a crash reads the log since the last checkpoint, at most `max_wal_size`; slow disks need minutes."""
POLL_S = 0.02
SOCKET_PATH_LIMIT = 80
"""A unix socket's path has at most 107 bytes, and the server appends `/.s.PGSQL.5432.lock`."""

DEFAULTS: Mapping[str, str] = {
    "shared_buffers": "256MB",
    "maintenance_work_mem": "512MB",
    "max_wal_size": "1GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "log_checkpoints": "off",
}


@dataclass(frozen=True)
class Cluster:
    """`home` holds everything; the server's account owns `data`, `sockets` and the log inside it."""

    home: Path
    account: Account
    binaries: Path

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def log(self) -> Path:
        return self.home / "postgres.log"

    @property
    def superuser_password(self) -> Path:
        return self.home / f"{SUPERUSER}.password"

    @property
    def sockets(self) -> Path:
        """Directory of the socket: in `home`, or in /tmp where the server or a client could not name one in `home`."""
        inside = self.home / "run"
        if len(bytes(inside)) <= SOCKET_PATH_LIMIT and re.fullmatch(r"[\w./-]+", str(inside), re.ASCII):
            return inside
        return Path("/tmp") / f"footnote-{hashlib.sha256(bytes(self.home)).hexdigest()[:16]}"

    def initialise(self) -> None:
        """Make the data directory unless there is one.

        It is made under another name and renamed, so that a crash halfway never leaves one that looks finished.
        Locale and encoding are the server's built-in ones, equal on every machine.
        """
        if (self.data / "PG_VERSION").exists():
            self._check_version()
            return
        unfinished = self.home / "data.new"
        if unfinished.exists():
            shutil.rmtree(unfinished)
        self.account.make_directory(unfinished)
        secret(self.superuser_password)
        self.account.own(self.superuser_password, 0o600)
        self.account.run(
            self.binaries / "initdb",
            *("--username", SUPERUSER, "--pwfile", self.superuser_password),
            *("--auth-local=scram-sha-256", "--auth-host=scram-sha-256"),
            *("--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
            *("--set", "timezone=UTC", "--set", "log_timezone=UTC", "--no-instructions"),
            env={"PGDATA": str(unfinished)},
        )
        with (unfinished / "postgresql.conf").open("a") as configuration:
            configuration.write("\ninclude 'footnote.conf'\n")
        unfinished.rename(self.data)

    def _check_version(self) -> None:
        made_by = (self.data / "PG_VERSION").read_text().strip()
        installed = major_version(self.account, self.binaries)
        if made_by != installed:
            raise EmbeddedPostgresFailed(
                f"{self.data} was made by PostgreSQL {made_by}, the installed one is {installed}. "
                f"Dump it with the old version and restore it, or move {self.data} away to start empty."
            )

    def start(self, settings: Mapping[str, str]) -> None:
        """Start the server and wait until it answers. Raises `EmbeddedPostgresFailed` with the end of its log."""
        self._clear_stale_files()
        self.account.own_tree(self.data)
        self.account.make_directory(self.sockets)
        self.log.touch()
        self.account.own(self.log, 0o600)
        self._configure(settings)
        try:
            # The paths go by environment and working directory: pg_ctl would quote them for a shell, not safely.
            self.account.run(
                self.binaries / "pg_ctl",
                *("start", "--wait", "--timeout", str(START_TIMEOUT_S), "--log", "../postgres.log"),
                cwd=self.data,
                env={"PGDATA": str(self.data)},
            )
        except EmbeddedPostgresFailed as error:
            tail = self.log.read_text(errors="replace")[-1500:].strip()
            raise EmbeddedPostgresFailed(f"{error}\nThe end of {self.log}:\n{tail}") from error

    def _configure(self, settings: Mapping[str, str]) -> None:
        chosen = {
            **DEFAULTS,
            "listen_addresses": "",
            "unix_socket_directories": str(self.sockets),
            "unix_socket_permissions": "0700",
            **settings,
        }
        path = self.data / "footnote.conf"
        path.write_text("".join(f"{name} = {_quoted(value)}\n" for name, value in chosen.items()))
        self.account.own(path, 0o600)

    def _clear_stale_files(self) -> None:
        """Remove what a server that was killed left behind; the number in it may be another process's by now."""
        if server_pids(self.data):  # here, but deaf: its socket is gone, or its postmaster died before its children
            kill_server(self.data)
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        for name in (".s.PGSQL.5432.lock", ".s.PGSQL.5432"):
            (self.sockets / name).unlink(missing_ok=True)

    def answers(self) -> bool:
        """Whether a server takes connections; waits while one is starting or stopping. Asks the socket, no pid file."""
        target = conninfo.make_conninfo(host=str(self.sockets), user=SUPERUSER, dbname=SUPERUSER).encode()
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            state = pq.PGconn.ping(target)
            if state != pq.Ping.REJECT:
                return state == pq.Ping.OK
            if time.monotonic() > deadline:
                raise EmbeddedPostgresFailed(
                    f"the server on {self.data} is neither up nor down after {START_TIMEOUT_S} s"
                )
            time.sleep(POLL_S)


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
