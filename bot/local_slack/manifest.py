"""What the app under test declared to Slack: scopes, subscribed events, slash commands, shortcuts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

DEFAULT_MANIFEST = Path(__file__).parent.parent / "manifest.yml"


@dataclass(frozen=True)
class Command:
    name: str
    description: str = ""
    usage_hint: str = ""


@dataclass(frozen=True)
class Shortcut:
    """A message or global shortcut; `kind` is "message" or "global"."""

    callback_id: str
    name: str
    kind: str = "message"


@dataclass(frozen=True)
class Prompt:
    title: str
    message: str


@dataclass(frozen=True)
class Manifest:
    scopes: frozenset[str]
    events: frozenset[str]
    commands: tuple[Command, ...] = ()
    shortcuts: tuple[Shortcut, ...] = ()
    prompts: tuple[Prompt, ...] = ()


def load_manifest(path: Path = DEFAULT_MANIFEST) -> Manifest:
    """Read a Slack app manifest in YAML, the very file a workspace administrator pastes into Slack."""
    return parse_manifest(yaml.safe_load(path.read_text(encoding="utf-8")))


def parse_manifest(document: Mapping[str, Any]) -> Manifest:
    features = document.get("features", {})
    agent: Mapping[str, Any] = features.get("agent_view") or features.get("assistant_view") or {}
    prompts: Sequence[Mapping[str, str]] = agent.get("suggested_prompts", ())
    return Manifest(
        scopes=frozenset(document["oauth_config"]["scopes"]["bot"]),
        events=frozenset(document["settings"]["event_subscriptions"]["bot_events"]),
        commands=tuple(
            Command(each["command"], each.get("description", ""), each.get("usage_hint", ""))
            for each in features.get("slash_commands", ())
        ),
        shortcuts=tuple(
            Shortcut(each["callback_id"], each["name"], each["type"]) for each in features.get("shortcuts", ())
        ),
        prompts=tuple(Prompt(each["title"], each["message"]) for each in prompts),
    )
