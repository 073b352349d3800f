"""A Slack channel as a source of documents: files that people shared in it, and threads worth keeping.

A thread is kept when a message that the channel shows carries the configured reaction, or when an answer of the bot in
it has more votes for than against it and people wrote more than the question. Pictures, sound and film, canvases and
files that lie outside Slack are left out. Whatever a document says, its readers are the channel's.
"""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from bot import threads
from bot.channel import Channel
from bot.client import Identity, identify, web_client
from bot.directory import Directory
from bot.downloads import Downloads
from bot.errors import SlackMisconfigured, SlackUnavailable
from bot.settings import Slack, channel_scopes
from knowledge import votes
from knowledge.db import Database
from knowledge.errors import SourceFailed
from knowledge.index import Opener
from knowledge.settings import Source
from knowledge.sources import Listed
from knowledge.sources.globs import wanted

Json = Mapping[str, Any]

PATIENCE_S = 120
"""The longest that one call of a sync waits because Slack asked for it; no person waits for a sync."""
KEPT_MODES = frozenset({"hosted", "snippet"})
MEDIA = ("image/", "video/", "audio/")


def opener(slack: Slack, database: Database) -> Opener:
    """Opens sources of the kind `slack`."""
    return lambda source: ChannelSource(source, slack, database)


class ChannelSource:
    """Connects when it is listed. Documents are called `threads/TS.md` and `files/ID/NAME`."""

    def __init__(self, settings: Source, slack: Slack, database: Database) -> None:
        """Raises `SettingsInvalid` when the source has other readers than its channel."""
        self._scopes = channel_scopes(settings)
        self._settings = settings
        self._slack = slack
        self._database = database
        token = slack.bot_token.get_secret_value() if slack.bot_token else ""
        self._downloads = Downloads(token, slack.api_url, settings.max_file_mb, PATIENCE_S)
        self._threads: dict[str, bytes] = {}
        self._files: dict[str, Json] = {}

    def list(self, known: Mapping[str, str]) -> list[Listed]:
        """Raises `SourceFailed` when anything that is asked for stays without an answer."""
        try:
            client = web_client(self._slack, PATIENCE_S)
            me = identify(client)
        except (SlackMisconfigured, SlackUnavailable) as error:
            raise SourceFailed(f"{error}; nothing was deleted") from error
        channel = Channel(client, self._settings.location)
        directory = Directory(client, self._database, self._slack, me)
        listed = [*self._list_threads(channel, directory, me), *self._list_files(channel, me)]
        return [item for item in listed if wanted(item.external_id, self._settings.include, self._settings.exclude)]

    def read(self, external_id: str) -> bytes:
        thread = self._threads.get(external_id)
        return self._downloads.fetch(self._files[external_id]) if thread is None else thread

    def close(self) -> None:
        self._downloads.close()

    def _list_threads(self, channel: Channel, directory: Directory, me: Identity) -> tuple[Listed, ...]:
        marked = {
            str(m.get("thread_ts") or m["ts"]) for m in channel.history() if _carries(m, self._slack.keep_reaction)
        }
        with self._database.writing() as connection:
            accepted = votes.accepted_threads(connection, self._settings.location)
        listed = []
        for ts in sorted(marked | accepted):
            messages = channel.thread(ts)
            thread = threads.written(messages, me, directory.names(*threads.named(messages), self._settings.location))
            if thread is None or (thread.messages < 2 and ts not in marked):
                continue
            external_id, content = f"threads/{ts}.md", thread.markdown.encode()
            self._threads[external_id] = content
            revision = hashlib.sha256(content).hexdigest()
            url = channel.permalink(ts)
            listed.append(Listed(external_id, revision, url, thread.updated_at, dated=True, scopes=self._scopes))
        return tuple(listed)

    def _list_files(self, channel: Channel, me: Identity) -> tuple[Listed, ...]:
        files = [file for file in channel.files() if _is_document(file) and file.get("user") != me.user]
        self._files = {_external_id(file): file for file in files}
        return tuple(self._listed_file(external_id, file) for external_id, file in self._files.items())

    def _listed_file(self, external_id: str, file: Json) -> Listed:
        changed = max(int(file.get("timestamp") or 0), int(file.get("updated") or 0))
        return Listed(
            external_id,
            revision=f"{file.get('size')}-{changed}",
            url=str(file.get("permalink") or ""),
            updated_at=datetime.fromtimestamp(changed, UTC) if changed else None,
            dated=bool(changed),
            scopes=self._scopes,
        )


def _carries(message: Json, reaction: str) -> bool:
    return any(str(each["name"]).split("::")[0] == reaction for each in message.get("reactions") or ())


def _is_document(file: Json) -> bool:
    return file.get("mode") in KEPT_MODES and not str(file.get("mimetype") or "").startswith(MEDIA)


def _external_id(file: Json) -> str:
    name = "".join(c for c in str(file.get("name") or file["id"]).replace("/", "_") if c.isprintable())
    return f"files/{file['id']}/{name}"
