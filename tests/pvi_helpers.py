"""Rows of text pairs, and tiny models that learn them in seconds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import tiny_classifiers

from benchwright.hashing import content_ids
from benchwright.tasks import BINARY_NLI

SMALL = {
    "epochs": 8,
    "learning_rate": 1e-2,
    "batch_size": 8,
    "rows_per_label": 40,
    "max_validation_rows": 16,
    "threads": 1,
}
"""A recipe with which a tiny model tells words apart."""

_FIRST = ("the king", "a duke", "his heir", "the horse", "our friend")
_SECOND = ("will speak", "is dead", "was loud", "may come", "did go", "has sung", "can see")
_MARKS = ("yes", "no")


def pair_rows(
    n: int = 80,
    *,
    evaluation: int = 20,
    groups: Sequence[str] | None = None,
    noise: float = 0.0,
    seed: int = 0,
) -> pa.Table:
    """n distinct pairs; the hypothesis ends in a word for the label, with `noise` for the other one."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % 2)
    shown = np.where(rng.random(n) < noise, 1 - labels, labels)
    first = [f"{_FIRST[i % len(_FIRST)]} {chr(97 + i // 26 % 26)}" for i in range(n)]
    second = [f"{_SECOND[i % len(_SECOND)]} {chr(97 + i % 26)} {_MARKS[shown[i]]}" for i in range(n)]
    table = pa.table(
        {
            "uid": [f"toy:{'train' if i < n - evaluation else 'val'}:{i}" for i in range(n)],
            "premise": first,
            "hypothesis": second,
            "label": pa.array(labels, pa.int64()),
            "source_split": ["train" if i < n - evaluation else "val" for i in range(n)],
            "source_index": pa.array(range(n), pa.int32()),
            **({} if groups is None else {"group_id": pa.array(groups, pa.string())}),
        }
    )
    return table.append_column("content_id", content_ids(table, list(BINARY_NLI.inputs)))


def replaced(table: pa.Table, **columns: Any) -> pa.Table:
    """`table` with other values in some columns; content ids follow."""
    for name, values in columns.items():
        at = table.column_names.index(name)
        table = table.set_column(at, name, pa.array(values, table.schema.field(name).type))
    at = table.column_names.index("content_id")
    return table.set_column(at, "content_id", content_ids(table, list(BINARY_NLI.inputs)))


def tiny_encoder(folder: Path, *, spread: float = 0.3) -> str:
    """An encoder of one layer over words and letters; 0 as the `spread` of weights is deaf to them."""
    import torch
    from transformers import BertConfig, BertModel

    tokens = tiny_classifiers.tokenizer()
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    with torch.random.fork_rng():
        torch.manual_seed(4)
        module = BertModel(
            BertConfig(
                **shape,
                vocab_size=len(tokens),
                max_position_embeddings=48,
                hidden_dropout_prob=0.0,
                attention_probs_dropout_prob=0.0,
                initializer_range=spread,
            )
        )
    module.save_pretrained(folder)
    tokens.save_pretrained(folder)
    return str(folder)
