"""A sample of wrong answers to be typed by hand, and the counts of its types (2210.06799, Table 15).

`export_errors` writes a sample as JSON Lines or CSV with an empty field `error_type`; a person fills it in
(several types are separated by `;`); `store_typed_errors` keeps the file beside the result that it is of,
from where `typed_errors` counts it for the index and the card.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...atomic import write_text
from ...errors import SourceError, UsageError
from ...release import ReleaseFolder
from ..data import load_data
from ..judging import Resources
from ..metrics import metrics
from ..metrics.text_to_sql import EXACT_SET_MATCH, failing_components
from ..results import Result, load_results, read_examples, stale_reason

TYPE_FIELD = "error_type"
SEPARATOR = ";"

ErrorRow = dict[str, str]
"""`uid`, the task's inputs, `gold`, `prediction`, `failing` (what differs, where that is known, separated by
`;`) and `error_type`, empty."""


@dataclass(frozen=True)
class ErrorCounts:
    """Types of one result's sampled errors: rows in the sample, rows with a type, rows by type.

    `counts` are ordered from the most frequent type; a row with several types counts for each.
    """

    baseline: str
    model: str | None
    settings_hash: str
    metric: str
    config: str
    sampled: int
    typed: int
    counts: dict[str, int]


def sample_errors(
    release: ReleaseFolder | str | Path,
    config: str,
    baseline: str,
    *,
    settings: str | None = None,
    limit: int = 100,
    seed: int = 0,
) -> list[ErrorRow]:
    """At most `limit` rows that a stored result has wrong by its headline metric, in file order.

    They are drawn by a hash of seed and uid, so that neither the order of rows nor other errors change who
    is drawn first. `settings` is the beginning of the settings hash, where a baseline has several results on
    the config. Raises UsageError where no result, or more than one, is meant, or where it has no errors.
    """
    folder = release if isinstance(release, ReleaseFolder) else ReleaseFolder(release)
    if limit < 1:
        raise UsageError(f"limit is a number of rows from 1, got {limit}")
    result = find_result(folder, config, baseline, settings)
    wrong = [line for line in read_examples(folder, result) if line["scores"].get(result.headline, 1) < 1]
    if not wrong:
        raise UsageError(f"{result.file} has no wrong answer to look at")
    drawn = {line["uid"] for line in sorted(wrong, key=lambda line: _key(seed, line["uid"]))[:limit]}
    return _error_rows(folder, result, [line for line in wrong if line["uid"] in drawn])


def export_errors(
    release: ReleaseFolder | str | Path,
    config: str,
    baseline: str,
    out: str | Path,
    *,
    settings: str | None = None,
    limit: int = 100,
    seed: int = 0,
    overwrite: bool = False,
) -> int:
    """Write `sample_errors` to a .jsonl or .csv file; the number of rows.

    Raises UsageError as it does, and for a file that exists already, unless `overwrite`: types that a person
    filled in would be lost.
    """
    path = Path(out)
    _format(path)
    if path.exists() and not overwrite:
        raise UsageError(f"{path} exists already; choose another file or replace it with --overwrite")
    rows = sample_errors(release, config, baseline, settings=settings, limit=limit, seed=seed)
    write_text(path, _text(path, rows))
    return len(rows)


def count_errors(file: str | Path) -> Counter[str]:
    """Rows by error type in a typed file; rows without a type are not counted.

    Raises UsageError for a file of another format, SourceError for one that cannot be read.
    """
    return Counter(kind for row in _read(Path(file)) for kind in _types(row))


def store_typed_errors(
    release: ReleaseFolder | str | Path,
    config: str,
    baseline: str,
    typed: str | Path,
    *,
    settings: str | None = None,
) -> ErrorCounts:
    """Keep a typed file beside its result, as `<result>.errors.jsonl`; `refresh_index` then counts it.

    Raises UsageError where no result, or more than one, is meant, SourceError for a file that cannot be
    read, has no type at all, names a uid twice, or has a row that is no wrong answer of the result.
    """
    folder = release if isinstance(release, ReleaseFolder) else ReleaseFolder(release)
    result = find_result(folder, config, baseline, settings)
    path = Path(typed)
    rows = _read(path)
    answers = _wrong_answers(folder, result)
    first: dict[str, int] = {}
    for number, row in enumerate(rows):
        if first.setdefault(row["uid"], number) != number:
            reason = "the uid is repeated"
            fix = f"keep this row or row {first[row['uid']]}, several types separated by {SEPARATOR!r}"
            raise SourceError(reason, path=path, row=number, field="uid", value=row["uid"], fix=fix)
        if answers.get(row["uid"]) != row["prediction"]:
            reason = f"no wrong answer of {baseline} on {config}"
            fix = "type a sample of this result, or name the one that it is of"
            raise SourceError(reason, path=path, row=number, field="uid", value=row["uid"], fix=fix)
    if not any(_types(row) for row in rows):
        raise SourceError("no row has a type", path=path, field=TYPE_FIELD, fix="fill in the field")
    kept = [{name: row[name] for name in ("uid", "prediction", TYPE_FIELD)} for row in rows]
    write_text(_typed_file(folder, result), _text(_typed_file(folder, result), kept))
    return _counts(result, rows)


def typed_errors(release: ReleaseFolder, results: Iterable[Result]) -> list[ErrorCounts]:
    """Counts of every result that has a typed sample; those whose answers have changed since are left out.

    Raises SourceError for a stored sample that cannot be read.
    """
    found = []
    for result in results:
        path = _typed_file(release, result)
        if path.is_file():
            rows, answers = _read(path), _wrong_answers(release, result)
            if all(answers.get(row["uid"]) == row["prediction"] for row in rows):
                found.append(_counts(result, rows))
    return found


def find_result(release: ReleaseFolder, config: str, baseline: str, settings: str | None = None) -> Result:
    """The stored result of a baseline on a config, not stale.

    Of several, without `settings`, the only one on all rows of the split test is meant. Raises UsageError
    where there is none, or where more than one may be meant.
    """
    release.config(config)
    found = [
        result
        for result in load_results(release)
        if (result.config, result.baseline) == (config, baseline)
        and result.settings_hash.removeprefix("sha256:").startswith(settings or "")
        and stale_reason(result, release) is None
    ]
    whole = [result for result in found if (result.evaluated_on, result.limit) == ("test", None)]
    if len(whole) == 1 and not settings:
        found = whole
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"no current result of {baseline!r} on {config}; run `benchwright eval` first")
    several = ", ".join(map(_described, found))
    raise UsageError(f"{baseline!r} has {len(found)} results on {config}; choose by settings: {several}")


def _described(result: Result) -> str:
    """Beginning of a result's settings hash and what tells it from others of its baseline and config."""
    model = [result.model] if result.model is not None else []
    limit = f"limit {result.limit}" if result.limit is not None else "no limit"
    parts = ", ".join([*model, result.evaluated_on, limit, f"seed {result.seed}"])
    return f"{result.settings_hash.removeprefix('sha256:')[:12]} ({parts})"


def _error_rows(release: ReleaseFolder, result: Result, wrong: Sequence[Mapping[str, Any]]) -> list[ErrorRow]:
    data = load_data(release, result.config, result.evaluated_on)
    place = {uid: row for row, uid in enumerate(data.evaluation.uids)}
    gold = [data.evaluation.gold[place[line["uid"]]] for line in wrong]
    answers = [_answer(line["prediction"]) for line in wrong]
    failing = [""] * len(wrong)
    if EXACT_SET_MATCH.name in result.metrics:
        context = Resources(release).context(data, list(result.metrics), [line["uid"] for line in wrong])
        if metrics.get(EXACT_SET_MATCH.name).not_applicable(context) is None:
            failing = [SEPARATOR.join(names) for names in failing_components(gold, answers, context)]
    return [
        {
            "uid": line["uid"],
            **{name: values[place[line["uid"]]] for name, values in data.evaluation.inputs.items()},
            "gold": gold[row],
            "prediction": answers[row],
            "failing": failing[row],
            TYPE_FIELD: "",
        }
        for row, line in enumerate(wrong)
    ]


def _wrong_answers(release: ReleaseFolder, result: Result) -> dict[str, str]:
    return {
        line["uid"]: _answer(line["prediction"])
        for line in read_examples(release, result)
        if line["scores"].get(result.headline, 1) < 1
    }


def _answer(prediction: str | list[str]) -> str:
    return prediction if isinstance(prediction, str) else SEPARATOR.join(prediction)


def _counts(result: Result, rows: Sequence[Mapping[str, str]]) -> ErrorCounts:
    kinds = Counter(kind for row in rows for kind in _types(row))
    ordered = dict(sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0])))
    run = result.baseline, result.model, result.settings_hash, result.headline, result.config
    return ErrorCounts(*run, len(rows), sum(bool(_types(row)) for row in rows), ordered)


def _types(row: Mapping[str, str]) -> list[str]:
    parts = (" ".join(part.split()) for part in row[TYPE_FIELD].split(SEPARATOR))
    return list(dict.fromkeys(part for part in parts if part))


def _key(seed: int, uid: str) -> bytes:
    return hashlib.blake2b(f"{seed}:{uid}".encode(), digest_size=16).digest()


def _typed_file(release: ReleaseFolder, result: Result) -> Path:
    return release.path / (result.file.removesuffix(".json") + ".errors.jsonl")


def _format(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in (".jsonl", ".csv"):
        raise UsageError(f"errors are written to and read from .jsonl or .csv files, got {str(path)!r}")
    return suffix


def _text(path: Path, rows: Sequence[Mapping[str, str]]) -> str:
    if _format(path) == ".jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def _read(path: Path) -> list[dict[str, str]]:
    """Rows of a typed file with uid, prediction and error_type as text."""
    suffix = _format(path)
    if not path.is_file():
        raise UsageError(f"no file of errors at {str(path)!r}")
    try:
        text = path.read_bytes().decode("utf-8-sig")
        rows: list[Any]
        if suffix == ".jsonl":
            rows = [json.loads(line) for line in text.split("\n") if line.strip()]
        else:
            rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (ValueError, csv.Error) as error:
        raise SourceError(f"cannot be read ({error})", path=path, fix="save it as UTF-8 text") from None
    for number, row in enumerate(rows):
        for name in ("uid", "prediction", TYPE_FIELD):
            if not isinstance(row, dict) or not isinstance(row.get(name), str):
                fix = "keep the fields of the exported sample"
                raise SourceError("the field is missing", path=path, row=number, field=name, fix=fix)
    return rows
