"""What `footnote doctor` and `footnote sync` find about the channels and people that the settings name by id."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.channel import refusal
from bot.check import Check
from bot.client import FAILURES, identify, web_client
from bot.enquiries import Enquiries
from bot.errors import SlackUnavailable
from bot.facts import WorkspaceFacts
from bot.logs import redact
from bot.settings import Settings
from bot.standing import kind_of
from knowledge import spelling
from knowledge.errors import FootnoteError, SettingsInvalid
from knowledge.permissions import PersonKind
from knowledge.settings import Source

DIGEST = "schedule.digest_channel"
SYNC_PATIENCE_S = 5


@dataclass(frozen=True)
class Use:
    """Where the settings name somebody, of what `kinds` they have to be there, and in words."""

    setting: str
    kinds: frozenset[PersonKind]
    wanted: str


def look(settings: Settings, client: WebClient, team: str) -> Iterator[Check]:
    """A line for each that does not do what it is named for, else one for all; none when nothing is named.

    Slack is asked for each once.
    """
    channels, people = _channels(settings), _people(settings)
    found = _unfit(client, team, channels, people)
    yield from found
    if not found and (channels or people):
        counts = f"channels: {len(channels)}, people and bots: {len(people)}"
        yield Check("ids in the settings", "ok", f"Slack knows all of them; {counts}")


def _unfit(
    client: WebClient, team: str, channels: Mapping[str, list[str]], people: Mapping[str, list[Use]]
) -> list[Check]:
    enquiries = Enquiries(client, team)
    found = [check for channel, names in channels.items() for check in _channel(client, channel, names)]
    return found + [check for person, uses in people.items() for check in _person(enquiries, person, uses)]


def doubts(settings: Settings, sources: Collection[str]) -> tuple[str, ...]:
    """What to say of ids in the scopes of these sources that let nobody in, because they are misspelt or not there.

    By the workspace file when there is one, else by Slack; nothing when neither can be asked.
    """
    chosen = tuple(source for source in settings.sources if source.name in sources and source.kind != "slack")
    if settings.slack.facts is not None:
        return tuple(_not_in_file(settings.slack.facts, chosen))
    channels, people = _channels_in_scopes(chosen), _by_person(_people_in_scopes(chosen))
    if settings.slack.bot_token is None or not (channels or people):
        return ()
    client = web_client(settings.slack, SYNC_PATIENCE_S)
    try:
        found = _unfit(client, identify(client).team, channels, people)
    except FootnoteError:  # a sync needs no Slack; `footnote doctor` says why there is none
        return ()
    return tuple(f"{check.name}: {check.says}" for check in found)


def _not_in_file(file: Path, sources: Sequence[Source]) -> Iterator[str]:
    try:
        known = WorkspaceFacts.read(file).ids
    except SettingsInvalid as error:
        yield str(error)
        return
    for source in sources:
        for scope in source.scopes:
            kind, _, named = scope.partition(":")
            if named and named not in known:
                hint = spelling.hint(named, known, "compare the id with those in the file")
                what = "channel" if kind == "channel" else "person"
                yield f"scopes of {source.name}: {file.name} has no {what} {named}, so it lets nobody in; {hint}"


def _channels(settings: Settings) -> dict[str, list[str]]:
    """The settings that name a channel, by its id."""
    named = _channels_in_scopes(settings.sources)
    if settings.schedule.digest_channel is not None:
        named.setdefault(settings.schedule.digest_channel, []).append(DIGEST)
    return named


def _channels_in_scopes(sources: Iterable[Source]) -> dict[str, list[str]]:
    """A source that is a channel itself is read by a check of its own."""
    named: dict[str, list[str]] = {}
    for source in (source for source in sources if source.kind != "slack"):
        for channel in _ids(source.scopes, "channel:"):
            named.setdefault(channel, []).append(f"scopes of {source.name}")
    return named


def _people(settings: Settings) -> dict[str, list[Use]]:
    uses = _people_in_scopes(settings.sources)
    uses += [(p, Use("slack.admins", frozenset({PersonKind.MEMBER}), "a full member")) for p in settings.slack.admins]
    bot = "a bot, whose member ID begins with U"
    uses += [(p, Use("slack.trusted_bots", frozenset({PersonKind.BOT}), bot)) for p in settings.slack.trusted_bots]
    return _by_person(uses)


def _people_in_scopes(sources: Iterable[Source]) -> list[tuple[str, Use]]:
    readers = frozenset({PersonKind.MEMBER, PersonKind.GUEST})
    return [
        (person, Use(f"scopes of {source.name}", readers, "a member or a guest of this workspace"))
        for source in sources
        for person in _ids(source.scopes, "user:")
    ]


def _by_person(uses: Sequence[tuple[str, Use]]) -> dict[str, list[Use]]:
    return {person: [use for each, use in uses if each == person] for person, _ in uses}


def _ids(scopes: tuple[str, ...], prefix: str) -> list[str]:
    return [scope.removeprefix(prefix) for scope in dict.fromkeys(scopes) if scope.startswith(prefix)]


def _channel(client: WebClient, channel: str, settings: list[str]) -> Iterator[Check]:
    name = ", ".join(settings)
    try:
        facts: Mapping[str, object] = client.conversations_info(channel=channel)["channel"]
    except SlackApiError as error:
        yield Check(name, "fail", redact(refusal(channel, error)))
    except FAILURES as error:
        yield Check(name, "fail", f"Slack does not tell of channel {channel}: {redact(str(error))}", "try again")
    else:
        if DIGEST in settings and facts.get("is_archived"):
            yield Check(DIGEST, "fail", f"channel {channel} is archived", "name another, or unarchive it")
        elif DIGEST in settings and facts.get("is_member") is False:
            yield Check(DIGEST, "fail", f"the bot is not in channel {channel}", "/invite it to the channel")


def _person(enquiries: Enquiries, person: str, uses: list[Use]) -> Iterator[Check]:
    try:
        kind = PersonKind(enquiries.person(person)["kind"])
    except SlackUnavailable as error:
        yield Check(uses[0].setting, "fail", redact(str(error)), "try again")
        return
    for use in uses:
        if kind not in use.kinds:
            yield Check(use.setting, "warn", kind_of(person, kind), f"name {use.wanted}, or take the id out")
