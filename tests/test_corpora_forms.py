"""Documents of corpus files, form by form: what they hold, what they are called, and what cannot be read."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from benchwright.builders.corpora import CorpusDocument, open_corpus, streams
from benchwright.errors import SourceError, UsageError

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: zstandard.ZstdCompressor(write_content_size=False).compress(data),
}


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def json_lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def read(path: Path | str, **options: Any) -> list[tuple[str, str]]:
    return [(document.document_id, document.text) for document in open_corpus(path, **options)]


def message(path: Path, **options: Any) -> str:
    with pytest.raises(SourceError) as caught:
        read(path, **options)
    text = str(caught.value)
    assert text.startswith(str(path)), text
    return text.removeprefix(str(path)).splitlines()[0]


def test_a_document_a_line_with_its_line_as_id(tmp_path: Path) -> None:
    path = write(tmp_path / "notes.txt", "\ufeffOne.\r\n\n  Two\u2028still two. \n \nThrée")
    corpus = open_corpus(path)
    expected = [
        CorpusDocument("notes.txt:1", "One."),
        CorpusDocument("notes.txt:3", "Two\u2028still two."),
        CorpusDocument("notes.txt:5", "Thrée"),
    ]
    assert list(corpus) == expected
    assert list(corpus) == expected, "a corpus can be read again"
    assert (corpus.name, corpus.counts.documents, corpus.counts.skipped) == ("notes", 3, {"empty line": 2})


@pytest.mark.parametrize("suffix", COMPRESS)
def test_compressed_files_of_several_parts_read_as_plain_ones(tmp_path: Path, suffix: str) -> None:
    lines = [f"Sentence {number}." for number in range(5000)]
    halves = ["\n".join(lines[:3000]) + "\n", "\n".join(lines[3000:])]
    packed = b"".join(COMPRESS[suffix](half.encode()) for half in halves)
    path = write(tmp_path / f"part.txt{suffix}", packed)
    assert [text for _, text in read(path)] == lines
    assert read(path)[-1][0] == f"part.txt{suffix}:5000"


@pytest.mark.parametrize("suffix", COMPRESS)
def test_compressed_data_that_end_too_early(tmp_path: Path, suffix: str) -> None:
    text = "\n".join(f"A longer sentence number {n * n}." for n in range(3000))
    path = write(tmp_path / f"part.txt{suffix}", COMPRESS[suffix](text.encode())[:-20])
    assert message(path) == ": the compressed data end too early; copy or download the file again"


@pytest.mark.parametrize(
    ("suffix", "reason"),
    [
        (".gz", ": not a gzip file; take the .gz off its name, or compress it with gzip"),
        (".bz2", ": not a bzip2 file; copy or download the file again"),
        (".xz", ": not a xz file; copy or download the file again"),
        (".zst", ": not a zstandard file; copy or download the file again"),
    ],
)
def test_files_that_are_not_what_their_suffix_says(tmp_path: Path, suffix: str, reason: str) -> None:
    assert message(write(tmp_path / f"x.txt{suffix}", "plain words, and no more\n"), form="lines") == reason


def test_damage_in_the_middle_is_told_from_a_wrong_suffix(tmp_path: Path) -> None:
    noise = "".join(f"{n * 7919 % 104729}\n" for n in range(60_000))
    packed = bytearray(bz2.compress(noise.encode(), 1))
    packed[len(packed) // 2] ^= 0xFF
    path = write(tmp_path / "x.txt.bz2", bytes(packed))
    assert message(path, form="lines") == ": the compressed data are damaged; copy or download the file again"


def test_an_empty_compressed_file(tmp_path: Path) -> None:
    path = write(tmp_path / "x.txt.zst", b"")
    assert message(path) == ": the file is empty; copy or download the file again"


def test_bytes_that_are_no_utf_8_are_a_bad_row(tmp_path: Path) -> None:
    path = write(tmp_path / "x.txt", "Good.\ncaf\u00e9\nBetter.\n".encode("latin-1"))
    assert message(path) == ", line 2: not UTF-8; save the file as UTF-8"
    corpus = open_corpus(path, on_bad_row="drop")
    assert [document.text for document in corpus] == ["Good.", "Better."]
    assert corpus.counts.dropped == {"not UTF-8": 1}


def test_a_line_is_never_read_beyond_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "LONGEST", 10)
    path = write(tmp_path / "x.txt", "short\n" + "long " * 5 + "\n")
    assert message(path) == (
        ", line 2: a line is too long; a line has at most 10 bytes; cut it, or take the file out"
    )
    assert "the file is too long for one document" in message(path, form="files")


@pytest.mark.parametrize("suffix", ["", ".zst", ".bz2"])
def test_memory_is_bounded_whatever_the_size(tmp_path: Path, suffix: str) -> None:
    content = (b"the same words again and again, as in a bomb\n" * 200_000) + b"end"
    path = write(tmp_path / f"big.txt{suffix}", COMPRESS[suffix](content) if suffix else content)
    del content
    corpus = open_corpus(path, form="lines")
    tracemalloc.start()
    try:
        assert sum(1 for _ in zip(range(10_000), corpus, strict=False)) == 10_000
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_json_lines_with_fields_of_choice(tmp_path: Path) -> None:
    records = [{"id": 7, "text": " One. "}, {"id": "b", "text": "", "extra": 1}, {"id": "c", "text": "Three"}]
    path = write(tmp_path / "docs.jsonl.zst", COMPRESS[".zst"](json_lines(*records).encode()))
    assert read(path) == [("docs.jsonl.zst:1", "One."), ("docs.jsonl.zst:3", "Three")]
    corpus = open_corpus(path, id_field="id")
    assert [(document.document_id, document.text) for document in corpus] == [("7", "One."), ("c", "Three")]
    assert corpus.counts.skipped == {"empty text": 1}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"text": }', ", row 1, line 2: not valid JSON (Expecting value); repair the line"),
        ("[1]", ", row 1, line 2: not a JSON object, got [1]; give one object per line"),
        ('{"body": "x"}', ", row 1, line 2, field 'text': missing field; the record has body"),
        ('{"text": null}', ", row 1, line 2, field 'text': wrong type, got 'null'; give a string"),
        (
            '{"text": "\\ud800"}',
            ", row 1, line 2, field 'text': half a surrogate pair, got '\\ud800'; repair the escape",
        ),
    ],
)
def test_json_records_that_cannot_be_used(tmp_path: Path, line: str, reason: str) -> None:
    path = write(tmp_path / "docs.jsonl", f'{{"text": "fine"}}\n{line}\n{{"text": "good"}}\n')
    assert message(path) == reason
    corpus = open_corpus(path, on_bad_row="drop")
    assert [document.text for document in corpus] == ["fine", "good"]
    assert sum(corpus.counts.dropped.values()) == 1


def test_json_lines_that_are_cut_short_are_never_dropped(tmp_path: Path) -> None:
    path = write(tmp_path / "docs.jsonl", '{"text": "fine"}\n{"text": "goo')
    for policy in ("fail", "drop"):
        assert message(path, on_bad_row=policy) == (
            ", line 2: the file ends in the middle of a record; copy or download the file again"
        )


@pytest.mark.parametrize("suffix", [".bz2", ".zst"])
def test_reddit_dumps_without_what_was_deleted_or_removed(tmp_path: Path, suffix: str) -> None:
    comments = [
        {"id": "c1", "body": "Well,  I never &gt; once.", "author": "x"},
        {"id": "c2", "body": "[deleted]"},
        {"id": "c3", "body": "[removed]"},
        {"id": "c4", "body": "[deleted] is a word here"},
        {"id": "c5", "body": " "},
    ]
    path = write(tmp_path / f"RC_2011-03{suffix}", COMPRESS[suffix](json_lines(*comments).encode()))
    corpus = open_corpus(path)
    assert [(document.document_id, document.text) for document in corpus] == [
        ("c1", "Well,  I never &gt; once."),
        ("c4", "[deleted] is a word here"),
    ]
    assert corpus.counts.skipped == {"deleted": 1, "removed": 1, "empty text": 1}
    assert corpus.identity["form"] == "reddit"


def test_reddit_comment_without_a_body(tmp_path: Path) -> None:
    path = write(tmp_path / "RC_2011-03.bz2", bz2.compress(b'{"id": "c1", "selftext": "x"}\n'))
    assert message(path) == ", row 0, line 1, field 'body': missing field; the record has id, selftext"
    assert read(path, text_field="selftext") == [("c1", "x")]


def test_wikitext_is_kept_as_it_is_unless_asked_for(tmp_path: Path) -> None:
    text = (
        " \n = Red lobsters = \n \n A red @-@ tipped one weighs 0 @.@ 7 kg ( 2 lb ) . It does n't bite . \n"
    )
    path = write(tmp_path / "wiki.valid.tokens", text)
    corpus = open_corpus(path)
    assert (corpus.name, corpus.identity["form"]) == ("wiki.valid", "wikitext")
    assert [document.text for document in corpus] == [
        "= Red lobsters =",
        "A red @-@ tipped one weighs 0 @.@ 7 kg ( 2 lb ) . It does n't bite .",
    ]
    assert read(path, detokenize=True, sentences="punkt") == [
        ("wiki.valid.tokens:2#0", "Red lobsters"),
        ("wiki.valid.tokens:4#0", "A red-tipped one weighs 0.7 kg (2 lb)."),
        ("wiki.valid.tokens:4#1", "It doesn't bite."),
    ]


def test_tagged_tokens_of_an_archive_become_sentences(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "brown.zip", "w") as archive:
        archive.writestr("brown/README", "About the corpus.")
        archive.writestr("brown/cats.txt", "ca01 news")
        archive.writestr("brown/ca02", "\n\n\tNo/at 1/2/cd ./.\n")
        archive.writestr("brown/ca01", "\n\n\tThe/at dog's/nn$ bone/nn ./.\n\n\tIt/pps sat/vbd ./.\n")
    assert read(tmp_path / "brown.zip") == [
        ("brown/ca01:3", "The dog's bone ."),
        ("brown/ca01:5", "It sat ."),
        ("brown/ca02:3", "No 1/2 ."),
    ]


def test_a_token_without_a_tag(tmp_path: Path) -> None:
    path = write(tmp_path / "ca01", "The/at dog/nn\nno tag/nn\n")
    assert message(path, form="tagged") == (
        ", row 1, line 2: a token without a tag, got 'no'; write every token as word/tag"
    )


def test_whole_files_as_documents(tmp_path: Path) -> None:
    write(tmp_path / "b.txt", "Second\nfile.\n")
    write(tmp_path / "a" / "x.txt.gz", gzip.compress(b"Deeper."))
    write(tmp_path / "README.md", "not a document")
    assert read(tmp_path, form="files") == [("b.txt", "Second\nfile."), ("a/x.txt.gz", "Deeper.")]


def test_sentences_by_choice(tmp_path: Path) -> None:
    text = "Mr. Lee saw Dr. Wu. He\nwaved.\n\nA heading\n \nThe end."
    path = write(tmp_path / "a.jsonl", json_lines({"text": text}, {"text": "One."}))
    assert read(path) == [("a.jsonl:1", text), ("a.jsonl:2", "One.")]
    assert read(path, sentences="lines") == [
        ("a.jsonl:1#0", "Mr. Lee saw Dr. Wu. He"),
        ("a.jsonl:1#1", "waved."),
        ("a.jsonl:1#2", "A heading"),
        ("a.jsonl:1#3", "The end."),
        ("a.jsonl:2#0", "One."),
    ]
    assert read(path, sentences="punkt") == [
        ("a.jsonl:1#0", "Mr. Lee saw Dr. Wu."),
        ("a.jsonl:1#1", "He\nwaved."),
        ("a.jsonl:1#2", "A heading"),
        ("a.jsonl:1#3", "The end."),
        ("a.jsonl:2#0", "One."),
    ]


def test_parquet_rows(tmp_path: Path) -> None:
    table = pa.table({"text": [" One.", "", "Three."], "id": [5, 6, 7], "wide": ["x"] * 3})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=2)
    assert read(tmp_path / "rows.parquet") == [("rows.parquet:0", "One."), ("rows.parquet:2", "Three.")]
    assert read(tmp_path / "rows.parquet", id_field="id") == [("5", "One."), ("7", "Three.")]
    assert message(tmp_path / "rows.parquet", text_field="body") == (
        ", field 'body': missing field; the file has text, id, wide"
    )
    assert message(tmp_path / "rows.parquet", text_field="id") == (
        ", row 0, field 'id': wrong type, got 5; give a string"
    )
    damaged = write(tmp_path / "bad.parquet", (tmp_path / "rows.parquet").read_bytes()[:-9])
    assert message(damaged) == ": not a parquet file, or damaged; copy or download it again"


def test_a_corpus_without_a_document_says_what_it_met(tmp_path: Path) -> None:
    path = write(tmp_path / "RC_2011-03.jsonl", json_lines({"id": "a", "body": "[deleted]"}))
    with pytest.raises(SourceError) as caught:
        read(path)
    assert str(caught.value) == (
        "RC_2011-03: no document in the corpus, got '1 deleted'; check its form and field"
    )


def test_folders_of_several_kinds_are_not_guessed_at(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "One.\n")
    write(tmp_path / "b.jsonl", json_lines({"text": "Two."}))
    assert message(tmp_path) == (
        ": files of several kinds: a.txt (text), b.jsonl (jsonl); choose with --corpus-form (Python: form), "
        "or in Python with a pattern"
    )
    assert read(tmp_path, form="jsonl") == [("b.jsonl:1", "Two.")]
    assert read(tmp_path, pattern="*.txt") == [("a.txt:1", "One.")]
    assert message(tmp_path, pattern="*.parquet") == (
        ": no file of a corpus found, got '*.parquet'; check the path and the pattern"
    )


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"form": "line"}, "unknown form of a corpus 'line'; did you mean lines?"),
        ({"sentences": "spacy"}, "unknown sentences 'spacy'; known: none, lines, punkt"),
        ({"on_bad_row": "skip"}, "unknown on_bad_row 'skip'; known: fail, drop"),
        (
            {"text_field": "body"},
            "--corpus-field (Python: text_field): a corpus of form 'lines' has no fields",
        ),
        ({"form": "hub"}, "form 'hub' does not go with"),
    ],
)
def test_choices_that_are_refused(tmp_path: Path, options: dict[str, str], reason: str) -> None:
    path = write(tmp_path / "a.txt", "One.\n")
    with pytest.raises(UsageError) as caught:
        open_corpus(path, **options)  # type: ignore[arg-type]
    assert str(caught.value).startswith(reason)


def test_no_folder_of_a_corpus_is_left_out_in_silence(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "corpus", tmp_path / "elsewhere"
    write(root / "en" / "news" / "2020" / "01" / "15" / "part.txt", "Deep.\n")
    assert read(root) == [("en/news/2020/01/15/part.txt:1", "Deep.")]
    elsewhere.mkdir()
    (root / "books").symlink_to(elsewhere)
    assert len(read(root)) == 1
    write(elsewhere / "book.txt", "Linked.\n")
    told = ": a folder of the corpus would be left out: it is a link or lies too deep"
    assert message(root).startswith(f"/books{told}; give it as a corpus of its own")
    assert read(root / "books") == [("book.txt:1", "Linked.")]
    (root / "books").unlink()
    write(root / "1/2/3/4/5/6/7/8/9/10/part.txt", "Too deep.\n")
    assert message(root).startswith(f"/1/2/3/4/5/6/7/8/9/10{told}")


def test_what_lies_beside_a_corpus_is_told_by_more_than_its_name(tmp_path: Path) -> None:
    for name in ("README", "LICENSE.txt", "cats.txt", "citation.md", "license.json"):
        write(tmp_path / "text" / name, "About the corpus.\n")
    write(tmp_path / "text" / "a.txt", "One.\n")
    assert read(tmp_path / "text") == [("a.txt:1", "One.")]
    for name in ("cats.jsonl", "contents.jsonl.gz", "dogs.jsonl"):
        data = json_lines({"text": name}).encode()
        write(tmp_path / "records" / name, gzip.compress(data) if name.endswith(".gz") else data)
    assert [text for _, text in read(tmp_path / "records")] == [
        "cats.jsonl", "contents.jsonl.gz", "dogs.jsonl",
    ]  # fmt: skip


@pytest.mark.parametrize("location", ["", " "])
def test_an_empty_name_is_not_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, location: str
) -> None:
    write(tmp_path / "a.txt", "One.\n")
    monkeypatch.chdir(tmp_path)
    assert [document.text for document in open_corpus(".")] == ["One."]
    with pytest.raises(UsageError, match="a corpus is named by an empty text"):
        open_corpus(location)


@pytest.mark.corpora
def test_the_real_corpora(data_folder: Path) -> None:
    folder = data_folder / "corpora"
    brown = open_corpus(folder / "nltk_brown.zip")
    first = next(iter(brown))
    # 57,340 is the number of sentences that NLTK's reader gives for the same archive.
    assert sum(1 for _ in brown) == 57_340
    assert first.document_id == "brown/ca01:3"
    assert first.text.startswith("The Fulton County Grand Jury said Friday an investigation of Atlanta's")
    reddit = open_corpus(folder / "RC_2006-02.bz2")
    assert sum(1 for _ in reddit) == 7615
    assert reddit.counts.skipped == {"deleted": 1337, "removed": 143}
    with bz2.open(folder / "RC_2006-02.bz2") as stream:
        assert sum(1 for _ in stream) == 7615 + 1337 + 143
    for part, documents in (("valid", 2461), ("test", 2891)):
        wiki = open_corpus(folder / f"wiki.{part}.tokens.txt.gz")
        assert (wiki.identity["form"], sum(1 for _ in wiki)) == ("wikitext", documents)
