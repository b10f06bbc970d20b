"""Which made-up corpus each recast is measured on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import recasting_pairs as pairs
import recasting_questions as questions
from recasting_text import Text

CORPORA: dict[str, Callable[[Path, int, Text], None]] = {
    "analytic/ar_lsat": questions.ar_lsat,
    "coreference/gap": questions.gap,
    "coreference/winogrande": questions.winogrande,
    "coreference/wsc": questions.wsc,
    "cosmoqa/copa": questions.copa,
    "cosmoqa/cosmos_qa": questions.cosmos_qa,
    "drop/drop": questions.drop,
    "drop/squad": questions.squad,
    "ester/ester": questions.ester,
    "hellaswag/hellaswag": questions.hellaswag,
    "logiqa/logiqa": questions.logiqa,
    "physicalqa/piqa": questions.piqa,
    "socialqa/social_iqa": questions.social_iqa,
    "syntactic_variation/mrpc": questions.mrpc,
    "boolean/semantic_fragments": pairs.semantic_fragments,
    "context_align/inference_is_everything": pairs.fnplus,
    "control/control": pairs.control,
    "counterfactual/semeval2020_task5": pairs.counterfactual,
    "defeasible/defeasible_nli": pairs.defeasible_nli,
    "entailment_tree/entailment_bank": pairs.entailment_bank,
    "hypernymy/wordnet_qa": pairs.wordnet_qa,
    "lexical/breaking_nli": pairs.breaking_nli,
    "lexical/levy_holt": pairs.levy_holt,
    "monotonicity_infer/help": pairs.help_pairs,
    "monotonicity_infer/med": pairs.med,
    "puns/dnc": pairs.puns,
    "spatial/babi": pairs.babi,
    "sprl/inference_is_everything": pairs.sprl,
    "syntactic_alternation/fava": pairs.fava,
    "temporal/tracie": pairs.tracie,
    "transitive/transitivity": pairs.transitivity,
}
