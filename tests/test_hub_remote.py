"""Releases on the Hub: read at one commit, checked before use, and refused where they could do harm."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pygit2
import pytest
from hub_fixtures import RunningHub
from huggingface_hub import CommitOperationAdd
from release_helpers import write_card, write_release

from benchwright.builders.hub import _safety
from benchwright.builders.hub._safety import check_parquet, check_path, check_portable, read_yaml_header
from benchwright.builders.hub.client import HubClient, HubUnavailable, NotOnHub
from benchwright.builders.hub.location import HubLocation, hub_repo, open_release, parse_location
from benchwright.builders.hub.remote import HubRelease, git_blob_id, read_state, release_paths
from benchwright.cli import main
from benchwright.errors import ReleaseError, UsageError
from benchwright.progress import Progress
from benchwright.release import ReleaseFolder

REPO = "acme/toy"


def upload(hub: RunningHub, folder: Path, tag: str | None = "1.0.0", repo: str = REPO) -> None:
    """Put a folder on the Hub as it stands, by the Hub client alone."""
    api = hub.api()
    api.create_repo(repo, repo_type="dataset", exist_ok=True)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    operations = [CommitOperationAdd(path.relative_to(folder).as_posix(), str(path)) for path in files]
    api.create_commit(repo, operations, commit_message="upload", repo_type="dataset")
    if tag is not None:
        api.create_tag(repo, tag=tag, repo_type="dataset", tag_message="an annotated tag")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with a card, a result, a picture and exports."""
    release = write_release(tmp_path_factory.mktemp("made") / "toy")
    write_card(release)
    path = release.path
    for name, text in {
        "results/random/majority--0123.json": '{"value": 1}',
        "results/index.json": "{}",
        "analyses/properties.json": "{}",
        "figures/lengths.png": "not a picture",
        "harness/lm_eval/toy.yaml": "task: toy",
        "eval.yaml": "name: toy",
    }.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def toy(hub_modes: RunningHub, folder: Path) -> RunningHub:
    """The release as acme/toy, tagged 1.0.0."""
    upload(hub_modes, folder)
    hub_modes.requests.clear()
    return hub_modes


@pytest.fixture
def small(hub: RunningHub, folder: Path) -> RunningHub:
    """The same where large files go by the classic protocol."""
    upload(hub, folder)
    hub.requests.clear()
    return hub


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def quiet() -> HubClient:
    return HubClient(wait=lambda seconds: None, report=lambda line: None)


# Reading


def test_the_state_is_that_of_one_commit(small: RunningHub, folder: Path) -> None:
    small.page(5)
    seen = small.repository(REPO)
    state = read_state(quiet(), REPO, "1.0.0")
    assert state is not None
    assert (state.head, dict(state.tags)) == (seen.head("1.0.0"), seen.tags())
    assert set(state.files) == set(seen.files())
    for name, content in seen.files().items():
        assert state.files[name].size == len(content)
    assert {name: file.sha256 for name, file in state.files.items() if file.sha256} == seen.pointers()
    assert state.files["README.md"].blob_id == git_blob_id(folder / "README.md")


def test_revisions(small: RunningHub) -> None:
    first = small.repository(REPO).head()
    small.api().create_branch(REPO, branch="try/1", repo_type="dataset")
    newest = small.repository(REPO).plant({"more.txt": b"more"})
    client = quiet()
    found = {
        name: read_state(client, REPO, name).head  # type: ignore[union-attr]
        for name in (None, "main", "1.0.0", "try/1", first, first[:8])
    }
    assert found == {
        None: newest, "main": newest, "1.0.0": first, "try/1": first, first: first, first[:8]: first
    }  # fmt: skip
    assert read_state(client, "acme/none") is None
    assert read_state(client, "acme/none", "1.0.0") is None
    with pytest.raises(
        NotOnHub, match=r"acme/toy@2\.0: no such revision on the Hub; among its tags are 1\.0\.0"
    ):
        read_state(client, REPO, "2.0")
    with pytest.raises(NotOnHub, match="no such revision"):
        read_state(client, REPO, "f" * 40)


def test_an_answer_that_is_none_of_the_hubs(small: RunningHub) -> None:
    small.fail(status=200, path="/refs")
    with pytest.raises(ReleaseError, match=r"acme/toy: the Hub's answer cannot be read \(KeyError"):
        read_state(quiet(), REPO)
    small.fail(status=200, path="/tree/")
    with pytest.raises(ReleaseError, match="the Hub's answer cannot be read"):
        read_state(quiet(), REPO)


def test_a_large_listing_asks_little(small: RunningHub) -> None:
    """HUB.md: 1,000 requests in five minutes."""
    names = {f"folder{number % 7}/{number}.txt": b"" for number in range(3_000)}
    small.repository(REPO).plant(names)
    small.requests.clear()
    state = read_state(quiet(), REPO)
    assert state is not None
    assert names.keys() <= state.files.keys()
    assert len(small.requests) <= 6


def test_files_come_as_they_are_asked_for(toy: RunningHub, folder: Path) -> None:
    release = open_release(f"{REPO}@1.0.0")
    assert isinstance(release, HubRelease)
    local = ReleaseFolder(folder)
    assert release.manifest == local.manifest
    assert contents(release.path) == {"manifest.json": (folder / "manifest.json").read_bytes()}
    assert release.table("random", "test").equals(local.table("random", "test"))
    assert release.assignment("random").equals(local.assignment("random"))
    assert list(release.results()) == [{"value": 1}]
    wanted = {
        "manifest.json", "assignments/random.parquet", "random/test-00000-of-00001.parquet",
        "results/index.json", "results/random/majority--0123.json",
    }  # fmt: skip
    assert contents(release.path).keys() == wanted
    asked = len(toy.requests)
    release.table("random", "test")
    assert len(toy.requests) == asked


def test_everything_that_belongs_to_it_and_nothing_else(
    toy: RunningHub, folder: Path, tmp_path: Path
) -> None:
    toy.repository(REPO).plant(
        {"foreign/train.parquet": b"x", "notes.txt": b"x", ".hidden": b"x", "resultsx/a": b"x"}
    )
    release = HubRelease(REPO)
    assert release.download_all() is release
    assert contents(release.path) == contents(folder)
    copy = release.download_all(tmp_path / "copy")
    assert copy.path == tmp_path / "copy"
    assert contents(copy.path) == contents(folder)
    assert not any(path.is_symlink() for path in copy.path.rglob("*"))
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    with pytest.raises(ReleaseError, match="exists already"):
        release.download_all(tmp_path / "copy")


def test_the_temporary_folder_goes_with_the_process(small: RunningHub) -> None:
    code = f"from benchwright.builders.hub.location import open_release; print(open_release({REPO!r}).path)"
    command = [sys.executable, "-c", code]
    run = subprocess.run(
        command, env=small.environment(), capture_output=True, text=True, check=True, timeout=60
    )
    path = Path(run.stdout.strip())
    assert path.name.startswith("toy@")
    assert not path.parent.parent.exists()


def test_a_tag_that_moves_meanwhile_changes_nothing(small: RunningHub, folder: Path) -> None:
    release = HubRelease(REPO, "1.0.0")
    changed = json.dumps(json.loads((folder / "manifest.json").read_text()) | {"format": 99}).encode()
    small.repository(REPO).plant({"manifest.json": changed, "README.md": b"changed"})
    small.repository(REPO).tag("1.0.0")
    assert release.fetch(["README.md"])[0].read_bytes() == (folder / "README.md").read_bytes()
    assert release.commit != small.repository(REPO).head("1.0.0")


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_downloads_wait_where_the_hub_limits_them(toy: RunningHub, folder: Path, method: str) -> None:
    waits: list[float] = []
    asked_at: list[int] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        asked_at.append(len(toy.requests))

    release = HubRelease(REPO, client=HubClient(wait=wait, report=lambda line: None))
    limits = {"Retry-After": "30"}
    toy.fail(status=429, headers=limits, method=method, path="/resolve/", request=3, times=1)
    release.download_all()
    assert contents(release.path) == contents(folder)
    assert waits == [30.0]
    # The Hub client would ask for a refused file again at once, and have it.
    refused = next(place for place, record in enumerate(toy.requests) if record.status == 429)
    assert toy.requests[refused].path not in {
        record.path for record in toy.requests[refused + 1 : asked_at[0]]
    }


def test_more_files_than_one_call_takes(
    small: RunningHub, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchwright.builders.hub.remote._FILES_A_CALL", 4)
    seen: list[int] = []

    @contextmanager
    def progress(label: str, total: int, unit: str) -> Iterator[Progress]:
        assert (label, unit) == ("fetching acme/toy@1.0.0", "files")
        seen.append(-total)
        yield seen.append

    release = HubRelease(REPO, "1.0.0")
    release.download_all(progress=progress)
    assert contents(release.path) == contents(folder)
    # Everything but the manifest, which was there, one by one.
    assert seen == [-(len(contents(folder)) - 1), *[1] * (len(contents(folder)) - 1)]


def test_a_private_release_of_others_does_not_exist(
    small: RunningHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.api().update_repo_settings(REPO, repo_type="dataset", private=True)
    assert HubRelease(REPO).commit
    for token in (small.environment("bob")["HF_TOKEN"], ""):
        monkeypatch.setenv("HF_TOKEN", token)
        with pytest.raises(NotOnHub, match="no such data set on the Hub, or it is private"):
            HubRelease(REPO)


def test_large_files_from_another_host(small: RunningHub, folder: Path) -> None:
    small.cdn()
    assert contents(open_release(REPO).download_all().path) == contents(folder)  # type: ignore[attr-defined]


def test_a_release_that_names_a_file_which_is_gone(small: RunningHub) -> None:
    small.repository(REPO).plant({}, remove=["random/test-00000-of-00001.parquet"])
    release = HubRelease(REPO)
    with pytest.raises(ReleaseError, match=r"acme/toy@.*test-00000-of-00001\.parquet is missing"):
        release.table("random", "test")
    release.download_all()
    with pytest.raises(ReleaseError, match="it has no file 'random/test-00000-of-00001"):
        release.fetch(["random/test-00000-of-00001.parquet"])


def test_bytes_that_are_not_those_listed_are_fetched_again_and_then_refused(
    small: RunningHub, folder: Path
) -> None:
    release = HubRelease(REPO)
    path = release.fetch(["README.md"])[0]
    cached = path.resolve()
    cached.write_bytes(b"spoilt")
    assert HubRelease(REPO).fetch(["README.md"])[0].read_bytes() == (folder / "README.md").read_bytes()
    state = read_state(quiet(), REPO)
    assert state is not None
    wrong = {**state.files, "README.md": _safety_file(state.files["README.md"])}
    lying = HubRelease(REPO, state=type(state)(state.repo, state.head, state.tags, wrong))
    with pytest.raises(ReleaseError, match=r"README\.md does not have the size and hash that the Hub lists"):
        lying.fetch(["README.md"])


def _safety_file(file):  # type: ignore[no-untyped-def]
    return type(file)(file.path, file.size, "0" * 40, None)


def test_the_hub_goes_away_during_a_download(small: RunningHub) -> None:
    release = HubRelease(REPO, client=quiet())
    small.drop(times=10_000, path="/resolve/")
    with pytest.raises(HubUnavailable, match=r"acme/toy@.*: the Hub does not answer"):
        release.download_all()
    assert contents(release.path).keys() == {"manifest.json"}


# Names of places


def test_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "acme" / "here").mkdir(parents=True)
    assert parse_location("acme/toy@1.1.0") == HubLocation("acme/toy", "1.1.0")
    assert parse_location("acme/toy") == HubLocation("acme/toy", None)
    assert parse_location("acme/toy@refs/pr/1") == HubLocation("acme/toy", "refs/pr/1")
    assert str(HubLocation("acme/toy", "1.1.0")) == "acme/toy@1.1.0"
    assert parse_location("acme/here") == Path("acme/here")
    assert parse_location("./acme/toy") == Path("acme/toy")
    assert parse_location(tmp_path / "none") == tmp_path / "none"
    assert parse_location(str(tmp_path / "none")) == tmp_path / "none"


@pytest.mark.parametrize(
    "text",
    ["", "toy", "a/b/c", "acme/toy@", "acme/toy@a b", "acme/../x", "acme/toy@../x", "acme/a--b", "acme/x.git",
     "-acme/toy", "acme/toy\n", "https://hub.invalid/acme/toy", "äcme/toy", f"acme/{'x' * 97}"],
)  # fmt: skip
def test_what_is_no_place(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="no such folder, and not a Hub id; give a folder, or ORG/NAME"):
        parse_location(text)
    with pytest.raises(UsageError, match="is no Hub id; write it as ORG/NAME"):
        hub_repo(text)


def test_a_repository_to_publish_to_has_no_revision() -> None:
    assert hub_repo("acme/toy") == "acme/toy"
    with pytest.raises(UsageError, match="is no Hub id; write it as ORG/NAME"):
        hub_repo("acme/toy@1.0.0")


def test_what_does_not_exist(small: RunningHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotOnHub) as caught:
        open_release("acme/none@1.0.0")
    assert str(caught.value) == (
        "acme/none: no such data set on the Hub, or it is private; check the name, or run: hf auth login; "
        "there is no folder of this name either"
    )
    with pytest.raises(ReleaseError, match=r"none is not a release: it has no manifest\.json"):
        open_release("./none")
    small.api().create_repo("acme/empty", repo_type="dataset")
    with pytest.raises(ReleaseError, match=r"acme/empty@\w+ is not a release: it has no manifest\.json"):
        open_release("acme/empty")


# Hostile repositories


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../evil.txt", "leads outside or nowhere"),
        ("random/../../evil.txt", "leads outside or nowhere"),
        ("random\\..\\evil.txt", "has a backslash or a character that cannot be shown"),
        ("random/.git/config", "belongs to git's own folder"),
        ("random/line\nbreak", "has a backslash or a character that cannot be shown"),
        ("random/\u202egpj.exe", "has a backslash or a character that cannot be shown"),
        ("x" * 256, "is longer than a file system takes"),
        ("random/aux.txt", "cannot be used on every system"),
        ("random/c:evil", "cannot be used on every system"),
        ("random/ends.", "cannot be used on every system"),
        ("RANDOM/test.txt", "are one name on some systems"),
        ("readme.md", "are one name on some systems"),
        ("toy.py", "it holds the script 'toy.py', which is never run"),
    ],
)
def test_names_that_do_harm_are_refused_before_anything_is_fetched(
    small: RunningHub, name: str, reason: str
) -> None:
    small.repository(REPO).plant({name: b"evil"})
    with pytest.raises(ReleaseError) as caught:
        open_release(REPO)
    assert reason in str(caught.value)
    assert str(caught.value).startswith("acme/toy")
    assert "\n" not in str(caught.value)
    assert [record for record in small.requests if "/resolve/" in record.path] == []


@pytest.mark.parametrize(
    "name", ["/etc/x", "", "a//b", "a/", ".", "a/./b", "a\0b", "a\ud800b", "\x7f", "a" * 2000, None, 7]
)
def test_what_is_no_path(name: object) -> None:
    with pytest.raises(ReleaseError, match=r"acme/toy: .* so nothing in it is read"):
        check_path(name, REPO)


def test_ordinary_names_pass() -> None:
    names = [
        "a.txt",
        "ll_split/train-00000-of-00001.parquet",
        ".gitattributes",
        "figures/größe 1.png",
        "conx/a",
    ]
    for name in names:
        assert check_path(name, REPO) == name
    check_portable(names, REPO)


@pytest.mark.parametrize("name", ["e\u0301.txt", "É.txt"])
def test_names_that_differ_only_in_writing(name: str) -> None:
    with pytest.raises(ReleaseError, match="one name on some systems"):
        check_portable(["é.txt", name], REPO)


def test_a_link_in_the_repository_is_never_followed(small: RunningHub, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"format": 1}', encoding="utf-8")
    git = pygit2.Repository(str(next(tmp_path.glob("hub/**/toy.git"))))
    builder = git.TreeBuilder(git.references["refs/heads/main"].peel(pygit2.Commit).tree)
    builder.insert("manifest.json", git.create_blob(str(secret).encode()), pygit2.enums.FileMode.LINK)
    who = pygit2.Signature("x", "x@example.org")
    parent = git.references["refs/heads/main"].target
    git.create_commit("refs/heads/main", who, who, "link", builder.write(), [parent])
    with pytest.raises(ReleaseError, match=r"manifest\.json is not JSON"):
        open_release(REPO).manifest  # noqa: B018


def pointer(size: int) -> bytes:
    """What stands in git for a large file of this size."""
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize {size}\n".encode()


def fetched(hub: RunningHub) -> set[str]:
    return {record.path.rpartition("/")[2] for record in hub.requests if "/resolve/" in record.path}


@pytest.mark.parametrize(
    ("name", "size", "message"),
    [
        ("manifest.json", (64 << 20) + 1, "manifest.json has 67,108,865 bytes, more than the 67,108,864"),
        ("README.md", 17 << 20, "README.md has 17,825,792 bytes"),
        ("results/index.json", 1 << 40, "results/index.json has 1,099,511,627,776 bytes"),
        ("figures/lengths.png", 1 << 40, "more than the 53,687,091,200 that are fetched"),
    ],
)
def test_sizes_are_refused_before_anything_is_fetched(
    small: RunningHub, name: str, size: int, message: str
) -> None:
    small.repository(REPO).plant({name: pointer(size)})
    with pytest.raises(ReleaseError, match="nothing was fetched") as caught:
        open_release(REPO).download_all()  # type: ignore[attr-defined]
    assert message in str(caught.value)
    assert fetched(small) <= {"manifest.json"}


def test_a_bound_of_the_whole(small: RunningHub) -> None:
    release = HubRelease(REPO, max_bytes=60_000)
    with pytest.raises(ReleaseError, match="more than the 60,000 that are fetched; nothing was fetched"):
        release.download_all()
    assert fetched(small) == {"manifest.json"}


def test_too_many_files(small: RunningHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchwright.builders.hub.remote.FILES", 4)
    small.page(4)
    with pytest.raises(ReleaseError, match="it has more than 4 files"):
        open_release(REPO)
    assert len(small.requests) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "is not JSON"),
        ('{"format": 1}', "dataset must be of type dict"),
        ("\xff", "is not JSON"),
    ],
)
def test_a_manifest_that_is_none(small: RunningHub, text: str, message: str) -> None:
    small.repository(REPO).plant({"manifest.json": text.encode("latin-1")})
    with pytest.raises(ReleaseError, match=message) as caught:
        open_release(REPO).download_all()  # type: ignore[attr-defined]
    assert "acme/toy@" in str(caught.value)


def test_a_manifest_that_is_deep(small: RunningHub, folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for depth, refused in ((30, False), (80, True)):
        deep = json.loads("[" * depth + "]" * depth)
        planted = json.dumps(manifest | {"dataset": manifest["dataset"] | {"x": deep}})
        small.repository(REPO).plant({"manifest.json": planted.encode()})
        release = open_release(REPO)
        if refused:
            with pytest.raises(ReleaseError, match=r"manifest\.json: it is nested more than 64 deep"):
                release.configs  # noqa: B018
        else:
            assert list(release.configs) == list(manifest["configs"])


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a\\..\\b"])
def test_a_manifest_that_leads_outside(small: RunningHub, folder: Path, name: str) -> None:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["configs"]["random"]["splits"]["test"]["files"] = [name]
    small.repository(REPO).plant({"manifest.json": json.dumps(manifest).encode()})
    release = open_release(REPO)
    with pytest.raises(ReleaseError, match="names a file outside the release"):
        release.table("random", "test")
    assert not {name.rpartition("/")[2]} & fetched(small)


def test_a_script_of_a_harness_is_a_file_like_any_other(small: RunningHub) -> None:
    small.repository(REPO).plant({"harness/inspect_ai/toy.py": b"raise SystemExit"})
    names = release_paths(HubRelease(REPO), ["harness/inspect_ai/toy.py", "other/toy.py"])
    assert names == ["harness/inspect_ai/toy.py"]


@pytest.mark.parametrize(
    "command", [["verify", REPO], ["diff", REPO, REPO], ["audit", REPO]], ids=lambda c: c[0]
)
@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"../../evil.txt": b"x"}, "leads outside or nowhere"),
        ({"toy.py": b"raise SystemExit"}, "it holds the script 'toy.py'"),
        ({"manifest.json": pointer(1 << 40)}, "nothing was fetched"),
        ({"manifest.json": b"[" * 100_000}, "is not JSON"),
    ],
    ids=["traversal", "script", "size", "depth"],
)
def test_commands_refuse_in_one_line(
    small: RunningHub,
    command: list[str],
    files: dict[str, bytes],
    message: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    small.repository(REPO).plant(files)
    assert main(command) == 2
    printed = capfd.readouterr()
    assert message in printed.err
    assert len(printed.err.splitlines()) == 1
    assert printed.err.startswith("error: ")


# Files that become more than they are


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    return tmp_path / "made.parquet"


def test_more_rows_than_bytes(parquet: Path) -> None:
    pq.write_table(pa.table({"x": pa.array([0] * 1_000_000)}), parquet)
    with pytest.raises(ReleaseError, match=r"test\.parquet has .* would become 1,000,000 rows"):
        check_parquet(parquet, "test.parquet", REPO)


def _repeated(text: str, rows: int, *, nested: bool = False) -> pa.Table:
    uid = pa.array([f"row:{n}:{n * 7919 % 100_003}" for n in range(rows)])
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), [text])
    values = pa.ListArray.from_arrays(pa.array(range(rows + 1), pa.int32()), texts) if nested else texts
    return pa.table({"uid": uid, "text": values})


@pytest.mark.parametrize("nested", [False, True])
def test_a_long_text_that_many_rows_point_to(parquet: Path, nested: bool) -> None:
    """A hundred thousand bytes that would take twenty gigabytes of memory."""
    table = _repeated("x" * 1_000_000, 20_000, nested=nested)
    pq.write_table(table, parquet, store_schema=False, compression="zstd")
    assert parquet.stat().st_size < 200_000
    with pytest.raises(ReleaseError, match=r"would become 20,000 rows of 20,000,\d\d\d,\d\d\d bytes"):
        check_parquet(parquet, "test.parquet", REPO)


def test_pages_that_declare_too_much(parquet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table({"x": ["a" * 1_000 + str(n) for n in range(2_000)]}), parquet, compression="zstd")
    check_parquet(parquet, "test.parquet", REPO)
    monkeypatch.setattr(_safety, "PARQUET_BYTES", 1 << 20)
    with pytest.raises(ReleaseError, match="it is not read"):
        check_parquet(parquet, "test.parquet", REPO)


def test_repeated_texts_of_ordinary_length_are_read(parquet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_safety, "PARQUET_BYTES", 1 << 20)
    pq.write_table(_repeated("x" * 100, 5_000), parquet, store_schema=False)
    check_parquet(parquet, "test.parquet", REPO)
    pq.write_table(_repeated("x" * 300, 5_000), parquet, store_schema=False)
    with pytest.raises(ReleaseError):
        check_parquet(parquet, "test.parquet", REPO)


def test_what_is_no_parquet(parquet: Path) -> None:
    parquet.write_bytes(b"PAR1 no PAR1")
    with pytest.raises(ReleaseError, match=r"acme/toy: test\.parquet cannot be read as parquet"):
        check_parquet(parquet, "test.parquet", REPO)


def test_a_bomb_on_the_hub_is_not_read(small: RunningHub, tmp_path: Path) -> None:
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"x": pa.array([0] * 1_000_000)}), path)
    small.repository(REPO).plant({"random/test-00000-of-00001.parquet": path.read_bytes()})
    with pytest.raises(ReleaseError, match=r"acme/toy@\w+: random/test-00000-of-00001\.parquet has"):
        open_release(REPO).table("random", "test")


# Headers


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# No header\n", None),
        ("", None),
        ("---\nnever closed\n", None),
        ("---\n---\n", {}),
        ("---\nlicense: mit\n---\n# Card\n---\nrule\n", {"license": "mit"}),
        ("\ufeff---\r\na: [1, yes]\r\n---\r\n", {"a": [1, True]}),
        ("---\na: 'b\u2028c'\n---\n", {"a": "b\u2028c"}),
    ],
)
def test_headers(text: str, found: object) -> None:
    assert read_yaml_header(text, REPO) == found


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (LAUGHS, "has an anchor or alias"),
        ("a: &x 1\n", "has an anchor or alias"),
        ("<<: *x\n", "has an anchor or alias"),
        (f"a: {'[' * 100}{']' * 100}\n", "is nested or repeated beyond"),
        (f"a: [{'[],' * 300_000}]\n", "is nested or repeated beyond"),
        (f"a: {'x' * (1 << 20)}\n", "more than a card needs"),
        ("a: !!python/object/apply:os.system [exit]\n", "cannot be read"),
        ("a: [\n", "cannot be read"),
        ("a: 2001-99-99\n", "cannot be read"),
        (f"a: {'9' * 5_000}\n", "cannot be read"),
        ("- a\n", "is no mapping, got ['a']"),
    ],
)
def test_headers_that_do_harm_are_refused_in_one_line(header: str, reason: str) -> None:
    with pytest.raises(ReleaseError) as caught:
        read_yaml_header(f"---\n{header}---\n# Card\n", REPO)
    assert reason in str(caught.value)
    assert str(caught.value).startswith("acme/toy: its header ")
    assert len(str(caught.value)) < 400


def test_a_full_disk_is_no_fault_of_the_hub(small: RunningHub, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device", "blob")

    monkeypatch.setattr(shutil, "move", full)
    monkeypatch.setattr("huggingface_hub.file_download._chmod_and_move", full)
    with pytest.raises(OSError, match="No space left"):
        HubRelease(REPO)
