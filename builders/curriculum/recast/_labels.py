"""Answers that stand in a file of their own beside the items, one a line (`train-labels.lst`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ....errors import SourceError
from ....faults import FaultLog
from ...base import SourceFile
from ...sources.files import InputFile, SourceFolder
from ...sources.records import Record, Records, text_lines
from ...sources.splits import missing_notes

LABEL = "label"


class LabelledRecords:
    """Iterates over (split, record) of JSON Lines files whose labels stand in another file, line by line.

    `names` gives for each split the name of the items' file and of its labels' file; the label becomes the
    field `label` of the record, as text; blank lines at the end of a labels' file are no labels. Afterwards
    `files` and `notes` say what was read. Raises SourceError for a split of which one file is missing, for a
    blank line between labels, if the numbers of lines differ, and if no split is there.
    """

    def __init__(self, root: Path, names: Mapping[str, tuple[str, str]], faults: FaultLog) -> None:
        self._root, self._names, self._faults = root, names, faults
        self.files: list[SourceFile] = []
        self.notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[tuple[str, Record]]:
        folder = SourceFolder(self._root)
        read = []
        for split, (name, labels_name) in self._names.items():
            file, labels_file = folder.find(name), folder.find(labels_name)
            if file is None and labels_file is None:
                continue
            if file is None or labels_file is None:
                missing = name if file is None else labels_name
                raise SourceError(f"no {missing}", path=self._root, fix="items and labels come in two files")
            labels = _read_labels(labels_file)
            records = Records(file, self._faults)
            for record in records:
                if record.row < len(labels):
                    record.fields[LABEL] = labels[record.row]
                    yield split, record
            if records.rows != len(labels):
                raise SourceError(
                    f"{len(labels)} labels for {records.rows} items",
                    path=labels_file.shown,
                    fix=f"give one label a line for every line of {name}",
                )
            self.files += [file.describe(records.rows), labels_file.describe(len(labels))]
            read.append(split)
        if not read:
            wanted = ", ".join(name for both in self._names.values() for name in both)
            raise SourceError(
                "no file of this corpus", path=self._root, fix=f"its published files are: {wanted}"
            )
        self.notes = missing_notes(read, list(self._names))


def _read_labels(file: InputFile) -> list[str]:
    labels: list[str] = []
    blank = None
    for number, line in text_lines(file):
        text = line.strip()
        if not text:
            blank = blank or number
        elif blank is not None:
            # Without its line every later label would belong to the item before.
            fix = "give the label of this line's item, or take item and line out"
            raise SourceError("a blank line between labels", path=file.shown, line=blank, fix=fix)
        else:
            labels.append(text)
    return labels
