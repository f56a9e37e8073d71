"""What the conformance suite needs to know."""

from __future__ import annotations

from pathlib import Path

from conformance import Capability, Harness
from saga_core import OpenOptions
from saga_core.stores import StateKV
from saga_log_state.store import open_log


async def opened(path: Path) -> StateKV:
    """The store in this directory."""
    return await open_log(OpenOptions(path=path / "state.log"))


HARNESS = Harness("log-state", "state", opened, provides=frozenset({Capability.DURABLE}))
