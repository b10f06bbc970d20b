"""Writing a release at SNLI scale, against plain pyarrow writing the same tables.

    python benchmarks/writing.py [--rows 569018]

Makes synthetic rows of SNLI's form (premises shared by three rows, lengths and scores given), the nine
default configs and two score tables, writes them as a release, then writes the same tables once more with
`pyarrow.parquet.write_table(compression="zstd")`. Limits: at most twice the plain time, peak memory below
2 GB. Exit code 1 if one is exceeded.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from datasets import ClassLabel, List, Value

from benchwright.builders.base import ConfigSpec
from benchwright.builders.release import ReleaseWriter, SourceRows
from benchwright.features import SCORES, family
from benchwright.splitting.base import Assignment, Scores, Sizes, SplitRows, splitters
from benchwright.tasks import NLI

PUBLISHED_ROWS = 569_018
RATIO_LIMIT = 2.0
MEMORY_LIMIT = 2_000  # MB
LABELS = ["entailment", "neutral", "contradiction"]
FEATURES = family(
    {
        "premise": Value("string"),
        "hypothesis": Value("string"),
        "label": ClassLabel(names=LABELS),
        "annotator_labels": List(Value("string")),
        "pair_id": Value("string"),
        "caption_id": Value("string"),
        "premise_length": Value("int32"),
    }
)


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
    return pa.table(
        {
            "uid": [f"snli:train:{n // 3}.jpg#{n % 5}r1{LABELS[label[n]][0]}{n}" for n in range(rows)],
            "content_id": [f"{a:016x}{b:016x}" for a, b in rng.integers(0, 2**62, (rows, 2)).tolist()],
            "premise": pa.array(shared).take(pa.array(premise)),
            "hypothesis": hypotheses,
            "label": label,
            "annotator_labels": [[LABELS[value]] * (1 + 4 * (n % 10 == 0)) for n, value in enumerate(label)],
            "pair_id": [f"{n // 3}.jpg#{n % 5}r1{LABELS[label[n]][0]}" for n in range(rows)],
            "caption_id": [f"{n // 3}.jpg#{n % 5}" for n in range(rows)],
            "premise_length": premise_lengths[premise].astype(np.int32),
            "length": lengths.astype(np.int32),
            "source_split": ["train"] * rows,
            "source_index": np.arange(rows, dtype=np.int32),
        }
    )


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


def default_configs(rows: int) -> list[ConfigSpec]:
    """The configs that a build of SNLI makes unless told otherwise."""
    sizes = Sizes.proportional(Sizes(549_018, 10_000, 10_000), rows)
    plans = [
        ("ll_split", "likelihood", {}, "lm_kfold"),
        ("ll_split_len", "likelihood", {"length_control": "exact"}, "lm_kfold"),
        ("ll_split_reverse", "likelihood", {"reverse": True}, "lm_kfold"),
        ("ll_split_pt", "likelihood", {}, "lm_prompt"),
        ("ll_split_pt_len", "likelihood", {"length_control": "exact"}, "lm_prompt"),
        ("length", "length", {}, None),
        ("random", "random", {"seed": 42}, None),
        ("random_2", "random", {"seed": 43}, None),
        ("random_3", "random", {"seed": 44}, None),
    ]
    return [
        ConfigSpec(name, splitter, {"sizes": sizes, **parameters}, "Benchmark.", scores, name == "ll_split")
        for name, splitter, parameters, scores in plans
    ]


def manifest(configs: dict[str, object], rows: int) -> dict[str, object]:
    return {
        "benchwright": "benchmark",
        "dataset": {"builder": "snli", "pretty_name": "Synthetic SNLI"},
        "method": "corrected",
        "choices": {},
        "source": {"kind": "sample", "read": rows, "filtered": {}, "dropped": {}, "rows": rows},
        "scores": {},
        "configs": configs,
        "audit": {"accepted": [], "findings": [], "counts": {}},
        "versions": {},
    }


class Clock:
    """Seconds spent in named parts."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def place(source: pa.Table, scores: dict[str, pa.Table]) -> list[tuple[ConfigSpec, Assignment]]:
    """The assignment of every default config."""
    rows = SplitRows(
        uids=source.column("uid").combine_chunks(),
        source_index=source.column("source_index").to_numpy(),
        lengths=source.column("length").to_numpy(),
        labels=source.column("label").to_numpy(),
        label_names=tuple(LABELS),
    )
    values = {
        name: Scores(table.column("log_likelihood").to_numpy(), table.column("lm_num_tokens").to_numpy())
        for name, table in scores.items()
    }
    specs = default_configs(source.num_rows)
    return [
        (spec, splitters.get(spec.splitter)(**spec.parameters).split(rows, values.get(spec.scores or "")))
        for spec in specs
    ]


def write_release(
    folder: Path, source: pa.Table, scores: dict[str, pa.Table], placed: list[tuple[ConfigSpec, Assignment]]
) -> None:
    """All configs and score tables as a release."""
    with ReleaseWriter(folder, "0" * 64) as writer:
        rows = SourceRows(source, FEATURES)
        pending = {
            spec.name: writer.start_config(
                spec, rows, assignment, task=NLI, scores=scores[spec.scores] if spec.scores else None
            )
            for spec, assignment in placed
        }
        configs = {"scores": writer.write_scores(scores, "Scores.")}
        configs.update({name: config.entry() for name, config in pending.items()})
        writer.finish(manifest(configs, source.num_rows))


def write_plainly(release: Path, folder: Path, clock: Clock) -> int:
    """The tables of every parquet file of `release`, written by pyarrow alone; the number of files."""
    files = sorted(release.rglob("*.parquet"))
    for file in files:
        table = pq.read_table(file).combine_chunks()
        target = folder / file.relative_to(release)
        target.parent.mkdir(parents=True, exist_ok=True)
        with clock.part("plain"):
            pq.write_table(table, target, compression="zstd")
    return len(files)


def peak_memory() -> float:
    """Largest resident size of this process so far, in MB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=PUBLISHED_ROWS)
    rows = parser.parse_args().rows
    rng = np.random.default_rng(0)
    source = source_table(rng, rows)
    scores = {"lm_prompt": score_table(rng, source), "lm_kfold": score_table(rng, source)}
    before, clock = peak_memory(), Clock()
    with tempfile.TemporaryDirectory() as scratch:
        with clock.part("splitting"):
            placed = place(source, scores)
        with clock.part("writing"):
            write_release(Path(scratch) / "release", source, scores, placed)
        peak = peak_memory()
        files = write_plainly(Path(scratch) / "release", Path(scratch) / "plain", clock)
    ratio = clock.seconds["writing"] / clock.seconds["plain"]
    report = {
        "rows": rows,
        "files": files,
        "seconds": {name: round(value, 2) for name, value in clock.seconds.items()},
        "ratio": round(ratio, 2),
        "peak_mb": round(peak),
        "peak_mb_before_writing": round(before),
    }
    print(json.dumps(report, indent=2))
    return 0 if ratio <= RATIO_LIMIT and peak < MEMORY_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
