"""The 36 tasks of the released benchmark as data: sizes and labels are those of the released files."""

from __future__ import annotations

# name, abbreviation, category, source corpora, what rows of one source item share (see `Item`),
# labels of train.jsonl and val.jsonl in label order, recast rule
ROWS: tuple[tuple[str, str, str, str, str | None, tuple[int, ...], tuple[int, ...], str], ...] = (
    (
        "lexical", "lex-ent", "lexical", "lexical_inference breaking_nli", None,
        (3199, 3199), (1482, 1482),
        "Two sentences that differ in one predicate or one word; entailed if the first one's word implies "
        "the second one's.",
    ),
    (
        "hypernymy", "hyper", "lexical", "wordnet_qa", None,
        (10000, 10000), (4250, 4250),
        "The premise is a sentence with a term, the hypothesis names a choice of the question as what the "
        "term is a kind of.",
    ),
    (
        "hyponymy", "hypo", "lexical", "wordnet_qa", None,
        (10000, 10000), (4250, 4250),
        "The premise is a sentence with a term, the hypothesis names a choice of the question as a more "
        "specific type of the term.",
    ),
    (
        "ner", "ner", "lexical", "dnc", None,
        (10000, 10000), (2500, 2500),
        "The hypothesis says of a name in the premise which type of entity it is; a wrong type is not "
        "entailed.",
    ),
    (
        "transitive", "transit", "lexical", "dnc transitivity", None,
        (10000, 10000), (4394, 4394),
        "The hypothesis says that what the premise's verb embeds happened, or what follows from it; entailed "
        "if the verb is veridical.",
    ),
    (
        "verbnet", "vbn", "syntactic", "dnc", "adjacent premises",
        (834, 564), (76, 84),
        "The hypothesis puts a semantic predicate of the premise's verb class into words, with right or "
        "wrong participants.",
    ),
    (
        "verbcorner", "vbc", "syntactic", "dnc", None,
        (55449, 55449), (6947, 6947),
        "The hypothesis is a fixed statement, or its negation, about what the premise's verb means.",
    ),
    (
        "syntactic_variation", "syn-var", "syntactic", "mrpc", None,
        (2474, 1194), (279, 129),
        "Both sentences of a pair as they are; paraphrases are entailed.",
    ),
    (
        "syntactic_alternation", "syn-alt", "syntactic", "fava", None,
        (1063, 1356), (1625, 663),
        "The hypothesis is the other alternant of the premise's verb frame; an unacceptable one is not "
        "entailed.",
    ),
    (
        "sentiment", "senti", "semantic", "dnc", None,
        (2400, 2400), (300, 300),
        "The premise lets a person speak about a product, the hypothesis says whether the person liked it.",
    ),
    (
        "kg_relations", "kg-rel", "semantic", "dnc", None,
        (8388, 13517), (453, 308),
        "The hypothesis puts a relation between two mentions of the premise into words.",
    ),
    (
        "puns", "puns", "semantic", "dnc", None,
        (7019, 7019), (878, 878),
        "The premise says that a person heard a sentence, the hypothesis whether that was a pun.",
    ),
    (
        "sprl", "sprl", "semantic", "inference_is_everything", None,
        (10000, 10000), (4250, 4250),
        "The hypothesis states a proto-role property of an argument of the premise's verb.",
    ),
    (
        "context_align", "ctx-align", "semantic", "inference_is_everything bigbench", None,
        (6000, 6000), (3864, 3424),
        "A word of the premise is replaced by a placeholder, the hypothesis says what should stand there.",
    ),
    (
        "coreference", "coref", "semantic", "winogrande wsc gap", "equal premises",
        (5861, 6274), (2696, 3103),
        "The hypothesis is the sentence with its pronoun replaced by a candidate; entailed for the right "
        "one.",
    ),
    (
        "boolean", "bool", "logical", "semantic_fragments", None,
        (942, 872, 1186), (274, 317, 409),
        "Generated pairs as they are: conjunctions of names and places.",
    ),
    (
        "counting", "count", "logical", "semantic_fragments", None,
        (972, 1025, 1003), (338, 326, 336),
        "Generated pairs as they are: how many at least, at most or exactly.",
    ),
    (
        "conditional", "cond", "logical", "semantic_fragments", None,
        (995, 1016, 989), (338, 337, 325),
        "Generated pairs as they are: chains of if and then.",
    ),
    (
        "comparative", "comp", "logical", "semantic_fragments", None,
        (1004, 1031, 965), (352, 338, 310),
        "Generated pairs as they are: orders of people by height and the like.",
    ),
    (
        "negation", "negat", "logical", "semantic_fragments", None,
        (1011, 1008, 981), (331, 338, 331),
        "Generated pairs as they are: who has not been where.",
    ),
    (
        "quantifier", "quant", "logical", "semantic_fragments", None,
        (1010, 982, 1008), (337, 327, 336),
        "Generated pairs as they are: everyone, someone and every place.",
    ),
    (
        "monotonicity_infer", "monot", "logical", "help med semantic_fragments", None,
        (17869, 18022), (3030, 3352),
        "Pairs in which a phrase is replaced by a wider or narrower one, as they are; neutral is not "
        "entailed.",
    ),
    (
        "entailment_tree", "ent-tree", "analytic", "entailment_bank", "adjacent premises",
        (657, 657), (170, 170),
        "The premise joins the leaf sentences of a tree, the hypothesis is its conclusion; that of another "
        "tree is not entailed.",
    ),
    (
        "analytic", "analytic", "analytic", "ar_lsat", "adjacent premises",
        (1630, 1630), (461, 461),
        "The premise is passage and question, the hypothesis an option; entailed for the right one.",
    ),
    (
        "physicalqa", "physic", "commonsense", "piqa", "adjacent premises",
        (5000, 5000), (919, 919),
        "The premise is the goal, the hypothesis a solution; entailed for the right one.",
    ),
    (
        "socialqa", "social", "commonsense", "social_iqa", "adjacent premises",
        (2001, 4002), (1924, 3848),
        "The premise is the context, the hypothesis a statement made from the question and one of three "
        "answers.",
    ),
    (
        "hellaswag", "swag", "commonsense", "hellaswag", "equal premises",
        (10000, 10000), (3518, 5000),
        "The premise is the beginning of a text, the hypothesis its true ending or a false one.",
    ),
    (
        "cosmoqa", "cosmo", "commonsense", "cosmos_qa", "adjacent premises",
        (4372, 4674), (2726, 7027),
        "The premise is passage and question, the hypothesis an answer; entailed for the right one.",
    ),
    (
        "logiqa", "logi", "comprehension", "logiqa", "equal premises",
        (7376, 7376), (1302, 1302),
        "The premise is the context without its question, the hypothesis an option; entailed for the right "
        "one.",
    ),
    (
        "control", "control", "comprehension", "control", "equal premises",
        (2480, 1946, 2293), (613, 473, 518),
        "Long passages and hypotheses as they are.",
    ),
    (
        "ester", "ester", "comprehension", "ester", "equal premises",
        (1494, 1306), (367, 295),
        "The premise is passage and question, the hypothesis a span of events; entailed if it answers.",
    ),
    (
        "drop", "drop", "comprehension", "drop", "equal premises",
        (11239, 8761), (7575, 5573),
        "The hypothesis is the question with its wh-phrase replaced by the answer, or by another number, "
        "span or entity.",
    ),
    (
        "defeasible", "defeas", "special", "defeasible_nli", "adjacent hypotheses",
        (19518, 19518), (4930, 4930),
        "The premise is a situation and an update to it; entailed if the update strengthens the hypothesis.",
    ),
    (
        "temporal", "temp", "special", "tracie", "adjacent premises",
        (2124, 2124), (587, 587),
        "The hypothesis says which of two events of a story starts or ends first, or the reverse.",
    ),
    (
        "spatial", "spat", "special", "babi", "adjacent premises",
        (4967, 5033), (520, 480),
        "The premise places objects, the hypothesis states a relation between two of them; yes is entailed.",
    ),
    (
        "counterfactual", "counter", "special", "semeval2020_task5", None,
        (3031, 3031), (1682, 1682),
        "A clause of a counterfactual is replaced by a placeholder, the hypothesis says what stood there; "
        "wrong boundaries are not entailed.",
    ),
)  # fmt: skip
