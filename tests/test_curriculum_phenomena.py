"""The table of phenomena: names, categories and sizes as released, licences and citations of all corpora."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchwright.builders.curriculum import CATEGORIES, PHENOMENA
from benchwright.builders.curriculum.phenomena import CORPORA, Corpus
from benchwright.builders.curriculum.recast import recasts
from benchwright.cards.licences import HUB_LICENCES

# The task whose train file has other words for its labels.
RELEASED_WORDS = {"entailment": "entailed", "neutral": "not-entailed"}


def test_there_are_36_phenomena_in_8_categories() -> None:
    assert len(PHENOMENA) == 36
    counts = Counter(phenomenon.category for phenomenon in PHENOMENA.values())
    assert list(dict.fromkeys(counts)) == list(CATEGORIES)
    assert sorted(counts.values()) == [2, 4, 4, 4, 4, 5, 6, 7]
    assert len({phenomenon.abbreviation for phenomenon in PHENOMENA.values()}) == 36
    assert all(name == phenomenon.name for name, phenomenon in PHENOMENA.items())


def test_seven_phenomena_have_three_labels() -> None:
    three = {name for name, phenomenon in PHENOMENA.items() if phenomenon.labels == 3}
    logical = {"boolean", "comparative", "conditional", "counting", "negation", "quantifier"}
    assert three == {*logical, "control"}
    assert PHENOMENA["control"].task.labels == ("entailment", "neutral", "contradiction")
    assert PHENOMENA["ner"].task.labels == ("entailed", "not-entailed")


@pytest.mark.corpora
def test_sizes_and_labels_are_those_of_the_released_files(oracle_folder: Path) -> None:
    stats = json.loads((oracle_folder / "curriculum_stats" / "stats.json").read_text())
    assert set(stats) == set(PHENOMENA)
    for name, phenomenon in PHENOMENA.items():
        for split, rows, counts in (
            ("train", phenomenon.train_rows, phenomenon.train_labels),
            ("val", phenomenon.validation_rows, phenomenon.validation_labels),
        ):
            found = stats[name][split]
            words = RELEASED_WORDS if (name, split) == ("monotonicity_infer", "train") else {}
            labels = {words.get(word, word): count for word, count in found["labels"].items()}
            assert rows == found["n"], name
            assert dict(zip(phenomenon.task.labels or (), counts, strict=True)) == labels, name


@pytest.mark.parametrize("name", sorted(CORPORA))
def test_corpora_say_where_they_are_from(name: str) -> None:
    corpus = CORPORA[name]
    assert corpus.licence in HUB_LICENCES
    assert corpus.homepage.startswith("https://")
    assert re.fullmatch(r"[a-z0-9_]+", name)
    assert corpus.citation.count("{") == corpus.citation.count("}")
    assert corpus.citation.startswith(("@inproceedings{", "@article{"))
    assert len(set(re.findall(r"^  (\w+)", corpus.citation, re.MULTILINE))) == 5


def test_citation_keys_are_unique() -> None:
    keys = [re.match(r"@\w+\{(.+),", corpus.citation) for corpus in CORPORA.values()]
    assert len({key[1] for key in keys if key}) == len(CORPORA)


def test_every_recast_has_its_phenomenon_and_corpus_in_the_tables() -> None:
    for name in recasts:
        phenomenon, _, corpus = name.partition("/")
        assert phenomenon in PHENOMENA
        assert corpus in CORPORA


def test_text_is_passed_on_only_under_known_licences() -> None:
    known, other, unknown = (Corpus("x", "X", licence, "", "") for licence in ("mit", "cc", "unknown"))

    def of_both(corpora: tuple[Corpus, Corpus]) -> tuple[str, str]:
        phenomenon = replace(PHENOMENA["sentiment"], corpora=corpora)
        return phenomenon.licence, phenomenon.redistribute

    assert of_both((known, known)) == ("mit", "text")
    assert of_both((known, other)) == ("mixed", "text")
    assert of_both((known, unknown)) == ("unknown", "ids_only")


def test_phenomena_with_labels_like_noise_say_so() -> None:
    assert all("random" in (PHENOMENA[name].warning or "") for name in ("hypernymy", "hyponymy"))
