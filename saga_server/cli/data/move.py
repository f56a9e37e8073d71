"""``saga move``: copies the journal into PostgreSQL or back into a file, even while servers are running."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
from attrs import evolve

from saga_core.capabilities import Capability
from saga_core.config import Config, load_config
from saga_core.errors import BadInput, SagaError, StoreLocked
from saga_server.cli.data.data_access import check_there
from saga_server.cli.settings import fail, find_config, settings
from saga_server.counted import counted
from saga_server.terminal import say

if TYPE_CHECKING:
    from saga_core.journal import Scanned
    from saga_core.stores import Key, StateKV

_DATABASE = ("postgresql://", "postgres://")
_PAUSE = 1.0
"""Seconds between two passes, at least. After a slow pass the pause is three times as long as the pass."""
_FEW = 100
"""The target has caught up when a pass copied at most this many entries."""


@click.command()
@click.option(
    "--to",
    "target",
    required=True,
    metavar="TARGET",
    help="Target: postgresql://… for a database, or a folder, which becomes the data directory.",
)
@click.option("--schema", default="saga", show_default=True, help="Schema in the database.")
@click.option("--follow", is_flag=True, help="Copy while the servers run, and finish after they have stopped.")
@settings
def move(file: Path | None, data: Path | None, target: str, schema: str, follow: bool) -> None:
    """Copy the journal to another store, and compare the two.

    Stop the servers first, or use --follow, which asks you to stop them when little is left to copy. The old data stay
    where they are. Graph, vectors and pages are rendered again when sessions are played, or all at once by saga
    rebuild.
    """
    from saga_server.process import log_errors_only

    try:
        config = find_config(file, data)
        log_errors_only(config)
        check_there(config)
        moved = _configured(target, schema)
        count = asyncio.run(_move(config, moved, follow))
    except (SagaError, OSError) as error:
        fail(error)
    say(f"{counted(count, 'entry', 'entries')} of the journal copied and compared. From now on configure:")
    if target.startswith(_DATABASE):
        say("storage:\n  profile: scale\n  url: (the address that you gave)")
        if schema != "saga":
            say("  # and for each of state, graph, vector and cache\n  state:\n    options: {schema: " + schema + "}")
    else:
        say(f"storage:\n  profile: lite\n  path: {Path(target).absolute()}")


def _configured(target: str, schema: str) -> Config:
    if target.startswith(_DATABASE):
        return load_config(
            {"storage": {"profile": "scale", "url": target, "state": {"options": {"schema": schema}}}}, environ={}
        )
    if "://" in target:
        raise BadInput("--to: is no address that is known; give postgresql://… or a folder")
    plain = load_config({}, environ={})
    return evolve(plain, storage=evolve(plain.storage, path=str(Path(target).absolute())))


async def _move(config: Config, moved: Config, follow: bool) -> int:
    from saga_core.counters import Counters
    from saga_core.maintenance import begin_move, move_journal
    from saga_core.storage import open_journal_store

    target = await open_journal_store(moved, Counters())
    try:
        if follow:
            await begin_move(target)
            source = await _followed(config, target)
        else:
            source = await open_journal_store(config, Counters())
        try:
            if not follow:
                await _refuse_servers(source, config.server.lease_seconds)
            return await move_journal(source, target)
        finally:
            await source.aclose()
    finally:
        await target.aclose()


async def _followed(config: Config, target: StateKV) -> StateKV:
    """Copy the journal in passes while servers write to it. Returns its store once no server does."""
    from saga_core.counters import Counters
    from saga_core.storage import open_journal_store

    close, servers = False, _Servers(2 * config.server.lease_seconds)
    before: int | None = None
    while True:
        began = time.monotonic()
        try:
            source = await open_journal_store(config, Counters())
        except StoreLocked:
            changed = await _pass_beside(config, target)
        else:
            if Capability.SHARED not in source.info.capabilities or not await servers.are_there(source):
                return source
            try:
                changed = await _pass(source, target)
            finally:
                await source.aclose()
        # On a busy server each pass finds what was written during the pass before, so it may never be few.
        is_little = changed <= _FEW or (before is not None and changed > before / 2)
        before = changed
        if changed > _FEW or not close:
            say(f"{counted(changed, 'entry', 'entries')} copied while the server goes on")
        if is_little and not close:
            close = True
            say("little is left: stop the server now (systemctl stop saga); the rest is copied then, and compared")
        await asyncio.sleep(max(_PAUSE, 3 * (time.monotonic() - began)) if not close else _PAUSE)


async def _pass_beside(config: Config, target: StateKV) -> int:
    """Copy once from a file that a server has open."""
    from saga_backends.state_kv.sqlite import open_beside
    from saga_core.storage import path_of

    path = path_of(config, "state")
    assert path is not None, "what is locked is a file"
    source = await open_beside(path)
    try:
        return await _pass(source, target)
    finally:
        await source.aclose()


async def _pass(source: Scanned, target: StateKV) -> int:
    from saga_core.maintenance import catch_up

    return (await catch_up(source, target)).changed


async def _refuse_servers(source: StateKV, lease_seconds: float) -> None:
    """Raise ``BadInput`` when a running server has the shared journal open. Waits up to ``lease_seconds`` to see."""
    if Capability.SHARED not in source.info.capabilities:
        return
    servers = _Servers(lease_seconds)
    ends = time.monotonic() + lease_seconds
    while await servers.are_there(source) and time.monotonic() < ends:
        if servers.grew:
            raise BadInput(
                f"{', '.join(servers.grew)}: is running, and what is told there would be missing from the copy: stop "
                "all servers, or give --follow to copy while they go on"
            )
        await asyncio.sleep(min(_PAUSE, lease_seconds / 6))


class _Servers:
    """Finds the servers that have a shared journal open.

    Each server has a row in the journal. The row changes while the server runs, and is removed when it stops.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._seen: dict[Key, tuple[bytes, float]] = {}
        self.grew: list[str] = []
        """The servers whose row changed between the last two calls of ``are_there``."""

    async def are_there(self, source: StateKV) -> bool:
        from saga_server.hosting import SERVERS

        now = time.monotonic()
        rows = dict(await source.scan(SERVERS))
        self.grew = sorted(key[-1] for key, raw in rows.items() if key in self._seen and self._seen[key][0] != raw)
        self._seen = {
            key: self._seen[key] if key in self._seen and self._seen[key][0] == raw else (raw, now)
            for key, raw in rows.items()
        }
        return any(now - since <= self._seconds for _, since in self._seen.values())
