"""SQuAD v1.1: questions on paragraphs of Wikipedia, answered by spans.

Source: "SQuAD: 100,000+ Questions for Machine Comprehension of Text" (1606.05250).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ....faults import FaultLog
from ...base import SourceFile
from ...sources.files import SourceFolder
from ...sources.records import Record
from ...sources.splits import split_files
from ...sources.squad import read_squad_file
from .base import PairCollector, Recast, RecastRows
from .rules import fingerprint
from .statements import AskedPassage, collect_statements
from .substitution import WrongAnswers

CORPUS = "squad"
RULE = "statement"
_SPLITS = ("train", "dev")


def recast_squad(root: Path, faults: FaultLog) -> RecastRows:
    """Read the `.json` files whose names speak of train or dev (`train-v1.1.json`, `dev-v1.1.json`).

    As `sources.squad` reads them. Of several answers the one that most annotators gave is used, the first one
    of those where several are; questions on one paragraph form a group. Raises SourceError and SourceErrors
    as the readers do.
    """
    chosen = split_files(SourceFolder(root), ("json",), expected=_SPLITS)
    pairs = PairCollector(CORPUS, RULE, faults)
    files: list[SourceFile] = []
    rows: list[tuple[str, str, dict[str, Any]]] = []
    for split, parts in chosen.files.items():
        for file in parts:
            source = read_squad_file(file, faults)
            rows.extend((split, file.shown, row) for row in source.questions.to_pylist())
            files.extend(source.files)
    answers: dict[str, list[str]] = defaultdict(list)
    for _, _, row in rows:
        answers[row["context"]].append(_common_answer(row["answers"]["text"]))
    wrong = WrongAnswers(answer for group in answers.values() for answer in group)
    asked = [_asked(split, path, row, answers[row["context"]], wrong) for split, path, row in rows]
    collect_statements(asked, pairs)
    return pairs.finish(files, chosen.notes)


def _common_answer(texts: Sequence[str]) -> str:
    counts = Counter(text.strip() for text in texts)
    return counts.most_common(1)[0][0]


def _asked(
    split: str, path: str, row: dict[str, Any], nearby: Sequence[str], wrong: WrongAnswers
) -> AskedPassage:
    given = [text.strip() for text in row["answers"]["text"]]
    first = _common_answer(given)
    answers = [first, *(answer for answer in given if answer != first)]
    other = wrong.draw(
        answers, key=row["id"], nearby=nearby, passage=row["context"], question=row["question"]
    )
    return AskedPassage(
        record=Record(path, row["source_index"], None, row),
        split=split,
        source_id=row["id"],
        group_id=fingerprint(row["context"]),
        passage=row["context"],
        question=row["question"],
        answers=answers,
        wrong=other,
    )


SQUAD = Recast(
    phenomenon="drop",
    corpus=CORPUS,
    files=("train-v1.1.json", "dev-v1.1.json", "*train*.json", "*dev*.json"),
    rule=(
        "The hypothesis is the statement that question and answer make, entailed with the right answer, not "
        "entailed with another of its type."
    ),
    recaster=recast_squad,
    differs=(
        "The released task was not made from SQuAD, whose questions become statements as DROP's do. "
        "Validation is the dev file; no test file is read."
    ),
    released=False,
)
