"""Recall: ranks past turns and lore for a request without calling a model.

Contains the lexical index, score fusion, the graph walk and the lorebook's rules.
"""

from __future__ import annotations

from saga_core.recall.episodes import (
    PLAYER,
    STAMP,
    PathEpisodes,
    episodes_scope,
    lore_scope,
    passage_of,
    related_turns,
    session_of_episodes,
    spec_of,
    year_of,
)
from saga_core.recall.excerpts import (
    ParticularSentences,
    SearchedWords,
    closeness,
    excerpt,
    most_similar_sentence,
    normalized_turn,
    particular_sentences,
    split_sentences,
    word_weights,
)
from saga_core.recall.fusion import Fused, Ranking, boost_speakers, fuse, smooth_dialogue, smooth_neighbors
from saga_core.recall.graph_walk import Neighbors, Walk, walk, weight_of
from saga_core.recall.lexical import FUNCTION_SHARE, SIZE, Feedback, LexicalIndex, Segment, mark_of, unpack
from saga_core.recall.lorebook import (
    PER_TURN,
    ActiveEntry,
    AuthoredLore,
    LoreIndex,
    LoreMoment,
    LoreSituation,
    ScoredLore,
    rank_lore,
    stays_out,
)
from saga_core.recall.mentions import NameIndex, Passage
from saga_core.recall.questions import (
    amount_sought,
    looks_back,
    states_amount,
    time_named,
    turns_at,
    without_other_story,
)

__all__ = [
    "FUNCTION_SHARE",
    "PER_TURN",
    "PLAYER",
    "SIZE",
    "STAMP",
    "ActiveEntry",
    "AuthoredLore",
    "Feedback",
    "Fused",
    "LexicalIndex",
    "LoreIndex",
    "LoreMoment",
    "LoreSituation",
    "NameIndex",
    "Neighbors",
    "ParticularSentences",
    "Passage",
    "PathEpisodes",
    "Ranking",
    "ScoredLore",
    "SearchedWords",
    "Segment",
    "Walk",
    "amount_sought",
    "boost_speakers",
    "closeness",
    "episodes_scope",
    "excerpt",
    "fuse",
    "looks_back",
    "lore_scope",
    "mark_of",
    "most_similar_sentence",
    "normalized_turn",
    "particular_sentences",
    "passage_of",
    "rank_lore",
    "related_turns",
    "session_of_episodes",
    "smooth_dialogue",
    "smooth_neighbors",
    "spec_of",
    "split_sentences",
    "states_amount",
    "stays_out",
    "time_named",
    "turns_at",
    "unpack",
    "walk",
    "weight_of",
    "without_other_story",
    "word_weights",
    "year_of",
]
