"""Exact set match of Spider (1809.08887): ten components and the tables must agree.

The verdicts are those of `evaluation.py` of taoyds/spider at b7b5b8c, with its habits: LIMIT numbers, JOIN
conditions and values are not compared (values in subqueries of FROM are), DISTINCT is compared in subqueries
of conditions and of FROM only, and columns that a foreign key equates are equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import cast

from .hardness import conditions_of, connectives_of
from .parse import Column, ColumnUnit, Condition, Conditions, Query, SelectItem, ValueUnit
from .schema import Schema

COMPONENTS = (
    "select",
    "select(no AGG)",
    "where",
    "where(no OP)",
    "group(no Having)",
    "group",
    "order",
    "and/or",
    "IUEN",
    "keywords",
)
"""Names that the evaluation script prints, in its order."""


@dataclass(frozen=True, slots=True)
class ComponentScore:
    """How many units gold and prediction have of a component; it matches if all units of both do."""

    match: bool
    gold: int
    prediction: int


@dataclass(frozen=True)
class Comparison:
    """The components by name, and whether the FROM tables are the same."""

    components: Mapping[str, ComponentScore]
    same_tables: bool

    @property
    def exact(self) -> bool:
        return self.same_tables and all(score.match for score in self.components.values())

    @property
    def failing(self) -> tuple[str, ...]:
        """Names of what differs, `from` for the tables."""
        names = [name for name, score in self.components.items() if not score.match]
        return (*names, *(() if self.same_tables else ("from",)))


def compare(gold: Query, prediction: Query) -> Comparison:
    """Compare two queries that `normalise` made."""
    gold_where, prediction_where = _conditions(gold.where), _conditions(prediction.where)
    scores = (
        _multisets(gold.select, prediction.select),
        _multisets((item.value for item in gold.select), (item.value for item in prediction.select)),
        _multisets(gold_where, prediction_where),
        _multisets((found.left for found in gold_where), (found.left for found in prediction_where)),
        _multisets(
            (unit.column.name for unit in gold.group), (unit.column.name for unit in prediction.group)
        ),
        _group(gold, prediction),
        _order(gold, prediction),
        _connectives(gold, prediction),
        _set_operation(gold, prediction),
        _multisets(keywords(gold), keywords(prediction)),
    )
    # A gold query without tables matches any: the script compares them only if there are some.
    same_tables = not gold.tables or Counter(gold.tables) == Counter(prediction.tables)
    return Comparison(dict(zip(COMPONENTS, scores, strict=True)), same_tables)


def normalise(query: Query, schema: Schema) -> Query:
    """Take out what is not compared: values, DISTINCT, the choice among columns that foreign keys equate.

    The last two only outside of subqueries, and for columns of the tables of the outermost FROM.
    """
    tables = frozenset(table for table in query.tables if isinstance(table, str))
    columns = {column: first for column, first in schema.representatives.items() if column.table in tables}
    return _without_choices(_without_values(query), columns)


def keywords(query: Query) -> frozenset[str]:
    """The keywords that a query uses at its top level."""
    conditions = list(conditions_of(query))
    order = query.order
    found = {
        "where": bool(query.where),
        "group": bool(query.group),
        "having": bool(query.having),
        "order": order is not None,
        order.direction if order is not None else "asc": order is not None,
        "limit": query.limit,
        query.set_operator or "union": query.set_operator is not None,
        "or": "or" in connectives_of(query),
        "not": any(condition.negated for condition in conditions),
        "in": any(condition.operator == "in" for condition in conditions),
        "like": any(condition.operator == "like" for condition in conditions),
    }
    return frozenset(name for name, used in found.items() if used)


def _multisets(gold: Iterable[Hashable], prediction: Iterable[Hashable]) -> ComponentScore:
    first, second = Counter(gold), Counter(prediction)
    return ComponentScore(first == second, first.total(), second.total())


def _group(gold: Query, prediction: Query) -> ComponentScore:
    """Grouping columns in order with HAVING, which counts only where both queries group."""
    both = bool(gold.group) and bool(prediction.group)
    same = [unit.column for unit in gold.group] == [unit.column for unit in prediction.group]
    match = same and (not both or gold.having == prediction.having)
    return ComponentScore(match, int(bool(gold.group)), int(bool(prediction.group)))


def _order(gold: Query, prediction: Query) -> ComponentScore:
    """Directions and values in order, and both or neither with LIMIT; two queries without ORDER BY match."""
    totals = int(gold.order is not None), int(prediction.order is not None)
    match = gold.order == prediction.order and (gold.order is None or gold.limit == prediction.limit)
    return ComponentScore(match, *totals)


def _connectives(gold: Query, prediction: Query) -> ComponentScore:
    first, second = frozenset(gold.where[1::2]), frozenset(prediction.where[1::2])
    if first == second:
        return ComponentScore(True, 1, 1)
    # The script returns the two totals in the wrong order here.
    return ComponentScore(False, len(second), len(first))


def _set_operation(gold: Query, prediction: Query) -> ComponentScore:
    totals = int(gold.operand is not None), int(prediction.operand is not None)
    if gold.operand is None or prediction.operand is None:
        return ComponentScore(gold.operand is prediction.operand, *totals)
    same = gold.set_operator == prediction.set_operator
    return ComponentScore(same and compare(gold.operand, prediction.operand).exact, *totals)


def _conditions(conditions: Conditions) -> tuple[Condition, ...]:
    return cast(tuple[Condition, ...], conditions[::2])


def _without_values(query: Query) -> Query:
    return replace(
        query,
        join_conditions=_conditions_without_values(query.join_conditions),
        where=_conditions_without_values(query.where),
        having=_conditions_without_values(query.having),
        operand=_without_values(query.operand) if query.operand is not None else None,
    )


def _conditions_without_values(conditions: Conditions) -> Conditions:
    def subquery(value: object) -> Query | None:
        return _without_values(value) if isinstance(value, Query) else None

    # Even places only: a condition where a connective belongs keeps its values, as in the script.
    return tuple(
        replace(entry, first=subquery(entry.first), second=subquery(entry.second))
        if place % 2 == 0 and isinstance(entry, Condition)
        else entry
        for place, entry in enumerate(conditions)
    )


def _without_choices(query: Query, columns: Mapping[Column, Column]) -> Query:
    """DISTINCT off and equivalent columns made one, in this query and in its set operations."""

    def unit(found: ColumnUnit) -> ColumnUnit:
        return ColumnUnit(found.aggregate, columns.get(found.column, found.column), distinct=False)

    def value(found: ValueUnit) -> ValueUnit:
        return ValueUnit(found.operator, unit(found.left), unit(found.right) if found.right else None)

    def conditions(found: Conditions) -> Conditions:
        return tuple(
            replace(entry, left=value(entry.left))
            if place % 2 == 0 and isinstance(entry, Condition)
            else entry
            for place, entry in enumerate(found)
        )

    order, operand = query.order, query.operand
    return replace(
        query,
        distinct=False,
        select=tuple(SelectItem(item.aggregate, value(item.value)) for item in query.select),
        join_conditions=conditions(query.join_conditions),
        where=conditions(query.where),
        group=tuple(unit(found) for found in query.group),
        having=conditions(query.having),
        order=replace(order, values=tuple(value(found) for found in order.values)) if order else None,
        operand=_without_choices(operand, columns) if operand is not None else None,
    )
