"""The query of one instance of a Winograd-style test: in the paper's reading, and as published."""

from ._entities import Filled, fill_blanks
from .base import NoQuery
from .explain import (
    DocumentMatch,
    TermMatch,
    explain_document,
    match_lines,
    matched_components,
    parse_lines,
    query_text,
)
from .instances import Instance, ParsedInstance, parsed_queries
from .partial_parse import PartialParse, parsed_query, partial_parse
from .published import published_query, published_query_string

__all__ = [
    "DocumentMatch",
    "Filled",
    "Instance",
    "NoQuery",
    "ParsedInstance",
    "PartialParse",
    "TermMatch",
    "explain_document",
    "fill_blanks",
    "match_lines",
    "matched_components",
    "parse_lines",
    "parsed_queries",
    "parsed_query",
    "partial_parse",
    "published_query",
    "published_query_string",
    "query_text",
]
