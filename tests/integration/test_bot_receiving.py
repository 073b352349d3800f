"""The connection to Slack: refreshed, refused, silent, and let go of."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from slack_sdk import WebClient
from websockets.sync.client import connect

from bot.errors import SlackMisconfigured
from bot.local_slack.socket_mode import MAX_CONNECTIONS
from bot.receiving import SocketReceiver
from bot.service import Part, Service
from knowledge import receipts
from tests.company import Company, until

# slack_sdk leaves a broken or refreshed websocket to the garbage collector, which then warns.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

QUESTION = "how much leave?"


def heard(company: Company) -> None:
    """Until a question asked now has been written down."""
    asked = company.ask("ben", "general", QUESTION)
    key = f"{company.slack.state.team.id}:{asked.channel}:{asked.ts}"

    def there() -> bool:
        with company.database.plain() as connection:
            return receipts.by_message(connection, key) is not None

    until(there)


class Line:
    """Between the bot and Slack's websocket: what it carries arrives, until it is `silent`."""

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.silent = threading.Event()
        self.lines = 0
        self._sockets: list[socket.socket] = [self._listening]
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                here, _ = self._listening.accept()
            except OSError:
                return
            self.lines += 1
            there = socket.create_connection(self._target)
            self._sockets += [here, there]
            carried = self.silent if self.lines == 1 else threading.Event()
            for pair in ((here, there), (there, here)):
                self._threads.append(threading.Thread(target=self._carry, args=(*pair, carried)))
                self._threads[-1].start()

    def _carry(self, source: socket.socket, target: socket.socket, silent: threading.Event) -> None:
        try:
            while data := source.recv(65_536):
                if not silent.is_set():
                    target.sendall(data)
        except OSError:
            return

    def close(self) -> None:
        for each in self._sockets:
            with each:
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue
        for thread in self._threads:
            thread.join()


@contextmanager
def receiving(company: Company, ping_every_s: float = 5.0) -> Iterator[SocketReceiver]:
    """One more receiver, in place of the company's own."""
    company.service.stop()
    idle = Service(company.settings, company.engine, (Part.RECEIVER,))
    receiver, stop = SocketReceiver(idle.app, company.settings.slack, ping_every_s), threading.Event()
    running = threading.Thread(target=receiver.run, args=(stop,))
    running.start()
    yield receiver
    stop.set()
    running.join()


def test_a_refreshed_connection_loses_nothing(listening: Company) -> None:
    for _ in range(2):
        listening.server.refresh()
        heard(listening)
    assert len(listening.slack.socket_mode.connections) == 1


def test_a_line_that_went_silent_without_a_word_is_replaced(listening: Company) -> None:
    line = Line(listening.server.port)
    listening.slack.state.address = line.address
    try:
        with receiving(listening, ping_every_s=0.3) as receiver:
            until(lambda: receiver.healthy)
            heard(listening)
            line.silent.set()
            until(lambda: line.lines > 1)
            heard(listening)
    finally:
        line.close()


def test_where_too_many_are_connected_it_waits_for_its_turn_without_storming(listening: Company) -> None:
    listening.service.stop()
    client = WebClient(base_url=listening.server.base_url)
    with ExitStack() as others:
        for _ in range(MAX_CONNECTIONS):
            others.enter_context(connect(client.apps_connections_open(app_token="xapp-local")["url"]))
        listening.slack.wait_for_connection(MAX_CONNECTIONS)
        before, began = opened(listening), listening.slack.clock.now()
        with receiving(listening):
            until(lambda: opened(listening) >= before + 4)
            assert listening.slack.clock.now() - began > 1.0
            others.close()
            heard(listening)


def test_an_app_token_that_slack_refuses_is_named_and_ends_the_bot(company: Company) -> None:
    slack = company.settings.slack.model_copy(update={"app_token": SecretStr("xapp-wrong")})
    bot = Service(company.settings.model_copy(update={"slack": slack}), company.engine, (Part.RECEIVER,))
    bot.start()
    with pytest.raises(SlackMisconfigured, match=r"SLACK_APP_TOKEN \(invalid_auth\): .* begins with xapp-"):
        bot.wait(threading.Event())
    bot.stop()


def test_a_slack_that_is_away_when_the_bot_connects_is_asked_until_it_is_back(company: Company) -> None:
    bot = Service(company.settings, company.engine, (Part.RECEIVER,))
    company.slack.fault("api_error", method="apps.connections.open", times=2)
    before = opened(company)
    bot.start()
    until(lambda: not bot.lacking())
    assert opened(company) == before + 3
    bot.stop()


@contextmanager
def stopping(company: Company) -> Iterator[sa.Connection]:
    """The bot is being stopped, with a command that has arrived and cannot be written down until this ends."""
    with ThreadPoolExecutor(1) as pool, company.database.writing() as connection:
        connection.execute(sa.text("lock table inbox in exclusive mode"))
        company.slack.command("ana", "general", "/reindex status")
        until(lambda: connection.scalar(sa.text("select true from pg_locks where not granted")))
        stopped = pool.submit(company.service.stop)
        yield connection
        connection.rollback()
        stopped.result(20)


def test_what_has_arrived_is_acknowledged_before_the_line_is_cut(listening: Company) -> None:
    with stopping(listening) as connection:
        connection.execute(sa.text("select pg_sleep(0.2)"))
    assert listening.slack.delivery.sent[-1].state == "acked"


def test_what_comes_while_the_bot_stops_is_left_to_another_connection_without_a_word(
    listening: Company, caplog: pytest.LogCaptureFixture
) -> None:
    with stopping(listening) as connection:
        connection.execute(sa.text("select pg_sleep(0.3)"))
        for _ in range(3):
            listening.ask("ben", "general", QUESTION)
        connection.execute(sa.text("select pg_sleep(0.3)"))
    assert "Failed to process" not in caplog.text
    states = {each.state for each in listening.slack.delivery.sent if "app_mention" in str(each.payload)}
    assert states
    assert "acked" not in states


def opened(company: Company) -> int:
    return [call.method for call in company.slack.calls].count("apps.connections.open")
