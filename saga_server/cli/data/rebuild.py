"""``saga rebuild``: drops the views of sessions, and renders them again from the journal."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, get_args

import click
from attrs import evolve

from saga_core import registry
from saga_core.config import Config, Profile, StoreConfig
from saga_core.errors import BadInput, StoreUnavailable
from saga_core.storage import PROFILES, backend_of, path_of
from saga_server.cli.data.kept import keeps, lost_by
from saga_server.cli.settings import Place, settings
from saga_server.terminal import say

if TYPE_CHECKING:
    from saga_core import Saga

_KINDS = ("graph", "vector")
"""The stores that ``--to`` can change. The state store has the journal itself, and pages are files in any case."""


@click.command()
@click.argument("session", required=False)
@click.option(
    "--to",
    "targets",
    multiple=True,
    help="Write the views to other stores: a profile (full, full-lance, lite) or a backend (kuzu, vector=sqlite). "
    "May be given twice.",
)
@settings
def rebuild(place: Place, session: str | None, targets: tuple[str, ...]) -> None:
    """Render graph, pages, values and vectors again from the journal, into the configured stores.

    SESSION is an id or a name. Without it, every session is rebuilt. No server may be running on the data directory.
    With --to, the views are written to other stores. That is how to move a data directory to another engine: at the
    end, the command says how to change the configuration.
    """
    if session and targets:
        raise click.UsageError("--to moves every session: leave SESSION out")
    before = place.config()
    config = towards(before, targets)
    equal = asyncio.run(_rebuild(config, session))
    if targets and equal:
        _tell(before, config)
    elif targets:
        say("leave the configuration as it is")
    raise SystemExit(0 if equal else 1)


def towards(config: Config, targets: tuple[str, ...]) -> Config:
    """Return ``config`` with other stores. A target is a profile or a backend, such as ``kuzu``, ``vector=sqlite`` or
    ``vector=package.module:OBJECT``.

    Raises ``BadInput`` for an unknown target, or when a store would use the backend ``memory``.
    """
    for target in targets:
        kind, given, name = target.rpartition("=")
        if not given and name in PROFILES:
            config = _with_profile(config, name)
            continue
        kinds = [kind] if given else [each for each in _KINDS if registry.current(each, name) in registry.names(each)]
        if kind == "state":
            raise BadInput(f"--to {target}: the journal is not rendered but moved: saga move --to {target}")
        name = registry.current(kinds[0] if kinds else kind, name)
        if kinds not in (["graph"], ["vector"]) or not (":" in name or name in registry.names(kinds[0])):
            profiles = [each for each in get_args(Profile) if each != "memory"]
            known = [f"{each}={found}" for each in _KINDS for found in registry.names(each) if found != "memory"]
            raise BadInput(
                f"--to {target}: is no target; give a profile ({', '.join(profiles)}) or a backend "
                f"({', '.join(known)}), or the place of one, as in vector=package.module:OBJECT"
            )
        config = _with_backend(config, kinds[0], name)
    if targets:
        for kind in _KINDS:
            if backend_of(config, kind) == "memory":
                raise BadInput(f"--to: the {kind} backend memory keeps nothing; give a backend on disk, or networkx")
    return config


def _with_profile(config: Config, profile: str) -> Config:
    stores: dict[str, Any] = {"profile": profile}
    # The state store never changes, whatever the profile names, because the views are built from it.
    if PROFILES[profile]["state"].backend != backend_of(config, "state"):
        stores["state"] = evolve(config.storage.state, backend=backend_of(config, "state"))
    for kind in _KINDS:
        store = getattr(config.storage, kind)
        same = PROFILES[profile][kind].backend == backend_of(config, kind)
        stores[kind] = evolve(store, backend=None) if same else _fresh(store, None)
    return evolve(config, storage=evolve(config.storage, **stores))


def _with_backend(config: Config, kind: str, name: str) -> Config:
    if backend_of(config, kind) == name:
        return config
    stores: dict[str, Any] = {kind: _fresh(getattr(config.storage, kind), name)}
    return evolve(config, storage=evolve(config.storage, **stores))


def _fresh(store: StoreConfig, backend: str | None) -> StoreConfig:
    """Return settings for another backend. Path, address and options are dropped, as they belong to the old one."""
    return StoreConfig(backend=backend, resident_mb=store.resident_mb)


async def _rebuild(config: Config, session: str | None) -> bool:
    """Rebuild one session or all of them. Returns whether every session is then equal to the journal."""
    async with aclosing(await _opened(config, resume=True)) as saga:
        ids = (
            [(await saga.sessions.get(session)).id]
            if session
            else [each.session.id for each in await saga.sessions.list()]
        )
        found: dict[str, list[str]] = {}
        for session_id in ids:
            await saga.maintenance.rebuild(session_id)
            # What is kept only in memory can be compared only here.
            found[session_id] = await saga.maintenance.differences(session_id, vectors=not keeps(saga, "vectors"))
        reopens = keeps(saga, "journal")
    kinds: set[str] = set()
    if reopens:
        # An engine may show what it will not keep, such as a transaction that is never committed.
        async with aclosing(await _opened(config, resume=False)) as saga:
            for session_id in ids:
                verdict = await saga.maintenance.verify(session_id)
                left = [each for each in verdict.findings if keeps(saga, each.store)]
                found[session_id] += [str(each) for each in left if str(each) not in found[session_id]]
                kinds.update(each.store for each in left)
    for session_id, differences in found.items():
        say(f"{session_id}: {'; '.join(differences) or 'rebuilt, and equal to the journal'}")
    for line in lost_by(config, kinds):
        say(line)
    equal = not any(found.values())
    say(f"{len(ids)} sessions rebuilt" if equal else f"{len(ids)} sessions rebuilt, and not equal to the journal")
    return equal


async def _opened(config: Config, resume: bool) -> Saga:
    """Open the engine with all its stores. Raises ``StoreUnavailable`` for one that another takes the place of."""
    from saga_core import Saga
    from saga_server.tenancy import Tenancy

    log = logging.getLogger("saga")
    level = log.level
    log.setLevel(logging.ERROR)  # no warnings that the stores have changed: that is intended here
    try:
        saga = await Saga.open(config, resume=resume, hosting=Tenancy())
    finally:
        log.setLevel(level)
    for kind in _KINDS:
        missing = saga.counters.degraded.get(f"{kind}.{backend_of(config, kind)}")
        if missing is not None:
            await saga.aclose()
            raise StoreUnavailable(f"{kind}.{backend_of(config, kind)}: {missing}")
    return saga


def _tell(before: Config, after: Config) -> None:
    """Print how to change the configuration, and which files are no longer used."""
    lines = [] if before.storage.profile == after.storage.profile else [f"  profile: {after.storage.profile}"]
    for kind in _KINDS:
        old, new = getattr(before.storage, kind), getattr(after.storage, kind)
        if old == new:
            continue
        if new.backend is not None:
            lines += [f"  {kind}:", f"    backend: {new.backend}"]
        elif old != StoreConfig(resident_mb=old.resident_mb):
            lines.append(f"  # without backend, path, url and options under {kind}")
    if lines:
        say("\n".join(["now set in the configuration:", "storage:", *lines]))
    used = {path_of(after, kind) for kind in _KINDS}
    for kind in _KINDS:
        left = path_of(before, kind)
        if left is not None and left not in used and left.exists():
            say(f"no longer used, and may be removed: {left}")
