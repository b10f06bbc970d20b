"""How deep sentences nest and branch, by their constituency parses (2210.06799, Figures 4, 8 and 10)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_PIECE = re.compile(r"[()]|[^\s()]+")
# What parsers put above a sentence, under one of these names or none: no level of the sentence.
_WRAPPERS = frozenset({"ROOT", "TOP", "S1"})


class TreeMeasures(NamedTuple):
    """Measures of one or more trees: `words` (leaves), and depths and Yngve scores summed over them.

    The depth of a word is the number of nodes above it, its part of speech included, a wrapper around the
    whole tree (ROOT, TOP) not. Its Yngve score is the number of right sisters of all nodes on the way from
    the top to it, its own included: what is still open when a reader comes to the word (Yngve 1960).
    """

    words: int
    max_depth: int
    total_depth: int
    total_yngve: int

    @property
    def mean_depth(self) -> float:
        return self.total_depth / self.words

    @property
    def yngve(self) -> float:
        """The mean Yngve score of the words."""
        return self.total_yngve / self.words


def tree_measures(parse: str) -> TreeMeasures | None:
    """Measure the bracketed trees of a text, as treebanks write them; several stand one after another.

    None where no tree has a word. Raises ValueError for text that is no bracketed tree.

    >>> tree_measures("(ROOT (S (NP (DT The) (NN dog)) (VP (VBZ barks))))")
    TreeMeasures(words=3, max_depth=3, total_depth=9, total_yngve=3)
    """
    trees = [_measures(pieces) for pieces in _trees(_PIECE.findall(parse))]
    words, depths, total_depths, total_yngves = zip(*trees, strict=True) if trees else ((), (), (), ())
    if not sum(words):
        return None
    return TreeMeasures(sum(words), max(depths), sum(total_depths), sum(total_yngves))


def _trees(pieces: list[str]) -> Iterator[list[str]]:
    """The pieces of each tree, brackets at its ends. Raises ValueError for unbalanced brackets."""
    begin = level = 0
    for place, piece in enumerate(pieces):
        if piece == "(":
            level += 1
        elif piece == ")":
            level -= 1
        if level < 0:
            raise ValueError("a bracket is closed that was not opened")
        if level == 0:
            if piece != ")":
                raise ValueError("a word stands outside of all brackets")
            yield pieces[begin : place + 1]
            begin = place + 1
    if level:
        raise ValueError("a bracket is opened and not closed")


def _measures(pieces: list[str]) -> TreeMeasures:
    pieces = _unwrapped(pieces)
    deepest = total_depth = total_yngve = 0
    words: list[int] = []  # Those met so far under each open node.
    before = ""
    for piece in pieces:
        if piece == ")":
            inside = words.pop()
            if words:
                words[-1] += inside
        elif piece == "(" or before != "(":
            # A new child of the innermost open node is a right sister for all words under it so far.
            if words:
                total_yngve += words[-1]
            if piece == "(":
                words.append(0)
            else:
                words[-1] += 1
                total_depth += len(words)
                deepest = max(deepest, len(words))
        before = piece
    return TreeMeasures(inside, deepest, total_depth, total_yngve)


def _unwrapped(pieces: list[str]) -> list[str]:
    """A tree without the node above its sentence, if there is one with nothing else under it."""
    start = 2 if pieces[1] in _WRAPPERS else 1
    if pieces[start] != "(":
        return pieces
    level = 0
    for end in range(start, len(pieces) - 1):
        level += (pieces[end] == "(") - (pieces[end] == ")")
        if level == 0:
            break
    return pieces[start : end + 1] if end == len(pieces) - 2 else pieces
