"""Trial 35: a repository that holds a config of others (datasets #7600), and commits that come in between."""

from __future__ import annotations

import pytest
import yaml
from datasets import Dataset, load_dataset
from hub_fixtures import RunningHub
from publish_helpers import REPO, made, send, write_section

from benchwright.builders.verify import verify
from benchwright.errors import PublishError
from benchwright.release import ReleaseFolder


def header(hub: RunningHub, revision: str = "main"):
    return yaml.safe_load(hub.repository(REPO).files(revision)["README.md"].decode().split("---\n")[1])


def test_a_config_of_others_stays_with_files_and_header(hub_modes, tmp_path):
    hub = hub_modes
    theirs = Dataset.from_dict({"text": ["a", "b", "c"], "stars": [1, 2, 3]})
    theirs.push_to_hub(REPO, "reviews", split="train", set_default=False)
    before = hub.repository(REPO).files("main")
    made(tmp_path / "made")
    assert send(tmp_path / "made", load=True).verified
    write_section(tmp_path / "made", "Changed.")
    assert send(tmp_path / "made", load=True).version == "1.0.1"
    for version in ("1.0.0", "1.0.1"):
        after = hub.repository(REPO).files(version)
        kept = [path for path in before if path.startswith("reviews/")]
        assert kept
        assert all(after[path] == before[path] for path in kept)
        configs = {entry["config_name"] for entry in header(hub, version)["configs"]}
        assert configs == {"reviews", "random", "ll_split", "schemas", "scores"}
        assert load_dataset(REPO, "reviews", revision=version)["train"].to_dict() == theirs.to_dict()
        assert load_dataset(REPO, revision=version)["train"].num_rows == 40
        assert verify(f"{REPO}@{version}") == []


def test_a_config_of_others_that_came_or_changed_later_is_kept_as_it_is_then(hub, tmp_path):
    send(made(tmp_path / "made"))
    Dataset.from_dict({"text": ["a"] * 5}).push_to_hub(REPO, "reviews", split="train")
    write_section(tmp_path / "made", "One.")
    assert send(tmp_path / "made").verified
    Dataset.from_dict({"text": ["b"] * 7}).push_to_hub(REPO, "reviews", split="train")
    write_section(tmp_path / "made", "Two.")
    assert send(tmp_path / "made").verified
    assert load_dataset(REPO, "reviews")["train"].num_rows == 7
    assert verify(REPO) == []


def test_a_config_of_others_with_one_of_our_names_is_not_replaced(hub, tmp_path):
    Dataset.from_dict({"text": ["a"]}).push_to_hub(REPO, "random", split="train")
    head = hub.repository(REPO).head()
    with pytest.raises(PublishError, match=r"config\(s\) random that benchwright did not make"):
        send(made(tmp_path / "made"))
    assert hub.repository(REPO).head() == head


def test_words_of_others_in_the_card_are_kept(hub, tmp_path):
    hub.api().create_repo(REPO, repo_type="dataset")
    hub.repository(REPO).plant({"README.md": b"---\nlicense: mit\n---\n# Ours\n\nA long story.\n"}, "card")
    send(made(tmp_path / "made"))
    assert "A long story." in hub.repository(REPO).files("main")["README.md"].decode()
    # Somebody writes in a section on the Hub, and somebody else in another one here.
    card = hub.repository(REPO).files("main")["README.md"].decode()
    begin = "<!-- user:begin notes -->\n"
    assert begin in card
    hub.repository(REPO).plant({"README.md": card.replace(begin, f"{begin}Seen there.\n").encode()}, "web")
    write_section(tmp_path / "made", "Seen here.", "about")
    send(tmp_path / "made")
    card = hub.repository(REPO).files("main")["README.md"].decode()
    assert "Seen there." in card
    assert "Seen here." in card
    assert card == (tmp_path / "made" / "README.md").read_text()


def test_a_commit_in_between_with_other_configs_is_built_upon(hub_modes, tmp_path):
    hub = hub_modes
    send(made(tmp_path / "first", ["random"]))
    made(tmp_path / "second", ["ll_split"])
    hub.hook(1, lambda: plant_section(hub, "Meanwhile."), method="POST", path="/commit/main")
    report = send(tmp_path / "second")
    assert report.verified
    titles = [commit.title for commit in hub.repository(REPO).commits()]
    assert titles == [f"Publish {report.version}", "web", "Publish 1.0.0", "initial commit"]
    card = hub.repository(REPO).files("main")["README.md"].decode()
    assert "Meanwhile." in card
    assert set(ReleaseFolder(tmp_path / "second").configs) == {"random", "ll_split", "schemas", "scores"}
    assert verify(REPO) == []


def plant_section(hub: RunningHub, text: str) -> None:
    begin = "<!-- user:begin notes -->\n"
    card = hub.repository(REPO).files("main")["README.md"].decode()
    hub.repository(REPO).plant({"README.md": card.replace(begin, f"{begin}{text}\n").encode()}, "web")


def test_a_commit_in_between_to_the_same_config_stops_it_and_changes_nothing(hub_modes, tmp_path):
    hub = hub_modes
    send(made(tmp_path / "first", ["random"]))
    made(tmp_path / "mine", ["random"], seed=8)
    made(tmp_path / "theirs", ["random"], seed=9)
    hub.hook(1, lambda: send(tmp_path / "theirs"), method="POST", path="/commit/main")
    with pytest.raises(PublishError, match="random: changed both here and on the Hub"):
        send(tmp_path / "mine")
    there = hub.repository(REPO)
    assert [commit.title for commit in there.commits()] == [
        "Publish 2.0.0",
        "Publish 1.0.0",
        "initial commit",
    ]
    assert set(there.tags()) == {"1.0.0", "2.0.0"}
    assert verify(REPO) == []
    assert ReleaseFolder(tmp_path / "mine").publication.version is None


def test_a_head_that_never_rests_ends_with_one_line(hub, tmp_path):
    send(made(tmp_path / "made"))
    write_section(tmp_path / "made", "Mine.", "about")
    for number in range(1, 9):
        hub.hook(number, lambda n=number: plant_section(hub, f"{n}."), method="POST", path="/commit/main")
    with pytest.raises(PublishError, match="others committed 8 times meanwhile"):
        send(tmp_path / "made")
    assert set(hub.repository(REPO).tags()) == {"1.0.0"}
