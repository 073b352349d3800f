"""The operating system account that runs the server: our own, or, for root, a system account made for it."""

import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from knowledge.errors import EmbeddedPostgresFailed

SYSTEM_ACCOUNT = "footnote-pg"
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
"""Nothing is taken from our own environment: a missing locale there must not stop the server."""


@dataclass(frozen=True)
class Account:
    """`other` is True when the server's files belong to an account that is not ours (we are root)."""

    uid: int
    gid: int
    other: bool

    def run(self, *command: str | Path, cwd: Path = Path("/"), env: Mapping[str, str] | None = None) -> str:
        """Run a program as this account and return what it printed.

        Raises `EmbeddedPostgresFailed` with the end of its output when it fails.
        """
        with tempfile.TemporaryFile() as printed:  # not a pipe: a server started by the program would keep it open
            try:
                done = subprocess.run(
                    [str(part) for part in command],
                    stdin=subprocess.DEVNULL,
                    stdout=printed,
                    stderr=printed,
                    cwd=cwd,
                    env=ENVIRONMENT | dict(env or {}),
                    start_new_session=True,
                    check=False,
                    user=self.uid if self.other else None,
                    group=self.gid if self.other else None,
                    extra_groups=[] if self.other else None,
                )
            except OSError as error:
                raise EmbeddedPostgresFailed(f"{command[0]} cannot be run: {error}") from error
            printed.seek(0)
            text = printed.read().decode(errors="replace")
        if done.returncode != 0:
            name = Path(command[0]).name
            raise EmbeddedPostgresFailed(f"{name} failed with status {done.returncode}: {text[-1500:].strip()}")
        return text

    def can(self, *test: str | Path) -> bool:
        """Whether this account can run a program; used to ask the kernel instead of guessing from mode bits."""
        try:
            self.run(*test)
        except EmbeddedPostgresFailed:
            return False
        return True

    def make_directory(self, path: Path) -> None:
        """Make a private directory of this account. One that belongs to a stranger is refused."""
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in {self.uid, os.geteuid()}:
            raise EmbeddedPostgresFailed(
                f"{path} belongs to another user (uid {found.st_uid}); remove it and start again"
            )
        self.own(path, 0o700)

    def own(self, path: Path, mode: int) -> None:
        if self.other:
            os.chown(path, self.uid, self.gid)
        path.chmod(mode)

    def own_tree(self, root: Path) -> None:
        """Take over a directory made under another uid (a container made anew may number its accounts differently)."""
        if not self.other or root.stat().st_uid == self.uid:
            return
        for path in root.rglob("*"):
            os.chown(path, self.uid, self.gid, follow_symlinks=False)
        os.chown(root, self.uid, self.gid)


def server_account() -> Account:
    """The account to run the server as.

    PostgreSQL refuses to run as root, so root gets a system account, made on first use. Raises
    `EmbeddedPostgresFailed` when it cannot be made.
    """
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), other=False)
    try:
        entry = pwd.getpwnam(SYSTEM_ACCOUNT)
    except KeyError:
        entry = _make_system_account()
    return Account(entry.pw_uid, entry.pw_gid, other=True)


def _make_system_account() -> pwd.struct_passwd:
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if useradd is None:
        reason = "there is no useradd"
    else:
        command = [
            useradd,
            "--system",
            "--no-create-home",
            "--user-group",
            "--shell",
            "/usr/sbin/nologin",
            SYSTEM_ACCOUNT,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        reason = done.stderr.strip()
    try:
        return pwd.getpwnam(SYSTEM_ACCOUNT)  # ours, or one that another process made at the same time
    except KeyError:
        raise EmbeddedPostgresFailed(
            f"PostgreSQL does not run as root, and the system account {SYSTEM_ACCOUNT!r} could not be made ({reason}). "
            "Run as an ordinary user, or set FOOTNOTE_DATABASE_URL."
        ) from None
