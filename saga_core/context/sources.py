"""The sources of context: the situation now, the graph around the scene, lore, memories, and other stories."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import ClassVar
from weakref import WeakKeyDictionary

from attrs import evolve, field, frozen

from saga_core.config import LorebookConfig
from saga_core.context.model import (
    BY_HAND,
    CHANGED,
    MUST_COMPANY,
    MUST_DEAD,
    MUST_ESSENTIALS,
    MUST_MEMBER,
    MUST_SURROUNDINGS,
    MUST_UNKNOWN,
    Ignorance,
    OtherStory,
    Piece,
    ReadRequest,
    Section,
    Slot,
    labels,
    one_field,
    one_line,
)
from saga_core.context.recollection import RecalledTexts
from saga_core.context.scene import Scene
from saga_core.context.source import NOTHING_GIVEN, Given
from saga_core.language import (
    Labels,
    any_of,
    confesses,
    content_words,
    fold_name,
    frame_of,
    is_guarded,
    is_identity,
    learns,
    mentions,
    sentences_of,
    telling_nothing,
)
from saga_core.model import (
    ALIVE,
    CONDITION,
    DEAD,
    HABITS,
    MOMENT,
    Entity,
    Happening,
    Kind,
    MemoryRecord,
    StoryPart,
    WorldState,
)
from saga_core.naming import may_be_here, parts_alone
from saga_core.projection import BOND, DEATH, CountedValue, clauses, counted_values, named, people_in, weight
from saga_core.recall import (
    ActiveEntry,
    LoreIndex,
    LoreSituation,
    ScoredLore,
    SearchedWords,
    Walk,
    normalized_turn,
    rank_lore,
    weight_of,
    without_other_story,
    without_time,
)
from saga_core.stores import Edge
from saga_core.trackers import Secrecy
from saga_core.world import DEFAULT_HP, LoreEntry, MacroRoom, World, fill_macros

log = logging.getLogger("saga.context")

# -- the briefing ----------------------------------------------------------------------------------------------

_ITEMS = 24
_NAMES = 12
_CONDITIONS, _CONDITION = 3, 60
"""Maximum conditions that are listed per entity, and maximum characters of each."""
_TOLD_ELSEWHERE = frozenset(
    {
        "is_player",
        "persona",
        "claims",
        *HABITS,
        MOMENT,
        "hp",
        "max_hp",
        "mood",
        "status",
        "status_since",
        "occupation",
        "traits",
        "background",
    }
)


@frozen
class Briefing:
    """Place, HP, inventory and mood; the player and the company; nearby characters and ways out.

    Every block has these lines. Other facts in the pinned pages that are no longer true are listed as changes.
    """

    name: str = "briefing"
    needs: tuple[str, ...] = ()
    at_once: ClassVar[bool] = True

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Return up to three lines and a piece for each change."""
        state, words = scene.state, labels(scene.request.language)
        counts = _told_counts(state, scene.request.language, to_member=scene.request.member is not None)
        # A conversation without a player character has no inventory.
        essentials = self._essentials(state, scene.request.world, words, counts) if state.player else None
        pieces = [essentials] if essentials is not None else []
        member = scene.request.member
        lines = (
            (Slot.COMPANY, MUST_COMPANY, _company(state, words, counts, member)),
            (Slot.SURROUNDINGS, MUST_SURROUNDINGS, (" | ".join(_surroundings(scene, words)),)),
        )
        for slot, score, (text, *shorter) in lines:
            if text:
                key = f"briefing:{slot}"
                pieces.append(Piece(self.name, key, Section.NOW, text, score, order=slot, shorter=tuple(shorter)))
        if member is not None and member in state.entities:
            pieces.append(_of_member(self.name, state, member, words, counts))
        if scene.request.ignorance:
            pieces += _not_known(self.name, scene, words)
        pinned = scene.request.pinned
        if pinned is not None and pinned is not state:
            corrected = _CORRECTIONS | {_changed_by(*key) for key in scene.request.corrected}
            for key, text in _changes(pinned, state, words):
                is_by_hand = key in corrected or key.partition(":")[0] in corrected
                pieces.append(_change(self.name, key, text, BY_HAND if is_by_hand else CHANGED))
        pieces += [
            _change(self.name, f"by_hand:{text}", one_field(text).rstrip(".。"), BY_HAND + number)
            for number, text in enumerate(scene.request.by_hand, 1)
        ]
        return pieces

    def _essentials(self, state: WorldState, world: World, words: Labels, counts: _ToldCounts) -> Piece | None:
        """Place, health, mood, what is counted of world, place and player, and belongings: none only if a sheet lists
        what the player had, as whoever gave away the one thing that was told of may have others."""
        player = state.entities.get(state.player)
        place = state.location
        fields = [f"{words.place}: {one_field(state.name(place))}{_held(state, place)}"] if place else []
        if player is not None and _health_is_known(player, world):
            top = player.get("max_hp")
            fields.append(f"{words.hp}: {player.get('hp')}" + (f"/{top}" if top is not None else ""))
        counted = [each for whose in ("", state.location or "-", state.player) for each in counts(whose)]
        least, fields = fields, fields + counted
        mood = player.get("mood") if player is not None else None
        moods = [f"{words.mood}: {one_field(str(mood))}"] if mood else []
        carried = _inventory(state, state.player)
        if not carried and (world.player is None or not world.player.items):
            texts = [" | ".join([*fields, *moods]), " | ".join(fields)]
        else:
            texts = [
                " | ".join([*fields, f"{words.inventory}: {_listed(carried, most, words)}", *rest])
                for most, rest in ((_ITEMS, moods), (_ITEMS, []), (_ITEMS // 3, []), (0, []))
            ]
        if not texts[0]:
            return None
        fewer = (" | ".join(fields[:most]) for most in range(len(fields), max(1, len(least)) - 1, -1))
        shorter = tuple(text for text in dict.fromkeys((*texts, *fewer)) if text and text != texts[0])
        return Piece(
            self.name,
            "briefing:0",
            Section.NOW,
            texts[0],
            MUST_ESSENTIALS,
            order=Slot.ESSENTIALS,
            shorter=shorter,
        )


_CORRECTIONS = frozenset({"note", "story", "same", "name"})
"""Changes that only people and curators make."""
_LONG = 200
"""The characters of a change by hand that has no room as a whole."""


def _changed_by(kind: str, subject: str, other: str) -> str:
    """Return the key of the change (see ``_changes``) by which a statement is told."""
    match kind:
        case "status" | "condition":
            return f"alive:{subject}"
        case "place" | "elsewhere":
            return f"edge:{subject}:LOCATED_AT"
        case "relation":
            return f"relation:{subject}:{other}"
    return f"{kind}:{subject}"


def _change(source: str, key: str, text: str, score: float) -> Piece:
    short = (f"{text[:_LONG].rstrip()} …",) if score >= BY_HAND and len(text) > _LONG else ()
    return Piece(source, key, Section.NOW, text, score, order=Slot.CHANGED, shorter=short)


def _of_member(source: str, state: WorldState, who: str, words: Labels, counts: _ToldCounts) -> Piece:
    """Who speaks next in a group: condition, mood, belongings, and what the member feels for those who are here."""
    entity = state.entities[who]
    fields = [words.speaks.format(name=_with_condition(state, who, counts(who)))]
    if mood := entity.get("mood"):
        fields.append(f"{words.mood}: {one_field(str(mood))}")
    if state.belongings.get(who):
        fields.append(f"{words.inventory}: {_listed(_inventory(state, who), _ITEMS, words)}")
    for other in (state.player, *state.present):
        relation = state.relations.get((who, other))
        if relation is not None and not relation.over:
            fields.append(f"→ {one_field(state.name(other))}: {one_field(str(relation))}")
    short = (fields[0], words.speaks.format(name=_with_condition(state, who)))
    return Piece(source, "member", Section.NOW, " | ".join(fields), MUST_MEMBER, order=Slot.MEMBER, shorter=short)


_UNKNOWN = 2
"""Most lines about what somebody here does not know."""
_HINTED = 2
"""Most names that the hint repeats."""
_ABOUT_NOW = 0.25
"""The part of a remark's words, without names of people, that the last two messages must have for it to matter now."""
_SAME = 0.8
"""The part of the words of a fact that a clause must have to tell it."""
_LOOKED_THROUGH = 64
"""The latest turns whose texts are searched for one that tells a fact."""


def _not_known(source: str, scene: Scene, words: Labels) -> list[Piece]:
    """What matters now and somebody here does not know: first what is said to be kept from somebody, then deaths, then
    other secrets and what binds people.

    A death and a bond matter if the last two messages name somebody absent whom the remark names, a secret if they name
    anybody of it who knows it. So does a secret that is kept from somebody, if one whom it names and who knows it is
    here. The rest matters if they share its words. What a later turn has told is left out, for those who were there.
    """
    request, state = scene.request, scene.state
    words_said = "\n".join((request.player_words, *request.recent))
    said = frozenset(content_words(words_said))
    folded = scene.spoken.folded + (scene.passage.folded if scene.passage is not None else "")
    called = [each for id_ in scene.named if (each := state.entities[id_]).kind is Kind.CHARACTER]
    here = [state.entities[id_] for id_ in (state.player, *state.present) if id_ in state.entities]
    names = " ".join(("", *(name.casefold() for each in (*called, *here) for name in each.names)))
    absent = [name for each in called if each not in here for name in each.names]
    nothing = telling_nothing()
    secrets = {found for found in request.ignorance if _confided().search(found.text)}
    parts = parts_alone(state.entities.values()) if secrets else {}
    in_short = (id_ for id_, alone in parts.items() if _names_one(words_said, alone))
    named = dict.fromkeys((*(each.id for each in called), *in_short))
    ranked: list[tuple[bool, int, bool, float, int, Ignorance]] = []
    for found in request.ignorance:
        own = [
            word for word in content_words(without_time(found.text)) if word not in nothing and f" {word}" not in names
        ]
        # A Korean word may have an ending that hides it: 열병으로요.
        touch = _share({*said, *(word for word in own if not word.isascii() and word in folded)}, own)
        is_secret = found in secrets
        worth = max(weight(found.text), BOND if is_secret else 0)
        told_of = (id_ for id_ in named if id_ != state.player and id_ not in found.who)
        whole = (name for id_ in told_of for name in (*state.entities[id_].names, *parts.get(id_, ())))
        others = list(whole) if is_secret else absent
        heavy = worth >= BOND and _names_one(found.text, others)
        guarded = is_secret and is_guarded(found.text)
        knowing = (name for id_ in state.present if id_ not in found.who for name in state.entities[id_].names)
        if touch >= _ABOUT_NOW or heavy or (guarded and _names_one(found.text, list(knowing))):
            order = guarded and heavy, worth if heavy else 0, worth >= BOND, touch, found.depth
            ranked.append((*order, found))
    ranked.sort(key=lambda each: each[:5], reverse=True)
    return [
        Piece(
            source,
            f"unknown:{each.depth}:{each.text}",
            Section.NOW,
            _unknown_line(each, who, state, words, reported=request.reported),
            MUST_UNKNOWN - number,
            order=Slot.UNKNOWN,
        )
        for number, (each, who) in enumerate(_untold([each for *_, each in ranked], scene))
    ]


def _names_one(text: str, names: Sequence[str]) -> bool:
    return any(name in text and mentions(text, name) for name in names)


def _share(said: Collection[str], own: Collection[str]) -> float:
    """Return the part of a text's ``own`` words that were said."""
    return sum(word in said for word in own) / max(1, len(own))


def _unknown_line(found: Ignorance, who: Sequence[str], state: WorldState, words: Labels, *, reported: bool) -> str:
    line = words.not_known.format(
        names=_names(state, who, words),
        text=one_field(found.text).rstrip(".。"),
        turn=words.turn.format(depth=found.depth),
    )
    told = [f"{one_field(state.name(id_))} {found.depth}" for id_ in who]
    how = words.informed.format(told=", ".join(told if len(told) <= _HINTED else (told[0], "…")))
    return f"{line}; {how}" if reported else line


@cache
def _confided() -> re.Pattern[str]:
    """Matches what is told to few: a confession, a secret, who somebody really is. Compiled on first use."""
    return re.compile(any_of(lambda each: each.story.secrets), re.I)


@cache
def _denied() -> re.Pattern[str]:
    """Matches clauses that do not state what they speak of: questions, and what is not so. Compiled on first use."""
    return re.compile(f"[?？]|{any_of(lambda each: each.story.negation)}", re.I)


@cache
def _buried() -> re.Pattern[str]:
    """Matches what is said of the dead alone: a corpse, a grave, a funeral. Compiled on first use."""
    return re.compile(any_of(lambda each: each.story.body), re.I)


# -- whether a later turn has told it --------------------------------------------------------------------------------


@frozen
class _Fact:
    """What a remark tells, to compare it with others."""

    depth: int
    kind: int
    """``DEATH``, ``BOND`` for a secret, or 0."""
    about: frozenset[str]
    """The ids of the people whom it is about, without the player's character."""
    own: frozenset[str]
    """Its words that are no names."""
    plain: bool
    """Whether it tells that somebody is dead, and no more."""

    def is_told_by(self, kind: int, people: frozenset[str], said: Collection[str]) -> bool:
        """Whether a clause of that kind, with these people and words, tells the same."""
        if not self.about <= people or (self.kind == DEATH and kind != DEATH):
            return False
        if self.plain:
            return True
        return bool(self.own) and len(self.own) + len(self.about) > 2 and _share(said, self.own) >= _SAME

    def is_(self, other: _Fact) -> bool:
        """Whether both are one fact of the same turn in two wordings."""
        if self.depth != other.depth or self.kind != other.kind:
            return False
        less, more = sorted((self, other), key=lambda each: len(each.own))
        return less.is_told_by(more.kind, more.about, more.own)


def _untold(ranked: Sequence[Ignorance], scene: Scene) -> Iterator[tuple[Ignorance, list[str]]]:
    """Yield the first facts that no later turn has told, and who does not know them."""
    if not ranked:
        return
    people: tuple[tuple[str, str], ...] = ()
    parts = parts_alone(scene.state.entities.values())
    called = {id_: (*each.names, *parts.get(id_, ())) for id_, each in scene.state.entities.items()}
    yielded: list[Ignorance] = []
    later = _later(scene)
    animals = _animals(scene.state, {id_ for each in ranked for id_ in each.who}, later)
    for each in ranked:
        beside = [known for known in yielded if known.depth == each.depth]
        who = [id_ for id_ in each.who if id_ not in animals]
        if beside or _may_be_told(each, called, later):
            people = people or tuple(one for one in people_in(scene.state) if one[1] != scene.state.player)
            fact = _fact(each, scene.state, people)
            if any(fact.is_(_fact(known, scene.state, people)) for known in beside):
                continue
            told = list(_told_at(fact, later, people))
            learned = {id_: chain(told, _learned_at(each, fact, id_, called[id_], later, people)) for id_ in who}
            who = [id_ for id_ in who if not any(_heard(scene, id_, depth) for depth in learned[id_])]
        if who:
            yielded.append(each)
            yield each, who
        if len(yielded) == _UNKNOWN:
            return


def _may_be_told(found: Ignorance, called: Mapping[str, Sequence[str]], later: Sequence[tuple[int, str, str]]) -> bool:
    """Whether a later turn has two words of a fact, or one of a death or beside who does not know it, which is quickly
    seen."""
    least = 1 if weight(found.text) == DEATH else 2
    own = [word for word in content_words(found.text) if word not in telling_nothing()]
    own += [normalized_turn(name) for id_ in found.who for name in called.get(id_, ())]
    return any(depth > found.depth and sum(word in folded for word in own) >= least for depth, _, folded in later)


def _kind(clause: str) -> int:
    return DEATH if weight(clause) == DEATH else BOND if _confided().search(clause) else 0


def _fact(found: Ignorance, state: WorldState, people: Sequence[tuple[str, str]]) -> _Fact:
    parts = clauses(found.text) or [found.text]
    kind = max(map(_kind, parts))
    part = " ".join(part for part in parts if not kind or _kind(part) == kind)
    frame, what = frame_of(part)
    about = named(what, people)
    if len(about) < 2 and frame:
        about |= {id_ for name, id_ in people if normalized_turn(frame).startswith(name)}
    died = {each.id for each in state.of_kind(Kind.CHARACTER) if each.dead and each.get("status_since") == found.depth}
    about = about or (frozenset(died) if kind == DEATH else about)
    begins = any(id_ in about and normalized_turn(what).lstrip().startswith(name) for name, id_ in people)
    plain = kind == DEATH and not frame and len(about) == 1 and about <= died and (begins or not named(what, people))
    short = what.partition(",")[0]
    own = _own(what, people)
    if kind == BOND and not _own(short, people):  # who somebody really is
        about, own = named(short, people), frozenset(content_words(_confided().sub(" ", short))) - telling_nothing()
    return _Fact(found.depth, kind, about, own, plain)


def _own(text: str, people: Sequence[tuple[str, str]]) -> frozenset[str]:
    names = {word for part in _named_parts(text, people) for word in content_words(part)}
    words = content_words(without_time(_confided().sub(" ", text)))
    return frozenset(words) - names - telling_nothing()


def _named_parts(text: str, people: Sequence[tuple[str, str]]) -> set[str]:
    """Return the names of ``people`` that a text has."""
    about = named(text, people)
    return {part for part, id_ in people if id_ in about}


def _later(scene: Scene) -> list[tuple[int, str, str]]:
    """Return what turns tell, with their depths: remarks, events and messages, as they are and folded."""
    state, episodes = scene.state, scene.request.episodes
    texts = [*state.remarks, *((each.depth, each.name) for each in state.happenings)]
    if episodes is not None:
        for depth in range(max(0, state.depth - _LOOKED_THROUGH) + 1, state.depth + 1):
            turn = episodes.at(depth)
            if turn is not None:
                texts.append((depth, episodes.text(turn).partition("\n")[2]))
    return [(depth, text, normalized_turn(text)) for depth, text in texts]


def _animals(state: WorldState, who: Collection[str], told: Sequence[tuple[int, str, str]]) -> frozenset[str]:
    """Those of ``who`` whom a text calls an animal: Pickle, a one-eared cat. Nobody tells them anything, unless they
    speak, or somebody did."""
    found = set()
    informed = {id_ for audience in state.audiences.values() for id_ in audience.told}
    for id_ in (frozenset(who) & state.entities.keys()) - informed:  # who was merged may still be named in the audience
        names = state.entities[id_].names
        texts = [text for _, text, _ in told if any(name in text for name in names)]
        is_animal, speaks = _called_animal(names)
        if any(map(is_animal.search, texts)) and not any(map(speaks.search, texts)):
            found.add(id_)
    return frozenset(found)


@lru_cache(maxsize=256)
def _called_animal(names: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of a text that calls one of the ``names`` an animal, and of one in which it speaks."""
    named = "|".join(re.escape(each) for each in sorted(names, key=len, reverse=True))
    is_animal = any_of(lambda each: each.story.being_beast(named))
    speaks = any_of(lambda each: each.story.saying(named))
    return re.compile(is_animal, re.I), re.compile(f'{speaks}|(?:{named})[^.!?\\n"“”]{{0,40}}[,:：] ?["“「『]', re.I)


def _told_at(fact: _Fact, later: Sequence[tuple[int, str, str]], people: Sequence[tuple[str, str]]) -> Iterator[int]:
    """Yield the turns (depth) after a fact that tell it. The grave or the funeral of somebody tells of the death."""
    names = [part for part, id_ in people if id_ in fact.about]
    for depth, text, folded in later:
        if depth <= fact.depth or (names and not any(name in folded for name in names)):
            continue
        if not fact.plain and fact.own and _share([word for word in fact.own if word in folded], fact.own) < _SAME:
            continue
        for clause in clauses(text):
            kind = DEATH if fact.kind == DEATH and _buried().search(clause) else _kind(clause)
            if _denied().search(clause) is None and fact.is_told_by(kind, named(clause, people), content_words(clause)):
                yield depth
                break


def _learned_at(
    found: Ignorance,
    fact: _Fact,
    who: str,
    names: Sequence[str],
    later: Sequence[tuple[int, str, str]],
    people: Sequence[tuple[str, str]],
) -> Iterator[int]:
    """Yield the turns (depth) after a fact that say that somebody learned or read it, and name the others whom it is
    about: "Mina reads the letter", of a letter that says more; or that she told of them who they are, or was told."""
    about, own = fact.about - {who}, _own(found.text, people)
    of_self = fact.kind == BOND and bool(about) and (not own or is_identity(found.text))

    def are_meant(sentence: str, shared: bool) -> bool:
        return about <= named(sentence, people) and not (shared and own.isdisjoint(content_words(sentence)))

    for depth, text, folded in later:
        if depth <= found.depth or not any(name in text for name in names):
            continue
        shares, said = any(word in folded for word in own), sentences_of(text)
        learned = shares and any(learns(each, names) and are_meant(each, True) for each in said)
        learned |= of_self and any(
            is_identity(each) and learns(each, names) and are_meant(each, False) for each in said
        )
        bond = not learned and fact.kind == BOND and (bool(about) or shares)
        if learned or (bond and any(confesses(each, names) and are_meant(each, not about) for each in said)):
            yield depth


def _heard(scene: Scene, who: str, depth: int) -> bool:
    """Whether somebody was there at a later turn. If nobody reported who was, its text has to name her."""
    request = scene.request
    if request.hears is None or request.episodes is None or not request.hears(who, depth):
        return False
    turn = request.episodes.at(depth)
    if turn is None or request.episodes.present(turn) is not None:
        return True
    text = request.episodes.text(turn)
    return any(mentions(text, name) for name in scene.state.entities[who].names)


def _health_is_known(player: Entity, world: World) -> bool:
    """Whether anybody said how many hit points the player has. A player without a sheet starts with a full measure."""
    hp = player.get("hp")
    return hp is not None and (world.player is not None or hp != player.get("max_hp") or hp != DEFAULT_HP)


def _inventory(state: WorldState, owner: str) -> list[str]:
    hands = state.belongings.get(owner, {})
    held = sorted(hands.items(), key=lambda stack: (not stack[1].equipped, state.name(stack[0]), stack[0]))
    return [
        one_field(state.name(item)) + (f" ×{stack.quantity}" if stack.quantity != 1 else "") + _worn(state, item)
        for item, stack in held
    ]


def _worn(state: WorldState, item: str) -> str:
    """How a thing is, in parentheses: (cracked); "" if nothing is said of it."""
    condition = state.entities[item].get(CONDITION) if item in state.entities else None
    return f" ({one_field(str(condition))[:_CONDITION]})" if condition else ""


def _listed(names: Sequence[str], most: int, words: Labels) -> str:
    if not names:
        return words.nothing
    shown = list(names[:most])
    if len(names) > most:
        shown.append(words.more.format(count=len(names) - most))
    return ", ".join(shown)


def _names(state: WorldState, ids: Sequence[str], words: Labels) -> str:
    return _listed([one_field(state.name(id_)) for id_ in ids], _NAMES, words)


def _living(state: WorldState, ids: Sequence[str]) -> list[str]:
    return [id_ for id_ in ids if not (id_ in state.entities and state.entities[id_].dead)]


_ToldCounts = Callable[[str], list[str]]
"""Returns what the narrator is told of the trackers of a subject, and of those between it and the player."""


def _told_counts(state: WorldState, language: str, *, to_member: bool = False) -> _ToldCounts:
    values = counted_values(state)
    if to_member:
        values = [each for each in values if each.tracker.secret is not Secrecy.CHARACTERS]
    here = frozenset(("", state.player, *state.present))
    of: dict[str, list[CountedValue]] = {}
    for each in values:
        is_players = each.subject == state.player
        if (is_players or each.other in here) and each.is_told(state.depth):
            # What the player feels for somebody stands with that one.
            of.setdefault((is_players and each.other) or each.subject, []).append(each)

    def told(subject: str) -> list[str]:
        found = []
        for each in of.get(subject, ()):
            way = f"{one_field(state.name(each.subject))} → " if each.other and each.subject == state.player else ""
            if each.other not in ("", state.player, subject):
                way = f"→ {one_field(state.name(each.other))} "
            found.append(f"{way}{one_field(each.told(language))}")
        return found

    return told


def _company(state: WorldState, words: Labels, counts: _ToldCounts, speaker: str | None) -> Iterator[str]:
    """Yield the line about the player and who is here; then without what is counted of them; then with names alone, but
    for the player's condition. The line of the ``speaker`` has what is known of that one."""
    player = _with_condition(state, state.player) if state.player in state.entities else ""
    # Nobody has named her yet: "Player: Player" says nothing.
    fields = [f"{words.player}: {player}"] if player not in ("", words.player) else []
    present = _living(state, state.present)
    told = {id_: () if id_ == speaker else tuple(counts(id_)) for id_ in present}
    for counted in (told, dict.fromkeys(present, ())) if any(told.values()) else (told,):
        here = (
            one_field(state.name(id_)) if id_ == speaker else _with_condition(state, id_, counted[id_])
            for id_ in present
        )
        yield " | ".join((*fields, f"{words.present}: {_listed(list(here), _NAMES, words)}") if present else fields)
    if present:
        yield " | ".join((*fields, f"{words.present}: {_names(state, present, words)}"))


def _with_condition(state: WorldState, id_: str, counts: Sequence[str] = ()) -> str:
    """Return the entity's name, with its status, other attributes and what is counted of it in parentheses."""
    name = one_field(state.name(id_))
    known = state.entities.get(id_)
    if known is None:
        return name
    status = _status(state, id_)
    holds = [
        f"{key}: {', '.join(map(str, value)) if isinstance(value, tuple) else value}"
        for key, value in known.attributes.items()
        if key not in _TOLD_ELSEWHERE and value is not None and value != ""
    ]
    holds = [*status, *holds[: max(0, _CONDITIONS - len(status))]]
    told = "; ".join((*(one_field(text)[:_CONDITION] for text in holds), *counts))
    return f"{name} ({told})" if told else name


def _status(state: WorldState, id_: str) -> list[str]:
    """Return the conditions of somebody who lives, such as wounds and sleep, if there are any to tell."""
    known = state.entities.get(id_)
    status, moment = (known.get(each) for each in ("status", MOMENT)) if known is not None else (None, None)
    parts = [part.strip() for part in str(status).split(";")] if status and status not in (ALIVE, DEAD) else []
    return [str(moment), *(part for part in parts if part != moment)] if moment else parts


def _surroundings(scene: Scene, words: Labels) -> list[str]:
    state = scene.state
    here = frozenset(state.present)
    near = _living(state, [id_ for id_ in scene.near if id_ not in here])
    ways = _ways(state)
    fields = [f"{words.nearby}: {_names(state, near, words)}"] if near else []
    return [*fields, f"{words.ways}: {_names(state, ways, words)}"] if ways else fields


def _ways(state: WorldState) -> list[str]:
    here = state.location
    at_hand = [link for link in state.links if here in link]
    ends = {target if source == here else source for source, type_, target in at_hand if type_ == "ADJACENT"}
    return sorted(ends, key=lambda id_: (state.name(id_), id_))


def _changes(old: WorldState, new: WorldState, words: Labels) -> Iterator[tuple[str, str]]:
    """Yield (key, text) of facts that changed since the pages: relations, notes, and the names, places, health and mood
    of entities. The player's are left out, because the lines above have them."""
    for pair in _changed_relations(old, new):
        now = new.relations.get(pair)
        names = " → ".join(one_field(_called(id_, old, new)) for id_ in pair)
        text = f"{names}: {one_field(str(now))}" if now else words.gone.format(name=names)
        yield f"relation:{pair[0]}:{pair[1]}", text
    shown = [each for each in new.untrue if each not in old.untrue and each[0] <= old.depth]
    for depth, text in shown:
        yield f"note:{depth}:{text}", words.unnoted.format(text=one_field(text))
    if old.story is not new.story:
        for part in _retold(old.story, new.story):
            text = words.retold.format(first=part.first, last=part.last, text=one_field(part.text))
            yield f"story:{part.first}", text
    for id_ in sorted(new.merged.keys() - old.merged.keys()):
        into = new.merged[id_]
        known = id_ in old.entities
        called = (old.name(id_),) if known else _new_names(old.entities.get(into), new.entities.get(into))
        if called:
            others = ", ".join(map(one_field, called))
            yield f"same:{id_}", words.same_as.format(old=others, name=one_field(new.name(into)))
    if old.entities is not new.entities:
        for id_ in sorted(id_ for id_, entity in new.entities.items() if old.entities.get(id_) is not entity):
            was = old.entities.get(id_)
            if was is not None:
                yield from _entity_changes(was, new.entities[id_], new.player, words)
    if old.whereabouts is not new.whereabouts:
        here, before = new.location, old.whereabouts
        moved = ((who, where) for who, where in new.whereabouts.items() if where is not before.get(who))
        for who in sorted(who for who, where in moved if where.place != here or where.left):
            there = new.whereabouts[who].place
            is_new = who not in before or before[who].place != there or before[who].left != new.whereabouts[who].left
            if who == new.player or not is_new or (who in new.entities and new.entities[who].dead):
                continue
            if who in may_be_here(new):
                continue  # that she is elsewhere is only concluded from her name
            yield f"edge:{who}:LOCATED_AT", _elsewhere(new, who, one_field(new.name(there)), words)


def _new_names(was: Entity | None, now: Entity | None) -> tuple[str, ...]:
    """The second names of somebody since the pages, such as that of a person who turned out to be the same."""
    return tuple(name for name in (now.aliases if now else ()) if was is None or name not in was.names)


def _elsewhere(state: WorldState, who: str, places: str, words: Labels) -> str:
    """Where somebody is who is not here, with her condition."""
    return f"{one_field(state.name(who))}{_held(state, who)} → {places} {_there_since(state, who, words)}"


def _held(state: WorldState, id_: str) -> str:
    """The condition of somebody or of a place, in parentheses: (burned down)."""
    status = "; ".join(one_field(text)[:_CONDITION] for text in _status(state, id_))
    return f" ({status})" if status else ""


def _there_since(state: WorldState, who: str, words: Labels) -> str:
    """The remark on where somebody is who is not here: since when, but for the places that the world gives."""
    if state.whereabouts[who].left:
        return f"({words.was_there})"
    since = state.whereabouts[who].since
    return f"({words.there_since.format(depth=since) if since else words.edges['LOCATED_AT']})"


def _retold(old: Sequence[StoryPart], new: Sequence[StoryPart]) -> Iterator[StoryPart]:
    """Yield what a person wrote of the story, and what tells it again where that was taken back."""
    taken = [part for part in old if part.by_hand and part not in new]
    for part in new:
        if part not in old and (part.by_hand or any(each.overlaps(part.first, part.last) for each in taken)):
            yield part


def _called(id_: str, old: WorldState, new: WorldState) -> str:
    """Return an entity's name. A deleted entity has only the name in the pages."""
    return new.name(id_) if id_ in new.entities else old.name(id_)


def _changed_relations(old: WorldState, new: WorldState) -> list[tuple[str, str]]:
    was, now = old.relations, new.relations
    if was is now:
        return []
    # The relations of a merged entity moved to the entity that it was merged into.
    changed = [pair for pair in was if pair not in now and new.merged.keys().isdisjoint(pair)]
    for pair, relation in now.items():
        before = was.get(pair)
        if before is relation:
            continue
        if not relation.over if before is None else str(before) != str(relation):
            changed.append(pair)
    return sorted(changed)


def _entity_changes(was: Entity, now: Entity, player: str, words: Labels) -> Iterator[tuple[str, str]]:
    name = one_field(now.name)
    if was.name != now.name and not (now.id == player and was.name == words.player):
        yield f"name:{now.id}", words.renamed.format(old=one_field(was.name), name=name)
    if now.kind is not Kind.CHARACTER:
        return
    if was.dead and not now.dead:
        yield f"alive:{now.id}", words.alive_again.format(name=name)
    if now.id == player or now.dead:
        return
    if was.get("hp") != now.get("hp") and now.get("hp") is not None:
        top = now.get("max_hp")
        yield f"hp:{now.id}", f"{name} {words.hp} {now.get('hp')}" + (f"/{top}" if top is not None else "")
    if was.get("mood") != now.get("mood") and now.get("mood"):
        yield f"mood:{now.id}", f"{name} {words.mood} {one_field(str(now.get('mood')))}"


# -- the dead --------------------------------------------------------------------------------------------------

_MOST_DEAD = 12


@frozen
class Deaths:
    """Lists each dead character that is near, was mentioned in the last two messages, or died after the pinned pages.
    Includes the player.

    The turn of the death is included if the entity has an integer ``status_since``.
    """

    name: str = "deaths"
    needs: tuple[str, ...] = ()
    at_once: ClassVar[bool] = True

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Return a piece for each, at most 12: the player, nearby, named and newly dead characters, in this order."""
        request, words = scene.request, labels(scene.request.language)
        dead = scene.dead
        if not dead:
            return []
        pinned = request.pinned.entities if request.pinned is not None else scene.state.entities
        new = [id_ for id_ in dead if not (id_ in pinned and pinned[id_].dead)]
        near = (scene.state.player, *scene.near)
        matter = dict.fromkeys(id_ for id_ in (*near, *sorted(scene.named), *sorted(new)) if id_ in dead)
        return [
            Piece(self.name, f"dead:{id_}", Section.NOW, _line(dead[id_], words.since_turn), MUST_DEAD, order=Slot.DEAD)
            for id_ in list(matter)[:_MOST_DEAD]
        ]


def _line(entity: Entity, since_turn: str) -> str:
    name, since = one_field(entity.name), entity.get("status_since")
    if isinstance(since, int) and not isinstance(since, bool):
        return since_turn.format(name=name, depth=since)
    return name


# -- events ----------------------------------------------------------------------------------------------------

_RECENT = 8
_BASE = 1.0
_RECENCY = 1.5
_NEW = 1.0
_MENTION = 2.5


@frozen
class Events:
    """The latest eight events, older events that were mentioned, and events that the curator marked as due.

    Those that a line of the pages tells are left out unless the last two messages mention them.
    """

    name: str = "events"
    needs: tuple[str, ...] = ()
    at_once: ClassVar[bool] = True

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Return a line for each event: ``[type] name (turn 12)``. Only the last time of a repeated event is used."""
        request, state = scene.request, scene.state
        words = labels(request.language)
        pieces = [
            Piece(self.name, f"due:{text}", Section.EVENTS, one_line(text), CHANGED, order=float("inf"))
            for text in dict.fromkeys(request.due)
            if text.strip()
        ]
        since = request.pinned.depth if request.pinned is not None else state.depth
        for rank, happening in _newest(state.happenings, scene.named):
            mentioned = happening.event in scene.named
            if not mentioned and happening.depth <= since and f"[{one_line(happening.name)}]" in request.in_front:
                continue
            parts = {
                "base": _BASE,
                "recency": max(0.0, _RECENCY * (1 - rank / _RECENT)),
                "new": _NEW if happening.depth > since else 0.0,
                "mention": _MENTION if mentioned else 0.0,
            }
            entity = scene.state.entities.get(happening.event)
            kind = entity.get("event_type") if entity else None
            text = f"{f'[{one_line(str(kind))}] ' if kind else ''}{one_line(happening.name)}"
            pieces.append(
                Piece(
                    self.name,
                    f"event:{happening.event}",
                    Section.EVENTS,
                    f"{text} {words.turn.format(depth=happening.depth)}",
                    sum(parts.values()),
                    why={part: worth for part, worth in parts.items() if worth},
                    order=happening.depth,
                )
            )
        return pieces


def _newest(happenings: Sequence[Happening], named: Collection[str]) -> list[tuple[int, Happening]]:
    """Return the last occurrence of each recent or named event with its rank, newest first."""
    found: dict[str, tuple[int, Happening]] = {}
    for happening in reversed(happenings):
        event = happening.event
        if event in found:
            continue
        if len(found) < _RECENT or event in named:
            found[event] = (len(found), happening)
    return list(found.values())


# -- connections -----------------------------------------------------------------------------------------------

_MOST_LINES = 8
_EDGES = 48
_TARGETS = 6
_UNIT = 4.0
_PER_HOP = 0.5
_BETWEEN = 1.0
_ASKED = 1.4

_AMONG_LORE = frozenset({"RELATED", "HAS_LORE", "ITEM_LORE"})
_LINKS = frozenset({"ADJACENT", "INVOLVED_IN", "CAUSED"})

_Found = tuple[float, tuple[str, str, str, str], Edge]
"""The negative score of an edge, its identity, and the edge."""


@frozen
class Connections:
    """Typed edges met on the walk, by source and type: ``에르겐 → 아리아: trusts (+2)``, ``크룩 → 불꽃 검 (has)``.

    Facts in the briefing are left out (the player's place, inventory and ways), and so are edges among lore, which
    count in the lorebook. Edges that the state does not confirm are left out. An edge is relevant if it connects two
    seeds of the scene, or touches an entity that the player's words name or an absent one that the last two messages
    name. Other edges are left out, so that unchanged facts are not repeated every turn.

    The score of an edge is 4 times its type's weight, halved for each hop of its nearer end and once more if its
    farther end is two hops away, plus 1 between two seeds, times 1.4 if the player's words name an end.
    """

    name: str = "connections"
    needs: tuple[str, ...] = ()

    def prepare(self, scene: Scene) -> None:
        """Start the walk over the graph."""
        scene.ask_graph()

    def ready(self, scene: Scene) -> bool:
        """Whether the graph was read."""
        return scene.answered

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Return the best 8 lines, made of the 48 best edges."""
        found = await scene.walked()
        hops = found.distance
        groups: dict[tuple[str, str, str], _Group] = {}
        told = 0
        for loss, _, edge in _by_worth(found, scene.asked, _subjects(scene)):
            if told == _EDGES:
                break
            if not _tells(edge, scene):
                continue
            told += 1
            source, target = edge.source, edge.target
            if edge.type == "ADJACENT" and hops[target] < hops[source]:
                # A way has no direction. It is written from the end that is nearer to the scene.
                source, target = target, source
            key = (source, edge.type, target if edge.type == "RELATES_TO" else "")
            group = groups.get(key)
            if group is None:
                group = groups[key] = _Group(edge, key, -loss)
            group.targets.append(target)
        # Already sorted: the score of a group is that of its first edge.
        words = labels(scene.request.language)
        return [group.piece(self.name, scene, words) for group in list(groups.values())[:_MOST_LINES]]


@frozen
class _Group:
    """The edges of one type from one source. Each relation is a group of its own."""

    edge: Edge
    key: tuple[str, str, str]
    score: float
    targets: list[str] = field(factory=list)

    def piece(self, origin: str, scene: Scene, words: Labels) -> Piece:
        source, type_, target = self.key
        names = [_name(id_, scene) for id_ in self.targets[:_TARGETS]]
        if len(self.targets) > _TARGETS:
            names.append(words.more.format(count=len(self.targets) - _TARGETS))
        head = f"{_name(source, scene)} → {', '.join(names)}"
        if type_ == "RELATES_TO":
            text, about = f"{head}: {_relation(self.edge, scene)}", f"relation:{source}:{target}"
        elif type_ == "LOCATED_AT":
            text, about = _elsewhere(scene.state, source, ", ".join(names), words), f"edge:{source}:{type_}"
        else:
            text, about = f"{head} ({words.edges.get(type_, type_)})", f"edge:{source}:{type_}"
        return Piece(origin, about, Section.RELATED, text, self.score, why={type_: self.score})


def _subjects(scene: Scene) -> frozenset[str]:
    """Return the entities that the player's words name, and other named entities that are not present."""
    state = scene.state
    here = {state.player, state.location, *state.present}
    return (scene.asked - {state.player}) | (scene.named - here)


def _by_worth(found: Walk, asked: frozenset[str], subjects: frozenset[str]) -> list[_Found]:
    """Return the relevant edges, best first, ties by identity."""
    hops = found.distance
    scored: list[_Found] = []
    for key, edge in found.met.items():
        start, type_, end, _ = key
        source, target = hops[start], hops[end]
        if (source or target) and start not in subjects and end not in subjects:
            continue
        near, far = (source, target) if source < target else (target, source)
        worth = _UNIT * weight_of(type_) * _PER_HOP**near
        if far > 1:
            worth *= _PER_HOP
        elif far == 0:
            worth += _BETWEEN
        if start in asked or end in asked:
            worth *= _ASKED
        scored.append((-worth, key, edge))
    scored.sort()
    return scored


def _tells(edge: Edge, scene: Scene) -> bool:
    """Whether the edge connects known entities, is confirmed by the state and is not part of the briefing."""
    state, source, target = scene.state, edge.source, edge.target
    nodes = scene.request.lore.nodes
    if edge.type in _AMONG_LORE or any(id_ not in state.entities and id_ not in nodes for id_ in (source, target)):
        return False
    if edge.type == "RELATES_TO":
        return (known := state.relations.get((source, target))) is not None and not known.over
    if edge.type == "LOCATED_AT":
        there = state.whereabouts.get(source)
        if there is None or there.place != target or (target == state.location and not there.left):
            return False
        if source in may_be_here(state):
            return False
        return source != state.player and source not in scene.dead
    if edge.type == "OWNS":
        return source != state.player and target in state.belongings.get(source, ())
    if edge.type in _LINKS:
        if (source, edge.type, target) not in state.links:
            return False
        return edge.type != "ADJACENT" or state.location not in (source, target)
    return True


def _name(id_: str, scene: Scene) -> str:
    entity = scene.state.entities.get(id_)
    return one_field(entity.name if entity else scene.request.lore.nodes.get(id_, id_))


def _relation(edge: Edge, scene: Scene) -> str:
    return one_field(str(scene.state.relations[edge.source, edge.target]))


# -- memories --------------------------------------------------------------------------------------------------

_TOUCH = 2.0
"""Maximum score for words that a record shares with the scene. A record gets all of it if the scene has all its words.
"""
_LEAST = 0.2
"""Minimum part of a record's words that the scene must have for the record to be included."""
_BY_HAND = (6.0, True)


@frozen
class Memories:
    """The request's memory records. Records of some kinds are included only if the last two messages share their words.

    ``worth`` maps (strategy, kind) to the base score, and to whether such records are always included. Records that a
    user added are always included.
    """

    worth: Mapping[tuple[str, str], tuple[float, bool]] = field(factory=dict)
    name: str = "memories"
    needs: tuple[str, ...] = ()
    at_once: ClassVar[bool] = True

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Return a line for each record."""
        request = scene.request
        if not request.memories:
            return []
        words = labels(request.language)
        said = frozenset(content_words("\n".join((request.player_words, *request.recent))))
        pieces = []
        for record in request.memories:
            worth, always = self.worth.get((record.strategy, record.kind), _BY_HAND)
            touch = _share(said, content_words(" ".join((record.text, *record.details.values()))))
            if not always and touch < _LEAST:
                continue
            pieces.append(
                Piece(
                    self.name,
                    f"memory:{record.id}",
                    Section.REMEMBERED,
                    one_line(_told(record, words)),
                    worth + _TOUCH * touch,
                    why={"kind": worth, "touch": _TOUCH * touch},
                    order=record.depth,
                )
            )
        return pieces


def _told(record: MemoryRecord, words: Labels) -> str:
    if record.kind == "preference":
        return f"{words.limit if record.details.get('category') == 'limit' else words.wish}: {record.text}"
    topic = record.details.get("topic", "")
    return f"{topic}: {record.text}" if topic else record.text


# -- other stories ---------------------------------------------------------------------------------------------

_FOUND = 6
"""Maximum turns of a story that are found by the words of the question."""
_ENDING = 2
"""Last turns of the most recently played story that are always offered, because "remember our last story?" has no words
to search for."""
_BEST, _STORY_STEP, _WORST = 4.0, 0.2, 2.0


@frozen
class OtherStories:
    """Turns of other stories by their words, and the end of the most recently played one.

    Each line starts with the story's name and the day on which it was last played. All pieces are in the section
    ``ELSEWHERE``, because they are not about this story.
    """

    name: str = "other_stories"
    needs: tuple[str, ...] = ()
    at_once: ClassVar[bool] = True

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Return the pieces, ordered by story and turn."""
        request = scene.request
        asked = without_other_story(request.player_words) if request.elsewhere else None
        if asked is None:
            return []
        wanted = content_words(asked)
        pieces: list[Piece] = []
        for number, story in enumerate(request.elsewhere):
            found = story.episodes.search(" ".join(wanted), _FOUND, frozenset()) if wanted else {}
            if not number:
                ending = range(max(1, story.episodes.last + 1 - _ENDING), story.episodes.last + 1)
                last = (turn for depth in ending if (turn := story.episodes.at(depth)) is not None)
                found = {**dict.fromkeys(last, 0.0), **found}
            pieces += _pieces(self.name, story, number, found, wanted, request.language)
        return pieces


def _pieces(
    source: str, story: OtherStory, number: int, found: Mapping[str, float], wanted: Sequence[str], language: str
) -> list[Piece]:
    """Return a line for each found turn. ``found`` has the scores by words; ``number`` orders the stories."""
    episodes = story.episodes
    best = sorted(found, key=lambda turn: (-found[turn], episodes.depth(turn)))
    remembering = RecalledTexts(episodes, SearchedWords(wanted), best, language, brief=False)
    under = " · ".join(filter(None, (one_field(story.name), story.day)))
    pieces: list[Piece] = []
    for rank, turn in enumerate(best):
        told = remembering.of(turn)
        if told is None:
            continue
        line = one_line(" — ".join(filter(None, (told.facts, told.said))))
        pieces.append(
            Piece(
                source,
                f"story:{story.session}:{turn}",
                Section.ELSEWHERE,
                f"{under} — {line}" if under else line,
                max(_WORST, _BEST - _STORY_STEP * rank - number / 10),
                why={"words": found[turn]} if found[turn] else {"ending": 1.0},
                order=number + episodes.depth(turn) / (episodes.last + 1),
                under=under,
                bare=line,
            )
        )
    return pieces


# -- lore: the rules of ``saga_core.recall`` applied to the scene ----------------------------------------------

_MOST = 20
_NAMED = 5
_FAINT, _FAINT_NEAR = 0.25, 0.15
"""Minimum similarity to the player's words (0 for unrelated texts, 1 for the same text) to count, and the minimum for
an entry near in the graph."""
_UNASKED = 2
"""Maximum entries that are offered although the player's words do not refer to them."""


@frozen
class Lorebook:
    """Lore entries by the lorebook's rules. ``expand`` includes distances in the graph in the score."""

    config: LorebookConfig = field(factory=LorebookConfig)
    expand: bool = True
    name: str = "lorebook"
    needs: tuple[str, ...] = ()
    _lines: WeakKeyDictionary[LoreIndex, dict[tuple[str, str], str]] = field(factory=WeakKeyDictionary, init=False)

    def prepare(self, scene: Scene) -> None:
        """Start the vector search and the walk over the graph."""
        if scene.request.lore.entries:
            scene.ask_meaning()
            if self.expand:
                scene.ask_graph()

    def ready(self, scene: Scene) -> bool:
        """Whether ``gather`` need not wait. It does if the entries with their own rules are so many that they run in a
        thread."""
        return scene.answered and not scene.request.lore.kept.large(scene.request.moment)

    async def gather(self, scene: Scene, given: Given = NOTHING_GIVEN) -> Sequence[Piece]:
        """Return the best 20 entries. A secret states who knows it. An entry about a dead character states the death.
        An entry that play has changed has the current text first, then the former text if it fits."""
        request, state = scene.request, scene.state
        if not request.lore.entries:
            return []
        place = state.entities.get(state.location) if state.location else None
        similar = await scene.similar_lore()
        distance = await self._distances(scene) if self.expand else {}
        near = [entity for id_ in scene.near if (entity := state.entities.get(id_)) is not None]
        situation = LoreSituation(
            depth=state.depth,
            place=place.names if place else (),
            nearby=[name for entity in near for name in entity.names],
            mentioned=scene.lore,
            last_mention=state.mentioned,
            distance=distance,
            similar=similar,
            baseline=scene.baseline,
        )
        words, dead = labels(request.language), _dead_entries(scene)
        lines = self._lines.setdefault(request.lore, {})
        changed = {name: text for about, text in state.learned.items() for name in request.lore.named([about])}
        ranked = rank_lore(request.lore, situation, self.config)
        sent = sent_by_client(request)
        ranked = [scored for scored in _bearing(ranked, scene, similar) if not sent(scored.entry)]
        ranked = [scored for scored in ranked if may_tell(request, scored.entry)][:_MOST]
        room = MacroRoom(MOST_TOLD)
        left: set[str] = set()
        if request.lore.kept.large(request.moment):
            pieces = await asyncio.to_thread(kept_pieces, request, self.name, room, left)
        else:
            pieces = kept_pieces(request, self.name, room, left)
        if left:
            scene.late.add(self.name)
            names = ", ".join(sorted(left)[:_NAMED])
            log.warning("lore: the patterns of %d entries took too long, so they are left out: %s", len(left), names)
        for scored in ranked:
            name = scored.entry.name
            line, too_long = lines.get((name, request.language)), False
            if "{{" in scored.entry.text:
                text = told_text(scored.entry, request, room)
                too_long = text is None
                line = _lore_line(evolve(scored.entry, text=beginning(scored.entry) if text is None else text), words)
            elif line is None:
                line = lines[name, request.language] = _lore_line(scored.entry, words)
            told, shorter = line, ""
            if name in changed:
                told, shorter = _changed_lines(scored.entry, changed[name], words)
            if name in dead:
                told, shorter = f"{told} {words.is_dead}", f"{shorter} {words.is_dead}" if shorter else ""
            pieces.append(
                Piece(
                    self.name,
                    f"lore:{name}",
                    Section.LORE,
                    told,
                    scored.score,
                    why=scored.why,
                    shorter=(shorter,) if shorter else (),
                    too_long=too_long,
                )
            )
        return pieces

    async def _distances(self, scene: Scene) -> dict[str, int]:
        """Return the hops to each entry's node, or to the entity that the entry is about if it is nearer."""
        nodes, found = scene.request.lore.nodes, dict[str, int]()
        for node, hops in (await scene.walked()).distance.items():  # nearest first
            if node in nodes:
                found.setdefault(nodes[node], hops)
                continue
            for name in scene.lore_about(node):
                found.setdefault(name, hops)
        return found


def _bearing(ranked: Sequence[ScoredLore], scene: Scene, similar: Mapping[str, float]) -> list[ScoredLore]:
    """Return the relevant entries, in order.

    These are entries that the player's words name or resemble, constant entries, and the best two of the others that
    have an open gate or a mention.
    """
    asked = frozenset(scene.lore_asked)
    baseline, left = scene.baseline, _UNASKED
    found: list[ScoredLore] = []
    for scored in ranked:
        why, name = scored.why, scored.entry.name
        likeness = (similar.get(name, baseline) - baseline) / (1 - baseline)
        if name not in asked and not scored.entry.constant and likeness < (_FAINT_NEAR if "graph" in why else _FAINT):
            if not left or not ("location" in why or "nearby" in why or "mention" in why):
                continue
            left -= 1
        found.append(scored)
    return found


def _lore_line(entry: LoreEntry, words: Labels) -> str:
    line = f"{one_line(entry.name)}: {one_line(entry.text)}"
    return f"{line} {_secret(entry, words)}" if entry.secret else line


def _changed_lines(entry: LoreEntry, now: str, words: Labels) -> tuple[str, str]:
    """Return the line of an entry that play has changed, and a shorter line without the former text."""
    secret = f" {_secret(entry, words)}" if entry.secret else ""
    told = f"{one_line(entry.name)}: {one_line(now)}"
    if not entry.text.strip():
        return f"{told}{secret}", ""
    return f"{told} {words.formerly.format(text=one_line(entry.text))}{secret}", f"{told}{secret}"


def _secret(entry: LoreEntry, words: Labels) -> str:
    if not entry.known_by:
        return words.secret_of_none
    return words.secret.format(names=", ".join(map(one_line, entry.known_by)))


def may_tell(request: ReadRequest, entry: LoreEntry) -> bool:
    """Whether the prompt may tell an entry. A member of a group is told only those secrets that the member knows."""
    if not entry.secret or request.member is None:
        return True
    member = request.state.entities.get(request.member)
    names = set(map(fold_name, member.names)) if member is not None else set()
    return not names.isdisjoint(map(fold_name, entry.known_by))


def _dead_entries(scene: Scene) -> set[str]:
    return {name for entity in scene.dead.values() for name in scene.request.lore.named(entity.names)}


# -- entries that follow their own rules -----------------------------------------------------------------------

TOLD, ALWAYS = 9.0, 99.0
"""Scores of entries that follow their own rules, above entries by relevance, and of entries that ignore the budget."""
MOST_TOLD = 400_000
"""Most characters of lore that are prepared for one request. No block has room for as much."""
_BEGINNING = 200
_KEY = "lore:"
_MACRO = re.compile(r"\{\{[^{}]{0,2000}\}\}")
_SHORT = 24
"""Minimum characters of an entry for this detection. Shorter texts may be in a prompt by chance. Texts of more than
``MOST_TOLD`` are never told, so nothing is looked for in them."""


def kept_pieces(request: ReadRequest, source: str, room: MacroRoom, left: set[str]) -> list[Piece]:
    """Return a piece for each entry that its rules activate, sorted by ``order`` and name.

    ``room`` is for the texts. The best entries get theirs first; those that it does not hold are too long. ``left``
    gets the names of entries whose patterns there was no time for.
    """
    moment = request.moment
    if moment is None:
        return []
    sent = sent_by_client(request)
    moment = evolve(moment, user=_player(request))
    fired = request.lore.kept.fire(moment, left)
    found = [kept for kept in fired if not sent(kept.entry) and may_tell(request, kept.entry)]
    best = sorted({_worth(kept) for kept in found}, reverse=True)
    ranks = {worth: at for at, worth in enumerate(best)}
    scores = [
        ALWAYS if kept.entry.rule is not None and kept.entry.rule.ignore_budget else TOLD - ranks[_worth(kept)] / 1_000
        for kept in found
    ]
    texts = {
        at: told_text(found[at].entry, request, room) for at in sorted(range(len(found)), key=lambda at: -scores[at])
    }
    pieces = []
    for place, (kept, score) in enumerate(zip(found, scores, strict=True)):
        text = texts[place]
        pieces.append(
            Piece(
                source,
                f"{_KEY}{kept.entry.name}",
                Section.LORE,
                f"{one_line(kept.entry.name)}: {one_line(beginning(kept.entry) if text is None else text)}",
                score,
                why={kept.why: score},
                order=place / 10_000 - 1,
                too_long=text is None,
            )
        )
    return pieces


def beginning(entry: LoreEntry) -> str:
    """Return the first 200 characters of an entry that is too long to be told."""
    return f"{entry.text[:_BEGINNING]}…"


def _worth(kept: ActiveEntry) -> tuple[int, bool, bool, int]:
    """Return the rank of an entry: priority, constant entries, entries found without recursion, and order."""
    rule = kept.entry.rule
    assert rule is not None
    return (1 if rule.priority is None else rule.priority), kept.entry.constant, not kept.later, rule.order


def _player(request: ReadRequest) -> str:
    player = request.state.entities.get(request.state.player)
    return player.name if player is not None else ""


def told_by_rule(chosen: Iterable[Piece], lore: LoreIndex) -> tuple[str, ...]:
    """Return the timed entries in ``chosen``, without those that are there because they were active before."""
    if not lore.kept.timed:
        return ()
    names = (piece.key.removeprefix(_KEY) for piece in chosen if {"key", "constant"} & piece.why.keys())
    return tuple(sorted(name for name in names if name in lore.kept.timed))


def told_text(entry: LoreEntry, request: ReadRequest, room: MacroRoom) -> str | None:
    """Return the entry's text with its macros filled in; None if ``room`` does not hold it.

    The length is computed first: filling a text of megabytes would delay all other requests.
    """
    player = _player(request) if "{{" in entry.text else ""
    macros = entry.text.count("{{") + entry.text.count("<")
    longest = len(entry.text) + macros * len(player)
    if longest > room.left:
        return None
    room.left -= len(entry.text)
    if "{{" not in entry.text:
        return entry.text
    seed = request.moment.seed if request.moment is not None else request.state.turn
    return fill_macros(entry.text, user=player, seed=f"{seed}:{entry.name}", room=room)


def sent_by_client(request: ReadRequest) -> Callable[[LoreEntry], bool]:
    """Return a function that tells whether the client's own system messages contain an entry's text word for word."""
    line: list[str] = []  # computed lazily, because the client's system messages may be long

    def stands(entry: LoreEntry) -> bool:
        if not request.sent or entry.rule is None or not _SHORT <= len(entry.text) <= MOST_TOLD:
            return False
        if not line:
            line.append(one_line(request.sent))
        sent, at = line[0], 0
        for part in _MACRO.split(entry.text):  # the client fills in macros differently
            literal = one_line(part)
            at = sent.find(literal, at)
            if at < 0:
                return False
            at += len(literal)
        return True

    return stands
