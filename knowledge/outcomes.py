"""What a sync of one source did."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

ALIKE = 5
"""Documents that are named with one and the same reason."""


@dataclass(frozen=True)
class SyncOutcome:
    """Counts of documents, each counted once: those that are there add up to all but the `deleted`. `unreadable`: of these
    nothing was read in this sync, or there is nothing to index.

    `failed`: (document, reason) for all that readers miss something of, also those indexed in part. `chunks_embedded`:
    chunks that went through the model. `ms`: milliseconds. `error`: why the source could not be synced, empty when it
    was; nothing was deleted then. `held`: why the model it was synced with does not serve, with the
    remedy; empty when it does, or is not whole yet. `outdated`: that this process has older settings of the source than
    the index, with the remedy; else empty.
    """

    name: str
    added: int = 0
    changed: int = 0
    narrowed: int = 0
    deleted: int = 0
    same: int = 0
    unreadable: int = 0
    failed: tuple[tuple[str, str], ...] = field(default=())
    chunks_embedded: int = 0
    ms: int = 0
    error: str = ""
    held: str = ""
    outdated: str = ""

    def as_json(self) -> dict[str, Any]:
        """As `footnote sync --json` prints it; `error`, `held` and `outdated` only when there are any."""
        fields: dict[str, Any] = {
            "name": self.name,
            "added": self.added,
            "changed": self.changed,
            "narrowed": self.narrowed,
            "deleted": self.deleted,
            "same": self.same,
            "unreadable": self.unreadable,
            "failed": [{"document": document, "reason": reason} for document, reason in self.failed],
            "chunks_embedded": self.chunks_embedded,
            "ms": self.ms,
        }
        told = {"error": self.error, "held": self.held, "outdated": self.outdated}
        return fields | {name: text for name, text in told.items() if text}

    def summary(self) -> str:
        """A few lines for a terminal."""
        if self.error:
            return f"{self.name}: {self.error}"
        counts = {
            "added": self.added,
            "changed": self.changed,
            "with other readers": self.narrowed,
            "deleted": self.deleted,
            "same": self.same,
            "not readable": self.unreadable,
        }
        words = ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "nothing there"
        encoded = f"{self.chunks_embedded} chunk{'s' if self.chunks_embedded != 1 else ''}"
        lines = [f"{self.name}: {words} ({encoded} encoded, {self.ms / 1000:.1f} s)"]
        lines += [f"  {line}" for line in self._failures()]
        return "\n".join([*lines, *(f"  {text}" for text in (self.held, self.outdated) if text)])

    def _failures(self) -> Iterator[str]:
        """A line for each document, for the first few alone where many have one reason."""
        alike = Counter(reason for _, reason in self.failed)
        told = Counter[str]()
        for document, reason in self.failed:
            told[reason] += 1
            if told[reason] <= ALIKE:
                yield f"{document}: {reason}"
            elif told[reason] == alike[reason]:
                yield f"and {alike[reason] - ALIKE} more: {reason} (all in --json)"


@dataclass
class Tally:
    """Documents by what happened to them. One that is in several of the sets counts in the first of them: deleted,
    unreadable, added, changed, narrowed, same.
    """

    added: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    narrowed: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    same: set[str] = field(default_factory=set)
    unreadable: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    chunks_embedded: int = 0

    def outcome(self, name: str, ms: int, error: str) -> SyncOutcome:
        counted: set[str] = set()

        def more(of_these: set[str]) -> int:
            before = len(counted)
            counted.update(of_these)
            return len(counted) - before

        return SyncOutcome(
            name=name,
            deleted=more(self.deleted),
            unreadable=more(self.unreadable),
            added=more(self.added),
            changed=more(self.changed),
            narrowed=more(self.narrowed),
            same=more(self.same),
            failed=tuple(sorted(self.failed.items())),
            chunks_embedded=self.chunks_embedded,
            ms=ms,
            error=error,
        )
