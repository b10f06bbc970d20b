"""Made-up corpora in the published formats of recast corpora, with items of about the published size."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

WORDS = [
    "".join(random.Random(n).choices("etaoinshrdlu", k=2 + n % 8)) for n in range(3_000)
]  # no two runs differ
NAMES = ["Ian", "Laura Bell", "Kim", "Jo Fox", "Adam", "Mary Lee", "Tomas", "Ruth"]


class Text:
    """Made-up sentences, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def sentence(self, words: int) -> str:
        text = " ".join(self._random.choices(WORDS, k=words))
        return f"{text.capitalize()}."

    def passage(self, sentences: int, words: int = 18) -> str:
        return " ".join(
            f"{name} of {year} said {self.sentence(words)}"
            for name, year in zip(
                self._random.choices(NAMES, k=sentences),
                self._random.choices(range(1900, 2020), k=sentences),
                strict=True,
            )
        )

    def name(self) -> str:
        return self._random.choice(NAMES)

    def number(self, below: int) -> int:
        return self._random.randrange(below)


def json_lines(path: Path, items: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")


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


def _premise(number: int) -> str:
    return f"A man number {number} stands near the blue house on the corner of the street."


def _hypothesis(number: int) -> str:
    return f"A person {number} is near a building."


def _write(folder: Path, name: str, lines: Iterable[str]) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def semantic_fragments(folder: Path, items: int, text: Text) -> None:
    _write(
        folder,
        "boolean/train/train.json",
        (
            json.dumps(
                {
                    "sentence1": _premise(n),
                    "sentence2": _hypothesis(n),
                    "gold_label": "neutral",
                    "pairID": f"d-{n}",
                    "captionID": f"c-{n}",
                }
            )
            for n in range(items)
        ),
    )


def _inference_blocks(part: str, hypothesis: Callable[[int], str], items: int) -> Iterable[str]:
    return (
        f"provenance: {part}\nindex: {n}\ntext: {_premise(n // 3)}\nhypothesis: {hypothesis(n)}\n"
        "entailed: entailed\npartof: train\n"
        for n in range(items)
    )


def sprl(folder: Path, items: int, text: Text) -> None:
    _write(folder, "sprl_data.txt", _inference_blocks("sprl", _hypothesis, items))


def fnplus(folder: Path, items: int, text: Text) -> None:
    def other(number: int) -> str:
        return _premise(number // 3).replace("blue", f"dark{number}")

    _write(folder, "fnplus_data.txt", _inference_blocks("FN+", other, items))


def control(folder: Path, items: int, text: Text) -> None:
    json_lines(
        folder / "train.jsonl",
        (
            {"uid": f"id_{n}", "premise": text.passage(8), "hypothesis": _hypothesis(n), "label": "e"}
            for n in range(items)
        ),
    )


def counterfactual(folder: Path, items: int, text: Text) -> None:
    header = (
        "sentenceID,sentence,antecedent,consequent,antecedent_startid,antecedent_endid,"
        "consequent_startid,consequent_endid"
    )
    first = "If he had greater inner peace"
    second = "perhaps he could generate peace instead of conflict"
    rows = (f'{n},"{first}, {second} {n}.",{first},{second},0,28,31,81' for n in range(items // 4))
    _write(folder, "subtask2_train.csv", [header, *rows])


def defeasible_nli(folder: Path, items: int, text: Text) -> None:
    path = folder / "defeasible-snli" / "train.jsonl"
    path.parent.mkdir()
    json_lines(
        path,
        (
            {
                "DataSource": "SNLI",
                "AssignmentIdAnon": n // 2,
                "WorkerIdAnon": 3,
                "Premise": _premise(n // 2),
                "Hypothesis": _hypothesis(n),
                "SNLIPairId": "x",
                "Update": f"The man {n} wears pajamas and is chuckling.",
                "UpdateType": ("weakener", "strengthener")[n % 2],
                "UpdateTypeImpossible": False,
                "UpdateTypeImpossibleReason": "{}",
            }
            for n in range(items)
        ),
    )


def entailment_bank(folder: Path, items: int, text: Text) -> None:
    path = folder / "task_1" / "train.jsonl"
    path.parent.mkdir()
    json_lines(
        path,
        (
            {
                "id": f"M{n}",
                "context": (
                    f"sent1: leo {n} is a kind of constellation sent2: the earth revolving around the sun "
                    "causes stars to appear in different areas sent3: a constellation contains stars"
                ),
                "hypothesis": f"the earth causes leo {n} to appear in the sky",
                "proof": "sent1 & sent3 -> int1: x; int1 & sent2 -> hypothesis; ",
                "meta": {"intermediate_conclusions": {"int1": f"x {n}"}},
            }
            for n in range(items)
        ),
    )


def wordnet_qa(folder: Path, items: int, text: Text) -> None:
    path = folder / "hypernymy" / "train.jsonl"
    path.parent.mkdir()
    asked = "the word or phrase 'base' is best characterized as a kind or type of"
    json_lines(
        path,
        (
            {
                "question": {
                    "stem": f"In 'the base of the lamp', {asked}",
                    "choices": [
                        {"text": f"word{k}-{n}, defined as 'a thing that is good'", "label": str(k)}
                        for k in range(5)
                    ],
                },
                "answerKey": "3",
                "id": f"hypernymy_{n}",
                "notes": {"surface_form": "base"},
            }
            for n in range(items)
        ),
    )


def breaking_nli(folder: Path, items: int, text: Text) -> None:
    json_lines(
        folder / "dataset.jsonl",
        (
            {
                "sentence1": _premise(n),
                "category": "x",
                "gold_label": "contradiction",
                "annotator_labels": ["contradiction"] * 3,
                "pairID": n,
                "sentence2": _hypothesis(n),
            }
            for n in range(items)
        ),
    )


def levy_holt(folder: Path, items: int, text: Text) -> None:
    triples = (
        f"Aspirin {n}, can irritate, the stomach\tAspirin {n}, upsets, the stomach\tTrue"
        for n in range(items)
    )
    _write(folder, "train.txt", triples)


def help_pairs(folder: Path, items: int, text: Text) -> None:
    header = "\tfilename\tdeterminer\tmonotonicity\tgold_label\treplace_target\treplace_source\treplace_mode"
    rows = (
        f"{n}\tsilver/p{n // 2}\tand\tconj\t{('entailment', 'neutral')[n % 2]}\t\t\t\t"
        f"{_premise(n)}\t{_hypothesis(n)}"
        for n in range(items)
    )
    _write(folder, "pmb_train_v1.0.tsv", [f"{header}\tori_sentence\tnew_sentence", *rows])


def med(folder: Path, items: int, text: Text) -> None:
    rows = (f"{n}\tcrowd\t{_premise(n)}\t{_hypothesis(n)}\tneutral" for n in range(items))
    _write(folder, "MED.tsv", ["index\tgenre\tsentence1\tsentence2\tgold_label", *rows])


def puns(folder: Path, items: int, text: Text) -> None:
    path = folder / "train" / "recast_puns_data.json"
    path.parent.mkdir()
    pairs = [
        {
            "binary-label": n % 2 == 0,
            "context": f"Ann heard that {_premise(n)}",
            "hypothesis": "Ann heard a pun",
            "label": ("entailed", "not-entailed")[n % 2],
            "label-set": ["entailed", "not-entailed"],
            "pair-id": n,
            "split": "train",
            "type-of-inference": "Pun",
        }
        for n in range(items)
    ]
    path.write_text(json.dumps(pairs, indent=4), encoding="utf-8")


def babi(folder: Path, items: int, text: Text) -> None:
    story = [
        "1 The triangle is above the pink rectangle.",
        "2 The blue square is to the left of the triangle.",
        *(f"{k} Is the pink rectangle to the right of the blue square?\tyes\t1 2" for k in range(3, 11)),
    ]
    _write(folder, "qa17_positional-reasoning_train.txt", story * (items // 8))


def fava(folder: Path, items: int, text: Text) -> None:
    lines = (
        f"x\t1\t\tjessica loaded{n} the hay onto the big old truck .\n"
        f"x\t1\t\tjessica loaded{n} the big old truck with the hay ."
        for n in range(items // 2)
    )
    _write(folder, "spray_load/train.tsv", lines)


def tracie(folder: Path, items: int, text: Text) -> None:
    lines = (
        f"event: Chad {n} looked for his cap starts after he got off story: {_premise(n // 2)} "
        "He was riding on the roller coaster. Chad was wearing a baseball cap.\tanswer: positive"
        for n in range(items)
    )
    _write(folder, "tracie_train.txt", lines)


def transitivity(folder: Path, items: int, text: Text) -> None:
    header = "index\tpairID\tgenre\tsentence1\tsentence2\tlabel1\tgold_label"
    rows = (f"{n}\t{n}\tg\t{_premise(n)}\t{_hypothesis(n)}\t\tneutral" for n in range(items))
    _write(folder, "naturalistic/train.tsv", [header, *rows])


CORPORA: dict[str, Callable[[Path, int, Text], None]] = {
    "analytic/ar_lsat": ar_lsat,
    "coreference/gap": gap,
    "coreference/winogrande": winogrande,
    "coreference/wsc": wsc,
    "cosmoqa/copa": copa,
    "cosmoqa/cosmos_qa": cosmos_qa,
    "drop/drop": drop,
    "drop/squad": squad,
    "ester/ester": ester,
    "hellaswag/hellaswag": hellaswag,
    "logiqa/logiqa": logiqa,
    "physicalqa/piqa": piqa,
    "socialqa/social_iqa": social_iqa,
    "syntactic_variation/mrpc": mrpc,
    "boolean/semantic_fragments": semantic_fragments,
    "context_align/inference_is_everything": fnplus,
    "control/control": control,
    "counterfactual/semeval2020_task5": counterfactual,
    "defeasible/defeasible_nli": defeasible_nli,
    "entailment_tree/entailment_bank": entailment_bank,
    "hypernymy/wordnet_qa": wordnet_qa,
    "lexical/breaking_nli": breaking_nli,
    "lexical/levy_holt": levy_holt,
    "monotonicity_infer/help": help_pairs,
    "monotonicity_infer/med": med,
    "puns/dnc": puns,
    "spatial/babi": babi,
    "sprl/inference_is_everything": sprl,
    "syntactic_alternation/fava": fava,
    "temporal/tracie": tracie,
    "transitive/transitivity": transitivity,
}
