"""Names to entities: one entity, many names, and no wrong merges."""

from __future__ import annotations

import re
from functools import lru_cache

from attrs import define, field

from saga_core.ids import entity_id
from saga_core.language import clean_name, every
from saga_core.model import Entity, Event, Introduced, Kind, WorldState
from saga_core.naming.forms import (
    bare,
    fold,
    forms,
    indefinite,
    is_title,
    known_as,
    mistyped,
    same_name,
    traces,
    uncommon,
    words_of,
)
from saga_core.stores import Value

PLAYER_WORDS = frozenset(word for each in every() for word in each.names.player)

_JOINED = re.compile(r"\s*&\s*|" + "|".join(each.names.joint for each in every()))
_FUZZY = (Kind.CHARACTER, Kind.LOCATION)

_fold = lru_cache(maxsize=16_384)(fold)


@define
class Names:
    """Finds the entity that a name means in a state, and introduces those that are new.

    A name is matched exactly, then without its Korean particle or honorific, its English article, or a remark behind
    it; a character also by title and name ("고블린왕 크룩" for "크룩", "Captain Vey" for "Captain Lucan Vey") or first
    name; a character or a place also with one letter mistyped, when the name is long. All but the first only when just
    one fits: what fits several stays its own entity.

    ``later``: a state further down the path, when a turn is read after those behind it. Whom ``state`` does not know
    and ``later`` does is introduced under the same identity.
    """

    state: WorldState
    later: WorldState | None = None
    introduced: list[Event] = field(factory=list)
    _index: dict[tuple[Kind, str], list[str]] = field(factory=dict)
    _strangers: dict[str, Entity] = field(factory=dict)
    """Entities of ``later`` that nobody introduced yet."""
    _traced: dict[str, set[tuple[str, tuple[str, ...]]]] = field(factory=dict)
    """What a character's name may be found by -> the characters, with the words of that name."""

    def __attrs_post_init__(self) -> None:
        if self.later is not None:
            known = self.state.entities
            self._strangers = {id_: each for id_, each in self.later.entities.items() if id_ not in known}
        for entity in (*self.state.entities.values(), *self._strangers.values()):
            for name in (each for known in entity.names for each in known_as(known)):
                self._note(entity.kind, name, entity.id)
        for entity in (*self.state.entities.values(), *self._strangers.values()):
            for name in entity.names:
                if bare(name) != name:
                    self._note(entity.kind, bare(name), entity.id)

    def _note(self, kind: Kind, name: str, id_: str) -> None:
        ids = self._index.setdefault((kind, _fold(name)), [])
        if id_ not in ids:
            ids.append(id_)

    def find(self, kind: Kind, name: str) -> str | None:
        """The id of the one entity that ``name`` means, or None."""
        if kind is Kind.CHARACTER and self.is_player(name):
            return self.state.player
        for form in forms(name):
            ids = self._index.get((kind, _fold(form)), [])
            if ids and kind is Kind.CHARACTER and form != clean_name(name) and indefinite(name):
                ids = [id_ for id_ in ids if not self._proper(id_)]  # "a crow" is not The Crow
            if ids:
                return self._one_of(ids, form)
        found = self._titled(name) if kind is Kind.CHARACTER else None
        return found or (self._mistyped(kind, name) if kind in _FUZZY else None)

    def _proper(self, id_: str) -> bool:
        """Whether an entity bears a name of its own and not a word for its kind."""
        known = self.state.entities.get(id_) or self._strangers.get(id_)
        return known is not None and bare(known.name)[:1].isupper()

    def _one_of(self, ids: list[str], form: str) -> str | None:
        """Of entities that a name fits the one that bears it first, or the only one, or the only one present."""
        folded = _fold(form)
        bearing = [id_ for id_ in ids if id_ in self.state.entities and _fold(self.state.entities[id_].name) == folded]
        for few in (bearing, ids, [id_ for id_ in ids if id_ in self.state.present]):
            if len(few) == 1:
                return few[0]
        return None

    def joined(self, name: str) -> list[str]:
        """``name``, or the characters that it joins ("크룩과 바르가"), if it is no name itself and all are known."""
        if (Kind.CHARACTER, _fold(clean_name(name))) in self._index:
            return [name]
        parts = [part for part in _JOINED.split(clean_name(name)) if part]
        if len(parts) > 1 and all(self.find(Kind.CHARACTER, part) for part in parts):
            return parts
        return [name]

    def _mistyped(self, kind: Kind, name: str) -> str | None:
        folded = _fold(bare(clean_name(name)))
        near = {ids[0] for (of, known), ids in self._index.items() if of is kind and mistyped(folded, known)}
        return near.pop() if len(near) == 1 else None

    def is_player(self, name: str) -> bool:
        """Whether ``name`` is a word for the player's character."""
        return _fold(name) in PLAYER_WORDS

    def _titled(self, name: str) -> str | None:
        """A character whose name is this one with a title, or without, or with more names: word by word."""
        if indefinite(name):
            return None
        if not self._traced:
            self._trace()
        for form in forms(name):
            if is_title(form):
                continue
            words = words_of(form)
            near = {each for trace in traces(words) for each in self._traced.get(trace, ())}
            fits = {id_ for id_, known in near if same_name(words, list(known))}
            if fits:
                return self._one_of(sorted(fits), form)
        return None

    def _trace(self) -> None:
        for entity in (*self.state.entities.values(), *self._strangers.values()):
            if entity.kind is Kind.CHARACTER:
                for name in entity.names:
                    for words, found in _known(name):
                        for trace in found:
                            self._traced.setdefault(trace, set()).add((entity.id, words))

    def ensure(self, kind: Kind, name: str, **attributes: Value) -> str:
        """The id for ``name``; an unknown one is introduced, a new form of a known one becomes an alias."""
        name = clean_name(name)
        found = self.find(kind, name)
        if found is None:
            name = uncommon(name) if kind is Kind.ITEM else name
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
        if not any(id_ in self._index.get((kind, _fold(form)), []) for form in forms(name)):
            self.introduced.append(Introduced(id_, kind, name))
            self._note(kind, name, id_)


@lru_cache(maxsize=16_384)
def _known(name: str) -> tuple[tuple[tuple[str, ...], frozenset[str]], ...]:
    """The words of a known name, and what they may be found by; several when a nickname stands in it."""
    spelled = [tuple(words_of(each)) for each in known_as(name)]
    return tuple((words, frozenset(traces(words))) for words in spelled)
