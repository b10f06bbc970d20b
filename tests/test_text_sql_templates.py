"""SQL templates: the masked ones of the paper's code and the canonical ones of Finegan-Dollak et al."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.text.programs import template_rules
from benchwright.text.sql_templates import CANONICAL, MASKED, canonical_rule

FIXTURE = Path(__file__).parent / "fixtures" / "sql_templates" / "canonical.txt"
WORDS = [
    *(
        "SELECT",
        "FROM",
        "WHERE",
        "AND",
        "NOT",
        "IN",
        "AS",
        "UNION",
        "ORDER BY",
        "LIMIT",
        "IS",
        "NULL",
        "CASE",
    ),
    *("END", "WITH", "OVER", "a", "t", "=", "1", "'x'", '"y"', "(", ")", ",", ";", ".", "*", "--"),
]


def _blocks() -> list[tuple[list[str], str]]:
    blocks = []
    for block in FIXTURE.read_text().split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("#")]
        if lines:
            blocks.append((lines[:-1], lines[-1].removeprefix("= ")))
    return blocks


def spider_queries(folder: Path) -> list[str]:
    return [
        row["query"]
        for name in ("train_spider.json.gz", "dev.json.gz")
        for row in json.loads(gzip.decompress((folder / "spider" / name).read_bytes()))
    ]


@pytest.mark.parametrize(("queries", "template"), _blocks(), ids=[block[0][0] for block in _blocks()])
def test_one_template_for_all_queries_of_a_block(queries: list[str], template: str) -> None:
    assert queries
    assert [CANONICAL.template(query) for query in queries] == [template] * len(queries)
    assert CANONICAL.template(template) == template


def test_blocks_differ() -> None:
    templates = [template for _, template in _blocks()]
    assert len(set(templates)) == len(templates) == 20


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT a FROM t WHERE x < 1", "SELECT a FROM t WHERE x > 1"),
        ("SELECT a FROM t WHERE x NOT LIKE 'a'", "SELECT a FROM t WHERE x LIKE 'a'"),
        ("SELECT a FROM t WHERE x = 1 AND y = 1", "SELECT a FROM t WHERE x = 1 OR y = 1"),
        (
            "SELECT a FROM t WHERE (x = 1 OR y = 1) AND z = 1",
            "SELECT a FROM t WHERE x = 1 OR y = 1 AND z = 1",
        ),
        ("SELECT a FROM t WHERE NOT (x = 1 OR y = 1)", "SELECT a FROM t WHERE NOT x = 1 OR y = 1"),
        ("SELECT a FROM t WHERE (x - 1) * 2 > y", "SELECT a FROM t WHERE x - 1 * 2 > y"),
        ("SELECT a FROM t ORDER BY b, c", "SELECT a FROM t ORDER BY c, b"),
        ("SELECT a FROM t JOIN u", "SELECT a FROM u JOIN t"),
        ("SELECT a.x FROM t a JOIN t b ON a.y = b.z", "SELECT b.x FROM t a JOIN t b ON a.y = b.z"),
        ("SELECT a FROM t EXCEPT SELECT a FROM u", "SELECT a FROM u EXCEPT SELECT a FROM t"),
        ("SELECT a FROM t WHERE x = 1", "SELECT a FROM t WHERE x = '1'"),
        ("SELECT a FROM t WHERE x IN (1)", "SELECT a FROM t WHERE x IN (1, 2)"),
        ("SELECT DISTINCT a FROM t", "SELECT a FROM t"),
        ("SELECT a FROM t UNION SELECT b FROM u", "SELECT a FROM t UNION ALL SELECT b FROM u"),
        ("SELECT CAST(x AS VARCHAR(5)) FROM t", "SELECT CAST(x AS VARCHAR(6)) FROM t"),
    ],
)
def test_queries_that_mean_different_things(one: str, other: str) -> None:
    assert CANONICAL.template(one) != CANONICAL.template(other)


@given(
    conditions=st.permutations(
        ["{a}.x = 1", "{b}.y > 'q'", "{a}.k = {b}.k", "({b}.z IN (SELECT m FROM w) OR {a}.z IS NULL)"]
    ),
    items=st.permutations(["{a}.x", "count(*)", "max({b}.y)"]),
    groups=st.permutations(["{a}.x", "{b}.w"]),
    aliases=st.sampled_from([("t1", "t2"), ("B", "A"), ("Own", "other_one")]),
    blank=st.sampled_from([" ", "  ", "\n\t"]),
    upper=st.booleans(),
)
def test_what_does_not_matter(
    conditions: list[str],
    items: list[str],
    groups: list[str],
    aliases: tuple[str, str],
    blank: str,
    upper: bool,
) -> None:
    query = (
        f"select {', '.join(items)} from t as {{a}} join u as {{b}} on {{b}}.i = {{a}}.i "
        f"where {' and '.join(conditions)} group by {', '.join(groups)}"
    ).format(a=aliases[0], b=aliases[1])
    query = blank.join((query.upper() if upper else query).split(" "))
    assert CANONICAL.template(query) == (
        "SELECT COUNT(*), MAX(Ualias0.Y), Talias0.X "
        "FROM T AS Talias0 JOIN U AS Ualias0 ON Talias0.I = Ualias0.I "
        "WHERE (Talias0.Z IS NULL OR Ualias0.Z IN (SELECT Walias0.M FROM W AS Walias0)) "
        "AND Talias0.K = Ualias0.K AND Talias0.X = :number AND Ualias0.Y > :string "
        "GROUP BY Talias0.X, Ualias0.W"
    )


@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_no_text_raises(words: list[str]) -> None:
    text = " ".join(words)
    for rule in (MASKED, CANONICAL):
        assert rule.template(text) is None or rule.template(text)


@pytest.mark.parametrize("text", ["", "  ", ";", "-- nothing"])
def test_no_query(text: str) -> None:
    assert CANONICAL.template(text) is None
    assert MASKED.template("") is None


@pytest.mark.parametrize(
    "text", ["SELECT a; SELECT b", "EXPLAIN SELECT 1", "PRAGMA x", "SELECT a FROM t WHERE", "a", "SELECT 'a"]
)
def test_texts_without_canonical_template(text: str) -> None:
    assert CANONICAL.template(text) is None


def test_deep_nesting() -> None:
    deep = "SELECT a FROM t WHERE x IN (" * 400 + "1" + ")" * 400
    assert CANONICAL.template(deep) is None
    MASKED.template("(" * 5_000)


def test_masked() -> None:
    """Aliases, order and the names of tables stay; `nan` is a number to Python."""
    assert MASKED.template("SELECT t.a FROM t WHERE b = 'it is' OR c <= 1.5e3 OR d = \"\" LIMIT 1;") == (
        "select t . a from t where b = ___ or c <= ___ or d = ___ limit ___"
    )
    assert MASKED.template("select nan from t") == "select ___ from t"


def test_rules_are_known_by_name() -> None:
    assert template_rules.get("masked") is MASKED
    assert template_rules.get("canonical") is CANONICAL
    assert (MASKED.language, CANONICAL.language) == ("sql", "sql")


def test_another_dialect() -> None:
    rule = canonical_rule("mysql")
    assert rule.name == "canonical-mysql"
    assert rule.template('SELECT `a` FROM t WHERE b = "x"') == (
        "SELECT Talias0.A FROM T AS Talias0 WHERE Talias0.B = :string"
    )
    postgres = canonical_rule("postgres").template('SELECT a FROM t WHERE b = "x"')
    assert postgres == "SELECT Talias0.A FROM T AS Talias0 WHERE Talias0.B = Talias0.X"
    with pytest.raises(ValueError, match="klingon"):
        canonical_rule("klingon")


@pytest.mark.corpora
def test_masked_templates_of_the_reference(oracle_folder: Path) -> None:
    rows = [
        json.loads(line) for line in (oracle_folder / "tmcd_spider" / "sample.jsonl").read_text().splitlines()
    ]
    assert len(rows) == 303
    assert [MASKED.template(row["sql"]) for row in rows] == [row["template"] for row in rows]


@pytest.mark.corpora
def test_templates_of_spider(data_folder: Path) -> None:
    queries = spider_queries(data_folder)
    canonical = [CANONICAL.template(query) for query in queries]
    masked = [MASKED.template(query) for query in queries]
    assert (len(queries), canonical.count(None), masked.count(None)) == (8_034, 0, 0)
    assert (len(set(canonical)), len(set(masked))) == (4_429, 4_429)
    # The two partitions differ: eight templates of one are cut by the other, four in each direction.
    assert len(set(zip(canonical, masked, strict=True))) == 4_433


@pytest.mark.corpora
def test_a_template_is_its_own_template(data_folder: Path) -> None:
    templates = list(dict.fromkeys(CANONICAL.template(query) for query in spider_queries(data_folder)[::6]))
    assert [CANONICAL.template(str(template)) for template in templates] == templates


def test_a_template_that_is_not_its_own() -> None:
    """SQLite has no LIMIT before INTERSECT, so sqlglot writes the operand as a derived table."""
    template = CANONICAL.template("SELECT a FROM t LIMIT 3 INTERSECT SELECT b FROM u")
    assert template == (
        "SELECT * FROM (SELECT Talias0.A FROM T AS Talias0 LIMIT :number) "
        "INTERSECT SELECT Ualias0.B FROM U AS Ualias0"
    )
