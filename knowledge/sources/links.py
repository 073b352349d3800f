"""Addresses of documents, from the public address of their source."""

from urllib.parse import quote


def link(base: str | None, path: str) -> str:
    """`base` with `{path}` filled in, or with the path below it. Empty when the source has no public address."""
    if not base:
        return ""
    quoted = quote(path)
    return base.replace("{path}", quoted) if "{path}" in base else f"{base.rstrip('/')}/{quoted}"
