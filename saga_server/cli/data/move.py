"""``saga move``: copies the journal into a database, a folder or another engine, even while servers are running."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from attrs import evolve

from saga_core import registry
from saga_core.capabilities import Capability
from saga_core.config import Config, StoreConfig, load_config
from saga_core.errors import BadInput, StoreError, StoreLocked
from saga_core.storage import backend_of, path_of
from saga_server.cli.data.data_access import check_there
from saga_server.cli.settings import Place, settings
from saga_server.terminal import counted, say

if TYPE_CHECKING:
    from saga_backends.state_kv.sqlite import Beside
    from saga_core.journal import Scanned
    from saga_core.stores import Key, StateKV

_DATABASE = ("postgresql://", "postgres://")
_ENGINE = "state="
_PAUSE = 1.0
"""Seconds between two passes, at least. After a slow pass the pause is three times as long as the pass."""
_FEW = 100
"""The target has caught up when a pass copied at most this many entries."""
_ALREADY = "already moved: the target is equal to the journal"


@click.command()
@click.option(
    "--to",
    "target",
    default="",
    metavar="TARGET",
    help="Target: postgresql://… for a database, a folder, which becomes the data directory, or state=BACKEND for "
    "another engine in the same data directory.",
)
@click.option("--schema", default="saga", show_default=True, help="Schema in the database.")
@click.option("--follow", is_flag=True, help="Copy while the servers run, and finish after they have stopped.")
@click.option("--stay", is_flag=True, help="Move nothing: go on with a journal that was moved, and forget that it was.")
@settings
def move(place: Place, target: str, schema: str, follow: bool, stay: bool) -> None:
    """Copy the journal to another store, and compare the two.

    Stop the servers first, or use --follow, which asks you to stop them when little is left to copy. It reads journals
    in SQLite and PostgreSQL, and in other engines that several servers can share. The old data stay where they are,
    with a note that they were moved. Graph, vectors and pages are rendered again when sessions are played, or all at
    once by saga rebuild.
    """
    from saga_server.process import log_errors_only

    if stay == bool(target):
        raise BadInput("give either --to TARGET, or --stay to go on with a journal that was moved")
    config = place.config()
    log_errors_only(config)
    check_there(config)
    if stay:
        asyncio.run(_stay(config))
        say("This journal goes on; that it was moved is forgotten. Remove the copy, so that nobody plays on it.")
        return
    moved = _configured(config, target, schema)
    if _at(moved) == _at(config):
        raise BadInput("--to: this is where the journal is already; give another folder, or state=BACKEND")
    count = asyncio.run(_move(config, moved, follow))
    done = f"{counted(count, 'entry', 'entries')} of the journal copied and compared" if count is not None else _ALREADY
    say(f"{done}. From now on configure:")
    if target.startswith(_DATABASE):
        say("storage:\n  profile: scale\n  url: (the address that you gave)")
        if schema != "saga":
            say("  # and for each of state, graph, vector and cache\n  state:\n    options: {schema: " + schema + "}")
    elif target.startswith(_ENGINE):
        say(f"storage:\n  state: {{backend: {moved.storage.state.backend!r}}}")
        if (old := path_of(config, "state")) is not None and old.exists():
            say(f"The old journal stays at {old}. Delete it once `saga doctor` finds your sessions in the new one.")
    else:
        say(f"storage:\n  profile: lite\n  path: {Path(target).absolute()}")
        for kind in ("graph", "vector", "cache"):
            if (named := backend_of(config, kind)) != backend_of(moved, kind):
                say(f"  {kind}: {{backend: {named!r}}}")


def _configured(config: Config, target: str, schema: str) -> Config:
    if target.startswith(_DATABASE):
        return load_config(
            {"storage": {"profile": "scale", "url": target, "state": {"options": {"schema": schema}}}}, environ={}
        )
    if "://" in target:
        raise BadInput("--to: is no address that is known; give postgresql://… or a folder")
    kind, equals, backend = target.partition("=")
    if equals and kind in ("graph", "vector", "cache"):
        raise BadInput(f"--to: only the journal is moved; {kind} is rendered from it: saga rebuild --to {target}")
    if target.startswith(_ENGINE):
        return _other_engine(config, backend)
    if target in registry.names("state"):
        raise BadInput(f"--to: {target} is the name of a backend; give state={target}, or ./{target} for a folder")
    plain = load_config({}, environ={})
    return evolve(plain, storage=evolve(plain.storage, path=str(Path(target).absolute())))


def _other_engine(config: Config, backend: str) -> Config:
    """The configuration with the journal in ``backend``, at the place of that engine in the same data directory."""
    if not backend:
        raise BadInput("--to: state= names no backend; give one, such as state=sqlite")
    if backend == backend_of(config, "state"):
        raise BadInput(f"--to: the journal is kept by {backend} already; give another backend, or a folder")
    return evolve(config, storage=evolve(config.storage, state=StoreConfig(backend=backend)))


def _at(config: Config) -> tuple[object, ...]:
    """Where the journal of a configuration is."""
    state, path = config.storage.state, path_of(config, "state")
    if path is not None:
        return (path.resolve(),)
    return backend_of(config, "state"), state.url or config.storage.url, state.options.get("schema", "saga")


async def _move(config: Config, moved: Config, follow: bool) -> int | None:
    from saga_core.counters import Counters
    from saga_core.maintenance import begin_move, mark_moved, move_journal
    from saga_core.storage import open_journal_store

    if not follow and (path := path_of(config, "state")) is not None and path.exists():
        await (await open_journal_store(config, Counters())).aclose()  # refused if locked, before the target is made
    if follow:
        async with _read(config):
            pass  # likewise
    target, named = await open_journal_store(moved, Counters()), backend_of(moved, "state")

    async def reopen() -> StateKV:
        nonlocal target
        await target.aclose()
        target = await open_journal_store(moved, Counters())
        return target

    try:
        if Capability.DURABLE not in target.info.capabilities:
            raise BadInput(f"--to: {target.info.name} promises no durable writes; give a backend that is durable")
        if follow:
            async with _read(config) as readable:
                follow = await begin_move(readable, target, named)
        source = await (_followed(config, target, named) if follow else open_journal_store(config, Counters()))
        try:
            if not follow:
                await _refuse_servers(source, config.server.lease_seconds)
            entries = await move_journal(source, target, named=named, reopen=reopen)
            try:
                await mark_moved(source, target.info)
            except StoreError as error:  # a full disk, which may be why it is moved
                say(f"The old journal cannot be marked as moved; do not play on it ({error}).")
            return entries
        finally:
            await source.aclose()
    finally:
        await target.aclose()


async def _stay(config: Config) -> None:
    from saga_core.counters import Counters
    from saga_core.journal import MOVED_KEY
    from saga_core.storage import open_journal_store
    from saga_core.stores import Batch

    journal = await open_journal_store(config, Counters())
    try:
        if not await journal.get([MOVED_KEY]):
            raise BadInput("--stay: this journal was not moved; there is nothing to do")
        await journal.commit(Batch(deletes=frozenset({MOVED_KEY})))
    finally:
        await journal.aclose()


async def _followed(config: Config, target: StateKV, named: str) -> StateKV:
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
            async with _read(config) as beside:
                changed = await _pass(beside, target, named)
        else:
            if Capability.SHARED not in source.info.capabilities or not await servers.are_there(source):
                return source
            try:
                changed = await _pass(source, target, named)
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


@asynccontextmanager
async def _read(config: Config) -> AsyncIterator[Scanned]:
    """Open the journal for reading, also from a file that a server has open."""
    from saga_backends.state_kv.sqlite import open_beside
    from saga_core.counters import Counters
    from saga_core.storage import open_journal_store

    engine, path = backend_of(config, "state"), path_of(config, "state")
    try:
        source: StateKV | Beside = await open_journal_store(config, Counters())
    except StoreLocked:
        if engine != "sqlite":
            raise BadInput(
                f"--follow: {engine} cannot be read while a server has it open; stop the server, then move"
            ) from None
        assert path is not None, "what is locked is a file"
        source = await open_beside(path)
    try:
        yield source
    finally:
        await source.aclose()


async def _pass(source: Scanned, target: StateKV, named: str) -> int:
    from saga_core.maintenance import catch_up

    return (await catch_up(source, target, named=named)).changed


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
