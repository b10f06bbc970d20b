"""`benchwright overlap`: exact n-grams, BM25, clean and overlapping accuracy of any release."""

from __future__ import annotations

import errno
import json
import math
import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from cards_release import make_release as make_card_release
from eval_helpers import write_release
from hypothesis import given
from hypothesis import strategies as st
from overlap_corpora import MadeCorpus

from benchwright import atomic
from benchwright.builders.build import build
from benchwright.builders.errata import rename
from benchwright.builders.hub.plan import owned_paths
from benchwright.builders.hydrate import strip
from benchwright.builders.overlap import overlap
from benchwright.builders.verify import verify
from benchwright.cards import render_card, write_card
from benchwright.cli import main
from benchwright.errors import BenchwrightWarning, ReleaseError, SourceError, UsageError
from benchwright.eval import evaluate, refresh_index
from benchwright.eval.results import read_analyses
from benchwright.release import ReleaseFolder
from benchwright.splitting.scores.ngrams import NGRAM, CopySearch, NgramSearch, ngram_words
from benchwright.splitting.scores.reading import Lookup, read_corpus
from benchwright.tasks import BOOLEAN_QUESTION, TEXT_TO_SQL

TWENTY = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
FILE = "overlap.parquet"


def _scan(texts: list[str], documents: list[str], n: int = NGRAM) -> list[tuple[int, int, str | None]]:
    """Distinct runs of each text, how many were found, and the first document."""
    search = NgramSearch(texts, n)
    read = read_corpus([MadeCorpus("", documents)], [[]], Lookup(CopySearch([]), 1, search)).to_json()
    found = search.found(read["ngrams"])
    matches = [found.match(number) for number in range(len(texts))]
    return [
        (search.ngrams[number], found.has(number), None if match is None else match.document_id[1:])
        for number, match in enumerate(matches)
    ]


def test_runs_by_hand() -> None:
    # 16 words have four runs of 13; a document with words 2 to 15 has two of them, twelve words have none.
    words = TWENTY.split()
    fourteen, twelve = " ".join(words[1:15]), " ".join(words[:12])
    assert _scan([TWENTY], ["nothing", f"And: {fourteen.upper()}, so", TWENTY]) == [(4, 4, "1")]
    assert _scan([TWENTY], ["nothing", f"And: {fourteen.upper()}, so"]) == [(4, 2, "1")]
    assert _scan([TWENTY], [twelve]) == [(4, 0, None)]
    # A run does not go on in the next document, and a changed word breaks it.
    assert _scan([TWENTY], [" ".join(words[:8]), " ".join(words[8:])])[0][1] == 0
    assert _scan([TWENTY], [TWENTY.replace("eight", "8").replace("fourteen", "14")])[0][1] == 0


def test_short_texts_match_as_a_whole_and_repeated_runs_count_once() -> None:
    assert _scan(["It is late.", ""], ["it is", "is late it", "So it is   late now"]) == [
        (1, 1, "2"),
        (0, 0, None),
    ]
    # "a a a a": the run "a a" stands three times in it, and is one.
    assert _scan(["a a a a"], ["b a a"], n=2) == [(1, 1, "0")]


LETTERS = st.lists(st.sampled_from("abc"), max_size=12).map(" ".join)


@given(st.lists(LETTERS, min_size=1, max_size=4), st.lists(LETTERS, max_size=4), st.integers(1, 5))
def test_runs_equal_those_found_naively(texts: list[str], documents: list[str], n: int) -> None:
    expected = []
    for text in texts:
        words = ngram_words(text)
        size = min(n, len(words))
        runs = {" ".join(words[start : start + size]) for start in range(len(words) - size + 1) if size}
        within = [[f" {run} " in f" {' '.join(ngram_words(text))} " for run in runs] for text in documents]
        first = next((str(number) for number, found in enumerate(within) if any(found)), None)
        expected.append((len(runs), sum(map(any, zip(*within, strict=True))) if runs else 0, first))
    assert _scan(texts, documents, n) == expected


def test_a_run_of_no_words_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="ngram is 0"):
        NgramSearch(["a"], 0)


# Row 0 is copied word by word, of row 1 a passage of 13 words, row 2 is near but has no run, row 3 is far,
# row 4 has a short question that stands in the corpus, which alone says nothing.
PASSAGES = [
    "The old ferry left the harbour at dawn with nine goats on its lower deck.",
    "Rivers that freeze early in the year carry less silt to the sea than rivers that stay open all winter.",
    "The lighthouse keeper painted every door of the tower in a deep and stormy green before the visit.",
    "Quartz vibrates at a known rate when a small current passes through a thin slice of it.",
    "Beetles of this family sing by rubbing a leg against the hard edge of a wing until dusk.",
]
QUESTIONS = [
    "did goats cross",
    "do rivers freeze",
    "was the tower green",
    "does quartz vibrate",
    "is it blue",
]
CORPUS = [
    "We walked on and nothing was seen.",
    "It says: the old ferry left the harbour at dawn, with nine goats on its lower deck! We laughed.",
    "They say rivers that freeze early in the year carry less silt to the sea, as books tell.",
    "The keeper of the lighthouse painted each door of the green tower before a visit, stormy and deep.",
    "Is it blue or not, she asked.",
]


def _rows(prefix: str = "toy:test") -> list[dict[str, Any]]:
    return [
        {"uid": f"{prefix}:{number}", "question": question, "passage": passage, "answer": number % 2 == 0}
        for number, (question, passage) in enumerate(zip(QUESTIONS, PASSAGES, strict=True))
    ]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "books.txt"
    path.write_text("\n".join(CORPUS) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def release(tmp_path: Path) -> ReleaseFolder:
    """Two configs: the rows as a test split, two of them as validation."""
    configs = {
        "random": {"train": _rows("toy:train"), "test": _rows()},
        "small": {"train": _rows("toy:train"), "validation": _rows()[:2]},
    }
    return write_release(tmp_path / "release", configs, task=BOOLEAN_QUESTION)


def _search(release: ReleaseFolder, *corpora: Path, **options: Any) -> dict[str, list[dict[str, Any]]]:
    cache = release.path.parent / "cache"
    return overlap(release, corpus=[str(path) for path in corpora], cache=cache, **options)


def _table(release: ReleaseFolder, config: str = "random") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(release.path / "results" / config / FILE).to_pylist()
    return rows


def test_copies_and_near_copies_are_found(release: ReleaseFolder, corpus: Path) -> None:
    found = _search(release, corpus)
    rows = _table(release)
    assert [row["uid"] for row in rows] == [f"toy:test:{number}" for number in range(5)]
    assert [row["overlapping"] for row in rows] == [True, True, False, False, False]
    # The passage of 15 words has three runs of 13, all copied; of the eight of the second, the corpus has the
    # first: 13 words.
    passage = [row["inputs"][1] for row in rows]
    assert passage[0] == {"input": "passage", "words": 15, "ngrams": 3, "matched_ngrams": 3}
    assert passage[1] == {"input": "passage", "words": 20, "ngrams": 8, "matched_ngrams": 1}
    assert rows[0]["ngram_hits"] == [{"corpus": "books", "document_id": "books.txt:2", "ngrams": 3}]
    assert rows[1]["ngram_hits"][0]["document_id"] == "books.txt:3"
    # The near copy has no run, but BM25 puts its document first, above all that have but common words.
    assert rows[2]["ngram_hits"] == []
    assert rows[2]["hits"][0]["document_id"] == "books.txt:4"
    assert rows[2]["best_score"] == rows[2]["hits"][0]["score"] > rows[3]["best_score"]
    # The short question stands in the corpus; the row is not judged by it.
    assert rows[4]["inputs"][0] == {"input": "question", "words": 3, "ngrams": 1, "matched_ngrams": 1}

    line, other = found["contamination"]
    assert (line["config"], line["split"], line["rows"], line["searched"]) == ("random", "test", 5, 5)
    assert (line["matched"], line["matched_share"], line["stale"]) == (2, 0.4, None)
    # Of the first and third row the passage is there and not the question, of the second a part of both.
    assert [row["best_share"] > 0.5 for row in rows] == [True, False, True, False, False]
    assert rows[1]["best_share"] > 5 * max(rows[3]["best_share"], rows[4]["best_share"])
    assert (line["above"], line["cutoff"], line["cutoff_of"]) == (2, 0.5, "share")
    assert line["inputs"] == [
        {"input": "question", "rows": 5, "matched": 1},
        {"input": "passage", "rows": 5, "matched": 2},
    ]
    (books,) = line["corpora"]
    assert (books["name"], books["documents"], books["matched"]) == ("books", 5, 2)
    assert books["identity"]["files"][0]["name"] == "books.txt"
    assert str(corpus.parent) not in json.dumps(found)
    assert (other["config"], other["split"], other["rows"], other["matched"]) == ("small", "validation", 2, 2)


def test_cutoff_and_length_of_runs_are_options(release: ReleaseFolder, corpus: Path) -> None:
    line = _search(release, corpus, configs=["random"], ngram=16, overlap_cutoff=0)["contamination"][0]
    # The copied passage has 15 words and counts as a whole; of the other one 13 words are copied.
    assert (line["matched"], line["ngram"]) == (1, 16)
    assert line["above"] == sum(row["best_score"] > 0 for row in _table(release))
    assert not (release.path / "results" / "small" / FILE).exists()


def test_the_share_of_a_query_by_hand(tmp_path: Path) -> None:
    """Of four documents one has `kiwi` and two have `pear`."""
    rows = [{"uid": "toy:test:0", "db_id": "x", "question": "Kiwi pear plum?", "query": "SELECT 1"}]
    release = write_release(tmp_path / "release", {"random": {"test": rows}}, task=TEXT_TO_SQL)
    books = tmp_path / "books.txt"
    books.write_text("pear kiwi\npear\nfig\ndate\n", encoding="utf-8")
    line = _search(release, books, idf="whoosh", overlap_share=0.4)["contamination"][0]
    # The config's inputs are db_id and question; x has one letter and is no term.
    kiwi, pear, plum = (math.log(4 / (count + 1)) + 1 for count in (1, 2, 0))
    (row,) = _table(release)
    assert row["best_share"] == pytest.approx((kiwi + pear) / (kiwi + pear + plum))
    assert [hit["share"] for hit in row["hits"]] == [row["best_share"], pear / (kiwi + pear + plum)]
    assert (line["above"], line["cutoff"]) == (1, 0.4)


def test_chinese_rows_are_searched_by_characters(tmp_path: Path) -> None:
    rows = [
        {"uid": "toy:test:0", "db_id": "船", "question": "小船追不上大船，因为它装满了石头。", "query": "1"}
    ]
    release = write_release(tmp_path / "release", {"random": {"test": rows}}, task=TEXT_TO_SQL)
    books = tmp_path / "books.txt"
    books.write_text("大船。\n他说小船追不上大船，因为它装满了石头！\n河边停着几条船\n", encoding="utf-8")
    _search(release, books)
    (row,) = _table(release)
    assert row["overlapping"] is True
    assert row["ngram_hits"] == [{"corpus": "books", "document_id": "books.txt:2", "ngrams": 3}]
    assert row["hits"][0]["document_id"] == "books.txt:2"
    # All pairs of the question are there, and not the one letter of the other input.
    assert 0.7 < row["best_share"] < 1


@pytest.mark.parametrize("refused", [0, 1, 2])
def test_a_full_disk_leaves_the_last_search_as_it_was(
    release: ReleaseFolder,
    corpus: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    refused: int,
) -> None:
    command = ["overlap", str(release.path), "--cache", str(release.path.parent / "cache")]
    for searched in (False, True):
        # Everything that is searched for stands in the cache: the writes are those of results alone.
        results = {
            path: path.read_bytes() for path in (release.path / "results").rglob("*") if path.is_file()
        }
        assert bool(results) == searched
        overlap_elsewhere = release.path.parent / f"copy-{searched}"
        shutil.copytree(release.path, overlap_elsewhere)
        _search(ReleaseFolder(overlap_elsewhere), corpus, ngram=5)
        with monkeypatch.context() as disk:
            writes = iter(range(1000))
            flush = os.fsync

            def fsync(descriptor: int, writes: Any = writes, flush: Any = flush) -> None:
                if next(writes) == refused:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                flush(descriptor)

            disk.setattr(atomic.os, "fsync", fsync)
            assert main([*command, "--corpus", str(corpus), "--ngram", "5"]) == 2
        said = capsys.readouterr().err.splitlines()
        assert [line for line in said if line.startswith("error")] == [
            "error: the disk is full (No space left on device); free some space; the same command goes on "
            "where it stopped"
        ]
        left = {path: path.read_bytes() for path in (release.path / "results").rglob("*") if path.is_file()}
        assert left == results
        if not searched:
            assert not (release.path / "results").exists()
            _search(release, corpus)


def test_bad_documents_are_left_out_and_counted_on_demand(
    release: ReleaseFolder, corpus: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.txt"
    broken.write_bytes(b"good line\n\xff\xfe bad\n\n" + PASSAGES[3].encode())
    line = _search(release, corpus, broken, on_bad_row="drop")["contamination"][0]
    books, other = line["corpora"]
    assert (books["dropped"], other["documents"], other["matched"]) == ({}, 2, 1)
    assert sum(other["dropped"].values()) == 1


def test_corpora_are_counted_apart(release: ReleaseFolder, corpus: Path, tmp_path: Path) -> None:
    other = tmp_path / "wiki.txt"
    other.write_text(f"Something.\n{PASSAGES[0]}\n{PASSAGES[3]}\n", encoding="utf-8")
    line = _search(release, corpus, other)["contamination"][0]
    assert [(one["name"], one["matched"]) for one in line["corpora"]] == [("books", 2), ("wiki", 2)]
    assert line["matched"] == 3
    assert [hit["corpus"] for hit in _table(release)[0]["ngram_hits"]] == ["books", "wiki"]


def _answers(release: ReleaseFolder, tmp_path: Path, right: set[int]) -> None:
    lines = [
        {"uid": row["uid"], "prediction": "yes" if row["answer"] == (number in right) else "no"}
        for number, row in enumerate(_rows())
    ]
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    evaluate(release, configs=["random"], predictions=path, predictions_name="system")


def test_clean_and_overlapping_accuracy_side_by_side(
    release: ReleaseFolder, corpus: Path, tmp_path: Path
) -> None:
    # Right on both overlapping rows, and on one of the three clean ones.
    _answers(release, tmp_path, right={0, 1, 3})
    found = _search(release, corpus)["contamination_accuracy"]
    assert [(line["config"], line["rule"]) for line in found] == [("random", "ngrams"), ("random", "bm25")]
    line = found[0]
    assert (line["metric"], line["baseline"]) == ("accuracy", "external:system")
    assert (line["overlapping"]["n"], line["overlapping"]["value"]) == (2, 1.0)
    assert (line["clean"]["n"], line["clean"]["value"]) == (3, pytest.approx(1 / 3))
    assert line["difference"]["difference"] == pytest.approx(2 / 3)
    assert (line["difference"]["n"], line["difference"]["n_against"]) == (2, 3)
    # Of ten ways to put three right answers on five rows three have both overlapping ones right, one none.
    assert line["difference"]["p"] == pytest.approx(0.4)
    # A result that is stored later is compared as well.
    evaluate(release, configs=["small", "random"], baselines=["majority"])
    later = read_analyses(release)["contamination_accuracy"]
    assert {(line["config"], line["baseline"]) for line in later} == {
        ("random", "external:system"),
        ("random", "majority"),
        ("small", "majority"),
    }


def test_a_second_run_and_another_process_give_the_same_bytes(
    release: ReleaseFolder, corpus: Path, tmp_path: Path
) -> None:
    _answers(release, tmp_path, right={0, 3})
    files = [release.path / "results" / name for name in ("random/" + FILE, "small/" + FILE, "index.json")]
    _search(release, corpus)
    first = [file.read_bytes() for file in files]
    _search(release, corpus)
    assert [file.read_bytes() for file in files] == first
    overlap(release, corpus=[str(corpus)], cache=tmp_path / "another cache")
    assert [file.read_bytes() for file in files] == first


def test_a_search_of_other_rows_is_stale(release: ReleaseFolder, corpus: Path, tmp_path: Path) -> None:
    _answers(release, tmp_path, right={0})
    _search(release, corpus)
    manifest = json.loads((release.path / "manifest.json").read_text(encoding="utf-8"))
    manifest["configs"]["random"]["splits"]["test"]["content_hash"] = "sha256:" + "0" * 64
    (release.path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    changed = ReleaseFolder(release.path)
    refresh_index(changed)
    analyses = read_analyses(changed)
    assert [(line["config"], line["stale"]) for line in analyses["contamination"]] == [
        ("random", "the rows of random/test have changed"),
        ("small", None),
    ]
    assert analyses["contamination_accuracy"] == []


def test_rows_without_a_word_are_not_searched(corpus: Path, tmp_path: Path) -> None:
    rows = _rows()
    rows[2] |= {"question": "?", "passage": "..."}
    release = write_release(tmp_path / "release", {"random": {"test": rows}}, task=BOOLEAN_QUESTION)
    line = _search(release, corpus)["contamination"][0]
    assert (line["rows"], line["searched"], line["matched_share"]) == (5, 4, 0.5)
    row = _table(release)[2]
    assert (row["overlapping"], row["best_score"], row["hits"]) == (None, None, [])


def test_a_short_question_is_judged_as_the_longest_input(tmp_path: Path, corpus: Path) -> None:
    rows = [
        {"uid": f"toy:test:{n}", "db_id": "blue", "question": question, "query": "SELECT 1"}
        for n, question in enumerate(("Is it blue?", "Is it green?"))
    ]
    release = write_release(tmp_path / "release", {"random": {"test": rows}}, task=TEXT_TO_SQL)
    _search(release, corpus)
    # `blue` stands in the corpus, too, which does not make the second row overlap.
    assert [row["overlapping"] for row in _table(release)] == [True, False]


def _mistake(release: ReleaseFolder, *corpora: Path, **options: Any) -> str:
    """What is wrong with a search; nothing is written."""
    with pytest.raises((UsageError, SourceError, ReleaseError)) as error:
        _search(release, *corpora, **options)
    assert not (release.path / "results").exists()
    return str(error.value)


def test_mistakes_are_told_before_anything_is_written(
    release: ReleaseFolder, corpus: Path, tmp_path: Path
) -> None:
    assert "give --corpus" in _mistake(release)
    assert "missing.txt" in _mistake(release, tmp_path / "missing.txt")
    broken = tmp_path / "broken.txt"
    broken.write_bytes(b"good line\n\xff\xfe bad\n")
    assert "broken.txt" in _mistake(release, corpus, broken)
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    assert "no document" in _mistake(release, corpus, tmp_path / "empty.txt")
    assert "two corpora are called" in _mistake(release, corpus, corpus)
    assert "no config 'nothing'" in _mistake(release, corpus, configs=["nothing"])
    assert "ngram is 0" in _mistake(release, corpus, ngram=0)
    assert "overlap_cutoff is -1" in _mistake(release, corpus, overlap_cutoff=-1)
    assert "overlap_share is 1" in _mistake(release, corpus, overlap_share=1)
    assert "overlap_share is 'half'" in _mistake(release, corpus, overlap_share="half")
    assert "two rules" in _mistake(release, corpus, overlap_share=0.5, overlap_cutoff=25)
    assert "top_hits is 0" in _mistake(release, corpus, top_hits=0)
    assert "unknown sentences" in _mistake(release, corpus, sentences="words")


def test_a_config_without_text_is_left_out_or_refused(tmp_path: Path, corpus: Path) -> None:
    task = {**BOOLEAN_QUESTION.to_json(), "inputs": ["answer"]}
    rows = {"test": _rows()}
    release = write_release(
        tmp_path / "release",
        {"random": rows, "numbers": rows, "train_only": {"train": _rows()}},
        task=BOOLEAN_QUESTION,
        entries={"numbers": {"task": task}},
    )
    assert "'numbers' has no input that is text" in _mistake(release, corpus, configs=["numbers"])
    assert "neither a test nor" in _mistake(release, corpus, configs=["train_only"])
    with pytest.warns(BenchwrightWarning, match="'numbers' has no input that is text"):
        found = _search(release, corpus)
    assert [line["config"] for line in found["contamination"]] == ["random"]


def test_a_file_that_is_no_search_is_told(release: ReleaseFolder, corpus: Path) -> None:
    _search(release, corpus)
    path = release.path / "results" / "random" / FILE
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({}), path)
    with pytest.raises(ReleaseError, match="is no overlap search"):
        refresh_index(release)
    facts = {b"benchwright.overlap": table.schema.metadata[b"benchwright.overlap"].replace(b"ngram", b"gram")}
    pq.write_table(table.replace_schema_metadata(facts), path)
    with pytest.raises(ReleaseError, match="is no overlap search"):
        refresh_index(release)


def test_the_hub_counts_it_among_the_files_of_a_release(release: ReleaseFolder) -> None:
    paths = [f"results/random/{FILE}", "results/random/theirs.parquet"]
    assert owned_paths(paths, release.manifest, {}) == paths[:1]


def test_a_search_outlives_a_new_name_and_the_text(tmp_path: Path) -> None:
    """The release stays verified, and what was found speaks of the same rows."""
    release = build("boolq", source="sample", out=tmp_path / "made", configs=["random"])
    passage = release.table("random", "test", ["passage"]).column("passage")[0].as_py()
    books = tmp_path / "books.txt"
    books.write_text(passage.replace("\n", " "), encoding="utf-8")
    evaluate(release, baselines=["majority"])
    found = _search(release, books)
    assert found["contamination"][0]["matched"] >= 1
    write_card(release)
    assert verify(release.path) == []
    renamed = rename(release.path, config="random", to="drawn")
    ids = strip(renamed, out=tmp_path / "ids")
    for changed in (renamed, ids):
        analyses = read_analyses(changed)
        (line,) = analyses["contamination"]
        assert (line["config"], line["matched"], line["stale"]) == (
            "drawn",
            found["contamination"][0]["matched"],
            None,
        )
        assert [one["overlapping"] for one in analyses["contamination_accuracy"]] == [
            one["overlapping"] for one in found["contamination_accuracy"]
        ]
        assert verify(changed.path) == []
    assert passage.encode() not in (ids.path / "results" / "drawn" / FILE).read_bytes()
    with pytest.raises(UsageError, match="has no input that is text"):
        _search(ids, books)


@pytest.fixture
def carded(tmp_path: Path) -> ReleaseFolder:
    """A whole release of inference rows, as cards show it."""
    return make_card_release(tmp_path / "toy")


def test_command_and_card_show_both_accuracies(
    carded: ReleaseFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = carded.table("random", "test").to_pylist()
    books = tmp_path / "books.txt"
    # Premises have nine words, and the number of lanterns is that of the row.
    books.write_text("\n".join([*(row["premise"] for row in rows[:4]), "Nothing else."]), encoding="utf-8")
    evaluate(carded, baselines=["majority"], configs=["random"])
    command = ["overlap", str(carded.path), "--corpus", str(books), "--config", "random"]
    assert main([*command, "--cache", str(tmp_path / "cache")]) == 0
    out = capsys.readouterr().out
    assert "4 (40.0 %) of 13 words" in out
    assert "overlapping accuracy" in out.splitlines()[0]
    card = render_card(ReleaseFolder(carded.path))
    assert "Contamination" in card
    assert "| `random` | test | 10 | 13 | 4 (40.0) | 0.5 of the terms |" in card
    assert "more than half of what makes the row distinctive" in card
    assert "4 rows)" in card
    assert "6 rows)" in card
    assert main([*command, "--cache", str(tmp_path / "cache"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["contamination"][0]["matched"] == 4
    assert [line["rule"] for line in found["contamination_accuracy"]] == ["ngrams", "bm25"]


def test_the_card_leaves_a_stale_search_out_and_says_so(carded: ReleaseFolder, tmp_path: Path) -> None:
    books = tmp_path / "books.txt"
    books.write_text("Nothing.\n", encoding="utf-8")
    overlap(carded, corpus=[str(books)], configs=["random"], cache=tmp_path / "cache")
    path = carded.path / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["configs"]["random"]["splits"]["test"]["content_hash"] = "sha256:" + "0" * 64
    path.write_text(json.dumps(manifest), encoding="utf-8")
    card = render_card(ReleaseFolder(carded.path))
    assert "**Stale**: `random` is left out, because the rows of test have changed" in card
    assert "n-gram matches" not in card


@pytest.mark.parametrize("field", ["matched", "corpora", "rows_hash"])
def test_a_broken_index_is_one_line(carded: ReleaseFolder, tmp_path: Path, field: str) -> None:
    books = tmp_path / "books.txt"
    books.write_text("Nothing.\n", encoding="utf-8")
    overlap(carded, corpus=[str(books)], configs=["random"], cache=tmp_path / "cache")
    path = carded.path / "results" / "index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    index["analyses"]["contamination"][0][field] = None
    path.write_text(json.dumps(index), encoding="utf-8")
    with pytest.raises(ReleaseError, match=f"contamination.*{field}.*benchwright overlap"):
        render_card(ReleaseFolder(carded.path))


def test_the_command_without_a_corpus_is_one_line(
    release: ReleaseFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["overlap", str(release.path)]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: there is no corpus to search")
    assert (captured.out, len(captured.err.strip().splitlines())) == ("", 1)
