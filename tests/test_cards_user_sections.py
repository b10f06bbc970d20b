"""Hand-written sections of a card that was changed here and on the Hub: nothing that people wrote is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from cards_release import make_release
from hypothesis import given
from hypothesis import strategies as st

from benchwright.cards import merge_user_sections, render_card
from benchwright.cards.user_sections import HINTS, read_user_sections, user_section
from benchwright.errors import PublishError

FOREIGN = "---\nlicense: mit\n---\n# Old corpus\n\nCollected by hand in 1999.\n\n## Thanks\n\nTo all.\n"
HUB_TEMPLATE = """---
{}
---

# Dataset Card for Dataset Name

<!-- Provide a quick summary of the dataset. -->

This dataset card aims to be a base template for new datasets. It is
generated, see [this raw template](x). [More Information Needed]

## Dataset Details

- **Curated by:** [More Information Needed]
<!-- Several
lines of comment. -->
[More Information Needed]
"""


def card(**sections: str) -> str:
    """A card of ours, as far as sections matter."""
    written = "\n\n".join(user_section(name, text) for name, text in (HINTS | sections).items())
    return f"---\nlicense: mit\n---\n# Title\n\nGenerated.\n\n{written}\n"


def merged(base: str | None, head: str, local: str) -> dict[str, str]:
    return read_user_sections(merge_user_sections(base, head, local))


@pytest.mark.parametrize(
    ("base", "head", "local", "result"),
    [
        ("a", "a", "a", "a"),
        ("a", "b", "a", "b"),
        ("a", "a", "b", "b"),
        ("a", "b", "b", "b"),
        ("", "b", "", "b"),
        ("", "", "b", "b"),
        ("a", "", "a", ""),
        ("a", "a", "", ""),
        ("a", "", "", ""),
        # One holds the whole text of the other: nothing is lost.
        ("a", "b", "b\nmine", "b\nmine"),
        ("a", "theirs\n\nb", "b", "theirs\n\nb"),
        # What one side took away does not come back because the other did nothing.
        ("a\nb", "a\nb", "a", "a"),
        ("a\nb", "a", "a\nb", "a"),
    ],
)
def test_three_ways(base: str, head: str, local: str, result: str) -> None:
    found = merged(card(notes=base), card(notes=head), card(notes=local))
    assert found == ({"notes": result} if result else {})


@pytest.mark.parametrize(
    ("base", "head", "local"),
    [("a", "b", "c"), ("a", "", "c"), ("a", "b", ""), ("", "b", "c"), ("a", "b", "bc")],
)
def test_both_changed(base: str, head: str, local: str) -> None:
    with pytest.raises(
        PublishError, match=r"section 'notes' of README\.md was changed both here and on the Hub"
    ):
        merge_user_sections(card(notes=base), card(notes=head), card(notes=local))


def test_without_a_base_nothing_is_lost() -> None:
    assert merged(None, card(about="theirs"), card(notes="ours")) == {"about": "theirs", "notes": "ours"}
    assert merged(None, card(about="same"), card(about="same")) == {"about": "same"}
    with pytest.raises(PublishError, match="'about'"):
        merge_user_sections(None, card(about="theirs"), card(about="ours"))


def test_sections_are_merged_one_by_one_and_kept_exactly() -> None:
    base = card(about="a", notes="n", extra="x")
    head = card(about="a\n\n  indented\n", notes="n", extra="x", theirs="1")
    local = card(about="a", notes="new  ", ours="2")
    assert merged(base, head, local) == {
        "about": "a\n\n  indented\n",
        "notes": "new  ",
        "ours": "2",
        "theirs": "1",
    }


def test_line_ends_are_no_change() -> None:
    base = card(notes="one\ntwo")
    assert merged(base, base.replace("\n", "\r\n"), card(notes="new")) == {"notes": "new"}


def test_hints_count_as_nothing_written() -> None:
    assert merge_user_sections(None, card(), card()) == ""
    assert merged(card(), card(about=f"\n {HINTS['about']} \n"), card(about="ours")) == {"about": "ours"}


def test_a_card_that_others_wrote_is_kept_as_a_section(tmp_path: Path) -> None:
    body = "# Old corpus\n\nCollected by hand in 1999.\n\n## Thanks\n\nTo all."
    local = card(notes="ours")
    assert merged(None, FOREIGN, local) == {"notes": "ours", "earlier-card": body}
    assert merged(None, FOREIGN.replace("\n", "\r\n"), local) == {"notes": "ours", "earlier-card": body}
    # Found again after somebody was faster: what stood there then was never seen here.
    assert merged(FOREIGN, FOREIGN, local) == {"notes": "ours", "earlier-card": body}
    text = render_card(make_release(tmp_path / "toy"), previous=merge_user_sections(None, FOREIGN, local))
    assert read_user_sections(text)["earlier-card"] == body
    # The next version has it on all sides, and may drop it.
    assert merged(text, text, text)["earlier-card"] == body
    assert "earlier-card" not in merged(text, text, local)


def test_a_card_of_ours_that_others_replaced_loses_no_section() -> None:
    body = "# Old corpus\n\nCollected by hand in 1999.\n\n## Thanks\n\nTo all."
    base = card(about="a", notes="n")
    assert merged(base, FOREIGN, card(about="a", notes="new")) == {
        "about": "a",
        "notes": "new",
        "earlier-card": body,
    }
    assert merged(base, "", base) == {"about": "a", "notes": "n"}


def test_a_folder_without_its_card_takes_no_section_back() -> None:
    base, head = card(about="a", notes="n"), card(about="a", notes="theirs")
    for missing in ("", "\n", "---\nlicense: mit\n---\n"):
        assert merged(base, base, missing) == {"about": "a", "notes": "n"}
        assert merged(base, head, missing) == {"about": "a", "notes": "theirs"}
        assert merged(None, head, missing) == {"about": "a", "notes": "theirs"}
        assert merged(base, FOREIGN, missing).keys() == {"about", "notes", "earlier-card"}
        assert merged(None, "", missing) == {}


def test_a_local_card_that_its_owner_replaced_becomes_a_section_beside_the_others() -> None:
    body = "# Old corpus\n\nCollected by hand in 1999.\n\n## Thanks\n\nTo all."
    base, head = card(about="a", notes="n"), card(about="a", notes="theirs")
    assert merged(base, base, FOREIGN) == {"about": "a", "notes": "n", "earlier-card": body}
    assert merged(base, head, FOREIGN) == {"about": "a", "notes": "theirs", "earlier-card": body}
    assert merged(None, head, FOREIGN) == {"about": "a", "notes": "theirs", "earlier-card": body}
    assert merged(None, "", FOREIGN) == merged(None, FOREIGN, FOREIGN) == {"earlier-card": body}
    assert merged(base, base, HUB_TEMPLATE) == {"about": "a", "notes": "n"}
    with pytest.raises(PublishError, match="'earlier-card'"):
        merge_user_sections(base, FOREIGN, FOREIGN.replace("1999", "2001"))


def test_a_second_card_of_others_stands_below_the_first() -> None:
    body = "# Old corpus\n\nCollected by hand in 1999.\n\n## Thanks\n\nTo all."
    base = card(**{"earlier-card": "First."})
    both = {"earlier-card": f"First.\n\n{body}"}
    assert merged(base, base, FOREIGN) == merged(base, FOREIGN, base) == both
    again = card(**both)
    assert merged(again, again, FOREIGN) == merged(again, FOREIGN, again) == both


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---\nlicense: mit\n---\n",
        "---\nlicense: mit\n---",
        "# Title\n",
        "---\na: b\n---\n# Title\n\n## More",
        HUB_TEMPLATE,
    ],
)
def test_a_card_that_says_nothing_leaves_no_section(text: str) -> None:
    assert merged(None, text, card(notes="ours")) == {"notes": "ours"}


def test_a_card_of_ours_without_sections_is_not_foreign(tmp_path: Path) -> None:
    text = render_card(make_release(tmp_path / "toy"), previous="")
    sealed = "\n".join(line for line in text.splitlines() if "user:" not in line)
    assert merged(None, sealed, card(notes="ours")) == {"notes": "ours"}


def test_broken_markers_say_which_card_has_them() -> None:
    broken = "<!-- user:begin x -->\n"
    for place, cards in (
        ("on the Hub", (None, broken, card())),
        ("of the release", (None, card(), broken)),
        ("of the base version", (broken, card(), card())),
    ):
        with pytest.raises(PublishError, match=f"{place}, line 2: section 'x' has no end"):
            merge_user_sections(*cards)


TEXTS = st.sampled_from(["", "a", "b", "a\nb", "b\na"])


@given(TEXTS, TEXTS, TEXTS)
def test_merging_again_with_the_result_changes_nothing(base: str, head: str, local: str) -> None:
    try:
        first = merged(card(notes=base), card(notes=head), card(notes=local)).get("notes", "")
    except PublishError:
        return
    # The head has moved to the result; the local folder follows.
    assert merged(card(notes=first), card(notes=first), card(notes=first)).get("notes", "") == first
    # The roles of the two sides do not matter.
    assert merged(card(notes=base), card(notes=local), card(notes=head)).get("notes", "") == first
