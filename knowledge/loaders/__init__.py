"""Bytes -> Markdown, one file for each format. `load` runs in this process; `reader.Reader` runs it in a guarded one."""

from collections.abc import Callable
from importlib import import_module

from knowledge.errors import DocumentUnreadable
from knowledge.loaders.kinds import kind_of
from knowledge.loaders.loaded import Loaded

VERSION = "9"
"""Part of every document's settings hash: raise it when a loader gives other text, or another date, for the same bytes."""


def load(name: str, content: bytes) -> Loaded:
    """The text of a file. `name` is its path within the source; it tells a title and apart what content cannot.

    Raises `DocumentUnreadable` with the state and the reason, whatever is wrong with the file.
    """
    kind = kind_of(name, content)
    loader: Callable[[str, bytes], Loaded] = import_module(f"knowledge.loaders.{kind}").load
    try:
        loaded = loader(name, content)
    except DocumentUnreadable:
        raise
    except MemoryError as error:
        raise DocumentUnreadable("too_big", "it needs more memory than a loader may use") from error
    except Exception as error:  # parsers raise whatever they meet in a damaged file
        raise DocumentUnreadable("failed", f"damaged: {type(error).__name__} while reading it as {kind}") from error
    if not loaded.markdown.strip():
        raise DocumentUnreadable("empty", "the file has no text")
    return loaded
