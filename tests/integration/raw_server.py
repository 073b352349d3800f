"""A server that misbehaves below HTTP: what no ASGI application can do."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
START = (
    b'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m",'
    b'"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}\n\n'
)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


@contextmanager
def misbehaving(behave: Callable[[socket.socket, threading.Event], None]) -> Iterator[str]:
    """Accepts connections on a free port, reads each request and hands the socket to `behave`, with an event that ends it."""
    over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def handle(connection: socket.socket) -> None:
        with connection:
            connection.recv(65536)
            behave(connection, over)

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=handle, args=(connection,), daemon=True))
            threads[-1].start()

    acceptor = threading.Thread(target=accept, daemon=True)
    acceptor.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for thread in (acceptor, *threads):
            thread.join(5)


def stall_before(connection: socket.socket, over: threading.Event) -> None:
    """Says nothing at all."""
    over.wait()


def stall_inside(connection: socket.socket, over: threading.Event) -> None:
    """Begins a stream and says no more."""
    connection.sendall(HEAD + chunk(START))
    over.wait()


def drip(connection: socket.socket, over: threading.Event) -> None:
    """Keeps the stream alive with comments, so that no gap between bytes is ever long."""
    connection.sendall(HEAD + chunk(START))
    while not over.wait(0.05):
        try:
            connection.sendall(chunk(b":\n"))
        except OSError:
            return


def reset(connection: socket.socket, over: threading.Event) -> None:
    """Begins a stream and resets the connection."""
    connection.sendall(HEAD + chunk(START))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def truncate(connection: socket.socket, over: threading.Event) -> None:
    """Closes the connection without the last chunk."""
    connection.sendall(HEAD + chunk(START))
