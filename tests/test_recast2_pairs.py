"""Recasts of corpora that come as pairs: hand-worked rows in the published formats, and their faults."""

from __future__ import annotations

import json

import pytest
from recast_corpora import recast, write

from benchwright.errors import SourceErrors

BOM = "\ufeff"
YES, NO = "entailed", "not-entailed"


def delta(update, kind, **fields):
    record = {
        "DataSource": "SNLI",
        "AssignmentIdAnon": 7,
        "Premise": "NASA hired Al.",
        "Hypothesis": "Al works.",
    }
    return record | {"Update": update, "UpdateType": kind, "UpdateTypeImpossible": False} | fields


def test_delta_nli_keeps_the_update_in_the_premise(tmp_path):
    write(
        tmp_path,
        "data/defeasible-nli/defeasible-snli/dev.jsonl",
        [
            delta("He is 12.", "weakener"),
            delta("He has a badge. ", "strengthener"),
            delta("", "weakener", UpdateTypeImpossible=True, AssignmentIdAnon=8),
        ],
    )
    social = delta("It was late.", "strengthener", SocialChemSituation="leaving early")
    del social["Premise"]
    write(tmp_path, "data/defeasible-nli/defeasible-social/train.jsonl", [social])
    result = recast("defeasible/defeasible_nli", tmp_path)
    assert result.triples() == [
        ("leaving early ; It was late.", "Al works.", YES),
        ("NASA hired Al. ; He is 12.", "Al works.", NO),
        ("NASA hired Al. ; He has a badge.", "Al works.", YES),
    ]
    assert result.faults.filtered == {"no update could be written": 1}
    assert len(set(result.groups()[1:])) == 1
    assert result.made.notes == ("source split test is missing",)


def test_an_update_without_text_is_a_fault_with_its_place(tmp_path):
    path = write(tmp_path, "defeasible-snli/dev.jsonl", [delta("x", "weakener"), delta(" ", "strengthener")])
    with pytest.raises(SourceErrors, match=r"row 1, line 2, field 'Update': empty text, got ' '; ") as error:
        recast("defeasible/defeasible_nli", tmp_path)
    assert str(path) in str(error.value)


def test_help_undoes_the_quotes_of_pandas(tmp_path):
    header = "\tfilename\tdeterminer\tmonotonicity\tgold_label\treplace_target\treplace_source\treplace_mode"
    rows = [
        f"{BOM}{header}\tori_sentence\tnew_sentence",
        'n\ts/p1/d1\tand\tconjunction\tneutral\t\t\t\t"He said "" hi "" ."\tHe said hi'.replace(
            "n\t", "5\t", 1
        ),
        "5\ts/p1/d1\tand\tconjunction\tentailment\t\t\t\tTom 's here .\tSomeone is here .",
        "",
    ]
    write(tmp_path, "output_en/pmb_train_v1.0.tsv", "\r\n".join(rows))
    result = recast("monotonicity_infer/help", tmp_path)
    assert result.triples("train") == [
        ('He said " hi " .', "He said hi", NO),
        ("Tom 's here .", "Someone is here .", YES),
    ]
    assert [row["source_id"] for row in result.rows] == ["s/p1/d1:5", "s/p1/d1:5~2"]
    assert len(set(result.groups())) == 1


def test_med_pairs_and_their_reversals_are_one_group(tmp_path):
    text = (
        "index\tgenre\tsentence1\tsentence2\tlabel1\tgold_label\n"
        "1\tcrowd\tSome dogs ran.\tSome animals ran.\t\tentailment\n"
        "2\tcrowd\tSome animals ran.\tSome dogs ran.\t\tneutral\n"
        "3\tcrowd\tNo dog ran.\tA dog ran.\t\tcontradiction\n"
        "4\tcrowd\tA.\tB.\t\tmaybe\n"
    )
    write(tmp_path, "MED.tsv", text)
    result = recast("monotonicity_infer/med", tmp_path, "drop")
    assert [label for _, _, label in result.triples("test")] == [YES, NO, NO]
    first, second, third = result.groups()
    assert first == second != third
    assert result.faults.dropped == {"unknown label": 1}


def test_fragments_are_read_from_either_format(tmp_path):
    pair = {"sentence1": "Ann has only visited Rome", "sentence2": "Ann didn't visit Oslo"}
    write(tmp_path, "counting/train/train.json", [pair | {"gold_label": "entailment", "pairID": "t-0"}])
    write(tmp_path, "counting/train/challenge_train.tsv", "x\ty\tz\tNEUTRAL\n")
    write(
        tmp_path,
        "counting/test/challenge_dev.tsv",
        'd-0\tBo said "no"\tBo spoke\tCONTRADICTION\r\n\r\nd-1\tx\n',
    )
    write(tmp_path, "boolean/train/train.json", [pair | {"gold_label": "neutral", "pairID": "t-0"}])
    result = recast("counting/semantic_fragments", tmp_path, "drop")
    assert result.triples() == [
        ("Ann has only visited Rome", "Ann didn't visit Oslo", "entailment"),
        ('Bo said "no"', "Bo spoke", "contradiction"),
    ]
    assert result.faults.dropped == {"wrong number of fields": 1}
    assert result.made.notes == ("source split dev is missing",)


def test_control_has_three_labels_and_groups_by_premise(tmp_path):
    rows = [("id_0", "A long text.", "It is long.", "e"), ("id_1", "A long text.", "It is red.", "n")]
    rows += [("id_2", "Another.", "None.", "c")]
    names = ("uid", "premise", "hypothesis", "label")
    write(tmp_path, "data/test.jsonl", [dict(zip(names, row, strict=True)) for row in rows])
    result = recast("control/control", tmp_path)
    assert [row["label"] for row in result.rows] == ["entailment", "neutral", "contradiction"]
    assert result.groups()[0] == result.groups()[1] != result.groups()[2]


def dnc_record(number, context, hypothesis, binary, **fields):
    record = {"binary-label": binary, "context": context, "hypothesis": hypothesis, "pair-id": number}
    record |= {"label": YES if binary else NO, "label-set": None, "split": "train", "type-of-inference": "x"}
    return record | fields


def test_dnc_labels_are_binary_and_names_make_no_groups(tmp_path):
    records = [
        dnc_record(1, "Ann heard that time flies", "Ann heard a pun", True),
        dnc_record(2, "Bo heard that time flies", "Bo did not hear a pun", False),
        dnc_record(3, "Cy heard that Ann heard that", "Cy heard a pun", False),
    ]
    write(tmp_path, "train/recast_puns_data.json", json.dumps(records[:2], indent=4))
    write(tmp_path, "train/recast_puns_data2.json", json.dumps(records[2:], indent=4))
    write(tmp_path, "train/recast_puns_metadata.json", "[]")
    relation = dnc_record(4, "Al was born in Rome .", "Al is from Rome .", False, label=4, split="dev")
    write(tmp_path, "dev/recast_kg_relations_data.json", json.dumps([relation]))
    puns = recast("puns/dnc", tmp_path)
    assert [row["label"] for row in puns.rows] == [YES, NO, NO]
    first, second, third = puns.groups()
    assert first == second != third
    assert recast("kg_relations/dnc", tmp_path).triples("dev") == [
        ("Al was born in Rome .", "Al is from Rome .", NO)
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"binary-label": "true"}, "field 'binary-label': wrong type, got 'true'; give true or false"),
        ({"label": NO}, "field 'label': two labels that differ, got 'not-entailed'; "),
        ({"split": "val"}, "field 'split': unknown label, got 'val'; "),
        ({"hypothesis": ""}, "field 'hypothesis': empty text, got ''; "),
        ({"pair-id": None}, "field 'pair-id': wrong type, got 'null'; "),
    ],
)
def test_dnc_faults_name_the_field(change, message, tmp_path):
    record = dnc_record(1, "It rained .", "It was wet .", True) | change
    write(tmp_path, "train/recast_ner_data.json", json.dumps([record]))
    with pytest.raises(SourceErrors, match="row 0, ") as error:
        recast("ner/dnc", tmp_path)
    assert message in str(error.value)


def test_transitive_joins_two_parts_of_dnc(tmp_path):
    for part, number in (("factuality", 1), ("megaveridicality", 2)):
        record = dnc_record(number, f"Someone {part} .", "It happened", True)
        write(tmp_path, f"train/recast_{part}_data.json", json.dumps([record]))
    assert len(recast("transitive/dnc", tmp_path).rows) == 2


def test_transitivity_reads_multinli_columns(tmp_path):
    text = (
        "index\tgenre\tsentence1\tsentence2\tlabel1\tgold_label\n3\tg\tAl knew that it rained\tIt rained\t\t"
    )
    write(
        tmp_path,
        "naturalistic/train.tsv",
        text + "entailment\n4\tg\tAl hoped that it rained\tIt rained\t\tneutral\n",
    )
    result = recast("transitive/transitivity", tmp_path)
    assert [row["label"] for row in result.rows] == [YES, NO]


def entry(index, text, hypothesis, label=YES, part="train", more=""):
    return (
        f"provenance: FN+\nindex: {index}\ntext: {text}\nhypothesis: {hypothesis}\n"
        f"entailed: {label}\n{more}partof: {part}\n\n"
    )


def test_proto_role_statements_stay_as_they_are(tmp_path):
    text = entry(1, "Al: NASA hired him .", "Al was aware .") + entry(
        2, "Al: NASA hired him .", "Al died .", NO, "dev"
    )
    write(tmp_path, "sprl_data.txt", text.replace("\n", "\r\n"))
    result = recast("sprl/inference_is_everything", tmp_path)
    assert result.triples() == [
        ("Al: NASA hired him .", "Al was aware .", YES),
        ("Al: NASA hired him .", "Al died .", NO),
    ]


def test_the_word_of_a_paraphrase_gives_way_to_something(tmp_path):
    text = entry(1, "NASA hired Al in May .", "NASA took on Al in May .", more="good_word: hired\n")
    text += entry(2, "NASA hired Al .", "NASA hired Al .") + entry(
        3, "NASA hired Al .", "NASA hired poor Al ."
    )
    text += "provenance: FN+\nindex 4\n\nindex: 5\nindex: 6\n"
    write(tmp_path, "fnplus_data.txt", text)
    result = recast("context_align/inference_is_everything", tmp_path, "drop")
    assert result.triples() == [("NASA something Al in May .", "'something' here should be 'took on'", YES)]
    assert result.faults.filtered == {"the paraphrase is the word itself": 1}
    assert result.faults.dropped == {
        "nothing replaces a word of the text": 1,
        "not a line `key: value`": 1,
        "a key stands twice": 1,
    }


def test_levy_holt_has_the_hypothesis_first(tmp_path):
    text = (
        "aspirin, upsets, the stomach\taspirin, can irritate, the stomach\tTrue\n\n"
        "a, b, c\td, e, f\tn\r\na, b\tc, d, e\ty\n"
    )
    write(tmp_path, "train.txt", text)
    result = recast("lexical/levy_holt", tmp_path, "drop")
    assert result.triples() == [
        ("Aspirin can irritate the stomach.", "Aspirin upsets the stomach.", YES),
        ("D e f.", "A b c.", NO),
    ]
    assert result.faults.dropped == {"not a triple": 1}


def test_sherliic_fills_in_the_first_examples(tmp_path):
    names = ",".join(f"column{number}" for number in range(22))
    row = '7,1,2,3,4,person[A],is working for,org[B],,org[B],employs,person[A],"",False,True'
    row += ",Al / Bo,NASA / ESA,yes,1,1,1,0"
    write(tmp_path, "dev.csv", f"{names}\n{row}\n")
    result = recast("lexical/sherliic", tmp_path)
    assert result.triples("dev") == [("Al is working for NASA.", "NASA employs Al.", YES)]


def test_breaking_nli_is_a_test_set(tmp_path):
    record = {
        "sentence1": "A glad dog.",
        "sentence2": "A happy dog.",
        "gold_label": "entailment",
        "pairID": 4,
    }
    write(
        tmp_path,
        "data/dataset.jsonl",
        [record, record | {"sentence2": "A cat.", "gold_label": "neutral", "pairID": 5}],
    )
    assert [row["label"] for row in recast("lexical/breaking_nli", tmp_path).rows] == [YES, NO]
