"""A small release of made-up rows, written by the release writer, for its own tests.

Run as a program it writes one and prints the hash of all its bytes: tests of processes, hash seeds and kills
start it so.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from datasets import ClassLabel, Features, List, Value

from benchwright.builders.base import ConfigSpec
from benchwright.builders.release import ReleaseWriter, SourceRows
from benchwright.cards import card_metadata, seal, to_yaml
from benchwright.features import SCORES, family
from benchwright.release import ReleaseFolder
from benchwright.splitting.base import Scores, Sizes, SplitRows, splitters
from benchwright.tasks import NLI

ROWS = 60
PLAN = "0123456789abcdef" * 4
LABELS = ["entailment", "neutral", "contradiction"]
FEATURES = family(
    {
        "premise": Value("string"),
        "hypothesis": Value("string"),
        "label": ClassLabel(names=LABELS),
        "hardness": ClassLabel(names=["easy", "hard"]),
        "annotator_labels": List(Value("string")),
        "entities": List({"placeholder": Value("string"), "value": Value("string")}),
    }
)
SCHEMAS = Features({"db_id": Value("string"), "table_names": List(Value("string"))})
SIZES = Sizes(ROWS - 20, 8, 12)
SPECS = [
    ConfigSpec("ll_split", "likelihood", {"sizes": SIZES}, "Least likely rows evaluate.", "lm_prompt", True),
    ConfigSpec("random", "random", {"sizes": SIZES, "seed": 7}, "Drawn at random."),
]


def source_table(rows: int = ROWS) -> pa.Table:
    """Rows with every kind of column that releases have; `hardness` has no values at all."""
    return pa.table(
        {
            "uid": [f"made:train:{n}" for n in range(rows)],
            "content_id": [f"{n:032x}" for n in range(rows)],
            "premise": [f"A dog number {n // 3} runs." for n in range(rows)],
            "hypothesis": [
                f"Somebody saw {'very ' * (n % 4)}many dogs, n/a \u2028 {n}." for n in range(rows)
            ],
            "label": [n % 3 for n in range(rows)],
            "annotator_labels": [[LABELS[n % 3]] * (n % 3) for n in range(rows)],
            "entities": [[{"placeholder": "m0", "value": str(n)}][: n % 2] for n in range(rows)],
            "length": pa.array([4 + n % 4 for n in range(rows)], pa.int32()),
            "source_split": ["train"] * rows,
            "source_index": pa.array(range(rows), pa.int32()),
        }
    )


def score_table(source: pa.Table) -> pa.Table:
    """Scores in the order of `source`; the fifth source row is over-length."""
    index = source.column("source_index").to_numpy()
    missing = index == 4
    return pa.table(
        {
            "uid": source.column("uid"),
            "content_id": source.column("content_id"),
            "log_likelihood": np.where(missing, np.nan, -((index * 37) % 101) / 3).astype(np.float32),
            "lm_num_tokens": pa.array(index % 9, pa.int32()),
            "length": source.column("length"),
            "fold": pa.array(index % 3, pa.int8()),
            "status": np.where(missing, "overlength", "ok"),
        }
    ).cast(SCORES.arrow_schema)


def manifest(configs: dict[str, Any], rows: int = ROWS, **changes: Any) -> dict[str, Any]:
    """A manifest with the facts that a build adds to the writer's entries."""
    return {
        "benchwright": "0.1.0",
        "dataset": {
            "builder": "made",
            "pretty_name": "Made-up rows",
            "licence": "cc-by-4.0",
            "languages": ("en",),
            "published": True,
        },
        "method": "corrected",
        "choices": {"seed": 42},
        "source": {
            "kind": "sample",
            "fingerprint": "sha256:00",
            "files": [{"name": "made.jsonl", "sha256": "00", "bytes": 1, "rows": rows}],
            "read": rows + 3,
            "filtered": {"no gold label": 2, "empty": 1},
            "dropped": {},
            "rows": rows,
        },
        "scores": {"lm_prompt": {"scorer": "prompt", "identity": "sha256:00"}},
        "configs": configs,
        "audit": {"accepted": [], "findings": [], "counts": {}},
        "versions": {"pyarrow": pa.__version__},
        **changes,
    }


def split(spec: ConfigSpec, source: pa.Table, scores: pa.Table) -> Any:
    """The assignment of `source`'s rows, in their order."""
    rows = SplitRows(
        uids=source.column("uid").combine_chunks(),
        source_index=source.column("source_index").to_numpy(),
        lengths=source.column("length").to_numpy(),
        labels=source.column("label").to_numpy(),
        label_names=tuple(LABELS),
    )
    values = Scores(scores.column("log_likelihood").to_numpy(), scores.column("lm_num_tokens").to_numpy())
    splitter = splitters.get(spec.splitter)(**spec.parameters)
    return splitter.split(rows, values if spec.scores else None)


def write_release(
    target: Path,
    *,
    source: pa.Table | None = None,
    specs: list[ConfigSpec] | None = None,
    plan: str = PLAN,
    overwrite: bool = False,
    before_finish: Callable[[ReleaseWriter], None] = lambda writer: None,
) -> ReleaseFolder:
    """Two placed configs, a side table, a score table and a card that is its header alone."""
    source = source_table() if source is None else source
    scores = score_table(source)
    with ReleaseWriter(target, plan, overwrite) as writer:
        rows = SourceRows(source, FEATURES)
        pending = {
            spec.name: writer.start_config(
                spec, rows, split(spec, source, scores), task=NLI, scores=scores if spec.scores else None
            )
            for spec in specs or SPECS
        }
        configs = {name: config.entry() for name, config in pending.items()}
        schemas = pa.table({"db_id": ["shop", "zoo"], "table_names": [["goods"], ["animals", "cages"]]})
        configs["schemas"] = writer.write_table("schemas", schemas, SCHEMAS, "Tables of each database.")
        configs["scores"] = writer.write_scores({"lm_prompt": scores.take(rows.order)}, "Scores.")
        facts = manifest(configs, source.num_rows)
        write_card(writer.view(facts))
        before_finish(writer)
        return writer.finish(facts)


def write_card(release: ReleaseFolder) -> None:
    """The card's header, without which readers would merge all configs, and its seal."""
    text = seal(f"---\n{to_yaml(card_metadata(release))}---\n", release.manifest)
    (release.path / "README.md").write_text(text, encoding="utf-8")


def fingerprint(folder: Path) -> str:
    """One hash over the names and bytes of every file in a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(folder).as_posix()}\n".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


@contextmanager
def disturbed(act: Callable[[int], None]) -> Iterator[list[int]]:
    """Call `act` with the running number of every operation that changes the disk, before it is done.

    Counted: parquet writing, fsync (of files and of the journal), moves of files and folders. Yields a
    list of one number: the operations so far.
    """
    count = [0]

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            count[0] += 1
            act(count[0])
            return function(*arguments, **options)

        return run

    with (
        patch.object(pq, "write_table", counted(pq.write_table)),
        patch.object(os, "fsync", counted(os.fsync)),
        patch.object(Path, "replace", counted(Path.replace)),
        patch.object(Path, "rename", counted(Path.rename)),
    ):
        yield count


def main(target: str, kill_at: str = "0") -> None:
    def kill(number: int) -> None:
        if number == int(kill_at):
            os.kill(os.getpid(), signal.SIGKILL)

    with disturbed(kill):
        write_release(Path(target), overwrite=True)
    print(fingerprint(Path(target)))


if __name__ == "__main__":
    main(*sys.argv[1:])
