"""Trial 21: queries that differ only in case, aliases, blanks or the order of conditions have one template.

A template split that puts them on two sides tests nothing that was not trained.
"""

from __future__ import annotations

import pytest

from benchwright.text.sql_templates import CANONICAL, MASKED

QUERY = (
    "SELECT T1.name, count(*) FROM singer AS T1 JOIN concert AS T2 ON T1.id = T2.singer_id "
    "WHERE T2.year > 2014 AND T1.country = 'France' GROUP BY T1.name ORDER BY count(*) DESC LIMIT 1"
)
SAME = {
    "case": QUERY.upper().replace("FRANCE", "France"),
    "blanks": QUERY.replace(" ", "  ").replace(",", " ,").replace("(*)", " ( * ) ") + " ;",
    "lines": QUERY.replace(" ", "\n"),
    "aliases": QUERY.replace("T1", "s").replace("T2", "the_concert"),
    "swapped aliases": QUERY.replace("T1", "T0").replace("T2", "T1").replace("T0", "T2"),
    "no AS": QUERY.replace(" AS ", " "),
    "no aliases": QUERY.replace(" AS T1", "")
    .replace(" AS T2", "")
    .replace("T1.", "singer.")
    .replace("T2.", "concert."),
    "conditions": QUERY.replace(
        "T2.year > 2014 AND T1.country = 'France'", "T1.country = 'France' AND T2.year > 2014"
    ),
    "sides": QUERY.replace("T1.id = T2.singer_id", "T2.singer_id = T1.id"),
    "select list": QUERY.replace("T1.name, count(*) FROM", "count(*), T1.name FROM"),
    "values": QUERY.replace("2014", "-3.5").replace("'France'", '"the north of Spain"'),
}
OTHER = {
    "another column": QUERY.replace("T2.year", "T2.month"),
    "another table": QUERY.replace("concert", "festival"),
    "another operator": QUERY.replace(">", ">="),
    "another type": QUERY.replace("2014", "'2014'"),
    "another connective": QUERY.replace("AND", "OR"),
    "the three first": QUERY.replace("LIMIT 1", "LIMIT 3"),
    "the other alias": QUERY.replace("T1.country", "T2.country"),
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_template(name: str) -> None:
    assert SAME[name] != QUERY
    assert CANONICAL.template(SAME[name]) == CANONICAL.template(QUERY) is not None


@pytest.mark.parametrize("name", OTHER)
def test_another_template(name: str) -> None:
    assert OTHER[name] != QUERY
    assert CANONICAL.template(OTHER[name]) != CANONICAL.template(QUERY)


@pytest.mark.parametrize("name", ["case", "blanks", "lines", "values"])
def test_the_masked_rule_sees_through_case_blanks_and_values(name: str) -> None:
    query = QUERY.replace("2014", "3") if name == "values" else QUERY
    same = SAME[name].replace("-3.5", "3.5")
    assert MASKED.template(same) == MASKED.template(query) is not None
