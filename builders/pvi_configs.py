"""Configs by pointwise V-information: simple and hard halves, and the cells of the matrix that cross them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from ..features import DIFFICULTY
from ..splitting.base import SIDES
from ..splitting.published import STANDARD_NAMES
from ..splitting.pvi import PviSplitter, difficulty_of_side
from .base import BuildOptions, ConfigSpec

_CELLS = {
    "simple": ("simple", "simple", "Simple rows train and evaluate"),
    "hard": ("hard", "hard", "Hard rows train and evaluate"),
    "pvi_hard_test": ("simple", "hard", "Simple rows train, hard ones evaluate"),
    "pvi_hard_test_reverse": (
        "hard",
        "simple",
        "The reverse of {forward}: hard rows train, simple ones evaluate",
    ),
}
_BORDERS = {
    "published": "each side cut label by label at its own {cut} of V-information",
    "pooled": "train and validation cut together at the {cut} of V-information, then divided anew",
}
_CUTS = {"midrange": "midrange", "published": "published threshold"}


def pvi_configs(
    options: BuildOptions,
    table: str,
    *,
    prefix: str = "",
    suffix: str = "",
    part: str | None = None,
    mapping: Mapping[str, str | None] = STANDARD_NAMES,
) -> list[ConfigSpec]:
    """The four configs of a table of V-information, made only by name.

    Names are those of the cells between `prefix` and `suffix`; `mapping` is the side of every source split.
    `options` have their choices on PVI. Raises UsageError for unknown ones.

    >>> [spec.name for spec in pvi_configs(BuildOptions(), "pvi_ner", prefix="ner_")]
    ['ner_simple', 'ner_hard', 'ner_pvi_hard_test', 'ner_pvi_hard_test_reverse']
    """
    options = options.with_pvi_choices()
    assert options.pvi_cut is not None
    assert options.pvi_border is not None
    rule = _BORDERS[options.pvi_border].format(cut=_CUTS[options.pvi_cut])
    forward = f"{prefix}pvi_hard_test{suffix}"
    which = f" (score table {table})" if suffix else ""
    return [
        ConfigSpec(
            name=f"{prefix}{cell}{suffix}",
            splitter=PviSplitter.name,
            parameters={
                "train": train,
                "evaluation": evaluation,
                "cut": options.pvi_cut,
                "border": options.pvi_border,
                "mapping": dict(mapping),
                "seed": options.seed,
            },
            summary=f"{said.format(forward=forward)}, {rule}{which}.",
            scores=table,
            reverse_of=forward if cell.endswith("_reverse") else None,
            extra=True,
            part=part,
        )
        for cell, (train, evaluation, said) in _CELLS.items()
    ]


def is_pvi_config(spec: ConfigSpec) -> bool:
    """Whether a config is one of `pvi_configs`, or cleaned from one."""
    return _placing(spec)[0] == PviSplitter.name


def difficulty_column(spec: ConfigSpec, side: np.ndarray) -> pa.Table | None:
    """The column `difficulty` (codes of `features.DIFFICULTY`) of rows on `side` (int8[n]).

    Null for unused rows. None for a config that is not divided by V-information.
    """
    splitter, parameters = _placing(spec)
    if splitter != PviSplitter.name:
        return None
    codes = np.full(len(side), -1, dtype=np.int64)
    for name, number in SIDES.items():
        codes[side == number] = DIFFICULTY.str2int(difficulty_of_side(parameters, name))
    return pa.table({"difficulty": pa.array(codes, mask=codes < 0)})


def _placing(spec: ConfigSpec) -> tuple[str, Mapping[str, object]]:
    """The splitter that places the rows of a config, and its parameters; a cleaned config names another."""
    inner = spec.parameters.get("of")
    return (spec.splitter, spec.parameters) if inner is None else (inner["splitter"], inner["parameters"])
