"""What the pages call a world that has no title."""

from __future__ import annotations

import pytest
from attrs import evolve

from saga_core import Saga
from saga_core.projection.pages import render_bodies
from saga_core.world.model import EMPTY_WORLD, World
from tests.core.frontend import Frontend


@pytest.mark.parametrize(
    ("world", "language", "told"),
    [
        (EMPTY_WORLD, "en", "nothing yet"),
        (evolve(EMPTY_WORLD, language="ko"), "ko", "아직 없음"),
        (World(name="mill", title=""), "en", "mill"),
        (World(name="mill", title="The Mill"), "en", "The Mill"),
    ],
)
async def test_a_session_without_a_world_is_not_called_empty(world: World, language: str, told: str) -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        turn = await Frontend(saga, system="", greeting="").say("I wait.", "It rains on the road to the north.")
        state = await saga.views.state(turn.session.id)
    assert render_bodies(state, world, language)["lore.md"].splitlines()[1] == f"- {told}"
