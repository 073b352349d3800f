"""People use the local workspace in a browser."""

import pytest
from playwright.sync_api import Page, expect

from bot.local_slack import LocalSlack, Server
from tests.browser.answering_app import AnsweringApp
from tests.browser.conftest import photograph

# slack_sdk leaves a broken websocket to the garbage collector, which then warns.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

QUESTION = "@footnote how many days of leave?"


def is_phone(page: Page) -> bool:
    return (page.viewport_size or {"width": 0})["width"] < 760


def write(page: Page, text: str, where: str = "#conversation") -> None:
    page.locator(f"{where} textarea").fill(text)
    page.keyboard.press("Escape")
    page.locator(f"{where} .send").click()


def open_sidebar(page: Page) -> None:
    if is_phone(page):
        page.get_by_role("button", name="Channels", exact=True).click()


def go_to(page: Page, channel: str) -> None:
    open_sidebar(page)
    page.locator(".channel", has_text=channel).click()
    expect(page.locator("#conversation h1")).to_have_text(channel)


def become(page: Page, person: str) -> None:
    open_sidebar(page)
    page.locator(".who").click()
    page.locator(f"[data-person={person}]").click()
    page.wait_for_url(f"**as={person}*")


def open_answer(page: Page, question: str = "how many") -> None:
    page.locator("#conversation .message", has_text=question).locator(".replies").click()


def ask(page: Page) -> None:
    """Ask in the channel and open the thread once it is answered."""
    write(page, QUESTION)
    if is_phone(page):
        open_answer(page)
    expect(page.locator("#thread .feedback-pair")).to_be_visible()


def test_a_question_is_answered_in_a_thread_with_its_sources(page: Page, app: AnsweringApp) -> None:
    ask(page)
    answer = page.locator("#thread .message", has_text="annual leave [1]")
    expect(answer.locator("strong", has_text="28 days")).to_be_visible()
    expect(answer.locator("td", has_text="28")).to_be_visible()
    expect(answer.get_by_role("link", name="Annual leave")).to_have_attribute("href", "https://docs.example/leave")
    expect(answer.locator(".writing")).to_have_count(0)
    photograph(page, "answer")


def test_the_note_that_only_one_person_sees_says_so_and_shows_more(page: Page, app: AnsweringApp) -> None:
    ask(page)
    note = page.locator("#thread .message.private")
    expect(note).to_contain_text("Only visible to you")
    note.get_by_role("button", name="Show me privately").click()
    expect(page.locator("#thread .message.private")).to_contain_text("Only for you: thirty.")


def test_nobody_else_sees_that_note(page: Page, app: AnsweringApp) -> None:
    ask(page)
    expect(page.locator("#thread .message.private")).to_have_count(1)
    if is_phone(page):
        page.get_by_role("button", name="Close thread").click()
    become(page, "UBEN")
    open_answer(page)
    expect(page.locator("#thread .message", has_text="annual leave [1]")).to_be_visible()
    expect(page.locator("#thread .message.private")).to_have_count(0)


def test_a_thumbs_down_asks_which_source_was_right(page: Page, app: AnsweringApp, slack: LocalSlack) -> None:
    ask(page)
    page.locator("#thread").get_by_role("button", name="Bad answer").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name="Which source?")).to_be_visible()
    dialog.get_by_label("Annual leave").check()
    dialog.get_by_label("Or a link").fill("nonsense")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_have_text("Not a document I know.")
    expect(dialog.get_by_label("Annual leave")).to_be_checked()
    photograph(page, "modal")
    dialog.get_by_label("Or a link").fill("")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    slack.wait_until_idle()
    assert app.feedback == ["down"]
    assert app.labels[0]["source"]["choice"]["selected_option"]["value"] == "leave"


def test_a_reaction_is_counted_and_withdrawn(page: Page, slack: LocalSlack) -> None:
    message = page.locator("#conversation .message", has_text="Welcome")
    message.hover()
    message.get_by_role("button", name="Add a reaction").click()
    page.get_by_role("menuitem", name="-1").click()
    reaction = message.locator(".reaction", has_text="👎")
    expect(reaction).to_have_attribute("aria-pressed", "true")
    reaction.click()
    expect(reaction).to_have_count(0)


def test_a_guest_sees_one_channel_only(page: Page) -> None:
    become(page, "USOL")
    expect(page.locator("#conversation h1")).to_have_text("guests")
    open_sidebar(page)
    expect(page.locator(".channel")).to_have_text(["guests", "footnote"])
    photograph(page, "guest")


def test_a_slash_command_completes_and_is_answered_privately(page: Page, app: AnsweringApp) -> None:
    field = page.locator("#conversation textarea")
    field.press_sequentially("/re")
    expect(page.get_by_role("option", name="/reindex")).to_be_visible()
    field.press("Tab")
    expect(field).to_have_value("/reindex ")
    field.press_sequentially("handbook")
    field.press("Enter")
    expect(page.locator("#conversation .message.private")).to_contain_text("Reading handbook again.")


def test_an_unknown_command_is_explained_and_the_text_is_kept(page: Page) -> None:
    write(page, "/nonsense")
    expect(page.locator("#toast")).to_have_text("/nonsense is not a valid command. This app has /reindex.")
    expect(page.locator("#conversation textarea")).to_have_value("/nonsense")


def test_a_question_that_does_not_mention_the_app_gets_a_hint(wide: Page) -> None:
    write(wide, "How many days?")
    expect(wide.locator("#toast")).to_have_text("Mention @footnote if it should answer.")


def test_the_home_tab_opens_a_modal(page: Page, app: AnsweringApp) -> None:
    go_to(page, "footnote")
    page.get_by_role("tab", name="Home").click()
    page.locator(".home").get_by_role("button", name="Label a question").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_hostile_text_stays_text(page: Page, app: AnsweringApp, slack: LocalSlack) -> None:
    title = page.title()
    slack.say("ana", "general", "<script>document.title=3</script><javascript:alert(1)|innocent>")
    question = slack.say("ana", "general", "<@UFOOTNOTE> hostile")
    slack.wait_for_reply(question)
    open_answer(page, "hostile")
    answer = page.locator("#thread .message").last
    expect(answer).to_contain_text('<img src=x onerror="document.title=1">')
    assert page.title() == title
    assert page.locator(".message img, .message script, .message a[href^=javascript]").count() == 0


def test_the_policy_refuses_inline_scripts_and_other_hosts(page: Page, server: Server) -> None:
    policy = page.request.get(server.url).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy


def test_place_and_person_survive_a_reload(page: Page) -> None:
    become(page, "UGUS")
    go_to(page, "guests")
    page.reload()
    expect(page.locator("#conversation h1")).to_have_text("guests")
    open_sidebar(page)
    expect(page.locator(".who")).to_contain_text("Gus Guest")


def test_what_was_said_while_the_connection_was_lost_appears_afterwards(
    page: Page, server: Server, slack: LocalSlack
) -> None:
    server.break_pages()
    slack.say("ben", "general", "said in the dark")
    expect(page.locator("#connection")).to_be_visible()
    expect(page.locator("#conversation .message", has_text="said in the dark")).to_be_visible()
    expect(page.locator("#connection")).to_be_hidden()


def test_the_keyboard_is_enough(page: Page, app: AnsweringApp) -> None:
    field = page.locator("#conversation textarea")
    field.focus()
    page.keyboard.type("@foot")
    page.keyboard.press("Enter")
    page.keyboard.type("how many days?")
    page.keyboard.press("Enter")
    expect(page.locator("#conversation .message", has_text="how many").locator(".replies")).to_be_visible()
    if not is_phone(page):
        expect(page.locator("#thread textarea")).to_be_focused()
    page.locator("#conversation .timeline").focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#conversation .message").last).to_be_focused()


def test_a_channel_one_is_not_in_can_be_joined(page: Page, slack: LocalSlack) -> None:
    slack.leave("ana", "random")
    go_to(page, "random")
    page.get_by_role("button", name="Join channel").click()
    expect(page.locator("#conversation textarea")).to_be_visible()


def test_losing_access_closes_the_channel(page: Page, slack: LocalSlack) -> None:
    go_to(page, "legal")
    slack.leave("ana", "legal")
    expect(page.locator("#conversation h1")).not_to_have_text("legal")


def test_nothing_is_wider_than_the_screen(page: Page, app: AnsweringApp) -> None:
    ask(page)
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide == 0
