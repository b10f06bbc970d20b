"""Running one chunk of a scoring plan through a model (imports torch: loaded when a model is)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from transformers import DynamicCache, PreTrainedModel

from ._plan import SMALLEST_BATCH, Batch, Chunk, ScoringPlan, prefix_slots

HEAD_ROWS = 64
"""Hidden states that go through the output head at once: bounds the logits to 64 x vocabulary."""

Head = Callable[[torch.Tensor], torch.Tensor]


class _Wanted:
    """Log-probabilities to read from one batch: (hidden state, target token, chunk member) triples.

    A hidden state stands at (row of the batch, position in the row) and may predict several targets.
    """

    def __init__(self) -> None:
        self.states: dict[tuple[int, int], int] = {}
        self.state: list[int] = []
        self.target: list[int] = []
        self.member: list[int] = []

    def add(self, row: int, positions: range, targets: np.ndarray, member: int) -> None:
        for position, target in zip(positions, targets.tolist(), strict=True):
            self.state.append(self.states.setdefault((row, position), len(self.states)))
            self.target.append(target)
            self.member.append(member)

    def read(self, hidden: torch.Tensor, head: Head, sums: np.ndarray) -> None:
        """Add the log-probabilities to `sums` (float64, one per chunk member)."""
        if not self.states:
            return
        rows, positions = np.array(list(self.states), dtype=np.int64).T
        states = hidden[torch.from_numpy(rows), torch.from_numpy(positions)]
        values = target_log_probabilities(head, states, np.array(self.state), np.array(self.target))
        np.add.at(sums, np.array(self.member), values)


def target_log_probabilities(
    head: Head, states: torch.Tensor, which: np.ndarray, targets: np.ndarray
) -> np.ndarray:
    """log p(targets[i] | states[which[i]]), natural logarithm, float64.

    The head gives float32 logits for blocks of `HEAD_ROWS` states (the last block filled with zeros to
    `SMALLEST_BATCH`, as everywhere); their log-sum-exp is taken in float64, because float32 `log_softmax`
    over 50k types is biased by 1e-4 nats a row.
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
        values[inside] = (chosen - log_sum_exp(logits).cpu()[row.cpu()]).numpy()
    return values


def log_sum_exp(logits: torch.Tensor) -> torch.Tensor:
    """log(sum(exp(logits))) over the last dimension, computed in float64."""
    wide = logits.cpu() if logits.device.type == "mps" else logits  # MPS has no float64
    return torch.logsumexp(wide.double(), dim=-1)


class ChunkRunner:
    """Runs the chunks of one plan; holds nothing between chunks."""

    def __init__(self, body: PreTrainedModel, head: Head, device: torch.device) -> None:
        self.body, self.head, self.device = body, head, device
        self._cache_argument = _cache_argument(body)

    @torch.inference_mode()
    def run(self, plan: ScoringPlan, chunk: Chunk) -> np.ndarray:
        """Log-likelihood of each member of the chunk, float64 of shape (members,)."""
        sums = np.zeros(len(chunk.members), dtype=np.float64)
        prefixes = self._run_prefixes(plan, chunk, sums)
        for batch in plan.member_batches(chunk):
            self._run_members(plan, chunk, batch, prefixes, sums)
        return sums

    def _run_prefixes(self, plan: ScoringPlan, chunk: Chunk, sums: np.ndarray) -> _PrefixStore:
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
            wanted = _Wanted()
            for row, group in enumerate(batch.rows):
                for index in members_of[group]:
                    sequence = chunk.members[index].sequence
                    ids, border = (
                        plan.sequences.sequence(sequence),
                        int(plan.sequences.context_lengths[sequence]),
                    )
                    positions = range(border - 1, min(lengths[row], len(ids) - 1))
                    wanted.add(row, positions, ids[border : border + len(positions)], index)
            wanted.read(hidden, self.head, sums)
        store.finish()
        return store

    def _run_members(
        self, plan: ScoringPlan, chunk: Chunk, batch: Batch, prefixes: _PrefixStore, sums: np.ndarray
    ) -> None:
        wanted, rows = _Wanted(), []
        for row, index in enumerate(batch.rows):
            member = chunk.members[index]
            ids = plan.sequences.sequence(member.sequence)
            border = int(plan.sequences.context_lengths[member.sequence])
            shared = 0 if member.group is None else chunk.prefixes[member.group][1]
            rows.append(ids[shared:-1])
            first = max(border - 1, shared)
            wanted.add(row, range(first - shared, len(ids) - 1 - shared), ids[first + 1 :], index)
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
        wanted.read(self._forward(ids, extra), self.head, sums)

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
