"""What of the evaluation rows stands in corpora (`benchwright overlap`), from `results/index.json`.

Source of the comparison: "Language Models are Few-Shot Learners" (2005.14165), Appendix C.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..release import ReleaseFolder
from . import checks
from .markdown import Markdown, code, compose, folded, table
from .numbers import MISSING, count, decimal, percent
from .properties import PropertySection
from .results import analysis_entries, metric_words

_LINE = checks.record(
    config=checks.text,
    split=checks.split,
    rows_hash=checks.text,
    search=checks.text,
    stale=checks.optional(checks.text),
    cutoff=checks.number,
    cutoff_of=checks.text,
    matched_share=checks.number,
    above_share=checks.number,
    **dict.fromkeys(("rows", "searched", "ngram", "matched", "above", "both"), checks.count),
    inputs=checks.list_of(checks.record(input=checks.text, rows=checks.count, matched=checks.count)),
    corpora=checks.list_of(
        checks.record(
            name=checks.text,
            **dict.fromkeys(("documents", "terms", "matched", "above"), checks.count),
        )
    ),
)
_SIDE = checks.optional(
    checks.record(n=checks.count, value=checks.number, low=checks.number, high=checks.number)
)
_ACCURACY = checks.record(
    config=checks.text,
    baseline=checks.text,
    model=checks.optional(checks.text),
    settings_hash=checks.text,
    metric=checks.text,
    rule=checks.text,
    search=checks.text,
    clean=_SIDE,
    overlapping=_SIDE,
    difference=checks.optional(
        checks.record(difference=checks.number, low=checks.number, high=checks.number, p=checks.number)
    ),
)
_RULES = {"ngrams": "n-grams", "bm25": "BM25"}
_BM25_RULES = {
    "share": "**BM25** finds the documents that are most like a row, in whatever order their words stand. A "
    "row overlaps by it where one of them has more than the cut-off of the row's terms, each weighted by how "
    "rare it is in the corpus (inverse document frequency): above 0.5, more than half of what makes the row "
    "distinctive. A long document has many words of any row.",
    "score": "A row overlaps by **BM25** where the score of the most similar document is above the cut-off; "
    "that score grows with the length of the row, so that one cut-off asks more of short rows than of long "
    "ones, and says nothing of order.",
}
_CUTOFFS = {"share": "{cutoff:g} of the terms", "score": "score {cutoff:g}"}
_SMALLEST_P = 0.0001

Entry = Mapping[str, Any]


def contamination_sections(release: ReleaseFolder, index: Mapping[str, Any]) -> list[PropertySection]:
    """How many rows overlap, and accuracy on clean and overlapping ones; empty where nothing was searched.

    Raises ReleaseError for an index whose analyses lack a field.
    """
    lines = _entries(release, index, "contamination", _LINE)
    if not lines:
        return []
    stale = {line["config"]: reason for line in lines if (reason := _stale_reason(release, line))}
    current = [line for line in lines if line["config"] not in stale]
    searches = {line["search"] for line in current}
    accuracies = [
        entry
        for entry in _entries(release, index, "contamination_accuracy", _ACCURACY)
        if entry["search"] in searches
    ]
    tables = [_counts(current), _details(current)] if current else []
    tables += [_accuracy_table(accuracies)] if accuracies else []
    return [
        PropertySection(
            title=Markdown("Contamination"),
            sentences=tuple(_sentences(current, accuracies, stale)),
            figures=(),
            tables=tuple(tables),
        )
    ]


def _entries(release: ReleaseFolder, index: Mapping[str, Any], kind: str, check: checks.Check) -> list[Entry]:
    return analysis_entries(release, index, kind, check, fix="run `benchwright overlap` again")


def _stale_reason(release: ReleaseFolder, line: Entry) -> str | None:
    """Why a search does not speak of the rows that stand here, whatever the index knew."""
    if line["config"] not in release.placed_configs:
        return "the config is gone"
    if release.rows_hash(line["config"], line["split"]) != line["rows_hash"]:
        return f"the rows of {line['split']} have changed"
    return line["stale"]


def _sentences(
    lines: Sequence[Entry], accuracies: Sequence[Entry], stale: Mapping[str, str]
) -> Iterator[Markdown]:
    if lines:
        yield Markdown(
            "Evaluation rows were searched in corpora. A row overlaps by **n-grams** where a run of *n* of "
            "its words stands in a document word by word (a shorter text: where all of it does). This is the "
            "first thing to look at: it means the same for short and long rows. Other rows are **clean**, as "
            "far as these corpora go. A row that stands in a corpus could be seen in training; no model is "
            "known to have learnt it."
        )
        kinds = dict.fromkeys(line["cutoff_of"] for line in lines)
        yield Markdown(" ".join(_BM25_RULES[kind] for kind in kinds if kind in _BM25_RULES))
    if accuracies:
        yield Markdown(
            "Both accuracies, in percent with 95 % intervals, are of one run on different rows, so the test "
            "of their difference (overlapping minus clean, in points) is unpaired; no *p* is corrected for "
            "the number of tests. Overlapping rows are no random sample: they may be easier or harder for "
            "other reasons."
        )
    for config, reason in stale.items():
        yield compose(
            "**Stale**: {config:code} is left out, because {reason} since it was searched.",
            config=config,
            reason=reason,
        )


def _counts(lines: Sequence[Entry]) -> Markdown:
    header = ("config", "split", "rows", "n", "n-gram matches (%)", "cut-off", "BM25 above (%)", "both")
    return table(
        header,
        (
            (
                code(line["config"]),
                line["split"],
                count(line["rows"]),
                line["ngram"],
                f"{count(line['matched'])} ({percent(line['matched_share'])})",
                _CUTOFFS.get(line["cutoff_of"], "{cutoff:g}").format(cutoff=line["cutoff"]),
                f"{count(line['above'])} ({percent(line['above_share'])})",
                count(line["both"]),
            )
            for line in lines
        ),
        left=2,
    )


def _details(lines: Sequence[Entry]) -> Markdown:
    """By corpus and by input."""
    by_corpus = table(
        ("config", "corpus", "documents", "terms", "n-gram matches", "BM25 above"),
        (
            (
                code(line["config"]),
                code(corpus["name"]),
                *(count(corpus[name]) for name in ("documents", "terms", "matched", "above")),
            )
            for line in lines
            for corpus in line["corpora"]
        ),
        left=2,
    )
    by_input = table(
        ("config", "input", "rows with text", "n-gram matches"),
        (
            (code(line["config"]), code(one["input"]), count(one["rows"]), count(one["matched"]))
            for line in lines
            for one in line["inputs"]
        ),
        left=2,
    )
    note = "A short input alone, such as a word, may stand in any corpus and does not make its row overlap."
    return folded("By corpus and by input", Markdown(f"{by_corpus}\n\n{note}\n\n{by_input}"))


def _accuracy_table(entries: Sequence[Entry]) -> Markdown:
    header = (
        "config",
        "run",
        "metric",
        "rule",
        "clean",
        "overlapping",
        "difference (points)",
        Markdown("*p*"),
    )
    return table(
        header,
        (
            (
                code(entry["config"]),
                _run(entry, entries),
                metric_words(entry["metric"]),
                _RULES.get(entry["rule"], entry["rule"]),
                _side(entry["clean"]),
                _side(entry["overlapping"]),
                _difference(entry["difference"]),
                _p(entry["difference"]),
            )
            for entry in entries
        ),
        left=4,
    )


def _run(entry: Entry, entries: Sequence[Entry]) -> Markdown:
    """Baseline and model; the settings where another run differs in nothing else."""
    name = code(entry["baseline"])
    if entry["model"] is not None:
        name = compose("{name} with {model:code}", name=name, model=entry["model"])
    alike = {
        other["settings_hash"]
        for other in entries
        if (other["baseline"], other["model"]) == (entry["baseline"], entry["model"])
    }
    if len(alike) > 1:
        short = entry["settings_hash"].removeprefix("sha256:")[:8]
        name = compose("{name}, settings {hash:code}", name=name, hash=short)
    return name


def _side(side: Entry | None) -> str:
    if side is None:
        return MISSING
    interval = f"{percent(side['low'])} to {percent(side['high'])}"
    return f"{percent(side['value'])} ({interval}; {count(side['n'])} rows)"


def _difference(found: Entry | None) -> str:
    if found is None:
        return MISSING
    value, low, high = (decimal(_points(found[name]), signed=True) for name in ("difference", "low", "high"))
    return f"{value} ({low} to {high})"


def _points(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _p(found: Entry | None) -> str:
    if found is None:
        return MISSING
    return (
        f"< {_SMALLEST_P}" if found["p"] is not None and found["p"] < _SMALLEST_P else decimal(found["p"], 4)
    )
