"""Tiny random language models and a byte-level tokenizer, saved as folders that any loader reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

FAMILIES = ("gpt2", "llama", "gemma3")

TEXT = [
    "A cat sleeps on the warm stone near the river while two dogs run after a red ball.",
    "How many boats have more than three sails? List the names of all captains by age.",
    "Premise: the players wait for rain. This hypothesis is entailed: nobody plays in 1987.",
    "Passage: a bridge was built of wood. Ask a question about the passage: is the bridge old",
] * 3


def tokenizer(special: tuple[str, ...], *, bos: str | None, eos: str, adds_bos: bool = False) -> Any:
    """Byte-level BPE of some 400 types whose first ids are the special tokens."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bpe.train_from_iterator(
        TEXT, trainers.BpeTrainer(vocab_size=400, special_tokens=list(special), initial_alphabet=alphabet)
    )
    if adds_bos:
        bpe.post_processor = processors.TemplateProcessing(
            single=f"{bos} $A", special_tokens=[(bos, bpe.token_to_id(bos))]
        )
    return PreTrainedTokenizerFast(tokenizer_object=bpe, bos_token=bos, eos_token=eos)


def save(family: str, folder: Path, *, seed: int = 0) -> Path:
    """A two-layer model of the family with weights large enough that tokens differ by nats."""
    if family == "gpt2":
        tokens = tokenizer(("<|endoftext|>",), bos="<|endoftext|>", eos="<|endoftext|>")
    elif family == "llama":
        tokens = tokenizer(
            ("<|endoftext|>", "<|im_start|>", "<|im_end|>"), bos="<|im_start|>", eos="<|im_end|>"
        )
    else:
        tokens = tokenizer(("<pad>", "<eos>", "<bos>"), bos="<bos>", eos="<eos>", adds_bos=True)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        module = _module(family, len(tokens)).eval()
        with torch.no_grad():
            for name, weights in module.named_parameters():
                if weights.ndim > 1 and "norm" not in name:
                    weights.normal_(0.0, 0.25)
    module.save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def _module(family: str, vocabulary: int) -> Any:
    common = {"vocab_size": vocabulary, "bos_token_id": 0, "eos_token_id": 0}
    if family == "gpt2":
        return GPT2LMHeadModel(GPT2Config(n_positions=96, n_embd=32, n_layer=2, n_head=2, **common))
    shape = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": 96,
    }
    if family == "llama":
        return LlamaForCausalLM(LlamaConfig(**shape, **common))
    windows = {"sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}
    return Gemma3ForCausalLM(Gemma3TextConfig(**shape, **windows, **common))
