"""Builder `knowref_60k` with a corpus: what of the rows stands in it, subsets of test rows, statistics."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from benchwright.builders.build import build
from benchwright.builders.rebuild import rebuild
from benchwright.builders.verify import verify
from benchwright.cli import main
from benchwright.errors import BenchwrightWarning, UsageError
from benchwright.eval.run import evaluate
from benchwright.release import ReleaseFolder

# Sentences like a train row and a test row of the sample, and a copy of a validation row.
TRAIN = "Clara waited for Norbert at the station, but the train had taken an hour."
TEST = "She asked him whether they could borrow the ladder for an afternoon."
VALIDATION = "Karen thanked Donna after she had carried all of the boxes upstairs."
SENTENCES = (
    "The committee met on a rainy evening in the town hall.",
    TRAIN,
    "Somebody had asked for directions since the harbour was new.",
    TEST,
    "Nobody trusts a stranger with the keys.",
    VALIDATION,
)
SPLITS = {"train": 10, "validation": 2, "test": 12}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("knowref-overlap")


@pytest.fixture(scope="module")
def corpus(folder: Path) -> Path:
    path = folder / "corpus.txt"
    path.write_text("".join(f"{sentence}\n" for sentence in SENTENCES))
    return path


@pytest.fixture(scope="module")
def made(folder: Path, corpus: Path) -> ReleaseFolder:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BenchwrightWarning)
        release = build(
            "knowref_60k",
            source="sample",
            out=folder / "release",
            cache=folder / "cache",
            corpus=[str(corpus)],
            overlap_cutoff=[0, 20],
        )
    said = [str(one.message) for one in caught if issubclass(one.category, BenchwrightWarning)]
    assert [message.split()[1] for message in said] == ["test_overlap_gt20"]
    return release


def test_every_split_is_searched(made: ReleaseFolder) -> None:
    assert list(made.placed_configs) == ["standard", "test_overlap_gt0", "test_no_overlap"]
    found = {}
    for split, rows in SPLITS.items():
        table = made.table("standard", split).to_pylist()
        assert len(table) == rows
        assert all(row["query"] and row["best_score"] is not None for row in table)
        assert all(row["num_hits"] == len(row["hits"]) for row in table)
        found[split] = [row["hits"][0]["text"] for row in table if row["best_score"] > 0]
    assert found == {"train": [TRAIN], "validation": [VALIDATION], "test": [TEST]}


def test_a_copy_of_the_released_text_is_marked(made: ReleaseFolder) -> None:
    (copied,) = [row for row in made.table("standard", "validation").to_pylist() if row["exact_copy"]]
    assert copied["hits"][0]["text"] == VALIDATION
    assert (copied["e1"], copied["e2"], copied["pred_c"], copied["pred_q"]) == (
        "Karen", "Donna", "thanked", "had carried",
    )  # fmt: skip


def test_subsets_hold_test_rows_alone(made: ReleaseFolder) -> None:
    tests = made.table("standard", "test").to_pylist()
    overlapping, others = (
        made.table(name, "test").to_pylist() for name in ("test_overlap_gt0", "test_no_overlap")
    )
    assert overlapping == [row for row in tests if row["best_score"] > 0]
    assert others == [row for row in tests if row["best_score"] == 0]
    for name in ("test_overlap_gt0", "test_no_overlap"):
        assert made.splits(name) == ["test"]
        entry = made.config(name)
        assert entry["unused"] + entry["splits"]["test"]["rows"] == sum(SPLITS.values())


def test_statistics_of_every_split_are_in_manifest_and_card(made: ReleaseFolder) -> None:
    assert [note["message"] for note in made.config("standard")["notes"]] == [
        "train: 1 of 10 rows have a best score above 0",
        "train: 0 of 10 rows have a best score above 20",
        "validation: 1 of 2 rows have a best score above 0",
        "validation: 0 of 2 rows have a best score above 20",
        "test: 1 of 12 rows have a best score above 0",
        "test: no row has a best score above 20: a subset of such rows is left out",
    ]
    card = (made.path / "README.md").read_text()
    for line in (
        "| `corpus` | `all rows` | 6 | 46 | 7.7 |",
        "| `standard/train` | `corpus` | 10 | 10 | 1 (10.0) | 0 (0.0) | 0 |",
        "| `standard/validation` | `corpus` | 2 | 2 | 1 (50.0) | 0 (0.0) | 1 |",
        "| `standard/test` | `corpus` | 12 | 12 | 1 (8.3) | 0 (0.0) | 0 |",
    ):
        assert line in card


def test_nothing_but_the_release_is_needed_to_make_it_again(made: ReleaseFolder) -> None:
    assert verify(made) == []
    assert rebuild(made, source="sample") == []


def test_published_queries_have_a_candidate_for_the_pronoun(folder: Path, corpus: Path) -> None:
    release = build(
        "knowref_60k", source="sample", out=folder / "published", cache=folder / "cache",
        corpus=[str(corpus)], method="published", configs=["standard"],
    )  # fmt: skip
    assert (
        release.manifest["scores"]["bm25"]["provenance"]["key"]["construction"]["construction"] == "published"
    )
    row = release.table("standard", "validation").to_pylist()[0]
    # Proper names are not searched; all else but the predicates is, in any order.
    assert row["query"] == '("thanked had carried"~10\') AND (after OR all OR of OR the OR boxes OR upstairs)'


def test_accuracy_is_told_by_subset(made: ReleaseFolder) -> None:
    import json

    evaluate(made.path, configs=["standard"], baselines=["random_option"])
    analyses = json.loads((made.path / "results" / "index.json").read_text())["analyses"]
    sizes = {line["subset"]: line["n"] for line in analyses["overlap_subsets"]}
    assert sizes == {"standard": 12, "test_overlap_gt0": 1, "test_no_overlap": 11}


def test_options_that_lack_a_corpus(folder: Path, capsys: pytest.CaptureFixture[str], corpus: Path) -> None:
    command = ["build", "knowref_60k", "--source", "sample", "--out", str(folder / "none")]
    for options, message in (
        (["--configs", "test_no_overlap"], "test_no_overlap is made by searching a corpus; give one with"),
        (["--overlap-cutoff", "12"], "--overlap-cutoff: nothing is searched; give a corpus with --corpus"),
        (
            ["--chinese-corpus", "sample"],
            "--chinese-corpus: nothing is searched; give a corpus with --corpus",
        ),
    ):
        assert main([*command, *options]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"error: {message}")
    assert not (folder / "none").exists()


def test_a_release_without_a_corpus_takes_no_subsets(folder: Path, corpus: Path) -> None:
    plain = build("knowref_60k", source="sample", out=folder / "plain")
    assert list(plain.placed_configs) == ["standard"]
    assert "scores" not in plain.configs
    with pytest.raises(UsageError, match=r"made without a corpus.*build it anew with --corpus"):
        build(
            "knowref_60k", source="sample", into=plain.path, out=folder / "more", corpus=[str(corpus)],
            configs=["test_no_overlap"],
        )  # fmt: skip


def test_sources_without_test_rows_have_no_subsets(folder: Path, corpus: Path) -> None:
    from benchwright.builders.base import builders

    source = folder / "source"
    source.mkdir()
    sample = builders.get("knowref_60k").sample_folder()
    for name in ("KnowRef-60K_dev_hashed.json", "problems.jsonl"):
        (source / name).write_bytes((sample / name).read_bytes())
    with pytest.warns(BenchwrightWarning, match="is left out: no row is of a source split"):
        release = build(
            "knowref_60k", source=source, out=folder / "train", cache=folder / "cache", corpus=[str(corpus)]
        )
    assert list(release.placed_configs) == ["standard"]
    assert release.splits("standard") == ["train"]
