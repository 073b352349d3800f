"""How fast the local workspace's page is: first paint, a channel of 1,000 messages, and scrolling through it.

    python -m tests.benchmarks.page [--json]

Frame times in milliseconds, from requestAnimationFrame while the channel is scrolled from its end to its start.
"""

import json
import platform
import sys
from typing import Any

from playwright.sync_api import Page, sync_playwright

from bot.local_slack import serve
from tests.browser.conftest import CHROMIUM, QUIET, WORKSPACE

MESSAGES = 1000
FRAMES = 120
SCROLL = """async (frames) => {
  const list = document.querySelector('.timeline');
  const step = list.scrollHeight / frames;
  const times = [];
  let before = performance.now();
  for (let frame = 0; frame < frames; frame++) {
    list.scrollTop -= step;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    times.push(now - before);
    before = now;
  }
  return times.sort((a, b) => a - b);
}"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def measure(page: Page, url: str) -> dict[str, Any]:
    page.goto(url)
    page.locator(".conversation .message").nth(MESSAGES - 1).wait_for(state="attached")
    shown_ms = page.evaluate("performance.now()")
    frames: list[float] = page.evaluate(SCROLL, FRAMES)
    return {
        "messages": MESSAGES,
        "first_paint_ms": round(page.evaluate(PAINT)),
        "all_messages_ms": round(shown_ms),
        "frame_ms_p50": round(frames[len(frames) // 2], 1),
        "frame_ms_p95": round(frames[int(len(frames) * 0.95)], 1),
    }


def main() -> None:
    server = serve(WORKSPACE)
    for number in range(MESSAGES):
        author = ("ana", "ben")[number % 7 == 0]
        server.slack.say(
            author,
            "general",
            f"Message {number}: *bold*, `code`, <https://docs.example|a link> " + "word " * (number % 40),
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        result = measure(browser.new_page(viewport={"width": 1280, "height": 800}), server.url)
        result |= {
            "browser": f"Chromium {browser.version}",
            "machine": platform.machine(),
            "python": platform.python_version(),
        }
        browser.close()
    server.stop()
    if "--json" in sys.argv:
        print(json.dumps(result))
    else:
        print("\n".join(f"{name:16} {value}" for name, value in result.items()))


if __name__ == "__main__":
    main()
