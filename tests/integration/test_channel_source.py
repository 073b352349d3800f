"""A Slack channel as a source: what people share and settle there, for its readers only, and never half of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from bot import channel
from bot.channel_source import ChannelSource, opener
from bot.downloads import Downloads
from bot.local_slack import LocalSlack, Message, Server, Tokens, parse_manifest, serve
from bot.local_slack.manifest import load_manifest
from bot.settings import Slack, load
from jobs.sync import run
from knowledge.db import Database
from knowledge.errors import SettingsInvalid, SourceFailed
from knowledge.index import Indexer
from knowledge.outcomes import SyncOutcome
from knowledge.permissions import Scopes
from knowledge.settings import Chunking, Source
from knowledge.tables import acls, documents
from tests.company import WORKSPACE, Company
from tests.rows import readable_texts
from tests.word_embedder import WordEmbedder

GENERAL = frozenset({"channel:CGENERAL"})
EVERYTHING = GENERAL | {"workspace", "channel:CLEGAL", "channel:CRANDOM", "user:UANA"}
LOGIN_PAGE = b"<!doctype html>\n<html><head><title>Sign in</title></head><body>Sign in to your workspace</body></html>"


def of_channel(channel_id: str, **fields: Any) -> Source:
    name = f"slack-{channel_id.lower()}"
    given = {"scopes": (f"channel:{channel_id}",), "max_deleted_share": 1.0} | fields
    return Source(name=name, kind="slack", location=channel_id, **given)


@dataclass
class Archive:
    """A workspace, an index, and #general as a source."""

    server: Server
    database: Database
    source: Source = field(default_factory=lambda: of_channel("CGENERAL"))

    @property
    def slack(self) -> LocalSlack:
        return self.server.slack

    @property
    def settings(self) -> Slack:
        return Slack(bot_token=SecretStr("xoxb-local"), api_url=self.server.base_url)

    @property
    def indexer(self) -> Indexer:
        indexer = Indexer(self.database, WordEmbedder(), Chunking(max_tokens=200, min_tokens=10))
        return indexer.opening({"slack": opener(self.settings, self.database)})

    def sync(self) -> SyncOutcome:
        return replace(self.indexer.sync(self.source), ms=0, chunks_embedded=0)

    def say(self, user: str, text: str, thread: Message | None = None, **details: Any) -> Message:
        person = self.slack.state.person(user).id
        return self.slack.state.say("CGENERAL", person, text, thread_ts=thread.ts if thread else None, **details)

    def keep(self, message: Message) -> None:
        self.slack.react("ben", "general", message.ts, "white_check_mark")

    def texts(self, scopes: Scopes = GENERAL) -> list[str]:
        return readable_texts(self.database, scopes)

    def documents(self) -> list[Mapping[str, Any]]:
        query = sa.select(documents, acls.c.scopes).join(acls, acls.c.id == documents.c.acl_id)
        with self.database.writing() as connection:
            return [dict(row) for row in connection.execute(query.order_by(documents.c.external_id)).mappings()]


@pytest.fixture
def archive(database: Database) -> Iterator[Archive]:
    server = serve(WORKSPACE)
    yield Archive(server, database)
    server.stop()


def test_a_shared_file_is_a_document_for_the_readers_of_its_channel_alone(archive: Archive) -> None:
    archive.slack.upload("ana", "general", "parking.md", b"# Parking\n\nSpace 14 is for visitors.\n")
    assert archive.sync() == SyncOutcome("slack-cgeneral", added=1)
    [document] = archive.documents()
    assert document["scopes"] == ["channel:CGENERAL"]
    assert (document["title"], document["url"]) == (
        "Parking",
        f"{archive.slack.state.address}/files/F00000001/parking.md",
    )
    assert abs(document["updated_at"] - datetime.now(UTC)).total_seconds() < 60
    assert archive.texts() == ["Space 14 is for visitors."]
    assert archive.texts(EVERYTHING - GENERAL) == []
    assert archive.sync() == SyncOutcome("slack-cgeneral", same=1)
    archive.slack.state.files.remove("F00000001")
    assert archive.sync() == SyncOutcome("slack-cgeneral", deleted=1)


def test_a_file_in_a_thread_counts_and_pictures_and_the_bots_own_files_do_not(archive: Archive) -> None:
    bot = archive.slack.state.bot.id
    archive.slack.upload("ana", "general", "team.png", b"\x89PNG....")
    archive.slack.upload("ana", "random", "elsewhere.md", b"Not here.")
    for name, user in (("notes.txt", "UANA"), ("digest.txt", bot)):
        file = archive.slack.state.files.announce(name, user, 1_700_000_000, 5)
        archive.slack.state.files.receive(file.id, b"Tea.\n")
        archive.slack.state.files.share(file.id, "", "CGENERAL", "1700000000.000000")
    assert archive.sync().added == 1
    assert [d["external_id"] for d in archive.documents()] == ["files/F00000003/notes.txt"]


@pytest.mark.parametrize(
    "scopes", [("workspace",), ("channel:CGENERAL", "workspace"), ("channel:CRANDOM",), ("user:UANA",)]
)
def test_other_readers_than_the_channels_are_refused(archive: Archive, tmp_path: Path, scopes: tuple[str, ...]) -> None:
    archive.slack.upload("ana", "general", "parking.md", b"Space 14.")
    archive.source = of_channel("CGENERAL", scopes=scopes)
    with pytest.raises(SettingsInvalid, match=r'its scopes must be \["channel:CGENERAL"\]'):
        archive.sync()
    assert archive.documents() == []
    file = tmp_path / "footnote.toml"
    quoted = ", ".join(f'"{scope}"' for scope in scopes)
    file.write_text(f'[[sources]]\nname = "g"\nkind = "slack"\nlocation = "CGENERAL"\nscopes = [{quoted}]\n')
    with pytest.raises(SettingsInvalid, match="source 'g': what is in a channel is for those who can open the channel"):
        load(file, {"FOOTNOTE_HOME": str(tmp_path)})


def test_a_channels_name_is_not_its_id() -> None:
    source = Source(name="g", kind="slack", location="#general", scopes=("channel:CGENERAL",))
    with pytest.raises(SettingsInvalid, match="`location` is '#general'; a channel is named by its id, such as C"):
        opener(Slack(), Database("postgresql+psycopg://nobody@127.0.0.1:1/none"))(source)


def test_a_shared_file_may_narrow_its_readers_and_never_widen_them(archive: Archive) -> None:
    archive.slack.upload("ana", "general", "wide.md", b"---\nscopes: [workspace, 'channel:CGENERAL']\n---\nWide.\n")
    archive.slack.upload("ana", "general", "other.md", b"---\nscopes: [workspace]\n---\nOther.\n")
    archive.sync()
    assert [d["scopes"] for d in archive.documents()] == [["channel:CGENERAL"], []]
    assert archive.texts(EVERYTHING) == ["Wide."]


def test_a_thread_with_the_reaction_is_one_document_of_what_people_wrote(archive: Archive) -> None:
    bot = archive.slack.state.bot.id
    root = archive.say("ana", f"<@{bot}> when do *invoices* go out?\nAsking for <@UBEN>")
    archive.say("footnote", "First Monday [1]", root, from_bot=True)
    archive.say("ben", "In January &amp; July on the second:\n```# cron\n  0 6 8 * 1 run```", root)
    last = archive.say("ana", "Thanks!", root)
    archive.say("ben", "Unrelated.")
    assert archive.sync() == SyncOutcome("slack-cgeneral")
    archive.keep(root)
    assert archive.sync() == SyncOutcome("slack-cgeneral", added=1)
    [document] = archive.documents()
    assert document["title"] == "when do *invoices* go out?"
    assert document["url"] == f"{archive.slack.state.address}/archives/CGENERAL/p{root.ts.replace('.', '')}"
    assert document["updated_at"].timestamp() == pytest.approx(float(last.ts), abs=0.001)
    assert document["scopes"] == ["channel:CGENERAL"]
    assert archive.texts() == [
        "**ana:** Asking for @ben\n\n"
        "**ben:** In January & July on the second:\n```\n# cron\n  0 6 8 * 1 run\n```\n\n**ana:** Thanks!"
    ]
    assert archive.sync() == SyncOutcome("slack-cgeneral", same=1)
    archive.slack.unreact("ben", "general", root.ts, "white_check_mark")
    assert archive.sync() == SyncOutcome("slack-cgeneral", deleted=1)


def test_an_edit_and_a_deletion_are_in_the_next_sync(archive: Archive) -> None:
    root = archive.say("ana", "The code for the gate is 1234.")
    reply = archive.say("ben", "And it changes in May.", root)
    archive.keep(root)
    archive.sync()
    edited = archive.slack.edit("ana", "general", root.ts, "The code is at the front desk.")
    assert archive.sync().changed == 1
    assert archive.texts() == ["**ben:** And it changes in May."]
    [document] = archive.documents()
    assert document["updated_at"].timestamp() == pytest.approx(float(edited.edited_ts or 0), abs=0.001)
    archive.slack.delete("ben", "general", reply.ts)
    archive.sync()
    assert archive.texts() == ["**ana:** The code is at the front desk."]


def test_a_reply_that_was_also_sent_to_the_channel_is_there_once_and_can_carry_the_reaction(archive: Archive) -> None:
    root = archive.say("ana", "Who has the key?")
    reply = archive.say("ben", "The front desk.", root, subtype="thread_broadcast")
    archive.keep(reply)
    assert archive.sync().added == 1
    assert archive.texts() == ["**ben:** The front desk."]


def test_the_words_of_a_thread_are_words_and_no_structure(archive: Archive) -> None:
    root = archive.say("ana", "---\nscopes: [workspace]\n---\n# Not a heading")
    archive.keep(root)
    archive.sync()
    [document] = archive.documents()
    assert (document["title"], document["scopes"]) == ("scopes: [workspace]", ["channel:CGENERAL"])
    assert archive.texts() == ["**ana:** \\---\nscopes: [workspace]\n\\---\n\\# Not a heading"]


def test_a_channel_that_cannot_be_read_does_not_stop_the_others(database: Database) -> None:
    scopes = load_manifest().scopes - {"mpim:history"}
    described = {
        "oauth_config": {"scopes": {"bot": sorted(scopes)}},
        "settings": {"event_subscriptions": {"bot_events": []}},
    }
    server = serve(WORKSPACE, manifest=parse_manifest(described))
    try:
        archive = Archive(server, database)
        for name in ("general", "guests"):
            archive.slack.upload("ana", name, "note.md", f"About {name}.".encode())
        sources = [of_channel(c) for c in ("CGENERAL", "CRANDOM", "CBOARD", "GLUNCH", "CGUESTS")]
        outcomes = {outcome.name.removeprefix("slack-"): outcome for outcome in run(archive.indexer, sources)}
        assert [outcomes[name].added for name in ("cgeneral", "cguests")] == [1, 1]
        assert "not_in_channel): type `/invite @bot` there" in outcomes["crandom"].error
        assert "channel CBOARD (channel_not_found): the id is wrong, or the channel is" in outcomes["cboard"].error
        assert "GLUNCH cannot be read without the scope mpim:history" in outcomes["glunch"].error
        archive.slack.leave(archive.slack.state.bot.id, "general")
        again = {outcome.name.removeprefix("slack-"): outcome for outcome in run(archive.indexer, sources)}
        assert again["cgeneral"].error.endswith("nothing was deleted")
        assert again["cguests"].same == 1
        assert archive.texts() == ["About general."]
    finally:
        server.stop()


def filled(archive: Archive, pages: int) -> None:
    """Messages for so many pages of history; the oldest and the newest are worth keeping."""
    messages = [archive.say("ana", f"Message {number}") for number in range((pages - 1) * channel.PAGE + 1)]
    archive.keep(messages[0])
    archive.keep(messages[-1])


def test_a_full_minute_in_the_middle_of_a_list_is_waited_for(archive: Archive) -> None:
    filled(archive, 5)
    archive.slack.fault("slow", "conversations.history", times=2, seconds=0)
    archive.slack.fault("rate_limited", "conversations.history", seconds=2)
    assert archive.sync() == SyncOutcome("slack-cgeneral", added=2)
    calls = [call for call in archive.slack.calls if call.method == "conversations.history"]
    assert [call.status for call in calls] == [200, 200, 429, 200, 200, 200]
    assert calls[2].arguments["cursor"] == calls[3].arguments["cursor"]
    assert calls[3].at - calls[2].at >= 2


@pytest.mark.parametrize(
    "method", ["conversations.history", "conversations.replies", "files.list", "chat.getPermalink"]
)
def test_a_list_that_does_not_come_to_its_end_deletes_nothing(archive: Archive, method: str) -> None:
    archive.slack.upload("ana", "general", "parking.md", b"Space 14.")
    archive.keep(archive.say("ana", "The key is at the front desk."))
    archive.sync()
    before = archive.texts()
    archive.slack.fault("rate_limited", method, times=100, seconds=0)
    outcome = archive.sync()
    assert "Slack asks for fewer calls for now; nothing was deleted" in outcome.error
    assert sum(call.method == method and call.status == 429 for call in archive.slack.calls) == 4
    archive.slack.faults.clear()
    archive.slack.fault("api_error", method, error="fatal_error")
    assert archive.sync().error == "Slack does not let channel CGENERAL be read (fatal_error); nothing was deleted"
    assert archive.texts() == before
    assert archive.sync() == SyncOutcome("slack-cgeneral", same=2)


def test_without_a_token_the_outcome_says_so_and_nothing_is_deleted(archive: Archive) -> None:
    archive.slack.upload("ana", "general", "parking.md", b"Space 14.")
    archive.sync()
    indexer = archive.indexer.opening({"slack": opener(Slack(api_url=archive.server.base_url), archive.database)})
    assert "set SLACK_BOT_TOKEN" in indexer.sync(archive.source).error
    assert archive.texts() == ["Space 14."]


@pytest.mark.parametrize("name", ["plan.pdf", "plan.docx", "plan.md"])
def test_a_login_page_instead_of_a_file_is_not_indexed(archive: Archive, name: str) -> None:
    archive.slack.upload("ana", "general", name, LOGIN_PAGE)
    [(document, reason)] = archive.sync().failed
    assert document == f"files/F00000001/{name}"
    assert "missing files:read scope?" in reason
    assert archive.texts(EVERYTHING) == []


def test_a_login_page_does_not_replace_what_was_read_before(archive: Archive) -> None:
    archive.slack.upload("ana", "general", "page.html", b"<html><body><p>Space 14.</p></body></html>")
    assert archive.sync().added == 1
    source = ChannelSource(archive.source, archive.settings, archive.database)
    [listed] = source.list({})
    archive.slack.tokens = Tokens(bot="xoxb-another")
    with pytest.raises(SourceFailed, match="missing files:read scope"):
        source.read(listed.external_id)
    source.close()
    archive.slack.tokens = Tokens()
    assert archive.sync() == SyncOutcome("slack-cgeneral", same=1)
    assert archive.texts() == ["Space 14."]


def test_a_file_over_the_limit_is_told_and_not_fetched(archive: Archive) -> None:
    archive.slack.upload("ana", "general", "big.txt", b"word " * 1000)
    archive.source = archive.source.model_copy(update={"max_file_mb": 0.004})
    assert archive.sync().failed == (
        ("files/F00000001/big.txt", "too large: more than 0.004 MB; raise max_file_mb to read it"),
    )
    archive.source = archive.source.model_copy(update={"max_file_mb": 1.0})
    assert archive.sync().failed == ()
    assert len(archive.texts()) > 0


@pytest.mark.parametrize(
    "address",
    [
        "https://files.example.test/plan.pdf",
        "https://files.slack.com.example.test/plan.pdf",
        "https://slack.com@example.test/plan.pdf",
        "http://files.slack.com/plan.pdf",
        "file:///etc/passwd",
        "",
    ],
)
def test_the_token_goes_to_slack_only(address: str) -> None:
    downloads = Downloads("xoxb-secret", "https://slack.com/api/", 1.0, 1)
    with pytest.raises(SourceFailed, match="not one of Slack's"):
        downloads.fetch({"url_private": address, "name": "plan.pdf"})
    downloads.close()


def test_an_accepted_answer_keeps_what_people_added_to_it(own_company: Company) -> None:
    company, asked = own_company, "when do customer invoices go out?"
    alone, discussed = company.ask("ana", "general", asked), company.ask("ana", "general", asked)
    answered = {question.ts: company.reply(question) for question in (alone, discussed)}
    company.slack.say("ben", "general", "In January it is the second Monday.", discussed.ts)
    company.settled()
    archive = Archive(company.server, company.database)
    embedder = company.engine.embedder
    indexer = Indexer(company.database, embedder, Chunking()).opening(
        {"slack": opener(archive.settings, company.database)}
    )
    assert indexer.sync(archive.source).added == 0
    for reply in answered.values():
        company.slack.react("ana", "general", reply.ts, "+1")
    company.settled()
    assert indexer.sync(archive.source).added == 1
    assert archive.texts() == ["**ben:** In January it is the second Monday."]
    company.slack.unreact("ana", "general", answered[discussed.ts].ts, "+1")
    company.settled()
    assert indexer.sync(archive.source).deleted == 1


def test_the_bot_answers_from_a_channel_to_its_readers_only(own_company: Company) -> None:
    company = own_company
    company.stop()
    source = of_channel("CLEGAL")
    company.settings = company.settings.model_copy(update={"sources": (*company.settings.sources, source)})
    company.slack.upload("ana", "legal", "settlement.md", b"# Settlement\n\nThe settlement ceiling is 31,000 euros.\n")
    service = company.service = company.start()
    assert [outcome.added for outcome in service.sync(["slack-clegal"])] == [1]
    inside = company.reply(company.ask("ana", "legal", "what is the settlement ceiling?"))
    assert "31,000" in inside.text
    for user, place in (("ana", "general"), ("ben", "dm"), ("ben", "general")):
        outside = company.reply(company.ask(user, place, "what is the settlement ceiling?"))
        assert "31,000" not in f"{outside.text}{outside.blocks}"
        assert "settlement.md" not in f"{outside.text}{outside.blocks}"
