"""Loads files in a worker process with a time limit and a memory limit; starts another one when it dies."""

import json
import os
import selectors
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import knowledge
from knowledge.errors import DocumentUnreadable
from knowledge.loaders.loaded import Loaded, from_json
from knowledge.loaders.worker import LENGTH

TIMEOUT_S = 60.0
"""For one file. A PDF of 200 pages takes 3 s."""

MEMORY_BYTES = 1_500_000_000
"""Address space of the worker; Python with every parser loaded takes a third of it."""


class Reader:
    """`load` as `knowledge.loaders.load`, but no file can hang or crash the caller. One thread at a time."""

    def __init__(self, timeout_s: float = TIMEOUT_S, memory_bytes: int = MEMORY_BYTES) -> None:
        self._timeout_s = timeout_s
        self._memory_bytes = memory_bytes
        self._worker: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def load(self, name: str, content: bytes) -> Loaded:
        """Raises `DocumentUnreadable`, also when the worker ran out of time or memory or was brought down."""
        worker = self._started()
        try:
            frame = self._exchange(worker, name.encode(), content)
        except TimeoutError:
            self.close()
            raise DocumentUnreadable("failed", f"it took longer than {self._timeout_s:g} s to read") from None
        except (EOFError, OSError):
            self.close()
            raise DocumentUnreadable("failed", "reading it needs too much memory, or brings the reader down") from None
        fields = json.loads(frame)
        if "state" in fields:
            raise DocumentUnreadable(fields["state"], fields["reason"])
        return from_json(fields)

    @property
    def worker_id(self) -> int | None:
        """Process id of the worker, None when there is none at the moment."""
        return self._worker.pid if self._worker else None

    def close(self) -> None:
        if self._worker is None:
            return
        self._worker.kill()
        self._worker.wait()
        for pipe in (self._worker.stdin, self._worker.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # the worker went away in the middle of a request
                    pipe.close()
        self._worker = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._worker is None or self._worker.poll() is not None:
            self.close()
            self._worker = subprocess.Popen(
                [sys.executable, "-m", "knowledge.loaders.worker", str(self._memory_bytes)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                cwd=Path(knowledge.__file__).parents[1],  # with -m this is where packages are looked for first
                env={"LANG": "C.UTF-8"},  # a parser has no business with keys and tokens
            )
        return self._worker

    def _exchange(self, worker: subprocess.Popen[bytes], name: bytes, content: bytes) -> bytes:
        assert worker.stdin is not None
        assert worker.stdout is not None
        for part in (name, content):
            _write(worker.stdin.fileno(), LENGTH.pack(len(part)))
            _write(worker.stdin.fileno(), part)
        deadline = time.monotonic() + self._timeout_s
        (length,) = LENGTH.unpack(_read(worker.stdout.fileno(), LENGTH.size, deadline))
        return _read(worker.stdout.fileno(), length, deadline)


def _read(descriptor: int, length: int, deadline: float) -> bytes:
    """Raises `TimeoutError` at the deadline and `EOFError` when the other side is gone."""
    received = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while len(received) < length:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise TimeoutError
            data = os.read(descriptor, min(length - len(received), 1 << 20))
            if not data:
                raise EOFError
            received += data
    return bytes(received)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
