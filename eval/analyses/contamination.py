"""What stands in corpora of a release's evaluation rows, and what models score on rows that do and do not.

    results/<config>/overlap.parquet

holds a search of one config's evaluation rows, row by row, with what was searched in its metadata. It is
kept beside results, since it is no part of what is built from the source, and speaks only of the rows that
were searched: it is stale when they change. Source of the comparison: "Language Models are Few-Shot
Learners" (2005.14165), Appendix C (clean and dirty rows).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import ReleaseError
from ...hashing import canonical_json, sha256_text
from ...release import ReleaseFolder, read_parquet
from ...tables import write_parquet
from ..results import FOLDER, Result, read_examples
from .overlap import accuracy, unpaired

FORMAT = 2
FILE = "overlap.parquet"
NGRAMS, BM25 = "ngrams", "bm25"
"""The two rules by which a row overlaps."""
SHARE, SCORE = "share", "score"
"""What of a row's best documents a BM25 cut-off is compared with: the share of its query, or the score."""

SCHEMA = pa.schema(
    [
        ("uid", pa.string()),
        ("overlapping", pa.bool_()),
        ("words", pa.int32()),
        ("ngrams", pa.int32()),
        ("matched_ngrams", pa.int32()),
        (
            "inputs",
            pa.list_(
                pa.struct(
                    [
                        ("input", pa.string()),
                        ("words", pa.int32()),
                        ("ngrams", pa.int32()),
                        ("matched_ngrams", pa.int32()),
                    ]
                )
            ),
        ),
        (
            "ngram_hits",
            pa.list_(
                pa.struct([("corpus", pa.string()), ("document_id", pa.string()), ("ngrams", pa.int32())])
            ),
        ),
        ("best_score", pa.float64()),
        ("best_share", pa.float64()),
        (
            "hits",
            pa.list_(
                pa.struct(
                    [
                        ("corpus", pa.string()),
                        ("document_id", pa.string()),
                        ("score", pa.float64()),
                        ("share", pa.float64()),
                    ]
                )
            ),
        ),
    ]
)
"""One line a row: `overlapping` by n-grams, null for a row without a word; `words`, `ngrams` (distinct) and
`matched_ngrams` (in any corpus) of all inputs together, then of every input; for each corpus that makes the
row overlap its first document that does, and the most n-grams of one text; the best BM25 score, null without
a query, and the best documents, each with the share of the row's query that it has: of its distinct terms,
weighted by inverse document frequency. `best_share` is the largest of them."""

_METADATA = "benchwright.overlap"
_HEAD = ("split", "rows_hash", "task_inputs", "inputs", "settings", "corpora")


@dataclass(frozen=True)
class Contamination:
    """How many evaluation rows of a config overlap with corpora.

    `searched` rows have a word; `matched` of them overlap by n-grams (of `ngram` words), `above` by BM25: a
    best share of the query, or score (`cutoff_of`), above `cutoff`; `both` by both; shares are of `searched`.
    `inputs` count by input, `corpora` by corpus, with its identity. `search` tells searches apart; `stale`
    says why one is, if it is.
    """

    config: str
    split: str
    rows: int
    searched: int
    ngram: int
    matched: int
    matched_share: float | None
    cutoff: float
    cutoff_of: str
    above: int
    above_share: float | None
    both: int
    inputs: list[dict[str, Any]]
    corpora: list[dict[str, Any]]
    settings: dict[str, Any]
    rows_hash: str
    search: str
    stale: str | None


@dataclass(frozen=True)
class CleanAccuracy:
    """What a run scores on clean and on overlapping rows of a config, by one `rule` (NGRAMS, BM25).

    `metric` is the run's headline, 0 or 1 for a row. `clean` and `overlapping` hold n, value and its
    interval, None where the run answered no such row; `difference` is overlapping minus clean, with an
    unpaired test, None without one of them. `search` is that of the config's `Contamination`.
    """

    config: str
    split: str
    baseline: str
    model: str | None
    settings_hash: str
    seed: int
    metric: str
    rule: str
    clean: dict[str, Any] | None
    overlapping: dict[str, Any] | None
    difference: dict[str, Any] | None
    search: str


@dataclass(frozen=True)
class _Search:
    """A stored search: its rows, what was searched, and why it does not speak of the release any more."""

    config: str
    table: pa.Table
    facts: dict[str, Any]
    stale: str | None

    @property
    def identity(self) -> str:
        return sha256_text(canonical_json([self.config, self.facts]))

    def overlapping(self, rule: str) -> np.ndarray:
        """bool[rows]."""
        if rule == NGRAMS:
            return _bools(self.table.column("overlapping"))
        settings = self.facts["settings"]
        return _bools(pc.greater(self.table.column(f"best_{settings['cutoff_of']}"), settings["cutoff"]))


def write_search(release: ReleaseFolder, config: str, table: pa.Table, facts: Mapping[str, Any]) -> None:
    """Store a search of a config's evaluation rows; `table` has SCHEMA, `facts` the fields of its metadata.

    These are split, rows_hash (content hash of the rows), task_inputs, inputs (those with text), settings
    (ngram, cutoff, cutoff_of, ...) and corpora (name, fingerprint, documents, terms, skipped, dropped,
    identity).
    """
    text = canonical_json({"format": FORMAT, **{name: facts[name] for name in _HEAD}})
    write_parquet(table.cast(SCHEMA), search_file(release, config), {_METADATA: text})


def search_file(release: ReleaseFolder, config: str) -> Path:
    """Where the search of a config is stored."""
    return release.path / FOLDER / config / FILE


def contamination_analyses(release: ReleaseFolder, results: Sequence[Result]) -> dict[str, list[Any]]:
    """`contamination` and `contamination_accuracy` of every stored search; `results` are not stale.

    A stale search is told with its reason and has no accuracies. Raises ReleaseError for a file that is no
    search.
    """
    found: dict[str, list[Any]] = {"contamination": [], "contamination_accuracy": []}
    for search in _searches(release):
        try:
            found["contamination"].append(_contamination(search))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise _no_search(release, search.config, error) from None
        if search.stale is None:
            found["contamination_accuracy"] += [
                line for result in results for line in _accuracies(release, search, result)
            ]
    return found


def _searches(release: ReleaseFolder) -> Iterator[_Search]:
    order = {name: place for place, name in enumerate(release.configs)}
    names = [path.parent.name for path in (release.path / FOLDER).glob(f"*/{FILE}")]
    for config in sorted(names, key=lambda name: (order.get(name, len(order)), name)):
        table = read_parquet(release.path / FOLDER / config / FILE)
        try:
            facts = json.loads((table.schema.metadata or {})[_METADATA.encode()])
            if facts.pop("format") != FORMAT or not table.schema.equals(SCHEMA):
                raise ValueError("its format is unknown")
            facts = {name: facts[name] for name in _HEAD}
            stale = _stale_reason(release, config, facts)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise _no_search(release, config, error) from None
        yield _Search(config, table, facts, stale)


def _no_search(release: ReleaseFolder, config: str, error: Exception) -> ReleaseError:
    path = release.path / FOLDER / config / FILE
    return ReleaseError(f"{path} is no overlap search ({error!r}); delete it and run `benchwright overlap`")


def _stale_reason(release: ReleaseFolder, config: str, facts: Mapping[str, Any]) -> str | None:
    if config not in release.placed_configs:
        return f"the release has no config {config!r}"
    if release.rows_hash(config, facts["split"]) != facts["rows_hash"]:
        return f"the rows of {config}/{facts['split']} have changed"
    if list(release.task(config).inputs) != facts["task_inputs"]:
        return f"the inputs of {config} have changed"
    return None


def _contamination(search: _Search) -> Contamination:
    table, facts = search.table, search.facts
    settings = facts["settings"]
    cutoff = float(settings["cutoff"])
    matched, above = search.overlapping(NGRAMS), search.overlapping(BM25)
    searched = table.num_rows - table.column("overlapping").null_count
    by_input = pc.list_flatten(table.column("inputs"))
    by_corpus, best = (
        pc.list_flatten(table.column("ngram_hits")),
        _best_of_corpora(table, settings["cutoff_of"]),
    )
    return Contamination(
        config=search.config,
        split=facts["split"],
        rows=table.num_rows,
        searched=searched,
        ngram=settings["ngram"],
        matched=int(matched.sum()),
        matched_share=int(matched.sum()) / searched if searched else None,
        cutoff=cutoff,
        cutoff_of=settings["cutoff_of"],
        above=int(above.sum()),
        above_share=int(above.sum()) / searched if searched else None,
        both=int((matched & above).sum()),
        inputs=[{"input": name, **_of_input(by_input, name)} for name in facts["inputs"]],
        corpora=[
            {
                **{
                    key: corpus[key]
                    for key in ("name", "fingerprint", "documents", "terms", "skipped", "dropped")
                },
                "matched": _equal(by_corpus, "corpus", corpus["name"]),
                "above": sum(value > cutoff for value in best.get(corpus["name"], ())),
                "identity": corpus["identity"],
            }
            for corpus in facts["corpora"]
        ],
        settings=dict(settings),
        rows_hash=facts["rows_hash"],
        search=search.identity,
        stale=search.stale,
    )


def _of_input(inputs: pa.Array, name: str) -> dict[str, int]:
    """Rows with a word in an input, and those of which an n-gram of it was found."""
    own = inputs.filter(pc.equal(pc.struct_field(inputs, "input"), name))
    counts = {field: pc.struct_field(own, field) for field in ("words", "matched_ngrams")}
    return {
        "rows": int(pc.sum(pc.greater(counts["words"], 0)).as_py() or 0),
        "matched": int(pc.sum(pc.greater(counts["matched_ngrams"], 0)).as_py() or 0),
    }


def _equal(structs: pa.Array, field: str, value: str) -> int:
    return int(pc.sum(pc.equal(pc.struct_field(structs, field), value)).as_py() or 0)


def _best_of_corpora(table: pa.Table, kind: str) -> dict[str, list[float]]:
    """The best score or share of every row that was hit in a corpus, by corpus."""
    found: dict[str, list[float]] = {}
    for hits in table.column("hits").to_pylist():
        best: dict[str, float] = {}
        for hit in hits or ():
            best[hit["corpus"]] = max(hit[kind], best.get(hit["corpus"], hit[kind]))
        for corpus, value in best.items():
            found.setdefault(corpus, []).append(value)
    return found


def _accuracies(release: ReleaseFolder, search: _Search, result: Result) -> Iterator[CleanAccuracy]:
    if (result.config, result.evaluated_on) != (search.config, search.facts["split"]) or result.withheld:
        return
    metric = result.headline
    scores = {line["uid"]: line["scores"].get(metric) for line in read_examples(release, result)}
    values = [scores.get(uid) for uid in search.table.column("uid").to_pylist()]
    if not any(value is not None for value in values) or any(value not in (None, 0, 1) for value in values):
        return
    answered = np.array([value is not None for value in values], dtype=bool)
    right = np.array([value == 1 for value in values], dtype=bool)
    searched = search.table.column("overlapping").combine_chunks().is_valid().to_numpy(zero_copy_only=False)
    for rule in (NGRAMS, BM25):
        over = search.overlapping(rule)
        clean, overlapping = right[answered & searched & ~over], right[answered & searched & over]
        yield CleanAccuracy(
            config=search.config,
            split=result.evaluated_on,
            baseline=result.baseline,
            model=result.model,
            settings_hash=result.settings_hash,
            seed=result.seed,
            metric=metric,
            rule=rule,
            clean=accuracy(clean) if len(clean) else None,
            overlapping=accuracy(overlapping) if len(overlapping) else None,
            difference=unpaired(overlapping, clean) if len(clean) and len(overlapping) else None,
            search=search.identity,
        )


def _bools(column: pa.ChunkedArray) -> np.ndarray:
    filled = pc.fill_null(column, False)
    return np.array(filled.to_pylist(), dtype=bool)
