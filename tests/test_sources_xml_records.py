"""Records of XML files: attributes, paths, encodings, and files that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright.builders.sources.files import InputFile
from benchwright.builders.sources.xml_records import XmlRecords
from benchwright.errors import SourceError


def read(folder: Path, content: bytes, tag: str = "item") -> tuple[list[dict[str, object]], XmlRecords]:
    path = folder / "corpus.xml"
    path.write_bytes(content)
    records = XmlRecords(InputFile(path, path.name), tag)
    return [record.fields for record in records], records


def test_attributes_and_texts_by_path(tmp_path: Path) -> None:
    content = b"""<?xml version="1.0"?>
<!DOCTYPE corpus SYSTEM "corpus.dtd">
<corpus><item id="7"><p>One &amp; two.</p><a><b> x </b><b>y</b></a></item><other><p>no</p></other>
<item id="8"><p/></item></corpus>"""
    fields, records = read(tmp_path, content)
    assert fields == [
        {"@id": "7", "p": ["One & two."], "a": [""], "a/b": [" x ", "y"]},
        {"@id": "8", "p": [""]},
    ]
    assert records.rows == 2


def test_the_declared_encoding_counts(tmp_path: Path) -> None:
    content = '<?xml version="1.0" encoding="ISO-8859-1"?><c><item>café</item><item><p>né</p></item></c>'
    fields, _ = read(tmp_path, content.encode("latin-1"))
    assert fields == [{}, {"p": ["né"]}]


def test_a_record_knows_its_line(tmp_path: Path) -> None:
    path = tmp_path / "corpus.xml"
    path.write_bytes(b"<c>\n<item/>\n\n<item/></c>")
    assert [record.line for record in XmlRecords(InputFile(path, "corpus.xml"), "item")] == [2, 4]


@pytest.mark.parametrize("encoding", ["x-none", "Shift_JIS", "UTF-7", "rot13", "idna"])
def test_encodings_that_cannot_be_read(tmp_path: Path, encoding: str) -> None:
    content = f'<?xml version="1.0" encoding="{encoding}"?><c><item/></c>'
    with pytest.raises(SourceError) as caught:
        read(tmp_path, content.encode())
    assert str(caught.value) == (
        f"{tmp_path / 'corpus.xml'}, line 1: encoding '{encoding}' is not known; "
        "save the file as UTF-8, and let its first line say so"
    )


def test_utf_16_is_read(tmp_path: Path) -> None:
    content = '<?xml version="1.0" encoding="UTF-16"?><c><item><p>né</p></item></c>'
    fields, _ = read(tmp_path, content.encode("utf-16"))
    assert fields == [{"p": ["né"]}]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<c><item></c>", "not valid XML (mismatched tag)"),
        (b"<c><item>a</item>", "the file ends in the middle of a record"),
        (b'<!DOCTYPE c [<!ENTITY x "y">]><c><item>&x;</item></c>', "the file declares XML entities"),
        (b"<c><thing/></c>", "no element 'item'"),
        (b"", "the file ends in the middle of a record"),
        (b'<?xml version="1.0"?><c><item>caf\xe9</item></c>', "not valid XML (not well-formed"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(SourceError) as caught:
        read(tmp_path, content)
    assert reason in str(caught.value)
    assert str(tmp_path / "corpus.xml") in str(caught.value)
