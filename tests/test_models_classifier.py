"""Loading sequence classifiers and running them on pairs of texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_classifiers
import tiny_models
import torch
from transformers import BertConfig, BertForMaskedLM, BertModel, GPT2Config, GPT2ForSequenceClassification

from benchwright.errors import PrerequisiteError, UsageError
from benchwright.eval.models import SequenceClassifier, load_classifier

NAMES = ("entailment", "neutral", "contradiction")
FIRST = [
    f"{word} on the warm stone near the {'river ' * repeats}"
    for word, repeats in zip(
        [
            "a cat",
            "two dogs",
            "no boat",
            "three sails",
            "a captain",
            "the bridge",
            "rain",
            "a ball",
            "wood",
            "age",
        ],
        [1, 6, 0, 3, 2, 9, 1, 4, 0, 5],
        strict=True,
    )
]
SECOND = [f"{text[: 7 + row]} sleeps" for row, text in enumerate(FIRST)]


@pytest.fixture
def model(tmp_path: Path) -> SequenceClassifier:
    return load_classifier(str(tiny_classifiers.save(tmp_path / "tiny", NAMES)), device="cpu")


def _by_hand(model: SequenceClassifier, first: str, second: str) -> np.ndarray:
    """Logits of one pair, encoded and run without batches, padding or our code."""
    inputs = model.tokenizer(first, second, return_tensors="pt")
    with torch.inference_mode():
        return model.module(**inputs).logits[0].numpy()


def test_ten_pairs_give_ten_rows_in_order(model: SequenceClassifier) -> None:
    counted: list[int] = []
    answers = model.classify(FIRST, SECOND, batch_size=4, progress=counted.append)
    expected = np.array([_by_hand(model, *pair) for pair in zip(FIRST, SECOND, strict=True)])
    assert answers.logits.shape == (10, 3)
    assert answers.logits.dtype == np.float32
    np.testing.assert_allclose(answers.logits, expected, atol=1e-5)
    assert counted == [4, 4, 2]
    assert not answers.truncated.any()
    assert len(set(expected.argmax(axis=1))) > 1


@pytest.mark.parametrize("batch_size", [1, 2, 3, 7, 10, 100])
def test_answers_do_not_depend_on_the_batch_size(model: SequenceClassifier, batch_size: int) -> None:
    together, apart = model.classify(FIRST, SECOND), model.classify(FIRST, SECOND, batch_size=batch_size)
    np.testing.assert_allclose(apart.logits, together.logits, atol=1e-5)
    assert apart.logits.argmax(axis=1).tolist() == together.logits.argmax(axis=1).tolist()


def test_answers_follow_their_rows(model: SequenceClassifier) -> None:
    order = np.random.default_rng(0).permutation(10)
    shuffled = model.classify([FIRST[i] for i in order], [SECOND[i] for i in order], batch_size=3)
    np.testing.assert_allclose(shuffled.logits, model.classify(FIRST, SECOND).logits[order], atol=1e-5)


def test_the_two_texts_are_told_apart(model: SequenceClassifier) -> None:
    one_way, other_way = model.classify(["a cat"], ["rain"]), model.classify(["rain"], ["a cat"])
    assert np.abs(one_way.logits - other_way.logits).max() > 1e-3


def test_no_rows_and_empty_texts(model: SequenceClassifier) -> None:
    assert model.classify([], []).logits.shape == (0, 3)
    assert np.isfinite(model.classify(["", "a cat"], ["", ""]).logits).all()
    with pytest.raises(ValueError, match="1 first texts for 2 second texts"):
        model.classify(["a"], ["b", "c"])


def test_what_is_too_long_loses_the_end_of_the_longer_text_and_is_flagged(model: SequenceClassifier) -> None:
    longest = 48 - 3  # [CLS] and two [SEP]
    premise, hypothesis = "a " * 60, "b " * 10
    answers = model.classify([premise, "a " * (longest - 10), "a"], [hypothesis, hypothesis, "b " * 60])
    assert answers.truncated.tolist() == [True, False, True]
    for row, (first, second) in enumerate([(longest - 10, 10), (longest - 10, 10), (1, longest - 1)]):
        expected = _by_hand(model, "a " * first, "b " * second)
        np.testing.assert_allclose(answers.logits[row], expected, atol=1e-5)


@pytest.mark.parametrize(("family", "longest"), [("bert", 20), ("roberta", 18)])
def test_the_longest_pair_fits_the_position_table(tmp_path: Path, family: str, longest: int) -> None:
    folder = tiny_classifiers.save(tmp_path / family, NAMES, family=family, positions=20)
    model = load_classifier(str(folder), device="cpu")
    assert model.max_positions == longest
    assert np.isfinite(model.classify(["a " * 50], ["b"]).logits).all()


def test_a_shorter_limit_of_the_tokenizer_counts(tmp_path: Path) -> None:
    folder = tiny_classifiers.save(tmp_path / "tiny", NAMES)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | {"model_max_length": 16}))
    assert load_classifier(str(folder)).max_positions == 16


def test_a_decoder_whose_configuration_names_no_padding(tmp_path: Path) -> None:
    tokens = tiny_classifiers.tokenizer()
    labels = {"id2label": dict(enumerate(NAMES)), "label2id": {name: i for i, name in enumerate(NAMES)}}
    config = GPT2Config(vocab_size=len(tokens), n_embd=32, n_layer=2, n_head=2, n_positions=64, **labels)
    assert config.pad_token_id is None
    GPT2ForSequenceClassification(config).save_pretrained(tmp_path / "gpt2")
    tokens.model_input_names = ["input_ids", "attention_mask"]
    tokens.save_pretrained(tmp_path / "gpt2")
    model = load_classifier(str(tmp_path / "gpt2"), device="cpu")
    together, apart = model.classify(FIRST, SECOND), model.classify(FIRST, SECOND, batch_size=1)
    np.testing.assert_allclose(together.logits, apart.logits, atol=1e-5)


def test_half_precision_weights_run_in_float32(tmp_path: Path) -> None:
    model = load_classifier(str(tiny_classifiers.save(tmp_path / "tiny", NAMES, dtype=torch.bfloat16)))
    assert model.identity()["dtype"] == "float32"


def test_identity_and_environment_hold_no_paths(model: SequenceClassifier, tmp_path: Path) -> None:
    identity = model.identity()
    assert (identity["model"], identity["label_names"], identity["max_positions"]) == (
        "tiny",
        list(NAMES),
        48,
    )
    text = json.dumps([identity, model.environment()])
    assert str(tmp_path) not in text
    other = load_classifier(str(tiny_classifiers.save(tmp_path / "b", NAMES, outputs=(1, 0, 2)))).identity()
    assert other["weights_sha256"] != identity["weights_sha256"]
    assert other["tokenizer_sha256"] == identity["tokenizer_sha256"]


def test_outputs_without_names_need_the_option(tmp_path: Path) -> None:
    folder = str(tiny_classifiers.save(tmp_path / "tiny", None))
    with pytest.raises(UsageError) as caught:
        load_classifier(folder)
    assert str(caught.value) == (
        "model 'tiny' does not say what its outputs LABEL_0, LABEL_1, LABEL_2 mean; "
        "name them in this order with --label-names (Python: label_names=)"
    )
    assert load_classifier(folder, label_names=NAMES).label_names == NAMES
    with pytest.raises(UsageError, match="has 3 outputs, got 2 names: yes, no"):
        load_classifier(folder, label_names=["yes", "no"])


def _regression(folder: Path) -> None:
    tiny_classifiers.save(folder, ["score"], outputs=(0,))


def _without_padding(folder: Path) -> None:
    tiny_classifiers.save(folder, NAMES, padding=False)


def _without_head(folder: Path) -> None:
    config = BertConfig.from_pretrained(tiny_classifiers.save(folder, NAMES))
    kept = (folder / "config.json").read_text()
    BertModel(config).save_pretrained(folder)
    (folder / "config.json").write_text(kept)


def _of_another_shape(folder: Path) -> None:
    tiny_classifiers.save(folder, NAMES)
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(settings | {"hidden_size": 64}))


def _masked(folder: Path) -> None:
    tiny_classifiers.save(folder, NAMES)
    config = BertConfig(**tiny_classifiers.SHAPE, vocab_size=300)
    BertForMaskedLM(config).save_pretrained(folder)


def _pickled(folder: Path) -> None:
    tiny_classifiers.save(folder, NAMES)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_regression, "has 1 output(s), it is a regression and no classifier"),
        (_without_padding, "has no padding token; set its pad_token"),
        (_without_head, "is no whole sequence classifier: it has no weights for classifier.bias"),
        (_of_another_shape, "do not fit its configuration"),
        (_masked, "is no sequence classifier but a BertForMaskedLM; give one such as roberta-large-mnli"),
        (_pickled, "holds no model that can be read"),
        (lambda folder: folder.mkdir(), "holds no model that can be read"),
        (lambda folder: tiny_models.save("gpt2", folder), "is no sequence classifier but a GPT2LMHeadModel"),
    ],
)
def test_what_cannot_be_loaded_is_one_line(tmp_path: Path, make: Any, message: str) -> None:
    make(tmp_path / "model")
    with pytest.raises(UsageError) as caught:
        load_classifier(str(tmp_path / "model"))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("no_hub")
@pytest.mark.parametrize(("revision", "name"), [(None, "main"), ("v1", "v1")])
def test_a_model_in_the_cache_needs_no_hub_and_its_commit_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, revision: str | None, name: str
) -> None:
    commit, place = "0" * 40, tmp_path / "models--acme--tiny"
    tiny_classifiers.save(place / "snapshots" / commit, NAMES)
    (place / "refs").mkdir()
    (place / "refs" / name).write_text(commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    assert load_classifier("acme/tiny", revision=revision).revision == commit


@pytest.mark.usefixtures("no_hub")
def test_an_unknown_id_speaks_of_no_language_model() -> None:
    with pytest.raises(UsageError, match="no model 'nobody/nothing': it is no folder here") as caught:
        load_classifier("nobody/nothing")
    assert str(caught.value).endswith("check the name and the connection")


def test_a_device_that_is_not_there(tmp_path: Path) -> None:
    folder = tiny_classifiers.save(tmp_path / "tiny", NAMES)
    with pytest.raises(UsageError, match="device 'no-device' cannot be used"):
        load_classifier(str(folder), device="no-device")


def test_a_missing_torch_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchwright.eval.models.embedded.importlib.util.find_spec", lambda name: None)
    with pytest.raises(PrerequisiteError, match=r'pip install "benchwright\[models\]"'):
        load_classifier(str(tmp_path))
