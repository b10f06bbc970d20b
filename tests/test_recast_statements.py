"""Recasts of free-response questions: DROP, SQuAD and ESTER."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from recast_corpora import Recasting, recast, write

from benchwright.builders.curriculum.recast.rules import normalised
from benchwright.errors import SourceError, SourceErrors

ENTAILED, NOT_ENTAILED = "entailed", "not-entailed"
PASSAGE = "The Broncos scored 24 points in 1998. Ann Lee of NASA threw a 35-yard pass on May 3, 1998."


def answer(number: str = "", spans: tuple[str, ...] = (), **date: str) -> dict[str, Any]:
    parts = {"day": "", "month": "", "year": ""} | date
    return {"number": number, "date": parts, "spans": list(spans)}


def asked(number: int, question: str, given: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"question": question, "answer": given, "query_id": f"q{number}", **fields}


def write_drop(
    folder: Path, *questions: dict[str, Any], passage: object = PASSAGE, split: str = "train"
) -> None:
    content = {"nfl_1": {"passage": passage, "qa_pairs": list(questions), "wiki_url": "http://x"}}
    write(folder, f"drop_dataset_{split}.json", json.dumps(content))


def by_label(result: Recasting, label: str) -> dict[str, dict[str, Any]]:
    return {row["source_id"]: row for row in result.rows if row["label"] == label}


@pytest.mark.parametrize("content", [{}, {"nfl_1": {"passage": PASSAGE, "qa_pairs": []}}])
def test_drop_without_a_question_is_refused(tmp_path: Path, content: dict[str, Any]) -> None:
    write(tmp_path, "drop_dataset_train.json", json.dumps(content))
    with pytest.raises(SourceError, match="no question; give"):
        recast("drop/drop", tmp_path)


def test_drop_puts_answers_in_statements(tmp_path: Path) -> None:
    write_drop(
        tmp_path,
        asked(1, "How many points did the Broncos score?", answer("24")),
        asked(2, "Who threw a pass?", answer(spans=("Ann Lee",))),
        asked(3, "When did she throw it?", answer(day="3", month="May", year="1998")),
        asked(4, "What happened?", answer()),
    )
    result = recast("drop/drop", tmp_path)
    right, wrong = by_label(result, ENTAILED), by_label(result, NOT_ENTAILED)
    assert {row["premise"] for row in result.rows} == {PASSAGE}
    assert {row["group_id"] for row in result.rows} == {"drop:train:nfl_1"}
    assert right["q1"]["hypothesis"] == "The Broncos scored 24 points."
    assert (right["q1"]["answer"], right["q1"]["substituted"]) == ("24", None)
    assert (wrong["q1"]["hypothesis"], wrong["q1"]["substituted"]) == ("The Broncos scored 35 points.", "35")
    assert right["q2"]["hypothesis"] == "Ann Lee threw a pass."
    assert wrong["q2"]["hypothesis"] == "Broncos threw a pass."
    assert right["q3"]["answer"] == "3 May 1998"
    assert "3 May 1998" in right["q3"]["hypothesis"]
    assert "q3" not in wrong
    assert result.faults.filtered == {"no answer": 1}


def test_drop_replaces_one_of_several_spans(tmp_path: Path) -> None:
    write_drop(
        tmp_path,
        asked(1, "Which players threw passes?", answer(spans=("Al Bo", "Cy Do"))),
        asked(2, "Who sang?", answer(spans=("Ed Fox",))),
    )
    result = recast("drop/drop", tmp_path)
    right, wrong = by_label(result, ENTAILED), by_label(result, NOT_ENTAILED)
    assert right["q1"]["hypothesis"] == "Al Bo and Cy Do threw passes."
    assert wrong["q1"]["hypothesis"] == "Al Bo and Ed Fox threw passes."


def test_drop_counts_what_other_annotators_said_as_right(tmp_path: Path) -> None:
    others = [answer(spans=("Ann Lee",)), answer(spans=("the Broncos",))]
    question = asked(1, "Who won?", answer(spans=("Denver",)), validated_answers=others)
    write_drop(
        tmp_path, question, split="dev", passage="Then Denver met Ann Lee and Jo Fox, not the Broncos."
    )
    result = recast("drop/drop", tmp_path)
    assert [(row["hypothesis"], row["label"]) for row in result.rows] == [
        ("Denver won.", ENTAILED),
        ("Jo Fox won.", NOT_ENTAILED),
    ]


def test_questions_that_make_no_statement_are_filtered(tmp_path: Path) -> None:
    write_drop(tmp_path, asked(1, "24 or 35?", answer("24")), asked(2, "Who won?", answer(spans=("Al",))))
    result = recast("drop/drop", tmp_path)
    assert {row["source_id"] for row in result.rows} == {"q2"}
    (reason,) = result.faults.filtered
    assert reason.startswith("no statement: ")


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (asked(1, " ", answer("2")), "empty component"),
        ({"question": "Who?", "query_id": "q"}, "wrong type"),
        ({"question": "Who?", "answer": answer("2")}, "missing field"),
        (asked(1, "Who?", {"number": "", "date": {}, "spans": [7]}), "wrong type"),
    ],
)
def test_drop_questions_that_cannot_be_used(tmp_path: Path, question: dict[str, Any], reason: str) -> None:
    write_drop(tmp_path, question)
    with pytest.raises(SourceErrors, match=reason):
        recast("drop/drop", tmp_path)


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"number": {}}, "field 'answer.number': wrong type, got {}; give a string or a number"),
        ({"number": True}, "field 'answer.number': wrong type, got True; give a string or a number"),
        ({"number": "\ud800"}, "field 'answer.number': half a surrogate pair"),
        ({"spans": "Al"}, "field 'answer.spans': wrong type, got 'Al'; give a list of strings"),
        ({"date": "May"}, "field 'answer.date': wrong type, got 'May'; give day, month and year"),
        ({"date": {"day": False}}, "field 'answer.date.day': wrong type, got False; give a string or"),
        (
            {"date": {"year": ["1"]}},
            "field 'answer.date.year': wrong type, got ['1']; give a string or",
        ),
        (None, "field 'answer': wrong type, got 'null'; give number, date and spans"),
    ],
)
def test_drop_answers_of_other_types(tmp_path: Path, given: dict[str, Any] | None, place: str) -> None:
    write_drop(tmp_path, {"question": "Who won?", "answer": given, "query_id": "q1"})
    with pytest.raises(SourceErrors) as caught:
        recast("drop/drop", tmp_path)
    first, _ = str(caught.value).splitlines()
    assert first.startswith(f"{tmp_path / 'drop_dataset_train.json'}, row 0, {place}")


@pytest.mark.parametrize(
    ("others", "place"),
    [
        ("no list", "field 'validated_answers': wrong type, got 'no list'; give a list of answers"),
        (7, "field 'validated_answers': wrong type, got 7; give a list of answers"),
        ([answer("1"), 7], "field 'validated_answers[1]': wrong type, got 7; give number, date and spans"),
    ],
)
def test_drop_with_other_annotators_of_other_types(tmp_path: Path, others: object, place: str) -> None:
    write_drop(tmp_path, asked(1, "Who won?", answer("1"), validated_answers=others), split="dev")
    with pytest.raises(SourceErrors) as caught:
        recast("drop/drop", tmp_path)
    first, _ = str(caught.value).splitlines()
    assert first == f"{tmp_path / 'drop_dataset_dev.json'}, row 0, {place}"


def test_drop_numbers_and_blanks(tmp_path: Path) -> None:
    write_drop(
        tmp_path,
        asked(1, "How many points did they score?", {"number": 24}),
        asked(2, "How many yards did he throw?", {"number": 2.5, "date": None, "spans": None}),
        asked(3, "When did they play?", {"number": " ", "date": {"day": None, "month": "May", "year": 1998}}),
        asked(4, "Who won?", {"number": " ", "spans": [" "], "date": {}}, validated_answers=None),
    )
    result = recast("drop/drop", tmp_path)
    right = by_label(result, ENTAILED)
    assert {key: row["answer"] for key, row in right.items()} == {"q1": "24", "q2": "2.5", "q3": "May 1998"}
    assert result.faults.filtered == {"no answer": 1}


def test_drop_without_a_passage(tmp_path: Path) -> None:
    write_drop(tmp_path, asked(1, "Who won?", answer("1")), passage=None)
    with pytest.raises(SourceErrors, match="field 'passage': wrong type, got 'null'; give a string"):
        recast("drop/drop", tmp_path)


def test_drop_passages_of_two_splits_are_not_one(tmp_path: Path) -> None:
    """Both files have a passage `nfl_1`: the answers of one are no nearby answers of the other."""
    asks = [asked(n, f"Who won game {n}?", answer(spans=(name,))) for n, name in enumerate(("Al", "Cy"))]
    write_drop(tmp_path, *asks, passage="They played.")
    alone = recast("drop/drop", tmp_path).triples("train")
    assert {text for _, text, label in alone if label == NOT_ENTAILED} == {"Cy won game 0.", "Al won game 1."}
    more = [asked(n, f"Who won game {n}?", answer(spans=(f"Ed{n}",))) for n in range(20)]
    write_drop(tmp_path, *more, passage="We played.", split="dev")
    assert recast("drop/drop", tmp_path).triples("train") == alone


@pytest.mark.parametrize("content", ["[]", '{"a": {"passage": "x"}}', '{"a": {"qa_pairs": [1]}}'])
def test_drop_files_of_another_structure(tmp_path: Path, content: str) -> None:
    write(tmp_path, "drop_dataset_dev.json", content)
    with pytest.raises(SourceError, match="not a passage with questions"):
        recast("drop/drop", tmp_path)


def test_the_order_of_questions_changes_no_pair(tmp_path: Path) -> None:
    names = ["Al Bo", "Cy Do", "Ed Fox", "Gus Hay", "Ike Jay"]
    questions = [asked(n, f"Who won game {n}?", answer(spans=(name,))) for n, name in enumerate(names)]
    made = []
    for seed in range(3):
        folder = tmp_path / str(seed)
        write_drop(folder, *random.Random(seed).sample(questions, len(questions)), passage="They played.")
        rows = recast("drop/drop", folder).rows
        made.append({(row["source_id"], row["hypothesis"], row["label"]) for row in rows})
    assert made[0] == made[1] == made[2]
    assert len(made[0]) == 10


def write_squad(folder: Path, *questions: tuple[str, str, list[str]], name: str = "dev-v1.1.json") -> None:
    qas = [
        {
            "id": key,
            "question": question,
            "answers": [{"text": text, "answer_start": PASSAGE.index(text)} for text in texts],
        }
        for key, question, texts in questions
    ]
    data = [{"title": "Games", "paragraphs": [{"context": PASSAGE, "qas": qas}]}]
    write(folder, name, json.dumps({"version": "1.1", "data": data}))


def test_squad_takes_the_answer_that_most_gave(tmp_path: Path) -> None:
    write_squad(
        tmp_path,
        ("a", "Who threw the pass?", ["Ann Lee of NASA", "Ann Lee", "Ann Lee"]),
        ("b", "Who scored?", ["The Broncos"]),
    )
    result = recast("drop/squad", tmp_path)
    assert [(row["hypothesis"], row["label"], row["substituted"]) for row in result.rows] == [
        ("Ann Lee threw the pass.", ENTAILED, None),
        ("The Broncos threw the pass.", NOT_ENTAILED, "The Broncos"),
        ("The Broncos scored.", ENTAILED, None),
        ("Ann Lee scored.", NOT_ENTAILED, "Ann Lee"),
    ]
    assert {row["source_split"] for row in result.rows} == {"dev"}
    assert len(set(result.groups())) == 1
    assert result.made.notes == ("source split train is missing",)


def ester(
    question: str, *answers: str, context: str = "A blast hit NASA. It left 11 dead.\n"
) -> dict[str, Any]:
    return {"context": context, "question": question, "answer_texts": list(answers), "type": "Causal"}


def test_ester_takes_another_span_of_the_passage(tmp_path: Path) -> None:
    items = [
        ester("What hit NASA?", "A blast", "A blast hit NASA"),
        ester("What did it do?", "left 11 dead", "dead"),
        ester("Why?", "some other thing", context="Nothing else."),
        ester("Nothing?"),
    ]
    write(tmp_path, "final_train_ans_gen.json", json.dumps(items))
    result = recast("ester/ester", tmp_path)
    premise = "A blast hit NASA. It left 11 dead. What hit NASA?"
    first = [row for row in result.rows if row["source_id"] == "0"]
    assert (first[0]["premise"], first[0]["hypothesis"], first[0]["label"]) == (premise, "A blast", ENTAILED)
    assert (first[1]["hypothesis"], first[1]["label"]) in {
        ("left 11 dead", NOT_ENTAILED),
        ("dead", NOT_ENTAILED),
    }
    assert first[1]["substituted"] == first[1]["hypothesis"]
    assert len({row["group_id"] for row in result.rows}) == 2
    assert result.faults.filtered == {"no answer": 1}


def test_ester_with_an_empty_answer(tmp_path: Path) -> None:
    write(tmp_path, "final_dev_ans_gen.json", json.dumps([ester("Why?", "a", " ")]))
    with pytest.raises(SourceErrors, match="empty component"):
        recast("ester/ester", tmp_path)


@pytest.mark.corpora
def test_the_real_squad(data_folder: Path) -> None:
    result = recast("drop/squad", data_folder / "squad")
    assert result.made.files[0].rows == 1_000
    right, wrong = by_label(result, ENTAILED), by_label(result, NOT_ENTAILED)
    assert len(right) > 950
    assert len(wrong) > 0.95 * len(right)
    for key, row in wrong.items():
        assert normalised(row["substituted"]) != normalised(row["answer"])
        assert row["substituted"].split()[0].lower() in row["hypothesis"].lower()
        assert row["premise"] == right[key]["premise"]
    cased = [row for row in right.values() if "NASA" in row["answer"]]
    assert all("NASA" in row["hypothesis"] for row in cased)
