"""How rows were chosen, in plain words: from each config's splitter, parameters, counts and notes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..registry import Registry
from ..release import ReleaseFolder
from ..text.programs import Structure, TemplateRule, structures, template_rules
from ..wording import plural
from .history import withdrawn_rows
from .label_shares import LabelTable, label_tables
from .markdown import Markdown, code, codes, compose, folded, join, prose, table
from .numbers import count
from .overlap_data import SPLITTER as OVERLAP
from .overlap_data import subset_sentences
from .provenance import PVI, SHOWN_UIDS, prompt_of, scorer_sentence

# Words of the column `placed_by`, as the end of "n rows ...".
_PLACED_BY = {
    "score": "by their score",
    "length": "by their length",
    "size_correction": "moved so that the sizes are exact",
    "atom_swap": "swapped for the atom constraint",
    "random": "at random",
    "group": "with their group",
    "published": "as published",
    "unscored": "for want of a score",
    "template": "with their template",
    "divergence": "swapped for the sake of divergence",
    "unparsed": "for want of a parse",
    "pvi": "by their V-information",
    "conflict": "left out as conflicts",
    "duplicate": "left out as duplicates",
    "leak": "left out as leaks",
    "below_cutoff": "left out, as not above the cut-off",
    "above_cutoff": "left out, as above the cut-off",
    "other_split": "left out, as rows of another split of the source",
    "exact_copy": "left out, since a corpus holds an exact copy",
}

_METHODS = {
    "published": "Where the paper on likelihood splits, its code and good sense differ, this release does "
    "what the published code does.",
    "corrected": "Where the paper on likelihood splits, its code and good sense differ, this release follows "
    "the paper and good sense; `--method published` would repeat the published code instead.",
}

_LIKELIHOOD_PAPER, _CURRICULUM_PAPER = "the paper on likelihood splits", "the paper on Curriculum"
_OVERLAP_PAPER = "the paper on overlap with corpora"

# With more configs of one splitter, what is said of each is folded.
_MOST_CONFIGS = 12

_TITLES = {
    "likelihood": "Likelihood splits",
    "random": "Random splits",
    "length": "Length splits",
    "template": "Template splits",
    "tmcd": "Splits by compound divergence (TMCD)",
    "published": "Published splits",
    "pvi": "Simple and hard splits (V-information)",
    "clean": "Cleaned splits",
    OVERLAP: "Subsets by overlap with corpora",
}

_CUTS = {
    "midrange": "the middle between their lowest and their highest PVI",
    "published": "as in the published code: their lowest PVI plus half of the sum of the lowest and the "
    "highest without their signs",
}

_BORDERS = {
    "published": "The published border between train and evaluation stays, and each side has thresholds of "
    "its own.",
    "pooled": "As in the published code the published border is dropped: all rows are cut together, and the "
    "simple and the hard rows are divided anew at random.",
}

# Notes that are the same for all configs of a score table.
_CUT_NOTE = "pvi_cut"

_TEMPLATE_MODES = {
    "evaluation": "Templates drawn at random{drawn} evaluate, as many as fit as a whole; all others train.",
    "train_first": "Templates drawn at random{drawn} train until one would exceed the size of train; it and "
    "all others evaluate.",
}

_TMCD_MODES = {
    "best": "Again and again the rows of both sides are ranked by what moving one alone would gain, and the "
    "best of train change places with the best of evaluation, each pair only if that raises it. Where no "
    "swap does, swaps that raise a smoothed divergence lead elsewhere; they are taken back if the climb from "
    "there ends no higher.",
    "reference": "The first swap that raises it is made each time, until none does or the most swaps are "
    "made, as in the published code.",
}

# Codes of notes that say how many rows are in no split, and why.
_REASONS_FOR_NO_SPLIT = frozenset({"unparsed", "left_out"})

_LABEL_RULES = {
    "shares": "Labels keep the shares of the whole corpus in evaluation, as nearly as whole rows allow.",
    "equal": "Every label has the same number of evaluation rows, whatever its share of the corpus.",
}

_CRITERIA = {
    "log_likelihood": "the log-likelihood of the text (the sum over its tokens)",
    "perplexity": "the perplexity of the text (per model token)",
    "length_perplexity": "the perplexity of the text per word",
}


@dataclass(frozen=True)
class ConfigPlacement:
    """What is said of one config alone."""

    name: str
    reverse_of: str | None
    sentences: tuple[Markdown, ...]


@dataclass(frozen=True)
class PlacementGroup:
    """The configs of one splitter: what holds for all of them, and what only for some.

    `single` is the name of the config where there is only one. `folded`: what holds for some is long.
    """

    title: str
    single: str | None
    common: tuple[Markdown, ...]
    configs: tuple[ConfigPlacement, ...]
    folded: bool = False
    tables: tuple[Markdown, ...] = ()


@dataclass(frozen=True)
class ConfigSettings:
    """A config's splitter and its parameters as JSON."""

    name: str
    splitter: str
    settings: str


@dataclass(frozen=True)
class PlacementReport:
    """The whole section."""

    introduction: tuple[Markdown, ...]
    groups: tuple[PlacementGroup, ...]
    settings: tuple[ConfigSettings, ...]
    labels: tuple[LabelTable, ...]


def placement_report(release: ReleaseFolder) -> PlacementReport:
    """What the manifest and the rows say about how every config was made."""
    return PlacementReport(
        introduction=tuple(_introduction(release)),
        groups=tuple(_groups(release)),
        settings=tuple(
            ConfigSettings(
                name, entry["splitter"], json.dumps(entry.get("parameters") or {}, ensure_ascii=False)
            )
            for name, entry in release.placed_configs.items()
        ),
        labels=tuple(label_tables(release)),
    )


def _groups(release: ReleaseFolder) -> Iterator[PlacementGroup]:
    configs = release.placed_configs
    for splitter in dict.fromkeys(entry["splitter"] for entry in configs.values()):
        said = {
            name: list(_sentences(entry)) for name, entry in configs.items() if entry["splitter"] == splitter
        }
        first, *others = said.values()
        common = [sentence for sentence in first if all(sentence in sentences for sentences in others)]
        placements = tuple(
            ConfigPlacement(
                name,
                configs[name].get("reverse_of"),
                tuple(sentence for sentence in sentences if sentence not in common),
            )
            for name, sentences in said.items()
        )
        of_parts = any(configs[name].get("part") for name in said)
        yield PlacementGroup(
            title=_TITLES.get(splitter, f"Splitter {splitter}"),
            single=placements[0].name if len(placements) == 1 else None,
            common=tuple(common),
            # Of parts only those of which there is more to say: the table of configs has them all.
            configs=tuple(one for one in placements if one.sentences or not of_parts),
            folded=of_parts and len(placements) > _MOST_CONFIGS,
            tables=tuple(_cuts({name: configs[name] for name in said})),
        )


def _cuts(configs: Mapping[str, Mapping[str, Any]]) -> Iterator[Markdown]:
    """Where simple and hard rows are divided, once for each score table and each way to cut."""
    said = {
        (str(entry.get("scores")), str(note["message"])): None
        for entry in configs.values()
        for note in entry.get("notes") or ()
        if note.get("code") == _CUT_NOTE
    }
    if said:
        lines = [(code(scores), message) for scores, message in said]
        yield folded("Thresholds of PVI", table(("score table", "side and label"), lines, left=2))


def _introduction(release: ReleaseFolder) -> Iterator[Markdown]:
    scores = release.manifest.get("scores") or {}
    used = dict.fromkeys(e["scores"] for e in release.placed_configs.values() if e.get("scores"))
    graded = [name for name in used if scores.get(name, {}).get("scorer") == PVI]
    if graded:
        yield compose(
            "**Scores {names}.** The V-information of every row, see Difficulty.",
            names=codes(graded) if len(graded) <= 2 else compose("`pvi_…`, {n} tables", n=count(len(graded))),
        )
    for name in (name for name in used if name not in graded):
        entry = scores.get(name, {})
        sentence = compose("**Scores {name:code}.** {who}", name=name, who=scorer_sentence(entry))
        prompt = prompt_of(entry)
        if prompt:
            read = compose("{context:code}", context=prompt[0]) if prompt[0] else Markdown("no prompt")
            sentence = compose(
                "{sentence} It read {read}; the log-probabilities of the tokens of "
                "{continuation:code} add up to the score, in nats.",
                sentence=sentence,
                read=read,
                continuation=prompt[1].strip(),
            )
        yield sentence
    definitions = dict(_definitions(release))
    yield from definitions.values()
    method = release.manifest["method"]
    chosen = (release.manifest.get("choices") or {}).items()
    choices = {
        name: value for name, value in chosen if value not in (None, {}, []) and name not in definitions
    }
    of_parts = any(entry.get("part") for entry in release.placed_configs.values())
    of_overlap = any(entry["splitter"] == OVERLAP for entry in release.placed_configs.values())
    if of_parts or of_overlap:
        # Of scores by likelihood, of which these configs have none.
        choices.pop("criterion", None)
    words = _METHODS.get(method, "")
    paper = _OVERLAP_PAPER if of_overlap else _CURRICULUM_PAPER if of_parts else _LIKELIHOOD_PAPER
    sentence = compose(
        "**Method {method:code}.** {words}",
        method=method,
        words=Markdown(words.replace(_LIKELIHOOD_PAPER, paper)),
    )
    if choices:
        listed = join(
            compose("{name:code} = {value:code}", name=name, value=value) for name, value in choices.items()
        )
        sentence = compose("{sentence} Choices: {listed}.", sentence=sentence, listed=listed)
    yield sentence


def _definitions(release: ReleaseFolder) -> Iterator[tuple[str, Markdown]]:
    """What the configs take for atoms, compounds and templates, by the name of the choice."""
    choices = release.manifest.get("choices") or {}
    entries = release.placed_configs.values()
    rule = choices.get("template_rule")
    if explains_structure(release):
        yield "structure", _definition("Structure", choices["structure"], structures)
    if (
        rule is not None
        and rule in template_rules
        and any(entry["splitter"] == "template" for entry in entries)
    ):
        yield "template_rule", _definition("Template rule", rule, template_rules)


def explains_structure(release: ReleaseFolder) -> bool:
    """Whether the report says what atoms and compounds are: some config was made by them.

    The structure of a plugin that is not installed is only named, among the choices.
    """
    entries = release.placed_configs.values()
    made_by_it = any(entry["splitter"] == "tmcd" or _has_atom_rule(entry) for entry in entries)
    return made_by_it and (release.manifest.get("choices") or {}).get("structure") in structures


def _definition(kind: str, name: str, known: Registry[Structure] | Registry[TemplateRule]) -> Markdown:
    return compose("**{kind} {name:code}.** {summary}", kind=kind, name=name, summary=known.get(name).summary)


def _has_atom_rule(entry: Mapping[str, Any]) -> bool:
    usual = "atoms" if entry["splitter"] == "tmcd" else None
    return bool((entry.get("parameters") or {}).get("constraint", usual) == "atoms")


def _sentences(entry: Mapping[str, Any]) -> Iterator[Markdown]:
    parameters = entry.get("parameters") or {}
    yield from _rule(entry, parameters)
    yield from _length_rule(entry, parameters)
    yield from _label_rule(entry, parameters)
    yield from _atom_rule(entry)
    yield from _counts(entry)
    yield from _remarks(entry)


def _remarks(entry: Mapping[str, Any]) -> Iterator[Markdown]:
    """Rows in no split, what the splitter noted, splits that are missing; each is said once."""
    notes, missing = entry.get("notes") or (), entry.get("left_out") or ()
    withdrawn = withdrawn_rows(entry)
    if withdrawn:
        rows = plural(withdrawn, "row was", "rows were")
        yield compose("{rows} withdrawn after the rows had been divided, see Errata.", rows=rows)
    unused = (entry.get("unused") or 0) - withdrawn
    if entry["splitter"] == "clean" and not missing and not notes:
        yield Markdown("No row was left out.")
    if unused > 0 and not any(note.get("code") in _REASONS_FOR_NO_SPLIT for note in notes):
        yield compose("{rows} in no split.", rows=plural(unused, "row is", "rows are"))
    for note in notes:
        if note.get("code") != _CUT_NOTE and (note.get("code") != "empty_split" or not missing):
            yield _note(note)
    for left_out in missing:
        reason = left_out["reason"].rstrip(".")
        yield compose("There is no {split:code} split: {reason}.", split=left_out["split"], reason=reason)


def _rule(entry: Mapping[str, Any], parameters: Mapping[str, Any]) -> Iterator[Markdown]:
    seed = parameters.get("seed")
    drawn = compose(" (seed {seed})", seed=seed) if seed is not None else Markdown("")
    splitter = entry["splitter"]
    if splitter == "likelihood":
        criterion = str(parameters.get("criterion") or "log_likelihood")
        yield compose(
            "Rows are ranked by {criterion} in the score table {scores:code}.",
            criterion=Markdown(_CRITERIA[criterion]) if criterion in _CRITERIA else criterion,
            scores=entry.get("scores"),
        )
        held_out = Markdown("**most likely**" if _is_reverse(entry, parameters) else "**least likely**")
        yield compose("The {held_out} rows are held out for evaluation.", held_out=held_out)
        yield compose("Validation and test divide the evaluation rows at random{drawn}.", drawn=drawn)
    elif splitter == "length":
        yield Markdown("The **longest** rows are held out for evaluation.")
        yield compose("Validation and test divide the evaluation rows at random{drawn}.", drawn=drawn)
    elif splitter == "random":
        yield Markdown("Rows are drawn **at random**.")
        if seed is not None:
            yield compose("Seed {seed}.", seed=seed)
    elif splitter == "template":
        yield Markdown("Programs of one **template** stay on one side.")
        mode = str(parameters.get("mode"))
        if mode in _TEMPLATE_MODES:
            yield compose(_TEMPLATE_MODES[mode], drawn=drawn)
    elif splitter == "tmcd":
        yield compose(
            "From a random division{drawn} on, rows of train and evaluation are swapped to raise the "
            "**divergence of compounds** between the two.",
            drawn=drawn,
        )
        mode = str(parameters.get("mode"))
        if mode in _TMCD_MODES:
            yield Markdown(_TMCD_MODES[mode])
        yield compose("Validation and test divide the evaluation rows at random{drawn}.", drawn=drawn)
    elif splitter == OVERLAP:
        yield from subset_sentences(parameters)
    elif splitter == PVI:
        yield from _pvi_rule(entry, parameters)
    elif splitter == "clean":
        yield from _clean_rule(entry, parameters)
    elif splitter == "published":
        split = parameters.get("split")
        if split is None:
            yield Markdown("The split that the source itself was **published** with.")
        else:
            yield compose("The **published** split {split:code} of this source, unaltered.", split=split)


def _pvi_rule(entry: Mapping[str, Any], parameters: Mapping[str, Any]) -> Iterator[Markdown]:
    cut, border = str(parameters.get("cut")), str(parameters.get("border"))
    yield compose(
        "Rows of each label are cut at a threshold of their pointwise V-information (PVI): those below it "
        "are **hard**, the others **simple**. The threshold is {cut}.",
        cut=Markdown(_CUTS[cut]) if cut in _CUTS else cut,
    )
    if border in _BORDERS:
        yield Markdown(_BORDERS[border])
    yield compose(
        "{train} rows train, {evaluation} rows evaluate.",
        train=str(parameters.get("train")).capitalize(),
        evaluation=parameters.get("evaluation"),
    )


def _clean_rule(entry: Mapping[str, Any], parameters: Mapping[str, Any]) -> Iterator[Markdown]:
    of = parameters.get("of") or {}
    yield from _rule({**entry, "splitter": of.get("splitter")}, of.get("parameters") or {})
    yield Markdown(
        "Then rows are left out, in this order: all rows of an input that stands with different labels "
        "(*conflicts*), later copies of an input on one side (*duplicates*), and training rows whose input "
        "stands in evaluation (*leaks*). Evaluation rows are never left out for the sake of train."
    )


def _length_rule(entry: Mapping[str, Any], parameters: Mapping[str, Any]) -> Iterator[Markdown]:
    if entry["splitter"] != "likelihood":
        return
    control = parameters.get("length_control")
    if control is None:
        other = "shorter" if _is_reverse(entry, parameters) else "longer"
        yield compose(
            "Length is **not** controlled: long texts are unlikely, so evaluation rows are {other}, too.",
            other=other,
        )
    else:
        within = (
            "among rows of equal length"
            if control == "exact"
            else f"within each of {control} ranges of length"
        )
        yield compose(
            "Length **is** controlled: {within} the same share is held out, so that rows are set apart by "
            "their likelihood and not by their length.",
            within=within,
        )
    if parameters.get("empty_quota") == "whole_bucket":
        yield Markdown(
            "As in the published code, a length too rare for a quota of one row is held out whole."
        )


def _label_rule(entry: Mapping[str, Any], parameters: Mapping[str, Any]) -> Iterator[Markdown]:
    rule = str(parameters.get("evaluation_labels"))
    if (entry.get("task") or {}).get("labels") and rule in _LABEL_RULES:
        yield Markdown(_LABEL_RULES[rule])


def _atom_rule(entry: Mapping[str, Any]) -> Iterator[Markdown]:
    if not _has_atom_rule(entry):
        return
    yield Markdown(
        "Every atom (symbol of the target) of an evaluation row also occurs in a training row, so that "
        "nothing must be guessed that was never seen."
    )
    if any(note.get("code") == "atom_swaps" for note in entry.get("notes") or ()):
        return
    swapped = sum(words.get("atom_swap", 0) for words in (entry.get("placed_by") or {}).values())
    yield compose("For the atoms {rows} changed sides.", rows=plural(swapped, "row"))


def _is_reverse(entry: Mapping[str, Any], parameters: Mapping[str, Any]) -> bool:
    return bool(parameters.get("reverse") or entry.get("reverse_of"))


def _counts(entry: Mapping[str, Any]) -> Iterator[Markdown]:
    placed_by = entry.get("placed_by") or {}
    if len({word for words in placed_by.values() for word in words}) < 2:
        return
    sides = []
    for side, words in placed_by.items():
        ordered = sorted(words.items(), key=lambda item: (-item[1], item[0]))
        parts = join(f"{count(number)} {_PLACED_BY.get(word, word)}" for word, number in ordered)
        sides.append(compose("in {side:code} {parts}", side=side, parts=parts))
    yield compose("Rows were placed {sides}.", sides=join(sides, "; "))


def _note(note: Mapping[str, Any]) -> Markdown:
    uids = list(note.get("uids") or ())
    message = str(note["message"]).rstrip(".")
    text = prose(message[:1].upper() + message[1:])
    if not uids:
        return compose("{text}.", text=text)
    rest = note.get("count", len(uids)) - len(uids[:SHOWN_UIDS])
    more = f" and {count(rest)} more" if rest > 0 else ""
    return compose("{text} ({uids}{more}).", text=text, uids=codes(uids[:SHOWN_UIDS]), more=Markdown(more))
