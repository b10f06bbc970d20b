"""What a manifest records of a build, so that it can be repeated: the builder and its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ._errata import MADE_AS
from .base import Builder, BuildOptions, ConfigSpec, builders
from .custom import custom_builder


def options_of(manifest: dict[str, Any]) -> BuildOptions:
    """The choices that a release was made with; those that its version did not know are left open."""
    known = {field.name for field in fields(BuildOptions)}
    choices = {name: value for name, value in manifest["choices"].items() if name in known}
    return BuildOptions(method=manifest["method"], **choices)


def builder_of(manifest: dict[str, Any]) -> Builder:
    """The builder that made a release, with its choices. Raises UsageError if it is not installed."""
    dataset = manifest["dataset"]
    if dataset["published"]:
        return builders.get(dataset["builder"])()
    info = {name: dataset[name] for name in ("licence", "redistribute", "languages")}
    return custom_builder(dataset["pretty_name"], **manifest["choices"]["builder"], **info)


def spec_of(name: str, entry: Mapping[str, Any]) -> ConfigSpec:
    """The config that an entry of a manifest speaks of, as its builder made it."""
    return ConfigSpec(
        name=entry.get(MADE_AS, name),
        splitter=entry["splitter"],
        parameters=entry["parameters"],
        summary=entry["summary"],
        scores=entry["scores"],
        default=entry["default"],
        reverse_of=entry["reverse_of"],
        part=entry.get("part"),
    )
