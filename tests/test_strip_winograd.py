"""Test sets whose text may not be passed on: ids, scores and places of hits stay, and text comes back."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchwright import atomic
from benchwright.builders.build import build
from benchwright.builders.errata import withdraw
from benchwright.builders.hydrate import has_text, hydrate, strip
from benchwright.builders.rebuild import rebuild
from benchwright.builders.verify import verify
from benchwright.cli import main
from benchwright.errors import ReleaseError, SourceError
from benchwright.features import HEAD
from benchwright.release import ReleaseFolder
from benchwright.splitting.scores import ScoreTable

CONFIGS = ["wsc285", "wsc285_overlap_gt0", "wsc285_no_overlap", "dpr", "cluewsc", "cluewsc_overlap_gt35"]
NUMBERS = ["best_score", "num_hits", "exact_copy"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stripped")


@pytest.fixture(scope="module")
def whole(folder: Path) -> ReleaseFolder:
    """Three sets, one of them Chinese; the two kinds of English queries are made in the same way again."""
    return build(
        "winograd", source="sample", out=folder / "whole" / "overlap", cache=folder / "cache",
        corpus=["sample"], chinese_corpus=["sample"], configs=CONFIGS,
    )  # fmt: skip


@pytest.fixture(scope="module")
def bare(whole: ReleaseFolder, folder: Path) -> ReleaseFolder:
    return strip(whole, out=folder / "bare" / "overlap")


def files(release: ReleaseFolder) -> dict[str, bytes]:
    paths = (path for path in release.path.rglob("*") if path.is_file())
    return {path.relative_to(release.path).as_posix(): path.read_bytes() for path in paths}


def texts_of(release: ReleaseFolder) -> set[str]:
    """Texts, queries and hits of every row."""
    found = set()
    for config in ("wsc285", "dpr", "cluewsc"):
        for row in release.table(config, "test").to_pylist():
            found |= {row["text"], row["query"], *(hit["text"] for hit in row["hits"])}
    return found - {None}


def test_nothing_of_rows_and_corpora_is_left_but_ids_and_numbers(
    whole: ReleaseFolder, bare: ReleaseFolder
) -> None:
    assert (has_text(whole), has_text(bare)) == (True, False)
    for config in bare.placed_configs:
        assert list(bare.features(config)) == [*HEAD, *NUMBERS, "source_index"]
        assert bare.table(config, "test", NUMBERS) == whole.table(config, "test", NUMBERS)
    content = files(bare)
    texts = texts_of(whole)
    assert len(texts) > 20
    for text in texts:
        forms = (text.encode(), json.dumps(text)[1:-1].encode())
        assert not [name for name, data in content.items() if any(form in data for form in forms)], text
    assert verify(bare) == []
    for name in whole.splits("scores"):
        with_hits, without = (ScoreTable.from_release(r, name).table.to_pylist() for r in (whole, bare))
        for row, left in zip(with_hits, without, strict=True):
            assert left["hits"] == [{**hit, "text": None, "matched_terms": None} for hit in row["hits"]]
            assert {key for key, value in left.items() if value is not None} <= {
                "uid", "content_id", "length", "status", "hits", *NUMBERS,
            }  # fmt: skip
    told = json.dumps(bare.manifest["scores"], ensure_ascii=False)
    assert "document_frequencies" not in told
    assert "| `wsc285` | `sample` | 6 | 6 | 5 (83.3) |" in content["README.md"].decode()


def test_with_rows_and_corpora_every_byte_comes_back(
    whole: ReleaseFolder, bare: ReleaseFolder, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def searched(*_: Any, **__: Any) -> None:
        pytest.fail("a corpus was indexed")

    monkeypatch.setattr("benchwright.splitting.scores.indexes.index_corpus", searched)
    answer = hydrate(bare, source="sample", corpus=["sample"], out=folder / "again" / "overlap")
    assert (answer.rows, answer.missing, answer.different, answer.tables) == (18, (), (), ())
    assert answer.release is not None
    assert files(answer.release) == files(whole)
    assert verify(answer.release) == []
    assert rebuild(answer.release, source="sample") == []


def test_the_command_says_what_is_missing(
    bare: ReleaseFolder, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["hydrate", str(bare.path), "--source", "sample", "--out", str(tmp_path / "out")]
    assert main(command) == 2
    assert capsys.readouterr().err == (
        "error: hits are documents of the corpus 'sample'; give your copy of it with --corpus\n"
    )
    (tmp_path / "other.txt").write_text("Something else.\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"other.txt: .* not searched; give .* copies of: sample"):
        hydrate(bare, source="sample", corpus=[str(tmp_path / "other.txt")], out=tmp_path / "out")
    (tmp_path / "sample").mkdir()
    (tmp_path / "sample" / "english.txt").write_text("Something else.\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"this is another copy of the corpus than was searched; .*sha256"):
        hydrate(bare, source="sample", corpus=[str(tmp_path / "sample")], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert main([*command, "--corpus", "sample"]) == 0
    assert "18 rows" in capsys.readouterr().out


def test_what_needs_the_text_says_so(bare: ReleaseFolder, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"hits without their text.*benchwright hydrate"):
        rebuild(bare, source="sample")
    with pytest.raises(ReleaseError, match=r"hits without their text.*benchwright hydrate"):
        build("winograd", source="sample", scores=bare.path, out=tmp_path / "out")
    copy = shutil.copytree(bare.path, tmp_path / "copy")
    with pytest.raises(ReleaseError, match=r"hydrate.*withdraw from what that makes"):
        withdraw(copy, uids=["wsc:test:0"], reason="Asked for.")
    with pytest.raises(ReleaseError, match="has no text to take out"):
        strip(bare, out=tmp_path / "twice")


def test_withdrawn_rows_stay_away(whole: ReleaseFolder, tmp_path: Path) -> None:
    """The first row of the English sample has an exact copy."""
    shutil.copytree(whole.path, tmp_path / "less")
    less = withdraw(tmp_path / "less", uids=["wsc:test:0"], reason="Asked for.")
    ids = strip(less, out=tmp_path / "ids" / "less")
    assert verify(ids) == []
    answer = hydrate(ids, source="sample", corpus=["sample"], out=tmp_path / "again" / "less")
    assert answer.release is not None
    assert files(answer.release) == files(less)


@pytest.mark.parametrize("refused", [0, 3, 12])
def test_a_full_disk_is_one_line_and_leaves_no_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], refused: int
) -> None:
    """Whether the cache or the release meets it, the same command goes on."""
    writes = iter(range(1000))
    flush = os.fsync

    def fsync(descriptor: int) -> None:
        if next(writes) == refused:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        flush(descriptor)

    command = [
        "build",
        "winograd",
        "--source",
        "sample",
        "--out",
        str(tmp_path / "out"),
        "--corpus",
        "sample",
    ]
    command += ["--configs", "dpr", "--method", "published", "--cache", str(tmp_path / "cache")]
    with monkeypatch.context() as disk:
        disk.setattr(atomic.os, "fsync", fsync)
        assert main(command) == 2
    captured = capsys.readouterr()
    (line,) = [line for line in captured.err.splitlines() if line.startswith("error")]
    assert "No space left on device" in line
    assert not (tmp_path / "out").exists()
    assert main(command) == 0
    assert verify(tmp_path / "out") == []
