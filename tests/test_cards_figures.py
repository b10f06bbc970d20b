"""Distributions of scores and lengths: the numbers, the bins and the pictures."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from cards_release import default_configs, make_release, source_rows, split_config

from benchwright.cards.figures import Figure, Panel, bin_edges, draw_figures, plan_figures, shares
from benchwright.errors import PrerequisiteError
from benchwright.release import ReleaseFolder


@pytest.fixture
def release(tmp_path: Path) -> ReleaseFolder:
    return make_release(tmp_path / "toy-splits")


def test_scores_are_shown_for_likelihood_configs_and_lengths_for_all(release: ReleaseFolder) -> None:
    scores, lengths = plan_figures(release)
    assert [panel.config for panel in scores.panels] == [
        "ll_split_pt",
        "ll_split_pt_reverse",
        "ll_split_len_pt",
    ]
    assert [panel.config for panel in lengths.panels] == list(release.placed_configs)
    assert (scores.file, lengths.file) == ("figures/scores.png", "figures/lengths.png")


def test_panels_hold_the_rows_of_their_sides(release: ReleaseFolder) -> None:
    panel = plan_figures(release)[0].panels[0]
    train = release.table("ll_split_pt", "train").column("log_likelihood").drop_null().to_numpy()
    assert np.array_equal(np.sort(panel.train), np.sort(train))
    assert len(panel.train) == 39, "the row without a score is left out"
    assert len(panel.evaluation) == 20
    assert panel.medians == pytest.approx((np.median(train), np.median(panel.evaluation)))
    assert panel.evaluation.max() <= panel.train.min(), "a likelihood split without length control"


def test_no_likelihood_config_no_score_figure(tmp_path: Path) -> None:
    release = make_release(tmp_path / "toy", configs={"random": split_config("random", default=True)})
    assert [figure.file for figure in plan_figures(release)] == ["figures/lengths.png"]


def test_the_alternative_text_says_what_the_picture_shows(release: ReleaseFolder) -> None:
    scores = plan_figures(release)[0]
    train, evaluation = scores.panels[0].medians
    for value in (train, evaluation):
        assert f"{abs(value):.1f}" in scores.alternative
    assert "ll_split_len_pt" in scores.alternative


def test_bins_are_shared_whole_for_counts_and_few_for_few_rows() -> None:
    few = [Panel("a", np.arange(20.0), np.arange(4.0)), Panel("b", np.arange(30.0), np.arange(9.0))]
    assert len(bin_edges(few, whole_numbers=False)) == 9
    many = [Panel("a", np.linspace(0, 1, 5000), np.linspace(0, 1, 900))]
    assert len(bin_edges(many, whole_numbers=False)) == 41
    whole = bin_edges([Panel("a", np.array([3.0, 4, 7]), np.array([5.0]))], whole_numbers=True)
    assert whole.tolist() == [2.5, 3.5, 4.5, 5.5, 6.5, 7.5]
    assert np.all(np.diff(bin_edges([Panel("a", np.full(5, 2.0), np.full(5, 2.0))], whole_numbers=False)) > 0)


def test_shares_add_up_and_outliers_count_in_the_outer_bins() -> None:
    edges = np.array([0.0, 1, 2, 3])
    assert shares(np.array([-9.0, 0.5, 1.5, 99]), edges).tolist() == [50, 25, 25]
    assert shares(np.empty(0), edges).tolist() == [0, 0, 0]


def test_pictures_are_equal_whatever_the_users_settings(release: ReleaseFolder, tmp_path: Path) -> None:
    figures = plan_figures(release)
    first = [path.read_bytes() for path in draw_figures(figures, tmp_path / "a")]
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "black", "figure.dpi": 10}):
        second = [path.read_bytes() for path in draw_figures(figures, tmp_path / "b")]
    assert first == second
    for picture in first:
        assert picture.startswith(b"\x89PNG")
        assert b"Matplotlib" not in picture
        assert b"tEXt" not in picture


def test_pictures_are_equal_in_another_process(release: ReleaseFolder, tmp_path: Path) -> None:
    paths = draw_figures(plan_figures(release), tmp_path)
    code = (
        "import sys; from pathlib import Path; from benchwright.release import ReleaseFolder;"
        "from benchwright.cards.figures import plan_figures, draw_figures;"
        "draw_figures(plan_figures(ReleaseFolder(sys.argv[1])), Path(sys.argv[2]))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "MPLBACKEND": "svg"}
    subprocess.run(
        [sys.executable, "-c", code, release.path, tmp_path / "other"],
        check=True,
        env=environment,
        cwd=tmp_path,
    )
    for path in paths:
        again = tmp_path / "other" / path.relative_to(tmp_path)
        assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(again.read_bytes()).digest()


def test_a_figure_that_is_no_longer_made_is_removed_and_others_are_not(release: ReleaseFolder) -> None:
    figures = plan_figures(release)
    draw_figures(figures, release.path)
    own = release.path / "figures" / "mine.png"
    own.write_bytes(b"mine")
    draw_figures(figures[1:], release.path)
    assert sorted(path.name for path in (release.path / "figures").iterdir()) == ["lengths.png", "mine.png"]


def test_twelve_panels_one_panel_and_one_row(tmp_path: Path) -> None:
    panels = tuple(Panel(f"config_{n}", np.arange(50.0) + n, np.arange(20.0)) for n in range(12))
    single = (Panel("one", np.array([4.0]), np.empty(0)),)
    figures = [
        Figure("figures/scores.png", "Twelve", "x", False, panels),
        Figure("figures/lengths.png", "One", "x", True, single),
    ]
    sizes = [path.stat().st_size for path in draw_figures(figures, tmp_path)]
    assert all(size > 1000 for size in sizes)
    assert "– in evaluation" in figures[1].alternative


def test_without_matplotlib_the_install_line_is_given(
    release: ReleaseFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PrerequisiteError, match=r"pip install 'benchwright\[cards\]'"):
        draw_figures(plan_figures(release), tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def test_rows_without_any_length_make_no_panel(tmp_path: Path) -> None:
    rows = source_rows().drop_columns(["length"])
    configs = {"random": default_configs()["random"] | {"default": True}}
    assert plan_figures(make_release(tmp_path / "toy", configs=configs, rows=rows, sides=False)) == []
