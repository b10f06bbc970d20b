"""The audit finds what was put there, names it, and says whether it stops a release."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pyarrow as pa
import pytest

from benchwright.builders._audit_corpus import runs
from benchwright.builders.audit import (
    AuditRows,
    accept,
    audit,
    audit_config,
    audit_corpus,
    audit_part,
    audit_release,
    read_accepted,
    summarise,
    unscored_findings,
    write_accepted_file,
)
from benchwright.builders.build import build
from benchwright.cli import main
from benchwright.errors import ReleaseError, SourceError, UsageError
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
    rows = pairs(("P", "one", 0), ("P", "one", 0), ("Q", "two", 0), ("R", "three", 0))
    leak, _ = audit_config("random", rows, side(TRAIN, TEST, VALIDATION, TEST), published=False)
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
        ("shared_premise", ("train", "test")): 1,
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


def test_a_separator_with_nothing_on_one_side_is_an_empty_component():
    rows = pairs(
        ("A man runs. ; ", "one", 0), ("A man runs. ; It rains.", "two", 0), (" ; It rains.", "three", 0),
        ("wait;", "four", 0), ("It rains; and how", "; five", 0), (";", "six", 0),
    )  # fmt: skip
    findings = audit_corpus(rows, published=False)
    assert {(f.code, f.severity, f.message, f.uids) for f in findings} == {
        (
            "empty_component",
            "warning",
            "3 row(s) have nothing on one side of the separator ';' in 'premise'",
            ("toy:train:0", "toy:train:2", "toy:train:5"),
        ),
        (
            "empty_component",
            "warning",
            "1 row(s) have nothing on one side of the separator ';' in 'hypothesis'",
            ("toy:train:4",),
        ),
    }


def test_inputs_of_more_words_than_models_read_are_named():
    rows = pairs(("word " * 120, "a b c d e", 0), ("word\n" * 120, "a b c d e f", 0), ("x", "y", 0))
    (finding,) = audit_corpus(rows, published=False)
    assert (finding.code, finding.severity, finding.uids) == ("long_input", "info", ("toy:train:1",))


def test_a_premise_on_two_sides_is_told_and_no_fault():
    rows = pairs(("P", "one", 0), ("P", "two", 0), ("Q", "three", 0), ("Q", "four", 0))
    findings = audit_config("c", rows, side(TRAIN, TEST, VALIDATION, TEST), published=False)
    assert codes(findings) == {
        ("shared_premise", ("train", "test")): 1,
        ("shared_premise", ("validation", "test")): 1,
    }
    assert {f.severity for f in findings} == {"info"}


def test_conflicts_within_a_split_are_counted_in_rows_and_inputs():
    rows = pairs(("P", "one", 0), ("P", "one", 1), ("P", "one", 0), ("Q", "two", 0), ("Q", "two", 1))
    findings = audit_config("c", rows, side(TRAIN, TRAIN, TRAIN, TRAIN, TEST), published=False)
    (within,) = [f for f in findings if f.code == "target_conflict"]
    assert (within.splits, within.count) == (("train",), 3)
    assert within.message.endswith("row of train that has another target (1 input(s))")
    (anywhere,) = [f for f in audit_corpus(rows, published=False) if f.code == "target_conflict"]
    assert anywhere.message.endswith("(labels conflict; 2 input(s))")


def _in_order(labels: list[int]) -> AuditRows:
    return pairs(*[(f"premise {row}", f"hypothesis {row}", label) for row, label in enumerate(labels)])


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ([0] * 100 + [1] * 100, "2 runs"),
        ([0, 1] * 100, "200 runs"),
        (np.random.default_rng(0).permutation([0, 1] * 100).tolist(), None),
        ([0, 1], None),
        ([0] * 50, None),
        ([], None),
    ],
    ids=["sorted", "alternating", "shuffled", "short", "one", "none"],
)
def test_labels_that_come_in_runs_or_take_turns_are_told(labels, told):
    rows = _in_order(labels) if labels else pairs(("a", "b", 0)).take(np.arange(0))
    found = [f for f in audit_corpus(rows, published=True) if f.code == "label_order"]
    assert len(found) == (told is not None)
    for finding in found:
        assert (finding.severity, finding.count) == ("info", 200)
        assert told in finding.message
        assert "in random order about 101" in finding.message


def test_numbers_of_runs_have_the_mean_and_deviation_of_all_orders():
    labels = [0, 0, 1, 1, 1, 2]
    counted = [runs(np.array(order))[0] for order in set(itertools.permutations(labels))]
    _, mean, deviation = runs(np.array(labels))
    assert mean == pytest.approx(np.mean(counted))
    assert deviation == pytest.approx(np.std(counted))


def test_rows_that_no_config_places_are_not_audited():
    rows = pairs(("P", "one", 0), ("P", "one", 1), ("Q", "two", 1), ("R", "", 1))
    sides = {"a": side(UNUSED, TRAIN, UNUSED, UNUSED), "b": side(UNUSED, TEST, TRAIN, UNUSED)}
    assert audit_part(rows, sides, published=False) == []
    assert codes(audit_part(rows, {"c": side(TRAIN, TRAIN, TRAIN, TRAIN)}, published=False)) == {
        ("target_conflict", ()): 2,
        ("target_conflict", ("train",)): 2,
        ("duplicate_input", ("train",)): 1,
        ("empty_component", ()): 1,
    }


def test_findings_on_a_part_name_it_and_others_stay_as_they_were():
    rows = pairs(("P", "one", 0), ("P", "one", 0))
    (whole,), (part,) = (audit_corpus(rows, True, name) for name in (None, "lexical"))
    assert whole.id != part.id
    assert "part" not in whole.to_json()
    assert part.to_json() == whole.to_json() | {"part": "lexical", "id": part.id}


def test_a_build_says_that_it_did_not_look_among_too_many_rows(monkeypatch):
    rows = pairs(("Crockett died at the Alamo.", "x", 0), ("Davy Crockett died at the Alamo.", "x", 0))
    sides = {"c": side(TRAIN, TEST)}
    monkeypatch.setattr("benchwright.builders.audit.NEAR_DUPLICATE_ROWS", 1)
    assert codes(audit_part(rows, sides, published=False)) == {("near_duplicates_not_sought", ()): 2}
    assert codes(audit_part(rows, sides, published=False, near=True)) == {
        ("near_duplicate", ("train", "test")): 1
    }


def test_unused_rows_leak_nowhere():
    rows = pairs(("P", "one", 0), ("P", "one", 0), ("Q", "two", 0))
    assert audit_config("c", rows, side(TRAIN, UNUSED, TEST), published=False) == []


def test_rows_without_a_score_are_told_with_what_becomes_of_them():
    table = pa.table({"uid": ["a", "b"], "status": ["ok", "no_text"]})
    found = unscored_findings([("lm_prompt", "prompt", table), ("pvi", "pvi", table)])
    assert [(finding.uids, finding.message) for finding in found] == [
        (("b",), "1 row(s) have no score in lm_prompt: no_text; they are placed in train"),
        (("b",), "1 row(s) have no score in pvi: no_text; they are used by no config that reads it"),
    ]


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
    assert [f.severity for f in accept(findings, read_accepted(path))] == ["known", "known"]
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


REASONS = {"conflict", "duplicate", "leak"}


def _columns(table: pa.Table, *names: str) -> list[tuple]:
    return list(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def test_repair_adds_cleaned_configs_and_keeps_every_other_file(tmp_path, capsys):
    release = build("snli", source="sample", out=tmp_path / "snli", configs=["standard", "length"])
    marked = {f["config"] for f in release.manifest["audit"]["findings"] if f["code"] == "duplicate_input"}
    assert "standard" in marked
    found = audit(release.path, repair=True, source="sample", out=tmp_path / "clean")
    assert found.cleaned == tuple(f"{name}_clean" for name in release.placed_configs if name in marked)
    assert set(found.repaired.placed_configs) == {*release.placed_configs, *found.cleaned}
    for name, entry in release.placed_configs.items():
        assert found.repaired.placed_configs[name] == entry
    repairable = ("leak_exact", "duplicate_input", "target_conflict")
    left = [f for f in audit(found.repaired.path).findings if f.code in repairable]
    assert not {f.config for f in left} & set(found.cleaned)
    for name in found.cleaned:
        before = release.assignment(name.removesuffix("_clean"))
        after = found.repaired.assignment(name)
        assert after.column("uid") == before.column("uid")
        gone = {uid for uid, split in _columns(after, "uid", "split") if split == "unused"}
        was = dict(_columns(before, "uid", "split"))
        assert all(split == was[uid] for uid, split in _columns(after, "uid", "split") if uid not in gone)
        notes = found.repaired.placed_configs[name]["notes"]
        counted = sum(note["count"] for note in notes if note["code"] in REASONS)
        assert counted == len(gone) > 0
    arguments = ["audit", str(found.repaired.path), "--repair", "--source", "sample"]
    assert main([*arguments, "--out", str(tmp_path / "again")]) == 0
    assert "nothing to repair" in capsys.readouterr().out
    assert not (tmp_path / "again").exists()


def test_repair_on_the_command_line_names_what_it_made(tmp_path, capsys):
    release = build("snli", source="sample", out=tmp_path / "snli", configs=["standard"])
    arguments = ["audit", str(release.path), "--repair", "--source", "sample", "--out", str(tmp_path / "out")]
    assert main([*arguments, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["repaired"], made["cleaned"]) == (str(tmp_path / "out"), ["standard_clean"])
    assert main([*arguments, "--overwrite"]) == 0
    assert capsys.readouterr().out.endswith(f"made {tmp_path / 'out'} with standard_clean\n")


def test_options_of_repair_go_together(tmp_path):
    release = build("snli", source="sample", out=tmp_path / "snli", configs=["standard"])
    with pytest.raises(UsageError, match="--out"):
        audit(release, repair=True, source="sample")
    with pytest.raises(UsageError, match="belong to --repair"):
        audit(release, source="sample", out=tmp_path / "out")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(ReleaseError, match="taken"):
        audit(release, repair=True, source="sample", out=tmp_path / "taken")


@pytest.mark.corpora
def test_spider_has_eight_exact_duplicate_rows(data_folder, tmp_path):
    release = build("spider", source=data_folder / "spider", out=tmp_path / "spider", configs=["random"])
    found = {f["code"]: f["count"] for f in release.manifest["audit"]["findings"] if f["config"] is None}
    assert found["duplicate_row"] == 8
    # One question of a database stands twice with two different queries.
    assert found["target_conflict"] == 2
