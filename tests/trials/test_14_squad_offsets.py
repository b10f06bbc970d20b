"""Trial 14: offsets that count other characters than the context has (datasets #2585, FARM #549).

A reader that strips a context, turns `\\r\\n` into `\\n`, normalises a no-break space or counts UTF-16 units
moves every later answer by some characters, and nothing fails: models are then judged on other words.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.builders.sources.squad import read_squad
from benchwright.errors import SourceErrors
from benchwright.faults import FaultLog

CONTEXTS = {
    "leading space": "  A lynx waits by the lake.",
    "carriage return": "First line.\r\nA lynx waits by the lake.\r\n",
    "lone carriage return": "First line.\rA lynx waits by the lake.",
    "no-break space": "10\u00a0000 years ago a lynx\u00a0waited by the lake.",
    "astral character": "\U0001f43e\U0001f43e A lynx waits by the lake \U0001d50f.",
    "combining characters": "Cafe\u0301, ﬁnally: a lynx by the lake.",
    "byte order mark inside": "\ufeffA lynx waits by the lake.",
    "line separators": "One\u2028two\x85three\x0b: a lynx by the lake.",
}


def _write(path: Path, context: str, *answers: tuple[str, int], escaped: bool = True) -> Path:
    listed = [{"text": text, "answer_start": start} for text, start in answers]
    question = {"id": "56f0", "question": " What waits? ", "answers": listed}
    content = {"data": [{"title": "Lynx", "paragraphs": [{"context": context, "qas": [question]}]}]}
    path.write_bytes(json.dumps(content, ensure_ascii=escaped).encode())
    return path


def _read(path: Path) -> dict[str, Any]:
    (row,) = read_squad(path, FaultLog()).questions.to_pylist()
    return row


@pytest.mark.parametrize("escaped", [True, False])
@pytest.mark.parametrize("kind", CONTEXTS)
def test_contexts_stay_as_they_are_and_answers_stand_at_their_offsets(
    tmp_path: Path, kind: str, escaped: bool
) -> None:
    context = CONTEXTS[kind]
    answers = [("lynx", context.index("lynx")), ("lake", context.index("lake")), (context, 0)]
    row = _read(_write(tmp_path / "dev.json", context, *answers, escaped=escaped))
    assert row["context"] == context
    assert row["question"] == " What waits? "
    found = list(zip(row["answers"]["text"], row["answers"]["answer_start"], strict=True))
    assert found == answers
    assert all(row["context"][start : start + len(text)] == text for text, start in found)


@pytest.mark.parametrize(
    ("kind", "counted_wrongly"),
    [
        ("leading space", lambda context: context.strip()),
        ("carriage return", lambda context: context.replace("\r\n", "\n")),
        ("astral character", lambda context: context.encode("utf-16-le")[::2].decode("latin-1")),
        ("no-break space", lambda context: context.encode().decode("latin-1")),
    ],
)
def test_an_offset_into_another_text_is_an_error_that_names_the_question(
    tmp_path: Path, kind: str, counted_wrongly: Any
) -> None:
    context = CONTEXTS[kind]
    right, wrong = context.index("lake"), counted_wrongly(context).index("lake")
    assert right != wrong
    path = _write(tmp_path / "dev.json", context, ("lake", wrong))
    with pytest.raises(SourceErrors) as caught:
        read_squad(path, FaultLog())
    assert str(caught.value).splitlines()[0] == (
        f"{path}, question '56f0', row 0, field 'answers[0].answer_start': the answer does not stand at its "
        f"offset, got {wrong}; 'lake' stands at {right}: count Unicode code points of the unchanged context"
    )


@given(before=st.text(max_size=8), answer=st.text(min_size=1, max_size=8), after=st.text(max_size=8))
def test_any_text_reads_back_to_the_code_point(
    tmp_path_factory: pytest.TempPathFactory, before: str, answer: str, after: str
) -> None:
    if answer.isspace():
        answer = f"{answer}x"
    path = tmp_path_factory.mktemp("squad") / "dev.json"
    row = _read(_write(path, before + answer + after, (answer, len(before))))
    assert row["context"] == before + answer + after
    assert row["answers"] == {"text": [answer], "answer_start": [len(before)]}
