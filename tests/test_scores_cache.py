"""The score cache: interrupted, damaged, shared between processes and between machines."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scores_helpers import ByteModel, long_rows

from benchwright.errors import BenchwrightWarning, UsageError
from benchwright.splitting.scores import SPIDER_FINE_TUNED, ScoreTable, ScoringOptions, score_with_prompt

ROWS = long_rows()
CHUNKS = 4
WRITES = CHUNKS + 2
"""Files of an uninterrupted run: the plan, the chunks, the result."""


def score(
    cache: Path, model: Any = None, options: ScoringOptions | None = None, **arguments: Any
) -> ScoreTable:
    return score_with_prompt(
        arguments.pop("rows", ROWS),
        SPIDER_FINE_TUNED,
        ByteModel() if model is None else model,
        cache=cache,
        options=options or ScoringOptions(),
        **arguments,
    )


def saved_bytes(scores: ScoreTable, folder: Path) -> dict[str, bytes]:
    scores.save(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def work_folder(cache: Path) -> Path:
    (folder,) = (path for path in (cache / "scores").iterdir() if path.is_dir())
    return folder


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("undisturbed")
    model = ByteModel()
    scores = score(folder / "cache", model)
    assert model.scored == list(range(CHUNKS))
    return saved_bytes(scores, folder / "saved")


def test_a_finished_table_is_read_and_not_made_again(tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    score(tmp_path / "cache")
    model = ByteModel()
    assert saved_bytes(score(tmp_path / "cache", model), tmp_path / "saved") == undisturbed
    assert model.scored == []
    assert sorted(path.name for path in work_folder(tmp_path / "cache").iterdir()) == [
        "plan.json",
        "result.scores",
    ]


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("write", range(1, WRITES + 1))
def test_an_exception_at_every_write(
    tmp_path: Path, undisturbed: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, write: int, moment: str
) -> None:
    first = ByteModel()
    with monkeypatch.context() as patch:
        fail_at(patch, write, moment)
        with pytest.raises(OSError, match="disk is gone"):
            score(tmp_path / "cache", first)
    assert not list((tmp_path / "cache").rglob(".*part*"))
    second = ByteModel()
    assert saved_bytes(score(tmp_path / "cache", second), tmp_path / "saved") == undisturbed
    finished = max(0, min(write - 1 if moment == "after" else write - 2, CHUNKS))
    assert len(second.scored) == (0 if (write, moment) == (WRITES, "after") else CHUNKS - finished)


def fail_at(patch: pytest.MonkeyPatch, write: int, moment: str) -> None:
    """Raise at the given file: before it is moved to its place, or just after."""
    replace, count = Path.replace, iter(range(1, 10**6))

    def failing(self: Path, target: Path) -> Path:
        now = next(count)
        if now == write and moment == "before":
            raise OSError("disk is gone")
        result = replace(self, target)
        if now == write:
            raise OSError("disk is gone")
        return result

    patch.setattr(Path, "replace", failing)


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_scores_cache import score

replace, count = Path.replace, iter(range(1, 10**6))

def kill(self, target):
    if next(count) == {write}:
        os.truncate(self, self.stat().st_size // 2)
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(self, target)

Path.replace = kill
score(Path({cache!r}))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
@pytest.mark.parametrize("write", [1, 2, CHUNKS, WRITES])
def test_a_kill_in_the_middle_of_a_file(tmp_path: Path, undisturbed: dict[str, bytes], write: int) -> None:
    cache = tmp_path / "cache"
    code = KILLED.format(tests=str(Path(__file__).parent), cache=str(cache), write=write)
    killed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert list(cache.rglob(".*part*"))
    model = ByteModel()
    assert saved_bytes(score(cache, model), tmp_path / "saved") == undisturbed
    assert len(model.scored) == CHUNKS - max(0, write - 2)
    assert not list(cache.rglob(".*part*"))


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "swap"])
def test_a_damaged_chunk_is_made_again(tmp_path: Path, undisturbed: dict[str, bytes], damage: str) -> None:
    stop_after(tmp_path / "cache", chunks=3)
    chunk, other = (work_folder(tmp_path / "cache") / f"chunk-00000{i}.scores" for i in (1, 0))
    content = bytearray(chunk.read_bytes())
    if damage == "cut":
        chunk.write_bytes(content[:-1])
    elif damage == "flip":
        content[-3] ^= 4
        chunk.write_bytes(content)
    elif damage == "empty":
        chunk.write_bytes(b"")
    else:
        chunk.write_bytes(other.read_bytes())
    model = ByteModel()
    with pytest.warns(BenchwrightWarning, match=r"chunk-000001\.scores is damaged"):
        scores = score(tmp_path / "cache", model)
    assert model.scored == [1, 3]
    assert saved_bytes(scores, tmp_path / "saved") == undisturbed


def stop_after(cache: Path, chunks: int, model: ByteModel | None = None) -> None:
    """Leave behind what a run that was interrupted after so many chunks leaves."""
    with pytest.MonkeyPatch.context() as patch:
        fail_at(patch, chunks + 1, "after")
        with pytest.raises(OSError, match="disk is gone"):
            score(cache, model)


def test_a_damaged_result_and_an_unreadable_plan(tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    score(tmp_path / "cache")
    result = work_folder(tmp_path / "cache") / "result.scores"
    result.write_bytes(result.read_bytes()[:100])
    with pytest.warns(BenchwrightWarning, match=r"result\.scores is damaged"):
        assert saved_bytes(score(tmp_path / "cache"), tmp_path / "a") == undisturbed
    (work_folder(tmp_path / "cache") / "plan.json").write_text("{")
    with pytest.warns(BenchwrightWarning, match=r"plan\.json cannot be read; scoring starts again"):
        assert saved_bytes(score(tmp_path / "cache"), tmp_path / "b") == undisturbed


def test_unfinished_scores_of_another_environment_are_not_continued(
    tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    elsewhere = ByteModel()
    elsewhere.environment_facts = {"threads": 8, "versions": {"torch": "1.9"}}
    stop_after(tmp_path / "cache", 2, elsewhere)
    here = ByteModel()
    with pytest.warns(
        BenchwrightWarning, match=r"threads 8 then, 1 now, torch 1.9 then, 2.0 now.*starts again"
    ):
        scores = score(tmp_path / "cache", here)
    assert here.scored == list(range(CHUNKS))
    assert scores.provenance["environment"]["threads"] == 1
    assert saved_bytes(scores, tmp_path / "saved") == undisturbed


def test_finished_scores_of_another_environment_are_used_and_say_so(tmp_path: Path) -> None:
    elsewhere = ByteModel()
    elsewhere.environment_facts = {"threads": 8, "versions": {"torch": "2.0"}}
    theirs = score(tmp_path / "cache", elsewhere)
    here = ByteModel()
    with pytest.warns(
        BenchwrightWarning, match=r"another environment \(threads 8 then, 1 now\); they are used"
    ):
        ours = score(tmp_path / "cache", here)
    assert here.scored == []
    assert ours.table.equals(theirs.table)
    assert ours.provenance == theirs.provenance


def test_chunks_of_another_plan_are_not_used(tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    stop_after(tmp_path / "cache", 2)
    model = ByteModel()
    with pytest.warns(BenchwrightWarning, match="belongs to another plan"):
        scores = score(tmp_path / "cache", model, ScoringOptions(token_budget=4096))
    assert model.scored == list(range(CHUNKS))
    assert saved_bytes(scores, tmp_path / "saved") == undisturbed


def test_batch_size_and_row_order_change_no_bit_and_no_identity(
    tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    for budget in (1, 64, 10**6):
        scores = score(tmp_path / str(budget), options=ScoringOptions(token_budget=budget))
        assert saved_bytes(scores, tmp_path / f"{budget}-saved") == undisturbed
    order = np.random.default_rng(0).permutation(ROWS.num_rows)
    model = ByteModel()
    permuted = score(tmp_path / "64", model, rows=ROWS.take(order))
    assert model.scored == []
    assert permuted.table.equals(scores.table.take(order).combine_chunks())
    assert permuted.identity == scores.identity


@pytest.mark.parametrize(
    ("model", "options", "template_change"),
    [
        (ByteModel(weights_sha256="sha256:01"), ScoringOptions(), {}),
        (ByteModel(tokenizer_sha256="sha256:01"), ScoringOptions(), {}),
        (ByteModel(start_token={"id": 7}), ScoringOptions(), {}),
        (ByteModel(dtype="bfloat16"), ScoringOptions(), {}),
        (ByteModel(algorithm="causal-plan/2"), ScoringOptions(), {}),
        (ByteModel(), ScoringOptions(share_prefixes=False), {}),
        (ByteModel(), ScoringOptions(), {"score_end_token": True}),
        (ByteModel(), ScoringOptions(), {"lower_case": False}),
        (ByteModel(), ScoringOptions(), {"continuation": "x{question}"}),
    ],
)
def test_identity_follows_every_part_of_the_key(
    tmp_path: Path, model: ByteModel, options: ScoringOptions, template_change: dict[str, Any]
) -> None:
    from dataclasses import replace

    template = replace(SPIDER_FINE_TUNED, **template_change)
    changed = score_with_prompt(ROWS, template, model, cache=tmp_path, options=options)  # type: ignore[arg-type]
    assert changed.identity != score(tmp_path).identity


def test_identity_does_not_follow_what_is_only_recorded(tmp_path: Path) -> None:
    named = ByteModel(model="other name", revision="0" * 40)
    named.environment_facts = {"threads": 3}
    assert score(tmp_path / "a", named).identity == score(tmp_path / "b").identity
    other_text = ROWS.set_column(
        4, "question", ROWS.column("question").combine_chunks().take(list(range(40))[::-1])
    )
    assert score(tmp_path / "c", rows=other_text).identity == score(tmp_path / "b").identity
    fewer = ROWS.slice(0, 20)
    assert score(tmp_path / "d", rows=fewer).identity != score(tmp_path / "b").identity


TWO = """
import sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
from scores_helpers import ByteModel
from test_scores_cache import score

class Slow(ByteModel):
    def score(self, plan, chunks):
        for chunk in super().score(plan, chunks):
            time.sleep(0.3)
            yield chunk

model = Slow()
score(Path({cache!r}), model).save(Path({out!r} + sys.argv[1]))
print(len(model.scored))
"""


def test_two_processes_share_the_work_of_one(tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    code = TWO.format(
        tests=str(Path(__file__).parent), cache=str(tmp_path / "cache"), out=str(tmp_path / "out")
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", code, str(i)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for i in range(2)
    ]
    outputs = [run.communicate(timeout=120) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], outputs
    assert sorted(int(out) for out, _ in outputs) == [0, CHUNKS]
    for i in range(2):
        assert {path.name: path.read_bytes() for path in (tmp_path / f"out{i}").iterdir()} == undisturbed


def test_progress_counts_the_tokens_that_are_left(tmp_path: Path) -> None:
    stages: list[tuple[str, int, str]] = []
    done: list[int] = []

    @contextmanager
    def stage(label: str, total: int, unit: str) -> Iterator[Any]:
        stages.append((label, total, unit))
        yield done.append

    stop_after(tmp_path, 2)
    whole = score(tmp_path, progress=stage)
    (label, total, unit), *others = stages
    assert (label, unit, others) == ("scoring", "tokens", [])
    assert total == sum(done) < whole.entry()["scored_tokens"]
    assert len(done) == CHUNKS - 2


def test_scores_that_are_no_numbers_never_reach_the_cache(tmp_path: Path) -> None:
    class Broken(ByteModel):
        def score(self, plan: Any, chunks: Any) -> Any:
            for chunk in super().score(plan, chunks):
                chunk.log_likelihood[0] = np.nan
                yield chunk

    with pytest.raises(UsageError, match="no finite score; use dtype float32"):
        score(tmp_path, Broken())
    assert not list(tmp_path.rglob("*.scores"))


def test_the_plan_says_what_is_scored(tmp_path: Path) -> None:
    scores = score(tmp_path)
    plan = json.loads((work_folder(tmp_path) / "plan.json").read_text())
    assert plan["identity"] == scores.identity
    assert plan["key"] == scores.provenance["key"]
    assert work_folder(tmp_path).name == scores.identity.removeprefix("sha256:")
    assert str(tmp_path) not in json.dumps(scores.provenance)


def test_a_cache_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"scores cannot be cached in .*file \(Not a directory\)"):
        score(tmp_path / "file")
