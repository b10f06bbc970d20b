"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import UsageError


class Method(StrEnum):
    """One switch for every choice on which papers, their code and good sense differ."""

    corrected = "corrected"
    published = "published"


class BadRows(StrEnum):
    """What to do with rows that cannot be used."""

    fail = "fail"
    drop = "drop"


class Redistribute(StrEnum):
    """What of a corpus may be passed on: its text, only ids and placements, or nothing."""

    text = "text"
    ids_only = "ids_only"
    no = "no"


class Scorer(StrEnum):
    """A prompted language model, or one fine-tuned on the other folds."""

    prompt = "prompt"
    kfold = "kfold"


def _held_out(text: str | float) -> int | float:
    from ..builders.sizes import parse_size

    return parse_size(str(text))


Json = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a release that stands at --out.")]
Models = Annotated[
    list[str],
    typer.Option(
        "--lm",
        help="Language model: `embedded`, a folder, or a Hub id (`@REVISION`). Repeat to compare several.",
    ),
]
Folds = Annotated[
    list[int], typer.Option("--k", help="Folds of the fine-tuned LM. Repeat to compare several.")
]
Recipe = Annotated[
    list[str] | None,
    typer.Option(
        "--recipe", metavar="FIELD=VALUE", help="Fine-tuning, e.g. max_steps=20 trainable_layers=6."
    ),
]
PviModels = Annotated[
    list[str],
    typer.Option(
        "--pvi-model",
        help="Encoder or language model that V-information is measured with: `minilm-l6`, `minilm-l3`, "
        "`embedded`, a folder, or a Hub id (`@REVISION`). Repeat to compare several.",
    ),
]
PviRecipe = Annotated[
    list[str] | None,
    typer.Option(
        "--pvi-recipe", metavar="FIELD=VALUE", help="Training for V-information, e.g. epochs=2 batch_size=32."
    ),
]
PviFit = Annotated[
    str | None,
    typer.Option(help="Rows are scored by models of other folds (cross_fitted) or by their own (in_sample)."),
]
PviCut = Annotated[
    str | None, typer.Option(help="Where simple and hard part, label by label: midrange or published.")
]
PviBorder = Annotated[
    str | None,
    typer.Option(
        help="Train and evaluation rows are those of the source (published) or drawn anew (pooled)."
    ),
]
PviZeroLabel = Annotated[
    bool,
    typer.Option("--pvi-zero-label", help="Give rows of the first label a PVI of 0, as published code does."),
]
Corpora = Annotated[
    list[str],
    typer.Option(
        "--corpus",
        metavar="LOCATION",
        help="Corpus that rows are searched in: a file, folder or archive, `sample`, or "
        "`hub:ORG/NAME@REVISION#CONFIG/SPLIT:FIELD`. Repeatable.",
    ),
]
ChineseCorpora = Annotated[
    list[str],
    typer.Option(
        "--chinese-corpus", metavar="LOCATION", help="The same for rows in Chinese, by pairs of characters."
    ),
]
CorpusForm = Annotated[
    str | None,
    typer.Option(
        help="Form of the corpora where it cannot be told: lines, files, jsonl, parquet, reddit, ..."
    ),
]
CorpusField = Annotated[
    str | None, typer.Option(help="Field of the text in corpora of records (JSON Lines, parquet, Hub).")
]
Sentences = Annotated[
    str, typer.Option(help="Documents stay whole (none), or are cut into sentences (punkt) or lines.")
]
ChineseAnalyzer = Annotated[
    str,
    typer.Option(help="Chinese text is cut into runs of N characters (characters-N) or into words (jieba)."),
]
QueryConstruction = Annotated[
    str | None,
    typer.Option(
        "--query",
        help="Queries from dependency parses (parsed) or part-of-speech tags (published); else by --method.",
    ),
]
Idf = Annotated[
    str | None, typer.Option(help="Formula of word weights: paper or whoosh; else as --method says.")
]
Engine = Annotated[str, typer.Option(help="Search engine: fast, or whoosh (the reference; equal scores).")]
HitsPerQuery = Annotated[int, typer.Option(help="Most hits of a row in each corpus.")]
TopHits = Annotated[int, typer.Option(help="Hits of each corpus that rows show, besides exact copies.")]
Executor = Annotated[
    str,
    typer.Option(help="Who searches corpora: serial (this process), local (processes) or ray (a cluster)."),
]
Workers = Annotated[
    int | None,
    typer.Option(help="Processes of --executor local, or cores of a cluster that is started here."),
]
RayAddress = Annotated[
    str | None, typer.Option(help="Address of a Ray cluster (else RAY_ADDRESS, or one is started here).")
]
Shards = Annotated[
    int | None, typer.Option(help="Parts in which each corpus is indexed; else one for each worker.")
]
OverlapCutoffs = Annotated[
    list[float],
    typer.Option("--overlap-cutoff", help="BM25 score above which rows overlap; repeatable; else 0, 25, 35."),
]
CutoffQuantiles = Annotated[
    list[float],
    typer.Option(
        "--cutoff-quantile",
        help="A further subset, above this quantile (0 to 1) of the overlapping rows; repeatable.",
    ),
]
Repair = Annotated[
    bool,
    typer.Option(
        "--repair",
        help="Make each config a second time without conflicts, duplicates and leaks (`CONFIG_clean`).",
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(help="Folder of scores and checkpoints (else BENCHWRIGHT_CACHE or ~/.cache/benchwright)."),
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, mps.")]
StartToken = Annotated[
    str | None,
    typer.Option(help="Start-of-text token, if the one chosen for the model is wrong (text or id)."),
]
Criterion = Annotated[str, typer.Option(help="log_likelihood, perplexity or length_perplexity.")]
OnBadRow = Annotated[BadRows, typer.Option(help="Stop at bad rows, or leave them out and count them.")]
HeldOutOrPublished = Annotated[
    Any,
    typer.Option(
        parser=_held_out,
        metavar="SIZE",
        help="A share of the rows (0.1) or a number of rows (500); the published proportions if not given.",
    ),
]
HeldOut = Annotated[
    Any,
    typer.Option(
        parser=_held_out, metavar="SIZE", help="A share of the rows (0.1) or a number of rows (500)."
    ),
]
Constraint = Annotated[
    str | None, typer.Option(help="atoms or none, for all configs; else atoms where the paper has them.")
]
Structure = Annotated[
    str | None,
    typer.Option(
        help="Definition of atoms and compounds: spider, sqlglot (or sqlglot-postgres, ...), funql."
    ),
]
TemplateRule = Annotated[
    str | None,
    typer.Option(help="Definition of templates: canonical (canonical-postgres, ...), masked or funql."),
]
TmcdMode = Annotated[
    str | None, typer.Option(help="TMCD by best swaps (best) or by the published loop (reference).")
]
Config = Annotated[str, typer.Option(help="Name of the config.")]
Baseline = Annotated[str, typer.Option(help="Name of the baseline.")]
Settings = Annotated[
    str | None,
    typer.Option(help="Beginning of the settings hash, where a baseline has several results on the config."),
]
Release = Annotated[Path, typer.Argument(metavar="DIR", help="A release folder.")]
ReleasePlace = Annotated[
    str, typer.Argument(metavar="DIR|HUB_ID[@REVISION]", help="A release folder, or a release on the Hub.")
]


def whole_numbers(text: str | None, option: str) -> list[int] | None:
    """`10,100` in numbers; None without the option. Raises UsageError for anything but whole numbers."""
    if text is None:
        return None
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise UsageError(f"{option} {text!r} is no list of whole numbers; write 10,100,1000") from None


def parse_recipe(entries: list[str] | None, option: str = "--recipe") -> dict[str, Any]:
    """`FIELD=VALUE` entries as a mapping; values are JSON numbers, true, false, null or text."""
    recipe: dict[str, Any] = {}
    for entry in entries or []:
        for part in entry.split():
            field, equals, value = part.partition("=")
            if not equals or not field:
                raise UsageError(f"{option} takes FIELD=VALUE, got {part!r}")
            try:
                recipe[field] = json.loads(value)
            except ValueError:
                recipe[field] = value
    return recipe


def token(text: str | None) -> str | int | None:
    """A token as text, or its id where only digits are given."""
    return int(text) if text is not None and text.isdecimal() else text


def names(text: str | None) -> list[str] | None:
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError("the list of names is empty; leave the option out for the default")
    return names
