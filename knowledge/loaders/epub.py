"""EPUB books: the chapters in reading order."""

import io
import posixpath
import zipfile
from datetime import UTC, datetime
from urllib.parse import unquote
from xml.etree import ElementTree

from knowledge.errors import DocumentUnreadable
from knowledge.loaders import archives, dated
from knowledge.loaders.conversion import to_markdown
from knowledge.loaders.decoding import clean, decode
from knowledge.loaders.loaded import Loaded, titled
from knowledge.loaders.markdown import first_heading


def load(name: str, content: bytes) -> Loaded:
    archives.check(content)
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        container = ElementTree.fromstring(book.read("META-INF/container.xml"))
        package_path = next(e.attrib["full-path"] for e in container.iter() if e.tag.endswith("}rootfile"))
        package = ElementTree.fromstring(book.read(package_path))
        there = set(book.namelist())
        spine = _spine(package, package_path)
        chapters = [
            to_markdown(decode(book.read(member)).text, extent="book").strip() for member in spine if member in there
        ]
    markdown = "\n\n".join(filter(None, chapters))
    if not markdown:
        raise DocumentUnreadable("empty", "no chapter has any text")
    title = next((e.text or "" for e in package.iter() if e.tag.endswith("}title")), "")
    missing = sum(member not in there for member in spine)
    remarks = (f"{missing} of {len(spine)} chapters are missing in the file",) if missing else ()
    return Loaded(
        title=titled(name, clean(title), first_heading(markdown)),
        markdown=markdown,
        updated_at=dated.of_package(package, datetime.now(UTC)),
        remarks=remarks,
    )


def _spine(package: ElementTree.Element, package_path: str) -> list[str]:
    folder = posixpath.dirname(package_path)
    files = {e.attrib["id"]: e.attrib["href"] for e in package.iter() if e.tag.endswith("}item")}
    order = [e.attrib["idref"] for e in package.iter() if e.tag.endswith("}itemref")]
    return [posixpath.normpath(posixpath.join(folder, unquote(files[i].split("#")[0]))) for i in order if i in files]
