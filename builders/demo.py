"""The whole job on the built-in samples with the embedded language model: no hub, a few minutes."""

from __future__ import annotations

from pathlib import Path

from ..cards import write_card
from ..errors import ReleaseError
from ..eval import evaluate
from ..progress import Stage, no_progress
from ..release import ReleaseFolder
from .build import build

# A short fine-tune that a small CPU can bear; the recipe of the paper is the default of `build`.
DEMO_RECIPE = {
    "max_steps": 16,
    "batch_size": 16,
    "eval_every": 8,
    "learning_rate": 1e-4,
    "trainable_layers": 6,
}
SCORED_WITHOUT_TRAINING = ("ll_split_pt", "ll_split_pt_len", "ll_split_pt_len_reverse")
# The sample has some forty rows a task: enough to see every step, too few to measure a model by.
DEMO_PVI_RECIPE = {"epochs": 2, "batch_size": 8}


def demo(
    out: str | Path = "benchwright-demo",
    *,
    cache: str | Path | None = None,
    overwrite: bool = False,
    progress: Stage = no_progress,
) -> list[ReleaseFolder]:
    """Make four releases in `out`: spider-splits, snli-splits, boolq-splits and curriculum-difficulty.

    Prompted scores for the first three, k-fold fine-tuned scores for Spider, V-information of a small encoder
    for Curriculum; baselines on every config; zero-shot answers of the embedded model on the SNLI configs.
    Raises PrerequisiteError if the models have not been fetched, ReleaseError if `out` holds something else.
    """
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise ReleaseError(f"{folder} is in the way; choose another folder with --out")
    comparisons = ("random", "random_2", "random_3", "length")
    plans: dict[str, tuple[str, ...] | None] = {
        "spider": None,
        "snli": (*comparisons, "standard", *SCORED_WITHOUT_TRAINING),
        "boolq": (*comparisons, *SCORED_WITHOUT_TRAINING),
    }
    releases = []
    for name, configs in plans.items():
        release = build(
            name,
            source="sample",
            out=folder / f"{name}-splits",
            configs=configs,
            recipe=DEMO_RECIPE if name == "spider" else None,
            # SNLI's published proportions would leave five of the sample's rows to evaluate on.
            validation=0.15 if name == "snli" else None,
            test=0.15 if name == "snli" else None,
            cache=cache,
            overwrite=overwrite,
            progress=progress,
        )
        evaluate(release, progress=progress)
        if name == "snli":
            evaluate(
                release,
                configs=["random", "ll_split_pt", "ll_split_pt_len"],
                model="embedded",
                progress=progress,
            )
        write_card(release)
        releases.append(release)
    releases.append(_difficulty(folder / "curriculum-difficulty", cache, overwrite, progress))
    return releases


def _difficulty(out: Path, cache: str | Path | None, overwrite: bool, progress: Stage) -> ReleaseFolder:
    release = build(
        "curriculum_difficulty",
        source="sample",
        out=out,
        cache=cache,
        overwrite=overwrite,
        configs=("quantifier", "quantifier_simple", "quantifier_hard", "quantifier_pvi_hard_test"),
        pvi_model="minilm-l3",
        k=(2,),
        pvi_recipe=DEMO_PVI_RECIPE,
        progress=progress,
    )
    evaluate(release, progress=progress)
    evaluate(
        release,
        baselines=["fine_tuned_full_input", "fine_tuned_partial_input"],
        model="minilm-l3",
        recipe=DEMO_PVI_RECIPE,
        progress=progress,
    )
    write_card(release)
    return release
