"""Hardness of a query as Spider grades it (1809.08887, and `evaluation.py` of its repository at b7b5b8c)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast, get_args

from .parse import NO_AGGREGATE, Condition, Query, UnparsedQueryError, parse
from .schema import Schema

Hardness = Literal["easy", "medium", "hard", "extra"]
HARDNESS_LEVELS: tuple[Hardness, ...] = get_args(Hardness)
"""From easy to extra hard."""


@dataclass(frozen=True)
class HardnessCounts:
    """What is counted at the top level of a query.

    `components`: WHERE, GROUP BY, ORDER BY, LIMIT, joins, OR, LIKE; `nested`: subqueries as values and set
    operations; `others`: more than one aggregate, selected item, WHERE condition or grouping column.
    """

    components: int
    nested: int
    others: int

    @property
    def level(self) -> Hardness:
        components, nested, others = self.components, self.nested, self.others
        if nested == 0:
            if components <= 1 and others == 0:
                return "easy"
            if (components <= 1 and others <= 2) or (components <= 2 and others < 2):
                return "medium"
            if (components <= 2 and others > 2) or (components == 3 and others <= 2):
                return "hard"
        elif nested == 1 and components <= 1 and others == 0:
            return "hard"
        return "extra"


def hardness(query: str, schema: Schema) -> Hardness | None:
    """The level of a query; None if Spider's parser does not read it.

    >>> schema = Schema(("cow",), ((-1, "*"), (0, "name"), (0, "age")))
    >>> hardness("SELECT count(*) FROM cow", schema)
    'easy'
    >>> hardness("SELECT name FROM cow WHERE age = (SELECT max(age) FROM cow)", schema)
    'hard'
    """
    try:
        return hardness_counts(parse(query, schema).query).level
    except UnparsedQueryError:
        return None


def hardness_counts(query: Query) -> HardnessCounts:
    """The three counts of a parsed query."""
    conditions = list(conditions_of(query))
    components = [
        bool(query.where),
        bool(query.group),
        query.order is not None,
        query.limit,
        max(0, len(query.tables) - 1),
        sum(word == "or" for word in connectives_of(query)),
        sum(condition.operator == "like" for condition in conditions),
    ]
    nested = sum(isinstance(value, Query) for found in conditions for value in (found.first, found.second))
    others = [
        _aggregates(query) > 1,
        len(query.select) > 1,
        len(query.where) > 1,
        len(query.group) > 1,
    ]
    return HardnessCounts(sum(components), nested + (query.operand is not None), sum(others))


def conditions_of(query: Query) -> Iterator[Condition]:
    """Conditions of joins, WHERE and HAVING; subqueries keep theirs."""
    for conditions in (query.join_conditions, query.where, query.having):
        yield from cast(tuple[Condition, ...], conditions[::2])


def connectives_of(query: Query) -> Iterator[str]:
    """`and` and `or` between the conditions of joins, WHERE and HAVING."""
    for conditions in (query.join_conditions, query.where, query.having):
        yield from cast(tuple[str, ...], conditions[1::2])


def _aggregates(query: Query) -> int:
    """Aggregates as Spider counts them.

    Its count takes the first field of any unit for an aggregate. Of a condition that is the negation, so
    negated conditions of WHERE and HAVING count, and so does every connective of HAVING.
    """
    order = query.order.values if query.order is not None else ()
    units = [unit for value in order for unit in (value.left, value.right) if unit is not None]
    flags = [
        *(item.aggregate != NO_AGGREGATE for item in query.select),
        *(condition.negated for condition in cast(tuple[Condition, ...], query.where[::2])),
        *(unit.aggregate != NO_AGGREGATE for unit in (*query.group, *units)),
        *(isinstance(entry, str) or entry.negated for entry in query.having),
    ]
    return sum(flags)
