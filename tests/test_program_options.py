"""Which definitions of programs a build uses: by builder, by method, by option; and which it refuses."""

from __future__ import annotations

import pytest

from benchwright.builders.base import BuildOptions
from benchwright.builders.boolq import BoolQBuilder
from benchwright.builders.build import build
from benchwright.builders.custom import custom_builder
from benchwright.builders.geoquery import GeoQueryBuilder
from benchwright.builders.spider import SpiderBuilder
from benchwright.errors import UsageError
from benchwright.text.programs import structure_named, template_rule_named


def _resolved(builder, **options):
    found = builder.resolved(BuildOptions(**options))
    return found.structure, found.template_rule, found.tmcd_mode


@pytest.mark.parametrize(
    ("builder", "options", "expected"),
    [
        (SpiderBuilder(), {}, ("spider", "canonical", "best")),
        (SpiderBuilder(), {"method": "published"}, ("spider", "masked", "reference")),
        (SpiderBuilder(), {"structure": "sqlglot"}, ("sqlglot", "canonical", "best")),
        (
            SpiderBuilder(),
            {"structure": "sqlglot-postgres"},
            ("sqlglot-postgres", "canonical-postgres", "best"),
        ),
        (SpiderBuilder(), {"structure": "sqlglot-sqlite"}, ("sqlglot", "canonical", "best")),
        (
            SpiderBuilder(),
            {"structure": "sqlglot-mysql", "template_rule": "masked"},
            ("sqlglot-mysql", "masked", "best"),
        ),
        (GeoQueryBuilder(), {"method": "published"}, ("funql", "funql", "reference")),
        (BoolQBuilder(), {}, (None, None, None)),
        (
            custom_builder("own", text="a", program="b", by=["tmcd"], structure="sqlglot-tsql"),
            {},
            ("sqlglot-tsql", "canonical-tsql", "best"),
        ),
    ],
)
def test_definitions_of_a_build(builder, options, expected):
    assert _resolved(builder, **options) == expected


@pytest.mark.parametrize(
    ("builder", "options", "message"),
    [
        (SpiderBuilder(), {"tmcd_mode": "wrong"}, "no TMCD mode 'wrong'; give best or reference"),
        (SpiderBuilder(), {"structure": "funql"}, "is for funql, but the programs are sql"),
        (SpiderBuilder(), {"structure": "sqlglot-"}, "names no dialect"),
        (SpiderBuilder(), {"structure": "sqlglot-postgrs"}, "Did you mean postgres"),
        (SpiderBuilder(), {"template_rule": "canonicl"}, "did you mean canonical?"),
        (BoolQBuilder(), {"structure": "spider"}, "boolq has no programs"),
        (BoolQBuilder(), {"tmcd_mode": "best"}, "boolq has no programs"),
    ],
)
def test_definitions_that_do_not_fit_are_refused_before_anything_is_read(builder, options, message):
    with pytest.raises(UsageError, match=message):
        builder.resolved(BuildOptions(**options))


def test_a_dialect_is_read_as_such():
    assert not structure_named("sqlglot").analyse("SELECT TOP 5 [a b] FROM [c d]").parsed
    assert structure_named("sqlglot-tsql").analyse("SELECT TOP 5 [a b] FROM [c d]").parsed
    assert template_rule_named("canonical-tsql").template("SELECT TOP 5 [a b] FROM [c d]") is not None


def test_the_versions_of_definitions_stand_in_the_manifest(tmp_path):
    release = build("spider", source="sample", out=tmp_path / "out", configs=["random"])
    versions = release.manifest["versions"]
    assert versions["structure spider"] == versions["template rule canonical"] == "1"
    assert {"sqlglot", "sqlparse"} <= set(versions)
    assert release.manifest["choices"]["structure"] == "spider"
