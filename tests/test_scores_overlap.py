"""Score tables of what stands in corpora: scores, hits, copies, and work that is not done twice."""

from __future__ import annotations

import doctest
import math
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from overlap_corpora import MadeCorpus

from benchwright.builders.corpora import open_corpus
from benchwright.errors import SourceError, UsageError
from benchwright.features import OVERLAP
from benchwright.hashing import columns_hash
from benchwright.splitting.scores import ScoreTable, indexes
from benchwright.splitting.scores import overlap as module
from benchwright.splitting.scores.bm25.query import OverlapQuery
from benchwright.splitting.scores.ngrams import CopySearch, ngram_words
from benchwright.splitting.scores.overlap import (
    Execution,
    Queries,
    RowQuery,
    SearchOptions,
    score_by_overlap,
)
from benchwright.splitting.scores.table import check_table

TEXTS = [
    "The cook praised the porter, since soup was hot.",
    "Nobody praised anything.",
    "The cook praised the porter; later soup was hot and bread was hot.",
    "",
]
ROWS = [
    (("praised", "hot"), ("cook", "porter", "soup"), ("The cook praised the porter since soup was hot",)),
    (("praised",), ("nobody", "cook"), ()),
    (("hot", "praised"), ("cook",), ()),
]


def table(numbers: list[int]) -> pa.Table:
    return pa.table(
        {
            "uid": [f"made:{number}" for number in numbers],
            "content_id": [f"{number:032x}" for number in numbers],
            "source_index": pa.array(numbers, pa.int32()),
            "length": pa.array([number + 5 for number in numbers], pa.int32()),
        }
    )


def query(number: int) -> RowQuery:
    phrase, content, copies = ROWS[number]
    made = OverlapQuery(phrase, (10,) * (len(phrase) - 1), content, content_required=True)
    return RowQuery(made, {"content_words": list(content), "query": " ".join(phrase)}, copies)


def queries(numbers: list[int]) -> Queries:
    return Queries([query(number) for number in numbers], {"construction": "made"})


def scored(
    cache: Path, *corpora: MadeCorpus, numbers: tuple[int, ...] = (0, 1, 2), **options: Any
) -> ScoreTable:
    chosen = SearchOptions(**{"idf": "whoosh", **options})
    searched = corpora or (MadeCorpus("kitchen", TEXTS),)
    return score_by_overlap(table(list(numbers)), queries(list(numbers)), searched, chosen, cache=cache)


def rows_of(made: ScoreTable) -> list[dict[str, Any]]:
    return made.table.select(["uid", "status", *OVERLAP]).to_pylist()


def test_scores_and_hits_by_hand(tmp_path):
    first, second, third = rows_of(scored(tmp_path))
    assert [row["best_score"] > 0 for row in (first, second, third)] == [True, True, False]
    # "nobody praised anything" has 3 terms, the mean is (7 + 3 + 10) / 4; praised stands in three of four
    # documents, nobody in one.
    length = 1.2 * (0.25 + 0.75 * 3 / 5)
    by_hand = sum((math.log(4 / (df + 1)) + 1) * 2.2 / (1 + length) for df in (3, 1))
    assert second["hits"][0]["document_id"] == "kitchen:1"
    assert second["best_score"] == second["hits"][0]["score"] == pytest.approx(by_hand, abs=1e-9)
    assert (second["num_hits"], [hit["document_id"] for hit in second["hits"][1:]]) == (
        3,
        ["kitchen:0", "kitchen:2"],
    )
    assert second["hits"][0]["matched_terms"] == ["nobody", "praised"]
    assert (third["best_score"], third["num_hits"], third["hits"], third["exact_copy"]) == (0.0, 0, [], False)


def test_exact_copies_are_told_from_near_matches(tmp_path):
    first = rows_of(scored(tmp_path))[0]
    assert [(hit["document_id"], hit["exact_copy"]) for hit in first["hits"]] == [
        ("kitchen:0", True),
        ("kitchen:2", False),
    ]
    assert first["exact_copy"] is True
    assert first["hits"][0]["text"] == TEXTS[0]


def test_an_exact_copy_is_kept_beyond_the_top_hits(tmp_path):
    # The copy stands in a long document, which scores less than the short one.
    long = " ".join([TEXTS[0], *(f"filler{number} words" for number in range(60))])
    texts = ["cook praised porter: soup hot", "porter praised cook: soup hot, soup hot", long]
    first = rows_of(scored(tmp_path, MadeCorpus("c", texts), numbers=(0,), top_hits=1))[0]
    assert first["num_hits"] == 3
    assert [hit["exact_copy"] for hit in first["hits"]] == [False, True]


def copied(forms: list[RowQuery], texts: list[str], cache: Path, **options: Any) -> list[dict[str, Any]]:
    """What is found for rows with these queries and forms in a corpus of these texts."""
    made = score_by_overlap(
        table(list(range(len(forms)))),
        Queries(forms, {"construction": "made"}),
        [MadeCorpus("c", texts)],
        SearchOptions(**{"idf": "whoosh", **options}),
        cache=cache,
    )
    return rows_of(made)


def hits_of(row: dict[str, Any]) -> list[tuple[str, float | None, bool]]:
    return [(hit["document_id"], hit["score"], hit["exact_copy"]) for hit in row["hits"]]


MISSES = OverlapQuery(("praised", "hot"), (10,), ("lighthouse",), content_required=True)


def test_copies_are_found_whatever_the_query_finds(tmp_path):
    forms = [
        RowQuery(MISSES, copies=("Bea left Ann.", "Bea left Bea.")),
        RowQuery(None, copies=("late", "it was  LATE")),
        RowQuery(MISSES, copies=("小船追不上大船", "Ann's boat")),
        RowQuery(MISSES, copies=("left Ann and",)),
        RowQuery(MISSES, copies=("...", "")),
    ]
    texts = [
        "Then Bea left Bea - late!",
        "bea LEFT bea",
        "chocolate",
        "他说小船追不上大船了。",
        "Bea left Ann",
    ]
    rows = copied(forms, texts, tmp_path)
    # No query matches anything: such copies have score 0, and none where there is no query.
    assert hits_of(rows[0]) == [("c:0", 0.0, True), ("c:1", 0.0, True), ("c:4", 0.0, True)]
    assert hits_of(rows[1]) == [("c:0", None, True)]
    assert hits_of(rows[2]) == [("c:3", 0.0, True)]
    assert hits_of(rows[3]) == hits_of(rows[4]) == []
    assert [row["exact_copy"] for row in rows] == [True, True, True, False, False]
    assert [row["best_score"] for row in rows] == [0.0, None, 0.0, 0.0, 0.0]
    assert [row["num_hits"] for row in rows] == [0, None, 0, 0, 0]
    assert rows[0]["hits"][0]["matched_terms"] == []


def test_a_copy_below_the_hits_that_are_searched_for_has_its_score(tmp_path):
    texts = [TEXTS[0] + " soup" * 9, "cook praised porter soup hot", "praised, hot: soup", "not hot"]
    row = query(0)
    many = copied([row], texts, tmp_path / "many")[0]
    few = copied([row], texts, tmp_path / "few", hits_per_query=1)[0]
    scores = {hit["document_id"]: (hit["score"], hit["matched_terms"]) for hit in many["hits"]}
    assert [hit["document_id"] for hit in few["hits"]] == ["c:1", "c:0"]
    for hit in few["hits"]:
        score, terms = scores[hit["document_id"]]
        assert hit["score"] == pytest.approx(score, abs=1e-9)
        assert hit["matched_terms"] == terms
    assert (few["num_hits"], few["exact_copy"]) == (1, True)


def test_of_very_many_copies_the_first_are_kept(tmp_path):
    row = RowQuery(None, copies=("it was late",))
    found = copied([row], ["It was late."] * 9, tmp_path, hits_per_query=4)[0]
    assert [hit["document_id"] for hit in found["hits"]] == ["c:0", "c:1", "c:2", "c:3"]


def test_a_corpus_is_read_twice_and_once_for_other_rows(tmp_path):
    corpus = MadeCorpus("kitchen", TEXTS)
    scored(tmp_path, corpus, numbers=(0, 1))
    assert corpus.passes == 2
    scored(tmp_path, corpus, numbers=(2,))
    assert corpus.passes == 3


@given(
    st.lists(st.text("ab船 .,", max_size=8), max_size=4),
    st.lists(st.text("aAb船 -", max_size=12), max_size=6),
)
def test_a_copy_holds_all_words_in_a_row(forms, documents):
    def words(text: str) -> str:
        return "".join(f"<{word}>" for word in ngram_words(text))

    found = CopySearch([(form,) for form in forms]).within(documents)
    expected = [
        [row for row, form in enumerate(forms) if words(form) and words(form) in words(document)]
        for document in documents
    ]
    assert found == expected


def test_every_corpus_has_its_own_statistics_and_its_best_hits(tmp_path):
    kitchen, other = MadeCorpus("kitchen", TEXTS), MadeCorpus("other", [*TEXTS, "praised by nobody", "x y z"])
    alone = {corpus.name: rows_of(scored(tmp_path / corpus.name, corpus)) for corpus in (kitchen, other)}
    both = rows_of(scored(tmp_path / "both", kitchen, other, top_hits=1))
    for number, row in enumerate(both):
        parts = [alone[name][number] for name in ("kitchen", "other")]
        assert row["best_score"] == max(part["best_score"] for part in parts)
        assert row["num_hits"] == sum(part["num_hits"] for part in parts)
        best = {part["hits"][0]["corpus"]: part["hits"][0]["score"] for part in parts if part["hits"]}
        kept = {hit["corpus"]: hit["score"] for hit in row["hits"] if not hit["exact_copy"]}
        assert {name: best[name] for name in kept} == kept
        scores = [hit["score"] for hit in row["hits"]]
        assert scores == sorted(scores, reverse=True)


def test_a_row_without_a_query_has_no_score(tmp_path):
    made = Queries([query(0), RowQuery(None)], {"construction": "made"})
    found = score_by_overlap(
        table([0, 1]), made, [MadeCorpus("kitchen", TEXTS)], SearchOptions(), cache=tmp_path
    )
    row = rows_of(found)[1]
    assert row["status"] == "empty"
    assert {name: row[name] for name in OVERLAP} == {
        **dict.fromkeys(OVERLAP), "hits": [], "exact_copy": False,
    }  # fmt: skip
    assert np.isnan(found.scores().best_score).tolist() == [False, True]
    assert (found.entry()["scored"], found.entry()["empty"]) == (1, 1)
    assert "scored_tokens" not in found.entry()


def test_engines_agree(tmp_path):
    fast, whoosh = (rows_of(scored(tmp_path / engine, engine=engine)) for engine in ("fast", "whoosh"))
    for one, other in zip(fast, whoosh, strict=True):
        assert one["best_score"] == pytest.approx(other["best_score"], abs=1e-9)
        assert [hit["document_id"] for hit in one["hits"]] == [hit["document_id"] for hit in other["hits"]]


def test_scores_do_not_depend_on_the_order_of_rows(tmp_path):
    one, other = scored(tmp_path / "a"), scored(tmp_path / "b", numbers=(2, 0, 1))
    assert one.identity == other.identity
    assert {row["uid"]: row for row in rows_of(one)} == {row["uid"]: row for row in rows_of(other)}


def test_finished_scores_are_taken_from_the_cache_without_reading_the_corpus(tmp_path):
    corpus = MadeCorpus("kitchen", TEXTS)
    first = scored(tmp_path, corpus)
    passes = corpus.passes
    again = scored(tmp_path, corpus)
    assert corpus.passes == passes
    assert (again.table.equals(first.table), again.provenance) == (True, first.provenance)


def test_an_index_serves_other_rows(tmp_path, monkeypatch):
    corpus = MadeCorpus("kitchen", TEXTS)
    scored(tmp_path, corpus, numbers=(0, 1))
    monkeypatch.setattr(indexes, "index_corpus", lambda *_, **__: pytest.fail("indexed a second time"))
    assert rows_of(scored(tmp_path, corpus, numbers=(2,)))[0]["num_hits"] == 0


def test_an_interrupted_search_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_QUERIES_PER_CHUNK", 1)
    whole = scored(tmp_path / "whole")
    searched: list[int] = []
    search = module._Search._hits

    def interrupted(self: Any, items: list[int], index: Any) -> Any:
        if len(searched) == 2:
            raise KeyboardInterrupt
        searched.extend(items)
        return search(self, items, index)

    monkeypatch.setattr(module._Search, "_hits", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scored(tmp_path / "cut")
    assert searched == [0, 1]
    searched.clear()
    made = scored(tmp_path / "cut")
    assert searched == [2]
    assert made.table.equals(whole.table)
    assert not list((tmp_path / "cut").rglob("chunk-*"))


def test_identity_tells_of_everything_that_scores_depend_on(tmp_path):
    known = scored(tmp_path).identity
    others = [
        scored(tmp_path, idf="paper"),
        scored(tmp_path, top_hits=1),
        scored(tmp_path, hits_per_query=1),
        scored(tmp_path, MadeCorpus("kitchen", TEXTS[:3])),
        scored(tmp_path, numbers=(0, 1)),
    ]
    identities = {known, *(other.identity for other in others)}
    assert len(identities) == 6
    provenance = scored(tmp_path).provenance
    assert provenance["corpora"] == [
        {
            "name": "kitchen",
            "fingerprint": MadeCorpus("kitchen", TEXTS).fingerprint,
            "documents": 4,
            "terms": 20,
            "skipped": {},
            "dropped": {},
            # Of the terms that hits have, in the whole corpus.
            "document_frequencies": {"cook": 2, "hot": 2, "nobody": 1, "porter": 2, "praised": 3, "soup": 2},
        }
    ]
    assert provenance["key"]["construction"] == {"construction": "made"}


def test_fewer_documents_than_hits_and_empty_documents(tmp_path):
    """Trial 29 for whole tables."""
    made = rows_of(scored(tmp_path, MadeCorpus("empty", ["", ""]), numbers=(0, 1)))
    assert [(row["best_score"], row["num_hits"]) for row in made] == [(0.0, 0), (0.0, 0)]
    made = rows_of(scored(tmp_path, numbers=(1,), hits_per_query=50))
    assert made[0]["num_hits"] == 3


def test_refusals(tmp_path):
    with pytest.raises(UsageError, match="two corpora are called 'kitchen'"):
        scored(tmp_path, MadeCorpus("kitchen", TEXTS), MadeCorpus("kitchen", TEXTS[:1]))
    with pytest.raises(UsageError, match="give --corpus"):
        score_by_overlap(table([0]), queries([0]), [], SearchOptions(), cache=tmp_path)
    for options in ({"engine": "grep"}, {"idf": "none"}, {"top_hits": 0}, {"hits_per_query": True}):
        with pytest.raises(UsageError):
            SearchOptions(**options)


def test_table_survives_a_file(tmp_path):
    made = scored(tmp_path / "cache")
    made.save(tmp_path / "table")
    loaded = ScoreTable.load(tmp_path / "table")
    assert loaded.table.equals(made.table)
    assert loaded.entry() == made.entry()
    assert loaded.scorer == "bm25"


def test_damaged_tables_are_refused(tmp_path):
    good = scored(tmp_path).table
    place = good.column_names.index

    def changed(name: str, values: list[Any]) -> pa.Table:
        column = pa.array(values, good.schema.field(name).type)
        return good.set_column(place(name), good.schema.field(name), column)

    for name, values, message in (
        ("best_score", [None, 1.0, 0.0], "contradict"),
        ("num_hits", [1, None, 0], "contradict"),
        ("log_likelihood", [None, -1.0, None], "a table of BM25 scores has no log-likelihoods"),
    ):
        with pytest.raises(SourceError, match=message):
            check_table(changed(name, values))
    with pytest.raises(SourceError, match="columns are"):
        check_table(good.drop_columns(["hits"]))


def test_hashes_of_nested_columns_see_every_value_and_no_chunk(tmp_path):
    good = scored(tmp_path).table.select(["hits", "content_words", "exact_copy"])
    halves = pa.concat_tables([good.slice(0, 1), good.slice(1)])
    assert columns_hash(halves) == columns_hash(good)
    rows = good.to_pylist()
    rows[0]["hits"][0]["text"] += "."
    assert columns_hash(pa.Table.from_pylist(rows, schema=good.schema)) != columns_hash(good)


def test_doctests():
    found = doctest.testmod(import_module("benchwright.splitting.scores.ngrams"))
    assert (found.failed, found.attempted > 3) == (0, True)


@pytest.mark.parametrize("shards", [None, 3])
def test_processes_and_shards_change_no_answer(tmp_path, shards):
    corpus = tmp_path / "kitchen.txt"
    corpus.write_text("\n".join(text for text in TEXTS * 5 if text) + "\n", encoding="utf-8")
    numbers = [0, 1, 2]
    # A copy that no query finds, in the last shard.
    asked = [*queries(numbers).rows[:2], RowQuery(MISSES, copies=("the end of it",))]
    with corpus.open("a", encoding="utf-8") as end:
        end.write("That was the end of it.\n")

    def made(cache: str, execution: Execution) -> ScoreTable:
        return score_by_overlap(
            table(numbers), Queries(asked, {}), [open_corpus(corpus)], SearchOptions(idf="whoosh"),
            cache=tmp_path / cache, execution=execution,
        )  # fmt: skip

    alone = made("alone", Execution())
    parallel = made("parallel", Execution("local", workers=2, shards=shards))
    assert rows_of(parallel) == rows_of(alone)
    assert [hit["document_id"] for hit in rows_of(alone)[2]["hits"]] == ["kitchen.txt:16"]
    assert parallel.provenance == alone.provenance
    assert len(list((tmp_path / "parallel" / "indexes").glob("*/shard-*"))) == (shards or 2)


@pytest.mark.parametrize("execution", [Execution(), Execution("local", workers=2, shards=3)])
def test_a_corpus_without_a_document_is_refused_by_every_executor(tmp_path, execution):
    (tmp_path / "blank.txt").write_text("\n \n\n\u3000\n")
    # The second time its index is in the cache.
    for _ in range(2):
        with pytest.raises(SourceError, match="no document in the corpus, got '3 empty line, 1 empty text'"):
            score_by_overlap(
                table([0]), queries([0]), [open_corpus(tmp_path / "blank.txt")], SearchOptions(),
                cache=tmp_path / "cache", execution=execution,
            )  # fmt: skip


@pytest.mark.parametrize(
    ("execution", "engine", "message"),
    [
        (Execution("loacl"), "fast", "unknown executor 'loacl'; did you mean local"),
        (Execution("local", workers=0), "fast", "workers is 0; give a whole number from 1"),
        (Execution(shards=4), "fast", "shards is for the executors local and ray"),
        (Execution("local"), "whoosh", "engine whoosh makes one index in one process"),
    ],
)
def test_choices_of_executors_that_cannot_be(execution, engine, message):
    with pytest.raises(UsageError, match=message):
        execution.check(engine)
