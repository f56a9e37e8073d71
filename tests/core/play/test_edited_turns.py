"""A reply that was edited stands in the history: nothing of what it said before is told beside it."""

from __future__ import annotations

import pytest

from saga_core import Saga
from tests.core.frontend import Frontend

REPLIES = (
    "Borin unlocks the cellar with a brass key. The old wine smells of cherries and dust. Nobody came since the flood.",
    "The mill wheel turns slowly in the green water. A heron stands on the weir and does not move. Borin counts sacks.",
    "Mara brings bread and a jar of honey. She tells of the seal that lies beneath the hearth stone. Nobody listens.",
    "Rain begins at noon and does not stop. The road to Farport is under water, says the carter. He wants his money.",
    "In the evening a lamp burns in the tower window. Borin swears that it is empty since years. The dog growls.",
    "They find a letter under the door, sealed with black wax. It says only one word, in a hand that Mara knows.",
)
LOOKING_BACK = "Wasn't there something about that seal, and the brass key, the heron, the lamp and the letter?"
EDITS = {
    "one letter": lambda text: text.replace("e", "E", 1),
    "a sentence less": lambda text: text.split(". ", 1)[1],
    "a sentence more": lambda text: text + " It is late.",
    "another text": lambda text: text.split(". ")[0] + ". Something quite different happens, far away from here.",
    "other names": lambda text: text.replace("Borin", "Corwin").replace("Mara", "Sela"),
}


@pytest.mark.parametrize("how", EDITS)
@pytest.mark.parametrize("edited", range(len(REPLIES)))
@pytest.mark.parametrize("greeting", ["", "The inn is full tonight, and the rain has not even begun."])
async def test_an_edited_reply_is_not_remembered_beside_itself(edited: int, how: str, greeting: str) -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = Frontend(saga, system="You tell.", greeting=greeting, note="")
        for number, reply in enumerate(REPLIES):
            await chat.say(f"I go on, number {number}, and look for Mara and Borin.", reply, mood="calm")
        message = chat.history[2 * edited + 1]
        message["content"] = EDITS[how](message["content"])
        turn = await chat.begin(LOOKING_BACK)
        assert not [each.text for each in turn.context.pieces if each.source == "recollection"]


async def test_a_turn_that_was_hidden_is_remembered_beside_one_that_was_edited() -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = Frontend(saga, system="You tell.", greeting="", note="")
        for number, reply in enumerate(REPLIES):
            await chat.say(f"I go on, number {number}, and look for Mara and Borin.", reply, mood="calm")
        chat.history[3]["content"] = EDITS["other names"](chat.history[3]["content"])
        del chat.history[4:6]
        turn = await chat.begin(LOOKING_BACK)
        told = "\n".join(each.text for each in turn.context.pieces if each.source == "recollection")
        assert "hearth stone" in told and "heron" not in told
