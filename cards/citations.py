"""Whom to cite."""

from __future__ import annotations

from dataclasses import dataclass

from ..release import ReleaseFolder
from .markdown import Markdown, link
from .provenance import PVI

V_INFORMATION_LINK = "https://arxiv.org/abs/2110.08420"
LIKELIHOOD_SPLITS_LINK = "https://arxiv.org/abs/2210.06799"

_LIKELIHOOD_SPLITS = """@inproceedings{godbole-jia-2023-likelihood-splits,
  title         = {Benchmarking Long-tail Generalization with Likelihood Splits},
  author        = {Godbole, Ameya and Jia, Robin},
  booktitle     = {Findings of the Association for Computational Linguistics: EACL 2023},
  year          = {2023},
  eprint        = {2210.06799},
  archivePrefix = {arXiv},
  url           = {https://arxiv.org/abs/2210.06799}
}"""


@dataclass(frozen=True)
class Citations:
    """BibTeX entries and a reference, each empty where there is none.

    `method` is empty, too, where `corpus` has the entry already; `information_reference` is of V-information.
    """

    corpus: str
    method: str
    method_reference: Markdown
    information_reference: Markdown


def citations(release: ReleaseFolder) -> Citations:
    """Entries for the corpus, and for likelihood splits where a config is one."""
    dataset = release.dataset
    constituents = (dataset.get("constituents") or {}).values()
    entries = [dataset.get("citation"), *(each.get("citation") for each in constituents)]
    corpus = "\n".join(dict.fromkeys(entry.strip() for entry in entries if entry))
    likelihood = any(entry.get("splitter") == "likelihood" for entry in release.placed_configs.values())
    tables = (release.manifest.get("scores") or {}).values()
    graded = any(entry.get("scorer") == PVI for entry in tables)
    return Citations(
        corpus=corpus,
        method=_LIKELIHOOD_SPLITS if likelihood and LIKELIHOOD_SPLITS_LINK not in corpus else "",
        # A link, not a bare address: the Hub makes its arXiv tag from it.
        method_reference=link("arXiv:2210.06799", LIKELIHOOD_SPLITS_LINK) if likelihood else Markdown(""),
        information_reference=link("arXiv:2110.08420", V_INFORMATION_LINK) if graded else Markdown(""),
    )
