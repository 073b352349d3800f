"""The source that a setting means."""

from pathlib import Path

from knowledge.errors import SettingsInvalid
from knowledge.settings import Source as SourceSettings
from knowledge.sources.folder import Folder
from knowledge.sources.source import Source


def open_source(settings: SourceSettings, cache: Path | None = None) -> Source:
    """Opens nothing yet: a source that is not there fails when it is listed. `cache`: a folder kept between syncs."""
    match settings.kind:
        case "folder":
            return Folder(settings)
        case "website":
            from knowledge.sources.website import Website

            return Website(settings)
        case "git":
            from knowledge.sources.git import Git

            return Git(settings, cache)
        case _:
            raise SettingsInvalid(f"source {settings.name!r}: kind {settings.kind!r} cannot be read by this version")
