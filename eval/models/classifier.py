"""Sequence classifiers: pairs of texts in, one logit for each of the model's named labels out."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchwright.errors import UsageError, show
from benchwright.progress import Progress, silent

from ._encoding import TRUNCATION, EncodedPairs, encode_pairs
from ._identity import environment, tokenizer_sha256, weights_sha256
from ._pretrained import SEQUENCE_CLASSIFIER, load_pretrained, max_positions, pick_device, recorded_name
from ._quiet import no_progress_bars
from .embedded import require_models_extra

if TYPE_CHECKING:
    import torch

BATCH_SIZE = 32

_PLACEHOLDER = re.compile(r"label_\d+", re.IGNORECASE)


@dataclass(frozen=True)
class PairLogits:
    """What a classifier says of n pairs, in their order.

    `logits` float32 of shape (n, labels), columns in the order of the model's `label_names`; `truncated`
    bool of shape (n,): the pair has more tokens than the model takes, and only its beginnings were read.
    """

    logits: np.ndarray
    truncated: np.ndarray


class SequenceClassifier:
    """A sequence classifier with its tokenizer, as `load_classifier` makes it.

    `label_names` are the names of the outputs in their order: the model's own words, which nothing but a
    match by name may turn into a task's labels. `name` and `revision` are recorded; a local folder is
    recorded by its last part, never by its path. `max_positions` is the longest pair, in tokens. `outputs`
    lists the module's outputs that stand for each label; None where they are the labels one by one.
    """

    def __init__(
        self,
        module: Any,
        tokenizer: Any,
        *,
        name: str,
        revision: str | None,
        label_names: tuple[str, ...],
        max_positions: int,
        outputs: tuple[tuple[int, ...], ...] | None = None,
    ) -> None:
        self.module, self.tokenizer = module, tokenizer
        self.name, self.revision = name, revision
        self.label_names = label_names
        self.max_positions = max_positions
        self.outputs = outputs

    def __repr__(self) -> str:
        return f"SequenceClassifier({self.name!r}, label_names={self.label_names!r})"

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        device: torch.device = self.module.device
        return device

    def encode(
        self, first: Sequence[str], second: Sequence[str], *, max_length: int | None = None
    ) -> EncodedPairs:
        """Token ids of pairs, each cut to `max_length` tokens where that is less than the model takes.

        Raises UsageError for a `max_length` that leaves no token for either text beside the tokenizer's own.
        """
        longest = self.max_positions if max_length is None else min(max_length, self.max_positions)
        own = self.tokenizer.num_special_tokens_to_add(pair=True)
        if longest < own + 2:
            # Tokenizers do not cut at all where their own tokens alone are too many.
            raise UsageError(
                f"max_length {longest} leaves no room for two texts: the tokenizer of {show(self.name)} adds "
                f"{own} tokens of its own; give at least {own + 2}"
            )
        return encode_pairs(self.tokenizer, first, second, longest)

    def classify(
        self,
        first: Sequence[str],
        second: Sequence[str],
        *,
        max_length: int | None = None,
        batch_size: int = BATCH_SIZE,
        progress: Progress = silent,
    ) -> PairLogits:
        """Logits of every pair of a first and a second text, encoded as one input as in training.

        A pair of more than `max_length` tokens (None: of more than the model takes) loses tokens from the
        end of whichever text is longer at the moment. Pairs run in batches of like length; another
        `batch_size` moves logits by rounding errors only. `progress` counts pairs. Raises ValueError where
        the two sequences differ in length.
        """
        pairs = self.encode(first, second, max_length=max_length)
        return PairLogits(self.logits(pairs, batch_size=batch_size, progress=progress), pairs.truncated)

    def logits(
        self, pairs: EncodedPairs, *, batch_size: int = BATCH_SIZE, progress: Progress = silent
    ) -> np.ndarray:
        """Logits of encoded pairs: float32 of shape (pairs, labels)."""
        import torch

        logits = np.full((len(pairs), len(self.label_names)), np.nan, dtype=np.float32)
        # the longest first: what does not fit into memory fails at once
        order = np.argsort(-pairs.lengths, kind="stable")
        with torch.inference_mode():
            for begin in range(0, len(order), batch_size):
                rows = order[begin : begin + batch_size]
                logits[rows] = self.forward(pairs, rows).float().cpu().numpy()
                progress(len(rows))
        return logits

    def forward(self, pairs: EncodedPairs, rows: np.ndarray) -> torch.Tensor:
        """The module's logits of the pairs at `rows`, of shape (rows, labels)."""
        inputs = {name: values.to(self.device) for name, values in pairs.batch(rows).items()}
        logits: torch.Tensor = self.module(**inputs).logits
        if self.outputs is None:
            return logits
        import torch

        summed = [torch.logsumexp(logits[:, list(outputs)], dim=1) for outputs in self.outputs]
        return torch.stack(summed, dim=1)

    def with_labels(self, labels: Sequence[str], label_of_output: Sequence[int]) -> SequenceClassifier:
        """The same module as a classifier of other labels.

        `label_of_output` gives, for each output of this one, the index of the label that it stands for. The
        probability of a label is the sum of those of its outputs, and so its logit their log-sum-exp.
        Raises ValueError for a label without an output, or where numbers of outputs differ.
        """
        if len(label_of_output) != len(self.label_names):
            raise ValueError(f"{len(label_of_output)} labels for {len(self.label_names)} outputs")
        own = self.outputs or tuple((output,) for output in range(len(self.label_names)))
        outputs = tuple(
            tuple(
                place
                for output, label in enumerate(label_of_output)
                if label == index
                for place in own[output]
            )
            for index in range(len(labels))
        )
        if not all(outputs):
            raise ValueError(f"label {labels[outputs.index(())]!r} has no output")
        return self._around(self.module, tuple(labels), outputs)

    def copy(self) -> SequenceClassifier:
        """A classifier of its own weights, to be trained."""
        return self._around(copy.deepcopy(self.module), self.label_names, self.outputs)

    def _around(
        self, module: Any, labels: tuple[str, ...], outputs: tuple[tuple[int, ...], ...] | None
    ) -> SequenceClassifier:
        return SequenceClassifier(
            module,
            self.tokenizer,
            name=self.name,
            revision=self.revision,
            label_names=labels,
            max_positions=self.max_positions,
            outputs=outputs,
        )

    def save(self, folder: Path) -> None:
        """Write weights (safetensors), configuration and tokenizer; `load_classifier` reads the same bits."""
        if self.outputs is not None:
            self.module.config.label_outputs = dict(
                zip(self.label_names, map(list, self.outputs), strict=True)
            )
        with no_progress_bars():
            self.module.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)

    def identity(self) -> dict[str, Any]:
        """What decides a logit besides the texts: JSON-able, no paths, no machine."""
        return {
            "model": self.name,
            "revision": self.revision,
            "weights_sha256": self._weights_sha256,
            "tokenizer_sha256": self._tokenizer_sha256,
            "label_names": list(self.label_names),
            **({} if self.outputs is None else {"outputs": [list(found) for found in self.outputs]}),
            "max_positions": self.max_positions,
            "truncation": TRUNCATION,
            "dtype": str(self.module.dtype).removeprefix("torch."),
            "attention": SEQUENCE_CLASSIFIER.attention,
        }

    def environment(self) -> dict[str, Any]:
        """What may move the last bits of a logit: library versions, device, instruction set, threads."""
        return environment(self.device)

    @cached_property
    def _weights_sha256(self) -> str:
        return weights_sha256(self.module)

    @cached_property
    def _tokenizer_sha256(self) -> str:
        return tokenizer_sha256(self.tokenizer)


def load_classifier(
    model: str,
    *,
    revision: str | None = None,
    device: str = "auto",
    label_names: Sequence[str] | None = None,
) -> SequenceClassifier:
    """Load a sequence classifier, in float32.

    `model` is a Hub id (at `revision`) or a local folder. Weights are read from safetensors only and no
    code of the model's repository is run. `label_names` are the names of the outputs in their order, for a
    model whose configuration has none or wrong ones; else `id2label` of its configuration gives them.

    Raises PrerequisiteError where torch is missing, UsageError where there is no such model, where it is no
    sequence classifier with at least two outputs, and where nobody says what its outputs mean.
    """
    require_models_extra()
    name = recorded_name(model)
    module, tokenizer, commit = load_pretrained(SEQUENCE_CLASSIFIER, model, model, revision, "float32")
    names = _label_names(module.config, label_names, name)
    if tokenizer.pad_token_id is None:
        raise UsageError(f"the tokenizer of model {show(name)} has no padding token; set its pad_token")
    if getattr(module.config, "pad_token_id", None) is None:
        # decoders find the last token of an input by the padding behind it
        module.config.pad_token_id = tokenizer.pad_token_id
    module.to(pick_device(device)).eval()
    module.requires_grad_(False)
    grouped = None
    if label_names is None and hasattr(module.config, "label_outputs"):
        grouped = _label_outputs(module.config, names, name)
    return SequenceClassifier(
        module,
        tokenizer,
        name=name,
        revision=commit,
        label_names=names if grouped is None else tuple(grouped),
        max_positions=longest_pair(module, tokenizer, name),
        outputs=None if grouped is None else tuple(grouped.values()),
    )


def _label_outputs(config: Any, labels: tuple[str, ...], name: str) -> dict[str, tuple[int, ...]]:
    """The outputs of each label of a classifier that `save` wrote. Raises UsageError for a broken table."""
    found = config.label_outputs
    try:
        outputs = {str(label): tuple(int(output) for output in places) for label, places in found.items()}
    except (AttributeError, TypeError, ValueError):
        outputs = {}
    if sorted(output for places in outputs.values() for output in places) != list(range(len(labels))):
        raise UsageError(f"label_outputs of model {show(name)} does not name each output once: {show(found)}")
    return outputs


def _label_names(config: Any, option: Sequence[str] | None, name: str) -> tuple[str, ...]:
    outputs = int(config.num_labels)
    if outputs < 2:
        raise UsageError(f"model {show(name)} has {outputs} output(s), it is a regression and no classifier")
    if option is not None:
        if len(option) != outputs:
            raise UsageError(
                f"model {show(name)} has {outputs} outputs, got {len(option)} names: {', '.join(option)}"
            )
        return tuple(option)
    names = tuple(str(config.id2label[output]) for output in range(outputs))
    if any(_PLACEHOLDER.fullmatch(label) for label in names):
        raise UsageError(
            f"model {show(name)} does not say what its outputs {', '.join(names)} mean; name them in this "
            "order with --label-names (Python: label_names=)"
        )
    return names


def longest_pair(module: Any, tokenizer: Any, name: str) -> int:
    """The longest input in tokens: the least of what configuration, tokenizer and position table say.

    RoBERTa and its kin count positions from behind the padding index: 514 rows of the table hold 512 tokens.
    """
    longest = min(max_positions(module.config, tokenizer, name), int(tokenizer.model_max_length))
    for place, table in module.named_modules():
        padding = getattr(table, "padding_idx", None)
        if place.endswith("position_embeddings") and padding is not None:
            longest = min(longest, table.num_embeddings - padding - 1)
    return longest
