"""The SQuAD reader, on small files of our own and on the real corpus."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections import Counter
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from datasets import Features, Sequence, Value

from benchwright.builders.sources.squad import QUESTIONS_SCHEMA, read_squad
from benchwright.errors import SourceError, SourceErrors
from benchwright.faults import FaultLog
from benchwright.hashing import sha256_file

CONTEXT = "Oslo lies on a fjord. Bergen is wetter than Oslo.\n"


def _question(number: int, *answers: tuple[str, int], **fields: Any) -> dict[str, Any]:
    listed = [{"text": text, "answer_start": start} for text, start in answers or [("Oslo", 0)]]
    return {"id": f"q{number}", "question": f"Which city, {number}?", "answers": listed, **fields}


def _content(*questions: dict[str, Any], context: str = CONTEXT) -> dict[str, Any]:
    paragraph = {"context": context, "qas": list(questions)}
    return {"version": "1.0", "data": [{"title": "Norway", "split": "ours", "paragraphs": [paragraph]}]}


def _write(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def _message(path: Path) -> str:
    with pytest.raises(SourceError) as caught:
        read_squad(path, FaultLog())
    return str(caught.value)


def test_columns_are_those_of_the_hub_then_the_source_index() -> None:
    answers = Sequence({"text": Value("string"), "answer_start": Value("int32")})
    text = {name: Value("string") for name in ("id", "title", "context", "question")}
    hub = Features({**text, "answers": answers}).arrow_schema
    assert [QUESTIONS_SCHEMA.field(name) for name in hub.names] == list(hub)
    assert QUESTIONS_SCHEMA.names == [*hub.names, "source_index"]


def test_rows_in_file_order_with_all_answers(tmp_path: Path) -> None:
    content = _content(_question(1, ("Oslo", 44), ("Oslo", 0), ("Oslo", 44)), _question(0, ("Bergen", 22)))
    other = _content(_question(7, ("fjord", 15)))["data"][0] | {"title": ""}
    content["data"].append(other)
    path = _write(tmp_path / "set_v1.0.json", content)
    source = read_squad(path, FaultLog())
    rows = source.questions.to_pylist()
    assert rows[0] == {
        "id": "q1",
        "title": "Norway",
        "context": CONTEXT,
        "question": "Which city, 1?",
        "answers": {"text": ["Oslo"] * 3, "answer_start": [44, 0, 44]},
        "source_index": 0,
    }
    assert [(row["id"], row["title"], row["source_index"]) for row in rows[1:]] == [
        ("q0", "Norway", 1),
        ("q7", "", 2),
    ]
    (file,) = source.files
    assert (file.name, file.sha256, file.rows) == ("set_v1.0.json", sha256_file(path), 3)
    assert source.read == 3


def test_plain_gzip_folder_and_archive_read_alike(tmp_path: Path) -> None:
    plain = _write(tmp_path / "dev.json", _content(_question(0)))
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "dev.json.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + plain.read_bytes()))
    (folder / "notes.txt").write_text("not data")
    with zipfile.ZipFile(tmp_path / "dev.zip", "w") as archive:
        archive.write(plain, "squad/dev.json")
    expected = read_squad(plain, FaultLog()).questions
    for root in (folder, folder / "dev.json.gz", tmp_path / "dev.zip"):
        assert read_squad(root, FaultLog()).questions == expected


@pytest.mark.parametrize(
    ("question", "place", "message"),
    [
        (_question(5, ("Oslo", 1)), "'answers[0].answer_start'", "at its offset, got 1; 'Oslo' stands at 0:"),
        (
            _question(5, ("Oslo", 0), ("Oslo", 43)),
            "'answers[1].answer_start'",
            "got 43; 'Oslo' stands at 44:",
        ),
        (_question(5, ("oslo", 0)), "'answers[0].answer_start'", "the context does not hold 'oslo'"),
        # Python's slices count negative numbers from the end: this one would give the very text.
        (_question(5, ("Oslo", -6)), "'answers[0].answer_start'", "got -6; 'Oslo' stands at 0:"),
        (_question(5, ("Oslo", 10**12)), "'answers[0].answer_start'", "got 1000000000000"),
        (_question(5, ("", 3)), "'answers[0].text'", "empty text, got ''"),
        (_question(5, answers=[{"text": "Oslo"}]), "'answers[0].answer_start'", "wrong type"),
        (
            _question(5, answers=[{"text": "Oslo", "answer_start": True}]),
            "'answers[0].answer_start'",
            "got True",
        ),
        (
            _question(5, answers=[{"text": "Oslo", "answer_start": "0"}]),
            "'answers[0].answer_start'",
            "got '0'",
        ),
        (_question(5, answers=[{"answer_start": 0}]), "'answers[0].text'", "missing field"),
        (_question(5, answers=["Oslo"]), "'answers[0]'", "wrong type, got 'Oslo'"),
        (_question(5, answers=[]), "'answers'", "no answer; give one or more of"),
        (_question(5, answers={"text": ["Oslo"]}), "'answers'", "wrong type, got {'text': ['Oslo']}"),
        (_question(5, question=" "), "'question'", "empty text, got ' '"),
        (_question(5, question="half \ud83d"), "'question'", "half a surrogate pair"),
    ],
)
def test_bad_questions_are_faults_that_name_them(
    tmp_path: Path, question: dict[str, Any], place: str, message: str
) -> None:
    path = _write(tmp_path / "dev.json", _content(_question(0), question, _question(9)))
    with pytest.raises(SourceErrors) as caught:
        read_squad(path, FaultLog())
    (fault,) = caught.value.faults
    assert str(fault).startswith(f"{path}, question 'q5', row 1, field {place}: ")
    assert message in str(fault)
    assert "\n" not in str(fault)

    dropping = FaultLog("drop")
    source = read_squad(path, dropping)
    assert source.questions.column("id").to_pylist() == ["q0", "q9"]
    assert source.questions.column("source_index").to_pylist() == [0, 2]
    assert (source.read, sum(dropping.dropped.values())) == (3, 1)


@pytest.mark.parametrize(
    ("context", "message"), [("", "field 'context': empty text"), (None, "field 'context': wrong type")]
)
def test_a_context_that_is_none_is_a_fault_of_each_of_its_questions(
    tmp_path: Path, context: str | None, message: str
) -> None:
    content = _content(_question(0), _question(1))
    content["data"][0]["paragraphs"][0]["context"] = context
    shown = _message(_write(tmp_path / "dev.json", content))
    assert shown.count(message) == 2


def test_an_id_that_stands_twice_is_a_fault(tmp_path: Path) -> None:
    path = _write(tmp_path / "dev.json", _content(_question(0), _question(1), _question(0)))
    expected = (
        f"{path}, question 'q0', row 2, field 'id': id stands twice, got 'q0'; "
        "row 0 has it too; keep one of the two, or give each its own id"
    )
    assert _message(path).splitlines()[0] == expected
    dropping = FaultLog("drop")
    assert read_squad(path, dropping).questions.column("id").to_pylist() == ["q0", "q1"]
    assert dropping.dropped == {"id stands twice": 1}


def test_an_id_that_is_no_text_is_a_fault(tmp_path: Path) -> None:
    path = _write(tmp_path / "dev.json", _content(_question(0, id=12), {"question": "q", "answers": []}))
    first, second, _ = _message(path).splitlines()
    assert "question 12, row 0, field 'id': wrong type, got 12; give a string" in first
    assert (
        f"{path}, row 1, field 'id': missing field; the record has question, answers, context, title"
        in second
    )


def _without(content: dict[str, Any], *keys: str | int) -> dict[str, Any]:
    content = deepcopy(content)
    holder: Any = content
    for key in keys[:-1]:
        holder = holder[key]
    del holder[keys[-1]]
    return content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "not a JSON object, got []; SQuAD v1.1 is"),
        ({}, "field 'data': missing field; SQuAD v1.1 is"),
        ({"data": {"title": "x"}}, "field 'data': not a list of objects, got {'title': 'x'}"),
        ({"data": ["x"]}, "field 'data': not a list of objects, got ['x']"),
        (
            _without(_content(_question(0)), "data", 0, "paragraphs"),
            "field 'data[0].paragraphs': missing field",
        ),
        (
            _without(_content(_question(0)), "data", 0, "paragraphs", 0, "qas"),
            "field 'data[0].paragraphs[0].qas': missing field",
        ),
        (_content(), "no question in the file; copy or download the file again"),
        ({"data": []}, "no question in the file"),
    ],
)
def test_another_structure_is_one_line(tmp_path: Path, content: Any, message: str) -> None:
    path = _write(tmp_path / "dev.json", content)
    shown = _message(path)
    assert shown.startswith(str(path))
    assert message in shown
    assert "\n" not in shown


def test_a_file_cut_in_the_middle_is_one_line(tmp_path: Path) -> None:
    text = json.dumps(_content(_question(0)), indent=1)
    (tmp_path / "dev.json").write_text(text[: len(text) // 2])
    assert "the file ends in the middle of a record" in _message(tmp_path)


def test_a_folder_needs_exactly_one_file(tmp_path: Path) -> None:
    assert _message(tmp_path) == f"{tmp_path}: no .json file (plain or .gz); give a file of SQuAD v1.1"
    _write(tmp_path / "dev.json", _content(_question(0)))
    _write(tmp_path / "train.json", _content(_question(1)))
    assert (
        _message(tmp_path) == f"{tmp_path}: more than one .json file: dev.json, train.json; give one of them"
    )


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("name", "questions", "contexts", "titles", "answers"),
    [
        ("squad_v1.1_dev_sample1000.json.gz", 1_000, 798, 48, {2: 15, 3: 810, 4: 70, 5: 102, 6: 3}),
        ("squadshifts/new_wiki_v1.0.json.gz", 7_938, 1_581, 48, {1: 89, 2: 989, 3: 6_715, 4: 143, 5: 2}),
        ("squadshifts/amazon_reviews_v1.0.json.gz", 9_885, 2_050, 413, {1: 611, 2: 1_256, 3: 7_877, 4: 141}),
        ("AddSent_sample1k-HCVerifyAll.json.gz", 3_560, 3_356, 48, None),
        ("AddOneSent_sample1k-HCVerifySample.json.gz", 1_787, 1_584, 48, None),
    ],
)
def test_the_real_files(
    data_folder: Path,
    name: str,
    questions: int,
    contexts: int,
    titles: int,
    answers: dict[int, int] | None,
) -> None:
    source = read_squad(data_folder / "squad" / name, FaultLog())
    rows = source.questions.to_pylist()
    assert (len(rows), source.read) == (questions, questions)
    assert len({row["context"] for row in rows}) == contexts
    assert len({row["title"] for row in rows}) == titles
    numbers = Counter(len(row["answers"]["text"]) for row in rows)
    assert answers is None or numbers == answers
    for row in rows:
        given = zip(row["answers"]["text"], row["answers"]["answer_start"], strict=True)
        assert all(row["context"][start : start + len(text)] == text for text, start in given)


@pytest.mark.corpora
def test_the_final_newline_of_wiki_contexts_stays(data_folder: Path) -> None:
    path = data_folder / "squad" / "squadshifts" / "new_wiki_v1.0.json.gz"
    contexts = read_squad(path, FaultLog()).questions.column("context").to_pylist()
    assert sum(context.endswith("\n") for context in contexts) == 7_926
    assert sum(context[0].isspace() for context in contexts) == 26
