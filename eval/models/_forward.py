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


def target_log_probabilities(head: Head, states: torch.Tensor, which: np.ndarray, targets: np.ndarray) -> np.ndarray:
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
            ids = np.stack([plan.sequences.sequence(chunk.prefixes[row][0])[: batch.length] for row in batch.rows])
            cache = DynamicCache()
            hidden = self._forward(_filled(ids), {self._cache_argument: cache, "use_cache": True})
            store.add(batch, cache)
            wanted = _Wanted()
            for row, group in enumerate(batch.rows):
                for index in members_of[group]:
                    sequence = chunk.members[index].sequence
                    ids, border = plan.sequences.sequence(sequence), int(plan.sequences.context_lengths[sequence])
                    positions = range(border - 1, min(batch.length, len(ids) - 1))
                    wanted.add(row, positions, ids[border : border + len(positions)], index)
            wanted.read(hidden, self.head, sums)
        store.finish()
        return store

    def _run_members(
        self, plan: ScoringPlan, chunk: Chunk, batch: Batch, prefixes: _PrefixStore, sums: np.ndarray
    ) -> None:
        wanted, rows = _Wanted(), []
        for row, index in enumerate(batch.rows):
            sequence = chunk.members[index].sequence
            ids, border = plan.sequences.sequence(sequence), int(plan.sequences.context_lengths[sequence])
            shared = len(ids) - 1 - batch.length
            rows.append(ids[shared:-1])
            first = max(border - 1, shared)
            wanted.add(row, range(first - shared, batch.length), ids[first + 1 :], index)
        ids = _filled(np.stack(rows))
        extra: dict[str, Any] = {"use_cache": False}
        if batch.slots:
            groups = [chunk.members[index].group for index in batch.rows]
            groups += groups[:1] * (len(ids) - len(groups))
            lengths = np.array([chunk.prefixes[group][1] for group in groups if group is not None])
            extra = {
                self._cache_argument: prefixes.select(batch.slots, groups),
                "use_cache": True,
                "attention_mask": self._tensor(_mask(lengths, batch.slots, batch.length)),
                "position_ids": self._tensor(lengths[:, None] + np.arange(batch.length)),
            }
        wanted.read(self._forward(ids, extra), self.head, sums)

    def _forward(self, ids: np.ndarray, extra: dict[str, Any]) -> torch.Tensor:
        hidden: torch.Tensor = self.body(input_ids=self._tensor(ids), return_dict=True, **extra).last_hidden_state
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
    store.add(Batch(tuple(rows), length), cache)
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
        self._row: dict[int, tuple[int, int]] = {}
        self._layers: dict[int, list[list[tuple[torch.Tensor, torch.Tensor]]]] = {}
        self._joined: dict[int, list[tuple[torch.Tensor, torch.Tensor]]] = {}
        self._counts: dict[int, int] = {}

    def add(self, batch: Batch, cache: DynamicCache) -> None:
        slots = prefix_slots(batch.length)
        for row, group in enumerate(batch.rows):
            self._row[group] = (slots, self._counts.get(slots, 0) + row)
        self._counts[slots] = self._counts.get(slots, 0) + len(batch.rows)
        padding = (0, 0, slots - batch.length, 0)
        used = len(batch.rows)  # dummy rows stand behind the real ones
        self._layers.setdefault(slots, []).append(
            [
                (
                    torch.nn.functional.pad(layer.keys[:used], padding),
                    torch.nn.functional.pad(layer.values[:used], padding),
                )
                for layer in cache.layers
            ]
        )

    def finish(self) -> None:
        for slots, batches in self._layers.items():
            self._joined[slots] = [
                (torch.cat([keys for keys, _ in layer]), torch.cat([values for _, values in layer]))
                for layer in zip(*batches, strict=True)
            ]
        self._layers.clear()

    def select(self, slots: int, groups: Sequence[int | None]) -> DynamicCache:
        """A cache with one row per group."""
        rows = [self._row[group][1] for group in groups if group is not None]
        cache = DynamicCache()
        for index, (keys, values) in enumerate(self._joined[slots]):
            chosen = torch.tensor(rows, device=keys.device)
            cache.update(keys.index_select(0, chosen), values.index_select(0, chosen), index)
        return cache


def _filled(ids: np.ndarray) -> np.ndarray:
    """Rows and copies of the first one, until the batch holds `SMALLEST_BATCH` tokens."""
    missing = -(-SMALLEST_BATCH // ids.shape[1]) - len(ids)
    return ids if missing <= 0 else np.concatenate([ids, np.repeat(ids[:1], missing, axis=0)])


def _mask(lengths: np.ndarray, slots: int, new: int) -> np.ndarray:
    """1 where a cached or new position holds a token, shape (rows, slots + new)."""
    cached = np.arange(slots)[None, :] >= slots - lengths[:, None]
    return np.concatenate([cached, np.ones((len(lengths), new), dtype=bool)], axis=1)


def _cache_argument(body: PreTrainedModel) -> str:
    """transformers 5.24 renamed the argument and warns about the old name."""
    return "cache" if "cache" in inspect.signature(body.forward).parameters else "past_key_values"
