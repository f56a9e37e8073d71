"""Case: what a check is given: a directory of its own, the store, and a loop to run it on."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Coroutine, Sequence
from pathlib import Path
from random import Random
from secrets import randbelow
from typing import Any, TypeVar

from attrs import define, field

from conformance.harness import Harness
from conformance.inputs import BAD_NAMES, NAMES, TEXTS
from conformance.profiles import Profile
from conformance.retrying import Retrying

T = TypeVar("T")

PATIENCE = 30.0
"""Seconds for a call that may hang because of what was done to the store before it."""


@define
class Case:
    """One run of one check. Stores that it opened are closed for it."""

    harness: Harness
    path: Path
    """An empty directory. What lies in it has names by chance, so that no store can know them: see ``place``."""
    profile: Profile
    _seed: int
    runner: asyncio.Runner
    store: Any = None
    drawn: bool = False
    """Whether the check has asked for the seed: those that have not are the same with another one."""
    _opened: list[Any] = field(factory=list)
    _counted: int = 0
    _places: dict[str, Path] = field(factory=dict)

    @property
    def brief(self) -> bool:
        """Whether what is large is left out, for a run while a store is written."""
        return self.profile.name == "quick"

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
    def texts(self) -> tuple[str, ...]:
        """Texts of every kind; all of them together fit into one value."""
        return (*TEXTS, "x" * min(100_000, self.harness.limits.value_bytes // 4))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many entries a call may have: those of the profile that it takes. Its own limit is for ``limits``."""
        return tuple(size for size in self.profile.sizes if size <= self.harness.limits.batch)

    def byte_sizes(self, room: int) -> tuple[int, ...]:
        """Sizes of a value around what engines cut at; ``room`` is taken for what stands beside it."""
        most = self.harness.limits.value_bytes - room
        if self.brief:
            return tuple(size for size in (4_097, 65_536, min(most, 1_000_000)) if size <= most)
        around = [at + off for at in (4_096, 8_192, 65_536, 262_144, 786_432) for off in (-1, 0, 1)]
        return tuple(size for size in (*around, min(most, 1_000_000)) if size <= most)

    def batches(self, items: Sequence[T]) -> list[list[T]]:
        """``items`` in lists that the store takes at once."""
        most = self.harness.limits.batch
        return [list(items[start : start + most]) for start in range(0, len(items), most)]

    @property
    def seed(self) -> int:
        """What the searches begin with."""
        self.drawn = True
        return self._seed

    @property
    def random(self) -> Random:
        """Anew from the seed."""
        return Random(self.seed)

    def patience(self) -> asyncio.Timeout:
        """A time within which a store answers that does not hang."""
        return asyncio.timeout(PATIENCE)

    def count(self) -> int:
        """Another number each time, for names of files."""
        self._counted += 1
        return self._counted

    def place(self, name: str) -> Path:
        """A path that is this one's for the check, and is called otherwise in every run."""
        if name not in self._places:
            self._places[name] = self.path / secrets.token_hex(randbelow(8) + 3)
        return self._places[name]

    async def open(self, name: str = "store") -> Any:
        """A store on the place ``name``, a directory which is made when it is not there."""
        folder = self.place(name)
        folder.mkdir(parents=True, exist_ok=True)
        store = await self.harness.open(folder)
        if self.harness.retries:
            store = Retrying(store, self.harness.retries)
        self._opened.append(store)
        return store

    async def reopen(self, store: Any, name: str = "store") -> Any:
        """Close ``store``, and open what it left."""
        await store.aclose()
        self._opened.remove(store)
        return await self.open(name)

    def run(self, made: Coroutine[Any, Any, Any]) -> Any:
        """What ``made`` gives, for checks that are no coroutines."""
        # Not by the runner: it sets a signal handler each time, which takes as long as many a call.
        return self.runner.get_loop().run_until_complete(made)

    async def close(self) -> None:
        """Close what was opened, the last first."""
        while self._opened:
            async with self.patience():
                await self._opened.pop().aclose()
