"""A website as a source: a real server on this machine, and addresses that must never be asked."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from knowledge.errors import SourceFailed
from knowledge.settings import Source
from knowledge.sources.addresses import is_public
from knowledge.sources.source import Listed
from knowledge.sources.website import Website

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
                if item.dated
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


def test_the_servers_encoding_is_believed_before_the_pages(site: Site) -> None:
    body = '<meta charset="utf-8">Größe'.encode("cp1252")
    site.pages["/docs/"] = (200, {"content-type": "text/html; charset=windows-1252"}, body)
    site.list()
    assert "Größe" in site.read["/docs/"].decode("utf-8-sig")


def test_pages_that_fail_for_the_moment_count_as_unchanged_and_new_ones_wait(site: Site) -> None:
    site.page("/docs/", '<a href="a">a</a> <a href="b">b</a> <a href="gone">g</a>')
    site.page("/docs/a", "", status=503)
    site.page("/docs/b", "", status=503)
    listed = site.list({"/docs/a": "hash 1", "/docs/gone": "hash 2"})
    assert list(listed) == ["/docs/", "/docs/a"]
    assert listed["/docs/a"].revision == "hash 1"


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
