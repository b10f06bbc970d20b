"""Scores of examples under language models: prompts, score tables, their cache, and checks.

Names are imported at first use: templates alone cost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .check import (
        CutCheck,
        ScoreComparison,
        check_cut,
        compare_scores,
    )
    from .kfold import draw_folds, score_with_folds
    from .prompt import score_with_prompt
    from .pvi import PviRecipe, score_with_pvi
    from .rows import ScoringOptions
    from .table import EMPTY, OK, OVERLENGTH, STATUSES, ScoreTable, score_identity
    from .templates import (
        BOOLQ,
        SNLI_WITH_LABEL,
        SNLI_WITHOUT_LABEL,
        SPIDER_FINE_TUNED,
        SPIDER_PROMPT,
        SPIDER_PROMPT_DATABASE_ID,
        SPIDER_TRAINING,
        PromptTemplate,
        user_template,
    )

__all__ = [
    "BOOLQ",
    "EMPTY",
    "OK",
    "OVERLENGTH",
    "SNLI_WITHOUT_LABEL",
    "SNLI_WITH_LABEL",
    "SPIDER_FINE_TUNED",
    "SPIDER_PROMPT",
    "SPIDER_PROMPT_DATABASE_ID",
    "SPIDER_TRAINING",
    "STATUSES",
    "CutCheck",
    "PromptTemplate",
    "PviRecipe",
    "ScoreComparison",
    "ScoreTable",
    "ScoringOptions",
    "check_cut",
    "compare_scores",
    "draw_folds",
    "score_identity",
    "score_with_folds",
    "score_with_prompt",
    "score_with_pvi",
    "user_template",
]

_MODULES = {
    "check": (
        "CutCheck",
        "ScoreComparison",
        "check_cut",
        "compare_scores",
    ),
    "kfold": ("draw_folds", "score_with_folds"),
    "prompt": ("score_with_prompt",),
    "pvi": ("PviRecipe", "score_with_pvi"),
    "rows": ("ScoringOptions",),
    "table": ("EMPTY", "OK", "OVERLENGTH", "STATUSES", "ScoreTable", "score_identity"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME.get(name, 'templates')}", __name__), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
