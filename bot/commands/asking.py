"""`footnote ask` and `footnote access`: the real pipeline and the real rule, without Slack."""

from typing import Annotated

import typer

from bot.commands.console import As, Config, In, Json, decision, engine, print_json, say, settings
from knowledge.answers import Answer, Question


def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    asker: As,
    place: In = "dm",
    config: Config = None,
    json: Json = False,
) -> None:
    """Answer one question as ASKER would get it in PLACE."""
    with engine(config) as (chosen, opened):
        allowed = decision(chosen, asker, place).allowed
        answer = opened.answerer.answer(Question(question, asker, place), allowed)
    if json:
        print_json(answer.to_json(allowed))
    else:
        _show(answer)


def access(asker: As, place: In = "dm", config: Config = None, json: Json = False) -> None:
    """Show which scopes a reply to ASKER in PLACE may use, and why the others are denied."""
    verdict = decision(settings(config), asker, place)
    if json:
        print_json(
            {
                "allowed_scopes": sorted(verdict.allowed),
                "denied": [{"scope": d.scope, "reason": d.reason} for d in verdict.denials],
            }
        )
        return
    say("allowed: " + (", ".join(sorted(verdict.allowed)) or "nothing"))
    for denial in verdict.denials:
        say(f"denied:  {denial.scope} ({denial.reason})")


def _show(answer: Answer) -> None:
    say(answer.text)
    if answer.citations:
        say()
    for cited in answer.citations:
        updated = f", {cited.updated_at:%Y-%m-%d}" if cited.updated_at else ""
        say(f"[{cited.n}] {' › '.join((cited.title, *cited.heading_path))}{updated}  {cited.url}".rstrip())
