"""The Croissant metadata that the Hub derives from a dataset: what it serves at `/croissant`.

After the Hub's dataset viewer: the card's `dataset_info` gives configs, splits and features; rows are those
of the branch `refs/convert/parquet`, one folder per config and split. The context has `containedIn` as that
of Croissant 1.1 has; without it, mlcroissant looks for the rows beside the metadata.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from datasets import ClassLabel, List, Value
from datasets.info import DatasetInfosDict
from huggingface_hub import DatasetCard

from benchwright.release import ReleaseFolder

_CROISSANT = (
    "arrayShape citeAs column containedIn dataBiases dataCollection extract field fileProperty fileObject "
    "fileSet format includes isArray isLiveDataset jsonPath key md5 parentField path "
    "personalSensitiveInformation recordSet references regex repeated replace separator source subField "
    "transform"
)
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "sc": "https://schema.org/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{name: f"cr:{name}" for name in _CROISSANT.split()},
}
_TYPES = {
    "bool": "sc:Boolean",
    "string": "sc:Text",
    **{f"float{bits}": f"cr:Float{bits}" for bits in (16, 32, 64)},
    **{f"int{bits}": f"cr:Int{bits}" for bits in (8, 16, 32, 64)},
}


def hub_croissant(card: DatasetCard, repo: str) -> dict[str, Any]:
    """The metadata of a dataset with this card."""
    infos = DatasetInfosDict.from_dataset_card_data(card.data)
    data = card.data.to_dict()
    repository = {
        "@type": "cr:FileObject",
        "@id": "repo",
        "name": "repo",
        "description": "The Hugging Face git repository.",
        "contentUrl": f"https://huggingface.co/datasets/{repo}/tree/refs%2Fconvert%2Fparquet",
        "encodingFormat": "git+https",
        "sha256": "https://github.com/mlcommons/croissant/issues/80",
    }
    file_sets = [
        {
            "@type": "cr:FileSet",
            "@id": _files_of(config),
            "containedIn": {"@id": "repo"},
            "encodingFormat": "application/x-parquet",
            "includes": f"{config}/*/*.parquet",
        }
        for config in infos
    ]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": repo.split("/")[1],
        "alternateName": [repo, data["pretty_name"]],
        "description": _first_paragraph(card.text),
        "creator": {"@type": "Organization", "name": repo.split("/")[0]},
        "keywords": data["tags"],
        "license": data["license"],
        "url": f"https://huggingface.co/datasets/{repo}",
        "distribution": [repository, *file_sets],
        "recordSet": [
            record_set for config, info in infos.items() for record_set in _record_sets(config, info, repo)
        ],
    }


def converted(release: ReleaseFolder, folder: Path) -> Path:
    """The rows of a release as the Hub's branch of converted parquet files holds them."""
    for config in release.configs:
        for split in release.splits(config):
            for number, file in enumerate(release.files(config, split)):
                target = folder / config / split / f"{number:04d}.parquet"
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
    return folder


def _files_of(config: str) -> str:
    return f"parquet-files-for-config-{config}"


def _record_sets(config: str, info: Any, repo: str) -> list[dict[str, Any]]:
    """Those of one config: its splits, and its rows."""
    splits, name = f"{config}_splits", f"{config}_splits/split_name"
    alternatives = "|".join(map(re.escape, info.splits))
    split_field = {
        "@type": "cr:Field",
        "@id": f"{config}/split",
        "dataType": "sc:Text",
        "source": {
            "fileSet": {"@id": _files_of(config)},
            "extract": {"fileProperty": "fullpath"},
            "transform": {"regex": rf"{re.escape(config)}/(?:partial-)?({alternatives})/.+parquet$"},
        },
        "references": {"field": {"@id": name}},
    }
    fields = [
        _field(config, f"{config}/{column}", column, kind, []) for column, kind in info.features.items()
    ]
    return [
        {
            "@type": "cr:RecordSet",
            "@id": splits,
            "name": splits,
            "description": f"Splits for the {config} config.",
            "dataType": "cr:Split",
            "key": {"@id": name},
            "field": [{"@type": "cr:Field", "@id": name, "dataType": "sc:Text"}],
            "data": [{name: split} for split in info.splits],
        },
        {
            "@type": "cr:RecordSet",
            "@id": config,
            "description": f"{repo} - '{config}' subset",
            "field": [split_field, *fields],
        },
    ]


def _field(config: str, name: str, column: str, kind: Any, path: list[str]) -> dict[str, Any]:
    """A field for a column, or for a part of its values at a JSON path. KeyError for an unknown type."""
    if isinstance(kind, dict):
        parts = [_field(config, f"{name}/{part}", column, of, [*path, part]) for part, of in kind.items()]
        return {"@type": "cr:Field", "@id": name, "subField": parts}
    if isinstance(kind, (list, List)):
        inner = kind[0] if isinstance(kind, list) else kind.feature
        return {**_field(config, name, column, inner, path), "isArray": True, "arrayShape": "-1"}
    source: dict[str, Any] = {"fileSet": {"@id": _files_of(config)}, "extract": {"column": column}}
    steps = [{"jsonPath": step} for step in path]
    if steps:
        source["transform"] = steps[0] if len(steps) == 1 else steps
    assert isinstance(kind, (ClassLabel, Value))
    data_type = "sc:Integer" if isinstance(kind, ClassLabel) else _TYPES[kind.dtype]
    return {"@type": "cr:Field", "@id": name, "dataType": data_type, "source": source}


def _first_paragraph(text: str) -> str:
    return next(part for part in text.strip().split("\n\n") if not part.startswith("#")).strip()
