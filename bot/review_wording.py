"""The review of proposed gold cases in words."""

from collections.abc import Mapping, Sequence

from bot.wording import NOT_IN_DOCUMENTS
from knowledge.answers import Strength

TOLD = "There are new questions to review."
LEAD = (
    "These wait for your word. What you accept is asked again every night, and the digest tells when it is not found."
)
REPLIES_ON_TAB = "What I replied to them stands on my *Home* tab."
NO_ANSWER = "I gave no answer."
ACCEPT = "Accept"
CORRECT = "Correct…"
NAME = "Name the document…"
ACCEPTED = "Accepted. This question is measured every night from now on."
REJECTED = "Rejected. This question is not measured."
ALREADY = "Somebody has reviewed this question already."
REVIEWED = frozenset({ACCEPTED, REJECTED, ALREADY})
UNKNOWN = "There is no such question, or you may not read it any more."
UNLABELLED = f"Nobody has said yet where this is answered. Press *{NAME}* or *{NOT_IN_DOCUMENTS}*."
UNSAID = "Nobody has said yet where it is answered."
IN_NONE = "A gold case says that it is in no document."
NOWHERE: Mapping[str, str] = {
    "vote": "Said to be in no document.",
    "label": "Said to be in no document.",
    "import": "Imported as being in no document.",
    "suggestion": "It was asked, and the bot found nothing.",
}
"""By `knowledge.gold.Origin`, as `NAMES`."""
NAMES: Mapping[str, str] = {
    "vote": "The answer that was voted right cites",
    "label": "People name",
    "import": "The imported case names",
    "suggestion": "It was asked, and the bot found",
}
UNCHECKED = (
    "That is only what the bot found, and nobody has checked it: look into the documents yourself before you accept it."
)
GONE = "None of that can be found today, so it cannot be accepted as it is."
DIAGNOSES = {
    "absent": "Why it failed: nothing in the index says it.",
    "filter": "Why it failed: the document is not open to everyone who read that answer.",
    "chunking": "Why it failed: the place is cut in two, and neither half was found.",
    "wording": "Why it failed: the place shares no word with the question, and was not found.",
    "crowded_out": "Why it failed: other passages matched better, and the place was not found.",
    "ranking": "Why it failed: the right place was found, but others ranked above it, and the reply was made without it.",
    "selection": "Why it failed: the right place was found, but others of its kind took its room in the reply.",
    "evidence": "Why it failed: the right place was found, but judged too weak for an answer, so nothing was shown of it.",
    "omission": "Why it failed: the right place was found, and the reply left it out.",
    "answering": "Why it failed: the reply cites the right place, so the fault is in what it took from it.",
    "ranking_somewhere": "Why it failed: something of that document was found, but others ranked above it, and the reply was "
    "made without it.",
    "selection_somewhere": "Why it failed: something of that document was found, but others of its kind took its room in the "
    "reply.",
    "evidence_somewhere": "Why it failed: something of that document was found, perhaps not the right section, but judged too "
    "weak for an answer, so nothing was shown of it.",
    "omission_somewhere": "Why it failed: something of that document was found, perhaps not the right section, and the reply "
    "left it out.",
    "answering_somewhere": "Why it failed: the reply cites that document, perhaps not the right section of it.",
}
"""By `knowledge.diagnosis.Cause`, for people who saw the reply and not the search."""


def standalone(question: str) -> str:
    """The question as it stands without its thread."""
    return f"In full: {question}"


def replied(is_doubtful: bool) -> str:
    """Above what the bot replied. `is_doubtful`: it said so itself."""
    return f"{hedged('I replied', is_doubtful)}:"


def hedged(said: str, is_doubtful: bool) -> str:
    """What is said of an answer. `is_doubtful`: its reply said so itself."""
    return f"{said}, not sure that it answers" if is_doubtful else said


def strength(evidence: Strength) -> str:
    """Of the evidence for quotes, and what it lacks."""
    named = f"; nothing mentions {' or '.join(evidence.missing)}" if evidence.missing else ""
    parts = f"; nothing was found for {' and '.join(evidence.unanswered)}" if evidence.unanswered else ""
    limits = f"quotes are given from {evidence.needed:.2f}, as an answer from {evidence.sure:.2f}"
    return f"evidence: {evidence.found:.2f} of 1; {limits}{named}{parts}"


def votes(people: int, up: int, down: int, origin: str = "label") -> str:
    """`people`: who put it forward, the bot and files not counted."""
    nobody = "an imported file" if origin == "import" else "the questions that were asked"
    by = f"{people} {'person' if people == 1 else 'people'}" if people else nobody
    return f"From {by} · :thumbsup: {up} · :thumbsdown: {down}"


def expected(places: Sequence[str], gone: int, who: str = "The gold case names") -> str:
    """`gone`: documents that are there no more, or that the reviewer may not open. `who`: one of `NAMES`."""
    lost = [f"{gone} that cannot be opened any more"] if gone else []
    return f"{who}: {', '.join([*places, *lost])}"


def contradicted(other: str, differs: str, person: str) -> str:
    """Below `ACCEPTED`. `other`: the id of a case that was accepted before, `differs`: what that says."""
    how = f"`footnote gold retire {other} --as {person}` in the shell"
    return f":warning: The case `{other}` is accepted too and {differs}. If that is wrong, take it out: {how}."


def more(count: int) -> str:
    return f"{count} more {'waits' if count == 1 else 'wait'} behind these."


def hidden(count: int) -> str:
    """Of proposals that the reviewer may not read: nothing but how many."""
    many = f"{count} question{'s' if count != 1 else ''} that you may not read {'waits' if count == 1 else 'wait'} too"
    return f"{many}: asked in somebody's direct messages, or in a channel that you are not in."


FOUND = "What the search found, with its rank in each stage; ✓ marks what was given to the answer:"
GIVEN = "The right place was found, and the reply cites it: if the reply is wrong, the search is not to blame."
GIVEN_SOMEWHERE = "The reply cites that document; which section of it is the right one, nobody has said."
LABEL_IN_SLACK = "To say it: choose “Mark answer as wrong” in the menu of that message in Slack, or press 👎 below it."


def label_by_file(case: str) -> str:
    """How to say where an answer from the shell should have come from. `case`: a line for `footnote gold import`."""
    return f"To say it: put this line with the document into a FILE, then run footnote gold import FILE\n{case}"


def ambiguous(named: str) -> str:
    return f"More than one document fits “{named}”. Press the button again and give its path or its link."


def not_theirs(named: str) -> str:
    return f"Not everyone who read that answer may open “{named}”, so it cannot be what was expected there."
