"""One line of the script: what happens to one request."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from knowledge.local_claude.request import Json


@dataclass(frozen=True)
class Step:
    """What happens to one request. Of the fields below the first that is set decides, `delay_s` comes before all.

    `status`: an HTTP error of type `error`, with `headers`. `search`: queries the model asks the tool for. `content`:
    text blocks as they are sent, instead of quotes. The rest changes how a stream goes: `error_after`/`cut_after` that
    many events, `stop_reason`, `obey`: the model does what it reads in the passages. `word_s`: seconds for each word.
    """

    delay_s: float = 0
    word_s: float = 0
    status: int | None = None
    error: str = "api_error"
    headers: Mapping[str, str] = field(default_factory=dict)
    search: tuple[str, ...] = ()
    content: tuple[Json, ...] | None = None
    error_after: int | None = None
    cut_after: int | None = None
    stop_reason: str | None = None
    obey: bool = False
