"""Stories to look at, played through the real server or written as a long play leaves them."""

from __future__ import annotations

import json
from pathlib import Path

from saga_core import Saga
from saga_core.config import Config, load_config
from saga_core.stores.state_kv import Batch
from saga_server.demo import adventure_en
from saga_server.demo.telling import tell
from saga_server.server import Server
from tests.bench.play import PlayOptions, write_play


async def play_demo(server: Server) -> str:
    """Harrow Staithe with its swipe and its branch; the session's id."""
    session = await tell(adventure_en.ADVENTURE, server.url)
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
