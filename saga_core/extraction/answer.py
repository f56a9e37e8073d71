"""The answer of an extraction model: its JSON schema, how it is read, and what in it cannot be so.

The form is short on purpose. In front of a model of 1.5 billion parameters, lists of few typed fields were filled in
rightly where one free-text field was junk in two answers of three. What such a model makes up shows in its words: a
thing that neither the player nor the reply names, a person among the things, a number that nobody said. Those parts of
an answer are dropped, each with its reason; the rest counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from attrs import evolve

from saga_core.errors import QUOTES
from saga_core.language import all_of, every, normalized, squash, terms
from saga_core.model import Kind, WorldState
from saga_core.model_calls import object_schema
from saga_core.naming import last_word, owner_of
from saga_core.state_block import (
    THINK_END,
    UNFENCED,
    BlockStatus,
    ItemAmount,
    StateReading,
    hide,
    parse_block,
    read_ended,
    read_hidden,
    says_nothing,
)
from saga_core.trackers import NO_TRACKERS, Trackers

_NAME, _WORD, _NOTE = 60, 24, 160
"""The longest name, feeling and note that an answer may hold, in characters."""
_PEOPLE, _THINGS, _FEW = 8, 6, 4
"""The longest lists that an answer may hold."""
_DEGREE = 20
_NOTHING = all_of(lambda each: each.values.unchanged)
"""The answers that models give instead of an empty one, squashed."""


REPORTS = {
    "dead": "status_changes",
    "hp": "hp_change",
    "money_left": "money",
    "got": "items_gained",
    "lost": "items_lost",
    "passed": "items_transferred",
    "states": "status_changes",
    "feelings": "relationship_changes",
}
"""Key of an answer -> the field of a block that the story may not count."""
COUNTED = "counted"
"""The key of an answer for what changed of the trackers."""


def empty_answer(*, brief: bool = False, counted: Trackers = NO_TRACKERS) -> dict[str, Any]:
    """An answer by which nothing changed. ``brief``: with the few keys that small models get right. Keys that the story
    does not count are left out."""
    few = {"place": "", "here": [], "dead": [], "hp": 0, "money_left": None, "got": [], "lost": []}
    whole = few if brief else {**few, "passed": [], "states": [], "feelings": [], "note": ""}
    return {key: value for key, value in whole.items() if counted.asks(REPORTS.get(key, key))}


def answer_schema(*, brief: bool = False, counted: Trackers = NO_TRACKERS) -> dict[str, Any]:
    """The schema of an answer about one turn. Every key is required; what did not change is empty, 0 or null.

    ``counted`` are the story's trackers.
    """
    name = {"type": "string", "maxLength": _NAME}
    things = _list(object_schema({"thing": name, "count": {"type": "integer"}}), _THINGS)
    degree = {"type": "integer", "minimum": -_DEGREE, "maximum": _DEGREE}
    fields = {
        "place": name,
        "here": _list(name, _PEOPLE),
        "dead": _list(name, _FEW),
        "hp": {"type": "integer"},
        "money_left": {"anyOf": [{"type": "null"}, object_schema({"coin": name, "amount": {"type": "integer"}})]},
        "got": things,
        "lost": things,
        "passed": _list(object_schema({"thing": name, "from": name, "to": name}), _FEW),
        "states": _list(object_schema({"who": name, "now": {"type": "string", "maxLength": _WORD}}), _FEW),
        "feelings": _list(
            object_schema({"from": name, "to": name, "feeling": {"type": "string", "maxLength": _WORD}, "by": degree}),
            _FEW,
        ),
        "note": {"type": "string", "maxLength": _NOTE},
    }
    asked = {key: fields[key] for key in empty_answer(brief=brief, counted=counted)}
    if counted.asked:
        what = {"type": "string", "enum": [each.name for each in counted.asked]}
        row = object_schema({"what": what, "who": name, "value": {"type": "string", "maxLength": _NAME}})
        asked[COUNTED] = _list(row, 2 * len(counted.asked))
    return object_schema(asked)


def _list(items: dict[str, Any], most: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": most}


def as_block(answer: Mapping[str, Any]) -> dict[str, Any]:
    """An answer in the keys of a state block, for its parser. Keys of a block, and unknown ones, stay as they are."""
    block = {key: value for key, value in answer.items() if key not in (*_READERS, COUNTED)}
    spaced = {key: _spaced(answer[key]) for key in _READERS if key in answer}
    for key, value in spaced.items():
        block |= _READERS[key](value)
    for row in _rows(answer.get(COUNTED)):
        if isinstance(row, dict) and row.get("what"):
            what, who = str(row["what"]), str(row.get("who") or "")
            said = block.get(what)
            if not who:
                block[what] = [*_rows(said), row.get("value")] if what in block else row.get("value")
            elif said is None or isinstance(said, dict):
                block[what] = {**(said or {}), who: row.get("value")}
    dead = [{"name": name, "status": "dead"} for name in _rows(spaced.get("dead")) if isinstance(name, str)]
    if dead:
        block["status_changes"] = [*dead, *_rows(block.get("status_changes"))]
    return block


def _spaced(value: Any) -> Any:
    """``value`` with the spaces of names that a model of code writes as ``captain_rusk``."""
    if isinstance(value, str):
        return value.replace("_", " ")
    if isinstance(value, list):
        return [_spaced(each) for each in value]
    return {key: _spaced(each) for key, each in value.items()} if isinstance(value, dict) else value


def _rows(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _renamed(rows: object, **keys: str) -> list[Any]:
    return [{keys.get(k, k): v for k, v in row.items()} if isinstance(row, dict) else row for row in _rows(rows)]


def _items(rows: object) -> list[Any]:
    """Things and counts, of which a count that stands in front of the name too is said once: 20 of "20 coins"."""
    return _renamed([_counted_once(row) for row in _rows(rows)], thing="name", count="quantity")


def _counted_once(row: Any) -> Any:
    if isinstance(row, dict) and isinstance(thing := row.get("thing"), str):
        number, _, name = thing.strip().partition(" ")
        if name and number == str(row.get("count")):
            return {**row, "thing": name}
    return row


_READERS: dict[str, Any] = {
    "place": lambda value: {"location": value} if value else {},
    "here": lambda value: {"present": value},
    "dead": lambda value: {},
    "hp": lambda value: (
        {} if value in (0, None) else {"hp_change" if isinstance(value, int) or _signed(value) else "hp": value}
    ),
    "money_left": lambda value: {"money": _renamed(value, coin="name", amount="quantity")} if value else {},
    "got": lambda rows: {"items_gained": _items(rows)},
    "lost": lambda rows: {"items_lost": _items(rows)},
    "passed": lambda rows: {"items_transferred": _renamed(rows, thing="item")},
    "states": lambda rows: {"status_changes": _renamed(rows, who="name", now="status")},
    "feelings": lambda rows: {"relationship_changes": _renamed(rows, feeling="type", by="delta")},
    "note": lambda value: {"notes": value} if value else {},
}
"""Key of an answer -> the fields of a block that say the same. An ``hp`` that a block would have is read as one."""


def _signed(value: object) -> bool:
    return isinstance(value, str) and value.strip()[:1] in ("+", "-", "−")


def read_answer(text: str, own: Trackers = NO_TRACKERS, *, whole: bool = False) -> StateReading:
    """Read the report in an answer; an empty one means that nothing changed. ``own`` are the story's trackers.
    ``whole`` says that the model ended by itself.

    The answer is a JSON object, also with text around it. Answers of models that prefer the block of the narrator are
    accepted too: a state block (the last one counts), its body in a different fence or in none, and a plain statement
    that nothing changed.
    """
    hidden = hide(text)
    blocks = [block for block in hidden.blocks if not block.thinking and not block.unfenced]
    if blocks and blocks[-1].closed and says_nothing(blocks[-1].body):
        return StateReading(hidden.visible)
    if not blocks:
        ends = list(THINK_END.finditer(text))
        body = _unfenced(text[ends[-1].end() :] if ends else text)
        if body and (says_nothing(body) or squash(body) in _NOTHING):
            return StateReading()
        answer = _object_in(body)
        if answer is not None:
            parsed = parse_block(json.dumps(as_block(answer), ensure_ascii=False), own=own)
            if parsed.status is not BlockStatus.FALLBACK:
                return evolve(parsed, others=())
        parsed = parse_block(body, own=own)
        if body and parsed.status is BlockStatus.OK and not parsed.problems:
            return evolve(parsed, others=())
    found = read_ended(hidden, whole=True, own=own) if whole else read_hidden(hidden, own)
    # The answer was to be data, so that its missing fence is no problem.
    return evolve(found, problems=tuple(each for each in found.problems if each != UNFENCED))


def _object_in(text: str) -> dict[str, Any] | None:
    """The first JSON object in a text."""
    at = text.find("{")
    try:
        value, _ = json.JSONDecoder().raw_decode(text, at) if at >= 0 else (None, 0)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and value else None


def _unfenced(text: str) -> str:
    """The content of the fence, if the whole text is one fenced block; else the text."""
    body = text.strip()
    for mark in ("```", "~~~"):
        if body.startswith(mark) and body.endswith(mark) and body.count(mark) == 2:
            return body[len(mark) : -len(mark)].partition("\n")[2]
    return body


def without_inventions(
    reading: StateReading, user: str, reply: str, state: WorldState, *, strict: bool = False
) -> StateReading:
    """``reading`` without what cannot be so: each part that is left out is a problem that names its field.

    A thing is no person and no place, and hit points are none; the company holds no things, no places and nobody who
    died, and hit points change by no more than there are. ``strict`` is for small models: a thing or a person then must
    be known, or named by the player's words or the reply, and hit points change only by a number that was said. A gain
    of just as much as is carried repeats what the question told.
    """
    fields, problems = reading.fields, list(reading.problems)
    said = f"{user}\n{reply}"
    evidence = frozenset(terms(said))
    known = {kind: _names(state, kind) for kind in (Kind.CHARACTER, Kind.ITEM)}
    named = {change.name for change in fields.status_changes}
    people = known[Kind.CHARACTER] | _folded((*(fields.present or ()), *named))
    others = known[Kind.CHARACTER] | known[Kind.ITEM] | _folded(named)
    places = (_names(state, Kind.LOCATION) | _folded((fields.location or "",))) - others

    def drop(field: str, value: object, reason: str) -> None:
        problems.append(f"{field}{QUOTES}{value!r}: {reason}")

    def carried(field: str, items: Iterable[ItemAmount]) -> tuple[ItemAmount, ...]:
        kept = []
        for item in items:
            name = squash(item.name)
            if name in people and name not in known[Kind.ITEM]:
                drop(field, item.name, "a person is no thing")
            elif name in places:
                drop(field, item.name, "a place is no thing")
            elif are_hit_points(item.name):
                drop(field, item.name, "hit points are no thing")
            elif strict and name not in known[Kind.ITEM] and not _is_grounded(item.name, evidence):
                drop(field, item.name, "neither the player nor the reply names it")
            else:
                kept.append(item)
        return tuple(kept)

    gained, lost = carried("items_gained", fields.items_gained), carried("items_lost", fields.items_lost)
    owned = {squash(state.name(item)): had.quantity for item, had in state.belongings.get(state.player, {}).items()}
    both = {squash(item.name) for item in gained} & {squash(item.name) for item in lost}
    if both:  # it was had before and is gone, or it came and was told as passing through the hands
        gained = tuple(item for item in gained if squash(item.name) not in both & owned.keys())
        lost = tuple(item for item in lost if squash(item.name) not in both - owned.keys())
    for item in gained if strict else ():
        if owned.get(squash(item.name)) == item.quantity:
            gained = tuple(each for each in gained if each is not item)
            drop("items_gained", item.name, "it repeats what is carried")
    present = fields.present
    if present is not None:
        dead = {squash(change.name) for change in fields.status_changes if change.status == "dead"}
        owned_things = (state.name(item) for held in state.belongings.values() for item in held)
        handled = (each.name for each in (*fields.items_gained, *fields.items_lost))
        kinds = _folded(map(last_word, (*owned_things, *handled)))
        here = []
        for name in present:
            whose, what = owner_of(name)
            is_thing = squash(name) in known[Kind.ITEM] or (bool(whose) and squash(last_word(what)) in kinds)
            if is_thing and squash(name) not in known[Kind.CHARACTER]:
                drop("present", name, "a thing is no person")
            elif squash(name) in places:
                drop("present", name, "a place is no person")
            elif strict and squash(name) not in known[Kind.CHARACTER] and not _is_grounded(name, evidence):
                drop("present", name, "neither the player nor the reply names them")
            elif squash(name) not in dead:
                here.append(name)
        present = tuple(here)
    change = fields.hp_change
    if change:
        player = state.entities.get(state.player)
        most = player.get("max_hp") if player is not None else None
        now = player.get("hp") if player is not None else None
        moved = change - now if isinstance(now, int) else 0
        if strict and moved and _says_number(said, abs(moved)) and not _says_number(said, abs(change)):
            change = moved  # the answer gives the hit points, and the turn told how many were lost or healed
        if isinstance(most, int) and abs(change) > most:
            drop("hp_change", change, f"there are only {most} hit points")
            change = None
        elif strict and not _says_number(said, abs(change)):
            if player is None or abs(change) not in (now, most):  # which repeats what SAGA told
                drop("hp_change", change, "nobody said that number")
            change = None
    kept = evolve(fields, items_gained=gained, items_lost=lost, present=present, hp_change=change)
    return evolve(reading, fields=kept, problems=tuple(problems))


def _names(state: WorldState, kind: Kind) -> frozenset[str]:
    return _folded(name for entity in state.of_kind(kind) for name in entity.names)


def are_hit_points(name: str) -> bool:
    """Whether a name of a thing is a name of hit points, in any language, with or without numbers: 80 of 100 HP."""
    words = [squash(word) for word in re.sub(r"[\d/]+", " ", name).split()]
    rest = [word for word in words if word not in _hit_points()]
    return len(rest) < len(words) and all(word.isascii() and len(word) < 3 for word in rest)


@cache
def _hit_points() -> frozenset[str]:
    return _folded(("HP", *(word for each in every() for word in each.block.levels)))


def _folded(names: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(None, map(squash, names)))


def _is_grounded(name: str, evidence: frozenset[str]) -> bool:
    """Whether at least half of the index terms of a name occur in the evidence."""
    words = set(terms(name))
    return bool(words) and 2 * len(words & evidence) >= len(words)


@cache
def _spelled_numbers() -> tuple[tuple[re.Pattern[str], int], ...]:
    words = {**{w: n for each in every() for w, n in (*each.amounts.numbers.items(), *each.amounts.plurals.items())}}
    return tuple((re.compile(rf"(?<!\w){re.escape(word)}"), number) for word, number in words.items())


@cache
def _composed_numbers() -> tuple[tuple[re.Pattern[str], Callable[[str], int | None]], ...]:
    return tuple((re.compile(each.grammar.spelled), each.grammar.number) for each in every())


def _says_number(text: str, number: int) -> bool:
    plain = normalized("NFKC", text).casefold()
    if any(int(digits) == number for digits in re.findall(r"(?<![\d.])\d{1,6}(?![\d.]\d)", plain.replace(",", ""))):
        return True
    if any(value == number and word.search(plain) for word, value in _spelled_numbers()):
        return True
    return any(
        value(run.group()) == number for spelled, value in _composed_numbers() for run in spelled.finditer(plain)
    )
