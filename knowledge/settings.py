"""The engine's settings, validated. They are read once by a composition root and passed down; nothing here reads files."""

import re
from pathlib import Path
from typing import Annotated, Literal, Self

import sqlalchemy as sa
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, HttpUrl, SecretStr, model_validator

_ID = "[A-Z0-9]+"
"""Of a person or a channel, in scopes and wherever else settings name one."""
SCOPE_PATTERN = rf"^(workspace|channel:{_ID}|user:{_ID})$"


def is_id(text: str) -> bool:
    return re.fullmatch(_ID, text) is not None


def _scope(text: str) -> str:
    if not re.fullmatch(SCOPE_PATTERN, text):
        raise ValueError("a scope is `workspace`, `channel:<id>` or `user:<id>`, such as channel:C0123456789")
    return text


def _name(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,62}", text):
        raise ValueError("a name is small letters, digits, - and _, such as handbook, and at most 63 of them")
    return text


def _location(text: str) -> str:
    if not text.strip():
        raise ValueError("it should be a folder, a repository address, a start URL, or a channel id")
    return text


def web_address(text: str) -> str:
    """The address itself. Raises `ValueError` when it names no host to ask over HTTP."""
    if not re.fullmatch(r"https?://[^\s/?#]+([/?#].*)?", text, re.IGNORECASE):
        raise ValueError("it should be an address that begins with https:// or http://")
    return text


def postgres(url: SecretStr) -> SecretStr:
    """The address itself. Raises `ValueError` when it is none of a PostgreSQL; its words quote nothing that may be secret."""
    try:
        backend = sa.make_url(url.get_secret_value()).get_backend_name()
    except sa.exc.ArgumentError:
        raise ValueError("is not a database URL; write postgresql://user:password@host/database") from None
    if backend not in {"postgresql", "postgres"}:
        raise ValueError(f"is a URL for {backend!r}; only PostgreSQL will do: postgresql://user:password@host/database")
    return url


Scope = Annotated[str, AfterValidator(_scope)]
DatabaseUrl = Annotated[SecretStr, AfterValidator(postgres)]


class Section(BaseModel):
    """Unknown keys are refused, so that a typing error is found at start. What a key means is said below it."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Models(Section):
    """A model is a name or a local path; a name that is not on disk is fetched from its hub."""

    embedder: str = "all-MiniLM-L6-v2"
    """What turns texts into vectors: a sentence-transformers model, by name or path."""
    reranker: Literal["auto", "late-interaction", "cross-encoder", "none"] = "late-interaction"
    """What orders the candidates; `auto` takes the cross-encoder if its weights are on disk."""
    cross_encoder: str = "cross-encoder/ms-marco-MiniLM-L6-v2"
    """The cross-encoder, by name or path."""
    threads: Annotated[int, Field(ge=1, le=64)] = 2
    """Threads of one forward pass."""
    recall_loss: Annotated[float, Field(ge=0, le=1)] = 0.05
    """A new embedder serves only if the share of the accepted gold questions that it finds fell by no more; 1 = always."""


class Retrieval(Section):
    """How passages are found."""

    fusion: Literal["convex", "rrf"] = "convex"
    """How the two lists are joined: by scores, or by ranks (reciprocal rank fusion, k = 60)."""
    fusion_weight: Annotated[float, Field(ge=0, le=1)] = 0.35
    """Share of the vector list in the convex fusion."""
    candidates: Annotated[int, Field(ge=5, le=500)] = 30
    """Length of each list before fusion."""
    neighbours: Annotated[float, Field(ge=0, lt=1)] = 0.3
    """What a reranked candidate's score takes from the candidates most like it: a share."""
    passages: Annotated[int, Field(ge=1, le=30)] = 8
    """Passages an answer is written from."""
    per_document: Annotated[int, Field(ge=1, le=30)] = 4
    """At most so many of them from one document."""
    diversity: Annotated[float, Field(ge=0, le=1)] = 1.0
    """MMR's lambda: 1 ranks by relevance alone."""
    exact_below: Annotated[int, Field(ge=0)] = 50_000
    """Up to this many readable chunks vectors are scanned exactly; above, through an HNSW index that a sync builds."""


class Answers(Section):
    """How answers are written. Without `api_key` they are quotes from the documents and say so."""

    api_key: SecretStr | None = None
    base_url: HttpUrl | None = None
    model: str = "claude-sonnet-5-5"
    """Writes the answers."""
    small_model: str = "claude-haiku-5-5"
    """Makes follow-up questions stand alone."""
    effort: Literal["low", "medium", "high"] | None = "low"
    """How much the model thinks; none: the model's own default."""
    citations: Literal["native", "markers"] = "native"
    """`markers` for compatible servers without citations; checked by the same code."""
    max_tokens: Annotated[int, Field(ge=100, le=16_000)] = 1500
    """Longest answer, in the model's tokens."""
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 60.0
    """Seconds after which quotes are given instead of an answer."""
    daily_token_budget: Annotated[int, Field(ge=0)] | None = None
    """Tokens a day, all askers together; when they are spent, answers are quotes."""
    judged_a_night: Annotated[int, Field(ge=0)] = 10
    """Answers of the day that the model judges each night, within the daily budget; without a budget none."""
    extra_searches: Annotated[int, Field(ge=0, le=5)] = 2
    """Further searches that the model may ask for, under the same rights."""


class Source(Section):
    """One place documents come from. A document may narrow the source's readers, never widen them."""

    name: Annotated[str, AfterValidator(_name)]
    """What the source is called in commands and reports."""
    kind: Literal["folder", "git", "website", "slack"] = "folder"
    """What the location is."""
    location: Annotated[str, AfterValidator(_location)]
    """A folder, a repository address, a start URL, or a channel id."""
    scopes: tuple[Scope, ...]
    """Who may read it: `workspace`, `channel:<id>`, `user:<id>`."""
    schedule: str | None = None
    """A cron expression of its own, instead of `schedule.sync`."""
    include: tuple[str, ...] = ("**/*",)
    """Globs of the paths to read."""
    exclude: tuple[str, ...] = ()
    """Globs of the paths to leave out."""
    url: Annotated[str, AfterValidator(web_address)] | None = None
    """Public address of the location's root; citations link below it. `{path}` stands for the document's path."""
    branch: str | None = None
    """Git: the branch; none: the repository's default."""
    path: str = ""
    """Git: a folder below the root; empty: all of it."""
    allow_private_addresses: bool = False
    """Website: whether addresses of your own network may be asked."""
    max_file_mb: Annotated[float, Field(gt=0)] = 25.0
    """Larger files are not read."""
    max_deleted_share: Annotated[float, Field(ge=0, le=1)] = 0.5
    """A listing that would delete a larger share deletes nothing."""
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
    """How documents are cut."""

    max_tokens: Annotated[int, Field(ge=32, le=8192)] = 240
    """All-MiniLM reads 256 word pieces and cuts the rest silently; 240 leaves room for its own marks."""
    min_tokens: Annotated[int, Field(ge=0)] = 40
    """Smaller neighbours under one heading are merged."""
    overlap: Annotated[float, Field(ge=0, le=0.5)] = 0.0
    """Share repeated between pieces of text without structure."""

    @model_validator(mode="after")
    def _is_possible(self) -> "Chunking":
        if self.min_tokens > self.max_tokens and "min_tokens" in self.model_fields_set:  # the default is for any limit
            raise ValueError(f"min_tokens is {self.min_tokens}, more than max_tokens, which is {self.max_tokens}")
        return self


class KnowledgeSettings(Section):
    """`home`: where the embedded server and downloads live. `database_url`: None = the embedded server."""

    home: Path
    database_url: DatabaseUrl | None = None
    models: Models = Models()
    retrieval: Retrieval = Retrieval()
    answers: Answers = Answers()
    chunking: Chunking = Chunking()
    sources: tuple[Source, ...] = ()
