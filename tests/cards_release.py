"""A small release made by hand, for tests of the card: parquet, manifest and results as documented."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from datasets import ClassLabel, Features, Sequence, Value

from benchwright.features import SCORE_COLUMNS, SCORES, class_names, family, payload_columns
from benchwright.hashing import content_hash, content_ids, row_digests
from benchwright.release import ReleaseFolder
from benchwright.tables import conform, write_parquet
from benchwright.tasks import NLI

SIZES = {"train": 40, "validation": 10, "test": 10}
LABELS = ["entailment", "neutral", "contradiction"]
FEATURES = family(
    {
        "premise": Value("string"),
        "hypothesis": Value("string"),
        "label": ClassLabel(names=LABELS),
        "annotator_labels": Sequence(Value("string")),
        "pair_id": Value("string"),
    }
)
SCHEMAS = Features(
    {
        "db_id": Value("string"),
        "table_names": Sequence(Value("string")),
        "columns": [{"name": Value("string"), "kind": Value("string")}],
    }
)

_NOUNS = ("gardener", "pilot", "cellist", "diver", "baker", "juggler")
_PLACES = ("by the canal", "in a greenhouse", "on the night ferry", "under an arch", "near the mill")

DATASET: dict[str, Any] = {
    "builder": "snli",
    "pretty_name": "Toy inference splits",
    "summary": "Sixty invented sentence pairs, divided by what a language model finds likely.",
    "licence": "cc-by-sa-4.0",
    "licence_link": "https://creativecommons.org/licenses/by-sa/4.0/",
    "redistribute": "text",
    "homepage": "https://example.org/toy",
    "citation": "@misc{toy,\n  title = {Toy pairs},\n  year = {2026}\n}",
    "languages": ["en"],
    "task_categories": ["text-classification"],
    "task_ids": ["natural-language-inference"],
    "source_datasets": ["extended|snli"],
    "annotations_creators": ["crowdsourced"],
    "tags": ["likelihood-splits"],
}


def source_rows(rows: int = 60) -> pa.Table:
    """Invented rows with scores; row 7 has none (over-length)."""
    lengths = [4 + (i * 7) % 11 for i in range(rows)]
    scores = [round(-6.5 * length - ((i * 37) % 23) * 0.9, 3) for i, length in enumerate(lengths)]
    table = pa.table(
        {
            "premise": [f"A {_NOUNS[i % 6]} waits {_PLACES[i % 5]} with {i} lanterns." for i in range(rows)],
            "hypothesis": [" ".join(["someone", "waits", *["patiently"] * (n - 2)]) for n in lengths],
            "label": pa.array([i % 3 for i in range(rows)], pa.int64()),
            "annotator_labels": [[LABELS[i % 3]] * 5 for i in range(rows)],
            "pair_id": [f"p{i}" for i in range(rows)],
            "log_likelihood": pa.array([None if i == 7 else s for i, s in enumerate(scores)], pa.float32()),
            "lm_num_tokens": pa.array([None if i == 7 else n for i, n in enumerate(lengths)], pa.int32()),
            "length": pa.array(lengths, pa.int32()),
            "source_split": ["train"] * rows,
            "source_index": pa.array(range(rows), pa.int32()),
        }
    )
    uids = pa.array([f"toy:train:{i}" for i in range(rows)])
    return table.append_column("uid", uids).append_column(
        "content_id", content_ids(table, ["premise", "hypothesis"])
    )


def default_configs() -> dict[str, dict[str, Any]]:
    """Five configs: two random, a likelihood split, its reverse, one with length control."""
    likelihood = {"sizes": SIZES, "seed": 42, "criterion": "log_likelihood", "evaluation_labels": "shares"}
    return {
        "ll_split_pt": _config(
            "likelihood",
            "Rare hypotheses are held out.",
            likelihood | {"reverse": False},
            scores="lm_prompt",
            default=True,
        ),
        "ll_split_pt_reverse": _config(
            "likelihood",
            "Likely hypotheses are held out.",
            likelihood | {"reverse": True},
            scores="lm_prompt",
            reverse_of="ll_split_pt",
        ),
        "ll_split_len_pt": _config(
            "likelihood",
            "Rare hypotheses of every length are held out.",
            likelihood | {"length_control": "exact", "constraint": "atoms"},
            scores="lm_prompt",
        ),
        "random": _config("random", "The yardstick.", {"sizes": SIZES, "seed": 42}),
        "random_2": _config("random", "The yardstick, drawn again.", {"sizes": SIZES, "seed": 43}),
    }


def make_release(
    folder: Path,
    *,
    configs: dict[str, dict[str, Any]] | None = None,
    dataset: dict[str, Any] | None = None,
    rows: pa.Table | None = None,
    sides: bool = True,
) -> ReleaseFolder:
    """Write a whole release below `folder`. `sides`: also the configs `schemas` and `scores`."""
    table = source_rows() if rows is None else rows
    entries = {
        name: _write_config(folder, name, dict(entry), table)
        for name, entry in (default_configs() if configs is None else configs).items()
    }
    scored = any(entry["scores"] for entry in entries.values())
    if sides:
        entries["schemas"] = _write_schemas(folder)
        entries["scores"] = _write_scores(folder, table)
    manifest = {
        "format": 1,
        "benchwright": "0.1.0",
        "dataset": DATASET | (dataset or {}),
        "method": "corrected",
        "choices": {"criterion": "log_likelihood", "length_buckets": None, "prompt": None, "seed": 42},
        "source": _source(table),
        "scores": {"lm_prompt": _score_entry(table)} if scored else {},
        "configs": entries,
        "audit": _audit(table),
        "versions": {"python": "3.11", "datasets": "5.2.0", "pyarrow": "26.0.1"},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2), encoding="utf-8")
    return ReleaseFolder(folder)


def _config(splitter: str, summary: str, parameters: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {
        "kind": "split",
        "summary": summary,
        "default": others.get("default", False),
        "task": NLI.to_json(),
        "splitter": splitter,
        "parameters": parameters,
        "scores": others.get("scores"),
        "reverse_of": others.get("reverse_of"),
        "notes": [],
        "left_out": [],
    }


def split_config(name: str, default: bool = False) -> dict[str, Any]:
    """A plain random config, for tests that need many of them."""
    return _config("random", f"Summary of {name}.", {"sizes": SIZES, "seed": 1}, default=default)


def _order(entry: dict[str, Any], table: pa.Table) -> np.ndarray:
    if entry["splitter"] != "likelihood":
        return np.random.default_rng(entry["parameters"].get("seed", 0)).permutation(table.num_rows)
    scores = np.nan_to_num(table.column("log_likelihood").to_numpy(zero_copy_only=False), nan=0.0)
    key = scores if entry["parameters"].get("reverse") else -scores
    if entry["parameters"].get("length_control"):
        key = key / table.column("length").to_numpy()
    return np.argsort(key, kind="stable")


def _write_config(folder: Path, name: str, entry: dict[str, Any], table: pa.Table) -> dict[str, Any]:
    order, start, splits, placed_by = _order(entry, table), 0, {}, {}
    for split, size in SIZES.items():
        chosen = table.take(pa.array(np.sort(order[start : start + size])))
        start += size
        words = ["score" if entry["scores"] else "random"] * chosen.num_rows
        if entry["scores"] and split == "train":
            words[0] = "unscored"
        chosen = chosen.append_column("placed_by", pa.array(words))
        splits[split] = write_split(folder, name, split, chosen, FEATURES)
        placed_by[split] = {word: words.count(word) for word in dict.fromkeys(words)}
    assignment = {"file": f"assignments/{name}.parquet", "content_hash": "sha256:" + "2" * 64}
    return {
        **entry,
        "features": FEATURES.to_dict(),
        "splits": splits,
        "placed_by": placed_by,
        "assignment": assignment,
    }


def write_split(folder: Path, config: str, split: str, table: pa.Table, features: Features) -> dict[str, Any]:
    """Write the rows of one split, in the columns of `features`, and return its entry in the manifest."""
    written = conform(table, features.arrow_schema.remove_metadata())
    file = f"{config}/{split}-00000-of-00001.parquet"
    write_parquet(written, folder / file)
    payload = [name for name in payload_columns(features) if name in written.column_names]
    scores = [name for name in SCORE_COLUMNS if name in written.column_names]
    return {
        "files": [file],
        "rows": written.num_rows,
        "bytes": (folder / file).stat().st_size,
        "num_bytes": written.nbytes,
        "content_hash": content_hash(row_digests(written.select(payload), class_names(features))),
        "scores_hash": content_hash(row_digests(written.select(scores))) if scores else None,
    }


def _write_schemas(folder: Path) -> dict[str, Any]:
    table = pa.table(
        {
            "db_id": ["harbour"],
            "table_names": [["boat", "crew"]],
            "columns": [[{"name": "boat id", "kind": "number"}, {"name": "name", "kind": "text"}]],
        }
    )
    split = write_split(folder, "schemas", "train", table, SCHEMAS)
    return _side_entry("table", "Tables and columns of every database.", SCHEMAS, {"train": split})


def _write_scores(folder: Path, table: pa.Table) -> dict[str, Any]:
    status = ["overlength" if score is None else "ok" for score in table.column("log_likelihood").to_pylist()]
    kept = table.select([name for name in SCORES if name in table.column_names]).append_column(
        "status", pa.array(status)
    )
    return _side_entry(
        "scores", "", SCORES, {"lm_prompt": write_split(folder, "scores", "lm_prompt", kept, SCORES)}
    )


def _side_entry(kind: str, summary: str, features: Features, splits: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": kind,
        "summary": summary,
        "default": False,
        "features": features.to_dict(),
        "splits": splits,
    }


def _source(table: pa.Table) -> dict[str, Any]:
    return {
        "kind": "folder",
        "location": None,
        "revision": None,
        "fingerprint": "sha256:" + "3" * 64,
        "files": [
            {
                "name": "toy_train.jsonl",
                "sha256": "sha256:" + "4" * 64,
                "bytes": 12345,
                "rows": table.num_rows + 3,
            }
        ],
        "read": table.num_rows + 3,
        "filtered": {"no gold label": 2},
        "dropped": {"not JSON": 1},
        "rows": table.num_rows,
        "on_bad_row": "drop",
    }


def _score_entry(table: pa.Table) -> dict[str, Any]:
    return {
        "scorer": "prompt",
        "identity": "sha256:" + "5" * 64,
        "provenance": {
            "key": {
                "scorer": "prompt",
                "model": {
                    "model": "smollm2-135m",
                    "revision": "0.1.2",
                    "weights_sha256": "6" * 64,
                    "dtype": "float32",
                },
                "template": {
                    "name": "snli",
                    "context": "Premise: {premise} Hypothesis:",
                    "continuation": " {hypothesis}",
                },
            },
            "environment": {"torch": "2.13.0", "device": "cpu"},
        },
        "rows": table.num_rows,
        "scored": table.num_rows - 1,
        "overlength": 1,
        "content_hash": "sha256:" + "7" * 64,
        "scores_hash": "sha256:" + "8" * 64,
    }


def _audit(table: pa.Table) -> dict[str, Any]:
    finding = {
        "id": "abc123",
        "code": "leak_exact",
        "severity": "known",
        "config": "random",
        "splits": ["train", "test"],
        "count": 5,
        "message": "row(s) of test have an equal input in train",
        "uids": table.column("uid").to_pylist()[:5],
    }
    corpus = {
        **finding,
        "id": "def456",
        "code": "duplicate_row",
        "severity": "warning",
        "config": None,
        "splits": [],
    }
    return {
        "accepted": ["def456"],
        "findings": [finding, corpus],
        "counts": {"error": 0, "warning": 1, "known": 1},
    }
