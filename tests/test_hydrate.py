"""Releases without text: nothing of the corpus is left in them, and whoever has it gets the rows back."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scores_helpers import tiny_gpt2

from benchwright.builders.build import build, split
from benchwright.builders.errata import withdraw
from benchwright.builders.hydrate import has_text, hydrate, strip
from benchwright.builders.rebuild import rebuild
from benchwright.builders.spider import SpiderBuilder
from benchwright.builders.verify import verify
from benchwright.cli import main
from benchwright.errors import ReleaseError, UsageError
from benchwright.eval import evaluate
from benchwright.features import HEAD, PLACEMENT
from benchwright.release import ReleaseFolder

CONFIGS = ["random", "tmcd", "ll_split_pt"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> ReleaseFolder:
    """The Spider sample with a score table, a side table, a withdrawn row, a result and notes by hand."""
    folder = tmp_path_factory.mktemp("whole")
    model = tiny_gpt2(folder / "tiny", positions=1024)
    made = build(
        "spider", source="sample", out=folder / "spider-splits", lm=[str(model)], configs=CONFIGS,
        cache=folder / "cache",
    )  # fmt: skip
    evaluate(made, configs=["random"], baselines=["majority"])
    card = made.path / "README.md"
    begin = "<!-- user:begin notes -->"
    card.write_text(card.read_text(encoding="utf-8").replace(begin, f"{begin}\nBy hand."), encoding="utf-8")
    # Of train, so that the compounds that are novel in evaluation rows would be others without it.
    uid = made.table("tmcd", "train").column("uid")[0].as_py()
    return withdraw(made, uids=[uid], reason="A reader asked for it.")


@pytest.fixture(scope="module")
def bare(whole, tmp_path_factory) -> ReleaseFolder:
    return strip(whole, out=tmp_path_factory.mktemp("bare") / "spider-splits")


def files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_stripped_release_has_ids_and_placements_and_not_a_word_of_the_corpus(whole, bare):
    assert has_text(whole)
    assert not has_text(bare)
    for config in bare.placed_configs:
        assert set(bare.features(config)) == {*HEAD, *PLACEMENT}
    assert list(bare.features("schemas")) == list(HEAD)
    questions = whole.table("random", "test").column("question").to_pylist()
    queries = whole.table("random", "test").column("query").to_pylist()
    content = {name: data.lower() for name, data in files(bare.path).items()}
    for text in [*questions[:10], *queries[:10]]:
        assert not [name for name, data in content.items() if text.lower().encode() in data], text
    assert bare.table("random", "test").column("uid") == whole.table("random", "test").column("uid")
    assert bare.assignment("tmcd") == whole.assignment("tmcd")
    assert verify(bare.path) == []


def test_results_and_notes_stay_true_without_the_text(whole, bare):
    before, after = (
        json.loads((release.path / "results" / "index.json").read_text(encoding="utf-8"))
        for release in (whole, bare)
    )
    assert after == before
    assert "By hand." in (bare.path / "README.md").read_text(encoding="utf-8")
    assert (bare.path / "analyses" / "properties.json").is_file()


def test_a_stripped_release_is_rebuilt_from_the_corpus(bare):
    assert rebuild(bare.path, source="sample") == []


def test_hydrating_gives_back_every_byte(whole, bare, tmp_path):
    answer = hydrate(bare.path, source="sample", out=tmp_path / "spider-splits")
    assert (answer.rows, answer.missing, answer.different, answer.tables) == (202, (), (), ())
    assert answer.release is not None
    old, new = files(whole.path), files(answer.release.path)
    assert new == old
    assert verify(answer.release.path) == []


def test_the_hydrated_release_loads(bare, tmp_path):
    answer = hydrate(bare.path, source="sample", out=tmp_path / "whole")
    script = (
        "import sys; from datasets import load_dataset\n"
        "rows = load_dataset(sys.argv[1], 'tmcd', split='test')\n"
        "assert rows.num_rows == 26 and rows[0]['question'], rows"
    )
    command = [sys.executable, "-c", script, str(answer.release.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def changed_sample(folder: Path, change) -> Path:
    """A copy of the sample corpus whose train records went through `change`."""
    shutil.copytree(SpiderBuilder.sample_folder(), folder)
    path = next(folder.glob("train_spider.json*"))
    records = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(change(records)), encoding="utf-8")
    return folder


def test_missing_rows_are_named_and_nothing_is_written(bare, tmp_path, capsys):
    source = changed_sample(tmp_path / "source", lambda records: records[:-2])
    out = tmp_path / "out"
    assert main(["hydrate", str(bare.path), "--source", str(source), "--out", str(out)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 of 202 rows are missing in the source:"
    assert sorted(lines[1:]) == ["  spider:train:160", "  spider:train:161"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


def test_rows_that_are_different_are_named(bare, tmp_path, capsys):
    uid = bare.table("random", "test").column("uid")[0].as_py()
    number = int(uid.rpartition(":")[2])

    def change(records):
        records[number]["query"] = f"{records[number]['query']} LIMIT 77"
        return records

    source = changed_sample(tmp_path / "source", change)
    arguments = ["hydrate", str(bare.path), "--source", str(source), "--out", str(tmp_path / "out"), "--json"]
    assert main(arguments) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["release"] is None
    assert answer["missing"] == []
    assert uid in answer["different"]
    assert not (tmp_path / "out").exists()


def test_a_copy_in_another_order_is_joined_by_the_content_of_its_rows(bare, whole, tmp_path):
    source = changed_sample(tmp_path / "source", lambda records: records[::-1])
    answer = hydrate(bare.path, source=source, out=tmp_path / "out")
    assert answer.missing == answer.different == ()
    assert answer.release.table("random", "test").equals(whole.table("random", "test"))


def test_evaluating_or_auditing_rows_without_text_says_what_to_do(bare, whole, tmp_path, capsys):
    for command in ("eval", "audit"):
        assert main([command, str(bare.path)]) == 2
        assert "benchwright hydrate" in capsys.readouterr().err
    with pytest.raises(ReleaseError, match="has no text to take out"):
        strip(bare, out=tmp_path / "x")
    with pytest.raises(UsageError, match="has its text already"):
        hydrate(whole, source="sample", out=tmp_path / "x")


def test_withdrawing_from_a_stripped_release_leaves_one_that_can_be_hydrated(bare, tmp_path):
    copy = ReleaseFolder(shutil.copytree(bare.path, tmp_path / "bare"))
    uid = copy.table("random", "test").column("uid")[0].as_py()
    after = withdraw(copy, uids=[uid], reason="Again.")
    assert verify(after.path) == []
    answer = hydrate(after.path, source="sample", out=tmp_path / "whole")
    assert answer.release is not None
    assert uid not in answer.release.table("random", "test").column("uid").to_pylist()
    assert verify(answer.release.path) == []


def test_a_users_own_data_may_be_released_as_ids_only(tmp_path):
    rows = tmp_path / "reviews.csv"
    lines = ["text,label", *(f"Review number {n} is long.,{('good', 'bad')[n % 2]}" for n in range(60))]
    rows.write_text("\n".join(lines) + "\n", encoding="utf-8")
    made = split(
        rows,
        text="text",
        label="label",
        by=["random", "length"],
        out=tmp_path / "made",
        redistribute="ids_only",
    )
    assert made.dataset["redistribute"] == "ids_only"
    bare = strip(made, out=tmp_path / "bare")
    assert b"Review number" not in b"".join(files(bare.path).values())
    answer = hydrate(bare, source=rows, out=tmp_path / "again")
    assert answer.release.table("random", "train").equals(made.table("random", "train"))
    assert rebuild(bare, source=rows) == []
    with pytest.raises(UsageError, match="redistribute is 'all'; give text, ids_only or no"):
        split(rows, text="text", by=["random"], out=tmp_path / "x", redistribute="all")
