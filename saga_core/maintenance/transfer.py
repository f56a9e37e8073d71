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

Before any of a file is recorded, it is checked, because anyone may have written it. Each line is parsed into a value of
its type, with names, numbers and times that SAGA itself could have written. Derived values (the jumps to ancestors) are
computed again. The whole story is folded once, as it will be during play.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from attrs import AttrsInstance, define, evolve, field

from saga_core import codec
from saga_core.billing import Bill
from saga_core.errors import BadInput, Conflict, NewerSchema, NotFound, StoreError
from saga_core.journal import delete_below, keys, note_of, rows, write_turns
from saga_core.maintenance.tools import Tools
from saga_core.model import (
    ACCEPT,
    REFUSE,
    Delta,
    Event,
    Remembered,
    Review,
    Session,
    StandingRule,
    Timeline,
    Tree,
    Turn,
    TurnKind,
    TurnNode,
    WorldState,
    crosses,
    fold,
    within_session,
)
from saga_core.stores import Key, Limits
from saga_core.world import World, opening_state

log = logging.getLogger("saga.sessions")

T = TypeVar("T", bound=AttrsInstance)

BESIDE: dict[str, type[AttrsInstance]] = {"amend": Delta, "review": Review, "bill": Bill}
"""The types of records beside turns in an export, by the first part of their key."""

_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_LONGEST = 200
_LATEST = 253_402_300_799.0
"""The last second of the year 9999, the last that ``datetime`` supports."""
_LARGEST = 2**63 - 1
_DEEPEST = 60


def read_line(number: int, line: bytes) -> dict[str, Any]:
    """Parse a line into a JSON object. Raises ``BadInput`` for anything else, such as NaN or nesting too deep."""
    try:
        plain = json.loads(line, parse_constant=codec.no_constant, parse_float=codec.finite, parse_int=_whole)
    except ValueError as error:
        raise BadInput(f"line {number}: is no JSON ({error})") from None
    except RecursionError:
        raise BadInput(f"line {number}: is nested too deeply") from None
    if not isinstance(plain, dict):
        raise BadInput(f"line {number}: is no JSON object")
    level: list[Any] = [plain]
    for _ in range(_DEEPEST):
        level = [child for each in level for child in _children(each)]
    if level:
        raise BadInput(f"line {number}: is nested too deeply: more than {_DEEPEST} levels")
    return plain


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _whole(text: str) -> int:
    if len(text) > 20 or not -_LARGEST <= int(text) <= _LARGEST:
        raise ValueError(f"{text[:20]} is too large a number")
    return int(text)


def read_value(number: int, plain: Any, cls: type[T]) -> T:
    """Parse part of a line into a value of type ``cls`` that can be recorded as it is. Raises ``BadInput``."""
    what = f"line {number}: is no {cls.__name__.lower().removeprefix('turn') or 'turn'}"
    if not isinstance(plain, dict):
        raise BadInput(f"{what} ({type(plain).__name__})")
    try:
        value = codec.from_plain(plain, cls)
        raw = codec.encode(value)
    except codec.UNREADABLE as error:
        raise BadInput(f"{what} ({str(error)[:200] or type(error).__name__})") from None
    if len(raw) > Limits().value_bytes:
        raise BadInput(f"{what} that can be recorded: {len(raw)} bytes; the limit is {Limits().value_bytes}")
    for name in ("at", "created"):
        time = getattr(value, name, 0.0)
        if isinstance(time, float | int) and not 0 <= time <= _LATEST:
            raise BadInput(f"{what}: {name} {time!r} is no time")
    return value


def check_names(number: int, value: Session | Turn | TurnNode | Timeline) -> None:
    """Check that ids have only letters, digits and ``_.:-``, and that names are printable. Raises ``BadInput``."""
    ids: tuple[str, ...]
    names: tuple[str, ...]
    if isinstance(value, Session):
        ids, names = (
            (value.id, value.root, value.head or value.root),
            (value.owner, value.label, value.world, value.title),
        )
    elif isinstance(value, Turn):
        ids, names = (value.id, value.session, value.parent or value.id), (value.model, value.finish, value.speaker)
    elif isinstance(value, TurnNode):
        ids, names = (value.id,), (value.user_key, value.reply_key)
    else:
        ids, names = (value.fork, value.head), (value.name,)
        if not value.name:
            raise BadInput(f"line {number}: a timeline has no name")
    for each in ids:
        if not _ID.fullmatch(each):
            raise BadInput(f"line {number}: {each[:80]!r} is no id: letters, digits, '_', '.', ':' and '-', at most 64")
    for each in names:
        check_name(number, each)
    if isinstance(value, Session):
        _check_rules(number, value.standing)


def _check_rules(number: int, rules: Sequence[StandingRule]) -> None:
    for each in rules:
        check_name(number, each.by)
        check_name(number, each.kind)
        if not _ID.fullmatch(each.id) or each.verdict not in (ACCEPT, REFUSE) or not 0 <= each.at <= _LATEST:
            raise BadInput(f"line {number}: a standing rule has an id, a time, and the verdict {ACCEPT} or {REFUSE}")
    if len({(each.by, each.kind) for each in rules}) < len(rules):
        raise BadInput(f"line {number}: two standing rules decide the same proposals")


def check_name(number: int, name: str) -> None:
    """Raise ``BadInput`` if a name is not printable, or has more than 200 characters."""
    if len(name) > _LONGEST or not name.isprintable():
        raise BadInput(f"line {number}: {name[:80]!r} is no name: at most {_LONGEST} printable characters")


def read_beside(number: int, key: Any, value: Any, tree: Tree) -> tuple[tuple[str, ...], AttrsInstance]:
    """Parse a record beside a turn. Returns its key without the session, and its value. Raises ``BadInput``."""
    if not (isinstance(key, list) and 2 <= len(key) <= 3 and all(isinstance(each, str) and each for each in key)):
        raise BadInput(f"line {number}: beside: {str(key)[:80]!r} is no list of two or three names")
    kind = BESIDE.get(key[0])
    if kind is None:
        raise BadInput(f"line {number}: beside: {key[0][:80]!r} is nothing that this SAGA knows")
    if key[1] not in tree:
        raise BadInput(f"line {number}: beside: {key[1][:80]!r} is no turn in the file")
    if len(key) == 2 and kind is not Bill:
        raise BadInput(f"line {number}: beside: {key[0]} has no number")
    for each in key:
        check_name(number, each)
    found = read_value(number, value, kind)
    if isinstance(found, Review | Bill) and found.turn != key[1]:
        raise BadInput(f"line {number}: beside: {key[0]} is of turn {found.turn[:80]!r}, not of {key[1][:80]!r}")
    return tuple(key), found


def check_story(session: Session, world: World, turns: Sequence[Turn], later: Mapping[str, Sequence[Delta]]) -> None:
    """Fold the story, each turn after its parent. Raises ``BadInput`` for a turn that cannot be folded."""
    waiting: dict[str, int] = {}
    for turn in turns:
        if turn.parent is not None:
            waiting[turn.parent] = waiting.get(turn.parent, 0) + 1
    states: dict[str, WorldState] = {}
    for turn in turns:
        delta = turn.delta.amended(tuple(later[turn.id])) if later.get(turn.id) else turn.delta
        try:
            if turn.parent is None:
                state = opening_state(world, turn.id)
                state = fold(state, delta, turn=turn.id, depth=0) if later.get(turn.id) else state
            else:
                state = fold(states[turn.parent], delta, turn=turn.id, depth=turn.depth)
            if not waiting.get(turn.id):
                codec.encode(state)
        except codec.UNREADABLE as error:
            raise BadInput(f"turn {turn.id!r} cannot be told ({type(error).__name__}: {str(error)[:200]})") from None
        if turn.parent is not None:
            waiting[turn.parent] -= 1
            if not waiting[turn.parent]:
                del states[turn.parent]
        if waiting.get(turn.id):
            states[turn.id] = state


VERSION = 1
_DERIVED = frozenset({"job", "state", "terms", "prompt", "known", "shared"})
"""Records beside a turn that are derived or say what this journal did with it, and therefore not exported."""
_PAGE = 256
_TRIES = 8
"""How often to try to write a session whose name is taken meanwhile."""
_LOOKS, _LOOK_SECONDS = 100, 0.05
"""How often, and at what interval in seconds, to check whether another server has finished writing a session. The wait
is limited, because a crash may have left the write unfinished."""
_TEXTS = frozenset({"user", "reply", "episode"})
"""Fields that hold free text, in which ids are not replaced."""


async def export_session(tools: Tools, session_id: str) -> AsyncIterator[bytes]:
    """See ``Maintenance.export_session``."""
    session = await tools.directory.find(session_id)
    async with tools.supervisor.exclusive(session.id):
        async for line in lines_of(tools, await tools.journal.session(session.id)):
            yield line


async def lines_of(tools: Tools, session: Session) -> AsyncIterator[bytes]:
    """Yield the lines of a session's export file. The caller must hold an exclusive section of the session."""
    hasher, count = hashlib.sha256(), 0
    async for plain in _plain(tools, session):
        line = codec.dumps(plain) + b"\n"
        hasher.update(line)
        count += 1
        yield line
    yield codec.dumps({"end": count, "sha256": hasher.hexdigest()}) + b"\n"


async def _plain(tools: Tools, session: Session) -> AsyncIterator[dict[str, Any]]:
    kv = tools.stores.state
    # What leads to turns is read before the turns, so that it leads to none that is recorded meanwhile.
    timelines = [raw async for _, raw in rows(kv, ("timeline", session.id))]
    openings = [row async for row in rows(kv, ("open", session.owner or "-")) if row[0][-1] == session.id]
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
            async for key, raw in rows(kv, (name, session.id)):
                if key[2] in tree:
                    yield {"beside": [name, *key[2:]], "value": codec.loads(raw)}
    for raw in timelines:
        yield {"timeline": codec.loads(raw)}
    for key, raw in openings:
        yield {"opening": key[2], "turn": codec.loads(raw) if raw else None}


@define
class SessionFile:
    """The content of a session's export file, complete and checked."""

    session: Session
    world: World
    turns: list[tuple[Turn, TurnNode]] = field(factory=list)
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
            turn, node = read_value(number, plain["turn"], Turn), read_value(number, plain["node"], TurnNode)
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


def _check_turn(number: int, session: Session, tree: Tree, turn: Turn, node: TurnNode) -> None:
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


def confined(file: SessionFile) -> tuple[SessionFile, int]:
    """Return the file with all of its memory records in namespaces of its session, and how many records that moved.

    Whoever wrote the file decides what its own story remembers, and not what the owner's other sessions are told.
    """
    moved: set[str] = set()

    def stays(delta: Delta) -> Delta:
        events: list[Event] = []
        for event in delta.events:
            if isinstance(event, Remembered) and crosses(event.record.namespace):
                moved.add(event.record.id)
                event = Remembered(evolve(event.record, namespace=within_session(event.record.namespace)))
            events.append(event)
        return evolve(delta, events=tuple(events))

    turns = [(evolve(turn, delta=stays(turn.delta)), node) for turn, node in file.turns]
    beside = [(key, stays(value) if isinstance(value, Delta) else value) for key, value in file.beside]
    return evolve(file, turns=turns, beside=beside), len(moved)


async def import_session(
    tools: Tools, file: SessionFile, *, named: bool = False, copy: tuple[Key, bytes] | None = None
) -> Session:
    """Record the session of a file and return it as recorded. Its views are rendered in the background.

    The session keeps its ids if its own id is free, and gets new ones otherwise, and a name if it has none. If its name
    is taken, a number is appended, or with ``named`` a ``Conflict`` is raised. The session becomes visible as a whole
    or not at all: what a crash leaves is removed at the next start. Raises ``StoreError``.

    With ``copy``, the session comes back from the trash, and the same commit removes this record of its copy there.
    Raises ``NotFound`` if the record was removed meanwhile, and ``QuotaExceeded`` if its owner's key allows no more
    sessions.
    """
    for left in range(1 if named else _TRIES, 0, -1):
        try:
            await tools.journal.session(file.session.id)
        except NotFound:
            pass
        else:
            file = _renamed(tools, file)
            if not file.session.label:  # by its title alone, nobody could tell the copy from the original
                copy_of = evolve(file.session, label=f"{file.session.title or 'copy'} (2)")
                file = evolve(file, session=copy_of)
        session = file.session
        if session.share:  # what it did before is not published again
            session = evolve(session, shared_at=tools.clock.now())
        if not named:
            session = evolve(session, label=await free_label(tools, session.owner, session.label))
        try:
            async with tools.supervisor.locks.writing(session.id):
                await _write(tools, session, file, copy)
            break
        except Conflict as error:
            if copy is not None and error.key == copy[0]:
                raise NotFound(f"session {file.session.id} is in the trash no more") from None
            if left == 1:
                raise
            # The name or the id was taken meanwhile: try the next one.
    tools.counters.add("sessions.imported")
    tools.directory.render(session.id, [turn.id for turn, _ in file.turns])
    return session


async def _write(tools: Tools, session: Session, file: SessionFile, copy: tuple[Key, bytes] | None) -> None:
    beside: dict[Key, bytes] = {keys.world(session.digest): codec.encode(file.world)}
    for key, value in file.beside:
        beside[(key[0], session.id, *key[1:])] = codec.encode(value)
    for timeline in file.timelines:
        beside[keys.timeline(session.id, timeline.name)] = codec.encode(timeline)
    expected: dict[Key, bytes | None] = {keys.session(session.id): None}
    # These are written in the commit that makes the session visible.
    more: dict[Key, bytes] = {}
    if session.label:
        label = keys.label(session.owner, session.label)
        more[label], expected[label] = codec.dumps(session.id), None
    for opening, at in file.openings:
        more[keys.opening(session.owner, opening, session.id)] = codec.dumps(at) if at is not None else b""
    kv, gone = tools.stores.state, frozenset[Key]()
    if copy is not None:
        expected[copy[0]], gone = copy[1], frozenset({copy[0]})

    async def write(entries: Mapping[Key, bytes], unchanged: Mapping[Key, bytes | None]) -> None:
        put, expect = {**more, **entries}, {**expected, **unchanged}
        await write_turns(kv, session, file.turns, beside=beside, more=put, expected=expect, gone=gone)

    if copy is None or tools.directory.beginning is None:
        await write(tools.import_entries(session.owner, session.id), {})
    else:
        await tools.directory.beginning(session.owner, session.id, write)
    if copy is not None:
        try:
            await delete_below(kv, copy[0][:-1])
        except StoreError as error:  # the session is back; emptying the trash removes the rest
            log.warning("session %s: parts of its copy stay in the trash for now: %s", session.id, error)


_NUMBERED = re.compile(r" \(\d+\)$")


async def free_label(tools: Tools, owner: str, label: str) -> str:
    """Return ``label``, with a number appended if ``owner`` has a session with that name.

    If that session is still being written, wait up to 5 seconds until it can be found by its turns.
    """
    base, count = _NUMBERED.sub("", label), 2
    found = label
    while found and (session := await tools.journal.labelled(owner, found)) is not None:
        for _ in range(_LOOKS):
            if await note_of(tools.stores.state, session) is None:
                break
            await asyncio.sleep(_LOOK_SECONDS)
        found, count = f"{base} ({count})", count + 1
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
        [(again(turn, Turn), again(node, TurnNode)) for turn, node in file.turns],
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
