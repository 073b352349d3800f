"""What holds for the chunks of any Markdown."""

import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.chunking import chunk, embedded_text
from knowledge.outline import outline
from knowledge.settings import Chunking


def count_words(text: str) -> int:
    return len(re.findall(r"\w|[^\w\s]", text))


words = st.text(st.sampled_from("abc dé.?!|`*#-_~<>[]():1 \t漢。\u0301👩\u200d"), max_size=60)
MARKS = """
# One
## Two ##
### `x`
Setext
===
---
```
~~~py
| a | b |
|---|---|
| 1 | 2 |
- item
  - inner
1. first
> quote
    code
[r]: https://a.example
<!-- c -->
<div>
</div>
**Why?**
"""
LONG = ("word " * 50, "x" * 700, "Sentence one. " * 30, "| " + "cell " * 60 + "| b |")
lines = st.one_of(words, st.sampled_from([*MARKS.split("\n"), *LONG]))
markdowns = st.lists(lines, max_size=40).map("\n".join)
limits = st.sampled_from([32, 64, 240])


@settings(max_examples=150, deadline=None)
@given(markdowns, limits)
def test_chunks_cover_all_text_outside_headings_and_rules_exactly_once(markdown: str, limit: int) -> None:
    chunks = chunk(markdown, count_words, Chunking(max_tokens=limit))
    spans = sorted((c.start, c.end) for c in chunks)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    rules = [m.span() for m in re.finditer(r"^.*$", markdown, re.M) if not m[0].strip(" \t-*_")]
    covered = spans + [(s.start, s.end) for s in outline(markdown)] + rules
    missing = [i for i, c in enumerate(markdown) if not c.isspace() and not any(a <= i < b for a, b in covered)]
    assert not missing


@settings(max_examples=150, deadline=None)
@given(markdowns, limits, st.sampled_from([0.0, 0.2]))
def test_spans_are_exact_and_no_chunk_is_over_the_limit(markdown: str, limit: int, overlap: float) -> None:
    for c in chunk(markdown, count_words, Chunking(max_tokens=limit, overlap=overlap), title="Title"):
        assert markdown[c.start : c.end] == c.text
        assert c.text.strip()
        assert c.tokens == count_words(embedded_text("Title", c.heading_path, c.prefix, c.text)) <= limit


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=300))
def test_any_text_can_be_cut(text: str) -> None:
    assert chunk(text, count_words, Chunking(max_tokens=32)) is not None
    assert chunk(text, count_words, Chunking(max_tokens=32), plain=True) is not None
