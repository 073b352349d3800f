"""What `footnote doctor` finds about sources: whether they can be read now, and what became of their last sync."""

from collections.abc import Iterator, Sequence
from contextlib import closing

from slack_sdk.errors import SlackApiError

from bot.channel import refusal
from bot.check import Check, counted
from bot.client import FAILURES, web_client
from bot.logs import redact
from bot.settings import Slack
from knowledge.activity import failed_syncs
from knowledge.db import Database
from knowledge.errors import FootnoteError
from knowledge.settings import Source
from knowledge.sources import open_source
from knowledge.strays import strays


def synced(database: Database, sources: Sequence[Source]) -> Iterator[Check]:
    """A warning for each source whose last sync failed or refused to delete, and for each that the settings do not have."""
    names = [source.name for source in sources]
    with database.plain() as connection:
        failed = failed_syncs(connection)
    for name, error in ((name, failed[name]) for name in names if name in failed):
        remedy = "" if "--allow-deletions" in error else f"mend that, and run `footnote sync {name}`"
        yield Check(f"last sync of {name}", "warn", redact(error), remedy)
    for stray in strays(database, names):
        yield Check(f"source {stray.name}", "warn", stray.says, f"put it back, or {stray.removal}")


def look(slack: Slack, source: Source) -> Check:
    """Whether the source can be read at this moment, and how much there is."""
    return _channel(slack, source) if source.kind == "slack" else _listed(source)


def _listed(source: Source) -> Check:
    name = f"source {source.name}"
    try:
        with closing(open_source(source)) as opened:
            count = len(tuple(opened.list({})))
    except (FootnoteError, OSError) as error:
        return Check(name, "fail", redact(str(error)), "check its location and that this process may read it")
    if not count:
        return Check(name, "warn", "no documents", "check its location and `include`")
    return Check(name, "ok", counted(count, "document"))


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
