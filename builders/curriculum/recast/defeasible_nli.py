"""Delta-NLI: updates that strengthen or weaken an inference.

Source: "Thinking Like a Skeptic: Defeasible Inference in Natural Language" (2020.findings-emnlp.418). Format:
github.com/rudinger/defeasible-nli, README.md and data/defeasible-nli; the folder `defeasible_nli` holds
defeasible-atomic, defeasible-snli and defeasible-social (any of them), each with train.jsonl, dev.jsonl and
test.jsonl. Fields: DataSource, AssignmentIdAnon, Premise (SocialChemSituation in defeasible-social),
Hypothesis, Update, UpdateType, UpdateTypeImpossible.
"""

from __future__ import annotations

from pathlib import Path

from ....faults import FaultLog
from ...sources.records import Record
from ._paths import Ids, PathRecords
from .base import ENTAILED, NOT_ENTAILED, Item, Pair, PairCollector, Recast, RecastRows, recast_records
from .rules import filled, fingerprint

IMPOSSIBLE_UPDATE = "no update could be written"

_RULE = "premise_and_update"
_NAMES = {split: (f"defeasible-*/{split}.jsonl",) for split in ("train", "dev", "test")}
_LABELS: dict[str | int, str] = {"strengthener": ENTAILED, "weakener": NOT_ENTAILED}


def recast_defeasible_nli(root: Path, faults: FaultLog) -> RecastRows:
    """One pair a record: `PREMISE ; UPDATE` and the hypothesis; strengtheners are entailed, weakeners not.

    Records for which the annotator could write no update (UpdateTypeImpossible, empty Update) are filtered,
    as in the paper; any other empty text is a fault. Rows of one premise and hypothesis are one group.
    """
    source = PathRecords(root, _NAMES, faults)
    pairs = PairCollector("defeasible_nli", _RULE, faults)
    ids = Ids()

    def item(split: str, record: Record) -> Item | str:
        label = record.label("UpdateType", _LABELS)
        if record.fields.get("UpdateTypeImpossible") is True and not record.text("Update").strip():
            return IMPOSSIBLE_UPDATE
        given = "Premise" if record.fields.get("Premise") is not None else "SocialChemSituation"
        situation, hypothesis = record.filled_text(given), record.filled_text("Hypothesis")
        update = record.filled_text("Update")
        premise = f"{filled('premise', situation)} ; {filled('update', update)}"
        name = ":".join(str(record.fields.get(field, "")) for field in ("DataSource", "AssignmentIdAnon"))
        return Item(
            ids.unique(split, f"{name}:{record.fields['UpdateType']}"),
            [Pair(premise, hypothesis, label)],
            fingerprint(situation, hypothesis),
        )

    recast_records(source, pairs, item)
    return pairs.finish(source.files, source.notes)


DELTA_NLI = Recast(
    phenomenon="defeasible",
    corpus="defeasible_nli",
    files=tuple(name for names in _NAMES.values() for name in names),
    rule="`PREMISE ; UPDATE` and the hypothesis; a strengthener is entailed, a weakener is not.",
    recaster=recast_defeasible_nli,
    differs=(
        "All three parts in their published splits (the release trains on delta-ATOMIC and validates on "
        "delta-SOCIAL); records without an update are left out (the release has 4,034 premises that end "
        'in " ; ").'
    ),
)
