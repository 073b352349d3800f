"""`footnote chunks`: what would be indexed of one file."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli import app
from knowledge.errors import DocumentUnreadable
from knowledge.preview import preview
from knowledge.settings import Chunking
from tests.word_embedder import WordEmbedder


def test_a_preview_shows_the_document_its_headings_and_its_chunks(tmp_path: Path) -> None:
    file = tmp_path / "dock.md"
    file.write_text("---\nupdated: 2026-02-03\nscopes: [channel:CDOCK]\n---\n# Dock\n\n## Cranes\n\nTwo.\n")
    shown = preview(file, WordEmbedder(), Chunking()).as_json()
    assert shown["document"] == {
        "title": "Dock",
        "updated_at": "2026-02-03T00:00:00+00:00",
        "scopes": ["channel:CDOCK"],
        "pages": None,
        "characters": len("# Dock\n\n## Cranes\n\nTwo.\n"),
        "heading_paths": [["Dock"], ["Dock", "Cranes"]],
        "remarks": [],
    }
    [chunk] = shown["chunks"]
    assert (chunk["heading_path"], chunk["text"], chunk["page"]) == (["Dock", "Cranes"], "Two.", None)


def test_a_file_that_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    file = tmp_path / "dock.pdf"
    file.write_bytes(b"")
    with pytest.raises(DocumentUnreadable, match="empty"):
        preview(file, WordEmbedder(), Chunking())


def test_a_remark_on_the_document_is_shown_below_its_chunks(tmp_path: Path) -> None:
    file = tmp_path / "tea.md"
    file.write_text("---\nupdated: soon\n---\nAt four.\n")
    said = CliRunner().invoke(app, ["chunks", str(file)], env={}, catch_exceptions=False).stdout
    assert "At four." in said
    assert said.splitlines()[-1].startswith("remark: its front matter says updated: 'soon', which is no date")
