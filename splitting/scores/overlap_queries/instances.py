"""Queries of many instances at once: blanks filled, texts parsed in batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchwright.progress import Stage, no_progress
from benchwright.text.parsing import Parser

from ..bm25.query import OverlapQuery
from ._entities import fill_blanks
from .base import NoQuery
from .partial_parse import PartialParse, parsed_query, partial_parse

_TEXTS_PER_STEP = 512


@dataclass(frozen=True)
class Instance:
    """A Winograd-style instance: `pronoun` (`_` for a blank) stands at character `pronoun_loc` of `text`."""

    text: str
    pronoun: str
    pronoun_loc: int
    options: tuple[str, ...]


@dataclass(frozen=True)
class ParsedInstance:
    """The partial parse of an instance and the query made of it."""

    parse: PartialParse
    query: OverlapQuery


def parsed_queries(
    instances: Sequence[Instance], parser: Parser, progress: Stage = no_progress
) -> list[ParsedInstance | NoQuery]:
    """The paper's query of each instance in order, or the reason why it has none.

    Raises UsageError for a text that is too long for the parser.
    """
    found: list[ParsedInstance | NoQuery] = []
    with progress("parse test instances", len(instances), "rows") as advance:
        for start in range(0, len(instances), _TEXTS_PER_STEP):
            chosen = instances[start : start + _TEXTS_PER_STEP]
            filled = [fill_blanks(row.text, row.pronoun, row.pronoun_loc, row.options) for row in chosen]
            sentences = parser.parse([place.text for place in filled])
            for row, place, sentence in zip(chosen, filled, sentences, strict=True):
                parse = partial_parse(sentence, place.start, place.end, row.options, pronoun=row.pronoun)
                if isinstance(parse, NoQuery):
                    found.append(parse)
                else:
                    found.append(ParsedInstance(parse, parsed_query(parse)))
            advance(len(chosen))
    return found
