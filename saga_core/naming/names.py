"""Names to entities: one entity, many names, and no wrong merges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice

from attrs import define, field

from saga_core.ids import entity_id
from saga_core.language import caseless, clean_name, every, fold_name, mentions
from saga_core.model import Entity, Event, Introduced, Kind, WorldState, deltas
from saga_core.naming.evidence import Evidence
from saga_core.naming.forms import (
    are_two,
    bare,
    contradicts,
    fold,
    forms,
    indefinite,
    is_title,
    known_as,
    mistyped,
    parts,
    remarked,
    same_name,
    spelling,
    traces,
    uncommon,
    words_of,
)
from saga_core.naming.things import may_be, words_of_thing
from saga_core.naming.titled import bears, is_bare_title, may_be_called, may_call
from saga_core.stores import Value

PLAYER_WORDS = frozenset(fold(word) for each in every() for word in each.names.player)

_FUZZY = (Kind.CHARACTER, Kind.LOCATION)
_COMMON, _NEAR = 64, 128
"""Characters who may share a word of their names before it tells nobody apart, and characters whose names are compared
with one. Without these bounds a reply that names hundreds of people costs time for each of them and each known one."""

_fold = lru_cache(maxsize=16_384)(fold)


@lru_cache(maxsize=4_096)
def _found_by(names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the bearer of ``names`` is found by, folded: the names with their nicknames, then those without an article
    that have one."""
    plain = (bare(name) for name in names if bare(name) != name)
    return tuple(_fold(each) for name in names for each in known_as(name)), tuple(map(_fold, plain))


def is_word_for_player(name: str) -> bool:
    """Whether ``name`` is a word for the player's character, and no name."""
    return _fold(name) in PLAYER_WORDS


def _folded(names: Iterable[str]) -> frozenset[str]:
    return frozenset(_fold(bare(clean_name(name))) for name in names)


@define
class Names:
    """Finds the entity that a name means in a state, and introduces those that are new.

    A name is matched exactly, then without its Korean particle or honorific, its English article, or a remark behind
    it; a character also by title and name ("고블린왕 크룩" for "크룩", "Captain Vey" for "Captain Lucan Vey") or first
    name; a character or a place also with one letter mistyped, when the name is long and nothing tells two apart. All
    but the first only when just one fits: what fits several stays its own entity.

    ``later``: a state further down the path, when a turn is read after those behind it. Whom ``state`` does not know
    and ``later`` does is introduced under the same identity.
    """

    state: WorldState
    later: WorldState | None = None
    evidence: Evidence = field(factory=Evidence)
    """Texts of the turn, in which a title may stand beside a name."""
    people: frozenset[str] = field(default=frozenset[str](), converter=_folded)
    """Names of people that one report says: none of them is another with a letter mistyped."""
    introduced: list[Event] = field(factory=list)
    _index: dict[Kind, dict[str, list[str]]] = field(factory=dict)
    """Of each kind, the ids by what they are found by."""
    _strangers: dict[str, Entity] = field(factory=dict)
    """Entities of ``later`` that nobody introduced yet."""
    _traced: dict[str, set[tuple[str, tuple[str, ...]]]] = field(factory=dict)
    """What a character's name may be found by -> the characters, with the words of that name."""

    _spelled: dict[Kind, dict[tuple[int, str], list[str]]] = field(factory=dict)
    """Of each kind, what its entities are found by, as far as was looked, by number of letters and the first."""
    _is_traced: bool = False
    _fresh: dict[str, Entity] = field(factory=dict)
    """Entities that were introduced here."""
    _own: frozenset[str] = frozenset()
    """The player's names, folded."""

    def __attrs_post_init__(self) -> None:
        player = self.state.entities.get(self.state.player)
        self._own = frozenset(_fold(name) for name in player.names) if player is not None else frozenset()
        if self.later is not None:
            known = self.state.entities
            self._strangers = {id_: each for id_, each in self.later.entities.items() if id_ not in known}
        everything = (*self.state.entities.values(), *self._strangers.values())
        found = [(entity, _found_by((entity.name, *entity.aliases))) for entity in everything]
        for entity, (exact, _) in found:
            self._note(entity.kind, exact, entity.id)
        for entity, (_, plain) in found:
            if plain:
                self._note(entity.kind, plain, entity.id)

    def _note(self, kind: Kind, folded: Iterable[str], id_: str) -> None:
        index = self._index.setdefault(kind, {})
        for name in folded:
            ids = index.get(name)
            if ids is None:
                index[name] = [id_]
            elif id_ not in ids:
                ids.append(id_)

    def _bearers(self, kind: Kind, name: str) -> list[str]:
        """The ids of those of a kind that have this name."""
        return self._index.get(kind, {}).get(_fold(name), [])

    def find(self, kind: Kind, name: str) -> str | None:
        """The id of the one entity that ``name`` means, or None."""
        if kind is Kind.CHARACTER and (self.is_player(name) or (bearer := self._remarked(name)) == self.state.player):
            return self.state.player
        if kind is Kind.CHARACTER and bearer is not None:
            return bearer
        for form in forms(name):
            ids = self._bearers(kind, form)
            if ids and kind is Kind.CHARACTER and form != clean_name(name) and indefinite(name):
                ids = [id_ for id_ in ids if not self._proper(id_)]  # "a crow" is not The Crow
            if ids:
                return self._one_of(ids, form)
        if kind is Kind.ITEM:
            return self._thing(name)
        found = (self._titled(name) or self._by_title(name)) if kind is Kind.CHARACTER else None
        found = found or (self._mistyped(kind, name) if kind in _FUZZY else None)
        return found or (self._by_evidence(name) if kind is Kind.CHARACTER else None)

    def _thing(self, name: str) -> str | None:
        """The one thing whose name has the same words: ``silver coin`` for "silver coins"."""
        words = words_of_thing(name)
        same = {
            each.id
            for each in self._every(Kind.ITEM)
            if words and any(words_of_thing(known) == words for known in each.names)
        }
        return same.pop() if len(same) == 1 else None

    def held_by(self, owner: str, name: str) -> str | None:
        """The id of what ``owner`` has that ``name`` means: by that name, or the only thing with a name like it."""
        hands = self.state.belongings.get(owner, {})
        found = self.find(Kind.ITEM, name)
        if found in hands:
            return found
        known = self.state.entities
        near = [item for item in hands if item in known and any(may_be(name, each) for each in known[item].names)]
        return near[0] if len(near) == 1 else None

    def owner_in(self, name: str) -> tuple[str, str | None]:
        """A thing's name without a remark that names somebody, and that person: ``루비 눈 (카이)``."""
        remark = remarked(name)
        who = self.find(Kind.CHARACTER, remark[1]) if remark is not None else None
        return (remark[0], who) if remark is not None and who is not None else (name, None)

    def _remarked(self, name: str) -> str | None:
        """A known character whose very name is the remark behind another name: ``Madame Orlova (Teo)``."""
        remark = remarked(name)
        if remark is None:
            return None
        ids = self._bearers(Kind.CHARACTER, remark[1])
        return ids[0] if len(ids) == 1 else None

    def _by_title(self, name: str) -> str | None:
        """The one character who may be called so where titles hang on names, or who bears the title."""
        if not caseless(name):
            return None
        everybody = self._every(Kind.CHARACTER) if may_call(name) else ()
        fits = [each.id for each in everybody if any(may_be_called(name, known) for known in each.names)]
        if not fits and is_bare_title(name):
            fits = [each.id for each in self._every(Kind.CHARACTER) if any(bears(known, name) for known in each.names)]
        return self._one_of(sorted(fits), name) if fits else None

    def _by_evidence(self, name: str) -> str | None:
        """The one character beside whose name ``name`` stands in the texts, or whom the card calls so."""
        if indefinite(name):
            return None
        plain = next((form for form in forms(name) if form != name), name)
        told = [form for form in {name, plain} if self.evidence.has(form)]
        beside = {
            each.id
            for each in (self._every(Kind.CHARACTER) if told else ())
            for known in each.names
            if self.evidence.has(known)
            and any(
                (each.id != self.state.player and self.evidence.is_beside(form, known))
                or self.evidence.is_nickname(form, known)
                or self.evidence.is_nickname(known, form)
                for form in told
            )
        }
        if len(beside) == 1:
            return beside.pop()
        described = "" if beside else self.evidence.described_as(plain)
        ids = self._bearers(Kind.CHARACTER, described) if described else []
        return ids[0] if len(ids) == 1 else None

    def _every(self, kind: Kind) -> Iterator[Entity]:
        known = (*self.state.entities.values(), *self._strangers.values(), *self._fresh.values())
        return (each for each in known if each.kind is kind)

    def _entity(self, id_: str) -> Entity | None:
        return self.state.entities.get(id_) or self._strangers.get(id_) or self._fresh.get(id_)

    def _proper(self, id_: str) -> bool:
        """Whether an entity bears a name of its own and not a word for its kind."""
        known = self._entity(id_)
        return known is not None and bare(known.name)[:1].isupper()

    def _one_of(self, ids: list[str], form: str) -> str | None:
        """Of entities that a name fits the one that bears it first, or the only one, or the only one present."""
        folded = _fold(form)
        bearing = [id_ for id_ in ids if id_ in self.state.entities and _fold(self.state.entities[id_].name) == folded]
        spoken = [id_ for id_ in ids if self._is_named_in_full(id_)]
        for few in (bearing, ids, spoken, [id_ for id_ in ids if id_ in self.state.present]):
            if len(few) == 1:
                return few[0]
        return None

    def _is_named_in_full(self, id_: str) -> bool:
        """Whether what was told names a character by the very name that the state knows."""
        known = self.state.entities.get(id_) or self._fresh.get(id_)
        return known is not None and bool(self.evidence.told) and known.name in self.evidence.told

    def joined(self, name: str) -> list[str]:
        """``name``, or the characters that it joins ("크룩과 바르가"), if it is no name itself and all are known."""
        if self.knows(Kind.CHARACTER, name):
            return [name]
        several = parts(clean_name(name))
        if len(several) > 1 and all(self.find(Kind.CHARACTER, part) for part in several):
            return several
        return [name]

    def knows(self, kind: Kind, name: str) -> bool:
        """Whether something bears exactly this name."""
        return bool(self._bearers(kind, clean_name(name)))

    @staticmethod
    def parts(names: str) -> list[str]:
        """The names that a text joins: by conjunctions, or commas between them."""
        return parts(clean_name(names))

    def _mistyped(self, kind: Kind, name: str) -> str | None:
        folded = _fold(bare(clean_name(name)))
        index, spelled = self._index.get(kind, {}), self._spelled.setdefault(kind, {})
        count = sum(map(len, spelled.values()))
        for known in islice(index, count, None):
            spelled.setdefault(spelling(known), []).append(known)
        near = {
            index[known][0]
            for known in spelled.get(spelling(folded), ())
            if mistyped(folded, known) and not (kind is Kind.CHARACTER and self._are_two(name, known, index[known][0]))
        }
        return near.pop() if len(near) == 1 else None

    def _are_two(self, name: str, known: str, id_: str) -> bool:
        """Whether ``name`` is not the known name of somebody, folded, with a letter mistyped."""
        bearer = self._entity(id_)
        return known in self.people or any(
            _fold(each) == known and are_two(bare(clean_name(name)), each) for each in (bearer.names if bearer else ())
        )

    def is_player(self, name: str) -> bool:
        """Whether ``name`` means the player's character: a word for it, or a name that the player bears."""
        return is_word_for_player(name) or any(_fold(form) in self._own for form in forms(name))

    def named_in(self, text: str) -> list[str]:
        """The ids of the characters whose names stand in ``text``, in the order in which they entered."""
        folded = fold_name(text)
        return [
            each.id
            for each in self._every(Kind.CHARACTER)
            if any(
                len(name) > 1 and fold_name(name) in folded and mentions(text, name) and not is_word_for_player(name)
                for name in each.names
            )
        ]

    def _titled(self, name: str) -> str | None:
        """A character whose name is this one with a title, or without, or with more names: word by word."""
        if indefinite(name):
            return None
        if not self._is_traced:
            self._trace()
            self._is_traced = True
        for form in forms(name):
            if is_title(form):
                continue
            words = words_of(form)
            bearers = [self._traced.get(trace, set()) for trace in traces(words)]
            near = {each for found in bearers if len(found) <= _COMMON for each in found}
            if len(near) > _NEAR:
                continue
            fits = {id_ for id_, known in near if same_name(words, list(known)) and not self.is_other(id_, words)}
            if fits:
                return self._one_of(sorted(fits), form)
        return None

    def is_other(self, id_: str, words: list[str]) -> bool:
        """Whether a character's fuller name says that ``words`` are somebody else's: Tom Alder is not Tom Brandt."""
        known = self._entity(id_)
        return known is not None and any(contradicts(words, words_of(name)) for name in known.names)

    def _trace(self) -> None:
        for entity in (*self.state.entities.values(), *self._strangers.values()):
            self._note_traces(entity)

    def _note_traces(self, entity: Entity) -> None:
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
            name, *aliases = self._introducing(kind, name)
            found = entity_id(kind.value, name)
            ordinal = 0
            while found in self.state.entities and self.state.entities[found].kind is not kind:
                ordinal += 1
                found = entity_id(kind.value, name, ordinal)
            self.introduced.append(Introduced(found, kind, name, tuple(aliases), attributes))
            for each in (name, *aliases):
                self._note(kind, (_fold(each),), found)
            self._fresh[found] = Entity(found, kind, name, tuple(aliases))
            self._note_traces(self._fresh[found])
        elif found in self._strangers:
            del self._strangers[found]
            self.introduced.append(Introduced(found, kind, name, (), attributes))
        else:
            if kind is Kind.CHARACTER and self._remarked(name) == found:
                self._unmask(name, found)
            if not self.is_player(name):
                self._learn(kind, name, found)
        return found

    def _introducing(self, kind: Kind, name: str) -> list[str]:
        """The name under which somebody or something unknown enters, and other names for it.

        A remark that names nobody is left out. Whoever is introduced by a title enters by the name that the card has.
        """
        if kind is Kind.ITEM:
            return [uncommon(name)]
        if kind is not Kind.CHARACTER:
            return [name]
        if (remark := remarked(name)) is not None and not any(map(str.isdigit, remark[1])):
            name = remark[0]
        described = self.evidence.described_as(next((form for form in forms(name) if form != name), name))
        if described and _fold(described) != _fold(name) and not self.is_player(described):
            return [described, name]
        return [name]

    def _unmask(self, name: str, bearer: str) -> None:
        """Whoever went by the name before the remark turns out to be its bearer."""
        remark = remarked(name)
        assert remark is not None
        for mask in self._bearers(Kind.CHARACTER, remark[0]):
            known = self.state.entities.get(mask)
            if known is not None and mask not in (bearer, self.state.player) and self.state.entities.get(bearer):
                self.introduced.append(deltas.Merged(mask, bearer))

    def learn(self, id_: str, name: str, kind: Kind = Kind.CHARACTER) -> None:
        """Note a further name of a character, or of another entity of that kind."""
        self._learn(kind, clean_name(name), id_)

    def _learn(self, kind: Kind, name: str, id_: str) -> None:
        """Note a new form of a known name as an alias; a mere particle or article makes none."""
        if kind is Kind.ITEM:
            return
        if kind is Kind.CHARACTER and (remark := remarked(name)) is not None:
            name = remark[0]
        if not any(id_ in self._bearers(kind, form) for form in forms(name)):
            self.introduced.append(Introduced(id_, kind, name))
            self._note(kind, (_fold(name),), id_)


@lru_cache(maxsize=16_384)
def _known(name: str) -> tuple[tuple[tuple[str, ...], frozenset[str]], ...]:
    """The words of a known name, and what they may be found by; several when a nickname stands in it."""
    spelled = [tuple(words_of(each)) for each in known_as(name)]
    return tuple((words, frozenset(traces(words))) for words in spelled)
