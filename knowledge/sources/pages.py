"""What a crawler needs to know of a response: its links, its encoding, its date, and whether it may be indexed."""

import gzip
import io
import re
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html import unescape
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

import httpx2

from knowledge.loaders.decoding import known_encoding

_HREF = re.compile(r"<a\b[^>]{0,2000}?\bhref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.I)
_BASE = re.compile(r"<base\b[^>]*?\bhref\s*=\s*[\"']?([^\"'\s>]+)", re.I)
_NOINDEX = re.compile(
    r"<meta\b(?=[^>]*\bname\s*=\s*[\"']?robots)[^>]*\bcontent\s*=\s*[\"'][^\"']*\b(?:noindex|none)\b", re.I
)
_CANONICAL = re.compile(r"<link\b(?=[^>]*\brel\s*=\s*[\"']?canonical)[^>]*\bhref\s*=\s*[\"']?([^\"'\s>]+)", re.I)
_LOCATION = re.compile(r"<loc>\s*(?:<!\[CDATA\[)?\s*(.*?)\s*(?:\]\]>)?\s*</loc>", re.I | re.S)

MAX_SITEMAP_BYTES = 50_000_000
"""By the rules of sitemaps (https://www.sitemaps.org/protocol.html)."""

_IN_PATHS = "/%:@!$&'()*+,;=~"
_PORTS = {"http": ":80", "https": ":443"}

READABLE = ("text/", "application/pdf", "application/xhtml", "application/epub", "application/rtf", "application/vnd.o")


def is_html(response: httpx2.Response) -> bool:
    return "html" in response.headers.get("content-type", "").lower()


def is_readable(response: httpx2.Response) -> bool:
    kind = response.headers.get("content-type", "text/html").lower()
    return kind.startswith(READABLE) and not kind.startswith(("text/css", "text/javascript"))


def may_be_indexed(response: httpx2.Response) -> bool:
    """False when the page's header or its robots mark says `noindex`."""
    if re.search(r"\b(?:noindex|none)\b", response.headers.get("x-robots-tag", ""), re.I):
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


def canonical(response: httpx2.Response) -> str:
    """The address that a page gives as its own among several; empty when it names none."""
    if response.status_code != 200 or not is_html(response):
        return ""
    found = _CANONICAL.search(response.text[:100_000])
    return normal(urljoin(str(response.url), unescape(found[1]))) if found else ""


def same_path(address: str, other: str) -> bool:
    """Whether two addresses differ at most in what follows the path, in a slash, or in a folder's `index.html`."""
    first, second = urlsplit(address), urlsplit(other)
    return (first.scheme, first.netloc, _folded(first.path)) == (second.scheme, second.netloc, _folded(second.path))


def _folded(path: str) -> str:
    return re.sub(r"/index\.html?$", "/", path).rstrip("/")


def normal(address: str) -> str:
    """One spelling for one page: no fragment, no empty path, no usual port, the host in lower case, and nothing in it
    that a request would have to spell otherwise."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return address
    netloc = parts.netloc.lower().removesuffix(_PORTS.get(parts.scheme, " "))
    path, query = quote(parts.path or "/", safe=_IN_PATHS), quote(parts.query, safe=_IN_PATHS + "?[]")
    return urlunsplit((parts.scheme, netloc, path, query, ""))


def sitemap(response: httpx2.Response) -> str | None:
    """The text of a sitemap, unpacked; None when it was cut off or cannot be unpacked."""
    content = response.content
    if content.startswith(b"\x1f\x8b"):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
                content = packed.read(MAX_SITEMAP_BYTES + 1)
        except (OSError, EOFError, zlib.error):
            return None
    return content.decode("utf-8-sig", errors="replace") if len(content) <= MAX_SITEMAP_BYTES else None


def locations(sitemap: str) -> list[str]:
    return [unescape(match[1]) for match in _LOCATION.finditer(sitemap)]


def body(response: httpx2.Response) -> bytes:
    """The bytes; a page whose server says its encoding becomes UTF-8 with a mark, so that nothing in it is believed more."""
    if is_html(response) and (encoding := known_encoding(response.charset_encoding)):
        return response.content.decode(encoding, errors="replace").encode("utf-8-sig", errors="replace")
    return response.content


def updated_at(response: httpx2.Response) -> datetime | None:
    try:
        at = parsedate_to_datetime(response.headers["last-modified"])
    except (KeyError, ValueError, OverflowError):
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
