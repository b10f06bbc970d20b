"""Opening a corpus: from what a user calls it to its files, their form and its identity."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, get_args

from ...errors import SourceError, UsageError
from ...faults import Policy
from ...hashing import sha256_file
from ...registry import closest
from ..sources.files import InputFile, SourceFolder
from .base import SENTENCES, Corpus, CorpusForm, Part, Sentences
from .detokenizing import detokenized
from .forms import FileForm, JsonLinesForm, LineForm, ParquetForm, RedditForm, TaggedForm
from .hub import PREFIX, open_hub_corpus
from .streams import COMPRESSIONS, Line, decoded, lines, plain_name, plain_suffix

FORMS = ("lines", "files", "jsonl", "parquet", "wikitext", "reddit", "tagged", "hub")
"""The forms of corpora by name; `hub` is that of locations which begin with `hub:`."""

_BY_SUFFIX = {"jsonl": "jsonl", "ndjson": "jsonl", "json": "jsonl", "parquet": "parquet"}
_TEXT_SUFFIXES = frozenset({"", "txt", "text", "tokens", "raw", "lines", "sent"})
_STORED_AS = frozenset(
    {*COMPRESSIONS, ".zip", *(f".{suffix}" for suffix in (*_BY_SUFFIX, *_TEXT_SUFFIXES) if suffix)}
)
_DUMP = re.compile(r"R[CS]_\d{4}-\d{2}.*", re.DOTALL)
# What lies beside a corpus and is none of it.
_ABOUT = frozenset({"readme", "contents", "license", "licence", "copying", "notice", "citation", "cats"})
_WIKITEXT_HEADING = re.compile(r"\s*= .+ =\s*")
# Corpora lie in folders by language, source and day.
_LEVELS = 10
_PEEKED = 20
_CHOOSE = "choose with --corpus-form (Python: form), or in Python with a pattern"
_PEEKED_BYTES = 1 << 16


def open_corpus(
    location: str | Path,
    *,
    form: str | None = None,
    text_field: str | None = None,
    id_field: str | None = None,
    sentences: Sentences = "none",
    pattern: str | None = None,
    detokenize: bool = False,
    on_bad_row: Policy = "fail",
    name: str | None = None,
) -> Corpus:
    """The corpus at `location`: a file, a folder or a zip archive (each file plain, .gz, .bz2, .zst or .xz),
    `sample`, or `hub:ORG/NAME@REVISION#CONFIG/SPLIT:FIELD`, which is streamed.

    `form` is one of FORMS, told from names and first lines where it is None:

    - `lines`: a document (or a sentence) a line; `files`: every file is a document (never guessed);
    - `jsonl`: a JSON object a line, `parquet`: a row; text in `text_field` (default `text`), ids in
      `id_field` (default: `file:line`, `file:row`);
    - `reddit`: a dump of comments (`RC_2006-02.bz2`; text in `body`, ids in `id`), without deleted and
      removed ones; `wikitext`: a paragraph or heading a line, as tokenised; `tagged`: a sentence a line as
      `word/tag` tokens, as in NLTK's Brown corpus.

    `sentences` cuts documents: not at all, at `lines`, or into sentences by NLTK's `punkt` within paragraphs.
    `pattern` chooses files by name below the folder (`*/part-*.jsonl`). `detokenize` undoes tokenisation
    (`@-@`, spaces before marks, marks of headings), by guess. White space around a document goes.

    Raises UsageError for unknown choices and a Hub location that cannot be read, SourceError for a location
    without files of one form. What a file holds is not looked at further before the corpus is iterated over.
    """
    if sentences not in SENTENCES:
        raise UsageError(f"unknown sentences {sentences!r}; {closest(sentences, SENTENCES)}")
    if form is not None and form not in FORMS:
        raise UsageError(f"unknown form of a corpus {form!r}; {closest(form, FORMS)}")
    if on_bad_row not in get_args(Policy):
        raise UsageError(f"unknown on_bad_row {on_bad_row!r}; known: {', '.join(get_args(Policy))}")
    if not str(location).strip():
        raise UsageError("a corpus is named by an empty text; give a file, a folder, sample or hub:ORG/NAME")
    rewrite = detokenized if detokenize else None
    choices = {"sentences": sentences, "detokenize": detokenize, "on_bad_row": on_bad_row}
    on_hub = isinstance(location, str) and location.startswith(PREFIX)
    if (form == "hub") != on_hub and form is not None:
        raise UsageError(f"form {form!r} does not go with {str(location)!r}: form hub is for hub:ORG/NAME")
    if on_hub:
        if pattern is not None:
            raise UsageError("pattern is for files; a Hub location names its config and split")
        return open_hub_corpus(
            str(location),
            name=name,
            text_field=text_field,
            id_field=id_field,
            sentences=sentences,
            on_bad_row=on_bad_row,
            rewrite=rewrite,
            choices=choices,
        )
    root = _sample_folder() if location == "sample" else Path(location).expanduser()
    found, chosen = _files(root, form, pattern)
    made = _form(chosen, text_field, id_field)
    shown = name or ("sample" if location == "sample" else _shown_name(root))
    fields = {"text_field": getattr(made, "text_field", None), "id_field": getattr(made, "id_field", None)}
    identity = partial(
        _identity,
        root,
        tuple(found),
        {"name": shown, "form": chosen, "pattern": pattern, **choices, **fields},
    )
    return Corpus(
        shown,
        made,
        [Part(file, number=0 if chosen == "parquet" else 1) for file in found],
        identity=identity,
        sentences=sentences,
        rewrite=rewrite,
        on_bad_row=on_bad_row,
    )


def _sample_folder() -> Path:
    return Path(__file__).resolve().parent.parent / "samples" / "corpora"


def _shown_name(root: Path) -> str:
    """The name of a file or folder, without what says how it is stored."""
    name = root.absolute().name
    while not root.is_dir() and PurePosixPath(name).suffix.lower() in _STORED_AS:
        name = PurePosixPath(name).stem
    return name


def _identity(root: Path, files: Sequence[InputFile], said: dict[str, Any]) -> dict[str, Any]:
    stored = dict.fromkeys(file.path for file in files)
    described = [
        {
            "name": path.relative_to(root).as_posix() if root.is_dir() else path.name,
            "sha256": sha256_file(path),
            "bytes": path.stat().st_size,
        }
        for path in stored
    ]
    return {**said, "files": described}


def _form(name: str, text_field: str | None, id_field: str | None) -> CorpusForm:
    """The form of a name with its fields. Raises UsageError for a field where there are none."""
    with_fields: dict[str, Callable[..., CorpusForm]] = {
        "jsonl": JsonLinesForm,
        "reddit": RedditForm,
        "parquet": ParquetForm,
    }
    given = {"text_field": text_field, "id_field": id_field}
    said = {key: value for key, value in given.items() if value is not None}
    if name in with_fields:
        return with_fields[name](**said)
    if said:
        shown = ", ".join(
            "--corpus-field (Python: text_field)" if key == "text_field" else key for key in said
        )
        raise UsageError(f"{shown}: a corpus of form {name!r} has no fields; leave it out")
    plain = {"lines": LineForm, "wikitext": LineForm, "tagged": TaggedForm, "files": FileForm}
    return plain[name]()


def _files(root: Path, form: str | None, pattern: str | None) -> tuple[list[InputFile], str]:
    """The files of a corpus in order, and their form. Raises SourceError where there are none or several."""
    source = SourceFolder(root, _LEVELS)
    there = source.files
    if source.unsearched:
        # Rows would be told to be clean of what was never read.
        raise SourceError(
            "a folder of the corpus would be left out: it is a link or lies too deep",
            path=source.unsearched[0],
            fix="give it as a corpus of its own, or move it",
        )
    alone = len(there) == 1 and pattern is None
    if pattern is not None:
        there = tuple(file for file in there if fnmatchcase(file.name, pattern))
    elif not alone:
        there = tuple(file for file in there if not _is_about(file))
    if not there:
        fix = "check the path and the pattern" if pattern else "give a file or folder of text"
        raise SourceError("no file of a corpus found", path=root, value=pattern, fix=fix)
    if form is not None:
        return [file for file in there if _fits(file, form)] or list(there), form
    kinds = {file: _kind(file) for file in there}
    if len(set(kinds.values())) > 1:
        first: dict[str, InputFile] = {}
        for file, kind in kinds.items():
            first.setdefault(kind, file)
        shown = ", ".join(f"{file.name} ({kind})" for kind, file in first.items())
        raise SourceError(f"files of several kinds: {shown}", path=root, fix=_CHOOSE)
    kind = next(iter(kinds.values()))
    if kind == "unknown" and not alone:
        raise SourceError("no file of a known form", path=root, value=there[0].name, fix=_CHOOSE)
    return list(there), _form_of_text(there[0]) if kind in ("text", "unknown") else kind


def _is_about(file: InputFile) -> bool:
    if _kind(file) not in ("text", "unknown") and plain_suffix(file) != "json":
        # Records, whatever they are called.
        return False
    stem = PurePosixPath(plain_name(file)).name.lower().split(".")[0]
    return stem in _ABOUT or plain_suffix(file) == "md"


def _fits(file: InputFile, form: str) -> bool:
    """Whether a file of a folder is one of a form that was asked for, by its suffix."""
    kind = _kind(file)
    if form in ("jsonl", "parquet", "reddit"):
        return kind == form or (form == "reddit" and kind == "jsonl")
    return form == "files" or kind == "text"


def _kind(file: InputFile) -> str:
    """The form that a name tells, `text` for text of any form, `unknown` for anything else."""
    if _DUMP.fullmatch(PurePosixPath(file.name).name):
        return "reddit"
    suffix = plain_suffix(file)
    return _BY_SUFFIX.get(suffix, "text" if suffix in _TEXT_SUFFIXES else "unknown")


def _form_of_text(file: InputFile) -> str:
    """What the first lines of a text are: WikiText has headings, tagged text a slash in every token."""
    first: list[str] = []
    for line in lines(file):
        if line.raw and not line.raw.isspace():
            first.append(_peeked(file, line))
        if len(first) >= _PEEKED or line.end > _PEEKED_BYTES:
            break
    if first and all(token.strip("/").count("/") for text in first for token in text.split()):
        return "tagged"
    if first and _WIKITEXT_HEADING.fullmatch(first[0]):
        return "wikitext"
    return "lines"


def _peeked(file: InputFile, line: Line) -> str:
    try:
        return decoded(file, line)
    except SourceError:
        # Whether such a line is dropped is the policy's to say, once the corpus is read.
        return ""
