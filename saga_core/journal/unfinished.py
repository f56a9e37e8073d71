"""Atomic writes and removals of more turns than one commit can hold: all turns become visible or invisible, or none.

The turns are written in parts. A note names them. Until the note marks them as shown, they do not belong to the
session. One commit shows all of them. Their index entries follow in parts, and then the note is removed. Records that
this commit has no room for, such as timelines, are stored before it and written to their keys after it. If a write is
interrupted before the turns are shown, it is rolled back; afterwards, it is finished.

A session is removed the other way round: one commit removes its record and writes a note. Its other records follow in
parts, and then the note is removed. An interrupted removal is finished.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from attrs import evolve, frozen

from saga_core import codec
from saga_core.errors import StoreError
from saga_core.journal import keys
from saga_core.journal.format import begin_parts, end_parts
from saga_core.journal.keys import PAGE, delete_below, pages, put_rows, rows, value
from saga_core.journal.records import entries_of, recordable
from saga_core.model import Session, Turn, TurnNode
from saga_core.stores import Batch, Key, StateKV

_log = logging.getLogger("saga.journal")

AT_ONCE = 100
"""Turns per commit. Each has up to a dozen records, and a store accepts at least 2,000."""
_PART = 256 << 10
"""Bytes of the records in a part. As text within JSON they may take twice that, and a store accepts values of 1 MB."""


@frozen
class Unfinished:
    """A write of the turns from the id ``first`` to the id ``last``, or the removal of a session."""

    first: str = ""
    last: str = ""
    shown: bool = False
    """Whether the turns belong to the session already. Index entries may still be missing."""
    gone: bool = False
    """Whether the session was removed. Records of it may still be there."""

    def hides(self, turn_id: str) -> bool:
        """Whether a turn is not visible yet."""
        return self.gone or (not self.shown and self.first <= turn_id <= self.last)


async def note_of(kv: StateKV, session_id: str) -> Unfinished | None:
    """Return the note of the session's unfinished write, if there is one."""
    raw = await value(kv, keys.unfinished(session_id))
    return None if raw is None else codec.decode(raw, Unfinished)


async def write_turns(
    kv: StateKV,
    session: Session,
    turns: Sequence[tuple[Turn, TurnNode]],
    *,
    beside: Mapping[Key, bytes],
    more: Mapping[Key, bytes],
    expected: Mapping[Key, bytes | None] | None = None,
    gone: frozenset[Key] = frozenset(),
) -> None:
    """Write ``turns`` and the records ``beside`` them, then show them by writing the session's record.

    ``more`` is written with that record. Its values are JSON and may replace existing records, such as timelines that
    the turns move. ``gone`` is deleted with it. The caller must hold the session's write lock, and no other turn of the
    session may have an id between those of ``turns``. Raises ``Conflict`` if a value is not as ``expected`` when the
    turns are shown, and ``StoreError``. In both cases no turn is visible.
    """
    await settle(kv, session.id)
    ids = [turn.id for turn, _ in turns]
    key = keys.unfinished(session.id)
    note = Unfinished(min(ids, default=""), max(ids, default=""))
    first, *later = _parts(more) or [{}]
    try:
        await begin_parts(kv, session.id, {key: codec.encode(note)})
        await put_rows(kv, beside)
        for start in range(0, len(turns), AT_ONCE):
            puts: dict[Key, bytes] = {}
            for turn, node in turns[start : start + AT_ONCE]:
                puts[keys.turn(session.id, turn.id)] = codec.encode(recordable(turn))
                puts[keys.node(session.id, turn.id)] = codec.encode(node)
            await kv.commit(Batch(puts))
        for number, part in enumerate(later):
            aside = codec.dumps([[*each, raw.decode()] for each, raw in part.items()])
            await kv.commit(Batch({keys.unfinished_part(session.id, f"{number:09}"): aside}))
        shown = {**first, keys.session(session.id): codec.encode(session)}
        shown[key] = codec.encode(evolve(note, shown=True))
        await kv.commit(Batch(shown, gone), expected=expected)
    except StoreError:
        try:
            await settle(kv, session.id)
        except StoreError as error:
            _log.warning("session %s: what was written of it is taken back later: %s", session.id, error)
        raise
    await _lay_down(kv, session.id)
    for start in range(0, len(turns), AT_ONCE):
        await _lead(kv, session, turns[start : start + AT_ONCE])
    await end_parts(kv, session.id)


async def settle(kv: StateKV, session_id: str) -> bool:
    """Roll back or finish an interrupted write, or finish an interrupted removal; return whether there was one.

    The caller must hold the write lock.
    """
    note = await note_of(kv, session_id)
    if note is None:
        return False
    if note.gone:
        await uproot(kv, session_id)
        _log.info("session %s: its removal, which was cut off, is finished", session_id)
        return True
    raw = await value(kv, keys.session(session_id))
    finished = note.shown and raw is not None
    if note.shown and raw is not None:
        await _finish(kv, codec.decode(raw, Session), note)
    else:
        await kv.commit(Batch(deletes=frozenset(await _aside(kv, session_id))))
        # A session that was to be new is removed completely: its record would have been written last.
        kinds = ("node", "turn", "amend") if raw is not None else ("node", "turn", "timeline", *keys.BESIDE)
        for kind in kinds:
            await delete_below(
                kv,
                (kind, session_id),
                lambda key, _: keys.fits(key) and (raw is None or note.hides(key[2])),
            )
    await end_parts(kv, session_id)
    _log.info(
        "session %s: a write of turns that was cut off is %s", session_id, "finished" if finished else "taken back"
    )
    return True


async def uproot(kv: StateKV, session_id: str) -> None:
    """Remove a session whose records cannot be read, by the keys of its records and of the index entries that name it.

    This scans the index entries of all sessions. The session's record is removed last, so that an interrupted call can
    be repeated.
    """
    await delete_below(kv, ("share",), lambda _, raw: codec.loads(raw).get("session") == session_id)
    for kind in ("turn", "node", "timeline", *keys.BESIDE):
        await delete_below(kv, (kind, session_id))
    leads = codec.dumps(session_id)
    for kind in ("reply", "begin", "said", "label"):
        await delete_below(kv, (kind,), lambda _, raw: raw == leads)
    await delete_below(kv, ("open",), lambda key, _: key[-1] == session_id)
    await delete_below(kv, keys.unfinished(session_id), lambda key, _: len(key) > 2)
    await end_parts(kv, session_id)
    await kv.commit(Batch(deletes=frozenset({keys.session(session_id)})))


def _parts(puts: Mapping[Key, bytes]) -> list[dict[Key, bytes]]:
    """Split records, in their order, into parts that fit into one commit and, as JSON, into one value."""
    parts: list[dict[Key, bytes]] = []
    room = 0
    for key, raw in puts.items():
        if not parts or len(raw) > room or len(parts[-1]) == PAGE:
            parts.append({})
            room = _PART
        parts[-1][key] = raw
        room -= len(raw)
    return parts


async def _aside(kv: StateKV, session_id: str) -> list[Key]:
    """Return the keys of the records stored for later, in order."""
    return [key async for key, _ in rows(kv, keys.unfinished(session_id)) if len(key) > 2]


async def _lay_down(kv: StateKV, session_id: str) -> None:
    """Write the records stored for later. A part that still exists has not been written yet."""
    for part in await _aside(kv, session_id):
        plain = codec.loads((await kv.get([part]))[part])
        await kv.commit(Batch({tuple(row[:-1]): row[-1].encode() for row in plain}, frozenset({part})))


async def _finish(kv: StateKV, session: Session, note: Unfinished) -> None:
    await _lay_down(kv, session.id)
    async for page in pages(kv, ("turn", session.id)):
        turns = {key[2]: raw for key, raw in page if keys.fits(key) and note.first <= key[2] <= note.last}
        nodes = await kv.get([keys.node(session.id, turn) for turn in turns])
        pairs = [(codec.decode(turns[key[2]], Turn), codec.decode(raw, TurnNode)) for key, raw in nodes.items()]
        for start in range(0, len(pairs), AT_ONCE):
            await _lead(kv, session, pairs[start : start + AT_ONCE])


async def _lead(kv: StateKV, session: Session, turns: Sequence[tuple[Turn, TurnNode]]) -> None:
    """Write the index entries and jobs of turns."""
    puts: dict[Key, bytes] = {}
    for turn, node in turns:
        puts.update(entries_of(session, turn, node))
        puts[keys.job(session.id, turn.id)] = b""
    await kv.commit(Batch(puts))
