"""Audits: the published tasks of Curriculum one by one, and as many synthetic rows as SNLI has.

    python benchmarks/audit.py [--rows 569018] [--tasks FOLDER]

Reads the task files (`TASK.zip` in FOLDER, by default data/curriculum of BENCHWRIGHT_DATA) and audits the
published split of each, near-duplicates included. Then synthetic rows of SNLI's form: three share a premise,
and one evaluation row in ten is a train row with a letter or a word more. Limits: 60 s for 18 tasks; 300 s
and 2 GB for the synthetic rows, and every changed row that is a near-duplicate is found. Exit code 1 if one
is exceeded.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from writing import PUBLISHED_ROWS, sentences

from benchwright.builders._audit_near import THRESHOLD, trigrams
from benchwright.builders.audit import AuditRows, Finding, audit_part
from benchwright.tasks import BINARY_NLI, NLI

TASKS_LIMIT = 60.0  # seconds
ROWS_LIMIT = 300.0  # seconds
MEMORY_LIMIT = 2_000  # MB
EVALUATION_ROWS = 20_000


def task_table(path: Path) -> tuple[pa.Table, np.ndarray]:
    """The rows of one task and where they were published: 0 train, 1 validation."""
    rows, side = [], []
    with zipfile.ZipFile(path) as archive:
        for number, split in enumerate(("train", "val")):
            text = archive.read(f"{path.stem}/{split}.jsonl").decode()
            lines = [line for line in text.split("\n") if line.strip()]
            rows += [
                {**json.loads(line), "uid": f"{path.stem}:{split}:{place}", "source_split": split}
                for place, line in enumerate(lines)
            ]
            side += [number] * len(lines)
    names = ("uid", "premise", "hypothesis", "source_split")
    columns = {name: [row[name] for row in rows] for name in names}
    return pa.table({**columns, "label": [row["gold_label"] for row in rows]}), np.array(side, np.int8)


def audit_tasks(folder: Path) -> dict[str, dict[str, float]]:
    """Rows, seconds and near-duplicates of every task."""
    made = {}
    for path in sorted(folder.glob("*.zip")):
        table, side = task_table(path)
        start = time.perf_counter()
        findings = audit_part(AuditRows.from_table(table, BINARY_NLI), {path.stem: side}, True)
        seconds = time.perf_counter() - start
        near = sum(finding.count for finding in findings if finding.code == "near_duplicate")
        made[path.stem] = {"rows": len(side), "seconds": round(seconds, 2), "near_duplicates": near}
    return made


def synthetic_rows(count: int) -> tuple[pa.Table, np.ndarray, set[str]]:
    """Rows, their sides, and the uids of changed rows that are near-duplicates of the train row changed."""
    rng = np.random.default_rng(0)
    shared, _ = sentences(rng, -(-count // 3), 13)
    hypotheses, _ = sentences(rng, count, 7)
    premises = [shared[row // 3] for row in range(count)]
    side = np.zeros(count, dtype=np.int8)
    held_out = rng.permutation(count)[: min(EVALUATION_ROWS, count // 2)]
    side[held_out] = 2
    train = np.flatnonzero(side == 0)
    changed = held_out[: len(held_out) // 10]
    planted = set()
    for row, origin in zip(changed.tolist(), rng.choice(train, len(changed)).tolist(), strict=True):
        premises[row] = premises[origin] + " indeed"
        hypotheses[row] = hypotheses[origin] + "s"
        if alike(premises[row], premises[origin]) and alike(hypotheses[row], hypotheses[origin]):
            planted.add(f"synthetic:{row}")
    uids = [f"synthetic:{row}" for row in range(count)]
    table = pa.table(
        {"uid": uids, "premise": premises, "hypothesis": hypotheses, "label": rng.integers(0, 3, count)}
    )
    return table, side, planted


def alike(first: str, second: str) -> bool:
    """Whether two texts are near-duplicates."""
    one, two = trigrams(first), trigrams(second)
    return len(one & two) >= THRESHOLD * len(one | two)


def audit_synthetic(count: int) -> dict[str, float]:
    """Seconds of an audit of so many rows, the share of planted near-duplicates found, and all of them."""
    table, side, planted = synthetic_rows(count)
    start = time.perf_counter()
    findings = audit_part(AuditRows.from_table(table, NLI), {"random": side}, False, near=True)
    seconds = time.perf_counter() - start
    named = uids_of(findings, "near_duplicate") | uids_of(findings, "leak_exact")
    named |= uids_of(findings, "leak_normalised")
    return {
        "rows": count,
        "seconds": round(seconds, 1),
        "planted": len(planted),
        "planted_named": len(planted & named),
        "near_duplicates": len(uids_of(findings, "near_duplicate")),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def uids_of(findings: list[Finding], code: str) -> set[str]:
    """The rows of all findings of one code."""
    return {uid for finding in findings if finding.code == code for uid in finding.uids}


def main() -> int:
    default = Path(os.environ.get("BENCHWRIGHT_DATA", "../shared/data")) / "curriculum"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=PUBLISHED_ROWS)
    parser.add_argument("--tasks", type=Path, default=default)
    arguments = parser.parse_args()
    tasks = audit_tasks(arguments.tasks)
    seconds = sum(task["seconds"] for task in tasks.values())
    synthetic = audit_synthetic(arguments.rows)
    report = {"tasks": tasks, "task_seconds": round(seconds, 1), "synthetic": synthetic}
    print(json.dumps(report, indent=2))
    within = seconds <= TASKS_LIMIT and synthetic["seconds"] <= ROWS_LIMIT
    found = synthetic["planted_named"] == synthetic["planted"]
    return 0 if within and found and synthetic["peak_mb"] < MEMORY_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
