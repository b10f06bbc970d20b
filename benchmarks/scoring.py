"""Scoring texts with a causal language model, against the ways others do it.

    python benchmarks/scoring.py [--rows 200] [--lm embedded] [--data FOLDER] [--threads 1] [--repeats 3]

The same token ids and the same loaded model for every contender:

    ours             the reproducible plan: exact lengths, shared prefixes, head at scored positions only
    bits free        the same without what makes its bits reproducible (dummy rows, even lengths, float64)
    no sharing       the same plan without shared prefixes
    one by one       one row at a time, no cache
    reference        the papers' way: batches of 8 in input order, left-padded, softmax over every position
    lm-eval          lm-evaluation-harness' Hugging Face backend, where installed (batches of 8)

Contenders take turns within every repeat, so that a busy machine slows all of them; the ratios printed are
medians over repeats, of processor time (which other programs disturb little) and of wall time. Agreement is
the largest difference to `ours` in nats. FOLDER holds spider/, snli/ and boolq/ in the published formats,
plain or gzipped; the default is the package's own sample. Limits: at least 2 times the reference on Spider
and SNLI, never slower than lm-eval. Exit code 1 if one is missed or scores differ by 1e-3 nats.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import torch

from benchwright.eval.models import CausalModel, TokenPair, TokenPairs, load_causal, plan_scoring
from benchwright.splitting.scores.templates import BOOLQ, SNLI_WITH_LABEL, SPIDER_PROMPT, PromptTemplate

TOLERANCE = 1e-3
PEER_BATCH = 8
Contender = Callable[[CausalModel, Sequence[TokenPair]], np.ndarray]


def read_records(folder: Path, stem: str) -> list[dict[str, Any]]:
    """Records of the first file named `stem...`: a JSON list or JSON lines, plain or gzipped."""
    for path in sorted(folder.glob(f"{stem}*")):
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        name = path.name.removesuffix(".gz")
        if name.endswith(".json"):
            records: list[dict[str, Any]] = json.loads(content)
            return records
        if name.endswith(".jsonl"):
            return [json.loads(line) for line in content.splitlines()]
    sys.exit(f"no file {stem}*.json or {stem}*.jsonl in {folder}")


def encode(model: CausalModel, template: PromptTemplate, **columns: list[str]) -> TokenPairs:
    """Token pairs of rows under a prompt of the paper."""
    contexts, continuations = template.render(pa.table(columns))
    return model.encode_pairs(
        contexts, continuations, start=template.start_token, end=template.score_end_token
    )


def spider(data: Path, rows: int, model: CausalModel) -> TokenPairs:
    questions = [record["question"] for record in read_records(data / "spider", "train_spider")][:rows]
    return encode(model, SPIDER_PROMPT, question=questions)


def snli(data: Path, rows: int, model: CausalModel) -> TokenPairs:
    stem = "snli_1.0_train" if list((data / "snli").glob("snli_1.0_train*")) else "dev"
    phrases = SNLI_WITH_LABEL.phrases["label"]
    records = [record for record in read_records(data / "snli", stem) if label_of(record) in phrases][:rows]
    premises = [record.get("sentence1") or record["premise"] for record in records]
    hypotheses = [record.get("sentence2") or record["hypothesis"] for record in records]
    labels = [label_of(record) for record in records]
    return encode(model, SNLI_WITH_LABEL, premise=premises, hypothesis=hypotheses, label=labels)


def label_of(record: dict[str, Any]) -> str:
    return str(record.get("gold_label") or record.get("label"))


def boolq(data: Path, rows: int, model: CausalModel) -> TokenPairs:
    records = read_records(data / "boolq", "dev")[:rows]
    columns = {name: [record[name] for record in records] for name in ("passage", "question")}
    return encode(model, BOOLQ, **columns)


def ours(model: CausalModel, pairs: Sequence[TokenPair], *, share_prefixes: bool = True) -> np.ndarray:
    plan = plan_scoring(pairs, max_positions=model.max_positions, share_prefixes=share_prefixes)
    values = np.full(plan.rows, np.nan)
    for scores in model.score(plan):
        values[scores.rows] = scores.log_likelihood
    return values


def bits_free(model: CausalModel, pairs: Sequence[TokenPair]) -> np.ndarray:
    package = "benchwright.eval.models"
    with (
        patch(f"{package}._plan.LENGTH_MULTIPLE", 1),
        patch(f"{package}._plan.SMALLEST_BATCH", 1),
        patch(f"{package}._forward.SMALLEST_BATCH", 1),
        patch(f"{package}._forward.log_sum_exp", lambda logits: torch.logsumexp(logits, dim=-1).double()),
    ):
        return ours(model, pairs)


def no_sharing(model: CausalModel, pairs: Sequence[TokenPair]) -> np.ndarray:
    return ours(model, pairs, share_prefixes=False)


@torch.inference_mode()
def one_by_one(model: CausalModel, pairs: Sequence[TokenPair]) -> np.ndarray:
    values = []
    for pair in pairs:
        ids = torch.tensor([pair.context + pair.continuation], device=model.device)
        table = torch.log_softmax(model.module(ids, use_cache=False).logits[0], dim=-1)
        targets = ids[0, len(pair.context) :]
        rows = table[len(pair.context) - 1 : -1]
        values.append(rows.gather(1, targets[:, None]).sum().item())
    return np.array(values)


@torch.inference_mode()
def reference(model: CausalModel, pairs: Sequence[TokenPair]) -> np.ndarray:
    values: list[float] = []
    for start in range(0, len(pairs), PEER_BATCH):
        batch = pairs[start : start + PEER_BATCH]
        width = max(len(pair.context) + len(pair.continuation) for pair in batch)
        ids = torch.full((len(batch), width), model.end_token.id)
        mask, scored = torch.zeros_like(ids), torch.zeros_like(ids)
        for row, pair in enumerate(batch):
            tokens = torch.tensor(pair.context + pair.continuation)
            ids[row, -len(tokens) :], mask[row, -len(tokens) :] = tokens, 1
            scored[row, width - len(pair.continuation) :] = 1
        positions = (mask.cumsum(-1) - 1).masked_fill(mask == 0, 1)
        ids, mask = ids.to(model.device), mask.to(model.device)
        logits = model.module(ids, attention_mask=mask, position_ids=positions.to(model.device)).logits
        table = torch.log_softmax(logits[:, :-1], dim=-1).gather(2, ids[:, 1:, None])[..., 0].cpu()
        values.extend((table * scored[:, 1:]).sum(-1).tolist())
    return np.array(values)


def lm_eval(model: CausalModel, pairs: Sequence[TokenPair]) -> np.ndarray:
    from lm_eval.models.huggingface import HFLM

    # Loaded once a call: it wraps the model at hand, which takes milliseconds.
    peer = HFLM(pretrained=model.module, tokenizer=model.tokenizer, backend="causal", batch_size=PEER_BATCH)
    requests = [
        ((str(row), ""), list(pair.context), list(pair.continuation)) for row, pair in enumerate(pairs)
    ]
    return np.array([value for value, _ in peer._loglikelihood_tokens(requests, disable_tqdm=True)])


def contenders() -> dict[str, Contender]:
    found: dict[str, Contender] = {
        "ours": ours,
        "bits free": bits_free,
        "no sharing": no_sharing,
        "one by one": one_by_one,
        "reference": reference,
    }
    if importlib.util.find_spec("lm_eval"):
        found["lm-eval"] = lm_eval
    return found


def measure(
    model: CausalModel, pairs: TokenPairs, found: dict[str, Contender], repeats: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Scores, processor seconds and wall seconds of each contender, the latter two of shape (repeats,)."""
    scores: dict[str, np.ndarray] = {}
    processor: dict[str, list[float]] = {name: [] for name in found}
    wall: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(repeats):
        for name, contender in found.items():
            began, began_processor = time.perf_counter(), time.process_time()
            scores[name] = contender(model, pairs)
            processor[name].append(time.process_time() - began_processor)
            wall[name].append(time.perf_counter() - began)
    return (
        scores,
        {name: np.array(values) for name, values in processor.items()},
        {name: np.array(values) for name, values in wall.items()},
    )


def report(
    name: str, model: CausalModel, pairs: TokenPairs, found: dict[str, Contender], repeats: int
) -> list[str]:
    """Print one table; return what missed its limit."""
    scored = int((pairs.lengths - pairs.context_lengths).sum())
    plan = plan_scoring(pairs, max_positions=model.max_positions)
    print(
        f"\n{name}: {len(pairs)} rows, {int(pairs.lengths.sum())} tokens, {scored} scored, "
        f"{plan.computed_tokens} run by our plan",
        flush=True,
    )
    one_by_one(model, pairs[:2])  # the first call of all pays for the libraries' set-up
    scores, processor, wall = measure(model, pairs, found, repeats)
    print(f"{'':12} {'tokens/s':>9} {'slower than ours: processor':>28} {'wall':>6} {'difference':>11}")
    misses = []
    for contender in found:
        ratio = float(np.median(processor[contender] / processor["ours"]))
        ratio_wall = float(np.median(wall[contender] / wall["ours"]))
        difference = float(np.abs(scores[contender] - scores["ours"]).max())
        speed = scored / float(np.median(wall[contender]))
        print(f"{contender:12} {speed:9.0f} {ratio:27.2f}x {ratio_wall:5.2f}x {difference:11.1e}", flush=True)
        wanted = {"reference": 2.0 if name in ("spider", "snli") else 1.0, "lm-eval": 1.0}.get(contender, 0.0)
        if ratio < wanted:
            misses.append(f"{name}: {contender} is only {ratio:.2f} times slower than ours, limit {wanted}")
        if difference > TOLERANCE:
            misses.append(f"{name}: {contender} differs by {difference:.1e} nats, limit {TOLERANCE}")
    return misses


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--lm", default="embedded")
    parser.add_argument("--data", type=Path, default=Path(str(files("benchwright.builders.samples"))))
    parser.add_argument("--sets", default="spider,snli,boolq")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    model = load_causal(options.lm)
    makers = {"spider": spider, "snli": snli, "boolq": boolq}
    misses: list[str] = []
    for name in options.sets.split(","):
        pairs = makers[name](options.data, options.rows, model)
        misses += report(name, model, pairs, contenders(), options.repeats)
    print("\n" + ("\n".join(misses) if misses else "within limits"))
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
