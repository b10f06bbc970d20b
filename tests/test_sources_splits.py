"""Which file is which split: names, parts, copies."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright.builders.sources.files import SourceFolder
from benchwright.builders.sources.splits import source_split, split_files
from benchwright.errors import SourceError

FORMATS = ("jsonl", "txt", "parquet")


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("snli_1.0_train.jsonl.gz", "train"),
        ("dev_9842.jsonl.gz", "dev"),
        ("snli_1.0_dev.part_a.jsonl.gz", "dev"),
        ("validation-00000-of-00001.parquet", "dev"),
        ("Test.txt", "test"),
        ("plain_text/train/0000.parquet", "train"),
        ("train/dev.jsonl", "dev"),
        ("all.zip/data/val.jsonl", "dev"),
        ("contest.jsonl", None),
        ("latest.jsonl", None),
        ("README.md", None),
        ("train_and_dev.jsonl", None),
    ],
)
def test_the_split_is_a_word_of_the_name_or_of_the_nearest_folder(name: str, split: str | None) -> None:
    assert source_split(name) == split


def _folder(root: Path, *names: str) -> SourceFolder:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    return SourceFolder(root)


def _chosen(folder: SourceFolder, **options: str) -> dict[str, list[str]]:
    found = split_files(folder, FORMATS, **options)
    return {split: [file.name for file in files] for split, files in found.files.items()}


def test_parts_of_one_split_are_read_in_name_order(tmp_path: Path) -> None:
    folder = _folder(
        tmp_path, "x_dev.part_b.jsonl", "x_dev.part_a.jsonl", "train-1-of-2.jsonl", "train-0-of-2.jsonl"
    )
    assert _chosen(folder) == {
        "train": ["train-0-of-2.jsonl", "train-1-of-2.jsonl"],
        "dev": ["x_dev.part_a.jsonl", "x_dev.part_b.jsonl"],
    }


def test_the_first_format_counts_and_the_other_copies_are_noted(tmp_path: Path) -> None:
    folder = _folder(tmp_path, "train.jsonl", "train.txt", "dev.txt", "test.parquet")
    assert _chosen(folder) == {"train": ["train.jsonl"], "dev": ["dev.txt"], "test": ["test.parquet"]}
    assert split_files(folder, FORMATS).notes == ("not read, another copy: train.txt",)


def test_published_names_come_before_other_copies(tmp_path: Path) -> None:
    folder = _folder(tmp_path, "dev_9842.jsonl", "snli_1.0_dev.txt")
    assert _chosen(folder, published_prefix="snli_1.0_") == {"dev": ["snli_1.0_dev.txt"]}
    notes = split_files(folder, FORMATS, published_prefix="snli_1.0_").notes
    assert notes == (
        "source split train is missing",
        "source split test is missing",
        "not read, another copy: dev_9842.jsonl",
    )


@pytest.mark.parametrize("names", [("a/train.jsonl", "b/train.jsonl"), ("train.jsonl", "train.jsonl.gz")])
def test_two_copies_of_a_split_are_never_pooled(tmp_path: Path, names: tuple[str, str]) -> None:
    with pytest.raises(SourceError, match=f"more than one copy of split train: {', '.join(names)}; keep one"):
        split_files(_folder(tmp_path, *names), FORMATS)


def test_a_folder_without_any_split_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no file of a split found; name files after train, dev or test"):
        split_files(_folder(tmp_path, "README.md", "data.jsonl", "train.csv"), FORMATS)
