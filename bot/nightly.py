"""The night's work: the gold set measured, and a digest of it posted."""

from slack_sdk import WebClient

from bot.directory import Directory
from bot.settings import Settings
from jobs import evaluation
from jobs.schedule import Job
from knowledge.engine import Engine
from knowledge.slots import Slot


class Nightly:
    def __init__(self, settings: Settings, engine: Engine, directory: Directory, client: WebClient) -> None:
        self._settings = settings
        self._engine = engine
        self._directory = directory
        self._client = client

    @property
    def jobs(self) -> tuple[Job, ...]:
        schedule = self._settings.schedule
        return (Job("nightly", schedule.nightly, schedule.timezone, self.run),)

    def run(self, slot: Slot) -> None:
        evaluation.run(self._engine.database, self._engine.retriever, self._engine.answerer.answer, at=slot.at)
