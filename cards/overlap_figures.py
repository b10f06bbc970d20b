"""Pictures of overlap: shares of rows above a cut-off."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .experiment_figures import COLOURS
from .figures import canvas, picture_name

_PANEL_INCHES, _PANELS_IN_A_ROW = (2.9, 2.1), 3
_STYLES = ("-", "--", "-.", ":")


@dataclass(frozen=True)
class OverlapPanel:
    """One test set: name of a curve -> shares at each cut-off."""

    name: str
    curves: dict[str, np.ndarray]


@dataclass(frozen=True)
class OverlapFigure:
    """Small multiples, one for each test set; a curve falls from the share of rows that overlap at all.

    `cutoffs` has shape (n,), as each curve; `marked` are the cut-offs of the subsets.
    """

    file: str
    title: str
    cutoffs: np.ndarray
    marked: tuple[float, ...]
    panels: tuple[OverlapPanel, ...]

    @property
    def alternative(self) -> str:
        """What the picture shows, for readers who do not see it."""
        return (
            f"{self.title}: a panel for each test set, a falling curve for each corpus; the numbers at the "
            "cut-offs of the subsets stand in the table."
        )

    def draw(self, path: Path) -> None:
        """Write the PNG; all panels share their axes."""
        columns = min(_PANELS_IN_A_ROW, len(self.panels))
        rows = -(-len(self.panels) // columns)
        names = list(dict.fromkeys(name for panel in self.panels for name in panel.curves))
        width = max(columns * _PANEL_INCHES[0], 4.6)
        height = rows * _PANEL_INCHES[1] + 0.6 + 0.18 * len(names)
        with canvas(path, width, height) as picture:
            grid: Any = picture.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
            for axes, panel in zip(grid.flat, self.panels, strict=False):
                for cutoff in self.marked:
                    axes.axvline(cutoff, color="0.85", linewidth=0.8)
                for name, shares in panel.curves.items():
                    number = names.index(name)
                    axes.plot(
                        self.cutoffs,
                        100 * shares,
                        color=COLOURS[number % len(COLOURS)],
                        linestyle=_STYLES[number % len(_STYLES)],
                        linewidth=1.3,
                        drawstyle="steps-post",
                        label=picture_name(name),
                    )
                axes.set_title(picture_name(panel.name), fontsize=9, loc="left", family="monospace")
                axes.grid(axis="y", color="0.9", linewidth=0.6)
                axes.set_axisbelow(True)
                axes.spines[["top", "right"]].set_visible(False)
            for axes in grid.flat[len(self.panels) :]:
                axes.set_visible(False)
            for column in range(columns):
                last = max(row for row in range(rows) if row * columns + column < len(self.panels))
                grid[last, column].tick_params(labelbottom=True)
            grid[0, 0].set_ylim(bottom=0)
            picture.supxlabel("cut-off (BM25 score)", fontsize=9)
            picture.supylabel("% of the searched rows above it", fontsize=9)
            labelled = {
                label: handle
                for axes in grid.flat[: len(self.panels)]
                for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
            }
            picture.legend(
                list(labelled.values()),
                list(labelled),
                loc="outside upper center",
                frameon=False,
                fontsize=8.5,
            )
