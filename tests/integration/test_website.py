"""A website as a source: a real server on this machine, and addresses that must never be asked."""

import gzip
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import pytest

from knowledge.db import Database
from knowledge.errors import SourceFailed
from knowledge.index import Indexer
from knowledge.settings import Chunking, Source
from knowledge.sources.addresses import is_public
from knowledge.sources.pages import normal
from knowledge.sources.source import Listed
from knowledge.sources.website import Website
from tests.word_embedder import WordEmbedder

Answer = tuple[int, dict[str, str], bytes]


class Site:
    """Pages by path; `asked` are the requests, `headers` those of the last request for each path."""

    def __init__(self) -> None:
        self.pages: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.headers: dict[str, dict[str, str]] = {}
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                site.headers[self.path] = {k.lower(): v for k, v in self.headers.items()}
                status, headers, body = site.pages.get(self.path, (404, {}, b"no such page"))
                if "etag" in headers and self.headers.get("if-none-match") == headers["etag"]:
                    status, body = 304, b""
                self.send_response(status)
                for name, value in ({"content-type": "text/html"} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.root = f"http://127.0.0.1:{self.server.server_port}"

    def page(self, path: str, body: str, status: int = 200, **headers: str) -> None:
        self.pages[path] = (status, {k.replace("_", "-"): v for k, v in headers.items()}, body.encode())

    def list(self, known: dict[str, str] | None = None, **settings: object) -> dict[str, Listed]:
        """Listed pages by path."""
        given = {"location": f"{self.root}/docs/", "allow_private_addresses": True} | settings
        website = Website(Source(name="site", kind="website", scopes=("workspace",), **given))
        try:
            listed = website.list({self.root + path: revision for path, revision in (known or {}).items()})
            self.read = {
                item.external_id.removeprefix(self.root): website.read(item.external_id)
                for item in listed
                if item.revision not in (known or {}).values()
            }
            return {item.external_id.removeprefix(self.root): item for item in listed}
        finally:
            website.close()


@pytest.fixture
def site() -> Iterator[Site]:
    opened = Site()
    thread = threading.Thread(target=opened.server.serve_forever, args=(0.01,))
    thread.start()
    yield opened
    opened.server.shutdown()
    opened.server.server_close()
    thread.join()


def test_links_below_the_start_are_followed_and_no_others(site: Site) -> None:
    site.page("/docs/", '<a href="a.html#part">A</a> <a href="/docs/b?x=1&amp;y=2">B</a> <a href="/shop">no</a>')
    site.page(
        "/docs/a.html",
        '<a href="./">back</a> <a href="https://elsewhere.example/">no</a> <a href="mailto:x@y.z">no</a>',
    )
    site.page("/docs/b?x=1&y=2", "B")
    site.page("/shop", "Shop")
    assert list(site.list()) == ["/docs/", "/docs/a.html", "/docs/b?x=1&y=2"]
    assert "/shop" not in site.asked
    assert site.read["/docs/b?x=1&y=2"] == b"B"


def test_a_sitemap_is_read_and_its_unchanged_pages_are_not_sent_again(site: Site) -> None:
    site.page("/docs/", "Start")
    site.page("/robots.txt", f"Sitemap: {site.root}/index.xml", content_type="text/plain")
    site.page("/index.xml", f"<sitemapindex><sitemap><loc>{site.root}/map.xml</loc></sitemap></sitemapindex>")
    site.page("/map.xml", f"<urlset><url><loc>{site.root}/docs/deep</loc></url></urlset>")
    site.page("/docs/deep", "Deep", etag='"v1"')
    first = site.list()["/docs/deep"]
    assert first.revision == 'etag "v1"'
    second = site.list({"/docs/deep": first.revision})["/docs/deep"]
    assert second.revision == first.revision
    assert site.headers["/docs/deep"]["if-none-match"] == '"v1"'


def test_robots_are_obeyed(site: Site) -> None:
    site.page("/robots.txt", "User-agent: *\nDisallow: /docs/private", content_type="text/plain")
    site.page("/docs/", '<a href="private/a">no</a> <a href="seen">yes</a> <a href="unlisted">no</a>')
    site.page("/docs/private/a", "Private")
    site.page("/docs/seen", "Seen")
    site.page("/docs/unlisted", '<meta name="robots" content="noindex, follow">Not for indexes')
    assert list(site.list()) == ["/docs/", "/docs/seen"]
    assert "/docs/private/a" not in site.asked


def test_a_moved_page_is_listed_where_it_is(site: Site) -> None:
    site.page("/docs/", '<a href="old">x</a>')
    site.page("/docs/old", "", status=301, location="/docs/new")
    site.page("/docs/new", "New")
    assert list(site.list()) == ["/docs/", "/docs/new"]


def test_the_date_of_a_page_is_the_servers(site: Site) -> None:
    site.page("/docs/", "Start", last_modified="Mon, 02 Mar 2026 10:00:00 GMT")
    listed = site.list()["/docs/"]
    assert listed.dated
    assert listed.updated_at is not None
    assert listed.updated_at.isoformat() == "2026-03-02T10:00:00+00:00"


@pytest.mark.parametrize(
    ("said", "at"),
    [("Mon, 02 Mar 2026 10:00:00 -0000", datetime(2026, 3, 2, 10, tzinfo=UTC)), ("yesterday", None), (None, None)],
)
def test_a_date_without_a_zone_is_of_no_zone_in_particular_and_none_is_none(
    site: Site, said: str | None, at: datetime | None
) -> None:
    site.page("/docs/", "Start", **cast("dict[str, Any]", {"last_modified": said} if said else {}))
    listed = site.list()["/docs/"]
    assert (listed.updated_at, listed.dated) == (at, at is not None)


def test_the_servers_encoding_is_believed_before_the_pages(site: Site) -> None:
    body = '<meta charset="utf-8">Größe'.encode("cp1252")
    site.pages["/docs/"] = (200, {"content-type": "text/html; charset=windows-1252"}, body)
    site.list()
    assert "Größe" in site.read["/docs/"].decode("utf-8-sig")
    site.pages["/docs/"] = (200, {"content-type": "text/html; charset=ISO-8859-1"}, "“Größe” – 4 €".encode("cp1252"))
    site.list()
    assert "“Größe” – 4 €" in site.read["/docs/"].decode("utf-8-sig")


def test_pages_that_fail_for_the_moment_count_as_unchanged_and_new_ones_wait(site: Site) -> None:
    site.page("/docs/", '<a href="a">a</a> <a href="b">b</a> <a href="gone">g</a>')
    site.page("/docs/a", "", status=503)
    site.page("/docs/b", "", status=503)
    listed = site.list({"/docs/a": "hash 1", "/docs/gone": "hash 2"})
    assert list(listed) == ["/docs/", "/docs/a"]
    assert listed["/docs/a"].revision == "hash 1"


@pytest.mark.parametrize("answer", [{"status": 503}, {"etag": '"v1"'}], ids=["fails", "is unchanged"])
def test_what_only_a_page_that_was_not_sent_links_to_stays(site: Site, answer: dict[str, Any]) -> None:
    site.page("/docs/", "Start")
    site.page("/sitemap.xml", f"<urlset><url><loc>{site.root}/docs/a</loc></url></urlset>")
    site.page("/docs/a", '<a href="b">b</a> <a href="gone">g</a>', **answer)
    site.page("/docs/b", "B")
    listed = site.list({"/docs/a": 'etag "v1"', "/docs/b": "hash 1", "/docs/gone": "hash 2"})
    assert list(listed) == ["/docs/", "/docs/a", "/docs/b"]


def test_a_full_sync_keeps_a_page_that_fails_for_the_moment(site: Site, database: Database) -> None:
    site.page("/docs/", '<a href="a">a</a>')
    site.page("/docs/a", "Tea is in the kitchen.")
    settings = Source(
        name="site",
        kind="website",
        location=f"{site.root}/docs/",
        scopes=("workspace",),
        allow_private_addresses=True,
    )
    indexer = Indexer(database, WordEmbedder(), Chunking())
    assert indexer.sync(settings).added == 2
    site.page("/docs/a", "", status=503)
    outcome = indexer.sync(settings, full=True)
    assert outcome.deleted == 0
    assert "cannot be read (503)" in dict(outcome.failed)[f"{site.root}/docs/a"]
    site.page("/docs/a", "Tea is in the hall.")
    assert indexer.sync(settings, full=True).failed == ()


def test_a_sitemap_that_fails_for_the_moment_takes_no_known_page_away(site: Site) -> None:
    site.page("/docs/", "Start")
    site.page("/sitemap.xml", "", status=500)
    site.page("/docs/a", "A")
    assert list(site.list({"/docs/a": "hash 1", "/docs/gone": "hash 2"})) == ["/docs/", "/docs/a"]
    site.page("/sitemap.xml", "", status=404)
    assert list(site.list({"/docs/a": "hash 1"})) == ["/docs/"]


def test_a_page_that_was_not_sent_can_be_read_all_the_same(site: Site) -> None:
    site.page("/docs/", "Start")
    site.page("/sitemap.xml", f"<urlset><url><loc>{site.root}/docs/a</loc></url></urlset>")
    site.page("/docs/a", "A", etag='"v1"')
    website = Website(
        Source(
            name="site",
            kind="website",
            location=f"{site.root}/docs/",
            scopes=("workspace",),
            allow_private_addresses=True,
        )
    )
    try:
        listed = website.list({f"{site.root}/docs/a": 'etag "v1"'})
        assert [website.read(item.external_id) for item in listed] == [b"Start", b"A"]
        with pytest.raises(SourceFailed, match="404"):
            website.read(f"{site.root}/docs/never")
    finally:
        website.close()


def test_a_packed_sitemap_elsewhere_is_read(site: Site) -> None:
    site.page("/docs/", "Start")
    site.page("/robots.txt", "", status=301, location="/meta/robots.txt")
    site.page("/meta/robots.txt", f"\ufeffUser-agent: *\nDisallow: /docs/no\nSitemap: {site.root}/map.xml.gz")
    site.page("/map.xml.gz", "", status=302, location="/maps/1")
    urls = f"<urlset><url><loc><![CDATA[{site.root}/docs/a?x=1&y=2]]></loc></url><url><loc>{site.root}/docs/no</loc></url></urlset>"
    site.pages["/maps/1"] = (200, {"content-type": "application/gzip"}, gzip.compress(urls.encode()))
    site.page("/docs/a?x=1&y=2", "A")
    assert list(site.list()) == ["/docs/", "/docs/a?x=1&y=2"]
    site.pages["/maps/1"] = (200, {}, gzip.compress(urls.encode())[:40])
    assert list(site.list({"/docs/a?x=1&y=2": "hash 1"})) == ["/docs/", "/docs/a?x=1&y=2"]


def test_one_page_under_several_addresses_is_listed_by_its_canonical_one(site: Site) -> None:
    site.page("/docs/", '<a href="a?from=menu">a</a> <a href="b?print">b</a> <a href="c?x">c</a>')
    for path in ("/docs/a?from=menu", "/docs/a"):
        site.page(path, '<link rel="canonical" href="/docs/a">A')
    site.page("/docs/b?print", '<link href="/docs/b" rel=canonical>B, whose canonical address is not there')
    site.page("/docs/c?x", '<link rel="canonical" href="/docs/">C, which calls another page its own')
    assert list(site.list()) == ["/docs/", "/docs/c?x", "/docs/a", "/docs/b?print"]


def test_addresses_that_a_request_spells_alike_are_one_page(site: Site) -> None:
    port = site.server.server_port
    site.page(
        "/docs/",
        f'<a href="caf\u00e9 1">1</a> <a href="caf%C3%A9%201">2</a> <a href="http://127.0.0.1:{port}/docs/#x">3</a>',
    )
    site.page("/docs/caf%C3%A9%201", "Menu")
    assert list(site.list()) == ["/docs/", "/docs/caf%C3%A9%201"]
    assert normal("HTTPS://Sea.example:443/a#b") == "https://sea.example/a"


def test_pages_kept_out_of_indexes_by_their_header_are_left_out(site: Site) -> None:
    site.page("/docs/", '<a href="a">a</a>', content_type="Text/HTML")
    site.page("/docs/a", "A", x_robots_tag="None")
    assert list(site.list()) == ["/docs/"]


@pytest.mark.parametrize("path", ["/docs/", "/robots.txt"])
def test_a_site_that_does_not_answer_for_itself_is_not_listed(site: Site, path: str) -> None:
    site.page("/docs/", "Start")
    site.page(path, "", status=500)
    with pytest.raises(SourceFailed, match="nothing was deleted"):
        site.list()


@pytest.mark.parametrize(
    "location",
    [
        f"http://{host}:{{port}}/"
        for host in ("127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f000001", "0", "[::ffff:127.0.0.1]")
    ],
)
def test_addresses_inside_the_network_are_refused_before_anything_is_sent(site: Site, location: str) -> None:
    with pytest.raises(SourceFailed, match=r"not a public address|has no address"):
        site.list(location=location.format(port=site.server.server_port), allow_private_addresses=False)
    assert site.asked == []


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://files.example/", "gopher://x", "docs"])
def test_only_web_addresses_are_read(site: Site, location: str) -> None:
    with pytest.raises(SourceFailed, match="only http and https"):
        site.list(location=location)


def test_a_redirect_is_checked_like_a_start(site: Site) -> None:
    site.page("/docs/", "", status=302, location="file:///etc/passwd")
    with pytest.raises(SourceFailed, match="only http and https"):
        site.list()


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "fe80::1",
        "fc00::1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "ff02::1",
    ],
)
def test_private_addresses_in_any_spelling_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700::1111"])
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(address)
