"""The rules of the dynamic lorebook: which entries may enter the prompt, and what each is worth.

Candidates are the entries nearest in meaning, those mentioned in the last two messages, those that a gate opens, and
the constant ones. The worth of an entry is the sum of:

=============  =====  ==============================================================================
``location``   3.0    the place's name equals its name, an alias or a tag; else
               1.5    a tag of it is a whole word of the place's name
``nearby``     2.0    the name of somebody near equals its name, an alias or a tag
``graph``      1.0    it is one hop away in the graph; 0.5 for two
``mention``    2.5    its name, an alias or a key is mentioned in the last two messages
``similar``    2·cos  with the embedder's baseline subtracted first, never below 0
``layer``             A1 2.0, A2 1.5, A3 0.5, A4 0.0
=============  =====  ==============================================================================

``location`` and ``nearby`` are gates. Then decay: an entry of a decaying layer stays out when its last mention is more
than so many turns ago (A3 7, A4 3); one never mentioned counts from the opening, depth 0, and in A4 stays out from the
start. An open gate, a mention or ``constant`` beats decay. Injection is no mention.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import fsum

from attrs import field, frozen

from saga_core.config import LorebookConfig
from saga_core.recall.lore_index import LoreIndex
from saga_core.world import LoreEntry

SIMILAR = 30
"""How many of the nearest entries are candidates."""

LOCATION, LOCATION_WORD, NEARBY, MENTION, SIMILARITY = 3.0, 1.5, 2.0, 2.5, 2.0
GRAPH: Mapping[int, float] = {1: 1.0, 2: 0.5}
LAYERS: Mapping[str, float] = {"A1": 2.0, "A2": 1.5, "A3": 0.5, "A4": 0.0}
HIDDEN = "A4"
"""The layer whose entries stay out until they were mentioned once."""


@frozen(kw_only=True)
class LoreSituation:
    """What the rules look at."""

    depth: int = 0
    """Turns played: the depth of the state."""
    place: Collection[str] = ()
    """The name of the player's place, and its aliases."""
    nearby: Collection[str] = ()
    """Names and aliases of the characters near the player."""
    mentioned: Collection[str] = ()
    """Entries mentioned in the last two messages, by name."""
    last_mention: Mapping[str, int] = field(factory=dict)
    """Entry to the depth of the turn that mentioned it last."""
    distance: Mapping[str, int] = field(factory=dict)
    """Entry to its hops in the graph from what the scene is about."""
    similar: Mapping[str, float] = field(factory=dict)
    """The ``SIMILAR`` entries nearest to the player's words, and their cosines."""
    baseline: float = 0.0
    """The cosine of unrelated texts."""


@frozen
class ScoredLore:
    """An entry that may enter the prompt; ``why`` has the parts of its score that are not 0."""

    entry: LoreEntry
    score: float
    why: Mapping[str, float]


def rank_lore(index: LoreIndex, situation: LoreSituation, config: LorebookConfig) -> list[ScoredLore]:
    """The entries that may enter, ordered by score (highest first), layer, name."""
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
    """Whether an entry has decayed at ``depth`` whose last mention was at the depth ``last``; None: there was none."""
    if last is None and entry.layer == HIDDEN:
        return True
    allowed = config.decay.get(entry.layer)
    return allowed is not None and depth - (last or 0) > allowed
