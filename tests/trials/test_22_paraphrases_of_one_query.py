"""Paraphrases of one query under a query split: all on one side, whatever the questions and values are."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchwright.builders.base import BuildOptions, Origin, SourceData
from benchwright.builders.custom import CustomBuilder, custom_builder
from benchwright.faults import FaultLog
from benchwright.splitting import SIDES, splitters

# Queries that ask one thing of a table; the variants differ in values, case, spaces and aliases.
ASKED = [
    *("name", "age", "title", "year", "city", "rank", "width", "colour", "price", "country"),
    *("weight", "height", "speed", "length", "depth", "volume", "area", "power", "grade", "level"),
]
VARIANTS = [
    "SELECT {c} FROM shop WHERE id = 3",
    "select {c} from shop where id = 17",
    "SELECT  T1.{c}  FROM shop AS T1 WHERE T1.id = 250",
    "SELECT s.{c} FROM shop s WHERE s.id = 3",
]
QUESTIONS = [
    "What is the {c} of shop {n}?",
    "Tell me shop {n}'s {c}.",
    "{c} for shop {n}",
    "Which {c} has {n}?",
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[CustomBuilder, SourceData]:
    rows = [
        {"question": question.format(c=column, n=number), "sql": query.format(c=column)}
        for column in ASKED
        for number, (question, query) in enumerate(zip(QUESTIONS, VARIANTS, strict=True))
    ]
    path = tmp_path_factory.mktemp("shops") / "shops.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    builder = custom_builder("shops", text="question", program="sql", by=["template", "random"])
    return builder, builder.read(path, FaultLog(), Origin("folder"))


def _sides(corpus: tuple[CustomBuilder, SourceData], config: str, seed: int) -> np.ndarray:
    """The side of each row: one line per query, one column per paraphrase."""
    builder, data = corpus
    specs = builder.configs(BuildOptions(seed=seed), {}, data.table.num_rows)
    spec = next(spec for spec in specs if spec.name == config)
    assignment = splitters.get(spec.splitter)(**spec.parameters).split(builder.split_rows(data))
    return assignment.side.reshape(len(ASKED), len(VARIANTS))


@pytest.mark.parametrize("seed", [0, 1, 42])
def test_paraphrases_stay_together(corpus: tuple[CustomBuilder, SourceData], seed: int) -> None:
    sides = _sides(corpus, "template", seed)
    assert (sides == sides[:, :1]).all()
    assert set(sides[:, 0]) == set(SIDES.values())


def test_a_random_split_tears_them_apart(corpus: tuple[CustomBuilder, SourceData]) -> None:
    sides = _sides(corpus, "random", 42)
    assert (sides != sides[:, :1]).any()
