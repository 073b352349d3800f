"""The sample company's documents as the local page opens them: by their readers only, and as text that does nothing."""

from dataclasses import dataclass
from email.message import Message
from http.client import HTTPConnection

import pytest

from bot.shelf import Shelf
from tests.company import Company


@dataclass(frozen=True)
class Opened:
    status: int
    headers: Message
    text: str


@dataclass(frozen=True)
class Reader:
    """Opens documents at the local page's address; a path is sent as it is written."""

    company: Company

    def opens(self, person: str, path: str) -> Opened:
        connection = HTTPConnection("127.0.0.1", self.company.server.port)
        connection.request("GET", f"/documents/{path}" + (f"?as={person}" if person else ""))
        answer = connection.getresponse()
        opened = Opened(answer.status, answer.headers, answer.read().decode())
        connection.close()
        return opened


@pytest.fixture(scope="module")
def reader(company: Company) -> Reader:
    company.write(
        "everyone/poison.md",
        "# Poison\n\n<script>alert(1)</script> `<script>alert(2)</script>` [go](javascript:alert(1)) ![x](//e.test/)\n",
    )
    company.write("everyone/narrow.md", "---\nscopes: [channel:CLEGAL]\n---\n# Narrow\n\nFor lawyers only.\n")
    company.write("everyone/table.csv", "name,room\nAna,4\n")
    company.sync()
    (company.documents / "everyone" / "new.md").write_text("# Not indexed yet", encoding="utf-8")
    (company.documents / "outside.md").write_text("# Outside every source", encoding="utf-8")
    directory = company.service.directory
    shelf = Shelf(company.database, company.settings.sources, lambda person: directory.decide(person, None).allowed)
    company.slack.add_route(shelf.route)
    return Reader(company)


def test_a_reader_sees_the_text(reader: Reader) -> None:
    answer = reader.opens("UBEN", "everyone/leave.md")
    assert answer.status == 200
    assert "<h1>Annual leave</h1>" in answer.text
    assert "25 days" in answer.text


def test_other_kinds_of_files_are_downloaded(reader: Reader) -> None:
    answer = reader.opens("UBEN", "everyone/table.csv")
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''table.csv"
    assert answer.text == "name,room\nAna,4\n"


@pytest.mark.parametrize(
    ("person", "path"),
    [
        ("UBEN", "legal/lease.md"),
        ("UGUS", "everyone/leave.md"),
        ("UBEN", "everyone/narrow.md"),
        ("UNOBODY", "everyone/leave.md"),
        ("", "everyone/leave.md"),
    ],
    ids=["not in the channel", "a guest", "narrowed in its front matter", "nobody of that name", "nobody named"],
)
def test_others_are_refused(reader: Reader, person: str, path: str) -> None:
    answer = reader.opens(person, path)
    assert answer.status == 403
    assert "Not open to you" in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "everyone/missing.md",
        "everyone/new.md",
        "nowhere/leave.md",
        "everyone/../outside.md",
        "everyone/..%2foutside.md",
        "everyone/%2e%2e/legal/lease.md",
        "everyone//etc/passwd",
        "everyone/",
    ],
)
def test_what_is_not_indexed_looks_as_if_it_were_not_theirs(reader: Reader, path: str) -> None:
    assert reader.opens("UBEN", path).text == reader.opens("UBEN", "legal/lease.md").text


def test_hostile_text_stays_text(reader: Reader) -> None:
    answer = reader.opens("UBEN", "everyone/poison.md")
    assert "&lt;script&gt;alert(2)&lt;/script&gt;" in answer.text
    assert [tag for tag in ("<script", "<a ", "<img") if tag in answer.text] == []
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; style-src 'self';")


def test_a_document_that_changed_or_went_after_it_was_indexed_is_not_shown(reader: Reader) -> None:
    reader.company.write("everyone/brief.md", "# Brief\n\nHere for a moment.\n")
    reader.company.sync()
    assert reader.opens("UBEN", "everyone/brief.md").status == 200
    reader.company.write("everyone/brief.md", "---\nscopes: [channel:CLEGAL]\n---\n# Brief\n\nFor lawyers by now.\n")
    assert reader.opens("UBEN", "everyone/brief.md").status == 403
    (reader.company.documents / "everyone" / "brief.md").unlink()
    assert reader.opens("UBEN", "everyone/brief.md").status == 403
