"""Web pages: the article of the page as Markdown, without menus, banners, scripts and what is hidden."""

import re

from knowledge.errors import DocumentUnreadable
from knowledge.loaders.conversion import to_markdown
from knowledge.loaders.decoding import decode
from knowledge.loaders.loaded import Loaded, titled
from knowledge.loaders.markdown import first_heading

_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.I)
_TITLE = re.compile(r"<title\b[^>]*>(.*?)</title\s*>", re.I | re.S)
_MAIN = re.compile(r"<(main|article)\b[^>]*>.*</\1\s*>", re.I | re.S)
_TEXT = re.compile(r"<(script|style|template|noscript)\b.*?</\1\s*>|<[^>]*>", re.I | re.S)


def load(name: str, content: bytes) -> Loaded:
    charset = _CHARSET.search(content[:4096])
    decoded = decode(content, declared=charset[1].decode("ascii") if charset else None)
    title = _TITLE.search(decoded.text)
    body = to_markdown(_article(decoded.text))
    if not body.strip():
        raise DocumentUnreadable("empty", "the page has no text outside its menus and scripts")
    words = to_markdown(title[1]).strip() if title else ""
    return Loaded(title=titled(name, first_heading(body), words), markdown=body, remarks=decoded.remarks)


def _article(html: str) -> str:
    """What is inside <main> or <article>, when that holds most of the page's text; else the whole page."""
    found = _MAIN.search(html)
    if found and len(_TEXT.sub("", found[0])) >= 200:
        return found[0]
    return html
