"""`footnote doctor` against a bot whose parts work, and then against one thing broken at a time."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot import doctor
from bot.check import Check
from bot.doctor import examine, worst
from bot.local_slack import Server, load_manifest, serve
from bot.settings import Settings
from knowledge import generations
from knowledge.db import Database
from knowledge.index import OUTDATED, Indexer
from knowledge.local_claude import LocalClaude
from knowledge.local_claude import serve as serve_claude
from knowledge.settings import Chunking, Source
from knowledge.tables import sources
from tests.company import WORKSPACE, make_settings
from tests.word_embedder import WordEmbedder

SECRETS = {"ANTHROPIC": "sk-ant-secret-secret", "DATABASE": "pa55word-pa55word"}


@dataclass
class Patient:
    """Settings whose every part is there; `with_` breaks one."""

    settings: Settings
    server: Server
    claude: LocalClaude

    def with_(self, **changes: Mapping[str, Any] | Sequence[Any]) -> dict[str, Check]:
        """The checks by name, with sections or values of the settings changed."""
        values = self.settings.model_dump()
        for name, change in changes.items():
            values[name] = {**values[name], **change} if isinstance(change, Mapping) else change
        return {check.name: check for check in examine(Settings.model_validate(values))}


@pytest.fixture
def patient(tmp_path: Path, postgres_url: str) -> Iterator[Patient]:
    (tmp_path / "documents" / "everyone").mkdir(parents=True)
    (tmp_path / "documents" / "everyone" / "leave.md").write_text("25 days.")
    claude = LocalClaude()
    server = serve(WORKSPACE)
    with serve_claude(claude) as address, server:
        settings = make_settings(tmp_path, server, postgres_url, {"everyone": "workspace"}, {})
        answers = {"api_key": SECRETS["ANTHROPIC"], "base_url": address}
        yield Patient(Settings.model_validate({**settings.model_dump(), "answers": answers}), server, claude)


def test_a_bot_whose_parts_are_there_is_well(patient: Patient) -> None:
    checks = patient.with_()
    assert [check for check in checks.values() if check.state != "ok"] == []
    assert worst(list(checks.values())) == "ok"
    assert "pgvector 0." in checks["database"].says
    assert checks["source everyone"].says == "1 document listed"
    assert checks["Claude, answers.model"].says.startswith("claude-sonnet-5-5")


@pytest.mark.parametrize(
    ("changes", "name", "says"),
    [
        (
            {"slack": {"bot_token": "xoxb-wrong"}},
            "Slack",
            "Slack refused SLACK_BOT_TOKEN (invalid_auth): reinstall the app and copy its xoxb- token",
        ),
        ({"slack": {"bot_token": None}}, "Slack", "not connected"),
        (
            {"slack": {"api_url": "http://127.0.0.1:9/api/"}},
            "Slack",
            "not reachable at http://127.0.0.1:9/api/: Connection refused",
        ),
        (
            {"slack": {"app_token": "xapp-wrong"}},
            "Socket Mode",
            "Slack refused SLACK_APP_TOKEN (invalid_auth): copy the app-level token that begins with xapp-",
        ),
        ({"slack": {"app_token": None}}, "Socket Mode", "no app token"),
        ({"slack": {"mode": "http", "signing_secret": None}}, "HTTP mode", "signing secret"),
        ({"models": {"embedder": "/nowhere/model"}}, "models", "/nowhere/model"),
        ({"database_url": f"postgresql://me:{SECRETS['DATABASE']}@127.0.0.1:9/x"}, "database", "cannot connect to"),
        ({"answers": {"model": "sonnet-of-next-year"}}, "Claude, answers.model", "sonnet-of-next-year"),
        ({"answers": {"base_url": "http://127.0.0.1:9"}}, "Claude, answers.model", "APIConnectionError"),
        ({"answers": {"api_key": None}}, "Claude", "no key"),
        ({"sources": ()}, "sources", "no sources are configured"),
    ],
)
def test_what_is_missing_is_named_with_its_remedy(
    patient: Patient, changes: dict[str, Any], name: str, says: str
) -> None:
    checks = patient.with_(**changes)
    assert checks[name].state in ("warn", "fail")
    assert says in checks[name].says
    assert checks[name].remedy or name in ("models", "database") or says.startswith("Slack refused")
    shown = str(checks)
    assert not any(secret in shown for secret in (*SECRETS.values(), patient.server.slack.tokens.bot))


def test_an_address_that_is_not_that_of_the_web_api_is_named_and_no_token_blamed(patient: Patient) -> None:
    page = patient.server.base_url.removesuffix("api/")
    found = patient.with_(slack={"api_url": page})["Slack"]
    assert found.says.startswith(f"{page}auth.test does not answer as Slack's Web API does (Received a response in")
    assert "SLACK_API_URL has to end in /api/" in found.says
    assert "SLACK_BOT_TOKEN" not in found.says


NO_CHANNEL = "Slack shows the bot no channel {} (channel_not_found): the id is wrong, or the channel is private"


@pytest.mark.parametrize("channel", ["C0NOPE0000", "CBOARD"])
def test_a_channel_that_the_settings_name_and_the_bot_cannot_see_is_told_once(patient: Patient, channel: str) -> None:
    """Slack does not tell a private channel that the bot is not in from one that does not exist."""
    [everyone] = patient.settings.sources
    shared = {**everyone.model_dump(), "scopes": ("workspace", f"channel:{channel}")}
    checks = patient.with_(
        sources=(shared, {**shared, "name": "other"}),
        schedule={"digest_channel": channel},
    )
    found = checks["scopes of everyone, scopes of other, schedule.digest_channel"]
    assert (found.state, found.says.startswith(NO_CHANNEL.format(channel))) == ("fail", True)
    assert "compare the id with the one at the end of the channel's About tab, or type `/invite @bot`" in found.says
    assert "ids in the settings" not in checks


def test_channels_and_people_that_are_there_are_counted(patient: Patient) -> None:
    [everyone] = patient.settings.sources
    scopes = ("workspace", "channel:CRANDOM", "channel:CLEGAL", "channel:COLD", "user:UBEN", "user:UGUS")
    checks = patient.with_(
        sources=({**everyone.model_dump(), "scopes": scopes},),
        schedule={"digest_channel": "CGENERAL"},
        slack={"admins": ("UANA", "UBEN"), "trusted_bots": ("UBOT2",)},
    )
    found = checks["ids in the settings"]
    assert (found.state, found.says) == ("ok", "Slack knows all of them; channels: 4, people and bots: 4")


@pytest.mark.parametrize(
    ("channel", "says"),
    [("CRANDOM", "the bot is not in channel CRANDOM"), ("COLD", "channel COLD is archived")],
)
def test_a_channel_that_no_digest_can_be_posted_to(patient: Patient, channel: str, says: str) -> None:
    found = patient.with_(schedule={"digest_channel": channel})["schedule.digest_channel"]
    assert (found.state, found.says) == ("fail", says)


@pytest.mark.parametrize(
    ("name", "person", "says"),
    [
        ("scopes of everyone", "UNOPE", "Slack knows nobody with the id UNOPE"),
        ("scopes of everyone", "UOLD", "UOLD is deactivated"),
        ("scopes of everyone", "UEVE", "UEVE is of another workspace"),
        ("slack.admins", "UNOPE", "Slack knows nobody with the id UNOPE"),
        ("slack.admins", "UGUS", "UGUS is a guest"),
        ("slack.trusted_bots", "BDEPLOY", "Slack knows nobody with the id BDEPLOY"),
        ("slack.trusted_bots", "UBEN", "UBEN is a member"),
    ],
)
def test_a_person_whom_the_settings_name_in_vain(patient: Patient, name: str, person: str, says: str) -> None:
    [everyone] = patient.settings.sources
    changes: dict[str, Any] = {"slack": {name.removeprefix("slack."): (person,)}}
    if name.startswith("scopes"):
        changes = {"sources": ({**everyone.model_dump(), "scopes": (f"user:{person}",)},)}
    found = patient.with_(**changes)[name]
    assert (found.says, found.state, bool(found.remedy)) == (says, "warn", True)


def test_each_missing_scope_is_named(patient: Patient) -> None:
    state = patient.server.slack.state
    state.manifest = replace(state.manifest, scopes=load_manifest().scopes - {"reactions:read", "im:history"})
    found = patient.with_()["Slack scopes"]
    assert (found.state, found.says) == ("fail", "missing: im:history, reactions:read")


@pytest.mark.parametrize(("lifecycle", "state"), [("deprecated", "warn"), ("retired", "fail")])
def test_a_model_that_goes_is_announced(patient: Patient, lifecycle: str, state: str) -> None:
    patient.claude.lifecycles["claude-haiku-5-5"] = lifecycle
    found = patient.with_()["Claude, answers.small_model"]
    assert (found.state, found.says) == (state, f"claude-haiku-5-5 is {lifecycle}, retires 2026-12-31")


def test_a_source_that_is_gone_and_one_that_is_empty(patient: Patient) -> None:
    folder = Path(patient.settings.sources[0].location)
    (folder / "leave.md").unlink()
    assert patient.with_()["source everyone"].state == "warn"
    folder.rmdir()
    assert patient.with_()["source everyone"].state == "fail"


def test_the_counts_of_a_source_add_up_to_what_is_listed(patient: Patient, database: Database) -> None:
    [everyone] = patient.settings.sources
    (Path(everyone.location) / "tea.md").write_text("---\nupdated: soon\n---\nAt four.")
    for name in ("scan.pdf", "photo.png"):
        (Path(everyone.location) / name).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    Indexer(database, WordEmbedder(), Chunking()).sync(everyone)
    (Path(everyone.location) / "new.md").write_text("Since the sync.")
    found = patient.with_()["source everyone"]
    assert found.says == (
        "5 documents listed; 2 in the index (1 only in part or with a fault), 2 left out by the last sync, 1 not synced yet"
    )
    assert (found.state, found.remedy) == ("warn", "`footnote sync everyone` names them, each with the reason")
    for name in ("scan.pdf", "photo.png"):
        (Path(everyone.location) / name).unlink()
    (Path(everyone.location) / "tea.md").write_text("At four.")
    found = patient.with_()["source everyone"]
    assert found.says.endswith("2 left out by the last sync, 1 of them not listed any more")
    Indexer(database, WordEmbedder(), Chunking()).sync(everyone.model_copy(update={"max_deleted_share": 1.0}))
    found = patient.with_()["source everyone"]
    assert (found.state, found.says) == ("ok", "3 documents listed; 3 in the index")


def test_a_page_that_nobody_may_read_is_told_as_that(patient: Patient, database: Database) -> None:
    [everyone] = patient.settings.sources
    folder = Path(everyone.location)
    (folder / "plans.md").write_text("---\nscopes: [channel:CLAB]\n---\nIn March.")
    (folder / "pay.md").write_text("---\nscopes: everybody\n---\nIn March.")
    (folder / "tea.md").write_text("---\nupdated: soon\n---\nAt four.")
    Indexer(database, WordEmbedder(), Chunking()).sync(everyone)
    found = patient.with_()["source everyone"]
    faults = "2 that nobody may read, 1 only in part or with a fault"
    assert found.says == f"4 documents listed; 4 in the index ({faults})"
    assert (found.state, found.remedy) == ("warn", "`footnote sync everyone` names them, each with the reason")
    (folder / "tea.md").unlink()
    (folder / "pay.md").unlink()
    Indexer(database, WordEmbedder(), Chunking()).sync(everyone)
    assert patient.with_()["source everyone"].says == "2 documents listed; 2 in the index (1 that nobody may read)"


def test_a_last_sync_that_refused_and_a_source_that_left_the_settings(patient: Patient, database: Database) -> None:
    error = "2 of 3 documents are gone; if they are meant to go: `footnote sync everyone --allow-deletions`"
    with database.writing() as connection:
        for name, outcome in (("everyone", {"error": error}), ("board", {}), ("legal", {"error": "it is not there"})):
            values = {"name": name, "kind": "folder", "location": "", "scopes": ["workspace"], "outcome": outcome}
            connection.execute(sa.insert(sources).values(values))
    checks = patient.with_()
    assert checks["last sync of everyone"] == Check("last sync of everyone", "warn", error)
    assert (
        checks["source board"].says == "not in the settings any more, and without documents; monitoring still counts it"
    )
    assert "`footnote sync --remove board`" in checks["source board"].remedy
    assert (checks["source everyone"].state, worst(list(checks.values()))) == ("ok", "warn")


def test_a_last_sync_that_failed_may_be_mended_by_now(patient: Patient, database: Database) -> None:
    """Its remedy holds before and after that."""
    [everyone] = patient.settings.sources
    wrong = everyone.model_copy(update={"location": everyone.location + "x"})
    Indexer(database, WordEmbedder(), Chunking()).sync(wrong)
    for settings, state in ((wrong, "fail"), (everyone, "ok")):
        checks = patient.with_(sources=(settings.model_dump(),))
        assert "is not a folder" in checks["last sync of everyone"].says
        assert checks["last sync of everyone"].remedy == "once that is mended, run `footnote sync everyone`"
        assert checks["source everyone"].state == state


@pytest.fixture
def finance(patient: Patient) -> Source:
    """A source of one document in the folder of `everyone`, for fewer people."""
    [everyone] = patient.settings.sources
    inner = Path(everyone.location) / "finance"
    inner.mkdir()
    (inner / "budget.md").write_text("A million.")
    return everyone.model_copy(update={"name": "finance", "location": str(inner), "scopes": ("channel:CFINANCE",)})


def test_a_folder_that_another_source_shows_to_more_people(
    patient: Patient, database: Database, finance: Source
) -> None:
    [everyone] = patient.settings.sources
    indexer = Indexer(database, WordEmbedder(), Chunking())
    for source in (everyone, finance):
        indexer.sync(source)
    found = patient.with_(sources=(everyone.model_dump(), finance.model_dump()))["sources everyone and finance"]
    assert found.says == "1 document is in both, and everyone shows them to people for whom finance does not"
    assert (found.state, 'exclude = ["finance/**"] in everyone' in found.remedy) == ("warn", True)


def test_a_folder_that_another_source_will_show_to_more_people(
    patient: Patient, database: Database, finance: Source
) -> None:
    """An `exclude` was taken away, and nothing synced since."""
    [everyone] = patient.settings.sources
    without = everyone.model_copy(update={"exclude": ("finance/**",)})
    for source in (without, finance):
        Indexer(database, WordEmbedder(), Chunking()).sync(source)
    name = "sources everyone and finance"
    assert name not in patient.with_(sources=(without.model_dump(), finance.model_dump()))
    found = patient.with_(sources=(everyone.model_dump(), finance.model_dump()))[name]
    says = "from the next sync on 1 document will be in both, and everyone will show them to people for whom finance does not"
    assert found == Check(name, "warn", says, 'write exclude = ["finance/**"] in everyone before that')


def test_a_source_that_was_read_by_newer_settings_asks_for_a_restart(patient: Patient, database: Database) -> None:
    everyone = patient.settings.sources[0]
    running = Indexer(database, WordEmbedder(), Chunking())
    Indexer(database, WordEmbedder(), Chunking()).sync(everyone.model_copy(update={"exclude": ("old.md",)}))
    running.sync(everyone)
    assert patient.with_()["last sync of everyone"] == Check("last sync of everyone", "warn", OUTDATED)


def test_a_schema_of_a_newer_version(patient: Patient, database: Database) -> None:
    with database.plain() as connection:
        connection.execute(sa.text("update alembic_version set version_num = '9999'"))
    assert "newer than this program's" in patient.with_()["database"].says


def test_a_model_that_did_not_stand_its_trial(patient: Patient, database: Database) -> None:
    with database.writing() as connection:
        generations.active(connection, WordEmbedder())
        generations.hold(connection, generations.next_to(connection, WordEmbedder("worse-words")))
    found = patient.with_()["next index"]
    assert (found.state, "worse-words is whole" in found.says) == ("warn", True)
    assert "models.recall_loss" in found.remedy


@pytest.mark.parametrize(("needed_gb", "state"), [(2.0, "warn"), (1000.0, "fail")])
def test_a_disk_that_fills_up(patient: Patient, monkeypatch: pytest.MonkeyPatch, needed_gb: float, state: str) -> None:
    """The disk cannot be filled for a test, so more is asked of it: twice and a thousand times what is free."""
    free_gb = shutil.disk_usage(patient.settings.home).free / 1e9
    monkeypatch.setattr(doctor, "COPIES_GB", free_gb * needed_gb)
    assert patient.with_()["disk"].state == state
