"""The parts of the core that the proof of a release rests on: hashes, stable parquet, folder replacement."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.atomic import recover, replace_folder
from benchwright.hashing import columns_hash
from benchwright.tables import dictionary_columns, write_parquet

ROWS = st.lists(
    st.tuples(
        st.none() | st.text(max_size=5),
        st.none() | st.floats(width=32, allow_nan=True),
        st.none() | st.integers(-128, 127),
        st.none() | st.binary(min_size=2, max_size=2),
    ),
    max_size=12,
)
SCHEMA = pa.schema([("t", pa.string()), ("f", pa.float32()), ("i", pa.int8()), ("b", pa.binary(2))])


def table_of(rows: list[tuple[object, ...]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


def canonical(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Rows as they compare: one NaN, and zeros with their sign."""

    def value(item: object) -> object:
        if isinstance(item, float):
            return "nan" if np.isnan(item) else (item, np.signbit(item))
        return item

    return [tuple(value(item) for item in row) for row in rows]


@given(ROWS, st.integers(0, 12))
def test_column_hash_does_not_depend_on_chunks(rows: list[tuple[object, ...]], cut: int) -> None:
    table = table_of(rows)
    doubled = pa.concat_tables([table, table]).slice(len(rows))
    assert columns_hash(pa.concat_tables([table.slice(0, cut), table.slice(cut)])) == columns_hash(table)
    assert columns_hash(doubled) == columns_hash(table)


@given(ROWS, ROWS)
def test_column_hash_tells_values_nulls_and_borders_apart(
    left: list[tuple[object, ...]], right: list[tuple[object, ...]]
) -> None:
    equal = columns_hash(table_of(left)) == columns_hash(table_of(right))
    assert equal == (canonical(left) == canonical(right))


def test_column_hash_covers_names_and_types() -> None:
    base = pa.table({"a": pa.array([1, 2], pa.int32())})
    others = [base.rename_columns(["b"]), base.cast(pa.schema([("a", pa.int64())]))]
    assert len({columns_hash(table) for table in [base, *others]}) == 3
    large = pa.table({"a": pa.array(["x"], pa.large_string())})
    assert columns_hash(large) == columns_hash(pa.table({"a": ["x"]}))


def test_column_hash_is_pinned() -> None:
    """A release of today is verified by tomorrow's program: this value may only change with the format."""
    table = table_of([("dog", 1.5, 3, b"ab"), (None, float("nan"), None, None)])
    assert columns_hash(table) == ("sha256:69469a927fc586970b5c21eefd9ad262ff191e392eb805413e3d248db524f9b0")


def test_columns_without_a_canonical_form_have_no_column_hash() -> None:
    with pytest.raises(TypeError, match="timestamp"):
        columns_hash(pa.table({"a": pa.array([1], pa.timestamp("s"))}))


def test_items_do_not_move_between_rows_of_a_nested_column() -> None:
    one, other = (
        pa.table({"a": pa.array(rows, pa.list_(pa.int64()))}) for rows in ([[1], [2]], [[1, 2], []])
    )
    assert columns_hash(one) != columns_hash(other)
    chunked = pa.concat_tables([one.slice(0, 1), one.slice(1)])
    assert columns_hash(one) == columns_hash(chunked)


def test_dictionaries_are_for_columns_whose_values_recur() -> None:
    table = pa.table(
        {
            "uid": [str(n) for n in range(100)],
            "label": [n % 3 for n in range(100)],
            "empty": pa.nulls(100, pa.int64()),
            "nothing": pa.nulls(100),
            "list": [["x"]] * 100,
        }
    )
    assert dictionary_columns(table) == ["label", "empty", "nothing"]


def test_chunks_change_no_byte_of_a_file(tmp_path: Path) -> None:
    table = pa.table({"uid": [f"row {n}" for n in range(5_000)], "n": [n % 7 for n in range(5_000)]})
    write_parquet(table, tmp_path / "whole.parquet")
    write_parquet(pa.concat_tables([table.slice(0, 11), table.slice(11)]), tmp_path / "pieces.parquet")
    assert (tmp_path / "whole.parquet").read_bytes() == (tmp_path / "pieces.parquet").read_bytes()
    column = pq.ParquetFile(tmp_path / "whole.parquet").metadata.row_group(0).column(0)
    assert column.compression == "ZSTD"
    assert column.has_column_index
    assert column.has_offset_index


def test_a_replacement_that_fails_puts_the_old_folder_back(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "old").touch()
    with pytest.raises(FileNotFoundError):
        replace_folder(tmp_path / "never made", tmp_path / "target")
    assert [path.name for path in tmp_path.iterdir()] == ["target"]
    assert (tmp_path / "target" / "old").exists()


def test_recovery_after_a_kill_between_the_two_moves(tmp_path: Path) -> None:
    (tmp_path / ".target.old").mkdir()
    recover(tmp_path / "target")
    assert [path.name for path in tmp_path.iterdir()] == ["target"]
    (tmp_path / ".target.old").mkdir()
    recover(tmp_path / "target")
    assert [path.name for path in tmp_path.iterdir()] == ["target"]
