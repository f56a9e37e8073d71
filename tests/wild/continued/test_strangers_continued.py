"""A reply that goes on where it was cut is one turn, with its words once and its things kept."""

from __future__ import annotations

from typing import Any

from saga_core import Saga
from tests.core.frontend import Frontend
from tests.wild.strangers import strangers

CONTINUE = "[Continue the following message. Do not repeat it.]"


@strangers("continued")
async def test_its_words_are_there_once(row: dict[str, Any]) -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = Frontend(saga, system="You tell.", greeting="", note="")
        begun = await chat.begin("I pump.")
        begun.replies[0].feed(row["cut"])
        await begun.commit(finish="length")
        chat.history += [{"role": "user", "content": "I pump."}, {"role": "assistant", "content": row["cut"]}]
        on = await saga.begin([*chat.messages(None), {"role": "system", "content": CONTINUE}], session=begun.session.id)
        choice = on.replies[0]
        more = row["more"] + "\n\n```state\nitems_gained: [rope]\n```"
        shown = "".join(choice.feed(more[at : at + 3]) for at in range(0, len(more), 3)) + choice.finish()
        (whole,) = await on.commit()
        assert "".join(whole.reply.split()) == "".join(row["whole"].split())
        chat.history[-1]["content"] = row["cut"] + shown
        after = await chat.begin("I rest.")
        assert (after.parent.id, after.parent.depth) == (whole.id, 1)
        assert "rope" in str(await saga.describe(begun.session.id, after.parent.id))
