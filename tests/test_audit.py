"""The audit finds what was put there, names it, and says whether it stops a release."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from benchwright.builders.audit import (
    AuditRows,
    accept,
    audit,
    audit_config,
    audit_corpus,
    audit_release,
    read_accepted,
    summarise,
    write_accepted_file,
)
from benchwright.builders.build import build
from benchwright.errors import SourceError
from benchwright.release import ReleaseFolder
from benchwright.tasks import NLI, TEXT_TO_SQL

TRAIN, VALIDATION, TEST, UNUSED = 0, 1, 2, -1


def pairs(*rows: tuple[str, str, int]) -> AuditRows:
    premises, hypotheses, labels = zip(*rows, strict=True)
    table = pa.table(
        {
            "uid": [f"toy:train:{row}" for row in range(len(rows))],
            "premise": list(premises),
            "hypothesis": list(hypotheses),
            "label": pa.array(labels, pa.int64()),
        }
    )
    return AuditRows.from_table(table, NLI)


def codes(findings):
    return {(f.code, f.splits): f.count for f in findings}


def side(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int8)


def test_clean_rows_have_no_findings():
    rows = pairs(("A man runs.", "He moves.", 0), ("A dog sits.", "It runs.", 2), ("A cat.", "It purrs.", 1))
    assert audit_corpus(rows, published=False) == []
    findings = audit_config("random", rows, side(TRAIN, TRAIN, TRAIN), published=False)
    assert findings == []


def test_an_equal_pair_on_two_sides_is_a_leak_with_the_uids_of_the_later_side():
    rows = pairs(("P", "one", 0), ("P", "one", 0), ("P", "two", 0), ("P", "three", 0))
    (leak,) = audit_config("random", rows, side(TRAIN, TEST, VALIDATION, TEST), published=False)
    assert (leak.code, leak.severity, leak.splits, leak.uids) == (
        "leak_exact", "error", ("train", "test"), ("toy:train:1",),
    )  # fmt: skip


def test_equal_outputs_are_no_leak():
    table = pa.table(
        {
            "uid": ["a", "b"],
            "db_id": ["d", "d"],
            "question": ["How many?", "Count them."],
            "query": ["q", "q"],
        }
    )
    rows = AuditRows.from_table(table, TEXT_TO_SQL)
    assert audit_config("random", rows, side(TRAIN, TEST), published=False) == []


def test_inputs_equal_but_for_case_and_punctuation_are_reported_apart_from_exact_ones():
    rows = pairs(
        ("A man runs.", "He moves!", 0), ("a man runs", "HE  moves", 0), ("A man runs.", "He moves!", 0)
    )
    findings = audit_config("random", rows, side(TRAIN, TEST, TEST), published=False)
    assert codes(findings) == {
        ("leak_exact", ("train", "test")): 1,
        ("leak_normalised", ("train", "test")): 1,
    }
    assert {f.code: f.uids for f in findings}["leak_normalised"] == ("toy:train:1",)


def test_texts_of_symbols_alone_are_compared_as_they_are():
    rows = pairs(("?!", "...", 0), ("!!", "???", 0))
    assert audit_config("random", rows, side(TRAIN, TEST), published=False) == []


def test_published_placements_have_known_leaks_and_a_users_own_have_errors():
    rows = pairs(("P", "one", 0), ("P", "one", 0))
    placed = side(TRAIN, TEST)
    assert summarise(audit_config("c", rows, placed, published=True))["known"] == 1
    assert summarise(audit_config("c", rows, placed, published=False))["error"] == 1


def test_duplicates_within_a_split_count_the_later_copies():
    rows = pairs(("P", "one", 0), ("P", "one", 0), ("P", "one", 0), ("P", "two", 0))
    findings = audit_config("c", rows, side(TRAIN, TRAIN, TRAIN, TRAIN), published=False)
    assert codes(findings) == {("duplicate_input", ("train",)): 2}
    (duplicate,) = audit_corpus(rows, published=False)
    assert (duplicate.code, duplicate.uids) == ("duplicate_row", ("toy:train:1", "toy:train:2"))


def test_a_conflict_names_every_row_of_the_input():
    rows = pairs(("P", "one", 0), ("P", "two", 1), ("P", "one", 2))
    (conflict,) = audit_corpus(rows, published=False)
    assert (conflict.code, conflict.uids) == ("target_conflict", ("toy:train:0", "toy:train:2"))


def test_empty_components_are_named_by_column():
    rows = pairs(("P", "", 0), (" \t", "one", 0), ("P", "two", 0))
    findings = audit_corpus(rows, published=False)
    assert {(f.code, f.message, f.uids) for f in findings} == {
        ("empty_component", "1 row(s) have nothing in 'hypothesis'", ("toy:train:0",)),
        ("empty_component", "1 row(s) have nothing in 'premise'", ("toy:train:1",)),
    }
    assert {f.severity for f in findings} == {"error"}


def test_unused_rows_leak_nowhere():
    rows = pairs(("P", "one", 0), ("P", "one", 0), ("P", "two", 0))
    assert audit_config("c", rows, side(TRAIN, UNUSED, TEST), published=False) == []


def test_ids_depend_on_every_row_found_so_that_a_finding_that_grows_is_new():
    rows = pairs(*[("P", f"h{n % 2}", 0) for n in range(60)])
    first = audit_config("c", rows, side(*[TRAIN] * 59, UNUSED), published=True)[0]
    second = audit_config("c", rows, side(*[TRAIN] * 60), published=True)[0]
    assert first.to_json()["uids"] == second.to_json()["uids"] == list(first.uids[:20])
    assert len(first.to_json(uids=None)["uids"]) == first.count == 57
    assert first.id != second.id


def test_accepted_findings_round_trip_and_a_bad_file_is_one_line(tmp_path):
    rows = pairs(("P", "one", 0), ("P", "one", 0))
    findings = audit_config("c", rows, side(TRAIN, TEST), published=False)
    path = tmp_path / "accepted.yaml"
    write_accepted_file(path, findings)
    assert [f.severity for f in accept(findings, read_accepted(path))] == ["known"]
    for text in ("accepted: 3", "- id: x", "accepted: [{reason: none}]", "{{"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(SourceError, match="--write-accepted"):
            read_accepted(path)


def test_the_folder_audit_finds_what_the_build_found(tmp_path):
    release = build("snli", source="sample", out=tmp_path / "snli", configs=["standard", "random", "length"])
    stored = release.manifest["audit"]["findings"]
    assert [finding.to_json() for finding in audit_release(ReleaseFolder(release.path))] == stored
    assert {f["code"] for f in stored} >= {"duplicate_row"}
    assert audit(release).stopping == []


@pytest.mark.corpora
def test_spider_has_eight_exact_duplicate_rows(data_folder, tmp_path):
    release = build("spider", source=data_folder / "spider", out=tmp_path / "spider", configs=["random"])
    found = {f["code"]: f["count"] for f in release.manifest["audit"]["findings"] if f["config"] is None}
    assert found["duplicate_row"] == 8
    # One question of a database stands twice with two different queries.
    assert found["target_conflict"] == 2
