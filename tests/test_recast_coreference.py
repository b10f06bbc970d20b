"""Recasts of pronouns and blanks: WinoGrande, WSC, WNLI, GAP."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from recast_corpora import recast, write

from benchwright.builders.curriculum.recast import recasts
from benchwright.errors import SourceErrors

ENTAILED, NOT_ENTAILED = "entailed", "not-entailed"


def winogrande(sentence: str, answer: str = "2", **fields: object) -> dict[str, object]:
    item = {"qID": "X-1", "sentence": sentence, "option1": "Ian", "option2": "the NASA man", "answer": answer}
    return item | fields


def test_winogrande_fills_the_blank_in_its_sentence(tmp_path: Path) -> None:
    items = [
        winogrande("It rained. _ left, so Ian  was glad."),
        winogrande("Ian thanked him since _'s car broke. He left.", "1", qID="X-2"),
        winogrande("No _ known.", "", qID="Y-1"),
    ]
    write(tmp_path, "winogrande_1.1/train_s.jsonl", items)
    write(tmp_path, "winogrande_1.1/train_xs.jsonl", items[:1])
    result = recast("coreference/winogrande", tmp_path)
    first, second = "It rained. _ left, so Ian  was glad.", "Ian thanked him since _'s car broke. He left."
    assert result.triples() == [
        (first, "Ian left, so Ian  was glad.", NOT_ENTAILED),
        (first, "The NASA man left, so Ian  was glad.", ENTAILED),
        (second, "Ian thanked him since Ian's car broke.", ENTAILED),
        (second, "Ian thanked him since the NASA man's car broke.", NOT_ENTAILED),
    ]
    assert set(result.groups()) == {"winogrande:train:X"}
    assert result.faults.filtered == {"no answer": 1}
    assert [file.name for file in result.made.files] == ["winogrande_1.1/train_s.jsonl"]


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (winogrande("No blank."), "not one blank"),
        (winogrande("_ and _."), "not one blank"),
        (winogrande("_ left.", "3"), "unknown label, got '3'"),
        (winogrande("_ left.", option1=" "), "empty component"),
    ],
)
def test_winogrande_items_that_cannot_be_used(tmp_path: Path, item: dict[str, object], reason: str) -> None:
    write(tmp_path, "dev.jsonl", [item])
    with pytest.raises(SourceErrors, match=reason):
        recast("coreference/winogrande", tmp_path)


def schema(before: str, pronoun: str, after: str, answers: tuple[str, str], correct: str) -> str:
    listed = "".join(f"<answer>{answer} </answer>" for answer in answers)
    return (
        f"<schema><text><txt1>\n{before}</txt1><pron> {pronoun}  </pron><txt2> {after}\n</txt2></text>"
        f"<quote><pron>{pronoun}</pron><quote2>{after}</quote2></quote><answers>{listed}</answers>"
        f"<correctAnswer>{correct}</correctAnswer><source> ours </source></schema>"
    )


def write_wsc(folder: Path, *schemas: str) -> None:
    text = f'<?xml version="1.0" encoding="ISO-8859-1"?>\n<collection>{"".join(schemas)}</collection>'
    write(folder, "WSCollection.xml", text.encode("latin-1"))


def test_wsc_replaces_the_pronoun_of_its_sentence(tmp_path: Path) -> None:
    write_wsc(
        tmp_path,
        schema(
            "José  met \n the guards because", "they", "were late.", ("The guards", "the NASA men"), " A  "
        ),
        schema("José  met \n the guards because", "they", "sang.", ("The guards", "the NASA men"), "B."),
        schema("Ann fired her trainer. She cried at", "her", "house.", ("Ann", "trainer"), "A. "),
        schema("Jo fears Ann's dog. So", "she", ", too, ran", ("Jo", "Ann's"), "B"),
        schema("Joe's uncle beat him as", "he", "ran.", ("him", "Joe's uncle"), "A"),
    )
    result = recast("coreference/wsc", tmp_path)
    assert result.triples() == [
        (
            "José met the guards because they were late.",
            "José met the guards because the guards were late.",
            ENTAILED,
        ),
        (
            "José met the guards because they were late.",
            "José met the guards because the NASA men were late.",
            NOT_ENTAILED,
        ),
        (
            "José met the guards because they sang.",
            "José met the guards because the guards sang.",
            NOT_ENTAILED,
        ),
        (
            "José met the guards because they sang.",
            "José met the guards because the NASA men sang.",
            ENTAILED,
        ),
        ("Ann fired her trainer. She cried at her house.", "She cried at Ann's house.", ENTAILED),
        ("Ann fired her trainer. She cried at her house.", "She cried at her trainer's house.", NOT_ENTAILED),
        ("Jo fears Ann's dog. So she, too, ran", "So Jo, too, ran", NOT_ENTAILED),
        ("Jo fears Ann's dog. So she, too, ran", "So Ann, too, ran", ENTAILED),
    ]
    assert result.groups()[::2] == ["wsc:test:0", "wsc:test:0", "wsc:test:2", "wsc:test:3"]
    assert result.faults.filtered == {"a candidate is a pronoun": 1}


def test_wsc_with_a_pronoun_that_reaches_into_another_sentence(tmp_path: Path) -> None:
    write_wsc(tmp_path, schema("Al met Bob as", "he. It", "left. So did I.", ("Al", "Bob"), "A"))
    hypotheses = [hypothesis for _, hypothesis, _ in recast("coreference/wsc", tmp_path).triples()]
    assert hypotheses == ["Al met Bob as Al left.", "Al met Bob as Bob left."]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("<correctAnswer>A</correctAnswer>", "<correctAnswer>C</correctAnswer>", "unknown answer, got 'C'"),
        (
            "<correctAnswer>A</correctAnswer>",
            "<correctAnswer>both</correctAnswer>",
            "unknown answer, got 'both'",
        ),
        ("<pron> he  </pron>", "<pron> </pron>", "empty component"),
        ("<answer>Bob </answer>", "<answer> </answer>", "empty component"),
    ],
)
def test_wsc_schemas_that_cannot_be_used(tmp_path: Path, old: str, new: str, reason: str) -> None:
    write_wsc(tmp_path, schema("Al met Bob as", "he", "left.", ("Al", "Bob"), "A").replace(old, new))
    with pytest.raises(SourceErrors, match=reason):
        recast("coreference/wsc", tmp_path)


def test_wnli_is_taken_as_it_is(tmp_path: Path) -> None:
    write(
        tmp_path,
        "WNLI/train.tsv",
        "index\tsentence1\tsentence2\tlabel\n"
        '0\tI stuck a "pin.\tThe pin has a hole.\t1\n1\tHe ran.\tAl ran.\t0\n',
    )
    result = recast("coreference/wsc", tmp_path)
    assert result.triples("train") == [
        ('I stuck a "pin.', "The pin has a hole.", ENTAILED),
        ("He ran.", "Al ran.", NOT_ENTAILED),
    ]
    assert {row["recast_rule"] for row in result.rows} == {"as_published"}


GAP_HEADER = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL\n"
GAP_TEXT = 'Zoë and "Ann Lee met. Later Ann saw her aunt, who liked Zoë.'


def gap(offset: object, first: str = "TRUE", second: str = "FALSE") -> str:
    cells = ["development-1", GAP_TEXT, "her", offset, "Zoë", 0, first, "Ann Lee", 9, second, "http://x"]
    return GAP_HEADER + "\t".join(map(str, cells)) + "\n"


def test_gap_replaces_at_the_offset(tmp_path: Path) -> None:
    write(tmp_path, "gap-development.tsv", gap(GAP_TEXT.index("her")))
    result = recast("coreference/gap", tmp_path)
    assert result.triples("train") == [
        (GAP_TEXT, "Later Ann saw Zoë's aunt, who liked Zoë.", ENTAILED),
        (GAP_TEXT, "Later Ann saw Ann Lee's aunt, who liked Zoë.", NOT_ENTAILED),
    ]
    assert result.groups() == ["gap:train:development-1"] * 2
    assert "gap-development is train" in recasts.get("coreference/gap").differs


def test_gap_with_neither_name(tmp_path: Path) -> None:
    write(tmp_path, "gap-test.tsv", gap(GAP_TEXT.index("her"), "FALSE"))
    assert [row["label"] for row in recast("coreference/gap", tmp_path).rows] == [NOT_ENTAILED, NOT_ENTAILED]


@pytest.mark.parametrize("offset", [GAP_TEXT.index("her") + 1, 0, 9_999, -1, "9" * 5_000, "²"])
def test_gap_with_a_wrong_offset(tmp_path: Path, offset: object) -> None:
    write(tmp_path, "gap-validation.tsv", gap(offset))
    with pytest.raises(SourceErrors, match="the pronoun does not stand at its offset"):
        recast("coreference/gap", tmp_path)


@pytest.mark.corpora
def test_winogrande_says_what_the_released_task_says(data_folder: Path) -> None:
    """Text with an option in the blank -> label: as released, where half of the development set is left."""
    folder = data_folder / "winograd" / "knowref60k_repo" / "winogrande"
    ours = {
        " ".join(row["premise"].replace("_", row["source"]).split()): row["label"]
        for row in with_options(folder / "dev.jsonl", recast("coreference/winogrande", folder).rows)
    }
    with zipfile.ZipFile(data_folder / "curriculum" / "coreference.zip") as archive:
        lines = archive.read("coreference/val.jsonl").decode().splitlines()
    released = {}
    for row in map(json.loads, lines):
        released[" ".join(f"{row['premise']} {row['hypothesis']}".split())] = row["gold_label"]
    shared = ours.keys() & released.keys()
    assert len(shared) == 1_268
    assert [text for text in shared if ours[text] != released[text]] == []


def with_options(path: Path, rows: list[dict[str, str]]) -> list[dict[str, str]]:
    options = {
        item["qID"]: [item["option1"], item["option2"]]
        for item in map(json.loads, path.read_text().splitlines())
    }
    return [row | {"source": options[row["source_id"]][n % 2]} for n, row in enumerate(rows)]


@pytest.mark.corpora
def test_the_real_winograd_schemas(data_folder: Path) -> None:
    result = recast("coreference/wsc", data_folder / "winograd")
    assert (len(result.rows), result.made.read) == (566, 568)
    assert result.faults.filtered == {"a candidate is a pronoun": 2}
    assert [row["label"] for row in result.rows].count(ENTAILED) == 283
    by_text = {(row["premise"], row["hypothesis"]): row["label"] for row in result.rows}
    madonna = "Madonna fired her trainer because she couldn't stand her boyfriend."
    assert (
        by_text[madonna, "Madonna fired her trainer because her trainer couldn't stand her boyfriend."]
        == NOT_ENTAILED
    )
    assert (
        by_text[madonna, "Madonna fired her trainer because she couldn't stand her trainer's boyfriend."]
        == ENTAILED
    )
    will = "The woman held the girl against her will."
    assert by_text[will, "The woman held the girl against the girl's will."] == ENTAILED
    assert all("  " not in row["premise"] and " ," not in row["premise"] for row in result.rows)
