"""BM25 search for ordered phrases in corpora: two engines with equal answers, whole or in shards."""

from .engine import Hit, SearchEngine, Statistics, index_corpus, open_index
from .query import OverlapQuery
from .sharded import Shard, ShardedEngine, index_shards

__all__ = [
    "Hit",
    "OverlapQuery",
    "SearchEngine",
    "Shard",
    "ShardedEngine",
    "Statistics",
    "index_corpus",
    "index_shards",
    "open_index",
]
