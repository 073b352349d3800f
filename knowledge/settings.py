"""The engine's settings, validated. They are read once by a composition root and passed down; nothing here reads files."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, HttpUrl, SecretStr, model_validator

SCOPE_PATTERN = r"^(workspace|channel:[A-Z0-9]+|user:[A-Z0-9]+)$"


class Section(BaseModel):
    """Unknown keys are refused, so that a typing error is found at start."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Models(Section):
    """`embedder` and `cross_encoder` are a name or a local path; a name that is not on disk is fetched from its hub."""

    embedder: str = "all-MiniLM-L6-v2"
    reranker: Literal["auto", "late-interaction", "cross-encoder", "none"] = "late-interaction"
    cross_encoder: str = "cross-encoder/ms-marco-MiniLM-L6-v2"
    threads: Annotated[int, Field(ge=1, le=64)] = 2


class Retrieval(Section):
    """`candidates`: length of each list before fusion. `fusion_weight`: share of the vector arm in the convex fusion."""

    fusion: Literal["convex", "rrf"] = "convex"
    fusion_weight: Annotated[float, Field(ge=0, le=1)] = 0.5
    candidates: Annotated[int, Field(ge=5, le=500)] = 30
    passages: Annotated[int, Field(ge=1, le=30)] = 8
    per_document: Annotated[int, Field(ge=1, le=30)] = 4
    diversity: Annotated[float, Field(ge=0, le=1)] = 1.0
    """MMR's lambda: 1 ranks by relevance alone."""
    exact_below: Annotated[int, Field(ge=0)] = 50_000
    """Up to this many readable chunks vectors are scanned exactly; above, through the HNSW index where there is one."""


class Answers(Section):
    """How answers are written. Without `api_key` they are quotes from the documents and say so."""

    api_key: SecretStr | None = None
    base_url: HttpUrl | None = None
    model: str = "claude-sonnet-5-5"
    small_model: str = "claude-haiku-5-5"
    effort: Literal["low", "medium", "high"] | None = "low"
    citations: Literal["native", "markers"] = "native"
    max_tokens: Annotated[int, Field(ge=100, le=16_000)] = 1500
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 60.0
    daily_token_budget: Annotated[int, Field(ge=0)] | None = None
    extra_searches: Annotated[int, Field(ge=0, le=5)] = 2


class Source(Section):
    """One place documents come from. `scopes` are who may read all of it; a document may narrow them, never widen them."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
    kind: Literal["folder", "git", "website", "slack"] = "folder"
    location: str = ""
    """A folder, a repository address, a start URL, or a channel id."""
    scopes: tuple[Annotated[str, Field(pattern=SCOPE_PATTERN)], ...]
    schedule: str | None = None
    include: tuple[str, ...] = ("**/*",)
    exclude: tuple[str, ...] = ()
    url: str | None = None
    """Public address of the location's root; citations link below it. `{path}` stands for the document's path."""
    branch: str | None = None
    path: str = ""
    allow_private_addresses: bool = False
    max_file_mb: Annotated[float, Field(gt=0)] = 25.0
    max_deleted_share: Annotated[float, Field(ge=0, le=1)] = 0.5
    stale_after_days: Annotated[int, Field(gt=0, le=36_500)] | None = None
    """Replies mark a document that changed last before so many days."""
    drop_stale: bool = False
    """Nobody is shown a stale document any more, from the next sync on."""

    @model_validator(mode="after")
    def _drops_by_age(self) -> Self:
        if self.drop_stale and self.stale_after_days is None:
            raise ValueError(f"drop_stale of source {self.name!r} needs stale_after_days beside it")
        return self


class Chunking(Section):
    max_tokens: Annotated[int, Field(ge=32, le=8192)] = 240
    """All-MiniLM reads 256 word pieces and cuts the rest silently; 240 leaves room for its own marks."""
    min_tokens: Annotated[int, Field(ge=0)] = 40
    overlap: Annotated[float, Field(ge=0, le=0.5)] = 0.0


class KnowledgeSettings(Section):
    """`home`: where the embedded server and downloads live. `database_url`: None = the embedded server."""

    home: Path
    database_url: SecretStr | None = None
    models: Models = Models()
    retrieval: Retrieval = Retrieval()
    answers: Answers = Answers()
    chunking: Chunking = Chunking()
    sources: tuple[Source, ...] = ()
