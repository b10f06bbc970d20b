"""The seal of a card: what it finds, what it leaves to people, and that every card written here has it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cards_analyses import add_results
from cards_release import make_release

from benchwright.builders.build import split
from benchwright.cards import README, render_card, seal, seal_differences, write_card
from benchwright.errors import ReleaseError
from benchwright.release import ReleaseFolder

SEAL = re.compile(r"<!-- benchwright:seal text=sha256:[0-9a-f]{64} manifest=sha256:[0-9a-f]{64} -->\n\Z")
TEXT = "its text is not the one that was sealed"
OTHER_MANIFEST = "it was written for another manifest"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> ReleaseFolder:
    made = make_release(tmp_path_factory.mktemp("sealed") / "toy-splits")
    add_results(made)
    write_card(made)
    return made


@pytest.fixture(scope="module")
def card(release: ReleaseFolder) -> str:
    return (release.path / README).read_text(encoding="utf-8")


def write_in(card: str, section: str, text: str) -> str:
    """The card with `text` in one of its hand-written sections."""
    begin, end = f"<!-- user:begin {section} -->\n", f"<!-- user:end {section} -->"
    before, rest = card.split(begin)
    return f"{before}{begin}{text}\n{end}{rest.split(end)[1]}"


def test_a_written_card_ends_with_a_seal_that_agrees(release: ReleaseFolder, card: str) -> None:
    assert SEAL.search(card)
    assert seal_differences(card, release.manifest) == []
    assert render_card(release) == card


def test_a_built_release_agrees_with_the_manifest_written_after_its_card(tmp_path: Path) -> None:
    rows = [{"text": f"sentence number {number} of the file"} for number in range(40)]
    source = tmp_path / "rows.jsonl"
    source.write_text("".join(f"{json.dumps(row)}\n" for row in rows) + "{broken\n", encoding="utf-8")
    release = split(source, text="text", by=["random", "length"], out=tmp_path / "built", on_bad_row="drop")
    assert release.manifest["source"]["dropped"]
    text = (release.path / README).read_text(encoding="utf-8")
    assert SEAL.search(text)
    assert seal_differences(text, release.manifest) == []


def test_every_line_is_sealed(release: ReleaseFolder, card: str) -> None:
    lines = card.splitlines(keepends=True)
    owned = {"about", "notes"}
    inside = False
    for number, line in enumerate(lines):
        inside = inside or any(line.startswith(f"<!-- user:begin {name} ") for name in owned)
        if not inside and line.strip():
            without = "".join([*lines[:number], *lines[number + 1 :]])
            assert seal_differences(without, release.manifest), line
            doubled = "".join([*lines[: number + 1], *lines[number:]])
            assert seal_differences(doubled, release.manifest), line
        inside = inside and not any(line.startswith(f"<!-- user:end {name} ") for name in owned)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("language:\n- en", "language:\n- fr"),
        ("num_examples: 40", "num_examples: 41"),
        ("| 50.0 |", "| 55.0 |"),
        ("## Limitations\n", "## Limits\n"),
        ("Sixty invented", "Sixty  invented"),
        ("\n\n| config |", "\n| config |"),
    ],
)
def test_any_other_text_is_found(release: ReleaseFolder, card: str, old: str, new: str) -> None:
    assert old in card
    (found,) = seal_differences(card.replace(old, new, 1), release.manifest)
    assert found.startswith(TEXT)


@pytest.mark.parametrize("added", ["\nmore\n", "<script>alert(1)</script>", "\n<!-- a comment -->\n"])
def test_text_after_the_seal_is_found(release: ReleaseFolder, card: str, added: str) -> None:
    (found,) = seal_differences(card + added, release.manifest)
    assert found.startswith(TEXT)


def test_people_may_write_in_their_sections_and_add_some(release: ReleaseFolder, card: str) -> None:
    written = write_in(card, "notes", "## Known issues\n\n\nNone.\n\n--- ``` <b>")
    assert written != card
    assert seal_differences(written, release.manifest) == []
    own = "\n<!-- user:begin thanks -->\nto many\n<!-- user:end thanks -->\n"
    assert seal_differences(written + own, release.manifest) == []
    above = written.replace("\n## Load\n", f"{own}\n## Load\n")
    assert seal_differences(above, release.manifest) == []


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
def test_line_ends_do_not_matter(release: ReleaseFolder, card: str, line_end: str) -> None:
    changed = card.replace("\n", line_end)
    assert seal_differences(changed, release.manifest) == []
    assert seal_differences(changed.replace("Sixty", "Fifty"), release.manifest) != []


def test_our_text_cannot_hide_in_a_section(release: ReleaseFolder, card: str) -> None:
    hidden = "<!-- user:begin x -->\n## Limitations\n<!-- user:end x -->"
    (found,) = seal_differences(card.replace("## Limitations", hidden), release.manifest)
    assert found.startswith(TEXT)
    # Inside of brackets YAML does not mind such lines, so the header has no sections.
    tags = "tags: [benchwright,\n<!-- user:begin x -->\n, evil,\n<!-- user:end x -->\n]"
    tampered = card.replace("tags:\n- benchwright\n- likelihood-splits", tags)
    assert tampered != card
    (found,) = seal_differences(tampered, release.manifest)
    assert found.startswith(TEXT)


def test_a_seal_in_a_section_counts_for_nothing(release: ReleaseFolder, card: str) -> None:
    forged = seal(card.replace("Sixty", "Fifty"), release.manifest).splitlines()[-1]
    written = write_in(card, "notes", forged)
    assert seal_differences(written, release.manifest) == []
    tampered = write_in(card.replace("Sixty", "Fifty"), "notes", forged)
    assert seal_differences(tampered, release.manifest) != []
    # Sealing again keeps what stands in the section.
    assert seal(written, release.manifest) == written


def test_data_cannot_forge_a_seal(tmp_path: Path, card: str) -> None:
    forged = f"x\n{card.splitlines()[-1]}\ny"
    release = make_release(
        tmp_path / "toy", dataset={"summary": forged, "citation": forged, "licence": forged}
    )
    text = render_card(release)
    assert seal_differences(text, release.manifest) == []
    assert sum(line.startswith("<!-- benchwright:seal") for line in text.splitlines()) == 1


@pytest.mark.parametrize("number", [0, 2])
def test_one_seal_is_required(release: ReleaseFolder, card: str, number: int) -> None:
    body, line = card[: -len(SEAL.search(card)[0])], card.splitlines()[-1]
    (found,) = seal_differences(body + f"{line}\n" * number, release.manifest)
    assert found.startswith("it has 2 seals" if number else "it has no seal")
    assert found.endswith("write it again with `benchwright card`")


def test_a_damaged_seal_is_none(release: ReleaseFolder, card: str) -> None:
    (found,) = seal_differences(card.replace("text=sha256:", "text=sha256:0", 1), release.manifest)
    assert found.startswith("it has no seal")


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest: manifest["source"].update(rows=61),
        lambda manifest: manifest["dataset"].update(homepage="https://example.org/other"),
        lambda manifest: manifest["audit"]["findings"].pop(),
        lambda manifest: manifest.update(publication={"repo": "acme/toy"}),
        lambda manifest: manifest["choices"].update(seed=float("nan")),
    ],
)
def test_another_manifest_is_found(release: ReleaseFolder, card: str, change: Any) -> None:
    manifest = json.loads(json.dumps(release.manifest))
    change(manifest)
    (found,) = seal_differences(card, manifest)
    assert found.startswith(OTHER_MANIFEST)


def test_the_order_of_keys_does_not_matter(release: ReleaseFolder, card: str) -> None:
    turned = json.loads(json.dumps(release.manifest), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    assert list(turned) != list(release.manifest)
    assert seal_differences(card, turned) == []


def test_broken_sections_are_a_difference_to_readers_and_an_error_to_writers(
    release: ReleaseFolder, card: str
) -> None:
    broken = card + "<!-- user:begin x -->\n"
    (found,) = seal_differences(broken, release.manifest)
    assert "section 'x' has no end" in found
    with pytest.raises(ReleaseError, match="section 'x' has no end"):
        seal(broken, release.manifest)
