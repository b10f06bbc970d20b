"""The fast ways of counting words and of cutting them are NLTK's, always."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer

from benchwright.text import sentence_split, word_count, word_counts, word_tokenize

WORDS = [
    *[
        "cannot",
        "Gonna",
        "gotta",
        "wanna",
        "lemme",
        "gimme",
        "CANNOT",
        "cannots",
        "won't",
        "dogs'",
        "'tis",
        "more'n",
    ],
    *[
        "a",
        "The",
        "dog",
        "10",
        "3.5",
        "1,000",
        "U.S.",
        "Mr.",
        "etc.",
        "é",
        "naïve",
        "x-ray",
        "--",
        '"',
        "''",
        "``",
    ],
    *["(b)", "c:", "d;", "e?", "f!", "...", "I.", "%", "2nd"],
]
JOINTS = [" ", ", ", ",", ". ", "  ", " , ", "\n", "\u00a0"]


def _agree(text: str) -> bool:
    slow = [token for sentence in sentence_split(text) for token in NLTKWordTokenizer().tokenize(sentence)]
    return word_tokenize(text) == slow and word_count(text) == len(slow)


@given(
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=8),
    joints=st.lists(st.sampled_from(JOINTS), min_size=8, max_size=8),
    end=st.sampled_from(["", ".", ",", " ", "..", ". ", "?"]),
)
def test_sentences_of_awkward_words(words: list[str], joints: list[str], end: str) -> None:
    text = words[0] + "".join(joint + word for joint, word in zip(joints, words[1:], strict=False)) + end
    assert _agree(text)


@given(text=st.text(alphabet="ab Z9,.'\"-\n", max_size=30))
def test_any_text_of_few_characters(text: str) -> None:
    assert _agree(text)


def test_equal_texts_are_counted_alike() -> None:
    counts = word_counts(["A dog.", "", "A dog.", "We cannot go, friend."])
    assert counts.tolist() == [3, 0, 3, 7]
    assert counts.dtype == np.int32


@pytest.mark.corpora
def test_all_hypotheses_and_premises_of_the_real_dev_split(data_folder: Path) -> None:
    lines = gzip.decompress((data_folder / "snli" / "dev_9842.jsonl.gz").read_bytes()).splitlines()
    texts = {text for line in lines for key, text in json.loads(line).items() if key != "label"}
    assert len(texts) > 12_000
    assert all(map(_agree, texts))
