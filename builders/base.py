"""What a builder declares: where its rows come from, what they look like and which configs it makes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import pyarrow as pa
from datasets import Features

from ..faults import FaultLog
from ..registry import Registry
from ..splitting.base import Sizes, SplitRows
from ..splitting.scores.templates import PromptTemplate
from ..tasks import Task
from .sizes import Size

Method = Literal["published", "corrected"]

builders: Registry[type[Builder]] = Registry("builder")
builders.declare("spider", "benchwright.builders.spider:SpiderBuilder")
builders.declare("snli", "benchwright.builders.snli:SnliBuilder")
builders.declare("boolq", "benchwright.builders.boolq:BoolQBuilder")


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
    `notes` say which source splits are missing and which copies of files were passed over.
    """

    table: pa.Table
    origin: Origin
    files: tuple[SourceFile, ...]
    read: int
    filtered: dict[str, int] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    extras: dict[str, tuple[pa.Table, Features]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScoreSpec:
    """A score table to make. `scorer` is `prompt` or `kfold`; `parameters` are that scorer's."""

    name: str
    scorer: Literal["prompt", "kfold"]
    parameters: dict[str, Any] = field(default_factory=dict)


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


@dataclass(frozen=True)
class BuildOptions:
    """Choices that configs depend on. `method` sets all of METHODS' open choices at once.

    `criterion`: log_likelihood, perplexity or length_perplexity (exp(-s / NLTK length)).
    `length_buckets`: None for one bucket per length, else that many quantile buckets.
    `prompt`: name of a prompt template of the builder, or None for its default.
    `validation`, `test`: rows (int) or shares (float) to hold out; both None for the published proportions.
    `evaluation_labels` (shares, equal), `empty_quota` (none, whole_bucket): None for the choice of `method`.
    `constraint`: atoms or none for every config; None for atoms where the paper has them.
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


@dataclass(frozen=True)
class DatasetInfo:
    """What the card and the Hub say about the data set; plain data, stored in the manifest."""

    pretty_name: str
    summary: str
    licence: str
    licence_link: str
    redistribute: Literal["text", "ids_only", "no"]
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
    templates: ClassVar[dict[str, PromptTemplate]]
    default_prompt: ClassVar[str]
    kfold_template: ClassVar[str]
    training_template: ClassVar[str | None] = None
    """What fold models are trained on, where that differs from what they score."""
    fine_tune_steps: ClassVar[int] = 2_000
    """Most training steps of a fold model (2210.06799, Table 7)."""

    @abstractmethod
    def read(self, root: Path, faults: FaultLog, origin: Origin) -> SourceData:
        """Read a source folder. Raises SourceError for files that cannot be used."""

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
        """The arrays that splitters work on."""

    def choices(self) -> dict[str, Any]:
        """Choices of this builder alone that a rebuild needs; they stand in the manifest."""
        return {}

    @classmethod
    def sample_folder(cls) -> Path:
        """The built-in sample corpus, in the published format."""
        return Path(__file__).parent / "samples" / cls.name
