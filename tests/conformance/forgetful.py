"""A StateKV that answers nothing, and its harness: the plainest store that is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conformance import Capability, Harness
from saga_backends.memory import MemoryState


class Forgetful(MemoryState):
    """Answers nothing."""

    async def get(self, keys: Any) -> Any:
        await super().get(keys)
        return {}


async def forgetful(path: Path) -> Forgetful:
    return Forgetful()


FORGETFUL = Harness("forgetful", "state", forgetful, {Capability.RESIDENT})
