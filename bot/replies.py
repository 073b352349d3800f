"""Sending: status, messages exactly once, whispers to one person, changes of what was sent.

Once: each message carries the id of the event it answers. Whoever takes over from a process that died looks for those
marks in the thread before posting anything, so a message that was sent but not yet noted is found, not repeated.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import structlog
from slack_sdk import WebClient
from slack_sdk.webhook import WebhookClient

from bot import wording
from bot.blocks import Post, notice, plain
from bot.client import FAILURES, Identity
from bot.conversation import Asked
from bot.errors import Closed, SlackUnavailable, Undeliverable
from bot.failures import GONE, NOWHERE, code, translated
from bot.traces import MARK, UNFINISHED, Traces
from knowledge import rates, receipts
from knowledge.db import Database
from knowledge.receipts import Receipt, Reply

log = structlog.get_logger()

TITLE_CHARS = 100
PAUSES_S = (0.5, 2.0)
"""Before a message whose fate is unknown is looked for and, if it is not there, sent again."""


STREAMS_A_MINUTE, ADDITIONS_A_MINUTE = 20, 100
"""Slack's tiers 2 and 4, for the whole workspace: https://docs.slack.dev/apis/web-api/rate-limits"""

PLAIN_BLOCKS = 2
"""What the plainest form of a reply consists of."""

TOO_MUCH = frozenset(
    {"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long", "invalid_attachments"}
)


class Replies:
    """Threads share it. Raises `Undeliverable` when there is no place for a message, `SlackUnavailable` when Slack is away."""

    def __init__(self, client: WebClient, database: Database, me: Identity) -> None:
        self._client = client
        self._database = database
        self._me = me
        self._traces = Traces(client, database, me)

    def status(self, channel: str, thread: str) -> None:
        """Show that the bot is at work. Nobody misses it when it fails; it ends with the reply or after two minutes."""
        try:
            self._client.assistant_threads_setStatus(channel_id=channel, thread_ts=thread, status=wording.STATUS)
        except FAILURES as error:
            log.info("status not shown", channel=channel, error=code(error))

    def title(self, asked: Asked, question: str) -> None:
        """Name a new thread of a direct conversation after its question. Nobody misses it when it fails."""
        if not asked.direct or asked.ts != asked.thread:
            return
        try:
            self._client.assistant_threads_setTitle(
                channel_id=asked.channel, thread_ts=asked.thread, title=" ".join(question.split())[:TITLE_CHARS]
            )
        except FAILURES as error:
            log.info("no title shown", channel=asked.channel, error=code(error))

    def thread(self, channel: str, root: str) -> list[Mapping[str, Any]]:
        """The messages of a thread, oldest first. Raises `SlackUnavailable`."""
        return self._traces.thread(channel, root)

    def send(
        self,
        receipt: Receipt,
        channel: str,
        thread: str | None,
        posts: Sequence[Post],
        answer_id: str | None = None,
        *,
        anew: bool = False,
    ) -> None:
        """Make a reply consist of `posts`: what is not there yet is posted, what is from another answer says these now.

        `thread` None: not in a thread. `anew`: what carries this very answer, or none, may say something else too.
        """
        sent = self._traces.sent(receipt, channel, thread) if anew or receipt.attempt > 1 else {}
        with self._database.plain() as connection:
            noted = {reply.part: reply for reply in receipts.replies_to(connection, receipt.id)}
        found = {part: Reply(channel, ts, receipt.id, part, None) for part, ts in sent.items()}
        for part, post in enumerate(posts):
            if part in noted and noted[part].answer_id == answer_id and not anew:
                continue
            reply = noted.get(part) or found.get(part)
            if reply is None or not self._says(reply, post, answer_id):
                ts = self._post(_Target(receipt, channel, thread, part), post, answer_id)
                reply = Reply(channel, ts, receipt.id, part, answer_id)
            self._note(replace(reply, answer_id=answer_id))
        for reply in (reply for part, reply in (found | noted).items() if part >= len(posts)):
            self.delete(reply)

    def change(self, reply: Reply, post: Post, answer_id: str | None = None) -> None:
        """Make a message say something else, plainly when Slack refuses its form. `answer_id`: what it then carries."""
        try:
            self._client.chat_update(channel=reply.channel, ts=reply.ts, **post.arguments())
        except FAILURES as error:
            if code(error) not in TOO_MUCH or len(post.blocks) <= PLAIN_BLOCKS:
                raise translated(error, "a reply could not be changed") from error
            log.warning("Slack refused a reply's form", inbox=reply.inbox_id, error=code(error))
            self.change(reply, plain(answer_id, post.text))

    def delete(self, reply: Reply) -> None:
        try:
            self._client.chat_delete(channel=reply.channel, ts=reply.ts)
        except FAILURES as error:
            if code(error) not in GONE:
                raise translated(error, "a reply could not be deleted") from error
        with self._database.plain() as connection:
            receipts.drop_reply(connection, reply)

    def whisper(self, channel: str, thread: str | None, person: str, post: Post) -> None:
        """Tell one person in a channel; in a direct conversation as a message of its own, which lasts."""
        place: dict[str, Any] = {"channel": channel, **({"thread_ts": thread} if thread else {})}
        try:
            if channel.startswith("D"):
                self._client.chat_postMessage(**place, **post.arguments())
            else:
                self._client.chat_postEphemeral(**place, user=person, text=post.text, blocks=list(post.blocks))
        except FAILURES as error:
            raise translated(error, "a private note could not be sent") from error

    def respond(self, url: str | None, post: Post, *, replace: bool = False) -> bool:
        """Answer a click or a command where it was made. False when its address is used up or expired."""
        if not url:
            return False
        try:
            answer = WebhookClient(url).send(
                text=post.text, blocks=list(post.blocks), response_type="ephemeral", replace_original=replace
            )
        except FAILURES as error:
            log.info("no answer to a click", error=code(error))
            return False
        return answer.status_code == 200

    def direct(self, person: str) -> str:
        """The channel of the conversation between the bot and a person."""
        try:
            return str(self._client.conversations_open(users=person)["channel"]["id"])
        except FAILURES as error:
            raise translated(error, "a direct conversation could not be opened") from error

    def open_stream(self, receipt: Receipt, asked: Asked, markdown: str) -> Reply | None:
        """Begin a reply that is still being written; None when the workspace's streams for this minute are used up."""
        if not self._take("chat.startStream", STREAMS_A_MINUTE):
            return None
        try:
            started = self._client.chat_startStream(
                channel=asked.channel,
                thread_ts=asked.thread,
                recipient_user_id=asked.asker,
                recipient_team_id=self._me.team,
                markdown_text=markdown,
            )
        except FAILURES as error:
            raise translated(error, "no stream was begun") from error
        return self._note(Reply(asked.channel, str(started["ts"]), receipt.id, 0, UNFINISHED))

    def append(self, reply: Reply, markdown: str) -> bool:
        """Show more of it; False when that is not possible any more: stopped by a person, too old, out of calls."""
        if not self._take("chat.appendStream", ADDITIONS_A_MINUTE):
            return False
        try:
            self._client.chat_appendStream(channel=reply.channel, ts=reply.ts, markdown_text=markdown)
        except FAILURES as error:
            log.info("a stream ended early", error=code(error))
            return False
        return True

    def hide(self, reply: Reply) -> None:
        """Take away at once what a stream has shown; the reply that follows takes its place."""
        self._says(reply, notice(wording.CHECKING_AGAIN), None)

    def _says(self, reply: Reply, post: Post, answer_id: str | None) -> bool:
        """Put `post` in the place of what is there, after the end of a preview; False when somebody has deleted it."""
        try:
            if reply.answer_id == UNFINISHED:
                self._end_stream(reply)
            self.change(reply, post, answer_id)
        except Closed:
            raise
        except Undeliverable:
            with self._database.plain() as connection:
                receipts.drop_reply(connection, reply)
            return False
        return True

    def _end_stream(self, reply: Reply) -> None:
        try:
            self._client.chat_stopStream(channel=reply.channel, ts=reply.ts)
        except FAILURES as error:
            log.info("the stream had ended", error=code(error))

    def _note(self, reply: Reply) -> Reply:
        with self._database.plain() as connection:
            receipts.add_reply(connection, reply)
        return reply

    def _take(self, method: str, a_minute: int) -> bool:
        with self._database.plain() as connection:
            return rates.take(connection, method, a_minute, burst=a_minute / 2)

    def _post(self, target: "_Target", post: Post, answer_id: str | None) -> str:
        """The message's ts. When its fate is unknown it is looked for before it is sent again."""
        for pause_s in (*PAUSES_S, None):
            try:
                return str(self._client.chat_postMessage(**target.arguments(), **post.arguments())["ts"])
            except FAILURES as error:
                refusal = code(error)
                if refusal in TOO_MUCH and len(post.blocks) > PLAIN_BLOCKS:
                    log.warning("Slack refused a reply's form", inbox=target.receipt.id, error=refusal)
                    post = plain(answer_id, post.text)
                    continue
                if pause_s is None or refusal in NOWHERE or refusal in TOO_MUCH:
                    raise translated(error, "a reply could not be sent") from error
            time.sleep(pause_s)
            if ts := self._traces.sent(target.receipt, target.channel, target.thread).get(target.part):
                return ts
        raise SlackUnavailable("Slack refused a reply in every form")


@dataclass(frozen=True)
class _Target:
    """One message of a reply, and where it goes."""

    receipt: Receipt
    channel: str
    thread: str | None
    part: int

    def arguments(self) -> dict[str, Any]:
        payload = {"event": self.receipt.event_id, "part": self.part}
        place = {"channel": self.channel, "metadata": {"event_type": MARK, "event_payload": payload}}
        return {**place, "thread_ts": self.thread} if self.thread else place
