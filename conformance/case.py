"""Case: what a check is given: a directory of its own, the store, and a loop to run it on."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from random import Random
from typing import Any

from attrs import define, field, frozen

from conformance.harness import Harness
from conformance.values import BAD_NAMES, NAMES


@frozen
class Profile:
    """How long the searches are."""

    name: str
    examples: int
    """Lives of a state machine."""
    steps: int
    """Calls in one run of the machine."""
    histories: int
    """Small concurrent histories."""
    kills: int
    """Processes that are killed."""


PROFILES = {
    "quick": Profile("quick", 10, 20, 10, 1),
    "default": Profile("default", 40, 30, 40, 3),
    "deep": Profile("deep", 1_000, 50, 1_000, 30),
}


@define
class Case:
    """One run of one check. Stores that it opened are closed for it."""

    harness: Harness
    path: Path
    """An empty directory; the store that the check begins with lies in ``path / "store"``."""
    profile: Profile
    seed: int
    runner: asyncio.Runner
    store: Any = None
    _opened: list[Any] = field(factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """Names that are all different, as long as the limits allow."""
        most = self.harness.limits.name_chars
        return (*(name for name in NAMES if len(name) < most), "x" * most, "힣" * most)

    @property
    def bad_names(self) -> tuple[Any, ...]:
        """What is no name."""
        return (*BAD_NAMES, "x" * (self.harness.limits.name_chars + 1))

    @property
    def random(self) -> Random:
        """Anew from the seed."""
        return Random(self.seed)

    async def open(self, name: str = "store") -> Any:
        """A store on the directory ``name``, which is made when it is not there."""
        folder = self.path / name
        folder.mkdir(parents=True, exist_ok=True)
        store = await self.harness.open(folder)
        self._opened.append(store)
        return store

    async def reopen(self, store: Any, name: str = "store") -> Any:
        """Close ``store``, and open what it left."""
        await store.aclose()
        self._opened.remove(store)
        return await self.open(name)

    def run(self, made: Coroutine[Any, Any, Any]) -> Any:
        """What ``made`` gives, for checks that are no coroutines."""
        return self.runner.run(made)

    async def close(self) -> None:
        """Close what was opened, the last first."""
        while self._opened:
            await self._opened.pop().aclose()
