"""An adventure told to a server that runs, without a screen and without judging it: for pictures of its pages."""

from __future__ import annotations

from openai import AsyncOpenAI

from saga_server.demo.adventure import Adventure
from saga_server.demo.frontend import NO_KEY, Frontend, Said


async def tell(adventure: Adventure, url: str) -> str:
    """Play all steps on the server at ``url``; the session's id. Nothing is killed. Raises ``FrontendError``."""
    async with AsyncOpenAI(base_url=f"{url}/w/{adventure.world}/v1", api_key=NO_KEY, max_retries=0) as client:
        frontend = Frontend(adventure, client)
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
