"""Maintenance: verifying and repairing what is stored, rebuilding views, moving sessions in and out, forgetting."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from attrs import define

from saga_core.maintenance.tools import Tools
from saga_core.model import Session

if TYPE_CHECKING:
    from saga_core.imports import Source
    from saga_core.maintenance.forget import Gone
    from saga_core.maintenance.taking_in import TakeIn, TakenIn
    from saga_core.maintenance.transfer import SessionFile
    from saga_core.maintenance.verify import Verdict


@define(eq=False)
class Maintenance:
    """Operations on the data as a whole. Play goes on meanwhile. The modules are imported when they are used."""

    tools: Tools

    async def verify(self, session: str | None = None, *, patience: float = 60.0) -> Verdict:
        """Compare one session, or all of them and what belongs to none, with the journal.

        Work that waits is done first, for at most ``patience`` seconds. Raises ``NotFound``, and ``StoreError`` when
        the list of sessions cannot be read.
        """
        from saga_core.maintenance.verify import verify

        return await verify(self.tools, session, patience=patience)

    async def repair(self, verdict: Verdict, session: str | None = None) -> Verdict:
        """Repair what a verdict found and can be repaired, and verify again."""
        from saga_core.maintenance.verify import repair

        return await repair(self.tools, verdict, session)

    async def settle(self, seconds: float) -> None:
        """Do the work on views that waits, also when the engine was opened without taking it up."""
        from saga_core.maintenance.verify import settle

        await settle(self.tools, seconds)

    async def differences(self, session_id: str) -> list[str]:
        """Every live timeline's views and the episodes of a session against the journal, in words.

        Drain first: work that waits is a difference too.
        """
        projector, live = self.tools.projector, await self.tools.directory.load(session_id)
        found: list[str] = await projector.verify_episodes(live)
        for slot in range(projector.slots):
            found += await projector.verify(live, slot)
        return found

    def stop_taking_in(self) -> int:
        """Stop imports that are under way, behind what they write just now: what was taken in stays, and the rest is
        told as refused. How many there were."""
        from saga_core.maintenance.taking_in import stop_taking_in

        return stop_taking_in(self.tools)

    async def rebuild(self, session_id: str) -> None:
        """Drop a session's graph, view, pages and vectors, and render them again from the journal.

        Work that waits is done afterwards, as usual.
        """
        session = await self.tools.directory.find(session_id)
        async with self.tools.supervisor.exclusive(session.id):
            await self.tools.projector.rebuild(await self.tools.live.get(session.id))

    def export_session(self, session_id: str) -> AsyncIterator[bytes]:
        """The lines of a session's file. What is recorded meanwhile is left out.

        Raises ``NotFound`` and ``StoreError``.
        """
        from saga_core.maintenance.transfer import export_session

        return export_session(self.tools, session_id)

    async def import_session(self, file: SessionFile) -> Session:
        """Record the session of a file; its views are made in the background. Gives it as it is here.

        It keeps its ids when its own is free, and gets new ones else. Raises ``StoreError``.
        """
        from saga_core.maintenance.transfer import import_session

        async with self.tools.importing:
            return await import_session(self.tools, file)

    async def give_chat(self, session_id: str, head: str | None = None) -> bytes:
        """A path of a session as a chat of SillyTavern: to ``head``, a turn or a timeline, or to the active head.

        Raises ``NotFound`` and ``StoreError``.
        """
        from saga_core.maintenance.giving_out import give_chat

        return await give_chat(self.tools, session_id, head)

    async def take_in(self, files: Sequence[tuple[str, Source]], how: TakeIn) -> TakenIn:
        """Take in files of other tools, or sessions that SAGA exported, each with its name, as bytes or by its path.

        Raises ``BadInput`` when the only file cannot be taken in, and for an unknown world; and ``StoreError``.
        """
        from saga_core.maintenance.taking_in import take_in

        return await take_in(self.tools, files, how)

    async def forget_sessions(self, sessions: Sequence[Session]) -> Gone:
        """Delete sessions, the worlds that no other session plays in, and every byte of them.

        Raises ``StoreError``, and ``OwnedElsewhere`` when those that other servers write are left.
        """
        from saga_core.maintenance.forget import forget_sessions

        return await forget_sessions(self.tools, sessions)

    async def forget_name(self, session_id: str, name: str) -> Gone:
        """Take a name out of everything that a session holds, and what bears it out of the state.

        Raises ``NotFound``, and ``BadInput`` for a name that is too short, stands nowhere, or is the world author's.
        """
        from saga_core.maintenance.forget import forget_name

        return await forget_name(self.tools, session_id, name)

    async def sessions_of(self, owner: str) -> list[Session]:
        """The sessions of an API key, by its fingerprint. Raises ``NotFound`` when there is none."""
        from saga_core.maintenance.forget import sessions_of

        return await sessions_of(self.tools, owner)

    async def leave_no_trace(self) -> None:
        """Rewrite every store's files without what was deleted, and drop it from memory."""
        from saga_core.maintenance.forget import leave_no_trace

        await leave_no_trace(self.tools)
