"""One line of what `footnote doctor` reports."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Check:
    """`remedy` is empty when there is nothing to do, or `says` has it."""

    name: str
    state: State
    says: str
    remedy: str = ""


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' if count != 1 else ''}"
