"""The generic recast rules: worked examples, and properties over any text."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.builders.curriculum.recast import pronouns, rules
from benchwright.builders.curriculum.recast.rules import ENTAILED, NOT_ENTAILED, EmptyComponentError, Pair
from benchwright.tasks import BINARY_NLI, RECAST_NLI

WORDS = st.text(string.ascii_letters + string.digits + "'é.,- ", min_size=1, max_size=30)
TEXTS = WORDS.filter(lambda text: text.strip() != "")


def test_labels_are_those_of_the_tasks() -> None:
    assert BINARY_NLI.labels == (rules.ENTAILED, rules.NOT_ENTAILED)
    assert RECAST_NLI.labels == (rules.ENTAILMENT, rules.NEUTRAL, rules.CONTRADICTION)


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_a_join_loses_no_character(texts: list[str]) -> None:
    joined = rules.joined(**{f"part{n}": text for n, text in enumerate(texts)})
    assert joined == " ".join(text.strip() for text in texts)


@pytest.mark.parametrize("blank", ["", "  ", "\n\t", "\u3000"])
def test_a_join_with_an_empty_part_is_refused(blank: str) -> None:
    with pytest.raises(EmptyComponentError) as caught:
        rules.joined(premise="He runs.", update=blank)
    assert caught.value.component == "update"
    with pytest.raises(EmptyComponentError):
        rules.choices_to_pairs("It rained.", ["wet", blank], 0)
    with pytest.raises(EmptyComponentError):
        rules.cause_or_effect(blank, "It rained.", "cause")
    with pytest.raises(EmptyComponentError):
        pronouns.replace_pronoun("He ran.", 0, "He", blank)


@given(TEXTS, st.lists(TEXTS, min_size=2, max_size=5, unique_by=str.strip), st.data())
def test_every_choice_is_a_hypothesis_and_one_is_entailed(
    premise: str, choices: list[str], data: st.DataObject
) -> None:
    correct = data.draw(st.integers(0, len(choices) - 1))
    pairs = rules.choices_to_pairs(premise, choices, correct)
    assert [pair.hypothesis for pair in pairs] == [choice.strip() for choice in choices]
    assert {pair.premise for pair in pairs} == {premise.strip()}
    assert [pair.label for pair in pairs] == [
        ENTAILED if number == correct else NOT_ENTAILED for number in range(len(choices))
    ]


@given(st.lists(TEXTS, min_size=3, max_size=6, unique_by=str.strip), st.permutations(range(3)), st.text())
def test_the_wrong_choice_does_not_depend_on_the_order_of_choices(
    choices: list[str], order: list[int], key: str
) -> None:
    first = choices[:3]
    permuted = [first[n] for n in order]
    pairs = rules.choices_to_pairs("p", first, 0, wrong=1, key=key)
    again = rules.choices_to_pairs("p", permuted, order.index(0), wrong=1, key=key)
    assert {(pair.hypothesis, pair.label) for pair in pairs} == {
        (pair.hypothesis, pair.label) for pair in again
    }


def test_a_drawn_choice_never_says_what_the_right_one_says() -> None:
    choices = ["The cat.", "the  cat", "A cat!", "a dog"]
    for key in map(str, range(30)):
        pairs = rules.choices_to_pairs("p", choices, 0, wrong=1, key=key)
        assert [pair.hypothesis for pair in pairs] == ["The cat.", "a dog"]


def test_drawn_choices_differ_from_key_to_key() -> None:
    drawn = {
        rules.choices_to_pairs("p", ["a1", "b1", "c1", "d1"], 0, wrong=1, key=str(key))[1].hypothesis
        for key in range(40)
    }
    assert drawn == {"b1", "c1", "d1"}


def test_a_correct_choice_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="no choice 2 among 2"):
        rules.choices_to_pairs("p", ["a", "b"], 2)


@pytest.mark.parametrize(
    ("text", "equal"),
    [
        ("1,000", "1000"),
        ("1,000.00", "1000"),
        ("  The U.S.  Army!", "u s army"),
        ("state-of-the-art", "state of art"),
        ("An apple", "apple"),
        ("25.0%", "25%"),
    ],
)
def test_answers_that_are_the_same(text: str, equal: str) -> None:
    assert rules.normalised(text) == rules.normalised(equal)


@pytest.mark.parametrize(
    ("text", "other"),
    [("1.5", "15"), ("-5", "5"), ("25", "25%"), ("$25", "25"), ("1,5", "15"), ("100", "1000")],
)
def test_answers_that_are_not_the_same(text: str, other: str) -> None:
    assert rules.normalised(text) != rules.normalised(other)


@given(TEXTS)
def test_casing_rules_change_one_letter_at_most(text: str) -> None:
    for changed in (rules.capitalised(text), rules.in_mid_sentence(text)):
        assert len(changed) == len(text)
        assert sum(a != b for a, b in zip(changed, text, strict=True)) <= 1
        assert changed.lower() == text.lower()


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("The sun rose.", "the sun rose."),
        ("Users left.", "users left."),
        ("Squirrels ran.", "Squirrels ran."),
        ("NASA hired Al.", "NASA hired Al."),
        ("James left.", "James left."),
        ("I'm here.", "I'm here."),
        ("It's here.", "it's here."),
        ("Rivera's car", "Rivera's car"),
        ("'The' is a word.", "'The' is a word."),
    ],
)
def test_a_first_word_inside_a_sentence(text: str, inside: str) -> None:
    assert rules.in_mid_sentence(text) == inside


def test_words_of_the_corpus_are_no_names() -> None:
    assert rules.in_mid_sentence("Squirrels ran.", {"squirrels"}) == "squirrels ran."


@pytest.mark.parametrize(
    ("premise", "choice", "asks_for", "sentence"),
    [
        ("It was dark.", "The sun had set.", "cause", "It was dark because the sun had set."),
        ("I fell.", "I cried.", "effect", "I fell, so I cried."),
        ("Who was it?", "Nobody knew.", "effect", "Who was it?, so nobody knew."),
        ("NASA hired Al.", "Al left ESA.", "cause", "NASA hired Al because Al left ESA."),
        ("Wait...", "He slept.", "effect", "Wait..., so he slept."),
    ],
)
def test_causes_and_effects(premise: str, choice: str, asks_for: str, sentence: str) -> None:
    assert rules.cause_or_effect(premise, choice, asks_for) == sentence


def test_a_swapped_pair() -> None:
    pair = Pair("a", "b", ENTAILED, answer="x")
    assert rules.swapped(pair, NOT_ENTAILED) == Pair("b", "a", NOT_ENTAILED, answer="x")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Bob", "Bob's"),
        ("James", "James's"),
        ("the guests", "the guests'"),
        ("the boss", "the boss's"),
        ("the men", "the men's"),
        ("Ann's", "Ann's"),
        ("the guests'", "the guests'"),
        ("Akiva Eiger", "Akiva Eiger's"),
    ],
)
def test_possessives(name: str, expected: str) -> None:
    assert pronouns.possessive(name) == expected


@pytest.mark.parametrize(
    ("text", "pronoun", "candidate", "expected"),
    [
        ("As Ollie ran, his legs ached.", "his", "Ollie", "As Ollie ran, Ollie's legs ached."),
        ("His legs ached.", "His", "the father", "The father's legs ached."),
        ("She left.", "She", "the girl", "The girl left."),
        ("We saw them.", "them", "The boys", "We saw the boys."),
        ("We saw them.", "them", "NASA", "We saw NASA."),
        ("I gave her a book.", "her", "Ann", "I gave Ann a book."),
        ("I saw her hand.", "her", "Ann", "I saw Ann's hand."),
        ("Patting her back, Jo smiled.", "her", "Jo", "Patting Jo's back, Jo smiled."),
        ("He sent her back to Rome.", "her", "Jo", "He sent Jo back to Rome."),
        ("He saw her.", "her", "Jo", "He saw Jo."),
        ("The book is hers.", "hers", "Jo", "The book is Jo's."),
        ("so she told her", "she", "Ann's", "so Ann told her"),
        ("and it did look better", "it", "Tina's", "and Tina's did look better"),
        ("as her place was taken", "her", "Emma's mother", "as Emma's mother's place was taken"),
        ('He said, "She left."', "She", "the nurse", 'He said, "The nurse left."'),
    ],
)
def test_pronouns_replaced(text: str, pronoun: str, candidate: str, expected: str) -> None:
    assert pronouns.replace_pronoun(text, text.index(pronoun), pronoun, candidate) == expected


@given(TEXTS, TEXTS, st.sampled_from(["he", "his", "her", "it", "They"]), TEXTS)
def test_nothing_but_the_pronoun_changes(before: str, after: str, pronoun: str, candidate: str) -> None:
    text = before + pronoun + after
    result = pronouns.replace_pronoun(text, len(before), pronoun, candidate)
    assert result.startswith(before)
    assert result.endswith(after)
    inside = result[len(before) : len(result) - len(after)].lower()
    assert inside.startswith(candidate.strip().lower().removesuffix("'s"))


def test_a_pronoun_that_does_not_stand_there() -> None:
    with pytest.raises(ValueError, match="does not stand at 1"):
        pronouns.replace_pronoun("He ran.", 1, "He", "Bob")


@pytest.mark.parametrize(
    ("text", "candidate", "expected"),
    [
        ("It rained. _ got wet.", "the cat", "It rained. The cat got wet."),
        ("I fed _ .", "The cat", "I fed the cat ."),
        ('He said "_ is mine."', "the cat", 'He said "the cat is mine."'),
        ("the _ were small", "people", "the people were small"),
        ("I like _ more.", "iPhones", "I like iPhones more."),
    ],
)
def test_blanks_filled(text: str, candidate: str, expected: str) -> None:
    assert pronouns.fill_blank(text, "_", candidate) == expected


@pytest.mark.parametrize("text", ["no blank", "_ and _"])
def test_a_text_without_its_one_blank(text: str) -> None:
    with pytest.raises(ValueError, match="blanks"):
        pronouns.fill_blank(text, "_", "x")


@pytest.mark.parametrize(
    ("text", "word", "sentence"),
    [
        ("Mr. Ali sat. He slept. Then he ate.", "slept", "He slept."),
        ("It was W. S. Gilbert who died. He was old.", "died", "It was W. S. Gilbert who died."),
        ("He moved to the U.S. Army in May. He left.", "Army", "He moved to the U.S. Army in May."),
        ("Who? Me! He ran", "ran", "He ran"),
        ('"Stop." He left.', "left", "He left."),
        ("See e.g. 5 cats. He left.", "cats", "5 cats."),
        ("One sentence", "One", "One sentence"),
        ("Was it 3.5 metres? _ said so.", "_", "_ said so."),
    ],
)
def test_sentences_around(text: str, word: str, sentence: str) -> None:
    start, end = pronouns.sentence_around(text, text.index(word))
    assert text[start:end] == sentence


MARKED = st.text("aB.?! \n)_é", min_size=1, max_size=25)


@given(MARKED, st.data())
def test_a_sentence_goes_from_stop_to_stop(text: str, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(text) - 1))
    size = data.draw(st.integers(1, len(text) - position))
    found = [pronouns.STOP.match(text, place) for place in range(len(text))]
    ends = [stop.end() for stop in found if stop is not None and pronouns.ends_sentence(stop)]
    start = max([end for end in ends if end <= position], default=0)
    end = min([end for end in ends if end >= position + size], default=len(text))
    sentence = text[start:end]
    begin, stop = pronouns.sentence_around(text, position, size)
    assert text[begin:stop] == sentence.strip()
    assert start <= begin <= stop <= end


@given(st.lists(TEXTS, min_size=1, max_size=4), st.data())
def test_a_sentence_holds_its_position(texts: list[str], data: st.DataObject) -> None:
    text = ". ".join(texts)
    position = data.draw(st.integers(0, len(text) - 1).filter(lambda place: not text[place].isspace()))
    start, end = pronouns.sentence_around(text, position)
    assert 0 <= start <= position < end <= len(text)
