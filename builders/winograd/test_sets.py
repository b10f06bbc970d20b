"""The test sets, one part of a source each: names, splits, languages, licences, citations."""

from __future__ import annotations

from dataclasses import dataclass

PREFERRED_SPLITS = ("test", "dev", "train")
"""The split that is the test set, where a set has several and its paper does not say another one."""


@dataclass(frozen=True)
class TestSet:
    """A part of the source. `dataset` is its name in rows; `split` the one that was searched for the paper.

    `options` is the largest number of options of a row. `licence` is a Hub licence id or `unknown`.
    """

    # Not a class of tests, whatever its name begins with.
    __test__ = False

    name: str
    dataset: str
    title: str
    licence: str
    homepage: str
    citation: str
    split: str = "test"
    options: int = 2
    language: str = "en"


def _entry(key: str, title: str, authors: str, venue: str, year: int) -> str:
    return (
        f"@inproceedings{{{key},\n  title     = {{{title}}},\n  author    = {{{authors}}},\n"
        f"  booktitle = {{{venue}}},\n  year      = {{{year}}}\n}}"
    )


CITATION = _entry(
    "emami-etal-2020-analysis",
    "An Analysis of Dataset Overlap on {W}inograd-Style Tasks",
    "Emami, Ali and Suleman, Kaheer and Trischler, Adam and Cheung, Jackie Chi Kit",
    "Proceedings of the 28th International Conference on Computational Linguistics",
    2020,
)
_WSC = _entry(
    "levesque-etal-2012-winograd",
    "The {W}inograd Schema Challenge",
    "Levesque, Hector and Davis, Ernest and Morgenstern, Leora",
    "Proceedings of the Thirteenth International Conference on Principles of Knowledge Representation and "
    "Reasoning",
    2012,
)
_WSC_HOME = "https://cs.nyu.edu/~davise/papers/WinogradSchemas/WS.html"

TEST_SETS = {
    found.name: found
    for found in (
        TestSet(
            "wsc273",
            "wsc273",
            "Winograd Schema Challenge, first 273",
            "cc-by-4.0",
            _WSC_HOME,
            _WSC,
        ),
        TestSet("wsc285", "wsc", "Winograd Schema Challenge", "cc-by-4.0", _WSC_HOME, _WSC),
        TestSet(
            "dpr",
            "dpr",
            "Definite Pronoun Resolution",
            "unknown",
            "https://www.hlt.utdallas.edu/~vince/data/emnlp12/",
            _entry(
                "rahman-ng-2012-resolving",
                "Resolving Complex Cases of Definite Pronouns: The {W}inograd Schema Challenge",
                "Rahman, Altaf and Ng, Vincent",
                "Proceedings of the 2012 Joint Conference on Empirical Methods in Natural Language "
                "Processing and Computational Natural Language Learning",
                2012,
            ),
        ),
        TestSet(
            "winogrande",
            "winogrande",
            "WinoGrande",
            "cc",
            "https://winogrande.allenai.org",
            _entry(
                "sakaguchi-etal-2020-winogrande",
                "{W}ino{G}rande: An Adversarial {W}inograd Schema Challenge at Scale",
                "Sakaguchi, Keisuke and Le Bras, Ronan and Bhagavatula, Chandra and Choi, Yejin",
                "Proceedings of the AAAI Conference on Artificial Intelligence",
                2020,
            ),
            # Its test labels are not published.
            split="dev",
        ),
        TestSet(
            "knowref",
            "knowref",
            "KnowRef",
            "unknown",
            "https://github.com/aemami1/KnowRef",
            _entry(
                "emami-etal-2019-knowref",
                "The {K}now{R}ef Coreference Corpus: Removing Gender and Number Cues for Difficult "
                "Pronominal Anaphora Resolution",
                "Emami, Ali and Trichelair, Paul and Trischler, Adam and Suleman, Kaheer and Schulz, Hannes "
                "and Cheung, Jackie Chi Kit",
                "Proceedings of the 57th Annual Meeting of the Association for Computational Linguistics",
                2019,
            ),
        ),
        TestSet(
            "pdp",
            "pdp",
            "Pronoun Disambiguation Problems",
            "cc-by-4.0",
            "https://cs.nyu.edu/~davise/papers/WinogradSchemas/PDPChallenge2016.xml",
            _entry(
                "morgenstern-etal-2016-planning",
                "Planning, Executing, and Evaluating the {W}inograd Schema Challenge",
                "Morgenstern, Leora and Davis, Ernest and Ortiz, Charles L.",
                "AI Magazine 37(1)",
                2016,
            ),
            options=5,
        ),
        TestSet(
            "winogender",
            "winogender",
            "WinoGender",
            "mit",
            "https://github.com/rudinger/winogender-schemas",
            _entry(
                "rudinger-etal-2018-gender",
                "Gender Bias in Coreference Resolution",
                "Rudinger, Rachel and Naradowsky, Jason and Leonard, Brian and Van Durme, Benjamin",
                "Proceedings of the 2018 Conference of the North American Chapter of the Association for "
                "Computational Linguistics",
                2018,
            ),
        ),
        TestSet(
            "superglue_wsc",
            "superglue_wsc",
            "Winograd Schema Challenge of SuperGLUE",
            "cc-by-4.0",
            "https://super.gluebenchmark.com",
            _entry(
                "wang-etal-2019-superglue",
                "{S}uper{GLUE}: A Stickier Benchmark for General-Purpose Language Understanding Systems",
                "Wang, Alex and Pruksachatkun, Yada and Nangia, Nikita and Singh, Amanpreet and Michael, "
                "Julian and Hill, Felix and Levy, Omer and Bowman, Samuel R.",
                "Advances in Neural Information Processing Systems 32",
                2019,
            ),
            split="dev",
        ),
        TestSet(
            "cluewsc",
            "cluewsc2020",
            "CLUEWSC2020",
            "unknown",
            "https://github.com/CLUEbenchmark/CLUEWSC2020",
            _entry(
                "xu-etal-2020-clue",
                "{CLUE}: A {C}hinese Language Understanding Evaluation Benchmark",
                "Xu, Liang and Hu, Hai and Zhang, Xuanwei and Li, Lu and Cao, Chenjie and Li, Yudong and Xu, "
                "Yechen and Sun, Kai and Yu, Dian and Yu, Cong and others",
                "Proceedings of the 28th International Conference on Computational Linguistics",
                2020,
            ),
            split="dev",
            language="zh",
        ),
    )
}
"""By name, in the order of configs."""


def names_of(dataset: str) -> list[str]:
    """The parts that rows of a dataset are."""
    return [found.name for found in TEST_SETS.values() if found.dataset == dataset]
