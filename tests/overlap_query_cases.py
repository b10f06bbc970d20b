"""Instances of our own with the partial parse that a reader expects; `python tests/overlap_query_cases.py`
writes their dependency parses to tests/fixtures/overlap_parses.json again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from benchwright.splitting.scores.overlap_queries import fill_blanks
from benchwright.text.parsing import ParsedSentence

FIXTURE = Path(__file__).parent / "fixtures" / "overlap_parses.json"


@dataclass(frozen=True)
class Case:
    """The pronoun stands in brackets in `marked`; `reason` where there is no partial parse."""

    marked: str
    options: tuple[str, ...]
    pred_c: str = ""
    pred_q: str = ""
    e1: str = ""
    e2: str = ""
    connective: str = ""
    reason: str = ""

    @property
    def text(self) -> str:
        return self.marked.replace("[", "").replace("]", "")

    @property
    def pronoun(self) -> str:
        return self.marked[self.marked.index("[") + 1 : self.marked.index("]")]

    @property
    def start(self) -> int:
        return self.marked.index("[")

    @property
    def filled(self):
        return fill_blanks(self.text, self.pronoun, self.start, self.options)


CASES = {
    "connective inside": Case(
        "The parcel wouldn't go through the slot because [it] was too wide.",
        ("the parcel", "the slot"),
        "wouldn't go through", "was too wide", "The parcel", "the slot", "because",
    ),
    "connective first": Case(
        "Although the nurse trusted the surgeon, [she] checked the chart again.",
        ("the nurse", "the surgeon"),
        "trusted", "checked", "the nurse", "the surgeon", "although",
    ),
    "query clause first": Case(
        "When [she] came home, Petra phoned Ingrid.",
        ("Petra", "Ingrid"),
        "phoned", "came", "Petra", "Ingrid", "when",
    ),
    "two sentences": Case(
        "The gardener waved to the postman. [He] was carrying a ladder.",
        ("The gardener", "the postman"),
        "waved to", "was carrying", "The gardener", "the postman", "",
    ),
    "options in the second sentence": Case(
        "It rained. The coach praised the keeper, but [he] didn't smile.",
        ("The coach", "the keeper"),
        "praised", "didn't smile", "The coach", "the keeper", "but",
    ),
    "options not verbatim": Case(
        "Two old sailors repaired the boats, since [they] were leaking badly.",
        ("the sailor", "The Boat"),
        "repaired", "were leaking", "sailors", "the boats", "since",
    ),
    "options by their heads": Case(
        "The judge dismissed the lawyer because [he] was rude.",
        ("the judge of the court", "the tired lawyer"),
        "dismissed", "was rude", "The judge", "the lawyer", "because",
    ),
    "possessor": Case(
        "Nora envied Clara's garden, though [her] roses never bloomed.",
        ("Nora", "Clara's"),
        "envied", "never bloomed", "Nora", "Clara", "though",
    ),
    "particle around the pronoun": Case(
        "Omar moved the lamp to the shelf, and then Lea switched [it] off.",
        ("the lamp", "the shelf"),
        "moved", "switched off", "the lamp", "the shelf", "and",
    ),
    "passive with agent": Case(
        "The minister was criticised by the mayor because [he] had been misled.",
        ("The minister", "the mayor"),
        "was criticised by", "had been misled", "The minister", "the mayor", "because",
    ),
    "modal and negation apart": Case(
        "Ravi could not persuade Ken, so [he] might not vote.",
        ("Ravi", "Ken"),
        "could not persuade", "might not vote", "Ravi", "Ken", "so",
    ),
    "infinitives": Case(
        "Mia tried to call Zoe on Monday, but [she] refused to answer.",
        ("Mia", "Zoe"),
        "tried to call", "refused to answer", "Mia", "Zoe", "but",
    ),
    "predicate noun": Case(
        "Leo hired Max because [he] was a patient teacher.",
        ("Leo", "Max"),
        "hired", "was a patient teacher", "Leo", "Max", "because",
    ),
    "contraction of the pronoun": Case(
        "Eve thanked Ida because [she]'d found the ring.",
        ("Eve", "Ida"),
        "thanked", "'d found", "Eve", "Ida", "because",
    ),
    "pronoun under a preposition": Case(
        "The tutor met the student before the dean argued with [him].",
        ("The tutor", "the student"),
        "met", "argued with", "The tutor", "the student", "before",
    ),
    "blank for a name": Case(
        "Tina lent Rosa a coat because [_] was cold.",
        ("Tina", "Rosa"),
        "lent", "was cold", "Tina", "Rosa", "because",
    ),
    "blank after a determiner": Case(
        "The drum was louder than the flute, so the [_] drowned the singer.",
        ("the drum", "the flute"),
        "was louder than", "drowned", "The drum", "the flute", "so",
    ),
    "one option": Case(
        "The waiter ignored the guest because [he] was busy.",
        ("the waiter",),
        "ignored", "was busy", "The waiter", "", "because",
    ),
    "one predicate": Case(
        "The clown put the monkey onto [his] knees.",
        ("The clown", "the monkey"),
        reason="one predicate holds pronoun and options",
    ),
    "no option": Case(
        "The clown laughed because [he] was happy.",
        ("a violin", "the moon"),
        reason="no option found in the text",
    ),
    "no verb": Case(
        "The clown and the monkey. [His] hat.",
        ("The clown", "the monkey"),
        reason="no predicate about the pronoun",
    ),
}  # fmt: skip


def read_parses() -> dict[str, ParsedSentence]:
    """The stored parse of each case."""
    stored = json.loads(FIXTURE.read_text(encoding="utf-8"))
    return {name: ParsedSentence.from_json(parse) for name, parse in stored.items()}


def main() -> None:
    """Parse every case with the embedded parser and store the parses."""
    from benchwright.text.parsing import load_parser

    parses = load_parser().parse([case.filled.text for case in CASES.values()])
    stored = {name: parse.to_json() for name, parse in zip(CASES, parses, strict=True)}
    lines = (f"{json.dumps(name)}: {json.dumps(parse)}" for name, parse in stored.items())
    FIXTURE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
