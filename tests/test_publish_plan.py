"""Plans of commits, the Hub's limits, and the folder's update, without any server."""

from __future__ import annotations

import hashlib
import itertools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pygit2
import pytest
from filelock import FileLock
from publish_helpers import Killed, edit, killed_at, made, write_section
from release_helpers import fingerprint

from benchwright.builders._describing import other_files
from benchwright.builders.hub import plan
from benchwright.builders.hub._checks import large_parts
from benchwright.builders.hub._local_update import ASIDE, LOCK, NOTE, adopt, repair
from benchwright.builders.hub._sides import HashedFiles, LocalSide
from benchwright.builders.hub.commit import SentFiles
from benchwright.builders.hub.plan import FilePlan, LocalFile, PublishPlan, owned_paths, plan_files
from benchwright.builders.hub.remote import RemoteFile
from benchwright.builders.verify import verify
from benchwright.errors import PublishError, ReleaseError
from benchwright.release import ReleaseFolder


def local(content: str, size: int | None = None) -> LocalFile:
    data = content.encode()
    return LocalFile(
        Path(content), len(data) if size is None else size, hashlib.sha256(data).hexdigest(),
        str(pygit2.hash(data)),
    )  # fmt: skip


def remote(path: str, content: str, large: bool = True) -> RemoteFile:
    file = local(content)
    return RemoteFile(path, file.size, "0" * 40 if large else file.blob_id, file.sha256 if large else None)


def test_hashes_are_those_of_git_and_of_large_file_storage(tmp_path):
    (tmp_path / "file").write_bytes(b"some\x00bytes\r\n")
    file = LocalFile.of(tmp_path / "file")
    assert file.blob_id == str(pygit2.hashfile(str(tmp_path / "file")))
    assert file.sha256 == hashlib.sha256(b"some\x00bytes\r\n").hexdigest()
    assert file.size == 12


def test_files_are_compared_by_content_and_only_own_ones_go():
    files = {"a": local("1"), "b": local("2"), "c": local("3"), "d": local("1")}
    there = {
        "b": remote("b", "2", large=False), "c": remote("c", "other"), "old": remote("old", "x"),
        "theirs": remote("theirs", "y"),
    }  # fmt: skip
    found = plan_files(files, there, ["old", "c"])
    assert (found.added, found.changed, found.removed, found.unchanged) == (
        ("a", "d"),
        ("c",),
        ("old",),
        ("b",),
    )
    # Equal contents are sent once.
    assert found.to_send == 2


def test_contents_that_the_hub_has_under_another_name_are_not_counted():
    assert plan_files({"new": local("1")}, {"old": remote("old", "1")}, []).to_send == 0
    assert plan_files({"new": local("1")}, {"old": remote("old", "1", large=False)}, []).to_send == 1


def test_nothing_to_do_is_false():
    assert not plan_files({"a": local("1")}, {"a": remote("a", "1")}, ["a"])
    assert plan_files({"a": local("1")}, {"a": remote("a", "1"), "b": remote("b", "2")}, ["b"])


def test_files_of_others_are_never_owned():
    paths = [
        "README.md", "manifest.json", ".gitattributes", "LICENSE", "random/train-0.parquet",
        "results/index.json", "results/random/a.json", "results/random/a.predictions.jsonl", "results/a.txt",
        "figures/lengths.png", "figures/theirs.png",
        "reviews/train-0.parquet", "random/theirs.parquet", "harness/x.yaml", "scores/lm-0.parquet",
    ]  # fmt: skip
    head = {"configs": {"random": {}, "scores": {}}}
    foreign = {
        "configs": [{"config_name": "x", "data_files": [{"split": "train", "path": "random/theirs*"}]}]
    }
    assert owned_paths(paths, head, foreign, {"figures/lengths.png", "harness/x.yaml"}) == [
        "README.md", "manifest.json", "random/train-0.parquet", "results/index.json", "results/random/a.json",
        "results/random/a.predictions.jsonl", "figures/lengths.png", "harness/x.yaml", "scores/lm-0.parquet",
    ]  # fmt: skip
    # Where no release stands, folders of these names are somebody else's.
    assert owned_paths(paths, None, foreign) == []


@pytest.mark.parametrize(
    ("entry", "kept"),
    [
        ({"data_files": "random/a.parquet"}, {"random/a.parquet"}),
        ({"data_files": ["random/a.parquet", "random/b*"]}, {"random/a.parquet", "random/b.parquet"}),
        ({"data_files": [{"split": "train", "path": ["random/b.parquet"]}]}, {"random/b.parquet"}),
        (
            {"data_files": {"train": ["random/a.parquet"], "test": "random/b.parquet"}},
            {"random/a.parquet", "random/b.parquet"},
        ),
        ({"data_dir": "random"}, {"random/a.parquet", "random/b.parquet"}),
        ({"data_dir": "random/", "data_files": [{"path": "b*"}]}, {"random/b.parquet"}),
    ],
)
def test_files_that_an_entry_of_others_names_stay_in_every_form_of_it(entry, kept):
    paths = {"random/a.parquet", "random/b.parquet"}
    owned = owned_paths(paths, {"configs": {"random": {}}}, {"configs": [{"config_name": "x", **entry}]})
    assert paths - set(owned) == kept


def test_a_journal_of_sent_files_that_is_broken_costs_sending_again(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path))
    sent = SentFiles("https://hub", "acme/made")
    sent.add(["0" * 64])
    [path] = tmp_path.rglob("*.txt")
    path.write_bytes(b"\xff\xfe\n" + b"1" * 64 + b"\n" + b"2" * 10)
    assert SentFiles("https://hub", "acme/made").known == {"1" * 64}
    path.unlink()
    path.mkdir()
    assert SentFiles("https://hub", "acme/made").known == set()
    sent.forget()
    assert sent.known == set()


def test_limits_of_the_hub_are_refused_before_anything_is_sent(monkeypatch):
    def check(files, there=(), removed=()):
        made_plan = plan_files(files, {path: remote(path, "0") for path in there}, removed)
        plan.check_limits(files, there, made_plan)

    many = {f"results/{n}.json": local(str(n)) for n in range(plan.MOST_ENTRIES)}
    check(many)
    with pytest.raises(PublishError, match="folder results would hold 10,001 entries"):
        check({**many, "results/x.json": local("x")})
    with pytest.raises(PublishError, match="folder results would hold 10,001 entries"):
        check(many, ["results/old.json"])
    check(many, ["results/old.json"], ["results/old.json"])
    monkeypatch.setattr(plan, "MOST_FILES", 3)
    with pytest.raises(PublishError, match="would hold 3 files and the Hub takes fewer than 3"):
        check({"a": local("a"), "b/c": local("c")}, ["theirs"])
    monkeypatch.setattr(plan, "MOST_FILES", 100)
    monkeypatch.setattr(plan, "MOST_IN_COMMIT", 1)
    with pytest.raises(PublishError, match="2 files would be written and one commit takes 1"):
        check({"a": local("a"), "b": local("b")})
    check({"a": local("a"), "b": local("0")}, ["b"])
    # Large files are stored apart; what has to stand in the commit is counted.
    check({"a": local("a", 2_000_000_000)})
    monkeypatch.setattr(plan, "MOST_SMALL_BYTES", 10)
    with pytest.raises(PublishError, match="up to 11 bytes"):
        check({"a": local("a", 11)})


def test_parts_that_the_viewer_cannot_show_are_told(tmp_path, monkeypatch):
    folder = made(tmp_path / "made", ["random"])
    path = "random/train-00000-of-00001.parquet"
    files = {path: LocalFile.of(folder.path / path), "README.md": LocalFile.of(folder.path / "README.md")}
    assert large_parts(files, files) == []
    monkeypatch.setattr("benchwright.builders.hub._checks.SHARD_BYTES", 100)
    monkeypatch.setattr("benchwright.builders.hub._checks.ROW_GROUP_BYTES", 100)
    notes = large_parts(files, files)
    assert [note.partition(" has ")[0] for note in notes] == [path, path]
    assert "viewer may not show its rows" in notes[1]


def test_a_plan_is_told_in_lines_and_long_lists_are_cut():
    files = FilePlan(added=tuple(f"a/{n:02}" for n in range(25)), removed=("b",), to_send=1_234)
    text = str(
        PublishPlan(
            "acme/x", "1.0.0", "2.0.0", "major", ("rows moved",), files, False, {"1.0.0": "1.0.0-yanked"}
        )
    )
    assert text.splitlines()[0] == "acme/x 2.0.0 after 1.0.0 (major)"
    assert "  because rows moved" in text
    assert "  + and 5 more" in text
    assert "  - b" in text
    assert "tag 1.0.0 becomes 1.0.0-yanked" in text
    assert text.endswith("25 added, 0 changed, 1 removed, 0 unchanged; 1,234 bytes to send")


def _two_releases(tmp_path):
    """A folder, and what it becomes: without config random, with other results, as version 1.1.0."""
    old = made(tmp_path / "old")
    (old.path / "results").mkdir()
    (old.path / "results" / "gone.json").write_text("{}")
    (old.path / "own.txt").write_text("mine")
    made(tmp_path / "new", ["ll_split"])
    (tmp_path / "new" / "results").mkdir()
    (tmp_path / "new" / "results" / "made.json").write_text("{}")
    new = edit(
        tmp_path / "new", lambda facts: facts.update(publication={"repo": "acme/x", "version": "1.1.0"})
    )
    return old, new


def _side(release):
    return LocalSide.of(release, HashedFiles())


def test_a_folder_becomes_what_was_published_and_keeps_what_is_not_the_releases(tmp_path):
    old, new = _two_releases(tmp_path)
    assert adopt(new, _side(old))
    assert (old.path / "own.txt").read_text() == "mine"
    (old.path / "own.txt").unlink()
    assert fingerprint(old.path) == fingerprint(new.path)
    assert not (old.path / "random").exists()


def test_a_card_with_other_line_ends_is_no_other_card(tmp_path):
    old, new = _two_releases(tmp_path)
    card = old.path / "README.md"
    card.write_bytes(card.read_bytes().replace(b"\n", b"\r\n"))
    assert adopt(new, _side(old))
    assert card.read_bytes() == (new.path / "README.md").read_bytes()


def _other_manifest(old):
    edit(old.path, lambda facts: facts["dataset"].update(summary="Changed."))


def _other_card(old):
    write_section(old.path, "Written meanwhile.")


@pytest.mark.parametrize("change", [_other_manifest, _other_card])
def test_a_folder_that_changed_meanwhile_is_left_alone(tmp_path, change):
    old, new = _two_releases(tmp_path)
    former = _side(old)
    change(old)
    before = fingerprint(old.path)
    assert not adopt(new, former)
    assert fingerprint(old.path) == before


def test_a_result_that_came_meanwhile_stays(tmp_path):
    old, new = _two_releases(tmp_path)
    former = _side(old)
    (old.path / "results" / "late.json").write_text("{}")
    assert adopt(new, former)
    assert sorted(path.name for path in (old.path / "results").iterdir()) == ["late.json", "made.json"]


def test_an_update_that_is_killed_anywhere_is_undone_or_finished(tmp_path):
    """With a file that changes, one that comes, and ones that go."""
    old, new = _two_releases(tmp_path)
    former, finished = fingerprint(old.path), set()
    for operation in itertools.count(1):
        folder = tmp_path / f"copy-{operation}"
        _copy(old.path, folder)
        side = _side(ReleaseFolder(folder))
        try:
            with killed_at(operation):
                adopt(new, side)
        except Killed:
            pass
        else:
            break
        finished.add(repair(folder))
        assert not any((folder / name).exists() for name in (ASIDE, LOCK))
        assert verify(folder) == []
        if ReleaseFolder(folder).publication.version is None:
            assert fingerprint(folder) == former
        assert adopt(new, _side(ReleaseFolder(folder)))
        (folder / "own.txt").unlink()
        assert fingerprint(folder) == fingerprint(new.path)
    assert finished == {True, False}


def _copy(source, target):
    for path in source.rglob("*"):
        if path.is_file():
            (target / path.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
            (target / path.relative_to(source)).write_bytes(path.read_bytes())


def test_what_another_run_is_updating_is_not_repaired(tmp_path):
    old, _ = _two_releases(tmp_path)
    copy = old.path / ASIDE / "files" / "own.txt"
    copy.parent.mkdir(parents=True)
    copy.write_text("half")
    with ThreadPoolExecutor(1) as pool, FileLock(old.path / LOCK):
        waiting = pool.submit(repair, old.path)
        with pytest.raises(TimeoutError):
            waiting.result(timeout=0.3)
        assert copy.is_file()
        # The other run comes to its end.
        (old.path / ASIDE / NOTE).write_text('{"new": ["own.txt"], "stale": []}')
    assert waiting.result()
    assert (old.path / "own.txt").read_text() == "half"


def test_a_note_of_others_is_not_trusted(tmp_path):
    old, _ = _two_releases(tmp_path)
    note = old.path / ASIDE / NOTE
    note.parent.mkdir()
    note.write_text('{"new": ["../../x", "/etc/x"], "stale": ["../new/README.md", "/etc/x"]}')
    assert repair(old.path)
    assert (tmp_path / "new" / "README.md").is_file()
    note.parent.mkdir()
    note.write_text("[1]")
    with pytest.raises(ReleaseError, match=r"remove .*\.publishing"):
        repair(old.path)


def test_what_an_interrupted_update_left_is_nobodys_file(tmp_path):
    old, _ = _two_releases(tmp_path)
    (old.path / LOCK).write_text("")
    (old.path / ASIDE).mkdir()
    (old.path / ASIDE / NOTE).write_text("{}")
    assert other_files(old) == ["own.txt"]
