"""What a build refuses before it reads or trains, and what it leaves out instead of losing everything."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import parts_builder
import pytest
from parts_builder import PuzzleBuilder, write_source
from pvi_helpers import SMALL, tiny_encoder

from benchwright.builders.audit import audit
from benchwright.builders.base import BuildOptions, ConfigSpec, builders
from benchwright.builders.build import build
from benchwright.builders.rebuild import rebuild
from benchwright.builders.rescore import rescore
from benchwright.builders.verify import verify
from benchwright.errors import BenchwrightWarning, ReleaseError, SplitError, UsageError

LEFT_OUT = r"config colour_clean is left out: train would be empty: all of its 9 rows"


class HalvedPuzzleBuilder(PuzzleBuilder):
    """Makes the simple half of every puzzle; that of `colour` has no evaluation rows."""

    def configs(
        self, options: BuildOptions, score_names: Mapping[str, Sequence[str]], rows: int | None = None
    ) -> list[ConfigSpec]:
        halves = [
            replace(spec, extra=False)
            for spec in super().configs(options, score_names, rows)
            if spec.name in ("size", "colour_simple", "size_simple")
        ]
        broken = {"mapping": {"train": "train", "val": None}}
        return [
            replace(spec, parameters={**spec.parameters, **broken}) if spec.part == "colour" else spec
            for spec in halves
        ]


@pytest.fixture(scope="module", autouse=True)
def _installed() -> Iterator[None]:
    with parts_builder.installed():
        yield


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Every train row of `colour` stands in its validation; one of `size` does."""
    folder = write_source(tmp_path / "source")
    for puzzle, leaks in (("colour", 9), ("size", 1)):
        path = folder / f"{puzzle}.jsonl"
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        held = [line for line in lines if line["split"] == "val"]
        trains = [line for line in lines if line["split"] == "train"] if puzzle == "size" else []
        lines = [*held, *trains, *({**line, "split": "train"} for line in held[:leaks])]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def test_a_cleaned_config_that_cannot_be_is_left_out_and_others_stay(source: Path, tmp_path: Path) -> None:
    with pytest.warns(BenchwrightWarning, match=LEFT_OUT):
        made = build("puzzles", source=source, out=tmp_path / "made", repair=True)
    assert list(made.configs) == ["colour", "size", "size_clean"]
    assert made.config("size_clean")["unused"] == 1
    assert verify(made.path) == []
    assert rebuild(made.path, source=source) == []
    with pytest.warns(BenchwrightWarning, match=LEFT_OUT):
        only = build("puzzles", source=source, out=tmp_path / "only", configs=["colour"], repair=True)
    assert list(only.configs) == ["colour"]


def test_a_config_that_was_named_is_not_left_out(source: Path, tmp_path: Path) -> None:
    for configs in (["size", "colour_clean"], ["colour_clean"]):
        with pytest.raises(SplitError, match=r"^train would be empty"):
            build("puzzles", source=source, out=tmp_path / "out", configs=configs)
    assert not (tmp_path / "out").exists()


def test_a_repair_of_a_release_leaves_it_out_too(source: Path, tmp_path: Path) -> None:
    made = build("puzzles", source=source, out=tmp_path / "made")
    with pytest.warns(BenchwrightWarning, match=LEFT_OUT):
        found = audit(made.path, repair=True, source=source, out=tmp_path / "repaired")
    assert found.cleaned == ("size_clean",)
    assert found.repaired is not None
    assert list(found.repaired.configs) == ["colour", "size", "size_clean"]
    assert verify(found.repaired.path) == []
    size = build("puzzles", source=source, out=tmp_path / "size", configs=["size"])
    with pytest.warns(BenchwrightWarning, match=LEFT_OUT):
        into = build(
            "puzzles", source=source, into=size.path, out=tmp_path / "into", configs=["colour"], repair=True
        )
    assert list(into.configs) == ["size", "colour"]


@pytest.mark.filterwarnings("ignore:no usable information")
def test_a_score_table_that_no_config_reads_any_more_is_left_out(tmp_path: Path) -> None:
    source = write_source(tmp_path / "source")
    model = tiny_encoder(tmp_path / "model")
    with patch.dict(builders._objects, {"puzzles": HalvedPuzzleBuilder}):
        with pytest.warns(BenchwrightWarning, match="config colour_simple is left out: a PVI split needs"):
            made = build(
                "puzzles", source=source, out=tmp_path / "made", pvi_model=model, k=[2],
                pvi_recipe={**SMALL, "epochs": 1}, cache=tmp_path / "cache",
            )  # fmt: skip
        assert list(made.placed_configs) == ["size", "size_simple"]
        assert made.splits("scores") == ["pvi_size"]
        assert verify(made.path) == []
        assert rebuild(made.path, source=source) == []
        path = made.path / "manifest.json"
        manifest = json.loads(path.read_text(encoding="utf-8"))
        del manifest["configs"]["size_simple"]
        path.write_text(json.dumps(manifest), encoding="utf-8")
        with pytest.raises(ReleaseError, match="no config reads score table 'pvi_size'"):
            rescore(made.path, source=source)


@pytest.mark.parametrize(
    ("options", "flag"),
    [
        ({"pvi_model": "minilm-l3"}, "--pvi-model"),
        ({"pvi_recipe": {"epochs": 1}}, "--pvi-recipe"),
        ({"pvi_fit": "in_sample"}, "--pvi-fit"),
        ({"pvi_cut": "published"}, "--pvi-cut"),
        ({"pvi_border": "pooled"}, "--pvi-border"),
        ({"pvi_zero_label": True}, "--pvi-zero-label"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_options_on_pvi_need_a_config_that_is_cut_by_it(
    tmp_path: Path, options: dict[str, Any], flag: str
) -> None:
    """Before the source is read: there is none."""
    nowhere, out = tmp_path / "nowhere", tmp_path / "out"
    message = (
        f"^{flag}: none of these configs is cut by PVI; name one that is with --configs, such as size_simple"
    )
    with pytest.raises(UsageError, match=message):
        build("puzzles", source=nowhere, out=out, configs=["size"], **options)
    with pytest.raises(UsageError, match=r"spider has no PVI splits; leave out (--)?pvi"):
        build("spider", source=nowhere, out=out, configs=["length"], **options)


@pytest.mark.parametrize(
    ("options", "flag"), [({"recipe": {"max_steps": 20}}, "--recipe"), ({"k": (2, 5)}, "--k 5")]
)
@pytest.mark.parametrize(
    ("builder", "configs"), [("curriculum_difficulty", None), ("snli", ["random", "simple", "ll_split_pt"])]
)
def test_options_on_fold_models_need_a_config_that_reads_their_scores(
    tmp_path: Path, builder: str, configs: list[str] | None, options: dict[str, Any], flag: str
) -> None:
    """They would do nothing, and V-information would be measured by a recipe that nobody asked for."""
    with pytest.raises(
        UsageError, match=f"^{flag}: none of these configs reads scores of a fine-tuned"
    ) as made:
        build(builder, source=tmp_path / "nowhere", out=tmp_path / "out", configs=configs, **options)
    assert "--pvi-recipe" in str(made.value)


def test_options_on_fold_models_are_refused_where_a_release_gets_no_such_config(tmp_path: Path) -> None:
    made = build("puzzles", source=write_source(tmp_path / "source"), out=tmp_path / "made", configs=["size"])
    asked: dict[str, Any] = {"configs": ["size_clean"], "into": made.path, "recipe": {"max_steps": 20}}
    with pytest.raises(UsageError, match=r"^--recipe: none of these configs reads scores"):
        build("puzzles", source=tmp_path / "nowhere", out=tmp_path / "out", **asked)


@pytest.mark.parametrize("options", [{"pvi_model": "minilm-l3"}, {"pvi_recipe": {"epochs": 1}}], ids=repr)
def test_what_is_added_to_a_release_needs_such_a_config_too(tmp_path: Path, options: dict[str, Any]) -> None:
    made = build("puzzles", source=write_source(tmp_path / "source"), out=tmp_path / "made", configs=["size"])
    asked: dict[str, Any] = {"configs": ["size_clean"], "into": made.path, **options}
    with pytest.raises(UsageError, match="none of these configs is cut by PVI"):
        build("puzzles", source=tmp_path / "nowhere", out=tmp_path / "out", **asked)


@pytest.mark.parametrize(
    ("builder", "config", "recipe"),
    [("puzzles", "size_hard", "pvi_recipe"), ("spider", "ll_split", "recipe")],
)
def test_an_unknown_recipe_field_is_refused_before_the_source_is_read(
    tmp_path: Path, builder: str, config: str, recipe: str
) -> None:
    options: dict[str, Any] = {recipe: {"epoch": 1, "steps": 2}}
    with pytest.raises(UsageError, match="no recipe field 'epoch'"):
        build(builder, source=tmp_path / "nowhere", out=tmp_path / "out", configs=[config], **options)


def test_of_many_configs_an_error_names_some(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        build("curriculum", source="sample", out=tmp_path / "out", configs=["zzzz"])
    message = str(caught.value)
    assert message.startswith("curriculum has no config 'zzzz'; known: lexical, ")
    assert message.endswith(" more; see `benchwright list`")
    assert message.count(",") == 9
