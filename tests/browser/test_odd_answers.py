"""Answers of unusual form, as the bot sends them, read on the page."""

from datetime import UTC, datetime

from playwright.sync_api import Browser, expect
from slack_sdk import WebClient

from bot import blocks
from bot.local_slack import Server
from knowledge.answers import Citation
from tests.browser.conftest import SIZES, looking, photograph

URL = "https://docs.example.test/x"
WIKI = "https://docs.example.test/wiki/Leave_(annual)?a=1&b=2"
ODD = f"""1. First step [1]
   - check the *oil*
     - cold engine

   A second paragraph.

   ```sh
   make all
   ```
2. Second step

Inline ``a `b` c``, R&D, 5 < 6 and {WIKI}.

````markdown
```sh
footnote run
```
````

עובדים במשרה מלאה מקבלים **25 ימים** של חופשה [2].
"""


def citation(n: int, title: str, url: str) -> Citation:
    return Citation(n, n, n, title, url, (), "quote", datetime(2026, 3, 3, tzinfo=UTC), frozenset({"workspace"}))


def test_lists_code_addresses_and_right_to_left_text_are_shown_as_meant(browser: Browser, server: Server) -> None:
    client = WebClient(server.slack.tokens.bot, base_url=server.base_url)
    (post,) = blocks.answer("abc", ODD, (citation(1, "Leave", WIKI), citation(2, "חופשה שנתית", URL)))
    client.chat_postMessage(channel="CGENERAL", **post.arguments())
    with looking(browser, server, SIZES["wide"]) as page:
        shown = page.locator("#conversation .message", has_text="First step")
        photograph(page, "odd-answer")
        expect(shown.locator("ol > li")).to_have_count(2)
        expect(shown.locator("ol > li > ul > li > ul > li")).to_have_text("cold engine")
        expect(shown.locator("ol > li > pre")).to_have_text("make all")
        expect(shown.locator("code")).to_have_text("a `b` c")
        expect(shown.locator("p", has_text="R&D, 5 < 6")).to_be_visible()
        expect(shown.get_by_role("link", name=WIKI)).to_have_attribute(
            "href", WIKI.replace("(", "%28").replace(")", "%29")
        )
        expect(shown.locator("pre").last).to_contain_text("sh\nfootnote run")
        expect(shown.locator("p", has_text="25 ימים")).to_have_css("direction", "rtl")
