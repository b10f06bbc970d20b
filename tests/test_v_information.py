"""Pointwise V-information: the reference implementations, worked values, bounds, the bootstrap interval."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.splitting.scores.v_information import (
    MOST_BITS,
    VInformation,
    entropies,
    from_entropies,
    is_constant,
    pointwise_v_information,
    v_information,
    without_usable_information,
)


@pytest.mark.corpora
@pytest.mark.parametrize("case", [0, 1], ids=["two_labels", "three_labels"])
def test_equal_to_the_reference_implementation(oracle_folder: Path, case: int) -> None:
    expected = json.loads((oracle_folder / "pvi" / "entropy.json").read_text())[case]
    given_, null, labels = (np.array(expected[name]) for name in ("main_logits", "null_logits", "labels"))
    found = pointwise_v_information(given_, null, labels)
    np.testing.assert_allclose(found.pvi, expected["textbook_pvi_bits"], rtol=0, atol=1e-12)
    assert v_information(found.pvi).value == pytest.approx(expected["textbook_V_info"], abs=1e-12)
    # The published code works in float32.
    published = pointwise_v_information(given_, null, labels, zero_label=True)
    np.testing.assert_allclose(published.pvi, expected["reference_code_pvi"], rtol=0, atol=2e-6)
    assert v_information(published.pvi).value == pytest.approx(expected["reference_code_V_info"], abs=1e-6)
    assert (published.pvi[labels == 0] == 0).all()


@pytest.mark.corpora
def test_real_pvi_of_snli(oracle_folder: Path) -> None:
    with (oracle_folder / "pvi" / "snli_bert_base_real_400.csv").open(newline="", encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    null, given_, expected = (
        np.array([float(row[name]) for row in rows]) for name in ("H_yb", "H_yx", "PVI")
    )
    labels = np.array([int(row["label"]) for row in rows])
    found = from_entropies(null, given_, labels)
    np.testing.assert_allclose(found.pvi, expected, rtol=0, atol=1e-12)
    overall = v_information(found.pvi)
    assert overall.n == 400
    assert overall.value == pytest.approx(expected.mean())
    by_label = [v_information(found.pvi[labels == label]) for label in range(3)]
    assert [round(found.value, 3) for found in by_label] == [1.155, 1.003, 1.334]
    assert sum(found.n * found.value for found in by_label) / 400 == pytest.approx(overall.value)
    assert all(found.low < found.value < found.high for found in by_label)


def test_worked_values() -> None:
    logits = np.log([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]])
    np.testing.assert_allclose(entropies(logits, np.array([0, 2])), [1, 3])
    # One null input stands for all rows.
    null = np.log([0.25, 0.25, 0.5])
    found = pointwise_v_information(logits, null, np.array([0, 2]))
    np.testing.assert_allclose(found.entropy_null, [2, 1])
    np.testing.assert_allclose(found.pvi, [1, -2])


def test_probability_zero_is_clipped() -> None:
    logits = np.array([[0.0, -np.inf], [0.0, -1e30], [0.0, -80.0]])
    found = entropies(logits, np.array([1, 1, 1]))
    assert found[:2].tolist() == [MOST_BITS, MOST_BITS]
    assert found[2] == pytest.approx(80 / np.log(2))


@pytest.mark.parametrize("logits", [[[np.nan, 0.0]], [[np.inf, 0.0]], [[-np.inf, -np.inf]]])
def test_logits_that_are_no_numbers_are_refused(logits: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="logits must be numbers"):
        entropies(np.array(logits), np.array([0]))


@pytest.mark.parametrize("label", [-1, 2])
def test_labels_of_no_class_are_refused(label: int) -> None:
    with pytest.raises(ValueError, match="labels must be from 0 to 1"):
        entropies(np.zeros((1, 2)), np.array([label]))


@given(
    st.lists(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), min_size=1, max_size=6),
    st.floats(-1e3, 1e3),
)
def test_entropies_are_bounded_and_do_not_see_a_shift(logits: list[list[float]], shift: float) -> None:
    values, labels = np.array(logits), np.arange(len(logits)) % 3
    found = entropies(values, labels)
    assert (found >= 0).all()
    assert (found <= MOST_BITS).all()
    np.testing.assert_allclose(entropies(values + shift, labels), found, atol=1e-6)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    found = [v_information(rng.normal(0.3, 1, 80), seed=seed) for seed in range(200)]
    covered = np.mean([one.low <= 0.3 <= one.high for one in found])
    assert 0.89 <= covered <= 0.99
    narrower = v_information(rng.normal(0.3, 1, 80), level=0.5)
    assert narrower.high - narrower.low < found[0].high - found[0].low


def test_the_interval_depends_on_the_rows_and_not_on_their_order() -> None:
    values = np.random.default_rng(3).normal(size=301)
    assert v_information(values) == v_information(values[::-1])
    assert v_information(values) != v_information(values, seed=1)
    assert v_information(np.full(7, 0.25)) == VInformation(0.25, 0.25, 0.25, 7)


@pytest.mark.parametrize("values", [[], [0.0, np.nan]])
def test_rows_without_pvi_have_no_v_information(values: list[float]) -> None:
    with pytest.raises(ValueError, match="at least one row"):
        v_information(np.array(values))


def test_warnings_of_no_usable_information() -> None:
    clear, none = VInformation(0.4, 0.3, 0.5, 90), VInformation(-0.4, -0.5, -0.1, 90)
    assert without_usable_information(0, 2, clear) is None
    said = without_usable_information(1, 2, clear)
    assert said is not None
    assert "no usable information: 1 of 2 models give every input the same probabilities" in said
    said = without_usable_information(0, 2, none)
    assert said is not None
    assert "V-information -0.400 bits (-0.500 to -0.100)" in said


def test_what_counts_as_constant() -> None:
    logits = np.tile([1.0, -1.0], (50, 1))
    assert is_constant(logits)
    assert is_constant(logits + np.arange(50)[:, None])
    logits[7, 0] += 0.2
    assert not is_constant(logits)
    assert not is_constant(logits[:1])
