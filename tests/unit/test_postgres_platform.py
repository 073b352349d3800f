"""Where the embedded server's programs run, from the text of /proc/cpuinfo."""

import pytest

from knowledge.errors import EmbeddedPostgresFailed
from knowledge.postgres.binaries import check_platform

HASWELL = "processor\t: 0\nmodel name\t: Intel Core (Haswell)\nflags\t\t: fpu sse4_2 avx avx2 fma bmi2\n"
NEHALEM = "processor\t: 0\nmodel name\t: Intel Core i7 (Nehalem)\nflags\t\t: fpu sse4_2 popcnt\n"
GRAVITON3 = "processor\t: 0\nFeatures\t: fp asimd crc32 atomics sve\n"
RASPBERRY_PI_4 = "processor\t: 0\nFeatures\t: fp asimd evtstrm crc32 cpuid\n"


@pytest.mark.parametrize(("machine", "cpuinfo"), [("x86_64", HASWELL), ("aarch64", GRAVITON3)])
def test_a_recent_processor_will_do(machine: str, cpuinfo: str) -> None:
    check_platform("linux", machine, cpuinfo)


@pytest.mark.parametrize(
    ("system", "machine", "cpuinfo", "complaint"),
    [
        ("linux", "x86_64", NEHALEM, "this processor lacks avx2, fma"),
        ("linux", "x86_64", HASWELL.replace(" fma", ""), "this processor lacks fma"),
        ("linux", "aarch64", RASPBERRY_PI_4, "this processor lacks sve"),
        ("linux", "x86_64", "", "this processor lacks avx2, fma"),
        ("linux", "riscv64", "", "there is no embedded PostgreSQL for the processor riscv64"),
        ("darwin", "arm64", "", "runs on Linux only, this is darwin"),
        ("win32", "AMD64", "", "runs on Linux only, this is win32"),
    ],
)
def test_where_it_cannot_run_the_remedy_is_named(system: str, machine: str, cpuinfo: str, complaint: str) -> None:
    with pytest.raises(EmbeddedPostgresFailed, match=complaint) as refusal:
        check_platform(system, machine, cpuinfo)
    assert "Set FOOTNOTE_DATABASE_URL" in str(refusal.value)
