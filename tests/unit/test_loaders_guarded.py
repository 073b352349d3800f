"""Files are loaded in a process that may die in our place."""

import random
from collections.abc import Iterator

import pytest

from knowledge.errors import DocumentUnreadable
from knowledge.loaders import load
from knowledge.loaders.reader import Reader
from tests.office_files import docx, epub, ods, pdf, pptx, rtf, xlsx
from tests.unit.test_loaders import MDX, PAGE

FILES = {
    "x.csv": b'Part;Name\nK9;"Hook; big"\nK10;Rope\n' * 20,
    "x.docx": docx(),
    "x.epub": epub(),
    "x.html": PAGE.encode(),
    "x.md": b"---\ntitle: T\nscopes: [workspace]\n---\n# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[x][y]\n\n[y]: /z\n",
    "x.mdx": MDX.encode(),
    "x.ods": ods(),
    "x.pdf": pdf("Valve four is red.", "Valve five is blue."),
    "x.pptx": pptx(),
    "x.py": b'"""Tides."""\n\nHIGH = 7  # metres\n' * 20,
    "x.rst": b"Tides\n=====\n\nHigh.\n\nLow\n---\n\n- one\n" * 10,
    "x.rtf": rtf(),
    "x.txt": "Größe und Höhe.\n\nSeñor Peña.\n".encode() * 20,
    "x.xlsx": xlsx(),
}
STATES = {"ok", "empty", "scanned", "encrypted", "too_big", "unsupported", "failed"}


def outcome(reader: Reader, name: str, content: bytes) -> str:
    try:
        loaded = reader.load(name, content)
    except DocumentUnreadable as unreadable:
        return unreadable.state if str(unreadable) else "no reason"
    return "ok" if loaded.markdown.strip() else "no text"


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with Reader(timeout_s=30) as opened:
        yield opened


@pytest.mark.parametrize("name", FILES)
def test_a_guarded_load_gives_what_a_plain_one_gives(reader: Reader, name: str) -> None:
    assert reader.load(name, FILES[name]) == load(name, FILES[name])


@pytest.mark.parametrize("name", FILES)
def test_a_mutated_file_loads_or_has_a_state_and_a_reason(reader: Reader, name: str) -> None:
    dice = random.Random(name)
    for _ in range(300):
        content = bytearray(FILES[name])
        for _ in range(dice.randrange(1, 12)):
            start = dice.randrange(len(content) or 1)
            match dice.randrange(3):
                case 0:
                    content[start : start + 1] = dice.randbytes(1)
                case 1:
                    del content[start : start + dice.randrange(1, 40)]
                case _:
                    content[start:start] = dice.randbytes(dice.randrange(1, 40))
        assert outcome(reader, name, bytes(content)) in STATES


def test_a_reason_and_state_cross_the_border(reader: Reader) -> None:
    with pytest.raises(DocumentUnreadable, match="the file is empty") as raised:
        reader.load("x.pdf", b"")
    assert raised.value.state == "empty"


def test_a_file_that_takes_too_long_is_given_up_and_the_next_one_is_read() -> None:
    with Reader(timeout_s=0.001) as hasty:
        with pytest.raises(DocumentUnreadable, match=r"longer than 0.001 s"):
            hasty.load("x.docx", FILES["x.docx"])
        with pytest.raises(DocumentUnreadable, match=r"longer than 0.001 s"):
            hasty.load("x.docx", FILES["x.docx"])


def test_a_file_that_needs_too_much_memory_is_given_up() -> None:
    with Reader(memory_bytes=300_000_000) as small:
        with pytest.raises(DocumentUnreadable, match="memory"):
            small.load("x.md", b"word " * 40_000_000)
        assert small.load("y.md", b"Words.").markdown == "Words."


def test_a_worker_knows_no_secrets(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret")
    with Reader() as fresh:
        fresh.load("x.md", b"Words.")
        assert fresh.worker_id is not None
        with open(f"/proc/{fresh.worker_id}/environ", "rb") as environment:
            assert b"sk-ant" not in environment.read()
