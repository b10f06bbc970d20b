"""The builders of Curriculum: what they read, the configs they make, releases of the sample, real tasks."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from datasets import ClassLabel, load_dataset

from benchwright.builders.assemble import dataset_facts
from benchwright.builders.base import Builder, BuildOptions, ConfigSpec, Origin, SourceData, builders
from benchwright.builders.build import build
from benchwright.builders.curriculum import PHENOMENA
from benchwright.builders.curriculum.recast import recasts
from benchwright.builders.rebuild import rebuild
from benchwright.builders.scoring import TableMaker, names_by_scorer
from benchwright.builders.verify import verify
from benchwright.cards.harness.questions import questions
from benchwright.errors import SourceError, UsageError
from benchwright.eval import evaluate
from benchwright.faults import FaultLog
from benchwright.hashing import columns_hash
from benchwright.release import ReleaseFolder

SAMPLE = builders.get("curriculum").sample_folder()
BUILT = ("sentiment", "coreference", "quantifier", "defeasible_clean")


def read(root: Path, origin: str = "folder", builder: str = "curriculum") -> SourceData:
    return builders.get(builder)().read(root, FaultLog(), Origin(origin))  # type: ignore[arg-type]


def facts_of(builder: Builder, data: SourceData) -> tuple[str, str]:
    """Licence and redistribution of a release of all that was read."""
    specs = [ConfigSpec(part, "published", {}, "", part=part) for part in data.parts]
    facts = dataset_facts(builder, data, specs)
    return facts["licence"], facts["redistribute"]


def copy(root: Path, *names: str) -> Path:
    for name in names:
        shutil.copytree(SAMPLE / name, root / name)
    return root


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> ReleaseFolder:
    return build("curriculum", source="sample", out=tmp_path_factory.mktemp("built") / "tasks", configs=BUILT)


def test_the_sample_is_verified_and_rebuilt(release: ReleaseFolder) -> None:
    assert set(release.placed_configs) == set(BUILT)
    assert verify(release.path, source="sample") == []
    assert rebuild(release.path, source="sample") == []


@pytest.mark.parametrize(
    ("config", "labels", "sizes"),
    [
        ("sentiment", ["entailed", "not-entailed"], {"train": 37, "validation": 13}),
        ("coreference", ["entailed", "not-entailed"], {"train": 40, "validation": 16}),
        ("quantifier", ["entailment", "neutral", "contradiction"], {"train": 40, "validation": 12}),
        # Two rows that contradict each other are gone.
        ("defeasible_clean", ["entailed", "not-entailed"], {"train": 36, "validation": 14}),
    ],
)
def test_configs_load_with_the_labels_of_their_phenomenon(
    release: ReleaseFolder, config: str, labels: list[str], sizes: dict[str, int]
) -> None:
    loaded = load_dataset(str(release.path), config)
    assert {split: rows.num_rows for split, rows in loaded.items()} == sizes
    features = loaded["train"].features
    assert features["label"] == ClassLabel(names=labels)
    assert list(features)[:10] == [
        "uid",
        "content_id",
        "premise",
        "hypothesis",
        "label",
        "phenomenon",
        "category",
        "source_dataset",
        "source_id",
        "group_id",
    ]
    assert list(features)[10:] == [
        "recast_rule",
        "answer",
        "substituted",
        "entropy_null",
        "entropy_input",
        "pvi",
        "pvi_fold",
        "difficulty",
        "source_split",
        "source_index",
    ]


def test_known_faults_of_the_sample_are_found_and_publishable(release: ReleaseFolder) -> None:
    findings = release.manifest["audit"]["findings"]
    assert {finding["severity"] for finding in findings} <= {"known", "info"}
    found = {(finding["code"], finding["config"]) for finding in findings}
    assert ("leak_exact", "sentiment") in found
    assert not any(config == "defeasible_clean" for _, config in found)


def test_baselines_judge_both_kinds_of_labels(release: ReleaseFolder) -> None:
    results = evaluate(release, configs=["sentiment", "quantifier"], baselines=["majority"])
    assert [list(result.metrics) for result in results] == [["accuracy", "matthews_correlation"]] * 2
    assert all(result.metrics["matthews_correlation"]["value"] == 0 for result in results)
    (partial,) = evaluate(release, configs=["sentiment"], baselines=["linear_partial_input"])
    assert partial.settings["columns"] == ["hypothesis"]


def test_models_are_asked_with_the_answers_of_the_task(release: ReleaseFolder) -> None:
    asked = {question.config: question for question in questions(release, "curriculum")}
    assert asked["sentiment"].labels == ("entailed", "not-entailed")
    assert asked["sentiment"].answers == (" True", " False")
    assert asked["sentiment"].chat.endswith("Does the premise entail the hypothesis?")
    assert asked["quantifier"].answers == (" True", " Neither", " False")
    assert asked["quantifier"].split == "validation"


def test_a_source_with_more_phenomena_changes_no_row(release: ReleaseFolder, tmp_path: Path) -> None:
    alone = build("curriculum", source=copy(tmp_path / "in", "sentiment"), out=tmp_path / "out")
    assert list(alone.placed_configs) == ["sentiment"]
    for split in ("train", "validation"):
        assert alone.rows_hash("sentiment", split) == release.rows_hash("sentiment", split)


def test_published_files_come_before_recasts(tmp_path: Path) -> None:
    root = copy(tmp_path, "piqa", "sentiment")
    shutil.copytree(SAMPLE / "sentiment", root / "physicalqa")
    data = read(root)
    assert "physicalqa: the published files are read, not piqa" in data.notes
    assert {name: len(rows) for name, rows in data.parts.items()} == {"sentiment": 50, "physicalqa": 50}
    shutil.rmtree(root / "physicalqa")
    rows = read(root).part("physicalqa").table.to_pylist()
    assert [row["uid"] for row in rows[:3]] == [
        "curriculum_physicalqa:train:piqa:0#0",
        "curriculum_physicalqa:train:piqa:0#1",
        "curriculum_physicalqa:train:piqa:1#0",
    ]
    assert {row["source_dataset"] for row in rows} == {"piqa"}
    assert [row["source_index"] for row in rows] == list(range(len(rows)))
    assert rows[0]["group_id"] == rows[1]["group_id"] != rows[2]["group_id"]


def test_pairs_of_one_item_stand_on_one_side() -> None:
    data = read(SAMPLE)
    for name in data.parts:
        part = data.part(name)
        rows = builders.get("curriculum")().split_rows(part)
        if rows.groups is None:
            continue
        groups: dict[int, set[str]] = {}
        for group, split in zip(
            rows.groups.tolist(), part.table.column("source_split").to_pylist(), strict=True
        ):
            groups.setdefault(group, set()).add(split)
        assert all(len(splits) == 1 for splits in groups.values())
        # A paraphrase is an item of its own.
        assert len(groups) < len(rows) or name == "syntactic_variation"


def test_corpora_of_one_phenomenon_do_not_contradict_each_other(tmp_path: Path) -> None:
    """Each corpus alone is free of conflicts; what one says against another is left out of both."""
    header = "\tfilename\tdeterminer\tmonotonicity\tgold_label\treplace_target\treplace_source\treplace_mode"
    (tmp_path / "help").mkdir()
    (tmp_path / "help" / "pmb_train_v1.0.tsv").write_text(
        f"{header}\tori_sentence\tnew_sentence\n"
        "1\tp1/d1\tsome\tup\tentailment\t\t\t\tSome dogs ran.\tSome animals ran.\n"
        "2\tp1/d1\tno\tdown\tneutral\t\t\t\tNo dog ran.\tNo animal ran.\n",
        encoding="utf-8",
    )
    (tmp_path / "med").mkdir()
    (tmp_path / "med" / "MED.tsv").write_text(
        "index\tgenre\tsentence1\tsentence2\tgold_label\n"
        "1\tcrowd\tSome dogs ran.\tSome animals ran.\tneutral\n"
        "2\tcrowd\tNo dog ran.\tNo animal ran.\tneutral\n",
        encoding="utf-8",
    )
    faults = FaultLog()
    data = builders.get("curriculum")().read(tmp_path, faults, Origin("folder"))
    assert data.table.column("uid").to_pylist() == [
        "curriculum_monotonicity_infer:train:help:p1/d1:2#0",
        "curriculum_monotonicity_infer:test:med:2#0",
    ]
    assert data.table.column("source_index").to_pylist() == [0, 1]
    assert faults.filtered == {"equal inputs with different labels": 2}
    assert data.read == 4


@pytest.mark.parametrize(
    ("names", "licence", "redistribute"),
    [
        (["winogrande"], "cc", "text"),
        (["winogrande", "spatial"], "mixed", "text"),
        (["winogrande", "sentiment"], "unknown", "ids_only"),
    ],
)
def test_licence_and_citations_are_those_of_the_corpora_at_hand(
    tmp_path: Path, names: list[str], licence: str, redistribute: str
) -> None:
    root = copy(tmp_path, *(name for name in names if name != "spatial"))
    if "spatial" in names:
        shutil.copytree(SAMPLE / "sentiment", root / "spatial")
    builder = builders.get("curriculum")()
    data = builder.read(root, FaultLog(), Origin("folder"))
    assert facts_of(builder, data) == (licence, redistribute)
    citations = [corpus.citation for corpus in builder.constituents_of(data.parts).values()]
    assert builder.info.citation.count("@") == 1
    assert [citation.count("@") for citation in citations] == [1] * len(names)
    assert "licence of coreference: cc (WinoGrande)" in data.notes
    assert builders.get("curriculum").info.licence == "unknown"


def test_a_release_of_some_phenomena_has_the_licence_of_their_corpora(tmp_path: Path) -> None:
    root = copy(tmp_path / "in", "winogrande", "sentiment")
    release = build("curriculum", source=root, out=tmp_path / "one", configs=["coreference"])
    found = release.dataset
    assert (found["licence"], found["redistribute"]) == ("cc", "text")
    assert found["source_datasets"] == ["allenai/winogrande"]
    card = (release.path / "README.md").read_text()
    assert len(re.findall(r"^@\w+\{", card, re.MULTILINE)) == 2
    assert "Sakaguchi" in card
    assert "Poliak" not in card
    options = {"source": root, "configs": ["sentiment"], "into": release.path}
    both = build("curriculum", out=tmp_path / "two", **options)  # type: ignore[arg-type]
    assert (both.dataset["licence"], both.dataset["redistribute"]) == ("unknown", "ids_only")
    card = (both.path / "README.md").read_text()
    assert len(re.findall(r"^@\w+\{", card, re.MULTILINE)) == 3


def test_the_sample_comes_from_no_corpus(release: ReleaseFolder) -> None:
    found = release.dataset
    assert (found["licence"], found["redistribute"], found["source_datasets"]) == ("apache-2.0", "text", [])


def test_each_builder_makes_its_own_kind_and_every_config_by_name() -> None:
    made = {}
    for name in ("curriculum", "curriculum_clean", "curriculum_difficulty"):
        builder = builders.get(name)()
        tables = names_by_scorer(TableMaker().plan(builder))
        made[name] = builder.configs(BuildOptions(), tables)
    everything = [[spec.name for spec in specs] for specs in made.values()]
    assert everything[0] == everything[1] == everything[2]
    assert len(everything[0]) == len(set(everything[0])) == 36 * 6
    by_default = {name: [spec.name for spec in specs if not spec.extra] for name, specs in made.items()}
    assert by_default["curriculum"] == list(PHENOMENA)
    assert by_default["curriculum_clean"] == [f"{name}_clean" for name in PHENOMENA]
    cells = ("simple", "hard", "pvi_hard_test", "pvi_hard_test_reverse")
    assert by_default["curriculum_difficulty"] == [f"{name}_{cell}" for name in PHENOMENA for cell in cells]
    builder = builders.get("curriculum")()
    without = builder.configs(BuildOptions(), {})
    assert len(without) == 36 * 2


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Installs a package whose recast of a corpus `hens` is for the phenomenon of the given name."""

    def install(phenomenon: str) -> None:
        site = tmp_path / "site"
        about = site / "hens-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: hens\nVersion: 1.0\n")
        entry = f"{phenomenon}/hens = hens_recast:HENS"
        (about / "entry_points.txt").write_text(f"[benchwright.recasts]\n{entry}\n")
        (site / "hens_recast.py").write_text(
            "from dataclasses import replace\n"
            "from benchwright.builders.curriculum.recast.piqa import PIQA\n"
            f"HENS = replace(PIQA, phenomenon={phenomenon!r}, corpus='hens', differs='')\n"
        )
        monkeypatch.syspath_prepend(str(site))
        monkeypatch.delitem(sys.modules, "hens_recast", raising=False)
        # What packages add is looked up once a process: a registry of the test's own looks again.
        monkeypatch.setattr(recasts, "_plugins", None)
        monkeypatch.setattr(recasts, "_objects", dict(recasts._objects))

    shutil.copytree(SAMPLE / "piqa", tmp_path / "source" / "hens")
    return install


def test_a_corpus_of_a_package_has_no_known_licence(tmp_path: Path, plugin: Callable[[str], None]) -> None:
    plugin("physicalqa")
    builder = builders.get("curriculum")()
    data = builder.read(tmp_path / "source", FaultLog(), Origin("folder"))
    assert set(data.parts) == {"physicalqa"}
    assert facts_of(builder, data) == ("unknown", "ids_only")
    assert [corpus.citation for corpus in builder.constituents_of(data.parts).values()] == [""]
    assert "licence of physicalqa: unknown (hens)" in data.notes


def test_a_recast_for_no_phenomenon_is_named(tmp_path: Path, plugin: Callable[[str], None]) -> None:
    plugin("phisicalqa")
    with pytest.raises(
        UsageError,
        match=r"is for no phenomenon of Curriculum, got 'phisicalqa'; did you mean physicalqa",
    ):
        read(tmp_path / "source")


def test_a_recast_with_a_label_of_its_own_is_named_with_its_row(
    tmp_path: Path, plugin: Callable[[str], None]
) -> None:
    """PIQA's labels are two; `sprl` has the same two, `control` has three others."""
    plugin("control")
    with pytest.raises(SourceError) as caught:
        read(tmp_path / "source")
    fault = caught.value
    assert fault.reason == "recast control/hens gives a label that its phenomenon does not have"
    assert (fault.row, fault.field) == (0, "label")
    assert "not-entailed" in str(fault) or "'entailed'" in str(fault)
    assert "labels of control are: entailment, neutral, contradiction" in str(fault)


def test_a_corpus_of_bad_rows_alone_is_not_dropped(tmp_path: Path) -> None:
    root = copy(tmp_path, "piqa", "sentiment")
    for name in ("train", "valid"):
        items = root / "piqa" / f"{name}.jsonl"
        rows = [json.loads(line) | {"goal": None} for line in items.read_text().splitlines()]
        items.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(SourceError, match=r"piqa: no usable row among \d+ rows \(wrong type: \d+\); repair"):
        builders.get("curriculum")().read(root, FaultLog("drop"), Origin("folder"))


def test_corpora_are_not_read_from_an_archive(tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "all"), "zip", copy(tmp_path / "corpora", "piqa", "mrpc"))
    with pytest.raises(SourceError, match=r"a folder, no archive, with CORPUS/ and the corpus' own files"):
        read(Path(archive))
    tasks = shutil.make_archive(str(tmp_path / "tasks"), "zip", copy(tmp_path / "published", "sentiment"))
    assert set(read(Path(tasks)).parts) == {"sentiment"}


def test_wrong_names_and_choices_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no config 'sentimnt'; did you mean sentiment"):
        build("curriculum", source="sample", out=tmp_path / "out", configs=["sentimnt"])
    with pytest.raises(SourceError, match="no rows of 'ner' for config 'ner'"):
        build("curriculum", source="sample", out=tmp_path / "out", configs=["ner"])
    with pytest.raises(UsageError, match=r"keeps the published split; leave out validation 0\.1"):
        build("curriculum", source="sample", out=tmp_path / "out", validation=0.1)
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="no task of Curriculum and no corpus to recast"):
        build("curriculum", source=tmp_path / "empty", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_other_label_words_of_one_train_file_are_mapped_and_noted(tmp_path: Path) -> None:
    folder = tmp_path / "monotonicity_infer"
    folder.mkdir()
    for name, words in (("train", ("neutral", "entailment")), ("val", ("entailed", "not-entailed"))):
        rows = [
            {"premise": "p", "hypothesis": f"h{n}", "gold_label": word, "idx": n}
            for n, word in enumerate(words)
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = read(tmp_path)
    assert data.table.column("label").to_pylist() == [1, 0, 0, 1]
    assert (
        "monotonicity_infer: in train, 'entailment' is 'entailed', 'neutral' is 'not-entailed'" in data.notes
    )
    (folder / "val.jsonl").write_text((folder / "train.jsonl").read_text())
    with pytest.raises(SourceError, match="unknown label, got 'neutral'"):
        read(tmp_path)


def test_rows_do_not_depend_on_hash_seeds() -> None:
    code = (
        "from benchwright.builders.base import Origin, builders\n"
        "from benchwright.faults import FaultLog\n"
        "from benchwright.hashing import columns_hash\n"
        "builder = builders.get('curriculum')()\n"
        "data = builder.read(builder.sample_folder(), FaultLog(), Origin('sample'))\n"
        "print(columns_hash(data.table), builder.info, data.notes, list(data.parts))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1
    assert columns_hash(read(SAMPLE, "sample").table) in outputs.pop()


@pytest.fixture(scope="module")
def real_tasks(data_folder: Path) -> SourceData:
    return read(data_folder / "curriculum")


@pytest.mark.corpora
def test_real_tasks_have_the_rows_and_labels_of_the_oracle(
    real_tasks: SourceData, oracle_folder: Path
) -> None:
    stats = json.loads((oracle_folder / "curriculum_stats" / "stats.json").read_text())
    assert len(real_tasks.parts) == 18
    assert real_tasks.read == real_tasks.table.num_rows == 222_056
    for name in real_tasks.parts:
        rows = real_tasks.part(name).table
        labels = PHENOMENA[name].task.labels or ()
        assert len(set(rows.column("uid").to_pylist())) == rows.num_rows
        for split in ("train", "val"):
            found = Counter(
                labels[label]
                for label, place in zip(
                    rows.column("label").to_pylist(), rows.column("source_split").to_pylist(), strict=True
                )
                if place == split
            )
            counts = stats[name][split]["labels"]
            if (name, split) == ("monotonicity_infer", "train"):
                counts = {"entailed": counts["entailment"], "not-entailed": counts["neutral"]}
            assert dict(found) == counts, (name, split)


@pytest.mark.corpora
def test_items_of_real_tasks(real_tasks: SourceData) -> None:
    groups = {
        name: len(set(real_tasks.part(name).table.column("group_id").drop_null().to_pylist()))
        for name in real_tasks.parts
    }
    # Every PIQA goal has two solutions and every Social IQa context three answers.
    assert groups["physicalqa"] == (10_000 + 1_838) // 2
    assert groups["socialqa"] == (6_003 + 5_772) // 3
    assert groups["lexical"] == groups["boolean"] == 0
