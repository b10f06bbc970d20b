"""SQL as the tokens that splits and divergences count."""

from __future__ import annotations

from functools import lru_cache

import sqlparse


@lru_cache(maxsize=65_536)
def sql_tokens(query: str) -> tuple[str, ...]:
    """Tokens of the first statement of `query`, lower-cased, without white space and trailing `;`.

    `group by` and `order by` are one token each; comments and literals are tokens too. Empty for an empty
    query. Source: 2210.06799, Section 3.4, as its code reads Spider.

    >>> sql_tokens("SELECT Name FROM singer GROUP BY age;")
    ('select', 'name', 'from', 'singer', 'group by', 'age')
    """
    statements = sqlparse.parse(query.lower().rstrip().rstrip(";"))
    if not statements:
        return ()
    return tuple(token.value for token in statements[0].flatten() if not token.is_whitespace)


def sql_atoms(query: str) -> frozenset[str]:
    """The distinct tokens of `query`: keywords, punctuation, identifiers and literals.

    >>> sorted(sql_atoms("SELECT count(*) FROM singer"))
    ['(', ')', '*', 'count', 'from', 'select', 'singer']
    """
    return frozenset(sql_tokens(query))
