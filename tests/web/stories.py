"""Stories to look at, played through the real server or written as a long play leaves them."""

from __future__ import annotations

import json
from pathlib import Path

import aiohttp

from saga_core import Saga
from saga_core.config import Config, load_config
from saga_core.stores.state_kv import Batch
from saga_server.demo.adventure import Adventure, adventure
from saga_server.demo.frontend import DemoMessage, Frontend
from saga_server.server import Server
from tests.bench.play import PlayOptions, write_play


async def tell(story: Adventure, url: str) -> str:
    """Play all steps on the server at ``url``, without killing it. Returns the session's id.

    Raises ``FrontendError``.
    """
    async with aiohttp.ClientSession() as http:
        frontend = Frontend(story, http, f"{url}/w/{story.world}/v1")
        main: list[DemoMessage] | None = None
        depths: dict[int, int] = {}
        session = ""
        for step in story.steps:
            if step.action == "branch":
                main, frontend.path = frontend.path, frontend.path[: depths[step.at or 0]]
            elif step.action == "return" and main is not None:
                frontend.path, main = main, None
            swiped = step.action == "swipe"
            answer = await (frontend.swipe(stream=False) if swiped else frontend.send(step.words, stream=False))
            depths[step.number] = len(frontend.path)
            session = answer.session
        return session


async def play_demo(server: Server) -> str:
    """Harrow Staithe with its swipe and its branch; the session's id."""
    session = await tell(adventure("en"), server.url)
    await server.saga.drain(30)
    return session


async def write_story(folder: Path, turns: int) -> str:
    """A made-up story of so many turns, with swipes, in the files of ``folder``; the session's id."""
    play = await write_play(folder, PlayOptions(turns, entities=60, lore=60))
    tree = json.loads(play.config.read_text(encoding="utf-8"))
    tree |= {"server": {"port": 0, "drain_timeout": 5}, "extraction": {"automatic": "never"}}
    play.config.write_text(json.dumps(tree), encoding="utf-8")
    return play.session


def settings_of(folder: Path) -> Config:
    """The settings with which a server opens what ``write_story`` wrote."""
    return load_config(folder / "saga.yaml", environ={})


def damage_the_journal(folder: Path) -> None:
    """All but its beginning is zeros: SAGA starts, and can read nothing of what was played."""
    path = folder / "data" / "state.db"
    raw = path.read_bytes()
    path.write_bytes(raw[:4096] + bytes(len(raw) - 4096))


def damage_the_views(folder: Path) -> None:
    """Vectors that are no database, and pages that say something else: SAGA makes them again."""
    (folder / "data" / "vectors.db").write_bytes(b"no database" * 999)
    for page in (folder / "data" / "pages").rglob("*.md"):
        page.write_text("nothing", encoding="utf-8")


async def lose_turns(folder: Path) -> None:
    """The words of each seventh turn are gone: the tree stands, and what they said cannot be made up."""
    async with Saga.open(settings_of(folder)) as saga:
        rows = await saga.stores.state.scan(("turn",))
        await saga.stores.state.commit(Batch(deletes=frozenset(key for key, _ in rows[-1::-7])))
