"""Atoms and compounds of any SQL that sqlglot reads, by its syntax trees.

The second definition beside the paper's own grammar (`sql_grammar`), which covers the queries of Spider and
little more. Both count the same kind of thing: a query is derived by productions that have terminal symbols
and places for their children, and a compound is two or three productions one inside the other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlglot import exp

from ._sqlglot import DEFAULT_DIALECT, UnreadSqlError, dialect_of, understood
from .programs import Program, Structure

Pieces = tuple[str | None, ...]

_BLANKS = re.compile(r"\s+")


@dataclass(slots=True)
class Production:
    """One node of a derivation: terminal symbols, and None where the next child stands.

    `symbol`: its only piece is an identifier, a literal or a parameter, no keyword and no punctuation.
    """

    pieces: Pieces
    children: tuple[Production, ...] = ()
    symbol: bool = False


def sqlglot_structure(dialect: str) -> Structure:
    """The structure of a dialect of sqlglot. Raises ValueError for an unknown dialect.

    Its name is `sqlglot` for SQLite, the default, and `sqlglot-<dialect>` for others. A package or script
    makes another dialect known by `structures.register("sqlglot-duckdb")(sqlglot_structure("duckdb"))`.

    Tokens are the terminal symbols of the derivation, lower-cased: keywords, operators, punctuation, names
    of functions as sqlglot knows them (so one spelling for all dialects), identifiers without quotes,
    numbers, and strings in single quotes. Values are not masked, because the paper's are not: a value is
    as much part of a query as a name. Atoms are the distinct tokens, symbols the identifiers, literals and
    parameters.

    Productions are those of the paper's grammar (`sql_grammar`) where it has any: the clauses of a SELECT
    follow one another (`___ where ___`), lists are pairs (`___ , ___`), `a.b` is `___ . ___`, an aliased
    table `___ as ___`; a negated IN, LIKE or IS is one production. What has no form of its own is written
    as the name of its node with the names of its arguments. For every node, "its parent with the node in
    its place" and "its grandparent with that in the parent's place" are one compound each, all other places
    `___`. So all counts of a Spider query are the paper's, but for the quotation marks of strings and for
    ORDER BY or LIMIT at the end of a set operation, which belong to the whole here, not to the last SELECT.

    What sqlglot reads alike is counted alike: `x NOT NULL` and `x IS NOT NULL`, `!=` and `<>`, a comma in
    FROM and CROSS JOIN (SQLite), `LIMIT 1, 2` and `LIMIT 2 OFFSET 1`, a type and its synonyms.

    A program is unread (no atoms, no compounds, `problem` says why) where `_sqlglot.read` raises.
    """
    dialect_of(dialect)
    summary = (
        "Atoms are the distinct keywords, operators, names and values of a query as sqlglot's "
        f"{dialect} dialect reads it; compounds are two or three nested nodes of its syntax tree."
    )
    name = "sqlglot" if dialect == DEFAULT_DIALECT else f"sqlglot-{dialect}"

    @lru_cache(maxsize=65_536)
    def analyse(query: str) -> Program:
        try:
            return understood(query, dialect, lambda tree: _program(derive(tree)))
        except UnreadSqlError as problem:
            return Program(None, Counter(), Counter(), None, str(problem))

    return Structure(name, "sql", 1, summary, analyse)


def _program(root: Production) -> Program:
    tokens: list[str] = []
    symbols: list[str] = []
    compounds: list[str] = []
    stack: list[tuple[Production, tuple[str, str] | None, tuple[str, str] | None]] = [(root, None, None)]
    while stack:
        node, place, outer = stack.pop()
        text, places, terminals = _form(node.pieces)
        tokens += terminals
        if node.symbol:
            symbols += terminals
        if place is not None:
            pair = f"{place[0]}{text}{place[1]}"
            compounds.append(pair)
            if outer is not None:
                compounds.append(f"{outer[0]}{pair}{outer[1]}")
        stack.extend((child, where, place) for child, where in zip(node.children, places, strict=True))
    return Program(frozenset(tokens), Counter(tokens), Counter(symbols), Counter(compounds))


@lru_cache(maxsize=65_536)
def _form(pieces: Pieces) -> tuple[str, tuple[tuple[str, str], ...], tuple[str, ...]]:
    """The text of a production, what stands before and after each of its places, and its terminals."""
    shown = ["___" if piece is None else piece for piece in pieces]
    places = tuple(
        (" ".join([*shown[:at], ""]), " ".join(["", *shown[at + 1 :]]))
        for at, piece in enumerate(pieces)
        if piece is None
    )
    return " ".join(shown), places, tuple(piece for piece in pieces if piece is not None)


def derive(tree: Any) -> Production:
    """The derivation of a syntax tree, or of a plain argument (text or True) of one of its nodes."""
    if not isinstance(tree, exp.Expr):
        return Production((str(tree).lower(),))
    kind = type(tree)
    if handler := _HANDLERS.get(kind):
        return handler(tree)
    if operator := _OPERATORS.get(kind):
        return _operator(tree, operator)
    if isinstance(tree, exp.SetOperation):
        return _set_operation(tree)
    if isinstance(tree, exp.Func):
        return _function(tree)
    return _by_name(tree)


_OPERATORS: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.EQ: ("=",),
    exp.NEQ: ("!=",),
    exp.GT: (">",),
    exp.GTE: (">=",),
    exp.LT: ("<",),
    exp.LTE: ("<=",),
    exp.Add: ("+",),
    exp.Sub: ("-",),
    exp.Mul: ("*",),
    exp.Div: ("/",),
    exp.Mod: ("%",),
    exp.And: ("and",),
    exp.Or: ("or",),
    exp.DPipe: ("||",),
    exp.Dot: (".",),
    exp.Is: ("is",),
    exp.Like: ("like",),
    exp.ILike: ("ilike",),
    exp.Glob: ("glob",),
    exp.RegexpLike: ("regexp",),
    exp.NullSafeEQ: ("is",),
    exp.NullSafeNEQ: ("is", "not"),
    exp.Escape: ("escape",),
    exp.BitwiseAnd: ("&",),
    exp.BitwiseOr: ("|",),
    exp.Collate: ("collate",),
    exp.Match: ("match",),
}

_NEGATED: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Is: ("is", "not"),
    exp.Like: ("not like",),
    exp.ILike: ("not ilike",),
    exp.In: ("not", "in"),
    exp.Glob: ("not", "glob"),
    exp.RegexpLike: ("not", "regexp"),
}

_CLAUSES = {
    "where": "where",
    "group": "group by",
    "having": "having",
    "qualify": "qualify",
    "order": "order by",
    "limit": "limit",
    "offset": "offset",
}


def _symbol(text: str) -> Production:
    return Production((text.lower(),), symbol=True)


def _chain(items: Iterable[Any], separator: str = ",") -> Production:
    """A list as pairs: ((a , b) , c)."""
    return _paired([derive(item) for item in items], (separator,))


def _paired(items: Sequence[Production], between: tuple[str, ...]) -> Production:
    chain, *others = items
    for item in others:
        chain = Production((None, *between, None), (chain, item))
    return chain


def _bracketed(items: Sequence[Any]) -> Production:
    return Production(("(", None, ")"), (_chain(items),)) if items else Production(("(", ")"))


def _arguments(tree: exp.Expr, done: Sequence[str] = ()) -> Iterator[tuple[str, Any]]:
    """Arguments that are set, in the order in which sqlglot declares them."""
    for name in tree.arg_types:
        value = tree.args.get(name)
        if name not in done and value is not None and value is not False and value != []:
            yield name, value


def _value(value: Any) -> Production:
    return _chain(value) if isinstance(value, list) else derive(value)


def _with_rest(node: Production, tree: exp.Expr, done: Sequence[str]) -> Production:
    """`node` with every further argument of `tree` around it, so that nothing is left uncounted."""
    for name, value in _arguments(tree, done):
        words = name.rstrip("_").replace("_", " ")
        if value is True:
            node = Production((None, words), (node,))
        else:
            node = Production((None, words, None), (node, _value(value)))
    return node


def _by_name(tree: exp.Expr) -> Production:
    pieces: list[str | None] = [tree.key]
    children = []
    for name, value in _arguments(tree):
        if name not in ("this", "expression", "expressions") or value is True:
            pieces.append(name.rstrip("_").replace("_", " "))
        if value is not True:
            pieces.append(None)
            children.append(_value(value))
    return Production(tuple(pieces), tuple(children))


def _clauses(node: Production, tree: exp.Expr, done: Sequence[str]) -> Production:
    for name, words in _CLAUSES.items():
        if clause := tree.args.get(name):
            node = Production((None, words, None), (node, derive(clause)))
    node = _with_rest(node, tree, (*done, *_CLAUSES, "with_"))
    if common := tree.args.get("with_"):
        opening = ("with", "recursive") if common.args.get("recursive") else ("with",)
        tables = _with_rest(_chain(common.expressions), common, ("expressions", "recursive"))
        node = Production((*opening, None, None), (tables, node))
    return node


def _select(tree: exp.Select) -> Production:
    distinct = tree.args.get("distinct")
    words = ("select", "distinct") if distinct else ("select",)
    items = _chain(tree.expressions)
    if source := tree.args.get("from_"):
        tables = _joined(derive(source.this), tree)
        node = Production((*words, None, "from", None), (items, tables))
    else:
        node = Production((*words, None), (items,))
    if distinct and distinct.args.get("on"):
        node = Production((None, "on", None), (node, derive(distinct.args["on"])))
    return _clauses(node, tree, ("expressions", "distinct", "from_", "joins"))


def _joined(node: Production, tree: exp.Expr) -> Production:
    for join in tree.args.get("joins") or []:
        parts = [part.lower() for name in ("method", "side", "kind") if (part := join.text(name))]
        condition, using = join.args.get("on"), join.args.get("using")
        # SQLite's reading gives `ON TRUE` to a join without a condition.
        if isinstance(condition, exp.Boolean) and condition.this:
            condition = None
        is_join = parts or using or join.args.get("on")
        words = (*parts, "join") if is_join else (",",)
        table = derive(join.this)
        if condition:
            table = Production((None, "on", None), (table, derive(condition)))
        if using:
            table = Production((None, "using", "(", None, ")"), (table, _chain(using)))
        node = Production((None, *words, None), (node, table))
        node = _with_rest(node, join, ("this", "method", "side", "kind", "on", "using"))
    return node


def _set_operation(tree: exp.SetOperation) -> Production:
    # Without ALL or DISTINCT, sqlglot sets `distinct` where that is what the dialect does.
    words = (tree.key,) if tree.args.get("distinct") is not False else (tree.key, "all")
    node = Production((None, *words, None), (derive(tree.this), derive(tree.expression)))
    return _clauses(node, tree, ("this", "expression", "distinct"))


def _subquery(tree: exp.Subquery) -> Production:
    node = Production(("(", None, ")"), (derive(tree.this),))
    return _clauses(_aliased(node, tree), tree, ("this", "alias"))


def _table(tree: exp.Table) -> Production:
    return _with_rest(
        _joined(_aliased(_dotted(tree, ("catalog", "db", "this")), tree), tree),
        tree,
        ("catalog", "db", "this", "alias", "joins"),
    )


def _aliased(node: Production, tree: exp.Expr) -> Production:
    alias = tree.args.get("alias")
    return Production((None, "as", None), (node, derive(alias))) if alias else node


def _dotted(tree: exp.Expr, parts: Sequence[str]) -> Production:
    return _chain((part for name in parts if (part := tree.args.get(name))), ".")


def _column(tree: exp.Column) -> Production:
    return _with_rest(
        _dotted(tree, ("catalog", "db", "table", "this")), tree, ("catalog", "db", "table", "this")
    )


def _table_alias(tree: exp.TableAlias) -> Production:
    columns = tree.args.get("columns")
    if not columns:
        return derive(tree.this)
    if not tree.this:
        return _bracketed(columns)
    return Production((None, "(", None, ")"), (derive(tree.this), _chain(columns)))


def _function(tree: exp.Func) -> Production:
    """Its name and arguments. Flags are left out: they say how a dialect reads the function."""
    name = tree.name if isinstance(tree, exp.Anonymous) else tree.sql_name()
    values: list[Any] = []
    for argument, value in _arguments(tree):
        if isinstance(value, list):
            values.extend(value)
        elif value is not True and not (argument == "this" and isinstance(tree, exp.Anonymous)):
            values.append(value)
    words: Pieces = (name.lower(), "(")
    if not values:
        return Production((*words, ")"))
    if len(values) == 1 and isinstance(values[0], exp.Distinct) and not values[0].args.get("on"):
        return Production((*words, "distinct", None, ")"), (_chain(values[0].expressions),))
    return Production((*words, None, ")"), (_chain(values),))


def _case(tree: exp.Case) -> Production:
    pieces: list[str | None] = ["case"]
    children = []
    if tree.this:
        pieces.append(None)
        children.append(derive(tree.this))
    branches = [
        Production(("when", None, "then", None), (derive(branch.this), derive(branch.args["true"])))
        for branch in tree.args["ifs"]
    ]
    pieces.append(None)
    children.append(_paired(branches, ()))
    if default := tree.args.get("default"):
        pieces += ["else", None]
        children.append(derive(default))
    return Production((*pieces, "end"), tuple(children))


def _cast(tree: exp.Cast) -> Production:
    node = Production(
        (tree.sql_name().lower(), "(", None, "as", None, ")"), (derive(tree.this), derive(tree.args["to"]))
    )
    return _with_rest(node, tree, ("this", "to", "safe"))


def _window(tree: exp.Window) -> Production:
    pieces: list[str | None] = [None, tree.text("over").lower() or "as"]
    children = [derive(tree.this)]
    for name, words in (
        ("alias", None),
        ("partition_by", "partition by"),
        ("order", "order by"),
        ("spec", None),
    ):
        if value := tree.args.get(name):
            pieces += [None] if words is None else [words, None]
            children.append(_value(value))
    node = Production(tuple(pieces), tuple(children))
    return _with_rest(node, tree, ("this", "over", "alias", "partition_by", "order", "spec"))


def _operator(tree: exp.Expr, words: tuple[str, ...]) -> Production:
    if tree.args.get("negate"):
        words = _NEGATED[type(tree)]
    node = Production((None, *words, None), (derive(tree.this), derive(tree.expression)))
    if len(tree.args) == 2:
        return node
    # As in functions, flags say how a dialect reads the operator.
    flags = [name for name, value in tree.args.items() if value is True]
    return _with_rest(node, tree, ("this", "expression", *flags))


def _not(tree: exp.Not) -> Production:
    """`not` stands with the operator that it negates, as it mostly is written: `___ not in ___`."""
    inner = derive(tree.this)
    if isinstance(tree.this, exp.Between):
        return Production((None, "not", None), inner.children)
    words = _NEGATED.get(type(tree.this))
    if words is None or tree.this.args.get("negate"):
        return Production(("not", None), (inner,))
    return Production((None, *words, None), inner.children)


def _negative(tree: exp.Neg) -> Production:
    if isinstance(tree.this, exp.Literal):
        return _symbol(f"-{tree.this.name}")
    return Production(("-", None), (derive(tree.this),))


def _in(tree: exp.In) -> Production:
    other = tree.args.get("query") or tree.args.get("unnest") or tree.args.get("field")
    side = derive(other) if other else _bracketed(tree.expressions)
    return Production((None, "in", None), (derive(tree.this), side))


def _between(tree: exp.Between) -> Production:
    bounds = Production(("between", None, "and", None), (derive(tree.args["low"]), derive(tree.args["high"])))
    return _with_rest(Production((None, None), (derive(tree.this), bounds)), tree, ("this", "low", "high"))


def _ordered(tree: exp.Ordered) -> Production:
    node = derive(tree.this)
    descending = tree.args.get("desc")
    if descending is not None:
        node = Production((None, "desc" if descending else "asc"), (node,))
    if nulls := tree.meta.get("nulls"):
        node = Production((None, "nulls", nulls), (node,))
    return _with_rest(node, tree, ("this", "desc", "nulls_first"))


def _inner(tree: exp.Expr) -> Production:
    return derive(tree.this)


def _list_clause(tree: exp.Expr) -> Production:
    """The body of GROUP BY and ORDER BY; GROUP BY may consist of a ROLLUP alone."""
    if not tree.expressions:
        return _by_name(tree)
    return _with_rest(_chain(tree.expressions), tree, ("expressions",))


def _count_clause(tree: exp.Expr) -> Production:
    return _with_rest(derive(tree.expression), tree, ("expression",))


def _values(tree: exp.Values) -> Production:
    node = Production(("values", None), (_chain(tree.expressions),))
    return _with_rest(_aliased(node, tree), tree, ("expressions", "alias"))


def _literal(tree: exp.Literal) -> Production:
    return _symbol("'" + _BLANKS.sub(" ", tree.name) + "'" if tree.is_string else tree.name)


def _placeholder(tree: exp.Placeholder) -> Production:
    return _symbol(f":{tree.name}" if tree.this else "?")


_HANDLERS: dict[type[exp.Expr], Callable[[Any], Production]] = {
    exp.Select: _select,
    exp.Subquery: _subquery,
    exp.Table: _table,
    exp.TableAlias: _table_alias,
    exp.Column: _column,
    exp.Identifier: lambda tree: _symbol(tree.name or '""'),
    exp.Literal: _literal,
    exp.Placeholder: _placeholder,
    exp.Parameter: lambda tree: _symbol(f"@{tree.name}"),
    exp.Values: _values,
    exp.Null: lambda tree: Production(("null",)),
    exp.Boolean: lambda tree: Production(("true" if tree.this else "false",)),
    exp.Var: lambda tree: Production((tree.name.lower(),)),
    exp.DataType: lambda tree: Production((tree.sql().lower(),)),
    exp.Star: lambda tree: _with_rest(Production(("*",)), tree, ()),
    exp.Alias: lambda tree: _aliased(derive(tree.this), tree),
    exp.CTE: lambda tree: _with_rest(
        Production((None, "as", "(", None, ")"), (derive(tree.args["alias"]), derive(tree.this))),
        tree,
        ("this", "alias"),
    ),
    exp.Paren: lambda tree: Production(("(", None, ")"), (derive(tree.this),)),
    exp.Tuple: lambda tree: _bracketed(tree.expressions),
    exp.Neg: _negative,
    exp.Not: _not,
    exp.In: _in,
    exp.Between: _between,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Window: _window,
    exp.Ordered: _ordered,
    exp.Where: _inner,
    exp.Having: _inner,
    exp.Qualify: _inner,
    exp.Group: _list_clause,
    exp.Order: _list_clause,
    exp.Limit: _count_clause,
    exp.Offset: _count_clause,
}

SQLGLOT = sqlglot_structure(DEFAULT_DIALECT)
