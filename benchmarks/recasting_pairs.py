"""Made-up corpora of inferences and pairs of sentences, with items of about the published size."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from recasting_text import Text, json_lines


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
                        {"text": f"{text.word()}, defined as '{text.sentence(6)[:-1]}'", "label": str(k)}
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
