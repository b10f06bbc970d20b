"""KnowRef-60k as a release: pronouns that stand for one of two persons, each problem judged by five people.

Source: "An Analysis of Dataset Overlap on Winograd-Style Tasks" (2011.04767).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
from datasets import Features, Value

from ...errors import SourceError, UsageError, show
from ...faults import FaultLog
from ...hashing import content_ids
from ...splitting.base import SplitRows
from ...tasks import PRONOUN_RESOLUTION
from ..base import (
    DEFAULT_OPTIONS,
    Builder,
    BuildOptions,
    ConfigSpec,
    DatasetInfo,
    Origin,
    SourceData,
)
from ..sources.files import SourceFolder
from ..winograd.builder import winograd_features
from ..winograd.test_sets import CITATION
from .mining import loaded_parser
from .persons import SentenceParser
from .released import KnowRefFiles, KnowRefRow, KnowRefRows, find_files, read_funnel, read_hashed, read_texts

SOURCE_SIDES = {"train": "train", "dev": "train", "val": "validation", "test": "test"}
"""Where rows of each released part stand."""

# Choices of other benchmarks, which divide rows anew.
_NO_CHOICE = (
    "prompt",
    "length_buckets",
    "validation",
    "test",
    "evaluation_labels",
    "empty_quota",
    "constraint",
)


class KnowRefBuilder(Builder):
    """The parts as released, from hashed files with the user's dumps or mined problems, or from texts."""

    name = "knowref_60k"
    task = PRONOUN_RESOLUTION
    features = Features(
        {
            **winograd_features(),
            "annotation_strength": Value("int8"),
            "gender": Value("string"),
            "sentence_sha224": Value("string"),
        }
    )
    info = DatasetInfo(
        pretty_name="KnowRef-60k",
        summary="Sentences of Reddit comments with two persons of one gender and a pronoun that stands for "
        "one of them; names are not those of the comments, and five people judged each sentence.",
        licence="unknown",
        licence_link="",
        redistribute="ids_only",
        homepage="https://github.com/aemami1/KnowRef60k",
        citation=CITATION,
        task_categories=("multiple-choice",),
        task_ids=("coreference-resolution",),
        annotations_creators=("crowdsourced",),
        tags=("winograd-schema", "coreference-resolution", "commonsense"),
    )
    published_rows = 64_301
    parser: ClassVar[str | SentenceParser] = "parser"
    """What parses the sentences that are found in dumps: a spaCy pipeline, or anything that parses."""

    def read(
        self, root: Path, faults: FaultLog, origin: Origin, options: BuildOptions = DEFAULT_OPTIONS
    ) -> SourceData:
        """Read hashed files where problems or dumps are there too, else texts (see `find_files`).

        Raises SourceError, also where no sentence is found again; PrerequisiteError for a missing parser.
        """
        files = find_files(SourceFolder(root))
        source = self._read(root, files, faults)
        if not source.rows:
            raise SourceError(
                "no sentence of the hashed files is in the dumps",
                path=root,
                fix="add the dumps of its months",
            )
        if origin.kind == "sample":
            vars(self)["info"] = replace(type(self).info, redistribute="text")
        return SourceData(
            table=_table(source.rows),
            origin=origin,
            files=source.files,
            read=source.read,
            filtered=dict(faults.filtered),
            dropped=dict(faults.dropped),
            notes=source.notes,
            funnel=tuple(stage.to_json() for stage in source.funnel),
        )

    def _read(self, root: Path, files: KnowRefFiles, faults: FaultLog) -> KnowRefRows:
        if files.named and (files.problems or files.dumps):
            parser = loaded_parser(self.parser) if files.dumps else None
            source = read_hashed(files, faults, parser)
        elif files.texts:
            source = read_texts(files, faults)
        elif files.named:
            raise SourceError(
                "hashes without the sentences",
                path=root,
                fix="add Reddit dumps (RC_2006-01.bz2, ...) or problems.jsonl of benchwright mine knowref",
            )
        else:
            raise SourceError(
                "no file of KnowRef-60k", path=root, fix="add KnowRef-60K_test_hashed.json, or _val, _dev"
            )
        if files.funnel is not None:
            source = replace(source, funnel=read_funnel(files.funnel))
        return source

    def configs(
        self, options: BuildOptions, score_names: Mapping[str, Sequence[str]], rows: int | None = None
    ) -> list[ConfigSpec]:
        """The parts as they were released."""
        return [
            ConfigSpec(
                name="standard",
                splitter="published",
                parameters={"mapping": dict(SOURCE_SIDES)},
                summary="The released parts.",
                default=True,
            )
        ]

    def split_rows(self, data: SourceData) -> SplitRows:
        """Rows with their labels; sentences that are released twice stay in the parts where they are."""
        table = data.table
        uids = table.column("uid").to_pylist()
        return SplitRows(
            uids=table.column("uid").combine_chunks(),
            source_index=table.column("source_index").to_numpy().astype(np.int64),
            labels=table.column("label").to_numpy(),
            label_names=PRONOUN_RESOLUTION.labels or (),
            source_splits=np.array([uid.split(":")[1] for uid in uids]),
        )

    def resolved(self, options: BuildOptions) -> BuildOptions:
        """`options`, unless they choose how rows are divided: the parts are the released ones."""
        for name in _NO_CHOICE:
            if (value := getattr(options, name)) is not None:
                raise UsageError(f"{self.name} keeps the released parts; leave out {name} {show(value)}")
        return super().resolved(options)

    @classmethod
    def sample_folder(cls) -> Path:
        """Sentences of our own in the released form, with the problems that they were mined to."""
        return Path(__file__).parent.parent / "samples" / "knowref"


def _table(rows: Sequence[KnowRefRow]) -> pa.Table:
    columns = {
        "uid": pa.array([f"knowref_60k:{row.part}:{row.row}" for row in rows], pa.string()),
        "text": pa.array([row.text for row in rows], pa.string()),
        "pronoun": pa.array([row.pronoun for row in rows], pa.string()),
        "pronoun_loc": pa.array([row.pronoun_loc for row in rows], pa.int32()),
        "options": pa.array([list(row.options) for row in rows], pa.list_(pa.string())),
        "label": pa.array([row.label for row in rows], pa.int64()),
        "source_dataset": pa.repeat(pa.scalar("knowref_60k"), len(rows)),
        "source_index": pa.array(range(len(rows)), pa.int32()),
        "annotation_strength": pa.array([row.strength for row in rows], pa.int8()),
        "gender": pa.array([row.gender for row in rows], pa.string()),
        "sentence_sha224": pa.array([row.sha224 for row in rows], pa.string()),
    }
    table = pa.table(columns)
    return table.append_column("content_id", content_ids(table, list(PRONOUN_RESOLUTION.inputs)))
