"""Maintenance: verifying and repairing stored data, rebuilding views, importing and exporting sessions, forgetting."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from attrs import define

from saga_core.arguments import check_argument, checks_arguments
from saga_core.imports import Source
from saga_core.maintenance.forget import (
    Gone,
    finish_forgetting,
    forget_name,
    forget_sessions,
    leave_no_trace,
    sessions_of,
)
from saga_core.maintenance.importing import ImportOptions, ImportResult, import_files, stop_imports
from saga_core.maintenance.story_path import StoryPath, story_path
from saga_core.maintenance.tools import Tools
from saga_core.maintenance.transfer import SessionFile, export_session, import_session
from saga_core.maintenance.trash import TrashedSession, discard, empty_trash, list_trash, put_in_trash, restore
from saga_core.maintenance.verify import Verification, repair, settle, verify
from saga_core.model import Session


@checks_arguments
@define(eq=False)
class Maintenance:
    """Operations on the data as a whole. Sessions can be played meanwhile."""

    tools: Tools

    async def verify(self, session: str | None = None, *, patience: float = 60.0) -> Verification:
        """Compare one session with the journal, or all sessions and the data that belongs to no session.

        Pending work is done first, for at most ``patience`` seconds. Raises ``NotFound``, ``StoreError`` if the list
        of sessions cannot be read, and ``StoreTimeout`` if a store hangs: the message names it.
        """
        return await verify(self.tools, session, patience=patience)

    async def repair(self, verdict: Verification, session: str | None = None) -> Verification:
        """Repair the findings of a verdict that can be repaired, and verify again."""
        check_argument("verdict", verdict, Verification, "give what Maintenance.verify returned")
        return await repair(self.tools, verdict, session)

    async def settle(self, seconds: float) -> None:
        """Do the pending work on views, even if the engine was opened without resuming it."""
        await settle(self.tools, seconds)

    async def differences(self, session_id: str, *, vectors: bool = True) -> list[str]:
        """Compare the views of every live timeline and, with ``vectors``, the episodes of a session with the journal.

        Returns the differences in words. Drain first, because pending work counts as a difference.
        """
        projector, live = self.tools.projector, await self.tools.directory.load(session_id)
        found: list[str] = await projector.verify_episodes(live) if vectors else []
        for slot in range(projector.slots):
            found += await projector.verify(live, slot)
        return found

    def stop_imports(self) -> int:
        """Stop the running imports, each after the world or session that it is writing, and return their number.

        Whatever was imported stays, and the rest is reported as refused.
        """
        return stop_imports(self.tools)

    async def rebuild(self, session_id: str) -> None:
        """Drop a session's graph, view, pages and vectors, and render them again from the journal.

        Pending work is done afterwards, as usual.
        """
        session = await self.tools.directory.find(session_id)
        async with self.tools.supervisor.exclusive(session.id):
            await self.tools.projector.rebuild(await self.tools.live.get(session.id))

    async def put_in_trash(self, session_id: str) -> TrashedSession:
        """Delete a session so that the deletion can be undone for a day. Raises ``NotFound`` and ``StoreError``."""
        return await put_in_trash(self.tools, session_id)

    async def trash(self) -> list[TrashedSession]:
        """The deleted sessions that can be restored, the latest deletion first."""
        return await list_trash(self.tools.stores.state, self.tools.clock.now())

    async def restore(self, session_id: str) -> Session:
        """Restore a deleted session.

        Raises ``NotFound`` if it is not in the trash, and ``QuotaExceeded`` if its owner's key allows no more sessions.
        """
        return await restore(self.tools, session_id)

    async def discard(self, session_id: str) -> None:
        """Remove a deleted session for good. Raises ``NotFound`` if it is not in the trash."""
        await discard(self.tools.stores.state, session_id)

    async def empty_trash(self, owner: str | None = None) -> int:
        """Remove what was deleted more than a day ago, or all of an owner's, for good."""
        return await empty_trash(self.tools.stores.state, self.tools.clock.now(), owner)

    def export_session(self, session_id: str) -> AsyncIterator[bytes]:
        """Yield the lines of a session's export file. Turns that are recorded meanwhile are left out.

        Raises ``NotFound`` and ``StoreError``.
        """
        return export_session(self.tools, session_id)

    async def import_session(self, file: SessionFile) -> Session:
        """Record the session of a file and return it as recorded. Its views are rendered in the background.

        The session keeps its ids if its own id is free, and gets new ones otherwise. Raises ``StoreError``.
        """
        async with self.tools.importing:
            return await import_session(self.tools, file)

    async def story_path(self, session_id: str, head: str | None = None) -> StoryPath:
        """Return the path to ``head``, a turn or a timeline, or to the active head, for writers of other formats.

        Raises ``NotFound`` and ``StoreError``.
        """
        return await story_path(self.tools, session_id, head)

    async def import_files(self, files: Sequence[tuple[str, Source]], how: ImportOptions) -> ImportResult:
        """Import files of other tools, or sessions that SAGA exported. Each has a name, and is given as bytes or path.

        Raises ``BadInput`` for an unknown world or if the only file cannot be imported, and ``StoreError``.
        """
        check_argument("how", how, ImportOptions, "give saga_core.maintenance.ImportOptions(…)")
        for number, each in enumerate(files):
            at, remedy = f"files[{number}]", "give a name with the bytes or the path, as in (name, path)"
            check_argument(at, each, tuple, remedy)
            given: tuple[object, ...] = each
            name, source = given if len(given) == 2 else (None, None)
            check_argument(at, name, str, remedy)
            check_argument(at, source, (bytes, str, Path), remedy)
        return await import_files(self.tools, files, how)

    async def forget_sessions(self, sessions: Sequence[Session | str], trashed: Sequence[TrashedSession] = ()) -> Gone:
        """Delete sessions, also from the trash, and the worlds that no other session uses. Removes every byte of them.

        A session may be given by id or label. Raises ``NotFound`` for one that there is not, before anything is
        deleted, ``StoreError``, and ``OwnedElsewhere`` if sessions that other servers write were left.
        """
        found = [await self.tools.directory.find(each) if isinstance(each, str) else each for each in sessions]
        return await forget_sessions(self.tools, found, trashed)

    async def forget_name(self, session_id: str, name: str) -> Gone:
        """Remove a name from everything that a session holds, and the entities with that name from the state.

        Raises ``NotFound``, and ``BadInput`` if the name is too short, does not occur, or is part of the world.
        """
        return await forget_name(self.tools, session_id, name)

    async def sessions_of(self, owner: str) -> list[Session]:
        """The sessions of the API key with this fingerprint. Raises ``NotFound`` if there are none."""
        return await sessions_of(self.tools, owner)

    async def finish_forgetting(self) -> tuple[str, ...] | None:
        """As ``leave_no_trace``, if an earlier forgetting did not come to its end; None if each did."""
        return await finish_forgetting(self.tools)

    async def leave_no_trace(self) -> tuple[str, ...]:
        """Rewrite the files of all stores without the deleted data; return what may still hold it."""
        return await leave_no_trace(self.tools)
