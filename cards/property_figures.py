"""Pictures of the properties of splits: shares of classes as bars, values of single splits as dots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .figures import EVALUATION_COLOUR, TRAIN_COLOUR, canvas, picture_name
from .numbers import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Splits differ by shape as well as by Okabe and Ito's colours; evaluation is warm.
_MARKS = {
    "train": (TRAIN_COLOUR, "o"),
    "validation": ("#E69F00", "s"),
    "test": (EVALUATION_COLOUR, "D"),
}
_NULL_COLOUR = "0.72"
_CONFIG_INCHES, _BAR_INCHES, _FRAME_INCHES = 0.38, 0.2, 0.95
_PANEL_INCHES, _PANELS_IN_A_ROW = 2.9, 3
_NAME_INCHES = 0.075
_SPREAD = 0.5
_FEWEST_LABELLED = 0.06


@dataclass(frozen=True)
class Bar:
    """The classes of one side of a config: `shares` are fractions that add up to 1, in the figure's order."""

    config: str
    side: str
    shares: tuple[float, ...]


@dataclass(frozen=True)
class BarFigure:
    """Stacked bars, the sides of a config one below the other."""

    file: str
    title: str
    classes: tuple[str, ...]
    bars: tuple[Bar, ...]

    @property
    def alternative(self) -> str:
        """What the picture shows, for readers who do not see it."""
        return f"{self.title}: stacked bars, one for each side of a config; the numbers stand in the table."

    def draw(self, path: Path) -> None:
        """Write the PNG."""
        from matplotlib import colormaps

        colours = colormaps["cividis"].resampled(max(2, len(self.classes)))(range(len(self.classes)))
        first = self._first_of_config()
        names = [
            f"{bar.config}  {bar.side}" if new else bar.side
            for bar, new in zip(self.bars, first, strict=True)
        ]
        # A gap before each config.
        places = [0.0, *accumulate(1.45 if new else 1.0 for new in first[1:])]
        with canvas(
            path, 5.2 + _name_inches(names), _BAR_INCHES * (places[-1] + 1) + _FRAME_INCHES
        ) as picture:
            axes: Any = picture.subplots()
            for number, name in enumerate(self.classes):
                widths = [100 * bar.shares[number] for bar in self.bars]
                starts = [100 * sum(bar.shares[:number]) for bar in self.bars]
                bars = axes.barh(
                    places,
                    widths,
                    0.86,
                    starts,
                    color=colours[number],
                    edgecolor="white",
                    label=picture_name(name),
                )
                ink = "white" if sum(colours[number][:3]) < 1.6 else "black"
                shown = [percent(w / 100, 0) if w >= 100 * _FEWEST_LABELLED else "" for w in widths]
                axes.bar_label(bars, shown, label_type="center", color=ink, fontsize=7)
            axes.set_yticks(places, names, family="monospace", fontsize=8)
            axes.set(xlim=(0, 100), ylim=(places[-1] + 0.7, -0.7), xlabel="% of the rows of a side")
            axes.spines[["top", "right", "left"]].set_visible(False)
            axes.tick_params(left=False)
            picture.legend(loc="outside upper center", ncols=5, frameon=False, fontsize=9)

    def _first_of_config(self) -> list[bool]:
        before = [None, *(bar.config for bar in self.bars)]
        return [bar.config != name for bar, name in zip(self.bars, before, strict=False)]


@dataclass(frozen=True)
class Dot:
    """The value of one split; `expected` bounds what random splits give (None: not known)."""

    split: str
    value: float
    expected: tuple[float, float] | None = None


@dataclass(frozen=True)
class DotPanel:
    """One measure: config -> the values of its splits."""

    title: str
    axis: str
    dots: Mapping[str, tuple[Dot, ...]]


@dataclass(frozen=True)
class DotFigure:
    """Panels side by side, a line for each config, a mark for each split."""

    file: str
    title: str
    panels: tuple[DotPanel, ...]

    @property
    def alternative(self) -> str:
        """What the picture shows, for readers who do not see it."""
        panels = ", ".join(dict.fromkeys(panel.title for panel in self.panels))
        return (
            f"{self.title} ({panels}): a line for each config, a mark for each split; the numbers stand in "
            "the tables."
        )

    def draw(self, path: Path) -> None:
        """Write the PNG; all panels share the configs."""
        configs = list(dict.fromkeys(name for panel in self.panels for name in panel.dots))
        columns = min(_PANELS_IN_A_ROW, len(self.panels))
        rows = -(-len(self.panels) // columns)
        width = max(columns * _PANEL_INCHES, 3.6) + _name_inches(configs)
        height = rows * (_CONFIG_INCHES * len(configs) + 0.6) + 0.45
        with canvas(path, width, height) as picture:
            grid: Any = picture.subplots(rows, columns, sharey=True, squeeze=False)
            for axes, panel in zip(grid.flat, self.panels, strict=False):
                _draw_panel(axes, panel, configs)
            for axes in grid.flat[len(self.panels) :]:
                axes.set_visible(False)
            labelled = {
                label: handle
                for axes in grid.flat[: len(self.panels)]
                for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
            }
            order = [label for label in (*_MARKS, _NULL_LABEL) if label in labelled]
            handles = [labelled[label] for label in order]
            picture.legend(handles, order, loc="outside upper center", ncols=4, frameon=False, fontsize=9)


_NULL_LABEL = "random splits"


def _draw_panel(axes: Axes, panel: DotPanel, configs: list[str]) -> None:
    splits = [
        name for name in _MARKS if any(dot.split == name for dots in panel.dots.values() for dot in dots)
    ]
    offsets = {
        name: 0.0 if len(splits) == 1 else _SPREAD * (place / (len(splits) - 1) - 0.5)
        for place, name in enumerate(splits)
    }
    for name in splits:
        colour, mark = _MARKS[name]
        found = [
            (place + offsets[name], dot)
            for place, config in enumerate(configs)
            for dot in panel.dots.get(config, ())
            if dot.split == name
        ]
        expected = [(place, *dot.expected) for place, dot in found if dot.expected is not None]
        if expected:
            axes.hlines(*zip(*expected, strict=True), color=_NULL_COLOUR, linewidth=5, label=_NULL_LABEL)
        values, places = [dot.value for _, dot in found], [place for place, _ in found]
        axes.scatter(values, places, 22, colour, marker=mark, zorder=3, label=name)
    axes.set_yticks(range(len(configs)), configs, family="monospace", fontsize=8)
    axes.set_ylim(len(configs) - 0.5, -0.5)
    axes.set_title(picture_name(panel.title), fontsize=9, loc="left")
    axes.set_xlabel(panel.axis, fontsize=8.5)
    axes.grid(axis="x", color="0.9", linewidth=0.6)
    axes.hlines(
        [place + 0.5 for place in range(len(configs) - 1)],
        0,
        1,
        "0.93",
        linewidth=0.6,
        transform=axes.get_yaxis_transform(),
    )
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _name_inches(names: list[str]) -> float:
    return _NAME_INCHES * max(map(len, names))
