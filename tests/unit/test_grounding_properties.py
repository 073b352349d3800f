"""For any passages and any model output: nothing unverified is posted."""

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from knowledge import markup
from knowledge.claims import Segment
from knowledge.evidence import Cited, Evidence
from knowledge.figures import readings, unsupported
from knowledge.grounding import verify
from knowledge.markers import marked_segments
from knowledge.passages import Passage
from tests.unit.test_grounding import passage

Given = tuple[int, int, int, str | None]

FRAGMENTS = st.sampled_from(
    [
        "The limit is 135. ", "It is 190", ". ", "\n\n", "\n", "- item ", "| a | 7 |\n", "| --- | --- |\n", "```\n", "`", "[1]", "[2, 9]",
        "[^1]", "【3】", "x[1]", "[1](https://evil.example/a)", "https://evil.example/b?d=1 ", "https://docs.acme.example/page ",
        "<https://evil.example|https://docs.acme.example/page>", "![i](http://evil.example/c)", "<!channel>", "<@U012AB3CD>", "<#C1|x>",
        "<!subteam^S1|@team>", "<!chan<!here>nel>", "evil.example/d ", "www.evil.example ", "NOT COVERED: ", "E4012 ", "2026-01-08 ",
        "8 March 2026 ", "config.yaml ", "Yes. ", "Here is the policy: ", "# Heading\n", "javascript:alert(1) ", "\ue0001\ue001", "<a href='http://evil.example'>",
        "hthttps://a.b/ttps://evil.example/", "**", "{", "é", "文。", "<!--", "-->", "<http://evil.example/e>", "\\[1]",
    ]
)  # fmt: skip
TEXTS = st.lists(FRAGMENTS | st.text(max_size=6), max_size=10).map("".join)
PASSAGES = st.lists(
    st.builds(lambda text, document: passage(text or "x", document), TEXTS, st.integers(1, 3)), min_size=1, max_size=3
)
CITATIONS = st.just((0, 0, 1, None)) | st.tuples(
    st.integers(-1, 4), st.integers(0, 3), st.integers(0, 4), st.none() | TEXTS
)
OUTPUT = st.lists(st.tuples(TEXTS, st.lists(CITATIONS, min_size=0, max_size=2)), max_size=5)


def posted_outside_code(text: str) -> str:
    return " ".join(part for part, code in markup.outside_code(text) if not code)


def check(text: str, evidence: list[Evidence], question: str, numbers: set[int], quotes: list[str]) -> None:
    bodies = [e.passage.body for e in evidence]
    assert not re.search(r"<[!@#]", text)
    assert {n for mark in markup.MARK.finditer(posted_outside_code(text)) for n in markup.numbers(mark)} == numbers
    assert all(any(quote and quote in body for body in bodies) for quote in quotes)
    urls = {e.passage.url for e in evidence}.union(*(markup.addresses(b) for b in bodies), markup.addresses(question))
    assert markup.addresses(text) <= urls
    live = {url for url in markup.addresses(posted_outside_code(text)) if "evil" in url}
    assert not live
    whole = "\n".join([*(e.passage.body + "\n" + e.passage.label for e in evidence), question, "2026-01-08"])
    without_marks = markup.without_addresses(re.sub(r"\[\d{1,3}\]", " ", text))
    assert unsupported(without_marks, readings(whole), readings(re.sub(r"\[\d{1,3}\]", " ", whole))) == ()


@settings(max_examples=400, deadline=None)
@given(PASSAGES, OUTPUT, TEXTS, st.booleans())
def test_cited_text_posts_nothing_outside_the_evidence(
    passages: list[Passage], output: list[tuple[str, list[Given]]], question: str, complete: bool
) -> None:
    evidence = [Evidence.of(p) for p in passages]

    def cited(index: int, start: int, end: int, text: str | None) -> Cited:
        if text is None and 0 <= index < len(evidence):
            text = "".join(p.text for p in evidence[index].pieces[start:end])
        return Cited(index, start, end, text or "")

    segments = [Segment(text, tuple(cited(*c) for c in citations)) for text, citations in output]
    got = verify(segments, evidence, question, complete)
    quotes = [q for c in got.citations for q in (c.quote, *c.more)]
    check(got.text, evidence, question, {c.n for c in got.citations}, quotes)
    assert [c.n for c in got.citations] == list(range(1, len(got.citations) + 1))


@settings(max_examples=300, deadline=None)
@given(PASSAGES, TEXTS, TEXTS)
@example([passage("x", 1)], "<!channel>[1]javascript:alert(1) ", "")  # a mark between two words
@example([passage("\n\n", 1)], "[1]", "")  # nothing there to show
def test_marked_text_posts_nothing_outside_the_evidence(passages: list[Passage], output: str, question: str) -> None:
    evidence = [Evidence.of(p) for p in passages]
    got = verify(marked_segments(output, evidence), evidence, question)
    check(got.text, evidence, question, {c.n for c in got.citations}, [c.quote for c in got.citations])


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_no_mention_survives(text: str) -> None:
    assert not re.search(r"<[!@#]", markup.without_mentions(text))
