"""Recasting source corpora, file to table, rows a second on one core.

    python benchmarks/recasting.py [--items 20000] [--only NAME ...] [--repeats 3]

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
which are read once. A recast that makes no row is named.

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


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--only", nargs="+", choices=sorted(CORPORA), default=sorted(CORPORA))
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    missed, empty = [], []
    print(f"{'recast':<40}{'rows':>9}{'rows/s':>12}{'us a row':>10}")
    for name in options.only:
        tagged = name in TAGGED
        with tempfile.TemporaryDirectory() as work:
            folder = Path(work)
            CORPORA[name](folder, options.items // (10 if tagged else 1), Text(42))
            reason = "no row is made of so few items"
            try:
                rows, speed = rows_a_second(name, folder, options.repeats)
            except SourceError as fault:
                rows, speed, reason = 0, 0.0, fault.reason
        if not rows:
            print(f"{name:<40}{rows:>9,}  {reason}")
            empty.append(name)
            continue
        print(
            f"{name:<40}{rows:>9,}{speed:>12,.0f}{1e6 / speed:>10.1f}{'  with tagging' if tagged else ''}",
            flush=True,
        )
        if speed < LIMIT and not tagged:
            missed.append(name)
    if missed:
        print(f"below {LIMIT:,} rows/s: {', '.join(missed)}")
    if empty:
        print(f"without a row: {', '.join(empty)}")
    return 1 if missed or empty else 0


if __name__ == "__main__":
    sys.exit(main())
