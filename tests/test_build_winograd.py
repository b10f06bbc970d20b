"""Releases of Winograd-style test sets: rows, hits, subsets, and what can be made again from them."""

from __future__ import annotations

import doctest
import json
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import datasets
import pytest

from benchwright.builders.audit import audit_release
from benchwright.builders.base import builders
from benchwright.builders.build import build
from benchwright.builders.diff import diff
from benchwright.builders.errata import withdraw
from benchwright.builders.rebuild import rebuild
from benchwright.builders.rescore import rescore
from benchwright.builders.verify import verify
from benchwright.builders.winograd.builder import winograd_features
from benchwright.builders.winograd.queries import copies_of, searched_text
from benchwright.cards.citations import citations
from benchwright.cli import main
from benchwright.errors import (
    BenchwrightWarning,
    ReleaseError,
    SourceError,
    SourceErrors,
    SplitError,
    UsageError,
)
from benchwright.features import HEAD, OVERLAP
from benchwright.release import ReleaseFolder

SETS = ("wsc285", "dpr", "winogrande", "cluewsc")
ROWS = {"wsc285": 6, "dpr": 8, "winogrande": 6, "cluewsc": 4}
CORPORA = {"corpus": ["sample"], "chinese_corpus": ["sample"]}


@contextmanager
def left_out(*configs: str) -> Iterator[None]:
    """Exactly these configs are left out with a warning each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BenchwrightWarning)
        yield
    said = [str(warning.message) for warning in caught if issubclass(warning.category, BenchwrightWarning)]
    assert sorted(message.split()[1] for message in said) == sorted(configs), said
    assert all("is left out: no row has a best score" in message for message in said)


EMPTY = (
    "wsc285_overlap_gt25",
    "wsc285_overlap_gt35",
    "dpr_overlap_gt25",
    "dpr_overlap_gt35",
    "winogrande_overlap_gt25",
    "winogrande_overlap_gt35",
    "cluewsc_no_overlap",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("winograd")


@pytest.fixture(scope="module")
def made(folder: Path) -> ReleaseFolder:
    with left_out(*EMPTY):
        return build("winograd", source="sample", out=folder / "overlap", cache=folder / "cache", **CORPORA)


def rows(release: ReleaseFolder, config: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = release.table(config, "test").to_pylist()
    return found


def files(release: ReleaseFolder) -> dict[str, bytes]:
    paths = sorted(release.path.rglob("*.parquet"))
    return {path.relative_to(release.path).as_posix(): path.read_bytes() for path in paths}


def test_every_set_has_its_whole_and_its_subsets(made: ReleaseFolder) -> None:
    assert list(made.placed_configs) == [
        "wsc285",
        "wsc285_overlap_gt0",
        "wsc285_no_overlap",
        "dpr",
        "dpr_overlap_gt0",
        "dpr_no_overlap",
        "winogrande",
        "winogrande_overlap_gt0",
        "winogrande_no_overlap",
        "cluewsc",
        "cluewsc_overlap_gt0",
        "cluewsc_overlap_gt25",
        "cluewsc_overlap_gt35",
    ]
    assert made.splits("scores") == [f"bm25_{name}" for name in SETS]
    for name, entry in made.placed_configs.items():
        part = entry["part"]
        assert list(entry["splits"]) == ["test"]
        assert entry["splits"]["test"]["rows"] + entry["unused"] == ROWS[part]
        assert made.assignment(name).num_rows == ROWS[part]
        assert entry["scores"] == f"bm25_{part}"
    assert made.manifest["source"]["parts"] == ROWS
    assert verify(made) == []
    assert audit_release(made) is not None


def test_a_corpus_is_opened_and_hashed_once_for_all_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "texts").mkdir()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "texts" / name).write_text("The trophy stood in the case.\n")
    hashed: list[str] = []
    opening = import_module("benchwright.builders.corpora.opening")
    sha256_file = opening.sha256_file
    monkeypatch.setattr(opening, "sha256_file", lambda path: (hashed.append(path.name), sha256_file(path))[1])
    listed: list[Path] = []
    source_folder = opening.SourceFolder
    monkeypatch.setattr(
        opening, "SourceFolder", lambda root, levels: (listed.append(root), source_folder(root, levels))[1]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BenchwrightWarning)
        build(
            "winograd",
            source="sample",
            out=tmp_path / "out",
            cache=tmp_path / "cache",
            corpus=[str(tmp_path / "texts")],
            configs=["wsc285", "dpr", "winogrande"],
            query="published",
        )
    assert listed == [tmp_path / "texts"]
    assert hashed == ["a.txt", "b.txt"]


def test_rows_have_the_columns_of_the_schema(made: ReleaseFolder) -> None:
    columns = [
        *HEAD, "text", "pronoun", "pronoun_loc", "options", "label", "pair_id", "e1", "e2", "pred_c",
        "pred_q", "connective", "content_words", "query", "best_score", "num_hits", "exact_copy", "hits",
        "source_dataset", "source_index",
    ]  # fmt: skip
    assert list(winograd_features()) == columns
    for name in made.placed_configs:
        assert list(made.features(name)) == columns
        assert made.features(name)["label"].names == ["0", "1"]
        for row in rows(made, name):
            assert row["text"].startswith(row["pronoun"], row["pronoun_loc"])


def test_what_is_searched_and_found(made: ReleaseFolder) -> None:
    by_uid = {row["uid"]: row for row in rows(made, "wsc285")}
    copied = by_uid["wsc:test:0"]
    assert (copied["e1"], copied["e2"]) == ("The baker", "the waiter")
    assert (copied["pred_c"], copied["pred_q"]) == ("did not sell", "had promised")
    assert copied["connective"] == "because"
    assert {"baker", "waiter", "loaf", "neighbour"} <= set(copied["content_words"])
    assert (copied["exact_copy"], copied["num_hits"]) == (True, 2)
    best, near = copied["hits"]
    assert (best["corpus"], best["document_id"]) == ("sample", "english.txt:2")
    assert best["text"] == copied["text"]
    assert best["score"] == copied["best_score"] > near["score"] > 0
    assert (best["exact_copy"], near["exact_copy"]) == (True, False)
    assert "sell" in near["matched_terms"]
    assert "loaf" not in near["matched_terms"]
    nothing = by_uid["wsc:test:5"]
    assert (nothing["best_score"], nothing["num_hits"], nothing["hits"]) == (0.0, 0, [])
    assert nothing["exact_copy"] is False
    assert nothing["query"]


def test_subsets_hold_the_rows_of_their_scores(made: ReleaseFolder) -> None:
    whole = rows(made, "cluewsc")
    for name, cutoff in (("overlap_gt0", 0), ("overlap_gt25", 25), ("overlap_gt35", 35)):
        expected = [row["uid"] for row in whole if row["best_score"] > cutoff]
        assert [row["uid"] for row in rows(made, f"cluewsc_{name}")] == expected
        assert made.config(f"cluewsc_{name}")["placed_by"] == {"test": {"score": len(expected)}}
    assert [row["exact_copy"] for row in rows(made, "cluewsc_overlap_gt35")] == [True, True]
    overlapping, others = (rows(made, f"winogrande_{name}") for name in ("overlap_gt0", "no_overlap"))
    assert all(row["best_score"] > 0 and row["num_hits"] for row in overlapping)
    assert all(row["best_score"] == 0 and not row["hits"] for row in others)
    # Rows of a subset are those of the whole, hits and all.
    assert {row["uid"]: row for row in [*overlapping, *others]} == {
        row["uid"]: row for row in rows(made, "winogrande")
    }


def test_empty_subsets_are_named_in_the_manifest(made: ReleaseFolder) -> None:
    notes = [note["message"] for note in made.config("wsc285")["notes"] if note["code"] == "empty_subset"]
    assert [note.split(":")[0] for note in notes] == [
        "no row has a best score above 25",
        "no row has a best score above 35",
    ]
    (note,) = [n["message"] for n in made.config("cluewsc")["notes"] if n["code"] == "empty_subset"]
    assert note.startswith("every searched row overlaps")


def test_chinese_rows_are_searched_by_pairs_of_characters(made: ReleaseFolder) -> None:
    row = rows(made, "cluewsc")[2]
    assert row["content_words"][:3] == ["小船", "船追", "追不"]
    assert row["hits"][0]["document_id"] == "chinese.txt:1"
    assert (row["e1"], row["pred_c"]) == (None, None)
    key = made.manifest["scores"]["bm25_cluewsc"]["provenance"]["key"]
    assert (key["construction"], key["analyzer"]) == ({"construction": "terms"}, "characters-2-1")


def test_provenance_tells_of_corpora_and_queries(made: ReleaseFolder) -> None:
    entry = made.manifest["scores"]["bm25_wsc285"]
    assert (entry["scorer"], entry["scored"], entry["empty"]) == ("bm25", 6, 0)
    (corpus,) = entry["provenance"]["corpora"]
    assert (corpus["name"], corpus["documents"]) == ("sample", 26)
    assert corpus["terms"] > 0
    key = entry["provenance"]["key"]
    assert (key["engine"], key["idf"], key["hits_per_query"]) == ("fast", "paper", 50)
    assert key["construction"]["construction"] == "parsed"
    assert [file["name"] for file in key["corpora"][0]["files"]] == ["chinese.txt", "english.txt"]


@pytest.fixture(scope="module")
def small(folder: Path) -> ReleaseFolder:
    """One set, searched anew: nothing of it is taken from the cache of `made`."""
    return build(
        "winograd", source="sample", out=folder / "small", cache=folder / "fresh", corpus=["sample"],
        configs=["wsc285", "wsc285_no_overlap"],
    )  # fmt: skip


def test_the_same_corpora_and_sources_give_the_same_bytes(made: ReleaseFolder, small: ReleaseFolder) -> None:
    known = files(made)
    found = files(small)
    assert len(found) == 5
    assert {name: known[name] for name in found} == found
    assert small.manifest["scores"]["bm25_wsc285"] == made.manifest["scores"]["bm25_wsc285"]


def test_published_scores_are_enough_to_build_again(made: ReleaseFolder) -> None:
    assert rebuild(made, source="sample") == []


def test_other_cutoffs_from_published_scores(made: ReleaseFolder, folder: Path) -> None:
    other = build(
        "winograd",
        source="sample",
        out=folder / "other",
        scores=made.path,
        configs=["wsc285", "wsc285_overlap_gt9_7", "wsc285_overlap_q75"],
        overlap_cutoff=[9.7],
        cutoff_quantile=[0.75],
    )
    scores = {row["uid"]: row["best_score"] for row in rows(other, "wsc285")}
    found = [row["uid"] for row in rows(other, "wsc285_overlap_gt9_7")]
    assert found == [uid for uid, score in scores.items() if score > 9.7]
    # Of five overlapping rows a quarter, one, scores above the fourth.
    ranked = sorted((score for score in scores.values() if score > 0), reverse=True)
    assert [row["best_score"] for row in rows(other, "wsc285_overlap_q75")] == ranked[:1]
    assert other.manifest["choices"]["overlap_cutoff"] == [9.7]
    notes = other.config("wsc285_overlap_q75")["notes"]
    assert notes[0]["code"] == "overlap_cut"


def test_cutoffs_that_one_name_would_stand_for_are_refused(made: ReleaseFolder, folder: Path) -> None:
    with pytest.raises(UsageError, match="would both be called wsc285_overlap_q50; leave one out"):
        build(
            "winograd", source="sample", out=folder / "x", scores=made.path,
            cutoff_quantile=[0.5, 0.500000000001],
        )  # fmt: skip
    assert not (folder / "x").exists()


@pytest.mark.parametrize("executor", ["serial", "local"])
def test_bad_rows_of_a_corpus_are_told_or_dropped_on_demand(folder: Path, executor: str) -> None:
    corpus = folder / "broken.txt"
    corpus.write_bytes(b"A good line.\n\xff\xfe\nAnother line.\n")
    options: dict[str, Any] = {
        "source": "sample", "corpus": [corpus], "configs": ["wsc285"], "cache": folder / f"cache-{executor}",
        "executor": executor, **({} if executor == "serial" else {"workers": 2}),
    }  # fmt: skip
    with pytest.raises(SourceErrors, match=r"broken.txt, line 2: not UTF-8; save the file as UTF-8"):
        build("winograd", out=folder / f"broken-{executor}", **options)
    made = build("winograd", out=folder / f"broken-{executor}", on_bad_row="drop", **options)
    (found,) = made.manifest["scores"]["bm25_wsc285"]["provenance"]["corpora"]
    assert (found["documents"], found["dropped"]) == (2, {"not UTF-8": 1})


def test_hits_that_do_not_score_are_told_of(folder: Path) -> None:
    # One document: each of its words is in all of them, and the paper's weight is ln(0.5 / 1.5).
    corpus = folder / "single.txt"
    corpus.write_text("Nobody knew why the baker did not sell the waiter what he had promised.\n")
    options = {"source": "sample", "cache": folder / "cache", "corpus": [corpus], "configs": ["wsc285"]}
    with pytest.warns(BenchwrightWarning, match="wsc285 with hits but no score above 0: 2;") as caught:
        small = build("winograd", out=folder / "single", **options)
    assert "give --idf whoosh" in str(caught[0].message)
    hits = [hit for row in rows(small, "wsc285") for hit in row["hits"]]
    assert [hit["score"] < 0 for hit in hits] == [True, True]
    assert max(row["best_score"] for row in rows(small, "wsc285")) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error", BenchwrightWarning)
        build("winograd", out=folder / "single-whoosh", idf="whoosh", **options)


def test_configs_are_added_to_a_release(made: ReleaseFolder, small: ReleaseFolder, folder: Path) -> None:
    grown = build(
        "winograd", source="sample", out=folder / "grown", into=small.path, cache=folder / "cache",
        corpus=["sample"], configs=["winogrande_overlap_gt0"],
    )  # fmt: skip
    assert list(grown.placed_configs) == ["wsc285", "wsc285_no_overlap", "winogrande_overlap_gt0"]
    for config in grown.placed_configs:
        assert rows(grown, config) == rows(made, config)
    assert verify(grown) == []
    # The sample has a Chinese set and others, too: each release tells of its own rows alone.
    told = [(release.dataset["languages"], citations(release).corpus) for release in (small, grown, made)]
    assert [languages for languages, _ in told] == [["en"], ["en"], ["en", "zh"]]
    assert ["sakaguchi" in citation.lower() for _, citation in told] == [False, True, True]


def test_published_method(folder: Path) -> None:
    made = build(
        "winograd", source="sample", out=folder / "published", cache=folder / "cache", corpus=["sample"],
        configs=["wsc285", "wsc285_overlap_gt25"], method="published",
    )  # fmt: skip
    row = rows(made, "wsc285")[0]
    assert row["query"].startswith('("did sell last had promised"~10\') AND (')
    assert (row["e1"], row["pred_c"]) == (None, None)
    assert [row["uid"] for row in rows(made, "wsc285_overlap_gt25")] == ["wsc:test:0"]
    key = made.manifest["scores"]["bm25_wsc285"]["provenance"]["key"]
    assert (key["idf"], key["construction"]["construction"]) == ("whoosh", "published")


def test_engines_give_one_release(made: ReleaseFolder, folder: Path) -> None:
    whoosh = build(
        "winograd", source="sample", out=folder / "whoosh", cache=folder / "cache", corpus=["sample"],
        configs=["wsc285"], engine="whoosh",
    )  # fmt: skip
    for one, other in zip(rows(made, "wsc285"), rows(whoosh, "wsc285"), strict=True):
        assert one["best_score"] == pytest.approx(other["best_score"], abs=1e-9)
        assert [hit["document_id"] for hit in one["hits"]] == [hit["document_id"] for hit in other["hits"]]


def test_withdrawn_rows_leave_no_hits(small: ReleaseFolder, folder: Path) -> None:
    shutil.copytree(small.path, folder / "less")
    less = withdraw(folder / "less", uids=["wsc:test:0"], reason="copied")
    assert [row["uid"] for row in rows(less, "wsc285")] == [f"wsc:test:{n}" for n in range(1, 6)]
    assert verify(less) == []
    assert rebuild(less, source="sample") == []


def test_diff_tells_of_other_hits(small: ReleaseFolder, folder: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "more.txt"
    corpus.write_text("Marta thanked nobody since she had drawn the way.\n", encoding="utf-8")
    # In a corpus of one document no word is rare.
    with pytest.warns(BenchwrightWarning, match="with hits but no score above 0: 1;"):
        other = build(
            "winograd", source="sample", out=folder / "more", cache=folder / "cache",
            corpus=["sample", str(corpus)], configs=["wsc285"],
        )  # fmt: skip
    hits = [row["hits"] for row in rows(other, "wsc285")][5]
    assert [hit["corpus"] for hit in hits] == ["more"]
    found = diff(small.path, other.path)
    assert found is not None
    assert str(tmp_path) not in (other.path / "manifest.json").read_text(encoding="utf-8")


def test_readers_load_every_config(made: ReleaseFolder, tmp_path: Path) -> None:
    for config in ("wsc285", "cluewsc_overlap_gt35", "scores"):
        split = "bm25_wsc285" if config == "scores" else "test"
        loaded = datasets.load_dataset(str(made.path), config, split=split, cache_dir=str(tmp_path / "hf"))
        assert loaded[0]["hits"][0]["matched_terms"]
        assert list(OVERLAP) == [name for name in loaded.column_names if name in OVERLAP]


def test_commands(made: ReleaseFolder, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "build",
        "winograd",
        "--source",
        "sample",
        "--out",
        str(folder / "cli"),
        "--corpus",
        "sample",
    ]
    arguments += [
        "--configs",
        "wsc285,wsc285_overlap_gt5",
        "--overlap-cutoff",
        "5",
        "--cache",
        str(folder / "cache"),
    ]
    assert main([*arguments, "--json"]) == 0
    capsys.readouterr()
    assert rows(ReleaseFolder(folder / "cli"), "wsc285") == rows(made, "wsc285")
    assert main(["verify", str(folder / "cli"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) is not None


def test_corpora_are_asked_for_before_anything_is_read(folder: Path) -> None:
    out = folder / "refused"
    sample: dict[str, Any] = {"source": "sample", "out": out, "cache": folder / "cache"}
    with pytest.raises(UsageError, match="wsc273 is made by searching a corpus; give one with --corpus"):
        build("winograd", **sample)
    with pytest.raises(UsageError, match=r"cluewsc is made .* --chinese-corpus"):
        build("winograd", configs=["cluewsc"], corpus=["sample"], **sample)
    with pytest.raises(
        UsageError, match="spider has no rows to search in corpora; leave out --corpus, --idf"
    ):
        build("spider", corpus=["sample"], idf="paper", **sample)
    with pytest.raises(UsageError, match="no query construction 'tags'"):
        build("winograd", corpus=["sample"], query="tags", **sample)
    with pytest.raises(UsageError, match="no way 'words' to cut sentences; give none or lines or punkt"):
        build("winograd", corpus=["sample"], sentences="words", **sample)
    with pytest.raises(UsageError, match="idf"):
        build("winograd", corpus=["sample"], idf="tf", **sample)
    with pytest.raises(UsageError, match="all rows of winograd are test rows; leave out validation"):
        build("winograd", corpus=["sample"], validation=0.1, **sample)
    with pytest.raises(UsageError, match="snli has no subsets by overlap; leave out cutoff_quantile"):
        build("snli", cutoff_quantile=[0.5], **sample)
    assert not out.exists()


@pytest.mark.parametrize("option", ["corpus", "chinese_corpus"])
def test_a_corpus_that_is_not_there_is_told_before_anything_is_read(folder: Path, option: str) -> None:
    """The source has no Chinese rows, or none of any kind: a mistyped path is one all the same."""
    options: dict[str, Any] = {"corpus": ["sample"], option: [str(folder / "mistyped.txt")]}
    with pytest.raises(SourceError, match=r"mistyped.txt: no such file or folder"):
        build("winograd", source=folder / "nowhere", out=folder / "x", **options)


def test_with_scores_no_corpus_is_searched(made: ReleaseFolder, folder: Path) -> None:
    with pytest.raises(UsageError, match="with --scores no corpus is searched; leave out --corpus"):
        build("winograd", source="sample", out=folder / "x", scores=made.path, corpus=["sample"])


def test_sets_of_another_language_are_left_out_with_one_warning(folder: Path) -> None:
    with pytest.warns(BenchwrightWarning) as caught:
        release = build(
            "winograd", source="sample", out=folder / "english", cache=folder / "cache", corpus=["sample"]
        )
    assert not [name for name in release.configs if name.startswith("cluewsc")]
    said = [str(warning.message) for warning in caught if "chinese-corpus" in str(warning.message)]
    assert said == [
        "5 configs are left out, the first is cluewsc: give one of Chinese text with --chinese-corpus, or "
        "published scores with --scores"
    ]


def test_sets_that_are_not_in_the_source_are_not_said_to_be_left_out(folder: Path) -> None:
    source = folder / "english-source"
    source.mkdir()
    shutil.copy(builders.get("winograd").sample_folder() / "WSCollection.xml", source)
    with pytest.warns(BenchwrightWarning) as caught:
        build("winograd", source=source, out=folder / "no-chinese", cache=folder / "cache", corpus=["sample"])
    assert not [warning for warning in caught if "chinese-corpus" in str(warning.message)]


def test_a_subset_that_is_asked_for_may_not_be_empty(made: ReleaseFolder, folder: Path) -> None:
    with pytest.raises(SplitError, match="no row has a best score above 35"):
        build(
            "winograd", source="sample", out=folder / "x", scores=made.path, configs=["wsc285_overlap_gt35"]
        )


def test_a_command_for_models_has_no_use_for_hits(made: ReleaseFolder) -> None:
    with pytest.raises(ReleaseError, match="come from corpora and not from a model"):
        rescore(made, source="sample")


def test_forms_of_a_text_that_count_as_copies() -> None:
    row = {
        "text": "_ waved and _ left.",
        "pronoun": "_",
        "pronoun_loc": 0,
        "options": ["Ann", "Bea"],
        "published_text": None,
    }
    assert copies_of(row) == ("Ann waved and Ann left.", "Bea waved and Bea left.")
    assert searched_text(row) == "Ann waved and Ann left."
    row |= {
        "text": "Ann saw Bea as she left.",
        "pronoun": "she",
        "pronoun_loc": 15,
        "published_text": "As is.",
    }
    assert copies_of(row) == (
        "Ann saw Bea as she left.",
        "Ann saw Bea as Ann left.",
        "Ann saw Bea as Bea left.",
        "As is.",
    )
    assert searched_text(row) == "As is."


@pytest.mark.parametrize("module", ["builder", "queries"])
def test_doctests(module: str) -> None:
    assert doctest.testmod(import_module(f"benchwright.builders.winograd.{module}")).failed == 0


def test_the_builder_is_listed() -> None:
    assert "winograd" in builders


@pytest.mark.corpora
def test_real_sets_over_wikitext_and_brown(data_folder: Path, folder: Path) -> None:
    """The first 273 schemas over three small corpora: sizes, subsets, and the whole again from its scores."""
    corpora = [data_folder / "corpora" / name for name in ("wiki.valid.tokens.txt.gz", "nltk_brown.zip")]
    subsets = ["wsc273", "wsc273_overlap_gt0", "wsc273_overlap_q50", "wsc273_no_overlap"]
    source = data_folder / "winograd"
    release = build(
        "winograd", source=source, out=folder / "real", cache=folder / "real-cache", configs=subsets,
        corpus=list(map(str, corpora)), method="published", cutoff_quantile=[0.5],
    )  # fmt: skip
    whole = {row["uid"]: row for row in rows(release, "wsc273")}
    assert len(whole) == 273
    searched = {uid for uid, row in whole.items() if row["best_score"] is not None}
    overlapping, half, others = (
        {row["uid"] for row in rows(release, f"wsc273_{name}")}
        for name in ("overlap_gt0", "overlap_q50", "no_overlap")
    )
    assert overlapping | others == searched
    assert overlapping == {uid for uid in searched if whole[uid]["best_score"] > 0}
    assert 0 < len(half) <= len(overlapping) / 2
    for uid in overlapping:
        hits = whole[uid]["hits"]
        assert whole[uid]["best_score"] == hits[0]["score"]
        assert {hit["corpus"] for hit in hits} <= {"wiki.valid", "nltk_brown"}
    described = release.manifest["scores"]["bm25_wsc273"]["provenance"]["corpora"]
    # Lines of wikitext-2 that are not empty; sentences of Brown.
    assert [(c["name"], c["documents"]) for c in described] == [("wiki.valid", 2_461), ("nltk_brown", 57_340)]
    assert verify(release) == []
    assert rebuild(release, source=source) == []
