"""The fixed test beds of statements: twice 200 questions of three corpora, drawn by the hash of their ids.

Rules were improved with outputs of the first in view. The second was read once, when
work on the rules was done: it shows what to expect of unseen questions.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

SIZES = {"squad": 120, "boolq": 40, "freebaseqa": 40}
Question = tuple[str, str, str]  # id, question, answer


def drawn_questions(data: Path) -> list[Question]:
    """The first set: the questions whose ids have the smallest hashes, corpus by corpus; ids `corpus:id`."""
    corpora = _corpora(data, squad(data / "squad" / "squad_v1.1_dev_sample1000.json.gz"))
    drawn: list[Question] = []
    for name, size in SIZES.items():
        ordered = sorted(corpora[name], key=lambda row, name=name: _order(name, row[0]))
        drawn += [(f"{name}:{row[0]}", row[1], row[2]) for row in ordered[:size]]
    return drawn


def unseen_questions(data: Path, question_ids: Iterable[str]) -> list[Question]:
    """The second set, by ids `corpus:id`; its SQuAD questions are those of SQuADShifts' new Wikipedia.

    100 of SQuAD, 60 of FreebaseQA and 40 of BoolQ: those with the smallest SHA-256 of "statements unseen
    CORPUS ID" whose questions are neither in the first set nor among those that rules were improved with.
    """
    corpora = _corpora(data, squad(data / "squad" / "squadshifts" / "new_wiki_v1.0.json.gz"))
    known = {f"{name}:{row[0]}": row for name, rows in corpora.items() for row in rows}
    return [(question_id, *known[question_id][1:]) for question_id in question_ids]


def _corpora(data: Path, squad_rows: Iterable[Question]) -> dict[str, list[Question]]:
    return {
        "squad": list(squad_rows),
        "boolq": list(boolq(data / "boolq" / "dev.jsonl.gz")),
        "freebaseqa": list(freebaseqa(data / "freebaseqa" / "FreebaseQA-dev.tab.gz")),
    }


def _order(corpus: str, question_id: str) -> str:
    return hashlib.sha256(f"statements {corpus} {question_id}".encode()).hexdigest()


def squad(path: Path) -> Iterator[Question]:
    """Questions of a SQuAD file with their first answers."""
    with gzip.open(path, "rt", encoding="utf-8") as handle:
        articles = json.load(handle)["data"]
    for article in articles:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                if question["answers"]:
                    yield question["id"], question["question"], question["answers"][0]["text"]


def boolq(path: Path) -> Iterator[Question]:
    """Questions of a BoolQ file; the id is the line number from 0."""
    with gzip.open(path, "rt", encoding="utf-8") as handle:
        for number, line in enumerate(handle):
            row = json.loads(line)
            yield str(number), row["question"], "yes" if row["answer"] else "no"


def freebaseqa(path: Path) -> Iterator[Question]:
    """Each question of FreebaseQA once, with its first answer; the id is the row number from 0."""
    seen: set[str] = set()
    with gzip.open(path, "rt", encoding="utf-8", newline="") as handle:
        for number, fields in enumerate(csv.reader(handle, delimiter="\t")):
            if fields[-1] not in seen:
                seen.add(fields[-1])
                yield str(number), fields[-1], fields[-2]
