"""Zip files (DOCX, PPTX, XLSX, ODS, EPUB) looked at before any parser unpacks them."""

import io
import zipfile

from knowledge.errors import DocumentUnreadable

MAX_UNPACKED_BYTES = 100_000_000
MAX_RATIO = 200
"""Unpacked to packed size. Office XML is at 10 to 40; 226 KB that become 200 MB keep a parser busy for minutes."""

RATIO_COUNTS_FROM_BYTES = 10_000_000
"""A few kilobytes of blank cells pack 1000:1 and hurt nobody."""


def check(content: bytes) -> None:
    """Raises `DocumentUnreadable` for an archive that is encrypted, damaged, or far bigger inside than outside."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise DocumentUnreadable("failed", f"a damaged archive: {error}") from error
    if any(member.flag_bits & 1 for member in members):
        raise DocumentUnreadable("encrypted", "encrypted: it needs a password; save it without one")
    unpacked = sum(member.file_size for member in members)
    if unpacked > MAX_UNPACKED_BYTES:
        raise DocumentUnreadable(
            "too_big", f"{unpacked:,} bytes when unpacked; at most {MAX_UNPACKED_BYTES:,} are read"
        )
    if unpacked > RATIO_COUNTS_FROM_BYTES and unpacked > MAX_RATIO * len(content):
        raise DocumentUnreadable(
            "too_big", f"it unpacks to {unpacked // len(content)} times its size; at most {MAX_RATIO} is read"
        )
