"""Trial 17, the models' half: outputs go by name, whatever order a model numbers them in.

Some NLI models number contradiction first, others entailment first. Reading numbers instead of `id2label`
gives 7 % where names give 84 % (transformers #12822, TextAttack #684); published negative correlations of
models with a benchmark (Curriculum, 2204.06283) are such an inversion.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_classifiers
from eval_helpers import nli_rows, write_release

from benchwright.errors import UsageError
from benchwright.eval import evaluate
from benchwright.eval.models import load_classifier
from benchwright.release import ReleaseFolder
from benchwright.tasks import NLI

NAMES = NLI.labels or ()
WORDS = ("cat", "dogs", "boat", "sails", "captain", "bridge", "rain", "ball", "wood", "age", "river", "stone")


def _texts() -> list[tuple[str, str]]:
    return [
        (f"a {first} near the {second}", f"the {second} is a {first}")
        for first, second in itertools.permutations(WORDS, 2)
    ][::4][:30]


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_classifiers.save(tmp_path_factory.mktemp("models") / "first", NAMES)


@pytest.fixture
def release(tmp_path: Path, model_folder: Path) -> ReleaseFolder:
    """Rows whose gold labels are what the first model says, but for every sixth: its accuracy is known."""
    texts = _texts()
    premises, hypotheses = zip(*texts, strict=True)
    gold = load_classifier(str(model_folder)).classify(premises, hypotheses).logits.argmax(axis=1)
    assert len(set(gold.tolist())) == 3
    gold[::6] = (gold[::6] + 1) % 3
    rows = nli_rows(0, len(texts))
    for row, (premise, hypothesis), label in zip(rows, texts, gold.tolist(), strict=True):
        row |= {"premise": premise, "hypothesis": hypothesis, "label": label}
    return write_release(tmp_path / "release", {"random": {"test": rows}})


def _answers(release: ReleaseFolder, model: Path, **options: Any) -> tuple[list[str], float]:
    (result,) = evaluate(release, baselines=["classifier"], model=str(model), **options)
    lines = (release.path / result.predictions_file).read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["prediction"] for line in lines], result.metrics["accuracy"]["value"]


def test_every_order_of_the_outputs_gives_the_same_names_and_the_same_accuracy(
    tmp_path: Path, model_folder: Path, release: ReleaseFolder
) -> None:
    expected, accuracy = _answers(release, model_folder)
    assert accuracy == pytest.approx(5 / 6)
    for order in itertools.permutations(range(3)):
        copy = tiny_classifiers.save(tmp_path / "".join(map(str, order)), NAMES, outputs=order)
        assert _answers(release, copy) == (expected, accuracy)
        # By number instead, most orders would be far off: the trial can fail.
        texts = zip(*_texts(), strict=True)
        numbers = load_classifier(str(copy)).classify(*texts).logits.argmax(axis=1)
        by_number = np.array(NAMES, dtype=object)[numbers]
        assert (by_number.tolist() == expected) == (order == (0, 1, 2))


@pytest.mark.parametrize(
    "names",
    [
        ("ENTAILMENT", "NEUTRAL", "CONTRADICTION"),
        ("Entailed", "Neutral", "Contradictory"),
        ("entails", "neutral", "contradicts"),
    ],
)
def test_the_usual_spellings_are_the_same_names(
    tmp_path: Path, model_folder: Path, release: ReleaseFolder, names: tuple[str, ...]
) -> None:
    copy = tiny_classifiers.save(tmp_path / "copy", names, outputs=(2, 0, 1))
    assert _answers(release, copy) == _answers(release, model_folder)


def test_an_unknown_name_raises(tmp_path: Path, release: ReleaseFolder) -> None:
    copy = tiny_classifiers.save(tmp_path / "copy", ("entailment", "unrelated", "contradiction"))
    with pytest.raises(UsageError) as caught:
        _answers(release, copy)
    assert str(caught.value) == (
        "the model's label 'unrelated' is none of entailment, neutral, contradiction; name the outputs in "
        "their order by the task's labels with --label-names (Python: label_names=)"
    )
    assert not list((release.path / "results").rglob("*.json"))


def test_numbered_names_are_refused_until_someone_says_what_they_mean(
    tmp_path: Path, model_folder: Path, release: ReleaseFolder
) -> None:
    order = (2, 1, 0)
    copy = tiny_classifiers.save(tmp_path / "copy", None, outputs=order)
    with pytest.raises(UsageError, match="does not say what its outputs LABEL_0, LABEL_1, LABEL_2 mean"):
        _answers(release, copy)
    named = _answers(release, copy, label_names=[NAMES[row] for row in order])
    assert named == _answers(release, model_folder)
