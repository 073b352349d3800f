"""The source that a setting means."""

from knowledge.errors import SettingsInvalid
from knowledge.settings import Source as SourceSettings
from knowledge.sources.folder import Folder
from knowledge.sources.source import Source


def open_source(settings: SourceSettings) -> Source:
    """Opens nothing yet: a source that is not there fails when it is listed."""
    match settings.kind:
        case "folder":
            return Folder(settings)
        case _:
            raise SettingsInvalid(f"source {settings.name!r}: kind {settings.kind!r} cannot be read by this version")
