"""What a file is, by its content. Only among texts, which all look alike, does the name decide."""

import io
import re
import zipfile
from enum import StrEnum
from pathlib import PurePosixPath

from knowledge.errors import DocumentUnreadable


class Kind(StrEnum):
    MARKDOWN = "markdown"
    HTML = "html"
    PDF = "pdf"
    DOCX = "docx"
    PPTX = "pptx"
    SPREADSHEET = "spreadsheet"
    CSV = "csv"
    RTF = "rtf"
    EPUB = "epub"
    CODE = "code"
    RST = "rst"
    TEXT = "text"


CODE_LANGUAGES = {
    ".bash": "bash", ".c": "c", ".cc": "cpp", ".cfg": "ini", ".clj": "clojure", ".cpp": "cpp", ".cs": "csharp", ".css": "css",
    ".dart": "dart", ".dockerfile": "dockerfile", ".ex": "elixir", ".exs": "elixir", ".go": "go", ".gradle": "groovy",
    ".graphql": "graphql", ".h": "c", ".hcl": "hcl", ".hpp": "cpp", ".hs": "haskell", ".ini": "ini", ".java": "java",
    ".jl": "julia", ".js": "javascript", ".json": "json", ".jsonl": "json", ".jsx": "jsx", ".kt": "kotlin", ".lua": "lua",
    ".mjs": "javascript", ".nix": "nix", ".php": "php", ".pl": "perl", ".proto": "protobuf", ".ps1": "powershell",
    ".py": "python", ".r": "r", ".rb": "ruby", ".rs": "rust", ".scala": "scala", ".scss": "scss", ".sh": "bash",
    ".sql": "sql", ".swift": "swift", ".tf": "hcl", ".toml": "toml", ".ts": "typescript", ".tsx": "tsx", ".vue": "vue",
    ".xml": "xml", ".yaml": "yaml", ".yml": "yaml", ".zig": "zig", ".zsh": "bash",
}  # fmt: skip
"""Suffix -> the language's name in a Markdown fence."""

CODE_NAMES = {"dockerfile": "dockerfile", "makefile": "makefile", "jenkinsfile": "groovy", "justfile": "makefile"}

_MARKDOWN = {".md", ".mdx", ".markdown", ".mdown", ".mkd"}
_TABLES = {".csv", ".tsv", ".tab"}
_PAGES = {".html", ".htm", ".xhtml"}
_HTML = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)

_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\x00", b"MM\x00*", b"\x00\x00\x01\x00")
_BINARY = {".pdf", ".doc", ".docx", ".pptx", ".xls", ".xlsx", ".ods", ".epub", ".rtf"}
_INNER = {".pdf": b"endobj", ".rtf": b"\\par"}
"""What shows a text of this name to be such a file with its first bytes damaged."""

_TAG = re.compile(rb"<[^>]*>")
_POINTER = b"version https://git-lfs.github.com/spec/"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def kind_of(name: str, content: bytes) -> Kind:
    """Raises `DocumentUnreadable` for empty, encrypted and unsupported files."""
    if not content.strip(b"\x00 \t\r\n\xef\xbb\xbf"):
        raise DocumentUnreadable("empty", "the file is empty")
    if content.startswith(_POINTER):
        raise DocumentUnreadable(
            "unsupported", "it only points to a file in Git LFS; give the files themselves as a folder"
        )
    if b"%PDF-" in content[:1024]:
        return Kind.PDF
    if content.startswith(b"PK\x03\x04"):
        return _zipped(content)
    if content.startswith(_OLE):
        return _ole(content)
    if content.startswith(b"{\\rtf"):
        return Kind.RTF
    if content.startswith(_PICTURES) or (content[:4] == b"RIFF" and content[8:12] == b"WEBP"):
        raise DocumentUnreadable("unsupported", "a picture: only text can be indexed")
    return _text_kind(name, content)


def _text_kind(name: str, content: bytes) -> Kind:
    path = PurePosixPath(name.lower())
    if path.suffix in _BINARY and _is_sign_in_page(content):
        raise DocumentUnreadable(
            "unsupported", f"named {path.suffix}, but it is a sign-in page; download the file again"
        )
    if path.suffix in _INNER and _INNER[path.suffix] in content:
        raise DocumentUnreadable("failed", f"a damaged {path.suffix} file: it does not begin like one")
    if path.suffix in _MARKDOWN:
        return Kind.MARKDOWN
    if path.suffix in _PAGES or _HTML.match(content[:4096].removeprefix(b"\xef\xbb\xbf")):
        return Kind.HTML
    if path.suffix == ".rst":
        return Kind.RST
    if path.suffix in _TABLES:
        return Kind.CSV
    if path.suffix in CODE_LANGUAGES or path.name in CODE_NAMES:
        return Kind.CODE
    return Kind.TEXT


def _is_sign_in_page(content: bytes) -> bool:
    """A page saved under the name of a document: it asks for a password, or says hardly anything."""
    short = len(_TAG.sub(b"", content)) < 200
    return bool(_HTML.match(content[:4096])) and (short or b'type="password"' in content)


def _zipped(content: bytes) -> Kind:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = set(archive.namelist())
            declared = archive.read("mimetype")[:100] if "mimetype" in names else b""
    except (zipfile.BadZipFile, KeyError, RuntimeError, OSError, ValueError, NotImplementedError, EOFError) as error:
        raise DocumentUnreadable("failed", f"a damaged archive: {error}") from error
    if declared.startswith(b"application/epub"):
        return Kind.EPUB
    if declared.startswith(b"application/vnd.oasis.opendocument.spreadsheet"):
        return Kind.SPREADSHEET
    if declared.startswith(b"application/vnd.oasis.opendocument"):
        raise DocumentUnreadable(
            "unsupported", "an OpenDocument file; of these only spreadsheets can be read, save it as .docx"
        )
    for member, kind in (("word/document.xml", Kind.DOCX), ("ppt/presentation.xml", Kind.PPTX)):
        if member in names:
            return kind
    if "xl/workbook.xml" in names or "xl/workbook.bin" in names:
        return Kind.SPREADSHEET
    raise DocumentUnreadable("unsupported", "an archive of a kind that cannot be read; put its files into the folder")


def _ole(content: bytes) -> Kind:
    """Files of Office before 2007, and the wrapping of encrypted newer ones."""
    if "EncryptedPackage".encode("utf-16-le") in content:
        raise DocumentUnreadable("encrypted", "encrypted: it needs a password; save it without one")
    if "Workbook".encode("utf-16-le") in content or "Book".encode("utf-16-le") in content:
        return Kind.SPREADSHEET
    raise DocumentUnreadable("unsupported", "a file of Office before 2007; save it as .docx or .pptx")
