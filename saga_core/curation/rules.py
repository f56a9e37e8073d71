"""Rules: finds contradictions without a model, each with the turns that prove it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache

from attrs import define, evolve, field

from saga_core.curation.facts import ReplayedTurn, replay
from saga_core.ids import digest
from saga_core.language import (
    NEVER,
    SENTENCE_TITLE,
    Findings,
    StoryWords,
    caseless,
    every,
    is_debt,
    is_unspaced,
    language_of,
    match_name,
    mentions,
    staying,
    without_speech,
)
from saga_core.model import Entity, Kind, Relation, WorldState, deltas
from saga_core.naming import bare, name_words
from saga_core.stores import CurationView
from saga_core.values import Proposal

_SENTENCE = re.compile(rf"(?:{SENTENCE_TITLE}|[^.!?。！？…\n])+(?:[.!?。！？…]+|\n|$)")
_WORDS = tuple(each.story for each in every())


def any_of(words: Callable[[StoryWords], str]) -> re.Pattern[str]:
    """Return a case-insensitive pattern that combines the patterns of all languages."""
    return re.compile("|".join(map(words, _WORDS)), re.I)


_UNREAL = any_of(lambda words: words.unreal)
_BODY = any_of(lambda words: words.body)
_REVIVED = any_of(lambda words: words.revived)
_HELPLESS = any_of(lambda words: words.helpless)
_UNTRUE = any_of(lambda words: words.untrue)
_UNTRUE_OF_DEATH = any_of(lambda words: words.untrue_of_death)
_FIGHTS = any_of(lambda words: words.fights)
_FIGHTS_ALONE = any_of(lambda words: words.fights_alone)
_SUBJECT = any_of(lambda words: words.subject)


_READ = 20_000
"""The maximum number of characters of a reply that are looked through. All known people are looked for in them."""


@lru_cache(maxsize=16)
def narrated(text: str) -> tuple[str, ...]:
    """Return the sentences of a reply, without quoted speech."""
    told = (" ".join(match.group().split()) for match in _SENTENCE.finditer(without_speech(text)))
    return tuple(filter(None, told))


def unreal(text: str) -> bool:
    """Whether a text mentions dreams, memories, ghosts or the like."""
    return _UNREAL.search(without_speech(text)) is not None


def of_a_body(text: str) -> bool:
    """Whether a text mentions a corpse or a grave."""
    return _BODY.search(text) is not None


def revives(text: str) -> bool:
    """Whether a text explains how the dead may be alive."""
    return _REVIVED.search(text) is not None


def helpless(text: str) -> bool:
    """Whether a text says that a character is down or gets up again."""
    return _HELPLESS.search(text) is not None


def acts(text: str, names: Iterable[str], *, fighting: bool = False) -> str:
    """Return the first sentence in which a character with one of the names acts (with ``fighting``: fights), or ""."""
    found = [name for name in names if name]
    if not found:
        return ""
    named = _named(found)
    verbs = any_of(lambda words: words.acting(named, fighting))
    for sentence in narrated(text):
        if not _real(sentence):
            continue
        if verbs.search(sentence) or (not fighting and any(each.grammar.does(sentence, found) for each in every())):
            return sentence
    if not fighting:
        inverted = re.search("|".join(words.saying(named) for words in _WORDS), text)
        if inverted:
            return " ".join(inverted.group().split())
        line = re.compile(rf"^[ \t]{{0,40}}\**(?:{named})\**\s{{0,8}}[:：]\s{{0,8}}\**\s{{0,8}}[\"“「]", re.M)
        spoken = line.search(text)
        if spoken:
            return " ".join(text[spoken.start() :].splitlines()[0].split())
    return ""


def you_fight(text: str, names: Iterable[str], said: str) -> str:
    """Return the first sentence in which the player's character fights, "" if there is none.

    A sentence without a subject counts if the player's own words, ``said``, mention fighting.
    """
    named = _named(name for name in names if name)
    own = any_of(lambda words: words.you_fighting(named))
    meant = _FIGHTS.search(said) is not None
    for sentence in narrated(text):
        if not _real(sentence):
            continue
        if own.search(sentence) or (meant and _FIGHTS_ALONE.search(sentence) and not _SUBJECT.search(sentence)):
            return sentence
    return ""


def dies(text: str, names: Iterable[str]) -> str:
    """Return the first sentence in which a character with one of the names dies, "" if there is none."""
    lowered = text.lower()
    found = tuple(name for name in names if name and name.lower() in lowered)
    if not found:
        return ""
    said, parts = _dying(found), tuple(name.lower() for name in found)
    for sentence in narrated(text):
        if not any(part in sentence.lower() for part in parts):
            continue
        if said.search(sentence) and not unreal(sentence) and not _UNTRUE_OF_DEATH.search(sentence):
            return sentence
    return ""


def stays_at(text: str, names: Iterable[str], places: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield (place, sentence) of each sentence in which a character with one of the names is at a place. ``places``
    are (id, name)."""
    lowered = text.lower()
    found = tuple(name for name in names if name and name.lower() in lowered)
    if not found:
        return
    # Only names in the text: compiling a pattern for each name of a large world takes seconds.
    there = sorted((each for each in places if each[1].lower() in lowered), key=lambda place: -len(place[1]))
    for sentence in narrated(text) if there else ():
        told = sentence.lower()
        near = [each for each in there if each[1].lower() in told]
        if not near or not any(name.lower() in told for name in found) or not _real(sentence) or unreal(sentence):
            continue
        for place, name in near:
            if staying(found, name).search(sentence):
                yield place, sentence
                break


@lru_cache(maxsize=256)
def _dying(names: tuple[str, ...]) -> re.Pattern[str]:
    named = _named(names)
    return any_of(lambda words: words.dying(named))


def _named(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, names)) or NEVER


def _real(sentence: str) -> bool:
    """Whether a sentence states something that happens, and is not negated, hypothetical or a comparison."""
    return not (_UNTRUE.search(sentence) or _BODY.search(sentence))


DEAD_ACT = "dead_act"
DOWN_FIGHTS = "down_fights"
TWO_PLACES = "two_places"
TWO_HANDS = "two_hands"
FORGOTTEN_EVENT = "forgotten_event"
SUDDEN_TURN = "sudden_turn"
RULES = (DEAD_ACT, DOWN_FIGHTS, TWO_PLACES, TWO_HANDS, FORGOTTEN_EVENT, SUDDEN_TURN)

PATIENCE = 20
"""Turns after which a due event without an expiry counts as forgotten."""
_STRONG = 3
_CAUSES = 2
"""Number of turns before a change of a relation in which its cause is searched."""
_JOURNEY = 60
"""Minutes of the story's clock in which somebody who was left may have come to another place."""
_STACKED = any_of(lambda words: words.stacked)
_HOSTILE = any_of(lambda words: words.hostile)
_FRIENDLY = any_of(lambda words: words.friendly)
_REASONS = any_of(lambda words: words.reasons)
_TRAVEL = any_of(lambda words: words.travel)


def review(view: CurationView) -> tuple[Proposal, ...]:
    """Return the contradictions in the view's turns: at most one finding per rule, turn and subject.

    Known findings (``view.state.findings``) are not repeated. The result is deterministic, and nothing is changed.
    """
    return tuple(proposal for found in review_by_turn(view) for proposal in found)


def review_by_turn(view: CurationView) -> Iterator[tuple[Proposal, ...]]:
    """As ``review``, turn by turn, so that the caller can yield to the event loop. Missed deadlines come last.

    Of each reply, the first 20,000 characters are looked through.
    """
    seen = {finding.key for finding in view.state.findings}
    steps = (evolve(step, turn=evolve(step.turn, reply=step.turn.reply[:_READ])) for step in replay(view))
    for found in _Review(view, tuple(steps)).all():
        fresh = []
        for proposal in found:
            if proposal.data["key"] not in seen:
                seen.add(proposal.data["key"])
                fresh.append(proposal)
        yield tuple(fresh)


@define
class _Review:
    view: CurationView
    steps: tuple[ReplayedTurn, ...]
    _parted: dict[str, tuple[int, str, str, ReplayedTurn]] = field(factory=dict)
    """The depth, place and id of the turn in which the player left each character, and the turn itself."""

    def all(self) -> Iterator[list[Proposal]]:
        """Yield all findings, turn by turn."""
        died: dict[str, str] = {}
        for step in self.steps:
            yield [
                *self._dead(step, died),
                *self._down(step),
                *self._places(step),
                *self._hands(step),
                *self._hearts(step),
            ]
        yield [*self._deadlines()]

    @property
    def _words(self) -> Findings:
        return language_of(self.view.language).texts.findings

    def _finding(
        self, rule: str, about: Sequence[str], text: str, turns: Sequence[str], *, at: str = "", quote: str = ""
    ) -> Proposal:
        shown = {turn.id for turn in self.view.turns}
        proof = tuple(dict.fromkeys(turn for turn in turns if turn in shown))
        entities = tuple(id_ for id_ in about if id_ in self.view.state.entities)
        data = {"rule": rule, "key": f"{rule}:{digest(rule, *about, at, size=6)}"}
        if quote:
            data["quote"] = quote[:200]
        return Proposal("contradiction", text, proof, entities, data)

    # -- the dead ----------------------------------------------------------------------------------------------

    def _dead(self, step: ReplayedTurn, died: dict[str, str]) -> Iterator[Proposal]:
        """Find dead characters that act in the turn. ``died`` has the turns of deaths that only the prose mentions."""
        turn, before = step.turn, step.before
        told, noted = turn.reply, _noted(step)
        for id_ in step.alive:
            died.pop(id_, None)
        people = (each for each in before.of_kind(Kind.CHARACTER) if each.id not in step.alive)
        dead = [each for each in people if each.dead or each.id in died]
        for text in filter(revives, (told, noted)) if dead else ():
            for each in dead:
                if any(mentions(text, name) for name in _distinct(each, before, text)):
                    died.pop(each.id, None)
                    dead = [other for other in dead if other.id != each.id]
        if dead and not unreal(told):
            for each in dead:
                how = _acts_in(step, each) or acts(told, _distinct(each, before, told))
                if how:
                    yield self._finding(
                        DEAD_ACT,
                        [each.id],
                        self._words.dead_act(name=each.name, turn=turn.depth),
                        [died.get(each.id, ""), self._death(each), turn.id],
                        at=turn.id,
                        quote=how,
                    )
                    died.pop(each.id, None)
        changed = {event.who for event in turn.delta.events if isinstance(event, deltas.StatusChanged)}
        for each in step.after.of_kind(Kind.CHARACTER):
            if each.dead:
                continue
            if each.id not in died and (names := _distinct(each, step.after, told)) and dies(told, names):
                died[each.id] = turn.id
            elif each.id in changed:
                died.pop(each.id, None)

    def _death(self, who: Entity) -> str:
        """Return the id of the turn in which a character died, if the view has it."""
        since = who.get("status_since")
        return next((turn.id for turn in self.view.turns if turn.depth == since), "")

    # -- hit points --------------------------------------------------------------------------------------------

    def _down(self, step: ReplayedTurn) -> Iterator[Proposal]:
        """Find characters that fight although they have no hit points and regain none."""
        turn = step.turn
        for each in step.before.of_kind(Kind.CHARACTER):
            now = step.after.entities.get(each.id)
            if each.get("hp") != 0 or each.dead or now is None or now.get("hp") != 0:
                continue
            if helpless(turn.reply) or unreal(turn.reply):
                continue
            names = _distinct(each, step.before, turn.reply)
            if each.id == step.before.player:
                how = you_fight(turn.reply, names, turn.user)
            else:
                how = acts(turn.reply, names, fighting=True)
            if how:
                yield self._finding(
                    DOWN_FIGHTS,
                    [each.id],
                    self._words.down_fights(name=each.name, turn=turn.depth),
                    [turn.id],
                    at=turn.id,
                    quote=how,
                )

    # -- places ------------------------------------------------------------------------------------------------

    def _places(self, step: ReplayedTurn) -> Iterator[Proposal]:
        """Find characters in two places: left behind and met far away at once, or present but described elsewhere."""
        turn, after = step.turn, step.after
        gone = {event.who for event in step.reported if isinstance(event, deltas.Separated)}
        met = {event.who for event in step.reported if isinstance(event, deltas.Met)}
        moved: dict[str, set[str]] = {}
        for event in step.reported:
            if isinstance(event, deltas.Moved):
                moved.setdefault(event.who, set()).add(event.to)
        here = after.location or ""
        for who in sorted(met):
            left = self._parted.get(who)
            same = who in gone and step.before.location not in (None, here)
            place = step.before.location if same else (left[1] if left and turn.depth - left[0] <= 1 else None)
            if (
                place
                and here
                and _apart(after, place, here)
                and not _comes_along(step, who)
                and _minutes(step if same or left is None else left[3], step) < _JOURNEY
            ):
                yield self._two_places(step, who, place, here, [left[2] if left else "", turn.id])
        for who, places in moved.items():
            if len(places) > 1:
                one, other = sorted(places)[:2]
                yield self._two_places(step, who, one, other, [turn.id])
        places_named = [(each.id, name) for each in after.of_kind(Kind.LOCATION) for name in each.names]
        for who in after.present:
            entity = after.entities.get(who)
            if entity is None or who in gone or who not in step.before.present or not here:
                continue
            for there, how in stays_at(turn.reply, _distinct(entity, after, turn.reply), places_named):
                if _apart(after, there, here):
                    yield self._two_places(step, who, here, there, [turn.id], quote=how)
                    break
        told = f"{turn.user}\n{turn.reply}\n{_noted(step)}"
        for who in gone:
            where, entity = step.before.location, after.entities.get(after.merged.get(who, who))
            names = _distinct(entity, after, told) if entity else []
            # Whom a list of those present leaves out, in a turn that does not speak of her, was not left behind.
            if where and (not met or any(mentions(told, name) for name in names)):
                self._parted[who] = (turn.depth, where, turn.id, step)
        for who in met:
            self._parted.pop(who, None)

    def _two_places(
        self, step: ReplayedTurn, who: str, one: str, other: str, turns: Sequence[str], quote: str = ""
    ) -> Proposal:
        name, first, second = (step.after.name(id_) for id_ in (who, one, other))
        return self._finding(
            TWO_PLACES,
            [who, one, other],
            self._words.two_places(name=name, turn=step.turn.depth, first=first, second=second),
            turns,
            at=step.turn.id,
            quote=quote,
        )

    # -- belongings --------------------------------------------------------------------------------------------

    def _hands(self, step: ReplayedTurn) -> Iterator[Proposal]:
        """Find single items that one character received although another still has them."""
        gained = [
            (event.item, event.owner if isinstance(event, deltas.ItemGained) else event.receiver)
            for event in step.reported
            if isinstance(event, deltas.ItemGained | deltas.ItemTransferred)
        ]
        for item, owner in gained:
            thing = step.after.entities.get(item)
            holders = {who: hands[item].quantity for who, hands in step.after.belongings.items() if item in hands}
            if thing is None or owner not in holders or len(holders) < 2 or max(holders.values()) > 1:
                continue
            if any(_STACKED.search(name) for name in thing.names):
                continue
            had = sum(hands[item].quantity for hands in step.before.belongings.values() if item in hands)
            if sum(holders.values()) <= had:  # There were several, and one changed hands.
                continue
            held = {who for who, hands in step.before.belongings.items() if item in hands}
            other = next((who for who in sorted(holders) if who != owner and who in held), None)
            if other is None:
                continue
            one, two = step.after.name(owner), step.after.name(other)
            yield self._finding(
                TWO_HANDS,
                [item, *sorted((owner, other))],
                self._words.two_hands(thing=thing.name, one=one, two=two),
                [step.turn.id],
            )

    # -- hearts ------------------------------------------------------------------------------------------------

    def _hearts(self, step: ReplayedTurn) -> Iterator[Proposal]:
        """Find relations that turn into their opposite without an apparent reason."""
        for event in step.reported:
            if not isinstance(event, deltas.RelationChanged):
                continue
            pair = event.source, event.target
            old, new = step.before.relations.get(pair), step.after.relations.get(pair)
            if old is None or new is None or not _opposite(old, new) or self._reason(step, pair):
                continue
            one, other = (step.after.name(id_) for id_ in pair)
            yield self._finding(
                SUDDEN_TURN,
                pair,
                self._words.sudden_turn(
                    one=one,
                    other=other,
                    old=old.type,
                    old_strength=old.strength,
                    new=new.type,
                    new_strength=new.strength,
                ),
                [step.turn.id],
                at=step.turn.id,
            )

    def _reason(self, step: ReplayedTurn, pair: tuple[str, str]) -> bool:
        at = self.steps.index(step)
        for each in self.steps[max(0, at - _CAUSES) : at + 1]:
            for event in each.turn.delta.events:
                if isinstance(event, deltas.EventTriggered | deltas.StatusChanged):
                    return True
                if isinstance(event, deltas.HpChanged) and event.who in pair and each is step:
                    return True
                if isinstance(event, deltas.ItemTransferred) and {event.giver, event.receiver} == set(pair):
                    return True
                if (
                    isinstance(event, deltas.RelationChanged)
                    and each is not step
                    and pair == (event.source, event.target)
                ):
                    return True  # the relation was already changing
            said = f"{each.turn.user}\n{each.turn.reply}" + "".join(
                f"\n{event.text}" for event in each.turn.delta.events if isinstance(event, deltas.Noted)
            )
            if _REASONS.search(said) and any(
                mentions(said, name) for id_ in pair for name in _names(each.after, id_) if id_ != each.after.player
            ):
                return True
        return False

    # -- events ------------------------------------------------------------------------------------------------

    def _deadlines(self) -> Iterator[Proposal]:
        """Find scheduled events that expired or are long overdue and never happened."""
        state = self.view.state
        for each in state.schedule.values():
            late = each.expires if each.expires is not None else None
            if late is None and each.due is not None and not each.place and not each.who:
                late = max(each.due, each.since) + PATIENCE
            if late is not None and state.depth > late:
                yield self._forgotten(each.event, each.name, late)
        happened = {happening.event for happening in state.happenings}
        for entity in state.of_kind(Kind.EVENT):
            deadline = entity.get("deadline")
            if not isinstance(deadline, int) or isinstance(deadline, bool) or entity.id in happened:
                continue
            if entity.id not in state.schedule and state.depth > deadline:
                yield self._forgotten(entity.id, entity.name, deadline)

    def _forgotten(self, event: str, name: str, deadline: int) -> Proposal:
        passed = next((turn.id for turn in self.view.turns if turn.depth > deadline), "")
        return self._finding(
            FORGOTTEN_EVENT,
            [event],
            self._words.forgotten_event(name=name, deadline=deadline),
            [passed],
        )


def _acts_in(step: ReplayedTurn, who: Entity) -> str:
    """Return the field of the turn's report in which a dead character acts, "" if there is none."""
    if of_a_body(step.turn.reply):
        return ""
    for event in step.reported:
        if isinstance(event, deltas.Met) and event.who == who.id:
            return "npc_met"
        if isinstance(event, deltas.Moved) and event.who == who.id:
            return "location"
        if isinstance(event, deltas.ItemGained | deltas.ItemLost) and event.owner == who.id:
            return "items"
        if isinstance(event, deltas.StatusChanged) and event.who == who.id and event.status == "alive":
            return "status"
    return ""


def _distinct(entity: Entity, state: WorldState, text: str) -> list[str]:
    """Return the names, or parts of names, in ``text`` that identify only this character, longest first."""
    lowered = _lowered(text)
    found = {name for name in _parts(entity.names) if len(name) > 1 and name.lower() in lowered}
    if not found:
        return []  # true for most of a large cast; skips the names of all others
    others = {part for each in state.of_kind(Kind.CHARACTER) if each.id != entity.id for part in _parts(each.names)}
    return sorted(found - others, key=lambda name: (-len(name), name))


@lru_cache(maxsize=4)
def _lowered(text: str) -> str:
    """Return ``text`` in lower case. Cached because it is needed for every character."""
    return text.lower()


_TITLES = frozenset("captain lady lord sir old young mother father the doctor master mistress king queen reeve".split())


@lru_cache(maxsize=4_096)
def _parts(names: tuple[str, ...]) -> frozenset[str]:
    """Return the names of a character and their parts: capitalized words, or the last word in scripts without case."""
    found = set(names)
    for name in names:
        words = name.split(" ")
        if len(words) < 2:
            continue
        if caseless(name):
            found.add(words[-1])
        else:
            found.update(word for word in words if word[:1].isupper() and word.casefold() not in _TITLES)
    return frozenset(found)


def _names(state: WorldState, id_: str) -> tuple[str, ...]:
    entity = state.entities.get(state.merged.get(id_, id_))
    return entity.names if entity else ()


def _apart(state: WorldState, one: str, other: str) -> bool:
    """Whether two places are different and not adjacent, and none is a part of the other, as ``Inn, upstairs`` is."""
    pair = {one, other}
    first, second = (frozenset(map(match_name, _names(state, each))) for each in (one, other))
    if any(_is_part(a, b) or _is_part(b, a) for a in first for b in second):
        return False
    return len(pair) == 2 and not any(
        type_ == "ADJACENT" and {source, target} == pair for source, type_, target in state.links
    )


def _minutes(first: ReplayedTurn, last: ReplayedTurn) -> int:
    """The minutes that the story's clock moved from before one turn until after another; 0 if there is none."""
    was, now = first.before.minutes or 0, last.after.minutes or 0
    return now - was if was else 0


@cache
def _of() -> re.Pattern[str]:
    """What stands before the place in the name of a part of it."""
    inside, definite = ("|".join(map(re.escape, name_words(row))) for row in ("inside", "definite"))
    return re.compile(rf"\S (?:{inside}) (?:(?:{definite}) )?\Z")


def _is_part(name: str, whole: str) -> bool:
    """Whether a folded place name is another with more words around it: ``paper moon, upstairs`` and ``deck of the
    barge``, for ``the paper moon`` and ``the barge``; but not ``north wood`` for ``wood``."""
    name, whole = bare(name), bare(whole)
    if len(whole) < 2 or whole not in name:
        return False
    rest = name.removeprefix(whole)
    if rest != name and (
        not rest[:1].isalnum() or is_unspaced(whole[-1:]) or rest.startswith(tuple(name_words("possessives")))
    ):
        return True
    before, _, behind = name.rpartition(whole)
    return not behind and _of().search(before) is not None


def _noted(step: ReplayedTurn) -> str:
    """What the turn's report remarks."""
    return "\n".join(event.text for event in step.reported if isinstance(event, deltas.Noted))


def _comes_along(step: ReplayedTurn, who: str) -> bool:
    """Whether a character may have come along: the player's words name her, or the reply or a remark says so."""
    told, names = f"{step.turn.reply}\n{_noted(step)}", _names(step.after, who)
    travels = _TRAVEL.search(told) is not None and any(mentions(told, name) for name in names)
    return travels or any(mentions(step.turn.user, name) for name in _parts(names))


def _leaning(relation: Relation) -> int:
    """Return -1 for hostile, 1 for friendly and 0 for neutral relations and debts, by type or otherwise by strength."""
    if is_debt(relation.type):
        return 0
    if _HOSTILE.search(relation.type):
        return -1
    if _FRIENDLY.search(relation.type):
        return 1
    return 0 if abs(relation.strength) < _STRONG else (1 if relation.strength > 0 else -1)


def _opposite(old: Relation, new: Relation) -> bool:
    return _leaning(old) * _leaning(new) < 0
