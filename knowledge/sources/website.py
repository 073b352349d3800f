"""A website: its sitemap, and what can be reached by links below the start address.

It keeps to the host, to robots.txt and its delay. A page that fails for the moment counts as unchanged; when the start
page or robots.txt fails, nothing can be said about the site. Where links stay unknown, because a page or a sitemap was
not sent, known pages are asked for one by one. Of several addresses of a page, the one it calls canonical is listed.
"""

import hashlib
import tempfile
import time
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
from protego import Protego

from knowledge.errors import DocumentUnreadable, SourceFailed
from knowledge.settings import Source as SourceSettings
from knowledge.sources import pages
from knowledge.sources.addresses import GuardedTransport
from knowledge.sources.globs import wanted
from knowledge.sources.source import Listed

AGENT = "footnote-bot"
MAX_PAGES = 5000
MAX_SITEMAPS = 50
MAX_REDIRECTS = 5
TIMEOUT_S = 20.0
MAX_DELAY_S = 30.0
"""A longer crawl delay would make a sync of some hundred pages last a day."""


_OF_THE_TRANSFER = ("content-encoding", "content-length", "transfer-encoding")


class Website:
    def __init__(self, settings: SourceSettings) -> None:
        self._settings = settings
        self._limit = int(settings.max_file_mb * 1_000_000)
        self._client = httpx2.Client(
            transport=GuardedTransport(settings.allow_private_addresses),
            headers={"user-agent": AGENT},
            timeout=TIMEOUT_S,
        )
        self._bodies = tempfile.TemporaryDirectory(prefix="footnote-website-")
        self._delay_s = 0.0

    def list(self, known: Mapping[str, str]) -> Sequence[Listed]:
        """Pages and files by address. The revision is the server's mark (ETag, date), else a hash of the bytes."""
        start, first = self._start()
        rules = self._rules(start)
        self._delay_s = min(float(rules.crawl_delay(AGENT) or 0), MAX_DELAY_S)
        sitemap, is_whole = self._sitemap(start, tuple(rules.sitemaps))
        seen = dict.fromkeys([start, *sitemap, *(() if is_whole else known)])
        waiting = deque(seen)
        listed: dict[str, Listed] = {}
        others: dict[str, tuple[str, Listed]] = {}
        while waiting and len(listed) < MAX_PAGES:
            address = waiting.popleft()
            if not (self._inside(address, start) and rules.can_fetch(address, AGENT)):
                continue
            revision = known.get(address) if address in sitemap else None  # other pages are asked for their links
            response = first if address == start else self._get(address, revision)
            links: Iterable[str] = known if response is None or _says_nothing(response) else pages.links(response)
            if found := self._listed(address, response, known):
                main = _main_address(address, response)
                links = [main, *links] if main else links
                if main and self._inside(main, start) and rules.can_fetch(main, AGENT):
                    others[address] = main, found
                else:
                    listed[address] = found
            for link in links:
                if link not in seen:
                    seen[link] = None
                    waiting.append(link)
        return (*listed.values(), *(found for main, found in others.values() if main not in listed))

    def read(self, external_id: str) -> bytes:
        if not self._file(external_id).exists():  # it was not sent, being unchanged
            response = self._get(external_id)
            if response is None or response.status_code != 200:
                status = response.status_code if response is not None else "no answer"
                raise SourceFailed(f"{external_id!r} cannot be read ({status})")
            self._keep(external_id, response)
        content = self._file(external_id).read_bytes()
        if len(content) > self._limit:
            raise DocumentUnreadable(
                "too_big", f"too large: more than {self._settings.max_file_mb:g} MB; raise max_file_mb to read it"
            )
        return content

    def close(self) -> None:
        self._client.close()
        self._bodies.cleanup()

    def _start(self) -> tuple[str, httpx2.Response]:
        """The start address, after redirects, and its page."""
        address, response = self._followed(pages.normal(self._settings.location))
        if response is not None and response.has_redirect_location:
            raise SourceFailed(
                f"{self._settings.location!r} redirects more than {MAX_REDIRECTS} times; nothing was deleted"
            )
        if response is None or response.status_code != 200:
            status = response.status_code if response is not None else "no answer"
            raise SourceFailed(f"{address!r} cannot be read ({status}); nothing was deleted")
        return address, response

    def _followed(self, address: str, limit: int | None = None) -> tuple[str, httpx2.Response | None]:
        """What is at the end of an address's redirects, and where that is."""
        response = self._get(address, limit=limit)
        for _ in range(MAX_REDIRECTS):
            if response is None or not response.has_redirect_location:
                break
            [address] = pages.links(response)
            response = self._get(address, limit=limit)
        return address, response

    def _rules(self, start: str) -> Protego:
        _, response = self._followed(str(httpx2.URL(start).join("/robots.txt")))
        if response is None or response.status_code >= 500 or response.status_code == 429:
            raise SourceFailed(f"robots.txt of {urlsplit(start).netloc} cannot be read; nothing was deleted")
        return Protego.parse(response.text.removeprefix("\ufeff") if response.status_code == 200 else "")

    def _sitemap(self, start: str, named: Sequence[str]) -> tuple[Collection[str], bool]:
        """Addresses in the sitemaps that robots.txt names, else in /sitemap.xml, and in those they name; and whether
        none of them failed for the moment."""
        waiting = deque(named or [str(httpx2.URL(start).join("/sitemap.xml"))])
        found: dict[str, None] = {}
        is_whole = True
        for _ in range(MAX_SITEMAPS):
            if not waiting:
                break
            _, response = self._followed(waiting.popleft(), pages.MAX_SITEMAP_BYTES)
            text = pages.sitemap(response) if response is not None and response.status_code == 200 else None
            if text is None:
                is_whole = is_whole and response is not None and _is_refused(response)
                continue
            for address in pages.locations(text):
                if "<sitemapindex" in text[:2000]:
                    waiting.append(address)
                else:
                    found[pages.normal(address)] = None
        return found.keys(), is_whole

    def _listed(self, address: str, response: httpx2.Response | None, known: Mapping[str, str]) -> Listed | None:
        if response is None or _says_nothing(response):
            return Listed(address, known[address], address) if address in known else None
        if response.status_code != 200 or not pages.is_readable(response) or not pages.may_be_indexed(response):
            return None
        content = self._keep(address, response)
        updated_at = pages.updated_at(response)
        return Listed(address, _revision(response, content), address, updated_at, dated=updated_at is not None)

    def _keep(self, address: str, response: httpx2.Response) -> bytes:
        content = response.content if len(response.content) > self._limit else pages.body(response)
        self._file(address).write_bytes(content)
        return content

    def _inside(self, address: str, start: str) -> bool:
        """On the start's host, at or below its folder, and wanted by the source's patterns."""
        root, parts = urlsplit(start), urlsplit(address)
        folder = root.path[: root.path.rfind("/") + 1] or "/"
        if (parts.scheme, parts.netloc) != (root.scheme, root.netloc) or not (parts.path or "/").startswith(folder):
            return False
        return wanted(parts.path[len(folder) :], self._settings.include, self._settings.exclude)

    def _get(self, address: str, revision: str | None = None, limit: int | None = None) -> httpx2.Response | None:
        """None when there is no answer. Raises `SourceFailed` for an address that must not be asked.

        `limit`: of bytes, behind which it is cut off; None = that of the source's files.
        """
        headers = {}
        if revision and revision.startswith("etag "):
            headers["if-none-match"] = revision.removeprefix("etag ")
        elif revision and revision.startswith("date "):
            headers["if-modified-since"] = revision.removeprefix("date ")
        time.sleep(self._delay_s)
        try:
            with self._client.stream("GET", address, headers=headers) as response:
                content = b""
                for part in response.iter_bytes():
                    content += part
                    if len(content) > (limit or self._limit):
                        break
                unpacked = [(k, v) for k, v in response.headers.multi_items() if k not in _OF_THE_TRANSFER]
                return httpx2.Response(
                    response.status_code, headers=unpacked, content=content, request=response.request
                )
        except (httpx2.HTTPError, httpx2.InvalidURL):
            return None

    def _file(self, address: str) -> Path:
        return Path(self._bodies.name) / hashlib.sha256(address.encode()).hexdigest()


def _says_nothing(response: httpx2.Response) -> bool:
    """Neither what the page is now nor that it is gone."""
    return response.status_code >= 500 or response.status_code in (304, 429)


def _is_refused(response: httpx2.Response) -> bool:
    return 400 <= response.status_code < 500 and response.status_code != 429


def _main_address(address: str, response: httpx2.Response | None) -> str:
    """The page's canonical address when that is another one of the same path; empty when it is this one."""
    main = pages.canonical(response) if response is not None else ""
    return main if main != address and main and pages.same_path(main, address) else ""


def _revision(response: httpx2.Response, content: bytes) -> str:
    if etag := response.headers.get("etag"):
        return f"etag {etag}"
    if date := response.headers.get("last-modified"):
        return f"date {date}"
    return f"hash {hashlib.sha256(content).hexdigest()}"
