"""The data that all sessions in one world share."""

from __future__ import annotations

from attrs import frozen

from saga_core.model import WorldState
from saga_core.projection import GraphImage, LoreGraph, render_graph
from saga_core.recall import LoreIndex
from saga_core.world import World, opening_state


@frozen(eq=False, repr=False)
class PreparedWorld:
    """A world and the data derived from it. It is made once and shared by its sessions to save memory."""

    world: World
    lore: LoreIndex
    lore_graph: LoreGraph
    opening: WorldState
    """The state that sessions begin with, before it is assigned to a turn."""
    image: GraphImage
    """The graph of that state, with its caches cleared."""

    @classmethod
    def of(cls, world: World) -> PreparedWorld:
        """Prepare ``world``. This takes a tenth of a second for a large one."""
        lore_graph, opening = LoreGraph.of(world), opening_state(world, "")
        return cls(world, LoreIndex(world.lore), lore_graph, opening, render_graph(opening, world, lore=lore_graph))
