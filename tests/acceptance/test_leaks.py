"""Nobody reads through the bot what they could not open themselves.

Each source holds a document with a token of its own. Everybody asks for it everywhere, and every token is looked for
in everything that leaves the bot or is kept by it. `may_open` and `may_be_shown` say who may see what, from the
workspace itself and not by the code under test.
"""

import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from prometheus_client import CollectorRegistry, generate_latest

from bot import logs, wording
from bot.local_slack import LocalSlack, Message
from bot.monitoring import VitalsCollector
from knowledge import answer_rows
from knowledge.answer_rows import StoredAnswer
from knowledge.db import Database
from knowledge.encoders import Embedder
from knowledge.local_claude import LocalClaude, Step
from knowledge.local_claude import serve as serve_claude
from knowledge.permissions import NOTHING, Scopes
from knowledge.postgres import EmbeddedPostgres
from knowledge.reranking import Reranker
from knowledge.settings import Answers, Retrieval
from knowledge.slots import Slot
from knowledge.tables import facts, gold_cases, inbox
from tests.company import Company, running, until

WORKSPACE = Path(__file__).parents[1] / "data" / "leaks.yaml"
QUESTION = "what is the vault code in the ledger?"
TOKEN = re.compile(r"zq[a-z]+zq")
SOURCES: dict[str, str | None] = {
    "workspace": "workspace",
    "open": "channel:COPEN",
    "guests": "channel:CGUESTS",
    "partner": "channel:CPARTNER",
    "secret": "channel:CSECRET",
    "other": "channel:COTHER",
    "mixed": "channel:CMIXED",
    "allied": "channel:CALLIED",
    "group": "channel:GGROUP",
    "person": "user:UINSIDE",
}
"""Source -> who may read its document. One that nobody may read is planted beside them."""
ASKERS = ("inside", "outside", "admin", "guest", "single", "external", "gone", "robot", "trusted", "stranger")
PLACES = ("open", "guests", "partner", "offered", "secret", "mixed", "allied", "group", "dm", "dm of another")


def token(source: str) -> str:
    return f"zq{source}zq"


def may_open(slack: LocalSlack, person: str, scope: str | None) -> bool:
    """Whether a person could open documents of this scope without the bot."""
    found = slack.state.people.get(person)
    if scope is None:
        return False
    kind, _, name = scope.partition(":")
    if found is None or found.kind in ("bot", "deactivated"):
        return False
    if kind == "channel":
        channel = slack.state.channels[name]
        return person in channel.members or (channel.kind == "public" and found.kind == "member")
    if kind == "user":
        return name == person and found.kind != "external"
    return found.kind == "member"


def may_be_shown(slack: LocalSlack, person: str, place: str, scope: str | None) -> bool:
    """Whether a reply to the person in the channel may use documents of this scope: now, and for whoever joins later."""
    channel = slack.state.channels[place]
    own = scope == f"channel:{place}"
    if channel.kind == "im":
        return person in channel.members and may_open(slack, person, scope)
    if person == "UTRUSTED":
        return own
    if scope is None or not may_open(slack, person, scope):
        return False
    readers = {slack.state.people[member].kind for member in channel.members}
    outsiders = readers & {"guest", "single_channel_guest", "external"}
    if channel.shared or channel.pending_shared or outsiders:
        return own
    everybodys = scope == "workspace" or (
        scope.startswith("channel:") and slack.state.channels[scope.partition(":")[2]].kind == "public"
    )
    return everybodys or (own and channel.kind != "public")


def tokens(value: object) -> set[str]:
    return set(TOKEN.findall(json.dumps(value, default=str)))


def allowed(slack: LocalSlack, person: str, place: str) -> set[str]:
    return {token(source) for source, scope in SOURCES.items() if may_be_shown(slack, person, place, scope)}


def openable(slack: LocalSlack, person: str) -> set[str]:
    return {token(source) for source, scope in SOURCES.items() if may_open(slack, person, scope)}


def ask(company: Company, asker: str, place: str, text: str = QUESTION) -> Message:
    """Say it there, also where the workspace would not let this person write."""
    slack = company.slack
    person = "UNOBODY" if asker == "stranger" else slack.state.person(asker).id
    if place == "dm of another":
        channel = slack.dm("admin" if asker == "inside" else "inside").id
    elif place == "dm":
        channel = slack.dm(asker).id if asker != "stranger" else slack.dm("outside").id
    else:
        channel = slack.state.channel(place).id
    return slack.state.say(channel, person, f"<@UFOOTNOTE> {text}")


def used(company: Company, message: Message) -> set[str]:
    """Tokens of the passages that the answer could use; empty when it was refused."""
    receipt = company.receipt(message)
    if receipt.answer_id is None:
        return set()
    stored = company.answer(message)
    return tokens([by_chunk(company)[chunk] for chunk in stored.stages["passages"]])


def by_chunk(company: Company) -> dict[int, str]:
    with company.database.writing() as connection:
        rows = connection.exec_driver_sql("select id, text from chunks").all()
    return {row.id: row.text for row in rows}


def said_in(company: Company, message: Message) -> set[str]:
    """Tokens in everything that was sent into the question's thread, to all or to one."""
    return tokens([c.arguments for c in company.slack.calls if c.arguments.get("thread_ts") == message.root])


def plant(company: Company) -> None:
    for source in SOURCES:
        company.write(f"{source}/note.md", document(source))
    company.write("workspace/nobody.md", f"---\nscopes: []\n---\n{document('nobody')}")
    company.write("other/shredder.md", f"# Shredder\n\nThe shredder is unlocked with {token('other')}.\n")
    company.write(f"secret/{token('secret')}.pdf", "%PDF-1.7 and then nothing")
    company.sync()


def document(source: str) -> str:
    return f"# Ledger {token(source)}\n\nThe vault code in the ledger is {token(source)}.\n"


@pytest.fixture(scope="module")
def log() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    logs.configure("DEBUG", json=True, stream=stream)
    yield stream
    logs.configure()


@pytest.fixture(scope="module")
def planted(
    tmp_path_factory: pytest.TempPathFactory,
    embedded_postgres: EmbeddedPostgres,
    models: tuple[Embedder, Reranker],
    log: io.StringIO,
) -> Iterator[Company]:
    with (
        Database(embedded_postgres.url("postgres")) as administration,
        administration.scratch() as database,
        running(
            tmp_path_factory.mktemp("leaks"),
            database.url,
            models,
            workspace=WORKSPACE,
            scopes={source: str(scope) for source, scope in SOURCES.items()},
            documents={},
            retrieval=Retrieval(passages=20),
            slack={"trusted_bots": ("UTRUSTED",), "admins": ("UADMIN",)},
        ) as company,
    ):
        plant(company)
        yield company


@pytest.fixture(scope="module")
def asked(planted: Company) -> dict[tuple[str, str], Message]:
    """Everybody's question in every place, all answered."""
    cells = {(asker, place): ask(planted, asker, place) for asker in ASKERS for place in PLACES}
    for message in cells.values():
        planted.receipt(message)
    planted.settled()
    return cells


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("asker", ASKERS)
def test_an_answer_rests_on_exactly_what_its_readers_may_open(
    planted: Company, asked: dict[tuple[str, str], Message], asker: str, place: str
) -> None:
    message = asked[asker, place]
    expected = allowed(planted.slack, message.user, message.channel)
    assert used(planted, message) == expected
    assert said_in(planted, message) <= expected
    assert bool(said_in(planted, message)) == bool(expected)


def test_the_log_and_the_inbox_hold_no_document_text(
    planted: Company, asked: dict[tuple[str, str], Message], log: io.StringIO
) -> None:
    assert asked
    assert log.getvalue()
    leaks = {json.loads(line)["logger"] for line in log.getvalue().splitlines() if TOKEN.search(line)}
    assert leaks == set()
    with planted.database.plain() as connection:
        assert tokens([row.payload for row in connection.execute(sa.select(inbox.c.payload))]) == set()


@pytest.mark.parametrize("reader", [asker for asker in ASKERS if asker != "stranger"])
def test_stored_answers_are_readable_under_their_own_scopes_only(
    planted: Company, asked: dict[tuple[str, str], Message], reader: str
) -> None:
    person = planted.slack.state.person(reader).id
    scopes = planted.service.directory.decide(person, None).allowed
    stored = [a for message in asked.values() if (a := _read_as(planted, message, scopes))]
    assert tokens([(a.text, a.citations) for a in stored]) <= openable(planted.slack, person)


def _read_as(company: Company, message: Message, scopes: Scopes) -> StoredAnswer | None:
    answer_id = company.receipt(message).answer_id
    if answer_id is None:
        return None
    with company.database.reading(scopes) as connection:
        return answer_rows.load(connection, answer_id)


def test_the_private_answer_is_for_the_asker_alone(planted: Company, asked: dict[tuple[str, str], Message]) -> None:
    cells = [
        ask(planted, asker, place, "how is the shredder unlocked?") for asker in ASKERS for place in ("open", "mixed")
    ]
    planted.settled()
    threads = {message.ts for message in cells}  # the note comes after its receipt is finished
    planted.slack.wait_for(lambda slack: any(note.thread_ts in threads for note in slack.state.ephemerals))
    everything = [*asked.values(), *cells]
    notes = [(m, n) for m in everything for n in planted.slack.state.ephemerals if n.thread_ts == m.ts]
    assert {message.user for message, _ in notes if message in cells} == {"UINSIDE"}
    for message, note in notes:
        assert note.only_for == message.user
        assert tokens([note.text, note.blocks]) == set()
        planted.slack.click(message.user, message.channel, note.ts, "show_privately")
    planted.settled()
    for person in {message.user for message, _ in notes}:
        history = planted.slack.state.history(planted.slack.dm(person).id)
        told = tokens([m.text for m in history if m.from_bot])
        assert told <= openable(planted.slack, person)
        assert person != "UINSIDE" or token("other") in told
    _share_everything(planted, [message for message, _ in notes if message.user == "UINSIDE"])
    for message in everything:
        assert said_in(planted, message) <= allowed(planted.slack, message.user, message.channel)


def _share_everything(company: Company, questions: Sequence[Message]) -> None:
    """Press every button to share an answer, offered or not; what the asker alone is told of it names nothing."""
    assert questions
    before = list(company.slack.state.everything())
    ended = [company.press("share", question, question.user) for question in questions]
    company.settled()
    assert "done" in {receipt.state for receipt in ended}
    own = [m for m in company.slack.state.everything() if m not in before and m.channel.startswith("D")]
    assert len(own) >= sum(receipt.state == "done" for receipt in ended)
    assert tokens([(message.text, message.blocks) for message in own]) == set()


def test_metrics_hold_no_text(planted: Company, asked: dict[tuple[str, str], Message]) -> None:
    assert asked
    registry = CollectorRegistry()
    registry.register(VitalsCollector(planted.database))
    exposed = generate_latest(registry).decode()
    assert "footnote_answers" in exposed
    assert tokens(exposed) == set()


def test_a_digest_quotes_a_question_only_where_all_who_read_it_could_read_it(
    planted: Company, asked: dict[tuple[str, str], Message]
) -> None:
    """Whoever asks in a private channel may write down in the question what nobody else knows."""
    assert asked
    planted.receipt(ask(planted, "inside", "secret", f"which colour has the moon of {token('secret')}?"))
    posted = {}
    for place in ("open", "secret", "mixed"):
        channel = planted.slack.state.channel(place).id
        planted.service.nightly.post(channel, Slot("nightly", datetime.now(UTC), 1, place))
        posted[place] = tokens([m.text for m in planted.slack.state.history(channel) if not m.thread_ts])
    assert posted == {"open": set(), "secret": {token("secret")}, "mixed": set()}


@pytest.mark.parametrize("person", ["inside", "outside", "admin", "guest", "single"])
def test_home_and_reindex_and_labels_show_what_the_person_may_open(
    planted: Company, asked: dict[tuple[str, str], Message], person: str
) -> None:
    user = planted.slack.state.person(person).id
    before = len(planted.slack.state.ephemerals)
    planted.slack.open_home(user)
    planted.slack.command(user, planted.slack.dm(user).id, "/reindex all")
    place = "open" if person in ("inside", "outside", "admin") else "guests"
    reply = planted.slack.replies(asked["inside", place])[0]
    planted.slack.click(user, place, reply.ts, "feedback", "negative")
    planted.slack.wait_for(lambda slack: slack.home(user))
    planted.settled()
    seen = [m for m in planted.slack.state.ephemerals[before:] if m.only_for == user]
    assert tokens([planted.slack.home(user), [(m.text, m.blocks) for m in seen]]) <= openable(planted.slack, user)


def test_gold_cases_keep_the_scopes_of_their_reply(planted: Company, asked: dict[tuple[str, str], Message]) -> None:
    reply = planted.slack.replies(asked["inside", "secret"])[0]
    planted.slack.click("inside", "secret", reply.ts, "feedback", "positive")
    planted.settled()
    with planted.database.writing() as connection:
        assert connection.execute(sa.select(gold_cases.c.id)).first() is not None
    outside = planted.service.directory.decide("UOUTSIDE", None).allowed
    with planted.database.reading(outside) as connection:
        rows = [tuple(row) for row in connection.execute(sa.select(gold_cases))]
    assert tokens(rows) <= openable(planted.slack, "UOUTSIDE")


def _rewrite(company: Company) -> None:
    company.write("workspace/note.md", f"---\nscopes: [channel:COTHER]\n---\n{document('workspace')}")
    company.sync()


def _delete(company: Company) -> None:
    (company.documents / "secret" / "note.md").unlink()
    company.sync()


def _move(company: Company) -> None:
    (company.documents / "mixed" / "note.md").rename(company.documents / "allied" / "moved.md")
    company.sync()


CHANGES: dict[str, tuple[Callable[[Company], object], dict[str, str | None]]] = {
    "leave": (lambda c: c.slack.leave("inside", "mixed"), {}),
    "join": (lambda c: c.slack.join("outside", "secret"), {}),
    "a guest comes": (lambda c: c.slack.join("guest", "secret"), {}),
    "a member becomes a guest": (lambda c: c.slack.make_guest("outside"), {}),
    "somebody is deactivated": (lambda c: c.slack.deactivate("admin"), {}),
    "public becomes private": (lambda c: c.slack.convert("guests", "private"), {}),
    "private becomes public": (lambda c: c.slack.convert("other", "public"), {}),
    "archived": (lambda c: c.slack.archive("group"), {}),
    "narrowed": (_rewrite, {"workspace": None}),
    "deleted": (_delete, {"secret": None}),
    "moved": (_move, {"mixed": "channel:CALLIED"}),
    "shared": (lambda c: c.slack.share_channel("open"), {}),
}
"""Change -> how to make it, and who may read which source's document after it (None: nobody here)."""


@pytest.mark.parametrize("change", CHANGES)
def test_the_next_question_after_a_change(planted: Company, asked: dict[tuple[str, str], Message], change: str) -> None:
    """The changes add up; what may be seen is read off the workspace as it is then."""
    assert asked
    make, moved = CHANGES[change]
    make(planted)
    SOURCES.update(moved)
    planted.slack.wait_until_idle()
    cells = [
        ask(planted, asker, place)
        for asker in ("inside", "outside", "guest", "admin")
        for place in ("open", "secret", "guests", "allied", "dm")
    ]
    for message in cells:
        expected = allowed(planted.slack, message.user, message.channel)
        assert used(planted, message) == expected, (message.user, message.channel)
        assert said_in(planted, message) <= expected


def quietly(slack: LocalSlack, person: str, kind: str) -> None:
    """Somebody becomes something else, and no event tells."""
    slack.state.people[person] = replace(slack.state.people[person], kind=kind)


def kick_quietly(slack: LocalSlack, person: str, channel: str) -> None:
    there = slack.state.channels[channel]
    slack.state.channels[channel] = replace(there, members=there.members - {person})


UNHEARD: dict[str, Callable[[LocalSlack], object]] = {
    "kicked": lambda slack: kick_quietly(slack, "UINSIDE", "CALLIED"),
    "made a guest": lambda slack: quietly(slack, "UOUTSIDE", "guest"),
    "deactivated": lambda slack: quietly(slack, "UADMIN", "deactivated"),
    "back again": lambda slack: quietly(slack, "UADMIN", "member"),
}


@pytest.mark.parametrize("change", UNHEARD)
def test_a_change_of_which_no_event_told_counts_when_the_facts_are_too_old(
    planted: Company, asked: dict[tuple[str, str], Message], change: str
) -> None:
    """Time passes by making the facts older."""
    assert asked
    UNHEARD[change](planted.slack)
    age = timedelta(seconds=planted.settings.slack.facts_max_age_s + 1)
    with planted.database.plain() as connection:
        connection.execute(sa.update(facts).values(as_of=facts.c.as_of - age))
    for asker in ("inside", "outside", "admin"):
        for place in ("allied", "dm"):
            message = ask(planted, asker, place)
            assert used(planted, message) == allowed(planted.slack, message.user, message.channel), (asker, place)


def test_when_the_member_list_is_cut_short_nothing_is_read(
    planted: Company, asked: dict[tuple[str, str], Message]
) -> None:
    """A list without the bot, which hears the question because it is in the channel, is not whole."""
    assert asked
    planted.slack.leave("footnote", "open")
    planted.slack.wait_until_idle()
    place = planted.service.directory.decide("UINSIDE", "COPEN")
    assert place.held
    assert place.allowed == NOTHING
    planted.slack.join("footnote", "open")
    planted.slack.wait_until_idle()


def test_when_slack_is_silent_nothing_is_read(planted: Company, asked: dict[tuple[str, str], Message]) -> None:
    assert asked
    planted.slack.make_member("outside")
    planted.slack.wait_until_idle()
    planted.slack.fault("api_error", "users.info", times=1_000)
    try:
        message = ask(planted, "outside", "dm")
        assert planted.reply(message).text == wording.FACTS_UNKNOWN
        assert said_in(planted, message) == set()
    finally:
        planted.slack.faults.clear()


BETWEEN: dict[str, tuple[str, Callable[[Company], object]]] = {
    "the channel is shared": ("open", lambda c: c.slack.share_channel("open")),
    "a guest comes": ("open", lambda c: c.slack.join("guest", "open")),
    "the asker is deactivated": ("open", lambda c: c.slack.deactivate("inside")),
    "the asker becomes a guest": ("open", lambda c: c.slack.make_guest("inside")),
    "the document is narrowed": ("open", _rewrite),
    "the asker is kicked, and no event tells": ("secret", lambda c: kick_quietly(c.slack, "UINSIDE", "CSECRET")),
}
"""Change -> where was asked, and how to make it."""
PLANTED = {"workspace": "workspace", "open": "channel:COPEN", "secret": "channel:CSECRET"}


@pytest.mark.parametrize("change", BETWEEN)
def test_a_change_between_retrieval_and_posting_still_counts(
    tmp_path: Path, postgres_url: str, models: tuple[Embedder, Reranker], change: str
) -> None:
    place, make = BETWEEN[change]
    claude = LocalClaude(Step(delay_s=2.0))
    with (
        serve_claude(claude) as address,
        running(
            tmp_path,
            postgres_url,
            models,
            workspace=WORKSPACE,
            scopes=PLANTED,
            documents={f"{source}/note.md": document(source) for source in PLANTED},
            answers=Answers.model_validate({"api_key": "sk-local", "base_url": address}),
        ) as company,
    ):
        message = ask(company, "inside", place)
        until(lambda: claude.requests)
        make(company)
        company.receipt(message)
        moved = {"workspace": "channel:COTHER"} if change == "the document is narrowed" else {}
        now = PLANTED | moved
        expected = {token(s) for s in now if may_be_shown(company.slack, "UINSIDE", message.channel, now[s])}
        assert said_in(company, message) <= expected
