"""`analyse` on releases of the built-in samples: what it finds, keeps, refuses and writes."""

from __future__ import annotations

import json
import random
import shutil
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.builders._analysis_programs import ProgramAnalyses
from benchwright.builders._analysis_rows import DistinctTexts
from benchwright.builders.analyse import PROPERTIES, analyse, is_stale
from benchwright.builders.base import builders
from benchwright.builders.build import build
from benchwright.builders.build import split as split_own_rows
from benchwright.builders.sources.spider import parser_target, read_spider
from benchwright.errors import PrerequisiteError, SourceError, UsageError
from benchwright.eval.analyses.parsers import Parser, parsers
from benchwright.eval.analyses.trees import tree_measures
from benchwright.faults import FaultLog
from benchwright.release import MANIFEST, ReleaseFolder
from benchwright.splitting.divergence import chernoff_divergence, total_counts
from benchwright.text import word_count, word_tokenize
from benchwright.text.programs import structures

NOTHING = "no such text"
CONFIGS = ["random", "length"]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Callable[[str], Path]:
    """The folder of a release of a sample, made at first use."""
    folders: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name not in folders:
            folders[name] = tmp_path_factory.mktemp(name) / "release"
            build(name, source="sample", out=folders[name], configs=CONFIGS)
            shutil.rmtree(folders[name] / "analyses", ignore_errors=True)
        return folders[name]

    return make


@pytest.fixture
def release(made, tmp_path) -> Callable[[str], ReleaseFolder]:
    """A release that the test may write to."""

    def copy(name: str) -> ReleaseFolder:
        return ReleaseFolder(shutil.copytree(made(name), tmp_path / name))

    return copy


@pytest.fixture(autouse=True)
def _without_cmudict(monkeypatch) -> None:
    """Whether the package is installed must not matter."""
    monkeypatch.setitem(sys.modules, "cmudict", None)


@pytest.fixture
def lists(tmp_path) -> dict[str, Path]:
    """A frequency list and a word list that share some words of the samples."""
    words = ["a", "the", "man", "how", "many", "what", "is", "dog", "show", "name", "people"]
    frequencies = tmp_path / "frequencies.csv"
    lines = [f"{word},{0.5 if len(word) > 3 else 900}" for word in words]
    frequencies.write_text("\n".join(["word,per_million", *lines]), encoding="utf-8")
    english = tmp_path / "words.txt"
    english.write_text("\n".join(words), encoding="utf-8")
    return {"frequencies": frequencies, "words": english}


def column(release: ReleaseFolder, config: str, split: str, name: str) -> list[Any]:
    return release.table(config, split, [name]).column(name).to_pylist()


def line(lines: list[dict[str, Any]], config: str, split: str) -> dict[str, Any]:
    (found,) = [
        one for one in lines if (one["config"], one.get("split", one.get("evaluation"))) == (config, split)
    ]
    return found


def test_what_is_returned_is_what_is_written(release):
    folder = release("spider")
    found = analyse(folder)
    text = (folder.path / PROPERTIES).read_text(encoding="utf-8")
    assert json.loads(text) == found
    assert found["format"] == 1
    assert found["rows"]["random"]["test"] == folder.config("random")["splits"]["test"]["content_hash"]
    assert list(found["rows"]) == CONFIGS
    assert not is_stale(folder, found)
    analyse(str(folder.path))
    assert (folder.path / PROPERTIES).read_text(encoding="utf-8") == text


def test_divergences_are_those_of_the_programs_of_each_split(release):
    folder = release("spider")
    found = analyse(folder)["divergence"]
    assert found["structure"] == folder.manifest["choices"]["structure"]
    assert [(row["config"], row["evaluation"]) for row in found["rows"]] == [
        (config, split) for config in CONFIGS for split in ("validation", "test")
    ]
    structure = structures.get(found["structure"])
    programs = {
        split: [structure.analyse(text) for text in column(folder, "length", split, "target")]
        for split in ("train", "test")
    }
    row = line(found["rows"], "length", "test")
    assert (row["train_rows"], row["evaluation_rows"]) == (len(programs["train"]), len(programs["test"]))
    assert row["train_unparsed"] == sum(not program.parsed for program in programs["train"])
    for kind, alpha, counted in [
        ("compound", 0.1, lambda program: program.compounds or {}),
        ("atom_symbols", 0.5, lambda program: program.symbols),
        ("atom_set", 0.5, lambda program: dict.fromkeys(program.atoms or (), 1)),
        ("atom_tokens", 0.5, lambda program: program.tokens),
    ]:
        train, test = (total_counts(map(counted, programs[split])) for split in ("train", "test"))
        assert row[kind] == pytest.approx(chernoff_divergence(train, test, alpha), abs=1e-12)


def test_novel_compounds_by_row_and_altogether(release):
    folder = release("spider")
    row = line(analyse(folder)["novel_compounds"], "length", "validation")
    novel = column(folder, "length", "validation", "num_novel_compounds")
    assert (row["rows"], row["with_novel"]) == (len(novel), sum(bool(count) for count in novel))
    structure = structures.get(folder.manifest["choices"]["structure"])
    compounds = {
        split: {
            compound
            for text in column(folder, "length", split, "target")
            for compound in structure.analyse(text).compounds or ()
        }
        for split in ("train", "validation")
    }
    assert row["distinct_novel"] == len(compounds["validation"] - compounds["train"])
    assert row["unparsed"] == novel.count(None)


def test_classes_of_every_split(release):
    folder = release("spider")
    row = line(analyse(folder)["composition"]["hardness"], "random", "test")
    names = folder.features("random")["hardness"].names
    values = column(folder, "random", "test", "hardness")
    assert row["counts"] == {name: values.count(number) for number, name in enumerate(names)}
    assert row["rows"] == len(values)


def test_a_target_that_is_true_or_false_is_a_class(release):
    folder = release("boolq")
    row = line(analyse(folder)["composition"]["answer"], "random", "train")
    values = column(folder, "random", "train", "answer")
    assert row["counts"] == {"no": values.count(False), "yes": values.count(True)}


def test_lengths_of_texts_and_programs_but_not_of_names(release):
    folder = release("spider")
    found = analyse(folder)["lengths"]
    assert list(found) == ["question", "target"]
    lengths = [word_count(text) for text in column(folder, "random", "train", "question")]
    row = line(found["question"], "random", "train")
    assert row["mean"] == sum(lengths) / len(lengths)
    assert row["histogram"] == [[length, lengths.count(length)] for length in sorted(set(lengths))]
    structure = structures.get("spider")
    tokens = [
        sum(structure.analyse(text).tokens.values()) for text in column(folder, "random", "test", "target")
    ]
    assert line(found["target"], "random", "test")["mean"] == sum(tokens) / len(tokens)


def test_lengths_that_the_rows_tell_are_those_of_the_texts(release):
    folder = release("boolq")
    found = analyse(folder)["lengths"]["passage"]
    lengths = [word_count(text) for text in column(folder, "random", "train", "passage")]
    assert line(found, "random", "train")["mean"] == sum(lengths) / len(lengths)


def test_a_users_own_column_of_lengths_is_not_believed(tmp_path):
    rows = [{"text": f"dog number {number}", "text_length": 99} for number in range(20)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = analyse(split_own_rows(path, text="text", by=["random"], out=tmp_path / "release"))
    assert line(found["lengths"]["text"], "random", "train")["histogram"] == [[3, 16]]


def test_rare_words_against_random_splits(release, lists):
    folder = release("snli")
    found = analyse(folder, **lists, draws=50, seed=3)
    rare = {"many", "what", "show", "name", "people"}
    words = [
        token.lower()
        for text in column(folder, "length", "test", "hypothesis")
        for token in word_tokenize(text)
        if token.isalpha()
    ]
    row = line(found["rare_words"]["hypothesis"], "length", "test")
    assert (row["words"], row["rare"]) == (len(words), sum(word in rare for word in words))
    assert row["null"]["draws"] == 50
    assert row["null"]["low"] <= row["null"]["mean"] <= row["null"]["high"]
    assert found["resources"]["frequencies"]["per_million"] == "column per_million"
    assert found["resources"]["words"]["entries"] == 11
    assert analyse(folder, **lists, draws=50, seed=4)["rare_words"] != found["rare_words"]


def test_the_order_of_rows_in_the_files_shows_nowhere(release, lists, tmp_path):
    folder = release("snli")
    options = {**lists, "source": builders.get("snli").sample_folder(), "draws": 20}
    analyse(folder, **options)
    before = (folder.path / PROPERTIES).read_bytes()
    for config in CONFIGS:
        for split in folder.splits(config):
            for file in folder.files(config, split):
                table = pq.read_table(file)
                pq.write_table(table.take(pa.array(range(table.num_rows - 1, -1, -1))), file)
    analyse(folder, **options)
    assert (folder.path / PROPERTIES).read_bytes() == before


def test_trees_of_snlis_own_files(release):
    folder = release("snli")
    source = builders.get("snli").sample_folder()
    found = analyse(folder, source=source)
    parses = {
        pair["pairID"]: tree_measures(pair["sentence2_parse"])
        for file in source.glob("*.jsonl")
        for pair in map(json.loads, file.read_text(encoding="utf-8").splitlines())
    }
    measures = [parses[pair_id] for pair_id in column(folder, "random", "test", "pair_id")]
    row = line(found["trees"]["hypothesis"], "random", "test")
    assert row["rows"] == row["of"] == len(measures)
    assert row["max_depth"]["mean"] == np.mean([one.max_depth for one in measures])
    assert row["mean_depth"]["median"] == np.median([one.mean_depth for one in measures])
    assert row["yngve"]["median"] == np.median([one.yngve for one in measures])
    resource = found["resources"]["parses"]
    assert resource["source"] == "SNLI"
    assert [file["name"] for file in resource["files"]] == [
        f"snli_1.0_{split}.jsonl" for split in ("train", "dev", "test")
    ]
    for covered in resource["coverage"].values():
        assert covered["rows"] == covered["parsed"] > 0


def test_a_source_without_trees_of_the_rows_is_noted(release, tmp_path):
    """One pair of another text, one that cannot be read, and copies that never have trees."""
    folder = release("snli")
    pair_id = column(folder, "random", "test", "pair_id")[0]
    pair = {"pairID": pair_id, "sentence1": NOTHING, "sentence2": NOTHING}
    pair |= dict.fromkeys(["sentence1_parse", "sentence2_parse"], "(ROOT (NN dog))")
    records = [pair, pair | {"sentence1_parse": "(ROOT"}]
    for name, text in [
        ("snli_1.0_train.jsonl", "".join(json.dumps(record) + "\n" for record in records)),
        ("train.tsv", "premise\thypothesis\tlabel\na\tb\t0\n"),
    ]:
        (tmp_path / name).write_text(text, encoding="utf-8")
        found = analyse(folder, source=tmp_path / name)
        assert [note["message"] for note in found["notes"] if note["part"] == "trees"] == [
            "no tree in the files of the source belongs to a row; give SNLI's own files"
        ]
        assert "trees" not in found
        assert "parses" not in found["resources"]


def test_pairs_that_cannot_be_read_are_counted(release, tmp_path):
    folder = release("snli")
    lines = (
        (builders.get("snli").sample_folder() / "snli_1.0_train.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    broken = json.loads(lines[0]) | {"sentence2_parse": "(ROOT (NN dog"}
    path = tmp_path / "snli_1.0_train.jsonl"
    path.write_text("\n".join([json.dumps(broken), *lines[1:], ""]), encoding="utf-8")
    resource = analyse(folder, source=path)["resources"]["parses"]
    assert resource["unread"] == {"not a bracketed tree (a bracket is opened and not closed)": 1}
    assert 0 < resource["coverage"]["hypothesis"]["parsed"] < resource["coverage"]["hypothesis"]["rows"]


def test_trees_of_a_users_file(release, tmp_path):
    folder = release("boolq")
    uids = column(folder, "random", "test", "uid")[:2]
    records = [
        {"uid": uids[0], "column": "question", "parse": "(S (VB is) (NN it))"},
        {"uid": uids[1], "column": "question", "parse": "(S (NN it))"},
        {"uid": "elsewhere", "column": "question", "parse": "(S (NN it))"},
        {"uid": uids[0], "column": "title", "parse": "(S (NN it))"},
    ]
    path = tmp_path / "parses.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    found = analyse(folder, parses=path)
    row = line(found["trees"]["question"], "random", "test")
    assert (row["rows"], row["of"]) == (2, len(column(folder, "random", "test", "uid")))
    assert row["max_depth"] == {"mean": 2.0, "median": 2.0}
    assert row["yngve"] == {"mean": 0.25, "median": 0.25}
    assert list(found["trees"]) == ["question"]
    assert found["resources"]["parses"]["source"] == "parses.jsonl"
    assert found["resources"]["parses"]["coverage"]["question"]["parsed"] == 2
    path.write_text(json.dumps(records[2]) + "\n", encoding="utf-8")
    with pytest.raises(SourceError, match="no tree belongs to a row"):
        analyse(folder, parses=path)


class FlatParser(Parser):
    """One node over all words; remembers what it was given."""

    given: ClassVar[list[str]] = []

    def parse(self, texts) -> Iterator[str | None]:
        for text in texts:
            self.given.append(text)
            words = " ".join(f"(W {word})" for word in text.split())
            yield None if text.startswith("The ") else f"(S {words})"

    def identity(self) -> dict[str, Any]:
        return {"version": "1"}


@pytest.fixture
def flat(monkeypatch) -> type[FlatParser]:
    monkeypatch.setattr(FlatParser, "given", [])
    monkeypatch.setitem(parsers._objects, "flat", FlatParser)
    return FlatParser


def test_a_registered_parser_reads_each_text_once(release, flat):
    folder = release("snli")
    found = analyse(folder, parser="flat", columns=["premise"])
    assert len(flat.given) == len(set(flat.given)) > 0
    texts = column(folder, "random", "train", "premise")
    parsed = [text for text in texts if not text.startswith("The ")]
    row = line(found["trees"]["premise"], "random", "train")
    assert (row["rows"], row["of"]) == (len(parsed), len(texts))
    yngve = [(len(text.split()) - 1) / 2 for text in parsed]
    assert row["yngve"]["mean"] == pytest.approx(np.mean(yngve))
    resource = found["resources"]["parses"]
    assert (resource["parser"], resource["version"]) == ("flat", "1")


def test_an_unfinished_run_leaves_the_old_file(release, flat, monkeypatch):
    folder = release("snli")
    analyse(folder)
    before = (folder.path / PROPERTIES).read_bytes()
    monkeypatch.setattr(FlatParser, "parse", lambda self, texts: iter(["(S (W one"]))
    with pytest.raises(UsageError, match="parser flat gave no bracketed tree"):
        analyse(folder, parser="flat")
    assert (folder.path / PROPERTIES).read_bytes() == before
    assert [path.name for path in (folder.path / "analyses").iterdir()] == ["properties.json"]


def test_what_other_data_told_stays_until_the_rows_change(release, lists):
    folder = release("snli")
    first = analyse(folder, **lists, draws=5)
    written = json.loads((folder.path / PROPERTIES).read_text(encoding="utf-8"))
    written["errors"] = {"random": {"file": "errors.csv", "counts": {"typo": 2}}}
    (folder.path / PROPERTIES).write_text(json.dumps(written), encoding="utf-8")
    second = analyse(folder, source=builders.get("snli").sample_folder())
    assert second["rare_words"] == first["rare_words"]
    assert second["errors"] == written["errors"]
    assert set(second["resources"]) == {"frequencies", "words", "parses"}
    changed = json.loads((folder.path / MANIFEST).read_text(encoding="utf-8"))
    changed["configs"]["random"]["splits"]["test"]["content_hash"] = "sha256:other"
    (folder.path / MANIFEST).write_text(json.dumps(changed), encoding="utf-8")
    moved = ReleaseFolder(folder.path)
    assert is_stale(moved, second)
    third = analyse(moved)
    assert not {"rare_words", "trees", "errors"} & third.keys()
    assert third["resources"] == {}
    assert not is_stale(moved, third)


def test_a_damaged_file_of_an_earlier_run_is_replaced(release):
    folder = release("snli")
    (folder.path / "analyses").mkdir()
    (folder.path / PROPERTIES).write_text('{"format": 1, "rows": [', encoding="utf-8")
    assert not is_stale(folder, analyse(folder))


def test_readability_by_a_file_or_a_note_why_not(release, tmp_path):
    folder = release("boolq")
    (note,) = analyse(folder)["notes"]
    assert note["part"] == "readability"
    assert 'pip install "benchwright[readability]"' in note["message"]
    dictionary = tmp_path / "cmudict"
    dictionary.write_text("IS 1 IH1 Z\nTHE 1 DH AH0\n", encoding="utf-8")
    found = analyse(folder, pronunciations=dictionary)
    assert "notes" not in found
    assert found["resources"]["pronunciations"]["entries"] == 2
    row = line(found["readability"]["question"], "random", "train")
    assert row["rows"] == len(column(folder, "random", "train", "question"))
    # A call without the dictionary keeps the grades and has nothing to say about them.
    again = analyse(folder)
    assert again["readability"] == found["readability"]
    assert "notes" not in again


def test_grades_are_for_english(release):
    folder = release("boolq")
    folder.manifest["dataset"]["languages"] = ["de"]
    (note,) = analyse(folder)["notes"]
    assert note == {"part": "readability", "message": "grades are those of English text; this is de"}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"frequencies": "f.csv"}, "give both or neither"),
        ({"words": "w.txt"}, "give both or neither"),
        ({"parses": "p.jsonl", "parser": "stanza"}, "give one of them"),
        ({"draws": 0}, "draws is a number of random splits from 1, got 0"),
        ({"columns": ["qestion"]}, "no text column 'qestion'; did you mean question"),
        ({"source": "somewhere"}, "source holds trees for SNLI only"),
        ({"parser": "stanze"}, "no parser named 'stanze'; did you mean stanza"),
    ],
)
def test_options_that_do_not_fit_are_refused(release, options, reason):
    folder = release("spider")
    with pytest.raises(UsageError, match=reason):
        analyse(folder, **options)
    assert not (folder.path / PROPERTIES).exists()


@pytest.mark.parametrize("name", ["stanza", "benepar"])
def test_a_parser_that_is_not_installed_says_how_to_install_it(release, monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(PrerequisiteError, match=f"run: pip install {name}"):
        analyse(release("spider"), parser=name)


def test_the_adapter_of_stanza(monkeypatch):
    class Tree:
        def __format__(self, form: str) -> str:
            assert form == "_O"
            return "(ROOT (NN dog))"

    sentences = [types.SimpleNamespace(constituency=Tree())] * 2
    asked: list[Any] = []

    def pipeline(*arguments: Any, **options: Any) -> Any:
        asked.append((arguments, options))
        return lambda text: types.SimpleNamespace(sentences=sentences if text else [])

    monkeypatch.setitem(sys.modules, "stanza", types.SimpleNamespace(Pipeline=pipeline))
    monkeypatch.setattr("benchwright.eval.analyses.parsers.version", lambda package: "1.10")
    parser = parsers.get("stanza")()
    assert list(parser.parse(["A dog. A dog.", ""])) == ["(ROOT (NN dog)) (ROOT (NN dog))", None]
    ((arguments, options),) = asked
    assert (arguments, options["download_method"]) == (("en",), None)
    assert parser.identity() == {"package": "stanza", "version": "1.10", "model": "en"}


def test_the_adapter_of_stanza_without_its_models(monkeypatch):
    def pipeline(*arguments: Any, **options: Any) -> Any:
        raise FileNotFoundError("resources.json")

    monkeypatch.setitem(sys.modules, "stanza", types.SimpleNamespace(Pipeline=pipeline))
    with pytest.raises(PrerequisiteError, match=r"models cannot be loaded .*stanza.download"):
        parsers.get("stanza")()


def test_the_adapter_of_benepar(monkeypatch):
    from nltk import Tree

    class Berkeley:
        def parse_sents(self, sentences: list[list[str]]) -> Iterator[Tree]:
            return (Tree("TOP", [Tree("W", [word]) for word in words]) for words in sentences)

    package = types.SimpleNamespace(Parser=lambda model: Berkeley(), InputSentence=lambda words: words)
    monkeypatch.setitem(sys.modules, "benepar", package)
    monkeypatch.setattr("benchwright.eval.analyses.parsers.version", lambda package: "0.2.0")
    parser = parsers.get("benepar")()
    assert list(parser.parse(['A "dog". It ran.', ""])) == [
        '(TOP (W A) (W ") (W dog) (W ") (W .)) (TOP (W It) (W ran) (W .))',
        None,
    ]
    assert parser.identity()["version"] == "0.2.0"


@pytest.mark.corpora
def test_divergences_of_random_splits_of_spider_are_the_published_ones(data_folder, oracle_folder):
    """Table 13: compounds at 0.042-0.047, symbols at 0.076-0.080; the other counts of the reference too."""
    source = read_spider(data_folder / "spider", FaultLog())
    texts = [parser_target(query) for query in source.examples.column("query").to_pylist()]
    distinct = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    splits = {}
    for seed in range(3):
        order = list(range(len(texts)))
        random.Random(seed).shuffle(order)
        splits[f"random_seed{seed}_5966_vs_1034"] = {
            "train": np.array(order[:5966]),
            "validation": np.array(order[5966:7000]),
        }
    codes = np.array([distinct[text] for text in texts])
    rows: Any = types.SimpleNamespace(
        texts=lambda column: DistinctTexts(list(distinct), codes), configs=lambda: splits.items()
    )
    found = ProgramAnalyses(rows, "target", structures.get("spider")).divergence()["rows"]
    expected = json.loads((oracle_folder / "tmcd_spider" / "divergences.json").read_text(encoding="utf-8"))
    assert [row["config"] for row in found] == list(splits)
    for row in found:
        reference = expected[row["config"]]
        assert row["compound"] == pytest.approx(reference["compound_a0.1"], abs=1e-9)
        assert row["atom_symbols"] == pytest.approx(reference["atom_nonkeyword_multiset_a0.5"], abs=1e-9)
        assert row["atom_set"] == pytest.approx(reference["atom_set_a0.5"], abs=1e-9)
        assert row["atom_tokens"] == pytest.approx(reference["atom_multiset_a0.5"], abs=1e-9)
        assert 0.042 <= row["compound"] <= 0.047
        assert 0.076 <= row["atom_symbols"] <= 0.080
