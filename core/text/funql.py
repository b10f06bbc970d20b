"""FunQL, the functional query language of GeoQuery: its terms, atoms, compounds and templates.

A program is a term: a name, or a name with arguments in parentheses, separated by commas. Atoms and compounds
are those that divergence is computed over for GeoQuery (2210.06799, Section A.8).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from ..errors import show
from .programs import Program, Structure, TemplateRule

PUNCTUATION = frozenset("(),")

# A quoted value may hold punctuation; an apostrophe without a partner is a character like others.
_PIECE = re.compile(r"[(),]|(?:'[^']*'|[^(),])+")
_MAY_FOLLOW = {
    "name": ("", "(", ","),
    "(": ("name",),
    ",": ("name", ")"),
    ")": ("name", ")"),
}
_OTHER_ARGUMENT = "__"


@dataclass(frozen=True, eq=False)
class Term:
    """A name and its arguments; a name without parentheses has none."""

    name: str
    arguments: list[Term] = field(default_factory=list)

    def __iter__(self) -> Iterator[Term]:
        """This term and all that it holds, outermost and leftmost first."""
        waiting = [self]
        while waiting:
            term = waiting.pop()
            yield term
            waiting.extend(reversed(term.arguments))


def parse_funql(text: str) -> Term:
    """The term that a program is. Raises ValueError, with the reason, for text that is no whole term.

    >>> [term.name for term in parse_funql("answer(city(loc_2(stateid('new york'))))")]
    ['answer', 'city', 'loc_2', 'stateid', "'new york'"]
    """
    around = Term("")
    enclosing = [around]
    previous = ""
    for piece in _pieces(text):
        kind = piece if piece in PUNCTUATION else "name"
        if previous not in _MAY_FOLLOW[kind]:
            raise ValueError(f"{show(piece)} stands after {previous or 'nothing'}")
        if kind == "name":
            enclosing[-1].arguments.append(Term(piece))
        elif kind == "(":
            enclosing.append(enclosing[-1].arguments[-1])
        elif len(enclosing) == 1:
            raise ValueError(f"{piece} stands outside parentheses")
        elif kind == ")":
            enclosing.pop()
        previous = kind
    if not around.arguments:
        raise ValueError("no program")
    if len(enclosing) > 1:
        raise ValueError("a parenthesis is not closed")
    return around.arguments[0]


def spaced(text: str) -> str:
    """The program with one space around parentheses and commas, and wherever else it has white space.

    >>> spaced("answer(intersection(city,loc_2(m0)))")
    'answer ( intersection ( city , loc_2 ( m0 ) ) )'
    """
    return " ".join(_pieces(text))


def atoms_with_arity(text: str) -> frozenset[str] | None:
    """The names of a program, functions with their number of arguments; None if it cannot be read.

    A stricter definition of atoms than that of `FUNQL`: a function with one argument is another atom than
    the same one with two.

    >>> sorted(atoms_with_arity("answer ( intersection ( city , loc_2 ( m0 ) ) )"))
    ['answer_(1)', 'city', 'intersection_(2)', 'loc_2_(1)', 'm0']
    """
    try:
        term = parse_funql(text)
    except ValueError:
        return None
    return frozenset(f"{part.name}_({len(part.arguments)})" if part.arguments else part.name for part in term)


@lru_cache(maxsize=65_536)
def _analyse(text: str) -> Program:
    tokens = Counter(token for piece in _pieces(text) for token in piece.split(" "))
    symbols = Counter({token: count for token, count in tokens.items() if token not in PUNCTUATION})
    try:
        term = parse_funql(text)
    except ValueError as error:
        return Program(None, tokens, symbols, None, f"no FunQL: {error}")
    return Program(frozenset(symbols), tokens, symbols, _compounds(term))


def _compounds(term: Term) -> Counter[str]:
    """How often each function has each name as its first, second, ... argument."""
    compounds: Counter[str] = Counter()
    for part in term:
        for place, argument in enumerate(part.arguments):
            shown = [_OTHER_ARGUMENT] * len(part.arguments)
            shown[place] = argument.name
            compounds[f"{part.name}( {' , '.join(shown)} )"] += 1
    return compounds


@lru_cache(maxsize=65_536)
def _template(text: str) -> str | None:
    return spaced(text) if _analyse(text).parsed else None


def _pieces(text: str) -> list[str]:
    """Parentheses, commas and names; a run of white space in a name is one space."""
    joined = (" ".join(piece.split()) for piece in _PIECE.findall(text))
    return [piece for piece in joined if piece]


FUNQL = Structure(
    name="funql",
    language="funql",
    version=1,
    summary=(
        "Atoms are the names and values of a FunQL program; a compound is a function with the name of one of "
        "its arguments, in the place of that argument."
    ),
    analyse=_analyse,
)

AS_IT_IS = TemplateRule(
    name="funql",
    language="funql",
    version=1,
    summary="A template is a FunQL program whose entities are masked already, without regard to spacing.",
    template=_template,
)
