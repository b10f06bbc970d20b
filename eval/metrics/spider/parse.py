"""The parser of Spider's evaluation: a fixed shape of query, read the way that published numbers rely on.

It accepts and reads what `process_sql.py` of taoyds/spider does at b7b5b8c. That is no general SQL parser:
what is refused, and how the rest is read, is part of the definition of hardness and of exact set match, so
its habits are kept and named where they show.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ....errors import show
from ....text import word_tokenize
from .schema import STAR, Column, Schema

SET_OPERATORS = ("intersect", "union", "except")
CLAUSES = frozenset(("select", "from", "where", "group", "order", "limit", *SET_OPERATORS))
JOIN_WORDS = frozenset(("join", "on", "as"))
COMPARISONS = frozenset(
    ("not", "between", "=", ">", "<", ">=", "<=", "!=", "in", "like", "is", "exists"),
)
ARITHMETIC = frozenset(("none", "-", "+", "*", "/"))
NO_AGGREGATE = "none"
AGGREGATES = frozenset((NO_AGGREGATE, "max", "min", "count", "sum", "avg"))
CONNECTIVES = frozenset(("and", "or"))
MAX_DEPTH = 50
"""Queries nested more deeply are not read; those of Spider go to 3."""

_QUOTED = re.compile('"[^"]*"')
_PLACEHOLDER = "__span_{}__"
_ENDS_CLAUSE = CLAUSES | {")", ";"}
_ENDS_CONDITIONS = _ENDS_CLAUSE | JOIN_WORDS
_ENDS_VALUE = CLAUSES | JOIN_WORDS | {",", ")", "and"}


class UnparsedQueryError(ValueError):
    """A query that Spider's parser does not read; the message says why."""


@dataclass(frozen=True, slots=True)
class ColumnUnit:
    """A column, perhaps under an aggregate (`none` if not)."""

    aggregate: str
    column: Column
    distinct: bool


@dataclass(frozen=True, slots=True)
class ValueUnit:
    """A column unit, or two of them joined by an arithmetic operator (`none` if it is one)."""

    operator: str
    left: ColumnUnit
    right: ColumnUnit | None = None


@dataclass(frozen=True, slots=True)
class SelectItem:
    """One item of a SELECT list with the aggregate around it."""

    aggregate: str
    value: ValueUnit


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison. `second` is the upper bound of BETWEEN."""

    negated: bool
    operator: str
    left: ValueUnit
    first: Value
    second: Value = None


@dataclass(frozen=True, slots=True)
class Order:
    """ORDER BY: one direction for the whole list, the last one written."""

    direction: str
    values: tuple[ValueUnit, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. Condition lists alternate between conditions (even places) and `and`/`or` (odd ones).

    `tables` are table names or subqueries in the order of FROM; `operand` is the right side of
    `set_operator`, which holds everything to its right.
    """

    select: tuple[SelectItem, ...] = ()
    distinct: bool = False
    tables: tuple[str | Query, ...] = ()
    join_conditions: Conditions = ()
    where: Conditions = ()
    group: tuple[ColumnUnit, ...] = ()
    having: Conditions = ()
    order: Order | None = None
    limit: bool = False
    set_operator: str | None = None
    operand: Query | None = None


Value = str | float | ColumnUnit | Query | None
Conditions = tuple[Condition | str, ...]

EMPTY = Query()
"""What a prediction that cannot be read is scored as."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A query, and the tokens after its end, which Spider's evaluation ignores."""

    query: Query
    rest: tuple[str, ...]


def tokens_of(query: str) -> list[str]:
    """Tokens of a query, lower-cased but for quoted spans, each of which is one token.

    Single quotes are double quotes. Raises UnparsedQueryError for an odd number of quotes.

    >>> tokens_of("SELECT name FROM cow WHERE Colour ! = 'Red brown'")
    ['select', 'name', 'from', 'cow', 'where', 'colour', '!=', '"Red brown"']
    """
    text = query.replace("'", '"')
    if text.count('"') % 2:
        raise UnparsedQueryError("an odd number of quotation marks")
    spans: dict[str, str] = {}

    def hide(span: re.Match[str]) -> str:
        key = _PLACEHOLDER.format(len(spans))
        spans[key] = span[0]
        return key

    hidden = _QUOTED.sub(hide, text)
    tokens: list[str] = []
    for word in word_tokenize(hidden):
        token = word.lower()
        if token == "=" and tokens and tokens[-1] in ("!", ">", "<"):
            tokens[-1] += "="
        else:
            tokens.append(spans.get(token, token))
    return tokens


def parse(query: str, schema: Schema) -> Parsed:
    """Read a query against a schema. Raises UnparsedQueryError with the reason if it cannot be read.

    >>> schema = Schema(("cow",), ((-1, "*"), (0, "name"), (0, "age")))
    >>> parsed = parse("SELECT name FROM cow WHERE age > 3 ORDER BY age LIMIT 1", schema).query
    >>> parsed.tables, parsed.where[0].operator, parsed.order.direction, parsed.limit
    (('cow',), '>', 'asc', True)
    """
    tokens = tokens_of(query)
    parser = _Parser(tokens, _names(tokens, schema), schema)
    parsed = parser.query()
    return Parsed(parsed, tuple(tokens[parser.at :]))


def _names(tokens: list[str], schema: Schema) -> dict[str, str]:
    """Tables by name and by alias. Every `X as Y` of the whole query counts, wherever it stands."""
    names: dict[str, str] = {}
    for place, token in enumerate(tokens):
        if token == "as":
            if not 0 < place < len(tokens) - 1:
                raise UnparsedQueryError("AS without a name")
            names[tokens[place + 1]] = tokens[place - 1]
    for table in schema.tables:
        if table in names:
            raise UnparsedQueryError(f"alias {table!r} is the name of a table")
        names[table] = table
    return names


class _Parser:
    """Recursive descent over tokens; `at` is the place of the next one."""

    def __init__(self, tokens: list[str], names: Mapping[str, str], schema: Schema, at: int = 0) -> None:
        self.tokens, self.names, self.schema = tokens, names, schema
        self.at = at
        self.depth = 0

    def query(self) -> Query:
        if self.depth >= MAX_DEPTH:
            raise UnparsedQueryError(f"nested more than {MAX_DEPTH} deep")
        self.depth += 1
        block = self._skip("(")
        start = self.at
        if "from" not in self.tokens[start:]:
            raise UnparsedQueryError("no FROM")
        # FROM first: its tables are where unqualified columns are looked up.
        self.at = self.tokens.index("from", start) + 1
        tables, join_conditions, known = self._from()
        end, self.at = self.at, start
        distinct, select = self._select(known)
        self.at = end
        where = self._conditions(known) if self._skip("where") else ()
        group = self._group(known)
        having = self._conditions(known) if self._skip("having") else ()
        order = self._order(known)
        limit = self._limit()
        self._skip_semicolons()
        if block:
            self._expect(")")
        self._skip_semicolons()
        operator, operand = None, None
        if self._peek() in SET_OPERATORS:
            operator = self._take()
            operand = self.query()
        self.depth -= 1
        return Query(
            select,
            distinct,
            tables,
            join_conditions,
            where,
            group,
            having,
            order,
            limit,
            operator,
            operand,
        )

    def _from(self) -> tuple[tuple[str | Query, ...], Conditions, list[str]]:
        """FROM up to the next clause: its tables, join conditions, and the names of its tables."""
        tables: list[str | Query] = []
        conditions: list[Condition | str] = []
        known: list[str] = []
        while self._more():
            block = self._skip("(")
            if self._peek() == "select":
                tables.append(self.query())
            else:
                self._skip("join")
                table = self._table()
                tables.append(table)
                known.append(table)
            if self._skip("on"):
                found = self._conditions(known)
                conditions += ["and", *found] if conditions else found
            if block:
                self._expect(")")
            if self._peek() in _ENDS_CLAUSE:
                break
        return tuple(tables), _alternating(conditions), known

    def _table(self) -> str:
        table = self.names.get(self._peek(), "")
        if table not in self.schema.tables:
            raise UnparsedQueryError(f"no table {self._shown()}")
        self.at += 1
        if self._skip("as"):
            self.at += 1
        return table

    def _select(self, known: list[str]) -> tuple[bool, tuple[SelectItem, ...]]:
        self._expect("select")
        distinct = self._skip("distinct")
        items = []
        while self._more() and self._peek() not in CLAUSES:
            aggregate = self._take() if self._peek() in AGGREGATES else NO_AGGREGATE
            items.append(SelectItem(aggregate, self._value_unit(known)))
            self._skip(",")
        return distinct, tuple(items)

    def _conditions(self, known: list[str]) -> Conditions:
        conditions: list[Condition | str] = []
        while self._more():
            left = self._value_unit(known)
            negated = self._skip("not")
            operator = self._peek()
            if operator not in COMPARISONS:
                raise UnparsedQueryError(f"a comparison expected, found {self._shown()}")
            self.at += 1
            first, second = self._value(known), None
            if operator == "between":
                self._expect("and")
                second = self._value(known)
            conditions.append(Condition(negated, operator, left, first, second))
            if self._peek() in _ENDS_CONDITIONS:
                break
            if self._peek() in CONNECTIVES:
                conditions.append(self._take())
        return _alternating(conditions)

    def _value(self, known: list[str]) -> Value:
        """The right side of a comparison; what is no subquery, text or number is a column.

        Of a column, only the first unit counts: everything up to the end of the value is skipped.
        """
        start = self.at
        block = self._skip("(")
        token = self._peek()
        value: Value
        if token == "select":
            value = self.query()
        elif '"' in token:
            value = self._take()
        elif (number := _number(token)) is not None:
            value = number
            self.at += 1
        else:
            while self._more() and self._peek() not in _ENDS_VALUE:
                self.at += 1
            inner = _Parser(self.tokens[start : self.at], self.names, self.schema)
            value = inner._column_unit(known)
        if block:
            self._expect(")")
        return value

    def _group(self, known: list[str]) -> tuple[ColumnUnit, ...]:
        if not self._skip("group"):
            return ()
        self._expect("by")
        units = []
        while self._more() and self._peek() not in _ENDS_CLAUSE:
            units.append(self._column_unit(known))
            if not self._skip(","):
                break
        return tuple(units)

    def _order(self, known: list[str]) -> Order | None:
        if not self._skip("order"):
            return None
        self._expect("by")
        direction = "asc"
        values = []
        while self._more() and self._peek() not in _ENDS_CLAUSE:
            values.append(self._value_unit(known))
            if self._peek() in ("asc", "desc"):
                direction = self._take()
            if not self._skip(","):
                break
        return Order(direction, tuple(values))

    def _limit(self) -> bool:
        if not self._skip("limit"):
            return False
        if not self._more():
            raise UnparsedQueryError("LIMIT without a number")
        self.at += 1
        return True

    def _value_unit(self, known: list[str]) -> ValueUnit:
        block = self._skip("(")
        operator, left, right = NO_AGGREGATE, self._column_unit(known), None
        if self._peek() in ARITHMETIC:
            operator = self._take()
            right = self._column_unit(known)
        if block:
            self._expect(")")
        return ValueUnit(operator, left, right)

    def _column_unit(self, known: list[str]) -> ColumnUnit:
        block = self._skip("(")
        if self._peek() in AGGREGATES:
            aggregate = self._take()
            self._expect("(")
            unit = ColumnUnit(aggregate, distinct=self._skip("distinct"), column=self._column(known))
            self._expect(")")
            # The bracket before an aggregate stays open here: the caller's bracket closes it.
            return unit
        unit = ColumnUnit(NO_AGGREGATE, distinct=self._skip("distinct"), column=self._column(known))
        if block:
            self._expect(")")
        return unit

    def _column(self, known: list[str]) -> Column:
        token = self._peek()
        column = self._find_column(token, known)
        if column is None:
            raise UnparsedQueryError(f"no column {self._shown()}")
        self.at += 1
        return column

    def _find_column(self, token: str, known: list[str]) -> Column | None:
        if token == "*":
            return STAR
        if "." in token:
            owner, _, name = token.partition(".")
            table = self.names.get(owner, "")
            known_name = "." not in name and name in self.schema.tables.get(table, ())
            return Column(table, name) if known_name else None
        return next((Column(table, token) for table in known if token in self.schema.tables[table]), None)

    def _more(self) -> bool:
        return self.at < len(self.tokens)

    def _peek(self) -> str:
        """The next token; empty at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def _skip(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self.at += 1
        return True

    def _skip_semicolons(self) -> None:
        while self._skip(";"):
            pass

    def _expect(self, token: str) -> None:
        if not self._skip(token):
            raise UnparsedQueryError(f"{token!r} expected, found {self._shown()}")

    def _shown(self) -> str:
        return show(self._peek()) if self._more() else "the end of the query"


def _alternating(conditions: list[Condition | str]) -> Conditions:
    """Refuse a connective where a condition belongs: Spider's evaluation stops with an error there."""
    if any(isinstance(condition, str) for condition in conditions[::2]):
        raise UnparsedQueryError("two conditions without AND or OR")
    return tuple(conditions)


def _number(token: str) -> float | None:
    try:
        return float(token)
    except ValueError:
        return None
