"""The rules of the dynamic lorebook: which entries may enter the prompt, and how each is scored.

Candidates are the entries nearest in meaning, entries mentioned in the last two messages, entries with an open gate,
and constant entries. The score of an entry is the sum of:

=============  =====  ==============================================================================
``location``   3.0    the place's name equals the entry's name, an alias or a tag; otherwise
               1.5    a tag of the entry is a whole word of the place's name
``nearby``     2.0    the name of a nearby character equals the entry's name, an alias or a tag
``graph``      1.0    the entry is one hop away in the graph; 0.5 for two hops
``mention``    2.5    the entry's name, an alias or a key is mentioned in the last two messages
``similar``    2·cos  with the embedder's baseline subtracted first, never below 0
``layer``             A1 2.0, A2 1.5, A3 0.5, A4 0.0
=============  =====  ==============================================================================

``location`` and ``nearby`` are gates. Entries of the layers A3 and A4 decay: they stay out if their last mention is
more than 7 (A3) or 3 (A4) turns ago. For an entry that was never mentioned, decay counts from depth 0 in A3; in A4 such
an entry stays out. An open gate, a mention or ``constant`` overrides decay. Injection into the prompt is not a mention.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import fsum

from attrs import field, frozen

from saga_core.config import LorebookConfig
from saga_core.recall.lore_index import LoreIndex
from saga_core.world import LoreEntry

SIMILAR = 30
"""Number of nearest entries that are candidates."""

LOCATION, LOCATION_WORD, NEARBY, MENTION, SIMILARITY = 3.0, 1.5, 2.0, 2.5, 2.0
GRAPH: Mapping[int, float] = {1: 1.0, 2: 0.5}
LAYERS: Mapping[str, float] = {"A1": 2.0, "A2": 1.5, "A3": 0.5, "A4": 0.0}
HIDDEN = "A4"
"""The layer whose entries stay out until they are first mentioned."""


@frozen(kw_only=True)
class LoreSituation:
    """The input of the rules."""

    depth: int = 0
    """Turns played: the depth of the state."""
    place: Collection[str] = ()
    """The name of the player's place, and its aliases."""
    nearby: Collection[str] = ()
    """Names and aliases of the characters near the player."""
    mentioned: Collection[str] = ()
    """Entries mentioned in the last two messages, by name."""
    last_mention: Mapping[str, int] = field(factory=dict)
    """The depth of the last turn that mentioned each entry."""
    distance: Mapping[str, int] = field(factory=dict)
    """The hops in the graph from the scene's seeds to each entry."""
    similar: Mapping[str, float] = field(factory=dict)
    """The cosines of the ``SIMILAR`` entries nearest to the player's words."""
    baseline: float = 0.0
    """The cosine of unrelated texts."""


@frozen
class ScoredLore:
    """An entry that may enter the prompt. ``why`` has the nonzero parts of its score."""

    entry: LoreEntry
    score: float
    why: Mapping[str, float]


def rank_lore(index: LoreIndex, situation: LoreSituation, config: LorebookConfig) -> list[ScoredLore]:
    """Return the entries that may enter the prompt, ordered by score (highest first), layer and name."""
    equal = index.keyed(situation.place)
    word = index.tagged_in(situation.place) - equal
    near = index.keyed(situation.nearby)
    mentioned = {name for name in situation.mentioned if name in index.entries}
    similar = {name: cosine for name, cosine in situation.similar.items() if name in index.entries}
    opened = equal | word | near
    ranked: list[ScoredLore] = []
    for name in {*opened, *mentioned, *similar, *index.constants}:
        entry = index.entries[name]
        if entry.layer not in config.character_layers or name in index.ruled:
            continue
        if not (name in opened or name in mentioned or entry.constant) and stays_out(
            entry, situation.last_mention.get(name), situation.depth, config
        ):
            continue
        why: dict[str, float] = {}
        if name in equal:
            why["location"] = LOCATION
        elif name in word:
            why["location"] = LOCATION_WORD
        if name in near:
            why["nearby"] = NEARBY
        hops = situation.distance.get(name, 0)
        if hops in GRAPH and hops <= config.propagation_depth:
            why["graph"] = GRAPH[hops]
        if name in mentioned:
            why["mention"] = MENTION
        if similar.get(name, situation.baseline) > situation.baseline:
            why["similar"] = SIMILARITY * (similar[name] - situation.baseline)
        if LAYERS[entry.layer]:
            why["layer"] = LAYERS[entry.layer]
        ranked.append(ScoredLore(entry, fsum(why.values()), why))
    ranked.sort(key=lambda each: (-each.score, each.entry.layer, each.entry.name))
    return ranked


def stays_out(entry: LoreEntry, last: int | None, depth: int, config: LorebookConfig) -> bool:
    """Whether an entry has decayed at ``depth``. ``last`` is the depth of its last mention, None if there was none."""
    if last is None and entry.layer == HIDDEN:
        return True
    allowed = config.decay.get(entry.layer)
    return allowed is not None and depth - (last or 0) > allowed
