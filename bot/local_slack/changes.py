"""What can happen in the workspace: each change of state is one of these, told to every subscriber."""

from dataclasses import dataclass

from bot.local_slack.message import Message
from bot.local_slack.workspace import Channel, Person


@dataclass(frozen=True)
class Posted:
    message: Message


@dataclass(frozen=True)
class Edited:
    """`before` is the message as it was; `quiet` when Slack sends no event for it, as for a stream's pieces."""

    message: Message
    before: Message
    quiet: bool = False


@dataclass(frozen=True)
class Deleted:
    message: Message


@dataclass(frozen=True)
class Reacted:
    message: Message
    user: str
    reaction: str
    added: bool


@dataclass(frozen=True)
class Joined:
    channel: Channel
    user: str
    inviter: str | None = None


@dataclass(frozen=True)
class Left:
    channel: Channel
    user: str


@dataclass(frozen=True)
class ChannelChanged:
    """Archived, shared, renamed, converted; `before` is None for a channel that is new."""

    channel: Channel
    before: Channel | None


@dataclass(frozen=True)
class PersonChanged:
    """`before` is None for a person who is new."""

    person: Person
    before: Person | None


@dataclass(frozen=True)
class HomeOpened:
    """`tab` is "home" or "messages"; `channel` is the DM."""

    user: str
    tab: str
    channel: str


@dataclass(frozen=True)
class ViewChanged:
    """The Home tab or the modals of `user` changed."""

    user: str


@dataclass(frozen=True)
class StatusChanged:
    """The bot's "is thinking…" line, suggested prompts or title in one thread changed."""

    channel: str
    thread_ts: str


@dataclass(frozen=True)
class FileShared:
    file_id: str
    channel: str
    user: str


Change = (
    Posted
    | Edited
    | Deleted
    | Reacted
    | Joined
    | Left
    | ChannelChanged
    | PersonChanged
    | HomeOpened
    | ViewChanged
    | StatusChanged
    | FileShared
)
