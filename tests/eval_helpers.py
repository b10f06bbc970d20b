"""Small releases written by hand, for the tests of evaluation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from datasets import ClassLabel, Features, Value

from benchwright.features import SCORES, class_names, family, payload_columns
from benchwright.hashing import content_hash, row_digests
from benchwright.release import ReleaseFolder
from benchwright.tables import conform, write_parquet
from benchwright.tasks import BOOLEAN_QUESTION, NLI, TEXT_TO_SQL, Task

NLI_FEATURES = family(
    {
        "premise": Value("string"),
        "hypothesis": Value("string"),
        "label": ClassLabel(names=["entailment", "neutral", "contradiction"]),
        "annotator_labels": [Value("string")],
    }
)
BOOLEAN_FEATURES = family({"question": Value("string"), "passage": Value("string"), "answer": Value("bool")})
SQL_FEATURES = family(
    {
        "db_id": Value("string"),
        "question": Value("string"),
        "query": Value("string"),
        "hardness": ClassLabel(names=["easy", "medium", "hard", "extra"]),
        "num_novel_compounds": Value("int32"),
    }
)
SCHEMAS = Features(
    {
        "uid": Value("string"),
        "db_id": Value("string"),
        "table_names": [Value("string")],
        "column_names": [{"table_id": Value("int32"), "name": Value("string")}],
        "foreign_keys": [{"column_id": Value("int32"), "referenced_column_id": Value("int32")}],
    }
)
FARM_SCHEMA: dict[str, Any] = {
    "uid": "toy:tables:farm",
    "db_id": "farm",
    "table_names": ["cow"],
    "column_names": [{"table_id": -1, "name": "*"}]
    + [{"table_id": 0, "name": name} for name in ("id", "name", "age")],
    "foreign_keys": [],
}
"""The database of `sql_rows`: `cow(id, name, age)`."""

_CUES = ("Someone plays outside.", "A champion plays the final.", "Nobody plays at all.")


def nli_rows(first: int, count: int) -> list[dict[str, Any]]:
    """Rows whose hypothesis gives the label away; every fifth has five annotator labels, four being gold."""
    rows = []
    for number in range(first, first + count):
        label = number % 3
        names = NLI.labels or ()
        annotators = [names[label]] * 4 + [names[(label + 1) % 3]] if number % 5 == 0 else [names[label]]
        rows.append(
            {
                "uid": f"toy:all:{number}",
                "content_id": f"{number:032x}",
                "premise": f"Person {number} plays outside.",
                "hypothesis": _CUES[label],
                "label": label,
                "annotator_labels": annotators,
            }
        )
    return rows


def boolean_rows(answers: str) -> list[dict[str, Any]]:
    """One row per letter: y or n."""
    return [
        {
            "uid": f"toy:all:{number}",
            "question": f"is thing {number} {'blue' if answer == 'y' else 'red'}",
            "passage": f"Thing {number} is blue.",
            "answer": answer == "y",
        }
        for number, answer in enumerate(answers)
    ]


def sql_rows(queries: list[str], first: int = 0) -> list[dict[str, Any]]:
    """One row per query."""
    return [
        {"uid": f"toy:all:{number}", "db_id": "farm", "question": f"question {number}", "query": query}
        for number, query in enumerate(queries, start=first)
    ]


def write_release(
    path: Path,
    configs: dict[str, dict[str, list[dict[str, Any]]]],
    *,
    task: Task = NLI,
    entries: dict[str, dict[str, Any]] | None = None,
    scores: dict[str, list[dict[str, Any]]] | None = None,
    schemas: list[dict[str, Any]] | None = None,
) -> ReleaseFolder:
    """A release with rows by config and split; `entries` overrides fields of a config's manifest entry.

    `schemas` are the rows of a side table of that name.
    """
    features = {NLI: NLI_FEATURES, BOOLEAN_QUESTION: BOOLEAN_FEATURES, TEXT_TO_SQL: SQL_FEATURES}[task]
    manifest: dict[str, Any] = {"format": 1, "dataset": {"builder": "toy"}, "configs": {}}
    for name, splits in configs.items():
        manifest["configs"][name] = {
            "kind": "split",
            "task": task.to_json(),
            "features": features.to_dict(),
            "splitter": "random",
            "parameters": {},
            "scores": None,
            "reverse_of": None,
            "assignment": {"file": f"assignments/{name}.parquet"},
            "splits": {split: _write(path, name, split, rows, features) for split, rows in splits.items()},
            **(entries or {}).get(name, {}),
        }
    if scores:
        splits = {name: _write(path, "scores", name, rows, SCORES) for name, rows in scores.items()}
        manifest["configs"]["scores"] = {"kind": "scores", "features": SCORES.to_dict(), "splits": splits}
    if schemas:
        splits = {"train": _write(path, "schemas", "train", schemas, SCHEMAS)}
        manifest["configs"]["schemas"] = {"kind": "table", "features": SCHEMAS.to_dict(), "splits": splits}
    (path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return ReleaseFolder(path)


def _write(
    path: Path, config: str, split: str, rows: list[dict[str, Any]], features: Features
) -> dict[str, Any]:
    schema = features.arrow_schema
    present = [field for field in schema if rows and field.name in rows[0]]
    table = conform(pa.Table.from_pylist(rows, schema=pa.schema(present)), schema)
    file = f"{config}/{split}-00000-of-00001.parquet"
    write_parquet(table, path / file)
    names = payload_columns(features)
    labels = {name: values for name, values in class_names(features).items() if name in names}
    digests = row_digests(table.select(names), labels)
    return {"files": [file], "rows": table.num_rows, "content_hash": content_hash(digests)}
