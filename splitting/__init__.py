"""Splitters: rows and scores in, an assignment to train, validation and test out.

>>> import numpy as np, pyarrow as pa
>>> rows = SplitRows(pa.array(["a", "b", "c", "d"]), np.arange(4), lengths=np.array([7, 3, 5, 9]))
>>> assignment = splitters.get("length")(sizes={"train": 2, "validation": 1, "test": 1}).split(rows)
>>> assignment.side.tolist(), assignment.placed_by.tolist()
([2, 0, 0, 1], ['length', 'length', 'length', 'length'])
"""

from ._units import connected_groups
from .base import (
    DEFAULT_SEED,
    SIDES,
    TEST,
    TRAIN,
    UNUSED,
    VALIDATION,
    Assignment,
    Note,
    Placement,
    Scores,
    Sizes,
    SplitRows,
    Splitter,
    splitters,
)
from .clean import CleanSplitter
from .length import LengthSplitter
from .likelihood import LikelihoodSplitter
from .overlap import OverlapSplitter
from .published import PublishedSplitter
from .pvi import PviSplitter
from .random import RandomSplitter
from .template import TemplateSplitter
from .tmcd import TmcdSplitter

__all__ = [
    "DEFAULT_SEED",
    "SIDES",
    "TEST",
    "TRAIN",
    "UNUSED",
    "VALIDATION",
    "Assignment",
    "CleanSplitter",
    "LengthSplitter",
    "LikelihoodSplitter",
    "Note",
    "OverlapSplitter",
    "Placement",
    "PublishedSplitter",
    "PviSplitter",
    "RandomSplitter",
    "Scores",
    "Sizes",
    "SplitRows",
    "Splitter",
    "TemplateSplitter",
    "TmcdSplitter",
    "connected_groups",
    "splitters",
]
