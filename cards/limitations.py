"""What readers should not conclude from a release: only what its own data gives reason to say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from ..release import ReleaseFolder
from ..wording import plural
from .figures import EVALUATION
from .licences import bare_configs
from .markdown import Markdown, codes, compose
from .numbers import count, decimal
from .parts import parts
from .provenance import BM25, PVI, find

# With fewer rows a 95 % interval around 50 % is wider than plus or minus 5 points: 1.96 * 0.5 / sqrt(n).
_WIDE_INTERVAL_ROWS = 385

# Embedded encoders whose training pairs include SNLI and MultiNLI.
_SAW_INFERENCE = frozenset({"minilm-l3", "minilm-l6"})
# Published tasks of Curriculum whose labels look random.
_RANDOM_LABELS = frozenset({"hypernymy", "hyponymy"})

_EXACT_SET_MATCH = "exact_set_match"


def limitations(release: ReleaseFolder) -> list[Markdown]:
    """One paragraph per reservation, the gravest first."""
    return [
        *_sample(release),
        *_ids_only(release),
        *_no_licence(release),
        *_small_evaluation(release),
        *_language_model(release),
        *_information(release),
        *_overlap(release),
        *_training_data(release),
        *_random_labels(release),
        *_no_test(release),
        *_unscored(release),
        *_structure(release),
        *_exact_match(release),
        *_known_findings(release),
        *_languages(release),
    ]


def _sample(release: ReleaseFolder) -> Iterator[Markdown]:
    if release.manifest["source"]["kind"] == "sample":
        rows = plural(release.manifest["source"]["rows"], "row")
        yield compose(
            "**This is a demonstration.** The {rows} come from the small sample that ships with benchwright, "
            "not from the published corpus: results on them say nothing about any model.",
            rows=rows,
        )


def _ids_only(release: ReleaseFolder) -> Iterator[Markdown]:
    if bare := bare_configs(release):
        placed = plural(len(release.placed_configs), "config")
        yield compose(
            "The text of {bare} of {placed} may not be redistributed: their rows carry ids and hashes only, "
            "and are of use together with your own copy of the source; see Licence.",
            bare=count(len(bare)),
            placed=placed,
        )
    elif release.dataset["redistribute"] != "text":
        yield Markdown(
            "The text of the source may not be redistributed, so the rows carry ids and hashes only; they "
            "are of use together with your own copy of the source."
        )


def _no_licence(release: ReleaseFolder) -> Iterator[Markdown]:
    if release.dataset["licence"].lower() == "unknown":
        yield Markdown("The source states no licence; see Licence.")


def _small_evaluation(release: ReleaseFolder) -> Iterator[Markdown]:
    sizes: dict[int, list[str]] = {}
    for name, entry in release.placed_configs.items():
        for split in EVALUATION:
            rows = entry["splits"].get(split, {}).get("rows", _WIDE_INTERVAL_ROWS)
            if rows < _WIDE_INTERVAL_ROWS:
                sizes.setdefault(rows, []).append(f"{name}/{split}")
    if not sizes:
        return
    smallest = min(sizes)
    half = 100 * 1.96 * 0.5 / smallest**0.5
    splits = sum(len(names) for names in sizes.values())
    yield compose(
        "{splits} fewer than {limit} rows; the smallest, {name:code}, has {rows}. There an accuracy near "
        "50 % has a 95 % interval of about ±{half} points: read the intervals, not the digits.",
        splits=plural(splits, "evaluation split has", "evaluation splits have"),
        limit=count(_WIDE_INTERVAL_ROWS),
        name=sizes[smallest][0],
        rows=count(smallest),
        half=decimal(half, 0),
    )


def _language_model(release: ReleaseFolder) -> Iterator[Markdown]:
    tables = release.manifest.get("scores") or {}
    used = {entry["scores"] for entry in release.placed_configs.values() if entry.get("scores")}
    used = {name for name in used if tables.get(name, {}).get("scorer") not in (PVI, BM25)}
    if not used:
        return
    models = {find(tables[name].get("provenance"), "model") for name in sorted(used) if name in tables}
    named = sorted(str(model) for model in models if model)
    yield compose(
        "“Likely” means likely to {models}, not to people. The model may have seen the corpus when it "
        "was trained, and another model would draw another line. A score sums over tokens, so long texts are "
        "less likely: without length control, length is part of what is tested.",
        models=codes(named) if named else Markdown("one language model"),
    )
    yield Markdown(
        "Rows change sides and nothing else: label noise, annotation artefacts and biases of the source are "
        "all still there, and errors of annotation may be more frequent among unlikely rows."
    )


def _overlap(release: ReleaseFolder) -> Iterator[Markdown]:
    entries = (release.manifest.get("scores") or {}).values()
    if any(entry.get("scorer") == BM25 for entry in entries):
        yield Markdown(
            "Only the corpora named under Overlap with corpora were searched: a row without overlap may well "
            "stand in what a model was trained on. BM25 finds shared words, no paraphrases, and a score says "
            "nothing of whether the corpus gives the right answer."
        )


def _information(release: ReleaseFolder) -> Iterator[Markdown]:
    entries = [e for e in (release.manifest.get("scores") or {}).values() if e.get("scorer") == PVI]
    if not entries:
        return
    models = sorted({str(find((e.get("provenance") or {}).get("model"), "model")) for e in entries})
    yield compose(
        "“Simple” and “hard” mean so for {models:codes}, trained as told under Difficulty, not for people. "
        "Another model, or another recipe, would draw another line. Errors of annotation are likely to be "
        "among the hard rows, and a model may find hard what it learnt too little of.",
        models=models,
    )
    cut = [_truncated(entry) for entry in entries]
    if any(cut):
        yield compose(
            "Long premises were cut for the models of {n} at their greatest length ({rows} in all): what "
            "decides the label may stand in the part that they did not see.",
            n=plural(sum(map(bool, cut)), "score table"),
            rows=plural(sum(cut), "input"),
        )


def _truncated(entry: Mapping[str, Any]) -> int:
    found = ((entry.get("provenance") or {}).get("v_information") or {}).get("truncated")
    return found if isinstance(found, int) else 0


def _training_data(release: ReleaseFolder) -> Iterator[Markdown]:
    """What pretrained models that were used had seen of such data."""
    inference = any(
        str((entry.get("task") or {}).get("name")).endswith("nli")
        for entry in release.placed_configs.values()
    )
    if not inference:
        return
    tables = (release.manifest.get("scores") or {}).values()
    names = {
        find((e.get("provenance") or {}).get("model"), "model") for e in tables if e.get("scorer") == PVI
    }
    names |= {result.get("model") for result in release.results()}
    seen = sorted(name for name in names if name in _SAW_INFERENCE)
    if seen:
        yield compose(
            "{models:codes} had seen inference data before: SNLI and MultiNLI are among the training data of "
            "this sentence encoder. Values of it are not those of a model that knows nothing of the task.",
            models=seen,
        )


def _random_labels(release: ReleaseFolder) -> Iterator[Markdown]:
    files = [PurePosixPath(str(file["name"])) for file in release.manifest["source"]["files"]]
    found = sorted(
        part
        for part in parts(release)
        if part in _RANDOM_LABELS and any(part in file.parts and file.suffix == ".jsonl" for file in files)
    )
    if found:
        yield compose(
            "The published labels of {parts:codes} look random: texts and labels contradict each other in "
            "many rows, and no model is above chance on them without training. Do not use them as gold "
            "answers.",
            parts=found,
        )


def _no_test(release: ReleaseFolder) -> Iterator[Markdown]:
    entries = release.placed_configs.values()
    if parts(release) and not any("test" in entry["splits"] for entry in entries):
        yield Markdown(
            "There is no `test` split: `validation` is what the benchmark evaluates on. To choose models or "
            "settings, hold out rows of `train`."
        )


def _unscored(release: ReleaseFolder) -> Iterator[Markdown]:
    numbers = {
        name: sum(sides.get("unscored", 0) for sides in (entry.get("placed_by") or {}).values())
        for name, entry in release.placed_configs.items()
    }
    numbers = {name: number for name, number in numbers.items() if number}
    if numbers:
        most = max(numbers.values())
        yield compose(
            "Rows without a score (up to {most}, in {configs:codes}) are all in train, so no evaluation row "
            "is too long for the scoring model.",
            most=count(most),
            configs=numbers,
        )


def _structure(release: ReleaseFolder) -> Iterator[Markdown]:
    if (release.manifest.get("choices") or {}).get("structure") == "sqlglot":
        yield Markdown(
            "Atoms and compounds are those of sqlglot's trees, not of the grammar in the paper on likelihood "
            "splits: divergences and TMCD splits are not comparable with those of the paper."
        )


def _exact_match(release: ReleaseFolder) -> Iterator[Markdown]:
    metrics = {
        name for entry in release.placed_configs.values() for name in entry["task"].get("metrics") or ()
    }
    if _EXACT_SET_MATCH in metrics:
        yield Markdown(
            "Exact set match ignores literal values, numbers after LIMIT and the conditions of joins: a "
            "query that it accepts may return other rows than the gold query."
        )


def _known_findings(release: ReleaseFolder) -> Iterator[Markdown]:
    found = (release.manifest.get("audit") or {}).get("findings") or []
    leaks = sorted(
        {
            finding["config"]
            for finding in found
            if finding["code"].startswith("leak") and finding.get("config")
        }
    )
    if leaks:
        yield compose(
            "Some inputs stand in train as well as in evaluation ({configs:codes}); they are listed under "
            "Audit and were left where the placement rule put them.",
            configs=leaks,
        )


def _languages(release: ReleaseFolder) -> Iterator[Markdown]:
    languages = list(release.dataset.get("languages") or [])
    if len(languages) == 1:
        yield compose("One language only: {language:code}.", language=languages[0])
