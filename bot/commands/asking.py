"""`footnote ask` and `footnote access`: the real pipeline and the real rule, without Slack."""

from typing import Annotated

import typer

from bot.blocks import label
from bot.commands.console import As, Config, In, Json, decision, engine, print_json, say, settings
from knowledge.answers import Answer, Question, as_json
from knowledge.errors import SettingsInvalid
from knowledge.why import explain


def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    asker: As,
    place: In = "dm",
    config: Config = None,
    json: Json = False,
) -> None:
    """Answer one question as ASKER would get it in PLACE."""
    with engine(config) as (chosen, opened):
        allowed = decision(chosen, opened.database, asker, place).allowed
        opened.answerer.warm()
        answer = opened.answerer.answer(Question(question, asker, place), allowed)
    if json:
        print_json(as_json(answer, allowed))
    else:
        _show(answer)


def access(asker: As, place: In = "dm", config: Config = None, json: Json = False) -> None:
    """Show which scopes a reply to ASKER in PLACE may use, and why the others are denied."""
    chosen = settings(config)
    if chosen.slack.facts is not None:
        verdict = decision(chosen, None, asker, place)
    else:
        with engine(config) as (_, opened):
            verdict = decision(chosen, opened.database, asker, place)
    if json:
        denied = [{"scope": d.scope, "reason": d.reason} for d in verdict.denials]
        print_json({"allowed_scopes": sorted(verdict.allowed), "denied": denied})
        return
    say("allowed: " + (", ".join(sorted(verdict.allowed)) or "nothing"))
    for denial in verdict.denials:
        say(f"denied:  {denial.scope} ({denial.reason})")


def why(
    answer: Annotated[str, typer.Argument(help="An answer's id.")], asker: As, config: Config = None, json: Json = False
) -> None:
    """Show what an answer's search found, at which ranks, and what went wrong with it, as far as ASKER may know."""
    with engine(config) as (chosen, opened):
        scopes = decision(chosen, opened.database, asker, "dm").allowed
        explanation = explain(opened.database, answer, scopes)
    if explanation is None:
        raise SettingsInvalid(f"there is no answer {answer!r} that {asker} may read")
    if json:
        print_json(explanation.to_json())
        return
    stored, found = explanation.answer, explanation.diagnosis
    say(f"{stored.outcome}: {stored.question}")
    for denial in explanation.denials:
        say(f"denied:  {denial.scope} ({denial.reason})")
    for stage, hits in stored.stages.get("stages", {}).items():
        say(f"  {stage}: {len(hits)} chunks")
    if found is None:
        say("nobody has said which source was right; label it, then ask again")
    else:
        ranks = ", ".join(f"{stage} {rank or 'absent'}" for stage, rank in found.ranks.items())
        say(f"{found.bucket.replace('_', ' ')} ({found.cause}); rank of the right passage: {ranks}")


def _show(answer: Answer) -> None:
    say(answer.text)
    if answer.citations:
        say()
    for cited in answer.citations:
        updated = f", {cited.updated_at:%Y-%m-%d}" if cited.updated_at else ""
        say(f"[{cited.n}] {label(cited.title, cited.heading_path)}{updated}  {cited.url}".rstrip())
