"""The whole product in a browser: the sample company of `footnote demo`, with the real bot, which answers in quotes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from bot import wording
from bot.demo import Demo, running_demo
from knowledge.postgres import EmbeddedPostgres
from tests.browser.conftest import SIZES, looking, photograph
from tests.browser.test_page import become, go_to, is_phone, open_sidebar, write

# slack_sdk leaves a broken websocket to the garbage collector, which then warns.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

RESTORE = "How long would it take us to bring the tours database back from a backup?"
SETTLEMENT = "How much did we offer the landlord as a settlement?"
ANSWER_WITHIN_MS = 60_000


@pytest.fixture(scope="session")
def demo(home: Path, embedded_postgres: EmbeddedPostgres) -> Iterator[Demo]:
    """One for all tests, each of which asks in a thread of its own. Claude is not asked: there is no key."""
    with running_demo(home, {}, print) as running:
        yield running


@pytest.fixture(params=["wide", "phone"])
def page(request: pytest.FixtureRequest, browser: Browser, demo: Demo) -> Iterator[Page]:
    with looking(browser, demo.server, SIZES[request.param]) as opened:
        yield opened


@pytest.fixture
def wide(browser: Browser, demo: Demo) -> Iterator[Page]:
    with looking(browser, demo.server, SIZES["wide"]) as opened:
        yield opened


def ask(page: Page, question: str) -> Locator:
    """Ask in the channel that is open; the answer, in its thread."""
    asked = page.locator("#conversation .message", has_text=question)
    before = asked.count()
    write(page, f"@footnote {question}")
    if is_phone(page):
        asked.nth(before).locator(".replies").click(timeout=ANSWER_WITHIN_MS)
    return finished(page)


def finished(page: Page, answers: int = 1) -> Locator:
    """The last message of the open thread, once it has that many answers which can be voted on."""
    expect(page.locator("#thread .feedback-pair")).to_have_count(answers, timeout=ANSWER_WITHIN_MS)
    return page.locator("#thread .message", has=page.locator(".feedback-pair")).last


def test_an_answer_names_its_sources_and_they_open(page: Page) -> None:
    go_to(page, "engineering")
    answer = ask(page, RESTORE)
    expect(answer).to_contain_text("55 minutes")
    expect(answer).to_contain_text(wording.QUOTED)
    photograph(page, "demo-answer")
    with page.context.expect_page() as opened:
        answer.get_by_role("link", name="Backup and restore").first.click()
    document = opened.value
    expect(document.get_by_role("heading", name="Backup and restore")).to_be_visible()
    expect(document.locator("main")).to_contain_text("first Monday of every quarter")
    photograph(document, "demo-document")


def test_a_follow_up_in_the_thread_needs_no_mention(wide: Page) -> None:
    go_to(wide, "engineering")
    ask(wide, RESTORE)
    wide.locator("#thread textarea").fill("And how often do we practise it?")
    wide.keyboard.press("Enter")
    expect(finished(wide, answers=2).get_by_role("link", name="Backup and restore").first).to_be_visible()


def test_a_suggested_question_is_answered_and_can_be_marked_as_wrong(wide: Page) -> None:
    go_to(wide, "engineering")
    wide.locator(".prompt").first.click()
    answer = finished(wide)
    expect(answer).to_contain_text("locked by another planner")
    answer.hover()
    answer.get_by_role("button", name="More actions").click()
    wide.get_by_role("menuitem", name="Mark answer as wrong").click()
    expect(wide.locator("#thread .message.private", has_text=wording.ASK_SOURCE)).to_be_visible()
    photograph(wide, "demo-marked")


def test_after_a_thumbs_down_the_right_source_is_one_tap_away(page: Page) -> None:
    go_to(page, "general")
    answer = ask(page, "What is the order code for a headset?")
    answer.get_by_role("button", name=wording.FEEDBACK_NO).click()
    note = page.locator("#thread .message.private", has_text=wording.ASK_SOURCE)
    photograph_when(note, page, "demo-label")
    note.locator("[data-action^=expected_source]").first.click()
    expect(page.locator("#thread .message.private", has_text=wording.LABEL_THANKS)).to_be_visible()


def photograph_when(shown: Locator, page: Page, name: str) -> None:
    expect(shown).to_be_visible()
    photograph(page, name)


def test_a_guest_gets_nothing_of_what_a_member_is_told_in_private(page: Page, demo: Demo) -> None:
    become(page, "UINES")
    go_to(page, "legal")
    answer = ask(page, SETTLEMENT)
    expect(answer).to_contain_text("EUR 86,400")
    source = answer.get_by_role("link", name="Harbour House").first.get_attribute("href")
    assert source is not None
    if is_phone(page):
        page.get_by_role("button", name="Close thread").click()
    become(page, "UGUS")
    expect(page.locator("#conversation h1")).to_have_text("depot-fit-out")
    open_sidebar(page)
    expect(page.locator(".channel", has_text="legal")).to_have_count(0)
    if is_phone(page):
        page.keyboard.press("Escape")
    refused = ask(page, SETTLEMENT)
    expect(refused).to_contain_text(wording.ABSTAINED)
    photograph(page, "demo-guest")
    for word in ("86,400", "Quayside", "dispute"):
        expect(page.locator("body")).not_to_contain_text(word)
    assert page.goto(source.replace("UINES", "UGUS")).status == 403  # type: ignore[union-attr]
    photograph(page, "demo-refused")


def test_an_administrator_reads_the_documents_again(wide: Page) -> None:
    go_to(wide, "general")
    write(wide, "/reindex handbook")
    note = wide.locator("#conversation .message.private", has_text="handbook: nothing new")
    expect(note).to_be_visible(timeout=ANSWER_WITHIN_MS)
    become(wide, "UTOMASZ")
    write(wide, "/reindex handbook")
    refusal = wide.locator("#conversation .message.private", has_text=wording.ADMINS_ONLY)
    expect(refusal).to_be_visible(timeout=ANSWER_WITHIN_MS)


def test_home_starts_the_nightly_evaluation_which_posts_its_chart(wide: Page, browser: Browser, demo: Demo) -> None:
    go_to(wide, "Footnote")
    wide.get_by_role("tab", name="Home").click()
    expect(wide.locator(".home")).to_contain_text("handbook · 13 documents")
    photograph(wide, "demo-home")
    wide.get_by_role("button", name=wording.HOME_NIGHTLY).click()
    wide.get_by_role("tab", name="Messages").click()
    expect(wide.locator("#conversation")).to_contain_text("the digest is in #docs", timeout=120_000)
    photograph(wide, "demo-told")
    go_to(wide, "docs")
    look_at_digest(wide)
    with looking(browser, demo.server, SIZES["phone"]) as phone:
        go_to(phone, "docs")
        look_at_digest(phone)


def look_at_digest(page: Page) -> None:
    chart = page.get_by_role("img", name=wording.CHART_TITLE)
    expect(chart).to_be_visible()
    expect(page.locator("#conversation .message", has_text="Recall@5")).to_be_visible()
    page.wait_for_function("image => image.complete && image.naturalWidth > 0", arg=chart.element_handle())
    photograph(page, "demo-digest")
