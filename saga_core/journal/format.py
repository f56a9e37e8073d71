"""The journal's format: a number that tells a SAGA version whether it can read the journal.

The number is raised while turns are written in parts. An older SAGA that does not know such writes would show half of
one, so it must refuse the journal until the write is finished or rolled back. The entry names the sessions with such
writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from saga_core import codec
from saga_core.counters import Counters
from saga_core.errors import BadInput, Conflict, HalfMoved, NewerSchema, StoreCorrupt, StoreError, StoreUnavailable
from saga_core.journal import keys
from saga_core.journal.keys import value
from saga_core.stores import Batch, Key, StateKV

MOVED = "journal.moved"
"""The degraded mode of a journal that was moved, and is played on all the same."""
_TRIES = 64
"""How often the entry is rewritten if another session's write changes it concurrently."""


def moved_to(place: str) -> str:
    """What is said of a journal that was moved to ``place``."""
    return (
        f"this journal was moved to {place}, and what is played here is missing there. Stop the server and name the "
        "copy in `storage`. If you have played here since, put the copy aside and give the same `saga move` again. To "
        "go on with this journal, give `saga move --stay`"
    )


async def check_format(kv: StateKV, counters: Counters) -> None:
    """Check the format, or write it into an empty store. Report a journal that was moved.

    Raises ``NewerSchema`` for a later format, and ``HalfMoved`` while a journal is being moved into the store.
    """
    try:
        rows = await kv.get([keys.FORMAT_KEY, keys.MOVING_KEY, keys.MOVED_KEY])
    except StoreError as error:
        if not isinstance(cause := error.__cause__, LookupError):
            raise
        why = f"{type(cause).__name__}: {cause}"
        raise StoreUnavailable(
            f"storage.state: {kv.info.name} could not give keys that may be absent ({why})"
        ) from error
    answers: Iterable[object] = rows.values()
    if any(not isinstance(each, bytes) or not each for each in answers):
        raise BadInput(
            f"storage.state: {kv.info.name} gave {rows} for keys that are absent; leave them out of the answer"
        )
    if keys.MOVING_KEY in rows:
        raise HalfMoved(
            f"a journal is being moved into {kv.info.location or kv.info.name}, and part of it is missing: wait until "
            "`saga move` has ended, or give the same command again to finish what was cut off. The journal that it is "
            "moved from is whole: you can configure that one again"
        )
    if (place := rows.get(keys.MOVED_KEY)) is not None:
        counters.degrade(MOVED, moved_to(place.decode(errors="replace")))
    raw = rows.get(keys.FORMAT_KEY)
    if raw is None:
        await kv.commit(Batch({keys.FORMAT_KEY: _written(())}), expected={keys.FORMAT_KEY: None})
        return
    found = _read(raw)[0]
    if found > keys.NEWEST:
        raise NewerSchema(
            f"the journal in {kv.info.location or kv.info.name} has format {found}, this SAGA knows up to"
            f" {keys.NEWEST}: install a newer SAGA or use another data directory; nothing was changed"
        )
    if found > keys.FORMAT:
        await _lower(kv)


async def begin_parts(kv: StateKV, session_id: str, puts: Mapping[Key, bytes]) -> None:
    """Raise the format and commit ``puts``, which starts a write in parts."""
    for left in range(_TRIES, 0, -1):
        raw = await value(kv, keys.FORMAT_KEY)
        named = _read(raw)[1] if raw is not None else frozenset()
        try:
            await kv.commit(
                Batch({**puts, keys.FORMAT_KEY: _written(named | {session_id})}), expected={keys.FORMAT_KEY: raw}
            )
            return
        except Conflict:
            if left == 1:
                raise


async def end_parts(kv: StateKV, session_id: str) -> None:
    """Remove the note of a write in parts, and lower the format if no other such write is running.

    The note is removed first, because that works even on a full disk. If lowering fails, the next start does it.
    """
    await kv.commit(Batch(deletes=frozenset({keys.unfinished(session_id)})))
    await _lower(kv)


async def _lower(kv: StateKV) -> None:
    """Rewrite the entry so that it names only the sessions that are still being written."""
    for left in range(_TRIES, 0, -1):
        raw = await value(kv, keys.FORMAT_KEY)
        named = _read(raw)[1] if raw is not None else frozenset()
        noted = await _noted(kv, named)
        if noted == named:
            return
        try:
            await kv.commit(Batch({keys.FORMAT_KEY: _written(noted)}), expected={keys.FORMAT_KEY: raw})
            return
        except Conflict:
            if left == 1:
                raise


async def _noted(kv: StateKV, sessions: Iterable[str]) -> frozenset[str]:
    """Return those of ``sessions`` with a write in parts that is running or was interrupted."""
    notes = [keys.unfinished(each) for each in sessions]
    return frozenset(key[1] for key in await kv.get(notes)) if notes else frozenset()


def _written(sessions: Iterable[str]) -> bytes:
    named = sorted(sessions)
    return codec.dumps({"format": keys.NEWEST, "unfinished": named} if named else {"format": keys.FORMAT})


def _read(raw: bytes) -> tuple[int, frozenset[str]]:
    plain = codec.loads(raw)
    number = plain.get("format") if isinstance(plain, dict) else None
    if type(number) is not int:
        raise StoreCorrupt("the journal's format entry cannot be read; this data directory is not SAGA's")
    named = plain.get("unfinished", [])
    return number, frozenset(each for each in named if isinstance(each, str)) if isinstance(
        named, list
    ) else frozenset()
