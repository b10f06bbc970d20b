"""The layers of a model: which of them learn, and at which rates."""

from __future__ import annotations

from typing import Any

import torch

from benchwright.errors import UsageError


def freeze_all_but_last(module: Any, layers: int | None) -> None:
    """Let the last `layers` blocks and what follows them learn (None: everything).

    Embeddings and output head stay as they are. Raises UsageError for a number of layers
    that the model does not have.
    """
    if layers is None:
        module.requires_grad_(True)
        return
    body = module.base_model
    name, blocks = _stack(body)
    if not 0 < layers <= len(blocks):
        raise UsageError(
            f"trainable_layers must be between 1 and the model's {len(blocks)} layers, got {layers}"
        )
    module.requires_grad_(False)
    for block in blocks[-layers:]:
        block.requires_grad_(True)
    for part in _after(body, name):
        part.requires_grad_(True)


def layer_rates(module: Any, decay: float) -> dict[str, float]:
    """The factor of the learning rate of every parameter, by its name.

    Of L + 1 layers, layer n (from 0) has the factor decay^(L - n); the embeddings, and whatever stands
    before the layers, decay^L; what follows the layers, the classification head included, 1. That is the
    rule of the published code of 2210.06799 (decay 0.8 for ELECTRA base, L = 11; 0.9 for large, L = 23).
    Raises UsageError for a model without one stack of layers, such as an encoder-decoder.
    """
    body = module.base_model
    name, blocks = _stack(body)
    if not blocks or getattr(module.config, "is_encoder_decoder", False):
        raise UsageError("layer_decay is for models with one stack of layers; leave it out")
    last = len(blocks) - 1
    factors: dict[int, float] = {}
    for number, block in enumerate(blocks):
        factors |= {id(weights): decay ** (last - number) for weights in block.parameters()}
    after = {id(weights) for part in _after(body, name) for weights in part.parameters()}
    for place, weights in body.named_parameters():
        if id(weights) not in factors:
            # what belongs to the embeddings may be kept behind the layers, as DeBERTa's relative ones are
            late = id(weights) in after and "embed" not in place
            factors[id(weights)] = 1.0 if late else decay**last
    return {place: factors.get(id(weights), 1.0) for place, weights in module.named_parameters()}


def _stack(body: Any) -> tuple[str, list[Any]]:
    """The longest of the outermost lists of modules, by its name; empty where there is none."""
    lists = {name: part for name, part in body.named_modules() if isinstance(part, torch.nn.ModuleList)}
    # a block of T5 is a list too, which may be longer than the list of blocks
    outermost = [name for name in lists if not any(name.startswith(f"{other}.") for other in lists)]
    name = max(outermost, key=lambda name: len(lists[name]), default="")
    return name, list(lists.get(name, ()))


def _after(body: Any, name: str) -> list[Any]:
    """The modules that stand behind the stack `name`, beside it and in the modules around it."""
    found: list[Any] = []
    while name:
        owner, _, child = name.rpartition(".")
        parts = list(body.get_submodule(owner).named_children())
        names = [part for part, _ in parts]
        found.extend(module for _, module in parts[names.index(child) + 1 :])
        name = owner
    return found
