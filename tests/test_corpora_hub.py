"""Corpora streamed from a real Hub server by the real client."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hub_fixtures import RunningHub

from benchwright.builders.corpora import CorpusDocument, open_corpus
from benchwright.builders.corpora.hub import HubPlace, parse_place
from benchwright.errors import SourceError, UsageError

REPO = "acme/web"
CARD = b"""---
configs:
- config_name: en
  data_files:
  - split: train
    path: en/train-*.parquet
- config_name: notes
  data_files:
  - split: extra
    path: notes/extra.parquet
---
"""


def parquet(*texts: str | None, ids: Sequence[str] | None = None) -> bytes:
    buffer = io.BytesIO()
    other = {"wide": ["x" * 50] * len(texts)} if ids is None else {"id": ids}
    pq.write_table(pa.table({"content": texts, **other}), buffer)
    return buffer.getvalue()


@pytest.fixture
def web(hub: RunningHub) -> RunningHub:
    """A Hub with one data set: a config of three files, and one of a single file."""
    plant(
        hub,
        {
            "README.md": CARD,
            "en/train-00000-of-00003.parquet": parquet("One.", "Two. Three."),
            "en/train-00001-of-00003.parquet": parquet("Four.", " "),
            "en/train-00002-of-00003.parquet": parquet("Five."),
            "notes/extra.parquet": parquet("More.", ids=["m"]),
        },
    )
    return hub


def plant(hub: RunningHub, files: Mapping[str, bytes]) -> str:
    hub.api().create_repo(REPO, repo_type="dataset", exist_ok=True)
    return hub.repository(REPO).plant(files)


def test_rows_of_all_files_of_a_split_in_order(web: RunningHub) -> None:
    corpus = open_corpus(f"hub:{REPO}@main#en/train:content")
    expected = [
        CorpusDocument("train/0:0", "One."),
        CorpusDocument("train/0:1", "Two. Three."),
        CorpusDocument("train/1:0", "Four."),
        CorpusDocument("train/2:0", "Five."),
    ]
    assert list(corpus) == expected
    assert corpus.counts.skipped == {"empty text": 1}
    assert [document for shard in corpus.shards(2) for document in shard] == expected
    assert len(corpus.shards(9)) == 3
    assert list(pickle.loads(pickle.dumps(corpus.shards(3)[2]))) == expected[3:]


def test_the_commit_is_resolved_and_recorded(web: RunningHub) -> None:
    head = web.repository(REPO).head()
    corpus = open_corpus(f"hub:{REPO}#notes:content", id_field="id", sentences="lines")
    assert corpus.identity == {
        "name": REPO,
        "form": "hub",
        "sentences": "lines",
        "detokenize": False,
        "on_bad_row": "fail",
        "hub": REPO,
        "revision": head,
        "config": "notes",
        "split": "extra",
        "text_field": "content",
        "id_field": "id",
    }
    before = corpus.fingerprint
    plant(web, {"notes/extra.parquet": parquet("Changed.", ids=["m"])})
    assert list(corpus) == [CorpusDocument("m#0", "More.")]
    changed = open_corpus(f"hub:{REPO}#notes:content", id_field="id", sentences="lines")
    assert list(changed) == [CorpusDocument("m#0", "Changed.")]
    assert changed.fingerprint != before


def test_train_is_the_split_if_none_is_named(web: RunningHub) -> None:
    assert len(list(open_corpus(f"hub:{REPO}#en:content"))) == 4


@pytest.mark.parametrize(
    ("location", "options", "reason"),
    [
        (f"hub:{REPO}#en/train", {}, f"{REPO}, field 'text': missing field; the data set has content, wide"),
        ("hub:acme/none#en/train:text", {}, "acme/none: no such data set on the Hub, or it is private"),
        (f"hub:{REPO}@v9#en/train:content", {}, "no such revision on the Hub"),
        (f"hub:{REPO}#de/train:content", {}, "the corpus cannot be streamed (BuilderConfig 'de' not found"),
        (f"hub:{REPO}#en/dev:content", {}, "the corpus cannot be streamed ("),
    ],
)
def test_what_is_not_there(web: RunningHub, location: str, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(SourceError) as caught:
        list(open_corpus(location, **options))
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_bad_row_names_its_place(web: RunningHub) -> None:
    plant(web, {"en/train-00001-of-00003.parquet": parquet("Four.", None)})
    with pytest.raises(SourceError) as caught:
        list(open_corpus(f"hub:{REPO}#en/train:content"))
    head = web.repository(REPO).head()[:12]
    first = str(caught.value).splitlines()[0]
    assert first == (f"{REPO}@{head}, train/1, row 1, field 'content': wrong type, got 'null'; give a string")
    corpus = open_corpus(f"hub:{REPO}#en/train:content", on_bad_row="drop")
    assert [document.text for document in corpus] == ["One.", "Two. Three.", "Four.", "Five."]
    assert corpus.counts.dropped == {"wrong type": 1}


def test_locations() -> None:
    assert parse_place("hub:acme/web") == HubPlace("acme/web", None, None, None, None)
    assert parse_place("hub:acme/web@v1#/test") == HubPlace("acme/web", "v1", None, "test", None)
    for text in ("hub:web", "hub:acme/web#a/b/c", "hub:acme/web:a:b", "hub:acme/../x", "hub:"):
        with pytest.raises(UsageError, match="is no corpus on the Hub; write hub:ORG/NAME@REVISION"):
            parse_place(text)


def test_choices_that_contradict_the_location(web: RunningHub) -> None:
    with pytest.raises(UsageError, match=r"names field 'content', and --corpus-field .* is 'text'"):
        open_corpus(f"hub:{REPO}:content", text_field="text")
    with pytest.raises(UsageError, match="pattern is for files"):
        open_corpus(f"hub:{REPO}", pattern="*.parquet")
