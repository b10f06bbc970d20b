"""Flesch-Kincaid grades by hand, syllables by dictionary and by spelling."""

from __future__ import annotations

import numpy as np
import pytest

from benchwright.builders.sources.word_lists import read_pronunciations
from benchwright.eval.analyses.readability import estimated_syllables, flesch_kincaid_grade, grades

SYLLABLES = {"the": 1, "cat": 1, "sat": 1, "on": 1, "mat": 1, "don't": 1, "celebrated": 4}


def test_the_formula():
    assert flesch_kincaid_grade(words=6, sentences=1, syllables=6) == pytest.approx(-1.45)
    assert flesch_kincaid_grade(words=30, sentences=2, syllables=45) == pytest.approx(7.96)


def test_grades_of_texts_count_words_sentences_and_syllables():
    texts = ["The cat sat on the mat.", "The cat sat. Don’t celebrated cat!", "12 + 3", ""]
    found = grades(texts, SYLLABLES)
    assert found[0] == flesch_kincaid_grade(6, 1, 6)
    assert found[1] == flesch_kincaid_grade(6, 2, 9)
    assert np.isnan(found[2:]).all()


def test_the_period_of_an_abbreviation_ends_no_sentence():
    found = grades(["Mr. Cat sat on the mat.", "The cat sat on the mat"], {**SYLLABLES, "mr": 2})
    assert found[0] == flesch_kincaid_grade(6, 1, 7)
    assert found[1] == flesch_kincaid_grade(6, 1, 6)


def test_parts_of_a_hyphenated_word_are_words():
    assert grades(["cat-mat"], SYLLABLES)[0] == flesch_kincaid_grade(2, 1, 2)


@pytest.mark.parametrize(
    ("word", "syllables"),
    [
        ("cat", 1),
        ("tree", 1),
        ("apple", 2),
        ("whale", 1),
        ("wanted", 2),
        ("walked", 1),
        ("boxes", 2),
        ("churches", 2),
        ("takes", 1),
        ("piano", 3),
        ("nation", 2),
        ("video", 3),
        ("rhythm", 1),
        ("hmm", 1),
    ],
)
def test_syllables_by_spelling(word, syllables):
    assert estimated_syllables(word) == syllables


@pytest.mark.corpora
def test_the_rule_of_spelling_agrees_with_the_dictionary_on_most_words(data_folder):
    known = read_pronunciations(data_folder / "wordlists" / "nltk_cmudict.zip").syllables
    words = [word for word in known if word.isalpha()]
    agreed = sum(estimated_syllables(word) == known[word] for word in words)
    assert agreed / len(words) > 0.89
