"""A body with a new head: what `load_untrained_classifier` does with torch and transformers."""

from __future__ import annotations

from typing import Any

import torch

from benchwright.errors import UsageError, show

from ._pretrained import load_for_new_head, pick_device, recorded_name
from ._special_tokens import end_token, start_token
from .classifier import SequenceClassifier, longest_pair
from .embedded import embedded_model, get_model, require_models_extra

_DEFAULT_DEVIATION = 0.02


def load_with_fresh_head(
    model: str, labels: tuple[str, ...], revision: str | None, device: str, seed: int
) -> SequenceClassifier:
    """See `load_untrained_classifier`."""
    require_models_extra()
    location, name = model, recorded_name(model)
    packaged = embedded_model(model)
    if packaged is not None:
        if revision is not None:
            raise UsageError(f"{model} comes in packages and has no revisions, got {show(revision)}")
        location, name = str(get_model(model, fetch=False)), packaged.name
    module, tokenizer, commit, new = load_for_new_head(location, model, revision, labels)
    _separate_texts(tokenizer, name)
    module.config.get_text_config().pad_token_id = tokenizer.pad_token_id
    _draw_head(module, new, seed)
    module.to(pick_device(device)).eval()
    module.requires_grad_(False)
    return SequenceClassifier(
        module,
        tokenizer,
        name=name,
        revision=commit,
        label_names=labels,
        max_positions=longest_pair(module, tokenizer, name),
    )


def _separate_texts(tokenizer: Any, name: str) -> None:
    """See that two texts are told apart, that no pair is without a token, and that padding has one."""
    if tokenizer.pad_token_id is None:
        filling = tokenizer.eos_token or tokenizer.unk_token
        if filling is None:
            raise UsageError(f"the tokenizer of model {show(name)} has no padding token; set its pad_token")
        tokenizer.pad_token = filling
    if getattr(tokenizer, "backend_tokenizer", None) is None:
        return  # written in Python, as those of some encoders, which all have separators
    if None in tokenizer(["a"], ["a"]).sequence_ids(0)[1:-1]:
        return
    from tokenizers import processors

    start, end = start_token(tokenizer), end_token(tokenizer)
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{start.text} $A",
        pair=f"{start.text} $A {end.text} $B",
        special_tokens=[(token.text, token.id) for token in {start.text: start, end.text: end}.values()],
    )
    # GPT-2 would add the embedding of token 0 to every token for the first text's type
    tokenizer.model_input_names = ["input_ids", "attention_mask"]


def _draw_head(module: Any, new: set[str], seed: int) -> None:
    """Fill what does not come from the checkpoint's body: on the CPU, in the order of the names."""
    generator = torch.Generator().manual_seed(seed)
    deviation = getattr(module.config.get_text_config(), "initializer_range", _DEFAULT_DEVIATION)
    with torch.no_grad():
        for name, weights in sorted(module.named_parameters()):
            if name not in new:
                continue
            if weights.ndim > 1:
                weights.copy_(torch.empty(weights.shape).normal_(0.0, deviation, generator=generator))
            else:
                weights.fill_(1.0 if name.endswith("weight") else 0.0)
