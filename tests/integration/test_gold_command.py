"""`footnote gold` from the shell."""

import json
import shlex
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from bot.cli import app
from bot.commands import console
from bot.errors import UsageWrong
from bot.settings import Settings, load
from knowledge import answer_rows, catalog, gold, gold_file
from knowledge.answer_rows import save
from knowledge.answers import Answer, Citation, Outcome, Question, Strength
from knowledge.db import Database
from knowledge.errors import DocumentUnknown, GoldCaseUnlabelled, GoldFileInvalid
from knowledge.gold import Proposal
from knowledge.labels import Label
from knowledge.passages import Found
from knowledge.permissions import Scopes
from tests.rows import add_chunk

WORKSPACE = Path(__file__).parents[1] / "data" / "workspace.yaml"
ALL = frozenset({"workspace"})

Run = Callable[..., Result]


@pytest.fixture
def handbook(database: Database) -> Database:
    """A document for everyone, `document-1`, and one for #legal, `document-2`."""
    with database.writing() as connection:
        add_chunk(connection, 1, ALL)
        add_chunk(connection, 2, {"channel:CLEGAL"})
    return database


@pytest.fixture
def run(postgres_url: str, tmp_path: Path) -> Run:
    """Runs `footnote gold` with the people and channels of the workspace file."""
    config = tmp_path / "footnote.toml"
    config.write_text(f'[slack]\nfacts = "{WORKSPACE}"\n')
    environment = {"FOOTNOTE_DATABASE_URL": postgres_url, "FOOTNOTE_CONFIG": str(config)}
    return lambda *words: CliRunner().invoke(app, ["gold", *words], env=environment, catch_exceptions=False)


def ask(
    database: Database,
    name: str,
    question: str,
    outcome: Outcome,
    scopes: Scopes = ALL,
    text: str = "",
    cited: Collection[int] = (),
    strength: float = 1.0,
) -> None:
    """`cited`: documents of `handbook` by number; `strength`: of the evidence for quotes, an answer from .8."""
    citations = tuple(Citation(n, n, n, f"document-{n}", "", (), f"text {n}", None, ALL) for n in cited)
    evidence = Strength(strength, needed=0.5, sure=0.8)
    found = Found((), {}, "none", 1, {})
    answer = Answer(name, question, question, text, outcome, citations, (), found, strength=evidence)
    with database.writing() as connection:
        save(connection, answer, Question(question, "UBEN", "CGENERAL"), scopes)


def test_suggested_questions_are_listed_labelled_accepted_and_exported(handbook: Database, run: Run) -> None:
    assert run("list", "--as", "ben").stdout == (
        "no case that ben may read; votes in Slack, `footnote gold suggest` and `footnote gold import` propose some\n"
    )
    assert run("list", "--as", "ben", "--state", "accepted").stdout == "no accepted case that ben may read\n"
    assert run("export", "--as", "ben").stdout == ""
    ask(handbook, "a1", "How many days of leave are there?", "answered")
    ask(handbook, "a2", "Who repairs the coffee machine?", "abstained")
    proposed = json.loads(run("suggest", "--json").stdout)["proposed"]
    listed = json.loads(run("list", "--as", "ben", "--state", "proposed", "--json").stdout)["cases"]
    assert sorted(case["id"] for case in listed) == sorted(proposed)
    expected = {case["question"]: case["expected"] for case in listed}
    assert expected == {"How many days of leave are there?": None, "Who repairs the coffee machine?": None}

    leave, coffee = (next(c["id"] for c in listed if word in c["question"]) for word in ("leave", "coffee"))
    assert "accepted" in run("accept", leave, "--as", "ben", "--document", "handbook/document-1").stdout
    assert "retired" in run("retire", coffee, "--as", "ben", "--reason", "not for us").stdout
    assert "handbook/document-1" in run("show", leave, "--as", "ben").stdout
    exported = [json.loads(line) for line in run("export", "--as", "ben").stdout.splitlines()]
    assert {case["id"]: case["state"] for case in exported} == {leave: "accepted", coffee: "retired"}
    assert {change["by"] for case in exported for change in case["history"]} == {"footnote", "UBEN"}
    assert "0 questions proposed" in run("suggest").stdout
    with handbook.writing() as connection:
        assert gold.counts(connection) == {"accepted": 1, "retired": 1}


REPLY = "Staff get 25 days. [1]\n\n" + "They are asked for in the portal. [1]\n" * 9


def test_the_list_has_a_line_of_what_the_bot_replied_and_the_case_the_whole_of_it(handbook: Database, run: Run) -> None:
    ask(handbook, "a1", "How many days?", "quoted", text=REPLY, cited=[1])
    ask(handbook, "a2", "Which colour?", "quoted", text="Blue.", cited=[1], strength=0.6)
    ask(handbook, "a3", "Who repairs it?", "abstained", text="The documents do not say who.")
    run("suggest")
    listed = run("list", "--as", "ben").stdout
    [line] = [line for line in listed.splitlines() if "25 days" in line]
    assert line.startswith("    the bot replied: “Staff get 25 days. [1] They are asked for in the portal. [1] They")
    assert line.endswith("…”")
    assert len(line) < 200
    assert "    the bot replied, not sure that it answers: “Blue.”\n" in listed
    assert "    the bot replied: no answer\n" in listed
    assert "do not say who" not in listed

    ids = {words[-1]: words[0] for words in map(str.split, listed.splitlines()) if "proposed" in words}
    shown = run("show", ids["days?"], "--as", "ben").stdout
    assert "\n  the bot replied:\n  > Staff get 25 days. [1]\n  >\n" in shown
    assert shown.count("  > They are asked for in the portal. [1]\n") == 9
    assert "\n  the bot replied: no answer\n" in run("show", ids["it?"], "--as", "ben").stdout
    assert "25 days" not in run("export", "--as", "ben").stdout


def test_a_follow_up_stands_with_the_question_that_it_stands_for(handbook: Database, run: Run) -> None:
    with handbook.writing() as connection:
        proposals = [
            Proposal("and 503?", ALL, (), "label", "UBEN", standalone="What does error 503 mean?"),
            Proposal("What does error 502 mean?", ALL, (), "label", "UBEN"),
        ]
        leaning, alone = (gold.propose(connection, proposal) for proposal in proposals)
    listed = run("list", "--as", "ben").stdout
    assert "and 503?\n    in full: What does error 503 mean?\n    not in the documents\n" in listed
    assert listed.count("in full") == 1
    assert "\nand 503?\n  in full: What does error 503 mean?\n" in run("show", leaning, "--as", "ben").stdout
    assert "in full" not in run("show", alone, "--as", "ben").stdout


def test_what_only_the_bot_has_found_is_said_to_be_unchecked_until_somebody_accepts_it(
    handbook: Database, run: Run
) -> None:
    ask(handbook, "a1", "How many days?", "quoted", text="25.", cited=[1])
    ask(handbook, "a2", "Who repairs it?", "abstained")
    ask(handbook, "a3", "Which colour?", "quoted", text="Blue.", cited=[1], strength=0.6)
    ids = json.loads(run("suggest", "--json").stdout)["proposed"]
    with handbook.writing() as connection:
        gold.propose(connection, Proposal("Said by a person?", ALL, (), "label", "UANA"))
    said = "this is only what the bot found, and nobody has checked it\n"
    listed = run("list", "--as", "ben").stdout
    assert listed.count(f"    {said}") == 1, (
        "of the doubtful answer nothing was taken, nor of the one that there was not"
    )
    assert listed.count("    nobody has said where it is answered\n") == 2
    assert listed.count("    not in the documents\n") == 1, "as the person said"
    assert sum(f"  {said}" in run("show", case, "--as", "ben").stdout for case in ids) == 1
    for case in ids:
        run("accept", case, "--as", "ben", "--nowhere")
    assert said not in run("list", "--as", "ben").stdout


def test_a_reply_is_shown_to_nobody_who_could_not_open_it_now(handbook: Database, run: Run) -> None:
    everyone, legal = ALL, ALL | {"channel:CLEGAL"}
    ask(handbook, "a1", "What of two?", "quoted", everyone, "Two is secret.", cited=[1, 2])
    ask(handbook, "a2", "What of one?", "quoted", legal, "One is public.", cited=[1])
    with handbook.writing() as connection:
        for scopes, name in ((everyone, "a1"), (everyone, "a2")):
            gold.propose(connection, Proposal(f"{name}?", scopes, (), "import", "UANA", answer_id=name))
    assert "replied" not in run("list", "--as", "ben").stdout, "document-2 is for #legal, and so is the second reply"
    assert run("list", "--as", "ana").stdout.count("the bot replied: “") == 2
    with handbook.writing() as connection:
        answer_rows.delete(connection, ["a2"])
        catalog.withdraw_answer(connection, "a1")
    assert "replied" not in run("list", "--as", "ana").stdout


def test_suggesting_for_somebody_leaves_out_what_they_may_not_read_and_tells_how_to_see_the_rest(
    database: Database, run: Run, tmp_path: Path
) -> None:
    ask(database, "a1", "How many days of leave are there?", "answered")
    ask(database, "a2", "Who repairs the roof?", "answered", ALL | {"channel:CLEGAL"})
    first, following = run("suggest", "--as", "ben").stdout.splitlines()
    assert first == "1 question proposed; nothing is measured before somebody accepts it"
    assert following == f"to see it: footnote gold list --as ben --state proposed --config {tmp_path}/footnote.toml"
    _, *typed = shlex.split(following.partition("footnote ")[2])
    assert "How many days of leave are there?" in run(*typed).stdout
    assert run("suggest", "--as", "ben").stdout == (
        "0 questions proposed: none that ben may read was asked that is not a case already\n"
    )
    assert "to see it: footnote gold list --as PERSON --state proposed" in run("suggest").stdout


def test_small_talk_is_not_suggested(database: Database, run: Run) -> None:
    for text in ("hello", "Good morning!", "what can you do?", "Thanks a lot!", ":+1:", "and who is it?", "???"):
        ask(database, text, text, "abstained")
    ask(database, "asked", "Thanks, and who repairs the coffee machine?", "abstained")
    run("suggest", "--unanswered", "9")
    with database.reading(ALL) as connection:
        assert [case.answer_id for case in gold.cases(connection, ALL)] == ["asked"]


def test_in_the_shell_nobody_has_to_be_an_administrator_and_the_readme_says_so(handbook: Database, run: Run) -> None:
    people = yaml.safe_load(WORKSPACE.read_text(encoding="utf-8"))["people"]
    assert not next(person for person in people if person["name"] == "ben").get("admin")
    with handbook.writing() as connection:
        case = gold.propose(connection, Proposal("How many days?", ALL, (), "import", "UANA"))
    assert "accepted" in run("accept", case, "--as", "ben").stdout
    readme = " ".join((Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8").split())
    assert "Whoever has the settings file and the database is trusted in the shell" in readme


def test_a_document_that_is_not_there_is_named_with_those_it_may_be_and_nothing_is_accepted(
    handbook: Database, run: Run
) -> None:
    with handbook.writing() as connection:
        case = gold.propose(connection, Proposal("How many days?", ALL, None, "import", "UANA"))
    for wrong in ("handbook/dokument-1", "handbook/document-2"):
        with pytest.raises(DocumentUnknown) as refused:
            run("accept", case, "--as", "ben", "--document", wrong)
        assert wrong in str(refused.value)
        assert "did you mean document-1 (handbook/document-1)?" in str(refused.value)
    with handbook.writing() as connection:
        assert gold.counts(connection) == {"proposed": 1}


def test_a_case_without_a_place_is_refused_with_the_options_that_name_one(handbook: Database, run: Run) -> None:
    with handbook.writing() as connection:
        case = gold.propose(connection, Proposal("How many days?", ALL, None, "import", "UANA"))
    with pytest.raises(GoldCaseUnlabelled) as refused:
        run("accept", case, "--as", "ben")
    assert str(refused.value) == (
        f"nobody has said where {case} is answered; accept it with --document SOURCE/PATH, or with --nowhere if it is not in "
        "the documents"
    )
    assert "accepted" in run("accept", case, "--as", "ben", "--nowhere").stdout


def test_a_case_is_retired_once(handbook: Database, run: Run) -> None:
    with handbook.writing() as connection:
        case = gold.propose(connection, Proposal("How many days?", ALL, (), "import", "UANA"))
    already = f"{case} is retired already; nothing was changed\n"
    assert already not in run("retire", case, "--as", "ben", "--reason", "old").stdout
    again = run("retire", case, "--as", "ana").stdout
    assert again.startswith(already)
    assert again.count(": retired") == 1


@pytest.mark.parametrize(
    "said", [("--nowhere", "--document", "handbook/document-1"), ("--document", "handbook/document-1", "--nowhere")]
)
def test_a_case_is_not_said_to_be_in_a_document_and_nowhere(
    handbook: Database, run: Run, said: tuple[str, ...]
) -> None:
    with handbook.writing() as connection:
        case = gold.propose(connection, Proposal("How many days?", ALL, None, "import", "UANA"))
    with pytest.raises(UsageWrong, match="--nowhere and --document"):
        run("accept", case, "--as", "ben", *said)
    with handbook.writing() as connection:
        assert gold.counts(connection) == {"proposed": 1}


def test_an_import_and_the_word_on_a_case_name_the_places_that_cannot_be_found(
    handbook: Database, run: Run, tmp_path: Path
) -> None:
    places = [{"source": "handbook", "external_id": f"document-{number}"} for number in (1, 2, 3)]
    file = tmp_path / "cases.jsonl"
    file.write_text(json.dumps({**GOOD, "expected": places}) + "\n")
    missing = [f"leave: its scopes find no such place in handbook/document-{number} today" for number in (2, 3)]
    said = run("import", str(file)).stdout
    assert said.splitlines()[1:] == missing
    said = run("accept", "leave", "--as", "ben").stdout
    assert said.startswith("leave  accepted")
    assert said.splitlines()[-2:] == missing


def test_an_import_says_how_many_are_accepted_and_takes_no_accepted_case_out_of_the_gold_set(
    handbook: Database, run: Run, tmp_path: Path
) -> None:
    def said(*lines: dict[str, object], accepted: bool = False) -> list[str]:
        file = tmp_path / "cases.jsonl"
        file.write_text("\n".join(json.dumps({**GOOD, **line}) for line in lines))
        return run("import", str(file), *(["--accepted"] if accepted else [])).stdout.splitlines()

    take = f"footnote gold accept CASE --as PERSON --config {tmp_path}/footnote.toml"
    remedy = f"one that is proposed is measured once it is accepted: {take}"
    one: dict[str, object] = {"id": "one", "question": "Which?"}
    two: dict[str, object] = {"id": "two", "question": "Whose?"}
    new: dict[str, object] = {"id": "new", "question": "When?"}
    assert said(one, two, accepted=True) == ["2 cases: 2 accepted"]
    assert said(one, {**two, "question": "Whose is it?"}, new) == [
        f"3 cases: 2 accepted, 1 proposed; {remedy}",
        "2 of them were there before: 1 replaced, 1 left as it is",
    ]
    assert said(new, accepted=True) == [
        "1 case: 1 accepted",
        "it was there before: replaced",
        "proposed before, accepted now: new",
    ]
    assert said({**one, "state": "proposed"}, {**two, "state": "retired"}) == [
        f"2 cases: 1 proposed, 1 retired; {remedy}",
        "they were there before: 2 replaced",
        "accepted before, proposed now: one",
        "accepted before, retired now: two",
    ]
    assert said(two) == ["1 case: 1 retired", "it was there before: left as it is"]


def test_accepted_cases_that_contradict_each_other_are_told_with_the_remedy_and_kept(
    handbook: Database, run: Run, tmp_path: Path
) -> None:
    file, place = tmp_path / "cases.jsonl", {"source": "handbook", "external_id": "document-1"}
    file.write_text("\n".join(json.dumps({**GOOD, "id": i, "expected": e}) for i, e in (("one", []), ("two", [place]))))
    config = f"--config {tmp_path}/footnote.toml"
    there, nowhere = "is in the documents", "is not in the documents"

    assert "asks the same" not in run("import", str(file)).stdout, "they are only proposed"
    assert "asks the same" not in run("accept", "one", "--as", "ben").stdout
    assert run("accept", "two", "--as", "ben").stdout.splitlines()[-1] == (
        f"two: one is accepted too and asks the same, but says that it {nowhere}; if that is wrong: "
        f"footnote gold retire one --as ben {config}"
    )
    assert run("import", str(file), "--accepted").stdout.splitlines()[2:] == [
        f"one: two is accepted too and asks the same, but says that it {there}; if that is wrong: "
        f"footnote gold retire two --as PERSON {config}"
    ]
    with handbook.writing() as connection:
        assert gold.counts(connection) == {"accepted": 2}
    run("retire", "one", "--as", "ben")
    assert "asks the same" not in run("accept", "two", "--as", "ben").stdout


def test_a_word_on_a_case_reads_the_settings_once(
    handbook: Database, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []

    def counted(file: Path | None, environment: Mapping[str, str]) -> Settings:
        read.append(file)
        return load(file, environment)

    monkeypatch.setattr(console, "load", counted)
    with handbook.writing() as connection:
        case = gold.propose(connection, Proposal("Where?", ALL, (), "import", "UANA"))
    assert "accepted" in run("accept", case, "--as", "ben").stdout
    assert len(read) == 1


def test_the_list_says_what_each_case_expects_as_far_as_the_reader_can_open_it(handbook: Database, run: Run) -> None:
    for question, places in (("Both?", (1, 2)), ("None?", ()), ("Unsaid?", None)):
        expected = places and tuple(Label("handbook", f"document-{number}") for number in places)
        with handbook.writing() as connection:
            gold.propose(connection, Proposal(question, ALL, expected, "import", "UANA"))
    listed = run("list", "--as", "ben").stdout
    assert [line.split("  ")[-1] for line in listed.splitlines()] == [
        "Both?",
        "handbook/document-1",
        "1 place that cannot be opened today",
        "None?",
        "not in the documents",
        "Unsaid?",
        "nobody has said where it is answered",
    ]


def test_an_import_with_an_unknown_source_is_refused_whole_and_changes_no_accepted_case(
    handbook: Database, postgres_url: str, tmp_path: Path
) -> None:
    file, config = tmp_path / "cases.jsonl", tmp_path / "footnote.toml"
    config.write_text('[[sources]]\nname = "board"\nlocation = "board"\nscopes = ["workspace"]\n')
    environment = {"FOOTNOTE_DATABASE_URL": postgres_url, "FOOTNOTE_CONFIG": str(config)}

    def load_lines(*lines: dict[str, object], accepted: bool = False) -> list[str]:
        file.write_text("\n\n".join(json.dumps({**GOOD, **line}) for line in lines))
        words = ["gold", "import", str(file), *(["--accepted"] if accepted else [])]
        return CliRunner().invoke(app, words, env=environment, catch_exceptions=False).stdout.splitlines()

    def places(*sources: str) -> list[dict[str, str]]:
        return [{"source": source, "external_id": "document-1"} for source in sources]

    known = places("board", "handbook")
    missing = "leave: its scopes find no such place in board/document-1 today"
    assert load_lines({"expected": known}, accepted=True) == ["1 case: 1 accepted", missing]

    wrong: dict[str, object] = {"expected": places("handbok", "wiki", "handbok")}
    with pytest.raises(GoldFileInvalid) as refused:
        load_lines({"id": "other", "expected": known}, wrong)
    assert str(refused.value).splitlines() == [
        f"{file}: nothing was imported",
        "  line 3: case 'leave': no source is called 'handbok'; did you mean handbook?",
        "  line 3: case 'leave': no source is called 'wiki'; there are board, handbook",
        "  correct the name, or put that source into the settings and sync it first",
    ]
    with handbook.reading(ALL) as connection:
        [case] = gold.cases(connection, ALL)
    assert (case.id, case.state) == ("leave", "accepted")
    assert [label.source for label in case.expected or ()] == ["board", "handbook"]

    assert load_lines({**wrong, "id": "old", "state": "retired"})[0] == "1 case: 1 retired", "its source may be gone"


GOOD = {"id": "leave", "question": "How long?", "scopes": ["workspace"], "expected": []}
PLACE = {"source": "handbook", "external_id": "leave.md"}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("not json", "line 2: is not JSON (expected ident at line 1 column 2)"),
        ('"text"', "line 2: is 'text'; it should be an object"),
        ({"question": " "}, "line 2: `question` is ' '; it should have some text"),
        ({"question": "a\0b"}, "line 2: `question` is 'a\\x00b'; text has no zero characters"),
        ({"scopes": "workspace"}, "line 2: `scopes` is 'workspace'; it should be"),
        ({"scopes": ["all"]}, "line 2: `scopes[0]` is 'all'; a scope is `workspace`, `channel:<id>` or `user:<id>`"),
        ({"scopes": []}, "line 2: `scopes` is empty; it should have at least 1 item\n"),
        ({"expected": "handbook/leave.md"}, "line 2: `expected` is 'handbook/leave.md'; it should be"),
        ({"expected": [{"source": "handbook"}]}, "line 2: `expected[0].external_id` is missing"),
        (
            {"expected": [{**PLACE, "heading": []}]},
            "`expected[0].heading` is not a known key; did you mean `heading_path`?",
        ),
        ({"state": "open"}, "line 2: `state` is 'open'; it should be 'proposed', 'accepted' or 'retired'"),
        ({"state": "accepted", "expected": None}, "line 2: `expected` is null, which cannot be accepted"),
        ({"history": [{"at": "yesterday", "by": "ana", "what": "said"}]}, "line 2: `history[0].at` is 'yesterday'; it"),
        ({"id": "leave"}, "line 2: `id` is 'leave' as on a line before"),
        ({"id": "sick leave"}, "line 2: `id` is 'sick leave'; an id is one word of at most 100 characters"),
        ({"id": "x" * 101}, "line 2: `id` is 'xxxx"),
    ],
)
def test_a_line_that_is_no_case_is_named_and_nothing_is_imported(
    tmp_path: Path, line: str | dict[str, object], says: str
) -> None:
    file = tmp_path / "cases.jsonl"
    second = line if isinstance(line, str) else json.dumps({**GOOD, "id": "second", **line})
    file.write_text(f"{json.dumps(GOOD)}\n{second}\n")
    with pytest.raises(GoldFileInvalid) as refused:
        CliRunner().invoke(app, ["gold", "import", str(file)], catch_exceptions=False)
    assert says in str(refused.value)
    assert str(refused.value).startswith(f"{file}: nothing was imported")
    assert str(refused.value).count("\n  line ") == 1


def test_a_file_that_is_not_there_or_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(GoldFileInvalid, match="cannot be read: No such file"):
        CliRunner().invoke(app, ["gold", "import", str(tmp_path / "absent")], catch_exceptions=False)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\0")
    with pytest.raises(GoldFileInvalid, match="is not UTF-8"):
        CliRunner().invoke(app, ["gold", "import", str(tmp_path / "binary")], catch_exceptions=False)


def test_the_help_of_the_import_shows_a_line() -> None:
    assert '"external_id"' in CliRunner().invoke(app, ["gold", "import", "--help"]).stdout


def test_the_line_that_the_readme_shows_can_be_imported(tmp_path: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("footnote gold import")[2].partition("```json\n")[2].partition("```")[0]
    file = tmp_path / "shown.jsonl"
    file.write_text(shown)
    assert [case.id for case in gold_file.read(file)] == ["leave"]
