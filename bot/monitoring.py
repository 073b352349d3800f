"""What a monitoring system asks: /metrics for Prometheus, /healthz (the process lives), /readyz (it can answer).

Numbers come from the database, so they are the same whichever process is asked. Labels are states, outcomes and stage
names; never a person, a channel, a source or a text. Counts are of what is still kept, so they shrink at the nightly
clean-up and are gauges.
"""

import threading
from collections.abc import Callable, Iterator, Mapping

import uvicorn
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bot.ports import listening
from knowledge import vitals
from knowledge.db import Database
from knowledge.vitals import Vitals


class VitalsCollector(Collector):
    """Reads the vital signs at each scrape."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def describe(self) -> Iterator[Metric]:
        """Nothing ahead, so that registering it does not read the database."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        with self._database.writing() as connection:
            signs = vitals.read(connection)
        yield from families(signs)


def families(signs: Vitals) -> Iterator[Metric]:
    yield _gauge("footnote_questions", "Questions received, by state.", "state", signs.questions)
    yield _gauge("footnote_answers", "Answers, by outcome.", "outcome", signs.answers)
    yield _gauge("footnote_usage", "Tokens by kind, and dollars.", "kind", signs.usage)
    stages = SummaryMetricFamily("footnote_stage_milliseconds", "Time by stage of answering.", labels=["stage"])
    for stage, (count, total) in signs.stage_ms.items():
        stages.add_metric([stage], count, total)
    yield stages
    yield GaugeMetricFamily("footnote_waiting", "Received and not finished.", signs.waiting)
    yield GaugeMetricFamily("footnote_oldest_waiting_seconds", "Age of the oldest of them.", signs.oldest_waiting_s)
    yield GaugeMetricFamily("footnote_sources", "Sources.", signs.sources)
    yield GaugeMetricFamily("footnote_sources_failing", "Sources whose last sync failed.", signs.sources_failing)
    yield GaugeMetricFamily(
        "footnote_stalest_source_seconds", "Longest time since a good sync.", signs.stalest_source_s
    )
    if signs.recall is not None:
        yield GaugeMetricFamily("footnote_recall_at_5", "Of the last nightly evaluation.", signs.recall)
    if signs.leaks is not None:
        yield GaugeMetricFamily("footnote_leaks", "Unreadable passages in the last evaluation; must be 0.", signs.leaks)


def _gauge(name: str, text: str, label: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=[label])
    for value, count in values.items():
        family.add_metric([value], count)
    return family


class Monitor:
    """A small HTTP server. `ready`: whether this process can do its part, by name what it lacks."""

    def __init__(
        self, database: Database, port: int, ready: Callable[[], tuple[str, ...]], host: str = "127.0.0.1"
    ) -> None:
        """Listens from now on, and answers from `start` on. Raises `PortUnusable`."""
        self._database = database
        self._ready = ready
        self._registry = CollectorRegistry()
        self._registry.register(VitalsCollector(database))
        routes = [Route("/metrics", self._metrics), Route("/healthz", self._healthz), Route("/readyz", self._readyz)]
        self._socket = listening("monitoring_port (FOOTNOTE_MONITORING_PORT)", host, port)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_config=None))
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), name="footnote-monitor", daemon=True
        )

    def start(self) -> None:
        """Answers from now on; requests wait in the socket until the server is up."""
        self._thread.start()

    def stop(self) -> None:
        """Also when it was never started."""
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join()
        self._socket.close()

    def _metrics(self, _: Request) -> Response:
        return Response(generate_latest(self._registry), media_type="text/plain; version=0.0.4; charset=utf-8")

    def _healthz(self, _: Request) -> Response:
        return PlainTextResponse("ok\n")

    def _readyz(self, _: Request) -> Response:
        try:
            with self._database.plain():
                lacking = self._ready()
        except SQLAlchemyError:
            lacking = ("database",)
        return PlainTextResponse("\n".join(lacking or ("ok",)) + "\n", 503 if lacking else 200)
