"""Carrying a query over to another database: its tables and columns replaced by those that fit best.

Lexical schema linking without anything learned: names are compared with the words of the question and with
the names that they replace. The form of the query, its aliases and its values stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import permutations

import pyarrow as pa

from .base import Rows

DATABASE = "db_id"
"""The input column that names the database of a row."""

WEIGHTS = {"question": 2.0, "name": 1.0, "type": 0.5, "key": 0.5, "joined": 4.0}
"""What makes a name fit: words of it in the question, words shared with the name that it replaces, equal
column types, equal parts in keys, and tables that a foreign key joins where the query joins them."""

_CANDIDATES = 6
"""Tables considered for every table of a query; the best ones by their own score."""

# A character of a script without spaces is a word.
_SPACELESS = r"\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_SPACELESS}]|[^\W\d_{_SPACELESS}]+|\d+")
_WORD_OR_VALUE = re.compile(rf"\"[^\"]*\"|'[^' ][^']*'|[{_SPACELESS}]|[^\W{_SPACELESS}]+")
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TOKEN = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`|[A-Za-z_]\w*|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")
_NO_NAME = re.compile(
    "select|from|where|group|by|order|having|limit|intersect|union|except|join|inner|left|outer|on|as|not|between|"
    "in|like|is|exists|null|none|max|min|count|sum|avg|and|or|desc|asc|distinct|all|case|when|then|else|end|cast"
)
_FUNCTION_WORD = re.compile("of|the|in|and|to|a|is|by|for|on|at|or|with|from|that|has|have|be|not|all|each")
_NEW_SELECT = frozenset(("intersect", "union", "except"))


def stem(word: str) -> str:
    """A word in lower case without its plural ending.

    >>> [stem(word) for word in ("Cities", "boxes", "names", "class")]
    ['city', 'box', 'name', 'class']
    """
    word = word.lower()
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


@lru_cache(maxsize=65_536)
def words(text: str) -> tuple[str, ...]:
    """The stems of a text or a name, parts of `snake_case` and `camelCase` names apart.

    >>> words("homeTown_ID")
    ('home', 'town', 'id')
    """
    return tuple(stem(word) for word in _WORD.findall(_CAMEL_CASE.sub(" ", text)))


@dataclass(frozen=True)
class Column:
    """A column of a table (number in the schema), with its type and whether keys contain it."""

    table: int
    name: str
    type: str
    primary: bool
    foreign: bool


@dataclass(frozen=True)
class DatabaseNames:
    """Names of a database as its queries use them; `joins` are pairs of column numbers (foreign keys)."""

    tables: tuple[str, ...]
    columns: tuple[Column, ...]
    joins: tuple[tuple[int, int], ...]

    @cached_property
    def table_numbers(self) -> Mapping[str, int]:
        return {name.lower(): number for number, name in enumerate(self.tables)}

    @cached_property
    def column_numbers(self) -> Mapping[tuple[int, str], int]:
        return {(column.table, column.name.lower()): number for number, column in enumerate(self.columns)}

    @cached_property
    def columns_of(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of the columns of every table."""
        return tuple(
            tuple(number for number, column in enumerate(self.columns) if column.table == table)
            for table in range(len(self.tables))
        )

    @cached_property
    def table_words(self) -> frozenset[str]:
        return frozenset(word for name in self.tables for word in words(name))

    @cached_property
    def column_words(self) -> frozenset[str]:
        return frozenset(word for column in self.columns for word in words(column.name))

    @cached_property
    def serialised(self) -> str:
        """What follows a question in a parser's input: ` | table : column , column | ...`, in lower case."""
        return "".join(
            f" | {name} : " + " , ".join(self.columns[number].name for number in self.columns_of[table])
            for table, name in enumerate(self.tables)
        ).lower()

    @cached_property
    def joined(self) -> Mapping[tuple[int, int], tuple[int, int]]:
        """Pairs of tables -> the columns of the first foreign key between them, either way round."""
        found: dict[tuple[int, int], tuple[int, int]] = {}
        for first, second in self.joins:
            tables = self.columns[first].table, self.columns[second].table
            found.setdefault(tables, (first, second))
            found.setdefault(tables[::-1], (second, first))
        return found


def questions(rows: Rows) -> list[str]:
    """The text of every row: all inputs but the name of its database."""
    columns = [values for name, values in rows.inputs.items() if name != DATABASE]
    return [" ".join(texts) for texts in zip(*columns, strict=True)]


def database_names(schemas: pa.Table) -> dict[str, DatabaseNames]:
    """db_id -> names, from the rows of a release's config `schemas`; types and keys where it has them."""
    databases: dict[str, DatabaseNames] = {}
    for row in schemas.to_pylist():
        types = row.get("column_types") or [""] * len(row["column_names"])
        primary = frozenset(row.get("primary_keys") or ())
        joins = tuple(
            (key["column_id"], key["referenced_column_id"]) for key in row.get("foreign_keys") or ()
        )
        foreign = frozenset(number for pair in joins for number in pair)
        columns = tuple(
            Column(column["table_id"], column["name"], kind, number in primary, number in foreign)
            for number, (column, kind) in enumerate(zip(row["column_names"], types, strict=True))
        )
        databases[row["db_id"]] = DatabaseNames(tuple(row["table_names"]), columns, joins)
    return databases


def masked(question: str, names: DatabaseNames) -> str:
    """A question with marks for names of its database, numbers and quoted or capitalised values.

    What is left is what a question shares with questions about other databases.
    """
    marks: list[str] = []
    for place, token in enumerate(_WORD_OR_VALUE.findall(question)):
        mark = stem(token)
        if token[0] in "\"'":
            mark = "_value_"
        elif token.isdigit():
            mark = "_number_"
        elif _FUNCTION_WORD.fullmatch(mark):
            mark = token.lower()
        elif mark in names.table_words:
            mark = "_table_"
        elif mark in names.column_words:
            mark = "_column_"
        elif place and token[0].isupper():
            mark = "_value_"
        if not (marks and marks[-1] == mark and mark.startswith("_")):
            marks.append(mark)
    return " ".join(marks)


def carry_over(query: str, source: DatabaseNames, target: DatabaseNames, question: str) -> str:
    """`query` with the names of `source` replaced by those of `target` that fit `question` best.

    Every column stays in the table that replaces its own; columns of a join are those of the foreign key
    between the two tables. Words that name nothing in `source` stay as they are. The choice depends on the
    arguments alone; ties go to what stands first in `target`.
    """
    if not target.tables:
        return query
    parsed = _Names(query, source)
    fit = _Fit(source, target, frozenset(words(question)))
    tables = fit.tables(parsed)
    columns = fit.columns(parsed, tables)
    joins = _join_columns(parsed, target, tables)
    tokens = list(parsed.tokens)
    for place, table in parsed.table_places.items():
        tokens[place] = target.tables[tables[table]]
    for place, column in parsed.column_places.items():
        chosen = joins.get(place, columns.get(column))
        if chosen is not None:
            tokens[place] = target.columns[chosen].name
    return "".join(tokens)


class _Names:
    """Where the names of a database stand in a query: token -> number of the table or column."""

    def __init__(self, query: str, names: DatabaseNames) -> None:
        self.tokens: list[str] = _TOKEN.findall(query)
        self._names = names
        self._solid = [place for place, token in enumerate(self.tokens) if not token.isspace()]
        self._lower = [self.tokens[place].lower() for place in self._solid]
        self.table_places: dict[int, int] = {}
        self.column_places: dict[int, int] = {}
        self.joins: list[tuple[int, int]] = []
        """Pairs of places of columns that a join equates."""
        aliases, scopes, tables_of = self._read_tables()
        self._read_columns(aliases, scopes, tables_of)
        self.tables = tuple(dict.fromkeys(self.table_places.values()))
        self.columns = tuple(dict.fromkeys(self.column_places.values()))

    def _read_tables(self) -> tuple[dict[str, int], list[int], dict[int, list[int]]]:
        """Tables by alias (of the whole query, as in Spider), the SELECT of each token, and its tables."""
        aliases: dict[str, int] = {}
        scopes: list[int] = []
        tables_of: dict[int, list[int]] = {}
        open_scopes, number = [0], 0
        for index, token in enumerate(self._lower):
            if token == "(":
                number += 1
                open_scopes.append(number if self._at(index + 1) == "select" else open_scopes[-1])
            elif token == ")" and len(open_scopes) > 1:
                open_scopes.pop()
            elif token in _NEW_SELECT:
                number += 1
                open_scopes[-1] = number
            scopes.append(open_scopes[-1])
            table = self._names.table_numbers.get(token)
            if table is None or self._at(index - 1) not in ("from", "join", ","):
                continue
            if self._at(index - 1) == "," and "from" not in self._clause(index):
                continue
            self.table_places[self._solid[index]] = table
            tables_of.setdefault(open_scopes[-1], []).append(table)
            if self._at(index + 1) == "as":
                aliases[self._at(index + 2)] = table
        return aliases, scopes, tables_of

    def _read_columns(
        self, aliases: Mapping[str, int], scopes: Sequence[int], tables_of: Mapping[int, list[int]]
    ) -> None:
        everywhere = list(dict.fromkeys(self.table_places.values()))
        for index, token in enumerate(self._lower):
            place = self._solid[index]
            if place in self.table_places or not _NAME.fullmatch(token) or _NO_NAME.fullmatch(token):
                continue
            if self._at(index + 1) in (".", "(") or self._at(index - 1) == "as":
                if self._at(index + 1) == "." and token in self._names.table_numbers and token not in aliases:
                    self.table_places[place] = self._names.table_numbers[token]
                continue
            if self._at(index - 1) == ".":
                owner = self._at(index - 2)
                found = aliases.get(owner, self._names.table_numbers.get(owner))
                candidates = [found] if found is not None else []
            else:
                candidates = [*tables_of.get(scopes[index], ()), *everywhere]
            numbers = (self._names.column_numbers.get((table, token)) for table in candidates)
            column = next((number for number in numbers if number is not None), None)
            if column is not None:
                self.column_places[place] = column
                self._note_join(index)

    def _note_join(self, index: int) -> None:
        """Columns `a.x = b.y` behind ON: the second of them has just been read."""
        if self._at(index - 3) == "=" and self._at(index - 5) == "." and self._at(index - 1) == ".":
            first = self._solid[index - 4]
            if self._at(index - 7) in ("on", "and") and first in self.column_places:
                self.joins.append((first, self._solid[index]))

    def owner(self, place: int) -> int:
        """The table of the column at `place`."""
        return self._names.columns[self.column_places[place]].table

    def _at(self, index: int) -> str:
        return self._lower[index] if 0 <= index < len(self._lower) else ""

    def _clause(self, index: int) -> Iterator[str]:
        """Tokens before `index`, back to the word that began its clause."""
        for token in reversed(self._lower[:index]):
            yield token
            if token in ("select", "from", "where", "group", "order", "having"):
                return


class _Fit:
    """How well names of one database stand for those of another, given a question."""

    def __init__(self, source: DatabaseNames, target: DatabaseNames, asked: frozenset[str]) -> None:
        self._source, self._target, self._asked = source, target, asked
        self._column_scores: dict[tuple[int, int], float] = {}

    def tables(self, parsed: _Names) -> dict[int, int]:
        """The replacement of every table of a query, each another one where there are enough."""
        wanted = parsed.tables
        if not wanted:
            return {}
        scores = {
            (old, new): self._table(parsed, old, new)
            for old in wanted
            for new in range(len(self._target.tables))
        }
        best = {new: max(scores[old, new] for old in wanted) for new in range(len(self._target.tables))}
        candidates = sorted(best, key=lambda new: (-best[new], new))[: max(_CANDIDATES, len(wanted))]
        if len(candidates) < len(wanted) or len(wanted) > _CANDIDATES:
            return {old: max(candidates, key=lambda new: (scores[old, new], -new)) for old in wanted}
        pairs = [(parsed.owner(a), parsed.owner(b)) for a, b in parsed.joins]

        def total(chosen: Iterable[int]) -> float:
            replaced = dict(zip(wanted, chosen, strict=True))
            joined = sum((replaced[a], replaced[b]) in self._target.joined for a, b in pairs)
            return sum(scores[pair] for pair in replaced.items()) + WEIGHTS["joined"] * joined

        return dict(zip(wanted, max(permutations(candidates, len(wanted)), key=total), strict=True))

    def columns(self, parsed: _Names, tables: Mapping[int, int]) -> dict[int, int]:
        """The replacement of every column of a query, each another one where its table has enough."""
        replaced: dict[int, int] = {}
        pairs = [
            (-self._column(old, new), order, new, old)
            for order, old in enumerate(parsed.columns)
            for new in self._target.columns_of[tables[self._source.columns[old].table]]
        ]
        taken: set[tuple[int, int]] = set()
        for _, _, new, old in sorted(pairs):
            table = self._source.columns[old].table
            if old not in replaced and (table, new) not in taken:
                replaced[old] = new
                taken.add((table, new))
        for _, _, new, old in sorted(pairs):
            replaced.setdefault(old, new)
        return replaced

    def _table(self, parsed: _Names, old: int, new: int) -> float:
        score = WEIGHTS["question"] * _share(words(self._target.tables[new]), self._asked)
        score += WEIGHTS["name"] * _similarity(self._source.tables[old], self._target.tables[new])
        in_joins = {parsed.column_places[place] for pair in parsed.joins for place in pair}
        for column in parsed.columns:
            if self._source.columns[column].table == old and column not in in_joins:
                score += max(
                    (self._column(column, other) for other in self._target.columns_of[new]), default=0.0
                )
        return score

    def _column(self, old: int, new: int) -> float:
        if (old, new) not in self._column_scores:
            source, target = self._source.columns[old], self._target.columns[new]
            name = words(target.name)
            # singer_name of the table singer is asked for as "name"
            own = tuple(w for w in name if w not in words(self._target.tables[target.table])) or name
            self._column_scores[old, new] = (
                WEIGHTS["question"] * _share(own, self._asked)
                + WEIGHTS["name"] * _similarity(source.name, target.name)
                + WEIGHTS["type"] * (source.type == target.type)
                + WEIGHTS["key"] * ((source.primary, source.foreign) == (target.primary, target.foreign))
            )
        return self._column_scores[old, new]


def _join_columns(parsed: _Names, target: DatabaseNames, tables: Mapping[int, int]) -> dict[int, int]:
    """Columns of the foreign keys between the chosen tables, by the places of the join's columns."""
    replaced: dict[int, int] = {}
    owners = {place: parsed.owner(place) for pair in parsed.joins for place in pair}
    for first, second in parsed.joins:
        key = target.joined.get((tables[owners[first]], tables[owners[second]]))
        if key is not None:
            replaced[first], replaced[second] = key
    return replaced


def _share(name: Sequence[str], asked: frozenset[str]) -> float:
    return sum(word in asked for word in name) / max(1, len(name))


@lru_cache(maxsize=65_536)
def _similarity(first: str, second: str) -> float:
    """Words that two names share, as a fraction of the words of both (Jaccard)."""
    a, b = set(words(first)), set(words(second))
    return len(a & b) / max(1, len(a | b))
