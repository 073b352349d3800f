"""People write on the page: drafts, suggestions, files, and what can be done with a message."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from bot.local_slack import LocalSlack
from tests.browser.answering_app import AnsweringApp
from tests.browser.conftest import photograph
from tests.browser.test_page import QUESTION, become, go_to, write

# slack_sdk leaves a broken websocket to the garbage collector, which then warns.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

FIELD = "#conversation textarea"
REPLY = "#thread textarea"


def open_thread(page: Page) -> None:
    page.locator("#conversation .message", has_text="Welcome").locator(".replies").click()


def test_escape_closes_the_thread_and_keeps_what_was_being_written(wide: Page) -> None:
    open_thread(wide)
    wide.locator(REPLY).fill("half a thought")
    wide.keyboard.press("Escape")
    expect(wide.locator("#thread")).to_be_hidden()
    open_thread(wide)
    expect(wide.locator(REPLY)).to_have_value("half a thought")


def test_a_draft_waits_in_its_own_channel(wide: Page) -> None:
    wide.locator(FIELD).fill("for everybody")
    go_to(wide, "legal")
    expect(wide.locator(FIELD)).to_have_value("")
    go_to(wide, "general")
    expect(wide.locator(FIELD)).to_have_value("for everybody")


def test_a_sent_draft_is_gone(wide: Page) -> None:
    write(wide, "said once")
    expect(wide.locator("#conversation .message", has_text="said once")).to_be_visible()
    go_to(wide, "legal")
    go_to(wide, "general")
    expect(wide.locator(FIELD)).to_have_value("")


def test_the_same_text_can_be_sent_as_somebody_else(wide: Page) -> None:
    wide.locator(FIELD).fill("who am I?")
    become(wide, "UBEN")
    expect(wide.locator(FIELD)).to_have_value("who am I?")
    wide.locator("#conversation .send").click()
    expect(wide.locator("#conversation .message", has_text="who am I?").locator(".author")).to_have_text("Ben Okafor")


def test_text_goes_along_to_the_channel_that_a_guest_arrives_in(wide: Page) -> None:
    wide.locator(FIELD).fill("may I see this?")
    become(wide, "USOL")
    expect(wide.locator("#conversation h1")).to_have_text("guests")
    expect(wide.locator(FIELD)).to_have_value("may I see this?")


def test_who_switches_twice_is_the_last_one(wide: Page) -> None:
    held: list[Route] = []
    wide.route("**/_page/workspace?as=UGUS*", lambda route: held.extend([route]))
    wide.locator(".who").click()
    wide.locator("[data-person=UGUS]").click()
    wide.locator(".who").click()
    wide.locator("[data-person=UBEN]").click()
    expect(wide.locator(".who")).to_contain_text("Ben Okafor")
    for route in held:
        route.continue_()
    write(wide, "it is me")
    expect(wide.locator("#conversation .message", has_text="it is me").locator(".author")).to_have_text("Ben Okafor")


def test_a_suggested_prompt_is_asked_at_once_and_leaves_the_draft(
    wide: Page, app: AnsweringApp, slack: LocalSlack
) -> None:
    wide.locator(FIELD).fill("a draft")
    wide.get_by_role("button", name="What can you do?").click()
    asked = wide.locator("#conversation .message", has_text="@footnote help")
    expect(asked).to_contain_text("@footnote")
    expect(wide.locator("#thread .feedback-pair")).to_be_visible()
    expect(wide.locator(FIELD)).to_have_value("a draft")


def test_enter_sends_a_command_that_lacks_nothing(wide: Page, app: AnsweringApp) -> None:
    wide.locator(FIELD).press_sequentially("/reindex")
    expect(wide.get_by_role("option", name="/reindex")).to_be_visible()
    wide.keyboard.press("Enter")
    expect(wide.locator("#conversation .message.private")).to_contain_text("Reading")
    expect(wide.locator(FIELD)).to_have_value("")


def test_enter_sends_a_command_that_ends_with_a_whole_name(wide: Page, slack: LocalSlack) -> None:
    go_to(wide, "legal")
    wide.locator(FIELD).press_sequentially("/invite @ben")
    expect(wide.get_by_role("option", name="@ben")).to_be_visible()
    wide.keyboard.press("Enter")
    expect(wide.locator("#conversation .members")).to_have_text("3")


def test_enter_completes_a_command_that_is_half_written(wide: Page, app: AnsweringApp) -> None:
    wide.locator(FIELD).press_sequentially("/rei")
    wide.keyboard.press("Enter")
    expect(wide.locator(FIELD)).to_have_value("/reindex ")


def test_a_file_is_shared_with_what_was_written(wide: Page, slack: LocalSlack, tmp_path: Path) -> None:
    file = tmp_path / "minutes.txt"
    file.write_text("Ana opened the meeting.")
    wide.locator(FIELD).fill("the minutes")
    with wide.expect_file_chooser() as chosen:
        wide.locator("#conversation").get_by_role("button", name="Attach a file").click()
    chosen.value.set_files(file)
    message = wide.locator("#conversation .message", has_text="the minutes")
    with wide.expect_download() as download:
        message.get_by_role("link", name="minutes.txt").click()
    assert download.value.path().read_text() == "Ana opened the meeting."
    expect(wide.locator(FIELD)).to_have_value("")
    assert slack.state.history("CGENERAL")[0].text == "the minutes"


def test_an_answer_is_marked_as_wrong_from_its_menu(page: Page, app: AnsweringApp, slack: LocalSlack) -> None:
    write(page, QUESTION)
    if (page.viewport_size or {"width": 0})["width"] < 760:
        page.locator("#conversation .message", has_text="how many").locator(".replies").click()
    answer = page.locator("#thread .message", has_text="annual leave [1]")
    expect(answer.locator(".feedback-pair")).to_be_visible()
    answer.hover()
    answer.get_by_role("button", name="More actions").click()
    photograph(page, "menu")
    page.get_by_role("menuitem", name="Mark answer as wrong").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Not in the documents").check()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    slack.wait_until_idle()
    assert app.labels[0]["source"]["choice"]["selected_option"]["value"] == "none"


def test_ones_own_message_is_edited_in_a_dialog(wide: Page) -> None:
    write(wide, "teh plan")
    message = wide.locator("#conversation .message", has_text="plan")
    message.hover()
    message.get_by_role("button", name="More actions").click()
    wide.get_by_role("menuitem", name="Edit message").click()
    dialog = wide.get_by_role("dialog", name="Edit message")
    dialog.get_by_label("Your message").fill("the plan")
    photograph(wide, "edit")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(message).to_contain_text("the plan")
    expect(message.locator(".edited")).to_be_visible()
