"""Slack's own notation, both ways: what people wrote → readable text, our text → safe notation. Pure."""

import re
import unicodedata
from collections.abc import Mapping
from urllib.parse import quote

ENTITY = re.compile(r"<([^<>\n]+)>(?=(\S?))")
LABELLED = re.compile(r"<[^<>|\n]+\|([^<>\n]*)>")
INVISIBLE = re.compile("[\u200b\u2060\ufeff\u00ad]")
JOINERS = re.compile(r"(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])")
"""Zero-width joiners carry meaning inside emoji and several scripts; beside plain ASCII they are debris."""
DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""They turn the order of what stands beside them: `gpj.exe` could be read as `exe.jpg`."""
SPACES = re.compile(r"[^\S\n]+")
QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'"})
LIVE = re.compile(r"<(?=[!@#])")
SAFE_IN_URL = "%/:=&?~#+!$,;'@()*[]"


def mentions(text: str) -> tuple[set[str], set[str]]:
    """Ids of the people and of the channels that a message names."""
    people = set(re.findall(r"<@([UW][A-Z0-9]+)", text))
    return people, set(re.findall(r"<#([CG][A-Z0-9]+)", text))


def without_mention(text: str, user: str) -> str:
    """`text` without any mention of `user`, wherever it stands, and without the comma or colon behind one."""
    return re.sub(rf"<@{re.escape(user)}(\|[^>]*)?>[,:]?", " ", text).strip()


def readable(text: str, names: Mapping[str, str]) -> str:
    """What a person reads: names for mentions, label and address for links, `&`, `<` and `>` decoded once.

    `names`: by id of a person or channel; without one the label Slack sent, else the id, is shown.
    """
    text = ENTITY.sub(lambda match: _entity(match[1], match[2], names), text)
    return tidy(_decoded(text))


def unmarked(text: str) -> str:
    """Text of ours as it is read in Slack: a link is its label alone, fences and signs are gone; spaces stay as they are."""
    lines = _decoded(LABELLED.sub(r"\1", text)).replace(":warning: ", "").split("\n")
    return "\n".join(line for line in lines if line != "```")


def tidy(text: str) -> str:
    """Straight quotes, ordinary spaces, nothing invisible."""
    text = JOINERS.sub("", INVISIBLE.sub("", text)).translate(QUOTES)
    return "\n".join(SPACES.sub(" ", line).strip() for line in text.split("\n")).strip()


def bare(text: str) -> str:
    """Only the words, for comparing with a command: full-width letters made plain, no quotes or punctuation, lower case."""
    words = re.sub(r":[a-z0-9_+-]+:", " ", unicodedata.normalize("NFKC", tidy(text)).casefold())
    return " ".join(re.sub(r"[^\w\s'?]", " ", words, flags=re.UNICODE).split())


def escape(text: str) -> str:
    """Text of ours or of a document as Slack must get it: nothing in it is a mention, a link or markup of a channel, or
    turns the text around it."""
    return DIRECTIONS.sub("", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def link(url: str, label: str) -> str:
    """A link with a label; only the label where the address is not one for a browser."""
    shown = isolated(escape(SPACES.sub(" ", label.replace("|", "¦").replace("\n", " ")).strip() or url))
    target = safe_url(url)
    return f"<{target}|{shown}>" if target else shown


def isolated(text: str) -> str:
    """Right-to-left text kept apart from the numbers and dates beside it, whose order it would change."""
    return f"\u2068{text}\u2069" if any(unicodedata.bidirectional(c) in ("R", "AL") for c in text) else text


def safe_url(url: str) -> str:
    """The address with everything encoded that would end it early; empty unless it is http, https or mailto."""
    if not re.match(r"(https?://|mailto:)[^\s]", url, re.IGNORECASE):
        return ""
    return quote(url, safe=SAFE_IN_URL).replace("&", "&amp;")


def defused(text: str) -> str:
    """Text that may not be escaped, such as code: whatever would notify people is broken by an invisible character."""
    return LIVE.sub("<\u200b", text)


def _decoded(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _entity(inside: str, after: str, names: Mapping[str, str]) -> str:
    """`after`: the character behind it; an address is kept apart from it."""
    target, _, label = inside.partition("|")
    match target[:1]:
        case "@":
            return "@" + (names.get(target[1:]) or label or target[1:]).lstrip("@")
        case "#":
            return "#" + (names.get(target[1:]) or label or target[1:])
        case "!":
            shown = label or target[1:].split("^")[0]
            return shown if target.startswith("!date") else "@" + shown.lstrip("@")
        case _:
            address = target.removeprefix("mailto:")
            labelled = f"{label} {address}" if label and label != address and label not in address else address
            return f"{labelled} " if after else labelled
