"""Does a test fail when a protection is missing? `python -m tests.mutations [WORDS …]`

Each entry of `data/mutations.yaml` removes one predicate, policy, role, re-check, expiry or rule from a copy of this
checkout and runs the few tests that should notice. With WORDS only the entries that have one of them, in their name, file or tests. It
ends with 1 when a removal went unnoticed. The tests are run once without any edit first: what fails anyway would prove nothing.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).parents[1]
ENTRIES = Path(__file__).parent / "data" / "mutations.yaml"
LONGEST_S = 300
"""Of one run of tests; one that hangs has noticed."""


@dataclass(frozen=True)
class Mutation:
    """`old` is once in `file` and becomes `new`. `tests`: arguments for pytest."""

    removes: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def applied(self, text: str) -> str:
        """Raises ValueError when the text has changed, so that a removal that removes nothing is never counted."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.removes}: {self.old!r} is {text.count(self.old)} times in {self.file}, not once")
        return text.replace(self.old, self.new)


def mutations() -> list[Mutation]:
    rows = yaml.safe_load(ENTRIES.read_text(encoding="utf-8"))
    return [Mutation(**row | {"tests": tuple(row["tests"].split(" ", 1))}) for row in rows]


def copied(to: Path) -> None:
    """What is in the checkout and not ignored, as it is now."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (CHECKOUT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(CHECKOUT / name, to / name)


@contextmanager
def edited(copy: Path, mutation: Mutation) -> Iterator[None]:
    file = copy / mutation.file
    whole = file.read_text(encoding="utf-8")
    file.write_text(mutation.applied(whole), encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(whole, encoding="utf-8")


def passes(copy: Path, tests: Sequence[str]) -> bool:
    """Raises RuntimeError when no test was run at all."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        ran = subprocess.run(
            command, check=False, cwd=copy, env=environment, capture_output=True, text=True, timeout=LONGEST_S
        )
    except subprocess.TimeoutExpired:
        return False
    if ran.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(tests)} could not be run:\n{ran.stdout[-2000:]}")
    return ran.returncode == 0


def main(words: Sequence[str]) -> int:
    chosen = [m for m in mutations() if not words or any(word in f"{m.removes} {m.file} {m.tests}" for word in words)]
    survived = 0
    with tempfile.TemporaryDirectory(prefix="footnote-mutations-") as folder:
        copy = Path(folder)
        copied(copy)
        for tests in dict.fromkeys(m.tests for m in chosen):
            if not passes(copy, tests):
                sys.stdout.write(f"FAILS ANYWAY  {' '.join(tests)}\n")
                return 1
        for mutation in chosen:
            with edited(copy, mutation):
                unnoticed = passes(copy, mutation.tests)
            survived += unnoticed
            sys.stdout.write(f"{'SURVIVED' if unnoticed else 'killed  '}  {mutation.removes}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(chosen) - survived} of {len(chosen)} removals were noticed\n")
    return 1 if survived or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
