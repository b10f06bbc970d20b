"""Running one chunk of a scoring plan through a model (imports torch: loaded when a model is)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from transformers import DynamicCache, PreTrainedModel

from ._plan import SMALLEST_BATCH, Batch, Chunk, ScoringPlan, prefix_slots

HEAD_ROWS = 256
"""Hidden states that go through the output head at once: bounds the logits to 256 x vocabulary."""

_SUM_ROWS = 8  # rows of logits that are summed at once: they stay in the processor's cache

Head = Callable[[torch.Tensor], torch.Tensor]


class _ScoredTokens:
    """Hidden states before the scored tokens of a chunk, and which token each of them predicts for whom.

    A hidden state stands at (row of the batch, position in the row) and may predict several tokens: where
    sequences share a prefix, it is kept once.
    """

    def __init__(self) -> None:
        self._states: list[torch.Tensor] = []
        self._kept = 0
        self._places: dict[tuple[int, int], int] = {}
        self._state: list[int] = []
        self._target: list[int] = []
        self._member: list[int] = []

    def want(self, row: int, positions: range, targets: np.ndarray, member: int) -> None:
        """Of the batch at hand: the states at `positions` of `row` predict `targets` of `member`."""
        for position, target in zip(positions, targets.tolist(), strict=True):
            self._state.append(self._kept + self._places.setdefault((row, position), len(self._places)))
            self._target.append(target)
            self._member.append(member)

    def keep(self, hidden: torch.Tensor) -> None:
        """Take the wanted states out of the batch's hidden states (rows x positions x size)."""
        if self._places:
            rows, positions = np.array(list(self._places), dtype=np.int64).T
            self._states.append(hidden[torch.from_numpy(rows), torch.from_numpy(positions)])
            self._kept += len(self._places)
            self._places.clear()

    def log_likelihoods(self, head: Head, members: int) -> np.ndarray:
        """Sum of the log-probabilities of each member, float64 of shape (members,)."""
        states, targets = np.array(self._state), np.array(self._target)
        values = target_log_probabilities(head, torch.cat(self._states), states, targets)
        # bincount adds in the order of the tokens, so that the sum of a member is always the same
        return np.bincount(np.array(self._member), weights=values, minlength=members)


def target_log_probabilities(
    head: Head, states: torch.Tensor, which: np.ndarray, targets: np.ndarray
) -> np.ndarray:
    """log p(targets[i] | states[which[i]]), natural logarithm, float64.

    The head gives float32 logits for blocks of `HEAD_ROWS` states; the last block is filled with zeros to
    `SMALLEST_BATCH`, as everywhere.
    """
    values = np.empty(len(which), dtype=np.float64)
    for start in range(0, len(states), HEAD_ROWS):
        block = states[start : start + HEAD_ROWS]
        if len(block) < SMALLEST_BATCH:
            block = torch.cat([block, block.new_zeros(SMALLEST_BATCH - len(block), block.shape[1])])
        logits = head(block).float()
        inside = np.flatnonzero((which >= start) & (which < start + HEAD_ROWS))
        row = torch.from_numpy(which[inside] - start).to(logits.device)
        chosen = logits[row, torch.from_numpy(targets[inside]).to(logits.device)].cpu().double()
        values[inside] = (chosen - log_sum_exp(logits)[row.cpu()]).numpy()
    return values


def log_sum_exp(logits: torch.Tensor) -> torch.Tensor:
    """log(sum(exp(logits))) over the last dimension of float32 logits, float64 on the CPU.

    The exponentials are float32, their sum and its logarithm float64: within 1e-6 of float64 throughout and
    six times as fast. Summed in float32, as `log_softmax` does, 50k types are off by 1e-4, always one way.
    """
    sums = []
    for rows in logits.split(_SUM_ROWS):
        rows = rows.cpu() if rows.device.type == "mps" else rows  # MPS has no float64
        peak = rows.amax(dim=-1, keepdim=True)
        total = (rows - peak).exp_().sum(dim=-1, dtype=torch.float64)
        sums.append((total.log() + peak[:, 0].double()).cpu())
    return torch.cat(sums)


class ChunkRunner:
    """Runs the chunks of one plan; holds nothing between chunks."""

    def __init__(self, body: PreTrainedModel, head: Head, device: torch.device) -> None:
        self.body, self.head, self.device = body, head, device
        self._cache_argument = _cache_argument(body)

    @torch.inference_mode()
    def run(self, plan: ScoringPlan, chunk: Chunk) -> np.ndarray:
        """Log-likelihood of each member of the chunk, float64 of shape (members,)."""
        scored = _ScoredTokens()
        prefixes = self._run_prefixes(plan, chunk, scored)
        for batch in plan.member_batches(chunk):
            self._run_members(plan, chunk, batch, prefixes, scored)
        return scored.log_likelihoods(self.head, len(chunk.members))

    def _run_prefixes(self, plan: ScoringPlan, chunk: Chunk, scored: _ScoredTokens) -> _PrefixStore:
        members_of: list[list[int]] = [[] for _ in chunk.prefixes]
        for index, member in enumerate(chunk.members):
            if member.group is not None:
                members_of[member.group].append(index)
        store = _PrefixStore()
        for batch in plan.prefix_batches(chunk):
            lengths = [chunk.prefixes[group][1] for group in batch.rows]
            owners = [plan.sequences.sequence(chunk.prefixes[group][0]) for group in batch.rows]
            prefixes = [ids[:length] for ids, length in zip(owners, lengths, strict=True)]
            cache = DynamicCache()
            hidden = self._forward(
                _rectangle(prefixes, batch.length), {self._cache_argument: cache, "use_cache": True}
            )
            store.add(batch.rows, lengths, cache)
            for row, group in enumerate(batch.rows):
                for index in members_of[group]:
                    sequence = chunk.members[index].sequence
                    ids, border = (
                        plan.sequences.sequence(sequence),
                        int(plan.sequences.context_lengths[sequence]),
                    )
                    positions = range(border - 1, min(lengths[row], len(ids) - 1))
                    scored.want(row, positions, ids[border : border + len(positions)], index)
            scored.keep(hidden)
        store.finish()
        return store

    def _run_members(
        self, plan: ScoringPlan, chunk: Chunk, batch: Batch, prefixes: _PrefixStore, scored: _ScoredTokens
    ) -> None:
        rows = []
        for row, index in enumerate(batch.rows):
            member = chunk.members[index]
            ids = plan.sequences.sequence(member.sequence)
            border = int(plan.sequences.context_lengths[member.sequence])
            shared = 0 if member.group is None else chunk.prefixes[member.group][1]
            rows.append(ids[shared:-1])
            first = max(border - 1, shared)
            scored.want(row, range(first - shared, len(ids) - 1 - shared), ids[first + 1 :], index)
        ids = _rectangle(rows, batch.length)
        extra: dict[str, Any] = {"use_cache": False}
        if batch.slots:
            groups = [chunk.members[index].group for index in batch.rows]
            groups += groups[:1] * (len(ids) - len(groups))
            lengths = np.array([chunk.prefixes[group][1] for group in groups if group is not None])
            # a padding token takes the position of the last real one, which every model has
            last = (
                lengths + np.array([len(row) for row in rows] + [len(rows[0])] * (len(ids) - len(rows))) - 1
            )
            extra = {
                self._cache_argument: prefixes.select(batch.slots, groups),
                "use_cache": True,
                "attention_mask": self._tensor(_mask(lengths, batch.slots, batch.length)),
                "position_ids": self._tensor(
                    np.minimum(lengths[:, None] + np.arange(batch.length), last[:, None])
                ),
            }
        scored.keep(self._forward(ids, extra))

    def _forward(self, ids: np.ndarray, extra: dict[str, Any]) -> torch.Tensor:
        hidden: torch.Tensor = self.body(
            input_ids=self._tensor(ids), return_dict=True, **extra
        ).last_hidden_state
        return hidden

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values.astype(np.int64)).to(self.device)


def continue_prefix(body: PreTrainedModel, ids: torch.Tensor, length: int) -> torch.Tensor:
    """Hidden states of `ids` (rows x tokens) from position `length` on, computed from a cached prefix.

    The way members of a chunk are run, for checking that a model supports it.
    """
    argument, rows = _cache_argument(body), range(len(ids))
    cache, store = DynamicCache(), _PrefixStore()
    body(input_ids=ids[:, :length], use_cache=True, **{argument: cache})
    store.add(rows, [length] * len(rows), cache)
    store.finish()
    slots, lengths = prefix_slots(length), np.full(len(ids), length)
    mask = torch.from_numpy(_mask(lengths, slots, ids.shape[1] - length).astype(np.int64))
    positions = torch.arange(length, ids.shape[1], device=ids.device).expand(len(ids), -1)
    hidden: torch.Tensor = body(
        input_ids=ids[:, length:],
        attention_mask=mask.to(ids.device),
        position_ids=positions,
        use_cache=True,
        **{argument: store.select(slots, rows)},
    ).last_hidden_state
    return hidden


class _PrefixStore:
    """Keys and values of a chunk's prefixes, per number of slots; each prefix stands at the end of its slots.

    At the end, so that the tokens after it follow at their true distance (sliding windows count slots).
    """

    def __init__(self) -> None:
        self._row: dict[int, int] = {}
        self._parts: dict[int, list[list[tuple[torch.Tensor, ...]]]] = {}
        self._joined: dict[int, list[tuple[torch.Tensor, torch.Tensor]]] = {}

    def add(self, groups: Sequence[int], lengths: Sequence[int], cache: DynamicCache) -> None:
        """Take the first `lengths[i]` positions of row i of `cache` as the prefix of `groups[i]`."""
        for row, (group, length) in enumerate(zip(groups, lengths, strict=True)):
            slots = prefix_slots(length)
            parts = self._parts.setdefault(slots, [])
            self._row[group] = len(parts)
            padding = (0, 0, slots - length, 0)
            parts.append(
                [
                    tuple(
                        torch.nn.functional.pad(part[row, :, :length], padding)
                        for part in (layer.keys, layer.values)
                    )
                    for layer in cache.layers
                ]
            )

    def finish(self) -> None:
        """Join what was added; `select` may be called from here on."""
        for slots, parts in self._parts.items():
            self._joined[slots] = [
                (torch.stack([keys for keys, _ in layer]), torch.stack([values for _, values in layer]))
                for layer in zip(*parts, strict=True)
            ]
        self._parts.clear()

    def select(self, slots: int, groups: Sequence[int | None]) -> DynamicCache:
        """A cache with one row per group."""
        rows = [self._row[group] for group in groups if group is not None]
        cache = DynamicCache()
        for index, (keys, values) in enumerate(self._joined[slots]):
            chosen = torch.tensor(rows, device=keys.device)
            cache.update(keys.index_select(0, chosen), values.index_select(0, chosen), index)
        return cache


def _rectangle(rows: list[np.ndarray], length: int) -> np.ndarray:
    """Rows padded on the right to `length`, and copies of the first until there are `SMALLEST_BATCH` tokens.

    Under causal attention nothing to the right of a token, nor another row, has a part in its hidden state.
    """
    count = max(len(rows), -(-SMALLEST_BATCH // length))
    ids = np.zeros((count, length), dtype=np.int64)
    for index in range(count):
        row = rows[index if index < len(rows) else 0]
        ids[index, : len(row)] = row
    return ids


def _mask(lengths: np.ndarray, slots: int, new: int) -> np.ndarray:
    """1 where a cached or new position holds a token, shape (rows, slots + new)."""
    cached = np.arange(slots)[None, :] >= slots - lengths[:, None]
    return np.concatenate([cached, np.ones((len(lengths), new), dtype=bool)], axis=1)


def _cache_argument(body: PreTrainedModel) -> str:
    """transformers 5.24 renamed the argument and warns about the old name."""
    return "cache" if "cache" in inspect.signature(body.forward).parameters else "past_key_values"
