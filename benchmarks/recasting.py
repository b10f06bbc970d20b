"""Recasting source corpora, file to table, rows a second on one core.

    python benchmarks/recasting.py [--items 20000] [--only NAME ...] [--repeats 3]
    python benchmarks/recasting.py --only drop/squad --source path/to/squad    # a corpus that is there

Writes a corpus of made-up text in each published format, with items of about the published size, and recasts
it. Counted are rows that come out (pairs of premise and hypothesis), a second of processor time: reading,
checks and the Arrow table included; the best of the repeats, and the microseconds of a row. Other work on
the machine slows processor time too: compare figures of one run, and of one recast at a time (`--only`).
Recasts that share a reader (fragments, parts of DNC, both WordNet tasks) are measured once.

Limit: 50,000 rows a second (20 microseconds a row). What a row costs is what is read for it: a choice of five
options reads five texts for two rows, an alternation (`fava`) finds one row in two sentences. Recasts that
make statements of questions by a tagger (`drop/drop`, `drop/squad`) are reported only. A question gives up to
two rows; about a third of its time goes to its tags and to the rules for its frame, a fifth to two answers in
it, the rest to reading and to the wrong answer. They have a tenth of the items: more would repeat questions,
which are read once. Real questions have more forms than the made-up ones, and several answers each: with
`--source`, a real corpus is read instead. A recast that makes no row is named, and the last line has all
rows over all of the time.

Exit code 1 if one is below the limit or makes no row.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from recasting_corpora import CORPORA
from recasting_text import Text

from benchwright.builders.curriculum.recast import recasts
from benchwright.errors import SourceError
from benchwright.faults import FaultLog

LIMIT = 50_000
TAGGED = frozenset({"drop/drop", "drop/squad"})


def rows_a_second(name: str, folder: Path, repeats: int) -> tuple[int, float]:
    """The rows that a recast makes, and the most that it made a second of processor time."""
    recast = recasts.get(name)
    best, rows = 0.0, 0
    for _ in range(repeats):
        begin = time.process_time()
        rows = recast.read(folder, FaultLog()).table.num_rows
        best = max(best, rows / (time.process_time() - begin))
    return rows, best


def measured(name: str, source: Path | None, items: int, repeats: int) -> tuple[int, float, str]:
    """Rows, rows a second, and why there are none; of `source`, or of made-up items."""
    try:
        if source is not None:
            return *rows_a_second(name, source, repeats), ""
        with tempfile.TemporaryDirectory() as work:
            CORPORA[name](Path(work), items // (10 if name in TAGGED else 1), Text(42))
            return *rows_a_second(name, Path(work), repeats), "no row is made of so few items"
    except SourceError as fault:
        return 0, 0.0, str(fault)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--only", nargs="+", choices=sorted(CORPORA), default=sorted(CORPORA))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--source", type=Path, help="the folder of the corpus of the one recast of --only")
    options = parser.parse_args()
    if options.source is not None and len(options.only) != 1:
        parser.error("--source is the corpus of one recast: name it with --only")
    missed, empty = [], []
    all_rows, seconds = 0, 0.0
    print(f"{'recast':<40}{'rows':>9}{'rows/s':>12}{'us a row':>10}")
    for name in options.only:
        rows, speed, reason = measured(name, options.source, options.items, options.repeats)
        if not rows:
            print(f"{name:<40}{rows:>9,}  {reason}")
            empty.append(name)
            continue
        all_rows, seconds = all_rows + rows, seconds + rows / speed
        tagged = name in TAGGED
        print(
            f"{name:<40}{rows:>9,}{speed:>12,.0f}{1e6 / speed:>10.1f}{'  with tagging' if tagged else ''}",
            flush=True,
        )
        if speed < LIMIT and not tagged:
            missed.append(name)
    if seconds:
        print(f"{'all':<40}{all_rows:>9,}{all_rows / seconds:>12,.0f}{1e6 * seconds / all_rows:>10.1f}")
    if missed:
        print(f"below {LIMIT:,} rows/s: {', '.join(missed)}")
    if empty:
        print(f"without a row: {', '.join(empty)}")
    return 1 if missed or empty else 0


if __name__ == "__main__":
    sys.exit(main())
