"""A narrator with a window of 8,192 tokens reads what happened long ago as one who is sent the whole chat does."""

from __future__ import annotations

import random

import pytest

from saga_core import Saga
from saga_core.config import load_config
from tests.core.frontend import Frontend

NAMES = "Abel Brida Corin Delia Edric Fenna Gawen Hilde Ivo Jorun Kester Lioba Merek Nessa Osric Petra".split()
THINGS = "lantern kettle saddle ledger compass chisel mirror trumpet anvil basket candle hammer barrel ribbon".split()
PLACES = "mill harbour chapel quarry orchard smithy cellar tower bakery stable".split()
WEATHER = (
    "The wind turns over the roofs, and somebody closes a shutter. The cart rolls on through the mud, and nobody "
    "speaks for a while. Smoke drifts from the chimneys, and the dogs bark at the gate until the driver calls. "
)


def facts(count: int) -> list[tuple[str, str, str]]:
    """(who, what, where), no two with the same person and thing."""
    pairs = [(who, what) for who in NAMES for what in THINGS]
    dice = random.Random(7)
    return [(who, what, dice.choice(PLACES)) for who, what in dice.sample(pairs, count)]


async def share_told(window: int, count: int = 110) -> float:
    """The share of facts of the first half of a chat that the prompt of a question about them has."""
    config = load_config({"storage": {"profile": "memory"}, "models": {"facts": {"tale": {"window": window}}}})
    told = facts(count)
    found = 0
    async with Saga.open(config) as saga:
        chat = Frontend(saga, greeting="The cart stops at the ford.", system="A tale of the road.", note="")
        for who, what, where in told:
            chat.last = await saga.begin(chat.messages(f"I ask {who} for news."), session=chat.session, model="tale")
            reply = f"{WEATHER}{who} hides the {what} in the {where}, behind loose boards. {WEATHER}"
            chat.last.replies[0].feed(reply)
            chat.last.replies[0].finish()
            await chat.last.commit()
            chat.history += [
                {"role": "user", "content": f"I ask {who} for news."},
                {"role": "assistant", "content": reply},
            ]
        await saga.drain(30)
        asked = told[: count // 2 : 2]
        for who, what, where in asked:
            turn = await saga.begin(chat.messages(f"Where did {who} hide the {what}?"), model="tale")
            found += f"{who} hides the {what} in the {where}" in turn.plan.text()
            assert turn.count(turn.plan.text()) <= window
    return found / len(asked)


@pytest.mark.parametrize("window", [8_192, 128_000])
async def test_what_was_cut_off_is_recalled(window: int) -> None:
    assert await share_told(window) >= 0.98
