"""`verify` names what was changed after a release was written."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import release_helpers as helpers
from tampering import (
    ASSIGNMENT,
    TRAIN,
    change_column,
    change_header,
    change_manifest,
    change_table,
    only,
    set_value,
    swap,
    uid_of,
)

from benchwright.builders.verify import verify
from benchwright.errors import ReleaseError


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return helpers.write_release(tmp_path_factory.mktemp("original") / "made").path


@pytest.fixture
def release(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "made"))


def nested(depth: int) -> Any:
    value: Any = {"_type": "Value", "dtype": "string"}
    for _ in range(depth):
        value = {"_type": "List", "feature": value}
    return value


def test_an_untouched_release_agrees_with_its_manifest(original: Path) -> None:
    assert verify(original) == []


@pytest.mark.parametrize(
    ("column", "value"),
    [("hypothesis", "x"), ("label", 0), ("label", None), ("entities", []), ("hardness", 1), ("length", 99)],
)
def test_a_changed_value_is_found_in_its_row(release: Path, column: str, value: object) -> None:
    change_column(release / TRAIN, column, set_value(7, value))
    found = only(verify(release))
    assert (found.code, found.config, found.split) == ("content", "ll_split", "train")
    assert found.uid == uid_of(release, 7)
    assert "row 7" in str(found)


def test_a_changed_score_is_found(release: Path) -> None:
    change_column(release / TRAIN, "log_likelihood", set_value(3, -1.5))
    assert only(verify(release)).code == "scores"


@pytest.mark.parametrize(("value", "code"), [("random", "placed_by"), ("score", "bytes")])
def test_a_changed_reason_is_found(release: Path, value: str, code: str) -> None:
    """Counts tell most changes; where they agree, the file's own hash does."""

    def change(values: list[str]) -> list[str]:
        if value == "random":
            return ["random", *values[1:]]
        unscored = values.index("unscored")
        return [*values[:unscored], "score", *values[unscored + 1 : -1], "unscored"]

    change_column(release / TRAIN, "placed_by", change)
    found = only(verify(release))
    assert (found.code, found.split) == (code, "train")


def test_rows_that_changed_places_are_found(release: Path) -> None:
    uid = uid_of(release, 11)
    change_table(release / TRAIN, swap(5, 11))
    found = [difference for difference in verify(release) if difference.code == "content"]
    assert only(found).uid == uid


def test_a_removed_row_is_found(release: Path) -> None:
    uid = uid_of(release, 39)
    change_table(release / TRAIN, lambda table: table.slice(0, 39))
    found = {difference.code: difference for difference in verify(release)}
    assert "39 rows instead of 40" in str(found["rows"])
    assert found["content"].uid == uid
    assert "missing in the file" in found["content"].message


def test_another_writer_is_told_from_other_rows(release: Path) -> None:
    pq.write_table(pq.read_table(release / TRAIN), release / TRAIN, compression="gzip")
    assert only(verify(release)).code == "bytes"


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (lambda t: t.drop_columns(["fold"]), "schema", "column 10"),
        (lambda t: t.append_column("extra", t.column("uid")), "schema", "extra"),
        (lambda t: t.cast(t.schema.set(10, pa.field("fold", pa.int16()))), "schema", "int16"),
        (
            lambda t: t.replace_schema_metadata(
                {b"huggingface": t.schema.metadata[b"huggingface"].replace(b"neutral", b"NEUTRAL")}
            ),
            "features",
            "label names",
        ),
        (lambda t: t.replace_schema_metadata(None), "features", "label names"),
        (lambda t: t.replace_schema_metadata({b"huggingface": b"{"}), "features", "label names"),
    ],
)
def test_changed_columns_are_found(
    release: Path, change: Callable[[pa.Table], pa.Table], code: str, message: str
) -> None:
    change_table(release / TRAIN, change)
    found = only(verify(release))
    assert found.code == code
    assert message in found.message


def test_missing_and_broken_files_are_found(release: Path) -> None:
    (release / TRAIN).unlink()
    (release / ASSIGNMENT).write_bytes(b"PAR1 no parquet")
    (release / "scores" / "lm_prompt-00000-of-00001.parquet").write_bytes(b"")
    found = verify(release)
    assert [(d.code, d.config, d.split) for d in found] == [
        ("file", "ll_split", None),
        ("file", "ll_split", "train"),
        ("file", "scores", "lm_prompt"),
    ]
    assert "missing" in found[1].message


@pytest.mark.parametrize(
    "name",
    [
        "ll_split/test-00001-of-00002.parquet",
        "ll_split/notes.txt",
        "old/test.parquet",
        "made.py",
        "x.parquet",
    ],
)
def test_files_that_the_manifest_does_not_name_are_found(release: Path, name: str) -> None:
    (release / name).parent.mkdir(exist_ok=True)
    (release / name).write_bytes(b"")
    found = only(verify(release))
    assert (found.code, found.file) == ("extra_file", name)


def test_results_and_figures_may_be_added(release: Path) -> None:
    for name in ("results/ll_split/majority.json", "figures/test-lengths.png", "eval.yaml"):
        (release / name).parent.mkdir(parents=True, exist_ok=True)
        (release / name).write_text("x")
    assert verify(release) == []


@pytest.mark.parametrize(
    ("column", "row", "value", "message"),
    [
        ("uid", 1, "made:train:0", "twice"),
        ("split", 1, "dev", "which the config does not have"),
        ("position", 1, 77, "positions"),
        ("score", 1, 5.0, "scores_hash"),
        ("row_digest", 1, b"0" * 16, "content_hash"),
        ("row_digest", 1, None, "content_hash"),
        ("uid", 1, None, "content_hash"),
    ],
)
def test_a_changed_assignment_is_found(
    release: Path, column: str, row: int, value: object, message: str
) -> None:
    change_column(release / ASSIGNMENT, column, set_value(row, value))
    found = [difference for difference in verify(release) if difference.code == "assignment"]
    assert any(message in str(difference) for difference in found)


def test_a_row_moved_between_splits_with_a_matching_manifest_is_found(release: Path) -> None:
    """Whoever changes a file and its hash in the manifest still disagrees with the assignment."""
    change_table(release / TRAIN, lambda table: table.slice(0, 39))

    def hide(data: dict[str, Any]) -> None:
        entry = data["configs"]["ll_split"]
        entry["splits"]["train"]["rows"] = 39
        entry["placed_by"]["train"]["score"] -= 1
        entry["unused"] = 1

    change_manifest(release, hide)
    codes = {difference.code for difference in verify(release)}
    assert {"content", "card"} <= codes


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda m: m["source"].update(read=99), "counts"),
        (lambda m: m["source"]["filtered"].update(empty=2), "counts"),
        (lambda m: m["configs"]["ll_split"].update(unused=4), "counts"),
        (lambda m: m["configs"]["ll_split"]["placed_by"]["train"].update(score=1), "counts"),
        (lambda m: m["configs"]["ll_split"]["left_out"].append({"split": "test", "reason": ""}), "counts"),
        (lambda m: m["configs"]["ll_split"].update(default=False), "default"),
        (lambda m: m["configs"]["random"].update(default=True), "default"),
        (lambda m: m["configs"]["ll_split"]["splits"]["test"].update(rows=11), "rows"),
        (lambda m: m["configs"]["ll_split"]["splits"]["test"].update(content_hash="sha256:0"), "content"),
        (lambda m: m["configs"]["ll_split"]["splits"]["test"].update(scores_hash="sha256:0"), "scores"),
        (lambda m: m["configs"]["ll_split"]["splits"]["test"].update(sha256=[]), "bytes"),
        (lambda m: m["configs"]["ll_split"].update(scores="lm_other"), "scores"),
        (lambda m: m["configs"]["ll_split"]["assignment"].update(content_hash=""), "assignment"),
        (lambda m: m["configs"].pop("random"), "extra_file"),
        (lambda m: m["configs"]["ll_split"]["features"]["label"]["names"].reverse(), "features"),
    ],
)
def test_a_changed_manifest_is_found(
    release: Path, change: Callable[[dict[str, Any]], Any], code: str
) -> None:
    change_manifest(release, change)
    assert code in {difference.code for difference in verify(release)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h["dataset_info"][0]["splits"][0].update(num_examples=1), "splits"),
        (lambda h: h["dataset_info"][0]["features"].pop(), "features"),
        (lambda h: h["configs"][0].update(description="rows sha256:0"), "description"),
        (lambda h: h["configs"][0]["data_files"].pop(), "data_files"),
        (lambda h: h["configs"][1].update(default=True), "default"),
        (lambda h: h["configs"].pop(), "lack the config"),
        (lambda h: h["configs"].append({"config_name": "more"}), "the manifest lacks"),
        (lambda h: h.update(configs="all"), "no list"),
    ],
)
def test_a_changed_card_is_found(
    release: Path, change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    change_header(release, change)
    found = only(verify(release))
    assert (found.code, found.file) == ("card", "README.md")
    assert message in found.message


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"# Title\n",
        b"---\na: [\n---\n",
        b"\xff\xfe",
        b"---\n- 1\n---\n",
        b"---\n" + b"[" * 9999 + b"\n---\n",
    ],
)
def test_a_card_without_a_header_is_found(release: Path, content: bytes | None) -> None:
    (release / "README.md").unlink()
    if content is not None:
        (release / "README.md").write_bytes(content)
    assert {difference.code for difference in verify(release)} == {"card"}


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(format=99),
        lambda m: m.update(configs=[]),
        lambda m: m.update(source=[]),
        lambda m: m.pop("source"),
        lambda m: m.update(dataset={}),
        lambda m: m["configs"]["random"]["splits"]["test"].pop("num_bytes"),
        lambda m: m.pop("scores"),
        lambda m: m["source"].update(rows="many"),
        lambda m: m["configs"].update({"../up": m["configs"]["random"]}),
        lambda m: m["configs"]["random"].pop("unused"),
        lambda m: m["configs"]["random"].update(kind="program"),
        lambda m: m["configs"]["random"].update(features={"uid": {"_type": "os.system"}}),
        lambda m: m["configs"]["random"].update(features={"uid": []}),
        lambda m: m["configs"]["random"].update(features={"uid": nested(700)}),
        lambda m: m["dataset"].update(tags=nested(700)),
        lambda m: m["configs"]["random"].update(splits={"a/b": m["configs"]["random"]["splits"]["test"]}),
        lambda m: m["configs"]["random"]["splits"]["test"].update(files=["../../secret.parquet"]),
        lambda m: m["configs"]["random"]["splits"]["test"].update(files=["/etc/passwd"]),
        lambda m: m["configs"]["random"]["splits"]["test"].update(files=["a\0b"]),
        lambda m: m["configs"]["random"]["splits"]["test"].update(files=["."]),
        lambda m: m["configs"]["random"]["splits"]["test"].update(files=[]),
        lambda m: m["configs"]["random"]["splits"]["test"].update(rows=-1),
        lambda m: m["configs"]["random"]["assignment"].update(file="../x.parquet"),
    ],
)
def test_an_absurd_manifest_is_one_line(release: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    change_manifest(release, change)
    with pytest.raises(ReleaseError) as caught:
        verify(release)
    assert "manifest.json" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", ["", "[]", "{", "[" * 100_000, "\xff"])
def test_a_manifest_that_is_none_is_one_line(release: Path, content: str) -> None:
    (release / "manifest.json").write_text(content, encoding="latin-1")
    with pytest.raises(ReleaseError, match=r"manifest\.json"):
        verify(release)


def test_a_folder_without_a_manifest_is_no_release(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="is not a release"):
        verify(tmp_path)
