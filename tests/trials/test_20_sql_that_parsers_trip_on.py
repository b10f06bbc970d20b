"""Trial 20: one-liners on which SQL parsers trip are read, or flagged as unread, never with empty atoms.

sqlglot once failed on some of these, and keeps what it does not know as a `Command` with no structure, after
a warning on the terminal (sqlglot #6334, #6331, #7438, #7425).
"""

from __future__ import annotations

import logging
import threading

import pytest

from benchwright.text.programs import structures
from benchwright.text.sql_templates import CANONICAL, MASKED
from benchwright.text.sql_trees import SQLGLOT

READ = {
    "SELECT a FROM t WHERE x NOT NULL": {"is", "not", "null", "x"},
    "SELECT a FROM t WHERE x NOTNULL": {"is", "not", "null", "x"},
    "SELECT a FROM t INDEXED BY i WHERE x = 1": {"indexed", "i", "x", "=", "1"},
    "SELECT NULL IS y FROM t": {"null", "is", "y"},
    "SELECT a FROM t WHERE NULL IS NOT y": {"null", "is", "not", "y"},
    "SELECT sum(x) OVER w FROM t WINDOW w AS (PARTITION BY y ORDER BY z)": {
        *("sum", "over", "w", "windows", "partition by", "y", "order by", "z"),
    },
}
COMMANDS = [
    "EXPLAIN QUERY PLAN SELECT a FROM t",
    "ALTER TABLE t RENAME a b c",
    "SHOW TABLES",
    "VACUUM",
    "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END",
    "CALL f(1)",
]


@pytest.mark.parametrize("query", READ)
def test_read(query: str) -> None:
    program = SQLGLOT.analyse(query)
    assert program.problem is None
    assert program.atoms is not None
    assert READ[query] <= program.atoms
    assert program.compounds
    template = CANONICAL.template(query)
    assert template is not None
    assert CANONICAL.template(template) == template


@pytest.mark.parametrize("text", COMMANDS)
def test_commands_are_unread_and_silent(
    text: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    program = SQLGLOT.analyse(text)
    assert (program.atoms, program.compounds) == (None, None)
    assert program.problem
    assert "\n" not in program.problem
    assert CANONICAL.template(text) is None
    assert MASKED.template(text)
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


def test_only_our_own_reading_is_silent(caplog: pytest.LogCaptureFixture) -> None:
    """A user's own use of sqlglot still warns: afterwards, and in another thread at the same time."""
    logger = logging.getLogger("sqlglot")
    before = list(logger.filters)
    SQLGLOT.analyse("SHOW TABLES LIKE 'x'")
    assert logger.filters == before
    logger.warning("from the user")

    stop = threading.Event()

    def read_commands() -> None:
        number = 0
        while not stop.is_set():
            SQLGLOT.analyse(f"SHOW TABLES LIKE '{number}'")
            number += 1

    reader = threading.Thread(target=read_commands)
    reader.start()
    try:
        for number in range(200):
            logger.warning("meanwhile %d", number)
    finally:
        stop.set()
        reader.join()
    expected = ["from the user", *(f"meanwhile {number}" for number in range(200))]
    assert [record.getMessage() for record in caplog.records] == expected


@pytest.mark.parametrize("query", [*READ, *COMMANDS, "", ";", "SELECT", "SELECT 1; SELECT 2", "?"])
def test_no_structure_has_an_empty_atom_set(query: str) -> None:
    for name in ("sqlglot", "spider"):
        program = structures.get(name).analyse(query)
        assert program.atoms is None or len(program.atoms) > 0
        assert (program.problem is None) == program.parsed
