"""A tiny random T5 and a tokenizer of whole words, saved as a folder that any loader reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

SPECIAL = ("<pad>", "</s>", "<unk>")
BLANK = "\u2581"


def tokenizer(texts: Sequence[str]) -> Any:
    """The words of `texts`, of which `<` is unknown as in T5's vocabulary; a text ends with `</s>`."""
    words = (f"{BLANK}{word}" for text in texts for word in text.replace("<", " ").split())
    vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys([*SPECIAL, BLANK, "=", *words]))}
    pieces = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    pieces.pre_tokenizer = pre_tokenizers.Metaspace()
    pieces.decoder = decoders.Metaspace()
    pieces.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", vocabulary["</s>"])]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=pieces, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )


def save(
    folder: Path, texts: Sequence[str], *, spare: int = 4, layers: int = 1, dropout: float = 0.0
) -> Path:
    """A small T5 with `spare` more embeddings than tokens, as the published checkpoints have."""
    tokens = tokenizer(texts)
    config = T5Config(
        vocab_size=len(tokens) + spare,
        d_model=48,
        d_kv=12,
        d_ff=96,
        num_layers=layers,
        num_heads=4,
        dropout_rate=dropout,
        pad_token_id=tokens.pad_token_id,
        eos_token_id=tokens.eos_token_id,
        decoder_start_token_id=tokens.pad_token_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module = T5ForConditionalGeneration(config).eval()
    module.save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder
