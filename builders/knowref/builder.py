"""KnowRef-60k as a release: pronouns that stand for one of two persons, each problem judged by five people.

Source: "An Analysis of Dataset Overlap on Winograd-Style Tasks" (2011.04767).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
from datasets import Features, Value

from ...errors import SourceError
from ...faults import FaultLog
from ...hashing import content_ids
from ...progress import Stage, no_progress
from ...splitting.base import SplitRows
from ...splitting.scores.overlap import Queries
from ...tasks import PRONOUN_RESOLUTION
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
from ..overlap_subsets import overlap_cutoffs, overlap_subsets
from ..sources.files import SourceFolder
from ..winograd.builder import winograd_features
from ..winograd.queries import row_queries
from ..winograd.test_sets import CITATION
from .mining import loaded_parser
from .persons import SentenceParser
from .released import KnowRefFiles, KnowRefRow, KnowRefRows, find_files, read_funnel, read_hashed, read_texts

SOURCE_SIDES = {"train": "train", "dev": "train", "val": "validation", "test": "test"}
"""Where rows of each released part stand."""
SUBSETS_OF = "test"
"""The released part that is divided by overlap."""


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
    needs_corpus = False
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
        """The parts as they were released; subsets of test rows by overlap where rows are searched.

        The subsets can be asked for by name without a corpus, too: so that the answer says what they lack.
        """
        searched = overlap_table_name(None) in score_names.get("bm25", ())
        return [_whole(options, searched=searched), *_subsets(options, searched=searched)]

    def overlap_parts(self) -> tuple[None]:
        """All rows are searched together, whatever part they are in (2011.04767, Table 8)."""
        return (None,)

    def overlap_queries(
        self, rows: pa.Table, construction: str, analyzer: str, progress: Stage = no_progress
    ) -> Queries:
        """A query for each row (see `row_queries`); that of the published code has candidate 0 in the
        pronoun's place."""
        unpublished = pa.nulls(rows.num_rows, pa.string())
        rows = rows.append_column("published_text", unpublished)
        return row_queries(rows, construction, self.info.languages[0], analyzer, progress)

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
        refuse_options(options, DIVIDING_OPTIONS, f"{self.name} keeps the released parts")
        return super().resolved(options)

    @classmethod
    def sample_folder(cls) -> Path:
        """Sentences of our own in the released form, with the problems that they were mined to."""
        return Path(__file__).parent.parent / "samples" / "knowref"


def _whole(options: BuildOptions, *, searched: bool) -> ConfigSpec:
    """Every row where the source has it, with what was found of it where rows are searched."""
    whole = ConfigSpec(
        name="standard",
        splitter="published",
        parameters={"mapping": dict(SOURCE_SIDES)},
        summary="The released parts.",
        default=True,
    )
    if not searched:
        return whole
    return replace(
        whole,
        splitter="overlap",
        parameters={**whole.parameters, "subset": "all", "cutoffs": overlap_cutoffs(options)},
        summary="The released parts, every row with the best hits of its query in the corpora.",
        scores=overlap_table_name(None),
    )


def _subsets(options: BuildOptions, *, searched: bool) -> Iterator[ConfigSpec]:
    """The rows of one part that overlap, by cut-off, and those that do not."""
    mapping = {part: side if part == SUBSETS_OF else None for part, side in SOURCE_SIDES.items()}
    for name, parameters, summary in overlap_subsets(SUBSETS_OF, options):
        yield ConfigSpec(
            name=name,
            splitter="overlap",
            parameters={"mapping": mapping, **parameters},
            summary=summary,
            scores=overlap_table_name(None),
            extra=not searched,
        )


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
