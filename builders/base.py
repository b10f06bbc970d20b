"""What a builder declares: where its rows come from, what they look like and which configs it makes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from datasets import Features

from ..errors import UsageError, show
from ..faults import FaultLog
from ..progress import Stage, no_progress
from ..registry import Registry
from ..splitting.base import Scores, Sizes, SplitRows
from ..splitting.scores.overlap import Queries
from ..splitting.scores.templates import PromptTemplate
from ..tasks import Task
from ..text.programs import Language, rule_of_dialect
from .constituents import Constituent, Redistribute
from .programs import Programs, chosen_rule, chosen_structure
from .sizes import Size

Method = Literal["published", "corrected"]
ScorerKind = Literal["prompt", "kfold", "pvi", "bm25"]
TMCD_MODES = ("best", "reference")

builders: Registry[type[Builder]] = Registry("builder")
builders.declare("spider", "benchwright.builders.spider:SpiderBuilder")
builders.declare("snli", "benchwright.builders.snli:SnliBuilder")
builders.declare("boolq", "benchwright.builders.boolq:BoolQBuilder")
builders.declare("geoquery", "benchwright.builders.geoquery:GeoQueryBuilder")
builders.declare("curriculum", "benchwright.builders.curriculum.builder:CurriculumBuilder")
builders.declare("curriculum_clean", "benchwright.builders.curriculum.builder:CurriculumCleanBuilder")
builders.declare(
    "curriculum_difficulty", "benchwright.builders.curriculum.builder:CurriculumDifficultyBuilder"
)
builders.declare("knowref_60k", "benchwright.builders.knowref.builder:KnowRefBuilder")
builders.declare("winograd", "benchwright.builders.winograd.builder:WinogradBuilder")


@dataclass(frozen=True)
class SourcePin:
    """A Hub data set at one commit. `revision` is a 40-digit commit id; `files` maps paths to sha256."""

    repo: str
    revision: str
    files: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SourceFile:
    """One file that rows were read from; `name` is relative to the source folder."""

    name: str
    sha256: str
    bytes: int
    rows: int


@dataclass(frozen=True)
class Origin:
    """Where the files came from. `location` is a Hub id or "sample"; a local folder's path is never kept."""

    kind: Literal["folder", "hub", "sample"]
    location: str | None = None
    revision: str | None = None


@dataclass(frozen=True)
class SourceData:
    """The rows of a source, in source order, after the paper's filters.

    `table` has the family's payload columns and uid, content_id, length, source_split, source_index.
    `read` counts records met; `filtered` and `dropped` count by reason, so that
    read = rows + sum(filtered) + sum(dropped). `extras` are side tables published as configs of their own;
    `notes` say which source splits are missing and which copies of files were passed over. `programs` are
    those of the rows, in table order, where the task has programs; `published_splits` as in `SplitRows`.
    """

    table: pa.Table
    origin: Origin
    files: tuple[SourceFile, ...]
    read: int
    filtered: dict[str, int] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    extras: dict[str, tuple[pa.Table, Features]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    programs: Programs | None = None
    published_splits: Mapping[str, np.ndarray] = field(default_factory=dict)
    parts: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Row numbers (int64, ascending) of each part, for a source of several data sets; else empty."""
    funnel: tuple[Mapping[str, Any], ...] = ()
    """What stages before the source kept and dropped (stage, unit, kept, dropped by reason), in order."""

    def part(self, name: str | None) -> SourceData:
        """The rows of one part as a source of their own, without side tables; for None, all rows.

        Raises KeyError for a part that the source does not have.
        """
        if name is None:
            return self
        rows = self.parts[name]
        return replace(
            self,
            table=self.table.take(pa.array(rows)).combine_chunks(),
            extras={},
            programs=None if self.programs is None else self.programs.take(rows),
            published_splits={split: values[rows] for split, values in self.published_splits.items()},
            parts={},
        )


@dataclass(frozen=True)
class ScoreSpec:
    """A score table to make. `scorer` is `prompt`, `kfold`, `pvi` or `bm25`; `parameters` are that scorer's.

    `part` names the part of the source whose rows are scored (None: all of them).
    """

    name: str
    scorer: ScorerKind
    parameters: dict[str, Any] = field(default_factory=dict)
    part: str | None = None


@dataclass(frozen=True)
class ConfigSpec:
    """One config: a splitter with parameters, and the score table that it reads (if any)."""

    name: str
    splitter: str
    parameters: dict[str, Any]
    summary: str
    scores: str | None = None
    default: bool = False
    reverse_of: str | None = None
    extra: bool = False
    """Made only when asked for by name."""
    part: str | None = None
    """The part of the source that it divides; None for all rows."""


def pvi_table_name(part: str | None) -> str:
    """What the table of V-information of a part is called, or (for None) that of all rows."""
    return "pvi" if part is None else f"pvi_{part}"


def overlap_table_name(part: str | None) -> str:
    """What the table of the best scores of a part is called, or (for None) that of all rows."""
    return "bm25" if part is None else f"bm25_{part}"


def pvi_tables(
    score_names: Mapping[str, Sequence[str]], part: str | None, parts: Sequence[str | None]
) -> dict[str, str]:
    """The tables of V-information of one of the `parts`: what a further model adds to names -> table.

    >>> pvi_tables({"pvi": ["pvi_ner", "pvi_puns", "pvi_ner_tiny"]}, "ner", ["ner", "puns"])
    {'': 'pvi_ner', '_tiny': 'pvi_ner_tiny'}
    """

    def stem(table: str) -> str:
        known = (pvi_table_name(name) for name in parts)
        return max((word for word in known if f"{table}_".startswith(f"{word}_")), key=len, default="")

    own = pvi_table_name(part)
    found = (table for table in score_names.get("pvi", ()) if stem(table) == own)
    return {table.removeprefix(own): table for table in found}


@dataclass(frozen=True)
class BuildOptions:
    """Choices that configs depend on. `method` sets all those on which paper, code and good sense differ.

    `criterion`: log_likelihood, perplexity or length_perplexity (exp(-s / NLTK length)).
    `length_buckets`: None for one bucket per length, else that many quantile buckets.
    `prompt`: name of a prompt template of the builder, or None for its default.
    `validation`, `test`: rows (int) or shares (float) to hold out; both None for the published proportions.
    `evaluation_labels` (shares, equal), `empty_quota` (none, whole_bucket): None for the choice of `method`.
    `constraint`: atoms or none for every config; None for atoms where the paper has them.
    `structure`, `template_rule`: names of the definitions of atoms and compounds and of templates (see
    `text.programs`); None for those of the builder. `tmcd_mode` (best, reference): None for the choice of
    `method`.
    `pvi_fit`: cross_fitted (no model scores rows that it was trained on) or in_sample. `pvi_cut`: where easy
    and hard rows of a label part, midrange or published. `pvi_border`: published (train and evaluation are
    those of the source) or pooled (all rows are divided anew). None of these for the choice of `method`.
    `pvi_zero_label`: whether rows of the first label have a PVI of 0, a fault of published code.
    `overlap_cutoff`: BM25 scores above which rows overlap, a subset each; None for those of the paper.
    `cutoff_quantile`: further subsets, cut at these quantiles (0 to 1) of the rows that overlap at all.
    """

    method: Method = "corrected"
    criterion: str = "log_likelihood"
    length_buckets: int | None = None
    prompt: str | None = None
    seed: int = 42
    validation: Size | None = None
    test: Size | None = None
    evaluation_labels: str | None = None
    empty_quota: str | None = None
    constraint: str | None = None
    structure: str | None = None
    template_rule: str | None = None
    tmcd_mode: str | None = None
    pvi_fit: str | None = None
    pvi_cut: str | None = None
    pvi_border: str | None = None
    pvi_zero_label: bool = False
    overlap_cutoff: tuple[float, ...] | None = None
    cutoff_quantile: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for name in OVERLAP_OPTIONS:
            # JSON knows no tuples, and no value is no choice.
            object.__setattr__(self, name, tuple(map(float, getattr(self, name) or ())) or None)

    def with_pvi_choices(self) -> BuildOptions:
        """The options with those on PVI that `method` leaves to choose. Raises UsageError for unknown words.

        >>> options = BuildOptions(method="published", pvi_cut="midrange").with_pvi_choices()
        >>> options.pvi_fit, options.pvi_cut, options.pvi_border
        ('in_sample', 'midrange', 'pooled')
        """
        chosen: dict[str, Any] = {}
        for name, by_method in PVI_CHOICES.items():
            value = getattr(self, name)
            if value not in (None, *by_method.values()):
                words = " or ".join(by_method.values())
                raise UsageError(f"no {name.replace('_', ' ')} {show(value)}; give {words}")
            chosen[name] = value or by_method[self.method]
        return replace(self, **chosen)

    def to_json(self) -> dict[str, Any]:
        """All but `method`, as a manifest keeps them under `choices`.

        Those that only some builders have are left out where they were not made.
        """
        left_open = {"method"}
        left_open |= {name for name in (*_PVI_OPTIONS, *OVERLAP_OPTIONS) if not getattr(self, name)}
        return {name: value for name, value in asdict(self).items() if name not in left_open}


PVI_CHOICES: Mapping[str, Mapping[Method, str]] = MappingProxyType(
    {
        "pvi_fit": {"corrected": "cross_fitted", "published": "in_sample"},
        "pvi_cut": {"corrected": "midrange", "published": "published"},
        "pvi_border": {"corrected": "published", "published": "pooled"},
    }
)
"""The words of each option on pointwise V-information, by the method that chooses them."""
_PVI_OPTIONS = (*PVI_CHOICES, "pvi_zero_label")
OVERLAP_OPTIONS = ("overlap_cutoff", "cutoff_quantile")
_PROGRAM_OPTIONS = ("structure", "template_rule", "tmcd_mode")
DIVIDING_OPTIONS = (
    "prompt",
    "length_buckets",
    "validation",
    "test",
    "evaluation_labels",
    "empty_quota",
    "constraint",
)
"""Options on how rows are divided among train and evaluation anew."""
DEFAULT_OPTIONS = BuildOptions()


def refuse_options(options: BuildOptions, names: Sequence[str], why: str) -> None:
    """Raise UsageError, which says `why`, if one of the options `names` is given.

    >>> refuse_options(BuildOptions(seed=7), DIVIDING_OPTIONS, "the parts are the released ones")
    """
    for name in names:
        value = getattr(options, name)
        if value is not None and value is not False:
            raise UsageError(f"{why}; leave out {name} {show(value)}")


@dataclass(frozen=True)
class DatasetInfo:
    """What the card and the Hub say about the data set; plain data, stored in the manifest."""

    pretty_name: str
    summary: str
    licence: str
    licence_link: str
    redistribute: Redistribute
    homepage: str
    citation: str
    languages: tuple[str, ...] = ("en",)
    task_categories: tuple[str, ...] = ()
    task_ids: tuple[str, ...] = ()
    source_datasets: tuple[str, ...] = ()
    annotations_creators: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class Builder(ABC):
    """A published data set: its reader, rows and configs. Subclasses register under their corpus name."""

    name: ClassVar[str]
    info: ClassVar[DatasetInfo]
    task: ClassVar[Task]
    features: ClassVar[Features]
    pin: ClassVar[SourcePin | None] = None
    published: ClassVar[bool] = True
    """Whether placements are those of a published benchmark: its leaks are known, others are errors."""
    published_rows: ClassVar[int]
    published_sizes: ClassVar[Sizes]
    templates: ClassVar[Mapping[str, PromptTemplate]] = MappingProxyType({})
    """Prompts of language-model scores by name; none for corpora without such scores."""
    default_prompt: ClassVar[str] = ""
    kfold_template: ClassVar[str] = ""
    training_template: ClassVar[str | None] = None
    """What fold models are trained on, where that differs from what they score."""
    fine_tune_steps: ClassVar[int] = 2_000
    """Most training steps of a fold model (2210.06799, Table 7)."""
    needs_corpus: ClassVar[bool] = True
    """Whether configs whose rows can be searched in corpora are made of a search alone; else they are made
    without one too, and what was found is null."""
    source_has_trees: ClassVar[bool] = False
    """Whether the source's own files hold constituency trees of the texts (see `builders.analyse`)."""
    language: ClassVar[Language | None] = None
    """What the programs of the rows are written in; None for a task without programs."""
    structure: ClassVar[str] = "spider"
    template_rules: ClassVar[Mapping[Method, str]] = MappingProxyType(
        {"corrected": "canonical", "published": "masked"}
    )

    @abstractmethod
    def read(
        self, root: Path, faults: FaultLog, origin: Origin, options: BuildOptions = DEFAULT_OPTIONS
    ) -> SourceData:
        """Read a source folder. Raises SourceError for files that cannot be used."""

    def constituents_of(self, parts: Collection[str]) -> Mapping[str, Constituent]:
        """The data sets that rows of these parts of the source that was read come from, by name: licences of
        a release with those rows follow from them. None where the source is one data set.
        """
        return {}

    @abstractmethod
    def configs(
        self, options: BuildOptions, score_names: Mapping[str, Sequence[str]], rows: int | None = None
    ) -> list[ConfigSpec]:
        """Every config that can be made, `extra` ones included.

        `score_names` maps scorer kind to the score tables at hand. `rows` is the number of rows that were
        read (None: as published); sizes are the published ones in proportion.
        """

    @abstractmethod
    def split_rows(self, data: SourceData) -> SplitRows:
        """The arrays that splitters work on, in table order; for configs of a part, `data` is that part."""

    def task_of(self, spec: ConfigSpec) -> Task:
        """What kind of rows a config has: `task`, unless the parts of a source differ."""
        return self.task

    def features_of(self, spec: ConfigSpec) -> Features:
        """The columns of the rows of a config: `features`, unless parts or configs differ.

        Columns of the source's table that they lack are left out where `spec` is of a part. A config that
        reads a score table of scorer `pvi` may have those of `features.PVI`, before the placement.
        """
        return self.features

    def pvi_parts(self) -> tuple[str | None, ...]:
        """The parts whose rows can be scored by pointwise V-information, None being all rows."""
        return ()

    def overlap_parts(self) -> tuple[str | None, ...]:
        """The parts whose rows can be searched in corpora, None being all rows."""
        return ()

    def overlap_language(self, part: str | None) -> str:
        """The language of such a part, a code like `en`; only corpora of this language are searched."""
        return self.info.languages[0]

    def overlap_queries(
        self, rows: pa.Table, construction: str, analyzer: str, progress: Stage = no_progress
    ) -> Queries:
        """What is searched for each of `rows`, all of one part, in their order.

        `construction` is `parsed` or `published` (see `splitting.scores.overlap_queries`), `analyzer` what
        cuts text into terms (see `bm25.analysis`). Raises PrerequisiteError for a parser that is not there.
        """
        raise NotImplementedError(f"{self.name} has no overlap_parts")

    def resolved(self, options: BuildOptions) -> BuildOptions:
        """`options` with the builder's own definitions of programs where none was chosen.

        Raises UsageError for unknown ones, for those of another language, and for any where the corpus has no
        programs; so for choices on PVI and on overlap.
        """
        if not self.overlap_parts():
            refuse_options(options, OVERLAP_OPTIONS, f"{self.name} has no subsets by overlap")
        if self.pvi_parts():
            options.with_pvi_choices()
        else:
            refuse_options(options, _PVI_OPTIONS, f"{self.name} has no PVI splits")
        if self.language is None:
            refuse_options(options, _PROGRAM_OPTIONS, f"{self.name} has no programs")
            return options
        structure = chosen_structure(options.structure or self.structure, self.language)
        dialect = None if options.structure is None else rule_of_dialect(options.structure)
        rule = options.template_rule or dialect or self.template_rules[options.method]
        mode = options.tmcd_mode or ("reference" if options.method == "published" else "best")
        if mode not in TMCD_MODES:
            raise UsageError(f"no TMCD mode {show(mode)}; give {' or '.join(TMCD_MODES)}")
        name = chosen_rule(rule, self.language).name
        return replace(options, structure=structure.name, template_rule=name, tmcd_mode=mode)

    def programs(self, texts: Sequence[str], options: BuildOptions) -> Programs:
        """The analysed programs of the rows by the definitions of `options`, which are resolved."""
        if self.language is None or options.structure is None or options.template_rule is None:
            raise ValueError(f"the options of {self.name} are not resolved")
        structure = chosen_structure(options.structure, self.language)
        return Programs.of(texts, structure, chosen_rule(options.template_rule, self.language))

    def placed_columns(
        self,
        data: SourceData,
        side: np.ndarray,
        spec: ConfigSpec | None = None,
        scores: Scores | None = None,
    ) -> pa.Table | None:
        """Payload columns that depend on how a config divides the rows, one row per row of `data.table`.

        `data` is the part that the config `spec` divides, `side` (int8[n]) where it puts the rows and
        `scores` what it reads, both in table order. None for configs that have no such column.
        """
        if data.programs is None:
            return None
        novel = data.programs.novel_compounds(side)
        return pa.table({"num_novel_compounds": pa.array(novel, pa.int32())})

    def choices(self) -> dict[str, Any]:
        """Choices of this builder alone that a rebuild needs; they stand in the manifest."""
        return {}

    @classmethod
    def sample_folder(cls) -> Path:
        """The built-in sample corpus, in the published format."""
        return Path(__file__).parent / "samples" / cls.name
