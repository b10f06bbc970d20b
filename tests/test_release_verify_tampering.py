"""Any single change of a release is found wherever it was made; hostile releases are refused in a line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tampering import change_card, change_column, change_manifest, change_table, only, swap

from benchwright.builders.build import split
from benchwright.builders.verify import verify
from benchwright.cards import seal_differences, write_card
from benchwright.cards.user_sections import user_section
from benchwright.cli import main
from benchwright.errors import ReleaseError
from benchwright.features import class_names, payload_columns
from benchwright.hashing import content_hash, row_digests, sha256_file
from benchwright.publication import ChangelogEntry, Publication
from benchwright.release import ReleaseFolder

EVERY = 50
"""One of so many changes is looked for in the whole release, the others by the card's seal alone."""


def read_rows(path: Path) -> list[str]:
    labels = ["yes", "no", "maybe"]
    rows = [f"{n},The {'very ' * (n % 5)}small sentence {n}.,{labels[n % 3]}" for n in range(60)]
    path.write_text("\n".join(["id,text,label", *rows]) + "\n", encoding="utf-8")
    return rows


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "rows.csv"
    read_rows(path)
    return path


@pytest.fixture(scope="module")
def original(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of a user's own file with a whole card, as it stands after it was published."""
    out = tmp_path_factory.mktemp("original") / "made"
    made = split(
        source,
        text="text",
        label="label",
        id="id",
        out=out,
        by=["random", "length"],
        test=0.2,
        validation=0.2,
    )
    history = (
        ChangelogEntry("1.1.0", "minor", ("config `length` added",), "More splits."),
        ChangelogEntry("1.0.0", "first", ()),
    )
    published = Publication(
        repo="acme/made", version="1.1.0", changelog=history, aliases={"by_length": "length"}
    )
    change_manifest(out, lambda data: data.update(published.put_into(made.manifest)))
    write_card(out)
    return out


@pytest.fixture
def release(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "made"))


def changes(data: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every place where plain data can be changed, with the data that has this one change."""
    if isinstance(data, dict):
        yield f"{place}: a key more", {**data, "another": None}
        for key, value in data.items():
            yield f"{place}.{key}: removed", {name: item for name, item in data.items() if name != key}
            for where, changed in changes(value, f"{place}.{key}"):
                yield where, {**data, key: changed}
    elif isinstance(data, list):
        yield f"{place}: an item more", [*data, None]
        for number, value in enumerate(data):
            yield f"{place}[{number}]: removed", data[:number] + data[number + 1 :]
            for where, changed in changes(value, f"{place}[{number}]"):
                yield where, [*data[:number], changed, *data[number + 1 :]]
    else:
        yield f"{place}: another value", _other(data)


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value}x"


def is_found(release: Path, everywhere: bool) -> bool:
    """By a difference or a refusal of one line; by the seal alone, which is quick, unless `everywhere`."""
    try:
        if everywhere:
            return bool(verify(release))
        text = (release / "README.md").read_text(encoding="utf-8")
        return bool(seal_differences(text, ReleaseFolder(release).manifest))
    except ReleaseError as error:
        return "\n" not in str(error)


def test_the_release_is_whole(original: Path) -> None:
    assert verify(original) == []


def test_every_change_of_the_manifest_is_found(release: Path) -> None:
    path = release / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    unnoticed = []
    tried = list(changes(manifest))
    for number, (place, changed) in enumerate(tried):
        path.write_text(json.dumps(changed), encoding="utf-8")
        if not is_found(release, everywhere=number % EVERY == 0):
            unnoticed.append(place)
    assert unnoticed == []
    assert len(tried) > 500
    path.write_text(json.dumps(manifest), encoding="utf-8")
    assert verify(release) == []


def edits(lines: list[str]) -> Iterator[tuple[list[str], bool]]:
    """Every line of a card changed, removed or preceded by another; and whether a section is edited so."""
    sections = [
        (lines.index(f"<!-- user:begin {name} -->"), lines.index(f"<!-- user:end {name} -->"))
        for name in ("about", "notes")
    ]
    for number, line in enumerate(lines):
        by_hand = any(begin < number < end for begin, end in sections)
        if line:
            yield [*lines[:number], f"{line} x", *lines[number + 1 :]], by_hand
            yield [*lines[:number], *lines[number + 1 :]], by_hand
        into = any(begin < number <= end for begin, end in sections)
        yield [*lines[:number], "A line more.", *lines[number:]], into


def test_every_change_of_the_card_outside_hand_written_sections_is_found(release: Path) -> None:
    lines = (release / "README.md").read_text(encoding="utf-8").splitlines()
    wrong, tried = [], list(edits(lines))
    for number, (edited, allowed) in enumerate(tried):
        change_card(release, lambda _, edited=edited: "\n".join(edited) + "\n")
        if is_found(release, everywhere=number % EVERY == 0) == allowed:
            wrong.append(next(pair for pair in zip(lines, edited, strict=False) if pair[0] != pair[1]))
    assert wrong == []
    assert len(tried) > 600


def test_hand_written_sections_may_be_edited(release: Path) -> None:
    def edit(text: str) -> str:
        begin, end = text.index("<!-- user:begin about -->"), text.index("<!-- user:end about -->")
        section = user_section("about", "# Ours\n\nWritten *by hand*.\n\n```\n---\n```")
        return text[:begin] + section + text[end + len("<!-- user:end about -->") :]

    change_card(release, edit)
    assert verify(release) == []


def test_a_forger_who_seals_again_is_found_by_the_rows(release: Path) -> None:
    """Whoever changes a label and every hash of the file still disagrees with the assignment."""
    file = "random/test-00000-of-00001.parquet"
    change_column(release / file, "label", lambda values: [*values[:2], (values[2] + 1) % 3, *values[3:]])
    table = pq.read_table(release / file)
    features = ReleaseFolder(release).features("random")
    digests = row_digests(table.select(payload_columns(features)), class_names(features))
    hashes = {"content_hash": content_hash(digests), "sha256": [sha256_file(release / file)]}
    change_manifest(release, lambda data: data["configs"]["random"]["splits"]["test"].update(hashes))
    write_card(release)
    found = only(verify(release))
    uid = table.column("uid")[2].as_py()
    assert (found.code, found.config, found.split, found.uid) == ("assignment", "random", "test", uid)


def test_rows_that_no_source_gives_are_found_by_building_again(
    source: Path, release: Path, tmp_path: Path
) -> None:
    """A release that agrees with itself in everything, made from a file with another label."""
    assert verify(release, source=source) == []
    rows = source.read_text(encoding="utf-8").replace("small sentence 17", "large sentence 17")
    changed = tmp_path / "rows.csv"
    changed.write_text(rows, encoding="utf-8")
    found = verify(release, source=changed)
    assert str(found[0]) == "made from other source files: rows.csv"
    uids = {(difference.config, difference.uid) for difference in found[1:]}
    assert {config for config, _ in uids} == {"random", "length"}
    assert ("random", "rows:all:17") in uids


def test_a_broken_release_is_told_once_when_it_is_built_again(source: Path, release: Path) -> None:
    (release / "random" / "test-00000-of-00001.parquet").unlink()
    found = only(verify(release, source=source))
    assert (found.code, found.config, found.split) == ("file", "random", "test")


def test_the_command_names_the_first_difference_and_ends_with_1(
    source: Path, release: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(release), "--source", str(source)]) == 0
    assert capsys.readouterr().out == (
        "verified: every file agrees with the manifest, and the sources give the same rows and scores\n"
    )
    file = release / "length" / "train-00000-of-00001.parquet"
    change_table(file, swap(0, 1))
    uid = pq.read_table(file).column("uid")[0].as_py()
    assert main(["verify", str(release)]) == 1
    assert capsys.readouterr().out.startswith("length, train: rows are not those of the manifest: row 0 is ")
    assert main(["verify", str(release), "--json"]) == 1
    first = json.loads(capsys.readouterr().out)["differences"][0]
    assert (first["uid"], first["config"], first["split"]) == (uid, "length", "train")
