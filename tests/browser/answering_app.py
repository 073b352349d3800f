"""A small Bolt app that uses every surface the page draws: streams, ephemeral messages, modals, Home, commands."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from slack_bolt import Ack, App, Respond
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

Json = dict[str, Any]

HOSTILE = '<img src=x onerror="document.title=1"> <script>document.title=2</script> [go](javascript:alert(1))'
ANSWER = """**28 days** of annual leave [1].

| Contract | Days |
| --- | --- |
| Full time | 28 |

- Public holidays come *on top*.
"""


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


FEEDBACK = {
    "type": "context_actions",
    "elements": [
        {
            "type": "feedback_buttons",
            "action_id": "feedback",
            "positive_button": {"text": plain("Good answer"), "value": "up"},
            "negative_button": {"text": plain("Bad answer"), "value": "down"},
        }
    ],
}
SOURCES = {
    "type": "context",
    "elements": [{"type": "mrkdwn", "text": "[1] <https://docs.example/leave|Annual leave> › Days"}],
}
PRIVATE = {
    "type": "section",
    "text": {"type": "mrkdwn", "text": "There is more that only you can open."},
    "accessory": {"type": "button", "action_id": "private", "text": plain("Show me privately")},
}
MODAL = {
    "type": "modal",
    "callback_id": "label",
    "title": plain("Which source?"),
    "submit": plain("Save"),
    "blocks": [
        {
            "type": "input",
            "block_id": "source",
            "label": plain("The right source"),
            "element": {
                "type": "radio_buttons",
                "action_id": "choice",
                "options": [
                    {"text": plain("Annual leave"), "value": "leave"},
                    {"text": plain("Not in the documents"), "value": "none"},
                ],
            },
        },
        {
            "type": "input",
            "block_id": "link",
            "optional": True,
            "label": plain("Or a link"),
            "element": {"type": "plain_text_input", "action_id": "url"},
        },
    ],
}


class AnsweringApp:
    """Connected when made; `labels` are the submitted forms, `feedback` the clicks."""

    def __init__(self, base_url: str) -> None:
        self.labels: list[Json] = []
        self.feedback: list[str] = []
        self._threads = ThreadPoolExecutor(16)
        app = App(client=WebClient("xoxb-local", base_url=base_url), listener_executor=self._threads)
        app.event("app_mention")(self.answer)
        app.event("message")(lambda: None)
        app.event("reaction_added")(lambda: None)
        app.event("app_home_opened")(self.home)
        app.command("/reindex")(self.reindex)
        app.action("feedback")(self.voted)
        app.action("private")(self.show)
        app.action("label")(self.ask_label)
        app.shortcut("mark_answer_wrong")(self.ask_label)
        app.view("label")(self.labelled)
        handler: Any = SocketModeHandler(app, "xapp-local", ping_interval=0.5)
        self._handler = handler
        handler.connect()
        handler.client.current_session.sock.settimeout(0.1)

    def close(self) -> None:
        self._handler.close()
        self._threads.shutdown()

    def answer(self, event: Json, client: WebClient) -> None:
        channel, user, thread = event["channel"], event["user"], event.get("thread_ts") or event["ts"]
        if "hostile" in event["text"]:
            client.chat_postMessage(
                channel=channel, thread_ts=thread, text=HOSTILE, blocks=[{"type": "markdown", "text": HOSTILE}]
            )
            return
        client.assistant_threads_setStatus(channel_id=channel, thread_ts=thread, status="is reading…")
        stream = client.chat_startStream(
            channel=channel, thread_ts=thread, recipient_user_id=user, recipient_team_id=event["team"]
        )
        for start in range(0, len(ANSWER), 20):
            client.chat_appendStream(channel=channel, ts=stream["ts"], markdown_text=ANSWER[start : start + 20])
        client.chat_stopStream(channel=channel, ts=stream["ts"], blocks=[SOURCES, FEEDBACK])
        client.chat_postEphemeral(channel=channel, user=user, thread_ts=thread, text="More for you", blocks=[PRIVATE])

    def voted(self, ack: Ack, body: Json, client: WebClient) -> None:
        ack()
        self.feedback.append(body["actions"][0]["value"])
        if body["actions"][0]["value"] == "down":
            client.views_open(trigger_id=body["trigger_id"], view=MODAL)

    def ask_label(self, ack: Ack, body: Json, client: WebClient) -> None:
        ack()
        client.views_open(trigger_id=body["trigger_id"], view=MODAL)

    def labelled(self, ack: Ack, view: Json) -> None:
        values = view["state"]["values"]
        if values["link"]["url"]["value"] == "nonsense":
            ack(response_action="errors", errors={"link": "Not a document I know."})
            return
        self.labels.append(values)
        ack()

    def show(self, ack: Ack, respond: Respond) -> None:
        ack()
        respond(replace_original=True, text="Only for you: thirty.")

    def home(self, event: Json, client: WebClient) -> None:
        button = {"type": "button", "action_id": "label", "text": plain("Label a question")}
        blocks = [{"type": "header", "text": plain("Footnote")}, {"type": "actions", "elements": [button]}]
        client.views_publish(user_id=event["user"], view={"type": "home", "blocks": blocks})

    def reindex(self, ack: Ack, command: Json) -> None:
        ack(f"Reading {command['text']} again.")
