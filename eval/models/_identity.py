"""What tells one loaded model from another, and what may move the last bits of its numbers."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from benchwright.hashing import canonical_json, sha256_text

if TYPE_CHECKING:
    import torch


def weights_sha256(module: Any) -> str:
    """`sha256:<hex>` over names, types, shapes and values of all parameters."""
    digest = hashlib.sha256()
    for name, weights in sorted(module.named_parameters()):
        digest.update(f"{name} {weights.dtype} {list(weights.shape)}\n".encode())
        digest.update(_bytes(weights))
    return "sha256:" + digest.hexdigest()


def tokenizer_sha256(tokenizer: Any) -> str:
    """`sha256:<hex>` over what decides the token ids of a text."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return sha256_text(canonical_json(tokenizer.get_vocab()))
    settings = json.loads(backend.to_str())
    # set by whoever called the tokenizer last, without effect on the ids of one text
    settings.pop("truncation", None)
    settings.pop("padding", None)
    return sha256_text(canonical_json(settings))


def environment(device: torch.device) -> dict[str, Any]:
    """Library versions, device, instruction set, threads; JSON-able."""
    import torch

    return {
        "versions": {name: version(name) for name in ("torch", "transformers", "tokenizers", "numpy")},
        "device": device.type,
        "machine": platform.machine(),
        "instruction_set": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
    }


def _bytes(weights: torch.Tensor) -> memoryview:
    import torch

    flat = weights.detach().cpu().contiguous().view(-1)
    return flat.view(torch.uint8).numpy().data
