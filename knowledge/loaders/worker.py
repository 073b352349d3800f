"""The process that loads files, so that a hostile or broken one harms nobody: `python -m knowledge.loaders.worker`.

Requests come on standard input, answers leave on standard output. Each is the length of what follows (8 bytes, big
endian) and that many bytes. A request is two of them: the name, the content. An answer is JSON: nothing that was read
from a document is ever unpickled.
"""

import json
import os
import resource
import struct
import sys
from typing import BinaryIO

from knowledge.errors import DocumentUnreadable
from knowledge.loaders import load

LENGTH = struct.Struct(">Q")


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next frame, None at the end of the stream."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    return stream.read(length)


def answer(name: str, content: bytes) -> bytes:
    try:
        fields = load(name, content).to_json()
    except DocumentUnreadable as unreadable:
        fields = {"state": unreadable.state, "reason": str(unreadable)}
    return json.dumps(fields).encode()


def serve(memory_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    requests = sys.stdin.buffer
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a parser that prints does not garble the answers
    while (name := read_frame(requests)) is not None:
        content = read_frame(requests)
        if content is None:
            return
        frame = answer(name.decode(), content)
        replies.write(LENGTH.pack(len(frame)) + frame)
        replies.flush()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
