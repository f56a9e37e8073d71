"""Comparison of two states: the differences as data and as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from attrs import frozen

from saga_core.language import DEFAULT, Comparison, language_of
from saga_core.model import WorldState
from saga_core.projection.lines import counted_values, due_time

K = TypeVar("K")

Value = str | int | None


@frozen
class Difference:
    """One difference between the two sides."""

    kind: str
    """The kind of the difference.

    ``place``, ``hp``, ``max_hp``, ``mood``, ``item``, ``equipped``, ``held``, ``present``, ``met``, ``dead``,
    ``relation``, ``event``, ``tracker``, ``thread``.
    """
    subject: str
    """The player, an item (``held``: the others who have it), a character, ``source → target``, or an event."""
    one: Value
    other: Value
    """The values on both sides; None if unknown. Items have quantities, relations ``hostile (-2)``, others 1 or 0."""


def compare_states(one: WorldState, other: WorldState, *, since: int = 0) -> tuple[Difference, ...]:
    """Return the differences between two states, by kind, then by subject.

    Events up to the depth ``since`` are left out: they belong to the common past, as far as the states still contain
    it.
    """
    name = _names(one, other)
    player = name(one.player or other.player)
    found = [
        Difference(kind, player, left, right)
        for kind, left, right in (
            ("place", _place(one), _place(other)),
            ("hp", _of_player(one, "hp"), _of_player(other, "hp")),
            ("max_hp", _of_player(one, "max_hp"), _of_player(other, "max_hp")),
            ("mood", _of_player(one, "mood"), _of_player(other, "mood")),
        )
        if left != right
    ]
    hands = one.belongings.get(one.player, {}), other.belongings.get(other.player, {})
    counts = [{item: stack.quantity for item, stack in hand.items()} for hand in hands]
    found += _each("item", counts[0], counts[1], name, 0)
    worn = [{item: 1 for item, stack in hand.items() if stack.equipped} for hand in hands]
    found += _each("equipped", worn[0], worn[1], name, 0)
    found += _each("held", _held(one), _held(other), name, None)
    found += _each("present", _ones(one.present), _ones(other.present), name, 0)
    found += _each("met", _ones(one.met), _ones(other.met), name, 0)
    found += _each("dead", _ones(_dead(one)), _ones(_dead(other)), name, 0)
    found += _each(
        "relation",
        {pair: str(relation) for pair, relation in one.relations.items() if not relation.over},
        {pair: str(relation) for pair, relation in other.relations.items() if not relation.over},
        lambda pair: f"{name(pair[0])} → {name(pair[1])}",
        None,
    )
    values = [
        {(each.tracker.name, each.subject, each.other): each.text(DEFAULT) for each in counted_values(state)}
        for state in (one, other)
    ]
    found += _each("tracker", values[0], values[1], lambda key: _counted(key, name, one.player), None)
    found += _each("thread", _threads(one), _threads(other), str, None)
    events = {each.event: each.name for state in (one, other) for each in state.happenings}
    found += _each("event", _ones(_events(one, since)), _ones(_events(other, since)), events.__getitem__, 0)
    return tuple(found)


def difference_words(difference: Difference, one: str, other: str, language: str) -> str:
    """Return a difference as a line of text. ``one`` and ``other`` are the names of the two sides."""
    words = language_of(language).texts.comparison
    label = words.labels[difference.kind]
    if difference.kind in ("equipped", "present", "met", "dead", "event"):
        where = one if difference.one else other
        return words.only.format(label=label, subject=difference.subject, where=where)
    if difference.kind == "tracker":
        label = difference.subject
    elif difference.kind in ("item", "held", "relation", "thread"):
        label = f"{label}: {difference.subject}"
    left, right = (_value(difference, value, words) for value in (difference.one, difference.other))
    return words.sides.format(label=label, one=one, left=left, other=other, right=right)


def _value(difference: Difference, value: Value, words: Comparison) -> str:
    if value is None or (difference.kind == "item" and not value):
        return words.nothing
    return words.count.format(value=value) if difference.kind == "item" else str(value)


def _counted(key: tuple[str, str, str], name: Callable[[str], str], player: str) -> str:
    tracker, subject, other = key
    if not subject or (subject == player and not other):
        return tracker
    return f"{tracker} ({' → '.join(name(each) for each in (subject, other) if each)})"


def _held(state: WorldState) -> dict[str, str]:
    """The others who have a thing, by item."""
    found: dict[str, list[str]] = {}
    for owner, hands in state.belongings.items():
        for item, stack in hands.items() if owner != state.player else ():
            count = f" ×{stack.quantity}" if stack.quantity != 1 else ""
            found.setdefault(item, []).append(f"{state.name(owner)}{count}")
    return {item: ", ".join(sorted(owners)) for item, owners in found.items()}


def _threads(state: WorldState) -> dict[str, str]:
    threads = [each for each in state.schedule.values() if each.kind]
    said = [[each.text, due_time(state, each, DEFAULT)] for each in threads]
    return {each.name: "; ".join(filter(None, texts)) or each.kind for each, texts in zip(threads, said, strict=True)}


def _names(one: WorldState, other: WorldState) -> Callable[[str], str]:
    return lambda entity: one.name(entity) if entity in one.entities else other.name(entity)


def _place(state: WorldState) -> str | None:
    return state.name(state.location) if state.location else None


def _of_player(state: WorldState, attribute: str) -> Value:
    player = state.entities.get(state.player)
    value = player.get(attribute) if player is not None else None
    return value if isinstance(value, int) or value is None else str(value)


def _dead(state: WorldState) -> Iterable[str]:
    return (entity.id for entity in state.entities.values() if entity.dead)


def _events(state: WorldState, since: int) -> Iterable[str]:
    return (each.event for each in state.happenings if each.depth > since)


def _ones(keys: Iterable[K]) -> dict[K, int]:
    return dict.fromkeys(keys, 1)


def _each(
    kind: str, one: Mapping[K, Value], other: Mapping[K, Value], name: Callable[[K], str], absent: Value
) -> list[Difference]:
    """Return the differences, ordered by name, then by key."""
    keys = sorted({**one, **other}, key=lambda key: (name(key), str(key)))
    pairs = ((key, one.get(key, absent), other.get(key, absent)) for key in keys)
    return [Difference(kind, name(key), left, right) for key, left, right in pairs if left != right]
