"""Metrics of text-to-SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .base import Context, Metric, MetricValue
from .intervals import WILSON, wilson
from .spider import EMPTY, Parsed, Query, Schema, UnparsedQueryError, compare, from_rows, normalise, parse
from .spider.execution import (
    FailedQueryError,
    Row,
    database_file,
    is_ordered,
    open_database,
    run_query,
    same_result,
)

if TYPE_CHECKING:
    import sqlite3

UNPARSED_PREDICTION = "unparsed_prediction"
TEXT_AFTER_QUERY = "text_after_query"
FAILED_PREDICTION = "failed_prediction"
_SHOWN = 80


def normalise_query(query: str) -> str:
    """A query in lower case with every run of white space as one blank.

    >>> normalise_query("SELECT  Name\\nFROM singer ")
    'select name from singer'
    """
    return " ".join(query.lower().split())


def string_match(gold: np.ndarray, predictions: np.ndarray) -> MetricValue:
    """Share of predicted queries that equal the gold query up to case and white space.

    A lower bound on Spider's exact set match, and not comparable with it: other aliases, another order of
    conditions or a blank before a comma make two queries differ here. Case inside string literals is
    ignored as well.
    """
    pairs = zip(gold, predictions, strict=True)
    correct = np.array([normalise_query(a) == normalise_query(b) for a, b in pairs], dtype=np.float64)
    return _proportion(correct)


def exact_set_match(gold: np.ndarray, predictions: np.ndarray, context: Context) -> MetricValue:
    """Share of predicted queries that match the gold query in Spider's sense (see `spider.exact_match`).

    A prediction that Spider's parser does not read counts as wrong and is flagged with the parser's reason;
    text after a complete query is ignored and flagged. Rows whose gold query is not read, or whose database
    has no schema, are left out.
    """
    reader = QueryReader(from_rows(context.tables["schemas"]))
    scores = np.full(len(gold), np.nan)
    left_out: dict[str, int] = {}
    unparsed: dict[int, str] = {}
    trailing: dict[int, str] = {}
    rows = zip(context.columns["db_id"], gold, predictions, strict=True)
    for row, (db_id, gold_query, predicted_query) in enumerate(rows):
        try:
            wanted = reader.normalised(db_id, gold_query)
        except UnparsedQueryError:
            _count(left_out, "no schema of the database" if db_id not in reader else "unparsed gold query")
            continue
        try:
            found = reader.normalised(db_id, predicted_query)
            if rest := reader.rest(db_id, predicted_query):
                trailing[row] = rest[:_SHOWN]
        except UnparsedQueryError as error:
            found, unparsed[row] = EMPTY, str(error)
        scores[row] = compare(wanted, found).exact
    flagged = {UNPARSED_PREDICTION: unparsed, TEXT_AFTER_QUERY: trailing}
    return _proportion(scores, left_out, flagged)


def failing_components(
    gold: Sequence[str], predictions: Sequence[str], context: Context
) -> list[tuple[str, ...]]:
    """What keeps every prediction from an exact set match: names of components, `from`, or why it is unread.

    Empty where it matches and where gold cannot be read; shape (n,).
    """
    reader = QueryReader(from_rows(context.tables["schemas"]))
    failing: list[tuple[str, ...]] = []
    for db_id, gold_query, predicted_query in zip(context.columns["db_id"], gold, predictions, strict=True):
        try:
            wanted = reader.normalised(db_id, gold_query)
        except UnparsedQueryError:
            failing.append(())
            continue
        try:
            failing.append(compare(wanted, reader.normalised(db_id, predicted_query)).failing)
        except UnparsedQueryError as error:
            failing.append((f"{UNPARSED_PREDICTION}: {error}",))
    return failing


def execution_accuracy(gold: np.ndarray, predictions: np.ndarray, context: Context) -> MetricValue:
    """Share of predicted queries that return what the gold query returns (see `spider.execution`).

    Rows are compared in order where the gold query has a top-level ORDER BY. DISTINCT is executed as it
    stands. A prediction that fails, or passes a limit, counts as wrong and is flagged with the reason. Rows
    whose database is missing, or whose gold query fails on it, are left out. Raises SourceError for a file
    that is no database.
    """
    assert context.databases is not None
    scores = np.full(len(gold), np.nan)
    left_out: dict[str, int] = {}
    failed: dict[int, str] = {}
    with ExitStack() as stack:
        databases = _Databases(context.databases, stack)
        rows = zip(context.columns["db_id"], gold, predictions, strict=True)
        for row, (db_id, gold_query, predicted_query) in enumerate(rows):
            if databases.connection(db_id) is None:
                _count(left_out, "no database file")
                continue
            try:
                wanted = databases.gold_rows(db_id, gold_query)
            except FailedQueryError:
                _count(left_out, "gold query fails")
                continue
            try:
                found = databases.rows(db_id, predicted_query)
            except FailedQueryError as error:
                failed[row] = str(error)
                found = None
            scores[row] = found is not None and same_result(wanted, found, ordered=is_ordered(gold_query))
    return _proportion(scores, left_out, {FAILED_PREDICTION: failed})


class QueryReader:
    """Queries parsed and normalised against the schema of their database, each one once."""

    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self._schemas = schemas
        self._parsed: dict[tuple[str, str], Parsed | UnparsedQueryError] = {}

    def __contains__(self, db_id: str) -> bool:
        return db_id in self._schemas

    def normalised(self, db_id: str, query: str) -> Query:
        """Raises UnparsedQueryError."""
        return self._read(db_id, query).query

    def rest(self, db_id: str, query: str) -> str:
        """What follows the end of a query that can be read. Raises UnparsedQueryError."""
        return " ".join(self._read(db_id, query).rest)

    def _read(self, db_id: str, query: str) -> Parsed:
        key = db_id, query
        if key not in self._parsed:
            self._parsed[key] = self._parse(db_id, query)
        parsed = self._parsed[key]
        if isinstance(parsed, UnparsedQueryError):
            raise parsed
        return parsed

    def _parse(self, db_id: str, query: str) -> Parsed | UnparsedQueryError:
        schema = self._schemas.get(db_id)
        if schema is None:
            return UnparsedQueryError(f"no schema of {db_id!r}")
        try:
            parsed = parse(query, schema)
        except UnparsedQueryError as error:
            return error
        return Parsed(normalise(parsed.query, schema), parsed.rest)


class _Databases:
    """Open connections by database."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        self._connections: dict[str, sqlite3.Connection | None] = {}
        self._last_gold: tuple[str, str, list[Row]] | None = None

    def connection(self, db_id: str) -> sqlite3.Connection | None:
        if db_id not in self._connections:
            file = database_file(self._folder, db_id)
            opened = self._stack.enter_context(open_database(file)) if file is not None else None
            self._connections[db_id] = opened
        return self._connections[db_id]

    def rows(self, db_id: str, query: str) -> list[Row]:
        """Raises FailedQueryError."""
        connection = self.connection(db_id)
        if connection is None:
            raise FailedQueryError(f"no database {db_id!r}")
        return run_query(connection, query)

    def gold_rows(self, db_id: str, query: str) -> list[Row]:
        """As `rows`; paraphrases, which stand side by side in Spider, share one run."""
        if self._last_gold is None or self._last_gold[:2] != (db_id, query):
            self._last_gold = (db_id, query, self.rows(db_id, query))
        return self._last_gold[2]


def _proportion(
    scores: np.ndarray,
    left_out: Mapping[str, int] | None = None,
    flagged: Mapping[str, Mapping[int, str]] | None = None,
) -> MetricValue:
    """Share of ones among `scores` of 0, 1 or NaN (not judged)."""
    judged = scores[~np.isnan(scores)]
    low, high = wilson(int(judged.sum()), len(judged)) if len(judged) else (None, None)
    value = float(judged.mean()) if len(judged) else float("nan")
    found = {reason: rows for reason, rows in (flagged or {}).items() if rows}
    return MetricValue(value, len(judged), low, high, WILSON, scores, left_out or {}, found)


def _count(counts: dict[str, int], reason: str) -> None:
    counts[reason] = counts.get(reason, 0) + 1


STRING_MATCH = Metric("string_match", 1, string_match)
EXACT_SET_MATCH = Metric(
    "exact_set_match", 1, exact_set_match, needs_columns=("db_id",), needs_tables=("schemas",)
)
EXECUTION_ACCURACY = Metric(
    "execution_accuracy", 1, execution_accuracy, needs_columns=("db_id",), needs_databases=True
)
