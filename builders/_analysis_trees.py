"""Constituency trees for the texts of a release: from a file, from SNLI's own files, or by a parser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import SourceError, UsageError, show
from ..eval.analyses.parsers import parsers
from ..eval.analyses.text_lengths import average
from ..eval.analyses.trees import TreeMeasures, tree_measures
from ..faults import FaultLog
from ..hashing import sha256_file
from ..progress import Stage
from ._analysis_rows import AnalysisRows, LeftOutError
from .sources.parses import SnliParses, read_parses

_MEASURES = ("max_depth", "mean_depth", "yngve")


class RowTrees:
    """Measures of the trees of each row: for every column float64 of shape (rows, 3), NaN without a tree.

    `resource` says where the trees come from and how many of the release's rows have one.
    """

    def __init__(self, rows: AnalysisRows, columns: Sequence[str], resource: dict[str, Any]) -> None:
        self.values = {name: np.full((rows.table.num_rows, len(_MEASURES)), np.nan) for name in columns}
        self._resource = resource
        self._rows = rows

    def set(self, column: str, places: int | np.ndarray, measures: TreeMeasures | None) -> None:
        """Note the measures of one text, if it has any, at the rows that have it."""
        if measures is not None:
            self.values[column][places] = (measures.max_depth, measures.mean_depth, measures.yngve)

    @property
    def resource(self) -> dict[str, Any]:
        covered = {
            name: {"rows": len(values), "parsed": int((~np.isnan(values[:, 0])).sum())}
            for name, values in self.values.items()
        }
        return {**self._resource, "coverage": covered}

    def covers_any(self) -> bool:
        """Whether some text has a tree."""
        return any(not np.isnan(values).all() for values in self.values.values())

    def by_split(self) -> dict[str, list[dict[str, Any]]]:
        """Mean and median of every measure over the rows of each split that have a tree; `of` counts all."""
        found = {}
        for column, values in self.values.items():
            lines = []
            for config, split, places in self._rows.splits:
                measured = values[places]
                measured = measured[~np.isnan(measured[:, 0])]
                if len(measured):
                    averages = {name: average(measured[:, place]) for place, name in enumerate(_MEASURES)}
                    counts = {"rows": len(measured), "of": len(places)}
                    lines.append({"config": config, "split": split, **counts, **averages})
            if lines:
                found[column] = lines
        return found


def trees_from_file(rows: AnalysisRows, columns: Sequence[str], path: str | Path) -> RowTrees:
    """Trees of a JSON Lines file, by uid and column; those of other uids and columns are passed over.

    Raises SourceError if no row of the release has a tree in it.
    """
    place = {uid: number for number, uid in enumerate(rows.table.column("uid").to_pylist())}
    faults = FaultLog()
    resource: dict[str, Any] = {"source": Path(path).name}
    trees = RowTrees(rows, columns, resource)
    entries = 0
    for uid, column, measures in read_parses(path, faults):
        entries += 1
        if column in trees.values and uid in place:
            trees.set(column, place[uid], measures)
    faults.finish()
    resource |= {"sha256": sha256_file(Path(path)), "entries": entries}
    if not trees.covers_any():
        fix = f"use uids of the release and columns of {', '.join(columns)}"
        raise SourceError("no tree belongs to a row of the release", path=path, fix=fix)
    return trees


def trees_from_snli(
    rows: AnalysisRows, columns: Sequence[str], root: str | Path, progress: Stage
) -> RowTrees:
    """Trees of SNLI's own files, by pairID; a row takes those of sentences that are equal to its own.

    Pairs that cannot be read are counted and have no trees. Raises LeftOutError if no row has any, for copies
    of SNLI mostly come without, UsageError for a release without pair ids.
    """
    if "pair_id" not in rows.table.column_names:
        raise UsageError("source holds trees for SNLI only, whose rows have pair ids; use parses or parser")
    places: dict[str, list[int]] = {}
    for number, pair_id in enumerate(rows.table.column("pair_id").to_pylist()):
        places.setdefault(pair_id, []).append(number)
    wanted = [name for name in ("premise", "hypothesis") if name in columns]
    texts = {name: rows.texts(name) for name in wanted}
    resource: dict[str, Any] = {"source": "SNLI"}
    trees = RowTrees(rows, wanted, resource)
    faults = FaultLog("drop")
    pairs = SnliParses(root, faults)
    with progress("trees of SNLI", rows.table.num_rows, "pairs") as report:
        for pair in pairs:
            for column in wanted:
                text, measures = getattr(pair, column), getattr(pair, f"{column}_measures")
                for number in places.get(pair.pair_id, ()):
                    if texts[column].at(number) == text:
                        trees.set(column, number, measures)
            report(1)
    if not trees.covers_any():
        raise LeftOutError("no tree in the files of the source belongs to a row; give SNLI's own files")
    resource["files"] = [{"name": file.name, "sha256": file.sha256} for file in pairs.files]
    resource["unread"] = dict(sorted(faults.dropped.items()))
    return trees


def trees_by_parser(rows: AnalysisRows, columns: Sequence[str], name: str, progress: Stage) -> RowTrees:
    """Trees that a registered parser makes, of each distinct text once.

    Raises UsageError for an unknown parser, PrerequisiteError for one that is not installed.
    """
    parser = parsers.get(name)()
    trees = RowTrees(rows, columns, {"parser": name, **parser.identity()})
    for column in columns:
        texts = rows.texts(column)
        # The rows of each text, text after text.
        order = np.argsort(texts.codes, kind="stable")
        bounds = np.searchsorted(texts.codes[order], np.arange(len(texts.texts) + 1))
        with progress(f"parses of {column}", len(texts.texts), "texts") as report:
            for number, parse in enumerate(parser.parse(texts.texts)):
                try:
                    measures = None if parse is None else tree_measures(parse)
                except ValueError as error:
                    raise UsageError(
                        f"parser {name} gave no bracketed tree ({error}): {show(parse)}"
                    ) from None
                trees.set(column, order[bounds[number] : bounds[number + 1]], measures)
                report(1)
    return trees
