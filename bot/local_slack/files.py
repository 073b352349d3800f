"""Uploaded files: announced, then received, then shared in a channel."""

from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class StoredFile:
    """`content` is None until the bytes arrived; `channels` is empty until the upload was completed."""

    id: str
    name: str
    user: str
    created: int
    title: str = ""
    content: bytes | None = None
    channels: tuple[str, ...] = ()
    alt_text: str = ""
    expected_length: int = 0
    shares: tuple[tuple[str, str], ...] = field(default=())


class FileStore:
    def __init__(self) -> None:
        self._files: dict[str, StoredFile] = {}

    def announce(self, name: str, user: str, created: float, length: int, alt_text: str = "") -> StoredFile:
        file = StoredFile(
            f"F{len(self._files) + 1:08d}", name, user, int(created), alt_text=alt_text, expected_length=length
        )
        self._files[file.id] = file
        return file

    def get(self, file_id: str) -> StoredFile | None:
        return self._files.get(file_id)

    def receive(self, file_id: str, content: bytes) -> None:
        self._files[file_id] = replace(self._files[file_id], content=content)

    def share(self, file_id: str, title: str, channel: str, ts: str) -> StoredFile:
        file = self._files[file_id]
        shared = replace(
            file,
            title=title or file.title or file.name,
            channels=(*file.channels, channel),
            shares=(*file.shares, (channel, ts)),
        )
        self._files[file_id] = shared
        return shared

    def remove(self, file_id: str) -> None:
        self._files.pop(file_id, None)

    def shared(self) -> list[StoredFile]:
        """The files that are in some channel, newest first."""
        return [file for file in reversed(self._files.values()) if file.channels]
