"""A harness for the worked example of docs/write-a-backend.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conformance import Capability, Harness
from docs.examples.lmdb_state import BACKEND
from saga_core import OpenOptions


async def opened(folder: Path) -> Any:
    """The store in this folder."""
    return await BACKEND.open(OpenOptions(path=folder / "state.lmdb"))


HARNESS = Harness("state-lmdb", "state", opened, provides={Capability.DURABLE})
