"""Reports the journals of other engines in the data directory while the configured one has no session.

A journal stays where its engine wrote it. Another name in ``storage.state`` opens another, empty journal.
"""

from __future__ import annotations

import re
from pathlib import Path

from attrs import evolve

from saga_core import registry
from saga_core.capabilities import Capability
from saga_core.config import Config, StoreConfig
from saga_core.counters import Counters
from saga_core.errors import SagaError
from saga_core.storage.opening import backend_of, holds_data, open_journal_store, path_of, place_of
from saga_core.stores import Key, StateKV

OTHER = "journal.other"
"""The name of the degraded mode."""
_SESSIONS: Key = ("session",)
_BESIDE = re.compile(r"(\.lock|[-.](wal|shm|journal))$|\.damaged-")
"""The end of a file that belongs to a journal and is none itself."""


async def notice_other_journals(config: Config, state: StateKV, counters: Counters) -> None:
    """Report other journals that may hold sessions, if ``state`` is durable and holds none. Raises ``StoreError``."""
    if Capability.DURABLE not in state.info.capabilities or await state.scan(_SESSIONS, limit=1):
        return
    if others := await _others(config):
        counters.recover("journal.new")
        counters.degrade(
            OTHER,
            f"the journal of {state.info.name} has no session, and {config.data_dir} holds another one: "
            f"{', '.join(path.name for path in others)}. To go on with its sessions, name its engine in storage.state "
            f"again; to copy them here, do that, stop the server and run `saga move --to "
            f"state={backend_of(config, 'state')}`. If you do not want them, move it out of the directory",
        )


async def _others(config: Config) -> list[Path]:
    """Return the other journals. Those of engines that have a name are opened, and left out if they hold no session."""
    places = {place: name for name in registry.names("state") if (place := place_of("state", name)) is not None}
    own, found = path_of(config, "state"), list[Path]()
    for path in sorted(config.data_dir.glob("state.*")):
        if _BESIDE.search(path.name) or not holds_data(path) or (own is not None and path.resolve() == own.resolve()):
            continue
        if path.name not in places or await _has_sessions(config, places[path.name]):
            found.append(path)
    return found


async def _has_sessions(config: Config, engine: str) -> bool:
    """Whether the journal of ``engine`` holds a session. One that cannot be read may hold some."""
    other = evolve(config, storage=evolve(config.storage, state=StoreConfig(backend=engine)))
    try:
        store = await open_journal_store(other, Counters())
    except SagaError:
        return True
    try:
        return bool(await store.scan(_SESSIONS, limit=1))
    except SagaError:
        return True
    finally:
        await store.aclose()
