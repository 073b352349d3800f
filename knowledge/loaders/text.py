"""Plain text: paragraphs, nothing else. A line that begins with `#` is no heading here."""

from knowledge.loaders.decoding import decode
from knowledge.loaders.loaded import Loaded, titled


def load(name: str, content: bytes) -> Loaded:
    decoded = decode(content)
    return Loaded(title=titled(name), markdown=decoded.text, plain=True, remarks=decoded.remarks)
