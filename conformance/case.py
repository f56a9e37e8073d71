"""The ``Case`` that a check receives, with a directory of its own, the store and an event loop."""

from __future__ import annotations

import asyncio
import inspect
import secrets
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from pathlib import Path
from random import Random
from secrets import randbelow
from typing import Any, TypeVar, get_type_hints

from attrs import define, field

from conformance.assertions import EACH_CALL, CheckFailed, annotated, misfit
from conformance.harness import Harness
from conformance.inputs import BAD_NAMES, NAMES, TEXTS
from conformance.pending import asked
from conformance.profiles import Profile
from saga_core.errors import StoreUnavailable
from saga_core.stores.validate import PROTOCOLS, operations

T = TypeVar("T")

PATIENCE = 30.0
"""Timeout in seconds for a call that may hang because of an earlier disturbance of the store."""


class Hangs(TimeoutError):
    """A call or a check exceeded a timeout of the suite. A store's own ``TimeoutError`` is not one of these."""


@asynccontextmanager
async def within(seconds: float, what: str) -> AsyncIterator[None]:
    """Raise ``Hangs`` after ``seconds``. ``what`` names the call or the check for the message."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError as error:
        if not limit.expired() or isinstance(error, Hangs):
            raise
        raise Hangs(f"{what} did not end within {seconds:.3g} seconds") from None


@define
class Case:
    """One run of one check. Stores that the check opens are closed after it."""

    harness: Harness
    path: Path
    """An empty directory. Paths inside it have random names, so no store can recognise them. See ``place``."""
    profile: Profile
    _seed: int
    runner: asyncio.Runner
    store: Any = None
    drawn: bool = False
    """Whether the check has read the seed. A check that has not does the same with any seed."""
    _opened: list[Any] = field(factory=list)
    _counted: int = 0
    _places: dict[str, Path] = field(factory=dict)

    @property
    def brief(self) -> bool:
        """Whether large inputs are left out, for quick runs during the development of a store."""
        return self.profile.name == "quick"

    @property
    def names(self) -> tuple[str, ...]:
        """Distinct valid names, up to the longest that the limits allow."""
        most = self.harness.limits.name_chars
        return (*(name for name in NAMES if len(name) < most), "x" * most, "힣" * most)

    @property
    def bad_names(self) -> tuple[Any, ...]:
        """Values that are not valid names."""
        return (*BAD_NAMES, "x" * (self.harness.limits.name_chars + 1))

    @property
    def texts(self) -> tuple[str, ...]:
        """Texts of every kind. All of them together fit into one value."""
        return (*TEXTS, "x" * min(100_000, self.harness.limits.value_bytes // 4))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The profile's batch sizes that the store accepts. The limit itself is tested in ``limits``."""
        return tuple(size for size in self.profile.sizes if size <= self.harness.limits.batch)

    def byte_sizes(self, room: int) -> tuple[int, ...]:
        """Value sizes in bytes around common page and block sizes, leaving ``room`` bytes for the rest of the value."""
        most = self.harness.limits.value_bytes - room
        if self.brief:
            return tuple(size for size in (4_097, 65_536, min(most, 1_000_000)) if size <= most)
        around = [at + off for at in (4_096, 8_192, 65_536, 262_144, 786_432) for off in (-1, 0, 1)]
        return tuple(size for size in (*around, min(most, 1_000_000)) if size <= most)

    def batches(self, items: Sequence[T]) -> list[list[T]]:
        """``items`` split into lists of at most the store's batch limit."""
        most = self.harness.limits.batch
        return [list(items[start : start + most]) for start in range(0, len(items), most)]

    @property
    def seed(self) -> int:
        """The seed of the random searches. Reading it sets ``drawn``."""
        self.drawn = True
        return self._seed

    @property
    def random(self) -> Random:
        """A new generator, seeded with ``seed``."""
        return Random(self.seed)

    def patience(
        self, what: str = "a call with a timeout of its own", *, more: float = 0.0
    ) -> AbstractAsyncContextManager[None]:
        """A timeout of ``PATIENCE`` and ``more`` seconds. Raises ``Hangs``, which names ``what``, if it is exceeded."""
        return within(PATIENCE + more, what)

    def count(self) -> int:
        """Return a new number on each call, for unique file names."""
        self._counted += 1
        return self._counted

    def place(self, name: str) -> Path:
        """The path for ``name``. It is the same throughout the check and has a different random name in every run."""
        if name not in self._places:
            self._places[name] = self.path / secrets.token_hex(randbelow(8) + 3)
        return self._places[name]

    async def open(self, name: str = "store", *, journal: bool = False) -> Any:
        """Open a store, or the journal's store, on the directory of the place ``name``, which is created if missing."""
        folder = self.place(name)
        folder.mkdir(parents=True, exist_ok=True)
        opener = self.harness.journal if journal and self.harness.journal else self.harness.open
        store = Asked(await asked("open", opener(folder)), self.harness.retries)
        self._opened.append(store)
        return store

    async def reopen(self, store: Any, name: str = "store") -> Any:
        """Close ``store`` and open its place ``name`` again."""
        await store.aclose()
        self._opened.remove(store)
        return await self.open(name)

    def run(self, made: Coroutine[Any, Any, Any]) -> Any:
        """Run ``made`` to its end and return its result, for checks that are not coroutines."""
        # Not runner.run: it installs a signal handler each time, which takes as long as many of the calls.
        return self.runner.get_loop().run_until_complete(made)

    async def close(self) -> None:
        """Close the opened stores, the last one first."""
        while self._opened:
            async with self.patience():
                await self._opened.pop().aclose()


_PAUSE = 0.005


class Asked:
    """Passes every call on. It repeats a call that raised ``StoreUnavailable``, and checks the type of the result."""

    def __init__(self, store: Any, retries: int) -> None:
        self._store = store
        self._retries = retries

    def __repr__(self) -> str:
        return f"an open {type(self._store).__name__}"

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not inspect.iscoroutinefunction(found):
            return found

        full = f"{type(self._store).__name__}.{name}"

        async def call(*args: Any, **options: Any) -> Any:
            for _ in range(self._retries):
                try:
                    return self._fitting(name, await asked(full, found(*args, **options)))
                except StoreUnavailable:
                    await asyncio.sleep(_PAUSE)
            return self._fitting(name, await asked(full, found(*args, **options)))

        return call

    def _fitting(self, name: str, result: Any) -> Any:
        wanted = _results(self._store.info.kind).get(name, Any)
        wrong = misfit(result, wanted)
        if wrong:
            raise CheckFailed(
                f"{type(self._store).__name__}.{name} returned {wrong}; it has to return {annotated(wanted)}\n"
                f"{EACH_CALL} It returns what the protocol says."
            )
        return result


@cache
def _results(kind: str) -> Mapping[str, Any]:
    """What the operations of a kind of store return, by the annotations of its protocol."""
    protocol = PROTOCOLS[kind]
    return {name: get_type_hints(getattr(protocol, name))["return"] for name in operations(protocol) if name != "info"}
