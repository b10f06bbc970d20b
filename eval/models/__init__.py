"""Models: load, score, fine-tune. The only package that imports torch or transformers, and only when used."""

from ._pairs import TokenPair, TokenPairs
from ._plan import Chunk, ScoringPlan, plan_scoring
from .causal import CausalModel, ChunkScores
from .classifier import PairLogits, SequenceClassifier, load_classifier
from .embedded import get_embedded, is_embedded
from .fine_tuning import FineTuneRecipe, TrainingLog, TrainingSequence, fine_tune
from .loading import load_causal

LoadedModel = CausalModel | SequenceClassifier
"""A model of any kind that a baseline runs."""

__all__ = [
    "CausalModel",
    "Chunk",
    "ChunkScores",
    "FineTuneRecipe",
    "LoadedModel",
    "PairLogits",
    "ScoringPlan",
    "SequenceClassifier",
    "TokenPair",
    "TokenPairs",
    "TrainingLog",
    "TrainingSequence",
    "fine_tune",
    "get_embedded",
    "is_embedded",
    "load_causal",
    "load_classifier",
    "plan_scoring",
]
