"""Winograd-style test sets: every published form on small files of our own, and the real ones."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from recast_corpora import write

from benchwright.builders.sources.winograd import (
    DATASETS,
    INSTANCES_SCHEMA,
    WinogradSource,
    find_winograd,
    read_winograd,
)
from benchwright.builders.sources.winograd_records import blanks_of_pair, twin_groups
from benchwright.errors import SourceError, SourceErrors, UsageError
from benchwright.faults import FaultLog

HEADER = "index\tsentence1\tsentence2\tlabel\tcandidate0\tcandidate1\n"


def rows(source: WinogradSource, *columns: str) -> list[Any]:
    assert source.instances.schema == INSTANCES_SCHEMA
    found = source.instances.to_pylist()
    for row in found:
        assert row["text"][row["pronoun_loc"] :].startswith(row["pronoun"])
    assert len({row["uid"] for row in found}) == len(found)
    return [tuple(row[name] for name in columns) if len(columns) > 1 else row[columns[0]] for row in found]


def read(root: Path, **options: Any) -> WinogradSource:
    return read_winograd(root, FaultLog(), **options)


def fault(root: Path, **options: Any) -> str:
    with pytest.raises(SourceErrors) as caught:
        read(root, **options)
    dropping = FaultLog("drop")
    source = read_winograd(root, dropping, **options)
    assert source.read == source.instances.num_rows + sum(dropping.dropped.values())
    return str(caught.value).splitlines()[0].removeprefix(str(root))


def schema(before: str, pronoun: str, after: str, answers: tuple[str, ...], correct: str) -> str:
    listed = "".join(f"<answer> {answer} </answer>" for answer in answers)
    return (
        f"<schema><text><txt1>\n{before} </txt1><pron> {pronoun}  </pron><txt2> {after}\n</txt2></text>"
        f"<quote><pron>{pronoun}</pron></quote><answers>{listed}</answers>"
        f"<correctAnswer>{correct}</correctAnswer></schema>"
    )


def write_xml(folder: Path, name: str, *schemas: str) -> Path:
    text = f'<?xml version="1.0" encoding="ISO-8859-1"?>\n<collection>{"".join(schemas)}</collection>'
    return write(folder, name, text.encode("latin-1"))


def test_xml_of_the_collection(tmp_path: Path) -> None:
    names = ("José", "the  tall\nguard")
    path = write_xml(
        tmp_path,
        "WSCollection.xml",
        schema("José  met \n the tall guard because", "he", "was early.", names, " A  "),
        schema("José met the tall guard because", "he", "was on duty.", ("The tall guard", "José"), " A. "),
        schema("Ann fed the cat. At noon,", "it", ", too, slept.", ("the cat", "noon"), "B."),
    )
    source = read(path)
    assert rows(source, "uid", "text", "pronoun_loc", "options", "label", "pair_id") == [
        (
            "wsc:test:0",
            "José met the tall guard because he was early.",
            32,
            ["José", "the tall guard"],
            0,
            "wsc:test:0",
        ),
        (
            "wsc:test:1",
            "José met the tall guard because he was on duty.",
            32,
            ["The tall guard", "José"],
            0,
            "wsc:test:0",
        ),
        (
            "wsc:test:2",
            "Ann fed the cat. At noon, it, too, slept.",
            26,
            ["the cat", "noon"],
            1,
            "wsc:test:2",
        ),
    ]
    assert rows(source, "published_text") == [None] * 3
    assert (source.read, [file.rows for file in source.files]) == (3, [3])


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (schema("Al", "he", "ran.", ("Al", "Bo"), "C"), "unknown answer, got 'C'; known answers: A, B"),
        (schema("Al", " ", "ran.", ("Al", "Bo"), "A"), "field 'pronoun': empty pronoun, got ''"),
        (schema("Al", "he", "ran.", ("Al", " "), "A"), "empty option, got ''"),
        (schema("Al", "he", "ran.", ("Al", "Bo", "Cy"), "A"), "wrong number of options, got 3; give 2"),
        ("<schema><text></text></schema>", "field 'text/txt1': missing field"),
    ],
)
def test_schemas_that_cannot_be_used(tmp_path: Path, bad: str, reason: str) -> None:
    path = write_xml(tmp_path, "WSCollection.xml", schema("Al", "he", "ran.", ("Al", "Bo"), "A"), bad)
    assert fault(path).startswith((", row 1, line 4, ", ", row 1, line 4: "))
    assert reason in fault(path)


def test_pdp_has_more_options_and_no_twins(tmp_path: Path) -> None:
    names = ("Dad", "the man", "Bo")
    two = [schema("Dad paid the man. Bo saw", word, "leave.", names, "B") for word in ("him", "it")]
    source = read(write_xml(tmp_path, "pdp-test.xml", *two))
    assert rows(source, "uid", "options", "label", "pair_id") == [
        ("pdp:test:0", list(names), 1, "pdp:test:0"),
        ("pdp:test:1", list(names), 1, "pdp:test:1"),
    ]


def pair(index: int, after: str, right: int, between: str = " as ") -> str:
    """The two rows of an instance about Ian and Dennis."""
    names = ("Ian", "Dennis")
    return "".join(
        f"{index}\tIan fed Dennis{between}{name}\t {after}\t{int(number == right)}\tIan\tDennis\n"
        for number, name in enumerate(names)
    )


PAIRS = HEADER + pair(0, "was ill.", 1) + pair(1, "was kind.", 0)


def test_pairs_of_rows_with_a_candidate_in_place(tmp_path: Path) -> None:
    source = read(write(tmp_path, "dpr/test.tsv", PAIRS))
    assert rows(source, "uid", "text", "pronoun", "pronoun_loc", "label", "pair_id", "published_text") == [
        (
            "dpr:test:0",
            "Ian fed Dennis as _ was ill.",
            "_",
            18,
            1,
            "dpr:test:0",
            "Ian fed Dennis as Ian was ill.",
        ),
        (
            "dpr:test:1",
            "Ian fed Dennis as _ was kind.",
            "_",
            18,
            0,
            "dpr:test:0",
            "Ian fed Dennis as Ian was kind.",
        ),
    ]
    assert rows(source, "options") == [["Ian", "Dennis"]] * 2


def test_knowref_has_no_space_between_its_parts_and_no_labels(tmp_path: Path) -> None:
    text = HEADER + "0\tAl sought Bo 's help , but Al\tran .\t0\tAl\tBo\n"
    text += "0\tAl sought Bo\t's help , but Bo ran .\t0\tAl\tBo\n"
    source = read(write(tmp_path, "knowref/data/test.tsv", text))
    assert rows(source, "text", "label", "published_text") == [
        ("Al sought Bo 's help , but _ ran .", None, "Al sought Bo 's help , but Alran .")
    ]
    assert source.notes == ("knowref test has no labels: test.tsv",)


def test_a_pronoun_that_was_replaced_twice_leaves_two_blanks() -> None:
    found = blanks_of_pair("Rose knew Rose could.", "Rose Ann knew Rose Ann could.", ("Rose", "Rose Ann"))
    assert found == ("_ knew _ could.", [0, 7])
    assert blanks_of_pair("The cat sat.", "the dog sat.", ("the cat", "The dog")) == ("_ sat.", [0])
    assert blanks_of_pair("Al sat.", "Bo sang.", ("Al", "Bo")) is None
    assert blanks_of_pair("Al sat.", "Al sat.", ("Al", "Bo")) is None


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("0\tIan fed Dennis as Dennis\t was ill.\t1", "9\tIan\t was ill.\t1", "a row without its second one"),
        ("ill.\t1", "ill.\t0", "not one right candidate, got '0, 0'"),
        ("ill.\t1\tIan", "ill.\t1\tJan", "candidates differ between the two rows, got 'Jan'"),
        (
            "Dennis as Dennis\t was ill",
            "Dennis as Cy\t was ill",
            "the two rows are not one text with a candidate",
        ),
        ("\t was ill.\t1\tIan\tDennis", "", "missing field"),
    ],
)
def test_pairs_that_cannot_be_used(tmp_path: Path, old: str, new: str, reason: str) -> None:
    assert old in PAIRS
    assert reason in fault(write(tmp_path, "dpr/test.tsv", PAIRS.replace(old, new)))


def test_blanks_of_winogrande_and_their_twins(tmp_path: Path) -> None:
    base = {"option1": "Sarah", "option2": "Maria"}
    items = [
        base | {"qID": "A-2", "sentence": " Sarah met Maria; _ sat. ", "answer": "2"},
        base | {"qID": "A-1", "sentence": "Sarah met Maria; _ sang.", "answer": "1"},
        base | {"qID": "B-1", "sentence": "Sarah  left _ alone.", "answer": ""},
    ]
    write(tmp_path, "winogrande_1.1/train_xs.jsonl", items[:1])
    write(tmp_path, "winogrande_1.1/train_s.jsonl", items)
    source = read(tmp_path)
    assert rows(source, "uid", "text", "pronoun_loc", "label", "pair_id") == [
        ("winogrande:train:A-2", "Sarah met Maria; _ sat.", 17, 1, "winogrande:train:A-2"),
        ("winogrande:train:A-1", "Sarah met Maria; _ sang.", 17, 0, "winogrande:train:A-2"),
        ("winogrande:train:B-1", "Sarah  left _ alone.", 12, None, "winogrande:train:B-1"),
    ]
    assert source.notes == ("not read, another copy: winogrande_1.1/train_xs.jsonl",)


BLOCKS = "The bee left the rose as it had pollen; it hummed.\nit\nThe bee,the rose\nThe Rose\n\n"


def test_blocks_of_dpr_and_masked_ones(tmp_path: Path) -> None:
    write(tmp_path, "train.c.txt", BLOCKS + "When it rained, It stayed.\r\nIt\r\nrain,cat\r\ncat\r\n")
    write(tmp_path, "wsc273.txt", "It met [MASK]  often. \n[MASK]\nit ,The cat \nThe cat \n")
    source = read(tmp_path)
    assert rows(source, "uid", "text", "pronoun", "pronoun_loc", "options", "label") == [
        ("wsc273:test:0", "It met _  often.", "_", 7, ["it", "The cat"], 1),
        (
            "dpr:train:0",
            "The bee left the rose as it had pollen; it hummed.",
            "it",
            25,
            ["The bee", "the rose"],
            1,
        ),
        ("dpr:train:1", "When it rained, It stayed.", "It", 16, ["rain", "cat"], 1),
    ]


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("Al ran.\nhe\nAl,Bo\nAl\n", "the pronoun is not in the sentence, got 'he'"),
        ("Al said he ran.\nhe\nAl,Bo\nCy\n", "unknown answer, got 'Cy'; known answers: Al, Bo"),
        ("Al said he ran.\nhe\nAl,Bo\n", "not four lines, got 3"),
        ("Al said he ran.\nhe\nAl\nAl\n", "wrong number of options, got 1; give 2"),
    ],
)
def test_blocks_that_cannot_be_used(tmp_path: Path, block: str, reason: str) -> None:
    path = write(tmp_path, "train.c.txt", BLOCKS + block)
    assert fault(path).startswith((", row 1, line 6, ", ", row 1, line 6: "))
    assert reason in fault(path)


def span(text: str, candidate: tuple[str, int], pronoun: tuple[str, int], **fields: Any) -> dict[str, Any]:
    target = dict(
        zip(("span1_text", "span1_index", "span2_text", "span2_index"), candidate + pronoun, strict=True)
    )
    return {"text": text, "target": target} | fields


def test_judged_candidates_by_words_and_by_characters(tmp_path: Path) -> None:
    write(
        tmp_path,
        "WSC/val.jsonl",
        [
            span('Mark told Pete lies. "He knew.', ("Mark", 0), ("He", 4), label=False, idx=0),
            span('Mark told Pete lies. "He knew.', ("Pete", 2), ("He", 4), label=True, idx=1),
        ],
    )
    write(
        tmp_path,
        "cluewsc2020_dev.jsonl",
        [span("小王打了老李，他哭了。", ("老李", 4), ("他", 7), label="true", idx=3)],
    )
    source = read(tmp_path)
    assert rows(source, "uid", "pronoun", "pronoun_loc", "options", "label", "pair_id") == [
        ("superglue_wsc:dev:0", "He", 22, ["Mark"], 0, "superglue_wsc:dev:0"),
        ("superglue_wsc:dev:1", "He", 22, ["Pete"], 1, "superglue_wsc:dev:0"),
        ("cluewsc2020:dev:3", "他", 7, ["老李"], 1, "cluewsc2020:dev:3"),
    ]


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (
            span("小王哭了，他。", ("小王", 0), ("他", 2), label="true"),
            "the pronoun does not stand at its index, got 2",
        ),
        (span("小王哭了，他。", ("小王", 0), ("他", 5), label="perhaps"), "unknown label, got 'perhaps'"),
        (span("小王哭了，他。", ("", 0), ("他", 5), label="true"), "'target.span1_text': empty text"),
        (
            {"text": "小王哭了，他。", "target": None, "label": "true"},
            "field 'target.span1_text': missing field",
        ),
    ],
)
def test_judgements_that_cannot_be_used(tmp_path: Path, item: dict[str, Any], reason: str) -> None:
    good = span("小王打了老李，他哭了。", ("老李", 4), ("他", 7), label="true")
    assert reason in fault(write(tmp_path, "cluewsc2020_dev.jsonl", [good, good, item]))


def test_knowref_with_its_pronoun_in_brackets(tmp_path: Path) -> None:
    item = {"candidate0": "Pearl", "candidate1": "Martha", "correct_candidate": "Martha"}
    text = "Pearl is painting [her] , says Martha [sic] ."
    path = tmp_path / "knowref" / "val.json"
    write(tmp_path, "knowref/val.json", json.dumps([item | {"sentence_with_pronoun": text}]))
    source = read(path)
    assert rows(source, "uid", "text", "pronoun", "pronoun_loc", "label") == [
        ("knowref:dev:0", "Pearl is painting her , says Martha [sic] .", "her", 18, 1)
    ]
    write(tmp_path, "knowref/val.json", json.dumps([item | {"sentence_with_pronoun": "Pearl saw her ."}]))
    assert "not one pronoun in brackets" in fault(path)


def test_winogender_sentences(tmp_path: Path) -> None:
    name = "technician.customer.{}.male.txt\tThe technician told the customer that he {}.\n"
    text = "sentid\tsentence\n" + name.format(1, "could pay with cash") + name.format(0, "had repaired it")
    text += "technician.someone.1.neutral.txt\tThe technician told someone that they could pay.\n"
    source = read(write(tmp_path, "all_sentences.tsv", text))
    assert rows(source, "uid", "pronoun", "pronoun_loc", "options", "label", "pair_id") == [
        (
            "winogender:test:technician.customer.1.male",
            "he",
            38,
            ["technician", "customer"],
            1,
            "winogender:test:technician.customer.1.male",
        ),
        (
            "winogender:test:technician.customer.0.male",
            "he",
            38,
            ["technician", "customer"],
            0,
            "winogender:test:technician.customer.1.male",
        ),
        (
            "winogender:test:technician.someone.1.neutral",
            "they",
            33,
            ["technician", "someone"],
            1,
            "winogender:test:technician.someone.1.neutral",
        ),
    ]
    bad = write(
        tmp_path, "all_sentences.tsv", "sentid\tsentence\na.b.1.male.txt\tHe said he ran.\n" + text[17:]
    )
    assert "not one pronoun of the gender" in fault(bad)


def test_wsc273_takes_the_pronoun_from_the_collection_and_the_published_text_from_the_rows(
    tmp_path: Path,
) -> None:
    names = ("Ian", "Dennis")
    write_xml(
        tmp_path,
        "WSCollection.xml",
        schema("Ian fed Dennis as", "he", "was ill.", names, "B"),
        schema("Ian fed Dennis as", "he", "was kind.", names, "A"),
    )
    write(tmp_path, "wsc273/test.tsv", PAIRS)
    items = [{"qID": "wsc-1", "sentence": "_ ran.", "option1": "Ian", "option2": "Dennis", "answer": "1"}]
    write(tmp_path, "wsc273/wsc-273.jsonl", items)
    assert [(found.dataset, found.form) for found in find_winograd(tmp_path)] == [
        ("wsc", "xml"),
        ("wsc273", "xml"),
        ("wsc273", "blank"),
        ("wsc273", "pair"),
    ]
    source = read(tmp_path, dataset="wsc273")
    assert rows(source, "uid", "text", "published_text") == [
        ("wsc273:test:0", "Ian fed Dennis as he was ill.", "Ian fed Dennis as Ian was ill."),
        ("wsc273:test:1", "Ian fed Dennis as he was kind.", "Ian fed Dennis as Ian was kind."),
    ]
    assert source.notes == ("not read, another copy: wsc273/wsc-273.jsonl",)
    write(tmp_path, "wsc273/test.tsv", HEADER + pair(0, "was ill.", 1))
    fewer = read(tmp_path, dataset="wsc273")
    assert rows(fewer, "published_text") == [None, None]
    assert fewer.notes[0].startswith("published texts not taken, 1 instance where WSCollection.xml has 2")


def test_archives_and_files_whose_path_says_nothing(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "sets.zip", "w") as archive:
        archive.writestr("release/dpr/test.tsv", PAIRS)
        archive.writestr("release/notes.txt", "Some words.\nNo test set.\n")
    assert rows(read(tmp_path / "sets.zip"), "uid") == ["dpr:test:0", "dpr:test:1"]
    path = write(tmp_path, "rows.tsv", PAIRS)
    with pytest.raises(SourceError, match="which test set this is cannot be told; name the file"):
        read(path)
    assert rows(read(path, dataset="knowref", form="pair"), "uid") == ["knowref:test:0", "knowref:test:1"]


def test_what_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "notes.txt", "Some words.\n")
    with pytest.raises(SourceError, match="no Winograd-style test set found"):
        find_winograd(tmp_path)
    with pytest.raises(UsageError, match="'wsc274'; did you mean wsc273"):
        read(tmp_path, dataset="wsc274")
    with pytest.raises(UsageError, match="form is for a single file"):
        read(tmp_path, form="xml")
    write(tmp_path, "dpr/test.tsv", PAIRS)
    with pytest.raises(SourceError, match="no such test set, got 'pdp'; there are: dpr"):
        read(tmp_path, dataset="pdp")


def test_twins_follow_each_other_and_are_alike() -> None:
    names = ["Bob", "Charlie's"]
    texts = ["Bob paid for Charlie. He is kind.", "Bob paid for Charlie. He is glad.", "He met Bob."]
    assert list(twin_groups((text, names) for text in texts)) == [0, 0, 2]
    assert list(twin_groups([(texts[0], names), (texts[1], ["Bob", "Al"])])) == [0, 1]
    assert list(twin_groups([])) == []


@pytest.mark.corpora
def test_the_real_test_sets(data_folder: Path) -> None:
    source = read(data_folder / "winograd")
    names = rows(source, "source_dataset", "source_split")
    assert Counter(names) == {
        ("wsc", "test"): 285,
        ("wsc273", "test"): 273,
        ("dpr", "train"): 1322,
        ("dpr", "test"): 564,
        ("winogrande", "train"): 640,
        ("winogrande", "dev"): 1267,
        ("knowref", "test"): 1269,
        ("cluewsc2020", "train"): 1244,
        ("cluewsc2020", "dev"): 304,
    }
    assert [name for name, _ in dict.fromkeys(names)] == sorted(
        [name for name, _ in dict.fromkeys(names)], key=DATASETS.index
    )
    assert source.read == len(names)
    pairs = Counter(rows(source, "pair_id"))
    assert {pairs[pair] for pair in pairs if pair.startswith("dpr")} == {2}
    for dataset, _, label in set(rows(source, "source_dataset", "source_split", "label")):
        assert (label is None) == (dataset == "knowref")


@pytest.mark.corpora
def test_the_four_forms_of_wsc273_agree(data_folder: Path) -> None:
    folder = data_folder / "winograd"
    forms = {
        "xml": "WSCollection.xml",
        "masked": "wsc273.txt",
        "blank": "knowref60k_repo/wsc273/wsc-273.jsonl",
        "pair": "knowref60k_repo/wsc273/test.tsv",
    }
    read_as = {
        form: read(folder / name, dataset="wsc273", form=form).instances.to_pylist()
        for form, name in forms.items()
    }
    assert {len(found) for found in read_as.values()} == {273}
    # In the text form the right candidate always comes first; elsewhere candidates keep their order.
    assert {row["label"] for row in read_as["masked"]} == {0}
    assert [row["label"] for row in read_as["blank"]] == [row["label"] for row in read_as["pair"]]
    differing = [
        number
        for number, (one, other) in enumerate(zip(read_as["xml"], read_as["blank"], strict=True))
        if one["label"] != other["label"]
    ]
    assert differing == []
    for one, other in zip(read_as["blank"], read_as["pair"], strict=True):
        assert "".join(one["text"].split()) == "".join(other["text"].split())
