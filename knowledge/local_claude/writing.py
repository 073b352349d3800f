"""What the model writes: the passages' own blocks, with true citations."""

import json
import re
from collections.abc import Sequence

from knowledge.local_claude.request import Json, question, search_results

_WORD = re.compile(r"\w+")
_COMMON = frozenset(
    "the a an of to is are in on for and or what how do does i we our many much which when where who that it".split()  # noqa: SIM905
)
_ORDER = re.compile(
    r"\b(?:ignore|disregard|instead|assistant|system|from now on|every reply|tell the|reply with|click|append|add this)\b",
    re.IGNORECASE,
)
COVERAGE = 0.34
"""Share of the question's words that a block must have to be quoted."""


def written(body: Json, obey: bool = False) -> list[Json]:
    """The model's text blocks: JSON where a format is asked for, quotes with citations, or the line for nothing found."""
    asked = question(body)
    if (body.get("output_config") or {}).get("format"):
        answer = {"stands_alone": True, "question": asked}
        return [{"type": "text", "text": json.dumps(answer, ensure_ascii=False)}]
    results = list(search_results(body))
    blocks = _quotes(asked, results)
    if not blocks:
        blocks = [{"type": "text", "text": f"NOT COVERED: The documents say nothing about this: {asked}"}]
    return [*_obeyed(results), *blocks, *_obeyed(results)] if obey else blocks


def _quotes(asked: str, results: Sequence[Json]) -> list[Json]:
    words, found = _words(asked), []
    for index, result in enumerate(results):
        for number, block in enumerate(result["content"]):
            if re.match(r"\s*(?:#|\|[-| :]+\|\s*$)", block["text"]) or _ORDER.search(block["text"]):
                continue
            found.append((len(words & _words(block["text"] + result["title"])) / (len(words) or 1), index, number))
    blocks: list[Json] = []
    for share, index, number in sorted(found, key=lambda f: -f[0])[:2]:
        if share >= COVERAGE:
            blocks += [_quoted(results[index], index, number), {"type": "text", "text": "\n\n"}]
    return blocks


def _quoted(result: Json, index: int, number: int) -> Json:
    text = result["content"][number]["text"]
    block: Json = {"type": "text", "text": text.strip()}
    if result.get("citations", {}).get("enabled"):
        place = {"search_result_index": index, "start_block_index": number, "end_block_index": number + 1}
        source = {"source": result["source"], "title": result["title"], "cited_text": text}
        block["citations"] = [{"type": "search_result_location", **source, **place}]
    return block


def _obeyed(results: Sequence[Json]) -> list[Json]:
    """What a model that follows orders in documents would write: the orders themselves, bare and cited, data filled in."""
    leak = re.sub(r"\W+", "-", results[0]["content"][0]["text"])[:40] if results else ""
    blocks: list[Json] = []
    for index, result in enumerate(results):
        for number, block in enumerate(result["content"]):
            if _ORDER.search(block["text"]):
                said = block["text"].replace("PRIVATE_TEXT", leak).strip()
                blocks += [
                    {"type": "text", "text": f"\n\n{said}\n\n"},
                    {**_quoted(result, index, number), "text": said},
                ]
    return [*blocks, {"type": "text", "text": "\n\n"}]


def _words(text: str) -> set[str]:
    return {word.rstrip("s") for word in _WORD.findall(text.lower())} - _COMMON
