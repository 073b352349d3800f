"""The arguments of one API call, from query, form or JSON alike, read with Slack's own complaints."""

import json
from collections.abc import Mapping
from typing import Any

from bot.local_slack.errors import ApiError


class Arguments(Mapping[str, Any]):
    """Form values are strings, JSON values are typed; the readers below accept both."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = {key: value for key, value in values.items() if value is not None}

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Any:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def required(self, name: str) -> str:
        """Raises ApiError("invalid_arguments") when missing or empty."""
        value = self.text(name)
        if not value:
            message = f"[ERROR] missing required field: {name}"
            raise ApiError("invalid_arguments", response_metadata={"messages": [message]})
        return value

    def text(self, name: str) -> str:
        value = self._values.get(name, "")
        return value if isinstance(value, str) else str(value)

    def flag(self, name: str, default: bool = False) -> bool:
        value = self._values.get(name, default)
        return value if isinstance(value, bool) else str(value).lower() in ("1", "true")

    def number(self, name: str, default: int) -> int:
        try:
            return int(self._values.get(name) or default)
        except (TypeError, ValueError) as error:
            message = f"[ERROR] must be a number: {name}"
            raise ApiError("invalid_arguments", response_metadata={"messages": [message]}) from error

    def words(self, name: str, default: str = "") -> list[str]:
        """A comma-separated string or a JSON list."""
        value = self._values.get(name) or default
        parts = value if isinstance(value, list) else str(value).split(",")
        return [part.strip() for part in parts if part.strip()]

    def structure(self, name: str, error: str = "invalid_arguments") -> Any:
        """A JSON value, which a form carries as a string; None when absent. Raises ApiError(error)."""
        value = self._values.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value) if value else None
        except ValueError as problem:
            raise ApiError(error) from problem
