"""Fine-tuning a classifier and scoring with it, against the plain loop of transformers' Trainer.

    python benchmarks/training.py [--rows 192] [--model minilm-l3] [--data FOLDER] [--threads 2] [--repeats 2]

Both start from the same weights and the same texts and make as many steps of as many pairs with AdamW, a
linear schedule with warm-up and gradients of at most norm 1; neither evaluates or saves on the way:

    ours             batches of like length, the default for classifiers
    any order        ours with batches in drawn order
    trainer          Trainer.train and Trainer.predict: dynamic padding, batches in drawn order

Contenders take turns within every repeat, so that a busy machine slows all of them; the ratios printed are
medians over repeats, of processor time (which other programs disturb little) and of wall time, encoding
included. FOLDER holds snli/ and boolq/ in the published formats, plain or gzipped; the default is the
package's own sample. Limit: the trainer is never faster than ours, in training or scoring. Exit code 1 if it
is, or if logits of the same weights differ by 1e-3.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scoring import label_of, read_records

from benchwright.eval.models import (
    ClassifierRecipe,
    SequenceClassifier,
    fine_tune_classifier,
    get_model,
    load_untrained_classifier,
)

TOLERANCE = 1e-3
Texts = tuple[list[str], list[str], np.ndarray]


def snli(data: Path, rows: int) -> Texts:
    stem = "snli_1.0_train" if list((data / "snli").glob("snli_1.0_train*")) else "dev"
    names = ["entailment", "neutral", "contradiction"]
    records = [record for record in read_records(data / "snli", stem) if label_of(record) in names][:rows]
    premises = [record.get("sentence1") or record["premise"] for record in records]
    hypotheses = [record.get("sentence2") or record["hypothesis"] for record in records]
    return premises, hypotheses, np.array([names.index(label_of(record)) for record in records])


def boolq(data: Path, rows: int) -> Texts:
    records = read_records(data / "boolq", "train" if (data / "boolq" / "train.jsonl").is_file() else "dev")
    records = records[:rows]
    texts = [[record[column] for record in records] for column in ("question", "passage")]
    return texts[0], texts[1], np.array([int(record["answer"]) for record in records])


def trainer(model: SequenceClassifier, recipe: ClassifierRecipe) -> Callable[[Texts], Any]:
    """A Trainer of the recipe for some texts; the texts are encoded when it is called."""
    from transformers import DataCollatorWithPadding, PrinterCallback, Trainer, TrainingArguments

    settings = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        num_train_epochs=recipe.epochs,
        per_device_train_batch_size=recipe.batch_size,
        per_device_eval_batch_size=recipe.batch_size,
        learning_rate=recipe.learning_rate,
        warmup_steps=recipe.warmup_share,
        lr_scheduler_type=recipe.schedule,
        max_grad_norm=recipe.max_gradient_norm,
        weight_decay=recipe.weight_decay,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        logging_strategy="no",
        use_cpu=model.device.type == "cpu",
        seed=1,
    )

    def make(texts: Texts) -> tuple[Trainer, list[dict[str, Any]]]:
        encoded = model.tokenizer(texts[0], texts[1], truncation=True, max_length=recipe.max_length)
        rows = [
            {**{name: values[row] for name, values in encoded.items()}, "labels": int(label)}
            for row, label in enumerate(texts[2])
        ]
        collator = DataCollatorWithPadding(model.tokenizer)
        peer = Trainer(model.module, settings, data_collator=collator, train_dataset=rows)
        peer.remove_callback(PrinterCallback)
        return peer, rows

    return make


def contenders(fresh: Callable[[], SequenceClassifier], recipe: ClassifierRecipe) -> dict[str, Any]:
    """For each contender: texts -> what trains, and texts -> what scores with the untrained weights."""

    def ours(bucketing: bool) -> tuple[Callable[[Texts], Callable[[], Any]], Callable[[Texts], Any]]:
        chosen = replace(recipe, length_bucketing=bucketing)
        model = fresh()
        return (
            lambda texts: lambda: fine_tune_classifier(model, *texts, chosen, 1),
            lambda texts: model.classify(texts[0], texts[1], max_length=recipe.max_length).logits,
        )

    scoring = trainer(fresh(), recipe)

    def train_plainly(texts: Texts) -> Callable[[], Any]:
        model = fresh()
        model.module.requires_grad_(True)
        return lambda: trainer(model, recipe)(texts)[0].train()

    def score_plainly(texts: Texts) -> Any:
        maker, rows = scoring(texts)
        return maker.predict(rows).predictions

    return {"ours": ours(True), "any order": ours(False), "trainer": (train_plainly, score_plainly)}


def seconds(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Processor seconds, wall seconds, and what came of it."""
    began, began_processor = time.perf_counter(), time.process_time()
    found = work()
    return time.process_time() - began_processor, time.perf_counter() - began, found


def report(
    name: str, texts: Texts, found: dict[str, Any], recipe: ClassifierRecipe, repeats: int
) -> list[str]:
    """Print one table; return what missed its limit."""
    rows = len(texts[0])
    print(f"\n{name}: {rows} pairs, {recipe.steps(rows)} steps of {recipe.batch_size}", flush=True)
    times: dict[tuple[str, str], list[tuple[float, float]]] = {}
    logits = {}
    for _ in range(repeats):
        for contender, (prepare, score) in found.items():
            work = prepare(texts)
            times.setdefault((contender, "training"), []).append(seconds(work)[:2])
            *taken, logits[contender] = seconds(lambda score=score: score(texts))
            times.setdefault((contender, "scoring"), []).append((taken[0], taken[1]))
    misses = []
    for kind in ("training", "scoring"):
        print(f"{kind:12} {'pairs/s':>9} {'slower than ours: processor':>28} {'wall':>6}")
        own = np.array(times["ours", kind])
        for contender in found:
            taken = np.array(times[contender, kind])
            ratio, ratio_wall = np.median(taken / own, axis=0)
            speed = rows * (recipe.epochs if kind == "training" else 1) / np.median(taken[:, 1])
            print(f"{contender:12} {speed:9.1f} {ratio:27.2f}x {ratio_wall:5.2f}x", flush=True)
            if contender == "trainer" and ratio < 1:
                misses.append(f"{name}: ours is {1 / ratio:.2f} times slower in {kind}, limit 1")
    difference = float(np.abs(logits["trainer"] - logits["ours"]).max())
    print(f"logits differ by {difference:.1e}")
    if difference > TOLERANCE:
        misses.append(f"{name}: logits differ by {difference:.1e}, limit {TOLERANCE}")
    return misses


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=192)
    parser.add_argument("--model", default="minilm-l3")
    parser.add_argument("--data", type=Path, default=Path(str(files("benchwright.builders.samples"))))
    parser.add_argument("--sets", default="snli,boolq")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.model.startswith("minilm"):
        get_model(options.model)
    recipe = ClassifierRecipe(epochs=1, validation_share=0, batch_size=16, threads=options.threads)
    makers = {"snli": snli, "boolq": boolq}
    misses: list[str] = []
    for name in options.sets.split(","):
        texts = makers[name](options.data, options.rows)
        labels = [str(label) for label in range(int(texts[2].max()) + 1)]

        def fresh(labels: list[str] = labels) -> SequenceClassifier:
            return load_untrained_classifier(options.model, labels, seed=1)

        found = contenders(fresh, recipe)
        fine_tune_classifier(fresh(), *(part[:16] for part in texts), recipe, 1)  # libraries' set-up
        misses += report(name, texts, found, recipe, options.repeats)
    print("\n" + ("\n".join(misses) if misses else "within limits"))
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
