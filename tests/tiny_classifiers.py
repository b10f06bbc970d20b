"""Tiny random classifiers of text pairs, saved as folders that any loader reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tiny_models
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
)

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
SHAPE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}


def tokenizer(*, padding: bool = True) -> Any:
    """WordPiece over letters and some words; a pair is [CLS] first [SEP] second [SEP], as BERT has it."""
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    words = re.findall(r"[a-z]{2,}|[^a-z\s]", " ".join(tiny_models.TEXT).lower())
    vocabulary = dict.fromkeys([*SPECIAL, *letters, *(f"##{letter}" for letter in letters), *words])
    # A fixed vocabulary: the trainer of WordPiece gives another one in every run.
    pieces = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(vocabulary)}, unk_token="[UNK]"))
    pieces.normalizer = normalizers.BertNormalizer(lowercase=True)
    pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    pieces.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, pieces.token_to_id(token)) for token in ("[CLS]", "[SEP]")],
    )
    names = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(
        tokenizer_object=pieces, **names, **({"pad_token": "[PAD]"} if padding else {})
    )


def save(
    folder: Path,
    label_names: Sequence[str] | None,
    *,
    outputs: Sequence[int] = (0, 1, 2),
    family: str = "bert",
    positions: int = 48,
    padding: bool = True,
    dtype: torch.dtype = torch.float32,
) -> Path:
    """A two-layer classifier whose output `i` is the row `outputs[i]` of one and the same random head.

    Weights are large and the seed is one with which every output wins for some texts. `label_names` name the
    outputs in the order of that head; they are permuted with them. None leaves the
    configuration's own `LABEL_0`, `LABEL_1`, ...
    """
    tokens = tokenizer(padding=padding)
    names = {} if label_names is None else {i: label_names[row] for i, row in enumerate(outputs)}
    labels = {"id2label": names, "label2id": {name: i for i, name in names.items()}} if names else {}
    settings = {**SHAPE, "vocab_size": len(tokens), "max_position_embeddings": positions}
    with torch.random.fork_rng():
        torch.manual_seed(2)
        module = _module(family, settings | {"num_labels": len(outputs)} | labels)
        with torch.no_grad():
            for name, weights in module.named_parameters():
                if weights.ndim > 1 and not name.startswith("classifier"):
                    weights.normal_(0.0, 1.0)
            head = module.classifier if family == "bert" else module.classifier.out_proj
            weights, bias = torch.randn(3, SHAPE["hidden_size"]), torch.randn(3) / 10
            head.weight.copy_(weights[list(outputs)])
            head.bias.copy_(bias[list(outputs)])
    module.to(dtype).save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def _module(family: str, settings: dict[str, Any]) -> Any:
    if family == "bert":
        return BertForSequenceClassification(BertConfig(**settings)).eval()
    return RobertaForSequenceClassification(RobertaConfig(**settings, type_vocab_size=2)).eval()
