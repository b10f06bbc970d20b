"""What `diff` finds, as plain data.

Values that come from releases are quoted and cut where they are put into these (`errors.show`), uids are cut:
a release on the Hub is anyone's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from .versions import Bump

UIDS_SHOWN = 5
_UID_LIMIT = 200


@dataclass(frozen=True)
class Sample:
    """A number of rows, and the uids of the first of them in the order of their release."""

    rows: int = 0
    uids: tuple[str, ...] = ()

    @classmethod
    def of(cls, index: np.ndarray, names: pa.Array) -> Sample:
        """The rows at `index` (int64) of a list of uids."""
        return cls(
            len(index), tuple(cut(name) for name in names.take(pa.array(index[:UIDS_SHOWN])).to_pylist())
        )


@dataclass(frozen=True)
class Place:
    """Where something differs: `uid` is None where no single row does."""

    config: str
    split: str | None = None
    uid: str | None = None


@dataclass(frozen=True)
class FeatureChange:
    """A column that was `added` or `removed`, has another `type` or other `labels`, or another `order`."""

    kind: str
    column: str | None
    old: str | None = None
    new: str | None = None


@dataclass(frozen=True)
class ColumnChange:
    """Rows of both releases that have other values in one column, with the first of them as example."""

    column: str
    rows: int
    split: str
    uid: str
    old: str
    new: str


@dataclass(frozen=True)
class Move:
    """Rows that stand in another split now."""

    origin: str
    target: str
    rows: Sample


@dataclass(frozen=True)
class RowsDiff:
    """Rows of a config that readers can load, by split.

    `matched_by` is `uid`, `content_id` (other source files: uids do not hold) or `row` (a table without
    uids). `withdrawn` is the part of `removed` that the second release withdrew; rows that became or were
    unused count as removed and added. `renumbered` rows have another uid or place in the source, which is
    found only where rows are matched by content. `reordered` rows stand in another order in the files,
    `positions` are other positions in the assignment alone. `first` is the first row that differs.
    """

    matched_by: str
    added: Mapping[str, Sample] = field(default_factory=dict)
    removed: Mapping[str, Sample] = field(default_factory=dict)
    withdrawn: Mapping[str, Sample] = field(default_factory=dict)
    changed: Mapping[str, Sample] = field(default_factory=dict)
    moved: tuple[Move, ...] = ()
    columns: tuple[ColumnChange, ...] = ()
    renumbered: Sample = Sample()
    reordered: Mapping[str, Sample] = field(default_factory=dict)
    positions: Sample = Sample()
    first: tuple[str, str] | None = None

    def __bool__(self) -> bool:
        parts = (self.added, self.removed, self.changed, self.moved, self.reordered)
        return any(parts) or self.renumbered.rows > 0 or self.positions.rows > 0


@dataclass(frozen=True)
class ScoreChange:
    """One score column of rows that both releases have.

    `rows` have another score, `beyond` of them by more than SCORE_TOLERANCE or only in one release
    (`only_one`); `largest` is the largest difference, in nats for log-likelihoods and in bits for
    V-information, at row `uid` of `split`. `changed_ranks` counts rows whose rank among all scores differs.
    """

    column: str
    rows: int
    beyond: int
    only_one: int
    largest: float
    split: str
    uid: str
    changed_ranks: int


@dataclass(frozen=True)
class FactChange:
    """A field of the manifest (its path, with dots) and its values; None where one release lacks it."""

    field: str
    old: str | None
    new: str | None


@dataclass(frozen=True)
class FindingChange:
    """An audit finding that is `new` or `gone`; `rows` is its count."""

    kind: str
    id: str
    code: str
    severity: str
    config: str | None
    rows: int
    message: str

    @classmethod
    def of(cls, kind: str, entry: Mapping[str, Any]) -> FindingChange:
        """One from its entry in a manifest."""
        code, severity, message, config = (
            entry.get(key) for key in ("code", "severity", "message", "config")
        )
        rows = entry.get("count")
        return cls(
            kind=kind,
            id=cut(entry.get("id")),
            code=cut(code),
            severity=cut(severity),
            config=None if config is None else cut(config),
            rows=rows if isinstance(rows, int) else 0,
            message=cut(message),
        )


@dataclass(frozen=True)
class LabelShift:
    """The largest change of a label's share of a split; shares are fractions of the split's rows."""

    column: str
    label: str
    split: str
    before: float
    after: float


@dataclass(frozen=True)
class Boundary:
    """Where scores divide train from evaluation, among the rows that their score placed.

    Lowest and highest scores of each side; None for a side without such rows.
    """

    train: tuple[float, float] | None
    evaluation: tuple[float, float] | None


@dataclass(frozen=True)
class ConfigDiff:
    """What differs in one config, or in one score table (named `scores/TABLE`).

    `name` is that in the second release, `former` the one in the first where it differs. `kind` is split,
    table or scores. `shares` holds label shares before and after by column, split and label, for configs
    whose rows differ; `boundaries` the score boundary before and after, where it moved.
    """

    name: str
    kind: str
    former: str | None = None
    features: tuple[FeatureChange, ...] = ()
    rows: RowsDiff = RowsDiff("uid")
    scores: tuple[ScoreChange, ...] = ()
    facts: tuple[FactChange, ...] = ()
    shares: Mapping[str, Mapping[str, Mapping[str, tuple[float, float]]]] = field(default_factory=dict)
    shift: LabelShift | None = None
    boundaries: tuple[Boundary, Boundary] | None = None

    @property
    def differs(self) -> bool:
        """Whether anything differs that readers of its rows see."""
        return bool(self.features or self.rows or self.scores)

    def __bool__(self) -> bool:
        return self.differs or bool(self.facts or self.former)


@dataclass(frozen=True)
class ValueChange:
    """One metric of one result: values with their intervals, and whether the intervals overlap.

    `overlap` is None where an interval is missing.
    """

    metric: str
    old: float | None
    new: float | None
    overlap: bool | None


@dataclass(frozen=True)
class ResultChange:
    """A stored result that was `added`, `removed`, `changed` (other values) or `rewritten` (same values)."""

    kind: str
    config: str
    baseline: str
    file: str
    values: tuple[ValueChange, ...] = ()


@dataclass(frozen=True)
class StaleResult:
    """A result of the second release that no longer speaks of it; `newly` if it did in the first."""

    file: str
    config: str
    baseline: str
    reason: str
    newly: bool


@dataclass(frozen=True)
class FileChange:
    """A file that stands beside the rows: `added`, `removed` or `changed`."""

    kind: str
    file: str


@dataclass(frozen=True)
class CardDiff:
    """README.md: headings under which its text differs, and the user sections added, removed, changed."""

    header: bool = False
    sections: tuple[str, ...] = ()
    user_sections: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.header or self.sections or self.user_sections)


@dataclass(frozen=True)
class Change:
    """One thing that differs: a plain phrase with the bump that it needs.

    `config` is where it is (None: the release); `short` says the same for configs that differ in the details.
    `follows` marks what mostly follows from other changes (a card's text, figures).
    """

    bump: Bump
    phrase: str
    config: str | None = None
    short: str | None = None
    follows: bool = False


def cut(name: object) -> str:
    """A uid or name as it is kept: at most 200 characters."""
    text = str(name)
    return text if len(text) <= _UID_LIMIT else text[: _UID_LIMIT - 3] + "..."
