"""Trial 17, the reader's half: labels go by name, whatever order a copy numbers them in.

(The model's half, `id2label` of a classifier, fails in transformers #12822 and TextAttack #684.)
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, Features, Value

from benchwright.builders.sources.snli import LABELS, read_snli
from benchwright.errors import SourceErrors
from benchwright.faults import FaultLog


def _write(path: Path, names: list[str]) -> None:
    features = Features(
        {"premise": Value("string"), "hypothesis": Value("string"), "label": ClassLabel(names=names)}
    )
    texts = [f"It is {name}." for name in names]
    table = pa.table(
        {"premise": ["A fact."] * 3, "hypothesis": texts, "label": pa.array(range(3), pa.int64())}
    )
    pq.write_table(table.cast(features.arrow_schema), path)


@pytest.mark.parametrize("names", list(itertools.permutations(LABELS)))
def test_every_order_of_the_class_names_gives_the_same_labels(tmp_path: Path, names: tuple[str, ...]) -> None:
    _write(tmp_path / "test-00000-of-00001.parquet", list(names))
    for row in read_snli(tmp_path, FaultLog()).pairs.to_pylist():
        assert row["hypothesis"] == f"It is {LABELS[row['label']]}."


def test_an_unknown_label_name_raises(tmp_path: Path) -> None:
    _write(tmp_path / "test.parquet", ["entailment", "not_entailment", "contradiction"])
    with pytest.raises(SourceErrors, match="row 1, field 'label': unknown label, got 'not_entailment'"):
        read_snli(tmp_path, FaultLog())
