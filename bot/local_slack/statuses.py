"""The assistant's status line, suggested prompts and titles, one set per thread."""

from dataclasses import dataclass

# "Status clears when the app replies, or after 2 minutes", https://docs.slack.dev/reference/methods/assistant.threads.setStatus
STATUS_LIFETIME_S = 120.0


@dataclass(frozen=True)
class Status:
    text: str
    loading_messages: tuple[str, ...]
    set_at: float


class Statuses:
    def __init__(self) -> None:
        self._statuses: dict[tuple[str, str], Status] = {}
        self.titles: dict[tuple[str, str], str] = {}
        self.prompts: dict[tuple[str, str], list[dict[str, str]]] = {}

    def set(self, channel: str, thread_ts: str, status: Status) -> None:
        """An empty text clears."""
        if status.text:
            self._statuses[channel, thread_ts] = status
        else:
            self.clear(channel, thread_ts)

    def clear(self, channel: str, thread_ts: str) -> bool:
        """True when there was a status to clear."""
        return self._statuses.pop((channel, thread_ts), None) is not None

    def get(self, channel: str, thread_ts: str, now: float) -> Status | None:
        status = self._statuses.get((channel, thread_ts))
        return status if status and now - status.set_at < STATUS_LIFETIME_S else None

    def all(self, now: float) -> dict[tuple[str, str], Status]:
        return {key: each for key, each in self._statuses.items() if now - each.set_at < STATUS_LIFETIME_S}
