"""Releases without text: nothing of the corpus is left in them, and whoever has it gets the rows back."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from datasets import load_dataset
from scores_helpers import tiny_gpt2

from benchwright.builders.build import build, split
from benchwright.builders.errata import rename, withdraw, yank
from benchwright.builders.hub.publish import publish
from benchwright.builders.hydrate import has_text, hydrate, strip
from benchwright.builders.rebuild import rebuild
from benchwright.builders.release import manifest_text
from benchwright.builders.spider import SpiderBuilder
from benchwright.builders.verify import verify
from benchwright.cards import write_card
from benchwright.cli import main
from benchwright.errors import PublishError, ReleaseError, UsageError
from benchwright.eval import evaluate, load_results, refresh_index
from benchwright.eval.analyses import export_errors, store_typed_errors
from benchwright.features import HEAD, PLACEMENT
from benchwright.release import SPLITS, ReleaseFolder

REPO = "acme/spider-splits"
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
    evaluate(made, configs=["random"], baselines=["majority", "nearest_question"])
    typed = folder / "typed.jsonl"
    export_errors(made, "random", "nearest_question", typed, limit=1)
    row = {**json.loads(typed.read_text(encoding="utf-8")), "error_type": "wrong table"}
    typed.write_text(json.dumps(row) + "\n", encoding="utf-8")
    store_typed_errors(made, "random", "nearest_question", typed)
    refresh_index(made)
    write_card(made)
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


def test_answers_that_are_programs_are_taken_out_with_the_text(whole, bare, tmp_path):
    """The nearest question of train is answered with its program."""
    queries = {
        json.dumps(query, ensure_ascii=False)[1:-1].encode()
        for split in whole.splits("random")
        for query in whole.table("random", split).column("query").to_pylist()
    }

    def told(release: ReleaseFolder) -> set[str]:
        found = files(release.path / "results").items()
        return {name for name, data in found if any(query in data for query in queries)}

    assert sorted(name.split(".", 1)[1] for name in told(whole)) == [
        "errors.jsonl", "predictions.jsonl", "predictions.jsonl",
    ]  # fmt: skip
    assert told(bare) == set()
    for result in load_results(whole):
        (kept,) = (found for found in load_results(bare) if found.file == result.file)
        assert kept == replace(result, withheld=True)
    # Ids with such answers beside them are text all the same.
    copy = ReleaseFolder(shutil.copytree(bare.path, tmp_path / "copy"))
    for name in told(whole):
        shutil.copyfile(whole.path / "results" / name, copy.path / "results" / name)
    assert has_text(copy)
    assert files(strip(copy, out=tmp_path / "again" / "spider-splits").path) == files(bare.path)


def test_answers_that_are_labels_stay(tmp_path):
    made = build("boolq", source="sample", out=tmp_path / "made", configs=["random"])
    evaluate(made, baselines=["majority"])
    bare = strip(made, out=tmp_path / "bare")
    assert files(bare.path / "results") == files(made.path / "results")
    assert not has_text(bare)


def test_results_and_notes_stay_true_without_the_text(whole, bare):
    before, after = (
        json.loads((release.path / "results" / "index.json").read_text(encoding="utf-8"))
        for release in (whole, bare)
    )
    assert after == before
    assert {entry["stale"] for entry in after["results"]} == {None}
    assert all(before["analyses"][name] for name in ("breakdowns", "errors"))
    assert "By hand." in (bare.path / "README.md").read_text(encoding="utf-8")
    assert (bare.path / "analyses" / "properties.json").is_file()


def test_a_stripped_release_is_rebuilt_from_the_corpus(bare):
    assert rebuild(bare.path, source="sample") == []


def without_answers(content: dict[str, bytes]) -> dict[str, bytes]:
    """All files but stored results: answers that were taken out are not put back."""
    return {name: data for name, data in content.items() if not name.startswith("results/random/")}


def test_hydrating_gives_back_every_byte(whole, bare, tmp_path):
    answer = hydrate(bare.path, source="sample", out=tmp_path / "spider-splits")
    assert (answer.rows, answer.missing, answer.different, answer.tables) == (202, (), (), ())
    assert answer.release is not None
    old, new = files(whole.path), files(answer.release.path)
    assert without_answers(new) == without_answers(old)
    assert verify(answer.release.path) == []
    evaluate(answer.release, configs=["random"], baselines=["majority", "nearest_question"])
    again = files(answer.release.path)
    answers = [name for name in old if name.startswith("results/random/") and "errors" not in name]
    assert {name: again[name] for name in answers} == {name: old[name] for name in answers}


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


def test_a_config_is_added_to_a_stripped_release_and_stripped_in_turn(bare, tmp_path):
    """The added config has its text, so that it must be taken out before the release may be published."""
    mixed = build(
        "spider",
        source="sample",
        into=bare.path,
        out=tmp_path / "mixed" / "spider-splits",
        configs=["length"],
    )
    assert verify(mixed.path) == []
    assert has_text(mixed)
    assert rebuild(mixed.path, source="sample") == []
    with pytest.raises(PublishError, match="take it out with `benchwright strip`"):
        publish(ids_only(mixed, tmp_path / "ids_only"), repo=REPO)

    again = strip(mixed, out=tmp_path / "again" / "spider-splits")
    assert not has_text(again)
    assert verify(again.path) == []
    assert {name: again.config(name) for name in bare.configs} == bare.configs
    assert rebuild(again.path, source="sample") == []
    index = json.loads((again.path / "results" / "index.json").read_text(encoding="utf-8"))
    assert index["results"] == json.loads((bare.path / "results" / "index.json").read_bytes())["results"]
    assert index["analyses"]["errors"]

    for place in (again, mixed):
        answer = hydrate(place, source="sample", out=tmp_path / f"whole-of-{place.path.parent.name}")
        assert (answer.rows, answer.missing, answer.different, answer.tables) == (202, (), (), ())
        assert verify(answer.release.path) == []
        assert rebuild(answer.release.path, source="sample") == []
        assert not answer.release.is_stripped
        assert answer.release.config("length")["features"] == mixed.config("length")["features"]


def ids_only(release: ReleaseFolder, out: Path) -> ReleaseFolder:
    """A copy of a release whose licence lets ids be published, and no text."""
    copy = shutil.copytree(release.path, out)
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    manifest["dataset"]["redistribute"] = "ids_only"
    (copy / "manifest.json").write_text(manifest_text(manifest), encoding="utf-8")
    write_card(copy)
    return ReleaseFolder(copy)


def test_renaming_a_config_without_text_keeps_what_its_results_say_of_the_text(bare, tmp_path):
    copy = ReleaseFolder(shutil.copytree(bare.path, tmp_path / "bare"))
    after = rename(copy, config="random", to="drawn")
    index = json.loads((after.path / "results" / "index.json").read_text(encoding="utf-8"))
    assert {(entry["config"], entry["stale"]) for entry in index["results"]} == {("drawn", None)}
    for name in ("breakdowns", "errors"):
        assert {line["config"] for line in index["analyses"][name]} == {"drawn"}
    assert verify(after.path) == []


def test_a_release_without_text_is_published_hydrated_from_there_and_taken_back(hub, bare, whole, tmp_path):
    folder = ids_only(bare, tmp_path / "spider-splits").path
    first = publish(folder, repo=REPO, create=True)
    assert (first.version, first.verified, first.differences) == ("1.0.0", True, ())
    answer = hydrate(f"{REPO}@1.0.0", source="sample", out=tmp_path / "first")
    assert (answer.rows, answer.missing, answer.different, answer.tables) == (202, (), (), ())
    assert verify(answer.release.path) == []
    assert parquet(answer.release.path) == parquet(whole.path)

    uids = [ReleaseFolder(folder).table("random", split).column("uid")[0].as_py() for split in SPLITS]
    withdraw(folder, uids=uids, reason="Again.")
    rename(folder, config="random", to="drawn")
    yank(folder, version="1.0.0", reason="It held rows that were withdrawn.")
    second = publish(folder, repo=REPO, load=False)
    assert (second.version, second.verified, second.differences) == ("2.0.0", True, ())
    assert set(hub.repository(REPO).tags()) == {"1.0.0-yanked", "2.0.0"}
    assert verify(f"{REPO}@2.0.0") == []
    assert verify(folder) == []
    assert publish(folder, repo=REPO, load=False).plan.files.written == ()
    release = ReleaseFolder(folder)
    for name in [*release.configs, "random"]:
        loaded = load_dataset(REPO, name, revision="2.0.0")
        config = release.publication.aliases.get(name, name)
        assert list(loaded) == release.splits(config)
        for side, rows in loaded.items():
            assert rows.features == release.features(config)
            assert rows["uid"][:] == release.table(config, side).column("uid").to_pylist()
            assert not set(uids) & set(rows["uid"])
    texts = b"".join(data for data in hub.repository(REPO).files("2.0.0").values())
    assert whole.table("random", "test").column("question")[1].as_py().encode() not in texts

    answer = hydrate(f"{REPO}@2.0.0", source="sample", out=tmp_path / "second")
    assert (answer.rows, answer.missing, answer.different, answer.tables) == (199, (), (), ())
    assert verify(answer.release.path) == []
    with pytest.raises(PublishError, match="take it out with `benchwright strip`"):
        publish(answer.release, repo=REPO)


def parquet(folder: Path) -> dict[str, bytes]:
    return {name: data for name, data in files(folder).items() if name.endswith(".parquet")}


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


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("without_text", {"features": {}}),
        ("without_text", {"features": {}, "splits": {"train": {}}}),
        ("withdrawn", {"uids": ["a"], "splits": [], "content_ids": []}),
        ("withdrawn", {"uids": ["a"], "splits": ["nowhere"], "content_ids": ["0"]}),
        ("withdrawn", ["a"]),
    ],
)
def test_a_manifest_that_misuses_its_records_is_refused(bare, tmp_path, key, value):
    manifest = json.loads((bare.path / "manifest.json").read_text(encoding="utf-8"))
    manifest["configs"]["random"][key] = value
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(ReleaseError, match=rf"configs\.random\.{key}"):
        hydrate(tmp_path, source="sample", out=tmp_path / "out")
