"""Builder `knowref_60k`: released hashes with mined problems or dumps, files with texts, their faults."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import tiny_classifiers
import tiny_encoders
from knowref_helpers import FlatParser, problem, write_dump
from transformers import BertConfig, BertModel

from benchwright.builders.audit import audit
from benchwright.builders.base import Origin
from benchwright.builders.build import build
from benchwright.builders.knowref.builder import KnowRefBuilder
from benchwright.builders.knowref.persons import sentence_hash
from benchwright.builders.rebuild import rebuild
from benchwright.builders.verify import verify
from benchwright.cards import render_card
from benchwright.errors import SourceError, SourceErrors, UsageError
from benchwright.eval.baselines import baselines
from benchwright.eval.run import evaluate
from benchwright.faults import FaultLog
from benchwright.tasks import PRONOUN_RESOLUTION

MET = "Kevin met Robert near here in May because he was so very angry ."
SAW = "Paula saw Wendy near here in May , but she was so very angry ."


def released(sentence, first, second, label=0, strength="5", **more):
    return {
        "original_sentence_hashed": sentence_hash(sentence),
        "candidate0": first,
        "candidate1": second,
        "correct_candidate": f"candidate_{label}",
        "annotation_strength": strength,
        **more,
    }


def write_hashed(folder, part, rows):
    folder.mkdir(exist_ok=True)
    # As the released file is laid out.
    text = "[ \n" + ",\n".join(json.dumps(row) for row in rows) + "\n]"
    (folder / f"KnowRef-60K_{part}_hashed.json").write_text(text)
    return folder


def write_published_problems(folder, problems):
    """The file of the published code, whose texts are lists of one."""
    lines = []
    for found in problems:
        record = found.to_json()
        lists = {name: [record[name]] for name in ("original_sentence", "candidate0", "candidate1")}
        lines.append(
            json.dumps(
                {**lists, "sentence_with_pronoun": record["sentence_with_pronoun"], "is_pronoun_male": True}
            )
        )
    (folder / "wp_pronoun_owndump_final_reddit.json").write_text("\n".join(lines) + "\n")


def read(folder, policy="fail", parser=None):
    builder = KnowRefBuilder()
    builder.parser = parser or FlatParser()
    faults = FaultLog(policy)
    return builder.read(folder, faults, Origin("folder"))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    rows = [
        released(MET, "Adam", "Brian"),
        released(SAW, "Clara", "Doris", label=1, strength="4"),
        released("In no dump .", "Eric", "Felix"),
    ]
    folder = write_hashed(tmp_path / "source", "test", rows)
    write_published_problems(
        folder,
        [
            problem(MET, "Robert", "Kevin", "he"),
            problem(SAW, "Paula", "Wendy", "she", ","),
            problem("Al met Bo because he fell .", "Al", "Bo", "he"),
        ],
    )
    return folder


def test_rows_of_hashes_and_published_problems(source):
    data = read(source)
    rows = data.table.to_pylist()
    # Candidate 0 of the problem is the person who is named second.
    assert rows[0] == {
        "uid": "knowref_60k:test:0",
        "content_id": rows[0]["content_id"],
        "text": "Brian met Adam near here in May because he was so very angry .",
        "pronoun": "he",
        "pronoun_loc": 40,
        "options": ["Adam", "Brian"],
        "label": 0,
        "source_dataset": "knowref_60k",
        "source_index": 0,
        "annotation_strength": 5,
        "gender": "male",
        "sentence_sha224": sentence_hash(MET),
    }
    assert rows[1]["text"] == "Clara saw Doris near here in May , but she was so very angry ."
    assert (rows[1]["label"], rows[1]["annotation_strength"], rows[1]["gender"]) == (1, 4, "female")
    assert (data.read, data.table.num_rows, data.filtered) == (3, 2, {"sentence is not in the dumps": 1})
    assert data.notes == ("2 of 3 released rows were put together",)
    assert {file.name: file.rows for file in data.files} == {
        "KnowRef-60K_test_hashed.json": 3,
        "wp_pronoun_owndump_final_reddit.json": 3,
    }


@pytest.mark.parametrize("dump", ["RC_2006-01.bz2", "RC_2019-12.zst"])
def test_rows_of_hashes_and_dumps(tmp_path, dump):
    comments = [
        "[deleted]",
        "Nothing. Kevin met Robert near here in May because he was so very angry. And so on.",
        "Paula saw Wendy near here in May, but she was so very angry.",
        "It was a long and winding road because nobody had ever thought of building another.",
    ]
    folder = write_hashed(
        tmp_path / "source",
        "test",
        [
            released(MET, "Adam", "Brian"),
            released(SAW, "Clara", "Doris"),
            released("In no dump .", "Eric", "Felix"),
        ],
    )
    write_dump(folder / dump, comments)
    parser = FlatParser()
    data = read(folder, parser=parser)
    # `, but` is glued to no letter: the published cleaning does not see the sentence.
    assert [row["sentence_sha224"] for row in data.table.to_pylist()] == [
        sentence_hash(MET),
        sentence_hash(SAW),
    ]
    assert parser.texts == 2
    assert data.filtered == {"sentence is not in the dumps": 1}
    row = data.table.to_pylist()[0]
    assert row["text"].startswith("he", row["pronoun_loc"])
    assert set(row["text"].split()) & {"Adam", "Brian"} == {"Adam", "Brian"}


def test_candidates_that_are_not_clear(tmp_path):
    sentence = "Kevin met near here in the cold May because he was so very angry ."
    folder = write_hashed(
        tmp_path / "source", "test", [released(sentence, "Adam", "Brian"), released(MET, "A", "B")]
    )
    write_dump(folder / "RC_1.bz2", [sentence.replace(" .", "."), MET.replace(" .", ".")])
    data = read(folder)
    assert data.filtered == {"candidates of the sentence are not clear": 1}


def test_reversed_rows_of_import_labels(tmp_path):
    folder = write_hashed(tmp_path / "source", "train", [released(MET, "Adam", "Brian", reversed=True)])
    write_published_problems(folder, [problem(MET, "Kevin", "Robert", "he")])
    row = read(folder).table.to_pylist()[0]
    assert row["text"].startswith("Brian met Adam")
    assert row["options"] == ["Adam", "Brian"]


def test_texts(tmp_path):
    rows = [
        {
            "original_sentence": MET,
            "swapped_sentence": MET.replace("Kevin", "Adam").replace("Robert", "Brian"),
            "candidate0": "Brian",
            "candidate1": "Adam",
            "correct_candidate": "candidate_1",
            "annotation_strength": "4",
        }
    ]
    (tmp_path / "KnowRef-60K_dev.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    row = read(tmp_path).table.to_pylist()[0]
    assert (row["uid"], row["pronoun"], row["label"]) == ("knowref_60k:dev:0", "he", 1)
    assert row["text"].startswith("he", row["pronoun_loc"])
    assert row["sentence_sha224"] == sentence_hash(MET)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"original_sentence_hashed": "abc"}, "no SHA-224 hash"),
        ({"correct_candidate": "candidate_2"}, "unknown label"),
        ({"annotation_strength": "high"}, "unknown label"),
        ({"candidate1": "Adam"}, "both candidates have one name"),
        ({"candidate0": ""}, "empty text"),
    ],
)
def test_bad_rows(source, change, reason):
    write_hashed(source, "val", [{**released(SAW, "Adam", "Brian"), **change}])
    with pytest.raises(SourceErrors, match=reason):
        read(source)
    data = read(source, "drop")
    assert data.dropped == {reason: 1}
    assert data.read == data.table.num_rows + 2


def test_sources_that_cannot_be_used(tmp_path, source):
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="no file of KnowRef-60k"):
        read(tmp_path / "empty")
    (source / "wp_pronoun_owndump_final_reddit.json").unlink()
    with pytest.raises(SourceError, match="hashes without the sentences"):
        read(source)
    write_dump(source / "RC_1.bz2", ["It is nothing."])
    with pytest.raises(SourceError, match="no sentence of the hashed files"):
        read(source)
    (source / "deeper").mkdir()
    shutil.copy(source / "KnowRef-60K_test_hashed.json", source / "deeper")
    with pytest.raises(SourceError, match="two files of part test"):
        read(source)


def test_parts_are_the_released_ones(tmp_path):
    with pytest.raises(UsageError, match="keeps the released parts"):
        build("knowref_60k", source="sample", out=tmp_path / "out", validation=0.1, test=0.1)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return build("knowref_60k", source="sample", out=tmp_path_factory.mktemp("knowref") / "release")


def test_sample_release(sample):
    sizes = {split: sample.table("standard", split).num_rows for split in ("train", "validation", "test")}
    assert sizes == {"train": 10, "validation": 2, "test": 12}
    source = sample.manifest["source"]
    assert source["filtered"] == {"sentence is not in the dumps": 2}
    assert "funnel" not in source
    for split in sizes:
        for row in sample.table("standard", split).to_pylist():
            assert row["text"].startswith(row["pronoun"], row["pronoun_loc"])
            assert all(option in row["text"].split() for option in row["options"])
            assert (row["best_score"], row["hits"], row["query"]) == (None, None, None)
    assert verify(sample.path) == []
    assert not [finding for finding in audit(sample.path).findings if finding.severity == "error"]


def test_sample_is_rebuilt_to_the_byte(sample):
    assert rebuild(sample.path, source="sample") == []


def test_rows_are_those_of_pronoun_baselines(sample):
    assert sample.task("standard") == PRONOUN_RESOLUTION
    assert "fine_tuned_pronoun" in baselines
    results = evaluate(sample.path, configs=["standard"], baselines=["random_option"])
    assert results


RECIPE = {"epochs": 30, "learning_rate": 3e-3, "batch_size": 8, "max_length": 48, "validation_share": 0.0}


def test_an_encoder_is_fine_tuned_on_the_released_parts(tmp_path):
    # Whose place the pronoun has is told by the names alone.
    right, wrong = ["Al", "Bo", "Cy"], ["Ed", "Gus", "Hal"]
    source = tmp_path / "source"
    source.mkdir()
    for part, verb in (("dev", "fell"), ("test", "sang")):
        rows = [
            {
                "swapped_sentence": f"{names[0]} met {names[1]} because he {verb} .",
                "candidate0": names[0],
                "candidate1": names[1],
                "correct_candidate": f"candidate_{names.index(one)}",
                "annotation_strength": "5",
            }
            for one in right
            for other in wrong
            for names in ([one, other], [other, one])
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (source / f"KnowRef-60K_{part}.json").write_text(text)
    release = build("knowref_60k", source=source, out=tmp_path / "release")
    model = tiny_encoders.save_encoder(tmp_path / "encoder", tiny_encoders.ENCODERS["bert"])
    (result,) = evaluate(
        release.path,
        configs=["standard"],
        baselines=["fine_tuned_pronoun"],
        model=str(model),
        recipe=RECIPE,
    )
    assert (result.training["training_rows"], result.metrics["accuracy"]["n"]) == (36, 18)
    # Guessing has 9 of 18 right.
    assert result.metrics["accuracy"]["value"] > 0.9


def test_the_sample_trains_an_encoder(sample, tmp_path):
    def build_encoder(size):
        shape = {**tiny_classifiers.SHAPE, "max_position_embeddings": 128}
        return BertModel(BertConfig(**shape, vocab_size=size), add_pooling_layer=False)

    model = tiny_encoders.save_encoder(tmp_path / "encoder", build_encoder)
    recipe = {"epochs": 1, "batch_size": 8, "max_length": 128, "validation_share": 0.2}
    (result,) = evaluate(
        sample.path,
        configs=["standard"],
        baselines=["fine_tuned_pronoun"],
        model=str(model),
        recipe=recipe,
    )
    assert result.evaluated_on == "test"
    assert result.metrics["accuracy"]["n"] == 12
    # Both candidates of each row; the released validation part chooses the checkpoint.
    assert (result.training["training_rows"], result.training["validation_rows"]) == (20, 4)
    assert "`fine_tuned_pronoun`" in render_card(sample)
