"""Statements from questions and answers: questions per second.

    python benchmarks/statements.py [--data FOLDER] [--repeats 3]

FOLDER holds squad/, boolq/ and freebaseqa/ in the published formats (default ../shared/data). Three rates, of
processor time on one core, medians over repeats:

    cold       every question new, no word met before by the tagger
    warm       every question new, words known
    several    each question with four answers, as recasting asks them (statements per second)
    nltk       only the tags of the same words by `nltk.tag.PerceptronTagger`, for comparison

The tagger is loaded before; its loading is timed by itself.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from statement_questions import boolq, freebaseqa, squad  # noqa: E402

from benchwright.text._questions import tagger_words  # noqa: E402
from benchwright.text.statements import statements  # noqa: E402
from benchwright.text.tagging import Tagger, get_tagger  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rows = [
        *squad(options.data / "squad" / "squad_v1.1_dev_sample1000.json.gz"),
        *squad(options.data / "squad" / "squadshifts" / "new_wiki_v1.0.json.gz"),
        *boolq(options.data / "boolq" / "dev.jsonl.gz"),
        *freebaseqa(options.data / "freebaseqa" / "FreebaseQA-dev.tab.gz"),
    ]
    pairs = {question: answer for _, question, answer in rows}
    questions, answers = list(pairs), list(pairs.values())
    start = time.process_time()
    tagger = read_tagger()
    print(f"loading the tagger: {time.process_time() - start:.2f} s; {len(questions)} questions")
    cold = rate(lambda: statements(questions, answers, tagger=read_tagger()), len(questions), 1)
    loading = statistics.median(seconds(read_tagger) for _ in range(options.repeats))
    cold = len(questions) / (len(questions) / cold - loading)
    statements(questions, answers, tagger=tagger)
    warm = rate(lambda: statements(questions, answers, tagger=tagger), len(questions), options.repeats)
    many = [answers[(i + k) % len(answers)] for k in range(4) for i in range(len(answers))]
    several = rate(
        lambda: statements(questions * 4, many, tagger=tagger), 4 * len(questions), options.repeats
    )
    for name, value in (("cold", cold), ("warm", warm), ("several", several), ("nltk", nltk_rate(questions))):
        print(f"{name:8s} {value:10,.0f} per second")
    return 0


def read_tagger() -> Tagger:
    model = json.loads(get_tagger().read_text(encoding="utf-8"))
    return Tagger(model["weights"], model["known"], model["tags"])


def nltk_rate(questions: list[str]) -> float:
    from nltk.tag.perceptron import PerceptronTagger

    model = json.loads(get_tagger().read_text(encoding="utf-8"))
    reference = PerceptronTagger(load=False)
    reference.model.weights, reference.tagdict = model["weights"], model["known"]
    reference.classes = reference.model.classes = set(model["tags"])
    sample = [tagger_words(question.split())[0] for question in questions[:2000]]
    return rate(lambda: [reference.tag(words) for words in sample], len(sample), 1)


def rate(task: Callable[[], object], count: int, repeats: int) -> float:
    return count / statistics.median(seconds(task) for _ in range(repeats))


def seconds(task: Callable[[], object]) -> float:
    start = time.process_time()
    task()
    return time.process_time() - start


if __name__ == "__main__":
    sys.exit(main())
