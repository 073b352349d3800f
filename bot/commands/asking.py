"""`footnote ask` and `footnote access`: the real pipeline and the real rule, without Slack."""

import re
from typing import Annotated

import typer
from sqlalchemy import Connection

from bot import blocks, terminal, wording
from bot.commands.console import (
    As,
    Config,
    In,
    Json,
    Reader,
    command,
    decision,
    engine,
    print_json,
    reader,
    say,
    settings,
)
from bot.conversation import is_small_talk
from bot.facts import DIRECT
from bot.standing import lacking
from knowledge.answer_rows import save
from knowledge.answers import Answer, Question, as_json
from knowledge.errors import SettingsInvalid
from knowledge.receipts import asked_at, reply_at
from knowledge.why import explain, passages

MESSAGE_LINK = re.compile(r"/archives/([A-Z0-9]+)/p(\d+)(\d{6})\b")
"""As *Copy link* gives it: the channel's id, then the message's ts without its dot."""


def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    asker: As,
    place: In = "dm",
    config: Config = None,
    json: Json = False,
) -> None:
    """Answer one question as ASKER would get it in PLACE."""
    with engine(config) as (chosen, opened):
        opened.narrow(chosen.sources)
        found = reader(chosen, opened.database, asker, place)
        if is_small_talk(question):
            return print_json({"said": wording.HELP, "notes": found.notes}) if json else say(wording.HELP)
        asked = Question(question, found.person, found.place)
        opened.answerer.warm()
        answer = opened.answerer.answer(asked, found.decision.allowed)
        if found.decision.allowed:
            with opened.database.writing() as connection:
                save(connection, answer, asked, found.decision.allowed, found.decision.denials)
    said = _said(answer, found)
    if json:
        return print_json({**as_json(answer, found.decision.allowed), "said": said, "notes": found.notes})
    say(said)
    for note in found.remarks:
        say(f"\nnote: {note}")
    if found.decision.allowed:
        say(f"\nwhy: {command(config, 'why', answer.id, '--as', asker)}")


def access(asker: As, place: In = "dm", config: Config = None, json: Json = False) -> None:
    """Show what a reply to ASKER in PLACE may use. For each scope of theirs or of a source that it may not use, why."""
    chosen = settings(config)
    if chosen.slack.facts is not None:
        found = reader(chosen, None, asker, place)
    else:
        with engine(config) as (_, opened):
            found = reader(chosen, opened.database, asker, place)
    verdict = found.decision
    indexed = {scope for source in chosen.sources for scope in source.scopes}
    denials = (*verdict.denials, *(lacking(found.person, indexed - verdict.held) if verdict.held else ()))
    if json:
        denied = [{"scope": d.scope, "reason": d.reason} for d in denials]
        print_json({"notes": found.notes, "allowed_scopes": sorted(verdict.allowed), "denied": denied})
        return
    for note in found.remarks:
        say(f"note:    {note}")
    say("allowed: " + (", ".join(map(found.named, sorted(verdict.allowed))) or "nothing"))
    for denial in denials:
        say("denied:  " + found.named(f"{denial.scope}: {denial.reason}"))


def why(
    answer: Annotated[
        str,
        typer.Argument(help="An answer's id, as `ask` prints it, or the link of its message or its question in Slack."),
    ],
    asker: As,
    config: Config = None,
    json: Json = False,
) -> None:
    """Show what an answer's search found, and what went wrong. As far as ASKER may know."""
    with engine(config) as (chosen, opened):
        opened.narrow(chosen.sources)
        scopes = decision(chosen, opened.database, asker, "dm").allowed
        with opened.database.plain() as connection:
            answer_id = _answer_id(connection, answer)
        explanation = explain(opened.database, answer_id, scopes)
        if explanation is None:
            raise SettingsInvalid(f"there is no answer {answer!r} that {asker} may read")
        found = passages(opened.database, explanation.answer, scopes)
    if json:
        return print_json(explanation.to_json())
    say(terminal.why(explanation, found))


def _answer_id(connection: Connection, answer: str) -> str:
    """The id itself, or the one behind the link of a message: the bot's, or the question's that it answered."""
    link = MESSAGE_LINK.search(answer)
    if link is None:
        return answer
    where = link[1], f"{link[2]}.{link[3]}"
    found = reply_at(connection, *where) or asked_at(connection, *where)
    return (found and found.answer_id) or answer


def _said(answer: Answer, found: Reader) -> str:
    """The words that Slack would show."""
    if not found.decision.allowed:
        return wording.NOTHING_ALLOWED_PLACE if found.decision.held else wording.NOTHING_ALLOWED_PERSON
    return terminal.reply(answer, blocks.lead(answer, direct=found.place == DIRECT))
