"""Fingerprint of the engines in use, kept in the state store so that the next start notices a change.

Graph and vectors follow the journal turn by turn. An engine that was not in use has missed turns. Its contents are
dropped, and each session is rendered again when it is next played, or all of them by ``saga rebuild``.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from saga_core import codec
from saga_core.capabilities import Capability
from saga_core.counters import Counters
from saga_core.errors import StoreCorrupt
from saga_core.storage.opening import Stores
from saga_core.stores import Batch, Key

log = logging.getLogger("saga.stores")

KINDS = ("graph", "vector")


def _key(kind: str) -> Key:
    return ("meta", "shown-by", kind)


def _identity_key(kind: str) -> Key:
    return ("meta", "shown-in", kind)


async def notice_change(stores: Stores, counters: Counters, data: Path, *, act: bool) -> None:
    """Report whether the graph or the vector store has changed since the last start, with a remedy.

    With ``act``, the old contents of a changed store are dropped, and the change is recorded. ``data`` is the data
    directory, which may be moved as a whole. Raises ``StoreError``.
    """
    records = await stores.state.get([key(kind) for kind in KINDS for key in (_key, _identity_key)])
    puts: dict[Key, bytes] = {}
    for kind in KINDS:
        store = stores.all()[kind]
        now = {"engine": store.info.name, "place": _place(store.info.location, data)}
        raw = records.get(_key(kind))
        before: Any = codec.loads(raw) if raw is not None else None
        if before is not None and not isinstance(before, dict):
            raise StoreCorrupt(f"the journal's note of the {kind} store cannot be read")
        identity, known = store.info.identity.encode(), records.get(_identity_key(kind))
        if identity and identity != known:
            puts[_identity_key(kind)] = identity
        if before == now and known in (None, identity):
            continue
        # Servers that share a store may use different addresses for it, and an address may change.
        if identity and before is not None and before.get("engine") == now["engine"] and known in (None, identity):
            continue
        puts[_key(kind)] = codec.dumps(now)
        if before is None:
            continue
        if Capability.DURABLE in store.info.capabilities:
            counters.degrade(f"{kind}.changed", _notice(kind, before, now))
            if act:
                await _empty(store)
        log.info("%s: shown by %s until now, by %s from now on", kind, before, now)
    if act and puts:
        await stores.state.commit(Batch(puts))


def _notice(kind: str, before: dict[str, str], now: dict[str, str]) -> str:
    old, new = (each["engine"] for each in (before, now))
    if old == new:
        old, new = (f"{each['engine']} in {each['place']}" for each in (before, now))
    return (
        f"the data directory was written with {old}, and {new} may lack what was played then: it is filled anew as "
        f"each session is played on. All at once: saga rebuild --to {kind}={now['engine']}. To go back: storage.{kind}"
    )


def _place(location: str, data: Path) -> str:
    if not location:
        return ""
    path = Path(location)
    return path.relative_to(data).as_posix() if path.is_relative_to(data) else str(path)


async def _empty(store: Any) -> None:
    for scope in await store.scopes():
        await store.drop(scope)
