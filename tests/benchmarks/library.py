"""A large index of real English text: the documentation inside the Python packages of this machine.

Every text is a piece of a docstring, so identifiers and prose are as they occur. Of the first `ENCODED` the vectors and
token bits are the model's own; the others take those of one of them, the vector a little moved: encoding all would take
half an hour and change no cost of a search. Six of ten documents of five chunks are for everyone, the rest for one of
2,000 channels of very different sizes.
"""

import re
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import sqlalchemy as sa

from knowledge import acls, embeddings, generations, keywords, vector_index
from knowledge.db import Database
from knowledge.embeddings import ChunkKey
from knowledge.encoders import Embedder, Encoded
from knowledge.permissions import WORKSPACE, Scopes
from knowledge.settings import Retrieval
from knowledge.tables import chunks, documents, sources

ENCODED = 1_500
CHANNELS = 2_000
PER_DOCUMENT = 5
STORED_AT_ONCE = 2_000
LONGEST, SHORTEST = 600, 150
"""Characters of a piece; 600 are some 140 word pieces."""

_DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)


def texts(count: int) -> list[tuple[str, str]]:
    """(file, piece) of so many different pieces. Raises `ValueError` when the packages hold fewer."""
    found: dict[str, str] = {}
    for name, text in _docstrings():
        for start in range(0, len(text), LONGEST):
            piece = text[start : start + LONGEST]
            if len(piece) >= SHORTEST:
                found.setdefault(piece.replace("\0", ""), name)
        if len(found) >= count:
            return [(name, piece) for piece, name in found.items()][:count]
    raise ValueError(f"the packages of this Python document themselves in {len(found)} pieces only")


def _docstrings() -> Iterator[tuple[str, str]]:
    for root in map(Path, dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("stdlib")))):
        for file in sorted(root.rglob("*.py")):
            source = file.read_text(encoding="utf-8", errors="ignore")
            for match in _DOCSTRING.finditer(source):
                yield str(file.relative_to(root)), match[1].strip()


def fill(database: Database, embedder: Embedder, count: int) -> None:
    """Index so many chunks, and build the vector index. Nothing is done when they are there."""
    with database.plain() as connection:
        if connection.scalar(sa.text("select sum(chunk_count) from acls")) == count:
            return
    random = np.random.default_rng(11)
    pieces = texts(count)
    encoded = embedder.encode_passages([text for _, text in pieces[:ENCODED]])
    with database.writing() as connection:
        generation = generations.active(connection, embedder)
        connection.execute(sa.insert(sources).values(name="library", kind="folder", location="", scopes=[WORKSPACE]))
        acl_ids = np.array([acls.intern(connection, [scope_of(channel)]) for channel in range(CHANNELS + 1)])
    of_document = acl_ids[channels(count // PER_DOCUMENT + 1, random)].tolist()
    for start in range(0, count, STORED_AT_ONCE):
        numbers = range(start, min(start + STORED_AT_ONCE, count))
        keys = [ChunkKey(n + 1, n // PER_DOCUMENT + 1, of_document[n // PER_DOCUMENT]) for n in numbers]
        base = [n % len(encoded.vectors) for n in numbers]
        vectors = encoded.vectors[base] + 0.5 / np.sqrt(embedder.dimension) * random.standard_normal(
            (len(base), embedder.dimension)
        )
        vectors[: max(0, len(encoded.vectors) - start)] = encoded.vectors[base][: max(0, len(encoded.vectors) - start)]
        vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        with database.writing() as connection:
            _write_documents(connection, keys, pieces[numbers[0] : numbers[-1] + 1])
            embeddings.write(connection, generation, keys, Encoded(vectors, tuple(encoded.tokens[i] for i in base)))
            keywords.write(connection, keys, [f"{name}\n{text}" for name, text in pieces[start : start + len(keys)]])
    with database.writing() as connection:
        connection.execute(
            sa.text("update acls set chunk_count = (select count(*) from chunks where chunks.acl_id = acls.id)")
        )
        connection.execute(
            sa.text(f"select setval(pg_get_serial_sequence('{documents.name}', 'id'), max(id)) from {documents.name}")
        )
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text("vacuum analyze"))
    vector_index.tend(database, generation, Retrieval().exact_below)


def _write_documents(connection: sa.Connection, keys: Sequence[ChunkKey], pieces: Sequence[tuple[str, str]]) -> None:
    names = {key.document_id: (name, key.acl_id) for key, (name, _) in zip(keys, pieces, strict=True)}
    connection.execute(
        sa.text(
            f"insert into {documents.name} (id, source, external_id, acl_id, title, revision, state) "
            "overriding system value values (:id, 'library', :name, :acl_id, :title, '1', 'ok')"
        ),
        [{"id": i, "name": str(i), "title": name, "acl_id": acl_id} for i, (name, acl_id) in names.items()],
    )
    place = {"start": 0, "embedded_hash": "", "heading_path": []}
    connection.execute(
        sa.insert(chunks),
        [
            place
            | {"id": key.chunk_id, "document_id": key.document_id, "acl_id": key.acl_id, "text": text}
            | {"ordinal": key.chunk_id % PER_DOCUMENT, "end": len(text), "tokens": len(text) // 4}
            for key, (_, text) in zip(keys, pieces, strict=True)
        ],
    )


def channels(count: int, random: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The channel of each document, 0 for everyone; the n-th channel has a share of 1/n of the rest."""
    shares = 1 / np.arange(1, CHANNELS + 1)
    private = random.choice(np.arange(1, CHANNELS + 1), count, p=shares / shares.sum())
    return np.where(random.random(count) < 0.6, 0, private)


def scope_of(channel: int) -> str:
    return WORKSPACE if channel == 0 else f"channel:C{channel:06}"


def member(random: np.random.Generator) -> Scopes:
    """What one person may read: all that is for everyone, and forty channels."""
    return frozenset({WORKSPACE, *(scope_of(int(c)) for c in random.integers(1, CHANNELS + 1, 40))})


def questions(database: Database, count: int, random: np.random.Generator) -> list[str]:
    """Questions about chunks: an opening, and most of the first words of one; no two alike."""
    openings = ("How do I use", "What does", "Where is", "Why do I get", "Can we change", "What is the default of")
    with database.writing() as connection:
        rows = connection.scalars(sa.select(chunks.c.text).order_by(sa.func.md5(chunks.c.text)).limit(count)).all()
    asked = []
    for text in rows:
        words = re.findall(r"[\w.\-]{2,40}", text)[: int(random.integers(5, 16))]
        kept = [word for word in words if random.random() < 0.7] or words[:1]
        asked.append(f"{random.choice(openings)} {' '.join(kept)}?")
    return asked
