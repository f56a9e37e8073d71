"""A reply that comes back without its markup is the same reply; one that comes back without prose is not."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core import Saga
from saga_core.model import ReportStatus
from tests.core.frontend import Frontend
from tests.wild.strangers import strangers

PROSE = """The captain counts the coppers into his tin and shuts the lid with his thumb. "Lower deck," he says, "and \
mind the bucket."

Below, water runs over the planks. He hands you a lantern, the small one with the cracked pane, and points at the \
pump."""
STATE = "\n\n```state\nhp_change: -5\nitems_gained: [lantern]\n```"


@strangers("sent_back")
@pytest.mark.parametrize("place", ["block last", "block first"])
async def test_prose_decides(row: dict[str, Any], place: str) -> None:
    before, behind = row.get("before", ""), row.get("behind", "")
    reply = f"{before}{PROSE}{behind}{STATE}" if place == "block last" else f"{before}{PROSE}{STATE}\n{behind}"
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = Frontend(saga, system="You tell.", greeting="", note="")
        begun = await chat.begin("I pay.")
        choice = begun.replies[0]
        shown = choice.feed(reply) + choice.finish()
        (first,) = await begun.commit()
        assert "".join(shown.split()) == "".join(f"{before}{PROSE}{behind}".split()), "to the player byte for byte"
        back = row.get("back", PROSE)
        chat.history += [{"role": "user", "content": "I pay."}, {"role": "assistant", "content": back}]
        after = await chat.begin("I go below.")
        assert (after.parent.id == first.id) is row["same"]
        foreign = [line for line in f"{before}\n{behind}".split("\n") if len(line) > 12]
        told = "\n".join(each.content for each in after.plan.blocks if each.role != "assistant")
        assert [line for line in foreign if line in told] == []
        if row["same"]:
            assert first.delta.status is ReportStatus.OK
