"""Small corpora in their published formats, written into a folder, and their recasts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.builders.curriculum.recast import RecastRows, recasts
from benchwright.faults import FaultLog


def write(folder: Path, name: str, content: str | bytes | Iterable[Mapping[str, Any]]) -> Path:
    """Write text, bytes, or records as JSON Lines; folders are made."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, str):
        path.write_bytes(content.encode())
    else:
        path.write_bytes("".join(json.dumps(record) + "\n" for record in content).encode())
    return path


class Recasting(NamedTuple):
    """What a recast made and left out; `rows` are the table's rows as dictionaries."""

    rows: list[dict[str, Any]]
    made: RecastRows
    faults: FaultLog

    def triples(self, split: str | None = None) -> list[tuple[str, str, str]]:
        """Premise, hypothesis and label of every row (of one source split)."""
        return [
            (row["premise"], row["hypothesis"], row["label"])
            for row in self.rows
            if split in (None, row["source_split"])
        ]

    def groups(self) -> list[str]:
        return [row["group_id"] for row in self.rows]


def recast(name: str, folder: Path, policy: str = "fail") -> Recasting:
    """Run the recast `phenomenon/corpus` on a folder; `read` must add up."""
    faults = FaultLog(policy)  # type: ignore[arg-type]
    found = recasts.get(name)
    assert found.accepts(folder)
    made = found.read(folder, faults)
    left_out = sum(faults.dropped.values()) + sum(faults.filtered.values())
    assert made.read == made.table.num_rows + left_out
    return Recasting(made.table.to_pylist(), made, faults)
