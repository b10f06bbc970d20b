"""SQL templates: what stays of a query when its values are left out.

Two rules: MASKED as the paper's code has it, CANONICAL as Finegan-Dollak et al. define templates.
"""

from __future__ import annotations

import re
from functools import lru_cache

from sqlparse.exceptions import SQLParseError

from ._sql_canonical import canonical
from ._sqlglot import DEFAULT_DIALECT, UnreadSqlError, dialect_of
from .programs import TemplateRule
from .sql import normalised, sql_tokens

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


@lru_cache(maxsize=65_536)
def masked_template(query: str) -> str | None:
    """The query's tokens joined by blanks, numbers and quoted spans as `___`.

    A number is a token that Python's `float` takes, so also `nan` and `infinity`. White space and case are
    normalised; aliases and order stay as they are. None for a query without tokens. Source: the template
    splits of 2010.12725, whose code 2210.06799 uses.

    >>> masked_template('SELECT name FROM singer WHERE age > 20 AND country = "France"')
    'select name from singer where age > ___ and country = ___'
    """
    try:
        tokens = sql_tokens(normalised(query))
    except (RecursionError, SQLParseError):
        return None
    masked = " ".join("___" if _is_number(token) else token for token in tokens)
    return _QUOTED.sub("___", masked) or None


def _is_number(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True


def canonical_rule(dialect: str) -> TemplateRule:
    """Canonical templates in a dialect of sqlglot. Raises ValueError for an unknown dialect.

    Its name is `canonical` for SQLite, the default, and `canonical-<dialect>` for others, which become
    known by `template_rules.register("canonical-duckdb")(canonical_rule("duckdb"))`. What is normalised
    says `_sql_canonical.canonical`. None for what sqlglot does not read as one query or change of a table.
    """
    dialect_of(dialect)

    @lru_cache(maxsize=65_536)
    def template(query: str) -> str | None:
        try:
            return canonical(query, dialect)
        except UnreadSqlError:
            return None

    return TemplateRule(
        name="canonical" if dialect == DEFAULT_DIALECT else f"canonical-{dialect}",
        language="sql",
        version=1,
        summary=(
            "Templates are queries with renamed aliases, sorted conditions and lists, and values replaced by "
            "their types (after Finegan-Dollak et al., 2018)."
        ),
        template=template,
    )


MASKED = TemplateRule(
    name="masked",
    language="sql",
    version=1,
    summary="Templates are the lower-cased tokens of a query with numbers and quoted values masked.",
    template=masked_template,
)
CANONICAL = canonical_rule(DEFAULT_DIALECT)
