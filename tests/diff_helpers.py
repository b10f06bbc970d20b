"""Small releases whose every row stands where a test says, for tests of what differs between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import release_helpers as helpers
from datasets import Features

from benchwright.builders.base import ConfigSpec
from benchwright.builders.release import ReleaseWriter, SourceRows
from benchwright.cards import seal
from benchwright.features import SCORES
from benchwright.release import ReleaseFolder
from benchwright.splitting.base import SIDES, Assignment
from benchwright.tasks import NLI

CODES = {"t": "train", "v": "validation", "e": "test", "-": None}
LL = "ll_split"
EASY = "easy"


@dataclass(frozen=True)
class Made:
    """A release to be written: `rows` source rows; per config a letter for each row (train, validation,
    test as `e`, unused as `-`). Row n has uid `made:train:n` and score -n."""

    sides: Mapping[str, str] = field(default_factory=lambda: {LL: "ttttttvvee", EASY: "tettvtteve"})
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    features: Features = field(default_factory=lambda: helpers.FEATURES)
    scores: Sequence[float | None] | None = None
    positions: Mapping[str, Sequence[int]] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, Sequence[Any]]] = field(
        default_factory=lambda: {"schemas": {"db_id": ["shop", "zoo"], "table_names": [["goods"], ["cages"]]}}
    )
    score_tables: Sequence[str] = ("lm_prompt",)
    default: str = LL
    manifest: Mapping[str, Any] = field(default_factory=dict)
    publication: Mapping[str, Any] = field(default_factory=dict)
    body: str = "\n# Made\n\nText.\n\n## Uses\n\nMany.\n"
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return len(next(iter(self.sides.values())))

    def but(self, **changes: Any) -> Made:
        return replace(self, **changes)

    def write(self, target: Path) -> ReleaseFolder:
        """The release in the folder `target`."""
        source = self._source()
        scores = self._scores(source)
        with ReleaseWriter(target, helpers.PLAN) as writer:
            rows = SourceRows(source, self.features)
            pending = {
                name: writer.start_config(
                    self._spec(name),
                    rows,
                    self._assignment(name),
                    task=NLI,
                    scores=scores if name == LL else None,
                )
                for name in self.sides
            }
            configs = {name: config.entry() for name, config in pending.items()}
            for name, columns in self.tables.items():
                table = pa.table({key: list(values) for key, values in columns.items()})
                known = {key: kind for key, kind in {**SIDE, **helpers.SCHEMAS}.items() if key in columns}
                configs[name] = writer.write_table(name, table, Features(known), "Tables.")
            if self.score_tables:
                ordered = scores.take(rows.order)
                configs["scores"] = writer.write_scores(dict.fromkeys(self.score_tables, ordered), "Scores.")
            facts = {**helpers.manifest(configs, self.rows), **self.manifest}
            if self.publication:
                facts["publication"] = dict(self.publication)
            for name, text in self.files.items():
                writer.write_text(name, text)
            writer.write_text("README.md", seal(f"---\nlicense: mit\n---\n{self.body}", facts))
            return writer.finish(facts)

    def _source(self) -> pa.Table:
        table = helpers.source_table(self.rows)
        for name, values in self.columns.items():
            if name in table.column_names:
                place = table.column_names.index(name)
                array = pa.array(list(values), table.schema.field(place).type)
                table = table.set_column(place, name, array)
            else:
                table = table.append_column(name, pa.array(list(values)))
        return table.select([name for name in table.column_names if name in self.features])

    def _scores(self, source: pa.Table) -> pa.Table:
        values = [-float(row) for row in range(self.rows)] if self.scores is None else self.scores
        return pa.table(
            {
                "uid": source.column("uid"),
                "content_id": source.column("content_id"),
                "log_likelihood": pa.array(values, pa.float32()),
                "lm_num_tokens": pa.array([5] * self.rows, pa.int32()),
                "length": source.column("length"),
                "fold": pa.array([0] * self.rows, pa.int8()),
                "status": ["ok" if value is not None else "overlength" for value in values],
            }
        ).cast(SCORES.arrow_schema)

    def _spec(self, name: str) -> ConfigSpec:
        likelihood = name == LL
        return ConfigSpec(
            name,
            "likelihood" if likelihood else "random",
            {"criterion": "log_likelihood"} if likelihood else {"seed": 7},
            f"Config {name}.",
            "lm_prompt" if likelihood else None,
            name == self.default,
        )

    def _assignment(self, name: str) -> Assignment:
        side = np.array([SIDES.get(CODES[letter] or "", -1) for letter in self.sides[name]], np.int8)
        position = np.full(len(side), -1, np.int32)
        for code in SIDES.values():
            members = np.flatnonzero(side == code)
            position[members] = np.arange(len(members))
        if name in self.positions:
            position = np.array(self.positions[name], np.int32)
        scores = [np.nan if v is None else v for v in self.scores or [-float(n) for n in range(self.rows)]]
        values = np.array(scores if name == LL else [np.nan] * self.rows, np.float32)
        word = "score" if name == LL else "random"
        return Assignment(side, position, np.array([word] * len(side), dtype=object), values)


SIDE = {"uid": helpers.FEATURES["uid"], "content_id": helpers.FEATURES["content_id"]}


def uid(*rows: int) -> tuple[str, ...]:
    return tuple(f"made:train:{row}" for row in rows)
