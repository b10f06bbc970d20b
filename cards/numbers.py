"""How the card writes numbers, everywhere the same."""

from __future__ import annotations

MINUS = "−"
MISSING = "–"


def count(value: int | None) -> str:
    """A whole number with thousands separated: 569,018; a dash where there is none."""
    return MISSING if value is None else f"{value:,}"


def percent(share: float | None, digits: int = 1) -> str:
    """A fraction in percent, without the sign: 0.614 -> 61.4; a dash where there is none."""
    return decimal(None if share is None else 100 * share, digits)


def decimal(value: float | None, digits: int = 1, signed: bool = False) -> str:
    """A number with fixed digits and a true minus sign; a dash where there is none."""
    if value is None or value != value:
        return MISSING
    text = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    if not text.strip("+-0."):
        text = text.lstrip("+-")
    return text.replace("-", MINUS)


def brief(value: float | None) -> str:
    """A number with one digit, none where it is whole: 9 or 9.5; a dash where there is none."""
    return decimal(value).removesuffix(".0")


def change(share: float | None) -> str:
    """A relative change in percent with its sign: 0.59 -> +59 %."""
    return MISSING if share is None else f"{decimal(100 * share, 0, signed=True)} %"
