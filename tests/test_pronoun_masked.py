"""Masked language models: spans are scored as the model itself would, and heads are never invented."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tiny_encoders
import tiny_masked
import torch
from conftest import USER_CACHE

from benchwright.errors import UsageError
from benchwright.eval.models import MaskedLanguageModel, MaskedSpan, get_model, load_masked

TEXT = "the dog runs after a red ball"


@pytest.fixture(scope="module", params=["bert", "roberta"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> MaskedLanguageModel:
    folder = tmp_path_factory.mktemp("models") / request.param
    # RoBERTa counts positions from behind the padding index.
    positions = 48 if request.param == "bert" else 49
    return load_masked(str(tiny_masked.save(folder, family=request.param, positions=positions)))


def _span(text: str, words: str) -> MaskedSpan:
    start = text.index(words)
    return MaskedSpan(text, start, start + len(words))


def test_one_piece_is_the_log_softmax_at_the_mask(model: MaskedLanguageModel) -> None:
    tokens = model.tokenizer
    piece = tokens.convert_tokens_to_ids("dogs")
    assert tokens("dogs", add_special_tokens=False)["input_ids"] == [piece]
    text = "the dogs run"
    inputs = tokens(text.replace("dogs", "[MASK]"), return_tensors="pt", return_token_type_ids=False)
    place = int((inputs["input_ids"][0] == tokens.mask_token_id).nonzero()[0, 0])
    with torch.inference_mode():
        expected = torch.log_softmax(model.module(**inputs).logits[0, place].double(), dim=-1)[piece]
    (found,) = model.span_scores([_span(text, "dogs")])
    assert found == pytest.approx(float(expected), abs=1e-5)


def test_several_pieces_are_masked_together_and_averaged(model: MaskedLanguageModel) -> None:
    tokens = model.tokenizer
    pieces = tokens("zebra", add_special_tokens=False)["input_ids"]
    assert len(pieces) == 5
    text = "the zebra runs"
    inputs = tokens(text.replace("zebra", "[MASK]" * 5), return_tensors="pt", return_token_type_ids=False)
    places = (inputs["input_ids"][0] == tokens.mask_token_id).nonzero()[:, 0]
    with torch.inference_mode():
        logits = torch.log_softmax(model.module(**inputs).logits[0, places].double(), dim=-1)
    expected = logits[torch.arange(5), torch.tensor(pieces)].mean()
    (found,) = model.span_scores([_span(text, "zebra")])
    assert found == pytest.approx(float(expected), abs=1e-5)


def test_probabilities_of_all_pieces_sum_to_one(model: MaskedLanguageModel) -> None:
    # Exchanging the word in the span leaves the masked text the same, if both have one piece.
    words = [w for w in model.tokenizer.get_vocab() if w.isalpha() and len(w) > 1]
    scores = model.span_scores([_span(f"the {word} runs", word) for word in words])
    assert (scores < 0).all()
    assert 0 < np.exp(scores).sum() < 1


def test_scores_do_not_depend_on_order_or_batch(model: MaskedLanguageModel) -> None:
    spans = [_span(TEXT, word) for word in TEXT.split()] + [
        _span("a red ball", "red"),
        _span("stones", "stones"),
    ]
    whole = model.span_scores(spans)
    assert np.array_equal(model.span_scores(spans[::-1])[::-1], whole)
    assert np.allclose(model.span_scores(spans, batch_size=1), whole, atol=1e-5, rtol=0)
    twice = model.span_scores(spans * 20)
    assert np.array_equal(twice, np.tile(twice[: len(spans)], 20))


def test_what_does_not_fit_has_no_score_and_progress_counts_everything(model: MaskedLanguageModel) -> None:
    seen: list[int] = []
    long = "dogs " * 60
    scores = model.span_scores([_span(long, "dogs"), _span(TEXT, "ball")], progress=seen.append)
    assert np.isnan(scores).tolist() == [True, False]
    assert sum(seen) == 2
    # 48 positions take 46 words between the special tokens.
    fits = model.span_scores([_span("dogs " * 46, "dogs"), _span("dogs " * 47, "dogs")])
    assert np.isnan(fits).tolist() == [False, True]


@pytest.mark.parametrize(("start", "end"), [(3, 3), (-1, 2), (0, 99), (4, 2)])
def test_a_span_without_characters_is_refused(model: MaskedLanguageModel, start: int, end: int) -> None:
    with pytest.raises(ValueError, match="no characters"):
        model.span_scores([MaskedSpan(TEXT, start, end)])


def test_identity_has_no_path(model: MaskedLanguageModel) -> None:
    identity = model.identity()
    assert identity["model"] in ("bert", "roberta")
    assert "/" not in str(identity)


def test_an_encoder_without_a_head_is_no_masked_language_model(tmp_path: Path) -> None:
    folder = tiny_encoders.save_encoder(tmp_path / "body", tiny_encoders.ENCODERS["bert"])
    with pytest.raises(UsageError, match="is no masked language model but a BertModel") as caught:
        load_masked(str(folder))
    assert "\n" not in str(caught.value)


def test_minilm_has_no_head(monkeypatch: pytest.MonkeyPatch) -> None:
    get_model("minilm-l3", USER_CACHE)
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(USER_CACHE))
    with pytest.raises(UsageError, match="'minilm-l3' is no masked language model but a BertModel"):
        load_masked("minilm-l3")


def test_a_tokenizer_without_a_mask_token_is_refused(tmp_path: Path) -> None:
    folder = tiny_masked.save(tmp_path / "unmasked", mask=False)
    with pytest.raises(UsageError, match="no mask token"):
        load_masked(str(folder))
