"""Checks the content of a session's export file before any of it is recorded, because anyone may have written it.

Each line is parsed into a value of its type, with names, numbers and times that SAGA itself could have written. Derived
values (the jumps to ancestors) are computed again. The whole story is folded once, as it will be during play.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from attrs import AttrsInstance

from saga_core import codec
from saga_core.billing import Bill
from saga_core.errors import BadInput
from saga_core.model import (
    ACCEPT,
    REFUSE,
    Delta,
    Node,
    Review,
    Session,
    StandingRule,
    Timeline,
    Tree,
    Turn,
    WorldState,
    fold,
)
from saga_core.stores import Limits
from saga_core.world import World, opening_state

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
    what = f"line {number}: is no {cls.__name__.lower()}"
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


def check_names(number: int, value: Session | Turn | Node | Timeline) -> None:
    """Check that ids have only letters, digits and ``_.:-``, and that names are printable. Raises ``BadInput``."""
    ids: tuple[str, ...]
    names: tuple[str, ...]
    if isinstance(value, Session):
        ids, names = (value.id, value.root, value.head or value.root), (value.owner, value.label, value.world)
    elif isinstance(value, Turn):
        ids, names = (value.id, value.session, value.parent or value.id), (value.model, value.finish)
    elif isinstance(value, Node):
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
