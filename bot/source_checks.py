"""What `footnote doctor` finds about sources: whether they can be read now, and what became of their last sync."""

from collections.abc import Iterator, Mapping
from contextlib import closing

from slack_sdk.errors import SlackApiError

from bot.channel import refusal
from bot.check import Check, counted
from bot.client import FAILURES, web_client
from bot.logs import redact
from bot.settings import Settings, Slack
from knowledge.activity import LastSync
from knowledge.db import Database
from knowledge.errors import FootnoteError
from knowledge.foreseen import foreseen
from knowledge.overlaps import overlaps
from knowledge.settings import Source
from knowledge.sources import Listed, open_source
from knowledge.strays import Stray, strays


def synced(database: Database, settings: Settings, syncs: Mapping[str, LastSync]) -> Iterator[Check]:
    """A warning for each source whose last sync failed or refused to delete, for each that the settings do not have, and
    for each two of which one shows the other's documents to more people."""
    sources = settings.sources
    names = [source.name for source in sources]
    for name, last in ((name, syncs[name]) for name in names if name in syncs):
        if last.error:
            remedy = "" if "--allow-deletions" in last.error else f"once that is mended, run `footnote sync {name}`"
            yield Check(f"last sync of {name}", "warn", redact(last.error), remedy)
        elif last.outdated:
            yield Check(f"last sync of {name}", "warn", last.outdated)
    for stray in strays(database, names):
        yield _stray(settings, stray)
    told = {frozenset({each.outer, each.inner}): each for each in overlaps(database, sources)}
    to_come = {frozenset({each.outer, each.inner}): each for each in foreseen(database, sources, _there)}
    for shared in (to_come | told).values():
        yield Check(f"sources {shared.outer} and {shared.inner}", "warn", shared.says, shared.remedy)


def _stray(settings: Settings, stray: Stray) -> Check:
    name = f"source {stray.name}"
    if lack := settings.no_file:  # whether it is to go cannot be known here
        return Check(name, "warn", f"in the index with {stray.counted}; {lack.says} to name it", lack.remedy)
    return Check(name, "warn", stray.says, f"put it back, or {stray.removal}")


def look(slack: Slack, source: Source, last: LastSync | None) -> Check:
    """Whether the source can be read at this moment, how much there is, and how much of it the last sync took.

    `last` None: there was none, or the database does not tell.
    """
    now, count = (_channel(slack, source), None) if source.kind == "slack" else _listed(source)
    if now.state != "ok" or last is None:
        return now
    says = f"{now.says}; {_taken(last, count)}"
    if not (last.left_out or last.nobodys or last.partly):
        return Check(now.name, "ok", says)
    return Check(now.name, "warn", says, f"`footnote sync {source.name}` names them, each with the reason")


def _taken(last: LastSync, listed: int | None) -> str:
    """What became of the documents, in numbers that add up to those `listed`; None: other things are counted there."""
    faults = {"that nobody may read": last.nobodys, "only in part or with a fault": last.partly}
    faulty = ", ".join(f"{count} {how}" for how, count in faults.items() if count)
    said = [f"{last.indexed} in the index" + (f" ({faulty})" if faulty else "")]
    if last.left_out:
        said.append(f"{last.left_out} left out by the last sync")
    since = 0 if listed is None else listed - last.indexed - last.left_out
    if since:
        said.append(f"{since} not synced yet" if since > 0 else f"{-since} of them not listed any more")
    return ", ".join(said)


def _there(source: Source) -> tuple[Listed, ...]:
    """Nothing of a source that cannot be listed: `look` says so."""
    try:
        with closing(open_source(source)) as opened:
            return tuple(opened.list({}))
    except (FootnoteError, OSError):
        return ()


def _listed(source: Source) -> tuple[Check, int]:
    """The check, and how many documents are there now."""
    name = f"source {source.name}"
    try:
        with closing(open_source(source)) as opened:
            count = len(tuple(opened.list({})))
    except (FootnoteError, OSError) as error:
        return Check(name, "fail", redact(str(error)), "check its location and that this process may read it"), 0
    if not count:
        return Check(name, "warn", "no documents", "check its location and `include`"), 0
    return Check(name, "ok", f"{counted(count, 'document')} listed"), count


def _channel(slack: Slack, source: Source) -> Check:
    name, channel = f"source {source.name}", source.location
    try:
        client = web_client(slack)
        client.conversations_history(channel=channel, limit=1)
        count = client.files_list(channel=channel, count=1)["paging"]["total"]
    except SlackApiError as error:
        return Check(name, "fail", redact(refusal(channel, error)), "only channels that the bot is in can be sources")
    except (FootnoteError, *FAILURES) as error:
        return Check(name, "fail", redact(str(error)), "connect Slack; a channel is read with the bot's token")
    return Check(name, "ok", f"channel {channel}, {counted(count, 'file')}")
