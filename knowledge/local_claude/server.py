"""The application on a port of this machine."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from knowledge.local_claude.application import LocalClaude


@contextmanager
def serve(claude: LocalClaude) -> Iterator[str]:
    """The application on a free port of 127.0.0.1; yields its address, for the setting `answers.base_url`."""
    server = uvicorn.Server(uvicorn.Config(claude, host="127.0.0.1", port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, name="local-claude", daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
        if not thread.is_alive():
            raise RuntimeError("the local Claude did not start")
    try:
        [listener] = server.servers[0].sockets
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
