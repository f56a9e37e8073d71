"""Resolves names to entities. An entity may have many names; ambiguous names are never merged."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import chain
from typing import TypeAlias

from attrs import define, field

from saga_core.ids import entity_id
from saga_core.language import (
    all_of,
    caseless,
    clean_name,
    content_words,
    fold_name,
    languages_in,
    match_text,
    mentions,
    particle_stems,
    simplified,
)
from saga_core.model import Entity, Event, Introduced, Kind, WorldState, deltas
from saga_core.naming.evidence import Evidence
from saga_core.naming.forms import (
    bare,
    bare_title,
    contradicts,
    fold,
    forms,
    has_one_middle,
    indefinite,
    is_relative,
    is_title,
    known_as,
    name_words,
    nicknamed,
    offices_in,
    parts,
    patterns_of,
    remarked,
    same_name,
    traces,
    uncommon,
    untitled,
    words_of,
)
from saga_core.naming.in_latin import is_spelled
from saga_core.naming.titled import bears, core, is_bare_title, is_name_of, may_be_called, may_call
from saga_core.stores import Value

# -- two of a kind ---------------------------------------------------------------------------------------------
#
# Words that tell two of a kind apart: the first floor and the second, the upper half of a book and the lower.


@lru_cache(maxsize=16_384)
def told_apart(one: str, other: str) -> bool:
    """Whether two names have different marks of one sort, so that they belong to two of a kind.

    A name that lacks some of the other's marks may still be a shorter form of it.
    """
    mine, theirs = _marks(one), _marks(other)
    return any(_differ(mine[sort], theirs[sort]) for sort in mine.keys() & theirs.keys())


def _differ(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether neither of two runs of marks is the other with some left out."""
    short, long = sorted((one, other), key=len)
    left = iter(long)
    return not all(mark in left for mark in short)


@lru_cache(maxsize=16_384)
def _marks(name: str) -> dict[str, tuple[str, ...]]:
    """The marks in a name by sort, in their order."""
    plain = match_text(clean_name(name))
    found: dict[str, tuple[str, ...]] = {}
    for sort, pattern in (each for language in languages_in(plain) for each in _sorts(language.names.apart)):
        marks = tuple(str(mark.lastindex or mark.group()) for mark in pattern.finditer(plain))
        if marks:
            found[sort] = marks
    return found


@cache
def _sorts(apart: tuple[str, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The sorts of marks of a language, each with its pattern. Han characters are compared in simplified form."""
    return tuple((sort, re.compile(simplified(sort))) for sort in apart)


# -- things ----------------------------------------------------------------------------------------------------

_POSSESSIVE = re.compile(r"['’]s\b")
_CLOTHES = re.compile(r"[(（][^()（）]*[)）]|[「」『』《》〈〉\[\]\"“”'‘’]")
_SINGLE = re.compile(r"\d+|(?<!\w)[A-Za-z](?!\w)")
"""Numbers and single letters, which tell things of one kind apart: key 1, door B."""
_LEAST_STEM = 4
_COMPARED = 100
"""Of more people than twice as many, those who came first and last are compared with a new name."""
_SMALL = frozenset("half old new broken sealed small little big large another same".split())
"""Words that are optional in the name of a thing."""


@lru_cache(maxsize=4_096)
def words_of_thing(name: str) -> frozenset[str]:
    """The words that identify a thing, stemmed so that inflected forms match: ``coin`` for "coins"."""
    plain = _POSSESSIVE.sub("", _CLOTHES.sub(" ", clean_name(name)))
    told_apart = (word.casefold() for word in _SINGLE.findall(plain) if word != "a")
    words = frozenset((*content_words(plain), *told_apart)) - {"the", "of", "and", "an"}
    return (words - _SMALL) or words


@lru_cache(maxsize=16_384)
def may_be(one: str, other: str) -> bool:
    """Whether one name may be a shorter form of the other: ``half tally`` of "half a brass tally", 열쇠 of 놋쇠 열쇠.

    Use it only to choose among a few candidates. A match by itself does not prove that the things are the same.
    """
    if told_apart(one, other):
        return False
    short, long = sorted((words_of_thing(one), words_of_thing(other)), key=len)
    if short and all(word in long or any(_is_inflected(word, each) for each in long) for word in short):
        return True
    little, large = sorted((_joined(one), _joined(other)), key=len)
    return len(little) >= 2 and not little.isascii() and little in large


def _is_inflected(one: str, other: str) -> bool:
    """Whether one of two words is the other with an ending of one or two letters, Kerze and Kerzen, or its plural."""
    short, long = sorted((one, other), key=len)
    if one in _singulars(other) or other in _singulars(one):
        return True
    return _LEAST_STEM <= len(short) < len(long) <= len(short) + 2 and short.isalpha() and long.startswith(short)


def _singulars(word: str) -> tuple[str, ...]:
    """The stem of the one thing, if ``word`` is the stem of a plural whose end changes in English: copy, loaf."""
    return (f"{word[:-1]}{'y' if word[-1] == 'i' else 'f'}",) if word[-1:] in ("i", "v") else ()


@lru_cache(maxsize=4_096)
def _joined(name: str) -> str:
    return re.sub(r"[\s·・-]+", "", _CLOTHES.sub("", clean_name(name))).casefold()


def is_particular(name: str) -> bool:
    """Whether a name is specific enough to tell a thing from others of its kind.

    An ASCII name needs at least two words, any other name at least four characters without spaces.
    """
    joined = _joined(name)
    return len(words_of_thing(name)) > 1 if joined.isascii() else len(joined) >= 4


REMARK = re.compile(r"[(（\[][^()（）\[\]]*[)）\]]|[,，、].*")
"""What is added to a name."""


def is_of_kind(name: str, kind: str) -> bool:
    """Whether the name of a thing ends in a word for its kind: "brass key" in "key", 차표 in 표, 懐中時計 in 時計."""
    word, wanted = last_word(name).casefold(), last_word(kind).casefold()
    return bool(wanted) and (word.endswith(wanted) if caseless(wanted) else word == wanted)


def last_word(name: str) -> str:
    """The last word of the name of a thing, before what tells it from others of its kind: letter of the duke."""
    words = _heads().split(REMARK.sub("", clean_name(name)), maxsplit=1)[0].split()
    return words[-1] if words else ""


@cache
def _heads() -> re.Pattern[str]:
    """Matches what follows the kind in Latin script: the letter of the duke."""
    return re.compile(rf"\s(?:{'|'.join(sorted(name_words('prepositions')))})\s", re.I)


# -- many things -----------------------------------------------------------------------------------------------


class _Words:
    """Words, each with what it belongs to. A word is found under itself and its inflected forms."""

    def __init__(self) -> None:
        self._under: dict[str, set[int]] = {}
        self._inflected: dict[str, set[int]] = {}

    def note(self, word: str, at: int) -> None:
        """Add a word."""
        self._under.setdefault(word, set()).add(at)
        for stem in _stems(word):
            self._inflected.setdefault(stem, set()).add(at)

    def near(self, word: str) -> set[int]:
        """What a word or an inflected form of it belongs to."""
        found = [self._under.get(each, ()) for each in (word, *_stems(word))]
        return set(chain(*found, self._inflected.get(word, ())))


def _stems(word: str) -> tuple[str, ...]:
    """The words of which ``_is_inflected`` may find that this is a form."""
    return (*(word[:-size] for size in (1, 2) if len(word) - size >= _LEAST_STEM), *_singulars(word))


class Things:
    """Names of things, among which those that ``may_be`` another name are found without comparing it with all."""

    def __init__(self, named: Iterable[tuple[str, str]]) -> None:
        """``named`` are names, each with the id of its thing."""
        self._named = tuple(named)
        self._every, self._rarest = _Words(), _Words()
        self._joined = [(at, _joined(name)) for at, (name, _) in enumerate(self._named) if not _joined(name).isascii()]
        self._found: dict[str, set[str]] = {}
        words = [words_of_thing(name) for name, _ in self._named]
        for at, each in enumerate(words):
            for word in each:
                self._every.note(word, at)
        often = {word: len(self._every.near(word)) for word in frozenset().union(*words)}
        for at, each in enumerate(words):
            if each:
                self._rarest.note(min(each, key=lambda word: (often[word], word)), at)

    def like(self, name: str) -> set[str]:
        """The ids of the things of which one name may be a shorter or a longer form of the other."""
        if name not in self._found:
            near = (self._named[at] for at in self._near(name))
            self._found[name] = {id_ for known, id_ in near if may_be(name, known)}
        return set(self._found[name])

    def _near(self, name: str) -> set[int]:
        """A name that has all words of a longer one has its rarest; one with all words of ``name`` has each."""
        words = [self._every.near(word) for word in words_of_thing(name)]
        shorter = chain.from_iterable(self._rarest.near(word) for word in words_of_thing(name))
        found = set(shorter).union(set.intersection(*words) if words else ())
        joined = _joined(name)
        if not joined.isascii():
            found |= {at for at, each in self._joined if each in joined or joined in each}
        return found


# -- who somebody really is ------------------------------------------------------------------------------------


def unmasked_in(remark: str) -> str:
    """The name of whom somebody turns out to be, as a remark tells: 黒騎士 of ``黒騎士の正体``; "" if it tells none."""
    for found in (pattern.fullmatch(remark.strip()) for pattern in patterns_of("unmasks")):
        if found is not None:
            return next(each for each in found.groups() if each).strip()
    return ""


# -- entities by their folded names ----------------------------------------------------------------------------
#
# An index of entities by their folded names. It is kept for later states, because most turns change no name.

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


# -- names -----------------------------------------------------------------------------------------------------

PLAYER_WORDS = frozenset(map(fold, all_of(lambda each: each.names.player)))

_COMMON, _NEAR = 64, 128
"""How many characters may share a word of their names before the word is ignored, and how many candidates are compared
with one name. Without these limits a reply with hundreds of names is compared with every known character."""


def is_word_for_player(name: str) -> bool:
    """Whether ``name`` is a word for the player's character and not a name."""
    return folded_once(name) in PLAYER_WORDS


def _cleaned(lists: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(clean_name, names)) for names in lists)


@define
class Names:
    """Finds the entity in a state that a name refers to, and introduces unknown ones.

    A name is matched exactly, then without its Korean particle or honorific, its English article, or a remark behind
    it. Characters are also matched by title and name ("고블린왕 크룩" for "크룩", "Captain Vey" for
    "Captain Lucan Vey") or by first name. Each match but the exact one needs a single candidate; a name that fits
    several becomes its own entity.

    ``later`` is a state further down the path, given when a turn is read after its successors. An entity that only
    ``later`` knows is introduced with the same id.
    """

    state: WorldState
    later: WorldState | None = None
    evidence: Evidence = field(factory=Evidence)
    """Texts that may link a title or a nickname to a name."""
    lists: tuple[tuple[str, ...], ...] = field(default=(), converter=_cleaned)
    """The report's lists of people. Two names in one are two people."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Who deals with whom in the report: two people each."""
    introduced: list[Event] = field(factory=list)
    _index: ByName = field(factory=dict)
    _strangers: dict[str, Entity] = field(factory=dict)
    """Entities of ``later`` that were not introduced yet."""
    _traced: dict[str, set[tuple[str, tuple[str, ...]]]] = field(factory=dict)
    """Trace of a name (see ``traces``) -> the ids of the characters, with the words of that name."""
    _things: dict[frozenset[str], list[tuple[str, str]]] = field(factory=dict)
    """The words of a thing -> the names with these words, each with its id. Filled lazily."""
    _held: dict[str, Things] = field(factory=dict)
    """What somebody has, by owner. Filled lazily."""
    _is_traced: bool = False
    _fresh: dict[str, Entity] = field(factory=dict)
    """Entities that this object introduced."""
    _own: frozenset[str] = frozenset()
    """The player's names, folded."""

    def __attrs_post_init__(self) -> None:
        player = self.state.entities.get(self.state.player)
        self._own = frozenset(folded_once(name) for name in player.names) if player is not None else frozenset()
        if self.later is not None:
            known = self.state.entities
            self._strangers = {id_: each for id_, each in self.later.entities.items() if id_ not in known}
        everything = (*self.state.entities.values(), *self._strangers.values())
        self._index = by_name(everything)

    def bearers(self, kind: Kind, name: str) -> list[str]:
        """The ids of the entities of a kind that have this name."""
        return self._index.get(kind, {}).get(folded_once(name), [])

    def find(self, kind: Kind, name: str) -> str | None:
        """The id of the one entity that ``name`` refers to, or None."""
        if kind is Kind.CHARACTER and (self.is_player(name) or (bearer := self._remarked(name)) == self.state.player):
            return self.state.player
        if kind is Kind.CHARACTER and bearer is not None:
            return bearer
        if kind is Kind.CHARACTER and (known := nicknamed(clean_name(name))) and not self.knows(kind, name):
            return next(iter(self._nicknamed(*known)), None)
        for form in forms(name):
            ids = self.bearers(kind, form)
            if ids and kind is Kind.CHARACTER and form != clean_name(name) and indefinite(name):
                ids = [id_ for id_ in ids if not self._proper(id_)]  # "a crow" is not The Crow
            if ids:
                return self._one_of(ids, form)
        if kind is Kind.ITEM:
            return self._thing(name)
        if kind is Kind.CHARACTER and (entitled := self.evidence.entitled(clean_name(name))):
            ids = self.bearers(kind, entitled)
            return (
                self._one_of(ids, entitled)
                if ids
                else (self._titled(entitled) or self._in_card(entitled) or self._entitled_otherwise(name))
            )
        if kind is not Kind.CHARACTER:
            return None
        found = self._titled(name) or self._by_title(name) or self._by_evidence(name) or self._by_office(name)
        return found or self._by_first_word(name) or self._in_latin(name)

    def _nicknamed(self, name: str, nickname: str) -> list[str]:
        """The ids of those who are known by a name, and of those known by the nickname in it and no other full name:
        Margaret "Peg" Ashdown is Peg, and not Peg Miller."""
        whole, short = self.find(Kind.CHARACTER, name), self.find(Kind.CHARACTER, nickname)
        full, plain = words_of(name), untitled(words_of(nickname))
        own = map(words_of, self._names_of([short] if short is not None else ()))
        if not all(untitled(each) == plain or each == full or same_name(each, full) for each in own):
            short = None
        return list(dict.fromkeys(each for each in (whole, short) if each is not None))

    def _in_latin(self, name: str) -> str | None:
        """The one character whose name in Hangul or kana ``name`` spells in Latin letters."""
        if not name.isascii() or self.evidence.has(name):
            return None
        fits = {each.id for each in self._every(Kind.CHARACTER) if any(is_spelled(name, one) for one in each.names)}
        left = self._not_beside(sorted(fits), name)
        return left[0] if len(left) == 1 else None

    def _thing(self, name: str) -> str | None:
        """The one thing whose name has the same words: ``silver coin`` for "silver coins"."""
        if not self._things:
            for entity in self._every(Kind.ITEM):
                self._note_thing(entity)
        called = self._things.get(words_of_thing(name), ())
        same = {id_ for known, id_ in called if not told_apart(name, known)}
        return same.pop() if len(same) == 1 else None

    def _note_thing(self, entity: Entity) -> None:
        for known in entity.names:
            if words := words_of_thing(known):
                self._things.setdefault(words, []).append((known, entity.id))

    def held_by(self, owner: str, name: str) -> str | None:
        """The id of a thing that ``owner`` has: the one called ``name``, or the only one with a similar name."""
        hands = self.state.belongings.get(owner, {})
        found = self.find(Kind.ITEM, name)
        if found in hands:
            return found
        if (things := self._held.get(owner)) is None:
            known = self.state.entities
            things = self._held[owner] = Things(
                (each, item) for item in hands if item in known for each in known[item].names
            )
        near = things.like(name)
        return near.pop() if len(near) == 1 else None

    def owner_in(self, name: str) -> tuple[str, str | None]:
        """A thing's name without the remark that names its owner, and the owner's id: ``루비 눈 (카이)``."""
        remark = remarked(name)
        who = self.find(Kind.CHARACTER, remark[1]) if remark is not None and self._is_bare(remark[1]) else None
        return (remark[0], who) if remark is not None and who is not None else (name, None)

    def _is_bare(self, name: str) -> bool:
        """Whether words can be a name without more around it. "Crane's" and "for Crane" tell what a thing is."""
        if self.knows(Kind.CHARACTER, name):
            return True
        if caseless(name):
            return not any(stem != name and self.find(Kind.CHARACTER, stem) for stem in particle_stems(name))
        return not (name[:1].islower() and bare(name) == name) and not name.endswith(("'s", "’s"))

    def _remarked(self, name: str) -> str | None:
        """The id of the known character named in the remark behind another name: ``Madame Orlova (Teo)``."""
        remark = remarked(name)
        if remark is None:
            return None
        ids = self.bearers(Kind.CHARACTER, remark[1]) or self.bearers(Kind.CHARACTER, unmasked_in(remark[1]))
        return ids[0] if len(ids) == 1 else None

    def _by_title(self, name: str) -> str | None:
        """The one character whom a name with a title fits, or whose known name contains this bare title."""
        if not caseless(name):
            return None
        everybody = self._every(Kind.CHARACTER) if may_call(name) else ()
        fits = [each.id for each in everybody if any(may_be_called(name, known) for known in each.names)]
        if not fits and is_bare_title(name):
            fits = [each.id for each in self._every(Kind.CHARACTER) if any(bears(known, name) for known in each.names)]
        left = self._not_beside(sorted(id_ for id_ in fits if not self._is_anothers(id_, name)), name)
        given = [id_ for id_ in left if any(self.evidence.is_titled_in(name, each) for each in self._names_of([id_]))]
        return self._one_of(given or left, name) if left else None

    def _by_office(self, name: str) -> str | None:
        """The one character with the title that ``name`` is, if she is here or the turn names her: "the sergeant", with
        Sergeant Kubas at the same place. Elsewhere there may be another."""
        office, state = bare_title(name), self.state
        if not office:
            return None
        fits = [each.id for each in self._every(Kind.CHARACTER) if not each.dead and self._has_office(each.id, office)]
        found = self._one_of(self._not_beside(fits, name), name)
        if found is None or found == state.player or self._is_anothers(found, name):
            return None
        where = state.whereabouts.get(found)
        is_here = found in state.present or (where is not None and where.place == state.location)
        return found if is_here or found in self._fresh or self._is_named_in_full(found) else None

    def _by_first_word(self, name: str) -> str | None:
        """The one character whose name in several words begins with the word behind an article: "the Maestro"."""
        word = bare(clean_name(name))
        if word == clean_name(name) or indefinite(name) or " " in word or not word.istitle() or is_title(word):
            return None
        named = ((each.id, known.split(" ")) for each in self._every(Kind.CHARACTER) for known in each.names)
        fits = {id_ for id_, words in named if len(words) > 1 and words[0] == word}
        left = self._not_beside(sorted(fits), name) if len(fits) == 1 else []
        return left[0] if left and not self._is_anothers(left[0], name) else None

    def _has_office(self, id_: str, office: str) -> bool:
        return any(office in offices_in(known) for known in self._names_of([id_]))

    def _is_title_of(self, id_: str, name: str) -> bool:
        """Whether a name is only a title that a known name of hers has: tomorrow another may be called so."""
        if office := bare_title(name):
            return self._has_office(id_, office)
        return caseless(name) and is_bare_title(name) and any(bears(each, name) for each in self._names_of([id_]))

    def _not_beside(self, ids: list[str], name: str) -> list[str]:
        """``ids`` without those whom the report lists beside ``name`` under another name."""
        plain = clean_name(name)
        others = [each for names in self.lists if plain in names for each in names if each != plain]
        others += [other for pair in self.pairs for one, other in (pair, pair[::-1]) if clean_name(one) == plain]
        if not others or plain in map(clean_name, self._names_of(ids)):
            return ids
        return [id_ for id_ in ids if not any(is_name_of(each, self._names_of([id_])) for each in others)]

    def _names_of(self, ids: Iterable[str]) -> list[str]:
        return [name for id_ in ids if (known := self._entity(id_)) is not None for name in known.names]

    def _by_evidence(self, name: str) -> str | None:
        """The one character to whom the texts link ``name``: side by side, as a nickname, or in the card."""
        if indefinite(name):
            return None
        plain = next((form for form in forms(name) if form != name), name)
        told = [form for form in {name, plain} if self.evidence.has(form)]
        beside = {
            each.id
            for each in (self._every(Kind.CHARACTER) if told else ())
            for known in each.names
            if any(self.evidence.is_titled(form, known) for form in told)
            or (
                self.evidence.has(known)
                and any(
                    (each.id != self.state.player and self.evidence.is_beside(form, known))
                    or self.evidence.is_nickname(form, known)
                    or self.evidence.is_nickname(known, form)
                    for form in told
                )
            )
        }
        if len(beside) == 1 and self._not_beside([*beside], name):
            return beside.pop()
        if not beside and (found := self._in_card(name)) is not None and self._not_beside([found], name):
            return found
        if not beside and (found := self._entitled_otherwise(name)) is not None:
            return found
        described = "" if beside else self.evidence.described_as(plain)
        ids = self.bearers(Kind.CHARACTER, described) if described else []
        return ids[0] if len(ids) == 1 else None

    def _entitled_otherwise(self, name: str) -> str | None:
        """The one character who has this Korean name with other titles or none, if the card gives her all of them."""
        plain = next((form for form in forms(name) if form != name), name)
        fits = {
            each.id
            for each in (self._every(Kind.CHARACTER) if self.evidence.card else ())
            for known in each.names
            if any(self.evidence.is_entitled_otherwise(form, known) for form in (name, plain))
        }
        found = self._not_beside(sorted(fits), name)
        return found[0] if len(found) == 1 else None

    def _in_card(self, name: str) -> str | None:
        """The one character whom the card describes in the entry that ``name`` belongs to."""
        entry = self.evidence.entry(name)
        if entry is None:
            return None
        ids = {
            each.id
            for each in self._every(Kind.CHARACTER)
            if any(self.evidence.entry(known) == entry for known in each.names)
        }
        return ids.pop() if len(ids) == 1 else None

    def _every(self, kind: Kind) -> Iterator[Entity]:
        known = (*self.state.entities.values(), *self._strangers.values(), *self._fresh.values())
        found = [each for each in known if each.kind is kind]
        if kind is Kind.CHARACTER and len(found) > 2 * _COMPARED:  # the cast, and whom the story met lately
            found = [*found[:_COMPARED], *found[-_COMPARED:]]
        return iter(found)

    def _entity(self, id_: str) -> Entity | None:
        return self.state.entities.get(id_) or self._strangers.get(id_) or self._fresh.get(id_)

    def _proper(self, id_: str) -> bool:
        """Whether an entity has a proper name and not just a word for its kind."""
        known = self._entity(id_)
        return known is not None and bare(known.name)[:1].isupper()

    def _one_of(self, ids: list[str], form: str) -> str | None:
        """The one of ``ids`` whose main name is ``form``; else the only one, named in full in the turn, or present."""
        folded = folded_once(form)
        bearing = [
            id_ for id_ in ids if id_ in self.state.entities and folded_once(self.state.entities[id_].name) == folded
        ]
        spoken = [id_ for id_ in ids if self._is_named_in_full(id_)]
        for few in (bearing, ids, spoken, [id_ for id_ in ids if id_ in self.state.present]):
            if len(few) == 1:
                return few[0]
        return None

    def _is_named_in_full(self, id_: str) -> bool:
        """Whether the turn's text contains the main name of a character."""
        known = self.state.entities.get(id_) or self._fresh.get(id_)
        return known is not None and bool(self.evidence.told) and known.name in self.evidence.told

    def joined(self, name: str) -> list[str]:
        """The names joined in ``name`` ("크룩과 바르가") if all are known and it is no name itself; else only it.

        What stands before the last of a list is left out: "and the driver".
        """
        if self.knows(Kind.CHARACTER, name):
            return [name]
        several = parts(clean_name(name))
        if len(several) > 1 and all(self.find(Kind.CHARACTER, part) for part in several):
            return several
        before, *last = parts(f"X {clean_name(name)}")
        return last if before == "X" and len(last) == 1 else [name]

    def knows(self, kind: Kind, name: str) -> bool:
        """Whether an entity has exactly this name."""
        return bool(self.bearers(kind, clean_name(name)))

    @staticmethod
    def parts(names: str) -> list[str]:
        """The names that a text joins with conjunctions or commas."""
        return parts(clean_name(names))

    def called(self, name: str) -> list[Entity]:
        """Return the entities of any kind with this id or name. If it is the main name of some, only those."""
        known = self.state.entities.get(self.state.merged.get(name, name))
        if known is not None:
            return [known]
        folded, everybody = fold_name(name), self.state.entities.values()
        found = [each for each in everybody if folded in map(fold_name, each.names)]
        found = [each for each in found if fold_name(each.name) == folded] or found
        return found or [each for each in everybody if each.id == self.state.player and self.is_player(name)]

    def is_player(self, name: str) -> bool:
        """Whether ``name`` refers to the player's character, by a word for it or by one of its names."""
        return is_word_for_player(name) or any(folded_once(form) in self._own for form in forms(name))

    def named_in(self, text: str) -> list[str]:
        """The ids of the characters whose names occur in ``text``, in the order in which they were introduced."""
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
        """The character whose name matches word by word, with more or fewer titles or names around it."""
        if indefinite(name):
            return None
        if not self._is_traced:
            for entity in self._every(Kind.CHARACTER):
                self._note_traces(entity)
            self._is_traced = True
        for form in forms(name):
            if is_title(form):
                continue
            words = words_of(form)
            bearers = [self._traced.get(trace, set()) for trace in traces(words)]
            near = {each for found in bearers if len(found) <= _COMMON for each in found}
            if len(near) > _NEAR:
                continue
            fits = {
                id_
                for id_, known in near
                if (_is_same(tuple(words), known) or has_one_middle(form, self._names_of([id_])))
                and not self.is_other(id_, words)
            }
            fits = {id_ for id_ in fits if not self._is_anothers(id_, name)}
            titles = set(words) - set(untitled(words))
            entitled = {id_ for id_, known in near if id_ in fits and titles & set(known)}
            if not entitled and titles and self.evidence.is_family_of_several(untitled(form.split(" "))[-1]):
                fits = {id_ for id_ in fits if id_ in self.state.whereabouts or id_ in self._fresh}
            fits = entitled or fits  # of two Lacombes the inspector
            if fits:
                return self._one_of(self._not_beside(sorted(fits), name), form)
        return None

    def is_other(self, id_: str, words: list[str]) -> bool:
        """Whether ``words`` contradict a full name of the character: Tom Alder is not Tom Brandt."""
        known = self._entity(id_)
        if known is None:
            return False
        called = [words_of(name) for name in known.names]
        return any(contradicts(words, each) for each in called) or is_relative(words, called)

    def _is_anothers(self, id_: str, name: str) -> bool:
        """Whether the card gives a name to another than this character, of whom it tells too. Or it gives the names of
        this character to one of another name: 源さん to 源太, who is not 源蔵親分.
        """
        names = self._names_of([id_])
        own = [entry for each in names if (entry := self.evidence.entry(each)) is not None]
        entry = self.evidence.entry(name)
        if entry is None or not any(fold(name) == fold(each) for each in (entry.head, *entry.names)):
            plain = match_text(fold_name(core(name).text))
            alike = {fold(each) for each in names if caseless(each) and plain and core(each).text[:1] == plain[:1]}
            return any(
                each.is_within and plain not in match_text(fold_name(each.head)) and alike & set(map(fold, each.names))
                for each in own
            )
        return bool(own) and entry not in own

    def _note_traces(self, entity: Entity) -> None:
        for name in entity.names:
            for words, found in _known(name):
                for trace in found:
                    self._traced.setdefault(trace, set()).add((entity.id, words))

    def ensure(self, kind: Kind, name: str, **attributes: Value) -> str:
        """The id for ``name``. An unknown name is introduced; a new form of a known name becomes an alias."""
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
                note(self._index, kind, (folded_once(each),), found)
            self._fresh[found] = Entity(found, kind, name, tuple(aliases))
            if kind is Kind.CHARACTER:
                self._note_traces(self._fresh[found])
            elif kind is Kind.ITEM and self._things:
                self._note_thing(self._fresh[found])
        elif found in self._strangers:
            del self._strangers[found]
            self.introduced.append(Introduced(found, kind, name, (), attributes))
        else:
            if kind is Kind.CHARACTER and self._remarked(name) == found:
                self._unmask(name, found)
            known = nicknamed(name) if kind is Kind.CHARACTER else ()
            for other in self._nicknamed(*known)[1:] if known else ():
                self._merge(other, found)
            for each in known or (name,):
                if not self.is_player(each):
                    self._learn(kind, each, found)
        return found

    def _introducing(self, kind: Kind, name: str) -> list[str]:
        """The name under which an unknown entity is introduced, followed by its aliases.

        A remark without digits is dropped. A character introduced by a title gets the name from the card.
        """
        if kind is Kind.ITEM:
            return [uncommon(name)]
        if kind is not Kind.CHARACTER:
            return [name]
        if known := nicknamed(name):
            return list(known)
        if (remark := remarked(name)) is not None and not any(map(str.isdigit, remark[1])):
            name = remark[0]
        plain = next((form for form in forms(name) if form != name), name)
        described = self.evidence.entitled(name) or self.evidence.described_as(plain)
        if described and folded_once(described) != folded_once(name) and not self.is_player(described):
            return [described, name]
        return [name]

    def _unmask(self, name: str, bearer: str) -> None:
        """Merge the characters known by the name before the remark into ``bearer``, whom the remark names."""
        remark = remarked(name)
        assert remark is not None
        for mask in self.bearers(Kind.CHARACTER, remark[0]):
            self._merge(mask, bearer)

    def _merge(self, gone: str, into: str) -> None:
        """Make two characters of the state one. The player's character stays."""
        if {gone, into} <= self.state.entities.keys() and gone not in (into, self.state.player):
            self.introduced.append(deltas.Merged(gone, into))

    def learn(self, id_: str, name: str, kind: Kind = Kind.CHARACTER) -> None:
        """Record another name of a character, or of an entity of another ``kind``."""
        self._learn(kind, clean_name(name), id_)

    def _learn(self, kind: Kind, name: str, id_: str) -> None:
        """Record a new form of a known name as an alias, unless only a particle or an article differs, or it is a title
        that the name has."""
        if kind is Kind.ITEM:
            return
        if kind is Kind.CHARACTER and (remark := remarked(name)) is not None:
            name = remark[0]
        if any(id_ in self.bearers(kind, form) for form in forms(name)):
            return
        if kind is not Kind.CHARACTER or not self._is_title_of(id_, name):
            self.introduced.append(Introduced(id_, kind, name))
            note(self._index, kind, (folded_once(name),), id_)


@lru_cache(maxsize=16_384)
def _known(name: str) -> tuple[tuple[tuple[str, ...], frozenset[str]], ...]:
    """The words of a known name with their traces; several entries if the name contains a nickname."""
    spelled = [tuple(words_of(each)) for each in known_as(name)]
    return tuple((words, frozenset(traces(words))) for words in spelled)


@lru_cache(maxsize=16_384)
def _is_same(words: tuple[str, ...], known: tuple[str, ...]) -> bool:
    """As ``same_name``. A report's people are looked up several times."""
    return same_name(list(words), list(known))
