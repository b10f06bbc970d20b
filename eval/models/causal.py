"""Causal language models: texts in, token pairs and log-likelihoods out.

A text's score is the sum of log p(token | all earlier tokens) over its scored tokens, natural logarithm, not
divided by length (Likelihood splits, section 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from benchwright.progress import Progress, silent

from ._identity import environment, tokenizer_sha256, weights_sha256
from ._pairs import TokenPair, TokenPairs
from ._plan import ALGORITHM, TOKEN_BUDGET, ScoringPlan, plan_scoring
from ._quiet import no_progress_bars
from ._special_tokens import SpecialToken

if TYPE_CHECKING:
    import torch

StartRule = Literal["always", "model_default"]

_TEXTS_PER_CALL = 10_000


@dataclass(frozen=True)
class ChunkScores:
    """Scores of the input rows of one chunk: three arrays of one length, in the plan's order.

    `rows` int64, indices into the planned pairs; `log_likelihood` float64, natural logarithm, summed over
    the scored tokens; `num_tokens` int32, how many those are.
    """

    chunk: int
    rows: np.ndarray
    log_likelihood: np.ndarray
    num_tokens: np.ndarray


class CausalModel:
    """A causal language model with its tokenizer, as `load_causal` makes it.

    `module` is a transformers model in evaluation mode, `tokenizer` its tokenizer. `name` and `revision` are
    recorded; a local folder is recorded by its last part, never by its path.
    """

    def __init__(
        self,
        module: Any,
        tokenizer: Any,
        *,
        name: str,
        revision: str | None,
        start_token: SpecialToken,
        end_token: SpecialToken,
        max_positions: int,
        supports_shared_prefixes: bool,
    ) -> None:
        self.module, self.tokenizer = module, tokenizer
        self.name, self.revision = name, revision
        self.start_token, self.end_token = start_token, end_token
        self.max_positions = max_positions
        self.supports_shared_prefixes = supports_shared_prefixes

    def __repr__(self) -> str:
        return (
            f"CausalModel({self.name!r}, device={str(self.device)!r}, start_token={self.start_token.text!r})"
        )

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        device: torch.device = self.module.device
        return device

    def encode_pair(self, context: str, continuation: str, *, start: StartRule, end: bool) -> TokenPair:
        """Token ids of one pair; see `encode_pairs`."""
        return self.encode_pairs([context], [continuation], start=start, end=end)[0]

    def encode_pairs(
        self, contexts: Sequence[str], continuations: Sequence[str], *, start: StartRule, end: bool
    ) -> TokenPairs:
        """Token ids of pairs whose two parts are tokenised separately (no token spans the border).

        `start="always"` puts the model's start token first, `"model_default"` only if the tokenizer adds
        one by itself; a context that begins with it gets no second one. A context without tokens always
        gets it, since every scored token needs a predecessor. `end` makes the end token the last scored one.
        Raises ValueError where the two sequences differ in length.
        """
        if len(contexts) != len(continuations):
            raise ValueError(f"{len(contexts)} contexts for {len(continuations)} continuations")
        first = self.start_token.id
        wanted = start == "always" or self.start_token.automatic
        closing = [self.end_token.id] if end else []

        def parts() -> Iterator[tuple[list[int], list[int]]]:
            encoded = zip(self._encode(contexts), self._encode(continuations), strict=True)
            for context, continuation in encoded:
                if not context or (wanted and context[0] != first):
                    context = [first, *context]
                yield context, continuation + closing

        return TokenPairs.from_parts(parts())

    def encode_text(self, text: str, *, start: bool, end: bool) -> tuple[int, ...]:
        """Token ids of one text, between the start and the end token if wanted."""
        ids = next(iter(self._encode([text])))
        before = [self.start_token.id] if start else []
        return (*before, *ids, *([self.end_token.id] if end else []))

    def plan(self, pairs: Iterable[TokenPair], *, token_budget: int = TOKEN_BUDGET) -> ScoringPlan:
        """The scoring plan of `pairs` for this model."""
        return plan_scoring(
            pairs,
            max_positions=self.max_positions,
            token_budget=token_budget,
            share_prefixes=self.supports_shared_prefixes,
        )

    def score(self, plan: ScoringPlan, chunks: Iterable[int] | None = None) -> Iterator[ChunkScores]:
        """Score the given chunks of the plan (default: all), one result a chunk, in the order asked for.

        A chunk's bits do not depend on which chunks ran before it or on the number of threads.
        """
        from ._forward import ChunkRunner

        runner = ChunkRunner(self.module.base_model, self._head, self.device)
        for chunk in range(len(plan.chunks)) if chunks is None else chunks:
            members = [member.sequence for member in plan.chunks[chunk].members]
            values = runner.run(plan, plan.chunks[chunk])
            repeats = np.array([len(plan.inputs[sequence]) for sequence in members])
            tokens = plan.sequences.lengths[members] - plan.sequences.context_lengths[members]
            yield ChunkScores(
                chunk=chunk,
                rows=np.concatenate([plan.inputs[sequence] for sequence in members]),
                log_likelihood=np.repeat(values, repeats),
                num_tokens=np.repeat(tokens, repeats).astype(np.int32),
            )

    def log_likelihoods(self, pairs: Iterable[TokenPair], *, progress: Progress = silent) -> np.ndarray:
        """Scores of `pairs` in their order, float64; NaN where a pair is overlength or has nothing to score.

        `progress` counts pairs.
        """
        plan = self.plan(pairs)
        values = np.full(plan.rows, np.nan)
        progress(len(plan.overlength) + len(plan.empty))
        for scores in self.score(plan):
            values[scores.rows] = scores.log_likelihood
            progress(len(scores.rows))
        return values

    def choice_log_likelihoods(
        self,
        contexts: Sequence[str],
        choices: Sequence[str],
        *,
        start: StartRule = "always",
        progress: Progress = silent,
    ) -> np.ndarray:
        """log p(choice | context) for every context and choice, float64 of shape (contexts, choices).

        A choice is scored as written: it begins with the space that stands before it in the text. NaN where
        context and choice do not fit the model. Zero-shot labels are the arg max over the choices.
        `progress` counts pairs of context and choice.
        """
        pairs = self.encode_pairs(
            [context for context in contexts for _ in choices],
            [choice for _ in contexts for choice in choices],
            start=start,
            end=False,
        )
        scores = self.log_likelihoods(pairs, progress=progress)
        return scores.reshape(len(contexts), len(choices))

    def identity(self) -> dict[str, Any]:
        """What decides a score besides the text: JSON-able, no paths, no machine."""
        return {
            "model": self.name,
            "revision": self.revision,
            "weights_sha256": self._weights_sha256,
            "tokenizer_sha256": self._tokenizer_sha256,
            "start_token": self.start_token.to_json(),
            "end_token": self.end_token.to_json(),
            "max_positions": self.max_positions,
            "dtype": str(self.module.dtype).removeprefix("torch."),
            "attention": self.module.config._attn_implementation,
            "algorithm": ALGORITHM,
            "shared_prefixes": self.supports_shared_prefixes,
        }

    def save(self, folder: Path) -> None:
        """Write weights (safetensors), configuration and tokenizer; `load_causal` reads the same bits."""
        with no_progress_bars():
            self.module.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)

    def environment(self) -> dict[str, Any]:
        """What may move the last bits of a score: library versions, device, instruction set, threads."""
        return environment(self.device)

    def _encode(self, texts: Sequence[str]) -> Iterator[list[int]]:
        for begin in range(0, len(texts), _TEXTS_PER_CALL):
            batch = list(texts[begin : begin + _TEXTS_PER_CALL])
            yield from self.tokenizer(
                batch, add_special_tokens=False, return_attention_mask=False, verbose=False
            )["input_ids"]

    def _head(self, states: torch.Tensor) -> torch.Tensor:
        return apply_head(self.module, states)

    @cached_property
    def _weights_sha256(self) -> str:
        return weights_sha256(self.module)

    @cached_property
    def _tokenizer_sha256(self) -> str:
        return tokenizer_sha256(self.tokenizer)


def apply_head(module: Any, states: torch.Tensor) -> torch.Tensor:
    """Logits of hidden states: the output head and the scaling that some model families put behind it."""
    import torch

    logits: torch.Tensor = module.get_output_embeddings()(states)
    config = module.config.get_text_config()
    cap = getattr(config, "final_logit_softcapping", None)
    if cap:
        logits = torch.tanh(logits / cap) * cap
    scale = getattr(config, "logit_scale", 1.0) / getattr(config, "logits_scaling", 1.0)
    return logits if scale == 1.0 else logits * scale
