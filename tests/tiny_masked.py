"""Tiny random masked language models, saved as folders that any loader reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tiny_classifiers
import torch
from transformers import BertConfig, BertForMaskedLM, RobertaConfig, RobertaForMaskedLM


def tokenizer(*, mask: bool = True) -> Any:
    """That of `tiny_classifiers`, with a mask token."""
    tokens = tiny_classifiers.tokenizer()
    if mask:
        tokens.add_special_tokens({"mask_token": "[MASK]"})
    return tokens


def save(folder: Path, *, family: str = "bert", mask: bool = True, positions: int = 48) -> Path:
    """A random two-layer model with weights as large as trained ones."""
    tokens = tokenizer(mask=mask)
    settings = {**tiny_classifiers.SHAPE, "vocab_size": len(tokens), "max_position_embeddings": positions}
    with torch.random.fork_rng():
        torch.manual_seed(3)
        if family == "bert":
            module: Any = BertForMaskedLM(BertConfig(**settings))
        else:
            module = RobertaForMaskedLM(RobertaConfig(**settings, type_vocab_size=2, pad_token_id=0))
        with torch.no_grad():
            for weights in module.parameters():
                if weights.ndim > 1:
                    weights.normal_(0.0, 0.25)
        module.save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder
