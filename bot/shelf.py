"""The sample company's documents, to be opened from the local page by whoever may read them, as text that does nothing.

A document is found in the index under the person's own scopes, so what is shown is what the bot would use for them in a
direct message, and no path leads to anything that is not indexed.
"""

import contextlib
import hashlib
from collections.abc import Callable, Sequence
from html import escape
from pathlib import PurePosixPath
from urllib.parse import quote

from markdown_it import MarkdownIt
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from bot.errors import SlackUnavailable
from knowledge import catalog
from knowledge.catalog import Entry
from knowledge.db import Database
from knowledge.errors import DocumentUnreadable
from knowledge.loaders import load
from knowledge.permissions import Scopes
from knowledge.settings import Source
from knowledge.sources import open_source

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="/page/document.css">
<header>{place}</header>
<main>{body}</main>
</html>
"""
REFUSED = """<h1>Not open to you</h1>
<p>Whoever you are on the page may not read this document, or it does not exist. Documents are opened from an answer's
sources, as the person chosen there.</p>"""


class Shelf:
    """`allowed`: a person's id -> the scopes of what they may open; may raise `SlackUnavailable`."""

    def __init__(self, database: Database, sources: Sequence[Source], allowed: Callable[[str], Scopes]) -> None:
        self._database = database
        self._sources = {source.name: source for source in sources}
        self._allowed = allowed

    @property
    def route(self) -> Route:
        return Route("/documents/{source:str}/{path:path}", self.open)

    def open(self, request: Request) -> Response:
        """The document for the person in `as`. One answer for what is not there and what is not theirs."""
        entry = self._entry(request.path_params["source"], request.path_params["path"], request.query_params.get("as"))
        content = self._content(entry) if entry else None
        if entry is None or content is None:
            return _page("Not open to you", "", REFUSED, 403)
        if not entry.external_id.endswith(".md"):
            name = quote(PurePosixPath(entry.external_id).name)
            attached = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
            return Response(content, media_type="application/octet-stream", headers=HEADERS | attached)
        return _page(entry.title, f"{entry.source} / {entry.external_id}", _text(entry.external_id, content))

    def _entry(self, source: str, path: str, person: str | None) -> Entry | None:
        if person is None or source not in self._sources:
            return None
        try:
            allowed = self._allowed(person)
        except SlackUnavailable:
            return None
        with self._database.reading(allowed) as connection:
            found = catalog.find(connection, path, allowed, limit=len(self._sources))
        return next((entry for entry in found if (entry.source, entry.external_id) == (source, path)), None)

    def _content(self, entry: Entry) -> bytes | None:
        """The bytes that were indexed; None when the document has gone or changed since, and with it perhaps its readers."""
        with contextlib.closing(open_source(self._sources[entry.source])) as source:
            listed = {item.external_id for item in source.list({})}
            content = source.read(entry.external_id) if entry.external_id in listed else b""
        return content if hashlib.sha256(content).hexdigest() == entry.content_hash else None


def _text(name: str, content: bytes) -> str:
    """Markdown as HTML without links, pictures and whatever HTML was in it."""
    try:
        markdown = load(name, content).markdown
    except DocumentUnreadable as error:
        return f"<p>{escape(str(error))}</p>"
    inert = (
        MarkdownIt("commonmark", {"html": False}).enable("table").disable(["link", "image", "autolink", "reference"])
    )
    rendered: str = inert.render(markdown)
    return rendered


def _page(title: str, place: str, body: str, status: int = 200) -> Response:
    page = PAGE.format(title=escape(title), place=escape(place), body=body)
    return HTMLResponse(page, status, headers=HEADERS)
