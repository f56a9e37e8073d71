"""Whom the card gives several names is one person under all of them."""

from __future__ import annotations

import pytest

from saga_core import Saga
from tests.core.frontend import Frontend, memory_config

ROZ = (
    'Write a reply.\n[Roz\'s description: Rosalind Okonkwo-Hale, "Roz" to everyone but her aunt, who calls her Rosie. '
    'She rents the shop from Mrs. Dalgleish, a widow whom the whole street calls "the Duchess". '
    'Her ex-boyfriend, Dr. Finn Aldous ("Doc"), is the vet.]\n[Jules is a piano tuner.]'
)
EVIE = (
    'Write a reply.\n[Lady Evangeline "Evie" Thorne: 26, widow.]\n[Captain Jonathan "Jack" Ashby: her late husband\'s '
    "brother.]\n[Marcus Vane is a physician.]"
)


@pytest.mark.parametrize(
    ("card", "one", "other"),
    [
        (ROZ, "Roz", "Rosalind Okonkwo-Hale"),
        (ROZ, "Rosalind Okonkwo-Hale", "Rosie"),
        (ROZ, "Doc", "Dr. Finn Aldous"),
        (ROZ, "Doc", "Dr. Aldous"),
        (ROZ, "Mrs. Dalgleish", "the Duchess"),
        (EVIE, "Evie", "Lady Evangeline"),
        (EVIE, "Jack", "Captain Ashby"),
    ],
)
async def test_she_is_here_under_another_name(card: str, one: str, other: str) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "Rain.", card, "Be brief.")
        await chat.say("I sit down.", f"{one} pours the tea.", location="shop", present=(one,))
        turn = await chat.say("We go to the dance.", f"{other} laughs.", location="hall", present=(other,))
        people = [each for each in await saga.memory.entities(turn.session.id) if each["kind"] == "character"]
        assert [each["name"] for each in people if not each["player"]] == [one]
