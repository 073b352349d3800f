"""Listening at ports that the settings name."""

import errno
import socket

from bot.errors import PortUnusable

WHY = {
    errno.EADDRINUSE: "another program listens there; stop that one, or set another port",
    errno.EACCES: "this user may not listen there; set a port above 1023",
    errno.EADDRNOTAVAIL: "this machine has no such address",
}
"""What is the matter and what to do about it, by the system's code for it."""


def listening(setting: str, host: str, port: int) -> socket.socket:
    """A socket that listens there; 0: at a free port. Raises `PortUnusable`, which names `setting`."""
    try:
        return socket.create_server((host, port))
    except OSError as error:
        why = WHY.get(error.errno or 0, error.strerror)
        raise PortUnusable(f"{setting} is {port}, and port {port} of {host} cannot be used: {why}") from error
