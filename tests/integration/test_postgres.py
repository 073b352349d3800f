"""The embedded server under hostile conditions, each with real processes."""

import contextlib
import os
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from knowledge.errors import EmbeddedPostgresFailed
from knowledge.postgres import EmbeddedPostgres
from knowledge.postgres.account import server_account
from knowledge.postgres.binaries import reachable_binaries, wheel_binaries
from knowledge.postgres.watchdog import kill_server, postmaster_pid, server_pids
from tests.company import until

ROOT = Path(__file__).parents[2]
SETTINGS = {"fsync": "off", "shared_buffers": "16MB"}
PROGRAM = f"""
import signal
import sys
import tempfile
from pathlib import Path
from knowledge.postgres import EmbeddedPostgres
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs inherit that it is ignored
server = EmbeddedPostgres(Path(sys.argv[1]), {SETTINGS!r}).start()
print(server.url(), flush=True)
sys.stdin.read()
"""
"""A process that uses the server until its input ends, and then leaves without a word."""

CAPABILITY = "+dac_override"
"""Lets an ordinary account into the checkout and the interpreter, which may well be private to root."""
ORDINARY = [
    *("setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"),
    *("--inh-caps", CAPABILITY, "--ambient-caps", CAPABILITY),
]
ACCOUNTS = [pytest.param([], id="ours"), *([pytest.param(ORDINARY, id="ordinary")] if os.geteuid() == 0 else [])]
"""PostgreSQL itself refuses root, so both ways to start it matter; only root can try both."""

PATIENCE_S = 60


class User(subprocess.Popen[str]):
    """Another process that starts or adopts the server in `home`."""

    def __init__(self, home: Path, prefix: Sequence[str] = ()) -> None:
        command = [*prefix, sys.executable, "-c", PROGRAM, str(home)]
        super().__init__(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)

    def url(self) -> str:
        """Wait until it is up."""
        assert self.stdout is not None
        line = self.stdout.readline().strip()
        assert line, "the process ended before its server was up"
        return line


@pytest.fixture(scope="module")
def stopped(home: Path) -> Path:
    """A server made once and stopped, to be copied: making one takes most of the time of a start."""
    path = home / "stopped"
    EmbeddedPostgres(path, SETTINGS).start().release()
    return path


@pytest.fixture
def empty(home: Path) -> Iterator[Path]:
    """An empty directory for this test's servers, all of them down at the end."""
    path = Path(tempfile.mkdtemp(dir=home))
    path.chmod(0o777)
    yield path
    for data in path.glob("**/data"):
        kill_server(data)
    shutil.rmtree(path)


@pytest.fixture
def place(empty: Path, stopped: Path) -> Path:
    """The home of a server that is made and not running."""
    path = empty / "postgres"
    subprocess.run(["cp", "--archive", stopped, path], check=True)
    return path


@contextlib.contextmanager
def gone(pid: int) -> Iterator[None]:
    """On leaving, wait until this process, which is not our child, has ended."""
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        try:
            yield
            assert select.select([descriptor], [], [], PATIENCE_S)[0], f"process {pid} is still there"
        finally:
            os.close(descriptor)


def postmaster(home: Path) -> int:
    pid = postmaster_pid(home / "data")
    assert pid is not None, f"no server in {home}"
    return pid


def value(url: str, *statements: str) -> object:
    """The single value that the last statement returns."""
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.begin() as connection:
        results = [connection.execute(sa.text(statement)) for statement in statements]
        return results[-1].scalar_one()


def watchdogs(home: Path) -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_text().split("\0")
            if str(home) in words and any(word.endswith("watchdog.py") for word in words):
                found.append(int(process.name))
    return found


@pytest.mark.parametrize("prefix", ACCOUNTS)
def test_it_starts_from_nothing_and_keeps_its_data(empty: Path, prefix: Sequence[str]) -> None:
    home = empty / "postgres"
    with User(home, prefix) as first:
        url = first.url()
        value(url, "create table kept as select 42 as number", "select number from kept")
        assert value(url, "select usesuper from pg_user where usename = current_user") is False
        with gone(postmaster(home)):
            first.kill()
    with User(home, prefix) as second:
        assert value(second.url(), "select number from kept") == 42
        with gone(postmaster(home)):
            second.kill()


def test_a_second_process_adopts_the_server_and_the_last_one_stops_it(place: Path) -> None:
    with User(place) as first, User(place) as second:
        first.url()
        server = postmaster(place)
        url = second.url()
        assert postmaster(place) == server
        first.communicate()
        assert value(url, "select 1") == 1
        assert postmaster(place) == server
        with gone(server):
            second.communicate()


def test_two_processes_at_once_on_an_empty_directory_share_one_server(empty: Path) -> None:
    place = empty / "postgres"
    with User(place) as first, User(place) as second:
        started = "select pg_postmaster_start_time()"
        assert value(first.url(), started) == value(second.url(), started)
        with gone(postmaster(place)):
            first.kill()
            second.kill()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_server_stops_however_its_last_user_ends(place: Path, number: signal.Signals) -> None:
    with User(place) as user:
        user.url()
        with gone(postmaster(place)):
            user.send_signal(number)
    assert "database system is shut down" in (place / "postgres.log").read_text()


def test_a_killed_user_leaves_the_server_to_the_other(place: Path) -> None:
    with User(place) as killed, User(place) as other:
        killed.url()
        url = other.url()
        killed.kill()
        killed.wait()
        assert value(url, "select 1") == 1
        with gone(postmaster(place)):
            other.kill()


def test_release_stops_the_server_and_waits_for_it(place: Path) -> None:
    server = EmbeddedPostgres(place, SETTINGS).start()
    adopted = EmbeddedPostgres(place).start()
    server.release()
    assert postmaster(place)
    adopted.release()
    assert server_pids(place / "data") == []
    assert not (place / "data" / "postmaster.pid").exists()
    adopted.release()
    with pytest.raises(EmbeddedPostgresFailed, match=r"call start\(\) first"):
        adopted.url()


def test_a_killed_server_comes_back_with_everything_committed(place: Path) -> None:
    with User(place) as user:
        value(user.url(), "create table kept as select 42 as number", "select number from kept")
        killed = postmaster(place)
        with gone(killed):
            os.kill(killed, signal.SIGKILL)
        server = EmbeddedPostgres(place, SETTINGS).start()
        assert postmaster(place) != killed
        assert value(server.url(), "select number from kept") == 42
        user.communicate()
        server.release()


def test_a_server_that_is_looked_after_comes_back_by_itself(place: Path) -> None:
    """As after a full disk, when the server has ended and nobody calls `start` again."""
    server = EmbeddedPostgres(place, SETTINGS).start()
    server.stay_up()
    killed = postmaster(place)
    with gone(killed):
        os.kill(killed, signal.SIGKILL)

    def answers() -> bool:
        try:
            return value(server.url(), "select 1") == 1
        except sa.exc.OperationalError:
            return False

    until(answers)
    assert postmaster(place) != killed
    server.release()
    assert server_pids(place / "data") == []


def test_an_innocent_process_with_the_number_of_a_dead_server_is_left_alone(place: Path) -> None:
    server = EmbeddedPostgres(place, SETTINGS).start()
    killed = postmaster(place)
    with gone(killed):
        os.kill(killed, signal.SIGKILL)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as innocent:
        pid_file = place / "data" / "postmaster.pid"
        pid_file.write_text(pid_file.read_text().replace(str(killed), str(innocent.pid), 1))
        again = EmbeddedPostgres(place, SETTINGS).start()
        assert value(again.url(), "select 1") == 1
        with gone(postmaster(place)):
            os.kill(postmaster(place), signal.SIGKILL)
        pid_file.write_text(pid_file.read_text().replace(pid_file.read_text().split("\n")[0], str(innocent.pid), 1))
        again.release()
        server.release()
        innocent.communicate(b"\n")
        assert innocent.returncode == 0


def test_a_killed_watchdog_is_replaced_by_the_next_user(place: Path) -> None:
    with User(place) as first:
        first.url()
        (watchdog,) = watchdogs(place)
        with gone(watchdog):
            os.kill(watchdog, signal.SIGKILL)
        with User(place) as second:
            second.url()
            with gone(postmaster(place)):
                first.kill()
                second.kill()


def test_a_directory_left_by_an_interrupted_initialisation_is_made_anew(empty: Path) -> None:
    place = empty
    (place / "data.new").mkdir()
    (place / "data.new" / "PG_VERSION").write_text("18\n")
    (place / "footnote.new").write_text("half a passw")
    server = EmbeddedPostgres(place, SETTINGS).start()
    assert value(server.url(), "select extversion from pg_extension where extname = 'vector'") is not None
    server.release()


@pytest.mark.parametrize(
    "name", ["with space", "it's", 'double " quote', "50% of é, $HOME and `date`", "long" * 30], ids=str.split
)
def test_the_path_may_have_any_characters_and_length(empty: Path, name: str) -> None:
    server = EmbeddedPostgres(empty / name, SETTINGS).start()
    assert value(server.url(), "select lower('É')") == "é"
    server.release()


def test_only_the_socket_and_a_password_let_in(place: Path) -> None:
    server = EmbeddedPostgres(place, SETTINGS).start()
    assert value(server.url(), "select current_setting('listen_addresses')") == ""
    wrong = sa.make_url(server.url()).set(password="wrong").render_as_string(hide_password=False)
    with pytest.raises(sa.exc.OperationalError, match="password authentication failed"):
        value(wrong, "select 1")
    passwords = sorted(place.glob("*.password"))
    assert [path.name for path in passwords] == ["footnote.password", "postgres.password"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in passwords} == {0o600}
    assert {stat.S_IMODE((place / name).stat().st_mode) for name in ("data", "run")} == {0o700}
    server.release()


def test_a_lost_password_file_is_made_anew(place: Path) -> None:
    (place / "footnote.password").unlink()
    server = EmbeddedPostgres(place, SETTINGS).start()
    assert value(server.url(), "select 1") == 1
    server.release()


def test_the_reader_role_cannot_log_in_and_the_owner_becomes_it_only_on_purpose(place: Path) -> None:
    server = EmbeddedPostgres(place, SETTINGS).start()
    url = server.url()
    assert value(url, "select rolcanlogin from pg_roles where rolname = 'footnote_reader'") is False
    assert value(url, "select pg_has_role('footnote_reader', 'usage')") is False
    assert value(url, "set role footnote_reader", "select current_user") == "footnote_reader"
    server.release()


def test_settings_reach_the_server(place: Path) -> None:
    server = EmbeddedPostgres(place, {"search_path": 'it\'s, "a\\b"', **SETTINGS}).start()
    assert value(server.url(), "show search_path") == 'it\'s, "a\\b"'
    server.release()


def test_a_wrong_setting_is_reported_with_the_end_of_the_log(place: Path) -> None:
    with pytest.raises(
        EmbeddedPostgresFailed, match=r"(?s)pg_ctl failed.*unrecognized configuration parameter \"colour\""
    ):
        EmbeddedPostgres(place, {"colour": "blue"}).start()


def test_data_of_another_version_is_refused_with_the_remedy(place: Path) -> None:
    (place / "data" / "PG_VERSION").write_text("12\n")
    with pytest.raises(EmbeddedPostgresFailed, match=r"made by PostgreSQL 12, the installed one is 18.*Dump it"):
        EmbeddedPostgres(place, SETTINGS).start()


if os.geteuid() == 0:

    def test_root_is_told_when_the_server_cannot_reach_a_private_directory(empty: Path) -> None:
        private = empty / "private"
        private.mkdir(mode=0o700)
        with pytest.raises(EmbeddedPostgresFailed, match=r"inside a private directory.*/var/lib"):
            EmbeddedPostgres(private / "postgres").start()
        assert stat.S_IMODE(private.stat().st_mode) == 0o700

    def test_programs_in_a_private_environment_are_copied_and_the_environment_stays_private(
        empty: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        private = empty / "private"
        private.mkdir(mode=0o700)
        package = wheel_binaries().parents[1]
        for name in (package.name, f"{package.name}.libs"):
            shutil.copytree(package.with_name(name), private / name, symlinks=True)
        monkeypatch.syspath_prepend(str(private))
        sys.modules.pop(package.name, None)
        account = server_account()
        copied = reachable_binaries(account, empty)
        assert copied.is_relative_to(empty)
        assert not copied.is_relative_to(private)
        assert "PostgreSQL" in account.run(copied / "postgres", "--version")
        assert reachable_binaries(account, empty) == copied
        assert stat.S_IMODE(private.stat().st_mode) == 0o700


def test_psycopg_alone_can_use_the_url(place: Path) -> None:
    server = EmbeddedPostgres(place, SETTINGS).start()
    plain = sa.make_url(server.url()).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain) as connection:
        assert connection.execute("select 1").fetchone() == (1,)
    server.release()
