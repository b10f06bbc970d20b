"""The GeoQuery reader: XML, Geobase, FunQL made flat, and masked places."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from benchwright.builders.sources.files import InputFile
from benchwright.builders.sources.geobase import read_geobase
from benchwright.builders.sources.geoquery import (
    GeoQuerySource,
    mask_entities,
    parser_source,
    parser_target,
    read_geoquery,
)
from benchwright.errors import SourceError, SourceErrors
from benchwright.faults import FaultLog
from benchwright.text.funql import parse_funql

GEOBASE = """state('veldmark','vm','orrin',2.31e+6,41.8e+3,1,'tamsel','orrin','lower brae','quill harbor').
state('new veldmark', 'nv','pell',874000,28500,2,'pell','tamsel','saltash','dunmere').
city('veldmark','vm','springfield',51200).
river('orrin',810,['veldmark','new veldmark']).
border('veldmark','vm',['new veldmark']).

mountain('veldmark','vm','mount kerrigan',3120).
highlow('veldmark','vm','mount kerrigan',3120,'quill marsh',0).
"""


def _example(number: object, question: str | None, query: str | None, more: str = "") -> str:
    nl = "" if question is None else f"<nl lang='en'>\n{question}\n</nl>\n"
    mrl = "" if query is None else f"<mrl lang='geo-funql'>\n{query}\n</mrl>\n"
    return f"<example id='{number}'>\n{nl}{mrl}{more}</example>\n"


FIRST = _example(0, "Which cities are in Veldmark ?", "answer(city(loc_2(stateid('veldmark'))))")
SECOND = _example(1, "Which rivers are there ?", "answer(river(all))")


def _corpus(folder: Path, *examples: str, head: str = "", geobase: str | None = GEOBASE) -> Path:
    text = f"<?xml version='1.0' encoding='UTF-8'?>\n{head}<examples>\n{''.join(examples)}</examples>\n"
    (folder / "geography-multilingual.xml").write_text(text, encoding="utf-8")
    if geobase is not None:
        (folder / "geobase").write_text(geobase)
    return folder


def _rows(source: GeoQuerySource) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = source.examples.to_pylist()
    return rows


def test_a_row_keeps_what_was_published_and_has_what_a_parser_reads(tmp_path: Path) -> None:
    source = read_geoquery(_corpus(tmp_path, FIRST, SECOND), FaultLog())
    assert _rows(source) == [
        {
            "uid": "geoquery:all:0",
            "question": "Which cities are in Veldmark ?",
            "query": "answer(city(loc_2(stateid('veldmark'))))",
            "source": "which cities are in m0",
            "target": "answer ( intersection ( city , loc_2 ( m0 ) ) )",
            "entities": [{"placeholder": "m0", "value": "stateid('veldmark')", "type": "state"}],
            "source_split": "all",
            "source_index": 0,
        },
        {
            "uid": "geoquery:all:1",
            "question": "Which rivers are there ?",
            "query": "answer(river(all))",
            "source": "which rivers are there",
            "target": "answer ( river )",
            "entities": [],
            "source_split": "all",
            "source_index": 1,
        },
    ]
    assert [(file.name, file.rows) for file in source.files] == [
        ("geography-multilingual.xml", 2),
        ("geobase", 6),
    ]
    assert source.read == 2
    assert source.notes == (
        "published splits are missing: nqg_splits/standard.json, nqg_splits/template_1.json, "
        "nqg_splits/tmcd_1.json, nqg_splits/length_1.json",
    )


def test_only_the_english_question_and_the_funql_program_are_read(tmp_path: Path) -> None:
    others = (
        "<nl lang='de'>welche</nl>\n<mrl lang='geo-prolog'>answer(A,b)</mrl>\n<nl>none</nl>\n"
        "<nl lang='en'>a second one</nl>\n<mrl-parse><node id='0'> *n:Query </node></mrl-parse>\n"
    )
    text = _example(0, "Which &lt;rivers&gt; are there ?", "answer(river(all))", others)
    (row,) = _rows(read_geoquery(_corpus(tmp_path, text), FaultLog()))
    assert (row["question"], row["query"]) == ("Which <rivers> are there ?", "answer(river(all))")


def test_rows_stand_in_the_order_of_their_ids_and_later_ids_are_filtered(tmp_path: Path) -> None:
    late = [_example(number, "Which rivers ?", "answer(river(all))") for number in (880, 891)]
    faults = FaultLog()
    source = read_geoquery(_corpus(tmp_path, SECOND, *late, FIRST), faults)
    assert source.examples.column("source_index").to_pylist() == [0, 1]
    assert faults.filtered == {"beyond the 880 examples": 2}
    assert source.read == 4


def test_published_splits_go_by_id_whatever_the_order_and_dropped_rows(tmp_path: Path) -> None:
    corpus = _corpus(tmp_path, _example(2, "Which lakes ?", "answer(pond(all))"), SECOND, FIRST)
    (tmp_path / "nqg_splits").mkdir()
    (tmp_path / "nqg_splits" / "tmcd_1.json").write_text('{"train": [2, 1], "test": [0]}')
    source = read_geoquery(corpus, FaultLog("drop"))
    assert source.published_splits["tmcd_1"].tolist() == ["test", "train"]
    assert [file.name for file in source.files][2:] == ["nqg_splits/tmcd_1.json"]


def test_compressed_files_and_the_other_name_of_geobase_give_the_same_rows(tmp_path: Path) -> None:
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    plain.mkdir()
    packed.mkdir()
    _corpus(plain, FIRST, SECOND)
    xml = (plain / "geography-multilingual.xml").read_bytes()
    (packed / "geography-multilingual.xml.gz").write_bytes(gzip.compress(xml))
    (packed / "geography-db.txt").write_text(GEOBASE)
    assert read_geoquery(plain, FaultLog()).examples == read_geoquery(packed, FaultLog()).examples


@pytest.mark.parametrize(
    ("example", "message"),
    [
        (_example(1, None, "answer(state(all))"), "row 1, line 11, field 'nl': missing field"),
        (_example(1, "Which ?", None), "row 1, line 11, field 'mrl': missing field"),
        (_example(1, " ", "answer(state(all))"), "field 'nl': empty text"),
        (_example("one", "Which ?", "answer(state(all))"), "field 'id': id is no number, got 'one'"),
        (_example(-1, "Which ?", "answer(state(all))"), "field 'id': id is no number, got '-1'"),
        (_example(0, "Which ?", "answer(state(all))"), "field 'id': id stands twice, got '0'"),
        ("<example><nl lang='en'>a</nl></example>", "field 'id': missing field"),
        (
            _example(1, "Which ?", "answer(state(all)"),
            "no FunQL of GeoQuery, got 'answer(state(all)'; repair it: a parenthesis",
        ),
        (_example(1, "Which ?", "answer(pond(all))"), "repair it: no function 'pond' with 1 arguments"),
        (_example(1, "Which ?", "answer(state(all),b)"), "no function 'answer' with 2 arguments"),
        (_example(1, "Which ?", "answer(exclude(state(all)))"), "no function 'exclude' with 1 arguments"),
        (_example(1, "Which ?", "answer(all)"), "no function 'all' with 0 arguments"),
        (_example(1, "Which ?", "answer(most(state(all)))"), "most has 'all' with 0 arguments"),
        (_example(1, "Which ?", "largest(" * 3_000 + "0" + ")" * 3_000), "repair it: nested too deeply"),
    ],
)
def test_an_example_that_cannot_be_used_is_a_fault_with_its_place(
    tmp_path: Path, example: str, message: str
) -> None:
    corpus = _corpus(tmp_path, FIRST, example)
    with pytest.raises(SourceErrors) as error:
        read_geoquery(corpus, FaultLog())
    assert message in str(error.value).splitlines()[0]
    faults = FaultLog("drop")
    source = read_geoquery(corpus, faults)
    assert (source.examples.num_rows, source.read, faults.dropped.total()) == (1, 2, 1)


ENTITY_BOMB = '<!DOCTYPE examples [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>\n'


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (ENTITY_BOMB, "line 2: the file declares XML entities, got 'a'"),
        ('<!DOCTYPE examples [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n', "the file declares XML entities"),
        ('<!DOCTYPE examples [<!ENTITY % p SYSTEM "http://host/x.dtd">%p;]>\n', "declares XML entities"),
        ('<!DOCTYPE examples SYSTEM "http://host/x.dtd">\n', "the file refers to another one"),
        ('<!DOCTYPE examples PUBLIC "-//x" "x.dtd">\n', "the file refers to another one"),
    ],
)
def test_entities_are_refused_before_any_is_expanded(tmp_path: Path, head: str, message: str) -> None:
    corpus = _corpus(tmp_path, _example(0, "Which &b; &x; ?", "answer(state(all))"), head=head)
    with pytest.raises(SourceError, match=message) as error:
        read_geoquery(corpus, FaultLog("drop"))
    assert "passwd" not in str(error.value)


def test_a_document_type_of_elements_is_read(tmp_path: Path) -> None:
    head = "<!DOCTYPE examples [\n<!ELEMENT examples (example*)>\n<!ELEMENT nl (#PCDATA)>\n]>\n"
    assert read_geoquery(_corpus(tmp_path, FIRST, head=head), FaultLog()).examples.num_rows == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("<examples>\n<example id='0'>\n", "line 3: the file ends in the middle of a record"),
        ("<examples>\n<example id='0'></examples>\n", "line 2: not valid XML (mismatched tag)"),
        ("no XML\n", "line 1: not valid XML (syntax error)"),
        ("<examples>&who;</examples>\n", "line 1: not valid XML (undefined entity)"),
        ("<examples></examples>\n", "no examples; give GeoQuery's XML file"),
        ("\x1f\x8b", "the file is gzip-compressed; add .gz to its name"),
        ("version https://git-lfs.github.com/spec/v1\n", "the file is a Git LFS pointer"),
    ],
)
def test_a_file_that_is_no_corpus_is_refused(tmp_path: Path, text: str, message: str) -> None:
    corpus = _corpus(tmp_path)
    (corpus / "geography-multilingual.xml").write_text(text, encoding="latin-1")
    with pytest.raises(SourceError) as error:
        read_geoquery(corpus, FaultLog("drop"))
    assert message in str(error.value)
    assert "geography-multilingual.xml" in str(error.value)


@pytest.mark.parametrize("name", ["geography-multilingual.xml", "geobase"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    corpus = _corpus(tmp_path, FIRST)
    (corpus / name).unlink()
    with pytest.raises(SourceError, match=rf"no {name} \(plain or \.gz\); give the folder that holds"):
        read_geoquery(corpus, FaultLog())


def _geobase(folder: Path, text: str) -> InputFile:
    (folder / "geobase").write_text(text)
    return InputFile(folder / "geobase", "geobase")


def test_places_are_those_of_the_facts_in_their_order(tmp_path: Path) -> None:
    base = read_geobase(_geobase(tmp_path, GEOBASE))
    places = {place.identifier: place.aliases for place in base.places}
    assert base.facts == 6
    assert list(places)[:3] == ["stateid('veldmark')", "cityid('orrin',_)", "cityid('orrin','vm')"]
    assert places["cityid('tamsel','nv')"] == ("tamsel new veldmark", "tamsel nv")
    assert places["cityid('springfield','sd')"] == ("springfield south dakota", "springfield sd")
    assert places["riverid('orrin')"] == ("orrin",)
    assert [name for name in places if name.startswith("placeid")] == [
        "placeid('mount kerrigan')",
        "placeid('quill marsh')",
    ]
    assert "us" in places["countryid('usa')"]
    assert {place.kind for place in base.places} == {"state", "city", "river", "place", "country"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("river(810,[]).\n", "line 1: a fact about a river with too few quoted names, got 'river"),
        ("\nstate('a','b','c',1,2,3,'d').\n", "line 2: a fact about a state with too few quoted names"),
        ("border('a','b',['c']).\n", "no facts about places; give GeoQuery's file geobase"),
        ("", "the file is empty"),
    ],
)
def test_facts_without_their_names_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SourceError) as error:
        read_geobase(_geobase(tmp_path, text))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which cities are in Veldmark ?", "which cities are in veldmark"),
        ("Name them.", "name them"),
        ("What is it??", "what is it"),
        ("What 's the state 's capital ?", "whats the states capital"),
    ],
)
def test_what_a_parser_reads(question: str, expected: str) -> None:
    assert parser_source(question) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("answer(state(all))", "answer(state)"),
        ("answer(city(loc_2(stateid('new veldmark'))))",
         "answer(intersection(city,loc_2(stateid(new veldmark))))"),
        ("answer(population_1(cityid('pell', _)))", "answer(population_1(cityid(pell,_)))"),
        ("answer(cityid('pell' , 'nv'))", "answer(cityid(pell,nv))"),
        ("answer(longest(river(all)))", "answer(longest(river))"),
        ("answer(smallest_one(area_1(state(all))))", "answer(smallest_one(area_1,state))"),
        ("answer(fewest(state(loc_1(city(all)))))", "answer(fewest(state,loc_1,city))"),
        ("answer(most(river(traverse_2(state(next_to_2(stateid('a')))))))",
         "answer(most(river,traverse_2,intersection(state,next_to_2(stateid(a)))))"),
        ("answer(exclude(state(all),next_to_2(stateid('a'))))",
         "answer(exclude(state,next_to_2(stateid(a))))"),
        ("answer(major(city(loc_2(countryid('usa')))))",
         "answer(intersection(major,intersection(city,loc_2(countryid(usa)))))"),
        ("answer(place(elevation_2(0)))", "answer(intersection(place,elevation_2(0)))"),
    ],
)  # fmt: skip
def test_what_a_parser_writes(query: str, expected: str) -> None:
    assert parser_target(query) == expected
    parse_funql(expected)


@pytest.mark.parametrize(
    ("question", "program", "masked"),
    [
        # Longest identifier first, whatever comes first in the question or the program.
        ("from veldmark to new veldmark", "f(stateid(veldmark),stateid(new veldmark))",
         ("from m1 to m0", "f(m1,m0)", ["stateid('new veldmark')", "stateid('veldmark')"])),
        # Equally long identifiers: the order of the facts.
        ("tamsel and orrin", "f(cityid(tamsel,_),cityid(orrin,_))",
         ("m0 and m1", "f(m0,m1)", ["cityid('tamsel',_)", "cityid('orrin',_)"])),
        # The longest name of a city is looked for first.
        ("how big is orrin veldmark in orrin vm", "f(cityid(orrin,vm))",
         ("how big is m0 in orrin vm", "f(m0)", ["cityid('orrin','vm')"])),
        # Whole words, the first of them; every place in the program.
        ("orrins near the orrin and the orrin", "f(riverid(orrin),g(riverid(orrin)))",
         ("orrins near the m0 and the orrin", "f(m0,g(m0))", ["riverid('orrin')"])),
        # What the question does not name stays.
        ("how large is it", "f(stateid(veldmark))", ("how large is it", "f(stateid(veldmark))", [])),
        ("which country", "f(countryid(usa))", ("which m0", "f(m0)", ["countryid('usa')"])),
        ("veldmark new veldmark pell", "f(stateid(veldmark),stateid(new veldmark),cityid(pell,_))",
         ("m1 m0 m2", "f(m1,m0,m2)", ["stateid('new veldmark')", "stateid('veldmark')", "cityid('pell',_)"])),
    ],
)  # fmt: skip
def test_masked_places(
    tmp_path: Path, question: str, program: str, masked: tuple[str, str, list[str]]
) -> None:
    places = {place.unquoted: place for place in read_geobase(_geobase(tmp_path, GEOBASE)).places}
    source, target, entities = mask_entities(question, program, places)
    assert (source, target, [entity["value"] for entity in entities]) == masked
    assert [entity["placeholder"] for entity in entities] == [f"m{number}" for number in range(len(entities))]


@pytest.fixture(scope="module")
def published(data_folder: Path) -> GeoQuerySource:
    return read_geoquery(data_folder / "geoquery", FaultLog())


@pytest.mark.corpora
def test_all_880_sources_and_targets_equal_those_of_the_published_code(
    published: GeoQuerySource, oracle_folder: Path, data_folder: Path
) -> None:
    pairs = [(row["source"], row["target"]) for row in _rows(published)]
    lines = (oracle_folder / "tmcd_geoquery" / "dataset.jsonl").read_text(encoding="utf-8").splitlines()
    assert pairs == [(row["source"], row["target"]) for row in map(json.loads, lines)]
    table = (data_folder / "geoquery" / "geoquery_nqg_880.tsv").read_text(encoding="utf-8").splitlines()
    assert pairs == [tuple(line.split("\t")) for line in table]
    assert published.examples.column("source_index").to_pylist() == list(range(880))


@pytest.mark.corpora
def test_masked_places_put_back_give_the_published_programs(published: GeoQuerySource) -> None:
    for row in _rows(published):
        target = row["target"].replace(" ", "")
        for entity in row["entities"]:
            target = target.replace(entity["placeholder"], entity["value"])
        assert target == parser_target_with_quotes(row["query"])


def parser_target_with_quotes(query: str) -> str:
    """`parser_target`, keeping quotation marks: they are hidden from it as letters."""
    hidden = query.replace("'", "Q").replace(" ,", ",").replace(", ", ",")
    return parser_target(hidden).replace("Q", "'")


@pytest.mark.corpora
def test_the_published_corpus_has_880_rows_and_four_splits(
    published: GeoQuerySource, data_folder: Path
) -> None:
    assert (published.read, published.notes) == (892, ())
    for name, sides in published.published_splits.items():
        content = json.loads((data_folder / "geoquery" / "nqg_splits" / f"{name}.json").read_text())
        for split, numbers in content.items():
            assert {sides[number] for number in numbers} == {split}
        assert len(content["train"]) + len(content["test"]) == len(sides) == 880
    assert list(published.published_splits) == ["standard", "template_1", "tmcd_1", "length_1"]
