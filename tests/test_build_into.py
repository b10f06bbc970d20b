"""Adding configs to a release that exists: nothing else of it changes, and its choices hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from release_helpers import fingerprint
from scores_helpers import tiny_gpt2

from benchwright.builders.build import build
from benchwright.builders.errata import rename, withdraw
from benchwright.builders.rebuild import rebuild
from benchwright.builders.verify import verify
from benchwright.cli import main
from benchwright.errors import ReleaseError, UsageError
from benchwright.eval import evaluate
from benchwright.publication import Publication
from benchwright.release import ReleaseFolder


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    return str(tiny_gpt2(tmp_path_factory.mktemp("models") / "tiny", positions=1024))


@pytest.fixture(scope="module")
def base(model, tmp_path_factory) -> ReleaseFolder:
    """A release with one score table, sizes of its own, a withdrawn row, a renamed config and a result."""
    folder = tmp_path_factory.mktemp("base")
    made = build(
        "boolq", source="sample", out=folder / "base", configs=["random", "ll_split_pt"], lm=[model],
        validation=20, test=21, cache=folder / "cache",
    )  # fmt: skip
    evaluate(made, configs=["random"], baselines=["majority"])
    uid = made.table("random", "test").column("uid")[0].as_py()
    withdraw(made, uids=[uid], reason="A reader asked for it.")
    renamed = rename(made.path, config="ll_split_pt", to="unlikely")
    manifest = renamed.path / "manifest.json"
    known = Publication(
        "acme/boolq", "1.1.0", withdrawn=renamed.publication.withdrawn, aliases={"ll_split_pt": "unlikely"}
    )
    manifest.write_text(json.dumps(known.put_into(renamed.manifest)), encoding="utf-8")
    return ReleaseFolder(renamed.path)


def data_files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.parquet"))
    }


def test_a_config_is_added_from_the_stored_scores_and_every_other_file_keeps_its_bytes(base, tmp_path):
    """No model is at hand: `--lm` is not given, and the embedded one is not in the cache."""
    before = fingerprint(base.path)
    out = build(
        "boolq", source="sample", into=base.path, out=tmp_path / "more", configs=["ll_split_pt_len", "length"]
    )
    old, new = data_files(base.path), data_files(out.path)
    assert {name: new[name] for name in old} == old
    assert {name.split("/")[0] for name in new.keys() - old.keys()} == {
        "assignments", "length", "ll_split_pt_len",
    }  # fmt: skip
    assert list(out.placed_configs) == ["random", "unlikely", "length", "ll_split_pt_len"]
    assert {name: out.config(name) for name in base.configs} == base.configs
    assert out.publication == base.publication
    assert [name for name, entry in out.configs.items() if entry["default"]] == ["unlikely"]
    withdrawn = base.publication.withdrawn[0].uids[0]
    assert all(
        withdrawn not in out.table(config, split).column("uid").to_pylist()
        for config in out.placed_configs
        for split in out.splits(config)
    )
    assert out.config("length")["splits"]["validation"]["rows"] in (19, 20)  # the sizes of the base
    index = json.loads((out.path / "results" / "index.json").read_text(encoding="utf-8"))
    assert [entry["config"] for entry in index["results"]] == ["random"]
    assert verify(out.path) == []
    assert rebuild(out.path, source="sample") == []
    assert fingerprint(base.path) == before


def test_what_is_added_is_what_one_build_would_have_made(model, tmp_path):
    options = {"source": "sample", "lm": [model], "cache": tmp_path / "cache"}
    whole = build("boolq", out=tmp_path / "whole", configs=["random", "ll_split_pt"], **options)
    build("boolq", out=tmp_path / "part", configs=["random"], **options)
    added = build(
        "boolq",
        into=tmp_path / "part",
        out=tmp_path / "part",
        configs=["ll_split_pt"],
        overwrite=True,
        **options,
    )
    assert data_files(added.path) == data_files(whole.path)
    assert added.manifest["scores"] == whole.manifest["scores"]
    assert added.manifest["audit"] == whole.manifest["audit"]
    assert verify(added.path) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--configs", "random"], "has config 'random' already"),
        (["--configs", "ll_split_pt"], "has config 'unlikely' already"),
        (["--configs", "lenght"], "did you mean length"),
        ([], "name the configs to add with --configs"),
        (["--configs", "length", "--method", "published"], "--method 'published' is not that of"),
        (["--configs", "length", "--seed", "7"], "--seed 7 is not that of"),
        (["--configs", "length", "--validation", "30"], "--validation 30 is not that of"),
        (["--configs", "length", "--on-bad-row", "drop"], "--on-bad-row 'drop' is not that of"),
        (["--configs", "ll_split_pt_len", "--lm", "gpt2-large"], "was made with tiny"),
        (["--configs", "length", "--scores", "BASE"], "leave out --scores"),
    ],
)  # fmt: skip
def test_another_choice_is_a_mistake_that_is_named(base, tmp_path, capsys, arguments, message):
    words = [str(base.path) if word == "BASE" else word for word in arguments]
    command = ["build", "boolq", "--source", "sample", "--into", str(base.path), "--out", str(tmp_path / "x")]
    assert main([*command, *words]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_options_that_are_those_of_the_base_may_be_given(base, tmp_path):
    options = {"validation": 20, "test": 21, "method": "corrected", "configs": ["length"]}
    out = build("boolq", source="sample", into=base.path, out=tmp_path / "more", **options)
    assert "length" in out.configs


def test_another_source_or_builder_is_refused(base, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    row = {"question": "is it", "passage": "It is.", "answer": True, "title": "It"}
    for name in ("train.jsonl", "dev.jsonl"):
        lines = [json.dumps({**row, "passage": f"It is {number}."}) for number in range(30)]
        (source / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"the source is not that of .*train\.jsonl"):
        build("boolq", source=source, into=base.path, out=tmp_path / "x", configs=["length"])
    with pytest.raises(UsageError, match="was made by boolq and not by snli"):
        build("snli", source="sample", into=base.path, out=tmp_path / "x", configs=["length"])
    with pytest.raises(ReleaseError, match="--overwrite"):
        build("boolq", source="sample", into=base.path, out=base.path, configs=["length"])
    assert not (tmp_path / "x").exists()
