"""Queries in one canonical form: names, order and values that do not matter are the same in all of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from sqlglot import exp
from sqlglot.errors import ErrorLevel
from sqlglot.generator import Generator

from ._sqlglot import dialect_of, nodes, understood

_PLAIN_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")
_STRINGS = (exp.HexString, exp.BitString, exp.ByteString, exp.RawString, exp.UnicodeString, exp.National)
_OPERATORS = (exp.Binary, exp.Unary, exp.Predicate, exp.Bracket)
_SYMMETRIC = (exp.EQ, exp.NEQ)
# Where an equation is a comparison and no assignment.
_CONDITIONS = (exp.Condition, exp.Where, exp.Having, exp.Qualify, exp.Join, exp.Select, exp.Alias)
_MODIFIERS = ("order", "limit", "offset")
_AFTER_SELECTION = ("group", "having", "qualify", "windows", "order")


def canonical(query: str, dialect: str) -> str:
    """The template of a query after Finegan-Dollak et al. (1806.09029 and its text2sql-data).

    The same in all templates:

    - Case and blanks: names and keywords are upper-case; comments go; quotes go from names that need none.
    - Values: numbers (with their sign) are `:number`, strings of any kind `:string`, whole LIKE patterns
      too. `LIMIT 1` stays as it is, being part of what is asked ("the largest"); other limits are numbers.
      TRUE, FALSE, NULL, sizes of types, JSON paths and parameters stay.
    - Table aliases: every table of a FROM clause is `TABLE AS TABLEaliasN`, whether it had an alias or
      not; derived tables and WITH tables are `DERIVED_TABLEaliasN`. N counts from 0 through the template,
      an outer query before the queries in it. Columns are qualified by these names. An unqualified column
      belongs to the FROM clause's only table; beside several tables it stays unqualified (there is no
      schema here to ask).
    - Column aliases: those that are referred to are `DERIVED_FIELDaliasN`, the others go.
    - Order: operands of AND and OR, select lists, GROUP BY lists, IN lists and the tables of a FROM clause
      with commas only are sorted by their text; of `=` and `!=` a column stands left of a value or query,
      two columns are sorted.
    - Parentheses around what binds tightly enough without; the words AS, INNER, OUTER and ASC; spellings
      that sqlglot reads alike (`<>` and `!=`, `x NOT IN` and `NOT x IN`, a comma in FROM and CROSS JOIN in
      SQLite, `LIMIT 1, 2` and `LIMIT 2 OFFSET 1`).

    Not the same: joins in another order, ORDER BY lists in another order, swapped sides of `<`, `+` or set
    operations, `x IN (1, 2)` and `x = 1 OR x = 2`, and in general what means the same in other words.
    Select lists keep their order where it has a meaning: in set operations, INSERT, a WITH table with
    column names, a comparison of rows, and where ORDER BY or GROUP BY counts columns. Aliases in UPDATE
    and DELETE stay, and so do the column names of `WITH t(a, b)` and `AS t(a, b)`.

    Unlike text2sql-data, the values' variables have no numbers, conditions are sorted in HAVING and ON
    too, and where AND and OR are mixed. A template is its own template, unless the dialect has no form for
    what was read and sqlglot writes it in other words (in SQLite: QUALIFY, an operand of a set operation
    that is in parentheses or has its own ORDER BY or LIMIT).

    Raises UnreadSqlError as `_sqlglot.understood` does.
    """
    return understood(query, dialect, lambda tree: _written(tree, dialect))


def _written(tree: exp.Expr, dialect: str) -> str:
    # A node above the statement, so that each of its nodes has a parent to be replaced in.
    root = exp.Paren(this=tree)
    _spelling(root, _reserved(dialect))
    writer = dialect_of(dialect).generator(
        normalize_functions="upper", comments=False, unsupported_level=ErrorLevel.IGNORE
    )
    _Canonicaliser(writer).run(root)
    return writer.generate(root.this, copy=False)


@cache
def _reserved(dialect: str) -> frozenset[str]:
    """Names that are not read as names without quotes."""
    spoken = dialect_of(dialect)
    allowed = spoken.parser_class.ID_VAR_TOKENS
    return frozenset(word for word, kind in spoken.tokenizer_class.KEYWORDS.items() if kind not in allowed)


def _spelling(root: exp.Expr, reserved: frozenset[str]) -> None:
    """Case, quotes, parentheses, optional words and values: all that does not depend on other nodes."""
    for node in reversed(nodes(root)):
        kind = type(node)
        if kind is exp.Identifier:
            name = node.name.upper()
            node.args["this"] = name
            node.args["quoted"] = not _PLAIN_NAME.fullmatch(name) or name in reserved
        elif kind is exp.Literal:
            if not _is_structure(node):
                node.replace(exp.Placeholder(this="string" if node.args["is_string"] else "number"))
        elif isinstance(node, _STRINGS):
            node.replace(exp.Placeholder(this="string"))
        elif kind is exp.Neg:
            if isinstance(node.this, exp.Placeholder) and node.this.name == "number":
                node.replace(node.this)
        elif kind is exp.Not:
            if isinstance(node.this, (exp.Like, exp.ILike)) and not node.this.args.get("negate"):
                node.this.set("negate", True)
                node.replace(node.this)
        elif kind is exp.Paren:
            if node is not root and not _binds(node):
                node.replace(node.this)
        elif kind is exp.Join and node.text("kind").upper() in ("INNER", "OUTER"):
            node.set("kind", None)
        elif kind is exp.Ordered and node.args.get("desc") is False:
            node.set("desc", None)


def _is_structure(literal: exp.Expr) -> bool:
    parent = literal.parent
    if isinstance(parent, (exp.Limit, exp.Fetch)):
        return literal.name == "1" and not literal.args["is_string"]
    return isinstance(parent, exp.DataTypeParam) or _is_position(literal)


def _is_position(item: exp.Expr) -> bool:
    """Whether it is the number of a column, as in ORDER BY 1."""
    if not isinstance(item, exp.Literal) or item.args["is_string"]:
        return False
    if isinstance(item.parent, exp.Ordered):
        return isinstance(item.find_ancestor(exp.Query, exp.Func, exp.Window), exp.Query)
    return isinstance(item.parent, exp.Group)


def _binds(parentheses: exp.Expr) -> bool:
    inner, parent = parentheses.this, parentheses.parent
    if not isinstance(inner, (exp.Binary, exp.Not, exp.Neg, exp.Between, exp.In)):
        return False
    if isinstance(parent, exp.Or):
        return isinstance(inner, exp.Xor)
    if isinstance(parent, exp.And):
        return isinstance(inner, (exp.Or, exp.Xor))
    if isinstance(parent, exp.Not):
        return isinstance(inner, exp.Connector)
    return isinstance(parent, _OPERATORS) and not isinstance(parent, exp.Paren)


@dataclass(eq=False)
class _Named:
    """A table, a WITH table or an aliased column, and the identifiers that stand for it."""

    base: str
    names: list[exp.Expr] = field(default_factory=list)
    fields: Mapping[str, _Named] = field(default_factory=dict)

    def stand(self, name: exp.Expr) -> None:
        """Let `name` be one more identifier of this."""
        if self.names:
            name.args.update(self.names[0].args)
        self.names.append(name)

    def call(self, text: str) -> None:
        for name in self.names:
            name.args.update(this=text, quoted=not _PLAIN_NAME.fullmatch(self.base))


@dataclass(eq=False)
class _Scope:
    """What names mean in a SELECT: its own tables and column aliases, then those of the queries around it."""

    parent: _Scope | None
    common: Mapping[str, _Named]
    depth: int = 0
    sources: list[_Named] = field(default_factory=list)
    known: dict[str, _Named] = field(default_factory=dict)
    fields: dict[str, _Named] = field(default_factory=dict)

    def source(self, name: str) -> _Named | None:
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.known:
                return scope.known[name]
            scope = scope.parent
        return None

    def resolve(self, column: exp.Expr, after_selection: bool) -> None:
        """Rename the table of a column, and the column where it is an alias; `column.table` is added."""
        name, table = column.this, column.args.get("table")
        if column.args.get("db"):
            return
        if table is None:
            if after_selection and name.name in self.fields:
                self.fields[name.name].stand(name)
                return
            source = self._only_source(name.name)
            if source is None:
                return
            table = exp.Identifier(this="")
            column.set("table", table)
        else:
            source = self.source(table.name)
            if source is None:
                return
        source.stand(table)
        if isinstance(name, exp.Identifier) and name.name in source.fields:
            source.fields[name.name].stand(name)

    def _only_source(self, name: str) -> _Named | None:
        if len(self.sources) == 1:
            return self.sources[0]
        having = [source for source in self.sources if name in source.fields]
        return having[0] if len(having) == 1 else None


class _Canonicaliser:
    """Renames and sorts in place, inner queries before the lists of the outer one.

    Until the end, names are made of the depth of their query and their place in it (`TABLEalias1.0`), so
    that the texts that decide the order depend on nothing outside of a query; then they are counted anew.
    """

    def __init__(self, writer: Generator) -> None:
        self._writer = writer
        self._named: dict[int, list[_Named]] = {}

    def run(self, root: exp.Expr) -> None:
        statement = root.this
        if isinstance(statement, exp.Query):
            self._drop_unused(self._query(statement, _Scope(None, {}, depth=-1)))
        else:
            own, inner = _own_nodes(statement)
            for query in inner:
                self._drop_unused(self._query(query, _Scope(None, {}, depth=-1)))
            self._sort(own)
        self._count(root, Counter())

    def _query(self, query: exp.Expr, around: _Scope) -> Mapping[str, _Named]:
        """Canonicalise a query in place; gives the aliases of its columns."""
        around, common = self._with(query, around)
        if isinstance(query, exp.Select):
            fields = self._select(query, around)
        else:
            fields = {}
            if isinstance(query.this, exp.Query):
                fields = self._query(query.this, around)
            if isinstance(query, exp.SetOperation):
                self._drop_unused(self._query(query.expression, around))
            scope = _Scope(around, around.common, around.depth + 1, fields=dict(fields))
            own, inner = _own_nodes(query, _MODIFIERS)
            self._resolve(own, inner, scope, after_selection=True)
        for named in common:
            self._drop_unused(named.fields)
        return fields

    def _with(self, query: exp.Expr, around: _Scope) -> tuple[_Scope, list[_Named]]:
        clause = query.args.get("with_")
        if clause is None:
            return around, []
        scope = _Scope(around, around.common, around.depth)
        added = []
        for at, table in enumerate(clause.expressions):
            alias = table.args["alias"]
            named = _Named("DERIVED_TABLE")
            scope.common = {**scope.common, alias.this.name: named}
            named.stand(alias.this)
            named.call(f"DERIVED_TABLEwith{scope.depth}.{at}")
            fields = self._query(table.this, scope)
            if alias.args.get("columns"):
                self._drop_unused(fields)
            else:
                named.fields = fields
            added.append(named)
        self._named[id(clause)] = added
        return scope, added

    def _select(self, select: exp.Select, around: _Scope) -> Mapping[str, _Named]:
        scope = _Scope(around, around.common, around.depth + 1)
        done = {id(table) for table in self._sources(select, scope, around)}
        before = [name for name in select.args if name not in (*_AFTER_SELECTION, "with_")]
        own, inner = _own_nodes(select, before)
        self._resolve(own, [query for query in inner if id(query) not in done], scope)
        if _is_free(select):
            self._sort_list(select)
        for item in select.expressions:
            if isinstance(item, exp.Alias):
                named = _Named("DERIVED_FIELD")
                if scope.fields.setdefault(item.alias, named) is named:
                    named.stand(item.args["alias"])
                    named.call(f"DERIVED_FIELDalias{scope.depth}.{len(scope.fields)}")
        own, inner = _own_nodes(select, _AFTER_SELECTION)
        self._resolve(own, inner, scope, after_selection=True)
        if group := select.args.get("group"):
            self._sort_list(group)
        for source in scope.sources:
            self._drop_unused(source.fields)
        self._named[id(select)] = [*scope.sources, *scope.fields.values()]
        return scope.fields

    def _sources(self, select: exp.Select, scope: _Scope, around: _Scope) -> list[exp.Expr]:
        """Alias all tables of the FROM clause; canonicalise the queries among them."""
        _sort_commas(select)
        tables = list(_tables(select))
        counts: Counter[str] = Counter()
        for table in tables:
            alias = table.args.get("alias")
            common = scope.common.get(table.name) if not table.args.get("db") else None
            is_named = isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier)
            base = table.name if is_named and common is None else "DERIVED_TABLE"
            source = _Named(base)
            if common is not None and is_named:
                common.stand(table.this)
                source.fields = common.fields
            elif isinstance(table, exp.Subquery):
                source.fields = self._query(table, around)
            identifier = exp.Identifier(this="")
            source.stand(identifier)
            source.call(f"{base}alias{scope.depth}.{counts[base]}")
            counts[base] += 1
            scope.known.setdefault(alias.this.name if alias and alias.this else table.name, source)
            scope.sources.append(source)
            columns = alias.args.get("columns") if alias else None
            table.set("alias", exp.TableAlias(this=identifier, columns=columns))
        return tables

    def _resolve(
        self,
        own: list[exp.Expr],
        inner: list[exp.Expr],
        scope: _Scope,
        after_selection: bool = False,
    ) -> None:
        for node in own:
            if isinstance(node, exp.Column):
                scope.resolve(node, after_selection)
        for query in inner:
            self._drop_unused(self._query(query, scope))
        self._sort(own)

    def _sort(self, own: list[exp.Expr]) -> None:
        for node in reversed(own):
            if isinstance(node, (exp.And, exp.Or)) and type(node.parent) is not type(node):
                first, *others = sorted(_operands(node), key=self._text)
                for other in others:
                    first = type(node)(this=first, expression=other)
                node.replace(first)
            elif isinstance(node, _SYMMETRIC) and isinstance(node.parent, _CONDITIONS):
                left, right = node.this, node.expression
                if self._swapped(left, right):
                    node.set("this", right)
                    node.set("expression", left)
            elif isinstance(node, exp.In):
                self._sort_list(node)

    def _text(self, node: exp.Expr) -> str:
        return self._writer.generate(node, copy=False)

    def _sort_list(self, node: exp.Expr) -> None:
        if len(node.expressions) > 1:
            node.set("expressions", sorted(node.expressions, key=lambda item: self._text(_unaliased(item))))

    def _swapped(self, left: exp.Expr, right: exp.Expr) -> bool:
        ranks = _rank(left), _rank(right)
        if ranks[0] != ranks[1]:
            return ranks[0] > ranks[1]
        return self._text(left) > self._text(right)

    def _drop_unused(self, fields: Mapping[str, _Named]) -> None:
        for named in fields.values():
            alias = named.names[0].parent
            if len(named.names) == 1 and isinstance(alias, exp.Alias):
                alias.replace(alias.this)
                named.names.clear()

    def _count(self, node: exp.Expr, counts: Counter[str]) -> None:
        """Give the final names, an outer query's before those of the queries in it."""
        for holder in (node.args.get("with_"), node):
            for named in self._named.pop(id(holder), ()):
                if named.names:
                    named.call(f"{named.base}alias{counts[named.base]}")
                    counts[named.base] += 1
        # sqlglot sets the arguments of a query in the order in which it comes to read them.
        for child in _children(node, node.arg_types if isinstance(node, exp.Query) else node.args):
            self._count(child, counts)


def _rank(side: exp.Expr) -> int:
    if isinstance(side, exp.Column):
        return 0
    return 2 if isinstance(side, (exp.Placeholder, exp.Parameter, exp.Null, exp.Boolean, exp.Query)) else 1


def _unaliased(item: exp.Expr) -> exp.Expr:
    return item.this if isinstance(item, exp.Alias) else item


def _children(node: exp.Expr, arguments: Iterable[str]) -> Iterator[exp.Expr]:
    for name in arguments:
        value = node.args.get(name)
        if isinstance(value, exp.Expr):
            yield value
        elif isinstance(value, list):
            yield from (item for item in value if isinstance(item, exp.Expr))


def _own_nodes(
    node: exp.Expr, arguments: Iterable[str] | None = None
) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """The nodes below `node` outside of queries, each before its children, and the outermost queries."""
    own: list[exp.Expr] = []
    inner: list[exp.Expr] = []
    stack = list(_children(node, node.args if arguments is None else arguments))
    while stack:
        child = stack.pop()
        if isinstance(child, exp.Query) and not isinstance(child.this, exp.Table):
            inner.append(child)
            continue
        own.append(child)
        for value in child.args.values():
            if isinstance(value, exp.Expr):
                stack.append(value)
            elif isinstance(value, list):
                stack.extend(item for item in value if isinstance(item, exp.Expr))
    return own, inner


def _tables(node: exp.Expr) -> Iterator[exp.Expr]:
    """The tables of a SELECT's FROM clause, or of joined tables in parentheses."""
    source = node.args.get("from_")
    for item in [source, *(node.args.get("joins") or [])]:
        if item is None:
            continue
        table = item.this
        if isinstance(table, exp.Subquery) and isinstance(table.this, exp.Table):
            yield table.this
            yield from _tables(table.this)
        else:
            if isinstance(table, (exp.Table, exp.Subquery)):
                yield table
            yield from _tables(table)


def _sort_commas(select: exp.Select) -> None:
    joins = select.args.get("joins")
    if joins and all(_is_comma(join) for join in joins):
        items = [select.args["from_"], *joins]
        tables = sorted((item.this for item in items), key=lambda table: table.name or "DERIVED_TABLE")
        for item, table in zip(items, tables, strict=True):
            item.set("this", table)


def _is_comma(join: exp.Expr) -> bool:
    if join.text("kind").upper() not in ("", "CROSS"):
        return False
    return not any(value for name, value in join.args.items() if name not in ("this", "kind"))


def _operands(node: exp.Expr) -> list[exp.Expr]:
    """Of a chain of one connective, without its own parentheses."""
    operands, stack = [], [node]
    while stack:
        operand = stack.pop()
        if type(operand) is type(node):
            stack += [operand.expression, operand.this]
        else:
            operands.append(operand)
    return operands


def _is_free(select: exp.Select) -> bool:
    """Whether the order of the selected columns means nothing to anything in the query."""
    clauses = [select.args[name] for name in ("group", "order") if select.args.get(name)]
    items = (item for clause in clauses for item in clause.expressions)
    if any(_is_position(item.this if isinstance(item, exp.Ordered) else item) for item in items):
        return False
    inner: exp.Expr = select
    while isinstance(inner.parent, (exp.Subquery, exp.Paren)):
        inner = inner.parent
        alias = inner.args.get("alias")
        if alias and alias.args.get("columns"):
            return False
    outer = inner.parent
    if isinstance(outer, exp.CTE):
        return not outer.args["alias"].args.get("columns")
    if isinstance(outer, exp.Predicate):
        return not any(isinstance(side, exp.Tuple) for side in _children(outer, outer.args))
    return not isinstance(outer, (exp.SetOperation, exp.DML, exp.DDL))
