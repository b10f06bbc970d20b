"""Recasts that make pairs of questions, stories, trees, alternants and spans: hand-worked, with faults."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recast_corpora import recast, write

from benchwright.builders.curriculum.recast import entailment_bank, fava
from benchwright.builders.curriculum.recast.inference_is_everything import replacement
from benchwright.builders.sources.records import Record
from benchwright.errors import SourceErrors

YES, NO = "entailed", "not-entailed"
STORY = (
    "1 The triangle is above the pink rectangle.\n"
    "2 The blue square is to the left of the triangle.\n"
    "3 Is the pink rectangle to the right of the blue square?\tyes\t1 2\n"
    "4 Is the blue square below the pink rectangle?\tno\t2 1\n"
)
FACTS = "The triangle is above the pink rectangle. The blue square is to the left of the triangle."


def test_babi_questions_become_statements_in_word_order(tmp_path):
    write(tmp_path, "tasks/en/qa17_positional-reasoning_train.txt", "1 not this one")
    write(tmp_path, "tasks/en-10k/qa17_positional-reasoning_train.txt", (STORY + STORY).replace("\n", "\r\n"))
    result = recast("spatial/babi", tmp_path)
    assert result.triples()[:2] == [
        (FACTS, "The pink rectangle is to the right of the blue square", YES),
        (FACTS, "The blue square is below the pink rectangle", NO),
    ]
    first, second, third, fourth = result.groups()
    assert first == second != third == fourth


def test_babi_stories_out_of_order_are_one_fault_each(tmp_path):
    broken = STORY.replace("2 The blue", "7 The blue")
    asked = "1 The triangle is above the pink rectangle.\n2 Where is the triangle?\tabove\t1\n"
    write(tmp_path, "qa17_positional-reasoning_train.txt", broken + STORY + asked)
    result = recast("spatial/babi", tmp_path, "drop")
    assert len(result.rows) == 2
    assert result.faults.dropped == {"line out of order": 1, "not a question of task 17": 1}
    with pytest.raises(SourceErrors, match="line 2: line out of order"):
        recast("spatial/babi", tmp_path)


def test_babi_numbers_of_any_length_are_one_fault(tmp_path):
    path = write(tmp_path, "qa17_train.txt", STORY + f"{'9' * 5_000} The hat is above the cup.\n" + STORY)
    result = recast("spatial/babi", tmp_path, "drop")
    assert len(result.rows) == 4
    assert result.faults.dropped == {"line out of order": 1}
    with pytest.raises(SourceErrors) as error:
        recast("spatial/babi", tmp_path)
    assert str(error.value).startswith(f"{path}, row 2, line 5: line out of order, got '9999")


def test_tracie_cuts_the_line_at_its_markers(tmp_path):
    line = 'event: Bo owns a bed  ends after he left story: Bo left. "He slept."\tanswer: {}\n'
    write(tmp_path, "data/uniform-prior/tracie_test.txt", line.format("positive") + "\n" + "event: x\n")
    record = {
        "query": "event: Bo owns a bed ends before he left",
        "story": "Bo left.",
        "label": "contradiction",
    }
    write(tmp_path, "train_iid.jsonl", [record])
    result = recast("temporal/tracie", tmp_path, "drop")
    assert result.triples() == [
        ("Bo left.", "Bo owns a bed ends before he left", NO),
        ('Bo left. "He slept."', "Bo owns a bed  ends after he left", YES),
    ]
    assert result.faults.dropped == {"line of another form": 1}


def tree(number, leaves, conclusion, **fields):
    context = " ".join(f"sent{place}: {leaf}" for place, leaf in enumerate(leaves, 1))
    proof = " & ".join(f"sent{place}" for place in range(1, len(leaves) + 1)) + " -> hypothesis; "
    return {"id": f"T{number}", "context": context, "hypothesis": conclusion, "proof": proof} | fields


def test_trees_lose_their_tags_and_get_a_conclusion_of_another(tmp_path):
    trees = [tree(n, [f"leaf {n} is green", "ice is cold!"], f"conclusion {n}") for n in range(9)]
    write(tmp_path, "dataset/task_1/train.jsonl", trees)
    write(tmp_path, "dataset/task_2/train.jsonl", trees[:1])
    result = recast("entailment_tree/entailment_bank", tmp_path)
    assert result.triples()[0] == ("leaf 0 is green. ice is cold!", "conclusion 0", YES)
    assert [label for _, _, label in result.triples()] == [YES, NO] * 9
    random.Random(5).shuffle(trees)
    write(tmp_path, "dataset/task_1/train.jsonl", trees)
    again = recast("entailment_tree/entailment_bank", tmp_path)
    assert sorted(again.triples()) == sorted(result.triples())


def test_a_conclusion_that_stands_in_the_tree_is_no_wrong_one(tmp_path):
    inner = {"meta": {"intermediate_conclusions": {"int1": "Ice melts."}}}
    trees = [tree(1, ["a b", "c d"], "e f", **inner), tree(2, ["g h"], "ice melts")]
    write(tmp_path, "task_1/dev.jsonl", [*trees, tree(3, ["x"], "y", proof="")])
    result = recast("entailment_tree/entailment_bank", tmp_path, "drop")
    assert result.triples() == [("a b. c d.", "e f", YES), ("g h.", "ice melts", YES), ("g h.", "e f", NO)]
    assert result.faults.filtered == {"no other tree to take a conclusion from": 1}
    assert result.faults.dropped == {"the proof names no sentences of the context": 1}


def question(number, stem, term, choices=("support, defined as 'x'", "rib", "horn"), key="0"):
    listed = [{"text": text, "label": str(place)} for place, text in enumerate(choices)]
    body = {"question": {"stem": stem, "choices": listed}, "answerKey": key, "id": f"hypernymy_{number}"}
    return body | {"notes": {"surface_form": term}}


def test_wordnet_questions_give_one_right_and_one_wrong_statement(tmp_path):
    stem = "In 'the base, or foot, of Al's lamp', the word or phrase 'base' is best described as a type of"
    write(tmp_path, "hypernymy/train.jsonl", [question(0, stem, "base"), question(1, "no quotes", "base")])
    result = recast("hypernymy/wordnet_qa", tmp_path, "drop")
    right, wrong = result.rows
    assert right["premise"] == wrong["premise"] == "the base, or foot, of Al's lamp"
    assert right["hypothesis"] == "base is best characterized as a kind or type of support, defined as 'x'"
    assert (right["label"], wrong["label"]) == (YES, NO)
    assert wrong["hypothesis"] == f"base is best characterized as a kind or type of {wrong['substituted']}"
    assert wrong["substituted"] in {"rib", "horn"}
    assert result.faults.dropped == {"a stem of another form": 1}
    turned = question(0, stem, "base", ("horn", "rib", "support, defined as 'x'"), "2")
    write(tmp_path, "hypernymy/train.jsonl", [turned])
    assert recast("hypernymy/wordnet_qa", tmp_path).triples() == result.triples()


def test_hyponyms_have_one_form_for_all_stems(tmp_path):
    stem = (
        "Given the following 'shape a figure', a more specific example of the word/phrase 'figure' is what?"
    )
    write(tmp_path, "hyponymy/dev.jsonl", [question(0, stem, "figure", ("puppet", "Puppet!"))])
    with pytest.raises(SourceErrors, match="field 'question': no wrong choice"):
        recast("hyponymy/wordnet_qa", tmp_path)
    write(tmp_path, "hyponymy/dev.jsonl", [question(0, stem, None, ("puppet", "globe"))])
    assert recast("hyponymy/wordnet_qa", tmp_path).triples("dev") == [
        ("shape a figure", "a specific type of figure is puppet", YES),
        ("shape a figure", "a specific type of figure is globe", NO),
    ]


SENTENCES = [
    ("dative", 1, "Al gave the key to the man in red .", 1, "Al gave the man in red the key ."),
    ("inchoative", 1, "Al blew the bubble .", 0, "The bubble blew ."),
    ("spray_load", 1, "Al took hay out of the old barn .", 0, "Al took the old barn with hay ."),
    ("there", 1, "A ghost appeared in the room .", 1, "There appeared in the room a ghost ."),
    ("understood_object", 1, "Al washed his hands .", 1, "Al washed ."),
    ("understood_object", 1, "Al kissed Bo .", 1, "Al and Bo kissed ."),
    ("spray_load", 0, "Al filled tea into the cup .", 1, "Al filled the cup with tea ."),
]


def test_alternants_find_each_other(tmp_path):
    files: dict[str, str] = {}
    for folder, first_label, first, second_label, second in SENTENCES:
        lines = f"s\t{second_label}\t\t{second}\ns\t{first_label}\t\t{first}\n"
        files[folder] = files.get(folder, "") + lines
    files["dative"] += "s\t1\t\tAl slept .\ns\t1\t\tAl slept .\ns\t0\t*\tAl slept .\n"
    for folder, text in files.items():
        write(tmp_path, f"FAVA/{folder}/train.tsv", text)
    result = recast("syntactic_alternation/fava", tmp_path, "drop")
    assert sorted(result.triples()) == sorted(
        (first, second, YES if label else NO) for _, good, first, label, second in SENTENCES if good
    )
    assert result.faults.filtered == {
        "the first alternant is not acceptable": 1,
        "sentence stands twice": 1,
        "no alternant in the split": 1,
    }
    assert result.faults.dropped == {"one sentence judged both ways": 1}


def all_alternants(frame: str, words: fava.Words) -> Iterator[fava.Words]:
    """What a sentence becomes by an alternation, whether or not there is a sentence of that bag."""
    count = len(words)
    places = {
        "dat*": [(at, at + 1) for at in range(count)],
        "*inch*": [(0, 1)],
        "spray*": [(at, at + size) for size in (1, 2) for at in range(3, count - size)],
        "there*": [(0, 0)],
        "u*obj*": [(at, count) for at in range(count - 1, 1, -1)],
    }
    for start, end in places[frame]:
        yield from fava.FRAMES[frame].alternants(words, start, end)


FEW_WORDS = st.sampled_from(["a", "a", "b", "c", "to", "for", "with", "there", "and"])


@given(
    st.sampled_from(sorted(fava.FRAMES)), st.lists(st.lists(FEW_WORDS, max_size=7).map(tuple), max_size=30)
)
def test_bags_miss_no_alternant(frame, sentences):
    known = {
        words: Record("train.tsv", row, row + 1, {}) for row, words in enumerate(dict.fromkeys(sentences))
    }
    first_of = {
        words: next((known[other] for other in all_alternants(frame, words) if other in known), None)
        for words in known
    }
    expected = [(known[words], other) for words, other in first_of.items() if other is not None]
    assert list(fava.alternants(known, fava.FRAMES[frame])) == expected


@given(st.lists(st.text("aB .İΣ", max_size=4), max_size=4), st.text("ab i̇σς", max_size=3))
def test_a_tree_has_the_texts_that_are_plain_the_same(texts, other):
    plain = {entailment_bank.plain(text) for text in texts}
    assert all(entailment_bank.stands_in(texts, text) for text in plain)
    assert entailment_bank.stands_in(texts, other) == (other in plain)


TOKENS = st.lists(st.sampled_from(["a", "b", "cd"]), max_size=6)
SPACES = st.sampled_from([" ", "  ", "\n"])


def equal_from_start(first: list[str], second: list[str]) -> int:
    equal = [one == other for one, other in zip(first, second, strict=False)]
    return [*equal, False].index(False)


@given(TOKENS, TOKENS, SPACES, SPACES)
def test_a_replacement_is_the_shortest_run_of_other_tokens(first, second, one_space, other_space):
    text, paraphrased = one_space.join(first), other_space.join(second)
    found = replacement(text, paraphrased)
    if first == second:
        assert found is None
        return
    before = equal_from_start(first, second)
    after = equal_from_start(first[before:][::-1], second[before:][::-1])
    assert text[: found.start].split() == first[:before]
    assert text[found.start : found.end].split() == first[before : len(first) - after]
    assert text[found.end :].split() == first[len(first) - after :]
    assert found.paraphrase == other_space.join(second[before : len(second) - after])


HEADER = (
    "sentenceID,sentence,antecedent,consequent,"
    "antecedent_startid,antecedent_endid,consequent_startid,consequent_endid\n"
)


def test_counterfactual_parts_are_masked_and_their_ends_moved(tmp_path):
    sentence = '"""If Al were here, NASA would hire him,"" she said."'
    row = f"7,{sentence},If Al were here,NASA would hire him,1,15,18,36\n"
    write(tmp_path, "Subtask-2/subtask2_train.csv", HEADER + row)
    result = recast("counterfactual/semeval2020_task5", tmp_path)
    antecedent = '"<hypo>, NASA would hire him," she said.'
    consequent = '"If Al were here, <hypo>," she said.'
    assert result.triples()[::2] == [
        (antecedent, "<hypo> should be 'If Al were here'", YES),
        (consequent, "<hypo> should be 'NASA would hire him'", YES),
    ]
    text = '"If Al were here, NASA would hire him," she said.'
    for row in result.rows[1::2]:
        assert row["label"] == NO
        assert row["substituted"] in text
        assert row["substituted"] != row["answer"]
        assert row["hypothesis"] == f"<hypo> should be '{row['substituted']}'"
    assert len(set(result.groups())) == 1


def test_counterfactual_places_must_fit_and_leave_something(tmp_path):
    rows = (
        "1,I wish I knew.,I wish I knew,{},0,12,-1,-1\n"
        "2,If so I go.,If so,I go,0,5,6,9\n"
        "3,If so I go.,If so,I go,0,4,6,99\n"
    )
    path = write(tmp_path, "subtask2_test.csv", HEADER + rows)
    result = recast("counterfactual/semeval2020_task5", tmp_path, "drop")
    assert result.faults.filtered == {"the part is the whole sentence": 1}
    assert result.faults.dropped == {"not the part that its places name": 1, "not a place in the sentence": 1}
    with pytest.raises(SourceErrors, match="line 3, field 'antecedent': not the part") as error:
        recast("counterfactual/semeval2020_task5", tmp_path)
    assert f"{path}, row 1, line 3, " in str(error.value)
    assert "characters 0 to 5 of the sentence are 'If so '" in str(error.value)


@pytest.mark.parametrize("place", ["9" * 5_000, "²", "-2", "١"])
def test_counterfactual_places_are_few_digits(tmp_path, place):
    path = write(tmp_path, "subtask2_test.csv", HEADER + f"3,If so I go.,If so,I go,0,{place},6,9\n")
    with pytest.raises(SourceErrors) as error:
        recast("counterfactual/semeval2020_task5", tmp_path)
    first = str(error.value).splitlines()[0]
    assert first.startswith(
        f"{path}, row 0, line 2, field 'antecedent_endid': not a place in the sentence, got "
    )
    assert first.endswith("give the place of a character of the sentence, from 0 to 10")
