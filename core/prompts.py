"""How language models that were not trained on a task are asked: prompts, and texts that stand for labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class AnswerPrompt:
    """A prompt over the task's input columns (`str.format`) and the text that stands for each label."""

    prompt: str
    answers: dict[str, str]

    def render(self, inputs: Mapping[str, Sequence[str]]) -> list[str]:
        """The prompt of every row of `inputs`, columns of one length. Texts go in as they are, braces too."""
        names = list(inputs)
        columns = zip(*inputs.values(), strict=True)
        return [self.prompt.format(**dict(zip(names, values, strict=True))) for values in columns]


ANSWER_PROMPTS = {
    "nli": AnswerPrompt(
        "{premise}\nQuestion: {hypothesis} True, False, or Neither?\nAnswer:",
        {"entailment": " True", "neutral": " Neither", "contradiction": " False"},
    ),
    "binary-nli": AnswerPrompt(
        "{premise}\nQuestion: {hypothesis} True or False?\nAnswer:",
        {"entailed": " True", "not-entailed": " False"},
    ),
    "boolean-question": AnswerPrompt(
        "{passage}\nQuestion: {question}?\nAnswer:",
        {"no": " no", "yes": " yes"},
    ),
}
"""Prompts by task, after the form of the GPT-3 paper (Brown et al. 2020, Appendix G)."""
