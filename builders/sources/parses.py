"""Constituency parses that come with a corpus or in a user's file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ...errors import SourceError
from ...eval.analyses.trees import TreeMeasures, tree_measures
from ...faults import FaultLog
from ..base import SourceFile
from .files import InputFile, SourceFolder
from .records import Record, Records
from .splits import split_files

# Premises stand in three pairs, one after another.
_measured = lru_cache(maxsize=4096)(tree_measures)
_SNLI_FORMATS = ("jsonl", "json", "txt", "tsv", "parquet")


class RowParse(NamedTuple):
    """The parse of one text of a release, measured; None for a parse without a word."""

    uid: str
    column: str
    measures: TreeMeasures | None


class PairParses(NamedTuple):
    """Both parses of one SNLI pair, measured; None for a parse without a word."""

    pair_id: str
    premise: str
    hypothesis: str
    premise_measures: TreeMeasures | None
    hypothesis_measures: TreeMeasures | None


def read_parses(path: str | Path, faults: FaultLog) -> Iterator[RowParse]:
    """Read JSON Lines of {"uid", "column", "parse"}; a text of several sentences has several trees in it.

    Records that are no parse go to `faults`. Raises SourceError for a file that cannot be used.
    """
    file = InputFile(Path(path), Path(path).name)
    for record in Records(file, faults):
        try:
            yield RowParse(record.text("uid"), record.text("column"), _measures(record, "parse"))
        except SourceError as fault:
            faults.bad(fault)


class SnliParses:
    """The parses in SNLI's own files (`snli_1.0_train.jsonl` and the like; copies often lack them).

    Iterates over the pairs; `files` are those that were read. Files without parses are passed over. Records
    that are no pair with parses go to `faults`.
    """

    def __init__(self, root: str | Path, faults: FaultLog) -> None:
        self._root, self._faults = Path(root), faults
        self.files: list[SourceFile] = []

    def __iter__(self) -> Iterator[PairParses]:
        chosen = split_files(SourceFolder(self._root), _SNLI_FORMATS, published_prefix="snli_1.0_")
        for files in chosen.files.values():
            for file in files:
                yield from self._pairs(file)

    def _pairs(self, file: InputFile) -> Iterator[PairParses]:
        records = Records(file, self._faults)
        for record in records:
            if not {"pairID", "sentence1_parse", "sentence2_parse"} <= record.fields.keys():
                if record.row == 0:
                    return
                self._faults.bad(record.fault("a pair without parses", fix="take it out"))
                continue
            try:
                yield _pair(record)
            except SourceError as fault:
                self._faults.bad(fault)
        self.files.append(file.describe(records.rows))


def _pair(record: Record) -> PairParses:
    premise, hypothesis = (record.text(field) for field in ("sentence1", "sentence2"))
    measures = [_measures(record, field) for field in ("sentence1_parse", "sentence2_parse")]
    return PairParses(record.text("pairID"), premise, hypothesis, *measures)


def _measures(record: Record, field: str) -> TreeMeasures | None:
    parse = record.text(field)
    try:
        return _measured(parse)
    except ValueError as error:
        fix = "give trees like (S (NP (PRP I)) (VP (VBP see)))"
        raise record.fault(f"not a bracketed tree ({error})", field, value=parse, fix=fix) from None
