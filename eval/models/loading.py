"""Find and load causal language models: Hub ids, local folders, and the model that needs no hub."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.errors import UsageError, show

from ._quiet import no_progress_bars
from ._special_tokens import end_token as choose_end_token
from ._special_tokens import start_token as choose_start_token
from .causal import CausalModel, apply_head
from .embedded import NAME, get_embedded, is_embedded, require_models_extra

if TYPE_CHECKING:
    import torch

DTYPES = ("float32", "bfloat16", "float16")
_POSITIONS = ("max_position_embeddings", "n_positions", "seq_length", "max_seq_len")
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
        location, name = model, Path(model).name if Path(model).is_dir() else model
    module, tokenizer, commit = _load(location, model, revision, dtype)
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


def pick_device(device: str) -> torch.device:
    """`auto`: CUDA, else MPS, else the CPU. Raises UsageError for a device that torch does not have."""
    import torch

    if device == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        chosen = torch.device(device)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"device {show(device)} cannot be used: {_first_line(error)}") from None
    return chosen


def max_positions(config: Any, tokenizer: Any, name: str) -> int:
    """The longest input, in tokens. Raises UsageError where neither model nor tokenizer tells."""
    text_config = config.get_text_config()
    for attribute in _POSITIONS:
        value = getattr(text_config, attribute, None)
        if isinstance(value, int) and value > 0:
            return value
    if tokenizer.model_max_length < 10**7:
        return int(tokenizer.model_max_length)
    raise UsageError(
        f"model {show(name)} does not say how many tokens it takes; set model_max_length in its tokenizer"
    )


def _load(location: str, asked: str, revision: str | None, dtype: str) -> tuple[Any, Any, str | None]:
    import torch
    from safetensors import SafetensorError
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    pinned: dict[str, Any] = {"revision": revision, "trust_remote_code": False}
    try:
        with no_progress_bars():
            config = AutoConfig.from_pretrained(location, **pinned)
            _refuse_other_kinds(config, asked)
            tokenizer = AutoTokenizer.from_pretrained(location, **pinned)
            module, report = AutoModelForCausalLM.from_pretrained(
                location,
                **pinned,
                dtype=getattr(torch, dtype),
                use_safetensors=True,
                # named, so that the bits of a score do not depend on which kernels are installed
                attn_implementation="sdpa",
                output_loading_info=True,
            )
    except (OSError, ValueError, ImportError, KeyError, SafetensorError) as error:
        raise UsageError(_explain(asked, error)) from None
    missing = sorted(report["missing_keys"])
    if missing:
        raise UsageError(
            f"model {show(asked)} is no whole causal language model: it has no weights for {missing[0]}"
        )
    return module, tokenizer, getattr(config, "_commit_hash", None)


def _refuse_other_kinds(config: Any, asked: str) -> None:
    """AutoModelForCausalLM also takes encoders and reads them left to right, which means nothing."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as CAUSAL

    architectures = list(getattr(config, "architectures", None) or [])
    known = {name for names in CAUSAL.values() for name in ([names] if isinstance(names, str) else names)}
    if config.model_type not in CAUSAL or (architectures and not known.intersection(architectures)):
        kind = architectures[0] if architectures else config.model_type
        raise UsageError(
            f"model {show(asked)} is no causal language model but a {kind}; give one such as gpt2-medium"
        )


def _explain(asked: str, error: Exception) -> str:
    if Path(asked).is_dir():
        return f"folder {show(asked)} holds no model that can be read: {_first_line(error)}"
    return (
        f"no model {show(asked)}: it is no folder here and no Hub id that can be read "
        f"({_first_line(error)}); check the name and the connection, or use --lm embedded"
    )


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__


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
