"""Users' own files: every cell as it stands, every bad row named, every unusable file one line."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.builders.sources.tabular import TabularRows, read_table, read_tables, table_files
from benchwright.errors import SourceError, SourceErrors
from benchwright.faults import FaultLog
from benchwright.hashing import sha256_file


def _read(path: Path, content: str | bytes, policy: Any = "fail") -> tuple[TabularRows, FaultLog]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    faults = FaultLog(policy)
    table = read_table(path, faults)
    faults.finish()
    return table, faults


def _rows(path: Path, content: str | bytes) -> list[dict[str, Any]]:
    return _read(path, content)[0].table.to_pylist()


def _fault(path: Path, content: str | bytes) -> str:
    with pytest.raises(SourceError) as raised:
        _read(path, content)
    return str(raised.value)


def test_text_that_looks_like_something_else_stays_text(tmp_path: Path) -> None:
    words = ["None", "NA", "null", "n/a", "nan", "", "007", "1e5", "true", " x ", "-"]
    expected = [{"text": word, "n": "1"} for word in words]
    assert _rows(tmp_path / "a.csv", "text,n\n" + "".join(f'"{word}",1\n' for word in words)) == expected
    assert _rows(tmp_path / "a.tsv", "text\tn\n" + "".join(f"{word}\t1\n" for word in words)) == expected
    lines = "".join(json.dumps(row) + "\n" for row in expected)
    assert _rows(tmp_path / "a.jsonl", lines) == expected


def test_csv_follows_rfc_4180(tmp_path: Path) -> None:
    content = 'text,label\r\n"a ""quoted"" word",x\r\n"two\r\nlines, one cell",y\r\n5" pipe,z\r\n'
    table, _ = _read(tmp_path / "a.csv", content)
    assert table.table.column("text").to_pylist() == ['a "quoted" word', "two\r\nlines, one cell", '5" pipe']
    assert table.rows.tolist() == [0, 1, 2]
    assert table.lines is not None
    assert table.lines.tolist() == [2, 3, 5]


def test_quotation_marks_in_tsv_are_text(tmp_path: Path) -> None:
    rows = ["a\t1", 'b "open\t2', "c\t3", '"d\t4', "e\t5"]
    table, _ = _read(tmp_path / "a.tsv", "text\tn\n" + "\n".join(rows))
    assert table.table.column("text").to_pylist() == ["a", 'b "open', "c", '"d', "e"]


def test_json_lines_are_cut_at_line_feeds_alone(tmp_path: Path) -> None:
    text = "one\u2028two\u0085three\u000bfour"
    assert _rows(tmp_path / "a.ndjson", json.dumps({"text": text}, ensure_ascii=False) + "\n") == [
        {"text": text}
    ]
    assert _rows(tmp_path / "a.tsv", f"text\n{text}\n") == [{"text": text}]
    assert _rows(tmp_path / "a.csv", f"text\n{text}\n") == [{"text": text}]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "ndjson", "json"])
def test_gzip_gives_the_same_rows(tmp_path: Path, suffix: str) -> None:
    content = {
        "csv": "text,n\ngrüße,1\n",
        "tsv": "text\tn\ngrüße\t1\n",
        "jsonl": '{"text": "grüße", "n": "1"}\n',
        "ndjson": '{"text": "grüße", "n": "1"}\n',
        "json": '[{"text": "grüße", "n": "1"}]',
    }[suffix].encode()
    path = tmp_path / f"a.{suffix}.gz"
    table, _ = _read(path, gzip.compress(content))
    assert table.table.to_pylist() == [{"text": "grüße", "n": "1"}]
    assert table.table.to_pylist() == _rows(tmp_path / f"a.{suffix}", content)
    assert (table.files[0].name, table.read) == (path.name, 1)
    assert (table.files[0].sha256, table.files[0].bytes) == (sha256_file(path), path.stat().st_size)


def test_json_types_are_kept(tmp_path: Path) -> None:
    rows = [
        {"text": "a", "n": 1, "x": 1, "ok": True, "tags": ["p"], "span": {"start": 0}, "none": None},
        {"text": None, "n": None, "x": 0.5, "ok": False, "tags": [], "span": {"end": 2}, "none": None},
    ]
    table, _ = _read(tmp_path / "a.json", json.dumps(rows))
    assert {field.name: str(field.type) for field in table.table.schema} == {
        "text": "string",
        "n": "int64",
        "x": "double",
        "ok": "bool",
        "tags": "list<item: string>",
        "span": "struct<start: int64, end: int64>",
        "none": "string",
    }
    assert table.table.column("span").to_pylist() == [{"start": 0, "end": None}, {"start": None, "end": 2}]
    assert table.lines is None


def test_parquet_text_types_become_one(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    columns = {
        "text": pa.array(["None", None], pa.large_string()),
        "kind": pa.array(["x", "y"], pa.large_string()).dictionary_encode(),
        "n": pa.array([1, 2], pa.int16()),
    }
    pq.write_table(pa.table(columns), path)
    faults = FaultLog()
    table = read_table(path, faults).table
    assert [str(kind) for kind in table.schema.types] == ["string", "string", "int16"]
    assert table.to_pylist() == [{"text": "None", "kind": "x", "n": 1}, {"text": None, "kind": "y", "n": 2}]


BAD_ROWS = {
    "ragged.csv": ("text,n\na,1\nb\nc,3\n", "row 1, line 3: wrong number of fields, got 1; give 2 fields"),
    "long.tsv": ("text\tn\na\t1\nb\t2\t3\n", "row 1, line 3: wrong number of fields, got 3; give 2 fields"),
    "open.csv": ('text,n\na,1\n"b,2\nc,3\n', "row 1, line 3: unbalanced quotation mark; close the quotes"),
    "after.csv": (
        'text,n\na,1\n"b" c,2\nd,3\n',
        "row 1, line 3: unbalanced quotation mark; close the quotes",
    ),
    "missing.jsonl": ('{"a": 1, "b": 2}\n{"a": 1}\n', "row 1, line 2, field 'b': missing field"),
    "extra.jsonl": (
        '{"a": 1}\n{"a": 1, "z": 5}\n',
        "row 1, line 2, field 'z': field that the first record lacks, got 5",
    ),
    "mixed.jsonl": (
        '{"a": "x"}\n\n{"a": 7}\n',
        "row 1, line 3, field 'a': type differs from earlier rows, got 7; give text",
    ),
    "flag.jsonl": (
        '{"a": 1}\n{"a": true}\n',
        "row 1, line 2, field 'a': type differs from earlier rows, got True",
    ),
    "list.jsonl": ('{"a": 1}\n[1]\n', "row 1, line 2: not a JSON object, got [1]"),
    "nested.jsonl": ('{"a": ["x", 1]}\n{"a": ["x"]}\n', "row 0, line 1, field 'a': list of mixed types"),
    "surrogate.jsonl": ('{"a": "x"}\n{"a": "\\ud800"}\n', "row 1, line 2, field 'a': half a surrogate pair"),
    "huge.jsonl": (
        '{"a": 1}\n{"a": 99999999999999999999}\n',
        "row 1, line 2, field 'a': number beyond 64 bits",
    ),
    "key.jsonl": (
        '{"a": {"b": 1}}\n{"a": {"\\ud800": 1}}\n',
        "row 1, line 2, field 'a': half a surrogate pair",
    ),
    "deep.jsonl": (
        '{"a": [1]}\n{"a": ' + "[" * 200 + "]" * 200 + "}\n",
        "row 1, line 2, field 'a': nested too deeply",
    ),
    "nan.jsonl": ('{"a": 1.5}\n{"a": NaN}\n{"a": 2}\n', "row 1, line 2: not valid JSON"),
    "number.json": ('[{"a": 1}, 3]', "row 1: not a JSON object, got 3"),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_bad_rows_are_named_or_dropped_and_counted(tmp_path: Path, name: str) -> None:
    content, expected = BAD_ROWS[name]
    message = _fault(tmp_path / name, content)
    assert message.startswith(f"{tmp_path / name}, {expected}")
    assert "1 bad row(s)" in message
    table, faults = _read(tmp_path / name, content, "drop")
    assert sum(faults.dropped.values()) == 1
    assert table.read == table.table.num_rows + 1
    assert len(table.rows) == table.table.num_rows


def test_an_open_quotation_mark_costs_its_own_line_alone(tmp_path: Path) -> None:
    content = 'text,n\n"a,1\nb,2\n"c",3\nd,4\n"e,5\nf,6\n'
    table, faults = _read(tmp_path / "a.csv", content, "drop")
    assert table.table.to_pylist() == [
        {"text": text, "n": n} for text, n in (("b", "2"), ("c", "3"), ("d", "4"), ("f", "6"))
    ]
    assert table.rows.tolist() == [1, 2, 3, 5]
    assert faults.dropped == {"unbalanced quotation mark": 2}


def test_reading_stops_at_twenty_bad_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,n\n" + "x\n" * 50)
    with pytest.raises(SourceErrors, match="at least 20 bad row"):
        read_table(path, FaultLog())


UNUSABLE = {
    "empty.csv": (b"", "the file is empty"),
    "empty.parquet": (b"", "the file is empty"),
    "header.csv": (b"text,n\n", "no usable row"),
    "empty.json": (b"[]", "empty"),
    "wide.csv": ("text\nx\n".encode("utf-16"), "UTF-16"),
    "latin.csv": ("text\ngrün\n".encode("latin-1"), "line 2: not UTF-8"),
    "plain.csv.gz": (b"text\nx\n", "not a gzip file"),
    "short.csv.gz": (gzip.compress(b"text\n" + b"some words\n" * 999)[:40], "end too early"),
    "cut.json": (b'[{"text": "a"}, {"te', "ends in the middle of a record"),
    "cut.jsonl": (b'{"text": "a"}\n{"te', "line 2: the file ends in the middle of a record"),
    "bad.parquet": (b"PAR1 and then nothing", "not a parquet file, or damaged"),
    "twice.csv": (b"text,text\na,b\n", "field 'text': column name stands twice"),
    "mixed.jsonl": (b'{"a": 0.5}\n{"a": 9007199254740993}\n', "field 'a': whole numbers beyond 2**53"),
    "name.jsonl": (b'{"\\ud800": 1}\n', "half a surrogate pair in a column name"),
    "index.csv": (b",text\n0,a\n", "column 1 has no name"),
    "quote.csv": (b'"text,n\na,b\n', "line 1: unbalanced quotation mark"),
    "table.xlsx": (b"PK", "unknown format"),
    "a.parquet.gz": (gzip.compress(b"PAR1"), "unknown format"),
}


@pytest.mark.parametrize("name", UNUSABLE)
@pytest.mark.parametrize("policy", ["fail", "drop"])
def test_unusable_files_are_one_line(tmp_path: Path, name: str, policy: str) -> None:
    content, expected = UNUSABLE[name]
    with pytest.raises(SourceError) as raised:
        _read(tmp_path / name, content, policy)
    message = str(raised.value)
    assert expected in message
    assert message.startswith(str(tmp_path / name))
    assert "\n" not in message
    assert raised.value.exit_code == 2


def test_folders_and_missing_files_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is a folder; give one file"):
        read_table(tmp_path, FaultLog())
    with pytest.raises(SourceError, match=r"none\.csv: cannot be read \(No such file or directory\)"):
        read_table(tmp_path / "none.csv", FaultLog())


def test_types_that_no_release_holds_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["x"], "when": pa.array([0], pa.timestamp("s"))}), path)
    with pytest.raises(
        SourceError, match=r"field 'when': a release cannot hold type timestamp\[.*turn it into text"
    ):
        read_table(path, FaultLog())


def test_parts_of_one_table_are_joined(tmp_path: Path) -> None:
    parts = [
        '{"a": null, "b": [], "c": 1}',
        '{"a": "x", "c": 0.5, "b": [7]}\n{"c": 2, "b": null, "a": 5}',
        "",
    ]
    for number, part in enumerate(parts):
        (tmp_path / f"part-{number}.jsonl").write_text(part + "\n")
    (tmp_path / "notes.csv").write_text("not,read\n1,2\n")
    faults = FaultLog("drop")
    rows = read_tables(table_files(tmp_path, "part-[01].jsonl"), faults)
    assert rows.table.to_pylist() == [{"a": None, "b": [], "c": 1.0}, {"a": "x", "b": [7], "c": 0.5}]
    assert [rows.place(row) for row in range(2)] == [
        "part-0.jsonl, row 0, line 1",
        "part-1.jsonl, row 0, line 1",
    ]
    assert rows.record_numbers().tolist() == [0, 1]
    assert (rows.read, faults.dropped) == (3, {"type differs from earlier rows": 1})
    with pytest.raises(SourceError, match=r"part-2\.jsonl: the file is empty"):
        read_tables(table_files(tmp_path), faults)
    with pytest.raises(SourceError, match=r"no table file .*'x/\*'; table files are: notes.csv, part-0"):
        table_files(tmp_path, "x/*")


@pytest.mark.parametrize(
    ("second", "expected"),
    [('{"a": 1, "z": 2}', "columns differ from those of 1.jsonl"), ('{"a": "x"}', "parts differ in types")],
)
def test_parts_that_differ_are_refused(tmp_path: Path, second: str, expected: str) -> None:
    (tmp_path / "1.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "2.jsonl").write_text(second + "\n")
    with pytest.raises(SourceError, match=expected):
        read_tables(table_files(tmp_path), FaultLog())


def test_long_cells_are_read_and_the_csv_limit_is_put_back(tmp_path: Path) -> None:
    limit = csv.field_size_limit()
    text = "word " * 100_000
    assert _rows(tmp_path / "a.csv", f'text,n\n"{text}",1\n') == [{"text": text, "n": "1"}]
    assert csv.field_size_limit() == limit


_CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


@settings(deadline=None, max_examples=50)
@given(rows=st.lists(st.tuples(_CELLS, _CELLS), min_size=1, max_size=6))
def test_csv_and_json_lines_give_back_what_was_written(
    rows: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    expected = [{"a": first, "b": second} for first, second in rows]
    with (folder / "a.csv").open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, quoting=csv.QUOTE_ALL)
        writer.writerows([("a", "b"), *rows])
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in expected), encoding="utf-8")
    for name in ("a.csv", "a.jsonl"):
        assert read_table(folder / name, FaultLog()).table.to_pylist() == expected
