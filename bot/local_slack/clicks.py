"""What people do with an app: commands, shortcuts, buttons, forms, the Home tab."""

from typing import Any

from bot.local_slack.changes import HomeOpened, ViewChanged
from bot.local_slack.delivery import Delivery, Envelope
from bot.local_slack.errors import ActionRefused, ApiError, UnknownName
from bot.local_slack.interactions import ResponseUrl
from bot.local_slack.message import Message
from bot.local_slack.methods.views import push, update
from bot.local_slack.payloads import action, command_payload, find_element, interaction, message_source, view_source
from bot.local_slack.response_urls import respond
from bot.local_slack.speech import Speech
from bot.local_slack.views import state_values
from bot.local_slack.workspace import Channel, Person

Json = dict[str, Any]


class Clicks(Speech):
    """Each method hands one payload to the app and returns at once; wait for what the app does with it."""

    delivery: Delivery

    def command(self, user: str, channel: str, text: str) -> Json:
        """Use a slash command, `text` with its name as in "/reindex all". Returns the payload sent."""
        with self.state.changed:
            person, place = self._reader(user, channel)
            name, _, rest = text.partition(" ")
            known = [each.name for each in self.state.manifest.commands]
            if name not in known:
                there = f"This app has {', '.join(known)}" if known else "This app has none"
                raise UnknownName(f"{name} is not a valid command. {there}.")
            url = self._response_url(ResponseUrl(person.id, place.id, self.state.clock.now()))
            trigger = self._trigger(person)
            payload = command_payload(
                self.state, person, place, name, rest.strip(), trigger_id=trigger, response_url=url
            )

            def answered(body: Json | None) -> None:
                if body:
                    respond(self.state, ResponseUrl(person.id, place.id, self.state.clock.now()), body)

            def failed() -> None:
                self.notice(person, place, f"{name} failed: the app did not respond (dispatch_failed)")

            self.delivery.push(Envelope("slash_commands", payload, answered, failed))
            return payload

    def shortcut(self, user: str, callback_id: str, channel: str = "", ts: str = "") -> Json:
        """Use a message shortcut on a message, or a global one without `channel` and `ts`."""
        with self.state.changed:
            person = self.state.person(user)
            known = {each.callback_id: each.kind for each in self.state.manifest.shortcuts}
            if callback_id not in known:
                raise UnknownName(f"no shortcut {callback_id!r}; there are {sorted(known)}")
            if known[callback_id] == "global":
                payload = interaction(self.state, person, "shortcut", self._trigger(person))
                payload |= {"callback_id": callback_id, "action_ts": self.state.clock.timestamp()}
            else:
                _, place = self._reader(user, channel)
                message = self._seen_message(person, place, ts)
                payload = interaction(self.state, person, "message_action", self._trigger(person))
                source = message_source(self.state, message)
                url = self._response_url(ResponseUrl(person.id, place.id, self.state.clock.now(), message.ts))
                payload |= {"callback_id": callback_id, "message_ts": message.ts, "response_url": url, **source}
                payload["action_ts"] = self.state.clock.timestamp()
            self._push_interaction(person, payload)
            return payload

    def click(
        self, user: str, channel: str, ts: str, action_id: str, value: Any = None, *, block_id: str | None = None
    ) -> Json:
        """Use a button, select or feedback element of a message. `value` chooses; see payloads.action."""
        with self.state.changed:
            person, place = self._reader(user, channel)
            message = self._seen_message(person, place, ts)
            chunk_blocks = [block for chunk in _chunks(message) for block in chunk.get("blocks", ())]
            block, element = find_element([*message.blocks, *chunk_blocks], action_id, block_id)
            payload = interaction(self.state, person, "block_actions", self._trigger(person))
            url = self._response_url(ResponseUrl(person.id, place.id, self.state.clock.now(), message.ts))
            payload |= message_source(self.state, message) | {"response_url": url, "state": {"values": {}}}
            payload["actions"] = [action(block, element, value, self.state.clock.timestamp())]
            self._push_interaction(person, payload, place)
            return payload

    def click_view(
        self, user: str, view_id: str, action_id: str, value: Any = None, block_id: str | None = None
    ) -> Json:
        """Use an element of the Home tab or of an open modal."""
        with self.state.changed:
            person = self.state.person(user)
            view = self._view(person, view_id)
            block, element = find_element(view["blocks"], action_id, block_id)
            payload = interaction(self.state, person, "block_actions", self._trigger(person))
            payload |= view_source(view)
            payload["actions"] = [action(block, element, value, self.state.clock.timestamp())]
            self._push_interaction(person, payload)
            return payload

    def submit(self, user: str, values: dict[str, Any], view_id: str | None = None) -> Json:
        """Send the form on top (or `view_id`). `values` by action or block id; see views.state_values."""
        with self.state.changed:
            person = self.state.person(user)
            view = self._view(person, view_id)
            view["state"] = {"values": state_values(view, values)}
            view["errors"] = {}
            payload = interaction(self.state, person, "view_submission", self._trigger(person))
            payload |= {"view": _without_errors(view), "response_urls": []}

            def answered(body: Json | None) -> None:
                with self.state.changed:
                    self._after_submission(person, view, body or {})

            def failed() -> None:
                view["errors"] = {"": "The app did not respond. Try again."}
                self.state.tell(ViewChanged(person.id))

            self.delivery.push(Envelope("interactive", payload, answered, failed))
            return payload

    def close_view(self, user: str, view_id: str | None = None) -> None:
        """Dismiss a modal; the app hears of it when it asked to."""
        with self.state.changed:
            person = self.state.person(user)
            view = self._view(person, view_id)
            self.state.views.remove(person.id, view)
            self.state.tell(ViewChanged(person.id))
            if view.get("notify_on_close"):
                payload = interaction(self.state, person, "view_closed", "")
                payload |= {"view": _without_errors(view), "is_cleared": False}
                self.delivery.push(Envelope("interactive", payload))

    def open_home(self, user: str, tab: str = "home") -> None:
        """Open the app's Home tab, or its messages with tab="messages"."""
        with self.state.changed:
            person = self.state.person(user)
            self.state.tell(HomeOpened(person.id, tab, self.state.dm(person.id).id))

    def _after_submission(self, person: Person, view: Json, body: Json) -> None:
        try:
            match body.get("response_action"):
                case "errors":
                    view["errors"] = body["errors"]
                case "update":
                    update(self.state, person.id, view, body["view"])
                case "push":
                    push(self.state, person.id, body["view"])
                case "clear":
                    self.state.views.clear(person.id)
                case _:
                    self.state.views.remove(person.id, view)
        except ApiError as error:
            view["errors"] = {"": f"The app answered with an invalid view ({error.code})."}
        self.state.tell(ViewChanged(person.id))

    def _push_interaction(self, person: Person, payload: Json, place: Channel | None = None) -> None:
        def failed() -> None:
            if place is not None:
                self.notice(person, place, "That did not work: the app did not respond.")

        self.delivery.push(Envelope("interactive", payload, on_lost=failed))

    def _seen_message(self, person: Person, place: Channel, ts: str) -> Message:
        message = self.state.find(place.id, ts)
        if message is None or message.only_for not in (None, person.id):
            raise UnknownName(f"{person.name} sees no message {ts!r} in {place.name}")
        return message

    def _view(self, person: Person, view_id: str | None) -> Json:
        stack = self.state.views.modals.get(person.id, [])
        if view_id is None:
            if not stack:
                raise ActionRefused(f"{person.name} has no modal open")
            return stack[-1]
        found = self.state.views.find(view_id=view_id)
        if found is None or found[0] != person.id:
            raise UnknownName(f"{person.name} has no view {view_id!r} open")
        return found[1]

    def _trigger(self, person: Person) -> str:
        return self.state.interactions.new_trigger(person.id, self.state.clock.now())

    def _response_url(self, target: ResponseUrl) -> str:
        return f"{self.state.address}/response/{self.state.interactions.new_response_url(target)}"


def _chunks(message: Message) -> list[Json]:
    return message.stream.chunks if message.stream else []


def _without_errors(view: Json) -> Json:
    return {key: value for key, value in view.items() if key != "errors"}
