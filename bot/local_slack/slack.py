"""The local Slack as one object: the workspace's state, the app's way to it, and what people do in it."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.routing import BaseRoute

from bot.local_slack.administration import Administration
from bot.local_slack.changes import Change
from bot.local_slack.clicks import Clicks
from bot.local_slack.clock import Clock
from bot.local_slack.delivery import Delivery, Envelope
from bot.local_slack.errors import WaitTimeout
from bot.local_slack.event import event_callback
from bot.local_slack.events import events_for
from bot.local_slack.faults import Fault, Faults
from bot.local_slack.http_events import HttpEvents
from bot.local_slack.limits import RateLimiter
from bot.local_slack.manifest import Manifest, load_manifest
from bot.local_slack.message import Message
from bot.local_slack.page_server import PageServer
from bot.local_slack.routes import build_app
from bot.local_slack.socket_mode import SocketMode
from bot.local_slack.state import State
from bot.local_slack.web_api import Call, Tokens, WebApi
from bot.local_slack.workspace import Channel, Workspace, load_workspace

Json = dict[str, Any]
Value = TypeVar("Value")


class LocalSlack(Clicks, Administration):
    """A workspace an unmodified Bolt app can live in. `serve` runs it; the methods are what people and networks do.

    `workspace` is a Workspace or the path of its file. `manifest` is the app's, by default the one beside the bot.
    With `rate_limits` the published limits answer 429; they are off by default, since a test suite would wait.
    """

    def __init__(
        self,
        workspace: Workspace | Path,
        manifest: Manifest | None = None,
        tokens: Tokens | None = None,
        *,
        rate_limits: bool = False,
    ) -> None:
        loaded = workspace if isinstance(workspace, Workspace) else load_workspace(workspace)
        self.tokens = tokens or Tokens()
        self.running = threading.Event()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.clock = Clock()
        self.faults = Faults()
        self.state = State(loaded, manifest or load_manifest(), self.clock)
        self.delivery = Delivery(self.clock, self.faults, self._notify)
        self.socket_mode = SocketMode(self.state, self.delivery)
        self.delivery.use(self.socket_mode)
        self.web_api = WebApi(self.state, self.tokens, self.faults, RateLimiter(enforced=rate_limits))
        self.state.subscribe(self._send_events)
        self.page = PageServer(self)
        self.app: Starlette = build_app(self, self.page)

    @property
    def calls(self) -> list[Call]:
        """Every Web API call so far, in order."""
        return self.web_api.calls

    def deliver_to(self, request_url: str) -> None:
        """Send events and interactions as signed HTTP requests instead of over Socket Mode."""
        self.delivery.use(HttpEvents(request_url, self.tokens.signing_secret, self.clock, self.delivery))
        self.delivery.wake()

    def add_route(self, route: BaseRoute) -> None:
        """Serve one more address, for what a company keeps beside its Slack. Links to it on the page say who is looking."""
        self.app.router.routes.append(route)

    # what a test looks at

    def wait_for(self, predicate: Callable[["LocalSlack"], Value | None], timeout: float = 10.0) -> Value:
        """Block until `predicate(self)` is true after some change, and return its value. Raises WaitTimeout."""
        with self.state.changed:
            value = self.state.changed.wait_for(lambda: predicate(self), timeout)
        if not value:
            recent = [
                f"{call.method}{'' if call.ok else ' ' + str(call.answer.get('error'))}" for call in self.calls[-10:]
            ]
            raise WaitTimeout(
                f"nothing in {timeout} s; connections: {len(self.socket_mode.connections)}; calls: {recent}"
            )
        return value

    def wait_for_reply(self, message: Message, number: int = 1, timeout: float = 30.0) -> Message:
        """The bot's `number`-th finished reply in the message's thread (finished: no longer streaming)."""
        return self.wait_for(lambda slack: next(iter(slack.replies(message)[number - 1 :]), None), timeout)

    def wait_for_connection(self, count: int = 1, timeout: float = 10.0) -> None:
        """Until the app has `count` Socket Mode connections."""
        self.wait_for(lambda slack: len(slack.socket_mode.connections) >= count, timeout)

    def wait_until_idle(self, timeout: float = 30.0) -> None:
        """Until every payload was acknowledged or given up."""
        self.wait_for(lambda slack: slack.delivery.idle, timeout)

    def replies(self, message: Message) -> list[Message]:
        """The bot's finished replies in a message's thread, oldest first."""
        now = self.clock.now()
        return [
            each
            for each in self.state.thread(message.channel, message.root)
            if each.from_bot and each.ts != message.ts and not (each.stream and each.stream.is_open(now))
        ]

    def ephemerals(self, user: str) -> list[Message]:
        """The messages only this person sees, oldest first."""
        person = self.state.person(user)
        return [message for message in self.state.ephemerals if message.only_for == person.id]

    def home(self, user: str) -> Json | None:
        """The Home tab as published for this person, None before that."""
        return self.state.views.homes.get(self.state.person(user).id)

    def modal(self, user: str) -> Json | None:
        """The modal on top of this person's screen, None when there is none."""
        stack = self.state.views.modals.get(self.state.person(user).id, [])
        return stack[-1] if stack else None

    def status(self, channel: str, thread_ts: str) -> str:
        """The bot's status line in a thread, "" when there is none."""
        status = self.state.statuses.get(self.state.channel(channel).id, thread_ts, self.clock.now())
        return status.text if status else ""

    def dm(self, user: str) -> Channel:
        """The conversation between a person and the bot."""
        return self.state.dm(user)

    # time and bad days

    def advance(self, seconds: float) -> None:
        """Move the workspace's clock forward."""
        self.clock.advance(seconds)
        self.delivery.wake()
        self._notify()

    def fault(
        self, kind: str, method: str = "", times: int = 1, seconds: float = 1.0, error: str = "internal_error"
    ) -> None:
        """Inject a fault; the kinds are listed in faults.Fault."""
        self.faults.add(Fault(kind, method, times, seconds, error))

    def _send_events(self, change: Change) -> None:
        for event in events_for(change, self.state):
            self.delivery.push(Envelope("events_api", event_callback(event, self.state)))

    def _notify(self) -> None:
        with self.state.changed:
            self.state.changed.notify_all()
