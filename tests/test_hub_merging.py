"""Three-way merges of manifests: what one side changed stands, what both changed is refused."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.builders.constituents import collected
from benchwright.builders.hub.merging import merge, three_way_all, units
from benchwright.errors import PublishError
from benchwright.publication import ChangelogEntry, Publication, Withdrawal

NAMES = ("random", "length", "ll_split", "tmcd")


def config(rows, *, default=False, scores=None, kind="split"):
    """An entry of `configs` as far as merging looks at it; `rows` stands for all of its content."""
    entry = {"kind": kind, "summary": "made", "default": default, "features": {}, "splits": {"train": rows}}
    if kind == "split":
        entry |= {"scores": scores, "assignment": {"file": "assignments/a.parquet", "content_hash": rows}}
    return entry


def finding(config, code="leak_exact", splits=("train", "test"), uid="a"):
    return {
        "id": f"{code}-{config}-{uid}", "code": code, "severity": "known", "config": config,
        "splits": list(splits), "count": 1, "message": "1 row", "uids": [uid],
    }  # fmt: skip


def manifest(configs, *, default=None, scores=None, findings=(), publication=None, **facts):
    """A manifest; `configs` maps names to their content, `scores` tables to theirs."""
    default = default if default is not None else next(iter(configs), None)
    entries = {name: config(rows, default=name == default) for name, rows in configs.items()}
    for table, rows in (scores or {}).items():
        entries.setdefault("scores", {**config({}, kind="scores"), "splits": {}})["splits"][table] = rows
    made = {
        "format": 1,
        "benchwright": "0.1.0",
        "dataset": {"builder": "made", "pretty_name": "Made", **facts.get("dataset", {})},
        "method": facts.get("method", "corrected"),
        "choices": {"seed": facts.get("seed", 42)},
        "source": {"fingerprint": facts.get("source", "sha256:00")},
        "scores": {table: {"identity": rows} for table, rows in (scores or {}).items()},
        "configs": entries,
        "audit": {
            "accepted": [],
            "findings": list(findings),
            "counts": {"error": 0, "warning": 0, "known": len(findings), "info": 0},
        },
        "versions": {"pyarrow": "26"},
    }
    return (publication or Publication()).put_into(made)


def published(version="1.0.0", **changes):
    entry = ChangelogEntry(version, "first", ("First version.",))
    return Publication(repo="acme/made", version=version, changelog=(entry,), **changes)


def constituent(licence, *languages):
    """A data set under a licence; nothing but its languages sets those of one licence apart."""
    allowed = "ids_only" if licence == "unknown" else "text"
    return {
        "title": licence, "licence": licence, "redistribute": allowed, "citation": f"@misc{{{licence}}}",
        "licence_link": "", "languages": list(languages or ["en"]), "source_datasets": [f"hub/{licence}"],
    }  # fmt: skip


CONSTITUENTS = {
    "apples": constituent("mit"),
    "pears": constituent("mit", "zh"),
    "plums": constituent("cc0-1.0"),
    "quinces": constituent("unknown"),
}


def collection(*names, **facts):
    """What a manifest says of a data set with rows of these constituents; `facts` are set by hand."""
    found = {name: CONSTITUENTS[name] for name in names}
    return {**collected({"homepage": "https://example.org/fruit"}, found), **facts}


contents = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3), min_size=1)


@st.composite
def manifests(draw):
    """Manifests of one source, with any configs, score tables and errata, some of them published."""
    configs = draw(contents)
    tables = draw(st.dictionaries(st.sampled_from(("lm_prompt", "lm_kfold")), st.integers(0, 1)))
    found = [finding(name) for name in draw(st.lists(st.sampled_from(list(configs)), unique=True))]
    aliases = {"old": draw(st.sampled_from(list(configs)))} if draw(st.booleans()) else {}
    return manifest(
        configs,
        default=draw(st.sampled_from(list(configs))),
        scores=tables,
        findings=found,
        publication=draw(st.sampled_from([Publication(), published()]))
        if not aliases
        else published(aliases=aliases),
        dataset={
            "summary": draw(st.sampled_from(["a", "b"])),
            **collection(*draw(st.sets(st.sampled_from(list(CONSTITUENTS)), min_size=1))),
        },
    )


def without_publication(made):
    return {key: value for key, value in made.items() if key != "publication"}


@given(manifests(), manifests())
def test_a_folder_that_nobody_changed_becomes_what_stands_on_the_hub(base, head):
    assert merge(base, head, base).manifest == head
    assert list(merge(base, head, base).manifest["configs"]) == list(head["configs"])


@given(manifests(), manifests())
def test_a_repository_that_nobody_changed_becomes_what_the_folder_holds(base, local):
    merged = merge(base, base, local)
    assert without_publication(merged.manifest) == without_publication(local)
    assert list(merged.manifest["configs"]) == list(local["configs"])


@given(manifests(), manifests())
def test_equal_changes_on_both_sides_are_one(base, head):
    assert merge(base, head, head).manifest == head
    assert set(merge(base, head, head).origins.values()) <= {"both"}


@given(st.none() | manifests(), manifests(), manifests())
def test_merging_the_merge_again_changes_nothing(base, head, local):
    """What a run that was killed after its commit finds when it runs again."""
    try:
        merged = merge(base, head, local).manifest
    except PublishError:
        return
    assert merge(base, merged, local).manifest == merged
    assert list(merge(base, merged, local).manifest["configs"]) == list(merged["configs"])


@given(st.none() | manifests(), manifests(), manifests())
def test_a_merge_has_one_default_and_only_whole_units(base, head, local):
    try:
        merged = merge(base, head, local)
    except PublishError:
        return
    found = merged.manifest
    assert [entry["default"] for entry in found["configs"].values()].count(True) == (
        1 if found["configs"] else 0
    )
    for name, unit in units(found).items():
        assert unit in [units(side)[name] for side in (head, local) if name in units(side)]
    assert set(found["scores"]) == {
        name.partition("/")[2] for name in units(found) if name.startswith("scores/")
    }


def test_without_a_base_the_hubs_other_configs_stay_and_the_local_ones_win():
    head = manifest({"random": 1, "length": 1}, publication=published())
    merged = merge(None, head, manifest({"random": 2, "tmcd": 1}))
    assert merged.origins == {"random": "local", "tmcd": "local", "length": "head"}
    assert merged.manifest["configs"]["random"]["splits"] == {"train": 2}
    assert merged.manifest["publication"] == head["publication"]


def test_additions_of_both_sides_stand_together():
    base = manifest({"random": 1})
    merged = merge(base, manifest({"random": 1, "length": 1}), manifest({"random": 1, "tmcd": 1}))
    assert merged.origins == {"random": "both", "length": "head", "tmcd": "local"}


def test_removals_of_either_side_stand():
    base = manifest({"random": 1, "length": 1, "tmcd": 1})
    here, there = manifest({"random": 1, "length": 1}), manifest({"random": 1, "tmcd": 1})
    assert set(merge(base, there, here).origins) == {"random"}


@pytest.mark.parametrize("other", [{"random": 3}, {"length": 1}], ids=["changed", "removed"])
def test_changes_of_both_sides_are_refused_with_their_names(other):
    base, here = manifest({"random": 1, "length": 1}), manifest({"random": 2, "length": 1})
    with pytest.raises(PublishError, match=r"^random: changed both here and on the Hub"):
        merge(base, manifest({"length": 1, **other}), here)


def test_two_first_publications_of_one_name_are_refused_and_equal_ones_are_not():
    nothing = {}
    assert merge(nothing, manifest({"random": 1}), manifest({"random": 1})).origins == {"random": "both"}
    with pytest.raises(PublishError, match="random"):
        merge(nothing, manifest({"random": 1}), manifest({"random": 2}))


def test_score_tables_are_units_of_their_own():
    base = manifest({"random": 1}, scores={"lm_prompt": 1})
    head = manifest({"random": 1}, scores={"lm_prompt": 1, "lm_kfold": 1})
    merged = merge(base, head, manifest({"random": 1}, scores={"lm_prompt": 2}))
    assert merged.origins == {"random": "both", "scores/lm_prompt": "local", "scores/lm_kfold": "head"}
    assert merged.manifest["configs"]["scores"]["splits"] == {"lm_prompt": 2, "lm_kfold": 1}
    assert merged.manifest["scores"] == {"lm_prompt": {"identity": 2}, "lm_kfold": {"identity": 1}}


def test_score_tables_of_different_columns_do_not_stand_beside_each_other():
    """One side gave config `scores` the columns of V-information, the other added a table without them."""
    base = manifest({"random": 1}, scores={"lm_prompt": 1})
    head = manifest({"random": 1}, scores={"lm_prompt": 1, "lm_kfold": 1})
    local = manifest({"random": 1}, scores={"lm_prompt": 2, "pvi": 1})
    local["configs"]["scores"]["features"] = {"pvi": {"dtype": "float32", "_type": "Value"}}
    assert merge(base, base, local).only_from("local") == ["scores/lm_prompt", "scores/pvi"]
    with pytest.raises(PublishError, match=r"lm_kfold.*different columns.*--into"):
        merge(base, head, local)


def test_findings_on_the_rows_of_a_part_follow_its_configs():
    """Each side added the config of another data set of the source."""

    def of_part(name, part):
        return {**finding(None, code="target_conflict", splits=(), uid=name), "part": part}

    def made(*names):
        whole = manifest(dict.fromkeys(names, 1), findings=[of_part(name, f"{name}s") for name in names])
        for name in names:
            whole["configs"][name]["part"] = f"{name}s"
        return whole

    base = made("length")
    merged = merge(base, made("length", "tmcd"), made("length", "random")).manifest
    assert [entry["part"] for entry in merged["audit"]["findings"]] == ["lengths", "randoms", "tmcds"]
    dropped = merge(made("length", "tmcd"), made("tmcd"), made("length", "tmcd", "random")).manifest
    assert [entry["part"] for entry in dropped["audit"]["findings"]] == ["tmcds", "randoms"]


def test_a_kept_config_keeps_the_scores_that_it_was_made_with():
    head = manifest({"random": 1, "ll_split": 1}, scores={"lm_prompt": 1})
    head["configs"]["ll_split"]["scores"] = "lm_prompt"
    with pytest.raises(PublishError, match=r"'ll_split'.*scores/lm_prompt"):
        merge(None, head, manifest({"random": 1}, scores={"lm_prompt": 2}))
    assert merge(None, head, manifest({"random": 1}, scores={"lm_prompt": 1})).only_from("head") == [
        "ll_split"
    ]


@pytest.mark.parametrize(
    ("facts", "word"),
    [({"source": "sha256:11"}, "source"), ({"method": "published"}, "method"), ({"seed": 7}, "choices")],
)
def test_configs_of_other_sources_or_rules_do_not_stand_beside_ours(facts, word):
    head = manifest({"random": 1, "length": 1})
    with pytest.raises(PublishError, match=f"length would stand beside configs of another {word}"):
        merge(None, head, manifest({"random": 2}, **facts))
    # Where nothing of the head stays, everything may be made anew.
    assert merge(None, head, manifest({"random": 2, "length": 2}, **facts)).only_from("head") == []


def test_another_data_set_is_refused_though_the_names_are_the_same():
    with pytest.raises(PublishError, match="release of 'made' and this is one of 'other'"):
        merge(None, manifest({"random": 1}), manifest({"random": 1}, dataset={"builder": "other"}))


def test_fields_of_the_data_set_are_merged_one_by_one():
    base = manifest({"random": 1}, dataset={"summary": "a", "licence": "mit"})
    head = manifest({"random": 1}, dataset={"summary": "b", "licence": "mit"})
    local = manifest({"random": 1}, dataset={"summary": "a", "licence": "apache-2.0"})
    assert merge(base, head, local).manifest["dataset"] == {
        "builder": "made", "pretty_name": "Made", "summary": "b", "licence": "apache-2.0",
    }  # fmt: skip
    with pytest.raises(PublishError, match=r"dataset.summary"):
        merge(base, head, manifest({"random": 1}, dataset={"summary": "c", "licence": "mit"}))


def test_what_is_said_of_a_collection_follows_from_what_both_sides_hold():
    base = manifest({"random": 1}, dataset=collection("apples"))
    head = manifest({"random": 1, "length": 1}, dataset=collection("apples", "quinces"))
    local = manifest({"random": 1, "tmcd": 1}, dataset=collection("apples", "plums", "pears"))
    found = merge(base, head, local).manifest["dataset"]
    assert found == manifest({}, dataset=collection(*CONSTITUENTS))["dataset"]
    assert (found["licence"], found["redistribute"]) == ("unknown", "ids_only")
    assert found["languages"] == ["en", "zh"]
    assert found["source_datasets"] == ["hub/cc0-1.0", "hub/mit", "hub/unknown"]


@pytest.mark.parametrize("base", [None, {}], ids=["unknown base", "nothing before"])
def test_collections_of_different_parts_stand_together_without_a_common_base(base):
    head = manifest({"random": 1}, dataset=collection("plums"))
    local = manifest({"tmcd": 1}, dataset=collection("apples"))
    for one, other in ((head, local), (local, head)):
        found = merge(base, one, other).manifest["dataset"]
        assert list(found["constituents"]) == ["apples", "plums"]
        assert (found["licence"], found["licence_link"]) == ("mixed", "https://example.org/fruit")


def test_what_a_side_says_by_hand_of_a_collection_stands():
    base = manifest({"random": 1}, dataset=collection("apples"))
    head = manifest({"random": 1, "length": 1}, dataset=collection("apples", "quinces"))
    local = manifest({"random": 1}, dataset=collection("apples", licence="other-terms"))
    with pytest.raises(PublishError, match=r"^dataset\.licence: changed both here and on the Hub"):
        merge(base, head, local)
    found = merge(base, manifest({"random": 1}, dataset=collection("apples", "plums", licence="mit")), local)
    assert found.manifest["dataset"]["licence"] == "other-terms"
    assert list(found.manifest["dataset"]["constituents"]) == ["apples", "plums"]


def test_a_constituent_that_both_sides_describe_differently_is_refused():
    head, local = (manifest({name: 1}, dataset=collection("apples")) for name in ("random", "tmcd"))
    local["dataset"]["constituents"]["apples"] = constituent("mit", "fr")
    with pytest.raises(PublishError, match=r"^dataset\.constituents\.apples: changed both here and"):
        merge({}, head, local)


def test_a_release_that_names_no_constituents_is_merged_field_by_field():
    """As releases of earlier versions are."""
    base = manifest({"random": 1}, dataset={"licence": "mit", "citation": "@misc{a}"})
    local = manifest({"random": 1, "tmcd": 1}, dataset=collection("apples", "quinces"))
    assert merge(base, base, local).manifest["dataset"] == local["dataset"]


def test_findings_follow_their_configs():
    head = manifest(
        {"random": 1, "length": 1},
        scores={"lm_kfold": 1},
        findings=[finding(None, uid="head"), finding("random", uid="head"), finding("length", uid="head"),
                  finding(None, "unscored", ("lm_kfold",))],
    )  # fmt: skip
    local = manifest({"random": 2}, findings=[finding(None, uid="local"), finding("random", uid="local")])
    audit = merge(None, head, local).manifest["audit"]
    assert [entry["id"] for entry in audit["findings"]] == [
        "leak_exact-None-local", "leak_exact-random-local", "leak_exact-length-head", "unscored-None-a",
    ]  # fmt: skip
    assert audit["counts"]["known"] == 4


def test_errata_of_both_sides_are_kept_and_new_ones_wait_for_their_version():
    gone = Withdrawal("private", uids=("a",), version="1.0.0")
    head = manifest(
        {"random": 1}, publication=published("1.1.0", withdrawn=(gone,), yanked={"0.9.0": "wrong"})
    )
    local = manifest(
        {"random": 2},
        publication=published(
            withdrawn=(Withdrawal("private", uids=("a",)), Withdrawal("broken", config="length")),
            yanked={"1.0.0": "leaks"},
            aliases={"old": "random", "older": "nothing"},
        ),
    )
    found = Publication.of(merge(None, head, local).manifest)
    assert found.withdrawn == (gone, Withdrawal("broken", config="length"))
    assert found.yanked == {"0.9.0": "wrong", "1.0.0": "leaks"}
    assert found.aliases == {"old": "random"}
    assert (found.version, found.changelog) == ("1.1.0", Publication.of(head).changelog)


def test_where_nothing_stands_history_of_another_repository_does_not_come_along():
    local = manifest(
        {"random": 1},
        publication=published(
            withdrawn=(Withdrawal("private", uids=("a",), version="1.0.0"),), aliases={"old": "random"}
        ),
    )
    for base in (None, {}):
        found = Publication.of(merge(base, None, local).manifest)
        assert found == Publication(
            aliases={"old": "random"}, withdrawn=(Withdrawal("private", uids=("a",)),)
        )


def test_merging_does_not_change_its_sides():
    sides = manifest({"random": 1}), manifest({"random": 1, "length": 1}), manifest({"random": 2})
    before = copy.deepcopy(sides)
    merge(*sides)
    assert sides == before


@given(*[st.dictionaries(st.sampled_from("abcd"), st.integers(0, 2)) for _ in range(3)])
def test_three_way_merges_are_symmetric(base, one, other):
    first, second = three_way_all(base, one, other), three_way_all(base, other, one)
    assert first.values == second.values
    assert set(first.conflicts) == set(second.conflicts)


def test_a_withdrawn_config_comes_back_from_neither_side():
    gone = (Withdrawal("leaks", config="length"),)
    head = manifest({"random": 0}, publication=published("2.0.0", withdrawn=gone))
    with pytest.raises(PublishError, match=r"config 'length' was withdrawn \(leaks\) and would come back"):
        merge(None, head, manifest({"random": 0, "length": 0}))
    here = manifest({"random": 0}, publication=Publication(withdrawn=gone))
    with pytest.raises(PublishError, match=r"'length' was withdrawn here \(leaks\) and still stands"):
        merge(None, manifest({"random": 0, "length": 0}, publication=published()), here)
    # With their base known, the withdrawal is a removal like any other.
    base = manifest({"random": 0, "length": 0}, publication=published())
    assert list(merge(base, base, here).manifest["configs"]) == ["random"]


def test_a_former_name_is_no_name_of_another_config():
    renamed = published("1.1.0", aliases={"random": "drawn"})
    head = manifest({"drawn": 0}, publication=renamed)
    for here, there in ((manifest({"random": 1}), head), (head, manifest({"random": 0, "length": 0}))):
        with pytest.raises(PublishError, match="config 'random' has the former name of config 'drawn'"):
            merge(None, there, here)
    # Renaming back is a change like any other.
    back = manifest({"random": 0}, publication=published("1.1.0", aliases={"drawn": "random"}))
    merged = merge(head, head, back)
    assert list(merged.manifest["configs"]) == ["random"]
    assert Publication.of(merged.manifest).aliases == {"drawn": "random"}


def test_findings_keep_their_order_where_their_rows_are_of_one_side():
    found = [finding("random"), finding("length")]
    base = manifest({"random": 0, "length": 0}, findings=found)
    local = manifest({"random": 1, "length": 0}, findings=found)
    assert merge(base, base, local).manifest["audit"] == local["audit"]
