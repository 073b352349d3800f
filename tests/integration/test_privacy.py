"""What is kept about a person is handed out to them and forgotten, and nobody else's is."""

import json
from pathlib import Path

import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

from bot.cli import app
from bot.local_slack import serve
from knowledge import gold, privacy, receipts, votes, workspace
from knowledge.db import Database
from knowledge.gold import Proposal
from knowledge.privacy import FORGOTTEN, Case
from knowledge.tables import answers, inbox
from tests.company import WORKSPACE, Company
from tests.rows import add_answer, add_eval_result

EVERYONE = frozenset({"workspace"})
LEGAL = frozenset({"workspace", "channel:CLEGAL"})
TEXT_COLUMNS = """
    select table_name, column_name from information_schema.columns
    where table_schema = 'public' and data_type in ('text', 'ARRAY', 'jsonb') and table_name not like 'chunk%'
"""


@pytest.fixture
def kept(database: Database) -> Database:
    """Ana and Ben both asked, voted and proposed."""
    with database.writing() as connection:
        for person in ("UANA", "UBEN"):
            add_answer(connection, f"of {person}", EVERYONE)
            mine = sa.update(answers).where(answers.c.id == f"of {person}")
            connection.execute(mine.values(asker=person, question="how much leave?", text="25 days"))
            receipts.record(connection, f"e {person}", "answer", {"asker": person, "text": "leave?"}, person=person)
            gold.propose(connection, Proposal(f"alone {person}", EVERYONE, (), "vote", person))
            accepted = gold.propose(connection, Proposal(f"accepted {person}", EVERYONE, (), "vote", person))
            gold.accept(connection, accepted, person)
            private = gold.propose(
                connection, Proposal(f"in private {person}", EVERYONE | {f"user:{person}"}, (), "vote", person)
            )
            gold.accept(connection, private, "UADMIN")
            add_eval_result(connection, private, [*EVERYONE, f"user:{person}"])
            known = {f"person:{person}": {"name": person}, f"channels_of:{person}": ["CGENERAL"]}
            workspace.write(connection, known, workspace.moment(connection))
        shared = {"channel:DANA": {"with": "UANA"}, "members:CGENERAL": ["UANA", "UBEN"]}
        workspace.write(connection, shared, workspace.moment(connection))
        for person in ("UBEN", "UANA"):
            votes.cast(connection, "of UBEN", person, 1)
            gold.propose(connection, Proposal("both", EVERYONE, (), "vote", person))
        gold.propose(connection, Proposal("from ana", EVERYONE, (), "vote", "UBEN", answer_id="of UANA"))
    return database


def places_of(database: Database, person: str) -> set[str]:
    """The columns of all tables that hold this person's id anywhere."""
    with database.writing() as connection:
        columns = connection.execute(sa.text(TEXT_COLUMNS)).all()
        return {
            f"{table}.{column}"
            for table, column in columns
            if connection.scalar(
                sa.text(f'select count(*) from {table} where "{column}"::text like :id'), {"id": f"%{person}%"}
            )
        }


def test_a_forgotten_person_is_in_no_column_of_any_table(kept: Database) -> None:
    assert {"inbox.person", "answers.asker", "votes.person", "facts.value"} <= places_of(kept, "UANA")
    with kept.writing() as connection:
        # The words are the test's own; an accepted question stays.
        connection.execute(sa.text("update gold_cases set question = 'q', standalone = 'q' where state = 'accepted'"))
        privacy.forget(connection, "UANA")
    assert places_of(kept, "UANA") == set()


def test_it_is_told_how_much_was_forgotten(kept: Database) -> None:
    with kept.writing() as connection:
        counts = privacy.forget(connection, "UANA")
        again = privacy.forget(connection, "UANA")
    assert counts == {
        "questions_and_clicks": 1, "votes": 1, "answers": 1, "facts": 4,
        "gold_cases": 3, "gold_cases_kept": 2, "in_progress": 0,
    }  # fmt: skip
    assert not any(again.values())


def test_nobody_elses_rows_go(kept: Database) -> None:
    with kept.writing() as connection:
        privacy.forget(connection, "UANA")
        assert votes.tally(connection, "of UBEN").up == 1
        assert workspace.read(connection, ["person:UBEN"], workspace.moment(connection)).values == {}, "asked for anew"
        assert [r.event_id for r in receipts.recent(connection, "UBEN", 5)] == []  # no message key: not a question
        assert connection.scalar(sa.text("select count(*) from inbox where person = 'UBEN'")) == 1
    with kept.reading(EVERYONE) as connection:
        cases = {case.question: case for case in gold.cases(connection, EVERYONE)}
    assert set(cases) == {"alone UBEN", "accepted UBEN", "accepted UANA", "both"}
    assert cases["both"].proposed_by == ("UBEN", FORGOTTEN)
    assert cases["accepted UANA"].state == "accepted"
    assert {change.by for change in cases["accepted UANA"].history} == {FORGOTTEN}


@pytest.mark.parametrize(
    ("case", "goes"),
    [
        (Case("proposed", ("U1",), False), True),
        (Case("retired", ("U1", FORGOTTEN), False), True),
        (Case("proposed", ("U1", "U2"), False), False),
        (Case("proposed", ("U2",), True), True),
        (Case("proposed", ("U2",), False), False),
        (Case("proposed", (), False), False),
        (Case("accepted", ("U1",), True), False),
        (Case("accepted", ("U2",), False, private=True), True),
    ],
)
def test_a_case_goes_that_nobody_else_may_read_or_that_is_theirs_alone_and_not_accepted(case: Case, goes: bool) -> None:
    assert privacy.goes(case, "U1") is goes


def test_a_question_that_is_being_answered_stays_and_is_counted(kept: Database) -> None:
    with kept.writing() as connection:
        inbox_id = connection.scalar(sa.text("select id from inbox where person = 'UANA'"))
    with kept.lock(f"inbox:{inbox_id}") as held, kept.writing() as connection:
        assert held
        counts = privacy.forget(connection, "UANA")
        assert (counts["questions_and_clicks"], counts["in_progress"]) == (0, 1)


def test_a_failure_forgets_nothing(kept: Database) -> None:
    before = places_of(kept, "UANA")

    def forget_and_fail() -> None:
        with kept.writing() as connection:
            privacy.forget(connection, "UANA")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        forget_and_fail()
    assert places_of(kept, "UANA") == before


def test_an_export_has_what_one_person_wrote_and_nothing_of_others(kept: Database) -> None:
    data = privacy.export(kept, "UANA", EVERYONE)
    assert json.loads(json.dumps(data)) == data
    assert [(row["kind"], row["text"]) for row in data["received"]] == [("answer", "leave?")]
    assert [(row["question"], row["text"]) for row in data["answers"]] == [("how much leave?", "25 days")]
    assert [row["answer_id"] for row in data["votes"]] == ["of UBEN"]
    assert {row["question"] for row in data["gold_cases"]} == {"alone UANA", "accepted UANA", "both", "from ana"}
    assert data["facts"]["members:CGENERAL"] == ["UANA"]
    assert "channels_of:UBEN" not in data["facts"]


def test_an_export_has_what_was_typed_into_forms(kept: Database) -> None:
    with kept.writing() as connection:
        typed = {"action": "right_source", "value": "of UBEN", "fields": {"document": "the leave page"}}
        receipts.record(connection, "e form", "right_source", typed, person="UANA")
    assert privacy.export(kept, "UANA", EVERYONE)["received"][-1]["fields"] == {"document": "the leave page"}


def test_a_question_that_was_deleted_is_gone_with_what_it_was_edited_to(database: Database) -> None:
    with database.writing() as connection:
        asked, other = (
            receipts.record(connection, e, "answer", {"text": "leave?"}, person="UANA") for e in ("e1", "e2")
        )
        for number in (asked, other):
            edit = {"question": number, "text": f"leave of {number}?"}
            receipts.record(connection, f"edit of {number}", "revise", edit, person="UANA")
        assert asked
        receipts.erase_text(connection, asked)
        left = connection.execute(sa.select(inbox.c.payload).order_by(inbox.c.id)).scalars().all()
    assert left == [
        {},
        {"text": "leave?"},
        {"question": asked, "text": ""},
        {"question": other, "text": f"leave of {other}?"},
    ]


def test_an_export_has_no_text_that_the_person_may_not_read_any_more(kept: Database) -> None:
    with kept.writing() as connection:
        connection.execute(sa.update(answers).where(answers.c.asker == "UANA").values(scopes=sorted(LEGAL)))
        gold.propose(connection, Proposal("the roof", LEGAL, (), "vote", "UANA"))
    data = privacy.export(kept, "UANA", EVERYONE)
    [answer] = data["answers"]
    assert not {"text", "question"} & set(answer)
    assert "the roof" not in {row["question"] for row in data["gold_cases"]}
    assert "the roof" in {row["question"] for row in privacy.export(kept, "UANA", LEGAL)["gold_cases"]}


def test_the_commands_hand_out_and_forget(postgres_url: str, kept: Database, tmp_path: Path) -> None:
    config = tmp_path / "footnote.toml"
    config.write_text(f'[slack]\nfacts = "{WORKSPACE}"\n')
    (tmp_path / "empty.toml").touch()
    empty = str(tmp_path / "empty.toml")
    environment = {"FOOTNOTE_DATABASE_URL": postgres_url, "FOOTNOTE_CONFIG": str(config)}
    shell = CliRunner()
    exported = shell.invoke(app, ["export", "--user", "UANA", "--json"], env=environment, catch_exceptions=False)
    assert json.loads(exported.stdout)["answers"][0]["text"] == "25 days"
    # Nobody here knows them any more: what they may read is unknown, so no text is handed out.
    left = shell.invoke(app, ["export", "--user", "UANA", "--json", "--config", empty], env=environment)
    assert [row["id"] for row in json.loads(left.stdout)["answers"]] == ["of UANA"]
    assert "25 days" not in left.stdout
    assert "left out" in left.stderr
    forgot = shell.invoke(app, ["forget", "--user", "UANA", "--json"], env=environment, catch_exceptions=False)
    assert json.loads(forgot.stdout)["answers"] == 1
    for command in ("forget", "export"):
        told = shell.invoke(app, [command, "--user", "UANA"], env=environment, catch_exceptions=False)
        assert told.stdout == "nothing is kept about UANA\n"


def test_it_is_said_why_gold_cases_are_kept(postgres_url: str, kept: Database, tmp_path: Path) -> None:
    config = tmp_path / "footnote.toml"
    config.write_text(f'[slack]\nfacts = "{WORKSPACE}"\n')
    environment = {"FOOTNOTE_DATABASE_URL": postgres_url, "FOOTNOTE_CONFIG": str(config)}
    told = CliRunner().invoke(app, ["forget", "--user", "UANA"], env=environment, catch_exceptions=False).stdout
    why = "accepted, or not theirs alone; the question stays, without the person's id"
    assert f"     3  gold cases\n     2  gold cases kept: {why}\n" in told
    with kept.writing() as connection:
        connection.execute(sa.text("delete from gold_cases"))
    assert why not in CliRunner().invoke(app, ["forget", "--user", "UBEN"], env=environment).stdout


COMPARE = "compare it with *Copy member ID* in their profile in Slack"


@pytest.mark.parametrize(
    ("known_by", "note"),
    [
        ("workspace file", "workspace.yaml has nobody with the id UANNA; did you mean UANA?"),
        ("Slack", f"Slack knows nobody with the id UANNA; {COMPARE}"),
        ("broken file", "whether anybody has the id UANNA could not be looked up (slack.facts: "),
        ("nobody", "whether anybody has the id UANNA could not be looked up (no bot token: set SLACK_BOT_TOKEN"),
    ],
)
def test_who_mistypes_an_id_is_told_that_nobody_has_it_and_may_do_so_again(
    postgres_url: str, kept: Database, tmp_path: Path, known_by: str, note: str
) -> None:
    files = {"workspace file": WORKSPACE, "broken file": tmp_path / "none.yaml"}
    config = tmp_path / "footnote.toml"
    config.write_text(f'[slack]\nfacts = "{files[known_by]}"\n' if known_by in files else "")
    environment = {"FOOTNOTE_DATABASE_URL": postgres_url, "FOOTNOTE_CONFIG": str(config), "SLACK_BOT_TOKEN": ""}
    shell = CliRunner()
    server = serve(WORKSPACE)
    with server:
        if known_by == "Slack":
            environment |= {"SLACK_BOT_TOKEN": server.slack.tokens.bot, "SLACK_API_URL": server.base_url}
        for command in ("forget", "export", "forget"):
            told = shell.invoke(app, [command, "--user", "UANNA"], env=environment, catch_exceptions=False)
            *_, last = told.stdout.splitlines()
            assert (told.exit_code, last[: len(f"note: {note}")]) == (0, f"note: {note}")
            assert "left out" not in told.stderr
            as_json = [command, "--user", "UANNA", "--json"]
            notes = json.loads(shell.invoke(app, as_json, env=environment, catch_exceptions=False).stdout)["notes"]
            assert last == f"note: {notes[0]}"
        first = shell.invoke(app, ["forget", "--user", "UANA", "--json"], env=environment, catch_exceptions=False)
    assert json.loads(first.stdout)["notes"] == []
    assert json.loads(first.stdout)["answers"] == 1


def test_a_person_is_named_as_elsewhere_or_by_id(postgres_url: str, kept: Database, tmp_path: Path) -> None:
    config = tmp_path / "footnote.toml"
    config.write_text(f'[slack]\nfacts = "{WORKSPACE}"\n')
    environment = {"FOOTNOTE_DATABASE_URL": postgres_url, "FOOTNOTE_CONFIG": str(config)}
    shell = CliRunner()
    for command in ("export", "forget"):
        refused = shell.invoke(app, [command, "--user", "nobody"], env=environment)
        assert "nobody is called 'nobody'; the workspace file has" in str(refused.exception)
        assert "or give a person's id in Slack, such as U012ABCDEF" in str(refused.exception)
        done = shell.invoke(app, [command, "--user", "ben", "--json"], env=environment, catch_exceptions=False)
        assert json.loads(done.stdout)["person"] == "UBEN"
    config.write_text("")
    refused = shell.invoke(app, ["forget", "--user", "ben"], env=environment)
    assert "'ben' is not an id; give a person's id in Slack" in str(refused.exception)
    assert places_of(kept, "UANA")


def test_a_forgotten_person_may_ask_again(own_company: Company) -> None:
    question = own_company.ask("ben", "general", "how many days of annual leave do full-time staff get?")
    own_company.reply(question)
    with own_company.database.writing() as connection:
        assert privacy.forget(connection, "UBEN")["answers"] == 1
    again = own_company.ask("ben", "general", "how many days of annual leave do full-time staff get?")
    assert "25 days" in own_company.reply(again).text
