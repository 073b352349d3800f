"""Markdown and MDX."""

import re
from html import unescape

from knowledge import front_matter
from knowledge.errors import DocumentUnreadable
from knowledge.loaders import mdx
from knowledge.loaders.admonitions import unboxed
from knowledge.loaders.comments import without_comments
from knowledge.loaders.decoding import clean, decode
from knowledge.loaders.loaded import Loaded, titled
from knowledge.loaders.prose import changed_prose, outside_spans
from knowledge.loaders.references import resolved
from knowledge.loaders.tables import compacted
from knowledge.loaders.tags import without_tags
from knowledge.outline import outline

_ENTITY = r"&amp;(?!#?\w+;)|&(?!amp;|lt;|gt;)(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});"
_MEANT = frozenset("<>*_`[]|\\#~&")
"""Characters that would be markup; written as entities, they are not."""

_BLANK_LINES = re.compile(r"(?:^[ \t]*\n){2,}", re.M)


def load(name: str, content: bytes) -> Loaded:
    decoded = decode(content)
    head = front_matter.read(decoded.text)
    body = without_comments(decoded.text[head.end :])
    if mdx.is_mdx(name, body):
        body = mdx.plain_markdown(body)
    body = resolved(changed_prose(unboxed(body), _tidied))
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


def _tidied(prose: str) -> str:
    return _BLANK_LINES.sub("\n", compacted(outside_spans(without_tags(prose), _ENTITY, _character)))


def _character(entity: re.Match[str]) -> str:
    character = clean(unescape(entity[0]))
    return entity[0] if entity[0] != "&amp;" and _MEANT & set(character) else character


def first_heading(markdown: str) -> str:
    """The first heading of level 1, else the very first; empty without headings."""
    headings = [section for section in outline(markdown) if section.level]
    top = [section for section in headings if section.level == 1] or headings
    return top[0].path[-1] if top and top[0].path else ""
