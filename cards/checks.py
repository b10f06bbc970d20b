"""Checks of JSON that the card shows: each raises ValueError that names the place and the value received."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

from ..errors import show
from ..release import SPLITS

Check = Callable[[Any, str], None]


def text(value: Any, where: str) -> None:
    """A string."""
    if not isinstance(value, str):
        raise ValueError(f"{where} must be text, got {show(value)}")


def count(value: Any, where: str) -> None:
    """A whole number, 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{where} must be a whole number, 0 or more, got {show(value)}")


def number(value: Any, where: str) -> None:
    """A finite number, or None where there was nothing to compute it from."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        raise ValueError(f"{where} must be a number, got {show(value)}")


def truth(value: Any, where: str) -> None:
    """True or false."""
    if not isinstance(value, bool):
        raise ValueError(f"{where} must be true or false, got {show(value)}")


def split(value: Any, where: str) -> None:
    """The name of a split."""
    if value not in SPLITS:
        raise ValueError(f"{where} must be one of {', '.join(SPLITS)}, got {show(value)}")


def anything(value: Any, where: str) -> None:
    """Whatever stands there."""


def optional(check: Check) -> Check:
    """The same, or None, or nothing at all."""

    def checked(value: Any, where: str) -> None:
        if value is not None:
            check(value, where)

    return checked


def list_of(check: Check, length: int | None = None) -> Check:
    """A list, of `length` values if that is given."""

    def checked(value: Any, where: str) -> None:
        if not isinstance(value, list) or length not in (None, len(value)):
            kind = "a list" if length is None else f"a list of {length} values"
            raise ValueError(f"{where} must be {kind}, got {show(value)}")
        for place, item in enumerate(value):
            check(item, f"{where}[{place}]")

    return checked


def mapping_of(check: Check) -> Check:
    """An object with values of one kind."""

    def checked(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{where} must be an object, got {show(value)}")
        for name, item in value.items():
            check(item, f"{where}.{name}" if where else name)

    return checked


def record(**fields: Check) -> Check:
    """An object with these fields; what else it has is not looked at."""
    is_object = mapping_of(anything)

    def checked(value: Any, where: str) -> None:
        is_object(value, where)
        for name, check in fields.items():
            check(value.get(name), f"{where}.{name}" if where else name)

    return checked


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:
        return False
