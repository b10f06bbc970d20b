"""Find and load causal language models: Hub ids, local folders, and the model that needs no hub."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchwright.errors import UsageError, show

from ._pretrained import CAUSAL_LM, load_pretrained, max_positions, pick_device, recorded_name
from ._special_tokens import end_token as choose_end_token
from ._special_tokens import start_token as choose_start_token
from .causal import CausalModel, apply_head
from .embedded import NAME, get_embedded, is_embedded, require_models_extra

if TYPE_CHECKING:
    import torch

DTYPES = ("float32", "bfloat16", "float16")
_PROBE_TOLERANCE = 1e-2


def load_causal(
    model: str,
    *,
    revision: str | None = None,
    device: str = "auto",
    dtype: str = "float32",
    start_token: str | int | None = None,
    end_token: str | int | None = None,
) -> CausalModel:
    """Load a causal language model.

    `model` is a Hub id (at `revision`), a local folder, or `embedded` (also `smollm2-135m`). Weights are
    read from safetensors only and no code of the model's repository is run. `device="auto"` takes CUDA,
    else MPS, else the CPU; scores that place examples need `dtype="float32"`. `start_token` and `end_token`
    (text or id) override the choice that `_special_tokens` documents.

    Raises PrerequisiteError where torch or the embedded model is missing, UsageError where there is no such
    model, where it is no causal language model, or where an option does not fit.
    """
    require_models_extra()
    if dtype not in DTYPES:
        raise UsageError(f"dtype must be one of {', '.join(DTYPES)}, got {show(dtype)}")
    if is_embedded(model):
        if revision is not None:
            raise UsageError(f"the embedded model has no revisions, got {show(revision)}; leave revision out")
        location, name = str(get_embedded(fetch=False)), NAME
    else:
        location, name = model, recorded_name(model)
    module, tokenizer, commit = load_pretrained(CAUSAL_LM, location, model, revision, dtype)
    module.to(pick_device(device)).eval()
    module.requires_grad_(False)
    probe_head(module, name)
    return CausalModel(
        module,
        tokenizer,
        name=name,
        revision=commit,
        start_token=choose_start_token(tokenizer, start_token),
        end_token=choose_end_token(tokenizer, end_token),
        max_positions=max_positions(module.config, tokenizer, name),
        supports_shared_prefixes=shares_prefixes(module),
    )


def probe_head(module: Any, name: str) -> None:
    """Raise UsageError unless body and head, run apart, give the logits that the model itself gives."""
    import torch

    with torch.inference_mode():
        ids = _probe_ids(module)
        whole = module(input_ids=ids, use_cache=False).logits.float()
        parts = apply_head(
            module, module.base_model(input_ids=ids, use_cache=False).last_hidden_state
        ).float()
    if not torch.allclose(whole, parts, atol=_PROBE_TOLERANCE, rtol=_PROBE_TOLERANCE):
        raise UsageError(
            f"model {show(name)} changes its logits behind the output head in a way that is not known here"
        )


def shares_prefixes(module: Any) -> bool:
    """Whether a cached prefix gives the hidden states of the whole input; recurrent models have no cache."""
    import torch

    from ._forward import continue_prefix

    with torch.inference_mode():
        ids = _probe_ids(module)
        whole = module.base_model(input_ids=ids, use_cache=False).last_hidden_state[:, 5:]
        try:
            continued = continue_prefix(module.base_model, ids, 5)
        except (TypeError, ValueError, AttributeError, RuntimeError):
            return False
    return bool(
        torch.allclose(whole.float(), continued.float(), atol=_PROBE_TOLERANCE, rtol=_PROBE_TOLERANCE)
    )


def _probe_ids(module: Any) -> torch.Tensor:
    import torch

    vocabulary = module.get_input_embeddings().num_embeddings
    return (torch.arange(40, device=module.device) * 7 % vocabulary).reshape(4, 10)
