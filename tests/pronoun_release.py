"""A small release of pronoun resolution with overlap subsets, made by hand as `winograd` lays it out.

Eight rows in four pairs of twins, searched in two corpora; row 7 gave no query. Texts are invented.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from cards_release import DATASET, write_split
from datasets import ClassLabel, Features, Value

from benchwright.features import HEAD, OVERLAP
from benchwright.hashing import content_ids
from benchwright.release import ReleaseFolder
from benchwright.tables import conform
from benchwright.tasks import PRONOUN_RESOLUTION

PART = "toy"
FEATURES = Features(
    {
        **HEAD,
        "text": Value("string"),
        "pronoun": Value("string"),
        "pronoun_loc": Value("int32"),
        "options": [Value("string")],
        "label": ClassLabel(names=["0", "1"]),
        "pair_id": Value("string"),
        **OVERLAP,
        "source_dataset": Value("string"),
        "source_split": Value("string"),
        "source_index": Value("int32"),
    }
)
TEXTS = [
    ("The baker thanked the diver because she had bread to sell.", "she", ["The baker", "The diver"], 0),
    ("The baker thanked the diver because she had pearls to give.", "she", ["The baker", "The diver"], 1),
    ("Ann lent Eve her ladder, for she had two of them.", "she", ["Ann", "Eve"], 0),
    ("Ann lent Eve her ladder, for she had none at home.", "she", ["Ann", "Eve"], 1),
    ("The _ did not fit the drawer, it was too wide.", "_", ["tray", "spoon"], 0),
    ("The _ did not fill the drawer, it was too thin.", "_", ["tray", "spoon"], 1),
    ("Tom met the pilot. He was late for work.", "He", ["Tom", "the pilot"], 0),
    ("Tom met the pilot. His plane was late.", "His", ["Tom", "the pilot"], 1),
]
SCORES: list[dict[str, float] | None] = [
    {"brown": 31.5, "wiki": 40.25},
    {"wiki": 12.0},
    {"brown": 27.0},
    {},
    {},
    {"wiki": 3.5},
    {},
    None,
]
SUBSETS: dict[str, dict[str, Any]] = {
    "toy": {"subset": "all", "cutoff": 0.0, "quantile": None, "cutoffs": [0.0, 25.0, 35.0]},
    "toy_overlap_gt0": {"subset": "overlap", "cutoff": 0.0, "quantile": None},
    "toy_overlap_gt25": {"subset": "overlap", "cutoff": 25.0, "quantile": None},
    "toy_no_overlap": {"subset": "no_overlap", "cutoff": 0.0, "quantile": None},
}


def uid(row: int) -> str:
    return f"toy:test:{row}"


def source_rows(split: str = "test") -> list[dict[str, Any]]:
    """The rows, with hits of every corpus."""
    rows = []
    for number, ((text, pronoun, options, label), found) in enumerate(zip(TEXTS, SCORES, strict=True)):
        hits = [
            {
                "corpus": corpus,
                "document_id": f"{corpus}:{number}",
                "text": text if score > 40 else f"A sentence like number {number}.",
                "score": score,
                "matched_terms": ["baker", "bread"],
                "exact_copy": score > 40,
            }
            for corpus, score in sorted((found or {}).items(), key=lambda item: -item[1])
        ]
        best = None if found is None else max(found.values(), default=0.0)
        rows.append(
            {
                "uid": f"toy:{split}:{number}",
                "text": text,
                "pronoun": pronoun,
                "pronoun_loc": text.index(f"{pronoun} "),
                "options": options,
                "label": label,
                "pair_id": f"p{number // 2}",
                "query": None if found is None else "thanked ~10 had",
                "best_score": best,
                "num_hits": len(hits),
                "exact_copy": any(hit["exact_copy"] for hit in hits),
                "hits": hits,
                "source_dataset": "toy",
                "source_split": split,
                "source_index": number,
            }
        )
    return rows


def inside(parameters: dict[str, Any], best: float | None) -> bool:
    """Whether a row of that score is in the subset."""
    if parameters["subset"] == "all":
        return True
    over = best is not None and best > parameters["cutoff"]
    return over if parameters["subset"] == "overlap" else best is not None and not over


def make_release(
    folder: Path, *, train: bool = False, rows: list[dict[str, Any]] | None = None
) -> ReleaseFolder:
    """Write the release below `folder`; `train` repeats the rows as a train split of the whole test set."""
    made = source_rows() if rows is None else rows
    configs: dict[str, Any] = {}
    for name, parameters in SUBSETS.items():
        chosen = [row for row in made if inside(parameters, row["best_score"])]
        splits = {"test": _write(folder, name, "test", chosen)} if chosen else {}
        if train and name == "toy":
            splits = {"train": _write(folder, name, "train", source_rows("train")), **splits}
        if not splits:
            continue
        configs[name] = {
            "kind": "split",
            "summary": f"Rows of {name}.",
            "default": name == "toy",
            "task": PRONOUN_RESOLUTION.to_json(),
            "features": FEATURES.to_dict(),
            "part": PART,
            "splitter": "overlap",
            "parameters": parameters,
            "scores": "bm25_toy",
            "reverse_of": None,
            "assignment": {"file": f"assignments/{name}.parquet"},
            "splits": splits,
            "notes": [],
        }
    configs["toy"]["notes"] = [
        {
            "code": "empty_subset",
            "message": "toy_overlap_gt35 would have no rows and was left out",
            "uids": [],
            "count": 0,
        }
    ]
    (folder / "manifest.json").write_text(json.dumps(_manifest(configs, made), indent=2), encoding="utf-8")
    return ReleaseFolder(folder)


def write_analyses(release: ReleaseFolder, analyses: dict[str, Any]) -> None:
    """Put analyses where the card looks for them."""
    path = release.path / "results" / "index.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"format": 1, "results": [], "analyses": analyses}), encoding="utf-8")


def _write(folder: Path, config: str, split: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    schema = FEATURES.arrow_schema
    table = pa.Table.from_pylist(rows, schema=pa.schema([f for f in schema if f.name != "content_id"]))
    table = table.append_column("content_id", content_ids(table, list(PRONOUN_RESOLUTION.inputs)))
    return write_split(folder, config, split, conform(table, schema), FEATURES)


def _manifest(configs: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    corpora = [
        {"name": "brown", "documents": 57_340, "terms": 700_000},
        {"name": "wiki", "documents": 90_000, "terms": 1_200_000},
    ]
    return {
        "format": 1,
        "benchwright": "0.1.0",
        "dataset": DATASET | {"builder": "winograd", "pretty_name": "Toy pronouns", "tags": ["overlap"]},
        "method": "corrected",
        "choices": {"seed": 42},
        "source": {
            "kind": "folder",
            "location": None,
            "revision": None,
            "fingerprint": "sha256:" + "3" * 64,
            "files": [{"name": "toy.tsv", "sha256": "sha256:" + "4" * 64, "bytes": 99, "rows": len(rows)}],
            "read": len(rows),
            "rows": len(rows),
            "parts": {PART: len(rows)},
            "notes": [],
        },
        "scores": {
            "bm25_toy": {
                "scorer": "bm25",
                "part": PART,
                "identity": "sha256:" + "5" * 64,
                "provenance": {"corpora": corpora, "method": "corrected", "engine": "fast"},
                "rows": len(rows),
                "scored": 7,
                "overlength": 0,
                "content_hash": "sha256:" + "7" * 64,
                "scores_hash": "sha256:" + "8" * 64,
            }
        },
        "configs": configs,
        "audit": {"findings": []},
        "versions": {"python": "3.11"},
    }
