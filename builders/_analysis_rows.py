"""The rows of a release as analyses need them: each one once, and which of them every split holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datasets import ClassLabel, Features, Value

from ..errors import ReleaseError, UsageError
from ..features import DIFFICULTY
from ..registry import closest
from ..release import SPLITS, ReleaseFolder
from ..tables import conform


class LeftOutError(Exception):
    """Why an analysis is left out; the others go on, and the release says so."""


class SplitRows(NamedTuple):
    """The rows of one split, as places in `AnalysisRows.table` (int64, shape (rows,))."""

    config: str
    split: str
    rows: np.ndarray


@dataclass(frozen=True, eq=False)
class DistinctTexts:
    """The distinct values of a column; `codes` (int64, one a row) index `texts`, -1 where a row has none."""

    texts: list[str]
    codes: np.ndarray

    def at(self, row: int) -> str | None:
        """The text of one row."""
        code = self.codes[row]
        return None if code < 0 else self.texts[code]

    def of(self, rows: np.ndarray) -> np.ndarray:
        """Places in `texts` of those of the rows that have a text."""
        codes = self.codes[rows]
        return codes[codes >= 0]


class AnalysisRows:
    """Rows of all placed configs, told apart by uid: rows of one uid differ only in where they stand.

    `table` has one row for every uid, with the given columns (null where a config lacks one). Of rows that
    an earlier config had, only the uid is read again.
    """

    def __init__(self, release: ReleaseFolder, features: Features, columns: Iterable[str]) -> None:
        names = list(dict.fromkeys(["uid", *columns]))
        self._schema = pa.schema([features.arrow_schema.field(name) for name in names])
        self._texts: dict[str, DistinctTexts] = {}
        # Rows of different parts are never the same, so that each part is looked through alone.
        parts: dict[str | None, pa.Table] = {}
        found: list[tuple[str | None, SplitRows]] = []
        for config, entry in release.placed_configs.items():
            present = [name for name in names if name in release.features(config)]
            part = entry.get("part")
            for split in [name for name in SPLITS if name in release.splits(config)]:
                known = parts.get(part, self._schema.empty_table())
                parts[part], places = self._added(known, release, config, split, present)
                found.append((part, SplitRows(config, split, places)))
        sizes = [table.num_rows for table in parts.values()]
        first = dict(zip(parts, np.cumsum([0, *sizes]), strict=False))
        self.splits = [rows._replace(rows=rows.rows + first[part]) for part, rows in found]
        self.table = pa.concat_tables([self._schema.empty_table(), *parts.values()]).combine_chunks()

    def _added(
        self, known: pa.Table, release: ReleaseFolder, config: str, split: str, columns: list[str]
    ) -> tuple[pa.Table, np.ndarray]:
        """`known` with the rows of a split that it lacks, and the places in it of all rows of the split."""
        uids = release.table(config, split, ["uid"]).column("uid").combine_chunks()
        places = pc.index_in(uids, value_set=known.column("uid"))
        new = places.is_null()
        if places.null_count:
            rows = release.table(config, split, columns).filter(new)
            added = np.arange(known.num_rows, known.num_rows + rows.num_rows)
            known = pa.concat_tables([known, conform(rows, self._schema)]).combine_chunks()
            places = pc.replace_with_mask(places, new, pa.array(added, places.type))
        return known, places.to_numpy(zero_copy_only=False).astype(np.int64)

    def texts(self, column: str) -> DistinctTexts:
        """The distinct texts of a column of strings."""
        if column not in self._texts:
            encoded = self.table.column(column).combine_chunks().dictionary_encode()
            codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
            self._texts[column] = DistinctTexts(encoded.dictionary.to_pylist(), codes)
        return self._texts[column]

    def configs(self) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
        """Every config with the rows of its splits."""
        for name in dict.fromkeys(found.config for found in self.splits):
            yield name, {found.split: found.rows for found in self.splits if found.config == name}


def release_features(release: ReleaseFolder) -> Features:
    """The columns of all placed configs together; classes of several names are numbers.

    Raises ReleaseError for a column of several types.
    """
    found: dict[str, Any] = {}
    for config in release.placed_configs:
        for name, kind in release.features(config).items():
            known = found.setdefault(name, kind)
            if known != kind and _is_class(known) and _is_class(kind):
                found[name] = Value("int64")
            elif known != kind:
                raise ReleaseError(f"column {name!r} of config {config!r} has another type than before")
    return Features(found)


def input_columns(release: ReleaseFolder, features: Features) -> list[str]:
    """The inputs of the tasks that are strings, in order."""
    names = dict.fromkeys(name for config in release.placed_configs for name in release.task(config).inputs)
    return [name for name in names if is_text(features.get(name))]


def running_text(rows: AnalysisRows, columns: list[str]) -> list[str]:
    """The columns in which some value has white space: names of databases and the like are no texts.

    All columns where none has.
    """
    spaced = [
        name for name in columns if pc.any(pc.match_substring_regex(rows.table.column(name), r"\s")).as_py()
    ]
    return spaced or columns


def checked_columns(columns: Sequence[str], features: Features) -> list[str]:
    """The columns without repetition. Raises UsageError for one that has no texts."""
    known = [name for name, kind in features.items() if is_text(kind)]
    for name in columns:
        if name not in known:
            raise UsageError(f"the release has no text column {name!r}; {closest(name, known)}")
    return list(dict.fromkeys(columns))


def class_columns(release: ReleaseFolder) -> dict[str, dict[str, list[str]]]:
    """Class columns with their names in order by config; a target that is false or true is one too.

    The difficulty of a row is left out: it may differ by config.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for config in release.placed_configs:
        task = release.task(config)
        for name, kind in release.features(config).items():
            if isinstance(kind, ClassLabel) and kind != DIFFICULTY:
                found.setdefault(name, {})[config] = list(kind.names)
            elif name == task.target and task.labels is not None and kind == Value("bool"):
                found.setdefault(name, {})[config] = list(task.labels)
    return found


def _is_class(kind: object) -> bool:
    """Whether values of a feature are numbers of classes, as far as is known."""
    return isinstance(kind, ClassLabel) or kind == Value("int64")


def program_column(release: ReleaseFolder, features: Features) -> str | None:
    """The column of the programs: the one that a user named, `target` (what parsers learn to write), or else
    what the tasks predict."""
    chosen = ((release.manifest.get("choices") or {}).get("builder") or {}).get("program")
    targets = [release.task(config).target for config in release.placed_configs]
    return next((name for name in (chosen, "target", *targets) if is_text(features.get(name))), None)


def is_text(kind: object) -> bool:
    """Whether a feature holds strings."""
    return isinstance(kind, Value) and kind.dtype in ("string", "large_string")


def length_column(column: str, release: ReleaseFolder, features: Features) -> str | None:
    """The column that holds the lengths of another one's texts in NLTK tokens, if there is one.

    Only builders of published corpora write it; in a user's own rows the name may mean anything.
    """
    name = f"{column}_length"
    kind = features.get(name)
    counted = isinstance(kind, Value) and kind.dtype.startswith("int")
    return name if counted and release.dataset.get("published") is True else None
