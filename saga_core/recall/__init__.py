"""Recall: ranks past turns and lore for a request without calling a model.

Contains the lexical index, score fusion, the graph walk and the lorebook's rules.
"""

from __future__ import annotations

from saga_core.recall.amounts import amount_asked, tells
from saga_core.recall.bearing import bearing
from saga_core.recall.close_words import Sought, closeness, matched
from saga_core.recall.episodes import Episodes, PathEpisodes
from saga_core.recall.excerpts import excerpt, laid_out, weigh_each
from saga_core.recall.fusion import Fused, Ranking, fuse, lend, lift, smooth
from saga_core.recall.graph_walk import Neighbors, Walk, walk, weight_of
from saga_core.recall.kept_lore import PER_TURN, Kept, KeptLore, KeptMoment
from saga_core.recall.lexical import FUNCTION_SHARE, Fed, LexicalIndex
from saga_core.recall.looking_back import looks_back, without_other_story
from saga_core.recall.lore_index import LoreIndex
from saga_core.recall.lorebook import LoreSituation, ScoredLore, rank_lore, stays_out
from saga_core.recall.mentions import NameIndex, Passage
from saga_core.recall.particular import Particular
from saga_core.recall.passages import PLAYER, STAMP, passage_of, year_of
from saga_core.recall.segments import SIZE, Segment, mark_of, unpack
from saga_core.recall.telling import resembling, telling
from saga_core.recall.time_words import time_meant, turns_meant
from saga_core.recall.vector_scopes import episodes_scope, lore_scope, session_of_episodes, spec_of

__all__ = [
    "FUNCTION_SHARE",
    "PER_TURN",
    "PLAYER",
    "SIZE",
    "STAMP",
    "Episodes",
    "Fed",
    "Fused",
    "Kept",
    "KeptLore",
    "KeptMoment",
    "LexicalIndex",
    "LoreIndex",
    "LoreSituation",
    "NameIndex",
    "Neighbors",
    "Particular",
    "Passage",
    "PathEpisodes",
    "Ranking",
    "ScoredLore",
    "Segment",
    "Sought",
    "Walk",
    "amount_asked",
    "bearing",
    "closeness",
    "episodes_scope",
    "excerpt",
    "fuse",
    "laid_out",
    "lend",
    "lift",
    "looks_back",
    "lore_scope",
    "mark_of",
    "matched",
    "passage_of",
    "rank_lore",
    "resembling",
    "session_of_episodes",
    "smooth",
    "spec_of",
    "stays_out",
    "telling",
    "tells",
    "time_meant",
    "turns_meant",
    "unpack",
    "walk",
    "weigh_each",
    "weight_of",
    "without_other_story",
    "year_of",
]
