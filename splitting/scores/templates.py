"""What a language model reads and which part of it is scored: the prompt strings of the likelihood splits.

Source: "Benchmarking Long-tail Generalization with Likelihood Splits" (2210.06799), Table 1 and section 3;
where the paper is silent, its published code. Start and end tokens belong to the model and are added when
the strings are encoded, so that a template holds for any model.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from string import Formatter
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import SourceError, UsageError

StartRule = Literal["always", "model_default"]


@dataclass(frozen=True)
class PromptTemplate:
    """A context, which conditions the model, and a continuation, whose tokens are scored.

    Both are strings with `{placeholders}`. A placeholder is the name of a column, or is mapped to one by
    `columns`. `phrases` gives, per placeholder, the wording of each label; the column holds either label
    names or class numbers, which count the phrases in their order.

    `start_token` says whether the model's start-of-text token stands in front: `always`, or only where the
    model's own tokenizer adds one (`model_default`). `score_end_token` adds the end-of-text token to the
    scored part. `lower_case` and `strip` change column values before they are filled in; the rows of a
    release keep their casing and spacing.

    Raises UsageError for a placeholder with a conversion or a format.
    """

    name: str
    context: str
    continuation: str
    start_token: StartRule = "always"
    score_end_token: bool = False
    lower_case: bool = False
    strip: bool = False
    phrases: dict[str, dict[str, str]] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _parse(self.context)
        _parse(self.continuation)

    def column_names(self) -> list[str]:
        """The columns that rows need, in order of first use."""
        placeholders = [name for part in (self.context, self.continuation) for name in _placeholders(part)]
        return list(dict.fromkeys(self.columns.get(name, name) for name in placeholders))

    def render(self, table: pa.Table) -> tuple[list[str], list[str]]:
        """The contexts and the continuations of all rows; a null value reads as no text (see `incomplete`).

        Raises UsageError for a column that is missing or no text, SourceError for a label without a phrase.
        """
        self._require_columns(table)
        return self._fill(self.context, table), self._fill(self.continuation, table)

    def incomplete(self, table: pa.Table) -> np.ndarray:
        """Rows that there is nothing to score in: shape (rows,), bool.

        A row counts if a column that the template uses is null, or if every column of the continuation is
        blank and the end token is not scored (the space before the text would be all that is left).
        """
        self._require_columns(table)
        absent = np.zeros(table.num_rows, dtype=bool)
        for name in self.column_names():
            absent |= table.column(name).is_null().to_numpy()
        if self.score_end_token:
            return absent
        blank = np.ones(table.num_rows, dtype=bool)
        for placeholder in _placeholders(self.continuation):
            blank &= np.array([not value.strip() for value in self._values(placeholder, table)], dtype=bool)
        return absent | blank

    def to_json(self) -> dict[str, Any]:
        """Everything that the rendered strings and the scored tokens depend on."""
        return asdict(self)

    def _require_columns(self, table: pa.Table) -> None:
        for name in self.column_names():
            if name not in table.column_names:
                known = ", ".join(table.column_names)
                raise UsageError(f"template {self.name!r} needs column {name!r}; the rows have {known}")

    def _fill(self, part: str, table: pa.Table) -> list[str]:
        pieces = [
            [piece] * table.num_rows if literal else self._values(piece, table)
            for piece, literal in _parse(part)
        ]
        return ["".join(row) for row in zip(*pieces, strict=True)] if pieces else [""] * table.num_rows

    def _values(self, placeholder: str, table: pa.Table) -> list[str]:
        name = self.columns.get(placeholder, placeholder)
        column = table.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if placeholder in self.phrases:
            return self._wording(placeholder, name, column)
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            raise UsageError(
                f"template {self.name!r} needs text in column {name!r}, which holds {column.type}"
            )
        values: list[str] = pc.fill_null(column, "").to_pylist()
        if self.strip:
            values = [value.strip() for value in values]
        return [value.lower() for value in values] if self.lower_case else values

    def _wording(self, placeholder: str, name: str, column: pa.ChunkedArray) -> list[str]:
        phrases = self.phrases[placeholder]
        known: dict[Any, str] = dict(phrases)
        if pa.types.is_integer(column.type):
            known = dict(enumerate(phrases.values()))
        known[None] = ""
        values = column.to_pylist()
        for row, value in enumerate(values):
            if value not in known:
                # The published code calls every unknown label "neutral"; better no prompt than a wrong one.
                fix = f"template {self.name!r} has phrases for {', '.join(phrases)}"
                raise SourceError("label without a phrase", row=row, field=name, value=value, fix=fix)
        return [known[value] for value in values]


def _parse(part: str) -> list[tuple[str, bool]]:
    """A template string as pieces, each with True for literal text and False for a placeholder."""
    pieces = []
    try:
        for literal, placeholder, form, conversion in Formatter().parse(part):
            if literal:
                pieces.append((literal, True))
            if placeholder is not None:
                if not placeholder or form or conversion:
                    raise ValueError("a placeholder is a plain column name")
                pieces.append((placeholder, False))
    except ValueError as error:
        raise UsageError(
            f"template {part!r} cannot be read: {error}; write literal braces as {{{{ and }}}}"
        ) from None
    return pieces


def _placeholders(part: str) -> list[str]:
    return [piece for piece, literal in _parse(part) if not literal]


def user_template(text: str, context: str | None = None, *, score_end_token: bool = True) -> PromptTemplate:
    """The template of a user's own rows: the likelihood of one column, given another if there is one.

    As in the SNLI and BoolQ prompts, the text follows its context after one space and is scored with the
    end-of-text token, so that a text is compared as a whole and not as the beginning of a longer one.
    """
    if context is None:
        return PromptTemplate(
            name="text",
            context="",
            continuation="{text}",
            score_end_token=score_end_token,
            columns={"text": text},
        )
    return PromptTemplate(
        name="text_with_context",
        context="{context}",
        continuation=" {text}",
        score_end_token=score_end_token,
        columns={"context": context, "text": text},
    )


SPIDER_PROMPT = PromptTemplate(
    name="spider_prompt",
    context="write a database question:",
    continuation=" {question}",
    start_token="model_default",
    lower_case=True,
    strip=True,
)
SPIDER_PROMPT_DATABASE_ID = PromptTemplate(
    name="spider_prompt_database_id",
    context="write a database question:{db_id}:",
    continuation=" {question}",
    start_token="model_default",
    lower_case=True,
    strip=True,
)
# How a fine-tuned model scores: no space after the start token, as in training.
SPIDER_FINE_TUNED = PromptTemplate(
    name="spider_fine_tuned", context="", continuation="{question}", lower_case=True, strip=True
)
# What it is trained on: start token, question, end token, with a loss on every token after the first.
SPIDER_TRAINING = PromptTemplate(
    name="spider_training",
    context="",
    continuation="{question}",
    score_end_token=True,
    lower_case=True,
    strip=True,
)
SNLI_WITH_LABEL = PromptTemplate(
    name="snli_with_label",
    context="Premise: {premise} This hypothesis is {label}:",
    continuation=" {hypothesis}",
    score_end_token=True,
    phrases={"label": {"entailment": "entailed", "neutral": "neutral", "contradiction": "a contradiction"}},
)
SNLI_WITHOUT_LABEL = PromptTemplate(
    name="snli_without_label",
    context="Premise: {premise} Hypothesis:",
    continuation=" {hypothesis}",
    score_end_token=True,
)
BOOLQ = PromptTemplate(
    name="boolq",
    context="Passage: {passage} Ask a question about the passage:",
    continuation=" {question}",
    score_end_token=True,
)
