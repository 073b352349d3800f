"""Generated passwords, one per file."""

import os
import secrets
from pathlib import Path


def secret(path: Path) -> str:
    """The password in this file; generated, and readable by its owner alone, when the file does not exist yet."""
    if not path.exists():
        unfinished = path.with_suffix(".new")
        unfinished.unlink(missing_ok=True)
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(24))
        unfinished.rename(path)
    return path.read_text()
