"""PVI tables: the drawing of folds, honest scoring, interruptions, and what a table says of itself."""

from __future__ import annotations

import itertools
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import tiny_classifiers
from hypothesis import given
from hypothesis import strategies as st
from pvi_helpers import SMALL, pair_rows, replaced, tiny_encoder
from scores_helpers import tiny_gpt2

from benchwright.errors import BenchwrightWarning, SourceError, UsageError
from benchwright.eval.models import SequenceClassifier
from benchwright.splitting.scores import PviRecipe, ScoreTable, score_with_pvi
from benchwright.splitting.scores._pvi_rows import (
    LabelledPairs,
    draw_label_folds,
    read_pairs,
    sample_per_label,
)
from benchwright.splitting.scores.pvi import check_pvi_rows, null_texts
from benchwright.splitting.scores.v_information import entropies
from benchwright.tasks import BINARY_NLI, BOOLEAN_QUESTION, NLI, TEXT_TO_SQL

ROWS = pair_rows()
MEMORISER = {**SMALL, "epochs": 25, "rows_per_label": None, "validation_share": 0.0}
silently = pytest.mark.filterwarnings("ignore:no usable information")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_encoder(tmp_path_factory.mktemp("model") / "tiny")


def score(rows: pa.Table, model: str, cache: Path, **arguments: Any) -> ScoreTable:
    recipe = arguments.pop("recipe", SMALL)
    return score_with_pvi(
        rows, BINARY_NLI, model, k=arguments.pop("k", 2), recipe=recipe, cache=cache, **arguments
    )


@pytest.fixture(scope="module")
def scored(model: str, tmp_path_factory: pytest.TempPathFactory) -> ScoreTable:
    return score(ROWS, model, tmp_path_factory.mktemp("cache"))


def column(scores: ScoreTable, name: str) -> np.ndarray:
    return scores.table.column(name).to_numpy()


def by_uid(scores: ScoreTable) -> dict[str, dict[str, Any]]:
    return {row["uid"]: row for row in scores.table.to_pylist()}


# --- folds


def pairs_of(labels: np.ndarray, groups: np.ndarray, trains: np.ndarray) -> LabelledPairs:
    texts = [f"t{i}" for i in range(len(labels))]
    names = ("a", "b", "c")
    return LabelledPairs(texts, texts, labels, trains, np.arange(len(labels)), groups, names, "")


@given(st.integers(2, 5), st.integers(6, 60), st.integers(0, 2**32 - 1))
def test_single_rows_are_stratified_to_one_row(k: int, n: int, seed: int) -> None:
    labels = np.random.default_rng(seed).integers(0, 3, n)
    folds = draw_label_folds(pairs_of(labels, np.arange(n), np.ones(n, bool)), k, seed)
    for label in range(3):
        counts = np.bincount(folds[labels == label], minlength=k)
        assert counts.max() - counts.min() <= 1
    # Ties of a label go to the fold with fewer rows, so that folds differ by a row per label at most.
    assert np.ptp(np.bincount(folds, minlength=k)) <= 3


@given(st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_groups_are_whole_and_evaluation_rows_follow_them(k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups, trains = rng.integers(0, 12, 40), rng.random(40) < 0.7
    trains[:12], groups[:12] = True, np.arange(12)
    folds = draw_label_folds(pairs_of(rng.integers(0, 3, 40), groups, trains), k, seed)
    assert set(folds[trains].tolist()) == set(range(k))
    for group in range(12):
        assert len(set(folds[groups == group].tolist())) == 1


def test_rows_that_only_evaluate_are_of_no_fold() -> None:
    groups = np.array([0, 1, 2, 1, 3])
    trains = np.array([True, True, True, False, False])
    folds = draw_label_folds(pairs_of(np.zeros(5, int), groups, trains), 2, 42)
    assert folds[3] == folds[1]
    assert folds[4] == -1


def test_a_group_of_half_the_rows_is_a_fold_by_itself() -> None:
    groups = np.concatenate([np.zeros(20, int), np.arange(1, 21)])
    labels = np.arange(40) % 2
    folds = draw_label_folds(pairs_of(labels, groups, np.ones(40, bool)), 2, 0)
    assert len(set(folds[:20])) == len(set(folds[20:])) == 1
    assert folds[0] != folds[20]


@pytest.mark.parametrize(
    ("k", "message"), [(1, "k is 1"), (128, "k is 128"), (3, "2 groups, which cannot fill 3")]
)
def test_folds_that_cannot_be_drawn(k: int, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        draw_label_folds(pairs_of(np.zeros(4, int), np.array([0, 0, 1, 1]), np.ones(4, bool)), k, 42)


def test_a_sample_has_the_first_rows_of_each_label() -> None:
    labels = np.array([0, 0, 0, 1, 1, 2])
    order = np.array([5, 4, 2, 0, 3, 1])
    assert sample_per_label(np.arange(6), labels, 2, order).tolist() == [5, 4, 2, 0, 3]
    assert sample_per_label(np.arange(6), labels, None, order).tolist() == order.tolist()


def test_equal_inputs_and_groups_are_connected() -> None:
    rows = pair_rows(6, evaluation=0, groups=["g", "g", "h", "i", "j", "k"])
    first, second = (rows.column(name).to_pylist() for name in ("premise", "hypothesis"))
    first[2], second[2] = first[1], second[1]
    pairs = read_pairs(replaced(rows, premise=first, hypothesis=second), BINARY_NLI)
    assert pairs.groups.tolist() == [0, 0, 0, 1, 2, 3]
    assert pairs.inputs.tolist() == [0, 1, 1, 2, 3, 4]


def test_labels_of_other_types_and_rows_without_a_source_split() -> None:
    rows = pa.table({"question": ["q1", "q2"], "passage": ["p", "p"], "answer": [True, False]})
    pairs = read_pairs(rows, BOOLEAN_QUESTION)
    assert pairs.labels.tolist() == [1, 0]
    assert pairs.trains.tolist() == [True, True]


def test_rows_that_are_no_labelled_pairs() -> None:
    with pytest.raises(UsageError, match="task text-to-sql has no labelled pairs of texts"):
        read_pairs(ROWS, TEXT_TO_SQL)
    with pytest.raises(UsageError, match="rows to score lack hypothesis"):
        read_pairs(ROWS.drop_columns(["hypothesis"]), BINARY_NLI)
    labels = ROWS.column("label").to_pylist()
    for wrong in (2, -1, None):
        labels[3] = wrong
        with pytest.raises(SourceError, match=r"row 3, field 'label': no label of the task.*not-entailed"):
            read_pairs(replaced(ROWS, label=labels), BINARY_NLI)
    premises = ROWS.column("premise").to_pylist()
    premises[5] = None
    with pytest.raises(SourceError, match="row 5, field 'premise': no text"):
        read_pairs(ROWS.set_column(1, "premise", pa.array(premises)), BINARY_NLI)


def test_rows_of_one_label_are_not_graded() -> None:
    """Their entropy is 0: what models find is noise, by which rows would be called simple and hard."""
    labels = [
        0 if split == "train" else label
        for split, label in zip(
            ROWS.column("source_split").to_pylist(), ROWS.column("label").to_pylist(), strict=True
        )
    ]
    rows = replaced(ROWS, label=labels)
    for fit in ("cross_fitted", "in_sample"):
        with pytest.raises(UsageError, match=r"^all \d+ rows that train have the label 'entailed'"):
            check_pvi_rows(rows, BINARY_NLI, k=2, fit=fit)  # type: ignore[arg-type]


# --- tables


def test_what_a_table_holds(scored: ScoreTable) -> None:
    assert scored.scorer == "pvi"
    assert scored.table.column("uid").equals(ROWS.column("uid"))
    null, given_, pvi = (column(scored, name) for name in ("entropy_null", "entropy_input", "pvi"))
    np.testing.assert_allclose(pvi, null - given_, atol=1e-6)
    assert (null > 0).all()
    assert np.array_equal(scored.scores().pvi, pvi)
    folds = column(scored, "fold")
    assert set(folds[:60]) == {0, 1}
    assert (folds[60:] == -1).all()
    # One null input: one entropy per label and model.
    labels = ROWS.column("label").to_numpy()
    for fold, label in itertools.product((-1, 0, 1), (0, 1)):
        assert len(set(null[(folds == fold) & (labels == label)])) == 1


def test_a_model_finds_what_gives_the_label_away(scored: ScoreTable) -> None:
    facts = scored.provenance["v_information"]
    assert not facts["no_usable_information"]
    assert facts["overall"]["low"] > 0.3
    pvi, labels = column(scored, "pvi"), ROWS.column("label").to_numpy()
    assert facts["overall"]["value"] == pytest.approx(pvi.mean(), abs=1e-6)
    assert facts["by_label"]["not-entailed"]["value"] == pytest.approx(pvi[labels == 1].mean(), abs=1e-6)
    assert facts["by_source_split"]["val"]["overall"]["value"] == pytest.approx(pvi[60:].mean(), abs=1e-6)
    assert facts["by_source_split"]["train"]["by_label"]["entailed"]["n"] == int((labels[:60] == 0).sum())


def test_provenance_says_how_the_models_were_made(scored: ScoreTable) -> None:
    key, models = scored.provenance["key"], scored.provenance["models"]
    assert (key["fit"], key["k"], key["null"], key["labels"]) == (
        "cross_fitted",
        2,
        [" ", " "],
        ["entailed", "not-entailed"],
    )
    assert key["recipe"]["rows_per_label"] == 40
    assert PviRecipe.of("cross_fitted", key["recipe"]).to_json() == key["recipe"]
    assert [fact["fold"] for fact in models] == [0, 1]
    assert sum(models[0]["rows_by_label"].values()) == int((column(scored, "fold") == 1).sum())
    weights = {fact[kind]["weights_sha256"] for fact in models for kind in ("null", "input")}
    assert len(weights) == 4


@silently
def test_no_model_scores_what_it_memorised(model: str, tmp_path: Path) -> None:
    """Labels at random: all there is to learn are the rows themselves. Each stands twice in the data."""
    once = pair_rows(32, evaluation=0, noise=0.5, seed=1)
    twice = pa.concat_tables([once, once])
    n = twice.num_rows
    twice = replaced(twice, uid=[f"toy:train:{i}" for i in range(n)], source_index=list(range(n)))
    honest = score(twice, model, tmp_path, recipe=MEMORISER)
    memorised = score(twice, model, tmp_path, recipe=MEMORISER, fit="in_sample")
    assert memorised.provenance["v_information"]["overall"]["low"] > 0.3
    assert honest.provenance["v_information"]["overall"]["high"] < 0.1
    folds = column(honest, "fold")
    assert np.array_equal(folds[:32], folds[32:])


@silently
def test_a_leaked_row_is_scored_by_the_model_that_did_not_see_it(model: str, tmp_path: Path) -> None:
    first, second, labels = (ROWS.column(name).to_pylist() for name in ("premise", "hypothesis", "label"))
    first[70], second[70], labels[70] = first[5], second[5], labels[5]
    found = score(replaced(ROWS, premise=first, hypothesis=second, label=labels), model, tmp_path)
    rows = by_uid(found)
    twin, leaked = rows["toy:train:5"], rows["toy:val:70"]
    assert all(twin[name] == leaked[name] for name in ("fold", "entropy_null", "entropy_input", "pvi"))


def test_rows_in_any_order_have_the_same_scores(model: str, scored: ScoreTable, tmp_path: Path) -> None:
    order = np.random.default_rng(8).permutation(ROWS.num_rows)
    found = score(ROWS.take(order), model, tmp_path)
    assert found.identity == scored.identity
    assert by_uid(found) == by_uid(scored)
    assert found.provenance == scored.provenance
    assert found.table.column("uid").to_pylist() == ROWS.column("uid").take(order).to_pylist()


class Interruption:
    """A stage of progress that stops the program at the n-th report."""

    def __init__(self, at: int) -> None:
        self.left = at

    @contextmanager
    def __call__(self, label: str, total: int, unit: str) -> Iterator[Callable[[int], None]]:
        def report(done: int) -> None:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt

        yield report


def test_an_interrupted_run_goes_on_and_gives_the_same_bytes(
    model: str, scored: ScoreTable, tmp_path: Path
) -> None:
    interrupted = 0
    for at in (1, 3, 9, 20, 5):
        try:
            found = score(ROWS, model, tmp_path, progress=Interruption(at))
        except KeyboardInterrupt:
            interrupted += 1
    assert interrupted >= 4
    found = score(ROWS, model, tmp_path)
    assert found.table.equals(scored.table)
    assert found.provenance == scored.provenance
    assert [path.name for path in (tmp_path / "scores").glob("*/*")] != []
    assert not list((tmp_path / "scores").glob("*/model-*"))


def test_finished_tables_come_from_the_cache(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = score(ROWS, model, tmp_path)

    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr("benchwright.eval.models.fine_tune_classifier", refuse)
    assert score(ROWS, model, tmp_path).table.equals(first.table)
    for change in ({"seed": 1}, {"k": 3}, {"recipe": {**SMALL, "epochs": 5}}, {"fit": "in_sample"}):
        with pytest.raises(AssertionError, match="trained again"):
            score(ROWS, model, tmp_path, **change)


def test_how_many_inputs_are_kept_at_once_changes_rounding_only(
    model: str, scored: ScoreTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchwright.splitting.scores._pvi_models._INPUTS_PER_CHUNK", 7)
    found = score(ROWS, model, tmp_path)
    np.testing.assert_allclose(column(found, "pvi"), column(scored, "pvi"), atol=1e-5)


def test_kept_models_give_the_entropies_again(model: str, tmp_path: Path) -> None:
    from benchwright.eval.models import load_classifier

    found = score(ROWS, model, tmp_path, keep_models=True)
    (folder,) = (tmp_path / "scores").glob("*/model-0-input/model")
    kept = load_classifier(str(folder))
    assert kept.identity()["weights_sha256"] == found.provenance["models"][0]["input"]["weights_sha256"]
    rows = ROWS.filter(pc.equal(found.table.column("fold"), 0))
    said = kept.classify(rows.column("premise").to_pylist(), rows.column("hypothesis").to_pylist())
    again = entropies(said.logits, rows.column("label").to_numpy())
    np.testing.assert_allclose(column(found, "entropy_input")[column(found, "fold") == 0], again, atol=1e-5)


def test_models_of_finished_scores_are_gone_and_that_is_said(model: str, tmp_path: Path) -> None:
    score(ROWS, model, tmp_path)
    with pytest.warns(BenchwrightWarning, match=r"4 of 4 models are gone.*remove .* and score again"):
        score(ROWS, model, tmp_path, keep_models=True)
    (folder,) = (path for path in (tmp_path / "scores").iterdir() if path.is_dir())
    shutil.rmtree(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error", BenchwrightWarning)
        for _ in range(2):
            score(ROWS, model, tmp_path, keep_models=True)
    assert len(list(folder.glob("model-*/model"))) == 4


def test_a_model_is_kept_before_its_scores_are_finished(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interruption while the model is written must not lose it: its scores are finished after that."""
    with monkeypatch.context() as patch:
        patch.setattr(SequenceClassifier, "save", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            score(ROWS, model, tmp_path, keep_models=True)
    score(ROWS, model, tmp_path, keep_models=True)
    assert len(list((tmp_path / "scores").glob("*/model-*/model"))) == 4


def test_pairs_that_are_too_long_are_cut_and_counted(model: str, tmp_path: Path) -> None:
    premises = ROWS.column("premise").to_pylist()
    for row in (2, 61):
        premises[row] = "a king " * 40
    found = score(replaced(ROWS, premise=premises), model, tmp_path)
    assert found.provenance["v_information"]["truncated"] == 2
    assert set(found.table.column("status").to_pylist()) == {"ok"}


@silently
def test_the_published_fit(model: str, tmp_path: Path) -> None:
    found = score(ROWS, model, tmp_path, fit="in_sample", zero_label=True)
    labels, pvi = ROWS.column("label").to_numpy(), column(found, "pvi")
    assert (column(found, "fold") == -1).all()
    assert (pvi[labels == 0] == 0).all()
    assert (pvi[labels == 1] != 0).all()
    whole = score(ROWS, model, tmp_path, fit="in_sample")
    assert np.array_equal(column(whole, "pvi")[labels == 1], pvi[labels == 1])
    assert found.provenance["key"]["null"] == ["", ""]
    assert found.provenance["key"]["k"] is None
    assert found.identity != whole.identity
    assert len(found.provenance["models"]) == 1


@silently
def test_a_causal_model(tmp_path: Path) -> None:
    found = score(ROWS, str(tiny_gpt2(tmp_path / "gpt2")), tmp_path, recipe={**SMALL, "epochs": 1})
    assert np.isfinite(column(found, "pvi")).all()


@silently
def test_three_labels_without_a_length(model: str, tmp_path: Path) -> None:
    labels = (np.arange(ROWS.num_rows) % 3).tolist()
    rows = replaced(ROWS, label=labels)
    found = score_with_pvi(rows, NLI, model, k=2, recipe={**SMALL, "epochs": 1}, cache=tmp_path)
    assert list(found.provenance["v_information"]["by_label"]) == ["contradiction", "entailment", "neutral"]
    assert found.table.column("length").null_count == rows.num_rows


def test_null_inputs() -> None:
    assert null_texts("cross_fitted", 2) == null_texts("cross_fitted", 3) == (" ", " ")
    assert null_texts("in_sample", 2) == ("", "")
    assert null_texts("in_sample", 3) == (".", ".")


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ({"rows_per_labels": 3}, "no recipe field 'rows_per_labels'; did you mean rows_per_label"),
        ({"rows_per_label": 0}, "rows_per_label must be a whole number from 1 or null for all, got 0"),
        ({"epoch": 3}, "no recipe field 'epoch'; did you mean epochs"),
    ],
)
def test_recipes_that_cannot_be_used(recipe: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        PviRecipe.of("cross_fitted", recipe)


def test_options_that_cannot_be_used(model: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no fit 'crossfit'; give cross_fitted or in_sample"):
        score(ROWS, model, tmp_path, fit="crossfit")
    with pytest.raises(UsageError, match="cannot fill 70 folds"):
        score(ROWS, model, tmp_path, k=70)


@silently
def test_a_classifier_of_the_labels_keeps_its_head(tmp_path: Path) -> None:
    names = ("entailment", "neutral", "contradiction")
    folder = tiny_classifiers.save(tmp_path / "tiny-nli", names, outputs=(2, 0, 1))
    table = score(ROWS, str(folder), tmp_path, recipe={**SMALL, "max_steps": 1})
    # In the checkpoint's own order: contradiction, entailment, neutral.
    assert table.provenance["key"]["model"]["outputs"] == [[1], [0, 2]]
    assert table.provenance["key"]["labels"] == list(BINARY_NLI.labels or ())
