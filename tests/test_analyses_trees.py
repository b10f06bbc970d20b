"""Depth and Yngve scores of constituency trees: by hand, and against NLTK's trees on real parses."""

from __future__ import annotations

import gzip
import json

import pytest
from nltk import Tree

from benchwright.eval.analyses.trees import TreeMeasures, tree_measures

DOG = "(S (NP (DT The) (NN dog)) (VP (VBZ barks)))"


def test_a_tree_by_hand():
    """`The` waits for `dog` and the verb phrase, `dog` for the verb phrase, `barks` for nothing."""
    assert tree_measures(DOG) == TreeMeasures(words=3, max_depth=3, total_depth=9, total_yngve=3)
    assert tree_measures(DOG).yngve == 1.0
    assert tree_measures(DOG).mean_depth == 3.0


def test_three_sisters_wait_for_two_one_and_none():
    assert tree_measures("(NP (A a) (B b) (C c))") == TreeMeasures(3, 2, 6, 3)


def test_left_branching_costs_more_than_right_branching():
    left = tree_measures("(X (X (X (W a) (W b)) (W c)) (W d))")
    right = tree_measures("(X (W a) (X (W b) (X (W c) (W d))))")
    assert left == TreeMeasures(4, 4, 13, 6)
    assert right == TreeMeasures(4, 4, 13, 3)


@pytest.mark.parametrize("wrapper", ["ROOT", "TOP", "S1", ""])
def test_a_wrapper_around_the_sentence_is_no_level(wrapper):
    assert tree_measures(f"({wrapper} {DOG})") == tree_measures(DOG)


def test_a_root_with_two_children_is_a_level():
    assert tree_measures("(ROOT (UH Oh) (NN dog))") == TreeMeasures(2, 2, 4, 1)


def test_several_sentences_of_one_text_are_measured_together():
    assert tree_measures(f"(ROOT {DOG})\n({DOG[1:-1]})") == TreeMeasures(6, 3, 18, 6)


def test_words_may_stand_beside_phrases():
    assert tree_measures("(NP the (NN dog))") == TreeMeasures(2, 2, 3, 1)


def test_a_thousand_levels():
    deep = "(X " * 3000 + "word" + ")" * 3000
    assert tree_measures(deep) == TreeMeasures(1, 3000, 3000, 0)


@pytest.mark.parametrize(
    ("parse", "reason"),
    [
        ("(S (NP dog)", "opened and not closed"),
        ("(S dog))", "closed that was not opened"),
        ("(S dog) cat", "outside of all brackets"),
        ("dog", "outside of all brackets"),
    ],
)
def test_what_is_no_tree_is_refused(parse, reason):
    with pytest.raises(ValueError, match=reason):
        tree_measures(parse)


@pytest.mark.parametrize("parse", ["", " ", "()", "(S (NP))", "(ROOT )"])
def test_trees_without_a_word_have_no_measures(parse):
    assert tree_measures(parse) is None


@pytest.mark.corpora
def test_real_parses_measure_as_nltk_reads_them(data_folder):
    seen = set()
    for part in "ab":
        with gzip.open(data_folder / "snli" / f"snli_1.0_dev.part_{part}.jsonl.gz", "rt") as lines:
            for pair in map(json.loads, lines):
                seen |= {pair["sentence1_parse"], pair["sentence2_parse"]}
    assert len(seen) > 3000
    for parse in seen:
        assert tree_measures(parse) == _by_nltk(parse), parse


def _by_nltk(parse: str) -> TreeMeasures:
    tree = Tree.fromstring(parse)
    root = 1 if tree.label() == "ROOT" and len(tree) == 1 else 0
    paths = tree.treepositions("leaves")
    depths = [len(path) - root for path in paths]
    sisters = [len(tree[path[:level]]) - 1 - path[level] for path in paths for level in range(len(path))]
    return TreeMeasures(len(paths), max(depths), sum(depths), sum(sisters))
