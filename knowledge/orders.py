"""Passages of a document that speak to a machine: "ignore your instructions", "note to the assistant", fake system tags.

They are part of the document, so a reader may find them there; they are never evidence. A sentence like that takes its
whole paragraph with it, because what follows is what the order is about. This is a list of known wordings and will miss
some; what it misses is still only ever a quote with its source, without a live link, and triggers nothing.
"""

import re
from collections.abc import Sequence

from knowledge.citable import Piece

_MACHINE = r"(?:ai|a\.i\.|artificial intelligence|assistants?|chat ?bots?|bots?|(?:large )?language models?|llms?|gpt|claude|copilot)"
_REPLY = r"(?:repl(?:y|ies)|answers?|responses?|summar(?:y|ies))"
_ORDER = re.compile(
    rf"""
      \b(?:ignore|disregard|forget|override|bypass)\b[^.!?\n]{{0,40}}\b(?:instructions?|guidance|guidelines|rules|prompts?|polic(?:y|ies)|limits|passages?|documents?|sources?|context|questions?|(?:said|told|written)\s+above)\b
    | \b(?:notes?|notices?|messages?|instructions?|orders?|attention|directives?|important)\b[^.!?\n]{{0,20}}\b(?:to|for)\s+(?:the\s+|all\s+|any\s+|an?\s+|every\s+)*{_MACHINE}\b
    | \b(?:hey|dear|attention|if\s+you\s+are|you\s+are(?:\s+now)?)\s*,?\s*(?:an?\s+|the\s+|all\s+)?{_MACHINE}\b
    | (?:^|[\n*_>"'(\[|]\s*|\.\s+){_MACHINE}\s*[,:]\s*(?:please\s+)?[a-z]+
    | ,\s*(?:ai|assistant|chat\s?bot|language\s+model)\s*,\s*(?!(?:and|or)\b)[a-z]+
    | \b(?:as|being)\s+an?\s+{_MACHINE}\b[^.!?\n]{{0,20}}\byou\b
    | \b{_MACHINE}\s+(?:must|should|shall|has\s+to|have\s+to|is\s+to|are\s+to|will\s+now)\b[^.!?\n]{{0,60}}\b(?:reply|answer|respond|tell|say|include|append|add|print|output|reveal|send|link|search|call)\b
    | \b(?:end|begin|start|finish|close|open|prefix|conclude)\s+(?:every|each|all|your|any|the)\s+(?:\w+\s+)?{_REPLY}\b
    | \b(?:when|whenever|before|while)\s+(?:you\s+)?(?:answer|reply|respond|summari[sz]e)\w*\b[^.!?\n]{{0,80}}\b(?:always|include|say|tell|add|append|mention|link|state|write)\b
    | \b(?:include|append|add|insert|put)\b[^.!?\n]{{0,60}}\b(?:to|in|at\s+the\s+end\s+of)\s+(?:every|each|all|your)\s+(?:\w+\s+)?{_REPLY}\b
    | \bdo\s+not\s+mention\s+(?:this|these)\s+(?:notes?|instructions?|messages?|lines?)\b
    | \b(?:reveal|print|repeat|output|leak|show)\b[^.!?\n]{{0,30}}\b(?:system\s+prompt|your\s+(?:instructions|prompt|context)|every\s+source|all\s+sources)\b
    | \b(?:reply|respond|answer)\s+only\s+with\b | \b(?:always|only)\s+(?:reply|respond|answer)\s+(?:with|that)\b
    | \bfrom\s+now\s+on\b[^.!?\n]{{0,60}}\b(?:reply|answer|respond|disregard|ignore)\b
    | \bsystem\s*(?:(?:note|prompt|message|override|instruction)s?\s*)?(?::|\bto\s+(?:the\s+)?{_MACHINE}\b)
    | \b(?:new|updated|hidden)\s+instructions?\s*:
    | </?\s*(?:system|assistant|user|human|documents?|instructions?|search_results?|tool_(?:use|result)|context|function_calls?)\b[^>]*>
    | \[/?(?:INST|SYSTEM)\] | <\|[a-z_]+\|> | <!--
    """,
    re.IGNORECASE | re.VERBOSE,
)

_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n\s*$")


def is_order(text: str) -> bool:
    """Whether a text speaks to a machine that reads it."""
    return bool(_ORDER.search(text))


def ordering(pieces: Sequence[Piece]) -> frozenset[int]:
    """The numbers of the pieces that are no evidence: orders, with the rest of their paragraph; single rows and code."""
    found: set[int] = set()
    paragraph: list[int] = []
    suspect = False
    for number, piece in enumerate(pieces):
        if is_order(piece.text):
            found.add(number)
            suspect = suspect or piece.kind in ("sentence", "item")
        if piece.kind in ("sentence", "item"):
            paragraph.append(number)
        if piece.kind not in ("sentence", "item") or _PARAGRAPH_END.search(piece.text):
            found.update(paragraph if suspect else ())
            paragraph, suspect = [], False
    found.update(paragraph if suspect else ())
    return frozenset(found)
