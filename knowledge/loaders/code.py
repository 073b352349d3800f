"""Source code: one fenced block below the file's path."""

import re
from pathlib import PurePosixPath

from knowledge.loaders.decoding import decode
from knowledge.loaders.kinds import CODE_LANGUAGES, CODE_NAMES
from knowledge.loaders.loaded import Loaded

_TICKS = re.compile(r"^\s*(`{3,})", re.M)


def load(name: str, content: bytes) -> Loaded:
    decoded = decode(content)
    path = PurePosixPath(name)
    language = CODE_LANGUAGES.get(path.suffix.lower()) or CODE_NAMES.get(path.name.lower(), "")
    longest = max((len(m[1]) for m in _TICKS.finditer(decoded.text)), default=2)
    fence = "`" * (longest + 1)
    body = decoded.text.strip("\n")
    return Loaded(title=name, markdown=f"{fence}{language}\n{body}\n{fence}\n", path=(name,), remarks=decoded.remarks)
