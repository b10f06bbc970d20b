"""A release may be anyone's: what it says is quoted and cut, and what it lacks is one line."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from diff_helpers import EASY, LL, Made
from tampering import change_column, change_manifest, change_table

from benchwright.builders.diff import diff
from benchwright.cli import main
from benchwright.errors import ReleaseError

BASE = Made()
TOKEN = "hf_" + "a1" * 17
NASTY = f"\x1b[31mred\x9b31m\u202ereversed\nline\r {TOKEN}"
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return BASE.write(tmp_path_factory.mktemp("base") / "made").path


@pytest.fixture
def copy(base: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(base, tmp_path / "made"))


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["diff", *map(str, arguments)]) == 1
    captured = capsys.readouterr()
    assert captured.err == ""
    assert not CONTROL.search(captured.out)
    assert TOKEN not in captured.out
    return captured.out


def nasty_release(folder: Path) -> Path:
    names = [f"{NASTY}:{n}" for n in range(10)]
    made = BASE.but(
        sides={LL: BASE.sides[LL], "nasty": BASE.sides[EASY]},
        columns={"uid": names, "premise": [NASTY * 50] * 10},
        body=f"\n# {NASTY}\n\n## {NASTY}\n",
    )
    release = made.write(folder).path

    def change(manifest: dict[str, Any]) -> None:
        manifest["publication"] = {
            "withdrawn": [{"reason": NASTY, "uids": [NASTY]}],
            "yanked": {NASTY: NASTY},
        }
        manifest["dataset"]["licence"] = manifest["dataset"][NASTY] = NASTY
        manifest["configs"][LL]["summary"] = NASTY
        manifest["audit"]["findings"] = [{"id": NASTY, "code": NASTY, "message": NASTY, "config": NASTY}]

    change_manifest(release, change)
    return release


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
def test_no_text_of_a_release_reaches_the_terminal_as_it_stands(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    release = nasty_release(tmp_path / "made")
    for pair in ((base, release), (release, base)):
        out = printed(capsys, *pair, *options)
        assert "nasty" in out
        if options:
            json.loads(out)
        else:
            assert max(map(len, out.splitlines())) < 1000


def test_text_for_a_changelog_is_plain_too(base: Path, tmp_path: Path) -> None:
    for line in (found := diff(base, nasty_release(tmp_path / "made"))).changelog_lines():
        assert not CONTROL.search(line)
        assert TOKEN not in line
    assert len(found.changelog_lines()) <= 13


def test_output_stays_short_however_much_differs(
    base: Path, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["choices"] = {f"choice_{n}": "x" * 1000 for n in range(3000)}
        manifest["audit"]["findings"] = [{"id": str(n), "message": "m" * 1000} for n in range(3000)]
        entry = manifest["configs"].pop(EASY)
        manifest["configs"].update({f"config_{n}": entry for n in range(300)})

    change_manifest(copy, change)
    out = printed(capsys, base, copy)
    assert len(out) < 10_000
    assert "300 configs new" in out
    assert "and 290 more" in out


WRONG: dict[str, Callable[[dict[str, Any]], Any]] = {
    "source is a text": lambda m: m.update(source="here"),
    "source is missing": lambda m: m.pop("source"),
    "aliases are a list": lambda m: m.update(publication={"aliases": ["a"]}),
    "no splits": lambda m: m["configs"][LL].update(splits=None),
    "features of no kind": lambda m: m["configs"][LL]["features"].update(uid={"_type": "Nothing"}),
    "a file outside": lambda m: m["configs"][LL]["splits"]["train"].update(
        files=["../../x.parquet"], content_hash="sha256:0"
    ),
    "assignment outside": lambda m: m["configs"][LL]["assignment"].update(
        file="/etc/passwd", content_hash="sha256:0"
    ),
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_a_manifest_that_cannot_be_used_is_one_line(
    base: Path, copy: Path, capsys: pytest.CaptureFixture[str], change: Callable[[dict[str, Any]], Any]
) -> None:
    change_manifest(copy, change)
    assert main(["diff", str(base), str(copy)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert captured.err.startswith("error: ")


@pytest.mark.parametrize("field", ["audit", "scores", "choices", "versions", "method", "dataset.licence"])
def test_fields_of_other_types_are_differences(base: Path, copy: Path, field: str) -> None:
    def change(manifest: dict[str, Any]) -> None:
        *parents, key = field.split(".")
        for parent in parents:
            manifest = manifest[parent]
        manifest[key] = [[["?"]]]

    change_manifest(copy, change)
    found = diff(base, copy)
    assert found.bump == "patch"
    assert diff(copy, base).bump == "patch"


def unknown_hash(release: Path) -> None:
    """The hash of the manifest is not that of the assignment, so that its rows are read."""
    change_manifest(release, lambda m: m["configs"][LL]["assignment"].update(content_hash="sha256:0"))


TAMPERED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a uid twice": (
        lambda p: change_column(p, "uid", lambda uids: [uids[1], *uids[1:]]),
        "'made:train:1' twice",
    ),
    "a split of its own": (
        lambda p: change_column(p, "split", lambda names: ["mine", *names[1:]]),
        "assignment to 'mine'",
    ),
    "other columns": (lambda p: change_table(p, lambda t: t.drop_columns(["position"])), "the columns"),
    "no parquet": (lambda p: p.write_bytes(b"PAR1"), "cannot be read as parquet"),
    "missing": (lambda p: p.unlink(), "is missing"),
}


@pytest.mark.parametrize(("change", "message"), TAMPERED.values(), ids=TAMPERED)
def test_an_assignment_that_cannot_be_used_is_named(
    base: Path, copy: Path, change: Callable[[Path], Any], message: str
) -> None:
    change(copy / f"assignments/{LL}.parquet")
    unknown_hash(copy)
    with pytest.raises(ReleaseError, match=re.escape(message)):
        diff(base, copy)


def test_rows_that_are_not_those_of_the_assignment_are_named(base: Path, copy: Path) -> None:
    """Rows 0 and 1 change sides in the assignment alone; another row's digest asks for the values."""
    path = copy / f"assignments/{LL}.parquet"
    change_column(path, "split", lambda names: ["test", *names[1:]])
    change_column(path, "row_digest", lambda digests: [*digests[:1], b"\0" * 16, *digests[2:]])
    unknown_hash(copy)
    with pytest.raises(
        ReleaseError, match="other rows in its files than in its assignment; run `benchwright"
    ):
        diff(base, copy)


def test_hashes_of_the_manifest_that_say_nothing_are_a_difference(base: Path, copy: Path) -> None:
    unknown_hash(copy)
    found = diff(base, copy)
    assert (found.bump, found.reasons) == (
        "patch",
        ("ll_split: description changed (assignment.content_hash)",),
    )


def test_a_column_of_another_type_than_declared_is_named(base: Path, copy: Path) -> None:
    file = copy / f"{LL}/train-00000-of-00001.parquet"
    table = pq.read_table(file)
    place = table.column_names.index("label")
    pq.write_table(table.set_column(place, "label", pa.array(["x"] * table.num_rows)), file)
    digest = b"\0" * 16
    change_column(copy / f"assignments/{LL}.parquet", "row_digest", lambda d: [digest, *d[1:]])
    unknown_hash(copy)
    with pytest.raises(
        ReleaseError, match=r"config 'll_split' has no column 'label' of type int64 in 'train'"
    ):
        diff(base, copy)


def test_results_that_are_none_are_one_line(base: Path, copy: Path, capsys) -> None:
    (copy / "results" / LL).mkdir(parents=True)
    (copy / "results" / LL / "majority--000000000000.json").write_text('{"format": 1, "metrics": 3}')
    assert main(["diff", str(base), str(copy)]) == 2
    assert "is not a result" in capsys.readouterr().err


def test_a_card_with_broken_sections_is_compared_as_text(base: Path, copy: Path) -> None:
    card = copy / "README.md"
    card.write_text(card.read_text() + "<!-- user:begin notes -->\n")
    assert diff(base, copy).reasons == ("text of the card changed (Uses)",)


def test_a_card_that_is_no_text_is_compared(base: Path, copy: Path) -> None:
    (copy / "README.md").write_bytes(b"\xff\xfe\x00")
    assert diff(base, copy).bump == "patch"


def test_a_file_that_is_not_that_of_the_manifest_is_no_equal_release(base: Path, copy: Path) -> None:
    assert not diff(base, copy)
    file = next(copy.glob("*/test-*.parquet"))
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(ReleaseError, match=rf"{file.name} of config '.*' is not the file of the manifest"):
        diff(base, copy)
