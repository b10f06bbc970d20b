"""What `benchwright split` makes of a user's columns: uids, labels, groups, sizes and configs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, Features, Value

from benchwright.builders.base import BuildOptions, Origin, SourceData
from benchwright.builders.custom import (
    PROGRAM_RULES,
    RULES,
    CustomBuilder,
    corpus_name,
    custom_builder,
)
from benchwright.builders.sizes import held_out_sizes, parse_size
from benchwright.errors import BenchwrightError, SourceError, UsageError
from benchwright.faults import FaultLog
from benchwright.splitting import Sizes
from benchwright.tables import conform

TABLES = {"prompt": ["lm_prompt", "lm_prompt_gpt2"], "kfold": ["lm_kfold"]}


def _write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _read(
    path: Path, rows: list[dict[str, Any]], policy: Any = "fail", **columns: Any
) -> tuple[CustomBuilder, SourceData]:
    builder = custom_builder("Film reviews", **{"text": "text", **columns})
    data = builder.read(_write(path, rows), FaultLog(policy), Origin("folder"))
    return builder, data


def _reviews(count: int = 10) -> list[dict[str, Any]]:
    return [{"text": f"Review {row} is fine.", "label": "good" if row % 3 else "bad"} for row in range(count)]


def test_rows_keep_the_users_columns_and_gain_head_and_tail(tmp_path: Path) -> None:
    rows = [{"Stars": row, **review, "tags": ["a"]} for row, review in enumerate(_reviews())]
    builder, data = _read(tmp_path / "a.jsonl", rows, label="label")
    assert list(builder.features) == [
        *("uid", "content_id", "Stars", "text", "label", "tags"),
        *("log_likelihood", "lm_num_tokens", "fold", "length", "placed_by", "source_split", "source_index"),
    ]
    table = conform(data.table, builder.features.arrow_schema)
    assert table.column("Stars").to_pylist() == list(range(10))
    assert table.column("text").to_pylist() == [row["text"] for row in rows]
    assert table.column("length").to_pylist() == [5] * 10
    assert table.column("source_index").to_pylist() == list(range(10))
    assert set(table.column("source_split").to_pylist()) == {"all"}
    assert (data.read, data.dropped, [file.rows for file in data.files]) == (10, {}, [10])
    assert not builder.published
    assert builder.name == "custom"


def test_uids_come_from_the_id_column(tmp_path: Path) -> None:
    rows = [{"key": 7 * row, **review} for row, review in enumerate(_reviews())]
    _, data = _read(tmp_path / "a.jsonl", rows, id="key")
    assert data.table.column("uid").to_pylist() == [f"film_reviews:all:{7 * row}" for row in range(10)]


def test_uids_without_ids_come_from_input_and_label(tmp_path: Path) -> None:
    rows = [*_reviews(6), {**_reviews(1)[0], "label": "good"}, *_reviews(2), _reviews(1)[0]]
    _, data = _read(tmp_path / "a.jsonl", [{**row, "n": n} for n, row in enumerate(rows)], label="label")
    uids = data.table.column("uid").to_pylist()
    assert len(set(uids)) == 10
    assert [uid.partition("#")[2] for uid in uids] == ["", "", "", "", "", "", "", "2", "2", "3"]
    assert uids[7] == f"{uids[0]}#2"
    assert uids[9] == f"{uids[0]}#3"
    assert uids[6].partition("#")[0] != uids[0]
    content_ids = data.table.column("content_id").to_pylist()
    assert content_ids[0] == content_ids[6] == content_ids[7] == content_ids[9]
    other = _read(tmp_path / "b.jsonl", [{"added": 1, **row} for row in reversed(rows)], label="label")[1]
    assert sorted(other.table.column("uid").to_pylist()) == sorted(uids)


def test_a_repeated_id_names_both_rows(tmp_path: Path) -> None:
    rows = [{"key": key, **review} for key, review in zip("abcdbfghij", _reviews(), strict=True)]
    with pytest.raises(SourceError) as raised:
        _read(tmp_path / "a.jsonl", rows, id="key")
    assert "row 4, line 5, field 'key': id stands twice, got 'b'; row 1, line 2 has it too" in str(
        raised.value
    )
    _, data = _read(tmp_path / "a.jsonl", rows, "drop", id="key")
    assert data.dropped == {"id stands twice": 1}
    assert data.read == data.table.num_rows + 1


def test_rows_without_text_label_or_id_are_faults_and_counted_once(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"key": str(row), **review} for row, review in enumerate(_reviews())]
    rows[1]["text"] = " \n"
    rows[3].update(text=None, label=None)
    rows[5]["label"] = ""
    rows[7]["key"] = None
    with pytest.raises(SourceError) as raised:
        _read(tmp_path / "a.jsonl", rows, label="label", id="key")
    faults = str(raised.value).split("\n")
    assert [fault.partition(": ")[2].partition(",")[0] for fault in faults[:4]] == [
        "empty text", "empty text", "no label", "no id",
    ]  # fmt: skip
    assert "row 3, line 4, field 'text': empty text, got 'null'; fill it in" in faults[1]
    _, data = _read(tmp_path / "a.jsonl", rows, "drop", label="label", id="key")
    assert data.dropped == {"empty text": 2, "no label": 1, "no id": 1}
    assert data.table.column("source_index").to_pylist() == [0, 2, 4, 6, 8, 9]
    assert data.read == 10


def test_bad_rows_of_the_file_and_of_the_columns_are_shown_together(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label\nfine,x\nragged\n,y\nalso fine,y\n")
    with pytest.raises(SourceError) as raised:
        custom_builder("a", text="text").read(path, FaultLog(), Origin("folder"))
    assert "line 3: wrong number of fields" in str(raised.value)
    assert "line 4, field 'text': empty text" in str(raised.value)
    assert "2 bad row(s)" in str(raised.value)


def test_text_labels_become_classes_in_sorted_order(tmp_path: Path) -> None:
    rows = [{"text": f"t{n}", "label": label} for n, label in enumerate(["None", "b", "NA", "b", "1e5"])]
    builder, data = _read(tmp_path / "a.jsonl", rows, label="label")
    assert builder.features["label"].names == ["1e5", "NA", "None", "b"]
    assert data.table.column("label").to_pylist() == [2, 3, 1, 3, 0]
    assert builder.task.labels == ("1e5", "NA", "None", "b")
    assert builder.split_rows(data).label_names == ("1e5", "NA", "None", "b")
    assert builder.task.target == "label"


def test_numbers_and_booleans_keep_their_values(tmp_path: Path) -> None:
    rows = [{"text": f"t{n}", "stars": 1 + n % 3, "liked": n % 2 == 0} for n in range(9)]
    builder, data = _read(tmp_path / "a.jsonl", rows, label="stars")
    assert data.table.column("stars").to_pylist() == [row["stars"] for row in rows]
    assert builder.features["stars"] == ClassLabel(names=["0", "1", "2", "3"])
    builder, data = _read(tmp_path / "a.jsonl", rows, label="liked")
    assert data.table.column("liked").to_pylist() == [row["liked"] for row in rows]
    assert builder.features["liked"] == Value("bool")
    assert builder.task.labels == ("false", "true")
    labels = builder.split_rows(data).labels
    assert labels is not None
    assert labels.tolist() == [int(row["liked"]) for row in rows]


def test_class_names_that_datasets_noted_are_kept(tmp_path: Path) -> None:
    classes = {name: ClassLabel(names=["no", "yes"]) for name in ("label", "topic", "unmarked")}
    features = Features({"text": Value("string"), **classes})
    columns = {
        "text": [f"t{n}" for n in range(6)],
        "label": [0, 1, 1, 0, 1, -1],
        "topic": [0, 1, 0, 1, 0, 1],
        "unmarked": [0, 1, -1, -1, 0, 1],
    }
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns, schema=features.arrow_schema), path)
    builder = custom_builder("a", text="text", label="label")
    faults = FaultLog("drop")
    data = builder.read(path, faults, Origin("folder"))
    assert faults.dropped == {"negative label": 1}
    assert builder.task.labels == ("no", "yes")
    assert data.table.column("label").to_pylist() == [0, 1, 1, 0, 1]
    assert builder.features["topic"] == ClassLabel(names=["no", "yes"])
    # -1 is the number of no class: the column stays numbers.
    assert builder.features["unmarked"] == Value("int64")
    assert data.table.column("unmarked").to_pylist() == [0, 1, -1, -1, 0]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            [0.5, 1.5, 2.0],
            "field 'label': the column holds double; labels are text, whole numbers or true and false",
        ),
        (["x", "x", "x"], "field 'label': every label is 'x'; leave out --label"),
        ([1, 2, 90_000], "field 'label': a label is 90000; give at most 1000 classes"),
        ([1, -1, 1], "row 1, line 2, field 'label': negative label, got -1; number classes from 0"),
    ],
)
def test_columns_that_hold_no_classes_are_refused(tmp_path: Path, values: list[Any], expected: str) -> None:
    rows = [{"text": f"t{n}", "label": value} for n, value in enumerate(values)]
    with pytest.raises(SourceError) as raised:
        _read(tmp_path / "a.jsonl", rows, label="label")
    assert expected in str(raised.value)


def test_equal_inputs_and_groups_are_joined(tmp_path: Path) -> None:
    rows = [
        {"passage": "p", "text": "same", "author": "ann"},
        {"passage": "p", "text": "same", "author": "bob"},
        {"passage": "q", "text": "same", "author": "cat"},
        {"passage": "p", "text": "by bob", "author": "bob"},
        {"passage": "p", "text": "nobody 1", "author": ""},
        {"passage": "p", "text": "nobody 2", "author": None},
        {"passage": "p", "text": "by cat", "author": "cat"},
    ]
    alone, data = _read(tmp_path / "a.jsonl", rows, context="passage")
    assert alone.task.inputs == ("passage", "text")
    assert _partition(alone.split_rows(data).groups) == [{0, 1}, {2}, {3}, {4}, {5}, {6}]
    builder, data = _read(tmp_path / "a.jsonl", rows, context="passage", group="author")
    assert _partition(builder.split_rows(data).groups) == [{0, 1, 3}, {2, 6}, {4}, {5}]
    assert data.notes[1:] == (
        "2 rows share their input with another row (1 input); rows of equal input stay on one side.",
        "Rows of one 'author' stay on one side: 3 values, the largest with 2 of 7 rows; 2 rows have none.",
    )


def test_rows_without_repeats_have_no_groups(tmp_path: Path) -> None:
    builder, data = _read(tmp_path / "a.jsonl", _reviews())
    assert builder.split_rows(data).groups is None


def _partition(groups: np.ndarray | None) -> list[set[int]]:
    assert groups is not None
    return sorted(({*np.flatnonzero(groups == group).tolist()} for group in set(groups.tolist())), key=min)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"text": "Text"}, "--text 'Text' is no column; did you mean text?"),
        ({"label": "xyz"}, "--label 'xyz' is no column; known: text, label"),
        ({"context": "text"}, "column 'text' is text and context at once; name two columns"),
        ({"label": "text"}, "column 'text' is input and label at once; name two columns"),
        ({"by": ["likelyhood"]}, "rows cannot be divided by 'likelyhood'; did you mean likelihood"),
        ({"by": []}, "nothing to divide rows by; give one of random, length"),
        ({"validation": 1.0}, "size is 1.0; a share is between 0 and 1"),
        ({"test": -3}, "size is -3; give a number of rows"),
        ({"validation": 0, "test": 0}, "validation and test are both 0"),
        ({"validation": 5, "test": 5}, "validation (5) and test (5) leave none of the 10 rows to train on"),
        ({"validation": 0.5, "test": 0.5}, "leave none of the 10 rows to train on"),
        ({"scorer": "bm25"}, "scorer is 'bm25'; give prompt or kfold"),
    ],
)
def test_choices_that_cannot_be_used_are_one_line(
    tmp_path: Path, columns: dict[str, Any], expected: str
) -> None:
    with pytest.raises(UsageError) as raised:
        _read(tmp_path / "a.jsonl", _reviews(), **columns)
    assert expected in str(raised.value)
    assert "\n" not in str(raised.value)


def test_columns_that_a_release_adds_are_refused(tmp_path: Path) -> None:
    rows = [{**row, "uid": 1, "length": 2, "Length": 3} for row in _reviews()]
    with pytest.raises(UsageError, match=r"adds by itself: 'uid', 'length'; rename them"):
        _read(tmp_path / "a.jsonl", rows)


def test_texts_must_be_text(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"field 'text': the column holds int64; give a column of text"):
        _read(tmp_path / "a.jsonl", [{"text": 1}, {"text": 2}])


@pytest.mark.parametrize(
    ("rows", "validation", "test", "sizes"),
    [
        (1_000, 0.1, 0.1, Sizes(800, 100, 100)),
        (1_009, 0.1, 0.2, Sizes(708, 100, 201)),
        (3, 0.1, 0.1, Sizes(1, 1, 1)),
        (50, 0, 20, Sizes(30, 0, 20)),
        (1_000_000, 0.29, 0.57, Sizes(140_000, 290_000, 570_000)),
    ],
)
def test_sizes(rows: int, validation: float, test: float, sizes: Sizes) -> None:
    assert held_out_sizes(rows, validation, test) == sizes


def test_sizes_and_names_from_the_command_line() -> None:
    assert [parse_size(text) for text in ("500", "0.25", ".5", "0", "20.0")] == [500, 0.25, 0.5, 0, 20]
    for text in ("1.0", "-3", "10%", "", "2.5", "nan", "1e3"):
        with pytest.raises(UsageError):
            parse_size(text)
    names = ("train.jsonl.gz", "My.data-v2.CSV", "org/name", "данные.tsv", "a.txt")
    assert [corpus_name(name) for name in names] == ["train", "my_data_v2", "org_name", "data", "a_txt"]


@pytest.mark.parametrize(
    ("rule", "scorer", "expected"),
    [
        ("random", "prompt", ["random"]),
        ("length", "prompt", ["length"]),
        ("likelihood", "prompt", ["ll_split_pt", "ll_split_pt_gpt2"]),
        ("likelihood", "kfold", ["ll_split"]),
        ("likelihood_len", "kfold", ["ll_split_len"]),
        ("likelihood_reverse", "prompt", ["ll_split_pt_reverse", "ll_split_pt_gpt2_reverse"]),
        ("likelihood_len_reverse", "kfold", ["ll_split_len_reverse"]),
    ],
)
def test_each_rule_makes_its_configs(rule: str, scorer: Any, expected: list[str]) -> None:
    builder = custom_builder("a", text="text", label="label", by=[rule], scorer=scorer)
    specs = builder.configs(BuildOptions(), TABLES, 100)
    assert [spec.name for spec in specs if not spec.extra] == expected
    assert [spec.name for spec in specs if spec.default] == expected[:1]
    assert {"random_2", "random_3"} <= {spec.name for spec in specs if spec.extra}
    assert all(spec.parameters["sizes"] == {"train": 80, "validation": 10, "test": 10} for spec in specs)


def test_the_first_rule_makes_the_default_config() -> None:
    builder = custom_builder("a", text="text", by=["length", "random", "likelihood"])
    specs = builder.configs(BuildOptions(), TABLES)
    assert {spec.name for spec in specs if not spec.extra} == {
        "length",
        "random",
        "ll_split_pt",
        "ll_split_pt_gpt2",
    }
    assert [spec.name for spec in specs if spec.default] == ["length"]
    with pytest.raises(UsageError, match="a split by likelihood needs scores by prompt"):
        builder.configs(BuildOptions(), {})


def test_choices_make_the_builder_again() -> None:
    builder = custom_builder(
        "a",
        text="t",
        context="c",
        label="l",
        group="g",
        id="i",
        by=[rule for rule in RULES if rule not in PROGRAM_RULES],
        scorer="kfold",
        validation=5,
        test=0.2,
    )
    choices = json.loads(json.dumps(builder.choices()))
    again = custom_builder("a", **choices)
    assert again.choices() == builder.choices()
    assert again.info == builder.info


def test_the_likelihood_is_that_of_the_text_given_its_context(tmp_path: Path) -> None:
    rows = [{"passage": f"{{p}} {n}", "text": "What?"} for n in range(4)]
    builder, data = _read(tmp_path / "a.jsonl", rows, context="passage")
    template = builder.templates[builder.default_prompt]
    assert template.render(data.table) == ([f"{{p}} {n}" for n in range(4)], [" What?"] * 4)
    assert builder.kfold_template in builder.templates


def test_every_error_is_one_of_ours(tmp_path: Path) -> None:
    """A table of every odd column type either reads or is refused; nothing else is raised."""
    kinds: list[Any] = [1, 1.5, True, None, "x", [], ["x"], [[1]], {"a": 1}, [{"a": None}], {"a": {}}, {}]
    for number, value in enumerate(kinds):
        rows = [{"text": f"t{n}", "odd": value} for n in range(3)]
        for columns in ({}, {"label": "odd"}, {"id": "odd"}, {"group": "odd"}):
            try:
                builder, data = _read(tmp_path / f"{number}.jsonl", rows, **columns)
                conform(data.table, builder.features.arrow_schema)
                builder.split_rows(data)
            except BenchwrightError:
                continue
