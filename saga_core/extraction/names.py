"""Names to entities: one entity, many names, and no wrong merges."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from attrs import define, field

from saga_core.ids import entity_id
from saga_core.model.deltas import Event, Introduced
from saga_core.model.entities import Entity, Kind
from saga_core.model.world_state import WorldState
from saga_core.stores.graph import Value
from saga_core.text.korean import particle_stems
from saga_core.text.normal import clean_name, fold_name

PLAYER_WORDS = frozenset(
    {"player", "theplayer", "you", "me", "i", "{{user}}", "user", "플레이어", "당신", "나", "너", "유저", "주인공"}
)

_ARTICLE = re.compile(r"(?:the|an?) (?=.)", re.I)

_fold = lru_cache(maxsize=65_536)(fold_name)


@define
class Names:
    """Finds the entity that a name means in a state, and introduces those that are new.

    A name is matched exactly, then with its Korean particle taken off; a character also by title and name ("고블린왕
    크룩" for "크룩"), when just one character fits. What fits several stays its own entity.

    ``later``: a state further down the path, when a turn is read after those behind it. Whom ``state`` does not know
    and ``later`` does is introduced under the same identity.
    """

    state: WorldState
    later: WorldState | None = None
    introduced: list[Event] = field(factory=list)
    _index: dict[tuple[Kind, str], list[str]] = field(factory=dict)
    _strangers: dict[str, Entity] = field(factory=dict)
    """Entities of ``later`` that nobody introduced yet."""

    def __attrs_post_init__(self) -> None:
        if self.later is not None:
            known = self.state.entities
            self._strangers = {id_: each for id_, each in self.later.entities.items() if id_ not in known}
        for entity in (*self.state.entities.values(), *self._strangers.values()):
            for name in entity.names:
                self._note(entity.kind, name, entity.id)

    def _note(self, kind: Kind, name: str, id_: str) -> None:
        ids = self._index.setdefault((kind, _fold(name)), [])
        if id_ not in ids:
            ids.append(id_)

    def find(self, kind: Kind, name: str) -> str | None:
        """The id of the one entity that ``name`` means, or None."""
        if kind is Kind.CHARACTER and self.is_player(name):
            return self.state.player
        for form in _forms(name):
            ids = self._index.get((kind, _fold(form)), [])
            if ids:
                return ids[0]
        return self._titled(name) if kind is Kind.CHARACTER else None

    def is_player(self, name: str) -> bool:
        """Whether ``name`` is a word for the player's character."""
        return _fold(name) in PLAYER_WORDS

    def _titled(self, name: str) -> str | None:
        """A character whose name is this one with a title, or without: the shorter ends the longer, word by word."""
        for form in _forms(name):
            words = [_fold(word) for word in form.split(" ")]
            everybody = (*self.state.of_kind(Kind.CHARACTER), *self._strangers.values())
            fits = {entity.id for entity in everybody if entity.kind is Kind.CHARACTER and _fits(words, entity.names)}
            if fits:
                return fits.pop() if len(fits) == 1 else None
        return None

    def ensure(self, kind: Kind, name: str, **attributes: Value) -> str:
        """The id for ``name``; an unknown one is introduced, a new form of a known one becomes an alias."""
        name = clean_name(name)
        found = self.find(kind, name)
        if found is None:
            found = entity_id(kind.value, name)
            ordinal = 0
            while found in self.state.entities and self.state.entities[found].kind is not kind:
                ordinal += 1
                found = entity_id(kind.value, name, ordinal)
            self.introduced.append(Introduced(found, kind, name, (), attributes))
            self._note(kind, name, found)
        elif found in self._strangers:
            del self._strangers[found]
            self.introduced.append(Introduced(found, kind, name, (), attributes))
        elif not self.is_player(name):
            self._learn(kind, name, found)
        return found

    def _learn(self, kind: Kind, name: str, id_: str) -> None:
        """Note a new form of a known name as an alias; a mere particle or article makes none."""
        if not any(id_ in self._index.get((kind, _fold(form)), []) for form in _forms(name)):
            self.introduced.append(Introduced(id_, kind, name))
            self._note(kind, name, id_)


def _forms(name: str) -> Iterator[str]:
    """A name, and what it may be a form of: without a Korean particle, without an English article."""
    name = clean_name(name)
    yield from particle_stems(name)
    bare = _ARTICLE.sub("", name, count=1) if _ARTICLE.match(name) else name
    if bare != name:
        yield bare


def _fits(words: list[str], names: tuple[str, ...]) -> bool:
    for known in names:
        other = [_fold(word) for word in known.split(" ")]
        shorter, longer = sorted((words, other), key=len)
        if len(longer) > len(shorter) and longer[-len(shorter) :] == shorter:
            return True
    return False
