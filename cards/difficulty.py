"""How hard the data sets of a release are: their V-information (2110.08420; 2204.06283, Table 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ReleaseError
from ..release import ReleaseFolder
from . import checks
from .experiment_figures import Interval, IntervalFigure
from .markdown import Markdown, code, compose, folded, join, table
from .numbers import MISSING, count, decimal, percent
from .parts import parts
from .properties import PropertySection
from .provenance import PVI, find

FIGURE = "figures/v_information.png"

_DEFINITION = (
    "**V-information** says, in bits, how much a kind of model learns about the label from the text: one "
    "model is trained on the texts, another on an empty input, and a row's pointwise V-information (PVI) is "
    "how much less surprised the first is by the row's label; V-information is the mean of it. It is 0 or "
    "less where the text tells this model nothing; with labels in equal numbers, the most is 1 bit for two "
    "labels and 1.58 bits for three. It **depends on the model** and on its training: a stronger model, or "
    "more training rows, would find more. Intervals are 95 % bootstrap intervals over rows, for the models "
    "as they were trained."
)
_MEASURE = checks.record(value=checks.number, low=checks.number, high=checks.number, n=checks.count)
_SIDE = checks.record(overall=_MEASURE, by_label=checks.mapping_of(_MEASURE))
_V_INFORMATION = checks.record(
    overall=_MEASURE,
    by_label=checks.mapping_of(_MEASURE),
    by_source_split=checks.optional(checks.mapping_of(_SIDE)),
    truncated=checks.optional(checks.count),
    constant_models=checks.optional(checks.count),
)


@dataclass(frozen=True)
class Graded:
    """A score table of V-information: the part that it grades (None: all rows) and what was found."""

    table: str
    part: str | None
    category: str | None
    found: Mapping[str, Any]
    recipe: Markdown
    hard: float | None


def graded_tables(release: ReleaseFolder) -> list[Graded]:
    """The score tables of V-information, the most information first.

    Raises ReleaseError for one whose provenance lacks a number.
    """
    known = parts(release)
    found = []
    for name, entry in (release.manifest.get("scores") or {}).items():
        if entry.get("scorer") != PVI:
            continue
        information = (entry.get("provenance") or {}).get("v_information")
        if information is None:
            continue
        try:
            _V_INFORMATION(information, f"scores.{name}.provenance.v_information")
        except ValueError as error:
            raise ReleaseError(
                f"{release.path / 'manifest.json'}: {error}; build the release again"
            ) from None
        part = entry.get("part")
        category = known[part].category if part in known else None
        hard = _share_of_hard(release, name)
        found.append(Graded(name, part, category, information, recipe_sentence(entry), hard))
    return sorted(found, key=lambda graded: (-(graded.found["overall"]["value"] or 0.0), graded.table))


def difficulty_section(release: ReleaseFolder) -> list[PropertySection]:
    """The table of difficulties and its picture; empty without a table of V-information."""
    graded = graded_tables(release)
    if not graded:
        return []
    return [
        PropertySection(
            title=Markdown("Difficulty"),
            sentences=(Markdown(_DEFINITION), *_recipes(graded)),
            figures=(_figure(graded),) if len(graded) > 1 else (),
            tables=tuple(_tables(graded)),
        )
    ]


def recipe_sentence(entry: Mapping[str, Any]) -> Markdown:
    """Which models a table of V-information was made with, and how they were trained, in words."""
    provenance = entry.get("provenance") or {}
    key = provenance.get("key") or {}
    recipe = key.get("recipe") or {}
    models = [model for model in provenance.get("models") or () if isinstance(model, Mapping)]
    null = " and ".join(code(repr(text)) for text in dict.fromkeys(map(str, key.get("null") or ())))
    how = [
        compose("epochs: {number}", number=recipe["epochs"]) if "epochs" in recipe else None,
        compose("batches of {size}", size=recipe["batch_size"]) if "batch_size" in recipe else None,
        compose("learning rate {rate}", rate=recipe["learning_rate"]) if "learning_rate" in recipe else None,
        compose("inputs cut at {length} tokens", length=recipe["max_length"])
        if "max_length" in recipe
        else None,
    ]
    return compose(
        "Models: {model:code} with a new classification head, {fit}; {rows}; {how}.{null}{zero}",
        model=find(provenance.get("model"), "model") or "not recorded",
        fit=_fit(key),
        rows=_training_rows(recipe, models),
        how=join(part for part in how if part is not None),
        null=Markdown(f" In the empty input {null} stands in place of each text." if null else ""),
        zero=Markdown(
            " As in the published code, every row of the first label has **PVI 0** by decree, so that "
            "values cover the other labels only."
            if key.get("zero_label")
            else ""
        ),
    )


def _fit(key: Mapping[str, Any]) -> Markdown:
    if key.get("fit") == "in_sample":
        return Markdown("**in-sample**: rows that a model was trained on are scored by it, too")
    return compose(
        "cross-fitted in {k} folds: a row that trains is scored by the model that saw neither it nor its "
        "group nor an equal input, a row that evaluates by all of them",
        k=key.get("k"),
    )


def _training_rows(recipe: Mapping[str, Any], models: list[Mapping[str, Any]]) -> Markdown:
    learnt = [tuple((model.get("rows_by_label") or {}).values()) for model in models]
    equal = bool(learnt) and all(rows and len(set(rows)) == 1 for rows in learnt)
    most = recipe.get("rows_per_label")
    told = (
        Markdown("all rows of every label")
        if most is None
        else compose("at most {n} rows of every label", n=most)
    )
    if equal:
        told = compose("{told}, **labels in equal numbers**", told=told)
    elif learnt:
        told = compose("{told}; labels in **unequal** numbers", told=told)
    return compose("trained on {told}", told=told)


def _recipes(graded: list[Graded]) -> Iterator[Markdown]:
    """Each recipe once, with the tables that it made where there are several."""
    groups: dict[Markdown, list[str]] = {}
    for one in graded:
        groups.setdefault(one.recipe, []).append(one.table)
    for recipe, names in groups.items():
        if len(groups) == 1:
            yield recipe
        else:
            yield compose("{names:codes}: {recipe}", names=names, recipe=recipe)


def _tables(graded: list[Graded]) -> Iterator[Markdown]:
    sided = [one for one in graded if one.found.get("by_source_split")]
    evaluation = bool(sided) and all(set(one.found["by_source_split"]) - {"train"} for one in sided)
    header = ["category", "phenomenon", "score table", "V-information (bits)", "95 % interval"]
    header += ["published evaluation rows (bits)"] if evaluation else []
    header += ["rows", "hard (%)", "remarks"]
    lines = [
        (
            one.category or MISSING,
            _part(one),
            code(one.table),
            decimal(one.found["overall"]["value"], 3),
            _interval(one.found["overall"]),
            *([_evaluation(one)] if evaluation else []),
            count(one.found["overall"]["n"]),
            percent(one.hard),
            join(_remarks(one), "; ") or MISSING,
        )
        for one in graded
    ]
    yield table(header, lines, left=3)
    yield folded("V-information by label", table(*_by_label(graded), left=2))


def _by_label(graded: list[Graded]) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    lines: list[tuple[object, ...]] = [
        (_part(one), code(label), decimal(found["value"], 3), _interval(found), count(found["n"]))
        for one in graded
        for label, found in one.found["by_label"].items()
    ]
    return ("phenomenon", "label", "V-information (bits)", "95 % interval", "rows"), lines


def _remarks(one: Graded) -> Iterator[Markdown]:
    overall = one.found["overall"]
    if one.found.get("no_usable_information"):
        yield Markdown("**no usable information**: simple and hard mean nothing here")
    elif overall["low"] is not None and overall["low"] <= 0 <= overall["high"]:
        yield Markdown("the interval includes 0")
    if one.found.get("constant_models"):
        yield compose("models that ignore the text: {n}", n=one.found["constant_models"])
    if one.found.get("truncated"):
        yield compose("inputs that were cut: {n}", n=count(one.found["truncated"]))


def _evaluation(one: Graded) -> str:
    sides = one.found.get("by_source_split") or {}
    return ", ".join(
        f"{decimal(found['overall']['value'], 3)}" for side, found in sides.items() if side != "train"
    )


def _part(one: Graded) -> Markdown:
    return Markdown("all rows") if one.part is None else code(one.part)


def _interval(found: Mapping[str, Any]) -> str:
    if found["low"] is None or found["high"] is None:
        return MISSING
    return f"{decimal(found['low'], 3)} to {decimal(found['high'], 3)}"


def _share_of_hard(release: ReleaseFolder, scores: str) -> float | None:
    """The share of hard rows among those that the cells of a table hold; None unless they hold all four."""
    rows: dict[tuple[bool, str], int] = {}
    for entry in release.placed_configs.values():
        if entry["splitter"] != PVI or entry.get("scores") != scores:
            continue
        for split, facts in entry["splits"].items():
            trains = split == "train"
            word = entry["parameters"]["train" if trains else "evaluation"]
            key = trains, word
            held = sum(
                other["rows"] for name, other in entry["splits"].items() if (name == "train") == trains
            )
            rows[key] = max(rows.get(key, 0), held, facts["rows"])
    if len(rows) < 4:
        return None
    hard = sum(number for (_, word), number in rows.items() if word == "hard")
    return hard / sum(rows.values())


def _figure(graded: list[Graded]) -> IntervalFigure:
    return IntervalFigure(
        file=FIGURE,
        title="V-information with 95 % intervals, coloured by category",
        axis="V-information (bits)",
        intervals=tuple(
            Interval(
                name=one.table if one.part is None or _twice(graded, one) else one.part,
                category=one.category,
                value=one.found["overall"]["value"],
                low=one.found["overall"]["low"],
                high=one.found["overall"]["high"],
            )
            for one in graded
            if one.found["overall"]["value"] is not None
        ),
    )


def _twice(graded: list[Graded], one: Graded) -> bool:
    return sum(other.part == one.part for other in graded) > 1
