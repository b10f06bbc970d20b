"""Winograd-style test sets, whole and divided by how much of each row stands in a corpus.

Source: "An Analysis of Dataset Overlap on Winograd-Style Tasks" (2011.04767).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datasets import ClassLabel, Features, Value

from ...faults import FaultLog
from ...features import HEAD, OVERLAP
from ...hashing import content_ids
from ...progress import Stage, no_progress
from ...splitting.base import SplitRows
from ...splitting.scores.overlap import Queries
from ...tasks import PRONOUN_RESOLUTION, Task
from ...text.words import word_counts
from ..base import (
    DEFAULT_OPTIONS,
    DIVIDING_OPTIONS,
    Builder,
    BuildOptions,
    ConfigSpec,
    DatasetInfo,
    Origin,
    SourceData,
    overlap_table_name,
    refuse_options,
)
from ..constituents import Constituent, redistributable
from ..overlap_subsets import OverlapSubset, overlap_cutoffs, overlap_subsets
from ..sources.winograd import read_winograd
from .queries import row_queries
from .test_sets import CITATION, PREFERRED_SPLITS, TEST_SETS, TestSet, names_of


def winograd_features(options: int = 2) -> Features:
    """The columns of a test set whose rows have at most so many options; null where a value does not exist.

    `label` is the number of the right option; where there is one option, 1 if the pronoun stands for it.
    """
    return Features(
        {
            **HEAD,
            "text": Value("string"),
            "pronoun": Value("string"),
            "pronoun_loc": Value("int32"),
            "options": [Value("string")],
            "label": ClassLabel(names=[str(number) for number in range(options)]),
            "pair_id": Value("string"),
            **OVERLAP,
            "source_dataset": Value("string"),
            "source_index": Value("int32"),
        }
    )


class WinogradBuilder(Builder):
    """One test set a part: the whole of it, and subsets by the best score of its rows in corpora."""

    name = "winograd"
    task = PRONOUN_RESOLUTION
    features = winograd_features()
    info = DatasetInfo(
        pretty_name="Winograd overlap",
        summary="Winograd-style test sets with what of each row stands in a corpus: the best hits, and "
        "subsets of rows that overlap and that do not.",
        licence="unknown",
        licence_link="",
        redistribute="ids_only",
        homepage="https://arxiv.org/abs/2011.04767",
        citation=CITATION,
        task_categories=("multiple-choice",),
        task_ids=("coreference-resolution",),
        annotations_creators=("found",),
        tags=("winograd-schema", "coreference-resolution", "data-contamination"),
    )
    _unlabelled: ClassVar[frozenset[str]] = frozenset()

    def read(
        self, root: Path, faults: FaultLog, origin: Origin, options: BuildOptions = DEFAULT_OPTIONS
    ) -> SourceData:
        """Read the test sets that are there (see `read_winograd`).

        Of a set with several splits, one is the test set. Raises SourceError.
        """
        source = read_winograd(root, faults)
        chosen, filtered = _test_rows(source.instances)
        table = _payload(chosen)
        parts = {
            found.name: np.flatnonzero(np.asarray(pc.equal(table.column("source_dataset"), found.dataset)))
            for found in TEST_SETS.values()
        }
        parts = {name: rows for name, rows in parts.items() if len(rows)}
        found = [TEST_SETS[name] for name in parts]
        labels = {name: table.column("label").take(pa.array(rows)) for name, rows in parts.items()}
        vars(self)["_unlabelled"] = frozenset(
            name for name, of_part in labels.items() if of_part.null_count == len(of_part)
        )
        return SourceData(
            table=table,
            origin=origin,
            files=source.files,
            read=source.read,
            filtered={**faults.filtered, **filtered},
            dropped=dict(faults.dropped),
            notes=(*source.notes, *([] if origin.kind == "sample" else _licence_notes(found))),
            parts=parts,
        )

    def constituents_of(self, parts: Collection[str]) -> Mapping[str, Constituent]:
        """These test sets."""
        return {
            name: Constituent(
                title=found.title,
                licence=found.licence,
                redistribute=redistributable(found.licence),
                citation=found.citation,
                languages=(found.language,),
            )
            for name, found in TEST_SETS.items()
            if name in parts
        }

    def configs(
        self, options: BuildOptions, score_names: Mapping[str, Sequence[str]], rows: int | None = None
    ) -> list[ConfigSpec]:
        """For each test set all its rows, those above each cut-off, and those that do not overlap."""
        made = []
        for found in TEST_SETS.values():
            table = overlap_table_name(found.name)
            if table in score_names.get("bm25", ()):
                made += _set_configs(found, table, options)
        return made

    def task_of(self, spec: ConfigSpec) -> Task:
        """Pronoun resolution with as many labels as a set has options; without labels, no target."""
        if spec.part is None:
            return self.task
        labels = tuple(str(number) for number in range(TEST_SETS[spec.part].options))
        if spec.part in self._unlabelled:
            return replace(self.task, labels=labels, target="", metrics=())
        return replace(self.task, labels=labels)

    def features_of(self, spec: ConfigSpec) -> Features:
        """The same columns for all, with the labels of the set."""
        return self.features if spec.part is None else winograd_features(TEST_SETS[spec.part].options)

    def overlap_parts(self) -> tuple[str, ...]:
        """Every test set can be searched."""
        return tuple(TEST_SETS)

    def overlap_language(self, part: str | None) -> str:
        """The language of a test set."""
        return self.info.languages[0] if part is None else TEST_SETS[part].language

    def overlap_queries(
        self, rows: pa.Table, construction: str, analyzer: str, progress: Stage = no_progress
    ) -> Queries:
        """A query for each row of a test set (see `row_queries`)."""
        name = names_of(rows.column("source_dataset")[0].as_py())[0]
        return row_queries(rows, construction, TEST_SETS[name].language, analyzer, progress)

    def split_rows(self, data: SourceData) -> SplitRows:
        """The rows of one test set."""
        table = data.table
        return SplitRows(
            uids=table.column("uid").combine_chunks(),
            source_index=table.column("source_index").to_numpy().astype(np.int64),
            source_splits=np.array(table.column("source_split").to_pylist()),
        )

    def resolved(self, options: BuildOptions) -> BuildOptions:
        """`options`, unless they choose how rows are divided among train and evaluation: all of them test."""
        refuse_options(options, DIVIDING_OPTIONS, f"all rows of {self.name} are test rows")
        return super().resolved(options)


def _set_configs(found: TestSet, table: str, options: BuildOptions) -> list[ConfigSpec]:
    whole = OverlapSubset(
        found.name,
        {"subset": "all", "cutoffs": overlap_cutoffs(options)},
        f"{found.title}: every row with the best hits of its query in the corpora.",
    )
    return [
        ConfigSpec(name, "overlap", parameters, summary, scores=table, part=found.name)
        for name, parameters, summary in (whole, *overlap_subsets(found.name, options))
    ]


def _payload(instances: pa.Table) -> pa.Table:
    table = instances.append_column("content_id", content_ids(instances, list(PRONOUN_RESOLUTION.inputs)))
    lengths = word_counts(table.column("text").to_pylist())
    return table.append_column("length", pa.array(lengths, pa.int32()))


def _test_rows(instances: pa.Table) -> tuple[pa.Table, dict[str, int]]:
    """The rows of the split of each set that is its test set; how many others are left out, by reason."""
    datasets, splits = (instances.column(name) for name in ("source_dataset", "source_split"))
    counts = Counter(zip(datasets.to_pylist(), splits.to_pylist(), strict=True))
    kept, filtered = np.zeros(instances.num_rows, dtype=bool), {}
    for found in TEST_SETS.values():
        there = sorted(split for dataset, split in counts if dataset == found.dataset)
        chosen = next((name for name in (found.split, *PREFERRED_SPLITS) if name in there), None)
        for split in there:
            if split != chosen:
                reason = f"{found.name}: split {split}, the test set is {chosen}"
                filtered[reason] = counts[found.dataset, split]
        kept |= np.asarray(pc.and_(pc.equal(datasets, found.dataset), pc.equal(splits, chosen or "")))
    return instances.filter(pa.array(kept)), filtered


def _licence_notes(found: Sequence[TestSet]) -> list[str]:
    return [f"licence of {each.name}: {each.licence} ({each.homepage})" for each in found]
