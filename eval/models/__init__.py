"""Models: load, score, fine-tune. The only package that imports torch or transformers, and only when used."""

from ._pairs import TokenPair, TokenPairs
from ._plan import Chunk, ScoringPlan, plan_scoring
from .causal import CausalModel, ChunkScores
from .classifier import PairLogits, SequenceClassifier, load_classifier
from .embedded import get_embedded, is_embedded
from .fine_tuning import FineTuneRecipe, TrainingLog, TrainingSequence, fine_tune
from .generation import Answers, BeamSearch, ParserRecipe, generate
from .loading import load_causal
from .sequence_to_sequence import (
    SequenceToSequenceModel,
    fine_tune_sequence_to_sequence,
    load_sequence_to_sequence,
)

LoadedModel = CausalModel | SequenceClassifier | SequenceToSequenceModel
"""A model of any kind that a baseline runs."""

__all__ = [
    "Answers",
    "BeamSearch",
    "CausalModel",
    "Chunk",
    "ChunkScores",
    "FineTuneRecipe",
    "LoadedModel",
    "PairLogits",
    "ParserRecipe",
    "ScoringPlan",
    "SequenceClassifier",
    "SequenceToSequenceModel",
    "TokenPair",
    "TokenPairs",
    "TrainingLog",
    "TrainingSequence",
    "fine_tune",
    "fine_tune_sequence_to_sequence",
    "generate",
    "get_embedded",
    "is_embedded",
    "load_causal",
    "load_classifier",
    "load_sequence_to_sequence",
    "plan_scoring",
]
