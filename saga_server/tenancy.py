"""``Tenancy``: brings ``saga_server.hosting`` into a server that needs it, and into no other.

It is needed where keys are set in ``server.api_keys`` or stored in the journal, and where the journal is shared.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from attrs import define, field

from saga_core.config import Config
from saga_core.counters import Counters
from saga_core.errors import StoreError
from saga_core.hosting import Create, HostedEngine
from saga_core.ports import Entropy
from saga_core.stores import Key, StateKV

if TYPE_CHECKING:
    from saga_core import Saga
    from saga_server.hosting import Access, Hosting, Leases, Siblings, Taken

_STORED_KEYS: Final = ("access", "key")
"""``hosting.layout.ACCESS_KEYS``, which is looked for without importing ``hosting``."""


@define(eq=False, kw_only=True)
class Tenancy:
    """The argument ``hosting`` with which the server and the commands open an engine.

    Without keys and with a journal of its own, every session may begin, and nothing is counted.
    """

    address: str = ""
    """Where other servers that share the journal reach this one, unless ``server.address`` is set."""
    siblings: Siblings | None = None
    """Tells which processes that share the data directory are alive."""
    _hosting: Hosting | None = field(default=None, init=False)
    _engine: HostedEngine | None = field(default=None, init=False)
    _mark: Path | None = field(default=None, init=False)
    """``Keyring.mark``; None if stored keys end with this process."""
    _marked: bool = field(default=False, init=False)
    """Whether the mark was there at the start."""
    _running: bool = field(default=False, init=False)

    @property
    def access(self) -> Access | None:
        """The keys, their use and the audit log, if they are needed."""
        return self._hosting.access if self._hosting is not None else None

    @property
    def leases(self) -> Leases | None:
        """The leases, if the journal is shared."""
        return self._hosting.leases if self._hosting is not None else None

    async def bring_in(self) -> Access:
        """Return the keys, their use and the audit log, also if nothing needed them until now. Raises ``StoreError``.

        The settings may get keys while the server runs.
        """
        if self.access is None:
            access = self._made()
            await access.read()
            if self._running:
                await access.start()
        assert self.access is not None
        return self.access

    async def admit(self, key_id: str, turns: int = 1) -> Taken | None:
        """Count turns of a key before they begin. Raises ``QuotaExceeded`` and ``StoreError``."""
        return await self.access.admit(key_id, turns) if self.access is not None else None

    async def has_room(self, key_id: str) -> None:
        """Check that the stories of a key's owner may grow. Raises ``QuotaExceeded`` and ``StoreError``."""
        if self.access is not None:
            await self.access.has_room(key_id)

    def _made(self) -> Access:
        assert self._engine is not None, "the engine is not open"
        access = self._host().admission(self._engine)
        access.keys.mark = self._mark
        return access

    def _host(self) -> Hosting:
        if self._hosting is None:
            from saga_server.hosting import Hosting

            self._hosting = Hosting(address=self.address, siblings=self.siblings)
        return self._hosting

    # -- what the engine asks for ------------------------------------------------------------------------------

    @property
    def one_machine(self) -> bool:
        """See ``saga_core.hosting.Hosting``."""
        return self.siblings is not None

    def rights(self, config: Config, state: StateKV, *, entropy: Entropy, counters: Counters, resume: bool) -> Leases:
        """See ``saga_core.hosting.Hosting``."""
        return self._host().rights(config, state, entropy=entropy, counters=counters, resume=resume)

    def admission(self, engine: HostedEngine) -> Tenancy:
        """See ``saga_core.hosting.Hosting``."""
        self._engine = engine
        if engine.state.info.name != "memory":
            self._mark = engine.settings.config.data_dir / "keys.exist"
            self._marked = self._mark.exists()
        return self

    @property
    def keyed(self) -> bool:
        """Whether there are stored keys."""
        return self.access.keyed if self.access is not None else self._marked

    async def read(self) -> None:
        """Read the stored keys, if there are any or could be. Raises ``StoreError``."""
        assert self._engine is not None
        try:
            needed = self._engine.shared or self._marked or bool(self._engine.settings.config.server.api_keys)
            needed = needed or bool(await self._engine.state.scan(_STORED_KEYS, limit=1))
        except StoreError:
            self._made()  # reads them once the store answers
            raise
        if needed:
            await self._made().read()

    async def start(self) -> None:
        """Begin the work in the background."""
        self._running = True
        if self.access is not None:
            await self.access.start()

    async def aclose(self) -> None:
        """Write what waits."""
        if self.access is not None:
            await self.access.aclose()

    async def begin_session(self, owner: str, session: str, create: Create) -> None:
        """Begin a session, within the quotas of its owner's key."""
        if self.access is None:
            await create({}, {})
        else:
            await self.access.begin_session(owner, session, create)

    async def admit_call(self, owner: str) -> None:
        """See ``Admission.admit_call``."""
        if self.access is not None:
            server = self.access.settings.config.server
            in_settings = owner in map(owner_of, (*server.api_keys, *server.chat_keys))
            await self.access.admit_call(owner, in_settings=in_settings)

    def import_entries(self, owner: str, session: str) -> dict[Key, bytes]:
        """See ``Admission.import_entries``."""
        return {} if self.access is None else self.access.import_entries(owner, session)


def owner_of(key: str) -> str:
    """Return a short fingerprint that ties sessions to a key without a record."""
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=8, person=b"saga.owner").hexdigest()


def tenancy_of(saga: Saga) -> Tenancy:
    """Return the tenancy of an engine that the server or a command opened."""
    found = saga.parts.admission
    assert isinstance(found, Tenancy), "the engine was not opened by the server"
    return found
