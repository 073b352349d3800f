"""Whether anybody has an id that nothing is kept about, or it was mistyped."""

from pathlib import Path

from bot.client import identify, web_client
from bot.enquiries import Enquiries
from bot.facts import WorkspaceFacts
from bot.settings import Settings
from bot.standing import kind_of
from knowledge import spelling
from knowledge.errors import FootnoteError
from knowledge.permissions import PersonKind

PATIENCE_S = 5
COMPARE = "compare it with *Copy member ID* in their profile in Slack"


def doubts(settings: Settings, person: str) -> tuple[str, ...]:
    """What to say of the id; nothing when somebody has it, people who left included.

    By the workspace file when there is one, else by Slack; it is told when neither can be asked.
    """
    try:
        if settings.slack.facts is not None:
            return _by_file(settings.slack.facts, person)
        client = web_client(settings.slack, PATIENCE_S)
        kind = PersonKind(Enquiries(client, identify(client).team).person(person)["kind"])
    except FootnoteError as error:
        return (f"whether anybody has the id {person} could not be looked up ({error}); {COMPARE}",)
    return (f"{kind_of(person, kind)}; {COMPARE}",) if kind is PersonKind.UNKNOWN else ()


def _by_file(file: Path, person: str) -> tuple[str, ...]:
    known = WorkspaceFacts.read(file).people
    if person in known:
        return ()
    hint = spelling.hint(person, known, f"it has {', '.join(sorted(known))}")
    return (f"{file.name} has nobody with the id {person}; {hint}",)
