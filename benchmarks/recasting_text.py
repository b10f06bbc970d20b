"""Made-up text for corpora in published formats, the same for the same seed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

WORDS = [
    "".join(random.Random(n).choices("etaoinshrdlu", k=2 + n % 8)) for n in range(3_000)
]  # no two runs differ
NAMES = ["Ian", "Laura Bell", "Kim", "Jo Fox", "Adam", "Mary Lee", "Tomas", "Ruth"]


class Text:
    """Made-up sentences, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def sentence(self, words: int) -> str:
        text = " ".join(self._random.choices(WORDS, k=words))
        return f"{text.capitalize()}."

    def passage(self, sentences: int, words: int = 18) -> str:
        return " ".join(
            f"{name} of {year} said {self.sentence(words)}"
            for name, year in zip(
                self._random.choices(NAMES, k=sentences),
                self._random.choices(range(1900, 2020), k=sentences),
                strict=True,
            )
        )

    def word(self) -> str:
        return self._random.choice(WORDS)

    def name(self) -> str:
        return self._random.choice(NAMES)

    def number(self, below: int) -> int:
        return self._random.randrange(below)


def json_lines(path: Path, items: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
