"""The reader of published task files, on small files of our own and on the real ones."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from benchwright.builders.sources.curriculum import TaskPairs, find_tasks, read_task
from benchwright.errors import SourceError, SourceErrors
from benchwright.faults import FaultLog

TASKS = ("lexical", "drop", "puns", "hypernymy")
CORPORA = ("drop", "piqa", "wordnet_qa")
NUMBERS = {"entailed": 0, "not-entailed": 1}
LABELS = {"train": NUMBERS, "val": NUMBERS}


def row(
    idx: int, premise: str = "A hen sat.", hypothesis: str = "A bird sat.", **more: Any
) -> dict[str, Any]:
    return {"premise": premise, "hypothesis": hypothesis, "gold_label": "entailed", "idx": idx, **more}


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(found) + "\n" for found in rows)


def write_task(folder: Path, train: str | None = None, val: str | None = None) -> Path:
    folder.mkdir(parents=True)
    for name, text in (("train.jsonl", train), ("val.jsonl", val)):
        (folder / name).write_text(lines(row(0)) if text is None else text, encoding="utf-8")
    return folder


def zip_task(path: Path, task: str, **members: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("train.jsonl", "val.jsonl"):
            archive.writestr(f"{task}/{name}", lines(row(0), row(1)))
        for name, text in members.items():
            archive.writestr(name, text)


def read(root: Path, faults: FaultLog | None = None, item: str | None = None) -> TaskPairs:
    (files,) = find_tasks(root, TASKS, CORPORA)
    log = faults or FaultLog()
    made = read_task(files, LABELS, log, item=item)
    log.finish()
    return made


def test_records_become_rows_as_they_are(tmp_path: Path) -> None:
    odd = "  Two  spaces , a\u2028separator and NASA \n"
    train = lines(row(0), row(1, odd, "x", gold_label="not-entailed"))
    write_task(tmp_path / "lexical", train, lines(row(0, "Rain fell ; ", "")))
    made = read(tmp_path)
    assert made.pairs.to_pylist() == [
        {
            "uid": f"curriculum_lexical:{uid}",
            "premise": premise,
            "hypothesis": hypothesis,
            "label": label,
            "group_id": None,
            "source_split": split,
        }
        for uid, premise, hypothesis, label, split in (
            ("train:0", "A hen sat.", "A bird sat.", 0, "train"),
            ("train:1", odd, "x", 1, "train"),
            ("val:0", "Rain fell ; ", "", 0, "val"),
        )
    ]
    assert (made.read, made.notes) == (3, ())
    assert [(file.name, file.rows) for file in made.files] == [
        ("lexical/train.jsonl", 2),
        ("lexical/val.jsonl", 1),
    ]


def test_archives_folders_and_compressed_files_are_found(tmp_path: Path) -> None:
    zip_task(
        tmp_path / "lexical.zip", "lexical", **{"__MACOSX/lexical/._val.jsonl": "x", "lexical/.DS_Store": ""}
    )
    write_task(tmp_path / "benchmark" / "tasks" / "puns")
    (tmp_path / "drop").mkdir()
    for name in ("train.jsonl.gz", "val.jsonl.gz"):
        (tmp_path / "drop" / name).write_bytes(gzip.compress(lines(row(0)).encode()))
    found = find_tasks(tmp_path, TASKS, CORPORA)
    assert [(files.task, files.place) for files in found] == [
        ("lexical", "lexical.zip"),
        ("drop", "drop"),
        ("puns", "benchmark"),
    ]
    assert [files.val.name for files in found] == [
        "lexical.zip/lexical/val.jsonl",
        "drop/val.jsonl.gz",
        "benchmark/tasks/puns/val.jsonl",
    ]


def test_one_task_may_be_the_whole_source(tmp_path: Path) -> None:
    zip_task(tmp_path / "lexical.zip", "lexical")
    folder = write_task(tmp_path / "puns")
    assert [files.task for files in find_tasks(tmp_path / "lexical.zip", TASKS, CORPORA)] == ["lexical"]
    assert [files.task for files in find_tasks(folder, TASKS, CORPORA)] == ["puns"]


def test_corpora_beside_tasks_are_passed_over(tmp_path: Path) -> None:
    zip_task(tmp_path / "drop.zip", "drop")
    for place in ("drop", "piqa", "wordnet_qa/hypernymy"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "train.jsonl").write_text("{}\n")
    assert [(files.task, files.place) for files in find_tasks(tmp_path, TASKS, CORPORA)] == [
        ("drop", "drop.zip")
    ]


def test_a_zip_and_a_folder_of_one_task_are_two_copies(tmp_path: Path) -> None:
    zip_task(tmp_path / "lexical.zip", "lexical")
    write_task(tmp_path / "lexical")
    with pytest.raises(SourceError, match=r"'lexical' stands twice: lexical/train\.jsonl, lexical\.zip"):
        find_tasks(tmp_path, TASKS)


@pytest.mark.parametrize("missing", ["train", "val"])
def test_a_task_without_one_of_its_files(tmp_path: Path, missing: str) -> None:
    (write_task(tmp_path / "lexical") / f"{missing}.jsonl").unlink()
    with pytest.raises(SourceError, match=f"task 'lexical' has no {missing}.jsonl"):
        find_tasks(tmp_path, TASKS)


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        ("lexicl", "no task of Curriculum has this name, got 'lexicl'; did you mean lexical"),
        ("tasks/lexicl", "got 'lexicl'; did you mean lexical"),
        ("pika", "got 'pika'; did you mean piqa"),
        ("corpora/piqa", "got 'piqa'; put the folder of the corpus into the source itself"),
    ],
)
def test_unknown_names_are_told(tmp_path: Path, folder: str, message: str) -> None:
    write_task(tmp_path / folder)
    with pytest.raises(SourceError, match=message):
        find_tasks(tmp_path, TASKS, CORPORA)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"gold_label": "neutral"},
            "field 'gold_label': unknown label, got 'neutral'; known labels: 'entailed'",
        ),
        ({"gold_label": 0}, "unknown label, got 0"),
        ({"premise": None}, "field 'premise': wrong type, got 'null'"),
        ({"hypothesis": 3}, "field 'hypothesis': wrong type, got 3"),
        ({"premise": "\ud800"}, "half a surrogate pair"),
    ],
    ids=["label of another task", "number", "null", "no text", "surrogate"],
)
def test_bad_rows_are_faults(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    write_task(tmp_path / "lexical", lines(row(0), row(1) | change))
    with pytest.raises(SourceErrors, match=message) as caught:
        read(tmp_path)
    assert "train.jsonl, row 1, line 2" in str(caught.value)
    log = FaultLog("drop")
    made = read(tmp_path, log)
    assert (made.read, made.pairs.num_rows, sum(log.dropped.values())) == (3, 2, 1)


@pytest.mark.parametrize("split", ["train", "val"])
def test_a_file_of_bad_rows_alone_is_not_dropped(tmp_path: Path, split: str) -> None:
    text = lines(row(0, gold_label="maybe"), row(1, gold_label="maybe"), row(2) | {"premise": 1}) + "{]\n"
    write_task(tmp_path / "lexical", **{split: text})
    with pytest.raises(SourceError) as caught:
        read(tmp_path, FaultLog("drop"))
    assert str(caught.value) == (
        f"{tmp_path / 'lexical' / split}.jsonl: no usable row among 4 rows (unknown label: 2, wrong type: 1, "
        "not valid JSON (Expecting property name enclosed in double quotes): 1); repair them, or leave the "
        "file out; without --on-bad-row drop each is named"
    )
    with pytest.raises(SourceErrors, match=r"4 bad row\(s\)"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lines(row(0)).encode("utf-16"), "UTF-16 or binary"),
        (b"", "the file is empty"),
        (lines(row(0)).encode() + b'{"premise": "A he', "ends in the middle of a record"),
        (b"\xff\xfe\x00", "UTF-16 or binary"),
        (lines(row(0)).encode("latin-1") + b'{"premise": "caf\xe9"}\n', "not UTF-8"),
    ],
    ids=["utf-16", "empty", "cut", "binary", "latin-1"],
)
def test_files_that_are_not_what_they_seem(tmp_path: Path, content: bytes, message: str) -> None:
    folder = write_task(tmp_path / "lexical")
    (folder / "val.jsonl").write_bytes(content)
    with pytest.raises(SourceError, match=message) as caught:
        read(tmp_path)
    assert "val.jsonl" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("member", ["../lexical/x.jsonl", "/lexical/train.jsonl"])
def test_an_unsafe_archive_is_refused(tmp_path: Path, member: str) -> None:
    zip_task(tmp_path / "lexical.zip", "lexical", **{member: "x"})
    with pytest.raises(SourceError, match="the archive holds"):
        find_tasks(tmp_path, TASKS)


def test_notes_count_numbers_and_fields_that_are_not_used(tmp_path: Path) -> None:
    train = lines(row(0), row(7), row(2, verb_frame="dat"), {k: v for k, v in row(3).items() if k != "idx"})
    write_task(tmp_path / "lexical", train)
    made = read(tmp_path)
    assert made.notes == (
        "lexical/train.jsonl: idx of 2 row(s) is not the row; rows are numbered by place",
        "lexical/train.jsonl: field 'verb_frame' of 1 row(s) is not used",
    )
    assert made.pairs.column("uid").to_pylist()[:4] == [f"curriculum_lexical:train:{n}" for n in range(4)]


@pytest.mark.parametrize(
    ("item", "groups"),
    [
        (None, [None] * 6),
        ("adjacent premises", [0, 0, None, None, 4, 4]),
        ("equal premises", [0, 0, None, 0, 4, 4]),
        ("adjacent hypotheses", [None, None, None, None, 4, 4]),
    ],
)
def test_rows_of_one_source_item_are_a_group(
    tmp_path: Path, item: str | None, groups: list[int | None]
) -> None:
    texts = [("a", "1"), ("a", "2"), ("b", "1"), ("a", "1"), ("c ; x", "3"), ("c ; x", "3")]
    if item == "adjacent hypotheses":
        texts[5] = ("c ; y", "3")
    train = lines(*(row(n, *pair) for n, pair in enumerate(texts)))
    write_task(tmp_path / "lexical", train)
    found = read(tmp_path, item=item).pairs.column("group_id").to_pylist()
    assert found[:6] == [None if n is None else f"curriculum_lexical:train:{n}" for n in groups]
    assert found[6] is None
