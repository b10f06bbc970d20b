"""Tiny random encoders with another head than a classifier's, saved as folders that any loader reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import tiny_classifiers
import torch
from transformers import (
    BertConfig,
    BertModel,
    ElectraConfig,
    ElectraForPreTraining,
    RobertaConfig,
    RobertaForMaskedLM,
)

ENCODERS: dict[str, Callable[[int], Any]] = {
    "bert": lambda size: BertModel(
        BertConfig(**tiny_classifiers.SHAPE, vocab_size=size, max_position_embeddings=48),
        add_pooling_layer=False,
    ),
    "roberta": lambda size: RobertaForMaskedLM(
        RobertaConfig(
            **tiny_classifiers.SHAPE,
            vocab_size=size,
            max_position_embeddings=50,
            type_vocab_size=2,
            pad_token_id=0,
        )
    ),
    "electra": lambda size: ElectraForPreTraining(
        ElectraConfig(
            **tiny_classifiers.SHAPE, embedding_size=16, vocab_size=size, max_position_embeddings=48
        )
    ),
}


def save_encoder(folder: Path, build: Callable[[int], Any]) -> Path:
    """A random body with weights as large as trained ones, and another head than a classifier's or none."""
    tokens = tiny_classifiers.tokenizer()
    with torch.random.fork_rng():
        torch.manual_seed(1)
        module = build(len(tokens))
        with torch.no_grad():
            for weights in module.parameters():
                if weights.ndim > 1:
                    weights.normal_(0.0, 0.25)
        module.save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder
