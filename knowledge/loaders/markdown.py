"""Markdown and MDX."""

import re

from knowledge import front_matter
from knowledge.errors import DocumentUnreadable
from knowledge.loaders.comments import without_comments
from knowledge.loaders.conversion import to_markdown
from knowledge.loaders.decoding import decode
from knowledge.loaders.loaded import Loaded, titled
from knowledge.loaders.prose import substitute
from knowledge.loaders.references import resolved
from knowledge.loaders.tables import compacted
from knowledge.outline import outline

_MDX_MODULE_LINE = re.compile(r"^(?:import\s[^\n]*|export\s+(?:\{|\*|default\s+\w+;?$)[^\n]*)\n", re.M)

_HTML_TABLE = r"<table\b[^>]*>.*?</table\s*>"


def load(name: str, content: bytes) -> Loaded:
    decoded = decode(content)
    head = front_matter.read(decoded.text)
    mdx = name.lower().endswith(".mdx")
    body = without_comments(decoded.text[head.end :], mdx)
    if mdx:
        body = _MDX_MODULE_LINE.sub("", body)
    body = substitute(body, _HTML_TABLE, lambda m: f"\n\n{to_markdown(m[0])}\n\n")
    body = compacted(resolved(body))
    if not body.strip():
        raise DocumentUnreadable("empty", "it has no text besides front matter and comments")
    return Loaded(
        title=titled(name, head.title, first_heading(body)),
        markdown=body,
        updated_at=head.updated_at,
        scopes=head.scopes,
        path=(titled(name, head.title),) if head.title else (),
        remarks=(*decoded.remarks, *([head.problem] if head.problem else [])),
    )


def first_heading(markdown: str) -> str:
    """The first heading of level 1, else the very first; empty without headings."""
    headings = [section for section in outline(markdown) if section.level]
    top = [section for section in headings if section.level == 1] or headings
    return top[0].path[-1] if top and top[0].path else ""
