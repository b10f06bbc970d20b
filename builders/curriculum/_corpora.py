"""The corpora that the phenomena of Curriculum were recast from: licences, homepages and citations.

A licence is that of the corpus as its publisher states it, as a Hub licence id; `unknown` where no statement
of the publisher was found. The text of such a corpus is not passed on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..constituents import redistributable


@dataclass(frozen=True)
class Corpus:
    """One source corpus. `name` is its folder below a source; `hub` its Hub id, if it has one."""

    name: str
    title: str
    licence: str
    homepage: str
    citation: str
    hub: str | None = None

    @property
    def redistribute(self) -> Literal["text", "ids_only"]:
        """Whether a release may hold its text: not without a licence that is known."""
        return redistributable(self.licence)


def _paper(key: str, title: str, authors: str, venue: str, year: int, url: str) -> str:
    kind, field = ("article", "journal") if "Transactions" in venue else ("inproceedings", "booktitle")
    return (
        f"@{kind}{{{key},\n  title     = {{{title}}},\n  author    = {{{authors}}},\n"
        f"  {field:9} = {{{venue}}},\n  year      = {{{year}}},\n  url       = {{{url}}}\n}}"
    )


_EMNLP = "Proceedings of the {} Conference on Empirical Methods in Natural Language Processing"
_NAACL = (
    "Proceedings of the {} Conference of the North American Chapter of the Association for Computational "
    "Linguistics"
)
_ACL = "Proceedings of the {} Annual Meeting of the Association for Computational Linguistics"
_AAAI = "Proceedings of the AAAI Conference on Artificial Intelligence"
_TACL = "Transactions of the Association for Computational Linguistics"
_ANTHOLOGY = "https://aclanthology.org"

CURRICULUM_CITATION = _paper(
    "chen-gao-2022-curriculum",
    "Curriculum: A Broad-Coverage Benchmark for Linguistic Phenomena in Natural Language Understanding",
    "Chen, Zeming and Gao, Qiyue",
    _NAACL.format(2022),
    2022,
    "https://arxiv.org/abs/2204.06283",
)


def _corpus(
    name: str,
    title: str,
    licence: str,
    homepage: str,
    key: str,
    paper: str,
    authors: str,
    venue: str,
    year: int,
    url: str,
    hub: str | None = None,
) -> Corpus:
    return Corpus(name, title, licence, homepage, _paper(key, paper, authors, venue, year, url), hub)


_CORPORA = (
    _corpus(
        "lexical_inference",
        "lexical inference in context",
        "unknown",
        "https://github.com/mnschmit/lm-lexical-inference",
        "schmitt-schutze-2021-language",
        "Language Models for Lexical Inference in Context",
        'Schmitt, Martin and Sch{\\"u}tze, Hinrich',
        "Proceedings of the 16th Conference of the European Chapter of the Association for Computational "
        "Linguistics",
        2021,
        "https://arxiv.org/abs/2102.05331",
    ),
    _corpus(
        "levy_holt",
        "Levy/Holt",
        "unknown",
        "https://github.com/xvr-hlt/relational-implication-dataset",
        "holt-2019-probabilistic",
        "Probabilistic Models of Relational Implication",
        "Holt, Xavier",
        "arXiv preprint arXiv:1907.12048",
        2019,
        "https://arxiv.org/abs/1907.12048",
    ),
    _corpus(
        "sherliic",
        "SherLIiC",
        "unknown",
        "https://github.com/mnschmit/SherLIiC",
        "schmitt-schutze-2019-sherliic",
        "{S}her{LI}i{C}: A Typed Event-Focused Lexical Inference Benchmark for Evaluating Natural Language "
        "Inference",
        'Schmitt, Martin and Sch{\\"u}tze, Hinrich',
        _ACL.format("57th"),
        2019,
        f"{_ANTHOLOGY}/P19-1086",
    ),
    _corpus(
        "breaking_nli",
        "Breaking NLI",
        "cc-by-sa-4.0",
        "https://github.com/BIU-NLP/Breaking_NLI",
        "glockner-etal-2018-breaking",
        "Breaking {NLI} Systems with Sentences that Require Simple Lexical Inferences",
        "Glockner, Max and Shwartz, Vered and Goldberg, Yoav",
        _ACL.format("56th"),
        2018,
        f"{_ANTHOLOGY}/P18-2103",
    ),
    _corpus(
        "wordnet_qa",
        "WordNet question probes",
        "unknown",
        "https://github.com/yakazimir/semantic_fragments",
        "richardson-sabharwal-2020-qa",
        "What Does My {QA} Model Know? Devising Controlled Probes Using Expert Knowledge",
        "Richardson, Kyle and Sabharwal, Ashish",
        _TACL,
        2020,
        "https://arxiv.org/abs/1912.13337",
    ),
    _corpus(
        "dnc",
        "Diverse NLI Collection",
        "unknown",
        "https://github.com/decompositional-semantics-initiative/DNC",
        "poliak-etal-2018-collecting",
        "Collecting Diverse Natural Language Inference Problems for Sentence Representation Evaluation",
        "Poliak, Adam and Haldar, Aparajita and Rudinger, Rachel and Hu, J. Edward and Pavlick, Ellie "
        "and White, Aaron Steven and {Van Durme}, Benjamin",
        _EMNLP.format(2018),
        2018,
        f"{_ANTHOLOGY}/D18-1007",
    ),
    _corpus(
        "transitivity",
        "transitivity of veridical inference",
        "apache-2.0",
        "https://github.com/verypluming/transitivity",
        "yanaka-etal-2021-exploring",
        "Exploring Transitivity in Neural {NLI} Models through Veridicality",
        "Yanaka, Hitomi and Mineshima, Koji and Inui, Kentaro",
        "Proceedings of the 16th Conference of the European Chapter of the Association for Computational "
        "Linguistics",
        2021,
        "https://arxiv.org/abs/2101.10713",
    ),
    _corpus(
        "mrpc",
        "Microsoft Research Paraphrase Corpus",
        "unknown",
        "https://www.microsoft.com/en-us/download/details.aspx?id=52398",
        "dolan-brockett-2005-automatically",
        "Automatically Constructing a Corpus of Sentential Paraphrases",
        "Dolan, William B. and Brockett, Chris",
        "Proceedings of the Third International Workshop on Paraphrasing",
        2005,
        f"{_ANTHOLOGY}/I05-5002",
        "nyu-mll/glue",
    ),
    _corpus(
        "fava",
        "FAVA",
        "unknown",
        "https://nyu-mll.github.io/CoLA/",
        "kann-etal-2019-verb",
        "Verb Argument Structure Alternations in Word and Sentence Embeddings",
        "Kann, Katharina and Warstadt, Alex and Williams, Adina and Bowman, Samuel R.",
        "Proceedings of the Society for Computation in Linguistics",
        2019,
        "https://arxiv.org/abs/1811.10773",
    ),
    _corpus(
        "inference_is_everything",
        "recast semantic resources",
        "unknown",
        "https://github.com/decompositional-semantics-initiative/DNC",
        "white-etal-2017-inference",
        "Inference is Everything: Recasting Semantic Resources into a Unified Evaluation Framework",
        "White, Aaron Steven and Rastogi, Pushpendre and Duh, Kevin and {Van Durme}, Benjamin",
        "Proceedings of the Eighth International Joint Conference on Natural Language Processing",
        2017,
        f"{_ANTHOLOGY}/I17-1100",
    ),
    _corpus(
        "bigbench",
        "BIG-bench",
        "apache-2.0",
        "https://github.com/google/BIG-bench",
        "srivastava-etal-2023-beyond",
        "Beyond the Imitation Game: Quantifying and extrapolating the capabilities of language models",
        "Srivastava, Aarohi and others",
        "Transactions on Machine Learning Research",
        2023,
        "https://arxiv.org/abs/2206.04615",
    ),
    _corpus(
        "winogrande",
        "WinoGrande",
        "cc",
        "https://winogrande.allenai.org",
        "sakaguchi-etal-2020-winogrande",
        "{W}ino{G}rande: An Adversarial {W}inograd Schema Challenge at Scale",
        "Sakaguchi, Keisuke and Le Bras, Ronan and Bhagavatula, Chandra and Choi, Yejin",
        _AAAI,
        2020,
        "https://arxiv.org/abs/1907.10641",
        "allenai/winogrande",
    ),
    _corpus(
        "wsc",
        "Winograd Schema Challenge",
        "cc-by-4.0",
        "https://cs.nyu.edu/~davise/papers/WinogradSchemas/WS.html",
        "levesque-etal-2012-winograd",
        "The {W}inograd Schema Challenge",
        "Levesque, Hector and Davis, Ernest and Morgenstern, Leora",
        "Proceedings of the Thirteenth International Conference on Principles of Knowledge "
        "Representation and Reasoning",
        2012,
        "https://cs.nyu.edu/~davise/papers/WinogradSchemas/WS.html",
    ),
    _corpus(
        "gap",
        "GAP",
        "apache-2.0",
        "https://github.com/google-research-datasets/gap-coreference",
        "webster-etal-2018-mind",
        "Mind the {GAP}: A Balanced Corpus of Gendered Ambiguous Pronouns",
        "Webster, Kellie and Recasens, Marta and Axelrod, Vera and Baldridge, Jason",
        _TACL,
        2018,
        "https://arxiv.org/abs/1810.05201",
    ),
    _corpus(
        "semantic_fragments",
        "semantic fragments",
        "unknown",
        "https://github.com/yakazimir/semantic_fragments",
        "richardson-etal-2020-probing",
        "Probing Natural Language Inference Models through Semantic Fragments",
        "Richardson, Kyle and Hu, Hai and Moss, Lawrence S. and Sabharwal, Ashish",
        _AAAI,
        2020,
        "https://arxiv.org/abs/1909.07521",
    ),
    _corpus(
        "help",
        "HELP",
        "apache-2.0",
        "https://github.com/verypluming/HELP",
        "yanaka-etal-2019-help",
        "{HELP}: A Dataset for Identifying Shortcomings of Neural Models in Monotonicity Reasoning",
        "Yanaka, Hitomi and Mineshima, Koji and Bekki, Daisuke and Inui, Kentaro and Sekine, Satoshi "
        "and Abzianidze, Lasha and Bos, Johan",
        "Proceedings of the Eighth Joint Conference on Lexical and Computational Semantics",
        2019,
        "https://arxiv.org/abs/1904.12166",
    ),
    _corpus(
        "med",
        "MED",
        "apache-2.0",
        "https://github.com/verypluming/MED",
        "yanaka-etal-2019-neural",
        "Can Neural Networks Understand Monotonicity Reasoning?",
        "Yanaka, Hitomi and Mineshima, Koji and Bekki, Daisuke and Inui, Kentaro and Sekine, Satoshi "
        "and Abzianidze, Lasha and Bos, Johan",
        "Proceedings of the 2019 ACL Workshop BlackboxNLP: Analyzing and Interpreting Neural Networks "
        "for NLP",
        2019,
        "https://arxiv.org/abs/1906.06448",
    ),
    _corpus(
        "entailment_bank",
        "EntailmentBank",
        "cc-by-4.0",
        "https://allenai.org/data/entailmentbank",
        "dalvi-etal-2021-explaining",
        "Explaining Answers with Entailment Trees",
        "Dalvi, Bhavana and Jansen, Peter and Tafjord, Oyvind and Xie, Zhengnan and Smith, Hannah and "
        "Pipatanangkura, Leighanna and Clark, Peter",
        _EMNLP.format(2021),
        2021,
        "https://arxiv.org/abs/2104.08661",
    ),
    _corpus(
        "ar_lsat",
        "AR-LSAT",
        "unknown",
        "https://github.com/zhongwanjun/AR-LSAT",
        "zhong-etal-2021-arlsat",
        "{AR-LSAT}: Investigating Analytical Reasoning of Text",
        "Zhong, Wanjun and Wang, Siyuan and Tang, Duyu and Xu, Zenan and Guo, Daya and Wang, Jiahai and "
        "Yin, Jian and Zhou, Ming and Duan, Nan",
        "arXiv preprint arXiv:2104.06598",
        2021,
        "https://arxiv.org/abs/2104.06598",
    ),
    _corpus(
        "piqa",
        "PIQA",
        "afl-3.0",
        "https://yonatanbisk.com/piqa/",
        "bisk-etal-2020-piqa",
        "{PIQA}: Reasoning about Physical Commonsense in Natural Language",
        "Bisk, Yonatan and Zellers, Rowan and Le Bras, Ronan and Gao, Jianfeng and Choi, Yejin",
        _AAAI,
        2020,
        "https://arxiv.org/abs/1911.11641",
        "ybisk/piqa",
    ),
    _corpus(
        "social_iqa",
        "Social IQa",
        "unknown",
        "https://leaderboard.allenai.org/socialiqa/submissions/get-started",
        "sap-etal-2019-social",
        "Social {IQ}a: Commonsense Reasoning about Social Interactions",
        "Sap, Maarten and Rashkin, Hannah and Chen, Derek and Le Bras, Ronan and Choi, Yejin",
        _EMNLP.format(2019),
        2019,
        "https://arxiv.org/abs/1904.09728",
        "allenai/social_i_qa",
    ),
    _corpus(
        "hellaswag",
        "HellaSwag",
        "mit",
        "https://rowanzellers.com/hellaswag/",
        "zellers-etal-2019-hellaswag",
        "{H}ella{S}wag: Can a Machine Really Finish Your Sentence?",
        "Zellers, Rowan and Holtzman, Ari and Bisk, Yonatan and Farhadi, Ali and Choi, Yejin",
        _ACL.format("57th"),
        2019,
        "https://arxiv.org/abs/1905.07830",
        "Rowan/hellaswag",
    ),
    _corpus(
        "cosmos_qa",
        "Cosmos QA",
        "cc-by-4.0",
        "https://wilburone.github.io/cosmos/",
        "huang-etal-2019-cosmos",
        "Cosmos {QA}: Machine Reading Comprehension with Contextual Commonsense Reasoning",
        "Huang, Lifu and Le Bras, Ronan and Bhagavatula, Chandra and Choi, Yejin",
        _EMNLP.format(2019),
        2019,
        "https://arxiv.org/abs/1909.00277",
        "allenai/cosmos_qa",
    ),
    _corpus(
        "logiqa",
        "LogiQA",
        "unknown",
        "https://github.com/lgw863/LogiQA-dataset",
        "liu-etal-2020-logiqa",
        "{L}ogi{QA}: A Challenge Dataset for Machine Reading Comprehension with Logical Reasoning",
        "Liu, Jian and Cui, Leyang and Liu, Hanmeng and Huang, Dandan and Wang, Yile and Zhang, Yue",
        "Proceedings of the Twenty-Ninth International Joint Conference on Artificial Intelligence",
        2020,
        "https://arxiv.org/abs/2007.08124",
    ),
    _corpus(
        "control",
        "ConTRoL",
        "cc0-1.0",
        "https://github.com/csitfun/ConTRoL-dataset",
        "liu-etal-2021-natural",
        "Natural Language Inference in Context: Investigating Contextual Reasoning over Long Texts",
        "Liu, Hanmeng and Cui, Leyang and Liu, Jian and Zhang, Yue",
        _AAAI,
        2021,
        "https://arxiv.org/abs/2011.04864",
    ),
    _corpus(
        "ester",
        "ESTER",
        "unknown",
        "https://github.com/PlusLabNLP/ESTER",
        "han-etal-2021-ester",
        "{ESTER}: A Machine Reading Comprehension Dataset for Reasoning about Event Semantic Relations",
        "Han, Rujun and Hsu, I-Hung and Sun, Jiao and Baylon, Julia and Ning, Qiang and Roth, Dan and "
        "Peng, Nanyun",
        _EMNLP.format(2021),
        2021,
        "https://arxiv.org/abs/2104.08350",
    ),
    _corpus(
        "drop",
        "DROP",
        "cc-by-sa-4.0",
        "https://allenai.org/data/drop",
        "dua-etal-2019-drop",
        "{DROP}: A Reading Comprehension Benchmark Requiring Discrete Reasoning Over Paragraphs",
        "Dua, Dheeru and Wang, Yizhong and Dasigi, Pradeep and Stanovsky, Gabriel and Singh, Sameer and "
        "Gardner, Matt",
        _NAACL.format(2019),
        2019,
        "https://arxiv.org/abs/1903.00161",
        "ucinlp/drop",
    ),
    _corpus(
        "defeasible_nli",
        "defeasible NLI",
        "mit",
        "https://github.com/rudinger/defeasible-nli",
        "rudinger-etal-2020-thinking",
        "Thinking Like a Skeptic: Defeasible Inference in Natural Language",
        "Rudinger, Rachel and Shwartz, Vered and Hwang, Jena D. and Bhagavatula, Chandra and Forbes, "
        "Maxwell and Le Bras, Ronan and Smith, Noah A. and Choi, Yejin",
        "Findings of the Association for Computational Linguistics: EMNLP 2020",
        2020,
        f"{_ANTHOLOGY}/2020.findings-emnlp.418",
    ),
    _corpus(
        "tracie",
        "TRACIE",
        "unknown",
        "https://github.com/allenai/tracie",
        "zhou-etal-2021-temporal",
        "Temporal Reasoning on Implicit Events from Distant Supervision",
        "Zhou, Ben and Richardson, Kyle and Ning, Qiang and Khot, Tushar and Sabharwal, Ashish and Roth, Dan",
        _NAACL.format(2021),
        2021,
        "https://arxiv.org/abs/2010.12753",
    ),
    _corpus(
        "babi",
        "bAbI",
        "cc-by-3.0",
        "https://research.facebook.com/downloads/babi/",
        "weston-etal-2016-towards",
        "Towards {AI}-Complete Question Answering: A Set of Prerequisite Toy Tasks",
        "Weston, Jason and Bordes, Antoine and Chopra, Sumit and Mikolov, Tomas",
        "4th International Conference on Learning Representations",
        2016,
        "https://arxiv.org/abs/1502.05698",
        "facebook/babi_qa",
    ),
    _corpus(
        "semeval2020_task5",
        "SemEval-2020 task 5",
        "unknown",
        "https://zenodo.org/record/3932442",
        "yang-etal-2020-semeval",
        "{S}em{E}val-2020 Task 5: Counterfactual Recognition",
        "Yang, Xiaoyu and Obadinma, Stephen and Zhao, Huasha and Zhang, Qiong and Matwin, Stan and Zhu, "
        "Xiaodan",
        "Proceedings of the Fourteenth Workshop on Semantic Evaluation",
        2020,
        "https://arxiv.org/abs/2008.00563",
    ),
    _corpus(
        "copa",
        "COPA",
        "bsd-2-clause",
        "https://people.ict.usc.edu/~gordon/copa.html",
        "roemmele-etal-2011-choice",
        "Choice of Plausible Alternatives: An Evaluation of Commonsense Causal Reasoning",
        "Roemmele, Melissa and Bejan, Cosmin Adrian and Gordon, Andrew S.",
        "AAAI Spring Symposium: Logical Formalizations of Commonsense Reasoning",
        2011,
        "https://people.ict.usc.edu/~gordon/copa.html",
    ),
    _corpus(
        "squad",
        "SQuAD",
        "cc-by-sa-4.0",
        "https://rajpurkar.github.io/SQuAD-explorer/",
        "rajpurkar-etal-2016-squad",
        "{SQ}u{AD}: 100,000+ Questions for Machine Comprehension of Text",
        "Rajpurkar, Pranav and Zhang, Jian and Lopyrev, Konstantin and Liang, Percy",
        _EMNLP.format(2016),
        2016,
        "https://arxiv.org/abs/1606.05250",
        "rajpurkar/squad",
    ),
)

CORPORA = {corpus.name: corpus for corpus in _CORPORA}
