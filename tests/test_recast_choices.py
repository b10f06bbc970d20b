"""Recasts of multiple-choice corpora, from small files of our own in the published formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from recast_corpora import recast, write

from benchwright.builders.curriculum.recast.social_iqa import framed
from benchwright.errors import SourceError, SourceErrors

ENTAILED, NOT_ENTAILED = "entailed", "not-entailed"


def write_piqa(folder: Path, labels: str = "0\n1\n") -> None:
    items = [
        {"goal": "To dry a NASA shirt, ", "sol1": "hang it up", "sol2": "put it in water."},
        {"goal": "dresser", "sol1": "Freeze it.", "sol2": "Open it."},
    ]
    write(folder, "train.jsonl", items)
    write(folder, "train-labels.lst", labels)
    write(folder, "tests.jsonl", [{"goal": "g", "sol1": "a", "sol2": "b"}])


def test_piqa_takes_both_solutions(tmp_path: Path) -> None:
    write_piqa(tmp_path)
    result = recast("physicalqa/piqa", tmp_path)
    assert result.triples() == [
        ("To dry a NASA shirt,", "hang it up", ENTAILED),
        ("To dry a NASA shirt,", "put it in water.", NOT_ENTAILED),
        ("dresser", "Freeze it.", NOT_ENTAILED),
        ("dresser", "Open it.", ENTAILED),
    ]
    assert result.groups() == ["piqa:train:0"] * 2 + ["piqa:train:1"] * 2
    assert [(file.name, file.rows) for file in result.made.files] == [
        ("train.jsonl", 2),
        ("train-labels.lst", 2),
    ]
    assert result.made.notes == ("source split dev is missing",)


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ("0\n", "1 labels for 2 items"),
        ("0\n1\n0\n", "3 labels for 2 items"),
        ("0\n2\n", "unknown label, got '2'"),
    ],
)
def test_piqa_with_other_labels(tmp_path: Path, labels: str, reason: str) -> None:
    write_piqa(tmp_path, labels)
    with pytest.raises(SourceError, match=reason):
        recast("physicalqa/piqa", tmp_path)


def test_a_blank_line_moves_no_label(tmp_path: Path) -> None:
    write_piqa(tmp_path, "0\n1\n\n \n")
    assert len(recast("physicalqa/piqa", tmp_path).rows) == 4
    for labels, line in (("0\n\n1\n", 2), ("\n0\n1\n", 1), ("0\n \n\n1\n1\n", 2)):
        write_piqa(tmp_path, labels)
        with pytest.raises(SourceError) as caught:
            recast("physicalqa/piqa", tmp_path)
        assert str(caught.value) == (
            f"{tmp_path / 'train-labels.lst'}, line {line}: a blank line between labels; "
            "give the label of this line's item, or take item and line out"
        )


def test_piqa_without_labels(tmp_path: Path) -> None:
    write_piqa(tmp_path)
    (tmp_path / "train.jsonl").rename(tmp_path / "valid.jsonl")
    with pytest.raises(SourceError, match=r"no train\.jsonl"):
        recast("physicalqa/piqa", tmp_path)


def social(question: str, *answers: str, context: str = "Kai met Jan.") -> dict[str, str]:
    named = dict(zip(("answerA", "answerB", "answerC"), answers, strict=True))
    return {"context": context, "question": question, **named}


def test_social_iqa_completes_the_questions_sentence(tmp_path: Path) -> None:
    items = [
        social("What will Kai want to do next?", "thank Jan", "to leave", "Eat"),
        social("How would Others feel as a result?", "like leaving", "they were sad", "angry"),
    ]
    write(tmp_path, "train.jsonl", items)
    write(tmp_path, "train-labels.lst", "2\n3\n")
    result = recast("socialqa/social_iqa", tmp_path)
    premise = "Kai met Jan. How would Others feel as a result?"
    assert result.triples() == [
        ("Kai met Jan.", "Kai will want to thank Jan next.", NOT_ENTAILED),
        ("Kai met Jan.", "Kai will want to leave next.", ENTAILED),
        ("Kai met Jan.", "Kai will want to eat next.", NOT_ENTAILED),
        (premise, "like leaving", NOT_ENTAILED),
        (premise, "they were sad", NOT_ENTAILED),
        (premise, "angry", ENTAILED),
    ]
    assert [row["recast_rule"] for row in result.rows] == ["question_frame"] * 3 + [
        "question_and_choices"
    ] * 3


def test_social_iqa_in_version_1_4(tmp_path: Path) -> None:
    items = [social("How would Kai feel?", "sad", "proud", "glad") | {"correct": "B", "promptDim": "xReact"}]
    write(tmp_path, "socialIQa_v1.4_dev.jsonl", items)
    result = recast("socialqa/social_iqa", tmp_path)
    assert [(row["hypothesis"], row["label"]) for row in result.rows] == [
        ("Kai would feel sad.", NOT_ENTAILED),
        ("Kai would feel proud.", ENTAILED),
        ("Kai would feel glad.", NOT_ENTAILED),
    ]
    assert {row["source_split"] for row in result.rows} == {"dev"}


@pytest.mark.parametrize(
    ("question", "answer", "sentence"),
    [
        ("What does Kai need to do before this?", "buy a car", "Kai needs to buy a car before this."),
        ("What did Kai need to do before this?", "To wash", "Kai needed to wash before this."),
        ("Why did Kai do this?", "help Riley out", "Kai did this to help Riley out."),
        ("Why did Kai do that?", "because he was ill", "Kai did that because he was ill."),
        ("How would you describe Kai?", "a NASA fan", "You would describe Kai as a NASA fan."),
        ("What will happen to Jan?", "will get paid.", "Jan will get paid."),
        ("What will Kai do next?", "feed the cat", "Kai will feed the cat next."),
        ("How would Kai feel afterwards?", "Very tired", "Kai would feel very tired afterwards."),
    ],
)
def test_frames(question: str, answer: str, sentence: str) -> None:
    assert framed(question, [answer]) == [sentence]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What will Kai want to do next?", "wanted the problem fixed"),
        ("What will Kai want to do next?", "she was poor"),
        ("What does Kai need to do before this?", "being nice"),
        ("How would Kai feel?", "felt bad"),
        ("How would you describe Kai?", "wanted to win"),
        ("Where is Kai?", "at home"),
    ],
)
def test_answers_that_fit_no_frame(question: str, answer: str) -> None:
    assert framed(question, [answer, "go home"]) is None


def hellaswag(**fields: object) -> dict[str, object]:
    item = {
        "ind": 4,
        "activity_label": "Roof",
        "ctx_a": "A man is on a roof.",
        "ctx_b": "he",
        "ctx": "A man is on a roof. he",
        "split": "val",
        "label": 1,
        "endings": ["sings.", "pulls up tiles.", "swims.", "reads."],
        "source_id": "activitynet~v_1",
    }
    return item | fields


def test_hellaswag_begins_the_hypothesis_with_what_is_unfinished(tmp_path: Path) -> None:
    ending = [f"[step] NASA says {n}." for n in range(4)]
    items = [
        hellaswag(),
        hellaswag(ind=7, ctx="[header] How to", ctx_a="[header] How to", ctx_b="", endings=ending),
    ]
    write(tmp_path, "hellaswag_val.jsonl", items)
    result = recast("hellaswag/hellaswag", tmp_path)
    first, second = result.rows[:2], result.rows[2:]
    assert {row["premise"] for row in first} == {"A man is on a roof."}
    assert [row["hypothesis"] for row in first if row["label"] == ENTAILED] == ["He pulls up tiles."]
    assert {row["label"] for row in first} == {ENTAILED, NOT_ENTAILED}
    assert {row["premise"] for row in second} == {"[header] How to"}
    assert [row["hypothesis"] for row in second if row["label"] == ENTAILED] == ["[step] NASA says 1."]
    assert set(result.groups()) == {"hellaswag:dev:activitynet~v_1"}
    assert [row["source_id"] for row in result.rows] == ["4", "4", "7", "7"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"endings": ["a", "b", "c"]}, "not four endings, got 3"),
        ({"endings": ["a", "b", "c", " "]}, "empty component"),
        ({"label": ""}, "unknown label"),
        ({"ctx_a": "x", "ctx_b": " "}, "empty component"),
    ],
)
def test_hellaswag_items_that_cannot_be_used(tmp_path: Path, fields: dict[str, object], reason: str) -> None:
    write(tmp_path, "hellaswag_train.jsonl", [hellaswag(**fields)])
    with pytest.raises(SourceErrors, match=reason):
        recast("hellaswag/hellaswag", tmp_path)


COSMOS = (
    "id,context,question,answer0,answer1,answer2,answer3,label\n"
    'A##Blog_1##q1_a1##X,"I said "" hi "" , then left .",Why did I leave ?,I was late .,'
    "None of the above choices .,It rained .,He came .,2\n"
    'A##Blog_1##q2_a1##Y,"I said "" hi "" , then left .",Who came ?,None of the above choices .,a,b,c,0\n'
)


def test_cosmos_qa_leaves_none_of_the_above_out(tmp_path: Path) -> None:
    write(tmp_path, "valid.csv", COSMOS)
    result = recast("cosmoqa/cosmos_qa", tmp_path)
    assert {row["premise"] for row in result.rows} == {'I said " hi " , then left . Why did I leave ?'}
    assert [row["hypothesis"] for row in result.rows if row["label"] == ENTAILED] == ["It rained ."]
    (wrong,) = [row["hypothesis"] for row in result.rows if row["label"] == NOT_ENTAILED]
    assert wrong in {"I was late .", "He came ."}
    assert result.faults.filtered == {"the answer is none of the choices": 1}
    assert set(result.groups()) == {"cosmos_qa:dev:A##Blog_1"}


LOGIQA = """
c
All NASA staff run. Al is staff.
What follows?
A.Al sits.
B. Al sleeps.
C.Al runs.
D.a parent runs.

A
Ben sings.
Which is true?
A.Ben sings
B.Ben swims
C.Ben eats
D.Ben runs
"""


def test_logiqa_keeps_the_question(tmp_path: Path) -> None:
    write(tmp_path, "Train.txt", LOGIQA)
    result = recast("logiqa/logiqa", tmp_path)
    assert [(row["premise"], row["hypothesis"]) for row in result.rows if row["label"] == ENTAILED] == [
        ("All NASA staff run. Al is staff. What follows?", "Al runs."),
        ("Ben sings. Which is true?", "Ben sings"),
    ]
    wrong = [row["hypothesis"] for row in result.rows if row["label"] == NOT_ENTAILED]
    assert wrong[0] in {"Al sits.", "Al sleeps.", "a parent runs."}
    assert wrong[1] in {"Ben swims", "Ben eats", "Ben runs"}
    assert result.made.files[0].rows == 2


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("\nB. Al sleeps.", "", "not a block of eight lines, got 7"),
        ("C.Al runs.", "C.", "empty component"),
        ("What follows?", "", "empty component"),
        ("\nD.a parent runs.", "\nD.a parent runs.\nE.more", "not a block of eight lines, got 9"),
    ],
)
def test_logiqa_blocks_that_cannot_be_used(tmp_path: Path, old: str, new: str, reason: str) -> None:
    write(tmp_path, "Eval.txt", LOGIQA.replace(old, new))
    with pytest.raises(SourceErrors, match=reason):
        recast("logiqa/logiqa", tmp_path)
    kept = recast("logiqa/logiqa", tmp_path, "drop")
    assert {row["premise"] for row in kept.rows} == {"Ben sings. Which is true?"}


def ar_lsat(**fields: object) -> list[dict[str, object]]:
    question = {
        "id": "2000-G_1_1",
        "question": "Which of these must be true EXCEPT:",
        "options": ["Al, Bo", "Bo, Cy", "Cy, Al", "Al", "Bo"],
        "answer": "E",
        "tags": [""],
    }
    passage = {"id": "2000-G_1", "passage": "Al, Bo and Cy sit.", "questions": [question | fields]}
    return [passage, {"id": "2000-G_2", "passage": "Three sit.", "questions": []}]


def test_ar_lsat_asks_the_question_in_the_premise(tmp_path: Path) -> None:
    write(tmp_path, "AR_TrainingData.json", json.dumps(ar_lsat()))
    result = recast("analytic/ar_lsat", tmp_path)
    assert {row["premise"] for row in result.rows} == {
        "Al, Bo and Cy sit. Which of these must be true EXCEPT:"
    }
    assert [row["hypothesis"] for row in result.rows if row["label"] == ENTAILED] == ["Bo"]
    assert len(result.rows) == 2
    assert set(result.groups()) == {"ar_lsat:train:2000-G_1"}
    assert result.made.notes == ("source split dev is missing", "source split test is missing")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"answer": "F"}, "unknown label, got 'F'"),
        ({"options": ["a", "b"], "answer": "C"}, "no such option, got 'C'"),
        ({"options": ["a", ""], "answer": "A"}, "empty component"),
        ({"question": 7}, "wrong type"),
    ],
)
def test_ar_lsat_questions_that_cannot_be_used(
    tmp_path: Path, fields: dict[str, object], reason: str
) -> None:
    write(tmp_path, "AR_TestData.json", json.dumps(ar_lsat(**fields)))
    with pytest.raises(SourceErrors, match=reason):
        recast("analytic/ar_lsat", tmp_path)


def test_ar_lsat_without_questions(tmp_path: Path) -> None:
    write(tmp_path, "AR_TestData.json", json.dumps([{"id": "x", "passage": "p"}]))
    with pytest.raises(SourceError, match="not a passage with questions"):
        recast("analytic/ar_lsat", tmp_path)


COPA = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE copa-corpus SYSTEM "copa.dtd">
<copa-corpus version="1.0">
  <item id="1" asks-for="cause" most-plausible-alternative="2">
    <p>The NASA probe was lost.</p><a1>Squirrels ate it.</a1><a2>The signal broke off.</a2>
  </item>
  <item id="2" asks-for="effect" most-plausible-alternative="1">
    <p>I fed the squirrels.</p><a1>Ann thanked me.</a1><a2>I slept.</a2>
  </item>
</copa-corpus>
"""


def test_copa_joins_causes_and_effects(tmp_path: Path) -> None:
    write(tmp_path, "copa-dev.xml", COPA)
    result = recast("cosmoqa/copa", tmp_path)
    assert result.triples() == [
        (
            "The NASA probe was lost.",
            "The NASA probe was lost because squirrels ate it.",
            NOT_ENTAILED,
        ),
        (
            "The NASA probe was lost.",
            "The NASA probe was lost because the signal broke off.",
            ENTAILED,
        ),
        ("I fed the squirrels.", "I fed the squirrels, so Ann thanked me.", ENTAILED),
        ("I fed the squirrels.", "I fed the squirrels, so I slept.", NOT_ENTAILED),
    ]
    assert result.groups()[::2] == ["copa:dev:1", "copa:dev:2"]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('asks-for="cause"', 'asks-for="reason"', "unknown label, got 'reason'"),
        ('alternative="2"', 'alternative="3"', "unknown label, got '3'"),
        ("<p>The NASA probe was lost.</p>", "<p> </p>", "empty component"),
        ("<a2>I slept.</a2>", "", "missing field"),
        ('id="2"', 'id="1"', "id stands twice"),
    ],
)
def test_copa_items_that_cannot_be_used(tmp_path: Path, old: str, new: str, reason: str) -> None:
    write(tmp_path, "copa-test.xml", COPA.replace(old, new))
    with pytest.raises(SourceErrors, match=reason):
        recast("cosmoqa/copa", tmp_path)


@pytest.mark.corpora
def test_the_real_copa(data_folder: Path) -> None:
    result = recast("cosmoqa/copa", data_folder / "copa")
    assert len(result.rows) == 2_000
    for row in result.rows:
        premise = row["premise"].removesuffix(".")
        assert row["hypothesis"].startswith((f"{premise} because ", f"{premise}, so "))
    capitals = {
        word
        for row in result.rows
        for word in [row["hypothesis"][len(row["premise"]) :].removeprefix(" so").split()[1]]
        if word[0].isupper() and word.split("'")[0] != "I"
    }
    # Plurals and nouns that neither the corpus nor Punkt knows in lower case keep their capital.
    assert len(capitals) <= 8
