"""Plays an adventure on a running server without screen output and checks, for pictures of the pages."""

from __future__ import annotations

import aiohttp

from saga_server.demo.adventure import Adventure
from saga_server.demo.frontend import Frontend, Said


async def tell(adventure: Adventure, url: str) -> str:
    """Play all steps on the server at ``url``, without killing it. Returns the session's id.

    Raises ``FrontendError``.
    """
    async with aiohttp.ClientSession() as http:
        frontend = Frontend(adventure, http, f"{url}/w/{adventure.world}/v1")
        main: list[Said] | None = None
        depths: dict[int, int] = {}
        session = ""
        for step in adventure.steps:
            if step.action == "branch":
                main, frontend.path = frontend.path, frontend.path[: depths[step.at or 0]]
            elif step.action == "return" and main is not None:
                frontend.path, main = main, None
            swiped = step.action == "swipe"
            answer = await (frontend.swipe(stream=False) if swiped else frontend.send(step.words, stream=False))
            depths[step.number] = len(frontend.path)
            session = answer.session
        return session
