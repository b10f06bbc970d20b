"""KnowRef-60k: mining pronoun problems from Reddit dumps, having them labelled, and the released data set.

Source: "An Analysis of Dataset Overlap on Winograd-Style Tasks" (2011.04767), Section 6, and its published
code.
"""

from .annotation import export_tasks, import_labels
from .mining import mine_knowref

__all__ = ["export_tasks", "import_labels", "mine_knowref"]
