"""Web pages: the article of the page as Markdown, without menus, banners, scripts and what is hidden."""

import re
from urllib.parse import urljoin

from knowledge.errors import DocumentUnreadable
from knowledge.loaders.conversion import to_markdown
from knowledge.loaders.decoding import decode
from knowledge.loaders.loaded import Loaded, titled
from knowledge.loaders.markdown import first_heading

_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)|<\?xml[^>]{0,80}?encoding\s*=\s*[\"']([\w.:-]+)", re.I
)
_BASE = re.compile(r"<base\b[^>]*?\bhref\s*=\s*[\"']?([^\"'\s>]+)", re.I)
_TITLE = re.compile(r"<title\b[^>]*>(.*?)</title\s*>", re.I | re.S)
_MAIN = re.compile(r"<(main|article)\b[^>]*>.*</\1\s*>", re.I | re.S)
_TEXT = re.compile(r"<(script|style|template|noscript)\b.*?</\1\s*>|<[^>]*>", re.I | re.S)
_PASSWORD = re.compile(r"<input\b[^>]*\btype\s*=\s*[\"']?password", re.I)
_LINK = re.compile(r"!?\[[^\[\]]*\]\([^()]*\)")
_TOP_HEADING = re.compile(r"^# ", re.M)

LEAST_ARTICLE = 0.5
"""Of a page's words outside links. Where banners take more than the rest, one of them is the page: some systems put all
of it into one form, or name its frame after what it may hold."""


def load(name: str, content: bytes) -> Loaded:
    charset = _CHARSET.search(content[:4096])
    decoded = decode(content, declared=(charset[1] or charset[2]).decode("ascii") if charset else None)
    title = _TITLE.search(decoded.text)
    body = _body(decoded.text, _base_url(name, decoded.text))
    if not body.strip():
        raise DocumentUnreadable("empty", "the page has no text outside its menus and scripts")
    words = to_markdown(title[1]).strip() if title else ""
    heading = first_heading(body)
    names = (heading, words) if _TOP_HEADING.search(body) else (words, heading)
    return Loaded(title=titled(name, *names), markdown=body, remarks=decoded.remarks)


def _body(html: str, base_url: str | None) -> str:
    part = _article(html)
    article = to_markdown(part, base_url)
    if _words(article) >= LEAST_ARTICLE * len(_TEXT.sub(" ", part).split()) or _PASSWORD.search(html):
        return article
    page = to_markdown(part, base_url, extent="page")
    return page if _words(article) < LEAST_ARTICLE * _words(page) else article


def _base_url(name: str, html: str) -> str | None:
    """Where the page's links start from; None for a file, which may be shown anywhere."""
    if not name.startswith(("http://", "https://")):
        return None
    base = _BASE.search(html[:20_000])
    return urljoin(name, base[1]) if base else name


def _words(markdown: str) -> int:
    return len(_LINK.sub(" ", markdown).split())


def _article(html: str) -> str:
    """What is inside <main> or <article>, when that holds most of the page's text; else the whole page."""
    found = _MAIN.search(html)
    if found and len(_TEXT.sub("", found[0])) >= 200:
        return found[0]
    return html
