"""Corpora on the Hub, streamed: rows are read over the network as they are asked for, at one commit.

`datasets` does the streaming. Loading scripts are never run, and no message carries a token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ...errors import BenchwrightError, PublishError, ReleaseError, SourceError, UsageError
from ...faults import FaultLog, Policy
from ..hub.client import HubClient, HubUnavailable, no_repository
from ..hub.location import HubLocation
from ..hub.remote import read_state
from ..sources.records import Record
from .base import Corpus, CorpusCounts, CorpusDocument, CorpusForm, Part, Sentences, cut_evenly
from .forms import documents_of

PREFIX = "hub:"
_FORM = "hub:ORG/NAME@REVISION#CONFIG/SPLIT:FIELD (all but ORG/NAME may be left out)"
_PLACE = re.compile(
    r"(?P<repo>[^#:]+)(?:#(?P<config>[^/:#]*)(?:/(?P<split>[^/:#]+))?)?(?::(?P<field>[^:#]+))?"
)


class HubPlace(NamedTuple):
    """What `hub:...` names; None for what it leaves open."""

    repo: str
    revision: str | None
    config: str | None
    split: str | None
    field: str | None


def parse_place(text: str) -> HubPlace:
    """The parts of `hub:ORG/NAME@REVISION#CONFIG/SPLIT:FIELD`. Raises UsageError.

    >>> parse_place("hub:acme/web@1.0.0#en/train:content")
    HubPlace(repo='acme/web', revision='1.0.0', config='en', split='train', field='content')
    """
    match = _PLACE.fullmatch(text.removeprefix(PREFIX))
    location = HubLocation.of(match["repo"]) if match else None
    if match is None or location is None:
        raise UsageError(f"{text!r} is no corpus on the Hub; write {_FORM}")
    return HubPlace(location.repo, location.revision, match["config"] or None, match["split"], match["field"])


@dataclass(frozen=True)
class HubForm(CorpusForm):
    """Rows of a split of a data set at one commit. Parts are the files of the split, by number."""

    repo: str
    commit: str
    config: str | None
    split: str
    text_field: str
    id_field: str | None = None

    def documents(self, part: Part, counts: CorpusCounts, faults: FaultLog) -> Iterator[CorpusDocument]:
        """Ids are `SPLIT/FILE NUMBER:ROW` where there is no `id_field`."""
        place = f"{self.repo}@{self.commit[:12]}, {self.split}/{part.number}"
        with one_line(place):
            rows = self._stream().shard(num_shards=self.files(), index=part.number)
            records = (
                (Record(place, row, None, fields), f"{self.split}/{part.number}:{row}")
                for row, fields in enumerate(rows)
            )
            yield from documents_of(records, self.text_field, self.id_field, counts, faults)

    def cut(self, parts: Sequence[Part], shards: int) -> list[list[Part]]:
        """Between files."""
        return cut_evenly(parts, [1] * len(parts), shards)

    def files(self) -> int:
        """How many files the split has."""
        return int(self._stream().num_shards)

    def _stream(self) -> Any:
        wanted = [name for name in (self.text_field, self.id_field) if name is not None]
        rows = load_stream(self.repo, self.commit, self.config, self.split)
        known = rows.column_names
        for name in wanted:
            if known is not None and name not in known:
                raise SourceError(
                    "missing field", path=self.repo, field=name, fix=f"the data set has {', '.join(known)}"
                )
        return rows.select_columns(wanted)

    def identity(self) -> dict[str, Any]:
        """Which rows these are, for a manifest."""
        return {
            "hub": self.repo,
            "revision": self.commit,
            "config": self.config,
            "split": self.split,
            "text_field": self.text_field,
            "id_field": self.id_field,
        }


def load_stream(repo: str, commit: str, config: str | None, split: str | None) -> Any:
    """An `IterableDataset`, or one by split without `split`. Raises SourceError with one line."""
    # As `load_dataset` takes half a second to import.
    from datasets import load_dataset

    with one_line(f"{repo}@{commit[:12]}"):
        return load_dataset(repo, name=config, split=split, revision=commit, streaming=True)


@contextmanager
def one_line(place: str) -> Iterator[None]:
    """Whatever `datasets` and the Hub's client raise becomes a SourceError of one line."""
    try:
        yield
    except (ReleaseError, PublishError, HubUnavailable) as error:
        raise SourceError(str(error)) from None
    except BenchwrightError:
        raise
    except Exception as error:
        # Streaming raises errors of a dozen libraries (HTTP, fsspec, pyarrow, pandas, json).
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise SourceError(
            f"the corpus cannot be streamed ({reason})", path=place, fix="check its name and the connection"
        ) from None


def open_hub_corpus(
    location: str,
    *,
    name: str | None,
    text_field: str | None,
    id_field: str | None,
    sentences: Sentences,
    on_bad_row: Policy,
    rewrite: Callable[[str], str] | None,
    choices: dict[str, Any],
    client: HubClient | None = None,
) -> Corpus:
    """The corpus that `hub:...` names; see `open_corpus`. Its revision is resolved to a commit first."""
    place = parse_place(location)
    if place.field is not None and text_field not in (None, place.field):
        raise UsageError(
            f"{location!r} names field {place.field!r}, and --corpus-field (Python: text_field) is "
            f"{text_field!r}; leave one out"
        )
    shown = place.repo if place.revision is None else f"{place.repo}@{place.revision}"
    with one_line(shown):
        state = read_state(client or HubClient(), place.repo, place.revision)
        if state is None:
            raise no_repository(shown)
    split = place.split or _only_split(place, state.head)
    field = place.field or text_field or "text"
    form = HubForm(place.repo, state.head, place.config, split, field, id_field)
    parts = [Part(None, number, number + 1, number) for number in range(form.files())]
    return Corpus(
        name or place.repo,
        form,
        parts,
        identity=partial(_identity, name or place.repo, form, choices),
        sentences=sentences,
        rewrite=rewrite,
        on_bad_row=on_bad_row,
    )


def _only_split(place: HubPlace, commit: str) -> str:
    splits = list(load_stream(place.repo, commit, place.config, None))
    if len(splits) == 1 or "train" in splits:
        return "train" if "train" in splits else str(splits[0])
    shown = f"{PREFIX}{place.repo}#{place.config or 'CONFIG'}/{splits[0]}"
    raise UsageError(f"{place.repo} has the splits {', '.join(splits)}; name one, as in {shown}")


def _identity(name: str, form: HubForm, choices: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "form": "hub", **choices, **form.identity()}
