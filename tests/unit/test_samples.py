"""The sample company keeps its own promises: every answer it expects is in the document it names, and readable there."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.facts import DIRECT, WorkspaceFacts
from bot.local_slack.workspace import load_workspace
from bot.settings import load as load_settings
from knowledge import samples
from knowledge.chunking import chunk
from knowledge.loaders import load
from knowledge.settings import Chunking

SETTINGS = load_settings(samples.CONFIG, {})
WORKSPACE = load_workspace(samples.WORKSPACE)
FACTS = WorkspaceFacts(WORKSPACE)
TURNS: list[dict[str, Any]] = yaml.safe_load(samples.CONVERSATION.read_text(encoding="utf-8"))["turns"]


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


GOLD = lines(samples.GOLD)
IDENTIFIERS = lines(samples.IDENTIFIERS)


def words(text: str) -> int:
    return len(text.split())


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).casefold()


class Document:
    """One sample as the product reads it: its title, and the text below each heading path."""

    def __init__(self, path: str, content: bytes) -> None:
        loaded = load(Path(path).name, content)
        self.title = loaded.title
        self.updated_at = loaded.updated_at
        chunks = chunk(loaded.markdown, words, Chunking(), title=loaded.title)
        self.sections = [(each.heading_path, flat(each.prefix + each.text)) for each in chunks]

    def holds(self, text: str) -> bool:
        return any(flat(text) in flat(" › ".join(path)) or flat(text) in section for path, section in self.sections)

    def holds_below(self, heading_path: tuple[str, ...], text: str) -> bool:
        return any(path == heading_path and flat(text) in section for path, section in self.sections)


@pytest.fixture(scope="module")
def documents() -> dict[str, Document]:
    files = [file for file in sorted(samples.DOCUMENTS.rglob("*")) if file.is_file()]
    named = {file.relative_to(samples.DOCUMENTS).as_posix(): file for file in files}
    return {path: Document(path, file.read_bytes()) for path, file in named.items()}


def scopes_of(path: str) -> frozenset[str]:
    return next(frozenset(source.scopes) for source in SETTINGS.sources if source.name == path.split("/", 1)[0])


def path_of(expected: dict[str, Any]) -> str:
    return f"{expected['source']}/{expected['external_id']}"


def after(turn: dict[str, Any], documents: dict[str, Document]) -> dict[str, Document]:
    """The documents as they are when `turn` is asked: every change up to it is made."""
    now = dict(documents)
    for earlier in TURNS[: turn["turn"]]:
        for action in earlier.get("before", []):
            if "delete" in action:
                del now[action["delete"]["document"]]
            else:
                path, old, new = (action["change"][key] for key in ("document", "old", "new"))
                text = (samples.DOCUMENTS / path).read_text(encoding="utf-8")
                assert text.count(old) == 1
                now[path] = Document(path, text.replace(old, new).encode())
    return now


def titled(title: str, documents: dict[str, Document]) -> str:
    return next(path for path, document in documents.items() if document.title == title)


def test_every_folder_of_documents_is_a_source_and_every_source_is_a_folder() -> None:
    assert {source.location for source in SETTINGS.sources} == {
        str(folder.resolve()) for folder in samples.DOCUMENTS.iterdir()
    }


def test_there_are_documents_of_every_kind_with_titles_of_their_own_and_dates(documents: dict[str, Document]) -> None:
    assert 25 <= len(documents) <= 40
    assert {Path(path).suffix for path in documents} == {".md", ".pdf", ".docx", ".xlsx"}
    assert len({document.title for document in documents.values()}) == len(documents)
    for document in documents.values():
        assert document.updated_at
        assert datetime(2025, 1, 1, tzinfo=UTC) < document.updated_at < datetime(2026, 4, 1, tzinfo=UTC)


def test_the_workspace_has_every_kind_of_person_and_channel() -> None:
    assert len(WORKSPACE.people) == 12
    assert len(WORKSPACE.channels) == 8
    assert {person.kind for person in WORKSPACE.people} == {
        "member", "guest", "single_channel_guest", "external", "bot", "deactivated",
    }  # fmt: skip
    assert {channel.kind for channel in WORKSPACE.channels} == {"public", "private", "group_dm"}
    assert sum(person.admin for person in WORKSPACE.people) == 1


def test_scopes_and_the_digest_name_channels_that_exist() -> None:
    channels = {channel.id for channel in WORKSPACE.channels}
    named = {scope.removeprefix("channel:") for s in SETTINGS.sources for scope in s.scopes if scope != "workspace"}
    assert named < channels
    assert SETTINGS.schedule.digest_channel in channels
    assert set(SETTINGS.slack.admins) == {person.id for person in WORKSPACE.people if person.admin}


@pytest.mark.parametrize("case", [case for case in GOLD if case["expected"]], ids=lambda case: case["id"])
def test_a_gold_quote_is_below_its_heading_in_its_document_alone(
    case: dict[str, Any], documents: dict[str, Document]
) -> None:
    for expected in case["expected"]:
        assert documents[path_of(expected)].holds_below(tuple(expected["heading_path"]), expected["quote"])
        assert [path for path, each in documents.items() if each.holds(expected["quote"])] == [path_of(expected)]
        assert scopes_of(path_of(expected)) & set(case["scopes"])


def test_the_gold_set_has_thirty_questions_and_at_least_five_without_an_answer() -> None:
    assert len({case["id"] for case in GOLD}) == len(GOLD) == 30
    assert sum(not case["expected"] for case in GOLD) >= 5


@pytest.mark.parametrize("case", IDENTIFIERS, ids=lambda case: case["id"])
def test_an_identifier_occurs_in_the_expected_documents_alone(
    case: dict[str, Any], documents: dict[str, Document]
) -> None:
    expected = {path_of(each) for each in case["expected"]}
    assert case["identifier"] in case["question"]
    assert {path for path, document in documents.items() if document.holds(case["identifier"])} == expected
    assert all(scopes_of(path) & set(case["scopes"]) for path in expected)


def test_there_are_sixty_identifier_questions() -> None:
    assert len({case["id"] for case in IDENTIFIERS}) == len(IDENTIFIERS) == 60


def test_no_change_of_the_conversation_touches_what_the_gold_set_expects(documents: dict[str, Document]) -> None:
    at_the_end = after(TURNS[-1], documents)
    for case in GOLD:
        assert all(at_the_end[path_of(each)].holds(each["quote"]) for each in case["expected"])


def test_turns_are_numbered_and_threads_lead_back_to_the_same_place() -> None:
    assert [turn["turn"] for turn in TURNS] == list(range(1, len(TURNS) + 1))
    for turn in TURNS:
        if "thread" in turn:
            root = TURNS[turn["thread"] - 1]
            assert (root["place"], root["turn"] < turn["turn"]) == (turn["place"], True)


def turns(*kinds: str) -> list[Any]:
    return [pytest.param(turn, id=str(turn["turn"])) for turn in TURNS if turn["expect"]["kind"] in kinds]


@pytest.mark.parametrize("turn", turns("answered", "abstained", "refused"))
def test_who_asks_can_write_there(turn: dict[str, Any]) -> None:
    person = next(person for person in WORKSPACE.people if person.name == turn["as"])
    assert person.kind not in ("bot", "deactivated")
    if turn["place"] != DIRECT:
        channel = next(channel for channel in WORKSPACE.channels if channel.name == turn["place"])
        assert {person.id, WORKSPACE.bot.id} <= channel.members


@pytest.mark.parametrize("turn", turns("answered"))
def test_an_expected_answer_is_in_the_documents_it_cites_and_may_be_read_there(
    turn: dict[str, Any], documents: dict[str, Document]
) -> None:
    now = after(turn, documents)
    allowed = FACTS.decide(turn["as"], turn["place"]).allowed
    cited = [titled(title, now) for title in turn["expect"]["must_cite"]]
    assert all(scopes_of(path) & allowed for path in cited)
    for text in turn["expect"]["must_contain"]:
        assert any(now[path].holds(text) for path in cited)


@pytest.mark.parametrize("turn", turns("abstained", "refused"))
def test_what_must_not_be_said_is_out_of_reach_or_gone(turn: dict[str, Any], documents: dict[str, Document]) -> None:
    now = after(turn, documents)
    allowed = FACTS.decide(turn["as"], turn["place"]).allowed
    within_reach = [document for path, document in now.items() if scopes_of(path) & allowed]
    assert {document.title for document in within_reach}.isdisjoint(turn["expect"].get("must_not_cite", ()))
    for text in turn["expect"].get("must_not_contain", ()):
        assert not any(flat(text) in flat(document.title) or document.holds(text) for document in within_reach)
