"""EntailmentBank: leaf sentences of an entailment tree and its conclusion.

Source: "Explaining Answers with Entailment Trees" (2104.08661). Format: github.com/allenai/entailment_bank,
data/public_dataset/entailment_trees_emnlp2021_data_v2/dataset/task_1: train.jsonl, dev.jsonl, test.jsonl with
id, context (`sent1: ... sent2: ...`), question, answer, hypothesis, proof (`sent1 & sent2 -> hypothesis; `)
and meta (intermediate_conclusions and more). The folder is `entailment_bank`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ....errors import SourceError
from ....faults import FaultLog
from ...sources.records import Record
from ._paths import PathRecords
from .base import ENTAILED, NOT_ENTAILED, Pair, PairCollector, Recast, RecastRows
from .rules import filled, stable_number

NO_OTHER_CONCLUSION = "no other tree to take a conclusion from"

_RULE = "leaves_and_conclusion"
_NAMES = {split: (f"task_1/{split}.jsonl", f"{split}.jsonl") for split in ("train", "dev", "test")}
# What must not stand before "sent" is asked after it: a pattern that begins with a literal is found quickest.
_TAG = re.compile(r"(sent(?<!\Ssent)\d+):(?=\s)")
_NAMED_IN_PROOF = re.compile(r"sent(?<!\wsent)\d+\b")


class _Tree(NamedTuple):
    """A tree; `plain` is its conclusion as `plain` gives it, `texts` are all that stand in it."""

    record: Record
    name: str
    premise: str
    conclusion: str
    plain: str
    texts: list[str]


def recast_entailment_bank(root: Path, faults: FaultLog) -> RecastRows:
    """Two pairs a tree: its leaves with its conclusion, and with that of another tree of the split.

    The premise joins the sentences that the proof names, each ended by a full stop, without their tags. The
    other tree is chosen by a hash of the tree's id among all of the split; one whose conclusion stands in the
    tree is passed over.
    """
    source = PathRecords(root, _NAMES, faults)
    pairs = PairCollector("entailment_bank", _RULE, faults)
    trees: dict[str, list[_Tree]] = {}
    for split, record in source:
        try:
            trees.setdefault(split, []).append(_tree(record))
        except SourceError as fault:
            faults.bad(fault)
    for split, members in trees.items():
        # In an order of their ids, so that the order of the rows does not matter.
        order = sorted(members, key=lambda tree: (stable_number("order", tree.name), tree.name))
        for tree in members:
            other = _other_conclusion(tree, order)
            made = [Pair(tree.premise, tree.conclusion, ENTAILED)]
            if other is None:
                faults.filter(NO_OTHER_CONCLUSION)
            else:
                made.append(Pair(tree.premise, other, NOT_ENTAILED))
            pairs.add(tree.record, made, split=split, source_id=tree.name)
    return pairs.finish(source.files, source.notes)


def _tree(record: Record) -> _Tree:
    context, conclusion = record.filled_text("context"), record.filled_text("hypothesis")
    start, *parts = _TAG.split(context)
    sentences = dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
    if start.strip() or not sentences or len(sentences) < len(parts) // 2 or not all(sentences.values()):
        fix = "write `sent1: TEXT sent2: TEXT ...`, each tag once"
        raise record.fault("not a list of tagged sentences", "context", value=context, fix=fix)
    named = set(_NAMED_IN_PROOF.findall(record.text("proof")))
    if not named or not named <= set(sentences):
        fix = "give task 1, whose proofs name sentences of the context"
        raise record.fault(
            "the proof names no sentences of the context", "proof", value=record.text("proof"), fix=fix
        )
    leaves = [text for tag, text in sentences.items() if tag in named]
    texts = [*leaves, *_intermediate(record), conclusion]
    name, stated = record.filled_text("id"), filled("hypothesis", conclusion)
    return _Tree(record, name, " ".join(map(_ended, leaves)), stated, plain(stated), texts)


def _intermediate(record: Record) -> list[str]:
    """The conclusions inside the tree, where the record lists them."""
    meta = record.fields.get("meta")
    listed = meta.get("intermediate_conclusions") if isinstance(meta, dict) else None
    return [text for text in listed.values() if isinstance(text, str)] if isinstance(listed, dict) else []


def stands_in(texts: Iterable[str], wanted: str) -> bool:
    """Whether one of `texts` is `wanted` when it is made `plain`."""
    # Few texts begin alike, and only those are worth the time.
    return any(
        plain(text) == wanted for text in texts if not wanted or wanted.startswith(text.lstrip()[:1].lower())
    )


def plain(text: str) -> str:
    """Text by which two sentences are the same: case, white space and the full stop do not count."""
    return " ".join(text.lower().rstrip(" .").split())


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


def _other_conclusion(tree: _Tree, order: list[_Tree]) -> str | None:
    first = stable_number(tree.name) % len(order)
    for step in range(len(order)):
        other = order[(first + step) % len(order)]
        if not stands_in(tree.texts, other.plain):
            return other.conclusion
    return None


ENTAILMENT_BANK = Recast(
    phenomenon="entailment_tree",
    corpus="entailment_bank",
    files=tuple(name for names in _NAMES.values() for name in names if "/" not in name),
    rule="The leaf sentences and the conclusion of their tree, entailed, or of another tree, not-entailed.",
    recaster=recast_entailment_bank,
    differs=(
        'The tags of the sentences ("sent2:") are gone, each sentence ends in a full stop; other trees are '
        "chosen anew; the published splits are kept."
    ),
)
