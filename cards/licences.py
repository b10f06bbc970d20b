"""Licences: the ids that the Hub knows, and what a licence means for the rows of a release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..release import WITHOUT_TEXT, ReleaseFolder
from .markdown import Markdown, codes, compose, link

# Hub documentation, Licenses; any other licence is `other` with a name and a link.
HUB_LICENCES = frozenset(
    """
    apache-2.0 mit openrail bigscience-openrail-m creativeml-openrail-m bigscience-bloom-rail-1.0
    bigcode-openrail-m afl-3.0 artistic-2.0 bsl-1.0 bsd bsd-2-clause bsd-3-clause bsd-3-clause-clear c-uda
    cc cc0-1.0 cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-2.0 cc-by-nc-3.0
    cc-by-nc-4.0 cc-by-nd-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0
    cc-by-nc-sa-4.0 cdla-sharing-1.0 cdla-permissive-1.0 cdla-permissive-2.0 wtfpl ecl-2.0 epl-1.0 epl-2.0
    etalab-2.0 eupl-1.1 eupl-1.2 agpl-3.0 gfdl gpl gpl-2.0 gpl-3.0 lgpl lgpl-2.1 lgpl-3.0 isc h-research
    intel-research lppl-1.3c ms-pl apple-ascl apple-amlr mpl-2.0 odc-by odbl openmdw-1.0 openrail++ osl-3.0
    postgresql ofl-1.1 ncsa unlicense zlib pddl lgpl-lr deepfloyd-if-license
    fair-noncommercial-research-license llama2 llama3 llama3.1 llama3.2 llama3.3 llama4 gemma grok2-community
    unknown other
    """.split()  # noqa: SIM905 (a list would take eighty lines)
)

_REDISTRIBUTION = {
    "text": "The licence of the source allows redistribution; the rows of this release carry its text under "
    "the same terms.",
    "ids_only": "The source does not allow its text to be redistributed. This release carries assignments, "
    "ids and hashes only; `benchwright hydrate` joins them with your own copy of the source.",
    "no": "The source may not be redistributed. Do not publish this folder.",
}


_SOME_BARE = (
    "Not every source allows its text to be redistributed. These configs carry assignments, ids and hashes "
    "only: {names}; `benchwright hydrate` joins them with your own copy of the source. The other configs "
    "carry the text of their sources under the same terms."
)


def licence_fields(dataset: Mapping[str, Any]) -> dict[str, str]:
    """`license` for the header, or `other` with name and link where the Hub has no id for it."""
    licence = dataset["licence"]
    if licence.lower() in HUB_LICENCES:
        return {"license": licence.lower()}
    fields = {"license": "other", "license_name": licence, "license_link": dataset.get("licence_link") or ""}
    return {key: value for key, value in fields.items() if value}


def bare_configs(release: ReleaseFolder) -> list[str]:
    """The configs without text, where others have theirs: not every source may be passed on."""
    bare = [name for name, entry in release.placed_configs.items() if WITHOUT_TEXT in entry]
    return bare if len(bare) < len(release.placed_configs) else []


def licence_paragraphs(release: ReleaseFolder) -> list[Markdown]:
    """The licence of the source, and what it means for the rows."""
    dataset = release.dataset
    licence = dataset["licence"]
    if licence.lower() == "unknown" and dataset["redistribute"] == "text":
        return [
            Markdown(
                "No licence was stated for the source. Find out what it allows before you share the rows."
            )
        ]
    named = compose("{licence:code}", licence=licence)
    address = dataset.get("licence_link")
    terms = compose(" ({link})", link=link("terms", address)) if address else Markdown("")
    home = dataset.get("homepage")
    source = link("the page of the source", home) if home else Markdown("the source")
    bare = bare_configs(release)
    text = Markdown(_REDISTRIBUTION[dataset["redistribute"]])
    return [
        compose(
            "Licence of the source: {named}{terms}. See {source} for its authors and conditions.",
            named=named,
            terms=terms,
            source=source,
        ),
        compose(_SOME_BARE, names=codes(bare)) if bare else text,
    ]
