"""Text-to-SQL of the user's own: columns that are added, splits by template and TMCD, unreadable programs."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasets import load_dataset

from benchwright.builders.base import BuildOptions, Origin, SourceData
from benchwright.builders.custom import PROGRAM_RULES, RULES, CustomBuilder, custom_builder
from benchwright.errors import SourceError, UsageError
from benchwright.faults import FaultLog
from benchwright.splitting import TEST, TRAIN, UNUSED, VALIDATION, Assignment, Scores, splitters
from benchwright.tables import conform

TABLES = {"prompt": ["lm_prompt"], "kfold": ["lm_kfold"]}
COLUMNS = ("name", "age", "city", "price", "title", "rank")
RELATIONS = ("shop", "film", "river", "player")
SHAPES = (
    "SELECT {c} FROM {t}",
    "SELECT {c} FROM {t} WHERE {d} = 'x{n}'",
    "SELECT count(*) FROM {t} WHERE {c} > {n}",
    "SELECT {c}, max({d}) FROM {t} GROUP BY {c}",
    "SELECT {c} FROM {t} ORDER BY {d} LIMIT {n}",
)
NOT_SQL = ("how many shops are there", "SELECT FROM WHERE (")


def _rows(count: int = 120, unreadable: int = 0) -> list[dict[str, Any]]:
    """Distinct questions; queries of some dozens of templates; the last ones no SQL."""
    rows = []
    for n in range(count):
        column, relation = COLUMNS[n % 6], RELATIONS[n // 6 % 4]
        shape = SHAPES[n % 5]
        query = shape.format(c=column, d=COLUMNS[(n + 1) % 6], t=relation, n=n + 1)
        rows.append({"question": f"Question {n} about a {relation}?", "sql": query, "db": relation})
    for n in range(unreadable):
        rows[-1 - n]["sql"] = NOT_SQL[n % len(NOT_SQL)]
    return rows


def _read(
    path: Path, rows: list[dict[str, Any]], policy: Any = "fail", **choices: Any
) -> tuple[CustomBuilder, SourceData]:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    choices = {"text": "question", "context": "db", "program": "sql", "by": list(RULES), **choices}
    builder = custom_builder("shops", **choices)
    return builder, builder.read(path, FaultLog(policy), Origin("folder"))


def _split(builder: CustomBuilder, data: SourceData, config: str, **options: Any) -> Assignment:
    specs = builder.configs(BuildOptions(**options), TABLES, data.table.num_rows)
    spec = next(spec for spec in specs if spec.name == config)
    scores = Scores(
        -np.arange(data.table.num_rows, dtype=np.float32) % 37,
        np.full(data.table.num_rows, 9, dtype=np.int32),
    )
    splitter = splitters.get(spec.splitter)(**spec.parameters)
    return splitter.split(builder.split_rows(data), scores if spec.scores else None)


def test_columns_that_programs_add(tmp_path: Path) -> None:
    builder, data = _read(tmp_path / "a.jsonl", _rows(20, unreadable=1))
    assert list(builder.features)[2:8] == [
        *("question", "sql", "db"),
        *("template", "program_parsed", "num_novel_compounds"),
    ]
    table = conform(data.table, builder.features.arrow_schema)
    assert table.column("program_parsed").to_pylist() == [True] * 19 + [False]
    templates = table.column("template").to_pylist()
    assert templates[19] is None
    assert len(set(templates[:19])) == 19
    assert table.column("num_novel_compounds").null_count == 20
    assert data.programs is not None
    assert (data.programs.structure.name, data.programs.rule.name) == ("sqlglot", "canonical")
    assert builder.task.to_json() == {
        "name": "text-to-program",
        "inputs": ("db", "question"),
        "target": "sql",
        "metrics": ("string_match",),
        "labels": None,
    }


def test_uids_come_from_input_and_program(tmp_path: Path) -> None:
    rows = [*_rows(8), {**_rows(1)[0], "sql": "SELECT 1"}, _rows(1)[0]]
    _, data = _read(tmp_path / "a.jsonl", rows)
    uids = data.table.column("uid").to_pylist()
    assert len(set(uids)) == 10
    assert uids[9] == f"{uids[0]}#2"
    assert data.table.column("content_id").to_pylist()[8] == data.table.column("content_id").to_pylist()[0]


def test_unreadable_programs_are_noted_and_placed_by_rule(tmp_path: Path) -> None:
    builder, data = _read(tmp_path / "a.jsonl", _rows(120, unreadable=2), validation=12, test=12)
    uids = data.table.column("uid").to_pylist()
    assert [note for note in data.notes if "programs" in note] == [
        "2 of 120 programs have no parse by 'sqlglot' (splits by tmcd leave them out), no atoms by 'sqlglot' "
        "(splits under the atom constraint train on them) and no template by 'canonical' (splits by template "
        f"train on them): {uids[118]}, {uids[119]}."
    ]
    for config in ("template", "ll_split_pt", "ll_split_pt_len"):
        assignment = _split(builder, data, config)
        assert assignment.side[118:].tolist() == [TRAIN, TRAIN]
        assert assignment.placed_by[118:].tolist() == ["unparsed", "unparsed"]
    free = _split(builder, data, "ll_split_pt", constraint="none")
    assert "unparsed" not in free.placed_by
    tmcd = _split(builder, data, "tmcd")
    assert tmcd.side[118:].tolist() == [UNUSED, UNUSED]
    sizes = tmcd.sizes()
    assert (sizes.train, sizes.validation, sizes.test) == (94, 12, 12)


@pytest.mark.parametrize(
    ("by", "constraint", "said"),
    [
        (["random", "length"], None, []),
        (["random", "tmcd"], None, ["parse"]),
        (["tmcd"], "atoms", ["parse"]),
        (["template"], None, ["template"]),
        (["template"], "atoms", ["atoms", "template"]),
        (["random"], "atoms", ["atoms"]),
        (["likelihood_len"], None, ["atoms"]),
        (["likelihood"], "none", []),
    ],
)
def test_notes_are_about_the_configs_that_are_made(
    tmp_path: Path, by: list[str], constraint: str | None, said: list[str]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in _rows(20, unreadable=1)))
    builder = custom_builder("shops", text="question", context="db", program="sql", by=by)
    options = BuildOptions(constraint=constraint)
    notes = builder.read(path, FaultLog("fail"), Origin("folder"), options).notes
    found = [note for note in notes if "programs" in note]
    assert len(found) == bool(said)
    assert [what for what in ("parse", "atoms", "template") if f"no {what} by" in "".join(found)] == said


def test_what_different_rows_lack_is_noted_apart(tmp_path: Path) -> None:
    rows = _rows(20)
    rows[7]["sql"] = "SELECT name FROM shop JOIN city ON shop.id = city.id OR shop.id = city.rank"
    rows[9]["sql"] = NOT_SQL[0]
    _, data = _read(tmp_path / "a.jsonl", rows, structure="spider", by=["tmcd", "template"])
    uids = data.table.column("uid").to_pylist()
    assert [note for note in data.notes if "program" in note] == [
        f"2 of 20 programs have no parse by 'spider' (splits by tmcd leave them out): {uids[7]}, {uids[9]}.",
        f"1 of 20 programs has no template by 'canonical' (splits by template train on it): {uids[9]}.",
    ]


def test_every_rule_keeps_its_promise(tmp_path: Path) -> None:
    builder, data = _read(tmp_path / "a.jsonl", _rows(), validation=12, test=12)
    assert data.programs is not None
    atoms, templates = data.programs.atoms(), data.programs.templates
    for config in ("ll_split_pt", "ll_split_pt_len", "tmcd"):
        assignment = _split(builder, data, config)
        train, rest = (assignment.side == TRAIN), (assignment.side > TRAIN)
        known = frozenset().union(*(atoms[row] for row in np.flatnonzero(train)))
        assert frozenset().union(*(atoms[row] for row in np.flatnonzero(rest))) <= known
        assert (assignment.sizes().validation, assignment.sizes().test) == (12, 12)
    side = _split(builder, data, "template").side
    sides = [{templates[row] for row in np.flatnonzero(side == each)} for each in (TRAIN, VALIDATION, TEST)]
    assert all(sides)
    assert not sides[0] & sides[1] | sides[0] & sides[2] | sides[1] & sides[2]


@pytest.mark.parametrize("config", ["template", "tmcd", "ll_split_pt_reverse"])
def test_the_order_of_the_file_decides_nothing(tmp_path: Path, config: str) -> None:
    rows = _rows(120, unreadable=2)
    placed = []
    for order in (rows, rows[::-1], random.Random(1).sample(rows, len(rows))):
        builder, data = _read(tmp_path / "a.jsonl", order)
        spec = next(spec for spec in builder.configs(BuildOptions(), TABLES, 120) if spec.name == config)
        lengths = [-float(len(text)) for text in data.table.column("question").to_pylist()]
        scores = Scores(np.array(lengths, dtype=np.float32), np.full(120, 9, dtype=np.int32))
        splitter = splitters.get(spec.splitter)(**spec.parameters)
        side = splitter.split(builder.split_rows(data), scores).side
        placed.append(dict(zip(data.table.column("uid").to_pylist(), side.tolist(), strict=True)))
    assert placed[0] == placed[1] == placed[2]


def test_novel_compounds_are_counted_per_config(tmp_path: Path) -> None:
    builder, data = _read(tmp_path / "a.jsonl", _rows(), validation=12, test=12)
    novel = {}
    for config in ("random", "tmcd"):
        side = _split(builder, data, config).side
        table = builder.placed_columns(data, side)
        assert table is not None
        counts = table.column("num_novel_compounds").to_pylist()
        assert [count is None for count in counts] == (side == TRAIN).tolist()
        novel[config] = sum(count for count in counts if count is not None)
    assert novel["tmcd"] > novel["random"]


def test_choices_make_the_builder_again(tmp_path: Path) -> None:
    for chosen in (
        {},
        {"structure": "spider", "template_rule": "masked"},
        {"structure": "funql"},
        {"group": "db", "validation": 0.2},
    ):
        builder = custom_builder("shops", text="question", program="sql", by=["tmcd", "template"], **chosen)
        choices = json.loads(json.dumps(builder.choices()))
        again = custom_builder("shops", **choices)
        assert again.choices() == builder.choices()
        assert again.resolved(BuildOptions()) == builder.resolved(BuildOptions())
    assert builder.resolved(BuildOptions(structure="spider")).structure == "spider"
    assert custom_builder("plain", text="question").choices()["structure"] is None


def test_definitions_are_resolved(tmp_path: Path) -> None:
    def resolved(**choices: str) -> tuple[str | None, str | None]:
        builder = custom_builder("shops", text="question", program="sql", **choices)
        options = builder.resolved(BuildOptions(method="published"))
        return options.structure, options.template_rule

    assert resolved() == ("sqlglot", "canonical")
    assert resolved(structure="spider") == ("spider", "canonical")
    assert resolved(structure="funql") == ("funql", "funql")
    assert resolved(template_rule="masked") == ("sqlglot", "masked")


def test_the_papers_structure_has_atoms_for_every_program(tmp_path: Path) -> None:
    """What has no parse by the grammar is left out by TMCD alone: atoms are tokens."""
    rows = _rows(60)
    rows[7]["sql"] = "SELECT name FROM shop JOIN city ON shop.id = city.id OR shop.id = city.rank"
    builder, data = _read(tmp_path / "a.jsonl", rows, structure="spider", by=["tmcd", "template"])
    assert [note for note in data.notes if "programs" in note] == [
        "1 of 60 programs has no parse by 'spider' (splits by tmcd leave it out): "
        f"{data.table.column('uid')[7]}."
    ]
    assert _split(builder, data, "tmcd").side[7] == UNUSED
    assert _split(builder, data, "template").placed_by[7] == "template"
    assert _split(builder, data, "ll_split_pt").placed_by[7] != "unparsed"


def test_funql(tmp_path: Path) -> None:
    heads = ("city", "state", "river", "place", "lake")
    rows = [
        {
            "question": f"Question {n}?",
            "sql": f"answer ( {heads[n % 5]} ( loc_{n % 3} ( m{n % 2} ) ) )",
            "db": "x",
        }
        for n in range(60)
    ]
    builder, data = _read(tmp_path / "a.jsonl", rows, structure="funql", by=["tmcd", "template"])
    assert data.programs is not None
    assert data.programs.rule.name == "funql"
    assert all(data.programs.parsed)
    for config in ("tmcd", "template"):
        assert set(_split(builder, data, config).side) == {TRAIN, VALIDATION, TEST}
    assert data.table.column("template").to_pylist() == [row["sql"] for row in rows]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (
            {"program": None, "by": ["tmcd"]},
            "a split by tmcd needs programs; name their column with --program",
        ),
        ({"program": None, "by": ["template"]}, "a split by template needs programs"),
        ({"program": None, "structure": "spider"}, "--structure 'spider' is for programs"),
        ({"program": None, "template_rule": "masked"}, "--template-rule 'masked' is for programs"),
        ({"structure": "sqlgot"}, "no structure named 'sqlgot'; did you mean sqlglot"),
        ({"structure": "spider", "template_rule": "funql"}, "the template rule 'funql' is for funql"),
        ({"label": "kind"}, r"one target, not a label \('kind'\) and a program \('sql'\)"),
        ({"program": "question"}, "column 'question' is input and program at once"),
        ({"program": "db"}, "column 'db' is input and program at once"),
        ({"by": ["templates"]}, "cannot be divided by 'templates'; did you mean template"),
    ],
)
def test_choices_that_exclude_one_another(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        custom_builder(
            "shops", **{"text": "question", "context": "db", "program": "sql", "by": ["random"], **choices}
        )


def test_columns_that_a_release_of_programs_adds_by_itself_are_refused(tmp_path: Path) -> None:
    rows = [{**row, "template": "x", "num_novel_compounds": 1} for row in _rows(10)]
    with pytest.raises(UsageError, match="adds by itself: 'template', 'num_novel_compounds'; rename them"):
        _read(tmp_path / "a.jsonl", rows)
    # Without programs nothing is added, and the names are free.
    rules = [rule for rule in RULES if rule not in PROGRAM_RULES]
    _, data = _read(tmp_path / "a.jsonl", rows, program=None, by=rules)
    assert data.table.column("template").to_pylist() == ["x"] * 10


def test_rows_without_a_program_are_faults(tmp_path: Path) -> None:
    rows = _rows(10)
    rows[3]["sql"] = " "
    rows[5]["sql"] = None
    with pytest.raises(SourceError, match="row 3, line 4, field 'sql': no program"):
        _read(tmp_path / "a.jsonl", rows)
    _, data = _read(tmp_path / "a.jsonl", rows, "drop")
    assert data.dropped == {"no program": 2}
    numbers = [{**row, "sql": number} for number, row in enumerate(_rows(10))]
    with pytest.raises(SourceError, match="field 'sql': the column holds int64; give a column of text"):
        _read(tmp_path / "b.jsonl", numbers)
    with pytest.raises(UsageError, match="--program 'query' is no column"):
        _read(tmp_path / "c.jsonl", _rows(10), program="query")


def test_copies_stay_together_in_program_splits(tmp_path: Path) -> None:
    rows = _rows(120)
    copies = [dict(row) for row in rows[::6]]
    builder, data = _read(tmp_path / "a.jsonl", rows + copies, validation=14, test=14)
    for config in ("template", "tmcd"):
        side = _split(builder, data, config).side
        assert side[120:].tolist() == side[:120:6].tolist()


def test_a_file_becomes_a_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchwright.builders.build import split
    from benchwright.builders.rebuild import rebuild

    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    source = tmp_path / "shops.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in _rows(90, unreadable=2)))
    release = split(
        source,
        text="question",
        context="db",
        program="sql",
        by=["tmcd", "template", "random"],
        out=tmp_path / "out",
    )
    data = load_dataset(str(tmp_path / "out"), "tmcd", cache_dir=str(tmp_path / "cache"))
    assert {name: rows.num_rows for name, rows in data.items()} == {"train": 70, "validation": 9, "test": 9}
    assert all(row["num_novel_compounds"] is not None for row in data["test"])
    assert release.manifest["choices"]["structure"] == "sqlglot"
    assert release.manifest["choices"]["template_rule"] == "canonical"
    assert [name for name, entry in release.configs.items() if entry["default"]] == ["tmcd"]
    assert rebuild(release, source=source) == []
