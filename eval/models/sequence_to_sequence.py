"""Sequence-to-sequence models such as T5: texts in, generated texts out, and their fine-tuning."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchwright.errors import UsageError, show
from benchwright.progress import Progress, silent

from ._identity import environment, tokenizer_sha256, weights_sha256
from ._pretrained import SEQUENCE_TO_SEQUENCE, load_pretrained, pick_device, recorded_name
from .embedded import require_models_extra
from .fine_tuning import TrainingLog
from .generation import BATCH_SIZE, Answers, BeamSearch, ParserRecipe, generate

if TYPE_CHECKING:
    import torch

_IGNORED = -100

TokenIds = list[int]


class SequenceToSequenceModel:
    """An encoder-decoder model with its tokenizer, as `load_sequence_to_sequence` makes it.

    `name` and `revision` are recorded; a local folder is recorded by its last part, never by its path.
    `padding`, `start` and `end` are token ids: of padding, of the decoder's first token, of the end.
    `max_positions` is the longest input in tokens; None for models with relative positions.
    """

    def __init__(
        self,
        module: Any,
        tokenizer: Any,
        *,
        name: str,
        revision: str | None,
        padding: int,
        start: int,
        end: int,
        max_positions: int | None,
    ) -> None:
        self.module, self.tokenizer = module, tokenizer
        self.name, self.revision = name, revision
        self.padding, self.start, self.end = padding, start, end
        self.max_positions = max_positions

    def __repr__(self) -> str:
        return f"SequenceToSequenceModel({self.name!r}, device={str(self.device)!r})"

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        device: torch.device = self.module.device
        return device

    def encode_inputs(self, texts: Sequence[str], limit: int) -> tuple[list[TokenIds], np.ndarray]:
        """Token ids as the tokenizer dresses an input, and which inputs were cut at their end to fit `limit`.

        The second is bool of shape (texts,). `limit` is in tokens; the model's own limit holds as well.
        """
        limit = limit if self.max_positions is None else min(limit, self.max_positions)
        whole = self.tokenizer(list(texts), verbose=False)["input_ids"]
        truncated = np.array([len(ids) > limit for ids in whole], dtype=bool)
        for row in np.flatnonzero(truncated).tolist():
            whole[row] = self.tokenizer(texts[row], truncation=True, max_length=limit)["input_ids"]
        return whole, truncated

    def encode_targets(self, texts: Sequence[str]) -> list[TokenIds]:
        """Token ids of answers, the end token last."""
        encoded = self.tokenizer(text_target=list(texts), verbose=False)["input_ids"]
        return [ids if ids and ids[-1] == self.end else [*ids, self.end] for ids in encoded]

    def answer(
        self,
        texts: Sequence[str],
        recipe: ParserRecipe,
        *,
        batch_size: int = BATCH_SIZE,
        progress: Progress = silent,
    ) -> Answers:
        """The best hypothesis of the beam search for every text; `progress` counts texts."""
        inputs, truncated = self.encode_inputs(texts, recipe.max_source_length)
        search = BeamSearch(recipe.beams, recipe.max_target_length, self.padding, self.end, self.start)
        found = generate(self.module, inputs, search, batch_size=batch_size, progress=progress)
        return Answers(
            [self.decode(ids) for ids in found],
            truncated,
            np.array([not ids or ids[-1] != self.end for ids in found], dtype=bool),
        )

    def decode(self, ids: TokenIds) -> str:
        """The text of an answer, without special tokens."""
        text: str = self.tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text.strip()

    def identity(self) -> dict[str, Any]:
        """What decides an answer besides the text: JSON-able, no paths, no machine."""
        return {
            "model": self.name,
            "revision": self.revision,
            "weights_sha256": self._weights_sha256,
            "tokenizer_sha256": self._tokenizer_sha256,
            "max_positions": self.max_positions,
            "dtype": str(self.module.dtype).removeprefix("torch."),
            "attention": SEQUENCE_TO_SEQUENCE.attention,
        }

    def environment(self) -> dict[str, Any]:
        """What may move the last bits of a number: library versions, device, instruction set, threads."""
        return environment(self.device)

    @cached_property
    def _weights_sha256(self) -> str:
        return weights_sha256(self.module)

    @cached_property
    def _tokenizer_sha256(self) -> str:
        return tokenizer_sha256(self.tokenizer)


def load_sequence_to_sequence(
    model: str, *, revision: str | None = None, device: str = "auto"
) -> SequenceToSequenceModel:
    """Load an encoder-decoder model, in float32.

    `model` is a Hub id (at `revision`) or a local folder. Weights are read from safetensors only and no
    code of the model's repository is run.

    Raises PrerequisiteError where torch is missing, UsageError where there is no such model, where it is
    of another kind, and where it does not name its padding, start or end token.
    """
    require_models_extra()
    name = recorded_name(model)
    module, tokenizer, commit = load_pretrained(SEQUENCE_TO_SEQUENCE, model, model, revision, "float32")
    module.to(pick_device(device)).eval()
    module.requires_grad_(False)
    return SequenceToSequenceModel(
        module,
        tokenizer,
        name=name,
        revision=commit,
        padding=_token(module, name, "pad_token_id"),
        start=_token(module, name, "decoder_start_token_id"),
        end=_token(module, name, "eos_token_id"),
        max_positions=getattr(module.config, "max_position_embeddings", None),
    )


def fine_tune_sequence_to_sequence(
    model: SequenceToSequenceModel,
    training: tuple[Sequence[str], Sequence[str]],
    validation: tuple[Sequence[str], Sequence[str]],
    recipe: ParserRecipe,
    seed: int,
    *,
    added_token: str | None = None,
    checkpoints: Path | None = None,
    checkpoint_seconds: float = 60.0,
    progress: Progress = silent,
) -> tuple[SequenceToSequenceModel, TrainingLog]:
    """Fine-tune a copy of `model` on inputs and their answers; the model itself stays as it is.

    The copy has the weights of the lowest perplexity on the validation rows. Inputs are truncated as in
    `SequenceToSequenceModel.answer`; rows with an answer that is too long are left out and counted.
    `added_token` becomes a token of the vocabulary unless the tokenizer knows it. `progress` counts steps.

    With the folder `checkpoints`, the whole state is saved there at most every `checkpoint_seconds` and at
    the end; the same call on the same model takes it up, and gives the same bits as a run that was never
    interrupted. Whoever keeps the model removes the folder.

    Raises UsageError where no training or no validation row fits.
    """
    from ._checkpoints import checkpoints_in
    from ._training import TrainingRows, train

    tuned = _copy(model, added_token, seed)
    training_pairs, validation_pairs = (_fitting(tuned, rows, recipe) for rows in (training, validation))
    if not training_pairs or not validation_pairs:
        raise UsageError(
            f"fine-tuning needs rows with answers of at most {recipe.max_target_length} tokens, got "
            f"{len(training_pairs)} of {len(training[0])} for training and {len(validation_pairs)} of "
            f"{len(validation[0])} for validation"
        )
    overlength = len(training[0]) + len(validation[0]) - len(training_pairs) - len(validation_pairs)
    validation_pairs = validation_pairs[: recipe.max_validation_rows]
    _freeze_all_but_last(tuned.module, recipe.trainable_layers)
    perplexity = _perplexity_of(tuned, validation_pairs, recipe.micro_batch_size or recipe.batch_size)
    log = train(
        tuned.module,
        TrainingRows(
            lambda rows: _loss_sum(tuned, [training_pairs[row] for row in rows.tolist()]),
            np.array([len(target) for _, target in training_pairs]),
        ),
        lambda: (perplexity(),),
        recipe.loop_settings(),
        seed,
        progress,
        checkpoints=None
        if checkpoints is None
        else checkpoints_in(
            checkpoints,
            checkpoint_seconds,
            model={**model.identity(), "added_token": added_token},
            environment=model.environment(),
            recipe=recipe.to_json(),
            seed=seed,
            rows=[training_pairs, validation_pairs],
        ),
    )
    tuned.module.requires_grad_(False)
    return tuned, TrainingLog(
        steps=log.steps,
        validation_perplexities=log.values,
        best_step=log.best_step,
        last_step=log.last_step,
        training_rows=len(training_pairs),
        validation_rows=len(validation_pairs),
        overlength_rows=overlength,
    )


def _freeze_all_but_last(module: Any, layers: int | None) -> None:
    """Let only the last `layers` of encoder and decoder each learn (None: all of the model)."""
    from ._layers import freeze_all_but_last

    if layers is None:
        freeze_all_but_last(module, None)
        return
    module.requires_grad_(False)
    for part in (module.get_encoder(), module.get_decoder()):
        freeze_all_but_last(part, layers)


def _fitting(
    model: SequenceToSequenceModel, rows: tuple[Sequence[str], Sequence[str]], recipe: ParserRecipe
) -> list[tuple[TokenIds, TokenIds]]:
    inputs, _ = model.encode_inputs(rows[0], recipe.max_source_length)
    pairs = zip(inputs, model.encode_targets(rows[1]), strict=True)
    longest = recipe.max_length
    return [
        (source, target)
        for source, target in pairs
        if len(target) <= recipe.max_target_length
        and (longest is None or len(source) + len(target) <= longest)
    ]


def _copy(model: SequenceToSequenceModel, added_token: str | None, seed: int) -> SequenceToSequenceModel:
    import torch

    module, tokenizer = copy.deepcopy(model.module), copy.deepcopy(model.tokenizer)
    unknown = tokenizer.unk_token_id
    if added_token is not None and unknown in tokenizer.encode(added_token, add_special_tokens=False):
        tokenizer.add_tokens([added_token])
        if len(tokenizer) > module.get_input_embeddings().num_embeddings:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                module.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    return SequenceToSequenceModel(
        module,
        tokenizer,
        name=model.name,
        revision=model.revision,
        padding=model.padding,
        start=model.start,
        end=model.end,
        max_positions=model.max_positions,
    )


def _perplexity_of(
    model: SequenceToSequenceModel, pairs: list[tuple[TokenIds, TokenIds]], batch_size: int
) -> Callable[[], float]:
    """A function that scores `pairs` with the weights of the moment: exp of the mean loss of a token."""
    import torch

    ordered = sorted(pairs, key=lambda pair: len(pair[0]))
    batches = [ordered[begin : begin + batch_size] for begin in range(0, len(ordered), batch_size)]
    tokens = sum(len(target) for _, target in pairs)

    def perplexity() -> float:
        with torch.inference_mode():
            total = sum(float(_loss_sum(model, batch)) for batch in batches)
        return float(np.exp(total / tokens))

    return perplexity


def _loss_sum(model: SequenceToSequenceModel, pairs: list[tuple[TokenIds, TokenIds]]) -> torch.Tensor:
    """Summed cross-entropy over the tokens of the answers, each predicted from those before it."""
    import torch

    ids, mask = _padded([source for source, _ in pairs], model.padding)
    given, _ = _padded([[model.start, *target[:-1]] for _, target in pairs], model.padding)
    labels, _ = _padded([target for _, target in pairs], _IGNORED)
    logits = model.module(
        input_ids=ids.to(model.device),
        attention_mask=mask.to(model.device),
        decoder_input_ids=given.to(model.device),
        use_cache=False,
    ).logits.float()
    return torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), labels.flatten().to(model.device), ignore_index=_IGNORED, reduction="sum"
    )


def _padded(sequences: Sequence[Sequence[int]], filling: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Right-padded ids and their mask."""
    import torch

    width = max(len(sequence) for sequence in sequences)
    ids = torch.full((len(sequences), width), filling)
    mask = torch.zeros((len(sequences), width), dtype=torch.long)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = torch.tensor(list(sequence))
        mask[row, : len(sequence)] = 1
    return ids, mask


def _token(module: Any, name: str, role: str) -> int:
    for settings in (module.config, getattr(module, "generation_config", None)):
        value = getattr(settings, role, None)
        value = value[0] if isinstance(value, list) and value else value
        if isinstance(value, int):
            return value
    raise UsageError(f"model {show(name)} does not say its {role}; set it in its config.json")
