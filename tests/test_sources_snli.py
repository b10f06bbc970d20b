"""The SNLI reader, on small files of our own and on the real corpus."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, Features, Value

from benchwright.builders.base import Origin
from benchwright.builders.snli import SnliBuilder
from benchwright.builders.sources.snli import LABELS, read_snli
from benchwright.errors import SourceError, SourceErrors
from benchwright.faults import FaultLog


def _original(pair_id: str | None, label: str = "neutral", **change: Any) -> dict[str, Any]:
    row = {
        "annotator_labels": [label],
        "captionID": "7.jpg#0",
        "gold_label": label,
        "pairID": pair_id,
        "sentence1": "A dog runs.",
        "sentence1_parse": "(ROOT)",
        "sentence2": f"It is {label}.",
    }
    return row | change


def _write(path: Path, *rows: dict[str, Any]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _rows(root: Path, faults: FaultLog | None = None) -> list[dict[str, Any]]:
    return read_snli(root, faults or FaultLog()).pairs.to_pylist()


def test_original_records(tmp_path: Path) -> None:
    five = ["entailment", "neutral", "entailment", "entailment", "neutral"]
    _write(
        tmp_path / "snli_1.0_train.jsonl", _original("1"), _original("2", "entailment", annotator_labels=five)
    )
    _write(tmp_path / "snli_1.0_test.jsonl", _original("1", "contradiction"))
    data = SnliBuilder().read(tmp_path, FaultLog(), Origin("folder"))
    rows = data.table.to_pylist()
    assert [row["uid"] for row in rows] == ["snli:train:1", "snli:train:2", "snli:test:1"]
    assert [LABELS[row["label"]] for row in rows] == ["neutral", "entailment", "contradiction"]
    assert [row["source_index"] for row in rows] == [0, 1, 2]
    assert rows[1]["annotator_labels"] == five
    assert (rows[0]["caption_id"], rows[0]["length"], rows[0]["premise_length"]) == ("7.jpg#0", 4, 4)
    assert data.notes == ("source split dev is missing",)


def test_tab_separated_and_json_lines_give_the_same_pairs(tmp_path: Path) -> None:
    parses = ["sentence1_binary_parse", "sentence2_binary_parse", "sentence1_parse", "sentence2_parse"]
    votes = ["label1", "label2", "label3", "label4", "label5"]
    header = ["gold_label", *parses, "sentence1", "sentence2", "captionID", "pairID", *votes]
    lines = [
        [
            "neutral",
            "(",
            "(",
            "(",
            "(",
            'A "dog" runs.',
            "It is neutral.",
            "7.jpg#0",
            "1",
            "neutral",
            "",
            "",
            "",
            "",
        ],
        ["-", "(", "(", "(", "(", "A dog runs.", "Hm.", "7.jpg#0", "2", "neutral", "entailment", "", "", ""],
    ]
    tab_separated, json_lines = tmp_path / "txt", tmp_path / "jsonl"
    tab_separated.mkdir()
    json_lines.mkdir()
    (tab_separated / "snli_1.0_dev.txt").write_text(
        "\n".join("\t".join(line) for line in [header, *lines]) + "\n"
    )
    _write(
        json_lines / "snli_1.0_dev.jsonl",
        _original("1", sentence1='A "dog" runs.'),
        _original("2", "-", sentence2="Hm."),
    )
    faults = FaultLog()
    assert _rows(tab_separated, faults) == _rows(json_lines)
    assert dict(faults.filtered) == {"no gold label": 1}


def test_trailing_annotator_columns_may_be_left_out(tmp_path: Path) -> None:
    text = (
        "gold_label\tsentence1\tsentence2\tcaptionID\tpairID\tlabel1\tlabel2\nneutral\ta\tb\tc\t1\tneutral\n"
    )
    (tmp_path / "snli_1.0_dev.txt").write_text(text)
    assert _rows(tmp_path)[0]["annotator_labels"] == ["neutral"]


@pytest.mark.parametrize("spelling", [LABELS, (0, 1, 2), ("0", "1", "2")])
def test_simple_json_records_with_names_or_numbers(tmp_path: Path, spelling: tuple[Any, ...]) -> None:
    simple = [{"premise": "p", "hypothesis": "h", "label": spelling[number]} for number in (2, 0, 1)]
    _write(tmp_path / "dev.jsonl", *simple)
    rows = _rows(tmp_path)
    assert [row["label"] for row in rows] == [2, 0, 1]
    assert [row["uid"] for row in rows] == ["snli:dev:0", "snli:dev:1", "snli:dev:2"]
    assert all(row[name] is None for row in rows for name in ("pair_id", "caption_id", "annotator_labels"))


def test_simple_tab_separated_records(tmp_path: Path) -> None:
    (tmp_path / "test.tsv").write_text(
        "premise\thypothesis\tlabel\np\th\t2\np\th\tneutral\np\th\t-1\np\th\t-\n"
    )
    faults = FaultLog()
    assert [row["label"] for row in _rows(tmp_path, faults)] == [2, 1]
    assert dict(faults.filtered) == {"no gold label": 2}


def test_parquet_labels_go_by_the_names_noted_in_the_file(tmp_path: Path) -> None:
    names = ["contradiction", "neutral", "entailment"]
    features = Features(
        {"premise": Value("string"), "hypothesis": Value("string"), "label": ClassLabel(names=names)}
    )
    table = pa.table(
        {"premise": ["p"] * 4, "hypothesis": ["h"] * 4, "label": pa.array([0, 1, 2, -1], pa.int64())}
    )
    pq.write_table(table.cast(features.arrow_schema), tmp_path / "test-00000-of-00001.parquet")
    assert [LABELS[row["label"]] for row in _rows(tmp_path)] == names


def test_filters_are_counted_in_the_order_of_the_paper(tmp_path: Path) -> None:
    not_seen = "Cannot see picture to describe."
    _write(
        tmp_path / "snli_1.0_train.jsonl",
        _original("1", "-", sentence1=not_seen, sentence2="n/a"),
        _original("2", sentence1=not_seen, sentence2="N/A"),
        _original("3", sentence2="N/a"),
        _original("4", sentence1=not_seen.lower()),
        _original("5", sentence2="n/a."),
    )
    faults = FaultLog()
    source = read_snli(tmp_path, faults)
    assert source.pairs.column("pair_id").to_pylist() == ["4", "5"]
    assert source.pairs.column("source_index").to_pylist() == [3, 4]
    assert dict(faults.filtered) == {
        "no gold label": 1,
        "premise cannot see picture": 1,
        "hypothesis n/a": 1,
    }
    assert source.read == 5


def test_a_pair_id_that_repeats_in_its_split_gives_way_to_the_row(tmp_path: Path) -> None:
    _write(tmp_path / "snli_1.0_train.jsonl", _original("a"), _original("b"), _original("a"), _original(None))
    _write(tmp_path / "snli_1.0_dev.jsonl", _original("a"))
    assert [row["uid"] for row in _rows(tmp_path)] == [
        "snli:train:0",
        "snli:train:b",
        "snli:train:2",
        "snli:train:3",
        "snli:dev:a",
    ]


def test_a_pair_id_that_repeats_in_a_filtered_record_is_not_unique(tmp_path: Path) -> None:
    _write(tmp_path / "snli_1.0_train.jsonl", _original("a"), _original("a", "-"))
    assert [row["uid"] for row in _rows(tmp_path)] == ["snli:train:0"]


def test_a_pair_id_that_reads_like_another_row_makes_all_uids_rows(tmp_path: Path) -> None:
    _write(tmp_path / "snli_1.0_train.jsonl", _original("1"), _original(None))
    assert [row["uid"] for row in _rows(tmp_path)] == ["snli:train:0", "snli:train:1"]


def test_parts_of_a_split_count_rows_on(tmp_path: Path) -> None:
    for part in "ba":
        _write(
            tmp_path / f"snli_1.0_dev.part_{part}.jsonl",
            _original(None, sentence2=part),
            _original(f"{part}1"),
        )
    source = read_snli(tmp_path, FaultLog())
    assert source.pairs.column("uid").to_pylist() == [
        "snli:dev:0",
        "snli:dev:a1",
        "snli:dev:2",
        "snli:dev:b1",
    ]
    assert source.pairs.column("source_index").to_pylist() == [0, 1, 2, 3]


def test_more_pairs_than_one_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path / "snli_1.0_dev.jsonl", *(_original(f"p{n}") for n in range(7)))
    whole = _rows(tmp_path)
    monkeypatch.setattr("benchwright.builders.sources.snli._BLOCK", 3)
    assert _rows(tmp_path) == whole
    assert len(whole) == 7


def test_the_published_archive_is_read_in_place_and_its_other_copy_passed_over(tmp_path: Path) -> None:
    data = json.dumps(_original("1")) + "\n"
    with zipfile.ZipFile(tmp_path / "snli_1.0.zip", "w") as archive:
        archive.writestr("snli_1.0/snli_1.0_dev.jsonl", data)
        archive.writestr("snli_1.0/snli_1.0_dev.txt", "unused")
        archive.writestr("__MACOSX/snli_1.0/._snli_1.0_dev.txt", "junk")
        archive.writestr("snli_1.0/README.txt", "words")
    source = read_snli(tmp_path / "snli_1.0.zip", FaultLog())
    assert [file.name for file in source.files] == ["snli_1.0/snli_1.0_dev.jsonl"]
    assert source.notes[-1] == "not read, another copy: snli_1.0/snli_1.0_dev.txt"
    assert list(tmp_path.iterdir()) == [tmp_path / "snli_1.0.zip"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            _original("1", "entails"),
            "field 'gold_label': unknown label, got 'entails'; known labels: 'entailment'",
        ),
        (_original("1", sentence2=None), "field 'sentence2': wrong type, got 'null'; give a string"),
        (_original("1", annotator_labels="neutral"), "field 'annotator_labels': wrong type"),
        ({"premise": "p", "hypothesis": "h", "label": 3}, "field 'label': unknown label, got 3"),
        ({"premise": "p", "hypothesis": "h", "label": True}, "field 'label': unknown label, got True"),
        ({"premise": "p", "hypothesis": "h", "label": None}, "field 'label': unknown label, got 'null'"),
        (
            {"premise": "p", "hypothesis": "h"},
            "field 'label': missing field; the record has premise, hypothesis",
        ),
    ],
)
def test_bad_rows_are_faults(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    _write(tmp_path / "dev.jsonl", _original("0"), row)
    with pytest.raises(SourceErrors) as caught:
        read_snli(tmp_path, FaultLog())
    assert "dev.jsonl, row 1, line 2, " + message in str(caught.value)


def test_dropped_rows_are_counted(tmp_path: Path) -> None:
    _write(tmp_path / "dev.jsonl", _original("0"), _original("1", "entails"), _original("2", "-"))
    faults = FaultLog("drop")
    source = read_snli(tmp_path, faults)
    assert dict(faults.dropped) == {"unknown label": 1}
    assert source.read == source.pairs.num_rows + 1 + 1


def test_a_file_of_bad_rows_alone_is_not_dropped(tmp_path: Path) -> None:
    _write(tmp_path / "train.jsonl", _original("0", "entails"), _original("1", "entails"))
    _write(tmp_path / "dev.jsonl", _original("0"))
    with pytest.raises(SourceError, match=r"train\.jsonl: no usable row among 2 rows \(unknown label: 2\)"):
        read_snli(tmp_path, FaultLog("drop"))
    # Rows that a rule of the paper leaves out are no bad ones.
    _write(tmp_path / "train.jsonl", _original("0", "entails"), _original("1", "-"))
    assert read_snli(tmp_path, FaultLog("drop")).pairs.num_rows == 1


@pytest.mark.corpora
def test_the_real_original_rows(data_folder: Path, tmp_path: Path) -> None:
    for part in "ab":
        shutil.copy(data_folder / "snli" / f"snli_1.0_dev.part_{part}.jsonl.gz", tmp_path)
    data = SnliBuilder().read(tmp_path, FaultLog(), Origin("folder"))
    assert (data.read, data.filtered) == (2_566, {"no gold label": 39})
    assert data.table.num_rows == 2_527
    assert all(uid == f"snli:dev:{pair_id}" for uid, pair_id in _pairs(data.table, "uid", "pair_id"))
    # A gold label is what at least three annotators say.
    for label, votes in _pairs(data.table, "label", "annotator_labels"):
        assert votes.count(LABELS[label]) >= 3


@pytest.mark.corpora
def test_the_real_public_copies(data_folder: Path, tmp_path: Path) -> None:
    for name in ("dev_9842.jsonl.gz", "test_9824.tsv.gz"):
        shutil.copy(data_folder / "snli" / name, tmp_path)
    data = SnliBuilder().read(tmp_path, FaultLog(), Origin("folder"))
    assert data.read == 9_842 + 9_824
    assert data.table.num_rows + sum(data.filtered.values()) == data.read
    splits = data.table.column("source_split").to_pylist()
    assert (splits.count("dev"), splits.count("test")) == (9_842, 9_824)


@pytest.mark.corpora
def test_a_public_copy_and_the_original_rows_agree(data_folder: Path, tmp_path: Path) -> None:
    """Every labelled original row is in the public copy, with the same texts and label."""
    folder = data_folder / "snli"
    copy = tmp_path / "dev.jsonl"
    copy.write_bytes(gzip.decompress((folder / "dev_9842.jsonl.gz").read_bytes()))
    original = tmp_path / "original"
    original.mkdir()
    for part in "ab":
        shutil.copy(folder / f"snli_1.0_dev.part_{part}.jsonl.gz", original)
    columns = ("premise", "hypothesis", "label")
    assert set(_pairs(read_snli(original, FaultLog()).pairs, *columns)) <= set(
        _pairs(read_snli(copy, FaultLog()).pairs, *columns)
    )


def _pairs(table: pa.Table, *names: str) -> list[tuple[Any, ...]]:
    return list(zip(*(table.column(name).to_pylist() for name in names), strict=True))


@pytest.mark.corpora
def test_numbers_of_the_real_test_copy_are_the_names_of_another_copy(
    data_folder: Path, oracle_folder: Path, tmp_path: Path
) -> None:
    shutil.copy(data_folder / "snli" / "test_9824.tsv.gz", tmp_path)
    pairs = read_snli(tmp_path, FaultLog()).pairs
    ours = [
        (premise, text, LABELS[label])
        for premise, text, label in _pairs(pairs, "premise", "hypothesis", "label")
    ]
    with (oracle_folder / "ll_split_classification" / "snli.csv").open(
        encoding="utf-8", newline=""
    ) as handle:
        theirs = [(row["premise"], row["hypothesis"], row["gold_label"]) for row in csv.DictReader(handle)]
    assert len(theirs) == 1_500
    assert ours[: len(theirs)] == theirs
