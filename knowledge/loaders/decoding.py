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
_JOINTS = re.compile(r"\u2060|(?<![\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])\u200b")
"""Invisible leave or ban to break a line, which cuts a word in two for a search. Languages without spaces need it."""

_BINARY_BYTES = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_LINE_ENDS = re.compile(r"\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_PRESENTATION_FORMS = re.compile(r"[\ufb00-\ufb06\ufb13-\ufdff\ufe70-\ufefc]+")

_WIDER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
"""Encodings that pages name, and those that browsers read instead: the same letters, and the quotation marks, dashes and
signs that people typed beside them (https://encoding.spec.whatwg.org/#names-and-labels)."""

_BYTES_OF_ONE_CHARACTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")

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
    UTF-8 that is damaged in places stays UTF-8.

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
        told = known_encoding(declared)
        if told and not told.startswith("utf"):
            return _decoded(content, told)
        return _decoded(content, "utf-8" if _is_mostly_utf8(content) else "cp1252")
    if len(_BINARY_BYTES.findall(content)) > len(content) * 0.1:
        raise DocumentUnreadable("unsupported", "not text: it looks like a binary file")
    return Decoded(clean(text), "utf-8")


def clean(text: str) -> str:
    """Line ends as `\\n`; no NUL, control character, byte-order mark, soft hyphen or lone surrogate; composed characters.

    Ligatures and Arabic or Hebrew presentation forms, which PDF files are full of, become the letters people type.
    """
    text = _CONTROLS.sub("", _LINE_ENDS.sub("\n", text))
    text = _JOINTS.sub("", text)
    text = _PRESENTATION_FORMS.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text)
    return unicodedata.normalize("NFC", text)


def _decoded(content: bytes, encoding: str) -> Decoded:
    text = content.decode(encoding, errors="replace")
    return Decoded(clean(text), encoding, text.count("\ufffd"))


def known_encoding(declared: str | None) -> str | None:
    """The encoding by which to read what was declared as this one; None for a name that is unknown."""
    try:
        info = codecs.lookup(declared) if declared else None
    except LookupError:
        return None
    return _WIDER.get(info.name, info.name) if info and info._is_text_encoding else None


def _is_mostly_utf8(content: bytes) -> bool:
    """More characters are whole in UTF-8 than broken: a text with a damaged spot, not one in another encoding."""
    whole = len(_BYTES_OF_ONE_CHARACTER.findall(content))
    return whole > content.decode("utf-8", errors="replace").count("\ufffd")
