"""The command line: it says what Python says, and user mistakes are one line with exit code 2."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import time
import warnings
from enum import Enum
from pathlib import Path

import pytest

from benchwright.builders import (
    audit,
    build,
    demo,
    diff,
    errata,
    explaining,
    hydrate,
    knowref,
    rebuild,
    rescore,
    verify,
)
from benchwright.builders.exports import export
from benchwright.builders.hub import living, outdated, publish
from benchwright.cli import exports, main, maintenance, mining, publishing, releases, results
from benchwright.errors import BenchwrightWarning
from benchwright.eval import analyses

PAIRS = [
    (releases.build, build.build),
    (releases.split, build.split),
    (releases.rebuild, rebuild.rebuild),
    (releases.rescore, rescore.rescore),
    (releases.verify, verify.verify),
    (releases.diff, diff.diff),
    (releases.audit, audit.audit),
    (results.evaluate, living.evaluate),
    (results.analyse, living.analyse),
    (results.overlap, living.overlap),
    (results.card, living.card),
    (results.explain, explaining.explain),
    (results.export_errors, analyses.export_errors),
    (results.store_typed_errors, analyses.store_typed_errors),
    (releases.demo, demo.demo),
    (publishing.publish, publish.publish),
    (maintenance.download, living.download),
    (maintenance.withdraw, errata.withdraw),
    (maintenance.rename, errata.rename),
    (maintenance.yank, errata.yank),
    (maintenance.strip, hydrate.strip),
    (maintenance.hydrate, hydrate.hydrate),
    (maintenance.outdated, outdated.outdated),
    (exports.export, export),
    (mining.mine_knowref, knowref.mine_knowref),
    (mining.export_tasks, knowref.export_tasks),
    (mining.import_labels, knowref.import_labels),
]


_ERROR = audit.Finding("0" * 12, "leak_exact", "error", "random", ("train", "test"), 1, "1 row", ("a",))


def _defaults(function, *, leave_out):
    plain = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in leave_out:
            continue
        value = parameter.default
        if isinstance(value, Enum):
            value = value.value
        elif isinstance(value, list):
            value = tuple(value)
        elif isinstance(value, Path):
            value = str(value)
        plain[name] = "required" if value is inspect.Parameter.empty else value
    return plain


@pytest.mark.parametrize(("command", "function"), PAIRS, ids=lambda f: getattr(f, "__name__", ""))
def test_command_has_the_parameters_and_defaults_of_its_function(command, function):
    assert _defaults(command, leave_out={"as_json"}) == _defaults(function, leave_out={"progress"})


def test_help_answers_in_well_under_a_second_and_imports_no_model_library():
    script = (
        "import sys\nfrom benchwright.cli import main\ncode = main(['--help'])\n"
        "heavy = {'torch', 'transformers', 'matplotlib', 'datasets', 'sklearn'} & set(sys.modules)\n"
        "assert not heavy, heavy\nsys.exit(code)"
    )
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "build" in done.stdout
    # Loose on purpose: the assertion above is what keeps the help fast.
    assert time.monotonic() - start < 10


def test_commands_that_come_to_no_tokens_do_not_wait_for_nltk():
    """NLTK imports SciPy and scikit-learn: longer than everything else that most commands import."""
    script = (
        "import sys\nimport benchwright.builders.build, benchwright.builders.hub.publish, benchwright.eval\n"
        "print({'nltk', 'scipy', 'sklearn', 'matplotlib', 'torch'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_module_and_version():
    done = subprocess.run(
        [sys.executable, "-m", "benchwright", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "0.1.0\n"


def _mistake(capsys, *arguments):
    assert main([str(argument) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.strip().splitlines()
    assert len(lines) == 1, captured.err
    assert lines[0].startswith("error: ")
    return lines[0]


def test_user_mistakes_are_one_line(capsys, tmp_path):
    out = tmp_path / "out"
    spider = ("build", "spider", "--out", out)
    assert "did you mean spider?" in _mistake(capsys, "build", "spidr", "--source", "sample", "--out", out)
    assert "did you mean ll_split" in _mistake(capsys, *spider, "--source", "sample", "--configs", "ll_splt")
    assert "no such file" in _mistake(capsys, *spider, "--source", tmp_path / "nowhere")
    assert "FIELD=VALUE" in _mistake(capsys, *spider, "--source", "sample", "--recipe", "steps")
    assert "has no manifest.json" in _mistake(capsys, "verify", tmp_path)
    assert "No such option" in _mistake(capsys, "verify", tmp_path, "--nope")
    assert "given twice" in _mistake(capsys, *spider, "--source", "sample", "--k", 3, "--k", 3)
    assert not out.exists()


def test_a_list_has_each_task_once_and_what_is_made_of_all_in_one_line(capsys):
    from benchwright.builders.curriculum import PHENOMENA

    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    first = [line.split()[0] for line in lines if line.startswith("  ")]
    assert all(first.count(name) == 1 for name in PHENOMENA)
    assert first.count("TASK_clean") == first.count("TASK_pvi_hard_test_reverse") == 3
    assert not [name for name in first if name.endswith("_clean") and name != "TASK_clean"]
    assert f"TASK stands for each of the {len(PHENOMENA)} tasks that are listed under curriculum" in lines
    assert main(["list", "--json"]) == 0
    assert "lexical_hard" in json.loads(capsys.readouterr().out)["builders"]["curriculum"]


def test_unknown_recipe_field_names_the_known_ones(capsys, tmp_path):
    line = _mistake(
        capsys, "build", "spider", "--source", "sample", "--out", tmp_path / "out",
        "--configs", "ll_split", "--recipe", "epochs=3",
    )  # fmt: skip
    assert "max_steps" in line


def test_build_verify_audit_rebuild_as_a_user_types_them(capsys, tmp_path):
    out = tmp_path / "spider-splits"
    assert (
        main(["build", "spider", "--source", "sample", "--out", str(out), "--configs", "random,length"]) == 0
    )
    assert "203 rows from 203 records" in capsys.readouterr().out
    assert main(["verify", str(out)]) == 0
    assert main(["rebuild", str(out), "--source", "sample"]) == 0
    assert "same rows" in capsys.readouterr().out
    accepted = tmp_path / "accepted.yaml"
    assert main(["audit", str(out), "--write-accepted", str(accepted)]) == 0
    assert main(["audit", str(out), "--accepted", str(accepted)]) == 0
    accepted.write_text("accepted: []\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["audit", str(out), "--accepted", str(accepted), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["stops"] is True


def test_an_existing_release_needs_overwrite(capsys, tmp_path):
    out = tmp_path / "boolq-splits"
    command = ["build", "boolq", "--source", "sample", "--out", str(out), "--configs", "random"]
    assert main(command) == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    capsys.readouterr()
    assert "--overwrite" in _mistake(capsys, *command)
    assert main([*command, "--overwrite"]) == 0
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_a_disk_that_refuses_is_a_users_mistake(capsys, tmp_path):
    out = tmp_path / "out"
    assert main(["build", "boolq", "--source", "sample", "--out", str(out), "--configs", "random"]) == 0
    capsys.readouterr()
    line = _mistake(capsys, "audit", out, "--write-accepted", "/proc/none/accepted.yaml")
    assert "/proc/none" in line


def test_audit_errors_give_exit_code_1(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(audit, "audit_config", lambda *_a, **_k: [_ERROR])
    command = ["build", "boolq", "--source", "sample", "--out", str(tmp_path / "out"), "--configs", "random"]
    assert main(command) == 1
    assert "audit: 1 error" in capsys.readouterr().out


def test_an_internal_error_exits_with_3_and_shows_no_token(capsys, monkeypatch, tmp_path):
    def broken(*_arguments, **_options):
        raise RuntimeError("hf_abcdefghijklmnop")

    monkeypatch.setattr(verify, "verify", broken)
    assert main(["verify", str(tmp_path)]) == 3
    error = capsys.readouterr().err
    assert "internal error: RuntimeError" in error
    assert "hf_abc" not in error


def test_warnings_are_one_line(capsys, monkeypatch, tmp_path):
    def warn(*_arguments, **_options):
        warnings.warn("scores come from another machine", BenchwrightWarning, stacklevel=2)
        return []

    monkeypatch.setattr(verify, "verify", warn)
    assert main(["verify", str(tmp_path)]) == 0
    assert capsys.readouterr().err == "warning: scores come from another machine\n"


def test_an_interrupt_exits_with_130(capsys, monkeypatch, tmp_path):
    def interrupted(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(verify, "verify", interrupted)
    assert main(["verify", str(tmp_path)]) == 130
    assert "goes on where it stopped" in capsys.readouterr().err
