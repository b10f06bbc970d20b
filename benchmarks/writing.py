"""A whole release at SNLI scale, from given scores, against writing the same files plainly.

    python benchmarks/writing.py [--rows 569018]

Makes synthetic rows of SNLI's form (premises shared by three rows, lengths and scores given) in a process of
its own. Then one process splits, audits and writes all default configs with card and figures, as `benchwright
build snli --scores` does after reading; after it, the same tables are written once more by pyarrow alone and
by `benchwright.tables`. Limits: at most twice the plain time, peak memory below 2 GB. Exit code 1 if one is
exceeded.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchwright.builders.assemble import assemble
from benchwright.builders.base import BuildOptions, Origin, SourceData
from benchwright.builders.snli import SnliBuilder
from benchwright.features import SCORES, payload_columns
from benchwright.hashing import content_ids
from benchwright.splitting.scores import ScoreTable
from benchwright.tables import conform, write_parquet

PUBLISHED_ROWS = 569_018
RATIO_LIMIT = 2.0
MEMORY_LIMIT = 2_000  # MB
LABELS = SnliBuilder.features["label"].names
TABLES = ("lm_prompt", "lm_kfold")


def sentences(rng: np.random.Generator, count: int, mean: int) -> tuple[list[str], np.ndarray]:
    """Texts of Zipf-distributed made-up words, and their lengths in words."""
    letters = np.array(list("etaoinshrdlucmfw"))
    words = np.array(["".join(letters[rng.integers(0, 16, 2 + i % 8)]) for i in range(20_000)])
    lengths = np.clip(rng.poisson(mean, count), 2, 60)
    drawn = words[np.minimum(rng.zipf(1.3, lengths.sum()) - 1, len(words) - 1)].tolist()
    ends = np.cumsum(lengths).tolist()
    return [
        " ".join(drawn[end - size : end]) for size, end in zip(lengths.tolist(), ends, strict=True)
    ], lengths


def source_table(rng: np.random.Generator, rows: int) -> pa.Table:
    """Rows of SNLI's columns and sizes."""
    shared, premise_lengths = sentences(rng, -(-rows // 3), 13)
    premise = np.arange(rows) // 3
    hypotheses, lengths = sentences(rng, rows, 7)
    label = rng.integers(0, 3, rows)
    table = pa.table(
        {
            "uid": [f"snli:train:{n // 3}.jpg#{n % 5}r1{LABELS[label[n]][0]}{n}" for n in range(rows)],
            "premise": pa.array(shared).take(pa.array(premise)),
            "hypothesis": hypotheses,
            "label": label,
            "annotator_labels": [[LABELS[value]] * (1 + 4 * (n % 10 == 0)) for n, value in enumerate(label)],
            "pair_id": [f"{n // 3}.jpg#{n % 5}r1{LABELS[label[n]][0]}" for n in range(rows)],
            "caption_id": [f"{n // 3}.jpg#{n % 5}" for n in range(rows)],
            "premise_length": premise_lengths[premise].astype(np.int32),
            "length": lengths.astype(np.int32),
            "source_split": np.where(
                np.arange(rows) % 57 > 1, "train", np.where(np.arange(rows) % 57, "dev", "test")
            ),
            "source_index": np.arange(rows, dtype=np.int32),
        }
    )
    ids = content_ids(table, ["premise", "hypothesis"])
    schema = SnliBuilder.features.arrow_schema
    fields = [schema.field(name) for name in payload_columns(SnliBuilder.features)]
    return conform(table.append_column("content_id", ids), pa.schema(fields))


def score_table(rng: np.random.Generator, source: pa.Table) -> pa.Table:
    """A score per row that falls with length, as log-likelihoods do."""
    lengths = source.column("length").to_numpy()
    return pa.table(
        {
            "uid": source.column("uid"),
            "content_id": source.column("content_id"),
            "log_likelihood": (-4.0 * lengths + rng.normal(0, 6, len(lengths))).astype(np.float32),
            "lm_num_tokens": (lengths + 2).astype(np.int32),
            "length": source.column("length"),
            "fold": rng.integers(0, 3, len(lengths)).astype(np.int8),
            "status": ["ok"] * len(lengths),
        }
    ).cast(SCORES.arrow_schema)


def make_inputs(folder: Path, rows: int) -> None:
    """Write source rows and score tables as parquet, so that the measured process has made none of them."""
    rng = np.random.default_rng(0)
    source = source_table(rng, rows)
    pq.write_table(source, folder / "source.parquet")
    for name in TABLES:
        pq.write_table(score_table(rng, source), folder / f"{name}.parquet")


def build_release(inputs: Path, out: Path) -> float:
    """Split, audit and write all default configs; the seconds that it took."""
    builder, options = SnliBuilder(), BuildOptions()
    table = pq.read_table(inputs / "source.parquet")
    data = SourceData(table, Origin("sample", "synthetic"), (), table.num_rows)
    scorers = {"lm_prompt": "prompt", "lm_kfold": "kfold"}
    tables = {
        name: ScoreTable(
            pq.read_table(inputs / f"{name}.parquet"),
            {"key": {"scorer": scorers[name]}, "model": {"model": "synthetic"}},
            "sha256:" + "0" * 64,
        )
        for name in TABLES
    }
    names = {"prompt": ["lm_prompt"], "kfold": ["lm_kfold"]}
    specs = [spec for spec in builder.configs(options, names, table.num_rows) if not spec.extra]
    start = time.perf_counter()
    assemble(builder, data, specs, tables, options, out)
    return time.perf_counter() - start


def write_again(release: Path, folder: Path) -> dict[str, float]:
    """Seconds to write the tables of every parquet file of `release` once more, in two ways."""
    seconds = {"plain": 0.0, "ours": 0.0}
    for file in sorted(release.rglob("*.parquet")):
        table = pq.read_table(file).combine_chunks()
        target = folder / file.relative_to(release)
        target.parent.mkdir(parents=True, exist_ok=True)
        start = time.perf_counter()
        pq.write_table(table, target, compression="zstd")
        middle = time.perf_counter()
        write_parquet(table, target.with_suffix(".ours"))
        seconds["plain"] += middle - start
        seconds["ours"] += time.perf_counter() - middle
    return seconds


def peak_memory() -> float:
    """Largest resident size of this process so far, in MB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=PUBLISHED_ROWS)
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        make_inputs(arguments.make, arguments.rows)
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        command = [sys.executable, __file__, "--rows", str(arguments.rows), "--make", scratch]
        subprocess.run(command, check=True)
        seconds = build_release(folder, folder / "release")
        peak = peak_memory()
        again = write_again(folder / "release", folder / "again")
        files = len(list((folder / "release").rglob("*.parquet")))
        size = sum(file.stat().st_size for file in (folder / "release").rglob("*.parquet"))
    report = {
        "rows": arguments.rows,
        "files": files,
        "megabytes": round(size / 1e6),
        "seconds": {"build": round(seconds, 1), **{name: round(value, 1) for name, value in again.items()}},
        "ratio_to_plain": round(seconds / again["plain"], 2),
        "ratio_to_ours": round(seconds / again["ours"], 2),
        "peak_mb": round(peak),
    }
    print(json.dumps(report, indent=2))
    return 0 if seconds <= RATIO_LIMIT * again["plain"] and peak < MEMORY_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
