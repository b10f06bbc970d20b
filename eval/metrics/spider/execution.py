"""Running queries on SQLite databases, and comparing what they return.

Predicted queries are text from anywhere: they run on a read-only, immutable connection that can reach no
other file and do nothing but read, one statement at a time, with limits on time and the size of the result.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....errors import SourceError

TIME_LIMIT = 30.0
"""Seconds for one query."""
MAX_ROWS = 200_000
MAX_BYTES = 64_000_000
"""Of all text and blobs of a result."""
_MAX_VALUE_BYTES = 10_000_000
_MAX_PATTERN = 1_000
_MAX_REASON = 200
_INSTRUCTIONS_BETWEEN_CHECKS = 10_000

_READING = frozenset(
    (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
)
# The last two give another result in every run.
_REFUSED_FUNCTIONS = frozenset(("load_extension", "random", "randomblob"))
_SPACED_COMPARISON = re.compile(r"([!<>]) =")
_QUOTED_OR_BRACKET = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|[()]|\border\s+by\b""", re.IGNORECASE)

Row = tuple[Any, ...]


class FailedQueryError(Exception):
    """A query that gave no result; the message says why on one line."""


@dataclass(frozen=True)
class Limits:
    """`seconds` per query, `rows` and `bytes` (of text and blobs) per result."""

    seconds: float = TIME_LIMIT
    rows: int = MAX_ROWS
    bytes: int = MAX_BYTES


DEFAULT_LIMITS = Limits()


def database_file(folder: Path, db_id: str) -> Path | None:
    """`<db_id>/<db_id>.sqlite`, as Spider ships it, or `<db_id>.sqlite`; None if there is neither.

    A name that would lead out of the folder has no file.
    """
    if not db_id or db_id.startswith(".") or any(character in db_id for character in "/\\:\0"):
        return None
    candidates = folder / db_id / f"{db_id}.sqlite", folder / f"{db_id}.sqlite"
    return next((file for file in candidates if file.is_file()), None)


@contextmanager
def open_database(file: Path) -> Iterator[sqlite3.Connection]:
    """A connection that can only read this one file. Raises SourceError for a file that is no database."""
    uri = f"{file.resolve().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
        # Some texts of Spider's databases are not UTF-8; distinct bytes must stay distinct.
        connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        # Matching one long pattern is one instruction, which no time limit can stop.
        connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, _MAX_PATTERN)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        except sqlite3.DatabaseError as error:
            fix = "give the SQLite files that belong to the data set"
            raise SourceError(f"not a database ({error})", path=file, fix=fix) from None
        connection.set_authorizer(_authorise)
        yield connection


def run_query(connection: sqlite3.Connection, query: str, limits: Limits = DEFAULT_LIMITS) -> list[Row]:
    """Rows of one reading statement. `! =`, `> =` and `< =` are read as one operator, as in exact set match.

    Raises FailedQueryError for whatever is wrong with the query, and where a limit is passed.
    """
    deadline = time.monotonic() + limits.seconds
    connection.set_progress_handler(lambda: int(time.monotonic() > deadline), _INSTRUCTIONS_BETWEEN_CHECKS)
    try:
        with closing(connection.execute(_SPACED_COMPARISON.sub(r"\1=", query))) as cursor:
            return list(_bounded(cursor, limits))
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        if time.monotonic() > deadline:
            raise FailedQueryError(f"took more than {limits.seconds:g} seconds") from None
        raise FailedQueryError(" ".join(str(error).split())[:_MAX_REASON]) from None
    finally:
        connection.set_progress_handler(None, 0)


def is_ordered(query: str) -> bool:
    """Whether a query has an ORDER BY outside of all brackets and quotes.

    >>> is_ordered("SELECT name FROM cow ORDER BY age")
    True
    >>> is_ordered("SELECT name FROM cow WHERE age = (SELECT age FROM cow ORDER BY age LIMIT 1)")
    False
    """
    depth = 0
    for match in _QUOTED_OR_BRACKET.finditer(query):
        if match[0] in "()":
            depth += 1 if match[0] == "(" else -1
        elif match[0][0] in "oO" and depth == 0:
            return True
    return False


def same_result(gold: Sequence[Row], prediction: Sequence[Row], *, ordered: bool) -> bool:
    """Whether two results agree, up to the order of columns and, unless `ordered`, of rows.

    The rule of the evaluation that Spider uses today (Zhong, Yu and Klein 2020, 2010.02840): some
    permutation of the predicted columns makes the rows equal as a list or as a multiset. Two empty results
    agree whatever their columns.
    """
    if not gold and not prediction:
        return True
    if len(gold) != len(prediction) or len(gold[0]) != len(prediction[0]):
        return False
    columns = list(zip(*gold, strict=True))
    candidates = list(zip(*prediction, strict=True))
    if ordered:
        return Counter(columns) == Counter(candidates)
    # Columns can only be paired if they hold the same values.
    contents = [Counter(column) for column in candidates]
    options = [
        [place for place, content in enumerate(contents) if content == wanted]
        for wanted in (Counter(column) for column in columns)
    ]
    return _permutation_exists(columns, candidates, options)


def _permutation_exists(
    columns: list[Row], candidates: list[Row], options: list[list[int]], chosen: tuple[int, ...] = ()
) -> bool:
    """Whether `chosen`, candidates for the first columns, can be continued to a permutation that fits."""
    if chosen:
        gold = zip(*columns[: len(chosen)], strict=True)
        if Counter(gold) != Counter(zip(*(candidates[place] for place in chosen), strict=True)):
            return False
    if len(chosen) == len(columns):
        return True
    tried: set[Row] = set()
    for place in options[len(chosen)]:
        if place not in chosen and candidates[place] not in tried:
            tried.add(candidates[place])
            if _permutation_exists(columns, candidates, options, (*chosen, place)):
                return True
    return False


def _authorise(action: int, _first: str | None, second: str | None, *_: str | None) -> int:
    if action not in _READING:
        return sqlite3.SQLITE_DENY
    refused = action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _REFUSED_FUNCTIONS
    return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK


def _bounded(cursor: sqlite3.Cursor, limits: Limits) -> Iterator[Row]:
    if cursor.description is None:
        raise ValueError("no statement that gives rows")
    size = 0
    for number, row in enumerate(cursor):
        size += sum(len(value) for value in row if isinstance(value, str | bytes))
        if number >= limits.rows or size > limits.bytes:
            raise ValueError(f"more than {limits.rows} rows or {limits.bytes} characters")
        yield row
