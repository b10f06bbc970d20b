"""Tokens of SQL: equal to the leaves that sqlparse's own parser gives."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import sqlparse
from hypothesis import given
from hypothesis import strategies as st

from benchwright.text.sql import normalised, sql_atoms, sql_tokens

FIXTURES = json.loads((Path(__file__).parent / "fixtures" / "sql" / "tokens.json").read_text())
# What ends statements, opens blocks, makes one token of two words, or hides the rest of the text.
PIECES = [
    *("select", "a", "t1.a", "*", "(", ")", ",", "=", "-1", "1e5", ".5", "'x y'", '"x;y"', "'", '"', "`a b`"),
    *(";", "go", "GO", "begin", "end", "create", "declare", "if", "case", "$$", "$1", "[a b]", "::", "||"),
    *("group", "by", "order", "not", "like", "left", "outer", "join", "union", "all", "is", "null"),
    *("--", "#", "/*", "*/", "\n", "\t", "\u00a0", "\u0130", "ß", "İ"),
]


def _leaves(query: str) -> tuple[str, ...]:
    """The definition of 2210.06799's code, word for word in sqlparse's own terms."""
    statements = sqlparse.parse(query.lower().rstrip().rstrip(";"))
    if not statements:
        return ()
    return tuple(token.value for token in statements[0].flatten() if not token.is_whitespace)


@pytest.mark.parametrize("example", FIXTURES, ids=lambda example: example["query"])
def test_tokens_of_fixtures(example: dict[str, object]) -> None:
    assert list(sql_tokens(str(example["query"]))) == example["tokens"]
    assert sorted(sql_atoms(str(example["query"]))) == sorted(set(example["tokens"]))  # type: ignore[call-overload]


@given(st.lists(st.sampled_from(PIECES), max_size=14), st.sampled_from(["", " "]))
def test_tokens_are_the_leaves_of_sqlparse(pieces: list[str], between: str) -> None:
    query = between.join(pieces)
    assert sql_tokens(query) == _leaves(query)


@given(st.text(max_size=40))
def test_tokens_of_any_text_are_the_leaves_of_sqlparse(query: str) -> None:
    assert sql_tokens(query) == _leaves(query)


def test_nesting_beyond_what_sqlparse_groups() -> None:
    assert len(sql_tokens("select " + "(" * 2_000 + "a" + ")" * 2_000)) == 4_002


@given(st.text())
def test_normalised_is_stable(query: str) -> None:
    once = normalised(query)
    assert normalised(once) == once
    assert once.split() == [piece for piece in once.split(" ") if piece]


@pytest.mark.corpora
def test_tokens_of_the_sample(oracle_folder: Path) -> None:
    lines = (oracle_folder / "tmcd_spider" / "sample.jsonl").read_text().splitlines()
    assert len(lines) == 303
    for sample in map(json.loads, lines):
        assert list(sql_tokens(sample["sql"])) == list(_leaves(sample["sql"])) == sample["tokens"]
        assert sorted(sql_atoms(sample["sql"])) == sorted(sample["atoms"])


@pytest.mark.corpora
def test_tokens_of_every_spider_query(data_folder: Path) -> None:
    folder = data_folder / "spider"
    queries = [
        normalised(row["query"])
        for name in ("train_spider", "dev")
        for row in json.loads(gzip.decompress((folder / f"{name}.json.gz").read_bytes()))
    ]
    assert len(queries) == 8_034
    for query in dict.fromkeys(queries):
        assert sql_tokens(query) == _leaves(query)
