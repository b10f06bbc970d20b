"""Predictions made elsewhere: read by uid and by label name, refused with file, line and uid."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from eval_helpers import nli_rows, sql_rows, write_release

from benchwright.errors import BenchwrightError, SourceError, UsageError
from benchwright.eval import evaluate
from benchwright.eval.baselines.external import ExternalPredictions, read_predictions
from benchwright.release import ReleaseFolder
from benchwright.tasks import NLI, TEXT_TO_SQL

GOLD = {"toy:all:3": "entailment", "toy:all:4": "neutral", "toy:all:5": "contradiction"}
KNOWN = frozenset(GOLD)


@pytest.fixture
def release(tmp_path: Path) -> ReleaseFolder:
    return write_release(tmp_path / "release", {"random": {"train": nli_rows(0, 3), "test": nli_rows(3, 3)}})


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def answers(labels: dict[str, str]) -> str:
    return lines(*({"uid": uid, "prediction": label} for uid, label in labels.items()))


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("order", [1, -1])
def test_answers_are_matched_by_uid_and_by_name(release: ReleaseFolder, tmp_path: Path, order: int) -> None:
    shuffled = dict(list((GOLD | {"toy:all:5": "neutral"}).items())[::order])
    path = written(tmp_path / "model a.jsonl", answers(shuffled))
    (result,) = evaluate(release, predictions=path)
    assert result.baseline == "external:model a"
    assert result.metrics["accuracy"]["value"] == pytest.approx(2 / 3)
    assert result.settings == {"version": 1}
    assert result.file.startswith("results/random/external-model-a--")
    stored = [json.loads(line) for line in (release.path / result.predictions_file).read_text().splitlines()]
    assert [line["uid"] for line in stored] == list(GOLD)
    assert stored[2] == {
        "uid": "toy:all:5",
        "prediction": "neutral",
        "scores": {"accuracy": 0, "macro_f1": 0},
    }


def test_three_formats_say_the_same(tmp_path: Path) -> None:
    by_line = written(tmp_path / "p.jsonl", "\ufeff" + answers(GOLD) + "\n")
    rows = [f"{uid}SEP{label}SEPx" for uid, label in GOLD.items()]
    tabs = written(tmp_path / "p.tsv", "\r\n".join(["uid\tprediction\tnote", *rows, ""]).replace("SEP", "\t"))
    commas = written(tmp_path / "p.csv", "\n".join(["uid,prediction,note", *rows, ""]).replace("SEP", ","))
    for path in (by_line, tabs, commas):
        assert read_predictions(path, NLI, KNOWN) == GOLD


def test_text_answers_keep_quotes_line_ends_and_unusual_separators(tmp_path: Path) -> None:
    query = 'SELECT "a\u2028b",\n1'
    expected = {"toy:all:3": query}
    by_line = written(
        tmp_path / "p.jsonl", json.dumps({"uid": "toy:all:3", "prediction": query}, ensure_ascii=False)
    )
    commas = written(tmp_path / "p.csv", 'uid,prediction\ntoy:all:3,"' + query.replace('"', '""') + '"\n')
    for path in (by_line, commas):
        assert read_predictions(path, TEXT_TO_SQL, KNOWN) == expected
    tabs = written(tmp_path / "p.tsv", 'uid\tprediction\ntoy:all:3\tSELECT "a\ntoy:all:4\tNA\n')
    assert read_predictions(tabs, TEXT_TO_SQL, KNOWN) == {"toy:all:3": 'SELECT "a', "toy:all:4": "NA"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            answers({"toy:all:3": "entailed"}),
            "line 1, field 'prediction': unknown label for toy:all:3, got 'entailed'; "
            "write one of entailment, neutral, contradiction",
        ),
        (
            lines({"uid": "toy:all:3", "prediction": 0}),
            "line 1, field 'prediction': the field is no text for toy:all:3, got 0; labels are given by name",
        ),
        (answers(GOLD) + answers({"toy:all:9": "neutral"}), "line 4, field 'uid': the split has no such row"),
        (
            answers(GOLD) + answers({"toy:all:4": "neutral"}),
            "line 4, field 'uid': a second prediction for a row, got 'toy:all:4'; keep one of lines 2 and 4",
        ),
        (lines({"uid": "toy:all:3"}), "line 1, field 'prediction': the field is missing for toy:all:3"),
        (lines({"prediction": "neutral"}), "line 1, field 'uid': the field is missing"),
        ("\n{cut\n", "line 2: not JSON"),
        ("[1]\n", "line 1: not an object"),
        (
            answers({"toy:all:3": "neutral"}),
            "field 'uid': no prediction for 2 of the 3 rows of random/test, got 'toy:all:4'; add one line",
        ),
        ("", "no prediction for 3 of the 3 rows"),
    ],
)
def test_what_cannot_be_used_names_file_line_and_uid(
    release: ReleaseFolder, tmp_path: Path, text: str, message: str
) -> None:
    path = written(tmp_path / "p.jsonl", text)
    with pytest.raises(SourceError) as caught:
        evaluate(release, predictions=path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (release.path / "results").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.csv", b"uid,label\n", "line 1: no column 'prediction'"),
        ("p.csv", b"", "line 1: no column 'uid'"),
        ("p.csv", b'uid,prediction\ntoy:all:3,"neutral\n', "line 2: not CSV"),
        ("p.csv", b"uid,prediction\ntoy:all:3,neutral,x\n", "line 2: 3 fields under 2 columns"),
        ("p.tsv", b"uid\tprediction\ntoy:all:3\n", "line 2: 1 fields under 2 columns"),
        ("p.tsv", "uid\tprediction\n".encode("utf-16"), "not UTF-8 at byte 0"),
        ("p.parquet", b"", "predictions are read from .jsonl, .csv or .tsv files"),
    ],
)
def test_files_that_are_no_predictions(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BenchwrightError) as caught:
        read_predictions(path, NLI, KNOWN)
    assert message in str(caught.value)


def test_a_folder_or_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for name in ("folder.csv", "missing.csv"):
        with pytest.raises(UsageError, match="no file of predictions"):
            read_predictions(tmp_path / name, NLI, KNOWN)


def test_with_a_limit_further_answers_of_the_split_may_be_there(
    release: ReleaseFolder, tmp_path: Path
) -> None:
    (result,) = evaluate(release, predictions=written(tmp_path / "p.jsonl", answers(GOLD)), limit=2)
    assert result.metrics["accuracy"]["n"] == 2


def test_corrected_predictions_replace_the_earlier_ones_of_their_name(
    release: ReleaseFolder, tmp_path: Path
) -> None:
    path = written(tmp_path / "p.jsonl", answers(dict.fromkeys(GOLD, "neutral")))
    (first,) = evaluate(release, predictions=path, predictions_name="../my model")
    written(path, answers(GOLD))
    (second,) = evaluate(release, predictions=path, predictions_name="../my model")
    assert (second.file, second.metrics["accuracy"]["value"]) == (first.file, 1.0)
    assert second.predictions_hash != first.predictions_hash
    names = sorted(file.name for file in (release.path / "results" / "random").iterdir())
    assert len(names) == 2
    assert names[0].startswith("external-..-my-model--")


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 101])
def test_names_that_no_table_could_show(name: str) -> None:
    with pytest.raises(UsageError, match="1 to 100 printable characters"):
        ExternalPredictions("p.jsonl", name)


def test_predictions_belong_to_one_config(tmp_path: Path) -> None:
    splits = {"test": sql_rows(["SELECT 1"])}
    release = write_release(tmp_path / "r", {"random": splits, "ll_split": splits}, task=TEXT_TO_SQL)
    path = written(tmp_path / "p.jsonl", lines({"uid": "toy:all:0", "prediction": "select 1"}))
    with pytest.raises(UsageError, match="predictions belong to one config; choose one of random, ll_split"):
        evaluate(release, predictions=path)
    (result,) = evaluate(release, predictions=path, configs=["ll_split"])
    assert result.metrics["string_match"]["value"] == 1.0
