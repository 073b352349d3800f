"""`footnote doctor`: is everything there that the bot needs? Each check is one line with its remedy; none prints a secret."""

import shutil
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from email.utils import parsedate_to_datetime

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot import named_ids, source_checks
from bot.check import Check, State, counted
from bot.client import FAILURES, out_of_reach, refused, web_client
from bot.local_slack.manifest import load_manifest
from bot.logs import redact
from bot.settings import Settings
from knowledge import vector_index
from knowledge.activity import LastSync, last_syncs
from knowledge.calls import Calls
from knowledge.db import Database, open_database
from knowledge.encoders import load_embedder
from knowledge.errors import FootnoteError
from knowledge.generations import active, building
from knowledge.reranking import load_reranker
from knowledge.vector_index import VectorIndex

FREE_GB, COPIES_GB = 5.0, 0.5
CLOCK_OFF_S = 60.0
"""Slack refuses signed requests that are five minutes off; schedules are off long before."""


def examine(settings: Settings) -> Iterator[Check]:
    """Every check in turn, as soon as it is known. What one check needs and cannot have makes it fail, not stop."""
    syncs = yield from _database(settings)
    yield from _models(settings)
    for source in settings.sources:
        yield source_checks.look(settings.slack, source, syncs.get(source.name))
    if lack := settings.no_sources:
        yield Check("sources", "warn", lack.says, lack.remedy)
    yield from _slack(settings)
    yield from _claude(settings)
    yield _disk(settings)


def _database(settings: Settings) -> Generator[Check, None, Mapping[str, LastSync]]:
    """Returns what came of the last syncs; nothing when the database does not tell."""
    syncs: Mapping[str, LastSync] = {}
    with _attempt("database") as failed, open_database(settings.knowledge) as database:
        where = "embedded" if settings.database_url is None else "configured"
        found = database.check()
        versions = f"PostgreSQL {found.server_version}, pgvector {found.extension}, schema {found.revision}"
        yield Check("database", "ok", f"{where}; {versions}; reader role and row-level security are in place")
        yield from _index(settings, database)
        with database.writing() as connection:
            syncs = last_syncs(connection)
        yield from source_checks.synced(database, settings, syncs)
    yield from failed
    return syncs


def _index(settings: Settings, database: Database) -> Iterator[Check]:
    with database.writing() as connection:
        next_one = building(connection)
    if next_one is not None and next_one.held:
        says = f"that of {next_one.model} is whole, but did not prove to find as many accepted questions; it does not serve"
        remedy = "`footnote sync --full` says how many; keep models.embedder as it was, or set models.recall_loss"
        yield Check("next index", "warn", says, remedy)
    try:
        with database.plain() as connection:
            generation = active(connection, load_embedder(settings.models))
            found = vector_index.look(connection, generation)
    except FootnoteError as error:
        yield Check("index", "fail", str(error), "set the model back, or run `footnote sync --full`")
        return
    yield Check("index", "ok", f"built with {generation.model}")
    yield _vectors(found, settings.retrieval.exact_below)


def _vectors(found: VectorIndex, exact_below: int) -> Check:
    if found.size_mb is not None:
        return Check("vector index", "ok", f"HNSW over {counted(found.chunks, 'chunk')}, {found.size_mb:.0f} MB")
    if found.chunks <= exact_below:
        return Check("vector index", "ok", f"not needed for {counted(found.chunks, 'chunk')}, scanned exactly")
    says = f"not built yet: who may read more than {exact_below} of the {found.chunks} chunks waits longer for answers"
    return Check("vector index", "warn", says, "the end of a sync builds it: run `footnote sync`")


def _models(settings: Settings) -> Iterator[Check]:
    with _attempt("models") as failed:
        embedder = load_embedder(settings.models)
        reranker = load_reranker(settings.models)
        yield Check("embedding model", "ok", f"{embedder.name}, {embedder.dimension} dimensions, {embedder.revision}")
        yield Check("reranker", "ok", f"{reranker.name} (setting: {settings.models.reranker})")
    yield from failed


def _slack(settings: Settings) -> Iterator[Check]:
    if settings.slack.bot_token is None:
        yield Check("Slack", "warn", "not connected", "set SLACK_BOT_TOKEN and SLACK_APP_TOKEN")
        return
    client = web_client(settings.slack)
    try:
        answer = client.auth_test()
    except SlackApiError as error:
        yield Check("Slack", "fail", str(refused("SLACK_BOT_TOKEN", error)))
        return
    except FAILURES as error:
        says, remedy = out_of_reach(client, error)
        yield Check("Slack", "fail", f"not reachable {redact(says)}", remedy)
        return
    yield Check("Slack", "ok", f"workspace {answer.get('team')}, bot {answer.get('user')}")
    yield _scopes(str(answer.headers.get("x-oauth-scopes", "")))
    yield _clock(str(answer.headers.get("date", "")))
    yield _socket(settings, client)
    yield _membership(client)
    yield from named_ids.look(settings, client, str(answer.get("team_id")))


def _scopes(granted: str) -> Check:
    missing = sorted(load_manifest().scopes - {scope.strip() for scope in granted.split(",")})
    if missing:
        return Check("Slack scopes", "fail", f"missing: {', '.join(missing)}", "add them to the app and reinstall it")
    return Check("Slack scopes", "ok", "all that the manifest names")


def _clock(date: str) -> Check:
    try:
        off_s = abs(time.time() - parsedate_to_datetime(date).timestamp())
    except ValueError:
        return Check("clock", "warn", "Slack did not say what time it is", "compare this machine's clock by hand")
    if off_s > CLOCK_OFF_S:
        return Check("clock", "fail", f"{off_s:.0f} s away from Slack's", "synchronise this machine's clock")
    return Check("clock", "ok", f"{off_s:.0f} s away from Slack's")


def _socket(settings: Settings, client: WebClient) -> Check:
    if settings.slack.mode == "http":
        state: State = "ok" if settings.slack.signing_secret else "fail"
        return Check("HTTP mode", state, "signing secret", "" if state == "ok" else "set SLACK_SIGNING_SECRET")
    if settings.slack.app_token is None:
        return Check("Socket Mode", "fail", "no app token", "set SLACK_APP_TOKEN (scope connections:write)")
    try:
        client.apps_connections_open(app_token=settings.slack.app_token.get_secret_value())
    except SlackApiError as error:
        return Check("Socket Mode", "fail", str(refused("SLACK_APP_TOKEN", error)))
    except FAILURES as error:
        says, remedy = out_of_reach(client, error)
        return Check("Socket Mode", "fail", f"not reachable {redact(says)}", remedy)
    return Check("Socket Mode", "ok", "a connection can be opened")


def _membership(client: WebClient) -> Check:
    try:
        channels = client.users_conversations(types="public_channel,private_channel", limit=200)["channels"]
    except FAILURES as error:
        return Check("channels", "fail", redact(str(error)), "check the app's scopes")
    if not channels:
        return Check("channels", "warn", "the bot is in none", "/invite it to a channel")
    return Check("channels", "ok", f"the bot is in {len(channels)}")


def _claude(settings: Settings) -> Iterator[Check]:
    if settings.answers.api_key is None:
        yield Check("Claude", "warn", "no key: answers are quotes from the documents", "set ANTHROPIC_API_KEY")
        return
    calls = Calls(settings.answers)
    try:
        for key, name in (
            ("answers.model", settings.answers.model),
            ("answers.small_model", settings.answers.small_model),
        ):
            yield _model(calls, key, name)
    finally:
        calls.close()


def _model(calls: Calls, key: str, name: str) -> Check:
    line = f"Claude, {key}"
    try:
        model = calls.model(name)
    except FootnoteError as error:
        return Check(line, "fail", redact(str(error)), f"check the key, the name in {key} and the network")
    if model.lifecycle == "active":
        return Check(line, "ok", f"{model.id}, {model.display_name}")
    state: State = "fail" if model.lifecycle == "retired" else "warn"
    when = f", retires {model.retires_at:%Y-%m-%d}" if model.retires_at else ""
    return Check(line, state, f"{model.id} is {model.lifecycle}{when}", f"name a newer model in {key}")


def _disk(settings: Settings) -> Check:
    """Where the embedded server keeps its data; with another server only copies of git repositories are kept there."""
    home, needed_gb = settings.home, FREE_GB if settings.database_url is None else COPIES_GB
    there = next(folder for folder in (home, *home.parents) if folder.exists())
    free_gb = shutil.disk_usage(there).free / 1e9
    if free_gb < needed_gb:
        state: State = "warn" if free_gb > needed_gb / 10 else "fail"
        return Check("disk", state, f"{free_gb:.1f} GB free at {there}", f"make room: {needed_gb:g} GB")
    return Check("disk", "ok", f"{free_gb:.0f} GB free at {there}")


@contextmanager
def _attempt(name: str) -> Iterator[list[Check]]:
    """Collects the failure of a group of checks instead of raising it."""
    failed: list[Check] = []
    try:
        yield failed
    except FootnoteError as error:
        failed.append(Check(name, "fail", redact(str(error))))


def worst(checks: Sequence[Check]) -> State:
    order: Callable[[Check], int] = lambda check: ("ok", "warn", "fail").index(check.state)  # noqa: E731
    return max(checks, key=order).state if checks else "ok"
