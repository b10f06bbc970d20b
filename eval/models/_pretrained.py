"""Reading models from the Hub or a folder: safetensors only, no code of the repository, one-line errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.errors import UsageError, show

from ._quiet import no_load_report, no_progress_bars

if TYPE_CHECKING:
    import torch

_NO_CONNECTION = frozenset({"ConnectError", "ConnectTimeout"})
_POSITIONS = ("max_position_embeddings", "n_positions", "seq_length", "max_seq_len")


@dataclass(frozen=True)
class ModelKind:
    """What a model must be: in words and in transformers' names.

    `architectures` names the mapping of model types to the classes that are of this kind. `example` and
    `otherwise` end the error messages. `attention` is always named, so that the bits of a score do not
    depend on which kernels are installed.
    """

    title: str
    auto_class: str
    architectures: str
    attention: str
    example: str
    otherwise: str = ""


CAUSAL_LM = ModelKind(
    title="causal language model",
    auto_class="AutoModelForCausalLM",
    architectures="MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
    attention="sdpa",
    example="gpt2-medium",
    otherwise=", or use --lm embedded",
)
SEQUENCE_CLASSIFIER = ModelKind(
    title="sequence classifier",
    auto_class="AutoModelForSequenceClassification",
    architectures="MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES",
    # DeBERTa, which many classifiers are, has nothing else
    attention="eager",
    example="roberta-large-mnli",
)
BODY = replace(
    SEQUENCE_CLASSIFIER,
    title="model that can be fine-tuned as a classifier",
    example="roberta-base",
    otherwise=", or use minilm-l6",
)
MASKED_LM = ModelKind(
    title="masked language model",
    auto_class="AutoModelForMaskedLM",
    architectures="MODEL_FOR_MASKED_LM_MAPPING_NAMES",
    attention="eager",
    example="bert-base-uncased",
)
SEQUENCE_TO_SEQUENCE = ModelKind(
    title="sequence-to-sequence model",
    auto_class="AutoModelForSeq2SeqLM",
    architectures="MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
    attention="eager",
    example="google-t5/t5-base",
)


def load_pretrained(
    kind: ModelKind, location: str, asked: str, revision: str | None, dtype: str
) -> tuple[Any, Any, str | None]:
    """Model, tokenizer and commit of what stands at `location`; errors speak of `asked`, the user's word.

    Raises UsageError where nothing can be read, where it is another kind of model, or where weights are
    missing: a head that training has never seen gives numbers without meaning.
    """
    import torch
    import transformers

    with _reading(kind, asked):
        config, commit, pinned = _configuration(location, revision)
        _refuse_other_kinds(kind, config, asked)
        tokenizer = transformers.AutoTokenizer.from_pretrained(location, **pinned)
        module, report = getattr(transformers, kind.auto_class).from_pretrained(
            location,
            **pinned,
            dtype=getattr(torch, dtype),
            use_safetensors=True,
            attn_implementation=kind.attention,
            output_loading_info=True,
        )
    missing = sorted(report["missing_keys"])
    if missing:
        raise UsageError(f"model {show(asked)} is no whole {kind.title}: it has no weights for {missing[0]}")
    return module, tokenizer, commit


def load_for_new_head(
    location: str, asked: str, revision: str | None, labels: Sequence[str]
) -> tuple[Any, Any, str | None, set[str]]:
    """A sequence classifier in float32 with the body of what stands at `location`, and outputs for `labels`.

    Returns model, tokenizer, commit and the names of the weights that the caller must fill: the head's, and
    BERT's pooler where the checkpoint has none. Raises UsageError as `load_pretrained`, whose models must
    have every weight of the body as well.
    """
    import torch
    import transformers

    kind = BODY
    outputs = dict(enumerate(labels))
    with _reading(kind, asked), no_load_report(), torch.random.fork_rng(devices=[]):
        config, commit, pinned = _configuration(location, revision)
        _refuse_other_types(kind, config, asked)
        config.num_labels = len(labels)
        config.id2label, config.label2id = outputs, {name: index for index, name in outputs.items()}
        config.problem_type = "single_label_classification"
        tokenizer = transformers.AutoTokenizer.from_pretrained(location, **pinned)
        module, report = getattr(transformers, kind.auto_class).from_pretrained(
            location,
            **pinned,
            config=config,
            dtype=torch.float32,
            use_safetensors=True,
            attn_implementation=kind.attention,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
        )
    body = f"{module.base_model_prefix}."
    head = {name for name, _ in module.named_parameters() if not name.startswith(body)}
    found_wanting = {*report["missing_keys"], *(name for name, *_ in report["mismatched_keys"])}
    pooler = {name for name in report["missing_keys"] if name.startswith(f"{body}pooler.")}
    missing = sorted(found_wanting - head - pooler)
    if missing:
        raise UsageError(f"model {show(asked)} is no whole {kind.title}: it has no weights for {missing[0]}")
    return module, tokenizer, commit, head | pooler


def _configuration(location: str, revision: str | None) -> tuple[Any, str | None, dict[str, Any]]:
    """Configuration and commit of a model, and how all else of it is read: from that commit, without code,
    and from the cache alone where no Hub can be reached.

    The Hub's client asks six times for each file, for 23 seconds, and then looks into its cache.
    """
    import transformers

    only_cache = not Path(location).is_dir() and not _hub_can_be_reached()
    pinned = {"revision": revision, "trust_remote_code": False, "local_files_only": only_cache}
    config = transformers.AutoConfig.from_pretrained(location, **pinned)
    commit = _commit_of(location, revision)
    return config, commit, {**pinned, "revision": commit or revision}


def _commit_of(location: str, revision: str | None) -> str | None:
    """The commit that a configuration was read from; None for a folder."""
    from huggingface_hub import try_to_load_from_cache

    if Path(location).is_dir():
        return None
    cached = try_to_load_from_cache(location, "config.json", revision=revision)
    return Path(cached).parent.name if isinstance(cached, str) else None


def _hub_can_be_reached() -> bool:
    """Whether a connection to the Hub comes about, whatever it answers."""
    from huggingface_hub import constants, get_session
    from huggingface_hub.errors import OfflineModeIsEnabled

    try:
        get_session().head(constants.ENDPOINT)
    except OfflineModeIsEnabled:
        return False
    except Exception as error:
        # The library that connects, and so the class of its errors, depends on the client's version.
        return not _NO_CONNECTION.intersection(kind.__name__ for kind in type(error).__mro__)
    return True


@contextmanager
def _reading(kind: ModelKind, asked: str) -> Iterator[None]:
    """Turns what goes wrong when a model is read into a UsageError."""
    from safetensors import SafetensorError

    try:
        with no_progress_bars():
            yield
    except (OSError, ValueError, ImportError, KeyError, SafetensorError) as error:
        raise UsageError(_explain(kind, asked, error)) from None
    except RuntimeError:
        # what transformers raises where a weight has another shape
        raise UsageError(f"the weights of model {show(asked)} do not fit its configuration") from None


def recorded_name(model: str) -> str:
    """How results call a model: a Hub id as it is, a local folder by its last part, never by its path."""
    return Path(model).absolute().name if Path(model).is_dir() else model


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


def _refuse_other_kinds(kind: ModelKind, config: Any, asked: str) -> None:
    """The auto classes take more than they should: encoders as causal models read from left to right."""
    of_kind = _refuse_other_types(kind, config, asked)
    architectures = list(getattr(config, "architectures", None) or [])
    known = {name for names in of_kind.values() for name in ([names] if isinstance(names, str) else names)}
    if architectures and not known.intersection(architectures):
        raise _is_another(kind, asked, architectures[0])


def _refuse_other_types(kind: ModelKind, config: Any, asked: str) -> dict[str, Any]:
    """Raise UsageError for a type of which there are no models of the kind; returns the types that have."""
    from transformers.models.auto import modeling_auto

    of_kind: dict[str, Any] = getattr(modeling_auto, kind.architectures)
    if config.model_type not in of_kind:
        architectures = list(getattr(config, "architectures", None) or [])
        raise _is_another(kind, asked, architectures[0] if architectures else config.model_type)
    return of_kind


def _is_another(kind: ModelKind, asked: str, found: str) -> UsageError:
    return UsageError(
        f"model {show(asked)} is no {kind.title} but a {found}; give one such as {kind.example}"
    )


def _explain(kind: ModelKind, asked: str, error: Exception) -> str:
    if Path(asked).is_dir():
        return f"folder {show(asked)} holds no model that can be read: {_first_line(error)}"
    return (
        f"no model {show(asked)}: it is no folder here and no Hub id that can be read "
        f"({_first_line(error)}); check the name and the connection{kind.otherwise}"
    )


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
