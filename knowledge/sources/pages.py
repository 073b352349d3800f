"""What a crawler needs to know of a response: its links, its encoding, its date, and whether it may be indexed."""

import re
from collections.abc import Iterator
from datetime import datetime
from email.utils import parsedate_to_datetime
from html import unescape
from urllib.parse import urljoin, urlsplit, urlunsplit

import httpx2

_HREF = re.compile(r"<a\b[^>]{0,2000}?\bhref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.I)
_BASE = re.compile(r"<base\b[^>]*?\bhref\s*=\s*[\"']?([^\"'\s>]+)", re.I)
_NOINDEX = re.compile(
    r"<meta\b(?=[^>]*\bname\s*=\s*[\"']?robots)[^>]*\bcontent\s*=\s*[\"'][^\"']*\b(?:noindex|none)\b", re.I
)
_LOCATION = re.compile(r"<loc>\s*(.*?)\s*</loc>", re.I | re.S)

READABLE = ("text/", "application/pdf", "application/xhtml", "application/epub", "application/rtf", "application/vnd.o")


def is_html(response: httpx2.Response) -> bool:
    return "html" in response.headers.get("content-type", "")


def is_readable(response: httpx2.Response) -> bool:
    kind = response.headers.get("content-type", "text/html")
    return kind.startswith(READABLE) and not kind.startswith(("text/css", "text/javascript"))


def may_be_indexed(response: httpx2.Response) -> bool:
    """False when the page's header or its robots mark says `noindex`."""
    if "noindex" in response.headers.get("x-robots-tag", "").lower():
        return False
    return not (is_html(response) and _NOINDEX.search(response.text[:20_000]))


def links(response: httpx2.Response) -> Iterator[str]:
    """Absolute addresses that the page links to, or that it was moved to."""
    if response.has_redirect_location:
        yield normal(urljoin(str(response.url), response.headers["location"]))
    if response.status_code != 200 or not is_html(response):
        return
    base = _BASE.search(response.text[:20_000])
    root = urljoin(str(response.url), base[1]) if base else str(response.url)
    for match in _HREF.finditer(response.text):
        target = unescape(match[1] or match[2] or match[3] or "").strip()
        yield normal(urljoin(root, target))


def normal(address: str) -> str:
    """One spelling for one page: no fragment, no empty path, the host in lower case."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return address
    return urlunsplit((parts.scheme, parts.netloc.lower(), parts.path or "/", parts.query, ""))


def locations(sitemap: str) -> list[str]:
    return [unescape(match[1]) for match in _LOCATION.finditer(sitemap)]


def body(response: httpx2.Response) -> bytes:
    """The bytes; a page whose server says its encoding becomes UTF-8 with a mark, so that nothing in it is believed more."""
    if is_html(response) and response.charset_encoding:
        return response.text.encode("utf-8-sig", errors="replace")
    return response.content


def updated_at(response: httpx2.Response) -> datetime | None:
    try:
        return parsedate_to_datetime(response.headers["last-modified"])
    except (KeyError, ValueError):
        return None
