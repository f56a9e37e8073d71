"""Back up the journal of a data directory, and restore it."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable
from contextlib import aclosing
from importlib.metadata import version
from pathlib import Path

from attrs import evolve, frozen

from saga_backends.path_lock import PathLock
from saga_backends.path_owner import make_place
from saga_backends.state_kv.sqlite_copy import SEAL, Copy, Salvaged, copy_state, read_copy, salvage
from saga_core import Saga, codec
from saga_core.config import Config
from saga_core.errors import BadInput, Conflict, NewerSchema, NotSupported, StoreLocked, StoreUnavailable
from saga_core.journal import keys
from saga_core.language import known
from saga_core.maintenance import BackupCopy, OlderCopy, Verification, add_to_index, brought_back, make_whole
from saga_core.replacing import replace_file
from saga_core.storage import backend_of, path_of
from saga_core.stores import Batch
from saga_core.world import EMPTY_WORLD
from saga_server.tenancy import Tenancy
from saga_server.terminal import counted

FOLDER = "backups"
"""The default folder for backups, inside the data directory."""
LOCKED = "backup"
"""The name of the lock, inside the data directory, that is held while a backup is made."""

_VIEWS = ("graph", "vector", "cache")


def state_file(config: Config) -> Path:
    """Return the file that holds the journal. Raises ``NotSupported`` if the state store is not SAGA's SQLite file."""
    backend = backend_of(config, "state")
    path = path_of(config, "state")
    if backend != "sqlite" or path is None:
        raise NotSupported(
            f"storage.state: the journal is kept by {backend}; back it up with that engine's own tools, or move single "
            f"sessions with saga export; restore a backup into a folder with state: sqlite, then saga move --to state="
            f"{backend}"
        )
    return path


def stamp(moment: float) -> str:
    """Return a time, in seconds since the epoch, as part of a file name, in local time."""
    return time.strftime("%Y%m%d-%H%M%S", time.localtime(moment))


async def back_up(config: Config, target: Path | None = None) -> Copy:
    """Copy the journal to ``target``: a file, or a folder in which the copy gets a free name with the time.

    The default is the folder ``backups`` in the data directory. A server may have the data open meanwhile. Raises
    ``SagaError``; ``Conflict`` while this or another process makes a backup of the same data.
    """
    return await asyncio.to_thread(_back_up, config, target)


def _back_up(config: Config, target: Path | None) -> Copy:
    source, made = state_file(config), time.time()
    config.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)  # the journal may lie elsewhere
    try:
        # Two concurrent backups would choose the same name and delete each other's unfinished file.
        lock = PathLock(config.data_dir / LOCKED)
    except StoreLocked as error:
        raise Conflict(
            ("backup",), f"{config.data_dir}: a backup of it is being made already; ask again when that is done"
        ) from error
    try:
        if target is None:
            target = config.data_dir / FOLDER
            make_place(target, folder=True)
        if target.is_dir() or not target.suffix:
            target = _free(target / f"saga-{stamp(made)}.db")
        target = target.absolute()
        found = copy_state(source, target, made=made, saga=version("saga-rp"))
        add_to_index(config.data_dir, BackupCopy(str(target), made, found.bytes, len(found.sessions), found.turns))
        return found
    finally:
        lock.release()


@frozen
class Restored:
    """The result of restoring a backup."""

    copy: Copy
    aside: Path | None
    """The folder with the data that was there before; None if there was none."""
    verdict: Verification
    left_out: tuple[str, ...] = ()
    """Sessions in the backup that were left out, because they were forgotten after it was made."""
    remains: tuple[str, ...] = ()
    """What may still hold them, each with the reason and the remedy."""


async def restore(
    config: Config,
    file: Path,
    *,
    force: bool = False,
    with_forgotten: bool = False,
    damaged: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Restored:
    """Replace the journal by a backup, and render every view from it.

    The whole backup is read and checked first. If there is data already, restoring is refused; with ``force`` the data
    is moved aside. Sessions that were forgotten after the backup was made are left out. A backup with a name that was
    forgotten later is refused. ``with_forgotten`` turns off both. With ``damaged``, the backup is whatever can be read
    of ``file``. Raises ``SagaError``; nothing is changed until the last step.
    """
    target = state_file(config)
    if damaged:
        saved = target.with_name(target.name + ".saved")
        try:
            told = await asyncio.to_thread(_salvage, file, saved)
            unread = counted(told.gaps + told.garbled, "place")
            say(f"{file}: {counted(told.entries, 'entry', 'entries')} saved; {unread} could not be read")
            return await _restore(config, saved, force, with_forgotten, True, say)
        finally:
            saved.unlink(missing_ok=True)
    return await _restore(config, file, force, with_forgotten, False, say)


async def _restore(
    config: Config, file: Path, force: bool, with_forgotten: bool, holes: bool, say: Callable[[str], None]
) -> Restored:
    target = state_file(config)
    found = await asyncio.to_thread(read_copy, file)
    if found.journal > keys.NEWEST:
        raise NewerSchema(
            f"{file}: its journal has format {found.journal}, this SAGA knows up to {keys.NEWEST}: install a newer "
            "SAGA; nothing was changed"
        )
    if not holes:
        whole = "whole" if found.seal is not None else "readable"
        say(f"{file}: {whole}, {counted(len(found.sessions), 'session')}, {counted(found.turns, 'turn')}")
        if found.seal is None:
            say(
                f"!!  {file}: has no digest, because `saga backup` did not write it; a byte of it may have been "
                "changed unnoticed"
            )
    since = found.seal.made if found.seal is not None else None
    older = (
        OlderCopy((), ()) if with_forgotten else brought_back(config.data_dir, (*found.sessions, *found.trash), since)
    )
    if older.names:
        raise BadInput(
            f"{file}: in {', '.join(older.names)} a name was forgotten after this backup was made, and would be back; "
            "give --with-forgotten to restore it all the same, and forget the name again; nothing was changed"
        )
    aside = await asyncio.to_thread(_put, config, file, target, force)
    if aside is not None:
        say(f"what was there is now in {aside}")
    async with aclosing(await Saga.open(config, resume=False, hosting=Tenancy())) as saga:
        await saga.stores.state.commit(Batch(deletes=frozenset({SEAL})))  # a live journal again, not a copy
        sessions = await _whole(saga, say) if holes else found.sessions
        unwanted = [await saga.sessions.get(session) for session in older.sessions if session in sessions]
        buried = [each for each in await saga.maintenance.trash() if each.id in older.sessions]
        remains: tuple[str, ...] = ()
        if unwanted or buried:
            gone = await saga.maintenance.forget_sessions(unwanted, buried)
            remains = gone.remains
            left = counted(len(unwanted) + len(buried), "session")
            say(f"{left} left out: forgotten after this backup was made (--with-forgotten would bring them back)")
        for session in sessions:
            if session not in older.sessions:
                await saga.maintenance.rebuild(session)
        verdict = await saga.maintenance.verify()
        if holes:
            verdict = await saga.maintenance.repair(verdict)
        return Restored(found, aside, verdict, older.sessions, remains)


async def _whole(saga: Saga, say: Callable[[str], None]) -> tuple[str, ...]:
    """Remove everything from a salvaged journal that refers to lost data. Return the remaining sessions."""
    broken = saga.worlds.broken()
    names = [name for name in saga.worlds.names() if name not in broken]
    worlds = [*(evolve(EMPTY_WORLD, language=each) for each in known()), *map(saga.worlds.get, names)]
    left = await make_whole(saga.stores.state, worlds)
    if left.gone:
        say(f"{counted(len(left.gone), 'session')} could not be saved: {', '.join(left.gone)}")
    if left.turns:
        turns = counted(left.turns, "turn leads", "turns lead")
        say(f"{turns} into a hole and could not be kept; chats that still show them bring them back")
    return tuple([each.id for each in await saga.parts.journal.sessions()])


def _salvage(file: Path, saved: Path) -> Salvaged:
    saved.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    saved.unlink(missing_ok=True)
    return salvage(file, saved, {keys.FORMAT_KEY: codec.dumps({"format": keys.FORMAT})})


def _put(config: Config, file: Path, target: Path, force: bool) -> Path | None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    lock = PathLock(target)
    try:
        there = [path for path in _there(config, target) if path.exists()]
        if there and not force:
            names = ", ".join(sorted(path.name for path in there))
            raise BadInput(f"{target.parent}: holds data already ({names}); give --force to put it aside first")
        try:
            part.unlink(missing_ok=True)
            part.touch(0o600)
            shutil.copyfile(file, part)
        except OSError as error:
            raise StoreUnavailable(f"{part}: cannot be written ({error.strerror}); nothing was changed") from error
        read_copy(part)
        aside = _free(target.parent / f"replaced-{stamp(time.time())}") if there else None
        if aside is not None:
            aside.mkdir(mode=0o700)
            for path in there:
                shutil.move(path, aside / path.name)
        replace_file(part, target)
        return aside
    finally:
        part.unlink(missing_ok=True)
        lock.release()


def _there(config: Config, target: Path) -> list[Path]:
    """Return all files of the data, the journal first. The views are included, as they only fit their own journal."""
    views = [path for kind in _VIEWS if (path := path_of(config, kind)) is not None]
    return [
        each
        for path in (target, *views)
        for each in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm")))
    ]


def _free(path: Path) -> Path:
    """Return ``path`` if it is free, otherwise a free path with a number before the suffix."""
    count = 2
    free = path
    while free.exists():
        free, count = path.with_name(f"{path.stem}-{count}{path.suffix}"), count + 1
    return free
