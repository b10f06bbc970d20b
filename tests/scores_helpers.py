"""Small models and rows for the tests of scoring."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from benchwright.eval.models import ChunkScores, ScoringPlan, TokenPairs

END_OF_TEXT = "<|endoftext|>"


def save_gpt2(
    folder: Path, config: dict[str, int], weights: dict[str, np.ndarray], tokenizer_json: str
) -> Path:
    """A GPT-2 folder as transformers reads it, from arrays and a tokenizer.json."""
    import torch
    from safetensors.torch import save_file

    folder.mkdir(parents=True)
    settings = {
        **config,
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "bos_token_id": 0,
        "eos_token_id": 0,
    }
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    tensors = {name: torch.from_numpy(values.copy()) for name, values in weights.items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "tokenizer.json").write_text(tokenizer_json, encoding="utf-8")
    named = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": END_OF_TEXT, "eos_token": END_OF_TEXT}
    (folder / "tokenizer_config.json").write_text(json.dumps(named), encoding="utf-8")
    return folder


def tiny_gpt2(folder: Path, *, positions: int = 64, seed: int = 0) -> Path:
    """A random GPT-2 of one layer over bytes, whose token 0 begins and ends texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({END_OF_TEXT: 0, **{sign: i for i, sign in enumerate(alphabet, 1)}}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([END_OF_TEXT])
    size = {"vocab_size": 257, "n_positions": positions, "n_embd": 16, "n_layer": 1, "n_head": 2}
    config = {**size, "bos_token_id": 0, "eos_token_id": 0}
    rng = np.random.default_rng(seed)
    shapes = {
        name: tuple(values.shape) for name, values in GPT2LMHeadModel(GPT2Config(**config)).named_parameters()
    }
    weights = {name: rng.normal(0.0, 0.4, shape).astype(np.float32) for name, shape in shapes.items()}
    return save_gpt2(folder, config, weights, tokenizer.to_str())


def question_rows(questions: list[str], *, order: list[int] | None = None) -> pa.Table:
    """Rows with a question each, in source order or in the given one."""
    rows = pa.table(
        {
            "uid": [f"toy:train:{i}" for i in range(len(questions))],
            "content_id": [f"{i:032x}" for i in range(len(questions))],
            "length": pa.array([len(question.split()) for question in questions], pa.int32()),
            "source_index": pa.array(range(len(questions)), pa.int32()),
            "question": questions,
        }
    )
    return rows if order is None else rows.take(order)


QUESTIONS = [
    "How many singers do we have?",
    "What is the largest city?",
    "how many singers do we have?",
    "Count the ships.",
    "Which rivers cross two states?",
    "Who wrote it?",
    "List all names.",
    "How old is she?",
    "Count the ships.",
    "Where?",
    "Show the average price of all cars",
    "Is there a delegate?",
]


class ByteModel:
    """Stands for a CausalModel where only the cache matters: scores are a function of the bytes.

    `scored` lists the chunks that it was asked to score, `environment_facts` what it says of its machine.
    """

    max_positions = 2048
    supports_shared_prefixes = True

    def __init__(self, **facts: object) -> None:
        self.scored: list[int] = []
        self.facts = facts
        self.environment_facts: dict[str, object] = {"threads": 1, "versions": {"torch": "2.0"}}

    def identity(self) -> dict[str, object]:
        return {"model": "bytes", "revision": None, "weights_sha256": "sha256:00", **self.facts}

    def environment(self) -> dict[str, object]:
        return self.environment_facts

    def encode_pairs(
        self, contexts: Sequence[str], continuations: Sequence[str], *, start: str, end: bool
    ) -> TokenPairs:
        from benchwright.eval.models import TokenPairs

        first = [0] if start == "always" else []
        last = [0] if end else []
        parts = zip(contexts, continuations, strict=True)
        return TokenPairs.from_parts(
            ([*first, *(byte + 1 for byte in a.encode())], [*(byte + 1 for byte in b.encode()), *last])
            for a, b in parts
        )

    def score(self, plan: ScoringPlan, chunks: Iterable[int]) -> Iterator[ChunkScores]:
        from benchwright.eval.models import ChunkScores

        for chunk in chunks:
            self.scored.append(chunk)
            members = [member.sequence for member in plan.chunks[chunk].members]
            pairs = [plan.sequences[member] for member in members]
            repeats = np.array([len(plan.inputs[member]) for member in members])
            values = np.array(
                [-sum(i * token for i, token in enumerate(pair.continuation)) / 7 for pair in pairs]
            )
            tokens = np.array([len(pair.continuation) for pair in pairs], np.int32)
            rows = np.concatenate([plan.inputs[member] for member in members])
            yield ChunkScores(chunk, rows, np.repeat(values, repeats), np.repeat(tokens, repeats))


def long_rows(count: int = 40) -> pa.Table:
    """Rows of about 1,500 bytes, two of them equal: a plan of several chunks."""
    texts = [f"{i % (count - 1):03} " + "lorem ipsum " * (100 + i % 30) for i in range(count)]
    return question_rows(texts)
