"""Recall: ranks past turns and lore for a request without calling a model.

Contains the lexical index, score fusion, the graph walk and the lorebook's rules.
"""

from __future__ import annotations

from saga_core.recall.episodes import (
    Episodes,
    PathEpisodes,
    bearing,
    episodes_scope,
    lore_scope,
    session_of_episodes,
    spec_of,
)
from saga_core.recall.excerpts import (
    PLAYER,
    STAMP,
    Particular,
    Sought,
    closeness,
    excerpt,
    laid_out,
    matched,
    passage_of,
    resembling,
    telling,
    weigh_each,
    year_of,
)
from saga_core.recall.fusion import Fused, Ranking, fuse, lend, lift, smooth
from saga_core.recall.graph_walk import Neighbors, Walk, walk, weight_of
from saga_core.recall.lexical import FUNCTION_SHARE, SIZE, Fed, LexicalIndex, Segment, mark_of, unpack
from saga_core.recall.lorebook import (
    PER_TURN,
    Kept,
    KeptLore,
    KeptMoment,
    LoreIndex,
    LoreSituation,
    ScoredLore,
    rank_lore,
    stays_out,
)
from saga_core.recall.mentions import NameIndex, Passage
from saga_core.recall.questions import amount_asked, looks_back, tells, time_meant, turns_meant, without_other_story

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
