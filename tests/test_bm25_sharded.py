"""A corpus in shards: bit for bit the answer of one index, whoever does the work and whatever dies."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from bm25_helpers import documents, phrase, queries
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.errors import SourceError, UsageError
from benchwright.executor import LocalExecutor, RayExecutor
from benchwright.splitting.scores.bm25 import (
    Hit,
    OverlapQuery,
    Shard,
    ShardedEngine,
    index_corpus,
    index_shards,
)

WORDS = np.array([f"w{i}" for i in range(200)])
SHARDS = 5
SENTENCES = 120
WANTED = [
    phrase("w1", "w2", content=["w3", "w9", "w150"], required=True),
    phrase("w1", content=["w2", "w30"]),
    phrase("w4", "w1", "w1", gap=2),
    phrase("w170", content=["w1"]),
    phrase("absent"),
    phrase("the"),
    phrase("w2", "w6", gap=1, content=["w1,w2", "w77"]),
]


def _sentences(shard: int) -> list[str]:
    random = np.random.default_rng(shard)
    return [" ".join(WORDS[random.zipf(1.4, random.integers(0, 25)) % 200]) for _ in range(SENTENCES)]


def _killed_once(shard: int, folder: Path) -> Iterator[str]:
    """The worker is killed in the middle of the shard when it first reads it."""
    yield from _sentences(shard)[:50]
    mark = folder / "killed"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    yield from _sentences(shard)[50:]


def _shards(killed: Path | None = None) -> list[Shard]:
    shards = [Shard(f"made-{i}", partial(_sentences, i)) for i in range(SHARDS)]
    if killed is not None:
        shards[2] = Shard("made-2", partial(_killed_once, 2, killed))
    return shards


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[Hit]]]:
    """The hits from one index, by formula."""
    folder = tmp_path_factory.mktemp("whole")
    corpus = [sentence for i in range(SHARDS) for sentence in _sentences(i)]
    return {
        idf: index_corpus(corpus, folder / idf, idf=idf).search(WANTED, k=20) for idf in ("whoosh", "paper")
    }


def _files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_in_this_process(whole: dict[str, list[list[Hit]]], tmp_path: Path) -> None:
    assert [len(hits) for hits in whole["whoosh"]] == [20, 20, 20, 5, 0, 0, 20]
    index_shards(_shards(), tmp_path / "index")
    for idf, expected in whole.items():
        engine = ShardedEngine(tmp_path / "index", idf=idf)
        assert engine.documents == SHARDS * SENTENCES
        assert engine.search(WANTED, k=20) == expected
        assert engine.search(WANTED, k=3) == [hits[:3] for hits in expected]


@pytest.mark.parametrize("kind", [LocalExecutor, RayExecutor])
def test_two_workers_one_killed(
    kind: type[LocalExecutor] | type[RayExecutor], whole: dict[str, list[list[Hit]]], tmp_path: Path
) -> None:
    """Processes of this machine, and a Ray cluster of two workers: the run ends, with the same answer."""
    index_shards(_shards(), tmp_path / "undisturbed")
    with kind(2) as executor:
        engine = index_shards(_shards(killed=tmp_path), tmp_path / "index", executor=executor)
        assert (tmp_path / "killed").exists()
        assert engine.search(WANTED, k=20) == whole["whoosh"]
    assert _files(tmp_path / "index") == _files(tmp_path / "undisturbed")


def _refused(shard: int) -> list[str]:
    raise AssertionError(f"shard {shard} was indexed already")


def test_finished_shards_are_kept(tmp_path: Path, whole: dict[str, list[list[Hit]]]) -> None:
    folder = tmp_path / "index"

    def interrupted(i: int) -> Iterator[str]:
        yield from _sentences(i)[:3]
        raise KeyboardInterrupt

    shards = [*_shards()[:3], Shard("made-3", partial(interrupted, 3)), _shards()[4]]
    with pytest.raises(KeyboardInterrupt):
        index_shards(shards, folder)
    assert len(list(folder.iterdir())) == 3
    with pytest.raises(SourceError, match="no sharded index here"):
        ShardedEngine(folder)
    finished = [Shard(f"made-{i}", partial(_refused, i)) for i in range(3)]
    engine = index_shards([*finished, *_shards()[3:]], folder)
    assert engine.search(WANTED, k=20) == whole["whoosh"]
    with pytest.raises(AssertionError, match="shard 1 was"):
        index_shards([finished[0], Shard("made-1b", partial(_refused, 1))], folder)
    with pytest.raises(AssertionError, match="shard 0 was"):
        index_shards(finished[:1], folder, analyzer="characters-1")


def test_places_and_statistics(tmp_path: Path) -> None:
    texts: Sequence[list[str]] = (["red", "blue"], [], ["red red cat"])
    shards = [Shard(f"s{i}", partial(list, text)) for i, text in enumerate(texts)]
    engine = index_shards(shards, tmp_path / "index")
    assert [engine.locate(i) for i in range(3)] == [(0, 0), (0, 1), (2, 0)]
    with pytest.raises(UsageError, match="from 0 to 2, got 3"):
        engine.locate(3)
    statistics = engine.statistics(["red", "cat", "absent"])
    assert (statistics.documents, statistics.total_length) == (3, 5)
    assert statistics.document_frequencies == {"red": 2, "cat": 1, "absent": 0}
    assert engine.total_length == 5
    assert engine.search([]) == []


def test_shards_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least one shard"):
        index_shards([], tmp_path)
    with pytest.raises(UsageError, match="two shards of one identity"):
        index_shards([Shard("a", list), Shard("a", list)], tmp_path)
    for listed in ("[]", '{"shards": ["../elsewhere"]}', '{"shards": []}', "{"):
        (tmp_path / "shards.json").write_text(listed)
        with pytest.raises(SourceError, match=r"sharded index|not a list of shards"):
            ShardedEngine(tmp_path)


@settings(max_examples=20)
@given(
    st.lists(documents(), min_size=1, max_size=3),
    st.lists(queries(), min_size=1, max_size=4),
    st.sampled_from(["whoosh", "paper"]),
)
def test_any_corpus_in_any_shards(parts: list[list[str]], wanted: list[OverlapQuery], idf: str) -> None:
    with TemporaryDirectory() as folder:
        corpus = [text for part in parts for text in part]
        single = index_corpus(corpus, Path(folder) / "single", idf=idf)
        shards = [Shard(str(i), partial(list, part)) for i, part in enumerate(parts)]
        engine = index_shards(shards, Path(folder) / "shards", idf=idf)
        for k in (1, 4):
            assert engine.search(wanted, k=k) == single.search(wanted, k=k)
