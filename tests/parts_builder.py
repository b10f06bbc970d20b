"""A builder of a source of three small data sets: two with files here, of two and of three labels.

Run as a program it builds a release and prints the hash of all its bytes: tests of hash seeds start it so.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from datasets import ClassLabel, Features, Value

from benchwright.builders.base import (
    DEFAULT_OPTIONS,
    Builder,
    BuildOptions,
    ConfigSpec,
    DatasetInfo,
    Origin,
    SourceData,
    SourceFile,
    builders,
    pvi_tables,
)
from benchwright.builders.build import build
from benchwright.builders.pvi_configs import difficulty_column, pvi_configs
from benchwright.faults import FaultLog
from benchwright.features import DIFFICULTY, HEAD, PLACEMENT, PVI
from benchwright.hashing import content_ids, sha256_file
from benchwright.splitting.base import Scores, SplitRows
from benchwright.tasks import BINARY_NLI, RECAST_NLI, Task

TASKS = {"colour": BINARY_NLI, "size": RECAST_NLI, "sound": BINARY_NLI}
"""Nobody has the files of `sound`."""
MAPPING = {"train": "train", "val": "validation"}
ROWS = {"colour": 72, "size": 66}


class PuzzleBuilder(Builder):
    """One config for each puzzle, and the four by V-information."""

    name = "puzzles"
    info = DatasetInfo(
        pretty_name="Puzzles",
        summary="Pairs of sentences about colours and sizes.",
        licence="cc-by-4.0",
        licence_link="",
        redistribute="text",
        homepage="",
        citation="",
    )
    task = BINARY_NLI
    published_rows = sum(ROWS.values())

    def read(
        self, root: Path, faults: FaultLog, origin: Origin, options: BuildOptions = DEFAULT_OPTIONS
    ) -> SourceData:
        """Rows of the puzzles stand mixed, each with its place in its own file."""
        rows, files = [], []
        for puzzle, task in TASKS.items():
            path = root / f"{puzzle}.jsonl"
            if not path.is_file():
                continue
            lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            files.append(SourceFile(path.name, sha256_file(path), path.stat().st_size, len(lines)))
            rows += [
                {
                    "uid": f"{puzzle}:{line['split']}:{place}",
                    "premise": line["premise"],
                    "hypothesis": line["hypothesis"],
                    "label": (task.labels or ()).index(line["label"]),
                    "puzzle": puzzle,
                    "shade": line.get("shade"),
                    "length": len(line["hypothesis"].split()),
                    "source_split": line["split"],
                    "source_index": place,
                }
                for place, line in enumerate(lines)
            ]
        rows.sort(key=lambda row: (row["source_index"], row["puzzle"]))
        table = pa.Table.from_pylist(rows)
        puzzles = np.array([row["puzzle"] for row in rows])
        return SourceData(
            table=table.append_column("content_id", content_ids(table, ["premise", "hypothesis"])),
            origin=origin,
            files=tuple(files),
            read=len(rows),
            parts={puzzle: np.flatnonzero(puzzles == puzzle) for puzzle in TASKS if puzzle in puzzles},
        )

    def task_of(self, spec: ConfigSpec) -> Task:
        return TASKS[spec.part]

    def features_of(self, spec: ConfigSpec) -> Features:
        return Features(
            {
                **HEAD,
                "premise": Value("string"),
                "hypothesis": Value("string"),
                "label": ClassLabel(names=list(self.task_of(spec).labels or ())),
                **({"shade": Value("string")} if spec.part == "colour" else {}),
                **({"difficulty": DIFFICULTY, **PVI} if spec.scores else {}),
                **PLACEMENT,
            }
        )

    def pvi_parts(self) -> tuple[str | None, ...]:
        return tuple(TASKS)

    def configs(
        self, options: BuildOptions, score_names: Mapping[str, Sequence[str]], rows: int | None = None
    ) -> list[ConfigSpec]:
        plain = [
            ConfigSpec(puzzle, "published", {"mapping": MAPPING}, f"Sentences about {puzzle}.", part=puzzle)
            for puzzle in TASKS
        ]
        return plain + [
            spec
            for puzzle in TASKS
            for suffix, table in pvi_tables(score_names, puzzle, tuple(TASKS)).items()
            for spec in pvi_configs(
                options, table, prefix=f"{puzzle}_", suffix=suffix, part=puzzle, mapping=MAPPING
            )
        ]

    def split_rows(self, data: SourceData) -> SplitRows:
        (puzzle,) = set(data.table.column("puzzle").to_pylist())
        return SplitRows(
            uids=data.table.column("uid").combine_chunks(),
            source_index=data.table.column("source_index").to_numpy(),
            labels=data.table.column("label").to_numpy(),
            label_names=TASKS[puzzle].labels or (),
            source_splits=np.array(data.table.column("source_split").to_pylist()),
        )

    def placed_columns(
        self,
        data: SourceData,
        side: np.ndarray,
        spec: ConfigSpec | None = None,
        scores: Scores | None = None,
    ) -> pa.Table | None:
        return None if spec is None else difficulty_column(spec, side)


@contextmanager
def installed() -> Iterator[None]:
    """While this lasts, the builder is known by its name."""
    with patch.dict(builders._objects, {PuzzleBuilder.name: PuzzleBuilder}):
        yield


def write_source(folder: Path, puzzles: Sequence[str] = tuple(ROWS)) -> Path:
    """The files of some puzzles. Of `colour` the last two rows are a leak and a conflict."""
    folder.mkdir(parents=True, exist_ok=True)
    for puzzle in puzzles:
        labels = TASKS[puzzle].labels or ()
        words = dict(zip(labels, ("yes", "no", "may be"), strict=False))
        lines = []
        for place in range(ROWS[puzzle]):
            label = labels[place % len(labels)]
            shown = labels[(place + place // 7) % len(labels)] if place % 7 == 3 else label
            lines.append(
                {
                    "premise": f"the {puzzle} of {chr(97 + place % 26)} {chr(97 + place // 26)} is known",
                    "hypothesis": f"it is so {chr(97 + place % 5)} {words[shown]}",
                    "label": label,
                    "split": "train" if place // 6 % 3 else "val",
                    **({"shade": f"shade {place % 4}"} if puzzle == "colour" else {}),
                }
            )
        if puzzle == "colour":
            lines[-2] = {**lines[0], "split": "train"}
            lines[-1] = {**lines[7], "label": labels[0], "split": "train"}
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{puzzle}.jsonl").write_text(text, encoding="utf-8")
    return folder


if __name__ == "__main__":
    import release_helpers

    with installed():
        made = build("puzzles", source=sys.argv[1], out=sys.argv[2], repair=True)
    print(release_helpers.fingerprint(made.path))
