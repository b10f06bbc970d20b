"""Which token starts a text and which one ends it: a property of the model, chosen by rule and recorded."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from benchwright.errors import UsageError, show

# Chat-tuned models name a turn marker as bos or eos; another token separated documents in pretraining.
# Perplexity of plain sentences under SmolLM2: 46 after <|endoftext|>, 98 after its bos_token <|im_start|>.
_DOCUMENT_TOKEN = {
    "<|im_start|>": "<|endoftext|>",
    "<|im_end|>": "<|endoftext|>",
    "<|eot_id|>": "<|end_of_text|>",
    "<end_of_turn>": "<eos>",
}
_SEPARATORS = ("<|endoftext|>", "<|end_of_text|>")


@dataclass(frozen=True)
class SpecialToken:
    """A token, and the rule by which it was chosen.

    `automatic` tells whether the tokenizer puts it there by itself.
    """

    id: int
    text: str
    rule: str
    automatic: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def start_token(tokenizer: Any, override: str | int | None = None) -> SpecialToken:
    """The token that starts a text.

    In order: the option; what the tokenizer adds by itself; the document separator where the tokenizer's
    bos token is the marker of a chat turn; its bos token; a known document separator in the vocabulary; the
    eos token, which ends the document before. Raises UsageError where there is none of these.
    """
    if override is not None:
        return _from_option(tokenizer, override, "start_token")
    plain = tokenizer.encode("a", add_special_tokens=False)
    dressed = tokenizer.encode("a", add_special_tokens=True)
    if len(dressed) > len(plain) and dressed[0] != plain[0]:
        return _token(tokenizer, dressed[0], "added by the tokenizer", automatic=True)
    return _by_name(tokenizer, "bos_token", ("bos_token", "eos_token"), "start_token")


def end_token(tokenizer: Any, override: str | int | None = None) -> SpecialToken:
    """The token that ends a text.

    In order: the option; the document separator where the tokenizer's eos token is the marker of a chat
    turn; its eos token; a known document separator; the bos token, which starts the next document. Raises
    UsageError where there is none of these.
    """
    if override is not None:
        return _from_option(tokenizer, override, "end_token")
    return _by_name(tokenizer, "eos_token", ("eos_token", "bos_token"), "end_token")


def _by_name(tokenizer: Any, role: str, attributes: tuple[str, str], option: str) -> SpecialToken:
    vocabulary = tokenizer.get_vocab()
    text = getattr(tokenizer, attributes[0], None)
    separator = _DOCUMENT_TOKEN.get(text or "")
    if separator in vocabulary:
        return _token(
            tokenizer, vocabulary[separator], f"document separator, because {role} {text} marks a chat turn"
        )
    if text is not None:
        other = getattr(tokenizer, attributes[1], None)
        return _token(tokenizer, vocabulary[text], f"{role}, also {attributes[1]}" if text == other else role)
    for separator in _SEPARATORS:
        if separator in vocabulary:
            return _token(tokenizer, vocabulary[separator], f"document separator, because there is no {role}")
    text = getattr(tokenizer, attributes[1], None)
    if text is None:
        raise UsageError(f"the tokenizer names no token for {option}; give one with {option}=TEXT or ID")
    return _token(tokenizer, vocabulary[text], f"{attributes[1]}, because there is no {role}")


def _from_option(tokenizer: Any, value: str | int, option: str) -> SpecialToken:
    vocabulary = tokenizer.get_vocab()
    if isinstance(value, str) and value in vocabulary:
        return _token(tokenizer, vocabulary[value], "option")
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(tokenizer):
        return _token(tokenizer, value, "option")
    raise UsageError(
        f"{option} must be one token of the model's vocabulary, as text or as an id below {len(tokenizer)}, "
        f"got {show(value)}"
    )


def _token(tokenizer: Any, index: int, rule: str, *, automatic: bool = False) -> SpecialToken:
    return SpecialToken(int(index), str(tokenizer.convert_ids_to_tokens(int(index))), rule, automatic)
