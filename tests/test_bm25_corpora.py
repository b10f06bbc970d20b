"""Engine against engine on 200 real instances over wikitext-2 and Brown, as published and read otherwise."""

from __future__ import annotations

import gzip
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from bm25_helpers import ENGINES, assert_equal_hits

from benchwright.splitting.scores.bm25 import OverlapQuery, SearchEngine, index_corpus, open_index
from benchwright.splitting.scores.overlap_queries import published_query
from benchwright.text.tagging import Tagger
from benchwright.text.words import word_tokenize

pytestmark = pytest.mark.corpora

INSTANCES = 200


def _wikitext(folder: Path) -> Iterator[str]:
    for name in ("valid", "test"):
        with gzip.open(folder / f"wiki.{name}.tokens.txt.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                yield from (sentence for sentence in line.split(" . ") if sentence.strip())


def _brown(folder: Path) -> Iterator[str]:
    """The tagged sentences without their tags."""
    with zipfile.ZipFile(folder / "nltk_brown.zip") as archive:
        for name in sorted(archive.namelist()):
            if re.fullmatch(r"brown/c[a-r]\d\d", name):
                for line in archive.read(name).decode("latin-1").split("\n"):
                    words = [token.rpartition("/")[0] for token in line.split()]
                    if words:
                        yield " ".join(words)


@pytest.fixture(scope="module")
def sentences(data_folder: Path) -> list[str]:
    """Every fifth sentence of both corpora: the reference engine takes its time."""
    corpora = data_folder / "corpora"
    found = [*_wikitext(corpora), *_brown(corpora)][::5]
    assert len(found) > 12_000
    return found


@pytest.fixture(scope="module")
def engines(sentences: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[SearchEngine]]:
    """Fast and Whoosh, by formula."""
    folder = tmp_path_factory.mktemp("engines")
    for engine in ENGINES:
        index_corpus(sentences, folder / engine, engine=engine)
    return {
        idf: [open_index(folder / engine, engine=engine, idf=idf) for engine in ENGINES]
        for idf in ("whoosh", "paper")
    }


@pytest.fixture(scope="module")
def published(data_folder: Path, tagger: Tagger) -> list[OverlapQuery]:
    """The published queries of 200 instances of DPR and WinoGrande."""
    texts: list[str] = []
    for name in ("dpr/test.tsv", "winogrande/train_s.tsv"):
        path = data_folder / "winograd" / "knowref60k_repo" / name
        rows = [line.split("\t") for line in path.read_text("utf-8").split("\n")[1:] if line]
        texts += [row[1] + row[2] for row in rows[1::2]][:120]
    sentences = [word_tokenize(text) for text in texts]
    tagged = zip(sentences, tagger.tag(sentences), strict=True)
    queries = [published_query(list(zip(words, found.tags, strict=True))) for words, found in tagged]
    return [query for query in queries if query][:INSTANCES]


def _compare(engines: list[SearchEngine], queries: list[OverlapQuery]) -> int:
    """The number of hits; fails where the engines' differ."""
    fast, whoosh = (engine.search(queries) for engine in engines)
    for found, expected in zip(fast, whoosh, strict=True):
        assert_equal_hits(found, expected)
    return sum(map(len, fast))


def test_published_queries(engines: dict[str, list[SearchEngine]], published: list[OverlapQuery]) -> None:
    assert len(published) == INSTANCES
    assert _compare(engines["whoosh"], published) > 100


def test_other_readings(engines: dict[str, list[SearchEngine]], published: list[OverlapQuery]) -> None:
    """Shorter phrases with a gap of their own each, optional content, and the paper's formula.

    Two words of a phrase at most, so that many documents match and ties at the last place are met.
    """
    random = np.random.default_rng(6)
    queries = []
    for i, query in enumerate(published[:60]):
        start = int(random.integers(0, max(1, len(query.phrase) - 1)))
        phrase = query.phrase[start : start + 1 + i % 3]
        gaps = tuple(int(gap) for gap in random.integers(1, 11, len(phrase) - 1))
        queries.append(OverlapQuery(phrase, gaps, query.content, content_required=i % 2 == 0))
    assert _compare(engines["paper"], queries) > 500
    assert _compare(engines["whoosh"], queries[:30]) > 200
