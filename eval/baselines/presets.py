"""Published settings by name: which baseline runs which model with which recipe.

Tables 9 and 10 of likelihood splits (2210.06799) list task models; what its code fixes (patience, layer-wise
decay of ELECTRA) is taken from it, and what it leaves to the models' authors from their fine-tuning recipes:
RoBERTa (Liu et al. 2019, Table 10) and ELECTRA (Clark et al. 2020, Table 7). Curriculum's are those of its
code (2204.06283).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ...errors import UsageError
from ...registry import closest

FULL, PARTIAL = "fine_tuned_full_input", "fine_tuned_partial_input"

_ROBERTA = {"epochs": 10, "batch_size": 32, "warmup_share": 0.06, "weight_decay": 0.1, "schedule": "linear"}
_ELECTRA = {"epochs": 3, "batch_size": 32, "warmup_share": 0.1, "weight_decay": 0.0, "schedule": "linear"}
_TASK_MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "roberta_base": ("FacebookAI/roberta-base", {**_ROBERTA, "learning_rate": 2e-5}),
    "roberta_large": ("FacebookAI/roberta-large", {**_ROBERTA, "learning_rate": 1e-5}),
    "electra_base": (
        "google/electra-base-discriminator",
        {**_ELECTRA, "learning_rate": 1e-4, "layer_decay": 0.8},
    ),
    "electra_large": (
        "google/electra-large-discriminator",
        {**_ELECTRA, "learning_rate": 5e-5, "layer_decay": 0.9},
    ),
}
_LIKELIHOOD_TASKS = {
    "snli": {"max_length": 128, "eval_every": 1000, "patience": 20},
    "boolq": {"max_length": 512, "eval_every": 100, "patience": 10},
}
_CURRICULUM = {
    "epochs": 3,
    "learning_rate": 1e-5,
    "batch_size": 8,
    "warmup_share": 0.1,
    "weight_decay": 0.0,
    "schedule": "linear",
    "max_length": 128,
    "eval_every": 1000,
    "max_validation_rows": 500,
}
_INOCULATED = "ynie/roberta-large-snli_mnli_fever_anli_R1_R2_R3-nli"
_ZERO_SHOT = {
    "roberta_large_mnli": "FacebookAI/roberta-large-mnli",
    "bart_large_mnli": "facebook/bart-large-mnli",
    "roberta_large_anli": _INOCULATED,
}
_TEXT_TO_TEXT = {"t0_3b": "bigscience/T0_3B", "flan_t5_large": "google/flan-t5-large"}


@dataclass(frozen=True)
class Preset:
    """A baseline with a model and changes to its recipe; all can be overridden by options.

    `rows_per_label` are those of an inoculation; None to train on every row.
    """

    name: str
    baseline: str
    model: str
    recipe: Mapping[str, Any] = field(default_factory=dict)
    rows_per_label: tuple[int, ...] | None = None


def _presets() -> dict[str, Preset]:
    made = []
    for task, limits in _LIKELIHOOD_TASKS.items():
        for model, (checkpoint, recipe) in _TASK_MODELS.items():
            settings = {**recipe, **limits}
            made.append(Preset(f"{model}_{task}", FULL, checkpoint, settings))
            made.append(Preset(f"{model}_{task}_partial_input", PARTIAL, checkpoint, settings))
    steps = (10, 30, 100, 300, 1000)
    made += [
        Preset("curriculum_inoculation", FULL, _INOCULATED, _CURRICULUM, steps),
        Preset("curriculum_partial_input", PARTIAL, _INOCULATED, _CURRICULUM, (1000,)),
    ]
    made += [Preset(f"zero_shot_{name}", "classifier", model) for name, model in _ZERO_SHOT.items()]
    made += [Preset(f"zero_shot_{name}", "seq2seq_zero_shot", m) for name, m in _TEXT_TO_TEXT.items()]
    return {preset.name: preset for preset in made}


PRESETS: Mapping[str, Preset] = MappingProxyType(_presets())


def preset(name: str) -> Preset:
    """The preset of that name. Raises UsageError for an unknown one."""
    if name not in PRESETS:
        raise UsageError(f"no preset {name!r}; {closest(name, list(PRESETS))}")
    return PRESETS[name]
