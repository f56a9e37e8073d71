"""What the sessions in one world share is made once, at no turn."""

from __future__ import annotations

from attrs import evolve

from saga_core.projection import render_graph
from saga_core.sessions.live_sessions import PreparedWorld
from saga_core.world import EMPTY_WORLD
from tests.core.sessions.stage import WORLD


def test_a_world_is_prepared_with_its_opening_its_lore_and_its_graph() -> None:
    known = PreparedWorld.of(WORLD)
    assert known.world is WORLD and known.opening.turn == "" and known.opening.world == WORLD.digest
    assert known.lore.mentioned_in("광장에서 만나자") == ("광장",)
    assert known.opening.name(known.opening.player) == "아리아"
    again = render_graph(evolve(known.opening, turn="t1"), WORLD, lore=known.lore_graph, near=known.image)
    assert again.nodes == known.image.nodes


def test_an_empty_world_has_a_player_too() -> None:
    known = PreparedWorld.of(EMPTY_WORLD)
    assert known.opening.player in known.opening.entities
    assert known.lore.mentioned_in("광장") == ()
