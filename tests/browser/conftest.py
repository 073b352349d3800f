"""A browser on the local workspace's page: Debian's Chromium, headless, watched for requests to other hosts."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, ViewportSize, expect, sync_playwright

from bot.local_slack import LocalSlack, Server, serve
from tests.browser.answering_app import AnsweringApp

WORKSPACE = Path(__file__).parents[1] / "data" / "workspace.yaml"
SCREENSHOTS = Path(__file__).parents[2] / ".screenshots"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
SIZES: dict[str, ViewportSize] = {"wide": {"width": 1280, "height": 800}, "phone": {"width": 375, "height": 720}}
# Without these, Chromium calls its maker's hosts in the background.
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
expect.set_options(timeout=20_000)
QUIET += ["--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield launched
        launched.close()


@pytest.fixture
def server() -> Iterator[Server]:
    running = serve(WORKSPACE)
    yield running
    running.stop()


@pytest.fixture
def slack(server: Server) -> LocalSlack:
    return server.slack


@pytest.fixture
def app(server: Server) -> Iterator[AnsweringApp]:
    connected = AnsweringApp(server.base_url)
    server.slack.wait_for_connection()
    yield connected
    connected.close()
    gc.collect()


@pytest.fixture(params=["wide", "phone"])
def page(request: pytest.FixtureRequest, browser: Browser, server: Server) -> Iterator[Page]:
    """The page at two widths."""
    with looking(browser, server, SIZES[request.param]) as opened:
        yield opened


@pytest.fixture
def wide(browser: Browser, server: Server) -> Iterator[Page]:
    with looking(browser, server, SIZES["wide"]) as opened:
        yield opened


@contextmanager
def looking(browser: Browser, server: Server, size: ViewportSize) -> Iterator[Page]:
    """The page in a window of its own. Fails for any request to another host, script error or console error."""
    context = browser.new_context(viewport=size)
    hosts: set[str | None] = set()
    errors: list[str] = []
    context.on("request", lambda each: hosts.add(urlsplit(each.url).hostname))
    context.on("weberror", lambda error: errors.append(str(error.error)))
    context.on("console", lambda message: errors.append(message.text) if is_error(message) else None)
    opened = context.new_page()
    opened.goto(server.url)
    opened.wait_for_selector(".composer")
    yield opened
    context.close()
    assert hosts <= {"127.0.0.1", ""}
    assert errors == []


def is_error(message: ConsoleMessage) -> bool:
    """A refusal is answered with 400 or 403, which Chromium reports as well; the page shows why."""
    return message.type == "error" and "status of 40" not in message.text


def photograph(page: Page, name: str) -> None:
    """A picture for people to look at, under a folder that git ignores."""
    SCREENSHOTS.mkdir(exist_ok=True)
    width = (page.viewport_size or {"width": 0})["width"]
    page.screenshot(path=SCREENSHOTS / f"{width}-{name}.png", animations="disabled")
