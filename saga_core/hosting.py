"""What an engine asks of its host: who may begin sessions, and which of several programs writes a session.

A server for one user, and a program that has its journal to itself, need neither. ``saga_server.hosting`` implements
both protocols.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from attrs import frozen

from saga_core.config import Config, Settings
from saga_core.counters import Counters
from saga_core.journal import Journal
from saga_core.ports import Clock, Entropy
from saga_core.stores import FenceOf, Key, StateKV

Create = Callable[[Mapping[Key, bytes], Mapping[Key, bytes | None]], Awaitable[None]]
"""Records a session in one commit with these entries, if the expected values match. Raises ``Conflict``."""


class Admission(Protocol):
    """Decides what the owners of sessions may do, and counts what background calls for them cost.

    It learns of those calls from the event ``billed`` of the engine's counters.
    """

    @property
    def keyed(self) -> bool:
        """Whether there are API keys, so that every session belongs to one."""
        ...

    async def read(self) -> None:
        """Read what is stored, before the first request. Raises ``StoreError``."""
        ...

    async def start(self) -> None:
        """Begin the work in the background."""
        ...

    async def aclose(self) -> None:
        """Write what waits, as far as the store accepts it."""
        ...

    async def begin_session(self, owner: str, session: str, create: Create) -> None:
        """Begin a session with ``create``. Raises ``QuotaExceeded``, and the errors of ``create``."""
        ...

    async def admit_call(self, owner: str) -> None:
        """Check that a model may be called in the background for an owner. Called before each call.

        Raises ``QuotaExceeded`` if the tokens or the money of the day are used up, or the owner's key was revoked.
        """
        ...

    def import_entries(self, owner: str, session: str) -> dict[Key, bytes]:
        """Return the entries for the commit of a session that begins without being admitted, by an import."""
        ...


@frozen(kw_only=True)
class OwnershipListener:
    """What an engine does when it gets or loses the right to write a session. Sessions are given by id."""

    is_busy: Callable[[str], bool] = lambda session: False
    """Whether the right must not be returned now."""
    on_stale: Callable[[str], None] = lambda session: None
    """The session's data in memory may be outdated."""
    on_owned: Callable[[str], None] = lambda session: None
    on_free: Callable[[str], None] = lambda session: None
    on_inherited: Callable[[str], Awaitable[None]] | None = None
    """Takes over the work of a session that another program, or an earlier process, left."""
    on_beat: Callable[[], None] = lambda: None
    """Called regularly while the right to write is shared."""


class WriteRights(Protocol):
    """Which sessions this engine may write, among the programs that share a journal."""

    @property
    def server(self) -> str:
        """The name of this process among those that share the journal."""
        ...

    def guard(self) -> StateKV:
        """Return the journal's store, whose commits succeed only with the right to write the sessions in them.

        Its ``aclose`` closes the inner store too.
        """
        ...

    def fence_of(self, session_of: Callable[[str], str | None]) -> FenceOf:
        """Return the fences of a view store. ``session_of`` returns the session of a scope; None: it has no fence."""
        ...

    def listen(self, listener: OwnershipListener) -> None:
        """Tell the engine when it gets or loses a session."""
        ...

    async def start(self) -> None:
        """Announce this engine to the others. Raises ``StoreError``."""
        ...

    async def aclose(self) -> None:
        """Return all rights. A second call does nothing."""
        ...

    async def own(self, session: str) -> bool:
        """Get the right to write a session. Return whether its data in memory was outdated and has been dropped.

        Raises ``OwnedElsewhere`` while another live program has it, and ``StoreError``.
        """
        ...

    async def ask_elsewhere(self, session: str) -> None:
        """Raise ``OwnedElsewhere`` if a request for the session is better answered by the program that owns it."""
        ...

    def pin(self, session: str, turn: object) -> None:
        """Keep the right to write a session as long as the object ``turn`` exists."""
        ...

    def holds(self, session: str) -> bool:
        """Whether no other program can write the session."""
        ...

    async def is_current(self, session: str) -> bool:
        """Whether the data in memory of a session matches the journal."""
        ...

    async def loading(self, session: str) -> int:
        """Announce that a session is about to be read from the journal. Return the value for ``is_loaded``."""
        ...

    def is_loaded(self, session: str, found: int) -> bool:
        """Whether the session was not written while it was read, as far as is known."""
        ...

    def status(self) -> dict[str, Any]:
        """Return this program, and the others that share the journal. JSON-able."""
        ...


@frozen(kw_only=True, eq=False)
class HostedEngine:
    """What ``Admission`` works with: the parts of the engine that it is made for."""

    settings: Settings
    state: StateKV
    journal: Journal
    clock: Clock
    entropy: Entropy
    counters: Counters
    shared: bool
    """Whether other programs share the journal."""


class Hosting(Protocol):
    """The argument ``hosting`` of ``Saga.open``. One object serves one engine."""

    @property
    def one_machine(self) -> bool:
        """Whether other processes of this machine have the same files open. Damaged files are then left alone."""
        ...

    def rights(
        self, config: Config, state: StateKV, *, entropy: Entropy, counters: Counters, resume: bool
    ) -> WriteRights:
        """Return the rights to write in a journal that is shared. Called only for a store with ``SHARED``."""
        ...

    def admission(self, engine: HostedEngine) -> Admission:
        """Return what admits sessions."""
        ...
