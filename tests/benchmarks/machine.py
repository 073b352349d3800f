"""What a figure was measured on."""

import os
import platform
from importlib import metadata
from pathlib import Path


def machine() -> dict[str, str]:
    """Processor, cores, Python and the packages that decide the speed."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    versions = {package: metadata.version(package) for package in ("torch", "sentence-transformers", "numpy")}
    return {"processor": name, "cores": str(os.cpu_count()), "python": platform.python_version(), **versions}
