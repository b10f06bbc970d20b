"""Rare words and their null distribution, by hand and as properties."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.eval.analyses.rare_words import (
    TextWords,
    count_words,
    random_shares,
    rare_word_share,
    rare_words,
)

COUNTS = st.lists(
    st.integers(0, 9).flatmap(lambda words: st.tuples(st.just(words), st.integers(0, words))), min_size=1
)


def text_words(pairs) -> TextWords:
    return TextWords(*np.array(pairs, dtype=np.int64).reshape(-1, 2).T)


def test_rare_words_are_listed_seldom_and_english():
    per_million = {"the": 29449.18, "zygotes": 0.02, "gazebo": 1.0, "banjo": 1.02, "qwertz": 0.02}
    english = {"the", "zygotes", "gazebo", "banjo", "zyzzyva"}
    assert rare_words(per_million, english) == {"zygotes", "gazebo"}


def test_words_are_tokens_of_letters_whatever_their_case():
    rare = {"gazebo", "do", "well"}
    texts = ["The Gazebo, a GAZEBO!", "I don't know 3 well-known x2 words", "", "Não sei."]
    # `don't` is the tokens `do` and `n't`, and `well-known` and `x2` are tokens of more than letters.
    assert count_words(texts, rare).words.tolist() == [4, 4, 0, 2]
    assert count_words(texts, rare).rare.tolist() == [2, 1, 0, 0]


def test_share_percentile_and_null_by_hand():
    """Rows with no rare word but the last: a split of one row has share 1 once in four draws."""
    pool = text_words([(2, 0), (2, 0), (2, 0), (2, 2)])
    found = rare_word_share(pool.take(np.array([3])), pool, draws=4000, seed=1)
    assert (found["words"], found["rare"], found["share"]) == (2, 2, 1.0)
    null = found["null"]
    assert (null["draws"], null["low"], null["high"]) == (4000, 0.0, 1.0)
    assert null["mean"] == pytest.approx(0.25, abs=0.03)
    # Equal shares count half: the observed one is in the middle of the upper quarter.
    assert null["percentile"] == pytest.approx(87.5, abs=1.5)


def test_rows_without_words_have_no_share():
    pool = text_words([(0, 0), (3, 1)])
    assert rare_word_share(pool.take(np.array([0])), pool, draws=5, seed=0) is None


def test_a_draw_of_all_rows_is_the_pool():
    pool = text_words([(5, 1), (4, 0), (1, 1)])
    assert random_shares(pool, 3, draws=7, seed=3).tolist() == [0.2] * 7


def test_draws_follow_the_distribution_of_choices_without_return():
    pool = text_words([(3, 0), (3, 1), (4, 4), (5, 0), (1, 1)])
    choices = [pool.take(np.array(rows)) for rows in combinations(range(5), 2)]
    exact = np.array([chosen.rare.sum() / chosen.words.sum() for chosen in choices])
    drawn = random_shares(pool, 2, draws=20_000, seed=0)
    assert set(drawn.tolist()) == set(exact.tolist())
    for value in set(exact.tolist()):
        assert np.mean(drawn == value) == pytest.approx(np.mean(exact == value), abs=0.02)


@given(COUNTS, st.integers(0, 2**31), st.data())
def test_random_shares_do_not_depend_on_the_order_of_rows(pairs, seed, data):
    size = data.draw(st.integers(0, len(pairs)))
    shuffled = data.draw(st.permutations(pairs))
    first = random_shares(text_words(pairs), size, 20, seed)
    assert np.array_equal(first, random_shares(text_words(shuffled), size, 20, seed))
    assert ((first >= 0) & (first <= 1)).all()
