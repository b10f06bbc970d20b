"""Models: load, score, fine-tune. The only package that imports torch or transformers, and only when used."""

from ._pairs import TokenPair, TokenPairs
from ._plan import Chunk, ScoringPlan, plan_scoring
from .causal import CausalModel, ChunkScores
from .classifier import PairLogits, SequenceClassifier, load_classifier
from .classifier_training import (
    ClassifierLog,
    ClassifierRecipe,
    fine_tune_classifier,
    load_untrained_classifier,
)
from .embedded import embedded_model, get_embedded, get_model, is_embedded
from .fine_tuning import FineTuneRecipe, TrainingLog, TrainingSequence, fine_tune
from .generation import Answers, BeamSearch, ParserRecipe, generate
from .labels import align_labels
from .loading import load_causal
from .masked import MaskedLanguageModel, MaskedSpan, load_masked
from .seq2seq_choices import answer_log_likelihoods
from .sequence_to_sequence import (
    SequenceToSequenceModel,
    fine_tune_sequence_to_sequence,
    load_sequence_to_sequence,
)
from .trainable import TrainableClassifier, load_trainable_classifier

LoadedModel = (
    CausalModel | SequenceClassifier | SequenceToSequenceModel | TrainableClassifier | MaskedLanguageModel
)
"""A model of any kind that a baseline runs."""

__all__ = [
    "Answers",
    "BeamSearch",
    "CausalModel",
    "Chunk",
    "ChunkScores",
    "ClassifierLog",
    "ClassifierRecipe",
    "FineTuneRecipe",
    "LoadedModel",
    "MaskedLanguageModel",
    "MaskedSpan",
    "PairLogits",
    "ParserRecipe",
    "ScoringPlan",
    "SequenceClassifier",
    "SequenceToSequenceModel",
    "TokenPair",
    "TokenPairs",
    "TrainableClassifier",
    "TrainingLog",
    "TrainingSequence",
    "align_labels",
    "answer_log_likelihoods",
    "embedded_model",
    "fine_tune",
    "fine_tune_classifier",
    "fine_tune_sequence_to_sequence",
    "generate",
    "get_embedded",
    "get_model",
    "is_embedded",
    "load_causal",
    "load_classifier",
    "load_masked",
    "load_sequence_to_sequence",
    "load_trainable_classifier",
    "load_untrained_classifier",
    "plan_scoring",
]
