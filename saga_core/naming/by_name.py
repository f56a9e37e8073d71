"""An index of entities by their folded names. It is kept for later states, because most turns change no name."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias

from saga_core.model import Entity, Kind
from saga_core.naming.forms import bare, fold, known_as

ByName: TypeAlias = dict[Kind, dict[str, list[str]]]
"""For each kind, the ids by folded name."""

folded_once = lru_cache(maxsize=16_384)(fold)

_KEPT: deque[tuple[tuple[Entity, ...], ByName]] = deque(maxlen=8)
"""The entities of recent states with their indexes, of about as many sessions."""


def by_name(entities: Iterable[Entity]) -> ByName:
    """Return the index of ``entities``, in their order. Add names to it with ``note`` only."""
    everything = tuple(entities)
    for at, (known, index) in enumerate(tuple(_KEPT)):
        if len(known) == len(everything):
            changed = [pair for pair in zip(known, everything, strict=True) if pair[0] is not pair[1]]
            if all(_are_called_the_same(one, other) for one, other in changed):
                _KEPT[at] = everything, index
                return _copy(index)
    index = _indexed(everything)
    _KEPT.appendleft((everything, index))
    return _copy(index)


def note(index: ByName, kind: Kind, folded: Iterable[str], id_: str) -> None:
    """Add the names of an entity to an index."""
    ids_by_name = index.setdefault(kind, {})
    for name in folded:
        ids = ids_by_name.get(name)
        if ids is None:
            ids_by_name[name] = [id_]
        elif id_ not in ids:
            ids_by_name[name] = [*ids, id_]  # not in place: the kept index has the same list


def _copy(index: ByName) -> ByName:
    return {kind: dict(ids_by_name) for kind, ids_by_name in index.items()}


def _are_called_the_same(one: Entity, other: Entity) -> bool:
    return (one.id, one.kind, one.name, one.aliases) == (other.id, other.kind, other.name, other.aliases)


def _indexed(entities: Iterable[Entity]) -> ByName:
    """Names without their English article come last, so that an exact name comes first."""
    index: ByName = {}
    found = [(entity, _found_by((entity.name, *entity.aliases))) for entity in entities]
    for entity, (exact, _) in found:
        note(index, entity.kind, exact, entity.id)
    for entity, (_, plain) in found:
        if plain:
            note(index, entity.kind, plain, entity.id)
    return index


@lru_cache(maxsize=4_096)
def _found_by(names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The folded forms under which an entity with these ``names`` is found: the names and the nicknames in them, and
    separately the names without their English article, where they have one."""
    plain = (bare(name) for name in names if bare(name) != name)
    return tuple(folded_once(each) for name in names for each in known_as(name)), tuple(map(folded_once, plain))
