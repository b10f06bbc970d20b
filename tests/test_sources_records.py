"""Records of every format: what counts as one record, and what each fault says."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, Features, Value
from hypothesis import given
from hypothesis import strategies as st

from benchwright.builders.sources.files import InputFile
from benchwright.builders.sources.records import Record, Records, read_json_list
from benchwright.errors import SourceError, SourceErrors
from benchwright.faults import FaultLog


def _file(folder: Path, name: str, data: bytes | str) -> InputFile:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return InputFile(path, name)


def _fields(file: InputFile, faults: FaultLog | None = None) -> list[dict[str, Any]]:
    return [record.fields for record in Records(file, faults or FaultLog())]


ROWS = [{"text": "one", "label": "a"}, {"text": "two", "label": "b"}]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.jsonl", '{"text": "one", "label": "a"}\n{"text": "two", "label": "b"}\n'),
        ("x.jsonl", '{"text": "one", "label": "a"}\r\n\r\n{"text": "two", "label": "b"}'),
        ("x.jsonl", b'\xef\xbb\xbf{"text": "one", "label": "a"}\n{"text": "two", "label": "b"}'),
        ("x.json", json.dumps(ROWS, indent=1)),
        ("x.json", '{"text": "one", "label": "a"}\n{"text": "two", "label": "b"}\n'),
        ("x.tsv", "text\tlabel\none\ta\ntwo\tb\n"),
        ("x.txt", "text\tlabel\r\none\ta\r\ntwo\tb\r\n"),
        ("x.tsv", b"\xef\xbb\xbftext\tlabel\none\ta\ntwo\tb"),
        (
            "x.jsonl.gz",
            gzip.compress(b'{"text": "one", "label": "a"}\n{"text": "two", "label": "b"}\n', mtime=0),
        ),
    ],
)
def test_every_format_gives_the_same_records(tmp_path: Path, name: str, data: bytes | str) -> None:
    assert _fields(_file(tmp_path, name, data)) == ROWS


def test_parquet_gives_the_same_records_and_class_numbers_by_name(tmp_path: Path) -> None:
    table = pa.table({"text": ["one", "two"], "label": pa.array([1, 0], pa.int64())})
    features = Features({"text": Value("string"), "label": ClassLabel(names=["b", "a"])})
    pq.write_table(table.cast(features.arrow_schema), tmp_path / "x.parquet")
    assert _fields(InputFile(tmp_path / "x.parquet", "x.parquet")) == ROWS


def test_a_parquet_class_number_without_a_name_stays_a_number(tmp_path: Path) -> None:
    features = Features({"label": ClassLabel(names=["b", "a"])})
    pq.write_table(pa.table({"label": [-1, 0]}).cast(features.arrow_schema), tmp_path / "x.parquet")
    assert _fields(InputFile(tmp_path / "x.parquet", "x.parquet")) == [{"label": -1}, {"label": "b"}]


def test_places_count_rows_from_0_and_lines_from_1_with_blank_lines(tmp_path: Path) -> None:
    records = Records(_file(tmp_path, "x.jsonl", '{"a": 1}\n\n{"a": 2}\n'), FaultLog())
    assert [(record.row, record.line) for record in records] == [(0, 1), (1, 3)]
    assert records.rows == 2


def test_a_bad_line_is_a_fault_and_still_has_a_row(tmp_path: Path) -> None:
    faults = FaultLog("drop")
    records = Records(_file(tmp_path, "x.jsonl", '{"a": 1}\n{"a": \n[3]\n{"a": 4}\n'), faults)
    assert [(record.row, record.line, record.fields) for record in records] == [
        (0, 1, {"a": 1}),
        (3, 4, {"a": 4}),
    ]
    assert records.rows == 4
    assert dict(faults.dropped) == {"not valid JSON (Expecting value)": 1, "not a JSON object": 1}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_have_are_faults(tmp_path: Path, number: str) -> None:
    faults = FaultLog()
    assert _fields(_file(tmp_path, "x.jsonl", f'{{"a": {number}}}\n'), faults) == []
    with pytest.raises(SourceErrors, match=rf"row 0, line 1: not valid JSON \({number} is no JSON number\)"):
        faults.finish()


def test_json_nested_too_deeply_is_a_fault_and_no_crash(tmp_path: Path) -> None:
    faults = FaultLog("drop")
    assert _fields(_file(tmp_path, "x.jsonl", "[" * 200_000 + "\n" + '{"a": 1}\n'), faults) == [{"a": 1}]
    assert sum(faults.dropped.values()) == 1


def test_a_tab_separated_row_that_is_long_is_a_fault_and_one_that_is_short_lacks_fields(
    tmp_path: Path,
) -> None:
    faults = FaultLog("drop")
    file = _file(tmp_path, "x.tsv", "a\tb\tc\n1\t2\t3\n1\t2\n1\t2\t3\t4\n")
    assert _fields(file, faults) == [{"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "2"}]
    assert dict(faults.dropped) == {"more fields than the header has": 1}


@pytest.mark.parametrize(
    ("cells", "expected", "quoted"),
    [
        (['"He said ""hi""."', "plain"], ['He said "hi".', "plain"], True),
        (['"""Hi."""', '"a ""b"" c"'], ['"Hi."', 'a "b" c'], True),
        (['"He said ""hi""."', 'one " mark'], None, False),
        (['"He said ""hi""."', '"A quotation."'], None, False),
        (['"A quotation."'], None, False),
        (['"'], None, False),
        (['""'], None, False),
        (['"open ""mark""'], None, False),
        (["plain"], None, False),
    ],
)
def test_csv_quotes_are_undone_only_where_every_field_proves_them(
    tmp_path: Path, cells: list[str], expected: list[str] | None, quoted: bool
) -> None:
    records = Records(
        _file(tmp_path, "x.tsv", "a\tb\n" + "".join(f"{cell}\tx\n" for cell in cells)), FaultLog()
    )
    assert [record.fields["a"] for record in records] == (expected or cells)
    assert records.quoted is quoted


def test_a_header_with_a_name_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="line 1: a column name stands twice"):
        _fields(_file(tmp_path, "x.tsv", "a\ta\n1\t2\n"))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x.jsonl", b"", "the file is empty"),
        ("x.jsonl", b"\xef\xbb\xbf", "the file is empty"),
        ("x.jsonl", b"\n \n", "the file is empty"),
        ("x.json", b"[]", "the file is empty"),
        ("x.tsv", b"a\tb\n", "the file is empty"),
        ("x.jsonl", '{"a": 1}\n'.encode("utf-16"), "UTF-16 or binary, not UTF-8; save the file as UTF-8"),
        ("x.jsonl", '{"a": 1}\n'.encode("utf-16-le"), "UTF-16 or binary, not UTF-8; save the file as UTF-8"),
        ("x.json", '[{"a": 1}]'.encode("utf-16"), "UTF-16 or binary"),
        ("x.jsonl", b'{"a": 1}\n{"a": "\xe9"}\n', "line 2: not UTF-8"),
        ("x.json", b'[\n{"a": "\xe9"}]', "line 2: not UTF-8"),
        ("x.jsonl", gzip.compress(b"{}", mtime=0), "gzip-compressed; add .gz to its name"),
        ("x.jsonl", b"PK\x03\x04rest", "the file is a zip archive"),
        ("x.jsonl", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer"),
        ("x.jsonl", b'{"a": 1}\n{"a": 2', "line 2: the file ends in the middle of a record"),
        ("x.json", b'[{"a": 1},\n {"a": ', "line 2: the file ends in the middle of a record"),
        ("x.json", b'[{"a": 1},\n {"a": "tex', "line 2: the file ends in the middle of a record"),
        ("x.json", b'[{"a": 1},\n {"a" 2}]', "line 2: not valid JSON (Expecting ':' delimiter)"),
        ("x.json", b'"text"', "not a JSON list, got 'text'"),
        ("x.parquet", b"PAR1 but no more", "not a parquet file, or damaged"),
        ("x.csv", b"a,b\n", "unknown format; give one of jsonl, ndjson, json, tsv, txt, parquet"),
    ],
)
def test_files_that_cannot_be_used_as_a_whole(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        _fields(_file(tmp_path, name, data), FaultLog("drop"))
    assert message in str(caught.value)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_the_end_of_a_file_that_is_cut_is_no_row_to_drop(tmp_path: Path) -> None:
    file = _file(tmp_path, "x.jsonl", '{"a": 1}\n{"a": 2')
    with pytest.raises(SourceError, match="ends in the middle"):
        _fields(file, FaultLog("drop"))


def test_read_json_list_returns_the_items(tmp_path: Path) -> None:
    assert read_json_list(_file(tmp_path, "x.json", "[1, {}]")) == [1, {}]


@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r")))
def test_any_text_survives_a_tab_separated_file(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = _file(tmp_path_factory.mktemp("tsv"), "x.tsv", f"a\tb\nstart\t{text}\n")
    assert _fields(file) == [{"a": "start", "b": text}]


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives_json_lines(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    line = json.dumps({"a": text}, ensure_ascii=False)
    file = _file(tmp_path_factory.mktemp("jsonl"), "x.jsonl", f"{line}\n{line}\n")
    assert _fields(file) == [{"a": text}] * 2


def _record(**fields: Any) -> Record:
    return Record("x.jsonl", 3, 5, fields)


def test_a_fault_names_file_row_line_field_value_and_fix() -> None:
    with pytest.raises(SourceError) as caught:
        _record(a=7).text("a")
    assert str(caught.value) == "x.jsonl, row 3, line 5, field 'a': wrong type, got 7; give a string"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _record(b="").text("a"), "field 'a': missing field; the record has b"),
        (lambda: _record(a=None).text("a"), "wrong type, got 'null'; give a string"),
        (lambda: _record(a="\ud800").text("a"), "half a surrogate pair"),
        (lambda: _record(a=["\udc00"]).texts("a"), "half a surrogate pair"),
        (lambda: _record(a=" \t").filled_text("a"), "empty text"),
        (lambda: _record(a=["x", 1]).texts("a"), "give a list of strings"),
        (lambda: _record(a="x").texts("a"), "give a list of strings"),
        (lambda: _record(a=[1, True]).integers("a"), "give a list of integers"),
        (lambda: _record(a=3.0).optional_text("a"), "wrong type, got 3.0"),
    ],
)
def test_fields_have_strict_types(call: Any, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        call()
    assert message in str(caught.value)


def test_an_optional_text_may_be_missing_null_or_empty() -> None:
    assert [_record(**fields).optional_text("a") for fields in ({}, {"a": None}, {"a": ""}, {"a": "x"})] == [
        None,
        None,
        None,
        "x",
    ]
