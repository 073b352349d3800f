"""What an administrator is handed: the compose file, secrets in files, the list of alerts."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from bot.monitoring import families
from bot.settings import ENVIRONMENT, load
from knowledge.errors import SettingsInvalid
from knowledge.vitals import Vitals

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]
BOT = [name for name in SERVICES if name != "db"]
STEPS = SERVICES["footnote"]["build"]["dockerfile_inline"].replace("$$", "$").splitlines()


def test_every_container_is_pinned_bounded_and_watched() -> None:
    for service in SERVICES.values():
        assert re.search(r":[\w.-]*\d[\w.-]*$", service["image"])
        assert service["mem_limit"]
        assert service["healthcheck"]["test"]
        assert service["restart"] == "unless-stopped"


def test_the_bot_may_do_little_and_waits_for_its_database() -> None:
    for name in BOT:
        service = SERVICES[name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["depends_on"]["db"]["condition"] == "service_healthy"
    assert any(step.startswith("USER ") and step != "USER root" for step in STEPS)
    assert all(re.search(r":3\.\d+-[\w-]+", step) for step in STEPS if step.startswith("FROM "))


def test_more_receivers_and_workers_are_started_only_when_asked_for() -> None:
    assert {name: SERVICES[name].get("profiles") for name in BOT} == {
        "footnote": None, "receiver": ["scale"], "worker": ["scale"],
    }  # fmt: skip


def test_every_variable_of_the_compose_file_is_explained_in_the_example() -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    used = set(re.findall(r"(?<!\$)\$\{(\w+)", (ROOT / "docker-compose.yml").read_text(encoding="utf-8")))
    assert used == set(re.findall(r"^(\w+)=", example, re.MULTILINE))
    passed = set(SERVICES["footnote"]["environment"]) - {"FOOTNOTE_CONFIG"}
    assert passed <= set(ENVIRONMENT)


def test_what_the_image_copies_is_all_that_the_program_needs(tmp_path: Path) -> None:
    for step in (s.split() for s in STEPS if s.startswith("COPY ") and "--from" not in s):
        for name in step[1:-1]:
            source, target = ROOT / name, tmp_path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)
    program = "import bot.cli, knowledge.db; print(bot.cli.__file__, knowledge.db.known_revisions())"
    run = [sys.executable, "-c", program]
    said = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) in said
    assert "0001" in said
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8")
    sent = {line.removeprefix("!") for line in ignored.splitlines() if line.startswith("!")}
    copied = {name for s in STEPS if s.startswith("COPY ") and "--from" not in s for name in s.split()[1:-1]}
    assert sent == copied


def test_a_secret_may_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("xoxb-from-a-file\n")
    settings = load(None, {"SLACK_BOT_TOKEN_FILE": str(tmp_path / "token"), "SLACK_BOT_TOKEN": "xoxb-other"})
    assert settings.slack.bot_token is not None
    assert settings.slack.bot_token.get_secret_value() == "xoxb-from-a-file"
    with pytest.raises(SettingsInvalid, match="SLACK_BOT_TOKEN_FILE names /nowhere"):
        load(None, {"SLACK_BOT_TOKEN_FILE": "/nowhere"})


def test_every_metric_of_the_alerts_exists() -> None:
    signs = Vitals({}, 0, 0.0, {}, {}, {}, 0, 0, 0.0, recall=1.0, leaks=0)
    names = {family.name for family in families(signs)}
    exported = names | {f"{name}_{part}" for name in names for part in ("sum", "count")}
    block = re.search(r"```yaml\n(groups:.*?)```", README, re.DOTALL)
    assert block, "the README has no alerts"
    rules = yaml.safe_load(block[1])["groups"][0]["rules"]
    assert len(rules) >= 6
    for rule in rules:
        used = set(re.findall(r"footnote_\w+", rule["expr"]))
        assert used <= exported, rule["alert"]
        assert used or rule["expr"].startswith("up{")
