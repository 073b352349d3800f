"""`footnote demo` as people run it: a process that says where to look, and ends when it is told to."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

COMMAND = [sys.executable, "-c", "from bot.cli import main; main()", "demo"]
OPEN = "Open http://127.0.0.1:"


def start(home: Path) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SLACK_", "ANTHROPIC_"))}
    return subprocess.Popen(
        COMMAND,
        env=environment | {"FOOTNOTE_HOME": str(home), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_it_names_one_address_ends_on_ctrl_c_and_starts_again_at_the_same_home(home: Path) -> None:
    for _ in range(2):
        with start(home / "of-the-demo") as process:
            assert process.stdout is not None
            printed = []
            for line in process.stdout:
                printed.append(line)
                if OPEN in line:
                    break
            assert [OPEN in line for line in printed].count(True) == 1, "".join(printed)
            with urlopen(printed[-1].split()[1]) as page:
                assert page.status == 200
            process.send_signal(signal.SIGINT)
            rest, errors = process.communicate(timeout=60)
        assert process.returncode == 0
        assert rest.startswith("stopping…") or "\nstopping…" in rest
        assert "http://" not in rest
        assert "Traceback" not in errors
