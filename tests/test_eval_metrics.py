"""Metrics against hand-worked values, scikit-learn and SciPy, and their invariances."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from eval_helpers import FARM_SCHEMA
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import f1_score, matthews_corrcoef

from benchwright.eval.metrics import Context, MetricValue, metrics
from benchwright.eval.metrics.intervals import bootstrap_mean, wilson
from benchwright.eval.metrics.text_to_sql import normalise_query

LABELS = st.sampled_from(["entailment", "neutral", "contradiction"])


def objects(values: object) -> np.ndarray:
    return np.array(values, dtype=object)


def value(name: str, gold: list[str], predictions: list[str] | list[tuple[str, ...]]) -> MetricValue:
    return metrics.get(name)(objects(gold), objects(predictions))


def test_accuracy_of_four_rows() -> None:
    result = value("accuracy", ["a", "b", "b", "c"], ["a", "b", "c", "c"])
    assert result.value == 0.75
    assert result.n == 4
    assert result.per_example.tolist() == [1, 1, 0, 1]
    assert (result.low, result.high) == wilson(3, 4)
    assert result.interval == "Wilson 95%"


@pytest.mark.parametrize(("successes", "n"), [(0, 7), (7, 7), (1, 3), (24, 40), (8_700, 10_000)])
def test_wilson_equals_scipy(successes: int, n: int) -> None:
    expected = binomtest(successes, n).proportion_ci(0.95, method="wilson")
    assert wilson(successes, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_accuracy_of_annotators_is_their_share_of_gold_labels_with_rows_resampled() -> None:
    gold = ["a"] * 10
    answers = [("a",) * 5] * 5 + [("a", "a", "a", "a", "b")] * 3 + [("a", "a", "a", "b", "b")] * 2
    result = value("accuracy", gold, answers)
    assert result.value == pytest.approx((25 + 12 + 6) / 50)
    assert result.per_example.tolist() == [1.0] * 5 + [0.8] * 3 + [0.6] * 2
    assert result.interval == "bootstrap over rows 95%"
    assert result.low is not None
    assert result.high is not None
    assert 0.6 <= result.low < result.value < result.high <= 1.0


def test_bootstrap_of_a_mean_is_close_to_the_normal_interval() -> None:
    values = np.repeat([0.2, 0.4, 1.0], [100, 300, 600])
    interval = bootstrap_mean(values)
    margin = 1.96 * values.std() / np.sqrt(len(values))
    assert interval == pytest.approx((values.mean() - margin, values.mean() + margin), abs=0.003)


def test_macro_f1_shows_a_majority_answer_that_accuracy_hides() -> None:
    gold, predictions = ["yes"] * 9 + ["no"], ["yes"] * 10
    assert value("accuracy", gold, predictions).value == 0.9
    # F1 of yes: 2 * 9 / (2 * 9 + 1) = 18 / 19; of no: 0.
    assert value("macro_f1", gold, predictions).value == pytest.approx(18 / 19 / 2)


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=30))
@settings(deadline=None, max_examples=50)
def test_macro_f1_equals_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    gold, predictions = map(list, zip(*pairs, strict=True))
    expected = f1_score(gold, predictions, average="macro", zero_division=0)
    assert value("macro_f1", gold, predictions).value == pytest.approx(expected, abs=1e-12)


def test_matthews_correlation_of_a_worked_confusion() -> None:
    # Three of four right for each label: (3 * 3 - 1 * 1) / sqrt(4 * 4 * 4 * 4).
    gold = ["entailed"] * 4 + ["not-entailed"] * 4
    predictions = ["entailed"] * 3 + ["not-entailed"] * 4 + ["entailed"]
    found = value("matthews_correlation", gold, predictions)
    assert found.value == 0.5
    assert found.per_example.tolist() == [1, 1, 1, 0, 1, 1, 1, 0]
    assert found.low is not None
    assert found.high is not None
    assert -1 <= found.low < 0.5 < found.high <= 1
    swapped = {"entailed": "not-entailed", "not-entailed": "entailed"}
    assert value("matthews_correlation", gold, [swapped[label] for label in gold]).value == -1
    assert value("matthews_correlation", gold, ["entailed"] * 8).value == 0
    assert value("matthews_correlation", ["entailed"] * 8, gold).value == 0


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=30))
@settings(deadline=None, max_examples=50)
@pytest.mark.filterwarnings("ignore:A single label was found")
def test_matthews_correlation_equals_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    gold, predictions = map(list, zip(*pairs, strict=True))
    expected = matthews_corrcoef(gold, predictions)
    assert value("matthews_correlation", gold, predictions).value == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=30), st.randoms())
@settings(deadline=None, max_examples=25)
@pytest.mark.parametrize("name", ["accuracy", "macro_f1", "matthews_correlation", "string_match"])
def test_row_order_changes_no_bit(name: str, pairs: list[tuple[str, str]], random: object) -> None:
    shuffled = sorted(pairs, key=lambda _: random.random())  # type: ignore[attr-defined]
    first, second = (value(name, *map(list, zip(*rows, strict=True))) for rows in (pairs, shuffled))
    assert (first.value, first.low, first.high) == (second.value, second.low, second.high)


def test_string_match_ignores_case_and_white_space_and_nothing_else() -> None:
    gold = ["SELECT name FROM cow WHERE age > 3"] * 4
    predictions = [
        "select  Name\nfrom cow where age > 3 ",
        "SELECT name FROM cow WHERE age>3",
        "SELECT name FROM cow AS T1 WHERE age > 3",
        "SELECT name FROM cow WHERE age > 4",
    ]
    assert value("string_match", gold, predictions).per_example.tolist() == [1, 0, 0, 0]
    assert normalise_query(" A\tb\r\nc ") == "a b c"


def test_a_bootstrap_over_one_row_claims_no_interval() -> None:
    assert bootstrap_mean(np.array([0.8])) == (None, None)
    single = value("macro_f1", ["a"], ["a"])
    assert (single.value, single.low, single.high) == (1.0, None, None)


@pytest.mark.parametrize(("gold", "predictions"), [([], []), (["a"], []), (["a", "b"], ["a"])])
def test_rows_and_predictions_must_match(gold: list[str], predictions: list[str]) -> None:
    with pytest.raises(ValueError, match="one prediction per row"):
        value("accuracy", gold, predictions)


def exact(pairs: list[tuple[str, str]], db_ids: list[str] | None = None) -> MetricValue:
    gold, predictions = map(list, zip(*pairs, strict=True))
    columns = {"db_id": db_ids or ["farm"] * len(pairs)}
    context = Context(columns, {"schemas": pa.Table.from_pylist([FARM_SCHEMA])})
    return metrics.get("exact_set_match")(objects(gold), objects(predictions), context)


def test_exact_set_match_of_rows() -> None:
    gold = "SELECT name FROM cow WHERE age > 3 AND id = 1"
    result = exact(
        [
            (gold, "SELECT name FROM cow WHERE id = 9 AND age > 8"),
            (gold, "SELECT name FROM cow WHERE id = 9"),
            (gold, "SELECT nosuch FROM cow"),
            (gold, f"{gold} ; because"),
        ]
    )
    assert result.per_example.tolist() == [1, 0, 0, 1]
    assert (result.value, result.n, result.left_out) == (0.5, 4, {})
    assert (result.low, result.high) == wilson(2, 4)
    assert result.flagged == {
        "unparsed_prediction": {2: "no column 'nosuch'"},
        "text_after_query": {3: "because"},
    }


def test_rows_whose_gold_query_is_not_read_leave_the_denominator() -> None:
    query = "SELECT name FROM cow"
    result = exact(
        [(query, query), ("SELECT nosuch FROM cow", query), (query, query)], ["farm", "farm", "barn"]
    )
    assert (result.value, result.n) == (1.0, 1)
    assert result.left_out == {"unparsed gold query": 1, "no schema of the database": 1}
    assert np.isnan(result.per_example).tolist() == [False, True, True]


def test_no_row_that_can_be_judged_is_no_score() -> None:
    result = exact([("SELECT nosuch FROM cow", "SELECT name FROM cow")])
    assert (result.n, result.low, result.high) == (0, None, None)
    assert np.isnan(result.value)


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        (Context(), "the config has no column 'db_id'"),
        (Context({"db_id": ["farm"]}), "the release has no table 'schemas'"),
    ],
)
def test_a_metric_says_what_it_lacks(context: Context, reason: str) -> None:
    metric = metrics.get("exact_set_match")
    assert metric.not_applicable(context) == reason
    with pytest.raises(ValueError, match=reason):
        metric(objects(["SELECT 1"]), objects(["SELECT 1"]), context)
    columns_only = Context({"db_id": ["farm"]})
    assert (
        metrics.get("execution_accuracy").not_applicable(columns_only) == "no folder of databases was given"
    )
    assert metrics.get("accuracy").not_applicable(Context()) is None
