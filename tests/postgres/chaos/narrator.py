"""A narrator of whose replies none equals another one or begins like it, and who remembers what it said."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from aiohttp import web

from tests.server.client import BLOCK
from tests.server.upstream import Received, says

_WORDS = (
    "amber barley cedar dolphins embers falcons garlic harbours ivory jackdaws kettles lanterns marble nettles olives "
    "pearls quarries ravens saffron thistles umbrellas violets walnuts yarrow zinc anvils beacons cobwebs ditches elms"
).split()


class Narrator:
    """The step of an upstream."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def number(self, reply: str) -> int | None:
        """Which reply this is, or the beginning of which; None for what it never said."""
        number = int(reply[:6]) if reply[:6].isdecimal() else -1
        return number if 0 <= number < len(self.told) and self.told[number].startswith(reply) else None

    async def __call__(self, request: web.Request, received: Received) -> Any:
        draw = random.Random(number := len(self.told))
        seen = draw.sample(_WORDS, 9)
        told = f"{number:06d} stands on the gate. You see {', '.join(seen[:5])} and hear of {', '.join(seen[5:])}."
        self.told.append(told)
        # Long enough that servers go while a reply is under way.
        await asyncio.sleep(draw.uniform(0.0, 0.1))
        gate = asyncio.Event()
        asyncio.get_running_loop().call_later(draw.uniform(0.0, 0.25), gate.set)
        return await says(told[:24], told[24:], "\n\n" + BLOCK, gate=gate)(request, received)
