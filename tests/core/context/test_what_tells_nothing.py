"""What is left out of the context because it tells nothing that matters now."""

from __future__ import annotations

from saga_core import Saga
from tests.core.frontend import Frontend

ROUND = (
    " The stove ticks, rain runs down the panes, and the clock over the shelf is slow as always in the wet months. "
    "Mara dries one glass after the other and holds each up against the lamp. A cart goes by outside, and the driver "
    "says good evening to nobody. Under the bench the dog turns round twice and sleeps on with a sigh. The bread is "
    "from yesterday, and the soup is what there is."
)


async def test_long_turns_with_no_word_that_tells_them_apart_are_not_remembered() -> None:
    """Of each turn the first sentence was told, because it had no word of the question or one that all have."""
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = Frontend(saga, system="You tell.", greeting="", note="")
        for number in range(14):
            reply = f'"Sit down," says Mara for evening {number}.{ROUND}'
            if number == 4:
                reply += " Her father left her the silver compass, she says, and it points to the mill."
            await chat.say(f"I come in, evening {number}.", reply, location="inn", npc_met=("Mara",))
        chat.history = chat.history[-2:]
        turn = await chat.begin('"What did your father leave you, Mara?" I say.')
        told = [each.text for each in turn.context.pieces if each.source == "recollection"]
        assert len(told) == 1 and "silver compass" in told[0]
