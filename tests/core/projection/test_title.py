"""The title of a story: the character whom the card describes, and the player."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from saga_core import Saga
from tests.core.frontend import Frontend


@pytest_asyncio.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open({"storage": {"profile": "memory"}}) as opened:
        yield opened


@pytest.mark.parametrize(
    ("card", "present", "title"),
    [
        ("Write Elin's next reply in a fictional chat between Elin and Toby.", ("Dot Marsh", "Elin"), "Elin · Toby"),
        ("A chat between 엘린 and 토비. 엘린은 등대지기다.", ("도트", "엘린"), "엘린"),
        ("Write Zorya's next reply in a fictional chat between Zorya and Toby.", ("Dot Marsh",), "Zorya · Toby"),
        ("You narrate a harbour.", ("Dot Marsh", "Elin"), "Dot Marsh"),
        ("Elin Voss keeps the light. Dot Marsh is her aunt.", ("Dot Marsh",), "Dot Marsh"),
    ],
)
async def test_a_story_is_named_after_whom_the_card_describes(
    saga: Saga, card: str, present: tuple[str, ...], title: str
) -> None:
    await Frontend(saga, session="one", system=card).say("I look.", "They look up.", present=present)
    (summary,) = await saga.sessions.list()
    assert summary.session.title.startswith(title)


async def test_a_chat_is_written_under_the_name_of_a_narrator_whom_nobody_meets(saga: Saga) -> None:
    card = "Write Zorya's next reply in a fictional chat between Zorya and Toby. Zorya narrates."
    turn = await Frontend(saga, session="one", system=card).say("I look.", "They look up.", present=("Dot Marsh",))
    path = await saga.maintenance.story_path(turn.session.id)
    assert (path.character, path.user) == ("Zorya", "Toby")
