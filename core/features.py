"""Columns shared by every config, declared once (rows as a reader of a config finds them)."""

from __future__ import annotations

from typing import Any

from datasets import ClassLabel, Features, Value

HEAD = {"uid": Value("string"), "content_id": Value("string")}

PLACEMENT = {
    "log_likelihood": Value("float32"),
    "lm_num_tokens": Value("int32"),
    "fold": Value("int8"),
    "length": Value("int32"),
    "placed_by": Value("string"),
    "source_split": Value("string"),
    "source_index": Value("int32"),
}

# Score columns have a hash and a tolerance of their own and stand outside the row digest.
SCORE_COLUMNS = (
    "log_likelihood",
    "lm_num_tokens",
    "fold",
    "entropy_null",
    "entropy_input",
    "pvi",
    "pvi_fold",
)

SCORES = Features(
    {
        **HEAD,
        "log_likelihood": Value("float32"),
        "lm_num_tokens": Value("int32"),
        "length": Value("int32"),
        "fold": Value("int8"),
        "status": Value("string"),
    }
)

PVI = {
    "entropy_null": Value("float32"),
    "entropy_input": Value("float32"),
    "pvi": Value("float32"),
    "pvi_fold": Value("int8"),
}
"""Pointwise V-information of a row, in bits: pvi = entropy_null - entropy_input; -1 for a row of no fold."""

PVI_SCORES = Features({**SCORES, **{name: kind for name, kind in PVI.items() if name != "pvi_fold"}})
"""Columns of config `scores` in a release that has a table of V-information; null in its other tables."""

OVERLAP = {
    **{name: Value("string") for name in ("e1", "e2", "pred_c", "pred_q", "connective")},
    "content_words": [Value("string")],
    "query": Value("string"),
    "best_score": Value("float64"),
    "num_hits": Value("int32"),
    "exact_copy": Value("bool"),
    "hits": [
        {
            "corpus": Value("string"),
            "document_id": Value("string"),
            "text": Value("string"),
            "score": Value("float64"),
            "matched_terms": [Value("string")],
            "exact_copy": Value("bool"),
        }
    ],
}
"""What was searched for a row in corpora, and what was found, best hits first.

A null `best_score` says that no query could be made of the row, 0 that no document matches. `num_hits` counts
those that match, in each corpus up to a limit; `hits` are the best of every corpus, and its exact copies,
which are looked for in every document: one that the query does not match has score 0, one of a row without a
query none.
"""

OVERLAP_SCORES = Features({**SCORES, **OVERLAP})
"""Columns of config `scores` in a release of rows that were searched in corpora."""

DIFFICULTY = ClassLabel(names=["simple", "hard"])


def family(payload: dict[str, Any], *, placed: bool = True) -> Features:
    """The features of one family of configs: head, payload, placement tail."""
    return Features({**HEAD, **payload, **(PLACEMENT if placed else {})})


def class_names(features: Features) -> dict[str, list[str]]:
    """Label names, in order, of every class column."""
    return {name: list(kind.names) for name, kind in features.items() if isinstance(kind, ClassLabel)}


def payload_columns(features: Features) -> list[str]:
    """Columns that a row digest covers: everything that the placement did not write."""
    return [name for name in features if name not in {*SCORE_COLUMNS, "placed_by"}]
