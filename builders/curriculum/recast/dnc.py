"""The Diverse NLI Collection: pairs recast from VerbNet, VerbCorner, named entities, sentiment, puns, ...

Source: "Collecting Diverse Natural Language Inference Problems for Sentence Representation Evaluation"
(D18-1007). Format: github.com/decompositional-semantics-initiative/DNC, README.md: below train, dev and test
each part has recast_PART_data.json (more may follow "data": the training data of ner are cut in two files):
one list of objects with context, hypothesis, label, label-set, binary-label, split, type-of-inference and
pair-id; those of kg_relations have labels from 1 to 5. The metadata files are not needed. The folder is
`dnc`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath

from ....errors import SourceError
from ....faults import FaultLog
from ...base import SourceFile
from ...sources.files import InputFile, SourceFolder
from ...sources.records import Record, Records
from ...sources.splits import SOURCE_SPLITS, missing_notes, source_split
from .base import ENTAILED, NOT_ENTAILED, Item, Pair, PairCollector, Recast, RecastRows, recast_records
from .rules import fingerprint

_SPLITS: dict[str | int, str] = {split: split for split in SOURCE_SPLITS}
# Pairs of one source sentence differ in the name of who speaks or hears, which the recast put in.
_SPEAKER = re.compile(
    r"(?P<before>When asked about .+?, )\S+(?P<said> said ?, ')|\S+(?P<heard> heard that )", re.DOTALL
)


def recast_dnc(root: Path, faults: FaultLog, *, parts: Sequence[str]) -> RecastRows:
    """The pairs of some parts as published; labels are the binary ones.

    Pairs of one context are one group; names that the recasting put in ("NAME heard that ...") do not count.
    """
    source = _PartRecords(root, parts, faults)
    pairs = PairCollector("dnc", "as_published", faults)

    def item(_split: str, record: Record) -> Item:
        context = record.filled_text("context")
        pair = Pair(context, record.filled_text("hypothesis"), _label(record))
        return Item(_pair_id(record), [pair], fingerprint(_SPEAKER.sub(_without_name, context, count=1)))

    recast_records(source, pairs, item)
    return pairs.finish(source.files, source.notes)


class _PartRecords:
    """Iterates over (source split, record): the split as the record says, files of train first."""

    def __init__(self, root: Path, parts: Sequence[str], faults: FaultLog) -> None:
        patterns = _patterns(parts)
        self._faults = faults
        found = [
            file
            for file in SourceFolder(root).files
            if any(fnmatchcase(PurePosixPath(file.plain_name).name, pattern) for pattern in patterns)
        ]
        if not found:
            fix = f"its published files are: {', '.join(patterns)}"
            raise SourceError("no file of this corpus", path=root, fix=fix)
        self._found = sorted(found, key=_place_of_split)
        self.files: list[SourceFile] = []
        self.notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[tuple[str, Record]]:
        met: set[str] = set()
        for file in self._found:
            records = Records(file, self._faults)
            for record in records:
                try:
                    split = record.label("split", _SPLITS)
                except SourceError as fault:
                    self._faults.bad(fault)
                    continue
                met.add(split)
                yield split, record
            self.files.append(file.describe(records.rows))
        self.notes = missing_notes(met, SOURCE_SPLITS)


def _place_of_split(file: InputFile) -> int:
    split = source_split(file.name)
    return SOURCE_SPLITS.index(split) if split else len(SOURCE_SPLITS)


def _patterns(parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"recast_{part}_data*.json" for part in parts)


def _label(record: Record) -> str:
    """The binary label; a label by name must agree with it. Raises SourceError."""
    binary = record.fields.get("binary-label")
    if type(binary) is not bool:
        shown = "null" if binary is None else binary
        raise record.fault("wrong type", "binary-label", value=shown, fix="give true or false")
    label = ENTAILED if binary else NOT_ENTAILED
    named = record.fields.get("label")
    if isinstance(named, str) and named != label:
        fix = f"binary-label says {label}; make them agree"
        raise record.fault("two labels that differ", "label", value=named, fix=fix)
    return label


def _pair_id(record: Record) -> str:
    number = record.fields.get("pair-id")
    if type(number) is not int:
        shown = "null" if number is None else number
        raise record.fault("wrong type", "pair-id", value=shown, fix="give a whole number")
    return str(number)


def _without_name(match: re.Match[str]) -> str:
    return "".join(match.group(name) or "" for name in ("before", "said", "heard"))


def _recast(phenomenon: str, *parts: str, differs: str) -> Recast:
    return Recast(
        phenomenon=phenomenon,
        corpus="dnc",
        files=_patterns(parts),
        rule="Pairs as published; the binary label true is entailed, false is not-entailed.",
        recaster=partial(recast_dnc, parts=parts),
        differs=differs,
    )


_SAMPLE = "All pairs in their published splits; the release has a sample of them in two splits."
_SPLITS_KEPT = "All three published splits; the release has train and one of the others."
NER = _recast("ner", "ner", differs=_SAMPLE)
VERBNET = _recast("verbnet", "verbnet", differs=_SPLITS_KEPT)
VERBCORNER = _recast("verbcorner", "verbcorner", differs=_SPLITS_KEPT)
SENTIMENT = _recast("sentiment", "sentiment", differs=_SPLITS_KEPT)
KG_RELATIONS = _recast("kg_relations", "kg_relations", differs=_SPLITS_KEPT)
PUNS = _recast("puns", "puns", differs=_SPLITS_KEPT)
TRANSITIVE = _recast("transitive", "factuality", "megaveridicality", differs=_SAMPLE)
