"""Every error the engine raises on purpose. A message names the bad value and the remedy; callers show it as it is."""


class FootnoteError(Exception):
    """Base of all errors that a person can act on."""


class SettingsInvalid(FootnoteError):
    """A setting is unknown, missing or out of bounds; the message names it and what would be accepted."""


class ModelUnavailable(FootnoteError):
    """A model's weights are missing, differ from the published hash, or do not match the index."""


class DatabaseUnusable(FootnoteError):
    """The server, its version, the extension, the schema or the roles are not what the engine needs."""


class EmbeddedPostgresFailed(FootnoteError):
    """The embedded server cannot run here; the remedy is usually to set FOOTNOTE_DATABASE_URL."""


class SourceFailed(FootnoteError):
    """A source cannot be listed (missing, empty where it was not, unreachable); nothing of it was deleted."""


class SyncOver(FootnoteError):
    """The sync of a source has ended, or grants more than it may by now; what it would still store may be outdated."""


class DocumentUnreadable(FootnoteError):
    """One document cannot be loaded. `state` is its state in the index: empty, scanned, encrypted, too_big, unsupported, failed."""

    def __init__(self, state: str, reason: str) -> None:
        super().__init__(reason)
        self.state = state


class AnsweringFailed(FootnoteError):
    """The answering service gave no usable answer within its time; the caller falls back or says so."""


class SlotLost(FootnoteError):
    """A scheduled run ended after another process had taken its slot over; what it did is not committed."""


class DocumentUnknown(FootnoteError):
    """There is no document of that name, or the reader may not open it; the message has names that are nearly the same."""


class GoldCaseUnknown(FootnoteError):
    """No gold case has that id, or the reader may not know it."""


class GoldFileInvalid(FootnoteError):
    """A file of gold cases is missing or has a line that is no case; the message names the lines and their keys."""


class GoldCaseUnlabelled(FootnoteError):
    """A gold case cannot be accepted before somebody has said where its answer is, or that it is nowhere."""
