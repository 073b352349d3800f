"""Receiving as signed HTTP requests, and nothing that Slack did not sign."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot import wording
from bot.errors import PortUnusable, SlackMisconfigured
from bot.local_slack.http_events import signature
from bot.receiving import HttpReceiver, receiver
from bot.service import Part, Service
from knowledge.db import Database
from knowledge.encoders import Embedder
from knowledge.postgres import EmbeddedPostgres
from knowledge.reranking import Reranker
from tests.company import Company, running

LEAVE = "how many days of annual leave do full-time staff get?"
HTTP = {"mode": "http", "http_port": 0}
STALE_S = 6 * 60
"""Slack's own limit is five minutes: https://docs.slack.dev/authentication/verifying-requests-from-slack"""


@pytest.fixture(scope="module")
def over_http(
    tmp_path_factory: pytest.TempPathFactory, embedded_postgres: EmbeddedPostgres, models: tuple[Embedder, Reranker]
) -> Iterator[Company]:
    with (
        Database(embedded_postgres.url("postgres")) as administration,
        administration.scratch() as database,
        running(tmp_path_factory.mktemp("http"), database.url, models, slack=HTTP) as made,
    ):
        yield made


def posted(company: Company, body: str, headers: Mapping[str, str], path: str = "/slack/events") -> tuple[int, str]:
    """Status and text of the answer to a request."""
    assert isinstance(company.service.receiver, HttpReceiver)
    url = f"http://127.0.0.1:{company.service.receiver.port}{path}"
    request = urllib.request.Request(url, body.encode(), {"Content-Type": "application/json", **headers})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, ""


def signed(company: Company, body: str, age_s: float = 0, secret: str | None = None) -> dict[str, str]:
    at = int(time.time() - age_s)
    by = company.slack.tokens.signing_secret if secret is None else secret
    return {"X-Slack-Request-Timestamp": str(at), "X-Slack-Signature": signature(by, at, body)}


def mention(company: Company) -> str:
    event = {"type": "app_mention", "user": "UBEN", "text": f"<@UFOOTNOTE> {LEAVE}", "channel": "CGENERAL"}
    event |= {"ts": "1700000000.000100", "event_ts": "1700000000.000100"}
    outer = {"type": "event_callback", "team_id": company.slack.state.team.id, "event_id": "EvFORGED", "event": event}
    return json.dumps(outer)


def written_down(company: Company) -> int:
    with company.database.plain() as connection:
        return int(connection.scalar(sa.text("select count(*) from inbox")) or 0)


def test_a_mention_is_answered_once(over_http: Company) -> None:
    over_http.slack.fault("duplicate")
    question = over_http.ask("ben", "general", LEAVE)
    assert "25 days" in over_http.reply(question).text
    over_http.settled()
    assert len(over_http.slack.replies(question)) == 1
    assert not over_http.slack.socket_mode.connections


def test_a_command_and_a_click_arrive(over_http: Company) -> None:
    over_http.slack.command("ben", "general", "/reindex all")
    over_http.slack.wait_for(lambda slack: wording.ADMINS_ONLY in [m.text for m in slack.ephemerals("ben")])
    reply = over_http.reply(over_http.ask("ben", "general", LEAVE))
    over_http.slack.click("ben", "general", reply.ts, "feedback", "negative")
    over_http.slack.wait_for(lambda slack: wording.ASK_SOURCE in [m.text for m in slack.ephemerals("ben")])


def test_slack_may_make_sure_that_the_address_is_ours(over_http: Company) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "abc123"})
    status, text = posted(over_http, body, signed(over_http, body))
    assert (status, json.loads(text)) == (200, {"challenge": "abc123"})


@pytest.mark.parametrize(("age_s", "secret"), [(0, "guessed"), (0, ""), (STALE_S, None), (-STALE_S, None)], ids=str)
def test_what_slack_did_not_sign_just_now_is_refused_and_leaves_nothing(
    over_http: Company, age_s: float, secret: str | None
) -> None:
    before, body = written_down(over_http), mention(over_http)
    assert posted(over_http, body, signed(over_http, body, age_s, secret))[0] == 401
    assert posted(over_http, body.replace("annual", "sick"), signed(over_http, body))[0] == 401
    assert posted(over_http, body, {})[0] == 401
    assert written_down(over_http) == before


def test_there_is_nothing_at_other_addresses(over_http: Company) -> None:
    body = mention(over_http)
    assert posted(over_http, body, signed(over_http, body), "/slack/install")[0] == 404


def test_one_request_that_waits_for_the_database_holds_up_no_other(over_http: Company) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "quick"})
    with over_http.database.writing() as connection:
        connection.execute(sa.text("lock table inbox in exclusive mode"))
        waiting = over_http.ask("ben", "general", LEAVE)
        over_http.slack.wait_for(lambda slack: not slack.delivery.queued)
        assert posted(over_http, body, signed(over_http, body))[0] == 200
    assert "25 days" in over_http.reply(waiting).text


def test_a_stopped_receiver_takes_nothing_and_beside_it_no_other_one_is_made_for_its_port(
    tmp_path: Path, postgres_url: str, models: tuple[Embedder, Reranker]
) -> None:
    with running(tmp_path, postgres_url, models, parts=(Part.RECEIVER,), slack=HTTP) as company:
        assert isinstance(company.service.receiver, HttpReceiver)
        slack = company.settings.slack.model_copy(update={"http_port": company.service.receiver.port})
        with pytest.raises(PortUnusable, match=r"slack\.http_port is \d+, .*another program listens there"):
            Service(company.settings.model_copy(update={"slack": slack}), company.engine, (Part.RECEIVER,))
        body = mention(company)
        company.service.stop()
        assert not company.service.receiver.healthy
        with pytest.raises(urllib.error.URLError):
            posted(company, body, signed(company, body))


def test_without_a_signing_secret_nothing_is_received(over_http: Company) -> None:
    """Bolt alone would check against an empty secret, with which anybody can sign."""
    without = over_http.settings.slack.model_copy(update={"signing_secret": None})
    with pytest.raises(SlackMisconfigured, match="SLACK_SIGNING_SECRET"):
        receiver(over_http.service.app, without)
