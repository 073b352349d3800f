"""The script by which docker-compose.yml prepares its database makes one that the program accepts."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
import yaml

from knowledge.db import Database
from knowledge.postgres.account import server_account
from knowledge.postgres.binaries import reachable_binaries
from knowledge.postgres.cluster import Cluster
from knowledge.postgres.watchdog import stop_server

COMPOSE = Path(__file__).parents[2] / "docker-compose.yml"


@pytest.fixture
def untouched(home: Path) -> Iterator[Cluster]:
    """A server with nothing in it but its superuser, as in the image."""
    path = home / "untouched"
    path.mkdir()
    account = server_account()
    cluster = Cluster(path, account, reachable_binaries(account, path))
    cluster.initialise()
    cluster.start({"fsync": "off", "shared_buffers": "16MB"})
    yield cluster
    stop_server(cluster.data)


def test_the_prepared_database_is_migrated_and_found_healthy(untouched: Cluster) -> None:
    script = yaml.safe_load(COMPOSE.read_text())["configs"]["roles"]["content"].replace("$$", "$")
    environment = {
        "PATH": f"{untouched.binaries}:{os.defpath}",
        "PGHOST": str(untouched.sockets),
        "PGPASSWORD": untouched.superuser_password.read_text(),
        "POSTGRES_PASSWORD": "it's secret",
    }
    subprocess.run(["bash", "-ec", script], env=environment, check=True)

    url = sa.URL.create(
        "postgresql", "footnote", "it's secret", database="footnote", query={"host": str(untouched.sockets)}
    )
    with Database(url.render_as_string(hide_password=False)) as database:
        database.migrate()
        database.check()
