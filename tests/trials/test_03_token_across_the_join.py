"""Context "Ans", continuation "wer", and a vocabulary with "Answer": the parts stay apart."""

from pathlib import Path

import numpy as np
import tiny_models
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from benchwright.eval.models import load_causal

MERGES = [("n", "s"), ("A", "ns"), ("e", "r"), ("w", "er"), ("Ans", "wer")]


def test_a_token_never_spans_the_join(tmp_path: Path) -> None:
    folder = tiny_models.save("gpt2", tmp_path / "gpt2")
    types = [
        "<|endoftext|>",
        *sorted(pre_tokenizers.ByteLevel.alphabet()),
        *("".join(merge) for merge in MERGES),
    ]
    bpe = Tokenizer(models.BPE({text: index for index, text in enumerate(types)}, MERGES))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, bos_token="<|endoftext|>", eos_token="<|endoftext|>"
    )
    tokenizer.save_pretrained(folder)
    model = load_causal(str(folder))
    assert tokenizer.tokenize("Answer") == ["Answer"]
    pair = model.encode_pair("Ans", "wer", start="model_default", end=False)
    assert tokenizer.convert_ids_to_tokens(list(pair.context)) == ["Ans"]
    assert tokenizer.convert_ids_to_tokens(list(pair.continuation)) == ["wer"]
    assert np.isfinite(model.log_likelihoods([pair])).all()
