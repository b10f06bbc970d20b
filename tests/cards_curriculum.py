"""A release of two phenomena made by hand, with V-information, cells and experiments, for tests of the card.

`verbs` has two labels, `logic` three; each of 16 rows in train and 8 in validation. Numbers are invented.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from cards_release import DATASET, write_split
from datasets import ClassLabel, Features, Value

from benchwright.features import DIFFICULTY, HEAD, PVI
from benchwright.hashing import content_ids
from benchwright.release import ReleaseFolder
from benchwright.tasks import BINARY_NLI, RECAST_NLI, Task

ROWS = {"train": 16, "validation": 8}
CATEGORIES = {"verbs": "syntactic", "logic": "logical"}
TASKS: dict[str, Task] = {"verbs": BINARY_NLI, "logic": RECAST_NLI}
CELLS = {
    "simple": ("simple", "simple"),
    "hard": ("hard", "hard"),
    "pvi_hard_test": ("simple", "hard"),
    "pvi_hard_test_reverse": ("hard", "simple"),
}
RECIPE = {"rows_per_label": 200, "epochs": 4, "batch_size": 16, "learning_rate": 1e-4, "max_length": 128}
_MAPPING = {"train": "train", "val": "validation"}


def information(value: float, **changes: Any) -> dict[str, Any]:
    """What a score table records of its V-information: an interval of 0.1 bits around `value`, 24 rows."""
    measure = {"value": value, "low": value - 0.05, "high": value + 0.05, "n": 24}
    by_side = {
        name: {"overall": measure | {"n": rows}, "by_label": {}}
        for name, rows in (("train", ROWS["train"]), ("val", ROWS["validation"]))
    }
    return {
        "overall": measure,
        "by_label": {"entailed": measure | {"n": 12}},
        "by_source_split": by_side,
        "truncated": 0,
        "constant_models": 0,
        "no_usable_information": False,
    } | changes


def make_curriculum(folder: Path) -> ReleaseFolder:
    """Write the release below `folder`: each task, its cells and its score table."""
    configs: dict[str, Any] = {}
    for part in TASKS:
        configs |= _configs(folder, part)
    configs["verbs"]["default"] = True
    files = [f"{part}.zip/{part}/{split}.jsonl" for part in TASKS for split in ("train", "val")]
    manifest = {
        "format": 1,
        "benchwright": "0.1.0",
        "dataset": DATASET | {"builder": "curriculum_difficulty", "pretty_name": "Toy phenomena"},
        "method": "corrected",
        "choices": {"criterion": "log_likelihood", "seed": 42},
        "source": {
            "kind": "folder",
            "location": None,
            "revision": None,
            "fingerprint": "sha256:" + "3" * 64,
            "files": [
                {"name": name, "sha256": "sha256:" + "4" * 64, "bytes": 99, "rows": 16} for name in files
            ],
            "read": 48,
            "rows": 48,
            "parts": dict.fromkeys(TASKS, 24),
            "notes": [
                "verbs.zip: field 'frame' of 24 rows is not used",
                "licence of verbs: MIT (Toy Verbs)",
                "licence of logic: unknown (Toy Logic, Toy Sets)",
            ],
        },
        "scores": {
            "pvi_logic": _score_entry("logic", information(-0.02, no_usable_information=True)),
            "pvi_verbs": _score_entry("verbs", information(0.4, truncated=1_234)),
        },
        "configs": configs,
        "audit": {"findings": _findings()},
        "versions": {"python": "3.11"},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2), encoding="utf-8")
    return ReleaseFolder(folder)


def experiments() -> dict[str, Any]:
    """Analyses as the evaluation writes them: a full matrix of verbs, half a one of logic, two curves."""
    cells = [
        _pooled(f"{part}_{name}", value, part=part, scores=f"pvi_{part}", train=train, evaluation=evaluation)
        for part, values in (("verbs", (0.9, 0.5, 0.3, 0.7)), ("logic", (0.6, None, 0.4, None)))
        for (name, (train, evaluation)), value in zip(CELLS.items(), values, strict=True)
        if value is not None
    ]
    points = [
        _pooled("verbs", value, metric=metric, rows_per_label=rows, settings="sha256:" + "c" * 64)
        for metric, values in (("accuracy", (0.5, 0.6, 0.8)), ("matthews_correlation", (0.0, 0.2, 0.6)))
        for rows, value in zip((0, 10, 100), values, strict=True)
    ]
    lone = [_pooled("logic", 0.5, rows_per_label=50, settings="sha256:" + "c" * 64)]
    thresholds = {"known_from": 0.5, "given_away_from": 0.1}
    return {
        "generalisation": cells,
        "inoculation": [*points, *lone],
        "partial_input": [
            _run("verbs")
            | {"full": 0.8, "full_low": 0.7, "full_high": 0.9, "partial": 0.65, "majority": 0.5}
            | {"partial_low": 0.6, "partial_high": 0.7, "difference": 0.15}
            | {"difference_low": 0.05, "difference_high": 0.25},
            # As written before there were intervals.
            _run("logic") | {"full": 0.6, "partial": 0.4, "majority": None},
        ],
        "outcomes": [
            {
                "config": "verbs",
                "part": "verbs",
                "zero_shot": 0.1,
                "fine_tuned": 0.6,
                "outcome": "learned",
                "partial": 0.65,
                "majority": 0.5,
                "given_away": True,
                "simple_to_hard": 0.3,
                "generalises": False,
            }
            | thresholds,
            {
                "config": "logic",
                "part": "logic",
                "zero_shot": 0.7,
                "fine_tuned": None,
                "outcome": "known",
                "partial": None,
                "majority": None,
                "given_away": None,
                "simple_to_hard": 0.4,
                "generalises": None,
            }
            | thresholds,
        ],
    }


def write_analyses(release: ReleaseFolder, analyses: dict[str, Any]) -> None:
    """Put analyses where the card looks for them."""
    path = release.path / "results" / "index.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"format": 1, "results": [], "analyses": analyses}), encoding="utf-8")


def _configs(folder: Path, part: str) -> dict[str, Any]:
    task = TASKS[part]
    category = CATEGORIES[part]
    configs = {
        part: _config(
            folder,
            part,
            part,
            None,
            {"splitter": "published", "parameters": {"mapping": _MAPPING}, "scores": None},
            f"{category.capitalize()} phenomenon.",
        )
    }
    for cell, (train, evaluation) in CELLS.items():
        parameters = {"train": train, "evaluation": evaluation, "cut": "midrange", "border": "published"}
        name = f"{part}_{cell}"
        rule = {"splitter": "pvi", "parameters": parameters, "scores": f"pvi_{part}"}
        configs[name] = _config(
            folder, part, name, (train, evaluation), rule, f"{train} trains, {evaluation} evaluates."
        )
        configs[name]["notes"] = [
            {
                "code": "pvi_cut",
                "message": f"train, label {task.labels[0]!r}: threshold 0.5000 bits",
                "uids": [],
                "count": 0,
            }
        ]
    configs[f"{part}_pvi_hard_test_reverse"]["reverse_of"] = f"{part}_pvi_hard_test"
    return configs


def _config(
    folder: Path, part: str, name: str, cell: tuple[str, str] | None, rule: dict[str, Any], summary: str
) -> dict[str, Any]:
    task = TASKS[part]
    features = _features(task)
    splits = {}
    for split, word in zip(ROWS, cell or (None, None), strict=True):
        rows = _rows(part, split, word)
        splits[split] = write_split(folder, name, split, rows, features)
    return {
        "kind": "split",
        "summary": summary,
        "default": False,
        "task": task.to_json(),
        "features": features.to_dict(),
        **rule,
        "part": part,
        "reverse_of": None,
        "splits": splits,
        "placed_by": {
            split: {"pvi" if cell else "published": entry["rows"]} for split, entry in splits.items()
        },
        "notes": [],
        "left_out": [{"split": "test", "reason": "no row was placed in it"}],
        "assignment": {"file": f"assignments/{name}.parquet", "content_hash": "sha256:" + "2" * 64},
    }


def _features(task: Task) -> Features:
    return Features(
        {
            **HEAD,
            "premise": Value("string"),
            "hypothesis": Value("string"),
            "label": ClassLabel(names=list(task.labels or ())),
            "phenomenon": Value("string"),
            "category": Value("string"),
            **PVI,
            "difficulty": DIFFICULTY,
            "source_split": Value("string"),
            "source_index": Value("int32"),
        }
    )


def _rows(part: str, split: str, word: str | None) -> pa.Table:
    """All rows of a side, or the simple or hard ones; a quarter of them, the last, is hard."""
    number = ROWS[split]
    labels = len(TASKS[part].labels or ())
    places = [i for i in range(number) if word is None or (word == "hard") == (i >= number * 3 // 4)]
    hard = [int(i >= number * 3 // 4) for i in places]
    table = pa.table(
        {
            "uid": [f"{part}:{split}:{i}" for i in places],
            "premise": [f"Number {i} of {part} opened the {split} gate." for i in places],
            "hypothesis": [f"A gate is open {'again ' * (i % 3)}today." for i in places],
            "label": pa.array([i % labels for i in places], pa.int64()),
            "phenomenon": [part] * len(places),
            "category": [CATEGORIES[part]] * len(places),
            "entropy_null": pa.array([1.0] * len(places), pa.float32()),
            "entropy_input": pa.array([0.25 + late for late in hard], pa.float32()),
            "pvi": pa.array([0.75 - late for late in hard], pa.float32()),
            "pvi_fold": pa.array([i % 2 if split == "train" else -1 for i in places], pa.int8()),
            "difficulty": pa.array(hard, pa.int64()),
            "source_split": ["train" if split == "train" else "val"] * len(places),
            "source_index": pa.array(places, pa.int32()),
        }
    )
    return table.append_column("content_id", content_ids(table, ["premise", "hypothesis"]))


def _score_entry(part: str, found: dict[str, Any]) -> dict[str, Any]:
    labels = list(TASKS[part].labels or ())
    model = {"rows_by_label": dict.fromkeys(labels, 200), "constant": False}
    return {
        "scorer": "pvi",
        "identity": "sha256:" + "5" * 64,
        "part": part,
        "provenance": {
            "key": {
                "scorer": "pvi",
                "fit": "cross_fitted",
                "k": 2,
                "recipe": RECIPE,
                "null": [" ", " "],
                "zero_label": False,
                "labels": labels,
            },
            "model": {"model": "minilm-l6"},
            "models": [model | {"fold": 0}, model | {"fold": 1}],
            "v_information": found,
        },
        "rows": 24,
        "scored": 24,
        "overlength": 0,
        "empty": 0,
        "content_hash": "sha256:" + "7" * 64,
        "scores_hash": "sha256:" + "8" * 64,
    }


def _findings() -> list[dict[str, Any]]:
    finding = {"severity": "known", "splits": ["train"], "uids": ["verbs:train:1"], "message": "rows repeat"}
    return [
        finding | {"id": "a", "code": "duplicate_input", "config": "verbs", "count": 3},
        finding | {"id": "b", "code": "duplicate_input", "config": "logic", "count": 5},
        finding
        | {"id": "c", "code": "label_order", "config": None, "part": "logic", "count": 16}
        | {"severity": "info"},
    ]


def _run(config: str) -> dict[str, Any]:
    settings = "sha256:" + "a" * 64
    return {"config": config, "model": "minilm-l6", "settings": settings, "metric": "accuracy"}


def _pooled(config: str, value: float, **others: Any) -> dict[str, Any]:
    pooled = {"low": value - 0.1, "high": value + 0.1, "interval": "Wilson 95%", "seeds": 1}
    run = _run(config) | {"baseline": "fine_tuned_full_input", "value": value}
    return run | pooled | others
