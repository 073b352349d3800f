"""All settings, read once: `footnote.toml` for what may be in a repository, the environment for secrets."""

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, Field, PrivateAttr, SecretStr, ValidationError

from bot import toml_faults
from bot.logs import redact
from jobs.settings import Schedule, channel, cron
from knowledge.errors import SettingsInvalid
from knowledge.faults import Place, dotted, faults
from knowledge.permissions import Scopes
from knowledge.settings import (
    Answers,
    Chunking,
    DatabaseUrl,
    KnowledgeSettings,
    Models,
    Retrieval,
    Section,
    Source,
    is_id,
    web_address,
)

ENVIRONMENT = {
    "FOOTNOTE_DATABASE_URL": "database_url",
    "FOOTNOTE_HOME": "home",
    "FOOTNOTE_MONITORING_PORT": "monitoring_port",
    "SLACK_BOT_TOKEN": "slack.bot_token",
    "SLACK_APP_TOKEN": "slack.app_token",
    "SLACK_SIGNING_SECRET": "slack.signing_secret",
    "SLACK_API_URL": "slack.api_url",
    "ANTHROPIC_API_KEY": "answers.api_key",
    "ANTHROPIC_BASE_URL": "answers.base_url",
}
"""Environment variable -> setting. A value in the environment wins over the same key in the file. With `_FILE` at its
end the variable names a file that holds the value, as secret stores mount them."""


FILE = "footnote.toml"
"""In the current folder it is read when no other one is named."""

SECRET = frozenset({"database_url", "bot_token", "app_token", "signing_secret", "api_key"})
"""Keys whose values no message repeats."""


def _reaction(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9_+'-]+", name):
        raise ValueError("a reaction is named without its colons, such as white_check_mark")
    return name


def _person(text: str) -> str:
    if not is_id(text):
        where = "which can be copied from their profile in Slack"
        raise ValueError(f"a person is named by their member ID, such as U0123456789, {where}")
    return text


PersonId = Annotated[str, AfterValidator(_person)]


def _beginning(own: str, other: str, called: str) -> AfterValidator:
    """A token that begins as its kind does, not as the other one; nothing more of it is told."""

    def check(token: SecretStr) -> SecretStr:
        value = token.get_secret_value()
        if value.startswith(other):
            raise ValueError(f"it should begin with {own} and begins with {other}: are the two tokens swapped?")
        if not value.startswith((own, f"xoxe.{own}")):  # the latter where tokens are rotated
            raise ValueError(f"it should begin with {own}: copy {called}")
        return token

    return AfterValidator(check)


BotToken = Annotated[SecretStr, _beginning("xoxb-", "xapp-", "the Bot User OAuth Token of the app")]
AppToken = Annotated[SecretStr, _beginning("xapp-", "xoxb-", "the app-level token with the scope connections:write")]


class Slack(Section):
    """`api_url`: another address for Slack's Web API, such as the local Slack of `footnote demo`."""

    bot_token: BotToken | None = None
    app_token: AppToken | None = None
    signing_secret: SecretStr | None = None
    api_url: Annotated[str, AfterValidator(web_address)] = "https://slack.com/api/"
    mode: Literal["socket", "http"] = "socket"
    """How events arrive: over Socket Mode, or as signed HTTP requests."""
    http_port: Annotated[int, Field(ge=0, le=65535)] = 3000
    """HTTP mode: the port on 127.0.0.1, path `/slack/events`."""
    admins: tuple[PersonId, ...] = ()
    """Person ids that may use /reindex and review gold cases, besides the workspace's own admins."""
    trusted_bots: tuple[PersonId, ...] = ()
    """Ids of bots that may ask; they get the documents of the channel they ask in."""
    facts_max_age_s: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """Facts about people and channels older than this are asked for again; when that fails nothing is read."""
    streaming: bool = True
    """Show an answer while it is written."""
    follow_ups: bool = True
    """Answer follow-ups in its own threads without a new mention."""
    keep_reaction: Annotated[str, AfterValidator(_reaction)] = "white_check_mark"
    """Threads that carry this reaction are documents of a source of the kind `slack`."""
    facts: Path | None = None
    """A workspace file to take people and channels from in the shell, for `--as` and `--in`."""


class Lack(NamedTuple):
    """What is missing, and what to do about it."""

    says: str
    remedy: str


class Settings(Section):
    home: Path
    database_url: DatabaseUrl | None = None
    models: Models = Models()
    retrieval: Retrieval = Retrieval()
    answers: Answers = Answers()
    chunking: Chunking = Chunking()
    sources: tuple[Source, ...] = ()
    schedule: Schedule = Schedule()
    slack: Slack = Slack()
    monitoring_port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """Port for /metrics, /healthz and /readyz; None: not served."""
    monitoring_host: str = "127.0.0.1"
    """Address that they are served at; `0.0.0.0` in a container, for another one that scrapes. They ask for no password."""
    _fileless: Path | None = PrivateAttr(None)
    """The folder that has no settings file, when none was named either."""

    @property
    def knowledge(self) -> KnowledgeSettings:
        """The part that the engine sees."""
        return KnowledgeSettings(**{name: getattr(self, name) for name in KnowledgeSettings.model_fields})

    @property
    def no_file(self) -> Lack | None:
        """None when there is one. Without it there are no sources and nobody is known by name; variables may do for the rest."""
        if self._fileless is None:
            return None
        return Lack(f"there is no {FILE} in {self._fileless}", "go to the folder that has it, or name it with --config")

    @property
    def no_sources(self) -> Lack | None:
        """None when there are some."""
        if self.sources:
            return None
        return self.no_file or Lack("no sources are configured", f"add [[sources]] to {FILE}")


def load(file: Path | None, environment: Mapping[str, str]) -> Settings:
    """Settings from `file` (None: no file, defaults) and the secrets in `environment`.

    A relative folder location is taken from the file's own folder. Raises `SettingsInvalid` with every fault, by name.
    """
    values = _read(file) if file else {}
    given: dict[Place, str] = {}
    for variable, key in ENVIRONMENT.items():
        if value := _from_environment(environment, variable):
            _set(values, key, value)
            given[tuple(key.split("."))] = variable
    values.setdefault("home", str(default_home(environment)))
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        found = faults(error, Settings, SECRET)
        said = [f"{_where(place, values, given, file or Path(FILE))} {says}" for place, says in found]
        raise SettingsInvalid("\n  ".join(said)) from error
    names = [source.name for source in settings.sources]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SettingsInvalid(f"{file}: source name {twice[0]!r} is used twice; give each source a name of its own")
    for source in settings.sources:
        _check_source(file, source)
    if file is None:
        settings._fileless = Path.cwd()
    return _anchored(settings, file.resolve().parent if file else Path.cwd())


def channel_scopes(source: Source) -> Scopes:
    """The only readers that a channel's documents may have. Raises `SettingsInvalid` when the settings say otherwise."""
    scope = f"channel:{source.location}"
    _check_value(f"source {source.name!r}: `location`", source.location, channel)
    if set(source.scopes) != {scope}:
        raise SettingsInvalid(
            f"source {source.name!r}: what is in a channel is for those who can open the channel; "
            f'its scopes must be ["{scope}"], not {sorted(source.scopes)}'
        )
    return frozenset({scope})


def default_home(environment: Mapping[str, str]) -> Path:
    """Where the embedded server lives: a place that the server's own system user can reach when we run as root."""
    import os

    if os.geteuid() == 0:
        return Path("/var/lib/footnote")
    base = environment.get("XDG_DATA_HOME") or str(Path(environment.get("HOME", "~")).expanduser() / ".local/share")
    return Path(base) / "footnote"


def _from_environment(environment: Mapping[str, str], variable: str) -> str | None:
    file = environment.get(f"{variable}_FILE")
    if not file:
        return environment.get(variable)
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsInvalid(f"{variable}_FILE names {file}, which cannot be read: {error}") from error


def _where(place: Place, values: Mapping[str, Any], given: Mapping[Place, str], file: Path) -> str:
    """Where a person finds what is at fault: a variable, or a key of the file, of a source by the source's name."""
    if place in given:
        return given[place]
    match place:
        case ("sources", *item) if not item or not isinstance(values["sources"][item[0]], dict):
            return f"{file}: `{dotted(place)}` (write [[sources]] above each of them)"
        case ("sources", int(number), *key):
            name = values["sources"][number].get("name")
            which = f"source {name!r}" if isinstance(name, str) else f"source number {number + 1}"
            return f"{file}, {which}: `{dotted(key)}`" if key else f"{file}, {which}:"
        case (key,):
            return f"{file}: `{key}`"
        case (str(table), *key) if key:
            return f"{file}, [{table}]: `{dotted(key)}`"
    return f"{file}:"


def _check_source(file: Path | None, source: Source) -> None:
    """What the engine does not ask of a source: it knows nothing of clocks and channels, and a running sync may have lost
    all its readers."""
    where = f"{file}, source {source.name!r}:"
    if not source.scopes:
        raise SettingsInvalid(
            f"{where} `scopes` is empty, so that nobody could read it; name at least one, such as workspace. To take a "
            f"source out of the index, delete its entry and run `footnote sync --remove {source.name}`"
        )
    if source.kind == "slack":
        channel_scopes(source)
    if source.kind == "website":
        _check_value(f"{where} `location`", source.location, web_address)
    if source.schedule is not None:
        _check_value(f"{where} `schedule`", source.schedule, cron)


def _check_value(where: str, value: str, check: Callable[[str], object]) -> None:
    try:
        check(value)
    except ValueError as error:
        raise SettingsInvalid(f"{where} is {value!r}; {error}") from error


def _read(file: Path) -> dict[str, Any]:
    text = ""
    try:
        text = file.read_text(encoding="utf-8")
        return tomllib.loads(text)
    except FileNotFoundError as error:
        raise SettingsInvalid(f"{file} does not exist; give its path with --config or FOOTNOTE_CONFIG") from error
    except OSError as error:
        raise SettingsInvalid(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = file.read_bytes()[: error.start].count(b"\n") + 1
        raise SettingsInvalid(f"{file}, line {line}, is not UTF-8 text") from error
    except tomllib.TOMLDecodeError as error:
        sections = (Settings, Models, Retrieval, Answers, Chunking, Source, Schedule, Slack)
        keys = {key for section in sections for key in section.model_fields}
        said = redact(toml_faults.words(error, text, keys, SECRET))
        raise SettingsInvalid(f"{file} is not valid TOML: {said}") from error


def _set(values: dict[str, Any], key: str, value: str) -> None:
    *sections, name = key.split(".")
    for section in sections:
        values = values.setdefault(section, {})
        if not isinstance(values, dict):
            return  # the file has something else where a table belongs, which is told with its other faults
    values[name] = value


def _anchored(settings: Settings, folder: Path) -> Settings:
    sources = tuple(
        s.model_copy(update={"location": str((folder / s.location).resolve())}) if s.kind == "folder" else s
        for s in settings.sources
    )
    facts = settings.slack.facts and folder / settings.slack.facts
    return settings.model_copy(update={"sources": sources, "slack": settings.slack.model_copy(update={"facts": facts})})
