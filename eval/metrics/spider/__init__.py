"""Spider's own measures: hardness, exact set match and execution accuracy."""

from .exact_match import COMPONENTS, Comparison, ComponentScore, compare, normalise
from .hardness import HARDNESS_LEVELS, Hardness, HardnessCounts, hardness, hardness_counts
from .parse import EMPTY, Parsed, Query, UnparsedQueryError, parse
from .schema import Schema, from_rows

__all__ = [
    "COMPONENTS",
    "EMPTY",
    "HARDNESS_LEVELS",
    "Comparison",
    "ComponentScore",
    "Hardness",
    "HardnessCounts",
    "Parsed",
    "Query",
    "Schema",
    "UnparsedQueryError",
    "compare",
    "from_rows",
    "hardness",
    "hardness_counts",
    "normalise",
    "parse",
]
