"""SQL as the tokens that splits and divergences count."""

from __future__ import annotations

import re
from functools import lru_cache

from sqlparse import lexer
from sqlparse.engine import FilterStack
from sqlparse.tokens import Whitespace

# All that can end a statement before the end of the text.
_SEPARATOR = re.compile(r";|\bgo\b", re.IGNORECASE)


def normalised(query: str) -> str:
    """`query` in lower case, runs of white space as one blank each, as the paper's pipeline reads SQL.

    White space and case within literals change too.

    >>> normalised("SELECT  Name\\nFROM singer ")
    'select name from singer'
    """
    return " ".join(query.split()).lower()


@lru_cache(maxsize=65_536)
def sql_tokens(query: str) -> tuple[str, ...]:
    """Tokens of the first statement of `query`, lower-cased, without white space and trailing `;`.

    They are the leaves of `sqlparse.parse`. `group by` and `order by` are one token each; comments and
    literals are tokens too. White space within a token stays as it is. Empty for an empty query. Source:
    2210.06799, Section 3.4, as its code reads Spider.

    >>> sql_tokens("SELECT Name FROM singer GROUP BY age;")
    ('select', 'name', 'from', 'singer', 'group by', 'age')
    """
    return tuple(_leaves(query.lower().rstrip().rstrip(";")))


def sql_atoms(query: str) -> frozenset[str]:
    """The distinct tokens of `query`: keywords, punctuation, identifiers and literals.

    >>> sorted(sql_atoms("SELECT count(*) FROM singer"))
    ['(', ')', '*', 'count', 'from', 'select', 'singer']
    """
    return frozenset(sql_tokens(query))


def _leaves(text: str) -> list[str]:
    # sqlparse.parse would also group the tokens, which takes most of its time and changes no leaf.
    if _SEPARATOR.search(text) is None:
        return [value for kind, value in lexer.tokenize(text) if kind not in Whitespace]
    statement = next(FilterStack().run(text), None)
    return [] if statement is None else [token.value for token in statement if not token.is_whitespace]
