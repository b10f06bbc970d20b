"""Semantic versions of releases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.builders.versions import BUMPS, Version, check_version, required, versions_among
from benchwright.errors import PublishError, UsageError

NUMBERS = st.integers(0, 999_999_999)
VERSIONS = st.builds(Version, NUMBERS, NUMBERS, NUMBERS)


@given(VERSIONS)
def test_a_version_is_written_as_it_is_read(version: Version) -> None:
    assert Version.parse(str(version)) == version


NO_VERSIONS = ["v1.2.0", "1.2", "1.2.0.0", "01.2.0", "1.2.0-beta", "1.2.0+build", " 1.2.0", "1.2.0\n", ""]


@pytest.mark.parametrize("text", [*NO_VERSIONS, "1.2.-1", "1.٢.0", "1.2.1234567890", "main"], ids=repr)
def test_any_other_form_is_refused_and_the_right_one_named(text: str) -> None:
    with pytest.raises(UsageError, match=r"MAJOR\.MINOR\.PATCH.*such as 1\.2\.0"):
        Version.parse(text)


def test_order_is_by_numbers() -> None:
    texts = ["1.9.0", "1.10.0", "0.99.99", "2.0.0", "1.10.1"]
    ordered = sorted(map(Version.parse, texts))
    assert [str(version) for version in ordered] == ["0.99.99", "1.9.0", "1.10.0", "1.10.1", "2.0.0"]


@pytest.mark.parametrize(
    ("bump", "expected"), [("none", "1.2.3"), ("patch", "1.2.4"), ("minor", "1.3.0"), ("major", "2.0.0")]
)
def test_bumps(bump, expected) -> None:
    assert str(Version.parse("1.2.3").bump(bump)) == expected
    assert str(required(Version.parse("1.2.3"), bump)) == expected


@given(VERSIONS.filter(lambda v: max(v.major, v.minor, v.patch) < 999_999_999))
def test_a_larger_bump_gives_a_larger_version(version: Version) -> None:
    bumped = [version.bump(bump) for bump in BUMPS]
    assert bumped == sorted(set(bumped))


def test_a_first_publication_is_1_0_0_and_may_be_anything_from_0_1_0() -> None:
    assert required(None, "major") == Version(1, 0, 0)
    assert check_version("0.1.0", None, "none", ()) == Version(0, 1, 0)
    with pytest.raises(PublishError, match=r"0\.0\.9 is too small: a first version is at least 0\.1\.0"):
        check_version("0.0.9", None, "none", ())


def test_a_version_that_is_too_small_is_refused_with_the_reasons() -> None:
    reasons = ["random: 2 rows of test changed", "config tmcd went", "a", "b"]
    with pytest.raises(PublishError) as caught:
        check_version("1.3.0", Version(1, 2, 0), "major", reasons)
    assert str(caught.value) == (
        "version 1.3.0 is too small: 2.0.0 is the least after 1.2.0 because random: 2 rows of test changed; "
        "config tmcd went; a; 1 more"
    )


@pytest.mark.parametrize(("asked", "bump"), [("2.0.0", "major"), ("3.1.4", "minor"), ("1.2.0", "none")])
def test_what_is_needed_or_more_is_allowed(asked, bump) -> None:
    assert check_version(asked, Version(1, 2, 0), bump, ("why",)) == Version.parse(asked)


def test_going_back_is_refused_even_if_nothing_changed() -> None:
    with pytest.raises(PublishError, match=r"1\.2\.0 is published"):
        check_version(Version(1, 1, 9), Version(1, 2, 0), "none", ())


def test_tags_that_are_no_versions_are_ignored() -> None:
    tags = ["main", "v1.0.0", "1.0.0", "0.9.0", "1.10.0", "1.2.0-yanked", "latest", "1.2"]
    assert list(map(str, versions_among(tags))) == ["0.9.0", "1.0.0", "1.10.0"]
    assert list(map(str, versions_among(tags, yanked=True))) == ["0.9.0", "1.0.0", "1.2.0", "1.10.0"]
