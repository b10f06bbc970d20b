"""Pictures of experiments: values with intervals, curves over numbers of training rows, 2 x 2 matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .figures import canvas, picture_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours; shapes differ too, for print in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933")
_SHAPES = ("o", "s", "D", "^", "v", "P", "X", "*")
_LINE_INCHES, _NAME_INCHES = 0.2, 0.075
_PANEL_INCHES, _PANELS_IN_A_ROW = (2.9, 2.1), 3
_MATRIX_INCHES, _MATRICES_IN_A_ROW = 1.55, 6


@dataclass(frozen=True)
class Interval:
    """A value and its interval (None: not known)."""

    name: str
    category: str | None
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class IntervalFigure:
    """Values one below the other, each with its interval, coloured by category."""

    file: str
    title: str
    axis: str
    intervals: tuple[Interval, ...]

    @property
    def alternative(self) -> str:
        """What the picture shows, for readers who do not see it."""
        return f"{self.title}: a line for each phenomenon; the numbers stand in the table."

    def draw(self, path: Path) -> None:
        """Write the PNG."""
        categories = list(dict.fromkeys(one.category for one in self.intervals))
        names = [picture_name(one.name) for one in self.intervals]
        width = 4.6 + _NAME_INCHES * max(map(len, names))
        with canvas(path, width, _LINE_INCHES * len(names) + 1.2) as picture:
            axes: Any = picture.subplots()
            axes.axvline(0, color="0.6", linewidth=0.8)
            for number, category in enumerate(categories):
                colour, shape = _look(number)
                members = [(p, one) for p, one in enumerate(self.intervals) if one.category == category]
                for place, one in members:
                    if one.low is not None and one.high is not None:
                        axes.hlines(place, one.low, one.high, colour, linewidth=1.6)
                values, places = [one.value for _, one in members], [place for place, _ in members]
                label = picture_name(category or "no category")
                axes.scatter(values, places, 22, colour, marker=shape, zorder=3, label=label)
            axes.set_yticks(range(len(names)), names, family="monospace", fontsize=8)
            axes.set_ylim(len(names) - 0.5, -0.5)
            axes.set_xlabel(self.axis)
            axes.grid(axis="x", color="0.9", linewidth=0.6)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
            picture.legend(loc="outside upper center", ncols=4, frameon=False, fontsize=8.5)


@dataclass(frozen=True)
class Point:
    """A value after a number of training rows per label; 0 for the model as it came."""

    rows: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class CurvePanel:
    """One config: name of a curve -> its points, few rows first."""

    config: str
    curves: dict[str, tuple[Point, ...]]


@dataclass(frozen=True)
class CurveFigure:
    """Small multiples, one for each config; values are fractions and drawn in percent."""

    file: str
    title: str
    axis: str
    panels: tuple[CurvePanel, ...]

    @property
    def alternative(self) -> str:
        """What the picture shows, for readers who do not see it."""
        return (
            f"{self.title}: a panel for each config, a curve for each model; the numbers stand in the tables."
        )

    def draw(self, path: Path) -> None:
        """Write the PNG; all panels share their axes."""
        columns = min(_PANELS_IN_A_ROW, len(self.panels))
        rows = -(-len(self.panels) // columns)
        names = list(dict.fromkeys(name for panel in self.panels for name in panel.curves))
        numbers = sorted({p.rows for panel in self.panels for curve in panel.curves.values() for p in curve})
        width = max(columns * _PANEL_INCHES[0], 4.6)
        height = rows * _PANEL_INCHES[1] + 0.6 + 0.18 * len(names)
        with canvas(path, width, height) as picture:
            grid: Any = picture.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
            for axes, panel in zip(grid.flat, self.panels, strict=False):
                _draw_curves(axes, panel, names, numbers)
            for axes in grid.flat[len(self.panels) :]:
                axes.set_visible(False)
            for column in range(columns):
                last = max(row for row in range(rows) if row * columns + column < len(self.panels))
                grid[last, column].tick_params(labelbottom=True)
            labelled = {
                label: handle
                for axes in grid.flat[: len(self.panels)]
                for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
            }
            picture.supxlabel("training rows per label (0: the model as it came)", fontsize=9)
            picture.supylabel(self.axis, fontsize=9)
            picture.legend(
                list(labelled.values()),
                list(labelled),
                loc="outside upper center",
                frameon=False,
                fontsize=8.5,
            )


@dataclass(frozen=True)
class Matrix:
    """(train, evaluation), each simple or hard -> value; cells that were not evaluated are not there."""

    name: str
    values: dict[tuple[str, str], float]


@dataclass(frozen=True)
class MatrixFigure:
    """2 x 2 matrices side by side; values are fractions and drawn in percent."""

    file: str
    title: str
    matrices: tuple[Matrix, ...]

    @property
    def alternative(self) -> str:
        """What the picture shows, for readers who do not see it."""
        return f"{self.title}: a matrix for each phenomenon; the numbers stand in the table."

    def draw(self, path: Path) -> None:
        """Write the PNG."""
        import numpy as np

        words = ("simple", "hard")
        columns = min(_MATRICES_IN_A_ROW, len(self.matrices))
        rows = -(-len(self.matrices) // columns)
        with canvas(
            path, max(columns * _MATRIX_INCHES + 0.5, 3.0), rows * (_MATRIX_INCHES + 0.2) + 0.4
        ) as picture:
            grid: Any = picture.subplots(rows, columns, squeeze=False)
            for axes, matrix in zip(grid.flat, self.matrices, strict=False):
                values = [[matrix.values.get((train, test), np.nan) for test in words] for train in words]
                axes.imshow(values, cmap="cividis", vmin=0, vmax=1)
                for (y, x), value in np.ndenumerate(np.array(values)):
                    shown = "–" if np.isnan(value) else f"{100 * value:.0f}"
                    ink = "black" if np.isnan(value) or value > 0.5 else "white"
                    axes.text(x, y, shown, ha="center", va="center", color=ink, fontsize=9)
                axes.set_xticks((0, 1), words, fontsize=7)
                axes.set_yticks((0, 1), words, fontsize=7, rotation=90, va="center")
                axes.set_title(picture_name(matrix.name), fontsize=7.5, loc="left", family="monospace")
            for axes in grid.flat[len(self.matrices) :]:
                axes.set_visible(False)
            picture.supxlabel("evaluated on", fontsize=8.5)
            picture.supylabel("trained on", fontsize=8.5)


def _draw_curves(axes: Axes, panel: CurvePanel, names: Sequence[str], numbers: Sequence[int]) -> None:
    for name, points in panel.curves.items():
        colour, shape = _look(names.index(name))
        rows, values = [point.rows for point in points], [100 * point.value for point in points]
        axes.plot(
            rows, values, color=colour, marker=shape, markersize=4, linewidth=1.2, label=picture_name(name)
        )
        for point in points:
            if point.low is not None and point.high is not None:
                axes.vlines(point.rows, 100 * point.low, 100 * point.high, colour, linewidth=0.9, alpha=0.7)
    # Logarithmic, but with a place for 0.
    first = min((number for number in numbers if number), default=1)
    axes.set_xscale("symlog", linthresh=first, linscale=0.4)
    axes.set_xticks(numbers, [f"{number:,}" for number in numbers], fontsize=7)
    axes.minorticks_off()
    axes.set_title(picture_name(panel.config), fontsize=9, loc="left", family="monospace")
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _look(number: int) -> tuple[str, str]:
    return COLOURS[number % len(COLOURS)], _SHAPES[number % len(_SHAPES)]
