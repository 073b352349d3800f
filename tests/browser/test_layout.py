"""Nothing on the page lies over what one reads, and what looks as if it scrolls does."""

from itertools import pairwise

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect
from slack_sdk import WebClient

from bot.local_slack import LocalSlack, Server
from tests.browser.answering_app import AnsweringApp, plain
from tests.browser.conftest import photograph
from tests.browser.test_page import go_to, write

# slack_sdk leaves a broken websocket to the garbage collector, which then warns.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

LONG = "a line that is long enough to reach the right end of its message " * 3
TEXT_BOX = """node => {
  const range = document.createRange();
  range.selectNodeContents(node);
  const { x, y, width, height } = range.getBoundingClientRect();
  return { x, y, width, height };
}"""


def box(node: Locator) -> FloatRect:
    found = node.bounding_box()
    assert found
    return found


def text_box(node: Locator) -> FloatRect:
    """Where the letters are, which may be wider than the element."""
    found: FloatRect = node.evaluate(TEXT_BOX)
    return found


def bottom(of: FloatRect) -> float:
    return of["y"] + of["height"]


def overlap(one: FloatRect, other: FloatRect) -> bool:
    return (
        one["x"] < other["x"] + other["width"]
        and other["x"] < one["x"] + one["width"]
        and one["y"] < bottom(other)
        and other["y"] < bottom(one)
    )


def test_the_wheel_scrolls_home_wherever_the_pointer_is(page: Page, server: Server) -> None:
    blocks = [{"type": "section", "text": plain(f"Line {number}")} for number in range(60)]
    client = WebClient(server.slack.tokens.bot, base_url=server.base_url)
    client.views_publish(user_id="UANA", view={"type": "home", "blocks": blocks})
    go_to(page, "footnote")
    page.get_by_role("tab", name="Home").click()
    expect(page.locator(".home .block").first).to_be_in_viewport()
    pane = box(page.locator("#conversation"))
    page.mouse.move(pane["x"] + pane["width"] - 4, pane["y"] + 200)
    page.mouse.wheel(0, 10_000)
    expect(page.locator(".home .block").last).to_be_in_viewport(ratio=1)
    line = box(page.locator(".home .block").last)
    left, right = line["x"] - pane["x"], pane["x"] + pane["width"] - line["x"] - line["width"]
    assert left == pytest.approx(right, abs=16)
    photograph(page, "home")


def test_the_thread_does_not_stay_beside_home(wide: Page) -> None:
    go_to(wide, "footnote")
    write(wide, "hello")
    expect(wide.locator("#thread")).to_be_visible()
    wide.get_by_role("tab", name="Home").click()
    expect(wide.locator(".home")).to_be_visible()
    expect(wide.locator("#thread")).to_be_hidden()


def test_the_time_of_a_message_without_a_header_keeps_off_its_text(page: Page, slack: LocalSlack) -> None:
    message = second_of_two(page, slack)
    message.hover()
    time = text_box(message.locator(".gutter"))
    assert time["width"] > 0
    assert time["x"] + time["width"] < box(message.locator(".content"))["x"]


def test_the_tools_of_a_message_keep_off_its_text(page: Page, slack: LocalSlack) -> None:
    second_of_two(page, slack)
    for message in page.locator("#conversation .message").all():
        message.hover()
        tools = message.locator(".toolbar")
        expect(tools).to_be_visible()
        assert not overlap(box(tools), text_box(message.locator(".content")))
    photograph(page, "tools")


def test_messages_of_the_app_one_after_another_stand_further_apart_than_their_blocks(
    page: Page, server: Server
) -> None:
    client = WebClient(server.slack.tokens.bot, base_url=server.base_url)
    blocks = [{"type": "section", "text": plain(text)} for text in ("A finding.", "Where it is from.")]
    for number in range(3):
        client.chat_postMessage(channel=server.slack.dm("ana").id, text=f"Finding {number}", blocks=blocks)
    go_to(page, "footnote")
    lines = page.locator("#conversation .message .block")
    expect(lines).to_have_count(6)
    boxes = [box(lines.nth(number)) for number in range(6)]
    gaps = [below["y"] - bottom(above) for above, below in pairwise(boxes)]
    assert max(gaps[0::2]) + 6 < min(gaps[1::2])


def second_of_two(page: Page, slack: LocalSlack) -> Locator:
    """One of two messages which one author wrote one after the other."""
    slack.say("ben", "general", f"First {LONG}")
    slack.say("ben", "general", f"Second {LONG}")
    message = page.locator("#conversation .message.joined", has_text="Second")
    expect(message).to_be_visible()
    return message


def test_a_toast_floats_and_covers_nothing_one_writes_with(page: Page) -> None:
    before = box(page.locator("#app"))
    write(page, "/nonsense")
    toast = page.locator("#toast")
    expect(toast).to_be_visible()
    assert box(page.locator("#app")) == before
    for used in (".foot", ".top"):
        assert not overlap(box(toast), box(page.locator(f"#conversation {used}")))
    photograph(page, "toast")


def test_the_ring_of_a_field_keeps_off_its_error(page: Page, app: AnsweringApp) -> None:
    go_to(page, "footnote")
    page.get_by_role("tab", name="Home").click()
    page.locator(".home").get_by_role("button", name="Label a question").click()
    dialog = page.get_by_role("dialog")
    field, error = dialog.get_by_label("Or a link"), dialog.get_by_role("alert")
    dialog.get_by_label("Annual leave").check()
    field.fill("nonsense")
    dialog.get_by_role("button", name="Save").click()
    expect(error).to_be_visible()
    expect(field).to_be_focused()
    ring = field.evaluate("node => parseFloat(getComputedStyle(node).outlineWidth) * 2")
    assert ring > 0
    assert box(error)["y"] > bottom(box(field)) + ring
