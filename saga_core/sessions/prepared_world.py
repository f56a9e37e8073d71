"""What all sessions in one world share."""

from __future__ import annotations

from attrs import frozen

from saga_core.model import WorldState
from saga_core.projection import GraphImage, LoreGraph, render_graph
from saga_core.recall import LoreIndex
from saga_core.world import World, opening_state


@frozen(eq=False, repr=False)
class PreparedWorld:
    """A world, and everything derived from it that its sessions share. Made once, to save memory per chat."""

    world: World
    lore: LoreIndex
    lore_graph: LoreGraph
    opening: WorldState
    """The state that they begin with, at no turn."""
    image: GraphImage
    """The graph of that state, at rest."""

    @classmethod
    def of(cls, world: World) -> PreparedWorld:
        """``world``, prepared: a tenth of a second for a large one."""
        lore_graph, opening = LoreGraph.of(world), opening_state(world, "")
        return cls(world, LoreIndex(world.lore), lore_graph, opening, render_graph(opening, world, lore=lore_graph))
