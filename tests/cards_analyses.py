"""What evaluating and analysing the made-up release of `cards_release` may have written: all invented."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from benchwright.release import ReleaseFolder


def add_results(release: ReleaseFolder, *, stale: tuple[str, ...] = ()) -> None:
    """Results of two baselines on every placed config, with an index and its analyses."""
    drops, spreads = [], []
    for number, baseline in enumerate(("majority", "linear_full_input")):
        settings_hash = f"sha256:{number:064x}"
        run = {"baseline": baseline, "model": None, "settings_hash": settings_hash, "metric": "accuracy"}
        values = {}
        for place, (name, entry) in enumerate(release.placed_configs.items()):
            value = values[name] = (
                0.3 + 0.2 * number + (0.2 if entry["splitter"] == "random" else 0.05 * place)
            )
            splits = {s: facts["content_hash"] for s, facts in entry["splits"].items() if s != "validation"}
            if name in stale:
                splits["test"] = "sha256:" + "0" * 64
            result = {
                "format": 1,
                "config": name,
                "task": "nli",
                "baseline": baseline,
                "model": None,
                "settings": {"version": 1},
                "settings_hash": settings_hash,
                "seed": 0,
                "limit": None,
                "splits": splits,
                "evaluated_on": "test",
                "metrics": {
                    "accuracy": {
                        "value": value,
                        "n": 10,
                        "low": value - 0.2,
                        "high": value + 0.2,
                        "interval": "Wilson 95%",
                    }
                },
                "left_out": {},
                "predictions_hash": "sha256:" + "1" * 64,
                "versions": {},
            }
            path = release.path / "results" / name / f"{baseline}--{number:012x}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(result), encoding="utf-8")
        random = [value for name, value in values.items() if release.configs[name]["splitter"] == "random"]
        if not random:
            continue
        mean = float(np.mean(random))
        if len(random) > 1:
            spreads.append(
                run | {"configs": ["random", "random_2"], "mean": mean, "standard_deviation": 0.01}
            )
        drops += [
            run
            | {
                "config": name,
                "value": value,
                "random_configs": ["random", "random_2"],
                "random_mean": mean,
                "drop": mean - value,
                "relative_error_increase": (1 - value) / (1 - mean) - 1,
            }
            for name, value in values.items()
            if release.configs[name]["splitter"] != "random"
        ]
    correlation = {"first": "lm_prompt", "second": "lm_kfold", "rows": 59, "pearson": 0.9123}
    analyses = {"drops": drops, "random_spread": spreads, "score_correlations": [correlation]}
    index = {"format": 1, "results": [], "analyses": analyses}
    (release.path / "results" / "index.json").write_text(json.dumps(index), encoding="utf-8")


def add_breakdowns(release: ReleaseFolder) -> None:
    """Put what `add_results` wrote beside classes of rows and types of errors, all invented."""
    path = release.path / "results" / "index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    run = {"baseline": "majority", "model": None, "settings_hash": f"sha256:{0:064x}", "metric": "accuracy"}
    groups = {
        "easy": {"n": 6, "value": 0.5},
        "hard": {"n": 4, "value": 0.25},
        "extra": {"n": 0, "value": None},
    }
    index["analyses"] |= {
        "breakdowns": [
            run | {"config": name, "column": "hardness", "groups": groups}
            for name in reversed(release.placed_configs)
        ],
        "projections": [
            run
            | {"config": "ll_split_pt", "column": "hardness", "random_configs": ["random"]}
            | {"random": 0.5, "projected": 0.45, "observed": 0.3}
        ],
        "errors": [
            run | {"config": name, "sampled": 7, "typed": 6, "counts": {"wrong column": rows, "no join": 3}}
            for name, rows in (("random", 2), ("ll_split_pt", 4))
        ],
    }
    path.write_text(json.dumps(index), encoding="utf-8")


def properties(release: ReleaseFolder) -> dict[str, Any]:
    """Invented analyses of every placed config: all that `analyses/properties.json` may hold."""
    configs = release.placed_configs
    cells = [
        {"config": name, "split": split, "rows": facts["rows"]}
        for name, entry in configs.items()
        for split, facts in entry["splits"].items()
    ]
    shifts = [((place // 3) * 5 % 7 + place % 3) / 10 for place in range(len(cells))]
    shifted = list(zip(cells, shifts, strict=True))
    return {
        "format": 1,
        "rows": {
            name: {split: facts["content_hash"] for split, facts in entry["splits"].items()}
            for name, entry in configs.items()
        },
        "resources": {"frequencies": {"name": "toy.csv", "sha256": "9" * 64, "entries": 12_345}},
        "divergence": {
            "structure": "toy",
            "summary": "Atoms are words; a compound is two words in a row.",
            "rows": [
                {
                    "config": cell["config"],
                    "train": "train",
                    "evaluation": cell["split"],
                    "train_rows": 40,
                    "evaluation_rows": cell["rows"],
                    "train_unparsed": 2,
                    "compound": 0.05 + shift / 4,
                    "atom_symbols": 0.07 + shift / 9,
                    "atom_set": 0.04 + shift / 9,
                    "atom_tokens": 0.03 + shift / 9,
                }
                for cell, shift in shifted
                if cell["split"] != "train"
            ],
        },
        "composition": {
            "hardness": [cell | {"counts": _toy_counts(cell["rows"], shift)} for cell, shift in shifted],
            "label": [cell | {"counts": {"entailment": cell["rows"]}} for cell in cells],
        },
        "novel_compounds": [
            cell | {"with_novel": int(cell["rows"] * shift), "distinct_novel": int(30 * shift)}
            for cell, shift in shifted
            if cell["split"] != "train"
        ],
        "lengths": {
            column: [cell | _toy_lengths(cell["rows"], base + int(10 * shift)) for cell, shift in shifted]
            for column, base in (("premise", 9), ("hypothesis", 4))
        },
        "rare_words": {
            "hypothesis": [
                cell
                | {"words": 100 * cell["rows"], "rare": int(cell["rows"] * 10 * shift), "share": shift / 10}
                | {"null": {"draws": 500, "mean": 0.03, "low": 0.02, "high": 0.041, "percentile": 99.8}}
                for cell, shift in shifted
            ]
        },
        "readability": {"hypothesis": [cell | {"mean": 3 + shift, "median": 3.2} for cell, shift in shifted]},
        "trees": {
            "hypothesis": [
                cell
                | {
                    measure: {"mean": base + shift, "median": base}
                    for measure, base in (("max_depth", 6), ("mean_depth", 4.5), ("yngve", 1.2))
                }
                for cell, shift in shifted
            ]
        },
    }


def write_properties(release: ReleaseFolder, found: Any) -> None:
    """Put analyses where the card looks for them."""
    path = release.path / "analyses" / "properties.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(found), encoding="utf-8")


def _toy_counts(rows: int, shift: float) -> dict[str, int]:
    easy = round(rows * (0.5 - shift / 3))
    medium = (rows - easy) // 2
    return {"easy": easy, "medium": medium, "hard": rows - easy - medium}


def _toy_lengths(rows: int, base: int) -> dict[str, Any]:
    lengths = [base + (place * place) % 7 for place in range(rows)]
    first, median, third = np.percentile(lengths, (25, 50, 75)).tolist()
    values, counts = np.unique(lengths, return_counts=True)
    return {
        "mean": float(np.mean(lengths)),
        "median": median,
        "quartiles": [first, third],
        "histogram": [list(pair) for pair in zip(values.tolist(), counts.tolist(), strict=True)],
    }
