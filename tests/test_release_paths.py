"""Names in a manifest become names of files: none of them may lead out of the folder that is written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tampering import change_manifest

from benchwright.atomic import write_text
from benchwright.builders._errata import Errata
from benchwright.builders._staging import Staging
from benchwright.builders.build import build, make_release, split
from benchwright.builders.errata import rename
from benchwright.builders.rebuild import rebuild
from benchwright.builders.recorded import builder_of, options_of
from benchwright.builders.release import ReleaseWriter
from benchwright.builders.scoring import TableMaker
from benchwright.builders.verify import verify
from benchwright.errors import ReleaseError
from benchwright.publication import Publication
from benchwright.release import ReleaseFolder

OUTSIDE = "../../outside"
PLAN = "0123456789abcdef" * 4
HARM = {
    "a former name": ({"aliases": {OUTSIDE: "random"}}, "former name of a config is named"),
    "what a former name stands for": ({"aliases": {"old": OUTSIDE}}, "which is no config"),
    "a builder's name of a config": ({"aliases": {"length": OUTSIDE}}, "'length' is a config, too"),
    "a former name that is a config": ({"aliases": {"length": "random"}}, "'length' is a config, too"),
    "a withdrawn config": ({"withdrawn": [{"reason": "x", "config": OUTSIDE}]}, "withdrawn config is named"),
    "a withdrawn config of no text": ({"withdrawn": [{"reason": "x", "config": 5}]}, "withdrawn config is"),
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("source") / "rows.csv"
    rows = [f"{n},{'very ' * (n % 7)}small sentence {n}" for n in range(60)]
    file.write_text("\n".join(["id,text", *rows]) + "\n", encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def original(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("original") / "made"
    return split(source, text="text", id="id", by=["random", "length"], out=out).path


@pytest.fixture
def release(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "below" / "here" / "made"))


@pytest.fixture
def refuses(source: Path, release: Path, tmp_path: Path) -> Callable[[str], None]:
    """Checks that nobody uses the manifest, and that nothing is written anywhere."""

    def check(said: str) -> None:
        files = sorted(tmp_path.rglob("*"))
        out = release.with_name("out")
        builder = builder_of(ReleaseFolder(release, manifest=_read(release)).manifest)
        for use in (
            lambda: verify(release, source=source),
            lambda: rebuild(release, source=source, out=out),
            lambda: build(builder, source=source, out=out, into=release, configs=["length"]),
            lambda: build(builder, source=source, out=release, overwrite=True),
            lambda: rename(release, config="random", to="drawn"),
        ):
            with pytest.raises(ReleaseError, match=said):
                use()
        assert sorted(tmp_path.rglob("*")) == files

    return check


def _read(release: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((release / "manifest.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("case", HARM)
def test_a_publication_with_names_that_lead_outside_is_refused(
    case: str, release: Path, refuses: Callable[[str], None]
) -> None:
    publication, said = HARM[case]
    change_manifest(release, lambda data: data.update(publication=publication))
    refuses(said)


@pytest.mark.parametrize("name", [OUTSIDE, "/etc/x", "a/b", "", None, ["random"]])
def test_a_builders_name_that_leads_outside_is_refused(
    name: Any, release: Path, refuses: Callable[[str], None]
) -> None:
    change_manifest(release, lambda data: data["configs"]["random"].update(made_as=name))
    refuses(r"configs\.random\.made_as")


def test_a_score_table_that_leads_outside_is_refused(release: Path, refuses: Callable[[str], None]) -> None:
    change_manifest(release, lambda data: data["scores"].update({f"lm_prompt/{OUTSIDE}": {}}))
    refuses("a score table is named")


@pytest.mark.parametrize("name", ["../outside.txt", "/tmp/outside.txt", "a/../../outside", "..\\x", "", "."])
def test_no_file_is_written_outside_of_a_release_that_is_made(name: str, tmp_path: Path) -> None:
    (tmp_path / "given.txt").write_text("given", encoding="utf-8")
    with ReleaseWriter(tmp_path / "made", PLAN) as writer:
        with pytest.raises(ReleaseError, match="is no file inside of"):
            writer.write_text(name, "text")
        with pytest.raises(ReleaseError, match="is no file inside of"):
            writer.keep(tmp_path / "given.txt", name, link=True)
    refused = pytest.raises(ReleaseError, match="is no file inside of")
    with Staging(tmp_path / "made", PLAN, False) as staging, refused:
        staging.file(name, "0", lambda path: write_text(path, "text"))
    assert [path.name for path in tmp_path.iterdir()] == ["given.txt"]


def test_no_config_is_built_outside(source: Path, release: Path, tmp_path: Path) -> None:
    """Also where nobody has read the manifest that names it."""
    files = sorted(tmp_path.rglob("*"))
    manifest = _read(release)
    with pytest.raises(ReleaseError, match="is no file inside of"):
        make_release(
            builder_of(manifest),
            source=source,
            out=release.with_name("out"),
            options=options_of(manifest),
            maker=TableMaker(),
            errata=Errata(Publication(), {"random": OUTSIDE}),
        )
    left = {path for path in tmp_path.rglob("*") if path not in files}
    assert all(path.is_relative_to(release.parent) for path in left)


def test_a_manifest_that_was_changed_is_not_built_again(source: Path, release: Path, tmp_path: Path) -> None:
    other = tmp_path / "rows.csv"
    other.write_text(source.read_text(encoding="utf-8").replace("small", "large"), encoding="utf-8")
    assert "source" in {found.code for found in verify(release, source=other)}
    change_manifest(release, lambda data: data.update(publication={"aliases": {"old": "random"}}))
    found = verify(release, source=other)
    assert found == verify(release)
    assert {difference.code for difference in found} == {"card"}
