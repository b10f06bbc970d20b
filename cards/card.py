"""The card of a release: its README.md, made from the manifest, the rows and the results."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..atomic import write_text
from ..errors import PrerequisiteError, ReleaseError
from ..release import SPLITS, ReleaseFolder
from ..wording import plural
from . import markdown, numbers
from .breakdowns import class_tables, error_tables, projection_table, remarks_table
from .citations import citations
from .difficulty import difficulty_section
from .experiments import experiment_sections
from .figures import Figure, Picture, draw_figures, plan_figures
from .harness.exports import FOLDER as HARNESS
from .history import changelog, errata, version_line, withdrawn_rows
from .licences import licence_paragraphs
from .limitations import limitations
from .markdown import Markdown
from .overlap import overlap_sections
from .overlap_contamination import contamination_sections
from .overlap_results import overlap_result_sections
from .overview import (
    column_tables,
    config_groups,
    default_config,
    example_note,
    examples,
    side_tables,
)
from .parts import Part, other_notes, part_words, parts
from .placement import placement_report
from .properties import PropertySection, property_notes, property_sections
from .property_data import Properties, read_properties
from .provenance import (
    audit_summary,
    finding_codes,
    finding_groups,
    findings,
    information_tables,
    part_licences,
    score_reports,
    source_report,
)
from .results import RunTable, metric_words, read_index, run_tables, scorer_effect
from .seal import seal
from .user_sections import HINTS, read_user_sections, user_section
from .yaml_header import card_metadata, foreign_configs, to_yaml

README = "README.md"
# A picture with a line or a panel for each of more configs is longer than a page.
_MOST_PICTURED = 40

HARNESS_PAGE = f"{HARNESS}/{README}"


@dataclass(frozen=True)
class WrittenCard:
    """What `write_card` wrote: the card, its figures, and what was left out and why."""

    path: Path
    figures: tuple[Path, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([str(self.path), *self.notes])


def render_card(
    release: ReleaseFolder,
    *,
    name: str | None = None,
    repo: str | None = None,
    previous: str | None = None,
    figures: Sequence[Picture] | None = None,
) -> str:
    """The text of README.md.

    Readers are shown how to load the Hub dataset `repo` (None: the one that the release was published as, if
    its configs have not changed since) or, without one, the folder `name` (None: the folder's own name).
    Hand-written sections are taken from `previous` (None: the README.md that stands in the folder). `figures`
    are those to show (None: those of the release whose files stand in the folder). The last line seals text
    and manifest; see `seal`.

    The same release gives the same text. Raises ReleaseError for a release that readers could not load, or
    for hand-written sections whose markers do not match.
    """
    shown = _Shown.of(release)
    if figures is None:
        figures = [figure for figure in shown.figures if (release.path / figure.file).is_file()]
    place = _Place.of(release, name, repo)
    kept = hand_written(release.path) if previous is None else previous
    return _render(release, place, kept, shown, figures)


def write_card(
    release: str | Path | ReleaseFolder, *, name: str | None = None, repo: str | None = None
) -> WrittenCard:
    """Draw the figures and write README.md into the release, each file atomically, README.md last.

    `name` and `repo` as in `render_card`. Without matplotlib the card has no figures, and `notes` says how
    to get them. Raises ReleaseError as `render_card` does, before anything is written.
    """
    folder = release if isinstance(release, ReleaseFolder) else ReleaseFolder(release)
    place, shown, previous = _Place.of(folder, name, repo), _Shown.of(folder), hand_written(folder.path)
    text = _render(folder, place, previous, shown, shown.figures)
    drawn: list[Path] = []
    notes: tuple[str, ...] = ()
    try:
        drawn = draw_figures(shown.figures, folder.path)
    except PrerequisiteError as error:
        text = _render(folder, place, previous, shown, ())
        notes = (f"figures left out: {error.what}; run: {error.install}",)
    write_text(folder.path / README, text)
    return WrittenCard(folder.path / README, tuple(drawn), notes)


@dataclass(frozen=True)
class _Place:
    """Where readers find the release: a folder's name and, once it is published, a Hub id and a version."""

    folder: str
    repo: str | None
    version: str | None

    @classmethod
    def of(cls, release: ReleaseFolder, name: str | None, repo: str | None) -> _Place:
        called = release.path.resolve().name
        # A release that is still being made stands in a hidden folder, whose name readers never see.
        folder = name or (f"{release.dataset['builder']}-splits" if called.startswith(".") else called)
        published = release.publication
        changed = published.version is not None and not release.is_as_published
        own = None if changed else published.repo
        repo = repo or own
        return cls(folder, repo, published.version if repo and repo == own else None)

    @property
    def argument(self) -> str:
        """How commands take it."""
        if self.repo is None:
            return shlex.quote(self.folder)
        return shlex.quote(f"{self.repo}@{self.version}" if self.version else self.repo)


@dataclass(frozen=True)
class _Shown:
    """What the rows and the analyses give to be shown in tables and pictures."""

    properties: Properties
    distributions: list[Figure]
    sections: list[PropertySection]
    difficulty: list[PropertySection]
    experiments: list[PropertySection]
    index: dict[str, Any]
    runs: list[RunTable]

    @classmethod
    def of(cls, release: ReleaseFolder) -> _Shown:
        found = read_properties(release)
        # The lengths of every text include those of the scored one.
        distributions = plan_figures(release, lengths=not found.lengths)
        index = read_index(release)
        runs = run_tables(release, index)
        return cls(
            found,
            distributions,
            _with_readable_figures(release, property_sections(release, found)),
            [*difficulty_section(release), *overlap_sections(release)],
            [
                *experiment_sections(release, index, runs),
                *overlap_result_sections(release, index),
                *contamination_sections(release, index),
            ],
            index,
            runs,
        )

    @property
    def figures(self) -> list[Picture]:
        sections = (*self.sections, *self.difficulty, *self.experiments)
        return [*self.distributions, *(figure for section in sections for figure in section.figures)]


def _with_readable_figures(release: ReleaseFolder, sections: list[PropertySection]) -> list[PropertySection]:
    """The sections, without pictures where these would have to show too many configs."""
    many = len(release.placed_configs) > _MOST_PICTURED
    return [replace(section, figures=()) for section in sections] if many else sections


def hand_written(folder: Path) -> str:
    """The card that stands in `folder`, whose hand-written sections the next one keeps; empty without one.

    Raises ReleaseError for a card that is not UTF-8 or whose section markers do not match.
    """
    path = folder / README
    try:
        text = path.read_bytes().decode("utf-8") if path.is_file() else ""
    except UnicodeDecodeError as error:
        raise ReleaseError(
            f"{path} is not UTF-8 (byte {error.start}); save it as UTF-8 or remove it"
        ) from None
    read_user_sections(text, str(path))
    return text


def _render(
    release: ReleaseFolder,
    place: _Place,
    previous: str,
    shown: _Shown,
    figures: Sequence[Picture],
) -> str:
    user = _user_sections(previous, str(release.path / README))
    context = {
        **_overview(release, place),
        **_evidence(release, shown, {figure.file for figure in figures}),
        **_results(release, shown),
        **_history(release),
        "on_hub": place.repo is not None,
        "user": user,
    }
    return seal(_environment().get_template("README.md.jinja").render(context), release.manifest)


def _overview(release: ReleaseFolder, place: _Place) -> dict[str, Any]:
    """What the release is, how to load it and where it came from."""
    return {
        "header": Markdown(to_yaml(card_metadata(release))),
        "dataset": release.dataset,
        "introduction": _introduction(release),
        "load_snippet": _load_snippet(release, place),
        "load_note": _load_note(release, place),
        "config_groups": config_groups(release),
        "side_tables": side_tables(release),
        "column_tables": column_tables(release),
        "source": source_report(release),
        "score_tables": score_reports(release),
        "information_tables": information_tables(release),
        "source_notes": other_notes(release) if parts(release) else [],
        "made_with": _made_with(release),
        "rebuild_commands": _rebuild_commands(release, place),
        "eval_command": markdown.fence(f"benchwright eval {place.argument}", "bash"),
        "harness_page": HARNESS_PAGE if (release.path / HARNESS_PAGE).is_file() else None,
        "licence": licence_paragraphs(release),
        "part_licences": part_licences(release),
        "citations": citations(release),
        "limitations": limitations(release),
        "dash": Markdown(numbers.MISSING),
    }


def _evidence(release: ReleaseFolder, shown: _Shown, drawn: Container[str]) -> dict[str, Any]:
    """What the rows themselves show."""
    found = findings(release)
    return {
        "placement": placement_report(release),
        "difficulty": shown.difficulty,
        "distributions": [_medians(figure) for figure in shown.distributions],
        "lengths_follow": bool(shown.properties.lengths),
        "figures": [figure for figure in shown.distributions if figure.file in drawn],
        "properties": shown.sections,
        "property_notes": property_notes(shown.properties),
        "drawn": drawn,
        "examples": examples(release),
        "example_note": example_note(release),
        "audited": "audit" in release.manifest,
        "findings": found,
        "finding_groups": finding_groups(release, found),
        "finding_codes": finding_codes(release, found),
        "audit_summary": audit_summary(found),
    }


def _results(release: ReleaseFolder, shown: _Shown) -> dict[str, Any]:
    """What baselines score on the rows."""
    index, runs = shown.index, shown.runs
    lines = [line for run in runs for line in run.lines]
    return {
        "runs": runs,
        "any_drops": any(run.has_drops for run in runs),
        "stale_reasons": list(dict.fromkeys((line.config, line.stale) for line in lines if line.stale)),
        "remarks": remarks_table(runs),
        "class_tables": class_tables(release, index, runs),
        "projections": projection_table(release, index, runs),
        "error_tables": error_tables(release, index, runs),
        "scorer_effect": scorer_effect(index),
        "experiments": shown.experiments,
    }


def _history(release: ReleaseFolder) -> dict[str, Any]:
    """What became of it on the Hub."""
    published = release.publication
    return {
        "version_line": version_line(published, release.is_as_published),
        "changelog": changelog(published),
        "errata": errata(published),
        "foreign_configs": foreign_configs(release),
    }


def _introduction(release: ReleaseFolder) -> Markdown:
    """Why the splits exist, as far as the configs give reason to say it."""
    splitters = {entry["splitter"] for entry in release.placed_configs.values()}
    withdrawn = max(map(withdrawn_rows, release.placed_configs.values()), default=0)
    divided = parts(release)
    if divided:
        return _introduction_of_parts(release, divided)
    rows = numbers.count(release.manifest["source"]["rows"] - withdrawn)
    number = len(release.placed_configs)
    how_often = f"in {number} ways" if number > 1 else "in one way"
    first = f"{rows} rows are divided into train, validation and test {how_often}."
    if "likelihood" not in splitters:
        return Markdown(first)
    purpose = (
        "In the likelihood splits a language model decides: models train on rows that it finds likely and "
        "are tested on rows that it finds unlikely, the long tail that a random test set hardly shows."
    )
    yardstick = " What they lose against the random splits says how well they generalise."
    return Markdown(f"{first} {purpose}{yardstick if 'random' in splitters else ''}")


def _introduction_of_parts(release: ReleaseFolder, divided: Mapping[str, Part]) -> Markdown:
    """How many data sets there are, how many rows and how they are divided."""
    rows = [part.rows for part in divided.values() if part.rows is not None]
    told = f", {numbers.count(sum(rows))} rows" if len(rows) == len(divided) else ""
    splits = [name for name in SPLITS if any(name in e["splits"] for e in release.placed_configs.values())]
    categories = {part.category for part in divided.values()} - {None}
    kinds = f" in {plural(len(categories), 'category', 'categories')}" if categories else ""
    configs = plural(len(release.placed_configs), "config")
    return Markdown(
        f"{plural(len(divided), *part_words(release))}{kinds}{told}, in {configs}, divided into "
        f"{', '.join(splits[:-1])}{' and ' if len(splits) > 1 else ''}{splits[-1]}."
    )


def _load_snippet(release: ReleaseFolder, place: _Place) -> Markdown:
    config = default_config(release)
    arguments = [json.dumps(place.repo or f"./{place.folder}", ensure_ascii=False), json.dumps(config)]
    if place.version is not None:
        arguments.append(f"revision={json.dumps(place.version, ensure_ascii=False)}")
    lines = [
        "from datasets import load_dataset",
        "",
        f"data = load_dataset({', '.join(arguments)})",
        f"data[{json.dumps(release.splits(config)[-1])}][0]",
    ]
    return markdown.fence("\n".join(lines), "python")


def _load_note(release: ReleaseFolder, place: _Place) -> Markdown:
    if place.version is not None:
        return markdown.compose(
            "The rows of version {version} never change; without `revision` you get the newest version, "
            "whose rows may be others. Any config of the table below can stand in place of {config:code}.",
            version=place.version,
            config=default_config(release),
        )
    if place.repo is not None:
        return Markdown(
            'Any config of the table below will do; `revision="TAG"` gives rows that never change.'
        )
    return markdown.compose(
        "{folder:code} is this folder. Where the dataset is published, use its Hub id instead and, for "
        'rows that never change, `revision="TAG"`. Any config of the table below can stand in place of '
        "{config:code}.",
        folder=f"./{place.folder}",
        config=default_config(release),
    )


def _made_with(release: ReleaseFolder) -> Markdown:
    versions = {"benchwright": release.manifest["benchwright"], **(release.manifest.get("versions") or {})}
    return markdown.join(f"{name} {version}" for name, version in versions.items())


def _rebuild_commands(release: ReleaseFolder, place: _Place) -> Markdown:
    origin = release.manifest["source"]
    source = {"sample": "sample", "hub": shlex.quote(f"hub:{origin['location']}@{origin['revision']}")}
    lines = [
        f"pip install benchwright=={release.manifest['benchwright']}",
        f"benchwright verify {place.argument}",
        f"benchwright rebuild {place.argument} --source {source.get(origin['kind'], 'PATH_OF_THE_CORPUS')}",
    ]
    return markdown.fence("\n".join(lines), "bash")


def _medians(figure: Figure) -> dict[str, Any]:
    lines = []
    for panel in figure.panels:
        train, evaluation = panel.medians
        line = {"train": train, "evaluation": evaluation, "difference": evaluation - train}
        lines.append({"config": panel.config, **line})
    return {"axis": figure.axis, "lines": lines}


def _user_sections(previous: str, where: str) -> dict[str, Any]:
    kept = read_user_sections(previous, where)
    texts = {name: kept.pop(name, hint) for name, hint in HINTS.items()}
    sections = {name: Markdown(user_section(name, text)) for name, text in texts.items()}
    return {**sections, "others": [Markdown(user_section(name, text)) for name, text in kept.items()]}


def _number(write: Callable[[Any], str]) -> Callable[[Any], Markdown]:
    return lambda value: Markdown(write(value))


@cache
def _environment() -> Environment:
    """Templates in which every value that is not `Markdown` is escaped, and every missing one an error."""
    environment = Environment(
        loader=PackageLoader("benchwright.cards", "templates"),
        undefined=StrictUndefined,
        finalize=markdown.prose,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        prose=markdown.prose,
        code=markdown.code,
        codes=markdown.codes,
        commas=markdown.join,
        picture=lambda figure: markdown.image(figure.alternative, figure.file),
        page=lambda path: markdown.compose("[{path:code}]({address})", path=path, address=Markdown(path)),
        bibtex=lambda text: markdown.fence(text, "bibtex"),
        count=_number(numbers.count),
        percent=_number(numbers.percent),
        decimal=_number(numbers.decimal),
        signed=_number(lambda value: numbers.decimal(value, signed=True)),
        change=_number(numbers.change),
        correlation=_number(lambda value: numbers.decimal(value, 3)),
        words=lambda name: markdown.prose(metric_words(name)),
    )
    return environment
