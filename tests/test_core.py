"""What everything stands on: registries, errors, the policy for bad rows, progress."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from benchwright import registry as registry_module
from benchwright.errors import (
    BenchwrightError,
    PrerequisiteError,
    SourceError,
    SourceErrors,
    UsageError,
    show,
)
from benchwright.faults import FaultLog
from benchwright.progress import no_progress
from benchwright.progress import show as show_progress
from benchwright.registry import Registry, closest


def test_a_registry_imports_what_is_declared_at_first_use_only():
    registry = Registry("thing")
    registry.declare("path", "pathlib:Path")
    registry.declare("broken", "no_such_module:thing")
    assert list(registry) == ["broken", "path"]
    assert registry.get("path").__name__ == "Path"
    with pytest.raises(ModuleNotFoundError):
        registry.get("broken")


def test_a_registry_refuses_duplicates_and_says_did_you_mean():
    registry = Registry("splitter")
    registry.register("likelihood")(object())
    with pytest.raises(ValueError, match="registered already"):
        registry.declare("likelihood", "pathlib:Path")
    with pytest.raises(UsageError, match="no splitter named 'liklihood'; did you mean likelihood"):
        registry.get("liklihood")
    with pytest.raises(UsageError, match="known: likelihood"):
        registry.get("xyz")


def test_of_many_listed_names_ten_are_shown():
    many = [f"name_{number}" for number in range(12)]
    shown = ", ".join(many[:10])
    assert closest("xyz", many, listed=True) == f"known: {shown} and 2 more; see `benchwright list`"
    assert closest("xyz", many[:10], listed=True) == f"known: {shown}"
    assert closest("xyz", many) == f"known: {', '.join(many)}"
    assert closest("name_11x", many, listed=True).startswith("did you mean name_11")


def test_packages_add_objects_through_entry_points(monkeypatch):
    point = EntryPoint("mine", "pathlib:PurePath", "benchwright.builders")
    monkeypatch.setattr(
        registry_module, "entry_points", lambda group: [point] if group == "benchwright.builders" else []
    )
    registry = Registry("builder")
    registry.declare("spider", "pathlib:Path")
    assert list(registry) == ["mine", "spider"]
    assert registry.get("mine").__name__ == "PurePath"
    clashing = Registry("builder")
    clashing.declare("mine", "pathlib:Path")
    with pytest.raises(UsageError, match="takes the name of another builder, 'mine'"):
        list(clashing)


def test_errors_are_one_line_with_place_value_and_fix():
    error = SourceError(
        "no label", path="train.jsonl", row=3, line=4, field="label", value="x" * 200, fix="give a label"
    )
    text = str(error)
    assert text.startswith("train.jsonl, row 3, line 4, field 'label': no label, got 'xxx")
    assert text.endswith("...; give a label")
    assert len(show("x" * 200)) == 80
    assert str(BenchwrightError("two\nlines")) == "two lines"
    assert error.exit_code == 2


@pytest.mark.parametrize("begin", ["hf_", "hf_oauth_", "hf_jwt_"])
def test_no_message_carries_a_token(begin):
    token = begin + "a1B2" * 8
    assert token not in str(BenchwrightError(f"refused with {token}"))
    assert token not in repr(BenchwrightError(f"refused with {token}"))
    assert token not in str(SourceError("bad", value=token))
    assert token not in str(PrerequisiteError(f"needs {token}", "hf auth login"))
    assert "hf_***" in show({"Authorization": f"Bearer {token}"})


def test_bad_rows_stop_at_the_twentieth_or_at_the_end():
    log = FaultLog("fail")
    for row in range(19):
        log.bad(SourceError("no label", path="a.jsonl", row=row))
    with pytest.raises(SourceErrors) as stopped:
        log.bad(SourceError("no label", path="a.jsonl", row=19))
    assert len(stopped.value.faults) == 20
    assert "at least 20 bad row(s)" in str(stopped.value)
    few = FaultLog("fail")
    few.bad(SourceError("no label", row=0))
    with pytest.raises(SourceErrors, match="1 bad row"):
        few.finish()


def test_dropped_rows_are_counted_by_reason_and_filters_are_no_faults():
    log = FaultLog("drop")
    for row in range(30):
        log.bad(SourceError("no label" if row % 3 else "no text", row=row))
    log.filter("gold label -", 5)
    log.finish()
    assert log.dropped == {"no label": 20, "no text": 10}
    assert log.filtered == {"gold label -": 5}


def test_progress_is_plain_lines_with_rate_and_estimate_where_there_is_no_terminal(capsys, monkeypatch):
    clock = iter([0.0, 20.0, 21.0, 40.0])
    monkeypatch.setattr("benchwright.progress.time.monotonic", lambda: next(clock))
    with show_progress("scoring", 100, "tokens") as report:
        report(50)
        report(1)
        report(49)
    assert capsys.readouterr().err.splitlines() == [
        "scoring: 50/100 tokens, 2.5/s, 20 s left",
        "scoring: 100/100 tokens, 2.5/s, 0 s left",
    ]
    with no_progress("scoring", 100, "tokens") as report:
        report(100)
    assert capsys.readouterr().err == ""
