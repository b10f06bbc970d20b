"""What differs between two releases, and the version that each difference needs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import release_helpers as helpers
from datasets import ClassLabel, Features, Value
from diff_helpers import EASY, LL, Made, uid
from tampering import change_card, change_manifest

from benchwright.builders.diff import ReleaseDiff, diff
from benchwright.builders.versions import Version

BASE = Made()


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return BASE.write(tmp_path_factory.mktemp("base") / "made").path


@pytest.fixture
def copy(base: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(base, tmp_path / "made"))


@pytest.fixture
def against(base: Path, tmp_path: Path):
    """The base release against one that differs from it in the given fields."""

    def compare(**changes: Any) -> ReleaseDiff:
        return diff(base, BASE.but(**changes).write(tmp_path / "made"))

    return compare


def told(found: ReleaseDiff, bump: str) -> tuple[str, ...]:
    assert found.bump == bump
    return found.reasons


def features(**changes: Any) -> Features:
    """Those of the base release; None takes a column away, others stand before the score columns."""
    kept = {name: kind for name, kind in helpers.FEATURES.items() if changes.get(name, kind) is not None}
    return Features({**kept, **{name: kind for name, kind in changes.items() if kind is not None}})


# Nothing


def test_equal_releases_do_not_differ(base: Path, copy: Path) -> None:
    found = diff(base, copy)
    assert not found
    assert (found.bump, found.reasons, found.changelog_lines()) == ("none", (), ())
    assert str(found) == "no difference"
    assert found.to_json()["equal"] is True


def test_a_release_written_again_does_not_differ(base: Path, tmp_path: Path) -> None:
    assert not diff(base, BASE.write(tmp_path / "made"))


def test_the_place_in_its_history_is_no_difference(against) -> None:
    entry = {"version": "1.0.0", "bump": "first", "changes": [], "message": None}
    assert not against(publication={"repo": "acme/made", "version": "1.0.0", "changelog": [entry]})


def test_the_hash_of_a_published_version_is_no_difference(against) -> None:
    assert not against(publication={"repo": "acme/made", "version": "1.0.0", "configs_hash": "sha256:00"})


# MAJOR


def test_a_changed_row_is_major_and_named_with_its_column_and_values(against) -> None:
    texts = helpers.source_table(10).column("hypothesis").to_pylist()
    found = against(columns={"hypothesis": [*texts[:8], "Other.", texts[9]]})
    assert told(found, "major") == ("ll_split and easy: 1 row changed (hypothesis)",)
    rows = found.configs[0].rows
    assert rows.changed["test"].uids == uid(8)
    (column,) = rows.columns
    assert (column.column, column.rows, column.split, column.uid) == ("hypothesis", 1, "test", *uid(8))
    assert (column.old, column.new) == (repr(texts[8]), "'Other.'")
    place = found.first_difference
    assert place is not None
    assert (place.config, place.split, place.uid) == (LL, "test", *uid(8))


def test_a_row_that_moved_is_major(against) -> None:
    found = against(sides={LL: "ttttttveve", EASY: BASE.sides[EASY]})
    assert told(found, "major") == (
        "ll_split: 2 rows moved (1 from validation to test and 1 from test to validation)",
    )
    moves = {(move.origin, move.target): move.rows.uids for move in found.configs[0].rows.moved}
    assert moves == {("validation", "test"): uid(7), ("test", "validation"): uid(8)}


def test_a_row_that_went_is_major_even_from_train(against) -> None:
    found = against(sides={LL: "ttttt-vvee", EASY: BASE.sides[EASY]})
    assert told(found, "major") == ("ll_split: 1 row of train removed",)
    assert found.configs[0].rows.removed["train"].uids == uid(5)


@pytest.mark.parametrize(("letter", "split"), [("v", "validation"), ("e", "test")])
def test_a_row_more_to_evaluate_on_is_major(base: Path, tmp_path: Path, letter: str, split: str) -> None:
    first = BASE.but(sides={LL: "ttttt-vvee", EASY: BASE.sides[EASY]}).write(tmp_path / "made")
    second = BASE.but(sides={LL: f"ttttt{letter}vvee", EASY: BASE.sides[EASY]}).write(tmp_path / "b" / "made")
    assert told(diff(first, second), "major") == (f"ll_split: 1 row of {split} added",)


def test_label_names_in_another_order_are_major_and_the_same_labels(against) -> None:
    names = ["neutral", "entailment", "contradiction"]
    numbers = [[1, 0, 2][n % 3] for n in range(10)]
    found = against(features=features(label=ClassLabel(names=names)), columns={"label": numbers})
    assert len(told(found, "major")) == 1
    assert "column label has the labels ['neutral', 'entailment', 'contradiction'] instead of" in str(found)
    assert not found.configs[0].rows, "every row has the label that it had"


def test_labels_renamed_under_the_same_numbers_change_rows(against) -> None:
    names = ["yes", "neutral", "contradiction"]
    found = against(features=features(label=ClassLabel(names=names)))
    assert found.configs[0].rows.columns[0].rows == 4, "rows 0, 3, 6 and 9"
    assert (found.configs[0].rows.columns[0].old, found.configs[0].rows.columns[0].new) == (
        "'entailment'",
        "'yes'",
    )


def test_a_column_of_another_type_is_major(against) -> None:
    found = against(features=features(length=Value("int64")))
    (reason,) = told(found, "major")
    assert reason == "ll_split and easy: column length has the type Value('int64') instead of Value('int32')"
    assert not found.configs[0].rows


def test_a_column_that_went_is_major(against) -> None:
    found = against(features=features(entities=None))
    assert told(found, "major") == ("ll_split and easy: column entities went",)
    assert not found.configs[0].rows


def test_a_config_that_went_is_major(against) -> None:
    found = against(sides={LL: BASE.sides[LL]})
    assert told(found, "major") == ("config easy went",)
    assert found.removed == (EASY,)


def test_a_config_under_another_name_without_an_alias_is_major_and_recognised(against) -> None:
    found = against(sides={LL: BASE.sides[LL], "simple": BASE.sides[EASY]})
    assert told(found, "major") == (
        "config easy went; simple has its rows, and an alias would keep the name",
    )


def test_another_default_config_is_major(against) -> None:
    assert told(against(default=EASY), "major") == ("the default config is easy instead of ll_split",)


def test_scores_beyond_the_tolerance_are_major(against) -> None:
    scores = [-float(n) for n in range(10)]
    scores[3] -= 0.25
    scores[4] += 1.5
    found = against(scores=scores)
    assert found.bump == "major"
    (table,) = (config for config in found.configs if config.name == "scores/lm_prompt")
    (change,) = table.scores
    assert (change.column, change.rows, change.beyond, change.only_one) == ("log_likelihood", 2, 2, 0)
    assert change.largest == 1.5
    assert change.uid == uid(4)[0]
    assert change.changed_ranks == 2, "rows 3 and 4 changed places"


def test_a_score_that_one_release_lacks_is_beyond_any_tolerance(against) -> None:
    found = against(scores=[*(-float(n) for n in range(9)), None])
    (config,) = (config for config in found.configs if config.name == LL)
    assert (config.scores[0].beyond, config.scores[0].only_one) == (1, 1)
    assert config.scores[0].uid == uid(9)[0]


def test_rows_in_another_order_are_major(against) -> None:
    """What is at index 0 of a split is another row then."""
    order = [0, 2, 1, 3, 4, 5, 6, 7, 8, 9]
    found = against(columns={"source_index": order})
    assert "ll_split and scores/lm_prompt: 2 rows in another order" in told(found, "major")
    assert found.configs[0].rows.reordered["train"].uids == uid(1, 2)


# MINOR


def test_a_new_config_is_minor(against) -> None:
    found = against(sides={**BASE.sides, "hard": "tttttttttv"})
    assert told(found, "minor") == ("config hard is new",)


def test_a_new_column_is_minor(against) -> None:
    found = against(features=features(topic=Value("string")), columns={"topic": ["dogs"] * 10})
    assert told(found, "minor") == ("ll_split and easy: column topic is new",)
    assert not any(config.rows for config in found.configs)


def test_a_new_column_does_not_hide_changed_rows(against) -> None:
    texts = helpers.source_table(10).column("premise").to_pylist()
    found = against(
        features=features(topic=Value("string")),
        columns={"topic": ["dogs"] * 10, "premise": ["Other.", *texts[1:]]},
    )
    assert told(found, "major") == ("ll_split and easy: 1 row of train changed (premise)",)


def test_more_train_rows_are_minor(base: Path, tmp_path: Path) -> None:
    first = BASE.but(sides={LL: "tttt--vvee", EASY: BASE.sides[EASY]}).write(tmp_path / "made")
    assert told(diff(first, base), "minor") == ("ll_split: 2 rows of train added",)


def test_a_renamed_config_is_minor_while_its_name_loads(against) -> None:
    found = against(
        sides={LL: BASE.sides[LL], "simple": BASE.sides[EASY]}, publication={"aliases": {EASY: "simple"}}
    )
    assert told(found, "minor") == ("config easy is called simple; the former name still loads",)
    assert dict(found.renamed) == {EASY: "simple"}
    assert (found.added, found.removed) == ((), ())


def test_rows_of_a_renamed_config_are_compared(against) -> None:
    found = against(
        sides={LL: BASE.sides[LL], "simple": "ttttvtteve"}, publication={"aliases": {EASY: "simple"}}
    )
    assert found.bump == "major"
    assert found.configs[0].former == EASY
    assert found.configs[0].rows.moved[0].rows.uids == uid(1)


def test_a_former_name_that_no_longer_loads_is_major(base: Path, tmp_path: Path) -> None:
    first = BASE.but(publication={"aliases": {"old": EASY}}).write(tmp_path / "made")
    found = diff(first, base)
    assert told(found, "major") == ("names that load no config now, or another one: old",)
    assert told(diff(base, first), "minor") == ("new names: old",)


def test_configs_of_others_are_names_that_load(base: Path, tmp_path: Path) -> None:
    foreign = {"configs": [{"config_name": "theirs", "data_files": "theirs.csv"}]}
    first = BASE.but(publication={"foreign": foreign}).write(tmp_path / "made")
    assert diff(first, base).lost == ("theirs",)
    assert diff(base, first).bump == "minor"


def test_a_new_score_table_is_minor_and_a_lost_one_major(base: Path, tmp_path: Path) -> None:
    second = BASE.but(score_tables=("lm_prompt", "lm_kfold")).write(tmp_path / "made")
    assert told(diff(base, second), "minor") == ("config scores/lm_kfold is new",)
    assert told(diff(second, base), "major") == ("config scores/lm_kfold went",)


@pytest.mark.parametrize("named", [False, True], ids=["without uids", "with uids"])
def test_rows_of_side_tables(tmp_path: Path, named: bool) -> None:
    def table(names: list[str], tables: list[list[str]]) -> dict[str, Any]:
        columns: dict[str, Any] = {"db_id": names, "table_names": tables}
        if named:
            columns = {"uid": [f"made:schema:{name}" for name in names], **columns}
        return {"schemas": columns}

    two = BASE.but(tables=table(["shop", "zoo"], [["goods"], ["cages"]])).write(tmp_path / "a" / "made")
    three = BASE.but(tables=table(["shop", "zoo", "bank"], [["goods"], ["cages"], []])).write(
        tmp_path / "b" / "made"
    )
    other = BASE.but(tables=table(["shop", "zoo"], [["goods"], ["animals"]])).write(tmp_path / "c" / "made")
    assert told(diff(two, three), "minor") == ("schemas: 1 row added",)
    assert told(diff(three, two), "major") == ("schemas: 1 row removed",)
    found = diff(two, other)
    if named:
        assert told(found, "major") == ("schemas: 1 row changed (table_names)",)
    else:
        assert told(found, "major") == ("schemas: 1 row removed",)
        assert found.configs[0].rows.added["train"].uids == ("zoo",)


# PATCH


def test_the_text_of_the_card_alone_is_a_patch(base: Path, copy: Path) -> None:
    change_card(copy, lambda text: text.replace("Many.", "Few."))
    assert told(diff(base, copy), "patch") == ("text of the card changed (Uses)",)


def test_the_cards_header_alone_is_a_patch(base: Path, copy: Path) -> None:
    change_card(copy, lambda text: text.replace("license: mit", "license: apache-2.0"))
    assert told(diff(base, copy), "patch") == ("text of the card changed (YAML header)",)


def test_hand_written_sections_are_told_from_the_text(base: Path, copy: Path) -> None:
    section = "<!-- user:begin notes -->\nMind the gap.\n<!-- user:end notes -->\n"
    change_card(copy, lambda text: text.replace("Many.\n", f"Many.\n{section}"))
    found = diff(base, copy)
    assert told(found, "patch") == ("hand-written sections of the card: notes added",)
    assert not found.card.sections


def test_a_card_that_is_missing_is_a_difference(base: Path, copy: Path) -> None:
    (copy / "README.md").unlink()
    assert diff(base, copy).bump == "patch"


def test_metadata_alone_is_a_patch(base: Path, copy: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["dataset"]["licence"] = "mit"
        manifest["versions"]["pyarrow"] = "1.0"
        manifest["configs"][LL]["summary"] = "Other words."

    change_manifest(copy, change)
    assert told(diff(base, copy), "patch") == (
        "ll_split: description changed (summary)",
        "licence is 'mit' instead of 'cc-by-4.0'",
        "metadata changed (versions.pyarrow)",
    )


def test_audit_findings_that_are_new_or_gone(base: Path, tmp_path: Path) -> None:
    def audit(*ids: str) -> dict[str, Any]:
        findings = [
            {
                "id": name,
                "code": "leak_exact",
                "severity": "known",
                "config": LL,
                "count": 1,
                "message": "1 row",
            }
            for name in ids
        ]
        return {"audit": {"accepted": [], "findings": findings, "counts": {"known": len(ids)}}}

    first = BASE.but(manifest=audit("a", "b")).write(tmp_path / "a" / "made")
    second = BASE.but(manifest=audit("b", "c", "d")).write(tmp_path / "b" / "made")
    found = diff(first, second)
    assert told(found, "patch") == ("audit: 2 new findings, 1 gone",)
    assert [(finding.kind, finding.id) for finding in found.findings] == [
        ("new", "c"), ("new", "d"), ("gone", "a"),
    ]  # fmt: skip


def test_scores_within_the_tolerance_are_a_patch(against) -> None:
    found = against(scores=[-float(n) - (n == 5) * 0.0005 for n in range(10)])
    assert found.bump == "patch"
    assert found.reasons[0] == (
        "ll_split and scores/lm_prompt: 1 row with another log_likelihood, by at most 0.0005 nats, "
        "0 beyond 0.001, 0 ranks changed"
    )
    assert {config.name for config in found.configs} == {LL, "scores/lm_prompt"}


def test_positions_alone_are_a_patch(against) -> None:
    """Rows stand in source order in the files; the written order of the paper is in the assignment."""
    found = against(positions={EASY: [1, 0, 0, 2, 0, 3, 4, 1, 1, 2]})
    assert told(found, "patch") == ("easy: 2 rows at another position of the written order",)
    assert found.configs[0].rows.positions.uids == uid(0, 2)


def test_figures_and_analyses_are_a_patch(base: Path, copy: Path) -> None:
    (copy / "analyses").mkdir()
    (copy / "analyses" / "properties.json").write_text("{}")
    assert told(diff(base, copy), "patch") == ("files of analyses: 1 added",)


def test_files_that_belong_to_no_release_are_not_looked_at(base: Path, copy: Path) -> None:
    (copy / ".gitattributes").write_text("*.parquet filter=lfs\n")
    assert not diff(base, copy)


def test_yanks_and_withdrawals_are_told_with_their_reasons(against) -> None:
    found = against(
        sides={LL: "ttt-ttvvee", EASY: "tet-vtteve"},
        publication={
            "withdrawn": [{"reason": "a wrong label", "uids": list(uid(3))}],
            "yanked": {"1.0.0": "leaks"},
        },
    )
    assert told(found, "major") == ("ll_split and easy: 1 row of train withdrawn",)
    lines = found.changelog_lines()
    assert "1 row listed as withdrawn: a wrong label" in lines
    assert "version 1.0.0 was yanked: 'leaks'" in lines


def test_the_version_that_a_withdrawal_is_published_in_is_no_difference(tmp_path: Path) -> None:
    entry = {"reason": "a wrong label", "uids": list(uid(3))}
    first = BASE.but(publication={"withdrawn": [entry]}).write(tmp_path / "a" / "made")
    second = BASE.but(publication={"withdrawn": [{**entry, "version": "2.0.0"}]}).write(
        tmp_path / "b" / "made"
    )
    assert not diff(first, second)


# Other sources


def test_across_sources_rows_are_matched_by_their_content(tmp_path: Path) -> None:
    """Rows 8 and 9 have one content. The second source lacks row 0 and calls the rows otherwise."""
    contents = [f"{n:032x}" for n in range(9)] + [f"{8:032x}"]
    source = {**helpers.manifest({}, 10)["source"], "fingerprint": "sha256:11"}
    texts = helpers.source_table(10).to_pydict()
    first = Made(sides={EASY: "tettvtteve"}, default=EASY, columns={"content_id": contents})
    kept = ("premise", "hypothesis", "label", "annotator_labels", "entities", "length")
    second = first.but(
        sides={EASY: "ettvtteve"},
        columns={
            **{name: texts[name][1:] for name in kept},
            "content_id": contents[1:],
            "premise": [*texts["premise"][1:9], "Other."],
        },
        manifest={"source": source},
    )
    found = diff(first.write(tmp_path / "a" / "made"), second.write(tmp_path / "b" / "made"))
    assert found.by_content
    (config,) = (config for config in found.configs if config.name == EASY)
    assert config.rows.matched_by == "content_id"
    assert {split: sample.uids for split, sample in config.rows.removed.items()} == {"train": uid(0)}
    assert not config.rows.added
    assert not config.rows.moved
    assert {split: sample.uids for split, sample in config.rows.changed.items()} == {"test": uid(9)}
    assert config.rows.renumbered.rows == 9
    assert "rows are matched by content_id" in str(found)


# All together


def test_the_verdict_comes_first_with_the_version_that_is_needed(tmp_path: Path, base: Path) -> None:
    published = {"repo": "acme/made", "version": "1.4.2"}
    first = BASE.but(publication=published).write(tmp_path / "a" / "made")
    second = BASE.but(publication=published, sides={LL: "ttttttveve", "hard": "tttttttttv"}).write(
        tmp_path / "b" / "made"
    )
    found = diff(first, second)
    assert found.required == Version(2, 0, 0)
    assert str(found).splitlines()[0] == (
        "1 config changed, 1 config new, 1 config gone: needs 2.0.0 because config easy went; ll_split: "
        "2 rows moved (1 from validation to test and 1 from test to validation)"
    )
    assert (
        str(found).splitlines()[1]
        == "first difference: config ll_split, split validation, uid 'made:train:7'"
    )
    json.dumps(found.to_json(), allow_nan=False)
