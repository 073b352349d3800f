"""The way to the database server, to be cut while it is in use."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import sqlalchemy as sa


@contextmanager
def cut_at(url: str, words: bytes) -> Iterator[str]:
    """Another address of the same database. Once a statement with these words is sent there, nobody gets through any more."""
    address = sa.make_url(url)
    listener = socket.create_server(("127.0.0.1", 0))
    open_sockets: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def cut() -> None:
        for each in (listener, *open_sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        listener.close()

    def pump(source: socket.socket, sink: socket.socket, until: bytes | None) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if until and until in data:
                    return cut()
                sink.sendall(data)
        for each in (source, sink):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(f"{address.query['host']}/.s.PGSQL.5432")
                open_sockets.extend((client, server))
                for arguments in ((client, server, words), (server, client, None)):
                    threads.append(threading.Thread(target=pump, args=arguments))
                    threads[-1].start()

    acceptor = threading.Thread(target=accept)
    acceptor.start()
    port = listener.getsockname()[1]
    try:
        yield address.set(host="127.0.0.1", port=port, query={"sslmode": "disable"}).render_as_string(False)
    finally:
        cut()
        for thread in (acceptor, *threads):
            thread.join()
        for each in open_sockets:
            each.close()
