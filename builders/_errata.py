"""What was taken back from a published release, as arrays and records: withdrawn rows, renamed configs.

Rows are withdrawn after they are divided, so that the others stay where they are: a build that is given the
errata of the release before it, and the removal of rows from the files of that release, give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..features import OVERLAP
from ..publication import Publication
from ..release import ReleaseFolder
from ..splitting.base import SIDES, UNUSED, Assignment
from ..splitting.scores import ScoreTable
from ..splitting.scores.overlap import without_idle_frequencies

WITHDRAWN = "withdrawn"
"""Key of an entry of the manifest that says where withdrawn rows stood, or what their scores were."""
MADE_AS = "made_as"
"""Key of a renamed config's entry: the name that its builder gives it."""
_NUMBERS = ("best_score", "num_hits", "exact_copy")
EMPTIED = "every row of it was withdrawn"
NOT_PLACED = ""
"""The split, in the record of a withdrawn row, of one that was not placed before either."""


@dataclass(frozen=True)
class Errata:
    """What the next build of a release takes over: its publication, and the present names of configs.

    `names` maps names that the builder gives to present ones, where they differ.
    """

    publication: Publication = field(default_factory=Publication)
    names: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> Errata:
        """Those of a manifest."""
        publication = Publication.of(manifest)
        made_as = {entry[MADE_AS]: name for name, entry in manifest["configs"].items() if entry.get(MADE_AS)}
        return cls(publication, {**publication.aliases, **made_as})

    @property
    def uids(self) -> frozenset[str]:
        """Every withdrawn row."""
        return frozenset(uid for entry in self.publication.withdrawn for uid in entry.uids)

    @property
    def reasons(self) -> dict[str, str]:
        """Why each withdrawn config was taken back, by each name that it had."""
        return {e.config: e.reason for e in self.publication.withdrawn if e.config is not None}

    def name(self, config: str) -> str:
        """The present name of a config that the builder calls `config`."""
        return self.names.get(config, config)

    def withdrawn(self, uids: pa.Array | pa.ChunkedArray) -> np.ndarray:
        """Which of the rows are withdrawn (bool, one a row)."""
        return members(uids, self.uids)


def members(uids: pa.Array | pa.ChunkedArray, chosen: Iterable[str]) -> np.ndarray:
    """Which of the rows `uids` are among the chosen ones (bool, one a row)."""
    return pc.is_in(uids, value_set=pa.array(sorted(chosen), pa.string())).to_numpy(zero_copy_only=False)


def unplaced(side: np.ndarray, position: np.ndarray, withdrawn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sides and positions without the withdrawn rows, which become unused; the others keep their order.

    All arrays have one value a row; `side` and `position` are those of an `Assignment`.

    >>> side, position = np.array([0, 0, 2, 0]), np.array([2, 0, 0, 1])
    >>> [a.tolist() for a in unplaced(side, position, np.array([False, True, False, False]))]
    [[0, -1, 2, 0], [1, -1, 0, 0]]
    """
    side = np.where(withdrawn, UNUSED, side).astype(side.dtype)
    placed = np.full_like(position, -1)
    for number in SIDES.values():
        rows = np.flatnonzero(side == number)
        placed[rows[np.argsort(position[rows], kind="stable")]] = np.arange(len(rows))
    return side, placed


def without_rows(assignment: Assignment, withdrawn: np.ndarray) -> Assignment:
    """The assignment with the withdrawn rows (bool, one a row) as unused ones."""
    side, position = unplaced(assignment.side, assignment.position, withdrawn)
    return Assignment(side, position, assignment.placed_by, assignment.score, assignment.notes)


class Withdrawn(NamedTuple):
    """Where a withdrawn row stood in a config, and the content id of its inputs: both empty if nowhere."""

    split: str
    content_id: str


def placement_record(rows: Mapping[str, Withdrawn]) -> dict[str, Any]:
    """The entry `withdrawn` of a config from its withdrawn rows by uid, which are in source order."""
    splits, contents = ([getattr(row, name) for row in rows.values()] for name in Withdrawn._fields)
    return {WITHDRAWN: {"uids": list(rows), "splits": splits, "content_ids": contents}}


def recorded_rows(entry: Mapping[str, Any]) -> dict[str, Withdrawn]:
    """The withdrawn rows of a config by uid, as `placement_record` keeps them."""
    record = entry.get(WITHDRAWN)
    if not record:
        return {}
    rows = map(Withdrawn, record["splits"], record["content_ids"])
    return dict(zip(record["uids"], rows, strict=True))


def side_names(side: np.ndarray) -> list[str]:
    """The split of each row, NOT_PLACED where there is none."""
    names = np.array([*SIDES, NOT_PLACED], dtype=object)
    return names[np.where(side < 0, len(SIDES), side)].tolist()


def left_out(
    entries: Sequence[Mapping[str, str]], before: Iterable[str], after: Iterable[str]
) -> list[dict[str, str]]:
    """The splits that a config lacks, with reasons: those without rows before, and those without any now."""
    reasons = {entry["split"]: entry["reason"] for entry in entries}
    reasons |= dict.fromkeys(set(before) - set(after), EMPTIED)
    return [{"split": split, "reason": reasons[split]} for split in SIDES if split in reasons]


def score_entry(table: ScoreTable, withdrawn: np.ndarray) -> tuple[pa.Table, dict[str, Any]]:
    """A score table without the withdrawn rows (bool, one a row), and its entry for the manifest.

    The entry keeps the scores of the withdrawn rows: by them the others are divided as before. Of what was
    searched for them and found, it keeps the numbers alone.
    """
    if not withdrawn.any():
        return table.table, table.entry()
    kept = without_idle_frequencies(
        ScoreTable(table.table.filter(pa.array(~withdrawn)), table.provenance, table.identity)
    )
    texts = [name for name in OVERLAP if name in table.table.column_names and name not in _NUMBERS]
    gone = table.table.filter(pa.array(withdrawn)).drop_columns(texts).to_pydict()
    return kept.table, {**kept.entry(), WITHDRAWN: {"uids": gone.pop("uid"), **gone}}


def scores_with_withdrawn(release: ReleaseFolder, name: str) -> ScoreTable:
    """A score table of a release as it was made. Raises as `ScoreTable.from_release` does."""
    return whole_table(ScoreTable.from_release(release, name), release.manifest["scores"][name])


def whole_table(table: ScoreTable, entry: Mapping[str, Any]) -> ScoreTable:
    """A published score table with the rows that were withdrawn from it, which stand last."""
    record = entry.get(WITHDRAWN)
    if not record:
        return table
    columns = {"uid": record["uids"], **{name: record[name] for name in record if name != "uids"}}
    unknown = [None] * len(record["uids"])
    names = table.table.column_names
    gone = pa.Table.from_pydict(
        {name: columns.get(name, unknown) for name in names}, schema=table.table.schema
    )
    return ScoreTable(
        pa.concat_tables([table.table, gone]).combine_chunks(), table.provenance, table.identity
    )
