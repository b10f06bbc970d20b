"""How scores and lengths are distributed over training and evaluation rows: numbers and small multiples.

The numbers need only the rows; drawing needs matplotlib. The same release gives the same PNG bytes for one
matplotlib version: fixed size and resolution, default style whatever the user's settings, no metadata.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from ..atomic import atomic_path
from ..errors import PrerequisiteError
from ..release import ReleaseFolder
from .markdown import one_line, shorten
from .numbers import decimal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_SCORES, _LENGTHS = "figures/scores.png", "figures/lengths.png"
# What the card calls its figures, this one's and earlier ones'; every other file is the user's.
_OWN = re.compile(
    r"(scores|lengths|rare_words|readability|trees|novel_compounds|v_information|simple_and_hard|inoculation|"
    r"overlap_curves)"
    r"\.png|(lengths|composition)_of_\w+\.png"
)
EVALUATION = ("validation", "test")

_LABEL_LIMIT = 40

# Okabe and Ito's blue and vermilion: told apart with every common colour blindness, and in grey by lightness.
TRAIN_COLOUR = "#0072B2"
EVALUATION_COLOUR = "#D55E00"
_COLUMNS = 3
_PANEL_INCHES = (3.1, 2.15)
_DOTS_PER_INCH = 150
_FEWEST_BINS, _MOST_BINS = 8, 40
_OUTER_SHARE = 0.002


class Picture(Protocol):
    """A picture of the card: `file` is relative to the release folder, `alternative` says what it shows."""

    @property
    def file(self) -> str: ...

    @property
    def alternative(self) -> str: ...

    def draw(self, path: Path) -> None:
        """Write the PNG."""


@dataclass(frozen=True)
class Panel:
    """One config's values: `train` of shape (n,) and `evaluation` (validation and test) of shape (m,)."""

    config: str
    train: np.ndarray
    evaluation: np.ndarray

    @property
    def medians(self) -> tuple[float, float]:
        """Medians of training and of evaluation rows; NaN where there are none."""
        train, evaluation = (
            float(np.median(values)) if len(values) else float("nan")
            for values in (self.train, self.evaluation)
        )
        return train, evaluation


@dataclass(frozen=True)
class Figure:
    """One picture of several panels; `file` is relative to the release folder."""

    file: str
    title: str
    axis: str
    whole_numbers: bool
    panels: tuple[Panel, ...]

    @property
    def alternative(self) -> str:
        """What the picture shows, for readers who do not see it."""
        shown = "; ".join(
            f"{panel.config}: {decimal(panel.medians[0])} in train, {decimal(panel.medians[1])} in evaluation"
            for panel in self.panels
        )
        return f"{self.title}, one panel per config. Medians: {shown}."

    def draw(self, path: Path) -> None:
        """Write the PNG; all panels share their axes."""
        from matplotlib.ticker import MaxNLocator

        columns = min(_COLUMNS, len(self.panels))
        rows = -(-len(self.panels) // columns)
        edges = bin_edges(self.panels, self.whole_numbers)
        width = max(columns * _PANEL_INCHES[0], 4.6)
        with canvas(path, width, rows * _PANEL_INCHES[1] + 0.75) as picture:
            grid: Any = picture.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
            for axes, panel in zip(grid.flat, self.panels, strict=False):
                _draw_panel(axes, panel, edges)
            for axes in grid.flat[len(self.panels) :]:
                axes.set_visible(False)
            if self.whole_numbers:
                grid[0, 0].xaxis.set_major_locator(MaxNLocator(integer=True))
            for column in range(columns):
                last = max(row for row in range(rows) if row * columns + column < len(self.panels))
                grid[last, column].tick_params(labelbottom=True)
            picture.supxlabel(self.axis, fontsize=9)
            picture.supylabel("% of the rows of a side", fontsize=9)
            handles, labels = grid[0, 0].get_legend_handles_labels()
            picture.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False, fontsize=9)


def plan_figures(release: ReleaseFolder, *, lengths: bool = True) -> list[Figure]:
    """The figures that the rows give: scores of every likelihood config, lengths of every placed config.

    `lengths` is false where the lengths of every text are shown elsewhere.
    """
    configs = release.placed_configs
    scored = [
        _panel(release, name, "log_likelihood") for name, entry in configs.items() if entry.get("scores")
    ]
    measured = [_panel(release, name, "length") for name in configs] if lengths else []
    figures = [
        Figure(_SCORES, "Log-likelihood of the scored text", "log-likelihood (nats)", False, _filled(scored)),
        Figure(_LENGTHS, "Length of the scored text", "length (words)", True, _filled(measured)),
    ]
    return [figure for figure in figures if figure.panels]


def draw_figures(figures: Sequence[Picture], folder: Path) -> list[Path]:
    """Write every figure below `folder` (a release), each atomically; remove own figures no longer made.

    Raises PrerequisiteError without matplotlib, before anything is written.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise PrerequisiteError("figures need matplotlib", "pip install 'benchwright[cards]'") from None
    paths = []
    for figure in figures:
        path = folder / figure.file
        with atomic_path(path) as part:
            figure.draw(part)
        paths.append(path)
    for path in sorted((folder / "figures").glob("*.png")):
        if _OWN.fullmatch(path.name) and path not in paths:
            path.unlink()
    return paths


def picture_name(name: str) -> str:
    """A name from data as it can stand in a picture; matplotlib leaves out labels that begin with `_`."""
    shown = shorten(one_line(name), _LABEL_LIMIT)
    return f" {shown}" if shown.startswith("_") else shown


@contextmanager
def canvas(path: Path, width: float, height: float) -> Iterator[Canvas]:
    """An empty picture of that size in inches, in matplotlib's own style; written to `path` at the end."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas
    from matplotlib.style import context as style

    with (
        style("default"),
        rc_context({"text.parse_math": False, "font.size": 8.5}),
        warnings.catch_warnings(),
    ):
        # Names in scripts that the font lacks are drawn as boxes; the tables have them.
        warnings.filterwarnings("ignore", "Glyph")
        picture = Canvas(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(picture)
        yield picture
        picture.savefig(path, format="png", dpi=_DOTS_PER_INCH, metadata={"Software": None})


def _panel(release: ReleaseFolder, config: str, column: str) -> Panel:
    def values(names: Sequence[str]) -> np.ndarray:
        found = [
            _column(release, config, split, column) for split in names if split in release.splits(config)
        ]
        return np.concatenate(found) if found else np.empty(0)

    return Panel(config, values(("train",)), values(EVALUATION))


def _column(release: ReleaseFolder, config: str, split: str, column: str) -> np.ndarray:
    if column not in release.config(config)["features"]:
        return np.empty(0)
    values = release.table(config, split, [column]).column(column).drop_null().cast(pa.float64()).to_numpy()
    return values[np.isfinite(values)]


def _filled(panels: list[Panel]) -> tuple[Panel, ...]:
    return tuple(panel for panel in panels if len(panel.train) or len(panel.evaluation))


def bin_edges(panels: Sequence[Panel], whole_numbers: bool) -> np.ndarray:
    """Edges shared by all panels, few where a side has few rows.

    The rarest values may lie beyond them and belong to the outer bins (see `shares`).
    """
    sides = [side for panel in panels for side in (panel.train, panel.evaluation) if len(side)]
    bins = int(np.clip(2 * min(map(len, sides)) ** 0.5, _FEWEST_BINS, _MOST_BINS))
    low, high = np.quantile(np.concatenate(sides), [_OUTER_SHARE, 1 - _OUTER_SHARE])
    if whole_numbers:
        low, high = np.floor(low), np.ceil(high)
        step = int(np.ceil((high - low + 1) / _MOST_BINS))
        return np.arange(low, high + step + 1, step) - 0.5
    return np.linspace(low, high, bins + 1) if high > low else np.array([low - 0.5, low + 0.5])


def shares(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Percentage of `values` per bin; what lies beyond the edges is counted in the outer bins."""
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), bins=edges)
    return 100 * counts / max(1, len(values))


def _draw_panel(axes: Axes, panel: Panel, edges: np.ndarray) -> None:
    axes.stairs(shares(panel.train, edges), edges, fill=True, color=TRAIN_COLOUR, alpha=0.45, label="train")
    axes.stairs(
        shares(panel.evaluation, edges),
        edges,
        color=EVALUATION_COLOUR,
        linewidth=1.5,
        label="evaluation (validation and test)",
    )
    axes.set_title(panel.config, fontsize=9, loc="left", family="monospace")
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
