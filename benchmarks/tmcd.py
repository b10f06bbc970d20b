"""TMCD splits: compound divergence against time, for our swaps and for the published ones.

    python benchmarks/tmcd.py [--source FOLDER] [--seed 1] [--limit 30] [--quick]

FOLDER holds Spider's train_spider.json and dev.json, plain or gzipped; without it, as many made-up programs
are split (Zipf-distributed query shapes over many small databases). Three contenders start from the same
random sides with balanced atoms:

    best         TmcdSplitter's default mode
    reference    its reference mode: the published swaps, list for list, on the same counts as `best`
    published    the same swaps the published way: every candidate's divergence anew from two counters

The last is stopped after `--limit` processor seconds; its whole run is estimated from its seconds an
iteration so far and the iterations that `reference` took, which is less than it would take: later iterations
try more candidates. Where the divergence of `best` falls, it has set out from a smoothed one, and goes back
if that ends lower. Then made-up corpora of 1,000, 8,000 and 64,000 programs show how cost grows. All times
are processor seconds with the setting up of counts, without that of the random sides. Limits: `best` ends
higher than `reference` and is 50 times faster than `published`. Exit code 1 if one is missed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from benchwright.splitting._tmcd_best import best_swaps
from benchwright.splitting._tmcd_reference import MAX_ITERATIONS, first_improvements
from benchwright.splitting._tmcd_state import Bipartition
from benchwright.splitting._units import Units
from benchwright.splitting.constraints import balance_atoms
from benchwright.splitting.divergence import COMPOUND_ALPHA, chernoff_divergence, total_counts
from benchwright.text.sql_grammar import SPIDER

SPIDER_ROWS = 8_034
EVALUATION_SHARE = 2_068 / 8_034
SPEED_LIMIT = 50
MARGIN = 1e-12
"""Rises that rounding could make are none."""


@dataclass(frozen=True)
class Start:
    """A corpus of programs with its random sides, atoms balanced."""

    compounds: list[Mapping[str, int]]
    atoms: list[frozenset[str]]
    train: list[int]
    evaluation: list[int]

    @classmethod
    def of(
        cls, compounds: list[Mapping[str, int]], atoms: list[frozenset[str]], evaluation: int, seed: int
    ) -> Start:
        order = list(range(len(compounds)))
        Random(seed).shuffle(order)
        cut = len(order) - evaluation
        balanced = balance_atoms(order[:cut], order[cut:], atoms)
        return cls(compounds, atoms, balanced.train, balanced.evaluation)

    def state(self) -> Bipartition:
        units = Units.of(None, len(self.compounds))
        trains = np.isin(np.arange(len(self.compounds)), self.train)
        return Bipartition(units, self.compounds, self.atoms, trains)


class Trace:
    """Divergences as they are reached, with the processor seconds since the start. Ends a run at a limit."""

    def __init__(self, limit: float = float("inf")) -> None:
        self.points: list[tuple[float, float]] = []
        self.limit = limit
        self.start = time.process_time()

    def __call__(self, divergence: float) -> None:
        self.points.append((time.process_time() - self.start, divergence))

    @property
    def seconds(self) -> float:
        return self.points[-1][0]

    @property
    def divergence(self) -> float:
        return self.points[-1][1]

    def spent(self) -> bool:
        return time.process_time() - self.start > self.limit

    def until(self, divergence: float) -> float:
        """Seconds until the divergence was reached; infinite if it was not."""
        return next((seconds for seconds, reached in self.points if reached >= divergence), float("inf"))


def best(start: Start) -> Trace:
    trace = Trace()
    state = start.state()
    best_swaps(state, sys.maxsize, trace)
    trace(state.divergence())
    return trace


def reference(start: Start, max_iterations: int = MAX_ITERATIONS) -> Trace:
    trace = Trace()
    first_improvements(
        start.state(), np.array(start.train), np.array(start.evaluation), max_iterations, trace
    )
    return trace


def published(start: Start, limit: float, max_iterations: int = MAX_ITERATIONS) -> Trace:
    """First improvements, every divergence computed from counters of both whole sides."""
    trace, train, evaluation = Trace(limit), list(start.train), list(start.evaluation)
    compounds, atoms = start.compounds, start.atoms

    def first(rows: list[int], source: Counter[str], target: Counter[str], leaves: bool) -> int | None:
        for row in rows:
            if trace.spent():
                return None
            if leaves and not rare.isdisjoint(atoms[row]):
                continue
            rest, grown = Counter(source), Counter(target)
            rest.subtract(compounds[row])
            grown.update(compounds[row])
            sides = (rest, grown) if leaves else (grown, rest)
            if chernoff_divergence(*sides, COMPOUND_ALPHA) > before + MARGIN:
                source.subtract(compounds[row])
                target.update(compounds[row])
                return row
        return None

    for _ in range(max_iterations):
        in_train, in_evaluation = (
            total_counts(compounds[row] for row in rows) for rows in (train, evaluation)
        )
        before = chernoff_divergence(in_train, in_evaluation, COMPOUND_ALPHA)
        trace(before)
        having = Counter(atom for row in train for atom in atoms[row])
        rare = {atom for atom, count in having.items() if count <= 1}
        leaving = first(train, in_train, in_evaluation, True)
        entering = None if leaving is None else first(evaluation, in_evaluation, in_train, False)
        if leaving is None or entering is None:
            break
        train.remove(leaving)
        evaluation.remove(entering)
        train.append(entering)
        evaluation.append(leaving)
    return trace


def read_spider(folder: Path, rows: int, seed: int) -> Start:
    """Queries of train and dev that the paper's grammar reads, as the published code spells them."""
    queries: list[str] = []
    for stem in ("train_spider", "dev"):
        path = next((path for path in sorted(folder.glob(f"{stem}.json*"))), None)
        if path is None:
            sys.exit(f"no file {stem}.json in {folder}")
        content = path.read_bytes()
        records = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
        queries += [" ".join(record["query"].lower().split()) for record in records]
    programs = [SPIDER.analyse(query) for query in queries[:rows]]
    read = [(p.compounds, p.atoms) for p in programs if p.compounds is not None and p.atoms is not None]
    compounds, atoms = [compounds for compounds, _ in read], [atoms for _, atoms in read]
    return Start.of(compounds, atoms, round(EVALUATION_SHARE * len(programs)), seed)


def made_up(rows: int, seed: int) -> Start:
    """Programs of Zipf-distributed shapes that put names of one of many databases into slots."""
    rng = np.random.default_rng(seed)
    zipf = 1 / np.arange(1, 401)
    parts = [rng.choice(400, 15, replace=False, p=zipf / zipf.sum()).tolist() for _ in range(1_000)]
    slots = rng.integers(0, 60, (1_000, 4)).tolist()
    shapes = np.minimum(rng.zipf(1.3, rows) - 1, 999).tolist()
    databases = rng.integers(0, max(1, rows // 50), rows).tolist()
    names = np.minimum(rng.zipf(1.5, (rows, 4)) - 1, 14).tolist()
    compounds: list[Mapping[str, int]] = []
    atoms: list[frozenset[str]] = []
    for shape, database, chosen in zip(shapes, databases, names, strict=True):
        filled = [f"slot{slot} d{database}.{name}" for slot, name in zip(slots[shape], chosen, strict=True)]
        compounds.append(Counter([f"part{part}" for part in parts[shape]] + filled))
        words = [word for call in filled for word in call.split()]
        atoms.append(frozenset([*(f"word{part % 60}" for part in parts[shape]), *words]))
    return Start.of(compounds, atoms, round(EVALUATION_SHARE * rows), seed)


def compare(start: Start, limit: float) -> list[str]:
    """Print divergence against time and the ratios; return what missed its limit."""
    print(f"{len(start.train)} train and {len(start.evaluation)} evaluation programs\n")
    runs = {"best": best(start), "reference": reference(start), "published": published(start, limit)}
    for name, trace in runs.items():
        print(f"{name}: processor seconds, divergence")
        picked = {0, len(trace.points) - 1} | {len(trace.points) * tenth // 10 for tenth in range(10)}
        for seconds, divergence in (trace.points[place] for place in sorted(picked)):
            print(f"{seconds:10.3f} {divergence:9.6f}")
    ours, slow, loop = runs.values()
    iterations = len(slow.points)
    an_iteration = loop.seconds / max(1, len(loop.points) - 1)
    estimated = an_iteration * iterations
    print(
        f"\nbest        {ours.seconds:9.2f} s, divergence {ours.divergence:.6f}, "
        f"{ours.until(slow.divergence):.2f} s until that of reference"
        f"\nreference   {slow.seconds:9.2f} s, divergence {slow.divergence:.6f}, {iterations} iterations "
        f"of {1e3 * slow.seconds / iterations:.2f} ms"
        f"\npublished   {estimated:9.2f} s estimated, at {1e3 * an_iteration:.2f} ms an iteration"
        f"\nbest against reference: divergence {ours.divergence / slow.divergence:.2f} times, "
        f"{slow.seconds / ours.seconds:.1f} times faster, "
        f"{slow.seconds / ours.until(slow.divergence):.1f} times until its divergence"
        f"\nbest against published: {estimated / ours.seconds:.0f} times faster"
    )
    misses = []
    if ours.divergence <= slow.divergence:
        misses.append("best ends no higher than reference")
    if estimated < SPEED_LIMIT * ours.seconds:
        misses.append(f"best is only {estimated / ours.seconds:.0f} times faster, limit {SPEED_LIMIT}")
    return misses


def grow(sizes: tuple[int, ...]) -> None:
    """Print what a corpus costs by its size; the slow contenders run a few iterations only."""
    titles = ("programs", "best: s", "looks", "divergence", "reference", "published")
    print("\n" + " ".join(f"{title:>10}" for title in titles))
    for size in sizes:
        start = made_up(size, 1)
        trace = best(start)
        a_few = (reference(start, 20).points, published(start, float("inf"), 4).points)
        costs = [(points[-1][0] - points[0][0]) / max(1, len(points) - 1) for points in a_few]
        print(
            f"{size:10} {trace.seconds:10.2f} {len(trace.points):10} {trace.divergence:10.6f} "
            + " ".join(f"{1e3 * cost:7.1f} ms" for cost in costs),
            flush=True,
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--source", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=30.0)
    parser.add_argument("--quick", action="store_true", help="1,000 programs, and growth to 4,000")
    options = parser.parse_args()
    rows = 1_000 if options.quick else SPIDER_ROWS
    limit = min(options.limit, 3.0) if options.quick else options.limit
    start = (
        made_up(rows, options.seed)
        if options.source is None
        else read_spider(options.source, rows, options.seed)
    )
    misses = compare(start, limit)
    grow((500, 1_000, 4_000) if options.quick else (1_000, 8_000, 64_000))
    print("\n" + ("\n".join(misses) if misses else "within limits"))
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
