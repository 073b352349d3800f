"""Facts about people and channels from a workspace file, so that rights can be tried from the shell without Slack."""

from collections.abc import Mapping
from pathlib import Path

from bot.local_slack.errors import WorkspaceError
from bot.local_slack.workspace import Channel, Workspace, load_workspace
from knowledge import near_paths
from knowledge.errors import SettingsInvalid
from knowledge.permissions import Decision, Person, PersonKind, Place, PlaceKind, decide

DIRECT = "dm"
"""The name of the place that is read by the asker alone."""

_PERSON = {
    "member": PersonKind.MEMBER,
    "guest": PersonKind.GUEST,
    "single_channel_guest": PersonKind.GUEST,
    "external": PersonKind.EXTERNAL,
    "bot": PersonKind.BOT,
    "deactivated": PersonKind.DEACTIVATED,
}
_PLACE = {"public": PlaceKind.PUBLIC, "private": PlaceKind.PRIVATE, "group_dm": PlaceKind.GROUP_DM}


class WorkspaceFacts:
    """The people and channels of one workspace file; `decide` has the meaning of the live directory's."""

    def __init__(self, workspace: Workspace, trusted_bots: frozenset[str] = frozenset()) -> None:
        self._people = {key: p for p in workspace.people for key in (p.id, p.name)}
        self._channels = {key: c for c in workspace.channels for key in (c.id, c.name)}
        self._public = frozenset(c.id for c in workspace.channels if c.kind == "public")
        self._trusted_bots = trusted_bots

    @classmethod
    def read(cls, file: Path, trusted_bots: frozenset[str] = frozenset()) -> "WorkspaceFacts":
        """Raises `SettingsInvalid` when the file cannot be read or is not a workspace."""
        try:
            return cls(load_workspace(file), trusted_bots)
        except WorkspaceError as error:
            remedy = _remedy(file) if isinstance(error.__cause__, OSError) else ""
            raise SettingsInvalid(f"slack.facts: {error}{remedy}") from error

    def decide(self, asker: str, place: str) -> Decision:
        """What a reply to `asker` in `place` may use; both by id or name, `dm` for a direct message.

        Raises `SettingsInvalid` for a name that is not in the file.
        """
        return decide(self.person(asker), self.place(place), self._public, self._trusted_bots)

    def person(self, key: str) -> Person:
        """By id or name. Raises `SettingsInvalid` like `decide`."""
        found = self._people.get(key.removeprefix("@"))
        if found is None:
            raise SettingsInvalid(f"nobody is called {key!r}; the workspace file has {self._names(self._people)}")
        inside = frozenset(c.id for c in self._channels.values() if found.id in c.members)
        return Person(found.id, _PERSON.get(found.kind, PersonKind.UNKNOWN), inside)

    def place(self, key: str) -> Place:
        """By id or name, `dm` for a direct message. Raises `SettingsInvalid` like `decide`."""
        if key == DIRECT:
            return Place(DIRECT, PlaceKind.DIRECT)
        channel = self._channels.get(key.removeprefix("#"))
        if channel is None:
            raise SettingsInvalid(
                f"no place is called {key!r}; the workspace file has {self._names(self._channels)}, dm"
            )
        return Place(
            channel.id,
            _PLACE.get(channel.kind, PlaceKind.UNKNOWN),
            has_guests=any(self._people[m].is_guest for m in channel.members if m in self._people),
            shared=channel.shared or channel.pending_shared or self._outsiders(channel),
        )

    @property
    def people(self) -> frozenset[str]:
        """Everybody's ids."""
        return frozenset(p.id for p in self._people.values())

    @property
    def ids(self) -> frozenset[str]:
        """Of everybody and of every channel."""
        return self.people | {c.id for c in self._channels.values()}

    @property
    def names(self) -> Mapping[str, str]:
        """Of everybody and of every channel (with a #), by id."""
        people = {p.id: p.name for p in self._people.values()}
        return people | {c.id: f"#{c.name}" for c in self._channels.values()}

    def _outsiders(self, channel: Channel) -> bool:
        return any(self._people[m].kind == "external" for m in channel.members if m in self._people)

    @staticmethod
    def _names(entries: Mapping[str, object]) -> str:
        return ", ".join(sorted({str(getattr(e, "name", e)) for e in entries.values()}))


def _remedy(file: Path) -> str:
    near = near_paths.nearest(file, Path.is_file)
    return f"; did you mean {near}?" if near else "; correct `facts` in [slack] of footnote.toml, or take it out"
