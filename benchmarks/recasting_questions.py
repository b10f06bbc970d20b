"""Made-up corpora of choices, questions and sentences with a gap, with items of about the published size."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from recasting_text import NAMES, WORDS, Text, json_lines


def mrpc(folder: Path, items: int, text: Text) -> None:
    rows = "".join(f"{n % 2}\t{n}\t{n + 1}\t{text.sentence(20)}\t{text.sentence(20)}\n" for n in range(items))
    header = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
    (folder / "msr_paraphrase_train.txt").write_text(header + rows, encoding="utf-8")


def piqa(folder: Path, items: int, text: Text) -> None:
    json_lines(
        folder / "train.jsonl",
        (
            {"goal": text.sentence(9), "sol1": text.sentence(18), "sol2": text.sentence(18)}
            for _ in range(items)
        ),
    )
    (folder / "train-labels.lst").write_text("".join(f"{n % 2}\n" for n in range(items)))


def social_iqa(folder: Path, items: int, text: Text) -> None:
    questions = [
        "What will Kai want to do next?",
        "How would Others feel as a result?",
        "Why did Kai do this?",
    ]
    json_lines(
        folder / "train.jsonl",
        (
            {
                "context": text.sentence(15),
                "question": questions[n % 3],
                "answerA": "go home with Jan",
                "answerB": "buy a car",
                "answerC": text.sentence(5),
            }
            for n in range(items)
        ),
    )
    (folder / "train-labels.lst").write_text("".join(f"{1 + n % 3}\n" for n in range(items)))


def hellaswag(folder: Path, items: int, text: Text) -> None:
    json_lines(
        folder / "hellaswag_train.jsonl",
        (
            {
                "ind": n,
                "ctx_a": (before := text.sentence(15)),
                "ctx_b": "he",
                "ctx": f"{before} he",
                "endings": [text.sentence(20) for _ in range(4)],
                "label": n % 4,
                "source_id": f"v~{n // 3}",
            }
            for n in range(items)
        ),
    )


def cosmos_qa(folder: Path, items: int, text: Text) -> None:
    with (folder / "train.csv").open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["id", "context", "question", *(f"answer{n}" for n in range(4)), "label"])
        for n in range(items):
            answers = [*(text.sentence(10) for _ in range(3)), "None of the above choices ."]
            writer.writerow([f"a{n // 2}##q{n}_a1", text.passage(4), text.sentence(9), *answers, n % 3])


def logiqa(folder: Path, items: int, text: Text) -> None:
    blocks = (
        "\n".join(
            [
                "",
                "abcd"[n % 4],
                text.passage(4),
                text.sentence(12),
                *(f"{c}.{text.sentence(15)}" for c in "ABCD"),
            ]
        )
        for n in range(items)
    )
    (folder / "Train.txt").write_text("\n".join(blocks) + "\n", encoding="utf-8")


def ar_lsat(folder: Path, items: int, text: Text) -> None:
    passages = [
        {
            "id": f"p{n}",
            "passage": text.passage(6),
            "questions": [
                {
                    "id": f"p{n}_{k}",
                    "question": text.sentence(20),
                    "options": [text.sentence(8) for _ in range(5)],
                    "answer": "ABCDE"[(n + k) % 5],
                }
                for k in range(6)
            ],
        }
        for n in range(items // 6)
    ]
    (folder / "AR_TrainingData.json").write_text(json.dumps(passages), encoding="utf-8")


def copa(folder: Path, items: int, text: Text) -> None:
    listed = "".join(
        f'<item id="{n}" asks-for="{("cause", "effect")[n % 2]}" most-plausible-alternative="{1 + n % 2}">'
        f"<p>The {text.sentence(6)}</p><a1>The {text.sentence(6)}</a1><a2>He {text.sentence(6)}</a2></item>"
        for n in range(items)
    )
    (folder / "copa-dev.xml").write_text(
        f'<copa-corpus version="1.0">{listed}</copa-corpus>', encoding="utf-8"
    )


def winogrande(folder: Path, items: int, text: Text) -> None:
    json_lines(
        folder / "train_xl.jsonl",
        (
            {
                "qID": f"X{n // 2}-{1 + n % 2}",
                "sentence": f"{text.sentence(9)} He ran because _ {text.sentence(6)}",
                "option1": "Ian",
                "option2": "the man",
                "answer": str(1 + n % 2),
            }
            for n in range(items)
        ),
    )


def wsc(folder: Path, items: int, text: Text) -> None:
    listed = "".join(
        f"<schema><text><txt1>The man met the boy because {n} {text.sentence(4)} As </txt1><pron> he </pron>"
        f"<txt2> left {text.sentence(4)}</txt2></text><answers><answer>The man </answer><answer>the boy"
        f"</answer></answers><correctAnswer> {'AB'[n % 2]}. </correctAnswer></schema>"
        for n in range(items)
    )
    (folder / "WSCollection.xml").write_text(f"<collection>{listed}</collection>", encoding="utf-8")


def gap(folder: Path, items: int, text: Text) -> None:
    lines = ["ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL\n"]
    for n in range(items):
        before = f"{text.passage(3)} Then Jo Fox saw "
        passage = f"{before}her house. {text.passage(1)}"
        cells = [
            f"development-{n}",
            passage,
            "her",
            len(before),
            "Jo Fox",
            0,
            "TRUE",
            "Kim",
            0,
            "FALSE",
            "http://x",
        ]
        lines.append("\t".join(map(str, cells)) + "\n")
    (folder / "gap-development.tsv").write_text("".join(lines), encoding="utf-8")


def ester(folder: Path, items: int, text: Text) -> None:
    listed = []
    for n in range(items):
        if n % 4 == 0:
            passage = text.passage(5)
        listed.append(
            {"context": passage, "question": text.sentence(9), "answer_texts": [text.sentence(6)[:-1]]}
        )
    (folder / "final_train_ans_gen.json").write_text(json.dumps(listed), encoding="utf-8")


def drop(folder: Path, items: int, text: Text) -> None:
    nothing = {"day": "", "month": "", "year": ""}
    passages = {
        f"p{n}": {
            "passage": text.passage(8),
            "qa_pairs": [
                {
                    "question": f"Who scored {k + 2} points for the {WORDS[(n * 12 + k) % 3_000]} side?",
                    "answer": {"number": "", "date": nothing, "spans": [text.name()]},
                    "query_id": f"q{n}-{k}",
                }
                for k in range(12)
            ],
        }
        for n in range(items // 12)
    }
    (folder / "drop_dataset_train.json").write_text(json.dumps(passages), encoding="utf-8")


def squad(folder: Path, items: int, text: Text) -> None:
    paragraphs = []
    for n in range(items // 5):
        context = text.passage(6)
        name = next(name for name in NAMES if name in context)
        qas = [
            {
                "id": f"{n}-{k}",
                "question": f"Who said {WORDS[(n * 5 + k) % 3_000]} to the guests?",
                "answers": [{"text": name, "answer_start": context.index(name)}],
            }
            for k in range(5)
        ]
        paragraphs.append({"context": context, "qas": qas})
    content = {"version": "1.1", "data": [{"title": "made up", "paragraphs": paragraphs}]}
    (folder / "train-v1.1.json").write_text(json.dumps(content), encoding="utf-8")
