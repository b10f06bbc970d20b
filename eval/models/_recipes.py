"""Checks that the recipes of all trainers share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from benchwright.errors import UsageError, show
from benchwright.registry import closest

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Recipe = TypeVar("Recipe", bound=DataclassInstance)


def require_counts(recipe: object, *names: str) -> None:
    """Raise UsageError for a field that is no whole number from 1."""
    for name in names:
        value = getattr(recipe, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise UsageError(f"{name} must be a whole number from 1, got {show(value)}")


def require_rates(recipe: object, *names: str) -> None:
    """Raise UsageError for a field that is no finite number from 0."""
    for name in names:
        if not is_number(getattr(recipe, name)):
            raise UsageError(f"{name} must be a number from 0, got {show(getattr(recipe, name))}")


def require_learning(recipe: Any) -> None:
    """Raise UsageError for a learning rate, a greatest norm of gradients or a decay that cannot be."""
    require_rates(recipe, "learning_rate", "max_gradient_norm", "weight_decay")
    if recipe.learning_rate > 1:
        raise UsageError(f"learning_rate must be at most 1, got {recipe.learning_rate}")
    if not recipe.max_gradient_norm:
        raise UsageError("max_gradient_norm is 0, which trains nothing; give a number above 0")


def require_choice(recipe: object, name: str, choices: Sequence[str]) -> None:
    """Raise UsageError for a field that is none of the choices."""
    value = getattr(recipe, name)
    if value not in choices:
        raise UsageError(f"{name} must be {' or '.join(choices)}, got {show(value)}")


def is_number(value: object) -> bool:
    """Whether it is a finite number from 0."""
    return not isinstance(value, bool) and isinstance(value, int | float) and 0 <= value < math.inf


def changed(recipe: Recipe, changes: Mapping[str, Any]) -> Recipe:
    """The recipe with other values for some fields. Raises UsageError for one that is unknown or bad."""
    known = [field.name for field in fields(recipe)]
    for name in changes:
        if name not in known:
            raise UsageError(f"no recipe field {name!r}; {closest(name, known)}")
    return replace(recipe, **changes)
