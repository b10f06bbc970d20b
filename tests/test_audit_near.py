"""Near-duplicates: what is found is what comparing every pair finds, in every process."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.builders._audit_near import NearDuplicates, trigrams
from benchwright.builders.audit import AuditRows, audit_config
from benchwright.tasks import NLI, Task

QUESTION = Task("question", ("question",), "", ())


def _near(*columns: list[str]) -> NearDuplicates:
    made = []
    for texts in columns:
        distinct = sorted(set(texts))
        made.append((pa.array(distinct), np.array([distinct.index(text) for text in texts])))
    return NearDuplicates(made)


def _alike(first: str, second: str) -> bool:
    one, two = trigrams(first), trigrams(second)
    return first == second or (bool(one | two) and 5 * len(one & two) >= 4 * len(one | two))


def _found(texts: list[tuple[str, ...]], train: int) -> tuple[list[bool], list[bool]]:
    """Which rows after the first `train` ones have a near-duplicate: as found, and by comparing all."""
    near = _near(*(list(column) for column in zip(*texts, strict=True)))
    queries = np.arange(train, len(texts))
    twins = near.of(queries, np.arange(train))
    for query, twin in zip(queries.tolist(), twins.tolist(), strict=True):
        assert twin < 0 or all(map(_alike, texts[query], texts[twin]))
    by_hand = [any(all(map(_alike, texts[q], texts[o])) for o in range(train)) for q in queries.tolist()]
    return (twins >= 0).tolist(), by_hand


_WORDS = st.lists(st.sampled_from(["a", "man", "men", "walks", "walked", "the", "dog", "park"]), max_size=9)


@given(st.lists(st.tuples(_WORDS.map(" ".join), _WORDS.map(" ".join)), min_size=6, max_size=30, unique=True))
def test_pairs_are_found_as_if_all_were_compared(texts):
    found, by_hand = _found(texts, len(texts) // 2)
    assert found == by_hand


@given(st.lists(st.tuples(st.text(max_size=30)), min_size=6, max_size=30, unique=True))
def test_any_text_of_one_column_is_compared(texts):
    found, by_hand = _found(texts, len(texts) // 2)
    assert found == by_hand


def test_no_pair_at_the_threshold_is_missed_among_thousands():
    """Texts that lost a tenth of their words: many pairs stand close to 0.8."""
    rng = random.Random(7)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 7))) for _ in range(400)]
    train = [(" ".join(rng.choices(words, k=12)), " ".join(rng.choices(words, k=20))) for _ in range(1500)]
    changed = []
    for texts in train:
        kept = tuple(" ".join(word for word in text.split() if rng.random() > 0.08) for text in texts)
        changed.append(kept)
    texts = list(dict.fromkeys([*train, *changed]))
    near = _near([first for first, _ in texts], [second for _, second in texts])
    queries = np.arange(len(train), len(texts))
    twins = near.of(queries, np.arange(len(train)))
    own = [
        texts[query]
        for query in queries.tolist()
        if all(map(_alike, texts[query], train[changed.index(texts[query])]))
    ]
    assert 300 < len(own) < 1200
    assert [texts[query] for query in queries[twins >= 0].tolist()] == own


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("davy crockett died at the alamo", "crockett died at the alamo", True),
        ("a man is playing a guitar", "a man is playing guitar", True),
        ("a man is playing a guitar", "a man is not playing a guitar", False),
        ("a man is playing a guitar", "a man is playing the piano", False),
        ("he has two dogs", "he has ten dogs", False),
    ],
)
def test_what_the_threshold_means_in_sentences(first, second, expected):
    (twin,) = _near([first, second]).of(np.array([1]), np.array([0])).tolist()
    assert (twin == 0) is expected


def _rows(*pairs: tuple[str, str]) -> AuditRows:
    table = pa.table(
        {
            "uid": [f"r{row}" for row in range(len(pairs))],
            "premise": [premise for premise, _ in pairs],
            "hypothesis": [hypothesis for _, hypothesis in pairs],
            "label": pa.array([0] * len(pairs), pa.int64()),
        }
    )
    return AuditRows.from_table(table, NLI)


TRAIN, VALIDATION, TEST = 0, 1, 2
ALAMO = ("Crockett died at the Alamo.", "Crockett was killed at the Alamo.")
DAVY = ("Davy Crockett died at the Alamo.", "Davy Crockett was killed at the Alamo.")


def _near_findings(rows: AuditRows, *side: int, published: bool = False):
    found = audit_config("c", rows, np.array(side, dtype=np.int8), published)
    return [finding for finding in found if finding.code == "near_duplicate"]


def test_evaluation_rows_are_named_with_the_first_of_train_that_is_alike():
    rows = _rows(("A cat.", "It purrs."), ALAMO, DAVY, ("P", "Q"))
    (finding,) = _near_findings(rows, TRAIN, TRAIN, TEST, VALIDATION)
    assert (finding.severity, finding.splits, finding.uids) == ("warning", ("train", "test"), ("r2",))
    assert finding.message.endswith("with a row of train, the first one like r1")
    (known,) = _near_findings(rows, TRAIN, TRAIN, TEST, VALIDATION, published=True)
    assert (known.severity, known.id) == ("known", finding.id)


def test_exact_and_normalised_leaks_are_not_named_again():
    rows = _rows(ALAMO, DAVY, ALAMO, (ALAMO[0].lower(), ALAMO[1].upper()), DAVY)
    assert _near_findings(rows, TRAIN, TRAIN, TEST, TEST, TEST) == []
    (finding,) = _near_findings(rows, TRAIN, TEST, TEST, TEST, VALIDATION)[1:]
    assert finding.uids == ("r1",)


def test_both_inputs_have_to_be_alike():
    passage = "The treaty of 1648 ended a war of thirty years and left the empire a patchwork of states."
    rows = _rows(
        (passage, "Did the war end in 1648?"),
        (passage, "Were there many states?"),
        (passage, "Did the wars end in 1648?"),
    )
    (finding,) = _near_findings(rows, TRAIN, TEST, TEST)
    assert finding.uids == ("r2",)


def test_evaluation_rows_are_not_compared_with_each_other():
    assert _near_findings(_rows(("x", "y"), ALAMO, DAVY), TRAIN, VALIDATION, TEST) == []


def test_texts_without_characters_and_single_ones_do_no_harm():
    table = pa.table({"uid": ["a", "b", "c", "d"], "question": ["", "?", "x", "xy"]})
    rows = AuditRows.from_table(table, QUESTION)
    found = audit_config("c", rows, np.array([0, 2, 0, 2], dtype=np.int8), published=False)
    assert [finding.code for finding in found] == []


_PROGRAM = """
import random, numpy as np, pyarrow as pa
from benchwright.builders._audit_near import NearDuplicates
rng = random.Random(3)
words = ["".join(rng.choices("etaoins", k=4)) for _ in range(60)]
texts = sorted({" ".join(rng.choices(words, k=6)) for _ in range(500)})
texts = list(dict.fromkeys(texts + [text + "s" for text in texts]))
near = NearDuplicates([(pa.array(texts), np.arange(len(texts)))])
half = len(texts) // 2
print(near.of(np.arange(half, len(texts)), np.arange(half)).tolist())
"""


def test_every_process_and_number_of_threads_finds_the_same():
    found = set()
    for seed, threads in (("0", "1"), ("1", "2"), ("random", "4")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "RAYON_NUM_THREADS": threads}
        found.add(subprocess.check_output([sys.executable, "-c", _PROGRAM], env=environment, text=True))
    assert len(found) == 1
    assert "-1" not in found.pop().split(",")[0]
