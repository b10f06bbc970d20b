"""The pipeline from dumps to labelled problems: stages, funnel, tasks, labels, and the way into a release."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
from knowref_helpers import FlatParser, write_dump

from benchwright.builders.knowref import annotation, export_tasks, import_labels, mine_knowref
from benchwright.builders.knowref._stages import FunnelStage, Seen
from benchwright.builders.knowref.annotation import Labelled
from benchwright.builders.knowref.cleaning import NO_CONNECTIVE, NO_PATTERN
from benchwright.builders.knowref.persons import LOST_CHUNK, sentence_hash
from benchwright.errors import SourceError, SourceErrors, UsageError

MEN = ["Kevin", "Robert", "Dustin", "Gordon", "Martin", "Oscar"]
BODIES = [
    *(
        f"{first} yelled at {second} because he was so very angry about what happened yesterday."
        for first in MEN
        for second in MEN
        if first != second
    ),
    "[deleted]",
    'He said "no".',
    "Kevin yelled at Robert because he was so very angry about what happened yesterday. Too short, he said.",
    "Kevin yelled at the boss because he was so very angry about what happened yesterday.",
    "Paula yelled at Wendy, she was so very angry about all that had happened there.",
]


@pytest.fixture(scope="module")
def tagger_cache():
    """The user's cache, which holds the tagger."""
    from conftest import USER_CACHE

    return USER_CACHE


@pytest.fixture
def mine(tmp_path: Path, tagger, tagger_cache):
    """Mine BODIES from a dump; further arguments go to `mine_knowref`."""
    del tagger

    def run(bodies=BODIES, dump="RC_2006-01.bz2", out="mined", **options):
        path = write_dump(tmp_path / dump, bodies)
        options = {"parser": FlatParser(), "cache": tagger_cache, **options}
        return mine_knowref([path], out=tmp_path / out, **options)

    return run


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def stage(funnel, name):
    return next(stage for stage in funnel if stage.stage == name)


def test_funnel_of_a_dump(mine):
    mined = mine()
    assert [(found.stage, found.unit, found.read, found.kept) for found in mined.funnel] == [
        ("comments", "comments", 35, 33),
        ("sentences", "sentences", 34, 33),
        ("noun phrases", "sentences", 33, 32),
        ("persons", "sentences", 32, 31),
        ("new names", "sentences", 31, 31),
    ]
    assert stage(mined.funnel, "noun phrases").dropped == {"sentence met before": 1}
    assert stage(mined.funnel, "persons").dropped == {"parse: a candidate is not a person": 1}
    found = lines(mined.problems)
    assert len({record["task_id"] for record in found}) == 31
    assert Counter(record["gender"] for record in found) == {"male": 30, "female": 1}
    for record in found:
        assert record["text"].startswith(record["pronoun"], record["pronoun_loc"])
        assert record["candidate0"] in record["text"]
        assert record["candidate1"] in record["text"]
        assert not {*MEN, "Paula", "Wendy"} & set(record["text"].split()) - {
            record["candidate0"],
            record["candidate1"],
        }
    assert "31 problems in" in str(mined)


def test_published_method_finds_no_comma_and_loses_chunks(mine):
    mined = mine(method="published")
    assert stage(mined.funnel, "sentences").dropped == {NO_CONNECTIVE: 1, NO_PATTERN: 1}
    assert mined.funnel[-1].kept == 30
    bad = "Kevin yelled at Robert near the office because he was so very angry about it all."
    assert mine([*BODIES, bad], out="corrected").funnel[-1].kept == 31
    lost = mine([*BODIES, bad], method="published", out="lost")
    assert lost.funnel[-1].read == 0
    assert stage(lost.funnel, "persons").dropped[LOST_CHUNK] == 30


def test_files_are_the_same_with_more_processes_and_other_compression(mine, tmp_path):
    first = mine()
    second = mine(dump="RC_2006-01.zst", out="again", workers=2)
    for name in ("chunked.jsonl", "problems.jsonl", "swapped.jsonl"):
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes()
    assert first.funnel == second.funnel


def test_stages_are_not_made_twice(mine):
    parser = FlatParser()
    first = mine(parser=parser)
    assert parser.texts == 32
    assert mine(parser=parser).funnel == first.funnel
    assert parser.texts == 32
    other = mine(parser=parser, seed=7)
    assert parser.texts == 32
    assert lines(other.problems) != []
    # A stage that is gone is made again, and so are those of other inputs.
    (first.folder / "problems.jsonl").unlink()
    mine(parser=parser)
    assert parser.texts == 64
    mine(BODIES[:3], parser=parser)
    assert parser.texts == 67


def test_an_interrupted_stage_leaves_no_half(mine, tmp_path):
    class Broken(FlatParser):
        def parse(self, texts, *, batch_size=256):
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        mine(parser=Broken())
    assert (tmp_path / "mined" / "chunked.jsonl").is_file()
    assert not [path.name for path in (tmp_path / "mined").iterdir() if "problems" in path.name]
    assert mine().funnel[-1].kept == 31


def test_mistakes_of_users(mine, tmp_path, tagger, tagger_cache):
    with pytest.raises(SourceError, match="no such file"):
        mine_knowref([tmp_path / "nowhere.bz2"], out=tmp_path / "out", cache=tagger_cache)
    with pytest.raises(UsageError, match="no dump"):
        mine_knowref([], out=tmp_path / "out", cache=tagger_cache)
    with pytest.raises(UsageError, match="at least 1"):
        mine(workers=0)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("")
    with pytest.raises(UsageError, match="other files"):
        mine(out="full")
    (tmp_path / "twin").mkdir()
    for folder in (tmp_path, tmp_path / "twin"):
        write_dump(folder / "RC_1.bz2", BODIES)
    with pytest.raises(UsageError, match="same name"):
        mine_knowref([tmp_path / "RC_1.bz2", tmp_path / "twin"], out=tmp_path / "out", cache=tagger_cache)
    assert not (tmp_path / "out").exists()


def test_seen_texts():
    with Seen() as seen:
        assert [seen.add(text) for text in ("a", "b", "a", "\ud800", "b")] == [True, True, False, True, False]


def test_tasks(mine, tmp_path):
    mined = mine()
    tasks = export_tasks(mined.folder, out=tmp_path / "tasks")
    assert tasks.tasks == 31
    with (tmp_path / "tasks" / "tasks.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert rows == lines(tmp_path / "tasks" / "tasks.jsonl")
    problems = {record["task_id"]: record for record in lines(mined.problems)}
    turned = 0
    for row in rows:
        problem = problems[row["task_id"]]
        assert row["text"].replace("[", "").replace("]", "") == problem["text"]
        assert f"[{row['pronoun']}]" in row["text"]
        assert {row["candidate_0"], row["candidate_1"]} == {problem["candidate0"], problem["candidate1"]}
        turned += row["candidate_0"] != problem["candidate0"]
    assert 5 < turned < 26
    few = export_tasks(mined.folder, out=tmp_path / "few", limit=3)
    assert few.tasks == 3
    assert f"next: benchwright mine import-labels {mined.folder} ANSWERS" in str(few)
    with pytest.raises(SourceError, match="no mined problems"):
        export_tasks(tmp_path, out=tmp_path / "none")


def test_tasks_that_annotators_may_have_filled_in_are_not_replaced_unasked(mine, tmp_path):
    mined = mine()
    file, _ = export_tasks(mined.folder, out=tmp_path / "tasks").files
    file.write_text("task_id,annotator,answer\n")
    with pytest.raises(UsageError, match="has tasks already; add --overwrite"):
        export_tasks(mined.folder, out=tmp_path / "tasks")
    assert file.read_text() == "task_id,annotator,answer\n"
    export_tasks(mined.folder, out=tmp_path / "tasks", overwrite=True)
    assert len(file.read_text().splitlines()) == 32


def answers(mined, votes):
    """Answers as (task, annotator, answer): `votes` gives the five of the task of that number, by name."""
    rows = []
    for number, record in enumerate(sorted(lines(mined.problems), key=lambda record: record["task_id"])):
        for annotator, vote in enumerate(votes(number)):
            names = {0: record["candidate0"], 1: record["candidate1"]}
            answer = names.get(vote, vote)
            rows.append({"task_id": record["task_id"], "annotator": f"w{annotator}", "answer": answer})
    return rows


def write_csv(path, rows):
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


VOTES = {
    0: [0, 0, 0, 0, 0],
    1: [0, 0, 0, 0, 1],
    2: [0, 0, 0, 1, "neither"],
    3: [0, 0, 1, 1, "neither"],
    4: ["neither"] * 3 + [0, 1],
    5: [0, 0, 0],
}


def test_labels_by_agreement(mine, tmp_path):
    mined = mine()
    file = write_csv(tmp_path / "labels.csv", answers(mined, lambda number: VOTES.get(number, [1] * 5)))
    made = import_labels(mined.folder, file, out=tmp_path / "set", validation=0.1, test=0.2, balance="none")
    assert made.funnel[-1] == FunnelStage(
        "labels",
        "problems",
        28,
        {annotation.NO_AGREEMENT: 1, annotation.NEITHER: 1, annotation.TOO_FEW_ANSWERS: 1},
    )
    assert made.rows == {"train": 19, "val": 3, "test": 6}
    rows = {part: lines(made.folder / f"KnowRef-60K_{part}.json") for part in made.rows}
    every = [row for part in rows.values() for row in part]
    assert Counter(row["annotation_strength"] for row in every) == {"5": 26, "4": 1, "3": 1}
    assert Counter(row["correct_candidate"] for row in every) == {"candidate_1": 25, "candidate_0": 3}
    assert all(row["annotation_strength"] in "45" for row in rows["test"])
    hashed = json.loads((made.folder / "KnowRef-60K_test_hashed.json").read_text())
    assert [row["original_sentence_hashed"] for row in hashed] == [
        row["sentence_sha224"] for row in rows["test"]
    ]
    assert set(hashed[0]) == {
        "original_sentence_hashed",
        "candidate0",
        "candidate1",
        "correct_candidate",
        "annotation_strength",
    }
    sentences = {
        sentence_hash(record["original_sentence"]) for record in lines(mined.folder / "problems.jsonl")
    }
    assert {row["sentence_sha224"] for row in every} <= sentences


@pytest.mark.parametrize("balance", ["order", "drop"])
def test_both_candidates_are_right_equally_often(mine, tmp_path, balance):
    mined = mine()
    file = write_csv(tmp_path / "labels.csv", answers(mined, lambda number: [int(number % 3 > 0)] * 5))
    made = import_labels(mined.folder, file, out=tmp_path / "set", balance=balance)
    plain = import_labels(mined.folder, file, out=tmp_path / "plain", balance="none")
    for part, count in made.rows.items():
        rows = lines(made.folder / f"KnowRef-60K_{part}.json")
        labels = Counter(row["correct_candidate"] for row in rows)
        assert 0 <= labels["candidate_0"] - labels["candidate_1"] <= int(balance == "order")
        right = {row["sentence_sha224"]: name_of(row) for row in rows}
        before = {
            row["sentence_sha224"]: name_of(row) for row in lines(plain.folder / f"KnowRef-60K_{part}.json")
        }
        assert {sha224: before[sha224] for sha224 in right} == right
        assert count == len(rows) == (len(before) if balance == "order" else 2 * min(labels.values()))


def name_of(row):
    return row[row["correct_candidate"].replace("_", "")]


def test_answers_count_by_the_order_that_annotators_saw(mine, tmp_path):
    mined = mine()
    export_tasks(mined.folder, out=tmp_path / "tasks")
    shown = {row["task_id"]: row["candidate_1"] for row in lines(tmp_path / "tasks" / "tasks.jsonl")}
    rows = [
        {"task_id": task, "annotator": str(annotator), "answer": "candidate_1"}
        for task in shown
        for annotator in range(5)
    ]
    file = tmp_path / "labels.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = import_labels(mined.folder, file, out=tmp_path / "set", test=0, validation=0)
    found = lines(made.folder / "KnowRef-60K_train.json")
    assert {row["sentence_sha224"][:16]: name_of(row) for row in found} == shown


def test_bad_labels(mine, tmp_path):
    mined = mine()
    good = answers(mined, lambda number: [0] * 5)

    def labels(*rows, **options) -> Labelled:
        file = write_csv(tmp_path / "labels.csv", [*good, *rows])
        return import_labels(mined.folder, file, out=tmp_path / "set", **options)

    first = good[0]
    bad = [
        {**first, "task_id": "0000"},
        {**first, "annotator": "new", "answer": "both"},
        first,
        {**first, "annotator": ""},
    ]
    with pytest.raises(SourceErrors) as error:
        labels(*bad)
    message = str(error.value)
    for reason in ("unknown task", "unknown answer", "second answer of an annotator", "empty text"):
        assert reason in message
    assert not (tmp_path / "set").exists()
    made = labels(*bad, on_bad_row="drop")
    assert sum(made.rows.values()) == 31
    assert made.funnel[-2] == FunnelStage(
        "answers",
        "answers",
        155,
        {"unknown task": 1, "unknown answer": 1, "second answer of an annotator": 1, "empty text": 1},
    )
    with pytest.raises(UsageError, match="exists"):
        labels()
    assert sum(labels(overwrite=True).rows.values()) == 31
    for options, word in (
        ({"agreement": 2}, "more than half"),
        ({"agreement": 6}, "more than half"),
        ({"test_agreement": 2}, "from 3 to 5"),
        ({"validation": 0.7, "test": 0.7}, "shares"),
        ({"validation": float("nan")}, "shares nan and 0.05"),
        ({"test": float("nan")}, "shares 0.05 and nan"),
        ({"balance": "odd"}, "no balance"),
    ):
        with pytest.raises(UsageError, match=word):
            labels(overwrite=True, **options)


def test_bad_answers_alone_are_not_dropped(mine, tmp_path):
    mined = mine()
    rows = answers(mined, lambda number: [0] * 5)
    file = write_csv(tmp_path / "labels.csv", [row | {"task_id": "0000"} for row in rows])
    with pytest.raises(SourceError, match=r"labels\.csv: no usable row among 155 rows \(unknown task: 155\)"):
        import_labels(mined.folder, file, out=tmp_path / "set", on_bad_row="drop")


@pytest.mark.parametrize(
    ("name", "content", "missing"),
    [
        ("labels.csv", "", "the file is empty"),
        ("labels.csv", "\ufeff", "the file is empty"),
        ("labels.csv", "\n\n", "the file is empty"),
        ("labels.csv", "task_id,annotator,answer\n", "no answers below the header"),
        ("labels.csv", "task_id,annotator,answer\r\n\r\n", "no answers below the header"),
        ("labels.jsonl", "", "the file is empty"),
        ("labels.jsonl", "\n", "the file is empty"),
    ],
)
@pytest.mark.parametrize("policy", ["fail", "drop"])
def test_a_file_without_answers(mine, tmp_path, name, content, missing, policy):
    mined = mine()
    file = tmp_path / name
    file.write_text(content, newline="")
    with pytest.raises(SourceError, match=f"^{file}: {missing}; .+") as error:
        import_labels(mined.folder, file, out=tmp_path / "set", on_bad_row=policy)
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 2
    assert not (tmp_path / "set").exists()


def test_the_funnel_of_labels_is_that_of_the_dumps_mined_last(mine, tmp_path):
    mine(["Not one of these comments is a problem."], dump="RC_2005-12.bz2")
    mined = mine(dump="RC_2006-01.bz2")
    file = write_csv(tmp_path / "labels.csv", answers(mined, lambda number: [0] * 5))
    made = import_labels(mined.folder, file, out=tmp_path / "set")
    assert made.funnel[: len(mined.funnel)] == mined.funnel
    assert made.funnel[0].read == len(BODIES)
    # The same comments under another name are mined already.
    (tmp_path / "RC_2006-01.bz2").rename(tmp_path / "RC_2006-02.bz2")
    again = mine(dump="RC_2006-02.bz2")
    made = import_labels(again.folder, file, out=tmp_path / "set", overwrite=True)
    assert made.funnel[: len(again.funnel)] == again.funnel == mined.funnel


@pytest.mark.parametrize("place", ["mined", "notes", "labels.csv"])
def test_overwrite_replaces_nothing_but_a_labelled_data_set(mine, tmp_path, place):
    mined = mine()
    file = write_csv(tmp_path / "labels.csv", answers(mined, lambda number: [0] * 5))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "KnowRef-60K_my_notes.json").write_text("precious")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match=f"{place} is no labelled data set, so it is left alone"):
        import_labels(mined.folder, file, out=tmp_path / place, overwrite=True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_what_stands_behind_a_missing_folder_is_kept(mine, tmp_path):
    mined = mine()
    file = write_csv(tmp_path / "labels.csv", answers(mined, lambda number: [0] * 5))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "tasks.csv").write_text("precious")
    out = tmp_path / "missing" / ".." / "notes"
    for write in (
        lambda: import_labels(mined.folder, file, out=out),
        lambda: export_tasks(mined.folder, out=out),
        lambda: mine(out="missing/../notes"),
    ):
        with pytest.raises(UsageError, match="goes up from a folder that does not exist"):
            write()
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["tasks.csv"]
    assert (tmp_path / "notes" / "tasks.csv").read_text() == "precious"
    assert not (tmp_path / "missing").exists()


def test_three_annotators_and_tasks_that_nobody_answered(mine, tmp_path):
    mined = mine()
    votes = {0: [0, 0, 0], 1: [0, 1, 0], 2: [0, 1, "neither"], 3: [1, 1], 4: ["neither", 1, "neither"]}
    file = write_csv(tmp_path / "labels.csv", answers(mined, lambda number: votes.get(number, [])))
    made = import_labels(mined.folder, file, out=tmp_path / "set", annotators=3, validation=0, test=0.5)
    assert [str(stage) for stage in made.funnel[-2:]] == [
        "answers: 14 of 14 answers kept",
        "labels: 2 of 31 problems kept\n"
        "         26 no answers\n"
        "          1 annotators agree on neither candidate\n"
        "          1 fewer annotators agree than asked for\n"
        "          1 fewer answers than annotators",
    ]
    # More than half must agree, and in the test part one more.
    assert made.rows == {"train": 1, "test": 1}
    (row,) = lines(made.folder / "KnowRef-60K_test.json")
    assert row["annotation_strength"] == "3"


def test_answers_that_label_nothing_make_no_data_set(mine, tmp_path):
    mined = mine()
    file = write_csv(tmp_path / "labels.csv", answers(mined, lambda number: [0] * 3 if number < 2 else []))
    message = r"labels no problem \(2 fewer answers than annotators\).*set --annotators 3"
    with pytest.raises(UsageError, match=message):
        import_labels(mined.folder, file, out=tmp_path / "new" / "set")
    file = write_csv(tmp_path / "labels.csv", answers(mined, lambda number: [0] * 5 if number < 2 else []))
    with pytest.raises(UsageError, match=r"\(2 left out for equal shares of both candidates\)"):
        import_labels(mined.folder, file, out=tmp_path / "new" / "set", balance="drop")
    assert not (tmp_path / "new").exists()


def test_labelled_problems_become_a_release(mine, tmp_path):
    from benchwright.builders.build import build

    mined = mine()
    file = write_csv(tmp_path / "labels.csv", answers(mined, lambda number: [int(number % 3 > 0)] * 5))
    made = import_labels(mined.folder, file, out=tmp_path / "set")
    release = build("knowref_60k", source=made.folder, out=tmp_path / "release")
    texts = release.table("standard", "train").to_pylist()
    assert len(texts) == made.rows["train"]
    funnel = release.manifest["source"]["funnel"]
    assert [found["stage"] for found in funnel] == [
        "comments", "sentences", "noun phrases", "persons", "new names", "answers", "labels",
    ]  # fmt: skip
    # The hashes with the mined problems give the same rows as the texts.
    folder = tmp_path / "hashes"
    folder.mkdir()
    for path in [*made.folder.glob("*_hashed.json"), mined.folder / "problems.jsonl"]:
        (folder / path.name).write_bytes(path.read_bytes())
    again = build("knowref_60k", source=folder, out=tmp_path / "again")
    assert again.table("standard", "train").to_pylist() == texts
