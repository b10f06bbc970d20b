"""Three builders of Curriculum: the tasks as published or recast, cleaned, and by difficulty.

Source: "Curriculum: A Broad-Coverage Benchmark for Linguistic Phenomena in Natural Language Understanding"
(2204.06283).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
from datasets import ClassLabel, Features, Value

from ...faults import FaultLog
from ...features import DIFFICULTY, HEAD, PVI
from ...splitting.base import Scores, SplitRows
from ...splitting.scores.templates import PromptTemplate
from ...tasks import BINARY_NLI, Task
from ..base import (
    DEFAULT_OPTIONS,
    DIVIDING_OPTIONS,
    Builder,
    BuildOptions,
    ConfigSpec,
    DatasetInfo,
    Origin,
    SourceData,
    pvi_tables,
    refuse_options,
)
from ..constituents import Constituent, common_licence
from ..pvi_configs import difficulty_column, pvi_configs
from ..repair import clean_spec
from .phenomena import CURRICULUM_CITATION, PHENOMENA, Corpus, Phenomenon
from .reading import CurriculumSource, read_curriculum

HOMEPAGE = "https://github.com/eric11eca/curriculum-ling"
SOURCE_SIDES = {"train": "train", "val": "validation", "dev": "validation", "test": "test"}
"""Where rows of each source split stand; published tasks have train and val only."""

Kind = Literal["task", "clean", "difficulty"]


def features_for(labels: Sequence[str]) -> Features:
    """The columns of every config whose rows have these labels; null where a value does not exist."""
    texts = ("phenomenon", "category", "source_dataset", "source_id", "group_id")
    recast = ("recast_rule", "answer", "substituted")
    return Features(
        {
            **HEAD,
            "premise": Value("string"),
            "hypothesis": Value("string"),
            "label": ClassLabel(names=list(labels)),
            **{name: Value("string") for name in (*texts, *recast)},
            **PVI,
            "difficulty": DIFFICULTY,
            "source_split": Value("string"),
            "source_index": Value("int32"),
        }
    )


class _Curriculum(Builder):
    """Every config of all phenomena; a build makes those of `made_by_default` unless it names others."""

    made_by_default: ClassVar[Kind]
    task = BINARY_NLI
    features = features_for(BINARY_NLI.labels or ())
    templates: ClassVar[dict[str, PromptTemplate]] = {}
    default_prompt = ""
    _corpora: Mapping[str, Sequence[Corpus]] = MappingProxyType({})

    def read(
        self, root: Path, faults: FaultLog, origin: Origin, options: BuildOptions = DEFAULT_OPTIONS
    ) -> SourceData:
        """Read the phenomena that are there (see `read_curriculum`). Raises SourceError."""
        source = read_curriculum(root, faults)
        self._corpora = {made.phenomenon.name: made.corpora for made in source.rows}
        return SourceData(
            table=source.table,
            origin=origin,
            files=tuple(file for made in source.rows for file in made.files),
            read=sum(made.read for made in source.rows),
            filtered=dict(faults.filtered),
            dropped=dict(faults.dropped),
            notes=(*source.notes, *(() if origin.kind == "sample" else _licence_notes(source))),
            parts=source.parts,
        )

    def constituents_of(self, parts: Collection[str]) -> Mapping[str, Constituent]:
        """The corpora of these phenomena."""
        return {
            corpus.name: Constituent(
                title=corpus.title,
                licence=corpus.licence,
                redistribute=corpus.redistribute,
                citation=corpus.citation,
                source_datasets=() if corpus.hub is None else (corpus.hub,),
            )
            for name, corpora in self._corpora.items()
            if name in parts
            for corpus in corpora
        }

    def configs(
        self, options: BuildOptions, score_names: Mapping[str, Sequence[str]], rows: int | None = None
    ) -> list[ConfigSpec]:
        """For each phenomenon its split, that split cleaned, and four cells by each table of PVI."""
        options = options.with_pvi_choices()
        made = []
        for phenomenon in PHENOMENA.values():
            task = _task_config(phenomenon)
            kinds: dict[Kind, list[ConfigSpec]] = {
                "task": [task],
                "clean": [clean_spec(task)],
                "difficulty": [
                    spec
                    for suffix, table in pvi_tables(score_names, phenomenon.name, self.pvi_parts()).items()
                    for spec in pvi_configs(
                        options,
                        table,
                        suffix=suffix,
                        part=phenomenon.name,
                        prefix=f"{phenomenon.name}_",
                        mapping=SOURCE_SIDES,
                    )
                ],
            }
            for kind, specs in kinds.items():
                made += [replace(spec, extra=kind != self.made_by_default, default=False) for spec in specs]
        return made

    def task_of(self, spec: ConfigSpec) -> Task:
        """Two or three labels, as the phenomenon has."""
        return self.task if spec.part is None else PHENOMENA[spec.part].task

    def features_of(self, spec: ConfigSpec) -> Features:
        """The same columns for all, with the labels of the phenomenon."""
        return features_for(self.task_of(spec).labels or ())

    def pvi_parts(self) -> tuple[str | None, ...]:
        """Every phenomenon can be scored."""
        return tuple(PHENOMENA)

    def split_rows(self, data: SourceData) -> SplitRows:
        """The rows of one phenomenon with their labels; rows of one source item are a group."""
        table = data.table
        labels = PHENOMENA[table.column("phenomenon")[0].as_py()].task.labels or ()
        return SplitRows(
            uids=table.column("uid").combine_chunks(),
            source_index=table.column("source_index").to_numpy().astype(np.int64),
            labels=table.column("label").to_numpy(),
            label_names=labels,
            groups=_group_numbers(table),
            source_splits=np.array(table.column("source_split").to_pylist()),
        )

    def placed_columns(
        self,
        data: SourceData,
        side: np.ndarray,
        spec: ConfigSpec | None = None,
        scores: Scores | None = None,
    ) -> pa.Table | None:
        """`difficulty` of the rows of a config that is cut by PVI."""
        return None if spec is None else difficulty_column(spec, side)

    def resolved(self, options: BuildOptions) -> BuildOptions:
        """`options`, unless they choose how rows are divided: their split is the published one."""
        refuse_options(options, DIVIDING_OPTIONS, f"{self.name} keeps the published split")
        return super().resolved(options)

    @classmethod
    def sample_folder(cls) -> Path:
        """Some tasks in the published form, and small corpora to recast."""
        return Path(__file__).parent.parent / "samples" / "curriculum"


def _info(pretty_name: str, summary: str) -> DatasetInfo:
    return DatasetInfo(
        pretty_name=pretty_name,
        summary=summary,
        licence="unknown",
        licence_link="",
        redistribute="ids_only",
        homepage=HOMEPAGE,
        citation=CURRICULUM_CITATION,
        task_categories=("text-classification",),
        task_ids=("natural-language-inference",),
        annotations_creators=("found",),
        tags=("natural-language-inference", "linguistic-phenomena", "curriculum"),
    )


class CurriculumBuilder(_Curriculum):
    """36 linguistic phenomena as natural language inference, one config each, as published or recast."""

    name = "curriculum"
    made_by_default = "task"
    info = _info(
        "Curriculum",
        "Linguistic phenomena as premise-hypothesis pairs, one config per phenomenon, with the published "
        "border between train and validation.",
    )


class CurriculumCleanBuilder(_Curriculum):
    """The same configs without conflicts, duplicates and leaks."""

    name = "curriculum_clean"
    made_by_default = "clean"
    info = _info(
        "Curriculum, cleaned",
        "Linguistic phenomena as premise-hypothesis pairs, one config per phenomenon, without rows that "
        "repeat others, contradict them, or stand on both sides of the border between train and validation.",
    )


class CurriculumDifficultyBuilder(_Curriculum):
    """Simple and hard halves of every phenomenon by V-information, and the matrix that crosses them."""

    name = "curriculum_difficulty"
    made_by_default = "difficulty"
    info = _info(
        "Curriculum, simple and hard",
        "Linguistic phenomena as premise-hypothesis pairs, divided by how much of each label a model can "
        "tell from the text: train and evaluate on simple or on hard pairs.",
    )


def _task_config(phenomenon: Phenomenon) -> ConfigSpec:
    summary = f"{phenomenon.category.capitalize()} phenomenon. {phenomenon.recast_rule}"
    return ConfigSpec(
        name=phenomenon.name,
        splitter="published",
        parameters={"mapping": dict(SOURCE_SIDES)},
        summary=summary if phenomenon.warning is None else f"{summary} {phenomenon.warning}",
        part=phenomenon.name,
    )


def _licence_notes(source: CurriculumSource) -> list[str]:
    """Which licence holds for the rows of each phenomenon."""
    return [
        f"licence of {made.phenomenon.name}: {common_licence(corpus.licence for corpus in made.corpora)} "
        f"({', '.join(corpus.title for corpus in made.corpora)})"
        for made in source.rows
    ]


def _group_numbers(table: pa.Table) -> np.ndarray | None:
    """A number (int64[n]) for every source item; rows without a group are groups of their own."""
    found = table.column("group_id").combine_chunks()
    if found.null_count == len(found):
        return None
    codes = found.dictionary_encode().indices
    own = pa.array(np.arange(len(found), dtype=np.int64) + len(found))
    numbers = codes.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return np.where(np.asarray(found.is_valid()), numbers, own.to_numpy()).astype(np.int64)
