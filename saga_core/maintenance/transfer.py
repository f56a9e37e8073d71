"""Transfer: exports a session as one readable file of JSON lines, and imports it.

The file has the whole tree, and nothing that can be derived from it.

::

    {"saga": "session", "version": 1, "journal": 1, "exported": 1767225600.0}
    {"session": {…}}
    {"world": {…}}
    {"turn": {…}, "node": {…}}              one for each turn, parents first
    {"beside": ["amend", TURN, NUMBER], "value": {…}}
    {"timeline": {…}}
    {"opening": KEY, "turn": ID}            the first words of the chat, by which it is found again
    {"end": LINES, "sha256": …}             of all bytes before this line

Views, indexes and checkpoints are left out, because they are derived from turns.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, TypeVar

from attrs import AttrsInstance, define, evolve, field

from saga_core import codec
from saga_core.errors import BadInput, Conflict, NewerSchema, NotFound, StoreError
from saga_core.journal import keys, note_of, write_turns
from saga_core.maintenance.session_check import check_name, check_names, check_story, read_beside, read_line, read_value
from saga_core.maintenance.tools import Tools
from saga_core.model import Delta, Node, Session, Timeline, Tree, Turn, TurnKind
from saga_core.stores import Key, StateKV
from saga_core.world import World

VERSION = 1
_DERIVED = frozenset({"job", "state", "terms", "prompt", "known"})
"""Records beside a turn that are derived, and therefore not exported."""
_PAGE = 256
_TRIES = 8
"""How often to try to write a session whose name is taken meanwhile."""
_LOOKS, _LOOK_SECONDS = 100, 0.05
"""How often, and at what interval in seconds, to check whether another server has finished writing a session. The wait
is limited, because a crash may have left the write unfinished."""
_TEXTS = frozenset({"user", "reply", "episode"})
"""Fields that hold free text, in which ids are not replaced."""

T = TypeVar("T", bound=AttrsInstance)


async def export_session(tools: Tools, session_id: str) -> AsyncIterator[bytes]:
    """Yield the lines of a session's export file. Turns that are recorded meanwhile are left out.

    Raises ``NotFound`` and ``StoreError``.
    """
    session = await tools.directory.find(session_id)
    async with tools.supervisor.exclusive(session.id):
        session = await tools.journal.session(session.id)
        hasher, count = hashlib.sha256(), 0
        async for plain in _plain(tools, session):
            line = codec.dumps(plain) + b"\n"
            hasher.update(line)
            count += 1
            yield line
        yield codec.dumps({"end": count, "sha256": hasher.hexdigest()}) + b"\n"


async def _plain(tools: Tools, session: Session) -> AsyncIterator[dict[str, Any]]:
    kv = tools.stores.state
    tree = await tools.journal.tree(session.id)
    yield {"saga": "session", "version": VERSION, "journal": keys.FORMAT, "exported": round(tools.clock.now(), 3)}
    yield {"session": codec.to_plain(session)}
    yield {"world": codec.to_plain(await tools.journal.world(session.digest))}
    order = sorted(tree.nodes, key=lambda turn: (tree.get(turn).depth, turn))
    for start in range(0, len(order), _PAGE):
        part = order[start : start + _PAGE]
        turns = await kv.get([keys.turn(session.id, turn) for turn in part])
        nodes = await kv.get([keys.node(session.id, turn) for turn in part])
        for turn in part:
            if keys.turn(session.id, turn) not in turns:
                raise StoreError(f"session {session.id}: turn {turn} is gone from the journal; see saga verify")
            yield {
                "turn": codec.loads(turns[keys.turn(session.id, turn)]),
                "node": codec.loads(nodes[keys.node(session.id, turn)]),
            }
    for name in keys.BESIDE:
        if name not in _DERIVED:
            async for key, raw in _rows(kv, (name, session.id)):
                if key[2] in tree:
                    yield {"beside": [name, *key[2:]], "value": codec.loads(raw)}
    async for _, raw in _rows(kv, ("timeline", session.id)):
        yield {"timeline": codec.loads(raw)}
    async for key, raw in _rows(kv, ("open", session.owner or "-")):
        if key[-1] == session.id:
            yield {"opening": key[2], "turn": codec.loads(raw) if raw else None}


async def _rows(kv: StateKV, prefix: Key) -> AsyncIterator[tuple[Key, bytes]]:
    after: Key | None = None
    while rows := await kv.scan(prefix, after=after, limit=_PAGE):
        for row in rows:
            if keys.fits(row[0]):
                yield row
        after = rows[-1][0]


@define
class SessionFile:
    """The content of a session's export file, complete and checked."""

    session: Session
    world: World
    turns: list[tuple[Turn, Node]] = field(factory=list)
    beside: list[tuple[tuple[str, ...], AttrsInstance]] = field(factory=list)
    timelines: list[Timeline] = field(factory=list)
    openings: list[tuple[str, str | None]] = field(factory=list)


def read_file(raw: bytes, *, edited: bool = False) -> SessionFile:
    """Read a session's export file. With ``edited``, it was changed on purpose, and its digest is not checked.

    Raises ``BadInput``, which names the line, if it is not such a file, is cut off or is inconsistent, and
    ``NewerSchema`` if a newer SAGA wrote it.
    """
    lines = raw.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    plains = [read_line(number, line) for number, line in enumerate(lines, 1)]
    if not plains or plains[0].get("saga") != "session":
        raise BadInput("line 1: this is no session that `saga export` wrote")
    for name, known in (("version", VERSION), ("journal", keys.FORMAT)):
        found = plains[0].get(name)
        if not isinstance(found, int):
            raise BadInput(f"line 1: {name}: {found!r} is no number")
        if found > known:
            raise NewerSchema(f"line 1: {name} {found} is newer than this SAGA, which knows {known}: upgrade SAGA")
    end = plains.pop()
    if "end" not in end:
        raise BadInput(f"line {len(lines)}: the file is cut off; it has no end")
    if not edited:
        hasher = hashlib.sha256(b"".join(line + b"\n" for line in lines[:-1]))
        if end["end"] != len(plains) or end.get("sha256") != hasher.hexdigest():
            raise BadInput(
                "the file is not what was exported: it was changed or cut; if somebody edited it on purpose, give "
                "--edited (over HTTP: edited=1)"
            )
    return _assembled(plains)


def _assembled(plains: list[dict[str, Any]]) -> SessionFile:
    session: Session | None = None
    world: World | None = None
    rest: list[tuple[int, dict[str, Any]]] = []
    for number, plain in enumerate(plains[1:], 2):
        if "session" in plain:
            session = read_value(number, plain["session"], Session)
            check_names(number, session)
        elif "world" in plain:
            world = read_value(number, plain["world"], World)
        else:
            rest.append((number, plain))
    if session is None or world is None:
        raise BadInput(f"the file has no {'session' if session is None else 'world'}")
    if world.digest != session.digest:
        raise BadInput(f"the world is not the one that the session began in: {world.digest}, not {session.digest}")
    found = SessionFile(session, world)
    tree = Tree(session.id)
    for number, plain in rest:
        if "turn" in plain and "node" in plain:
            turn, node = read_value(number, plain["turn"], Turn), read_value(number, plain["node"], Node)
            _check_turn(number, session, tree, turn, node)
            jump = None if turn.parent is None else tree.jump_for(turn.parent)
            turn, node = evolve(turn, jump=jump), evolve(node, jump=jump)
            tree.add(node)
            found.turns.append((turn, node))
        elif "beside" in plain:
            found.beside.append(read_beside(number, plain["beside"], plain.get("value"), tree))
        elif "timeline" in plain:
            found.timelines.append(read_value(number, plain["timeline"], Timeline))
            check_names(number, found.timelines[-1])
        elif "opening" in plain:
            found.openings.append(_opening(number, plain["opening"], plain.get("turn")))
        else:
            raise BadInput(f"line {number}: {sorted(plain)} is nothing that this SAGA knows")
    places = [("root", session.root), ("head", session.head or session.root)]
    for each in found.timelines:
        places += [(f"timeline {each.name!r}, fork", each.fork), (f"timeline {each.name!r}, head", each.head)]
    places += [("opening", opening) for _, opening in found.openings if opening is not None]
    for name, place in places:
        if place not in tree:
            raise BadInput(f"{name}: {place!r} is no turn in the file")
    for timeline in found.timelines:
        if not tree.is_ancestor(timeline.fork, timeline.head):
            raise BadInput(f"timeline {timeline.name!r}: its head is not below its fork")
    later: dict[str, list[Delta]] = {}
    for key, value in sorted(found.beside, key=lambda each: each[0]):
        if isinstance(value, Delta):
            later.setdefault(key[1], []).append(value)
    check_story(session, world, [turn for turn, _ in found.turns], later)
    return found


def _opening(number: int, key: Any, turn: Any) -> tuple[str, str | None]:
    if not isinstance(key, str) or not key or not isinstance(turn, str | None):
        raise BadInput(f"line {number}: opening: {str(key)[:80]!r} is no fingerprint")
    check_name(number, key)
    return key, turn


def _check_turn(number: int, session: Session, tree: Tree, turn: Turn, node: Node) -> None:
    check_names(number, turn)
    check_names(number, node)
    if turn.session != session.id or turn.id != node.id or turn.id in tree:
        raise BadInput(f"line {number}: turn {turn.id!r} is of another session, another node, or there twice")
    if (turn.parent, turn.depth, turn.kind) != (node.parent, node.depth, node.kind):
        raise BadInput(f"line {number}: turn {turn.id!r} and its node have different places")
    if (turn.kind is TurnKind.ROOT) != (turn.parent is None):
        raise BadInput(f"line {number}: turn {turn.id!r} is a root where none is, or the other way round")
    if turn.parent is None:
        if turn.id != session.root or turn.depth:
            raise BadInput(f"line {number}: turn {turn.id!r} has no parent, and is not the root")
    elif turn.parent not in tree:
        raise BadInput(f"line {number}: turn {turn.id!r} comes before its parent {turn.parent!r}")
    elif tree.get(turn.parent).depth + 1 != turn.depth:
        raise BadInput(f"line {number}: turn {turn.id!r} has depth {turn.depth}, which is not that of its place")


async def import_session(tools: Tools, file: SessionFile, *, named: bool = False) -> Session:
    """Record the session of a file and return it as recorded. Its views are rendered in the background.

    The session keeps its ids if its own id is free, and gets new ones otherwise. If its name is taken, a number is
    appended, or with ``named`` a ``Conflict`` is raised. The session becomes visible as a whole or not at all: what a
    crash leaves is removed at the next start. Raises ``StoreError``.
    """
    for left in range(1 if named else _TRIES, 0, -1):
        try:
            await tools.journal.session(file.session.id)
        except NotFound:
            pass
        else:
            file = _renamed(tools, file)
        session = file.session
        if not named:
            session = evolve(session, label=await free_label(tools, session.owner, session.label))
        try:
            async with tools.supervisor.locks.writing(session.id):
                await _write(tools, session, file)
            break
        except Conflict:
            if left == 1:
                raise
            # The name or the id was taken meanwhile: try the next one.
    tools.counters.add("sessions.imported")
    tools.directory.render(session.id, [turn.id for turn, _ in file.turns])
    return session


async def _write(tools: Tools, session: Session, file: SessionFile) -> None:
    beside: dict[Key, bytes] = {keys.world(session.digest): codec.encode(file.world)}
    for key, value in file.beside:
        beside[(key[0], session.id, *key[1:])] = codec.encode(value)
    for timeline in file.timelines:
        beside[keys.timeline(session.id, timeline.name)] = codec.encode(timeline)
    expected: dict[Key, bytes | None] = {keys.session(session.id): None}
    # These are written in the commit that makes the session visible.
    more: dict[Key, bytes] = tools.import_entries(session.owner, session.id)
    if session.label:
        label = keys.label(session.owner, session.label)
        more[label], expected[label] = codec.dumps(session.id), None
    for opening, at in file.openings:
        more[keys.opening(session.owner, opening, session.id)] = codec.dumps(at) if at is not None else b""
    await write_turns(tools.stores.state, session, file.turns, beside=beside, more=more, expected=expected)


async def free_label(tools: Tools, owner: str, label: str) -> str:
    """Return ``label``, with a number appended if ``owner`` has a session with that name.

    If that session is still being written, wait up to 5 seconds until it can be found by its turns.
    """
    found, count = label, 2
    while found and (session := await tools.journal.labelled(owner, found)) is not None:
        for _ in range(_LOOKS):
            if await note_of(tools.stores.state, session) is None:
                break
            await asyncio.sleep(_LOOK_SECONDS)
        found, count = f"{label} ({count})", count + 1
    return found


def _renamed(tools: Tools, file: SessionFile) -> SessionFile:
    """The same session with new ids, which sort in the same order as the old ones."""
    new = {file.session.id: tools.ids.new("s")}
    for turn in sorted(turn.id for turn, _ in file.turns):
        new[turn] = tools.ids.new("t")

    def again(value: T, cls: type[T]) -> T:
        return codec.from_plain(_with_ids(codec.to_plain(value), new), cls)

    return SessionFile(
        again(file.session, Session),
        file.world,
        [(again(turn, Turn), again(node, Node)) for turn, node in file.turns],
        [(_ids(key, new), again(value, type(value))) for key, value in file.beside],
        [again(each, Timeline) for each in file.timelines],
        [(opening, new[at] if at is not None else None) for opening, at in file.openings],
    )


def _ids(key: Iterable[str], new: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(new.get(each, each) for each in key)


def _with_ids(value: Any, new: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return new.get(value, value)
    if isinstance(value, list):
        return [_with_ids(each, new) for each in value]
    if isinstance(value, dict):
        return {name: each if name in _TEXTS else _with_ids(each, new) for name, each in value.items()}
    return value
