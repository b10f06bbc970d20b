"""Spider's programs as the paper counts them: atoms are tokens, compounds parts of a parse tree.

Source: 2210.06799, Section 3.4 and Section 4, after "Compositional Generalization and Natural Language
Variation" (2010.12725), whose grammar of SQL this is.
"""

from __future__ import annotations

from collections import Counter
from functools import cache, lru_cache
from sys import intern

from ._chart import NAME, Grammar, ParseError, Tree
from .programs import Program, Structure
from .sql import normalised, sql_tokens

_COMPARISONS = ("like", "not like", "in", "not in", "=", "!=", ">", "<", ">=", "<=")
_CONNECTIVES = ("or", "and", ",")

# Upper case: non-terminals. A name is any token but the keywords below, a literal with blanks included.
RULES: dict[str, tuple[str, ...]] = {
    "ROOT": ("SELECT", "ROOT union ROOT", "ROOT intersect ROOT", "ROOT except ROOT"),
    "SELECT": (
        "select SELECT_EXPR from FROM_EXPR",
        "select distinct SELECT_EXPR from FROM_EXPR",
        "SELECT where EXPR",
        "SELECT group by GROUP_EXPR",
        "SELECT having EXPR",
        "SELECT order by ORDER_EXPR",
        "SELECT limit T",
    ),
    "SELECT_EXPR": ("SELECT_ATOM", "SELECT_CONJ"),
    "SELECT_CONJ": ("SELECT_ATOM , SELECT_ATOM", "SELECT_CONJ , SELECT_ATOM"),
    "SELECT_ATOM": (
        "T",
        *(f"T {operator} T" for operator in "-+/*"),
        "( ROOT )",
        "( SELECT_ATOM )",
        "count ( SELECT_ATOM )",
        "count ( distinct SELECT_ATOM )",
        *(f"{function} ( SELECT_ATOM )" for function in ("sum", "avg", "max", "min")),
    ),
    "FROM_EXPR": ("T", "( ROOT )", "FROM_EXPR join T", "FROM_EXPR join JOIN"),
    "JOIN": ("T on JOIN_ATOM", "T on JOIN_CONJ"),
    "JOIN_CONJ": ("JOIN_ATOM and JOIN_ATOM", "JOIN_CONJ and JOIN_ATOM"),
    "JOIN_ATOM": ("T = T",),
    "GROUP_EXPR": ("T", "GROUP_EXPR , T"),
    "EXPR": ("EXPR_ATOM", "EXPR_CONJ"),
    "EXPR_CONJ": tuple(
        f"{left} {connective} EXPR_ATOM" for left in ("EXPR_ATOM", "EXPR_CONJ") for connective in _CONNECTIVES
    ),
    "EXPR_ATOM": (
        *(f"SELECT_ATOM {comparison} SELECT_ATOM" for comparison in _COMPARISONS),
        "SELECT_ATOM BETWEEN",
    ),
    "BETWEEN": ("between SELECT_ATOM and SELECT_ATOM", "between - SELECT_ATOM and SELECT_ATOM"),
    "ORDER_EXPR": ("ORDER_ATOM", "ORDER_CONJ"),
    "ORDER_CONJ": ("ORDER_ATOM , ORDER_ATOM", "ORDER_CONJ , ORDER_ATOM"),
    "ORDER_ATOM": (
        "SELECT_ATOM",
        "SELECT_ATOM asc",
        "SELECT_ATOM desc",
        *(f"SELECT_ATOM {comparison} SELECT_ATOM" for comparison in (">", ">=", "<", "<=")),
    ),
    "T": (NAME, "*", "T as T", "T . T"),
}
# The published list of what is no name.
KEYWORDS = frozenset(
    [
        *("select", "from", "where", "group by", "order by", "limit", "intersect", "union", "except"),
        *("join", "on", "as", "not", "between", "in", "like", "is", "exists", "none", "and", "or"),
        *("=", ">", "<", ">=", "<=", "!=", "-", "+", "*", "/", ",", ".", "(", ")"),
        *("max", "min", "count", "sum", "avg", "desc", "asc", "distinct"),
    ]
)
# Words of the grammar that the published list lacks: they count as symbols, but they are no names.
_RESERVED = KEYWORDS | {"having", "not like"}


@lru_cache(maxsize=65_536)
def analyse(query: str) -> Program:
    """Atoms, tokens, symbols and compounds of a SQL query (its first statement), in lower case.

    Atoms are its distinct tokens; symbols are the tokens that are not in `KEYWORDS`. Compounds are a parent
    with one child in its place, and a grandparent with such a parent in its place, for every node of the
    parse tree. White space counts as one blank, in literals too. `atoms` is None without any token,
    `compounds` without exactly one parse. Never raises.

    >>> analyse("SELECT age FROM singer").compounds
    Counter({'select age from ___': 1, 'select ___ from singer': 1})
    """
    tokens = sql_tokens(normalised(query))
    if not tokens:
        return Program(None, Counter(), Counter(), None, "empty query")
    counts = Counter(map(intern, tokens))
    symbols = Counter({token: count for token, count in counts.items() if token not in KEYWORDS})
    compounds, problem = None, None
    try:
        compounds = _compounds(_parse(tokens))
    except ParseError as error:
        problem = str(error)
    return Program(frozenset(counts), counts, symbols, compounds, problem)


def _parse(tokens: tuple[str, ...]) -> Tree:
    words: list[str] = []
    kinds: list[str] = []
    for token in tokens:
        if token in _RESERVED:
            words += token.split()
            kinds += token.split()
        else:
            words.append(token)
            kinds.append(NAME)
    return _grammar().parse(words, kinds)


@cache
def _grammar() -> Grammar:
    return Grammar(RULES, "ROOT")


def _compounds(tree: Tree) -> Counter[str]:
    # No recursion: trees may be deeper than Python's stack. Equal compounds of many queries share memory.
    found = []
    agenda: list[tuple[Tree, tuple[str, str] | None]] = [(tree, None)]
    while agenda:
        node, outer = agenda.pop()
        for (before, after), child in zip(node.around, node.children, strict=True):
            pair = f"{before}{child.label}{after}"
            found.append(intern(pair))
            if outer is not None:
                found.append(intern(f"{outer[0]}{pair}{outer[1]}"))
            if child.children:
                agenda.append((child, (before, after)))
    return Counter(found)


SPIDER = Structure(
    name="spider",
    language="sql",
    version=1,
    summary="Atoms are the tokens of a query, compounds the pairs and triples of connected nodes in "
    "its parse by the paper's grammar of SQL.",
    analyse=analyse,
)
