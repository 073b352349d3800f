"""A detached process that stops the embedded server when the last process that uses it is gone.

Run by path under `python -I` and kept to the standard library, so that it needs neither the package nor its environment.

1. `watch.lock`, held exclusively, keeps it to one watchdog per server; a second one leaves at once.
2. Every user of the server holds `users.lock` shared. The kernel drops a lock when its process ends, whatever ended it,
   so waiting for the exclusive lock is waiting for the last user, and no list of process ids can go stale.
3. Then it stops the server, still holding `users.lock`: a newcomer waits until the old server is down.
"""

import contextlib
import fcntl
import os
import signal
import sys
import time
from pathlib import Path

STOP_TIMEOUT_S = 120.0
"""A fast shutdown writes a checkpoint first; after this long the server is told to quit and will recover at its next start."""
POLL_S = 0.02


def server_pids(data: Path) -> list[int]:
    """Processes of the server on this data directory, the postmaster and its children.

    Each has the directory as its working directory and `postgres` as its name. A zombie has no working directory any
    more, and a process that merely got the number written in `postmaster.pid` has another one.
    """
    pids = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended meanwhile, or belongs to somebody else
            if Path(os.readlink(process / "cwd")) == data and (process / "comm").read_text().strip() == "postgres":
                pids.append(int(process.name))
    return pids


def postmaster_pid(data: Path) -> int | None:
    """The running postmaster, or None. The number in the file counts only if that process really is this server."""
    try:
        pid = int((data / "postmaster.pid").read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None
    return pid if pid in server_pids(data) else None


def stop_server(data: Path, timeout_s: float = STOP_TIMEOUT_S) -> None:
    """Stop the server and wait until it is down. Does nothing when none runs."""
    postmaster = postmaster_pid(data)
    if postmaster is not None:
        _signal(postmaster, signal.SIGINT)  # "fast": sessions are ended, the data is checkpointed
        if _gone(data, timeout_s):
            return
    kill_server(data)


def kill_server(data: Path) -> None:
    """End every process of the server without a checkpoint; what was committed is recovered at the next start."""
    for pid in server_pids(data):
        _signal(pid, signal.SIGQUIT)
    if not _gone(data, timeout_s=5):
        for pid in server_pids(data):
            _signal(pid, signal.SIGKILL)
        _gone(data, timeout_s=5)


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _gone(data: Path, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while server_pids(data):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True


def watch(home: Path, data: Path) -> None:
    """Wait until nobody holds `home/users.lock`, then stop the server on `data`."""
    with open(home / "watch.lock", "rb") as watching, open(home / "users.lock", "rb") as users:
        try:
            fcntl.flock(watching, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        fcntl.flock(users, fcntl.LOCK_EX)
        stop_server(data)
        watching.close()  # first this one: whoever gets `users.lock` next must find the place of the watchdog free


if __name__ == "__main__":
    watch(Path(sys.argv[1]), Path(sys.argv[2]))
