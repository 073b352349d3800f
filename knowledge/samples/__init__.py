"""Brindlewick, an invented company: its documents, its workspace and questions with known answers.

`ROOT` may be read-only (an installed package): whoever changes documents, as the demo does, works on a copy of it.
"""

from pathlib import Path

ROOT = Path(__file__).parent
DOCUMENTS = ROOT / "documents"
"""One folder per source; a document's external id is its path below that folder."""
CONFIG = ROOT / "footnote.toml"
WORKSPACE = ROOT / "workspace.yaml"
CONVERSATION = ROOT / "conversation.yaml"
GOLD = ROOT / "gold.jsonl"
IDENTIFIERS = ROOT / "identifiers.jsonl"
