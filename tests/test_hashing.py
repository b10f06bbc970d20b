"""Row digests: equal rows, equal digests, however they are stored; any other value, another digest."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.hashing import canonical_json, content_hash, content_ids, row_digests

SCHEMA = pa.schema(
    [
        ("text", pa.string()),
        ("number", pa.int32()),
        ("value", pa.float32()),
        ("flag", pa.bool_()),
        ("words", pa.list_(pa.string())),
        ("records", pa.list_(pa.struct([("a", pa.int32()), ("b", pa.string())]))),
    ]
)
TEXTS = st.none() | st.text(max_size=6)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "text": TEXTS,
            "number": st.none() | st.integers(-(2**31), 2**31 - 1),
            "value": st.none() | st.floats(width=32),
            "flag": st.none() | st.booleans(),
            "words": st.none() | st.lists(TEXTS, max_size=3),
            "records": st.none()
            | st.lists(
                st.none() | st.fixed_dictionaries({"a": st.none() | st.integers(0, 9), "b": TEXTS}),
                max_size=2,
            ),
        }
    ),
    max_size=6,
)


def _table(rows):
    return pa.Table.from_pylist(rows, schema=SCHEMA)


@given(ROWS, st.integers(0, 6))
def test_digests_do_not_depend_on_chunks_or_on_the_other_rows(rows, cut):
    whole = row_digests(_table(rows))
    assert whole.shape == (len(rows), 16)
    pieces = pa.concat_tables([_table(rows[:cut]), _table(rows[cut:])])
    assert np.array_equal(row_digests(pieces), whole)
    for row, digest in zip(rows, whole, strict=True):
        assert np.array_equal(row_digests(_table([row]))[0], digest)


@given(ROWS)
def test_rows_are_equal_exactly_if_their_digests_are(rows):
    # NaN equals NaN here, and 0.0 differs from -0.0, as their repr does.
    shown = [repr(row) for row in _table(rows).to_pylist()]
    digests = [digest.tobytes() for digest in row_digests(_table(rows))]
    for i in range(len(rows)):
        for j in range(i):
            assert (shown[i] == shown[j]) == (digests[i] == digests[j]), (rows[i], rows[j])


def test_wide_offsets_and_dictionaries_are_storage_and_not_content():
    table = pa.table({"text": ["a", None, "b"], "words": [["x"], [], None]})
    wide = pa.table(
        {
            "text": pa.array(["a", None, "b"]).dictionary_encode(),
            "words": table.column("words").cast(pa.large_list(pa.large_string())),
        }
    )
    assert np.array_equal(row_digests(table), row_digests(wide))


def test_names_types_and_labels_are_part_of_a_digest():
    base = row_digests(pa.table({"label": pa.array([0, 1], pa.int64())}), {"label": ["no", "yes"]})
    others = [
        row_digests(pa.table({"answer": pa.array([0, 1], pa.int64())}), {"answer": ["no", "yes"]}),
        row_digests(pa.table({"label": pa.array([0, 1], pa.int32())}), {"label": ["no", "yes"]}),
        row_digests(pa.table({"label": pa.array([0, 1], pa.int64())}), {"label": ["yes", "no"]}),
    ]
    for other in others:
        assert not np.array_equal(base, other)


def test_values_cannot_move_between_columns_or_list_items():
    joined = [("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc")]
    table = pa.table({"first": [a for a, _ in joined], "second": [b for _, b in joined]})
    assert len({digest.tobytes() for digest in row_digests(table)}) == 4
    lists = pa.table({"words": [["ab"], ["a", "b"], ["a", "b", ""], [], [""], None, [None]]})
    assert len({digest.tobytes() for digest in row_digests(lists)}) == 7


def test_published_hashes_are_pinned():
    table = pa.table({"premise": ["A man runs."], "label": pa.array([2], pa.int64())})
    digests = row_digests(table, {"label": ["entailment", "neutral", "contradiction"]})
    assert digests.tobytes().hex() == "bf67c993ebcbdcf027018381ad238aa3"
    assert content_hash(digests) == "sha256:08614bf82807192f3a193b0690f6c2bd4ca3288b78ade26ba615ce48c428de63"
    assert content_ids(table, ["premise"]).to_pylist() == ["90915fa563539eb1b52d7385b479294d"]


def test_the_content_of_a_split_has_an_order_and_a_size():
    digests = row_digests(pa.table({"text": ["a", "b"]}))
    assert content_hash(digests) != content_hash(digests[::-1])
    assert content_hash(digests[:0]) != content_hash(digests[:1])


def test_columns_without_a_canonical_form_are_refused():
    with pytest.raises(TypeError, match="no canonical form"):
        row_digests(pa.table({"when": pa.array([0], pa.timestamp("s"))}))


def test_canonical_json_sorts_and_refuses_nan():
    assert canonical_json({"b": 1, "a": [1.5, None, "é"]}) == '{"a":[1.5,null,"é"],"b":1}'
    with pytest.raises(ValueError):
        canonical_json(float("nan"))
