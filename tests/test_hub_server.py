"""The Hub's test server: what publishing relies on, asked by the real client."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import httpx2
import pytest
from hub_fixtures import RunningHub
from hub_helpers import CARD, NAME, TEST_FILE, add, create, parquet_bytes, publish, refused
from hub_server import HubServer, token_of
from hub_server.messages import Request
from hub_server.ranges import ranged
from hub_server.trees import MAX_ENTRIES
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, hf_hub_download
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)


def _post(hub: RunningHub, path: str, body: object) -> httpx2.Response:
    headers = {"Authorization": f"Bearer {hub.token}"}
    return httpx2.post(f"{hub.endpoint}{path}", json=body, headers=headers)


def _post_commit(hub: RunningHub, *lines: str) -> httpx2.Response:
    """A commit as no proper client sends it; `lines` follow the header."""
    headers = {"Authorization": f"Bearer {hub.token}"}
    content = "\n".join(('{"key": "header", "value": {"summary": "raw"}}', *lines))
    return httpx2.post(f"{hub.endpoint}/api/datasets/{NAME}/commit/main", content=content, headers=headers)


# Commits


def test_a_commit_on_a_parent_that_is_no_longer_the_head_is_refused(hub_modes: RunningHub) -> None:
    first = publish(hub_modes, 5)
    second = add(hub_modes, {"a.txt": b"a"}, parent_commit=first)
    refused(412, lambda: add(hub_modes, {"a.txt": b"b"}, parent_commit=first))
    assert hub_modes.repository(NAME).head() == second
    assert hub_modes.repository(NAME).files()["a.txt"] == b"a"


def test_of_commits_at_the_same_time_on_one_parent_exactly_one_is_made(hub: RunningHub) -> None:
    parent = publish(hub, 5)
    outcomes: list[str | int] = []

    def commit(number: int) -> None:
        try:
            outcomes.append(add(hub, {f"{number}.txt": b"x"}, parent_commit=parent))
        except HfHubHTTPError as error:
            outcomes.append(error.response.status_code)

    threads = [threading.Thread(target=commit, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count(412) == 5
    assert hub.repository(NAME).head() in outcomes
    assert len([path for path in hub.repository(NAME).files() if path.endswith(".txt")]) == 1


def test_a_commit_with_one_bad_line_changes_nothing(hub: RunningHub) -> None:
    head = publish(hub, 5)
    operations = [CommitOperationAdd("new.txt", b"new"), CommitOperationDelete("no such file.txt")]
    with pytest.raises(EntryNotFoundError):
        hub.api().create_commit(NAME, operations, commit_message="both", repo_type="dataset")
    assert hub.repository(NAME).head() == head


def test_files_and_folders_are_deleted_with_the_files_added(hub: RunningHub) -> None:
    publish(hub, 5)
    add(hub, {"old/a.txt": b"a", "old/deep/b.txt": b"b", "older.txt": b"c"})
    operations = [
        CommitOperationDelete("old/", is_folder=True),
        CommitOperationDelete("older.txt"),
        CommitOperationAdd("new/a.txt", b"a"),
    ]
    hub.api().create_commit(NAME, operations, commit_message="tidy", repo_type="dataset")
    expected = {".gitattributes", "README.md", TEST_FILE, "new/a.txt"}
    assert set(hub.repository(NAME).files()) == expected


@pytest.mark.parametrize(
    "path",
    ["../out.txt", "/etc/passwd", "a//b", "a/../../b", ".git/config", "a\\b", "line\nbreak", "", "./a"],
)
def test_paths_that_leave_the_repository_are_refused(hub: RunningHub, path: str) -> None:
    head = publish(hub, 5)
    answer = _post_commit(hub, json.dumps({"key": "file", "value": {"path": path, "content": "x"}}))
    assert answer.status_code == 400
    assert "Invalid path" in answer.json()["error"]
    assert hub.repository(NAME).head() == head


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        '["header"]',
        '{"key": "surprise", "value": {}}',
        '{"key": "header", "value": {"summary": ""}}',
        '{"key": "file", "value": {"path": "a"}}',
        '{"key": "file", "value": {"path": "a", "content": "?", "encoding": "base64"}}',
    ],
)
def test_what_is_not_a_commit_is_refused(hub: RunningHub, line: str) -> None:
    head = publish(hub, 5)
    assert _post_commit(hub, line).status_code == 400
    assert hub.repository(NAME).head() == head


def test_a_path_cannot_be_both_a_file_and_a_folder(hub: RunningHub) -> None:
    publish(hub, 5)
    assert "both" in str(refused(400, lambda: add(hub, {"plain": b"x"})))


def test_a_folder_holds_at_most_ten_thousand_entries(hub: RunningHub) -> None:
    publish(hub, 5)
    hub.repository(NAME).plant({f"many/{number}": b"" for number in range(MAX_ENTRIES)})
    add(hub, {"few/one": b"one"})
    assert "at most 10000" in str(refused(400, lambda: add(hub, {"many/one more": b"x"})))


# Large files


def test_a_pointer_to_an_object_that_was_never_uploaded_is_refused(hub: RunningHub) -> None:
    head = publish(hub, 5)
    oid = "0" * 64
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 12\n"
    assert "does not exist" in str(refused(400, lambda: add(hub, {"a.txt": pointer.encode()})))
    large = {"path": "a.parquet", "algo": "sha256", "oid": oid, "size": 12}
    assert _post_commit(hub, json.dumps({"key": "lfsFile", "value": large})).status_code == 400
    assert hub.repository(NAME).head() == head


def test_an_object_that_is_there_already_is_not_uploaded_again(hub: RunningHub) -> None:
    publish(hub, 5)
    oid = hub.repository(NAME).pointers()[TEST_FILE]
    asked = {"operation": "upload", "transfers": ["basic"], "objects": [{"oid": oid, "size": 1}]}
    answer = _post(hub, f"/datasets/{NAME}.git/info/lfs/objects/batch", asked)
    assert "actions" not in answer.json()["objects"][0]
    hub.requests.clear()
    create(hub, "acme/copy")
    add(hub, {"copy.parquet": parquet_bytes(5)}, name="acme/copy")
    assert hub.repository("acme/copy").files()["copy.parquet"] == parquet_bytes(5)
    assert not [record for record in hub.requests if record.method == "PUT"]


def test_content_that_is_not_that_of_its_name_is_refused(hub: RunningHub) -> None:
    oid = "0" * 64
    assert httpx2.put(f"{hub.endpoint}/lfs/objects/{oid}", content=b"x").status_code == 400
    assert httpx2.get(f"{hub.endpoint}/lfs/objects/{oid}").status_code == 404


def test_large_files_in_parts(hub: RunningHub) -> None:
    hub.multipart(1000)
    create(hub)
    content = parquet_bytes(3000)
    assert len(content) > 3000
    add(hub, {TEST_FILE: content})
    assert hub.repository(NAME).files()[TEST_FILE] == content
    parts = [record for record in hub.requests if record.method == "PUT"]
    assert sum(record.size for record in parts) == len(content)
    assert max(record.size for record in parts) == 1000


def test_xet_clients_do_not_use_the_classic_protocol(hub_xet: RunningHub) -> None:
    publish(hub_xet, 5)
    asked = [record.path for record in hub_xet.requests]
    assert any("xet-write-token" in path for path in asked)
    assert not any("lfs" in path for path in asked)
    assert hub_xet.repository(NAME).files()[TEST_FILE] == parquet_bytes(5)


def test_with_a_cdn_large_files_come_from_another_host(hub: RunningHub) -> None:
    publish(hub, 5)
    hub.cdn()
    address = f"{hub.endpoint}/datasets/{NAME}/resolve/main"
    assert httpx2.get(f"{address}/README.md").content == CARD
    answer = httpx2.get(f"{address}/{TEST_FILE}")
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("http://localhost:")
    path = Path(hf_hub_download(NAME, TEST_FILE, repo_type="dataset"))
    assert path.read_bytes() == parquet_bytes(5)


# Reading


def test_lists_come_in_pages(hub: RunningHub) -> None:
    publish(hub, 5)
    paths = {f"many/{number:02}.txt" for number in range(23)}
    hub.repository(NAME).plant(dict.fromkeys(paths, b"x"))
    hub.page(5)
    hub.requests.clear()
    found = hub.api().list_repo_tree(NAME, "many", repo_type="dataset")
    assert [item.path for item in found] == sorted(paths)
    assert len(hub.requests) == 5
    create(hub, "acme/other")
    hub.page(1)
    assert {one.id for one in hub.api().list_datasets(author="acme")} == {NAME, "acme/other"}


@pytest.mark.parametrize(
    ("asked", "status", "expected"),
    [
        ("", 200, b"0123456789"),
        ("bytes=0-0", 206, b"0"),
        ("bytes=3-5", 206, b"345"),
        ("bytes=8-", 206, b"89"),
        ("bytes=-4", 206, b"6789"),
        ("bytes=-40", 206, b"0123456789"),
        ("bytes=5-100", 206, b"56789"),
        ("bytes=10-", 416, b""),
        ("bytes=7-3", 416, b""),
        ("bytes=-", 200, b"0123456789"),
        ("lines=1-2", 200, b"0123456789"),
    ],
)
def test_ranges(asked: str, status: int, expected: bytes) -> None:
    request = Request("GET", "/", {"Range": asked}, b"", None)
    answer = ranged(b"0123456789", request, {})
    assert (answer.status, answer.content) == (status, expected)
    if status == 206:
        start = b"0123456789".index(expected)
        assert answer.headers["Content-Range"] == f"bytes {start}-{start + len(expected) - 1}/10"


def test_ranges_of_large_files(hub_modes: RunningHub) -> None:
    publish(hub_modes, 5)
    address = f"{hub_modes.endpoint}/datasets/{NAME}/resolve/main/{TEST_FILE}"
    answer = httpx2.get(address, headers={"Range": "bytes=-4"})
    assert (answer.status_code, answer.content) == (206, b"PAR1")
    assert answer.headers["Content-Range"].endswith(f"/{len(parquet_bytes(5))}")
    assert int(httpx2.head(address).headers["Content-Length"]) == len(parquet_bytes(5))


def test_what_is_missing_is_named(hub: RunningHub) -> None:
    publish(hub, 5)
    api = hub.api()
    with pytest.raises(RepositoryNotFoundError):
        api.dataset_info("acme/nothing")
    with pytest.raises(RevisionNotFoundError):
        api.dataset_info(NAME, revision="9.9.9")
    for name in ("no such\x00name", "a..b", "-"):
        refused(404, lambda name=name: api.dataset_info(NAME, revision=name))
    with pytest.raises(EntryNotFoundError):
        hf_hub_download(NAME, "nothing.txt", repo_type="dataset")


def test_hostile_names_can_be_planted_and_are_listed(hub: RunningHub) -> None:
    publish(hub, 5)
    names = ["../out.txt", "a/../b.txt", "back\\slash.txt", "bell\x07.txt", ".git/config"]
    head = hub.repository(NAME).plant(dict.fromkeys(names, b"x"))
    info = hub.api().dataset_info(NAME)
    assert info.sha == head
    assert set(names) <= {sibling.rfilename for sibling in info.siblings}


# Branches, tags, pull requests


@pytest.mark.parametrize("message", [None, "first release"])
def test_tags_stay_where_they_are(hub: RunningHub, message: str | None) -> None:
    first = publish(hub, 5)
    api = hub.api()
    api.create_tag(NAME, tag="1.0.0", tag_message=message, repo_type="dataset")
    publish(hub, 6)
    refused(409, lambda: api.create_tag(NAME, tag="1.0.0", repo_type="dataset"))
    assert hub.repository(NAME).tags() == {"1.0.0": first}
    assert api.dataset_info(NAME, revision="1.0.0").sha == first
    api.delete_tag(NAME, tag="1.0.0", repo_type="dataset")
    assert hub.repository(NAME).tags() == {}


@pytest.mark.parametrize("tag", ["a..b", "a b", "end.lock", "-\x07"])
def test_names_that_git_does_not_allow_are_refused(hub: RunningHub, tag: str) -> None:
    publish(hub, 5)
    assert _post(hub, f"/api/datasets/{NAME}/tag/main", {"tag": tag}).status_code == 400


def test_a_pull_request_leaves_the_branch_alone_until_it_is_merged(hub_modes: RunningHub) -> None:
    head = publish(hub_modes, 5)
    done = hub_modes.api("bob").create_commit(
        NAME,
        [CommitOperationAdd(TEST_FILE, parquet_bytes(8)), CommitOperationAdd("note.txt", b"note")],
        commit_message="eight rows",
        repo_type="dataset",
        create_pr=True,
    )
    repository = hub_modes.repository(NAME)
    assert done.pr_revision == "refs/pr/1"
    assert repository.head() == head
    assert repository.pull_requests() == {"1": done.oid}
    assert repository.files("refs/pr/1")[TEST_FILE] == parquet_bytes(8)
    refused(403, lambda: hub_modes.api("bob").merge_pull_request(NAME, 1, repo_type="dataset"))
    assert repository.head() == head
    hub_modes.api().merge_pull_request(NAME, 1, repo_type="dataset")
    assert repository.files()[TEST_FILE] == parquet_bytes(8)
    assert repository.commits()[0].parents == (head,)
    assert hub_modes.api().get_discussion_details(NAME, 1, repo_type="dataset").status == "merged"


def test_a_pull_request_can_be_based_on_an_older_commit(hub: RunningHub) -> None:
    first = publish(hub, 5)
    add(hub, {"later.txt": b"later"})
    add(hub, {"note.txt": b"note"}, user="bob", create_pr=True, parent_commit=first)
    files = hub.repository(NAME).files("refs/pr/1")
    assert "note.txt" in files
    assert "later.txt" not in files


def test_branches_are_squashed_without_touching_others(hub: RunningHub) -> None:
    head = publish(hub, 5)
    api, repository = hub.api(), hub.repository(NAME)
    api.create_branch(NAME, branch="try", repo_type="dataset")
    api.super_squash_history(NAME, branch="try", repo_type="dataset")
    assert len(repository.commits("try")) == 1
    assert repository.files("try") == repository.files("main")
    api.delete_branch(NAME, branch="try", repo_type="dataset")
    assert repository.branches() == {"main": head}
    refused(403, lambda: api.delete_branch(NAME, branch="main", repo_type="dataset"))


def test_discussions_are_opened_commented_and_closed(hub: RunningHub) -> None:
    publish(hub, 5)
    bob = hub.api("bob")
    number = bob.create_discussion(NAME, "a question", description="why", repo_type="dataset").num
    bob.comment_discussion(NAME, number, "still open", repo_type="dataset")
    hub.api().change_discussion_status(NAME, number, "closed", repo_type="dataset")
    found = hub.api().get_discussion_details(NAME, number, repo_type="dataset")
    assert (found.title, found.author, found.status) == ("a question", "bob", "closed")
    assert [event.type for event in found.events] == ["comment", "comment", "status-change"]
    assert [one.num for one in bob.get_repo_discussions(NAME, repo_type="dataset")] == [number]


# Rights


def test_who_may_write(hub: RunningHub) -> None:
    head = publish(hub, 5)
    refused(403, lambda: add(hub, {"a.txt": b"a"}, user="bob"))
    refused(403, lambda: add(hub, {"a.txt": b"a"}, user="reader"))
    refused(403, lambda: hub.api("reader").create_tag(NAME, tag="1.0.0", repo_type="dataset"))
    refused(403, lambda: hub.api("bob").create_repo("acme/other", repo_type="dataset"))
    refused(401, lambda: hub.api(None).create_repo("acme/other", repo_type="dataset"))
    refused(403, lambda: add(hub, {"a.txt": b"a"}, user="reader", create_pr=True))
    assert hub.repository(NAME).head() == head
    assert hub.repository(NAME).tags() == {}


def test_private_and_gated_repositories(hub: RunningHub) -> None:
    create(hub, private=True)
    add(hub, {"a.txt": b"a"})
    for user in ("bob", None):
        with pytest.raises(RepositoryNotFoundError):
            hub.api(user).dataset_info(NAME)
    assert hub.api("reader").dataset_info(NAME).private
    hub.api().update_repo_settings(NAME, private=False, gated="auto", repo_type="dataset")
    assert hub.api("bob").dataset_info(NAME).gated == "auto"
    with pytest.raises(GatedRepoError):
        hf_hub_download(NAME, "a.txt", repo_type="dataset", token=token_of("bob"))


def test_an_unknown_token_is_refused_everywhere(hub: RunningHub) -> None:
    publish(hub, 5)
    headers = {"Authorization": "Bearer hf_unknownTokenOfNobody"}
    for path in ("/api/whoami-v2", f"/api/datasets/{NAME}", f"/datasets/{NAME}/resolve/main/README.md"):
        assert httpx2.get(f"{hub.endpoint}{path}", headers=headers).status_code == 401


def test_a_moved_repository_is_found_by_its_old_name(hub: RunningHub) -> None:
    head = publish(hub, 5)
    hub.api().move_repo(NAME, "acme/renamed", repo_type="dataset")
    info = hub.api().dataset_info(NAME)
    assert (info.id, info.sha) == ("acme/renamed", head)
    hub.api().delete_repo("acme/renamed", repo_type="dataset")
    assert not hub.repository("acme/renamed").exists()
    with pytest.raises(RepositoryNotFoundError):
        hub.api().dataset_info(NAME)


# Cards


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("configs: [\n", "YAML error"),
        ("- a list\n", "must be a mapping"),
        ("configs: plain\n", "must be an array"),
        ("configs:\n- data_files: x\n", "config_name"),
        ("license: {mit: 1}\n", "license"),
    ],
)
def test_a_card_with_a_bad_header_is_not_committed(hub: RunningHub, header: str, message: str) -> None:
    create(hub)
    with pytest.raises(ValueError, match=message):
        add(hub, {"README.md": f"---\n{header}---\n# Words\n".encode()})
    assert "README.md" not in hub.repository(NAME).files()


def test_descriptions_made_by_the_hub(hub: RunningHub) -> None:
    head = publish(hub, 5)
    croissant = httpx2.get(f"{hub.endpoint}/api/datasets/{NAME}/croissant").json()
    assert (croissant["name"], croissant["version"]) == (NAME, head)
    assert httpx2.get(f"{hub.endpoint}/api/datasets/{NAME}/leaderboard").json() == []


# The server


def test_a_client_that_dies_while_it_sends_has_nothing_done(hub: RunningHub) -> None:
    head = publish(hub, 5)
    whole = b'{"key": "header", "value": {"summary": "half"}}\n'
    request = (
        f"POST /api/datasets/{NAME}/commit/main HTTP/1.1\r\nHost: hub\r\n"
        f"Authorization: Bearer {hub.token}\r\nContent-Length: {len(whole) + 1}\r\n\r\n"
    )
    hub.requests.clear()
    with socket.create_connection(("127.0.0.1", int(hub.endpoint.rpartition(":")[2]))) as connection:
        connection.sendall(request.encode() + whole)
    hub.api().whoami()
    assert [record.path for record in hub.requests] == ["/api/whoami-v2"]
    assert hub.repository(NAME).head() == head


def test_without_a_server_connections_are_refused() -> None:
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"{os.environ['HF_ENDPOINT']}/api/whoami-v2")


def test_the_server_starts_by_hand(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hub_server", "--root", str(tmp_path), "--page", "3"]
    process = subprocess.Popen(command, cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        headers = {"Authorization": f"Bearer {token_of('alice')}"}
        answer = httpx2.get(f"{address}/api/whoami-v2", headers=headers)
        assert answer.json()["orgs"][0]["name"] == "acme"
    finally:
        process.kill()
        process.wait()


def test_a_crash_of_the_server_is_kept_for_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with HubServer(tmp_path) as server:
        monkeypatch.setattr("hub_server.server.answer", lambda hub, request: 1 / 0)
        assert httpx2.get(f"{server.url}/api/datasets").status_code == 500
    assert "ZeroDivisionError" in server.crashes[0]
