"""A model that is nowhere is told in one line with the reason, after one question to its hub; one that is here is loaded so
that it shares the cores."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from huggingface_hub import hf_api

from knowledge.errors import ModelUnavailable
from knowledge.weights import load_weights

ROOT = Path(__file__).parents[2]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The paths that a hub without any model was asked for."""
    paths: list[str] = []

    class Empty(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Empty) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setattr(hf_api.api, "endpoint", f"http://127.0.0.1:{server.server_port}")
        yield paths
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("kind", "setting"), [("SentenceTransformer", "models.embedder"), ("CrossEncoder", "models.cross_encoder")]
)
def test_a_name_that_the_hub_does_not_know(asked: list[str], kind: str, setting: str) -> None:
    told = rf"nobody/nothing \({setting}\) is not on this machine, and its hub has no model of that name"
    with pytest.raises(ModelUnavailable, match=told):
        load_weights(kind, "nobody/nothing")
    assert asked == ["/api/models/nobody/nothing"]


def test_a_hub_that_cannot_be_reached_is_asked_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hf_api.api, "endpoint", "http://127.0.0.1:9")
    with pytest.raises(ModelUnavailable, match=r"its hub cannot be asked \(.*Connection refused\)") as refused:
        load_weights("SentenceTransformer", "nobody/nothing")
    assert "\n" not in str(refused.value)
    assert "Retry" not in caplog.text


def test_a_folder_that_is_not_there() -> None:
    with pytest.raises(
        ModelUnavailable,
        match=r"/nowhere/model \(models.embedder\) is neither a folder on this machine nor the name of a",
    ):
        load_weights("SentenceTransformer", "/nowhere/model")


@pytest.mark.parametrize(("given", "spins"), [(None, "0"), ("7", "7")])
def test_the_models_threads_sleep_while_they_wait_unless_the_environment_says_otherwise(
    given: str | None, spins: str
) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
    environment |= {"OMP_DISPLAY_ENV": "VERBOSE"} | ({"GOMP_SPINCOUNT": given} if given else {})
    code = "from knowledge.encoders import *; load_embedder(Models()).encode_question('tea')"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert f"GOMP_SPINCOUNT = '{spins}'" in done.stderr
