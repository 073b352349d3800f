"""What the digest and the suggestions read from a real database, and under whose rights."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from bot.digest_wording import markdown
from jobs.digest import compose, gather
from knowledge import activity, answer_rows, evals, gold, proposals, suggestions, votes
from knowledge.activity import SourceProblem, Spent
from knowledge.answer_rows import save
from knowledge.answers import Answer, Citation, Outcome, Question, Strength
from knowledge.db import Database
from knowledge.evals import Result
from knowledge.gold import Proposal
from knowledge.labels import Label
from knowledge.passages import Found
from knowledge.tables import sources
from tests.rows import add_chunk

ALL = frozenset({"workspace"})
LEGAL = frozenset({"workspace", "channel:C7"})
YESTERDAY = datetime.now(UTC) - timedelta(days=1)


def letters(texts: Sequence[str]) -> NDArray[np.float32]:
    """One direction for each first letter: questions that begin alike are alike."""
    vectors = np.zeros((len(texts), 26), np.float32)
    for n, text in enumerate(texts):
        vectors[n, (ord(text[0].lower()) - 97) % 26] = 1
    return vectors


def ask(
    database: Database,
    name: str,
    question: str,
    outcome: Outcome,
    scopes: frozenset[str] = ALL,
    cited: tuple[Citation, ...] = (),
    strength: float = 1.0,
    standalone: str = "",
) -> None:
    """`strength`: of the evidence for quotes; from .5 they are given, from .8 as an answer. `standalone`: of a follow-up."""
    usage = {"input_tokens": 1000.0, "output_tokens": 50.0, "dollars": 0.005}
    found, evidence = Found((), {}, "none", 1, {}), Strength(strength, needed=0.5, sure=0.8)
    stands = standalone or question
    answer = Answer(name, question, stands, "", outcome, cited, (), found, usage=usage, strength=evidence)
    with database.writing() as connection:
        save(connection, answer, Question(question, "U1", "C1"), scopes)


def test_a_digest_for_everyone_quotes_only_what_everyone_may_read(database: Database) -> None:
    ask(database, "a1", "Parking on Sundays?", "abstained")
    ask(database, "a2", "parking on sundays", "abstained")
    ask(database, "a5", "Parking on Mondays?", "abstained")
    ask(database, "a3", "Merger code name?", "abstained", LEGAL)
    ask(database, "a4", "Leave days?", "answered")
    with database.writing() as connection:
        ids = {
            scopes: gold.propose(connection, Proposal(text, scopes, (Label("s", "d"),), "vote", "U1"))
            for text, scopes in (("Is there leave?", ALL), ("What is the merger called?", LEGAL))
        }
        for case_id in ids.values():
            gold.accept(connection, case_id, "UADMIN")
        figures = {"cases": {"used": 2}, "leaks": 0, "stages": {"reranked": {"recall@5": 1.0, "mrr@10": 1.0}}}
        first = evals.begin(connection, {}, YESTERDAY)
        evals.finish(connection, first, figures, [Result(i, s, "hit") for s, i in ids.items()])
        figures = {**figures, "stages": {"reranked": {"recall@5": 0.0, "mrr@10": 0.0}}}
        second = evals.begin(connection, {})
        evals.finish(connection, second, figures, [Result(i, s, "miss", {}, "not_retrieved") for s, i in ids.items()])

    text = markdown(compose(gather(database, ALL, YESTERDAY)))
    assert "**Recall@5 0%, −100 points: the share of 2 questions whose right place" in text
    assert f"**Newly broken: 2**\n- Is there leave? (case {ids[ALL]}) *it is there" in text
    assert "- 1 more" in text
    assert "\n- parking on sundays (2 times)\n- Parking on Mondays?\n" in text
    assert "5 questions asked, 4 without an answer; 5,250 tokens, $0.03." in text
    assert "erger" not in text

    text = markdown(compose(gather(database, LEGAL, YESTERDAY)))
    assert "What is the merger called?" in text
    assert "Merger code name?" in text


def test_a_follow_up_is_told_with_the_question_before_it_where_everyone_may_read_that(database: Database) -> None:
    def say(name: str, question: str, thread: str, scopes: frozenset[str] = ALL, standalone: str = "") -> None:
        ask(database, name, question, "abstained", scopes, standalone=standalone)
        with database.writing() as connection:
            answer_rows.set_reply(connection, name, "C1", name, thread)

    say("a1", "Is there work in Spain?", "1")
    say("a2", "what about the US", "1", standalone="what about the US (work Spain)")
    say("a3", "what about weekends", "1", standalone="what about weekends (work Spain US)")
    say("b1", "Is there a canteen?", "2")
    say("b2", "What is the merger called?", "2", LEGAL)
    say("b3", "and in Oslo?", "2", standalone="and in Oslo? (merger called)")
    say("c1", "and tomorrow?", "3", standalone="and tomorrow? (rain today)")

    def lines(audience: frozenset[str]) -> list[str]:
        told = markdown(compose(gather(database, audience, YESTERDAY)))
        return [line for line in told.splitlines() if "follow-up" in line]

    us, weekends, rain = (
        f"- {text} (a follow-up" for text in ("what about the US", "what about weekends", "and tomorrow?")
    )
    spain, merger = "Is there work in Spain?", "What is the merger called?"
    assert lines(ALL) == [
        f"{rain})",
        "- and in Oslo? (a follow-up)",
        f"{weekends} to “{spain}”)",
        f"{us} to “{spain}”)",
    ]
    assert f"- and in Oslo? (a follow-up to “{merger}”)" in lines(LEGAL)


def test_a_case_is_doubted_while_more_people_vote_against_its_answer_than_for_it(database: Database) -> None:
    ask(database, "a1", "Is there leave?", "answered")
    with database.writing() as connection:
        said = (Label("s", "d"),)
        case_id = gold.propose(connection, Proposal("Is there leave?", ALL, said, "vote", "U1", answer_id="a1"))
        gold.accept(connection, case_id, "UADMIN")
        votes.cast(connection, "a1", "U1", -1)
        assert votes.doubted(connection, YESTERDAY) == {case_id: "answered"}
        assert not votes.doubted(connection, datetime.now(UTC) + timedelta(days=1))
        votes.cast(connection, "a1", "U2", 1)
        assert not votes.doubted(connection, YESTERDAY)


def test_a_digest_of_an_empty_company_says_so(database: Database) -> None:
    digest = compose(gather(database, ALL, YESTERDAY))
    assert digest.problem == "no gold questions yet"
    assert digest.spent == Spent(0, 0, 0, 0.0)
    assert markdown(digest) == "**Retrieval: no gold questions yet.**\n\n0 questions asked, 0 without an answer."


def test_a_failed_sync_and_documents_it_left_out_are_problems(database: Database) -> None:
    with database.plain() as connection:
        for name, outcome in (
            ("down", {"error": "no such folder", "failed": []}),
            ("half", {"failed": [{"document": "a.pdf", "reason": "scanned"}]}),
            ("well", {"failed": []}),
            ("new", None),
        ):
            row: dict[str, object] = {
                "name": name,
                "kind": "folder",
                "location": ".",
                "scopes": ["workspace"],
                "outcome": outcome,
            }
            connection.execute(sa.insert(sources).values(row))
        problems = activity.source_problems(connection)
        late = activity.source_problems(connection, {"well"})
    assert problems == (SourceProblem("down", ALL, True, 0), SourceProblem("half", ALL, False, 1))
    assert late == (*problems, SourceProblem("well", ALL, False, 0, overdue=True))


def test_the_mark_of_the_index_changes_with_any_document(database: Database) -> None:
    def mark() -> object:
        with database.writing() as connection:
            return activity.index_state(connection)

    empty = mark()
    with database.writing() as connection:
        add_chunk(connection, 1, ["workspace"])
    one = mark()
    with database.writing() as connection:
        connection.execute(sa.text("update documents set content_hash = 'other'"))
    assert len({str(m) for m in (empty, one, mark())}) == 3


def test_suggestions_are_questions_unlike_each_other_with_some_that_have_no_answer(database: Database) -> None:
    for n, letter in enumerate("abcdefgh"):
        ask(database, f"y{n}", f"{letter} answered?", "answered")
        ask(database, f"z{n}", f"{letter} answered again?", "answered")
    for n, letter in enumerate("uvw"):
        ask(database, f"n{n}", f"{letter} nowhere?", "abstained", LEGAL)
    ids = suggestions.suggest(database, letters, count=6, unanswered=2)
    with database.reading(LEGAL) as connection:
        made = gold.cases(connection, LEGAL)
    assert sorted(case.id for case in made) == sorted(ids)
    assert len({case.question[0] for case in made}) == len(made) == 6
    assert sum(case.expected is None and case.scopes == LEGAL for case in made) >= 2
    assert {(case.state, case.origin) for case in made} == {("proposed", "suggestion")}
    again = suggestions.suggest(database, letters, count=99)
    assert not set(again) & set(ids)


def test_a_suggestion_names_what_was_cited_only_where_the_answer_may_be_believed(database: Database) -> None:
    with database.writing() as connection:
        add_chunk(connection, 1, ALL)
    cited = (Citation(1, 1, 1, "document-1", "", (), "text 1", None, ALL),)
    asked: list[tuple[str, Outcome, float, list[int]]] = [
        ("answered", "answered", 0.6, []),
        ("quoted", "quoted", 0.8, []),
        ("liked", "quoted", 0.9, [1, -1, 1]),
        ("doubtful", "quoted", 0.79, []),
        ("voted against", "quoted", 0.9, [-1, 1, -1]),
        ("wrongly missed", "abstained", 0.1, [-1]),
        ("missed", "abstained", 0.1, []),
    ]
    for name, outcome, strength, said in asked:
        ask(database, name, f"{name}?", outcome, cited=() if outcome == "abstained" else cited, strength=strength)
        with database.writing() as connection:
            for number, value in enumerate(said):
                votes.cast(connection, name, f"U{number}", value)
    suggestions.suggest(database, lambda texts: np.eye(len(texts), dtype=np.float32))
    with database.reading(ALL) as connection:
        places = {case.question.removesuffix("?"): case.expected for case in gold.cases(connection, ALL)}
    named = [name for name, expected in places.items() if expected]
    assert sorted(named) == ["answered", "liked", "quoted"]
    assert {label.external_id for name in named for label in places[name] or ()} == {"document-1"}
    assert {name for name, expected in places.items() if expected is None} == {
        "doubtful",
        "voted against",
        "wrongly missed",
        "missed",
    }


def test_that_a_person_said_that_it_is_in_no_document_outlasts_the_suggestion(database: Database) -> None:
    for name in ("parking", "leave"):
        ask(database, name, f"{name}?", "abstained")

    def says_nowhere(name: str) -> None:
        with database.writing() as connection:
            answer = answer_rows.load(connection, name)
        assert answer is not None
        proposals.propose(database, answer, "U1", [], "label")

    says_nowhere("parking")
    [suggested] = suggestions.suggest(database, letters)
    says_nowhere("leave")
    with database.reading(ALL) as connection:
        cases = {case.question: case for case in gold.cases(connection, ALL)}
    assert {question: (case.expected, case.origin) for question, case in cases.items()} == {
        "parking?": ((), "label"),
        "leave?": ((), "label"),
    }
    assert cases["leave?"].id == suggested


def test_suggestions_for_somebody_are_those_whose_reply_they_may_read(database: Database) -> None:
    ask(database, "a1", "Is there leave?", "answered")
    ask(database, "a2", "What is the merger called?", "answered", LEGAL)
    ask(database, "a3", "Merger when?", "abstained", LEGAL)
    (only,) = suggestions.suggest(database, letters, readable=ALL)
    with database.reading(LEGAL) as connection:
        assert gold.get(connection, only, LEGAL).question == "Is there leave?"
    assert suggestions.suggest(database, letters, readable=frozenset()) == ()
    assert len(suggestions.suggest(database, letters)) == 2
