"""Bytes -> text, and text as the index can hold it."""

import codecs
import re
import unicodedata
from dataclasses import dataclass

from knowledge.errors import DocumentUnreadable

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = re.compile(
    r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff\xad]|[\ud800-\udfff]"
)
_BINARY_BYTES = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_LINE_ENDS = re.compile(r"\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_PRESENTATION_FORMS = re.compile(r"[\ufb00-\ufb06\ufb13-\ufdff\ufe70-\ufefc]+")

MAX_BINARY_SHARE = 0.005
"""Of control bytes in text that is not UTF-8. Random bytes have a tenth; texts in old encodings have none."""


@dataclass(frozen=True)
class Decoded:
    """`replaced`: characters that could not be decoded and stand as U+FFFD."""

    text: str
    encoding: str
    replaced: int = 0

    @property
    def remarks(self) -> tuple[str, ...]:
        return (f"{self.replaced} characters could not be decoded and were replaced",) if self.replaced else ()


def decode(content: bytes, declared: str | None = None) -> Decoded:
    """Text of a file: by its byte-order mark, as UTF-8, in the `declared` encoding, as Windows-1252; then `clean`ed.

    Raises `DocumentUnreadable` for bytes that are no text in any of them.
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _decoded(content, encoding)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        if len(_BINARY_BYTES.findall(content)) > len(content) * MAX_BINARY_SHARE:
            raise DocumentUnreadable("unsupported", "not text: it looks like a binary file") from None
        return _decoded(content, _known(declared) or "cp1252")
    if len(_BINARY_BYTES.findall(content)) > len(content) * 0.1:
        raise DocumentUnreadable("unsupported", "not text: it looks like a binary file")
    return Decoded(clean(text), "utf-8")


def clean(text: str) -> str:
    """Line ends as `\\n`; no NUL, control character, byte-order mark, soft hyphen or lone surrogate; composed characters.

    Ligatures and Arabic or Hebrew presentation forms, which PDF files are full of, become the letters people type.
    """
    text = _CONTROLS.sub("", _LINE_ENDS.sub("\n", text))
    text = _PRESENTATION_FORMS.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text)
    return unicodedata.normalize("NFC", text)


def _decoded(content: bytes, encoding: str) -> Decoded:
    text = content.decode(encoding, errors="replace")
    return Decoded(clean(text), encoding, text.count("\ufffd"))


def _known(encoding: str | None) -> str | None:
    try:
        info = codecs.lookup(encoding) if encoding else None
        return info.name if info and info._is_text_encoding else None
    except LookupError:
        return None
