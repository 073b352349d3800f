"""Who can read what inside the local workspace, as Slack itself decides it. Pure."""

from bot.local_slack.workspace import Channel, Person


def may_read(person: Person, channel: Channel) -> bool:
    """Members read their conversations; a full member also reads every public channel without joining."""
    if person.kind == "deactivated":
        return False
    return person.id in channel.members or (channel.kind == "public" and person.is_full_member)


def may_write(person: Person, channel: Channel) -> bool:
    return person.kind != "deactivated" and person.id in channel.members and not channel.archived
