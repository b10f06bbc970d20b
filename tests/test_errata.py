"""Taking back rows, configs, names and versions: the rest stays as it was, and every proof still holds."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.compute as pc
import pytest
import release_helpers
from scores_helpers import tiny_gpt2

from benchwright.builders.build import build
from benchwright.builders.errata import rename, withdraw, yank
from benchwright.builders.rebuild import rebuild
from benchwright.builders.verify import verify
from benchwright.cli import main
from benchwright.errors import BenchwrightWarning, ReleaseError, UsageError
from benchwright.eval import evaluate
from benchwright.publication import ChangelogEntry, Publication
from benchwright.release import ReleaseFolder

REASON = "The speaker asked for it."
CONFIGS = ["random", "length", "tmcd", "ll_split_pt", "ll_split_pt_reverse"]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """The Spider sample: a side table, a score table, a column that depends on the placement, a result."""
    folder = tmp_path_factory.mktemp("errata")
    model = tiny_gpt2(folder / "tiny", positions=1024)
    release = build(
        "spider", source="sample", out=folder / "made", lm=[str(model)], configs=CONFIGS,
        cache=folder / "cache",
    )  # fmt: skip
    evaluate(release, configs=["ll_split_pt", "random"], baselines=["majority"])
    (release.path / "NOTICE.txt").write_text("Kept by hand.\n", encoding="utf-8")
    return release.path


@pytest.fixture
def release(made, tmp_path) -> ReleaseFolder:
    return ReleaseFolder(shutil.copytree(made, tmp_path / "made"))


def uids(release: ReleaseFolder, config: str, split: str) -> list[str]:
    return release.table(config, split, ["uid"]).column("uid").to_pylist()


def with_publication(release: ReleaseFolder, publication: Publication) -> ReleaseFolder:
    manifest = release.path / "manifest.json"
    data = publication.put_into(json.loads(manifest.read_text(encoding="utf-8")))
    manifest.write_text(json.dumps(data), encoding="utf-8")
    return ReleaseFolder(release.path)


def stale(release: ReleaseFolder) -> dict[str, str | None]:
    index = json.loads((release.path / "results" / "index.json").read_text(encoding="utf-8"))
    return {entry["config"]: entry["stale"] for entry in index["results"]}


def test_withdrawn_rows_leave_every_file_and_no_other_row_moves(release):
    gone = [uids(release, "ll_split_pt", "test")[0], uids(release, "random", "train")[3]]
    before = {
        (config, split): uids(release, config, split)
        for config in release.placed_configs
        for split in release.splits(config)
    }
    order = release.assignment("tmcd").sort_by("position")
    after = withdraw(release, uids=gone, reason=REASON)

    for (config, split), rows in before.items():
        assert uids(after, config, split) == [uid for uid in rows if uid not in gone]
    for table in after.splits("scores"):
        assert not set(gone) & set(uids(after, "scores", table))
    assigned = after.assignment("tmcd")
    taken = assigned.filter(pc.is_in(assigned.column("uid"), pc.cast(gone, "string")))
    assert taken.column("split").to_pylist() == ["unused"] * 2
    assert taken.column("position").to_pylist() == [-1] * 2
    assert assigned.num_rows == order.num_rows  # every row of the source stands in it still
    for split in after.splits("tmcd"):
        rows = [t.filter(pc.equal(t.column("split"), split)) for t in (order, assigned.sort_by("position"))]
        written = [t.column("uid").to_pylist() for t in rows]
        assert written[1] == [uid for uid in written[0] if uid not in gone]
    assert all(entry["unused"] >= 2 for entry in after.placed_configs.values())
    assert after.manifest["scores"]["lm_prompt"]["rows"] == 201
    assert after.publication.withdrawn[0].uids == tuple(gone)
    assert verify(after.path) == []


def test_the_rebuilt_release_has_the_same_rows_after_all_kinds_of_errata(release):
    """Also where scores of withdrawn rows decide on which side others are."""
    withdraw(release, uids=uids(release, "ll_split_pt", "test")[:2], reason=REASON)
    rename(release.path, config="ll_split_pt", to="unlikely")
    withdraw(release.path, uids=uids(ReleaseFolder(release.path), "unlikely", "train")[:1], reason=REASON)
    withdraw(release.path, config="length", reason="It was cut at the wrong length.")
    assert verify(release.path) == []
    assert rebuild(release.path, source="sample") == []


def test_withdrawing_rows_gives_the_bytes_of_a_build_that_knows_of_them(release, tmp_path):
    kept = withdraw(release, uids=uids(release, "random", "test")[:3], reason=REASON)
    kept = rename(kept, config="random", to="drawn")
    rebuild(kept.path, source="sample", out=tmp_path / "again")
    built = ReleaseFolder(tmp_path / "again")
    assert built.manifest == kept.manifest
    for file in sorted(kept.path.rglob("*.parquet")):
        assert file.read_bytes() == (built.path / file.relative_to(kept.path)).read_bytes(), file


def test_errata_of_the_folder_outlive_an_overwrite(release, tmp_path):
    gone = uids(release, "random", "test")[:2]
    with_publication(release, Publication("acme/made", "1.2.0", foreign={"configs": [{"config_name": "x"}]}))
    withdraw(release.path, uids=gone, reason=REASON)
    rename(release.path, config="tmcd", to="compounds")
    withdraw(release.path, config="length", reason="Wrong.")
    before = ReleaseFolder(release.path).publication
    options = {"source": "sample", "out": release.path, "overwrite": True}
    with pytest.raises(UsageError, match=r"'length' was withdrawn \(Wrong\.\)"):
        build("spider", configs=["random", "length"], **options)
    again = build("spider", configs=["random", "tmcd"], **options)
    assert again.publication == before
    assert list(again.placed_configs) == ["random", "compounds"]
    assert not set(gone) & set(uids(again, "random", "test"))
    assert verify(again.path) == []
    with pytest.warns(BenchwrightWarning, match="held a release of 'Spider likelihood splits'"):
        other = build("boolq", configs=["random"], **options)
    assert other.publication == Publication()


def test_results_of_changed_rows_are_stale_at_once_and_the_card_says_so(release):
    assert stale(release) == {"ll_split_pt": None, "random": None}
    withdraw(release, uids=uids(release, "ll_split_pt", "train")[:1], reason=REASON)
    assert all("have changed" in str(reason) for reason in stale(release).values())
    card = (release.path / "README.md").read_text(encoding="utf-8")
    assert "have changed" in card
    assert REASON in card
    assert (release.path / "NOTICE.txt").read_text(encoding="utf-8") == "Kept by hand.\n"


def test_a_renamed_config_keeps_its_bytes_its_results_and_its_old_name_as_an_alias(release):
    before = [
        file.read_bytes() for split in ("train", "test") for file in release.files("ll_split_pt", split)
    ]
    after = rename(release, config="ll_split_pt", to="unlikely")
    assert [f.read_bytes() for split in ("train", "test") for f in after.files("unlikely", split)] == before
    assert list(after.placed_configs) == ["random", "length", "tmcd", "unlikely", "ll_split_pt_reverse"]
    reverse = after.config("ll_split_pt_reverse")
    assert reverse["reverse_of"] == "unlikely"
    assert reverse["summary"].startswith("The reverse of unlikely:")
    assert not (after.path / "ll_split_pt").exists()
    assert not (after.path / "results" / "ll_split_pt").exists()
    assert stale(after) == {"unlikely": None, "random": None}
    assert after.publication.aliases == {"ll_split_pt": "unlikely"}
    assert after.config("unlikely")["default"]
    assert verify(after.path) == []
    # A second name: both former names lead to it. Back to the first one: nothing is left of it.
    again = rename(after.path, config="unlikely", to="rare")
    assert again.publication.aliases == {"ll_split_pt": "rare", "unlikely": "rare"}
    back = rename(again.path, config="rare", to="ll_split_pt")
    assert back.publication.aliases == {"unlikely": "ll_split_pt", "rare": "ll_split_pt"}
    assert "made_as" not in back.config("ll_split_pt")


def test_a_withdrawn_config_goes_with_its_scores_and_another_one_becomes_the_default(release):
    withdraw(release, config="ll_split_pt_reverse", reason="Not of use.")
    assert "scores" in ReleaseFolder(release.path).configs
    rename(release.path, config="ll_split_pt", to="unlikely")
    after = withdraw(release.path, config="unlikely", reason="The scores were wrong.")
    assert list(after.configs) == ["random", "length", "tmcd", "schemas"]
    assert after.manifest["scores"] == {}
    assert not (after.path / "unlikely").exists()
    assert not (after.path / "scores").exists()
    assert [name for name, entry in after.configs.items() if entry["default"]] == ["random"]
    assert [(w.config, w.reason) for w in after.publication.withdrawn[1:]] == [
        ("unlikely", "The scores were wrong."), ("ll_split_pt", "The scores were wrong."),
    ]  # fmt: skip
    assert after.publication.aliases == {}
    assert stale(after)["unlikely"] == "the release has no config 'unlikely'"
    assert verify(after.path) == []
    assert rebuild(after.path, source="sample") == []


def test_a_reverse_whose_forward_config_is_withdrawn_is_the_reverse_of_none(release, tmp_path):
    rename(release, config="ll_split_pt", to="unlikely")
    after = withdraw(release.path, config="unlikely", reason="The scores were wrong.")
    assert after.config("ll_split_pt_reverse")["reverse_of"] is None
    assert [name for name, entry in after.configs.items() if entry["default"]] == ["random"]
    assert verify(after.path) == []
    assert rebuild(after.path, source="sample", out=tmp_path / "again") == []
    assert ReleaseFolder(tmp_path / "again").config("ll_split_pt_reverse")["reverse_of"] is None


def test_a_split_that_loses_its_last_row_is_left_out_and_an_empty_config_is_refused(tmp_path):
    made = build(
        "boolq", source="sample", out=tmp_path / "small", configs=["random", "length"], validation=1, test=1
    )
    last = uids(made, "random", "validation")
    after = withdraw(made, uids=last, reason=REASON)
    assert "validation" not in after.splits("random")
    assert after.config("random")["left_out"] == [
        {"split": "validation", "reason": "every row of it was withdrawn"}
    ]
    assert verify(after.path) == []
    assert rebuild(after.path, source="sample") == []
    rest = [uid for split in after.splits("random") for uid in uids(after, "random", split)]
    with pytest.raises(UsageError, match="would have no row left"):
        withdraw(after.path, uids=rest, reason=REASON)


def test_a_yanked_version_is_one_that_was_published(release):
    with pytest.raises(UsageError, match=r"knows no published version '1\.0\.0'; it knows none"):
        yank(release, version="1.0.0", reason=REASON)
    entries = tuple(ChangelogEntry(v, "major", ("rows changed",)) for v in ("2.0.0", "1.0.0"))
    release = with_publication(release, Publication("acme/made", "2.0.0", entries))
    after = yank(release, version="1.0.0", reason="A leak.")
    assert after.publication.yanked == {"1.0.0": "A leak."}
    assert after.publication.version == "2.0.0"
    with pytest.raises(UsageError, match="yanked already: A leak"):
        yank(after.path, version="1.0.0", reason="Again.")
    assert verify(after.path) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["withdraw", "DIR", "--reason", "x"], "give rows to withdraw, or a config"),
        (["withdraw", "DIR", "--reason", " ", "--config", "random"], "give a reason"),
        (
            ["withdraw", "DIR", "--reason", "x", "--uid", "spider:train:9999"],
            "has no row 'spider:train:9999'",
        ),
        (["withdraw", "DIR", "--reason", "x", "--config", "randm"], "did you mean random"),
        (["withdraw", "DIR", "--reason", "x", "--config", "schemas"], "has no config 'schemas' with splits"),
        (["withdraw", "DIR", "--reason", "x", "--uid", "@nowhere.txt"], "cannot be read"),
        (["withdraw", "acme/made@1.0.0", "--reason", "x"], "benchwright download acme/made@1.0.0 --out DIR"),
        (
            ["withdraw", "DIR", "--reason", "see /home/me/notes", "--config", "random"],
            "a path of this machine",
        ),
        (["rename", "DIR", "--config", "random", "--to", "length"], "is taken"),
        (["rename", "DIR", "--config", "random", "--to", "Results"], "is taken"),
        (["rename", "DIR", "--config", "random", "--to", "../x"], "cannot be called '../x'"),
        (["rename", "DIR", "--config", "scores", "--to", "x"], "has no config 'scores' with splits"),
        (["yank", "DIR", "--version", "1.0.0", "--reason", "x"], "knows no published version"),
    ],
)
def test_mistakes_are_one_line_and_change_nothing(made, capsys, arguments, message):
    before = release_helpers.fingerprint(made)
    assert main([str(made) if word == "DIR" else word for word in arguments]) == 2
    error = capsys.readouterr().err.strip()
    assert error.count("\n") == 0
    assert message in error
    assert release_helpers.fingerprint(made) == before


def test_withdrawing_twice_is_a_mistake(release):
    gone = uids(release, "random", "test")[:1]
    withdraw(release, uids=gone, reason=REASON)
    with pytest.raises(UsageError, match="is withdrawn already"):
        withdraw(release.path, uids=gone, reason=REASON)
    withdraw(release.path, config="length", reason=REASON)
    with pytest.raises(UsageError, match="'length' is withdrawn already"):
        withdraw(release.path, config="length", reason=REASON)
    with pytest.raises(UsageError, match="'length' is taken"):
        rename(release.path, config="random", to="length")


def test_rows_that_are_not_those_of_the_manifest_are_not_signed_anew(release):
    """A tampered file must not come out of an erratum with fresh hashes."""
    random, length = (release.files(config, "test")[0] for config in ("random", "length"))
    gone = next(uid for uid in uids(release, "length", "test") if uid in uids(release, "random", "test"))
    shutil.copyfile(length, random)
    manifest = (release.path / "manifest.json").read_bytes()
    with pytest.raises(ReleaseError, match="rows of random/test are not those of the manifest"):
        withdraw(release, uids=[gone], reason=REASON)
    assert (release.path / "manifest.json").read_bytes() == manifest


def test_the_command_takes_uids_from_a_file_and_says_how_to_publish(release, tmp_path, capsys):
    with_publication(release, Publication("acme/made", "1.0.0"))
    chosen = uids(release, "random", "test")[:2]
    (tmp_path / "uids.txt").write_text("\n".join(chosen) + "\n", encoding="utf-8")
    assert main(["withdraw", str(release.path), "--uid", f"@{tmp_path}/uids.txt", "--reason", REASON]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "withdrawn: 2 rows",
        f"publish with: benchwright publish {release.path} --repo acme/made",
    ]
    assert set(ReleaseFolder(release.path).publication.withdrawn[0].uids) == set(chosen)


# One process imports all that is needed; each line on its standard input is a folder and an operation to be
# killed at, and a fork of it withdraws. Its answer is the exit code and the operations that there were.
_DRILL = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
import release_helpers
from benchwright.builders.errata import withdraw
def run(folder, kill_at):
    def act(number):
        if number == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
    with release_helpers.disturbed(act) as count:
        withdraw(folder, uids=[sys.argv[2]], reason="x")
    return count[0]
for line in sys.stdin:
    folder, kill_at = line.rstrip("\\n").split("\\t")
    told, telling = os.pipe()
    if not os.fork():
        os.write(telling, str(run(folder, int(kill_at))).encode())
        os._exit(0)
    os.close(telling)
    _, status = os.wait()
    print(os.waitstatus_to_exitcode(status), os.read(told, 20).decode() or "0", flush=True)
    os.close(told)
"""


def test_a_kill_leaves_the_old_release_or_the_new_one_and_a_second_run_finishes(tmp_path):
    made = build("boolq", source="sample", out=tmp_path / "made", configs=["random"])
    uid = uids(made, "random", "train")[0]
    whole = shutil.copytree(made.path, tmp_path / "whole" / "made")

    command = [sys.executable, "-c", _DRILL, str(Path(__file__).parent), uid]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(target: Path, kill_at: int) -> tuple[int, int]:
        process.stdin.write(f"{target}\t{kill_at}\n")
        process.stdin.flush()
        code, operations = map(int, process.stdout.readline().split())
        return code, operations

    code, steps = run(whole, 0)
    assert code == 0
    old, new = (release_helpers.fingerprint(folder) for folder in (made.path, whole))
    # The last operations are the moves of the old folder away and of the new one to its place.
    for kill_at in (1, steps // 2, steps - 1, steps):
        target = shutil.copytree(made.path, tmp_path / f"kill{kill_at}" / "made")
        assert run(target, kill_at) == (-signal.SIGKILL, 0)
        if target.exists():
            assert release_helpers.fingerprint(target) in (old, new)
        assert run(target, 0)[0] == 0
        assert release_helpers.fingerprint(target) == new
        assert [path.name for path in target.parent.iterdir()] == ["made"]
    process.communicate()
