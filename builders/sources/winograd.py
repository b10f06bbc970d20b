"""Winograd-style test sets in their published forms, as one table.

Read are the Winograd Schema Challenge (`WSCollection.xml`; its first 273 schemas as text, JSON Lines and
tab-separated), DPR, WinoGrande, KnowRef, PDP, WinoGender, and the judgements on one candidate of SuperGLUE's
WSC and of CLUEWSC2020 (Chinese). Which form and which set a file has is told from its content and its path.

Sources: "The Winograd Schema Challenge" (Levesque, Davis and Morgenstern, 2012); "Resolving Complex Cases of
Definite Pronouns" (Rahman and Ng, 2012); WinoGrande (1907.10641); KnowRef (1811.01747); "Gender Bias in
Coreference Resolution" (1804.09301); SuperGLUE (1905.00537); CLUE (2004.05986); METHODS part D.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from ...errors import SourceError, UsageError
from ...faults import FaultLog
from ...registry import closest
from ...wording import plural
from ..base import SourceFile
from .files import InputFile, SourceFolder
from .records import Records, text_lines
from .splits import SOURCE_SPLITS, source_split
from .winograd_forms import FORMS, MASK, PAIR_COLUMNS, Instance, check_instance
from .winograd_records import twin_groups

INSTANCES_SCHEMA = pa.schema(
    [
        ("uid", pa.string()),
        ("text", pa.string()),
        ("pronoun", pa.string()),
        ("pronoun_loc", pa.int32()),
        ("options", pa.list_(pa.string())),
        ("label", pa.int64()),
        ("pair_id", pa.string()),
        ("published_text", pa.string()),
        ("source_dataset", pa.string()),
        ("source_split", pa.string()),
        ("source_index", pa.int32()),
    ]
)
"""One row an instance: `text[pronoun_loc:]` begins with `pronoun`, in characters.

`pronoun` is `_` where a release has only blanks; a text may then have more of them, which stand for the same
pronoun and are filled alike. `label` is the number of the right option, null where the release does not say;
where there is one option, 1 if the pronoun stands for it, else 0. `pair_id` is shared by twins (rows of one
text and pronoun, where candidates are judged one by one). `published_text` is the sentence that the published
search took, null where the release has none. `source_index` counts the instances of a split from 0.
"""

DATASETS = (
    "wsc",
    "wsc273",
    "superglue_wsc",
    "dpr",
    "winogrande",
    "knowref",
    "pdp",
    "winogender",
    "cluewsc2020",
)
JUDGED = ("superglue_wsc", "cluewsc2020")
"""The sets whose rows have one option and a judgement on it."""

_WSC273 = 273
# What a part of a path says of the set, the first that matches; the nearest part to the file counts first.
_NAMES = (
    (re.compile(r"clue"), "cluewsc2020"),
    (re.compile(r"super.?glue"), "superglue_wsc"),
    (re.compile(r"winogrande"), "winogrande"),
    (re.compile(r"winogender"), "winogender"),
    (re.compile(r"knowref"), "knowref"),
    (re.compile(r"^wscollection"), "wsc"),
    (re.compile(r"wsc.?273"), "wsc273"),
    (re.compile(r"(?<![a-z])pdp"), "pdp"),
    (re.compile(r"(?<![a-z])(?:dpr|wscr|definite.?pronoun)|^(?:train|test)\.c\."), "dpr"),
)
_OF_FORM = {
    "xml": "wsc",
    "blank": "winogrande",
    "span": "superglue_wsc",
    "bracket": "knowref",
    "gender": "winogender",
}
_FORM_OF_SET = {"cluewsc2020": "span", "superglue_wsc": "span", "winogender": "gender"}
# Enough for `snapshots/COMMIT/data/` in the Hub client's cache, with the repository's name above it.
_PARTS_OF_PATH = 6
# Sets whose own ids are unique and say more than a number.
_HAVE_IDS = ("superglue_wsc", "winogrande", "winogender", "cluewsc2020")
_HAVE_NO_TWINS = ("knowref", "pdp")
_TWO_BY_TWO = ("dpr",)
_SIZES = ("debiased", "xl", "l", "m", "s", "xs")
_SIZE = re.compile(r"[_-](debiased|xl|l|m|s|xs)\.")
_PEEK = 1 << 16


@dataclass(frozen=True)
class FoundSet:
    """One file that holds a split (train, dev, test) of a test set in one of FORMS.

    `first` bounds the instances that are read of it: WSC273 is the first 273 of `WSCollection.xml`.
    """

    dataset: str
    split: str
    form: str
    file: InputFile
    first: int | None = None


@dataclass(frozen=True)
class WinogradSource:
    """Instances by set (in the order of DATASETS), split (train, dev, test) and place in the file.

    `instances` has INSTANCES_SCHEMA; `read` counts them and the ones that were dropped; `notes` say which
    copies of a set were passed over and which sets have no labels.
    """

    instances: pa.Table
    files: tuple[SourceFile, ...]
    read: int
    notes: tuple[str, ...] = ()


def read_winograd(
    root: Path, faults: FaultLog, *, dataset: str | None = None, form: str | None = None
) -> WinogradSource:
    """Read every test set in a folder, zip archive or file, or the one called `dataset`.

    For a single file, `dataset` and `form` say what it is, where its path and content do not. A split that
    is there in several forms is read from the one that has the pronoun (see FORMS), and `published_text` is
    taken from its tab-separated copy, if both have as many instances; WSC273 is read
    from `WSCollection.xml` where that is there, too.

    Raises UsageError for an unknown name; SourceError for a folder without a test set and for a file that
    cannot be used as a whole; SourceErrors for bad instances, as `faults` has it.
    """
    for given, known in ((dataset, DATASETS), (form, tuple(FORMS))):
        if given is not None and given not in known:
            raise UsageError(f"unknown test set or form {given!r}; {closest(given, known)}")
    if form is not None and not root.is_file():
        raise UsageError("form is for a single file; give one, or leave form out")
    found = _found(root, dataset, form)
    chosen: dict[tuple[str, str], list[FoundSet]] = {}
    for each in found:
        if dataset in (None, each.dataset):
            chosen.setdefault((each.dataset, each.split), []).append(each)
    if not chosen:
        there = ", ".join(sorted({each.dataset for each in found}))
        raise SourceError("no such test set", path=root, value=dataset, fix=f"there are: {there}")
    reader = _Reader(faults)
    for copies in chosen.values():
        reader.add(copies)
    faults.finish()
    return reader.source()


def find_winograd(root: Path) -> list[FoundSet]:
    """Every file of a test set below `root`, by set, split and form, the best copy of each split first.

    Files that are none are passed over. Raises SourceError if there is none at all, and for a file of a
    known form whose path does not say which set it is.
    """
    return _found(root, None, None)


def _found(root: Path, dataset: str | None, form: str | None) -> list[FoundSet]:
    files = SourceFolder(root).files
    found = []
    for file in files:
        kind = form or _form_of(file, alone=len(files) == 1)
        if kind is not None:
            name = dataset if dataset and len(files) == 1 else _dataset_of(file, kind)
            found.append(FoundSet(name, source_split(file.name) or "test", kind, file))
    if not found:
        raise SourceError(
            "no Winograd-style test set found",
            path=root,
            fix=f"known are {', '.join(DATASETS)} as published: XML, JSON Lines, text or tab-separated",
        )
    named = {each.dataset for each in found} | {dataset}
    for each in list(found):
        if each.dataset == "wsc" and each.form == "xml" and "wsc273" in named:
            found.append(replace(each, dataset="wsc273"))
    found = [
        replace(each, first=_WSC273) if (each.dataset, each.form) == ("wsc273", "xml") else each
        for each in found
    ]
    return sorted(found, key=_order)


def _order(found: FoundSet) -> tuple[int, int, int, int, int, str]:
    size = _SIZE.search(found.file.plain_name)
    return (
        DATASETS.index(found.dataset),
        SOURCE_SPLITS.index(found.split),
        list(FORMS).index(found.form),
        _SIZES.index(size.group(1)) if size else 0,
        found.file.name.count("/"),
        found.file.name,
    )


def _form_of(file: InputFile, *, alone: bool) -> str | None:
    """The form that a file has; None if it has none. A file that cannot be read counts if it is alone."""
    try:
        if file.format == "xml":
            with file.open() as stream:
                return "xml" if b"<schema" in stream.read(_PEEK) else None
        if file.format in ("jsonl", "ndjson", "json", "parquet"):
            return _form_of_fields(next(iter(Records(file, FaultLog("drop"))), None))
        if file.format in ("tsv", "txt"):
            return _form_of_lines(file)
    except SourceError:
        if alone:
            raise
    return None


def _form_of_fields(record: Any) -> str | None:
    fields = set() if record is None else set(record.fields)
    for form, names in (
        ("blank", {"sentence", "option1", "option2"}),
        ("span", {"text", "target"}),
        ("bracket", {"sentence_with_pronoun", "candidate0", "candidate1"}),
    ):
        if names <= fields:
            return form
    return None


def _form_of_lines(file: InputFile) -> str | None:
    lines: list[str] = []
    for number, line in text_lines(file):
        if line.strip():
            lines.append(line.strip())
        if number >= 5:
            break
    columns = set(lines[0].split("\t")) if lines else set()
    if set(PAIR_COLUMNS) <= columns:
        return "pair"
    if {"sentid", "sentence"} <= columns:
        return "gender"
    if len(lines) != 4 or lines[3].lower() not in (option.strip().lower() for option in lines[2].split(",")):
        return None
    return "masked" if lines[1] == MASK else "block"


def _dataset_of(file: InputFile, form: str) -> str:
    """The set that a path speaks of, else the only one of that form. Raises SourceError if there is none."""
    parts = [*file.path.absolute().parts, *(file.member or "").split("/")]
    for part in reversed(parts[-_PARTS_OF_PATH:]):
        for pattern, name in _NAMES:
            if pattern.search(part.lower()) and _FORM_OF_SET.get(name, form) == form:
                return name
    if form not in _OF_FORM:
        raise SourceError(
            "which test set this is cannot be told",
            path=file.shown,
            fix=f"name the file or its folder after it: {', '.join(DATASETS)}",
        )
    return _OF_FORM[form]


class _Reader:
    """Reads the chosen copies of each split, one after another."""

    def __init__(self, faults: FaultLog) -> None:
        self._faults = faults
        self._rows: list[dict[str, Any]] = []
        self._files: dict[str, SourceFile] = {}
        self._notes: list[str] = []
        self._read = 0

    def source(self) -> WinogradSource:
        table = pa.Table.from_pylist(self._rows, schema=INSTANCES_SCHEMA)
        return WinogradSource(table, tuple(self._files.values()), self._read, tuple(self._notes))

    def add(self, copies: list[FoundSet]) -> None:
        """Read the first of the copies of one split, and the published texts of another one."""
        first, *others = copies
        before = sum(self._faults.dropped.values())
        numbered = list(self._instances(first, self._faults))
        self._read += len(numbered) + sum(self._faults.dropped.values()) - before
        instances = [instance for _, instance in numbered]
        published = next((other for other in others if other.form == "pair"), None)
        if published is not None:
            instances = self._with_published(first, instances, published)
        for other in others:
            if other is not published:
                self._notes.append(f"not read, another copy: {other.file.name}")
        if instances and all(instance.label is None for instance in instances):
            self._notes.append(f"{first.dataset} {first.split} has no labels: {first.file.name}")
        self._rows += _rows(first, [number for number, _ in numbered], instances)

    def _instances(self, found: FoundSet, faults: FaultLog) -> Iterator[tuple[int, Instance]]:
        """The good instances of a file with their numbers among all of it."""
        form = FORMS[found.form](found.file, faults)
        sizes = form.options if found.dataset == "pdp" else (form.options[0], min(form.options[1], 2))
        for number, record in enumerate(form):
            if found.first is not None and number >= found.first:
                continue
            try:
                instance = form.instance(record)
                check_instance(record, instance, sizes)
            except SourceError as fault:
                faults.bad(fault)
                continue
            yield number, instance
        self._files.setdefault(found.file.name, found.file.describe(form.rows))

    def _with_published(self, found: FoundSet, instances: list[Instance], other: FoundSet) -> list[Instance]:
        faults = FaultLog("drop")
        copies = [instance for _, instance in self._instances(other, faults)]
        if len(copies) != len(instances) or faults.dropped:
            self._files.pop(other.file.name, None)
            self._notes.append(
                f"published texts not taken, {plural(len(copies), 'instance')} where {found.file.name} has "
                f"{len(instances)}: {other.file.name}"
            )
            return instances
        return [
            instance._replace(published_text=copy.published_text)
            for instance, copy in zip(instances, copies, strict=True)
        ]


def _rows(found: FoundSet, numbers: list[int], instances: list[Instance]) -> Iterator[dict[str, Any]]:
    prefix = f"{found.dataset}:{found.split}:"
    names = [instance.source_id for instance in instances]
    use_ids = found.dataset in _HAVE_IDS and None not in names and len(set(names)) == len(names)
    uids = [
        prefix + (str(name) if use_ids else str(number)) for number, name in zip(numbers, names, strict=True)
    ]
    pairs = _pairs(found.dataset, instances, numbers, uids)
    for number, uid, pair, instance in zip(numbers, uids, pairs, instances, strict=True):
        yield {
            "uid": uid,
            "text": instance.text,
            "pronoun": instance.pronoun,
            "pronoun_loc": instance.pronoun_loc,
            "options": list(instance.options),
            "label": instance.label,
            "pair_id": pair,
            "published_text": instance.published_text,
            "source_dataset": found.dataset,
            "source_split": found.split,
            "source_index": number,
        }


def _pairs(dataset: str, instances: list[Instance], numbers: list[int], uids: list[str]) -> list[str]:
    """What twins share: the uid of the first of them."""
    if dataset in _HAVE_NO_TWINS:
        return uids
    if dataset in _TWO_BY_TWO:
        groups: list[Any] = [number // 2 for number in numbers]
    elif any(instance.twins is None for instance in instances):
        groups = list(twin_groups((each.text, each.options) for each in instances))
    else:
        groups = [instance.twins for instance in instances]
    first: dict[Any, str] = {}
    return [first.setdefault(group, uid) for group, uid in zip(groups, uids, strict=True)]
