"""Prompts: the strings a model reads, to the character."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from scores_helpers import save_gpt2

from benchwright.errors import SourceError, UsageError
from benchwright.splitting.scores import (
    BOOLQ,
    SNLI_WITH_LABEL,
    SNLI_WITHOUT_LABEL,
    SPIDER_FINE_TUNED,
    SPIDER_PROMPT,
    SPIDER_PROMPT_DATABASE_ID,
    SPIDER_TRAINING,
    PromptTemplate,
    user_template,
)

SPIDER_ROWS = pa.table({"db_id": ["Cars_1", "ships"], "question": ["How MANY cars?", " Which ship sank? "]})
SNLI_ROWS = pa.table(
    {
        "premise": ["Two dogs run.", "A man {eats}."],
        "hypothesis": ["Animals move.", "Nobody eats"],
        "label": ["entailment", "contradiction"],
    }
)


@pytest.mark.parametrize(
    ("template", "rows", "contexts", "continuations", "start", "end"),
    [
        (
            SPIDER_PROMPT,
            SPIDER_ROWS,
            ["write a database question:"] * 2,
            [" how many cars?", " which ship sank?"],
            "model_default",
            False,
        ),
        (
            SPIDER_PROMPT_DATABASE_ID,
            SPIDER_ROWS,
            ["write a database question:cars_1:", "write a database question:ships:"],
            [" how many cars?", " which ship sank?"],
            "model_default",
            False,
        ),
        (SPIDER_FINE_TUNED, SPIDER_ROWS, ["", ""], ["how many cars?", "which ship sank?"], "always", False),
        (SPIDER_TRAINING, SPIDER_ROWS, ["", ""], ["how many cars?", "which ship sank?"], "always", True),
        (
            SNLI_WITH_LABEL,
            SNLI_ROWS,
            [
                "Premise: Two dogs run. This hypothesis is entailed:",
                "Premise: A man {eats}. This hypothesis is a contradiction:",
            ],
            [" Animals move.", " Nobody eats"],
            "always",
            True,
        ),
        (
            SNLI_WITHOUT_LABEL,
            SNLI_ROWS,
            ["Premise: Two dogs run. Hypothesis:", "Premise: A man {eats}. Hypothesis:"],
            [" Animals move.", " Nobody eats"],
            "always",
            True,
        ),
        (
            BOOLQ,
            pa.table({"passage": ["Ice floats. "], "question": ["does ice Float"]}),
            ["Passage: Ice floats.  Ask a question about the passage:"],
            [" does ice Float"],
            "always",
            True,
        ),
    ],
    ids=lambda value: value.name if isinstance(value, PromptTemplate) else "",
)
def test_published_prompts(
    template: PromptTemplate,
    rows: pa.Table,
    contexts: list[str],
    continuations: list[str],
    start: str,
    end: bool,
) -> None:
    assert template.render(rows) == (contexts, continuations)
    assert (template.start_token, template.score_end_token) == (start, end)


def test_rows_keep_their_casing() -> None:
    SPIDER_PROMPT.render(SPIDER_ROWS)
    assert SPIDER_ROWS.column("question").to_pylist() == ["How MANY cars?", " Which ship sank? "]


def test_class_numbers_count_the_phrases() -> None:
    numbers = SNLI_ROWS.set_column(2, "label", pa.array([0, 2], pa.int64()))
    assert SNLI_WITH_LABEL.render(numbers) == SNLI_WITH_LABEL.render(SNLI_ROWS)


@pytest.mark.parametrize("label", ["-", "Entailment", "neutral "])
def test_a_label_without_a_phrase_is_never_read_as_neutral(label: str) -> None:
    rows = SNLI_ROWS.set_column(2, "label", pa.array(["neutral", label]))
    with pytest.raises(
        SourceError, match=r"row 1, field 'label': label without a phrase, got .*entailment, neutral"
    ):
        SNLI_WITH_LABEL.render(rows)


@pytest.mark.parametrize("number", [-1, 3])
def test_a_class_number_without_a_phrase(number: int) -> None:
    rows = SNLI_ROWS.set_column(2, "label", pa.array([0, number]))
    with pytest.raises(SourceError, match="label without a phrase"):
        SNLI_WITH_LABEL.render(rows)


@pytest.mark.parametrize("name", ["text", "my text", "a.b", "x:y", "{odd}", "q!r", "0", "Frage"])
def test_a_users_columns_may_have_any_name(name: str) -> None:
    rows = pa.table({name: ["Some Text"], f"{name} before": ["Before {it}"]})
    assert user_template(name).render(rows) == ([""], ["Some Text"])
    assert user_template(name, f"{name} before").render(rows) == (["Before {it}"], [" Some Text"])
    assert user_template(name, f"{name} before").column_names() == [f"{name} before", name]


def test_text_and_context_may_be_one_column() -> None:
    assert user_template("a", "a").render(pa.table({"a": ["x"]})) == (["x"], [" x"])


def test_unknown_columns_and_columns_without_text() -> None:
    with pytest.raises(UsageError, match="needs column 'question'; the rows have text"):
        SPIDER_PROMPT.render(pa.table({"text": ["a"]}))
    with pytest.raises(UsageError, match="needs text in column 'question', which holds int64"):
        SPIDER_PROMPT.render(pa.table({"question": [1]}))


@pytest.mark.parametrize("part", ["{a.__class__}{b!r}", "{a:>10}", "{}", "{a", "a}"])
def test_templates_hold_plain_column_names_only(part: str) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        PromptTemplate(name="x", context="", continuation=part)


def test_literal_braces() -> None:
    template = PromptTemplate(name="x", context="{{json}}: {a}", continuation="{a}")
    assert template.render(pa.table({"a": ["1"]})) == (["{json}: 1"], ["1"])


def test_incomplete_rows_are_those_with_nothing_to_score() -> None:
    rows = pa.table({"question": ["a", None, "", "  ", "b"]})
    assert SPIDER_PROMPT.incomplete(rows).tolist() == [False, True, True, True, False]
    # With the end token there is always a token to score, but a null is no text at all.
    assert SPIDER_TRAINING.incomplete(rows).tolist() == [False, True, False, False, False]
    rows = rows.append_column("passage", pa.array(["p", "p", "p", "p", None], pa.string()))
    assert BOOLQ.incomplete(rows).tolist() == [False, True, False, False, True]


def test_none_spelled_out_is_text() -> None:
    rows = pa.table({"question": ["None", "nan", "null", "n/a"]})
    assert SPIDER_FINE_TUNED.render(rows)[1] == ["none", "nan", "null", "n/a"]
    assert not SPIDER_FINE_TUNED.incomplete(rows).any()


def test_templates_need_no_torch() -> None:
    code = (
        "import sys, benchwright.splitting.scores; from benchwright.splitting.scores.templates import BOOLQ;"
        "sys.exit(bool({'torch', 'transformers', 'datasets'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_to_json_is_plain_data() -> None:
    assert json.loads(json.dumps(SNLI_WITH_LABEL.to_json())) == SNLI_WITH_LABEL.to_json()


@pytest.mark.corpora
def test_reference_strings_and_token_ids(oracle_folder: Path, tmp_path: Path) -> None:
    from benchwright.eval.models import load_causal

    expected = json.loads((oracle_folder / "gpt2_scoring" / "expected.json").read_text())
    snli = expected["inputs"]["snli"]
    rows = pa.table(
        {name: [row[i] for row in snli] for i, name in enumerate(("premise", "hypothesis", "label"))}
    )
    contexts, continuations = SNLI_WITH_LABEL.render(rows)
    strings = [tuple(pair) for pair in expected["demo_encoding"]["strings"]]
    assert list(zip(contexts, continuations, strict=True))[:3] == strings[:3]
    passage, question = expected["inputs"]["boolq"][0]
    boolq = BOOLQ.render(pa.table({"passage": [passage], "question": [question]}))
    assert (boolq[0][0], boolq[1][0]) == strings[3]

    import numpy as np

    weights = dict(np.load(oracle_folder / "gpt2_scoring" / "weights.npz"))
    tokenizer = (oracle_folder / "gpt2_scoring" / "tokenizer.json").read_text()
    model = load_causal(str(save_gpt2(tmp_path / "gpt2", expected["config"], weights, tokenizer)))
    pair = model.encode_pair(contexts[0], continuations[0], start="always", end=True)
    demo = expected["demo_encoding"]["snli_label_0"]
    assert [*pair.context, *pair.continuation] == demo["ids"]
    assert (len(pair.context), len(pair.continuation)) == (demo["type"].count(0), demo["type"].count(1))
