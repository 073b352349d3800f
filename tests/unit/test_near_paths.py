"""A path that is not there, and what stands beside it."""

from pathlib import Path

import pytest

from knowledge.near_paths import nearest


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("documets", "documents"),
        ("Documents", "documents"),
        ("documets/handbook", "documents/handbook"),
        ("documents/handbok", "handbook"),
        ("documets/board", None),
        ("workspace.yml", None),
        ("elsewhere", None),
        ("documents", None),
        ("workspace.yaml/documents", None),
    ],
)
def test_a_folder_is_named_as_it_is_called_from_where_the_path_goes_wrong(
    tmp_path: Path, typed: str, meant: str | None
) -> None:
    (tmp_path / "documents" / "handbook").mkdir(parents=True)
    (tmp_path / "workspace.yaml").touch()
    assert nearest(tmp_path / typed, Path.is_dir) == meant


def test_what_fits_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "workspace.yaml").touch()
    assert nearest(tmp_path / "workspace.yml", Path.is_file) == "workspace.yaml"
