"""Tokenizers that add a start token by themselves and tokenizers that do not: one stands in the ids."""

from pathlib import Path

import pytest
import tiny_models

from benchwright.eval.models import load_causal


@pytest.mark.parametrize("family", tiny_models.FAMILIES)
@pytest.mark.parametrize("context", ["a cat", "", "{start}a cat"])
def test_one_start_token(tmp_path: Path, family: str, context: str) -> None:
    model = load_causal(str(tiny_models.save(family, tmp_path / family)))
    start = model.start_token
    pair = model.encode_pair(context.format(start=start.text), " sleeps", start="always", end=True)
    assert pair.context[0] == start.id
    assert pair.context.count(start.id) == 1
    assert model.encode_text("a cat sleeps", start=True, end=False).count(start.id) == 1


def test_a_tokenizer_that_adds_one_is_not_given_another(tmp_path: Path) -> None:
    model = load_causal(str(tiny_models.save("gemma3", tmp_path / "gemma3")))
    assert model.tokenizer.encode("a cat")[0] == model.start_token.id
    for rule in ("always", "model_default"):
        pair = model.encode_pair("a cat", " sleeps", start=rule, end=False)  # type: ignore[arg-type]
        assert [*pair.context] == model.tokenizer.encode("a cat")


def test_a_tokenizer_that_adds_none_gets_one_only_where_asked(tmp_path: Path) -> None:
    model = load_causal(str(tiny_models.save("gpt2", tmp_path / "gpt2")))
    pair = model.encode_pair("a cat", " sleeps", start="model_default", end=False)
    assert model.start_token.id not in pair.context
