"""The digest: what it says, and what it never says to whom."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.digest_wording import BUCKETS, CORRECTING, DOUBTED, NEW, markdown
from jobs.chart import INK, MRR, RECALL, Point, png
from jobs.digest import Digest, Facts, compose, counted
from knowledge.activity import SourceProblem, Spent, Unanswered
from knowledge.evals import Outcome, Result, Run

ALL = frozenset({"workspace"})
LEGAL = frozenset({"workspace", "channel:C7"})
NIGHT = datetime(2026, 6, 2, 2, 30, tzinfo=UTC)
OUTCOMES: tuple[Outcome, Outcome] = ("hit", "miss")
CONFIGURATION = {"embedder": "minilm", "retrieval": {"candidates": 30}}


def run(number: int, recall: float | None, configuration: Mapping[str, object] = CONFIGURATION, **cases: int) -> Run:
    counts = {"all": 20, "used": 20, "stale": 0, "failed": 0, "absent": 0} | cases
    figures = {"recall@5": recall, "mrr@10": None if recall is None else recall / 2}
    metrics = {"cases": counts, "stages": {"reranked": figures}, "leaks": 0}
    return Run(number, NIGHT + timedelta(days=number), NIGHT, configuration, metrics, None)


def failed(number: int, error: str) -> Run:
    return Run(number, NIGHT + timedelta(days=number), NIGHT, CONFIGURATION, None, error)


def results(bucket: str | None = None, **outcomes: Outcome) -> dict[str, Result]:
    return {
        name: Result(name, ALL, outcome, {}, bucket if outcome == "miss" else None)
        for name, outcome in outcomes.items()
    }


QUIET = Facts(
    runs=(run(1, 0.9), run(2, 0.9)),
    results=results(leave="hit", lease="hit"),
    before=results(leave="hit", lease="hit"),
    questions={"leave": "Do unused days survive?"},
    cases={"accepted": 20},
    unanswered=(),
    spent=Spent(12, 0, 0, 0.0),
    source_problems=(),
    failed_runs={},
    audience=ALL,
)


FOUND = "the share of 20 questions whose right place was among the first 5 found.**"


def told(facts: Facts) -> str:
    return markdown(compose(facts))


def test_when_nothing_changed_it_says_so_in_one_line() -> None:
    assert told(QUIET) == f"**Recall@5 90%, unchanged: {FOUND} Nothing changed."


def test_the_headline_has_the_change_in_points() -> None:
    assert told(replace(QUIET, runs=(run(1, 0.85), run(2, 0.9)))).startswith(f"**Recall@5 90%, +5 points: {FOUND}")
    assert told(replace(QUIET, runs=(run(1, 0.91), run(2, 0.9)))).startswith(f"**Recall@5 90%, −1 point: {FOUND}")


def test_questions_that_are_not_in_the_documents_are_told_apart_from_those_that_can_be_found() -> None:
    """Else a recall of 100% over all questions would stand above those that went wrong."""
    absent = results(boat="wrongly_answered", pool="wrongly_answered", bus="abstained")
    facts = replace(QUIET, runs=(run(1, 1.0), run(2, 1.0, absent=3)), results={**QUIET.results, **absent})
    assert "the share of 17 questions whose right place" in told(facts)
    assert " Of 3 questions accepted as not in the documents 2 were answered all the same." in told(facts)
    one, none = results(boat="wrongly_answered"), results(boat="abstained")
    assert "in the documents 1 was answered all the same." in told(replace(facts, results=one))
    assert "in the documents none was answered all the same." in told(replace(facts, results=none))
    assert "accepted as not" not in told(QUIET)


def test_quotes_given_with_doubt_where_nothing_was_to_be_found_are_not_called_an_answer() -> None:
    hedged = {name: Result(name, ALL, "wrongly_answered", {}, "doubtful") for name in ("leave", "pool")}
    facts = replace(QUIET, runs=(run(1, 1.0), run(2, 1.0, absent=3)), before={}, results=hedged)
    assert " Of 3 questions accepted as not in the documents none was answered all the same, and 2 were given" in told(
        facts
    )
    assert "*it is accepted as not in the documents, and quotes were given, with doubt*: ask it and read" in told(facts)
    assert CORRECTING in told(facts)
    mixed = {**hedged, "pool": Result("pool", ALL, "wrongly_answered")}
    assert "1 was answered all the same, and 1 was given quotes with doubt." in told(replace(facts, results=mixed))


def test_where_what_is_expected_may_be_wrong_the_commands_that_correct_it_stand_once_below() -> None:
    leave = replace(QUIET, before={})
    wrongly = replace(leave, results=results(leave="wrongly_answered", lease="hit"))
    stale = replace(leave, results=results(leave="stale"))
    for facts in (wrongly, stale, replace(QUIET, doubted={"leave": "answered"})):
        assert told(facts).count("footnote gold accept ID --as NAME --document SOURCE/PATH") == 1
        assert told(facts).count("footnote gold retire ID --as NAME") == 1
        assert "(case leave)" in told(facts)
        assert CORRECTING not in told(replace(facts, questions={})), "nobody is told an id, so there is nothing to type"
    assert CORRECTING not in told(replace(leave, results=results("ranked_low", leave="miss")))


def test_a_first_run_has_no_change() -> None:
    assert told(replace(QUIET, runs=(run(1, 0.9),), before={})).startswith(f"**Recall@5 90%: {FOUND}")


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (replace(QUIET, runs=(), results={}, cases={"proposed": 3}), "no gold questions yet"),
        (replace(QUIET, runs=(), results={}), "no evaluation has run yet"),
        (replace(QUIET, runs=(run(1, None, used=0),), results={}, before={}, cases={}), "no gold questions yet"),
    ],
)
def test_without_figures_it_says_why(facts: Facts, words: str) -> None:
    assert words in told(facts)
    assert "None" not in told(facts)
    assert "nan" not in told(facts)


def test_a_failed_run_is_reported_without_quoting_its_error() -> None:
    facts = replace(QUIET, runs=(run(1, 0.9), failed(2, "SourceFailed: cannot read 'merger plans'")))
    assert "The evaluation failed (SourceFailed)" in told(facts)
    assert "merger" not in told(facts)


def test_a_broken_case_comes_with_its_next_step_and_a_fixed_one_without() -> None:
    facts = replace(
        QUIET,
        results=results("not_retrieved", leave="miss", garage="hit"),
        before=results(leave="hit", garage="miss"),
        questions={"leave": "Do unused days survive?", "garage": "When does the garage open?"},
    )
    text = told(facts)
    assert (
        "**Newly broken: 1**\n- Do unused days survive? (case leave) *it is there and was not found*: put the" in text
    )
    assert "**Newly fixed: 1**\n- When does the garage open?\n" in text


def test_a_case_that_was_found_again_has_no_fault_although_it_got_no_answer() -> None:
    silent = {"leave": Result("leave", ALL, "hit", {}, "unanswered")}
    text = told(replace(QUIET, results=silent, before=results(leave="miss")))
    assert "**Newly fixed: 1**\n- Do unused days survive?\n" in text


def test_an_answer_to_what_the_documents_do_not_say_is_broken_too() -> None:
    facts = replace(QUIET, results=results(leave="wrongly_answered"), before=results(leave="abstained"))
    assert BUCKETS["wrongly_answered"][0] in told(facts)


def test_a_found_case_whose_answer_was_voted_wrong_is_named_to_those_who_may_read_it() -> None:
    facts = replace(QUIET, doubted={"leave": "answered"})
    assert f"**{DOUBTED}: 1**\n- Do unused days survive? (case leave)" in told(facts)
    assert "survive" not in told(replace(facts, questions={}))
    assert f"{DOUBTED}: 1**" in told(replace(facts, questions={}))
    assert DOUBTED not in told(replace(facts, results=results("ranked_low", leave="miss", lease="hit")))


def test_a_found_case_that_was_voted_wrong_for_want_of_an_answer_says_so() -> None:
    facts = replace(QUIET, doubted={"leave": "abstained", "lease": "quoted"})
    questions = {"leave": "Do unused days survive?", "lease": "Who is the landlord?"}
    silent = "*there was no answer: what was found was judged too weak for one*: ask"
    text = told(replace(facts, questions=questions))
    assert (
        f"{DOUBTED}: 2**\n- Who is the landlord? (case lease)\n- Do unused days survive? (case leave) {silent}" in text
    )
    assert "no answer:" not in told(replace(facts, questions={}))


def test_a_case_that_is_new_or_stale_is_neither_broken_nor_fixed_and_a_new_one_that_fails_is_named() -> None:
    facts = replace(
        QUIET,
        results=results("ranked_low", new="miss", fine="hit", leave="stale"),
        before=results(leave="hit", gone="hit"),
        questions={"new": "Where is the boat?"},
    )
    digest = compose(facts)
    assert (len(digest.broken), len(digest.fixed), len(digest.stale), digest.chance) == (0, 0, 1, 1.0)
    assert f"**{NEW}: 1**\n- Where is the boat? (case new) *the right place was found, but" in told(facts)


def test_what_the_audience_may_not_read_is_a_number() -> None:
    facts = replace(
        QUIET, results=results("not_in_corpus", leave="miss", lease="miss"), before=results(leave="hit", lease="hit")
    )
    text = told(facts)
    assert "**Newly broken: 2**" in text
    assert "- 1 more" in text
    assert "lease" not in text
    assert "**Newly broken: 2**" in told(replace(facts, questions={}))
    assert "unused days" not in told(replace(facts, questions={}))


def test_a_source_is_named_only_to_its_readers() -> None:
    problems = SourceProblem("handbook", ALL, False, 2), SourceProblem("legal", LEGAL - ALL, True, 0)
    text = told(replace(QUIET, source_problems=problems))
    assert "- handbook: 2 documents could not be read, or only in part." in text
    assert "- 1 other source had problems." in text
    assert "legal" not in text
    assert "- legal: the last sync failed." in told(replace(QUIET, source_problems=problems, audience=LEGAL))


def test_stale_and_unscored_cases_and_jobs_that_failed_are_listed() -> None:
    facts = replace(
        QUIET,
        runs=(run(1, 0.9), run(2, 0.9, used=17, stale=2, failed=1)),
        results=results(leave="stale", lease="stale"),
        failed_runs={"sync": 3},
        spent=Spent(40, 6, 12345, 0.216),
    )
    text = told(facts)
    assert "the share of 17 questions" in text
    assert "found.** Measured: 17 of 20 accepted questions." in text
    assert (
        "**To be reviewed, because what they expect is gone: 2**\n- Do unused days survive? (case leave)\n- 1 more"
        in text
    )
    assert "1 question could not be scored." in text
    assert "The job “sync” failed 3 times." in text
    assert "40 questions asked, 6 without an answer; 12,345 tokens, $0.22." in text


def test_a_leak_comes_before_everything_else() -> None:
    leaking = run(2, 0.9)
    assert leaking.metrics is not None
    leaking = replace(leaking, metrics={**leaking.metrics, "leaks": 2})
    assert "2 passages came up" in told(replace(QUIET, runs=(run(1, 0.9), leaking))).splitlines()[2]


def test_a_change_of_model_or_settings_is_named_and_marked_in_the_chart() -> None:
    other = {"embedder": "e5", "retrieval": {"candidates": 50}}
    digest = compose(replace(QUIET, runs=(run(1, 0.9), run(2, 0.9, other))))
    assert digest.configured == ("model", "settings")
    assert [point.mark for point in digest.series] == ["", "model, settings"]
    assert [point.documents for point in digest.series] == [False, False]


def test_changed_documents_are_marked_apart_because_they_change_most_days() -> None:
    digest = compose(replace(QUIET, runs=(run(1, 0.9), run(2, 0.9, {**CONFIGURATION, "index": {"mark": "other"}}))))
    assert digest.configured == ("documents",)
    assert [(point.mark, point.documents) for point in digest.series] == [("", False), ("", True)]


def test_a_judges_opinion_is_one_line_apart_from_the_figures() -> None:
    judged = run(2, 0.9)
    figures = {"answers": 10, "faithfulness": 0.94, "relevance": 0.85}
    assert judged.metrics is not None
    facts = replace(QUIET, runs=(run(1, 0.8), replace(judged, metrics={**judged.metrics, "judged": figures})))
    assert "A model's opinion of 10 answers: 94% of the claims supported, 85% to the point." in told(facts)
    assert "opinion" not in told(replace(QUIET, runs=(run(1, 0.8), run(2, 0.9))))


def test_one_lucky_case_is_not_called_progress() -> None:
    facts = replace(QUIET, results=results(a="hit"), before=results(a="miss"))
    assert compose(facts).chance == 1.0
    better, worse = ({name: Result(name, ALL, outcome) for name in "abcdefgh"} for outcome in OUTCOMES)
    all_better = replace(QUIET, results=better, before=worse)
    assert compose(all_better).chance == pytest.approx(2 / 256)


SPAIN = "How long is the work week in Spain?"


@pytest.mark.parametrize(
    ("asked", "kinds"),
    [
        ([], []),
        (["Where to park?", "Which leave?", "which leave"], [("Which leave?", 2), ("Where to park?", 1)]),
        (["How much in Oslo?", "How much in Rome?"], [("How much in Oslo?", 1), ("How much in Rome?", 1)]),
        (["???", "!"], [("???", 1), ("!", 1)]),
        (
            [("what about the US", SPAIN), ("what about weekends", SPAIN), ("What about the US?", SPAIN.lower())],
            [("what about the US", 2), ("what about weekends", 1)],
        ),
        ([("and the US?", SPAIN), ("and the US?", "Who is in Oslo?")], [("and the US?", 1), ("and the US?", 1)]),
        ([("and the US?", ""), ("and the US?", "")], [("and the US?", 1), ("and the US?", 1)]),
        (["and the US?", ("and the US?", "")], [("and the US?", 1), ("and the US?", 1)]),
    ],
)
def test_only_the_same_question_counts_as_the_same_and_the_most_asked_comes_first(
    asked: Sequence[str | tuple[str, str]], kinds: Sequence[tuple[str, int]]
) -> None:
    questions = [Unanswered(each) if isinstance(each, str) else Unanswered(each[0], True, each[1]) for each in asked]
    assert [(first.question, count) for first, count in counted(questions)] == kinds


def test_a_follow_up_is_told_as_it_was_asked_with_what_it_went_on_from_as_far_as_that_is_known() -> None:
    asked = (
        (Unanswered("what about\nthe US", True, "How *long* is it?"), 2),
        (Unanswered("and in Oslo?", True), 1),
        (Unanswered("Where to park?"), 3),
    )
    assert told(replace(QUIET, unanswered=asked)).partition("**Asked without an answer**\n")[2].splitlines()[:3] == [
        "- what about the US (a follow-up to “How \\*long\\* is it?”) (2 times)",
        "- and in Oslo? (a follow-up)",
        "- Where to park? (3 times)",
    ]


def test_what_people_wrote_stays_what_they_wrote() -> None:
    facts = replace(QUIET, unanswered=((Unanswered("What is *urgent*\n# now?"), 1),))
    assert "- What is \\*urgent\\* \\# now?" in told(facts)


def test_a_source_that_is_late_is_told_and_so_is_the_review() -> None:
    late = SourceProblem("handbook", ALL, False, 0, overdue=True)
    text = told(replace(QUIET, source_problems=(late,), cases={"accepted": 20, "proposed": 1}))
    assert "- handbook: not read to the end for two of its turns." in text
    assert "1 proposed question to review." in text


def test_it_fits_one_screen() -> None:
    names = [f"case{n}" for n in range(40)]
    facts = replace(
        QUIET,
        results={n: Result(n, ALL, "miss", {}, "ranked_low") for n in names},
        before={n: Result(n, ALL, "hit") for n in names},
        questions={n: f"Question {n}?" for n in names},
        unanswered=tuple((Unanswered(f"Unknown {n}?"), 1) for n in range(40)),
    )
    assert len([line for line in told(facts).splitlines() if line]) < 25
    assert "- 35 more" in told(facts)


def a_png(picture: bytes) -> tuple[int, int]:
    """Width and height, from the header."""
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])


@pytest.mark.parametrize(
    "points",
    [
        (),
        (Point(NIGHT, 0.5, 0.4),),
        (Point(NIGHT, None, None), Point(NIGHT, 0.5, 0.4, "model", documents=True)),
        tuple(Point(NIGHT + timedelta(days=n), n / 30, n / 40) for n in range(30)),
    ],
)
def test_the_chart_is_drawn_for_any_number_of_runs(points: tuple[Point, ...]) -> None:
    assert a_png(png(points)) == (1200, 840)


def relative_luminance(colour: str) -> float:
    """WCAG 2.2, of `#rrggbb`."""
    channels = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_lines_of_the_chart_stand_out_from_white() -> None:
    for colour in (INK, MRR, RECALL):
        assert 1.05 / (relative_luminance(colour) + 0.05) >= 4.5


def test_a_digest_is_a_value() -> None:
    assert isinstance(compose(QUIET), Digest)
    assert compose(QUIET) == compose(QUIET)
    assert compose(QUIET).quiet
