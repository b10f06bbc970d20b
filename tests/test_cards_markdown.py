"""Text from data can neither break the card's structure nor change what it says, as readers see it."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from benchwright.cards import markdown, numbers
from benchwright.cards.markdown import Markdown, code, compose, fence, image, link, one_line, prose, record

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])

HOSTILE = [
    "a | b",
    "a \\| b",
    "\\",
    "`code`",
    "``` fence",
    "<script>alert(1)</script>",
    "<!-- user:begin notes -->",
    "---",
    "===",
    "# heading",
    "- item",
    "+ item",
    "1. item",
    "12) item",
    "> quote",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "[text](javascript:alert(1))",
    "![x](y)",
    "*bold* _under_ __init__ ~~gone~~ $x$",
    "&lt; &#124; &copy;",
    "line\nbreak\r\nand \u2028 more",
    "    four blanks",
    "东京 🎉 \u202eabc",
]


def inline_text(tokens: list[Token]) -> str:
    """What a reader sees of inline tokens; fails on anything but text and code."""
    shown = []
    for token in tokens:
        assert token.type in ("text", "code_inline", "html_inline"), token
        if token.type != "html_inline":
            shown.append(token.content)
        else:
            assert token.content in ("<code>", "</code>")
    return "".join(shown)


def only_paragraph(text: str) -> list[Token]:
    tokens = READER.parse(text)
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"], text
    return tokens[1].children or []


@settings(deadline=None)
@given(st.text())
@example("1.")
def test_prose_is_one_paragraph_that_reads_as_the_text(text: str) -> None:
    line = one_line(text)
    if line:
        assert inline_text(only_paragraph(prose(text))) == line


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_prose(text: str) -> None:
    assert inline_text(only_paragraph(prose(text))) == one_line(text)


@settings(deadline=None)
@given(st.text(), st.sampled_from(["prose", "code"]))
@example("a|b", "code")
@example("\\|", "code")
@example("`", "code")
@example("``", "prose")
def test_a_table_cell_stays_one_cell(text: str, how: str) -> None:
    cell = (prose if how == "prose" else code)(text)
    tokens = READER.parse(f"| a | b |\n| --- | --- |\n| {cell} | x |\n")
    cells = [token for before, token in itertools.pairwise(tokens) if before.type == "td_open"]
    assert len(cells) == 2
    assert inline_text(cells[0].children or []) == one_line(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_cells(text: str) -> None:
    for cell in (prose(text), code(text)):
        tokens = READER.parse(f"| a | b |\n| --- | --- |\n| {cell} | x |\n")
        assert sum(token.type == "td_open" for token in tokens) == 2
        assert not any(token.type in ("html_block", "hr", "heading_open") for token in tokens)


@settings(deadline=None)
@given(st.text())
@example("```\n# out\n```")
@example("````")
@example("<!-- user:begin notes -->")
def test_a_fence_holds_everything(text: str) -> None:
    tokens = READER.parse(fence(text, "json"))
    assert [token.type for token in tokens] == ["fence"]
    assert "\n<!--" not in f"\n{tokens[0].content}"


@settings(deadline=None)
@given(
    st.dictionaries(
        st.text(min_size=1), st.one_of(st.text(), st.integers(), st.lists(st.text()), st.booleans())
    )
)
def test_a_record_is_json_in_one_fence(row: dict[str, object]) -> None:
    tokens = READER.parse(record(row))
    assert [token.type for token in tokens] == ["fence"]


def test_a_record_shows_values_and_shortens_long_ones() -> None:
    tokens = READER.parse(record({"text": "x" * 400, "many": list("abcdefgh"), "label": "no"}))
    shown = json.loads(tokens[0].content)
    assert shown["label"] == "no"
    assert shown["text"] == "x" * 299 + "…"
    assert shown["many"] == ["a", "b", "c", "d", "e", "… 3 more"]


def test_links_take_web_addresses_only() -> None:
    assert link("terms", "https://example.org/a") == "[terms](https://example.org/a)"
    for address in (
        "javascript:alert(1)",
        "https://x.org/) [y](z",
        "https://x.org/<b>",
        "",
        None,
        "file:///etc",
    ):
        assert link("terms", address) == "terms"


def test_an_image_keeps_its_alternative_text() -> None:
    children = only_paragraph(image("50 % [of] `all`\nrows", "figures/scores.png"))
    assert [child.type for child in children] == ["image"]
    assert children[0].attrs["src"] == "figures/scores.png"
    assert children[0].content.replace("\\", "") == "50 % [of] `all` rows"


def test_compose_escapes_values_and_not_its_own_text() -> None:
    text = compose("**bold** {a} and {b:code}, {c:codes}", a="*x*", b="y|z", c=["p", "q"])
    assert text == "**bold** \\*x\\* and <code>y&#124;z</code>, `p`, `q`"
    assert isinstance(text, Markdown)
    assert markdown.prose(text) is text


def test_tokens_are_removed() -> None:
    for write in (prose, code, fence):
        assert "hf_abcdef" not in write("a hf_abcdefghijkl b")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (numbers.count(569018), "569,018"),
        (numbers.count(None), "–"),
        (numbers.percent(0.6144), "61.4"),
        (numbers.decimal(-3.14159, 2), "−3.14"),
        (numbers.decimal(-0.01), "0.0"),
        (numbers.decimal(2.0, signed=True), "+2.0"),
        (numbers.decimal(float("nan")), "–"),
        (numbers.change(0.592), "+59 %"),
        (numbers.change(None), "–"),
    ],
)
def test_numbers(written: str, expected: str) -> None:
    assert written == expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("config `a_b` is gone", "config `a_b` is gone"),
        ("`x|y` and `*`", "<code>x&#124;y</code> and `*`"),
        ("a lone ` stays", r"a lone \` stays"),
        ("`` and <b>", r"\`\` and &lt;b&gt;"),
        ("1. `a`\n2. *b*", r"1\. `a` 2. \*b\*"),
    ],
)
def test_sentences_show_what_stands_between_backticks_as_code(text: str, shown: str) -> None:
    assert markdown.sentence(text) == shown


@settings(deadline=None)
@given(st.text(alphabet="`a_*[]()<>|\\!#-1. \n&", max_size=40))
def test_a_sentence_is_one_paragraph_with_nothing_but_text_and_code(text: str) -> None:
    tokens = READER.parse(f"x {markdown.sentence(text)}")
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    kinds = {child.type for token in tokens for child in token.children or []}
    assert kinds <= {"text", "code_inline", "html_inline", "text_special"}
