"""Divisions that others published: reproduced by rule where it is known, else kept as they are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from benchwright.errors import SplitError
from benchwright.splitting import (
    TEST,
    TRAIN,
    UNUSED,
    VALIDATION,
    LengthSplitter,
    PublishedSplitter,
    SplitRows,
)

GEOQUERY_SPLITS = {
    "standard": (600, 280),
    "template_1": (441, 439),
    "length_1": (440, 440),
    "tmcd_1": (440, 440),
}


def _object_array(values: list[str | None]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _rows(groups: np.ndarray | None = None) -> SplitRows:
    return SplitRows(
        pa.array([f"r{row}" for row in range(6)]),
        np.arange(6),
        groups=groups,
        source_splits=np.array(["train", "train", "dev", "dev", "dev", "dev"]),
        published_splits={
            "tmcd_1": _object_array(["test", None, "train", "train", None, "train"]),
            "length_1": _object_array(["train", "train", "dev", "dev", "test", "test"]),
        },
    )


def test_a_named_split_is_kept_and_other_rows_are_unused() -> None:
    assignment = PublishedSplitter(split="tmcd_1").split(_rows())
    assert assignment.side.tolist() == [TEST, UNUSED, TRAIN, TRAIN, UNUSED, TRAIN]
    assert assignment.rows(TRAIN).tolist() == [2, 3, 5]
    assert set(assignment.placed_by) == {"published"}
    assert [note.message for note in assignment.notes] == [
        "2 rows are in no split: 'tmcd_1' was published without them",
        "validation has no rows",
    ]
    whole = PublishedSplitter(split="length_1", sizes={"train": 2, "validation": 2, "test": 2}).split(_rows())
    assert whole.side.tolist() == [TRAIN, TRAIN, VALIDATION, VALIDATION, TEST, TEST]
    assert whole.notes == ()


def test_groups_never_alter_a_named_split() -> None:
    groups = np.array([0, 1, 0, 1, 2, 2])
    assert PublishedSplitter(split="tmcd_1").split(_rows(groups)).side.tolist() == [2, -1, 0, 0, -1, 0]
    # The source's own division: both groups stand on two sides, and train.
    assert PublishedSplitter().split(_rows(groups)).side.tolist() == [0, 0, 0, 0, 1, 1]


def test_the_order_of_rows_in_memory_changes_nothing() -> None:
    order = np.array([4, 0, 5, 2, 1, 3])
    side = PublishedSplitter(split="tmcd_1").split(_rows()).side
    assert PublishedSplitter(split="tmcd_1").split(_rows().take(order)).side.tolist() == side[order].tolist()


def test_what_cannot_be_done_is_said() -> None:
    with pytest.raises(SplitError, match="no published split 'tmcd_2'; did you mean tmcd_1"):
        PublishedSplitter(split="tmcd_2").split(_rows())
    with pytest.raises(SplitError, match="source split 'dev', which mapping does not name"):
        PublishedSplitter(split="length_1", mapping={"train": "train", "test": "test"}).split(_rows())
    with pytest.raises(SplitError, match="gave train 2 rows instead of 3"):
        PublishedSplitter(split="length_1", sizes={"train": 3, "validation": 2, "test": 1}).split(_rows())
    with pytest.raises(SplitError, match="split is 1; give the name"):
        PublishedSplitter(split=1)  # type: ignore[arg-type]
    short = {"tmcd_1": _object_array(["train"])}
    with pytest.raises(SplitError, match="published split 'tmcd_1' has 1 values for 2 rows"):
        PublishedSplitter(split="tmcd_1").split(
            SplitRows(pa.array(["a", "b"]), np.arange(2), published_splits=short)
        )


@pytest.fixture(scope="module")
def geoquery(data_folder: Path) -> tuple[list[str], SplitRows, dict[str, dict[str, list[int]]]]:
    """Lines of the 880 examples, their rows, and the published ids of each split."""
    lines = (data_folder / "geoquery" / "geoquery_nqg_880.tsv").read_text().splitlines()
    published = {
        name: json.loads((data_folder / "geoquery" / "nqg_splits" / f"{name}.json").read_text())
        for name in GEOQUERY_SPLITS
    }
    columns = {}
    for name, sides in published.items():
        columns[name] = _object_array([None] * len(lines))
        for side, ids in sides.items():
            columns[name][ids] = side
    rows = SplitRows(
        pa.array([f"geoquery:{row}" for row in range(len(lines))]),
        np.arange(len(lines)),
        whitespace_lengths=np.array([len(line.split("\t")[0].split(" ")) for line in lines]),
        published_splits=columns,
    )
    return lines, rows, published


@pytest.mark.corpora
@pytest.mark.parametrize("name", GEOQUERY_SPLITS)
def test_published_geoquery_ids_are_never_altered(geoquery: tuple, name: str) -> None:
    _, rows, published = geoquery
    assignment = PublishedSplitter(split=name).split(rows)
    assert assignment.rows(TRAIN).tolist() == sorted(published[name]["train"])
    assert assignment.rows(TEST).tolist() == sorted(published[name]["test"])
    assert (len(assignment.rows(TRAIN)), len(assignment.rows(TEST))) == GEOQUERY_SPLITS[name]


@pytest.mark.corpora
def test_the_published_length_split_is_reproduced(geoquery: tuple) -> None:
    """Texts in published order: of rows that repeat, the published ids name other copies."""
    lines, rows, published = geoquery
    sizes = {"train": 440, "validation": 0, "test": 440}
    assignment = LengthSplitter(sizes=sizes).split(rows)
    train = [lines[row] for row in assignment.rows(TRAIN)]
    assert train == [lines[row] for row in published["length_1"]["train"]]
    # The splitter permutes what evaluates; the published list is sorted by length, ties in source order.
    evaluation = np.sort(assignment.rows(TEST))
    evaluation = evaluation[np.argsort(rows.whitespace_lengths[evaluation], kind="stable")]
    assert [lines[row] for row in evaluation] == [lines[row] for row in published["length_1"]["test"]]
