"""Shards of a corpus, its identity, and its readers in other processes."""

from __future__ import annotations

import json
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_corpora_forms import COMPRESS, write

from benchwright.builders.corpora import Corpus, CorpusDocument, open_corpus
from benchwright.errors import UsageError
from benchwright.hashing import sha256_file

LINES = st.lists(st.text(st.sampled_from("aé \u2028"), max_size=12), min_size=1, max_size=40)


def check_shards(corpus: Corpus, n: int) -> list[Corpus]:
    whole = list(corpus)
    shards = corpus.shards(n)
    assert 1 <= len(shards) <= n
    assert [document for shard in shards for document in shard] == whole
    assert len({document.document_id for document in whole}) == len(whole)
    return shards


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.lists(LINES, min_size=1, max_size=4), n=st.integers(1, 7), suffix=st.sampled_from(["", ".bz2"])
)
def test_shards_are_disjoint_complete_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[str]], n: int, suffix: str
) -> None:
    folder = tmp_path_factory.mktemp("corpus")
    for number, lines in enumerate(files):
        content = "\n".join([*lines, "end"] if number == 0 else lines).encode()
        write(folder / f"{number}.txt{suffix}", COMPRESS[suffix](content) if suffix else content)
    check_shards(open_corpus(folder, form="lines"), n)


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_one_large_file_is_cut_evenly_between_lines(tmp_path: Path, suffix: str) -> None:
    records = [{"id": f"r{n}", "text": f"word {n:05} " * (n % 7 + 1)} for n in range(5_000)]
    content = "".join(json.dumps(record) + "\n" for record in records).encode()
    path = write(tmp_path / f"d.jsonl{suffix}", COMPRESS[suffix](content) if suffix else content)
    shards = check_shards(open_corpus(path, id_field="id"), 4)
    sizes = [sum(1 for _ in shard) for shard in shards]
    assert len(sizes) == 4
    assert max(sizes) < 1.1 * min(sizes)
    assert next(iter(check_shards(open_corpus(path), 3)[1])).document_id.startswith("d.jsonl")


def test_parquet_is_cut_between_rows(tmp_path: Path) -> None:
    for name, rows in (("a", 7), ("b", 30), ("c", 1)):
        table = pa.table({"text": [f"{name}{n}" for n in range(rows)]})
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=4)
    for n in (1, 2, 3, 5, 50):
        shards = check_shards(open_corpus(tmp_path), n)
    assert len(shards) == 38
    assert next(iter(open_corpus(tmp_path).shards(3)[1])) == CorpusDocument("b.parquet:5", "b5")


def test_whole_files_are_cut_between_files(tmp_path: Path) -> None:
    for number in range(6):
        write(tmp_path / f"{number}.txt", f"text {number} " * (number + 1))
    corpus = open_corpus(tmp_path, form="files")
    assert [len(list(shard)) for shard in check_shards(corpus, 2)] == [4, 2]


def test_sentences_keep_their_numbers_in_shards(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "One. Two.\nThree. Four.\nFive.\n")
    check_shards(open_corpus(path, sentences="punkt"), 3)


def test_shards_are_not_cut_again(tmp_path: Path) -> None:
    corpus = open_corpus(write(tmp_path / "a.txt", "One.\nTwo.\n"))
    with pytest.raises(UsageError, match="at least 1 shard, got 0"):
        corpus.shards(0)
    with pytest.raises(UsageError, match="a shard is not cut again"):
        corpus.shards(2)[0].shards(2)


def _ids(corpus: Corpus) -> list[str]:
    return [document.document_id for document in corpus]


def test_shards_are_read_in_other_processes(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt.bz2", COMPRESS[".bz2"](b"".join(b"line %d\n" % n for n in range(999))))
    corpus = open_corpus(path)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(_ids, corpus.shards(3)))
    assert [name for ids in found for name in ids] == _ids(corpus)


def test_identity_tells_corpora_apart_and_holds_no_place(tmp_path: Path) -> None:
    one = open_corpus(write(tmp_path / "x" / "deep" / "a.txt", "One.\n"), name="mine")
    same = open_corpus(write(tmp_path / "y" / "a.txt", "One.\n"))
    other = open_corpus(write(tmp_path / "z" / "a.txt", "Two.\n"))
    assert one.identity == {
        "name": "mine",
        "form": "lines",
        "pattern": None,
        "sentences": "none",
        "detokenize": False,
        "on_bad_row": "fail",
        "text_field": None,
        "id_field": None,
        "files": [{"name": "a.txt", "sha256": sha256_file(tmp_path / "y" / "a.txt"), "bytes": 5}],
    }
    assert one.fingerprint == same.fingerprint != other.fingerprint
    assert one.fingerprint != open_corpus(tmp_path / "y" / "a.txt", sentences="punkt").fingerprint
    assert str(tmp_path) not in json.dumps(one.identity)
    shard = one.shards(1)[0]
    assert shard.identity == one.identity | {"shard": [0, 1]}
    assert pickle.loads(pickle.dumps(shard)).identity == shard.identity


def test_the_built_in_sample(tmp_path: Path) -> None:
    corpus = open_corpus("sample")
    names = [file["name"] for file in corpus.identity["files"]]
    assert (corpus.name, names) == ("sample", ["chinese.txt", "english.txt"])
    check_shards(corpus, 2)
