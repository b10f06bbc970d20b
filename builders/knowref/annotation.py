"""Tasks for annotators, and the labels on which enough of them agree (2011.04767, Section 6)."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ...atomic import atomic_open, replace_folder, write_text
from ...errors import SourceError, UsageError, show
from ...faults import FaultLog, Policy
from ...wording import plural
from ..sources.files import InputFile
from ..sources.records import Record, Records, no_usable_row
from ._stages import FunnelStage, StageFolder, check_way, made_folder, read_lines
from .mining import CHUNKED, PROBLEMS, SWAPPED

Balance = Literal["order", "drop", "none"]
ANSWERS = ("candidate_0", "candidate_1", "neither")
PARTS = ("train", "val", "test")

NO_ANSWERS = "no answers"
TOO_FEW_ANSWERS = "fewer answers than annotators"
NO_AGREEMENT = "fewer annotators agree than asked for"
NEITHER = "annotators agree on neither candidate"
NOT_BALANCED = "left out for equal shares of both candidates"

_LABELLED_FILE = re.compile(rf"funnel\.json|KnowRef-60K_(?:{'|'.join(PARTS)})(?:_hashed)?\.json")
_ANSWER = ("task_id", "annotator", "answer")
_TASK_COLUMNS = ("task_id", "text", "pronoun", "candidate_0", "candidate_1", "question")


@dataclass(frozen=True)
class Tasks:
    """Files of annotation tasks, made of the problems in the folder `mined`. `tasks` counts them."""

    mined: Path
    files: tuple[Path, ...]
    tasks: int

    def __str__(self) -> str:
        return (
            f"{plural(self.tasks, 'task')} in {' and '.join(map(str, self.files))}\n"
            "answers: a CSV or JSON Lines file with task_id, annotator and answer (candidate_0, candidate_1, "
            "neither, or the name of a candidate)\n"
            f"next: benchwright mine import-labels {self.mined} ANSWERS --out LABELLED"
        )


@dataclass(frozen=True)
class Labelled:
    """Labelled problems in the form of the released data, and the funnel of mining with that of labels."""

    folder: Path
    rows: Mapping[str, int]
    funnel: tuple[FunnelStage, ...]

    def to_json(self) -> dict[str, Any]:
        return {"rows": dict(self.rows), "funnel": [stage.to_json() for stage in self.funnel]}

    def __str__(self) -> str:
        rows = ", ".join(f"{part} {count}" for part, count in self.rows.items())
        return (
            f"{self.funnel[-2]}\n{self.funnel[-1]}\n"
            f"{plural(sum(self.rows.values()), 'row')} in {self.folder}: {rows}\n"
            f"next: benchwright build knowref_60k --source {self.folder} --out RELEASE"
        )


def export_tasks(
    mined: str | Path, *, out: str | Path, limit: int | None = None, overwrite: bool = False
) -> Tasks:
    """Write the problems of `mine_knowref` as tasks: `tasks.csv` and `tasks.jsonl` in the folder `out`.

    The columns are task_id, text (the pronoun in square brackets), pronoun, candidate_0, candidate_1 and
    question; answers are candidate_0, candidate_1 or neither. Every other task, by its hash, names the
    candidates in the reverse order, so that their order says nothing. `limit` tasks at most, the first ones.

    Raises SourceError where `mined` is no folder of `mine_knowref`, UsageError where tasks stand in `out`,
    maybe with answers by now, unless `overwrite` is set.
    """
    rows = [_task(record) for record in _problems(Path(mined))][:limit]
    target = Path(out)
    files = target / "tasks.csv", target / "tasks.jsonl"
    check_way(target)
    new = [file for file in files if not file.exists()]
    if len(new) < len(files) and not overwrite:
        raise UsageError(f"{target} has tasks already; add --overwrite or give another folder")
    with made_folder(target):
        try:
            with atomic_open(files[0]) as table, atomic_open(files[1]) as lines:
                writer = csv.DictWriter(table, _TASK_COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
                lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        except BaseException:
            # Both files are there, or neither.
            for file in new:
                file.unlink(missing_ok=True)
            raise
    return Tasks(Path(mined), files, len(rows))


def _problems(folder: Path) -> Iterator[dict[str, Any]]:
    path = folder / SWAPPED
    if not path.is_file():
        raise SourceError(
            "no mined problems", path=path, fix="give the folder that benchwright mine knowref made"
        )
    return read_lines(path)


def _is_reversed(task_id: str) -> bool:
    return int(task_id[-1], 16) % 2 == 1


def _task(record: Mapping[str, Any]) -> dict[str, str]:
    text, pronoun, start = record["text"], record["pronoun"], record["pronoun_loc"]
    end = start + len(pronoun)
    candidates = [record["candidate0"], record["candidate1"]]
    first, second = candidates[::-1] if _is_reversed(record["task_id"]) else candidates
    return {
        "task_id": record["task_id"],
        "text": f"{text[:start]}[{pronoun}]{text[end:]}",
        "pronoun": pronoun,
        "candidate_0": first,
        "candidate_1": second,
        "question": f"Who does [{pronoun}] stand for?",
    }


@dataclass
class _Answers:
    """The answers to one task, by annotator."""

    by_annotator: dict[str, str] = field(default_factory=dict)

    def most(self) -> tuple[str, int]:
        """The commonest answer and how many gave it; of equal ones the first of ANSWERS."""
        counts = Counter(self.by_annotator.values())
        answer = max(ANSWERS, key=lambda name: (counts[name], -ANSWERS.index(name)))
        return answer, counts[answer]


def import_labels(
    mined: str | Path,
    labels: str | Path,
    *,
    out: str | Path,
    annotators: int = 5,
    agreement: int | None = None,
    test_agreement: int | None = None,
    validation: float = 0.05,
    test: float = 0.05,
    balance: Balance = "order",
    on_bad_row: Policy = "fail",
    overwrite: bool = False,
) -> Labelled:
    """Make labelled problems of the answers to tasks, in files as those of the released data.

    `labels` is a CSV or JSON Lines file with task_id, annotator and answer: candidate_0, candidate_1,
    neither, or the name of a candidate; further columns are passed over. A problem needs `annotators`
    answers (should there be more, the first by name of annotator count), of which `agreement` must be the
    same (None: more than half): their number is its annotation strength. `balance` makes both candidates
    equally often right, in each part: by naming some in the reverse order (`order`), by leaving problems out
    (`drop`), or not (`none`). Parts are drawn by the hash of the sentence, with the shares `validation` and
    `test`; the latter takes only problems of at least `test_agreement` (None: one more than `agreement`,
    where there are so many annotators).

    Writes `KnowRef-60K_PART.json` (texts) and `KnowRef-60K_PART_hashed.json` (hashes and new names, for
    publication), both readable by the builder `knowref_60k` with `problems.jsonl`. With `overwrite` an
    earlier labelled data set at `out` is replaced, and nothing else ever is. Raises UsageError for options
    and where no problem is left, SourceError for faults in the labels.
    """
    agreement = annotators // 2 + 1 if agreement is None else agreement
    test_agreement = min(agreement + 1, annotators) if test_agreement is None else test_agreement
    _check(annotators, agreement, test_agreement, validation, test, balance)
    target = Path(out)
    _check_target(target, overwrite)
    problems = {record["task_id"]: record for record in _problems(Path(mined))}
    faults = FaultLog(on_bad_row)
    answers = _read_answers(Path(labels), problems, faults)
    rows, dropped = _judged(problems, answers, annotators, agreement)
    parts = _parts(rows, test_agreement, validation, test)
    balanced = {part: rest for part, found in parts.items() if (rest := _balanced(found, balance))}
    sizes = {part: len(found) for part, found in balanced.items()}
    kept = sum(sizes.values())
    if kept < len(rows):
        dropped[NOT_BALANCED] += len(rows) - kept
    if not kept:
        raise UsageError(_nothing_left(Path(labels), answers, dropped, annotators))
    mining = StageFolder(Path(mined))
    read = sum(len(given.by_annotator) for given in answers.values())
    funnel = (
        *mining.funnel([*mining.made_of(CHUNKED), CHUNKED, PROBLEMS, SWAPPED]),
        FunnelStage("answers", "answers", read, faults.dropped),
        FunnelStage("labels", "problems", kept, dropped),
    )
    _write(target, balanced, funnel)
    return Labelled(target, sizes, funnel)


def _check_target(target: Path, overwrite: bool) -> None:
    """Raise UsageError unless `target` is free, or `overwrite` may replace it: by what is in it, ours."""
    check_way(target)
    if not target.exists() and not target.is_symlink():
        return
    if not overwrite:
        raise UsageError(f"{target} exists; add --overwrite or give another folder")
    if not target.is_dir() or not all(_LABELLED_FILE.fullmatch(path.name) for path in target.iterdir()):
        raise UsageError(f"{target} is no labelled data set, so it is left alone; give another folder")


def _judged(
    problems: Mapping[str, Mapping[str, Any]],
    answers: Mapping[str, _Answers],
    annotators: int,
    agreement: int,
) -> tuple[list[_Row], Counter[str]]:
    """The labelled problems in the order of their hashes, and how many others there are by reason."""
    dropped: Counter[str] = Counter()
    rows = []
    for task_id in sorted(problems):
        row = _labelled(problems[task_id], answers.get(task_id, _Answers()), annotators, agreement)
        if isinstance(row, str):
            dropped[row] += 1
        else:
            rows.append(row)
    return rows, dropped


def _nothing_left(
    labels: Path, answers: Mapping[str, _Answers], dropped: Mapping[str, int], annotators: int
) -> str:
    most = max((len(given.by_annotator) for given in answers.values()), default=0)
    reasons = ", ".join(f"{count} {reason}" for reason, count in dropped.items() if reason != NO_ANSWERS)
    fix = "have more tasks answered"
    if 0 < most < annotators:
        fix = f"no task has more than {plural(most, 'answer')}; set --annotators {most}, or get more answers"
    return f"{labels} labels no problem ({reasons or NO_ANSWERS}): {fix}"


def _check(
    annotators: int, agreement: int, test_agreement: int, validation: float, test: float, balance: str
) -> None:
    if not annotators / 2 < agreement <= annotators:
        raise UsageError(
            f"agreement of {agreement} of {annotators}; give more than half of the annotators, and no more "
            "than there are"
        )
    if not agreement <= test_agreement <= annotators:
        raise UsageError(
            f"test agreement of {test_agreement}; give a number from {agreement} to {annotators}"
        )
    # Written so that NaN, which compares with nothing, is refused.
    if not (validation >= 0 and test >= 0 and validation + test <= 1):
        raise UsageError(f"shares {validation} and {test}; give shares of 0 or more that sum to 1 at most")
    if balance not in ("order", "drop", "none"):
        raise UsageError(f"no balance {show(balance)}; give order, drop or none")


def _read_answers(path: Path, problems: Mapping[str, Any], faults: FaultLog) -> dict[str, _Answers]:
    """The answers by task.

    Raises SourceError for a file without usable answers, unknown tasks and answers, and for a second answer.
    """
    answers: dict[str, _Answers] = {}
    for record in _records(path, faults):
        try:
            task_id, annotator = record.filled_text("task_id"), record.filled_text("annotator")
            if task_id not in problems:
                raise record.fault(
                    "unknown task", "task_id", value=task_id, fix="give the labels of these tasks"
                )
            answer = _answer(record, problems[task_id])
            own = answers.setdefault(task_id, _Answers()).by_annotator
            if annotator in own:
                raise record.fault(
                    "second answer of an annotator", "annotator", value=annotator, fix="keep one of them"
                )
            own[annotator] = answer
        except SourceError as fault:
            faults.bad(fault)
    faults.finish()
    if not answers:
        raise no_usable_row(path, faults.dropped)
    return answers


def _records(path: Path, faults: FaultLog) -> Iterable[Record]:
    file = InputFile(path, path.name)
    if file.format != "csv":
        return Records(file, faults)
    with file.open() as stream:
        text = stream.read()
    try:
        reader = csv.DictReader(io.StringIO(text.decode("utf-8-sig"), newline=""))
        found = [
            Record(file.shown, row, None, {name: value for name, value in fields.items() if name is not None})
            for row, fields in enumerate(reader)
        ]
    except (UnicodeDecodeError, csv.Error) as error:
        raise SourceError(
            "no CSV text in UTF-8", path=path, value=str(error), fix="save it as CSV in UTF-8"
        ) from None
    if not found:
        missing = "no answers below the header" if reader.fieldnames else "the file is empty"
        raise SourceError(missing, path=path, fix=f"give a line for each answer, with {', '.join(_ANSWER)}")
    return found


def _answer(record: Record, problem: Mapping[str, Any]) -> str:
    """candidate_0 or candidate_1 as the problem numbers them, or neither."""
    given = record.filled_text("answer").strip()
    numbers = {problem["candidate0"]: "candidate_0", problem["candidate1"]: "candidate_1"}
    if given in numbers:
        return numbers[given]
    if given not in ANSWERS:
        raise record.fault(
            "unknown answer",
            "answer",
            value=given,
            fix=f"known answers: {', '.join(ANSWERS)}, or a candidate's name",
        )
    if given != "neither" and _is_reversed(problem["task_id"]):
        return "candidate_1" if given == "candidate_0" else "candidate_0"
    return given


@dataclass(frozen=True)
class _Row:
    """A labelled problem. `reversed` says that its candidates have changed their numbers since mining."""

    problem: Mapping[str, Any]
    label: int
    strength: int
    reversed: bool = False

    def named(self) -> dict[str, str]:
        names = [self.problem["candidate0"], self.problem["candidate1"]]
        first, second = names[::-1] if self.reversed else names
        return {
            "candidate0": first,
            "candidate1": second,
            "correct_candidate": f"candidate_{self.label}",
            "annotation_strength": str(self.strength),
        }

    def with_text(self) -> dict[str, Any]:
        more = ("pronoun", "pronoun_loc", "gender", "connective", "sentence_sha224")
        return {
            "swapped_sentence": self.problem["text"],
            **self.named(),
            **{name: self.problem[name] for name in more},
        }

    def hashed(self) -> dict[str, Any]:
        mark = {"reversed": True} if self.reversed else {}
        return {"original_sentence_hashed": self.problem["sentence_sha224"], **self.named(), **mark}


def _labelled(problem: Mapping[str, Any], answers: _Answers, annotators: int, agreement: int) -> _Row | str:
    """The problem with its label, or why it has none."""
    given = sorted(answers.by_annotator.items())
    if not given:
        return NO_ANSWERS
    if len(given) < annotators:
        return TOO_FEW_ANSWERS
    answer, strength = _Answers(dict(given[:annotators])).most()
    if strength < agreement:
        return NO_AGREEMENT
    return NEITHER if answer == "neither" else _Row(problem, int(answer[-1]), strength)


def _parts(
    rows: Sequence[_Row], test_agreement: int, validation: float, test: float
) -> dict[str, list[_Row]]:
    """The rows of each part, in order of their hashes: the test part first, of rows with enough agreement."""
    able = [row for row in rows if row.strength >= test_agreement]
    chosen = {row.problem["task_id"] for row in able[: round(test * len(rows))]}
    others = [row for row in rows if row.problem["task_id"] not in chosen]
    held = round(validation * len(rows))
    found = {
        "train": others[held:],
        "val": others[:held],
        "test": [row for row in able if row.problem["task_id"] in chosen],
    }
    return {part: found[part] for part in PARTS if found[part]}


def _balanced(rows: list[_Row], balance: Balance) -> list[_Row]:
    """The rows of one part with both labels equally often, or candidate 0 once more."""
    wanted = (len(rows) + 1) // 2
    by_label = [[row for row in rows if row.label == label] for label in (0, 1)]
    if balance == "none":
        return rows
    if balance == "drop":
        least = min(map(len, by_label))
        kept = {row.problem["task_id"] for found in by_label for row in found[:least]}
        return [row for row in rows if row.problem["task_id"] in kept]
    many = 0 if len(by_label[0]) > wanted else 1
    surplus = len(by_label[many]) - (wanted if many == 0 else len(rows) - wanted)
    turned = {row.problem["task_id"] for row in by_label[many][: max(0, surplus)]}
    return [
        replace(row, label=1 - row.label, reversed=True) if row.problem["task_id"] in turned else row
        for row in rows
    ]


def _write(target: Path, parts: Mapping[str, Sequence[_Row]], funnel: Sequence[FunnelStage]) -> None:
    """All files of a labelled data set, whole or not at all."""
    staged = target.with_name(f".{target.name}.part")
    # What a process that was killed left there.
    shutil.rmtree(staged, ignore_errors=True)
    with made_folder(target.parent):
        try:
            staged.mkdir()
            for part, rows in parts.items():
                text = "".join(json.dumps(row.with_text(), ensure_ascii=False) + "\n" for row in rows)
                write_text(staged / f"KnowRef-60K_{part}.json", text)
                hashed = ",\n".join(json.dumps(row.hashed(), ensure_ascii=False) for row in rows)
                write_text(staged / f"KnowRef-60K_{part}_hashed.json", f"[\n{hashed}\n]\n")
            stages = [stage.to_json() for stage in funnel]
            write_text(staged / "funnel.json", json.dumps(stages, indent=2) + "\n")
            replace_folder(staged, target)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
