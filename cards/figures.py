"""How scores and lengths are distributed over training and evaluation rows: numbers and small multiples.

The numbers need only the rows; drawing needs matplotlib. The same release gives the same PNG bytes for one
matplotlib version: fixed size and resolution, default style whatever the user's settings, no metadata.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..atomic import atomic_path
from ..errors import PrerequisiteError
from ..release import ReleaseFolder
from .numbers import decimal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SCORES, _LENGTHS = "figures/scores.png", "figures/lengths.png"
EVALUATION = ("validation", "test")

# Okabe and Ito's blue and vermilion: told apart with every common colour blindness, and in grey by lightness.
_TRAIN_COLOUR = "#0072B2"
_EVALUATION_COLOUR = "#D55E00"
_COLUMNS = 3
_PANEL_INCHES = (3.1, 2.15)
_DOTS_PER_INCH = 150
_FEWEST_BINS, _MOST_BINS = 8, 40
_OUTER_SHARE = 0.002


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


def plan_figures(release: ReleaseFolder) -> list[Figure]:
    """The figures that the rows give: scores of every likelihood config, lengths of every placed config."""
    scores, lengths = [], []
    for name, entry in release.placed_configs.items():
        if entry.get("scores"):
            scores.append(_panel(release, name, "log_likelihood"))
        lengths.append(_panel(release, name, "length"))
    figures = [
        Figure(_SCORES, "Log-likelihood of the scored text", "log-likelihood (nats)", False, _filled(scores)),
        Figure(_LENGTHS, "Length of the scored text", "length (words)", True, _filled(lengths)),
    ]
    return [figure for figure in figures if figure.panels]


def draw_figures(figures: Sequence[Figure], folder: Path) -> list[Path]:
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
            _draw(figure, part)
        paths.append(path)
    for file in {_SCORES, _LENGTHS} - {figure.file for figure in figures}:
        (folder / file).unlink(missing_ok=True)
    return paths


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


def _draw(figure: Figure, path: Path) -> None:
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas
    from matplotlib.style import context as style
    from matplotlib.ticker import MaxNLocator

    columns = min(_COLUMNS, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    edges = bin_edges(figure.panels, figure.whole_numbers)
    with style("default"), rc_context({"text.parse_math": False, "font.size": 8.5}):
        width = max(columns * _PANEL_INCHES[0], 4.6)
        canvas = Canvas(figsize=(width, rows * _PANEL_INCHES[1] + 0.75), layout="constrained")
        FigureCanvasAgg(canvas)
        grid: Any = canvas.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for axes, panel in zip(grid.flat, figure.panels, strict=False):
            _draw_panel(axes, panel, edges)
        for axes in grid.flat[len(figure.panels) :]:
            axes.set_visible(False)
        if figure.whole_numbers:
            grid[0, 0].xaxis.set_major_locator(MaxNLocator(integer=True))
        for column in range(columns):
            last = max(row for row in range(rows) if row * columns + column < len(figure.panels))
            grid[last, column].tick_params(labelbottom=True)
        canvas.supxlabel(figure.axis, fontsize=9)
        canvas.supylabel("% of the rows of a side", fontsize=9)
        handles, labels = grid[0, 0].get_legend_handles_labels()
        canvas.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False, fontsize=9)
        canvas.savefig(path, format="png", dpi=_DOTS_PER_INCH, metadata={"Software": None})


def _draw_panel(axes: Axes, panel: Panel, edges: np.ndarray) -> None:
    axes.stairs(shares(panel.train, edges), edges, fill=True, color=_TRAIN_COLOUR, alpha=0.45, label="train")
    axes.stairs(
        shares(panel.evaluation, edges),
        edges,
        color=_EVALUATION_COLOUR,
        linewidth=1.5,
        label="evaluation (validation and test)",
    )
    axes.set_title(panel.config, fontsize=9, loc="left", family="monospace")
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
