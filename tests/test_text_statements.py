"""Statements from questions and answers: worked pairs, properties, and twice 200 judged outputs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statement_questions import drawn_questions, unseen_questions

from benchwright.cache import cache_folder
from benchwright.hashing import sha256_text
from benchwright.text.statements import NoStatement, Statement, statement, statements

FIXTURES = Path(__file__).parent / "fixtures"
# file of verdicts: least share of good statements among all questions, and among the statements given
SHARES = {"statements_verdicts.json": (0.865, 0.89), "statements_unseen_verdicts.json": (0.845, 0.90)}
# the second set when it was first read, before its faults were corrected
UNSEEN_SHARES = (0.78, 0.83)

TRIPLES = [
    # the wh-phrase is the subject
    ("Who hired Al?", "NASA", "NASA hired Al."),
    ("Who founded the bakery in 1921?", "Marta Lindqvist", "Marta Lindqvist founded the bakery in 1921."),
    ("Which river crosses the valley?", "The Orla", "The Orla crosses the valley."),
    ("What caused the flood?", "a broken dam", "a broken dam caused the flood."),
    ("Who will host the next meeting?", "the Danish team", "the Danish team will host the next meeting."),
    ("What can damage the sensor?", "strong light", "strong light can damage the sensor."),
    ("Which metal is used for the wires?", "copper", "copper is used for the wires."),
    ("Who has won the race twice?", "Ines Duarte", "Ines Duarte has won the race twice."),
    ("How many people live on the island?", "312", "312 people live on the island."),
    ("How many people live on the island?", "312 people", "312 people live on the island."),
    ("How much money was raised?", "$4,000", "$4,000 was raised."),
    ("Whose boat reached the harbor first?", "Petra", "Petra's boat reached the harbor first."),
    (
        "Whose boat reached the harbor first?",
        "the Andersens",
        "the Andersens' boat reached the harbor first.",
    ),
    ("What percentage of the voters stayed home?", "40%", "40% of the voters stayed home."),
    ("Which of the two bridges is older?", "the stone bridge", "the stone bridge is older."),
    ("What grows on the north wall?", "mosses", "mosses grow on the north wall."),
    ("Which king's palace burned down?", "Erik", "Erik's palace burned down."),
    # do-support
    ("What did Lena invent?", "a folding chair", "Lena invented a folding chair."),
    ("What did Lena invent in 1899?", "a folding chair", "Lena invented a folding chair in 1899."),
    ("When did the museum open?", "1987", "The museum opened in 1987."),
    ("When did the museum open?", "in 1987", "The museum opened in 1987."),
    ("When did the museum open?", "May 3, 1987", "The museum opened on May 3, 1987."),
    ("When did the shop close?", "the 1960s", "The shop closed in the 1960s."),
    ("When did the shop close?", "19th century", "The shop closed in the 19th century."),
    ("When did the shop close?", "after the war", "The shop closed after the war."),
    ("Where does Omar live?", "Lisbon", "Omar lives in Lisbon."),
    ("Where does Omar work?", "the University of Turin", "Omar works in the University of Turin."),
    ("Where did the tribe move?", "the coast", "The tribe moved to the coast."),
    ("Where did the tribe come from?", "the north", "The tribe came from the north."),
    ("Why did the bridge collapse?", "heavy snow", "The bridge collapsed because of heavy snow."),
    ("Why did the bridge collapse?", "because it was old", "The bridge collapsed because it was old."),
    (
        "Why did the bridge collapse?",
        "the ice had cracked it",
        "The bridge collapsed because the ice had cracked it.",
    ),
    ("How does the engine start?", "a small battery", "The engine starts by a small battery."),
    ("How does the engine start?", "by pulling a cord", "The engine starts by pulling a cord."),
    ("How does the engine start?", "automatically", "The engine starts automatically."),
    ("What does the acronym stand for?", "Open Door", "The acronym stands for Open Door."),
    ("Who did the mayor appoint as judge?", "Mr. Obi", "The mayor appointed Mr. Obi as judge."),
    ("Who does she work with?", "two nurses", "She works with two nurses."),
    ("What do bees collect?", "nectar", "Bees collect nectar."),
    ("What does the plant not need?", "direct light", "The plant does not need direct light."),
    ("How many goals did the team score?", "three", "The team scored three goals."),
    ("How much does the ticket cost?", "12 euros", "The ticket costs 12 euros."),
    ("How long did the storm last?", "two days", "The storm lasted two days."),
    ("How long did the guests stay?", "two days", "The guests stayed for two days."),
    ("How often does the bus run?", "every ten minutes", "The bus runs every ten minutes."),
    ("What year did the war end?", "1648", "The war ended in 1648."),
    ("What day did the ship leave?", "Monday", "The ship left on Monday."),
    ("What city did she move to?", "Ghent", "She moved to Ghent."),
    ("What kind of roof does the barn have?", "wooden", "The barn has a wooden roof."),
    ("Whose advice did the king follow?", "Maud", "The king followed Maud's advice."),
    ("What did the farmer want to sell?", "two cows", "The farmer wanted to sell two cows."),
    ("What did Ada say was missing?", "a key", "Ada said a key was missing."),
    ("What did the council call the plan?", "Green Ring", "The council called the plan Green Ring."),
    ("What did Noor do?", "repaired the fence", "Noor repaired the fence."),
    ("What will Noor want to do next?", "go home", "Noor will want to go home next."),
    ("What does Noor need to do before this?", "buy the tools", "Noor needs to buy the tools before this."),
    ("How would Noor feel afterwards?", "very proud", "Noor would feel very proud afterwards."),
    ("How would you describe Noor?", "a caring friend", "You would describe Noor as a caring friend."),
    ("What will happen to Noor?", "get a reward", "Noor will get a reward."),
    # be, have and modals
    ("Where was the painter born?", "Riga", "The painter was born in Riga."),
    ("When was the first edition printed?", "1702", "The first edition was printed in 1702."),
    ("Why was the road closed?", "repairs", "The road was closed because of repairs."),
    ("How was the code broken?", "patience", "The code was broken by patience."),
    ("What is Elm Street known for?", "its cafes", "Elm Street is known for its cafes."),
    (
        "What was the old theater previously called?",
        "the Globe",
        "The old theater was previously called the Globe.",
    ),
    ("What is the capital of Peru?", "Lima", "The capital of Peru is Lima."),
    ("What is the name of the dog?", "Rex", "The name of the dog is Rex."),
    ("Who is the editor of the paper?", "Jo Park", "Jo Park is the editor of the paper."),
    ("Who is Jo Park?", "an editor", "Jo Park is an editor."),
    ("Who was Jo Park?", "physicist", "Jo Park was a physicist."),
    ("What color is the door?", "dark green", "The door is dark green."),
    ("What kind of animal is a dodo?", "a bird", "A dodo is a bird."),
    ("How old is the oak?", "400 years", "The oak is 400 years old."),
    ("How old was she?", "12", "She was 12 years old."),
    ("How tall is the tower?", "80 meters", "The tower is 80 meters tall."),
    ("How many rooms are there in the house?", "nine", "There are nine rooms in the house."),
    ("What have the divers found?", "an anchor", "The divers have found an anchor."),
    ("What should visitors bring?", "warm clothes", "Visitors should bring warm clothes."),
    ("Where can the keys be found?", "under the mat", "The keys can be found under the mat."),
    ("Who was the song written by?", "Lou Hart", "The song was written by Lou Hart."),
    ("Where is the castle?", "Wales", "The castle is in Wales."),
    # verbs joined by "and", taken for nouns, or inflected already
    ("Whom did the guards chase and catch?", "the thief", "The guards chased and caught the thief."),
    ("Which field relies on statistics?", "genetics", "genetics relies on statistics."),
    ("When does the fair opens?", "May", "The fair opens in May."),
    ("How many children are homeless?", "40", "40 children are homeless."),
    ("How many stories tall is the tower?", "29", "The tower is 29 stories tall."),
    ("How did many traders become rich?", "by selling salt", "Many traders became rich by selling salt."),
    # what is asked for stays where the answer needs it
    ("What level of government runs it?", "federal", "The federal level of government runs it."),
    ("What type of plates do they use?", "thin", "They use thin plates."),
    ("What term was used for the ban?", "Long Stop", "The term Long Stop was used for the ban."),
    ("By what name is the plant known?", "moonwort", "The plant is known by the name moonwort."),
    ("How many ministries does it run?", "one", "It runs one ministry."),
    ("What is the climate like in Oslo?", "cold", "The climate in Oslo is cold."),
    ("What is the town that Lou lives near?", "Orla", "The town that Lou lives near is Orla."),
    # answers that repeat the question or bring their own form
    ("What company is it a part of?", "a part of Orla Steel", "It is a part of Orla Steel."),
    ("How is growth defined?", "defined as gain in size", "Growth is defined as gain in size."),
    ("What is the aim of the law?", "protect the river", "The aim of the law is to protect the river."),
    # prepositions in front, wh-phrases in place, clauses in front
    ("In what year did the mine close?", "1931", "The mine closed in 1931."),
    ("In what year did the mine close?", "in 1931", "The mine closed in 1931."),
    ("In which town was the treaty signed?", "Dover", "The treaty was signed in Dover."),
    ("To whom did she leave the farm?", "her niece", "She left the farm to her niece."),
    ("In what century was it built?", "12th", "It was built in the 12th century."),
    ("From what distance can it be seen?", "9 miles", "It can be seen from 9 miles."),
    ("The city was founded in what year?", "1204", "The city was founded in 1204."),
    ("Oslo is the capital of which country?", "Norway", "Oslo is the capital of Norway."),
    ("The prize went to whom?", "Kofi", "The prize went to Kofi."),
    ("In 1990, who won the cup?", "the Reds", "In 1990, the Reds won the cup."),
    ("When the rain stopped, what did they do?", "went outside", "When the rain stopped, they went outside."),
    ("Name the river that crosses Wroclaw.", "the Oder", "the Oder is the river that crosses Wroclaw."),
    # yes and no, all lower case as in BoolQ
    ("is the sky blue", "yes", "the sky is blue."),
    ("is a whale a fish", "no", "a whale is not a fish."),
    ("are cats and lions in the same family", "yes", "cats and lions are in the same family."),
    ("is sheet metal the same as tin foil", "no", "sheet metal is not the same as tin foil."),
    ("is elm street part of the old town", "yes", "elm street is part of the old town."),
    ("was the film based on a true story", "no", "the film was not based on a true story."),
    ("did the team win the cup in 1990", "yes", "the team won the cup in 1990."),
    ("did the team win the cup in 1990", "no", "the team did not win the cup in 1990."),
    ("does the lake freeze in winter", "true", "the lake freezes in winter."),
    ("do you need a license to fish", "false", "you do not need a license to fish."),
    ("can a dog eat cheese", "no", "a dog cannot eat cheese."),
    ("can you use any door", "yes", "you can use any door."),
    ("has the queen ever been to japan", "yes", "the queen has at some time been to japan."),
    ("is there a bridge over the strait", "no", "there is not a bridge over the strait."),
    ("are there any wolves in denmark", "yes", "there are some wolves in denmark."),
    ("will there be another season", "yes", "there will be another season."),
    ("does the law still apply", "no", "the law still does not apply."),
    ("Is NASA part of the government?", "Yes", "NASA is part of the government."),
    # the wh-phrase is in what stands in front
    ("At the end of which century did trade grow?", "17th", "At the end of the 17th century, trade grew."),
    ("For her part in what film did Ida win a prize?", "Tides", "For her part in Tides, Ida won a prize."),
    ("In the south of which country is Lyon?", "France", "Lyon is in the south of France."),
    (
        "In 2009 to what did the firm change its name?",
        "Aviva",
        "In 2009, the firm changed its name to Aviva.",
    ),
    (
        "In the lab, tools from which two fields are used to map it?",
        "optics and genetics",
        "In the lab, tools from optics and genetics are used to map it.",
    ),
    (
        "In 2001 which landfill on the island was closed?",
        "Fresh Kills",
        "In 2001, Fresh Kills on the island was closed.",
    ),
    ("The war began in which century?", "19th", "The war began in the 19th century."),
    ("Which minister was born in Hull?", "james callaghan", "james callaghan was born in Hull."),
    (
        "How did the slave trade negatively impact the coast?",
        "by raids",
        "The slave trade negatively impacted the coast by raids.",
    ),
    (
        "When was the exemption for clothing less than $50 reversed?",
        "2011",
        "The exemption for clothing less than $50 was reversed in 2011.",
    ),
    # no word around the wh-phrase is lost
    ("The team faced what in the final?", "a deficit", "The team faced a deficit in the final."),
    (
        "They rated what as the worst of all time?",
        "Windows ME",
        "They rated Windows ME as the worst of all time.",
    ),
    (
        "It is compared to what since it costs so much?",
        "gold",
        "It is compared to gold since it costs so much.",
    ),
    (
        "The study let players do what with scales?",
        "slow down",
        "The study let players slow down with scales.",
    ),
    ("Which clubs traverse the campus?", "Elks and Owls", "Elks and Owls traverse the campus."),
    ("What sometimes leaks out of it?", "water", "water sometimes leaks out of it."),
    ("Which range stretches from sea to sea?", "the Kaur", "the Kaur stretches from sea to sea."),
    ("How much oil passes thru the canal?", "2 tons", "2 tons passes thru the canal."),
    ('Which part sings the song "As long as I live"?', "Nan", 'Nan sings the song "As long as I live".'),
    ("What period did the Rhine capture streams?", "Pliocene", "The Rhine captured streams in Pliocene."),
    ("What did a good job with the blades?", "the brush", "the brush did a good job with the blades."),
    ("What percentage of the state's people vote?", "8%", "8% of the state's people vote."),
    ("What events happen before the league season?", "two cups", "two cups happen before the league season."),
    ("What does the color darkens to?", "orange", "The color darkens to orange."),
    ("How often does the pot self-clean?", "twice a day", "The pot self-cleans twice a day."),
    ("can a fly lay eggs in milk", "yes", "a fly can lay eggs in milk."),
    ("Why was she hesitant to buy it?", "the price", "She was hesitant to buy it because of the price."),
    ("What item is this?", "a kettle", "This is a kettle."),
    ("What colors was the flag?", "red and white", "The flag was red and white."),
    ("What kind of soap isn't made here?", "hard soap", "hard soap isn't made here."),
    ("did straws used to be made of paper", "yes", "straws used to be made of paper."),
    ("Which song mentions a club?", "you're in my heart", "you're in my heart mentions a club."),
    # a kind of several things
    ("What kind of sittings take place in May?", "autumn", "autumn sittings take place in May."),
    ("What kind of handles do the knives have?", "bone", "The knives have bone handles."),
    ("What kind of animals live there?", "cattle", "cattle live there."),
    ("can drinking too much milk make you ill", "yes", "drinking too much milk can make you ill."),
    ("does the river help the wood grow", "yes", "the river helps the wood grow."),
    (
        "Some claim to have seen it; by what name is it better known?",
        "Bigfoot",
        "Some claim to have seen it; it is better known by the name Bigfoot.",
    ),
    (
        "Who was the first president of Arcadia, elected in 1990?",
        "Ida Roe",
        "Ida Roe was the first president of Arcadia, elected in 1990.",
    ),
    ("was egypt a part of the ottoman empire", "yes", "egypt was a part of the ottoman empire."),
    (
        "Who wed an actress. Her first play was 'Mist'?",
        "Hector",
        "Hector wed an actress. Her first play was 'Mist'.",
    ),
    # punctuation
    ('Who wrote "Blue Hour"?', "Ana Reis", 'Ana Reis wrote "Blue Hour".'),
    ("NASA hired who?", "Al.", "NASA hired Al."),
    ("Who lives in the U.S.?", "my aunt", "my aunt lives in the U.S."),
    ("Who lives there?", "Sammy Davis Jr.", "Sammy Davis Jr. lives there."),
    ("What did she buy in Rome?", "a coat.", "She bought a coat in Rome."),
    ("What's the biggest lake (by area)?", "Lake Vela", "The biggest lake (by area) is Lake Vela."),
    ("Where does iOS run?", "on phones", "iOS runs on phones."),
]

REFUSED = [
    ("", "yes", "empty_question"),
    ("Who won?", " ", "empty_answer"),
    ("Describe the process of rusting.", "slow", "imperative"),
    ("is the shop open", "on Mondays", "answer_not_yes_or_no"),
    ("Rivers and lakes", "water", "no_wh_word"),
    ("Who won? Who lost?", "Ann", "several_questions"),
    ("What did she find?", "the old man was her father", "answer_is_a_clause"),
    ("What did she find?", "(the old map", "answer_is_a_fragment"),
    ("How many were there?", "There were two of them. Some were red", "answer_is_several_sentences"),
    ("What did the work change?", "extended the bell", "answer_does_not_fit"),
    ("How did the second one crack?", "in the cold", "no_main_verb"),
    ("What might a subroutine construct?", "an object", "no_main_verb"),
    ("What is one downside?", "it's too loud", "answer_is_a_clause"),
    ("How much can it contain?", "doesn't hold a lot", "answer_does_not_fit"),
    ("When did she lose it?", "the Republican Party", "answer_does_not_fit"),
    ("Who where the guests invited by?", "Ann", "two_wh_words"),
    ("When was it founded and why?", "1964", "several_questions"),
    ("Which boxer is the champion. She was awarded a medal?", "Ann", "several_sentences"),
    ("How did Tom lose his money?", "gambled", "answer_does_not_fit"),
    ("Which is older, the church or the mill?", "the mill", "alternatives"),
]


@pytest.mark.parametrize(("question", "answer", "expected"), TRIPLES)
def test_worked_statements(question: str, answer: str, expected: str, tagger) -> None:
    made = statement(question, answer, tagger=tagger)
    assert isinstance(made, Statement), made
    assert made.text == expected


@pytest.mark.parametrize(("question", "answer", "reason"), REFUSED)
def test_no_statement_has_a_reason_and_is_false(question: str, answer: str, reason: str, tagger) -> None:
    made = statement(question, answer, tagger=tagger)
    assert made == NoStatement(reason)
    assert not made


def test_many_at_once_are_each_alone(tagger) -> None:
    questions = [question for question, _, _ in TRIPLES] * 2
    answers = [answer for _, answer, _ in TRIPLES] * 2
    together = statements(questions, answers, tagger=tagger)
    assert together == [statement(q, a, tagger=tagger) for q, a in zip(questions, answers, strict=True)]
    with pytest.raises(ValueError):
        statements(["Who won?"], [], tagger=tagger)


def test_other_processes_and_hash_seeds_give_the_same_bytes(tagger, tmp_path: Path) -> None:
    pairs = [(question, answer) for question, answer, _ in TRIPLES]
    (tmp_path / "pairs.json").write_text(json.dumps(pairs), encoding="utf-8")
    code = (
        "import json, sys; from benchwright.text.statements import statements;"
        "q, a = zip(*json.load(open(sys.argv[1], encoding='utf-8')));"
        "print(json.dumps([[s.text, s.rule, s.lost] for s in statements(q, a)]))"
    )
    from conftest import USER_CACHE

    outputs = {
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "pairs.json")],
            env={**os.environ, "PYTHONHASHSEED": seed, "BENCHWRIGHT_CACHE": str(USER_CACHE)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    here = statements(*zip(*pairs, strict=True), tagger=tagger)
    assert outputs == {json.dumps([[s.text, s.rule, s.lost] for s in here]) + "\n"}
    assert cache_folder() != USER_CACHE


VOCABULARY = """
    who what which whose where when why how many much does did do is are was has can will in of to the a an
    NASA Al Rome iPhone river king's 1995 old green ran wrote hired open live year kind people not any , ;
    "so" (now) and that there it known called
"""
ANSWER_WORDS = 'NASA Al. the in 1995 river yes no U.S. two (or three) because slowly by gold Erik\'s "so"'
WORDS = st.sampled_from(VOCABULARY.split())
ANSWERS = st.lists(st.sampled_from(ANSWER_WORDS.split()), min_size=1, max_size=4).map(" ".join)
# what a wh-phrase takes along: the counted noun, "years", a preposition that the answer repeats
WH_PHRASE = """
    who what which whose where when why how many much people year kind river old in of to
"""


@given(question=st.lists(WORDS, min_size=1, max_size=12).map(" ".join), answer=ANSWERS)
def test_answers_stand_unchanged_and_no_word_gets_lost(question: str, answer: str, tagger) -> None:
    made = statement(question + "?", answer, tagger=tagger)
    if not made:
        assert made.reason.replace("_", "").isalpha()
        return
    assert made.text.strip() == made.text
    assert "  " not in made.text
    assert made.text[-1] in '.!?"”)'
    if made.rule == "yes_no":
        return
    assert answer.rstrip(".,; ") in made.text
    kept = _bare(question) - Counter(word.lower() for word in made.lost) - _bare(made.text)
    phrase = set(WH_PHRASE.split())
    inflected = {"is", "are", "was", "has", "does", "do"}
    assert {word for word in kept if word not in phrase | inflected} <= _dropped_nouns(question), made


def _bare(text: str) -> Counter[str]:
    words = (word.strip("\"'“”‘’()[]{},.;:!?").lower() for word in text.split())
    return Counter(word for word in words if word)


def _dropped_nouns(question: str) -> set[str]:
    """Words right after "how many" or "what kind of", which the answer may bring itself."""
    words = [word.strip('",;()').lower() for word in question.split()]
    starts = [i for i, word in enumerate(words) if word in ("many", "much", "kind")]
    return {word for i in starts for word in words[i + 1 :]}


@given(text=st.text(max_size=80), answer=st.text(max_size=30))
def test_any_text_is_a_statement_or_a_reason(text: str, answer: str, tagger) -> None:
    made = statement(text, answer, tagger=tagger)
    assert isinstance(made, Statement) or made.reason


@given(name=st.sampled_from(["NASA", "iPhone", "McAdam", "eBay", "USS Orla", "van Dyck", "O'Neil"]))
def test_casing_is_kept(name: str, tagger) -> None:
    for question in (
        f"Who sued {name}?",
        f"Where did {name} open?",
        f"What is {name} known for?",
        f"Is {name} old?",
    ):
        answer = "yes" if question.startswith("Is") else "Al"
        made = statement(question, answer, tagger=tagger)
        assert isinstance(made, Statement)
        assert name in made.text or (name[0].upper() + name[1:] in made.text and name.split()[0].islower())


@pytest.mark.corpora
@pytest.mark.parametrize("name", SHARES)
def test_every_output_has_a_verdict_and_shares_are_as_reported(name: str, data_folder: Path, tagger) -> None:
    """A changed output needs a new verdict: read it and enter its sha256."""
    verdicts = json.loads((FIXTURES / name).read_text(encoding="utf-8"))
    if name == "statements_verdicts.json":
        rows = drawn_questions(data_folder)
    else:
        rows = unseen_questions(data_folder, verdicts)
    assert [row[0] for row in rows] == list(verdicts)
    assert len(rows) == 200
    made = statements([row[1] for row in rows], [row[2] for row in rows], tagger=tagger)
    unjudged = []
    for (question_id, question, answer), output in zip(rows, made, strict=True):
        verdict = verdicts[question_id]
        assert isinstance(output, Statement) == (verdict["verdict"] in ("good", "bad"))
        text = output.text if isinstance(output, Statement) else output.reason
        if sha256_text(text) != verdict["output_sha256"]:
            unjudged.append((question_id, verdict["verdict"], question, answer, text))
    assert not unjudged
    of_all, of_given = _shares([verdict["verdict"] for verdict in verdicts.values()])
    assert of_all >= SHARES[name][0]
    assert of_given >= SHARES[name][1]


def test_shares_of_the_second_set_when_it_was_unseen() -> None:
    verdicts = json.loads((FIXTURES / "statements_unseen_verdicts.json").read_text(encoding="utf-8"))
    of_all, of_given = _shares([row.get("when_unseen", row["verdict"]) for row in verdicts.values()])
    assert of_all >= UNSEEN_SHARES[0]
    assert of_given >= UNSEEN_SHARES[1]


def _shares(verdicts: list[str]) -> tuple[float, float]:
    """Good statements among all questions, and among the questions that were not declined."""
    good = verdicts.count("good")
    return good / len(verdicts), good / (len(verdicts) - verdicts.count("declined"))
