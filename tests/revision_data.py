"""`python -m tests.revision_data`: keeps rows of the newest schema revision, for later versions to be upgraded from.

Run it once when a migration was written, before anything else changes. It makes a small company's database as this
version leaves it and dumps the rows into `tests/data/revisions`; `test_upgrades` asks for that file.
"""

import subprocess
import tempfile
from pathlib import Path

from knowledge import receipts
from knowledge.db import Database, known_revisions
from knowledge.encoders import load_embedder
from knowledge.index import Indexer
from knowledge.postgres import EmbeddedPostgres
from knowledge.postgres.binaries import wheel_binaries
from knowledge.settings import Chunking, Models, Source
from tests import rows

FOLDER = Path(__file__).parent / "data" / "revisions"
TEXT = "# Annual leave\n\nFull-time staff get 25 days of annual leave a year.\n"


def fill(database: Database, folder: Path) -> None:
    """A document that was synced, an answer, a gold case with its result, and an open question."""
    (folder / "leave.md").write_text(TEXT)
    source = Source(name="people", location=str(folder), scopes=("workspace",))
    outcome = Indexer(database, load_embedder(Models()), Chunking()).sync(source)
    assert outcome.added == 1
    with database.writing() as connection:
        rows.add_answer(connection, "answer0001", ["workspace"])
        rows.add_gold_case(connection, "case0001", ["workspace"])
        rows.add_eval_result(connection, "case0001", ["workspace"])
        receipts.record(
            connection, "event0001", "answer", {"text": "how many days?"}, person="UBEN", message_key="T:C:1"
        )


def dump(home: Path) -> str:
    command = ("pg_dump", "--data-only", "--column-inserts", "--no-owner", "--exclude-table=alembic_version")
    environment = {
        "PGHOST": str(home / "run"),
        "PGUSER": "postgres",
        "PGDATABASE": "footnote",
        "PGPASSWORD": (home / "postgres.password").read_text(),
    }
    said = subprocess.run(
        (wheel_binaries() / command[0], *command[1:]), env=environment, capture_output=True, text=True, check=True
    )
    kept = ("INSERT", "SELECT pg_catalog.setval")
    return "".join(f"{line}\n" for line in said.stdout.splitlines() if line.startswith(kept))


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="footnote-revision-") as temporary:
        home = Path(temporary)
        home.chmod(0o711)
        server = EmbeddedPostgres(home / "postgres").start()
        try:
            with Database(server.url()) as database:
                database.migrate()
                documents = home / "documents"
                documents.mkdir()
                fill(database, documents)
            file = FOLDER / f"{known_revisions()[0]}.sql"
            file.write_text(dump(home / "postgres").replace(str(documents), "documents/people"))
        finally:
            server.release()


if __name__ == "__main__":
    main()
