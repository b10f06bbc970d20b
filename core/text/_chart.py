"""A chart parser for small context-free grammars whose sentences should have one tree each.

It works from the right: the constituents that begin at a word are built bottom-up from that word and from
the constituents further right, which are known already. One is built only between two words that the grammar
allows around it. This leaves out nothing that a tree of the sentence could use, and it keeps the chart about
as long as the sentence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ..errors import show

NAME = "<name>"
PLACEHOLDER = "___"
_BOUNDARY = "<boundary>"

Neighbours = Mapping[str, frozenset[str]]


class ParseError(ValueError):
    """A sentence without a tree, or with more than one."""


class Tree(NamedTuple):
    """A node: its right-hand side with a placeholder for each child, or the text of a name.

    `around` has, for each child, what stands before and after its placeholder in `label`.
    """

    label: str
    around: tuple[tuple[str, str], ...]
    children: tuple[Tree, ...]


# What is left to read of one production: where to go on, and the children so far.
_Path = tuple[int, tuple[Tree, ...]]


@dataclass(frozen=True)
class Production:
    """A rule `left -> first *rest`; `label` and `around` as in `Tree`, the label of a name empty."""

    left: str
    first: str
    rest: tuple[str, ...]
    label: str
    around: tuple[tuple[str, str], ...]


class Grammar:
    """A context-free grammar without empty productions, its unit productions removed.

    `rules` maps each non-terminal to its right-hand sides, symbols separated by blanks; every other symbol is
    a terminal. `NAME`, alone on a right-hand side, is any word that is no other terminal. To remove a unit
    production `A -> B`, A receives the right-hand sides of B, so that trees have no nodes for it.
    """

    def __init__(self, rules: Mapping[str, Sequence[str]], start: str) -> None:
        self.start = start
        self.nonterminals = frozenset(rules)
        self.productions = [
            self._production(left, right) for left in rules for right in _without_units(rules, left)
        ]
        self._beginning: defaultdict[str, list[Production]] = defaultdict(list)
        for production in self.productions:
            self._beginning[production.first].append(production)
        self._preceding, _ = self._neighbours(1)
        self._following, self._initial = self._neighbours(-1)
        self._continuing = cache(self._productions_between)

    def parse(self, words: Sequence[str], kinds: Sequence[str]) -> Tree:
        """The only tree of a sentence. `kinds` has the terminal that each word is.

        Raises ParseError if there is none, and if any constituent found has more than one derivation.
        """
        bounded = [*kinds, _BOUNDARY]
        chart: list[dict[str, dict[int, Tree]]] = [{} for _ in bounded]
        for begin in reversed(range(len(words))):
            agenda: list[tuple[str, int, tuple[Tree, ...]]] = [(bounded[begin], begin + 1, ())]
            while agenda:
                symbol, reached, children = agenda.pop()
                # The last terminal, the boundary, stands also before the first word.
                for production in self._continuing(bounded[begin - 1], symbol, bounded[reached]):
                    left = production.left
                    for end, found in self._paths(production, (reached, children), chart, bounded):
                        ends = chart[begin].setdefault(left, {})
                        if end in ends:
                            raise ParseError(f"more than one parse of {show(' '.join(words[begin:end]))}")
                        ends[end] = tree = Tree(production.label or words[begin], production.around, found)
                        agenda.append((left, end, (tree,)))
        whole = chart[0].get(self.start, {}).get(len(words))
        if whole is None:
            raise ParseError("no parse")
        return whole

    def _paths(
        self,
        production: Production,
        begun: _Path,
        chart: Sequence[Mapping[str, Mapping[int, Tree]]],
        kinds: Sequence[str],
    ) -> list[_Path]:
        """Every way to read the rest of `production` where something that may follow it follows."""
        paths = [begun]
        for symbol in production.rest:
            if symbol in self.nonterminals:
                paths = [
                    (end, (*children, tree))
                    for at, children in paths
                    for end, tree in chart[at].get(symbol, {}).items()
                ]
            else:
                paths = [(at + 1, children) for at, children in paths if kinds[at] == symbol]
        following = self._following[production.left]
        return [path for path in paths if kinds[path[0]] in following]

    def _productions_between(self, before: str, symbol: str, after: str) -> list[Production]:
        """The productions that may begin with `symbol` between two terminals."""
        return [
            production
            for production in self._beginning[symbol]
            if before in self._preceding[production.left] and after in self._second(production)
        ]

    def _second(self, production: Production) -> frozenset[str]:
        """The terminals that may come after the first symbol of `production`."""
        if not production.rest:
            return self._following[production.left]
        symbol = production.rest[0]
        return self._initial[symbol] if symbol in self.nonterminals else frozenset([symbol])

    def _production(self, left: str, right: tuple[str, ...]) -> Production:
        shown = [PLACEHOLDER if symbol in self.nonterminals else symbol for symbol in right]
        around = [
            (
                "".join(f"{word} " for word in shown[:place]),
                "".join(f" {word}" for word in shown[place + 1 :]),
            )
            for place, symbol in enumerate(right)
            if symbol in self.nonterminals
        ]
        label = "" if right == (NAME,) else " ".join(shown)
        return Production(left, right[0], right[1:], label, tuple(around))

    def _neighbours(self, step: int) -> tuple[Neighbours, Neighbours]:
        """For each non-terminal the terminals that may stand beside it, and those at its near end.

        With step 1 those before it and its last ones; with step -1 those after it and its first ones.
        """
        beside = {left: set[str]() for left in self.nonterminals}
        ends = {left: set[str]() for left in self.nonterminals}
        beside[self.start].add(_BOUNDARY)
        size, grown = -1, 0
        while size != grown:
            size = grown
            for production in self.productions:
                near = beside[production.left]
                for symbol in (production.first, *production.rest)[::step]:
                    if symbol in self.nonterminals:
                        beside[symbol] |= near
                        near = ends[symbol]
                    else:
                        near = {symbol}
                ends[production.left] |= near
            grown = sum(map(len, (*beside.values(), *ends.values())))
        return _frozen(beside), _frozen(ends)


def _frozen(sets: Mapping[str, set[str]]) -> Neighbours:
    return {left: frozenset(terminals) for left, terminals in sets.items()}


def _without_units(rules: Mapping[str, Sequence[str]], left: str) -> list[tuple[str, ...]]:
    """The right-hand sides of `left`, a single non-terminal replaced by its own, each once."""
    found: dict[tuple[str, ...], None] = {}
    reached = [left]
    for symbol in reached:
        for right in rules[symbol]:
            if right not in rules:
                found[tuple(right.split())] = None
            elif right not in reached:
                reached.append(right)
    return list(found)
