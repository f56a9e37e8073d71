"""Stories to look at, played through the real server."""

from __future__ import annotations

from saga_server.demo import adventure_en
from saga_server.demo.telling import tell
from saga_server.server import Server


async def play_demo(server: Server) -> str:
    """Harrow Staithe with its swipe and its branch; the session's id."""
    session = await tell(adventure_en.ADVENTURE, server.url)
    await server.saga.drain(30)
    return session
