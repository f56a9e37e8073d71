"""Converts the fields of a state block to a delta."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from attrs import evolve, frozen

from saga_core.extraction.company import learn_other_names
from saga_core.extraction.counts import count_events
from saga_core.extraction.habits import LISTS, REPEATED, TOTALS, Habits, absolute_gains, habits_of
from saga_core.extraction.here_and_now import (
    hearing_from_elsewhere,
    here_and_now,
    left_before_a_secret,
    moments,
    noticing_nothing,
)
from saga_core.extraction.other_names import OtherNames
from saga_core.extraction.player import dealing, is_addressed, player_events
from saga_core.extraction.statuses import (
    AWAY,
    HELD,
    LIVES,
    beside,
    conditions,
    is_away,
    is_of_body,
    is_supposed_death,
    joined,
    status_of,
)
from saga_core.language import (
    Says,
    any_of,
    begins_about,
    caseless,
    every,
    is_confided,
    is_debt,
    is_settled,
    mentions,
    sentences_of,
    settled,
    squash,
    staying,
    telling,
    tells_deed,
    without_speech,
)
from saga_core.model import (
    ALIVE,
    ALSO,
    CONDITION,
    DEAD,
    EXCEPT,
    MOMENT,
    Delta,
    Event,
    Kind,
    ReportStatus,
    Source,
    WorldState,
    deltas,
    fold,
)
from saga_core.naming import (
    Evidence,
    Names,
    alike,
    is_form_of,
    is_last_part,
    is_of_kind,
    is_particular,
    last_word,
    may_be_somebody,
    name_words,
    owner_of,
    parts_alone,
    remarked,
    told_apart,
    words_of_thing,
)
from saga_core.state_block import (
    BlockFields,
    ItemAmount,
    ItemTransfer,
    RelationChange,
    StateReading,
    StatusChange,
    unknown_field,
)

_NOTHING = Delta()
_Given = tuple[str | None, str | None, str, int]
"""A transfer: giver, receiver, thing and quantity. None is an unknown side."""
_Owned = tuple[str, str, int]
"""A gain: owner, thing and quantity."""
_STATUS = {"ok": ReportStatus.OK, "partial": ReportStatus.PARTIAL, "fallback": ReportStatus.FALLBACK}


def read_delta(
    reading: StateReading,
    state: WorldState,
    *,
    player_name: str = "",
    sure: bool = True,
    claims: Sequence[str] = (),
    source: Source = Source.BLOCK,
    later: WorldState | None = None,
    told: str = "",
    words: str = "",
    card: str = "",
    above: Delta = _NOTHING,
) -> Delta:
    """Convert a report to events on ``state``, with names resolved and new entities introduced.

    ``player_name`` is the client's name for the player, if it sends one, and ``sure`` whether the client is sure of it
    (see ``the_player``). ``claims`` are other names that the player may have (see ``player_events``). The name is
    applied before the names in the block are resolved. ``source`` says where the report comes from. ``later`` is a
    state further down the path, whose names are known too. ``told`` is the player's message and the reply, ``words``
    the message alone, ``card`` the client's description of the characters. They are evidence that a title and a name
    belong to one person; ``told`` also shows who comes along to another place. ``above`` is the delta of the turn
    before: a block may repeat what it reported.
    """
    fields = reading.fields
    head = player_events(fields, state, player_name, sure, claims, card, told.removeprefix(words))
    if head:
        state = fold(state, Delta(head), turn=state.turn, depth=state.depth)
    evidence = Evidence(told, card, "\n".join(text for _, text in state.remarks))
    names = Names(state, later, evidence, _lists(fields, source), tuple(dealing(fields)))
    real = here_and_now(fields, names)
    wrong: list[str] = []
    before = _taken_over(above), _parted(above)
    events = tuple(_Reports(real, state, names, source, told, words, *before, wrong.append).events())
    heard = tuple(dict.fromkeys(hearing_from_elsewhere(fields, names)))
    missed = (*heard, *noticing_nothing(fields, names), *left_before_a_secret(real, names, events))
    missed = tuple(dict.fromkeys(missed))
    events += tuple(
        deltas.AudienceSet(audience=audience, who=who) for audience, who in ((EXCEPT, missed), (ALSO, heard)) if who
    )
    cut = reading.cut if source is Source.BLOCK else ""
    status = ReportStatus.CUT if cut else _STATUS[reading.status.value]
    said_by = "state block" if source is Source.BLOCK else source.value
    kept = {unknown_field(key) for key, _ in reading.others}
    problems = tuple(f"{said_by}: {each}" for each in (*reading.problems, *wrong) if each not in kept)
    observed = tuple(deltas.Observed(key, value) for key, value in reading.others)
    return Delta(
        (*head, *names.introduced, *events, *observed),
        Source.NONE if status is ReportStatus.FALLBACK else source,
        status,
        problems,
        cut=cut,
    )


def _taken_over(delta: Delta) -> frozenset[tuple[str, str]]:
    """The single things that changed hands in a delta, each as its new owner and the thing."""
    return frozenset(
        (event.receiver, event.item)
        for event in delta.events
        if isinstance(event, deltas.ItemTransferred) and event.quantity == 1
    )


def _parted(delta: Delta) -> frozenset[str]:
    return frozenset(event.who for event in delta.events if isinstance(event, deltas.Separated))


def _lists(fields: BlockFields, source: Source) -> Iterator[tuple[str, ...]]:
    """The names of who is present or has left, and of who was met: a narrator names nobody twice there."""
    yield (*(fields.present or ()), *fields.npc_separated)
    if source is Source.BLOCK:
        yield tuple(fields.npc_met)


_REVEALS = re.compile(any_of(lambda each: each.names.reveals.replace("?P<name>", f"?P<{each.tag}>")), re.I)
_BROKEN = re.compile(any_of(lambda each: each.statuses.broken))
_WORN = re.compile(any_of(lambda each: each.statuses.worn), re.I)
_GONE = re.compile(any_of(lambda each: f"{each.statuses.gone}|{each.statuses.broken}"))
_LIES = re.compile(any_of(lambda each: each.statuses.lies), re.I)
_NAME_AND_TURN = re.compile(r"(?P<name>.{1,80}?)(?P<last>[^\w]+\w{1,8})?[^\w]*(?<!\d)(?P<turn>\d{1,6})[^\W\d]{0,2}\W*")
_CURRENCY = re.compile(any_of(lambda each: each.amounts.currency))
_SUM = 100
"""The least amount of money for a stack of something to be taken for it."""
_WHOLE = re.compile("|".join(f"(?:{each.amounts.whole})" for each in every()), re.I)


def mention_event(lore: Iterable[str]) -> tuple[Event, ...]:
    """The event for the lore entries named in a turn; empty if there are none."""
    named = tuple(lore)
    return (deltas.Mentioned(named),) if named else ()


@frozen
class _Reports:
    """Converts the fields of one block to events."""

    fields: BlockFields
    state: WorldState
    names: Names
    source: Source
    told: str
    words: str
    taken_over: frozenset[tuple[str, str]]
    """What changed hands in the turn before, each as its new owner and the thing."""
    parted_before: frozenset[str]
    """Who left the player in the turn before."""
    complain: Callable[[str], None]

    def events(self) -> Iterator[Event]:
        """The events in the order that the fold needs: separations, the move, meetings, then the rest."""
        for text in (self.fields.notes, self.fields.event_trigger):  # the report may use a name that only these tell of
            yield from self._other_names().nicknames_in(text or "")
            yield from self._other_names().really_named_in(text or "")
        told = list(self._statuses())
        statuses = [each for each in told if isinstance(each, deltas.StatusChanged)]
        yield from (each for each in told if not isinstance(each, deltas.StatusChanged))
        # A character who comes back to life can be met in the same reply, so these events come before the meetings.
        # Deaths come after them, because the dead leave the company.
        yield from (each for each in statuses if each.status != DEAD)
        yield from self._alive_again()
        yield from self._whereabouts()
        yield from self._belongings()
        yield from self._destroyed()
        yield from self._relations()
        yield from self._counts()
        yield from self._bodies(each.who for each in statuses if each.status == DEAD)
        yield from (each for each in statuses if each.status == DEAD)
        player, fields = self.state.player, self.fields
        if fields.mood:
            yield deltas.MoodChanged(player, fields.mood)
        if fields.event_trigger:
            yield from self._other_names().told_in(fields.event_trigger)
            event = self.names.ensure(Kind.EVENT, fields.event_trigger)
            yield deltas.EventTriggered(event, fields.event_trigger, self._participants(fields.event_trigger))
        if fields.notes:
            yield from self._other_names().told_in(fields.notes)
            yield deltas.Noted(fields.notes)
        yield from self._informed()

    # -- who is where ------------------------------------------------------------------------------------------------

    def _whereabouts(self) -> Iterator[Event]:
        fields, state, player = self.fields, self.state, self.state.player
        if fields.present and self.source is Source.BLOCK:
            learn_other_names(self.names, state, fields)
        left = [who for told in fields.npc_separated for who in self._people(told)]
        met = [who for told in fields.npc_met for who in self._people(told) if who != player]
        place = self._place(fields.location) if fields.location else None
        present = self._present()
        moves = place is not None and state.location is not None and place != state.location
        stays: list[str] = []
        if present is not None:
            stays = [who for who in state.present if who not in present]
            met = [*present, *(who for who in met if who in left and who not in (*present, *state.present))]
        elif moves:
            stays = [who for who in self._left_behind(met) if who not in left]
        said = left if present is None else [who for who in left if who not in present]
        parted = [who for who in dict.fromkeys((*said, *stays)) if who != player]
        there = [who for who in parted if moves and (who not in state.present or who in left)]
        if place in state.entities:  # in a new place alone, the reply may have had the company with the player
            there = [who for who in there if who not in state.present]
        there = [who for who in there if who not in state.present or self._came_to(fields.location or "", who)]
        yield from (deltas.Separated(who, away=not moves) for who in parted if who not in there)
        # Earlier turns may be read later and move the player elsewhere, so an explicit move to the same place counts.
        if place is not None and (place != state.location or fields.location_moved):
            yield deltas.Moved(player, place)
        missing = self._missing(place or state.location, present) if present is not None else []
        yield from (deltas.Separated(who, away=True) for who in dict.fromkeys((*there, *missing)))
        yield from (deltas.Met(who) for who in dict.fromkeys(met))
        # Who was here before has come back; whoever else is met and leaves is gone.
        passing = (who for who in met if who in left and who not in (*state.present, *(present or ())))
        yield from (deltas.Separated(who, away=True) for who in passing)
        gone = self._gone(left, place or state.location)
        yield from (deltas.Separated(who, gone=True) for who in dict.fromkeys(gone) if who not in met)
        yield from self._seen(present or ())
        yield from self._moments(present)

    def _came_to(self, place: str, who: str) -> bool:
        """Whether the reply has somebody of the company in the new place that it moves to, so that she left from there:
        a sentence after that place begins with her, and none names the old place. Otherwise she stayed behind."""
        said = list(sentences_of(without_speech(self.told.removeprefix(self.words))))
        at = (at for name in (place, last_word(place)) for at, each in enumerate(said) if mentions(each, name))
        after = said[next(at, len(said)) + 1 :]
        old = last_word(self.state.name(self.state.location or ""))
        olds = [old] if old.isascii() else [old[at:] for at in range(len(old) - 1)]
        if any(mentions(each, name) for each in after for name in olds):
            return False
        names = (*self.state.entities[who].names, *parts_alone(self.state.entities.values()).get(who, ()))
        return any(begins_about(each.strip(), name) for each in after for name in names)

    def _missing(self, place: str | None, present: Collection[str]) -> list[str]:
        """Whom the player met, left at this place and does not find there, going by the complete list."""
        state = self.state
        met = frozenset(state.met)
        there = [who for who in (state.at(place) if place is not None else ()) if not state.whereabouts[who].left]
        return [who for who in there if who in met and who not in present and who not in state.present]

    def _gone(self, left: Sequence[str], place: str | None) -> Iterator[str]:
        """Who has left a place where the player is not: by a status, an event or a remark, or because somebody who
        leaves the player now, and did not before, cannot be there."""
        state, where = self.state, self.state.whereabouts
        for status in self.fields.status_changes:
            who = self.names.find(Kind.CHARACTER, status.name)
            absent = who in left or who not in state.present or self.fields.present is not None
            if who and (is_away(status.status) or (absent and self._names_other_place(who, status.status))):
                yield who
        notes = self.fields.notes or ""
        for text in map(str.strip, (self.fields.event_trigger or "", *sentences_of(notes))):
            for who in self.names.named_in(text) if AWAY.search(text) or any(self._other_places("", text)) else ():
                known = state.entities.get(who)
                names = (name for name in (known.names if known is not None else ()) if begins_about(text, name))
                absent = who in left or who not in state.present
                if any(
                    is_away(text.removeprefix(name)) or (absent and self._is_elsewhere(who, name, text))
                    for name in names
                ):
                    yield who
        came = [who for who in left if who not in state.present and who not in self.parted_before]
        came = [who for who in came if who in where and where[who].place != place]
        if came:
            named = self.names.named_in(self.told.removeprefix(self.words))
            yield from (who for who in came if who in named)

    def _names_other_place(self, who: str, status: str) -> bool:
        """Whether a status names a place where somebody was not, be it one that the story does not know yet: a gaol."""
        place = self.state.whereabouts.get(who)
        own = self.state.name(place.place) if place is not None else ""
        held = HELD.search(status) and not HELD.search(own) and not mentions(status, own)
        return bool(held) or any(self._other_places(who, status))

    def _other_places(self, who: str, text: str) -> Iterator[str]:
        """The names of known places in a text, other than where somebody is, which may be a part of the other."""
        where = self.state.whereabouts.get(who)
        own = self.state.name(where.place) if where is not None else ""
        for each in self.state.of_kind(Kind.LOCATION):
            yield from (name for name in each.names if name in text and name not in own and mentions(text, name))

    def _is_elsewhere(self, who: str, name: str, text: str) -> bool:
        """Whether a text says that somebody is at a known place where she was not: "Odile waits at Hollin Reach"."""
        return any(staying((name,), place).match(text) for place in self._other_places(who, text))

    def _seen(self, present: Iterable[str]) -> Iterator[Event]:
        """The company of whom it was only said that they may be dead, or that they have left."""
        told = {self.names.find(Kind.CHARACTER, status.name) for status in self.fields.status_changes}
        for who in present:
            known = self.state.entities.get(who)
            status = str(known.get("status") or "") if known is not None and who not in told else ""
            if is_supposed_death(status):
                yield deltas.StatusChanged(who, ALIVE)
            elif any(map(is_away, parts := conditions(status))):
                yield deltas.StatusChanged(who, joined(each for each in parts if not is_away(each)))

    def _moments(self, present: Collection[str] | None) -> Iterator[Event]:
        """How those present are at the moment, and of whom that is over."""
        now = moments(self.fields, self.names)
        for who in self.state.present if present is not None else ():
            if who not in now and self.state.entities[who].get(MOMENT) is not None:
                yield deltas.AttributeSet(who, MOMENT, None)
        yield from (deltas.AttributeSet(who, MOMENT, remark) for who, remark in now.items())

    def _place(self, told: str) -> str:
        """The id of the place of that name. The last part of its name is enough for the player's current place."""
        here = self.state.location
        if here is not None and self.names.find(Kind.LOCATION, told) is None:
            short, long = sorted((told, self.state.name(here)), key=len)
            if is_last_part(short, long) and (long != told or not self.fields.location_moved):
                self.names.learn(here, told, Kind.LOCATION)
        return self.names.ensure(Kind.LOCATION, told)

    def _people(self, told: str) -> list[str]:
        return [self.names.ensure(Kind.CHARACTER, name) for name in self.names.joined(told)]

    def _present(self) -> list[str] | None:
        """The complete company as the block lists it; None if the block has no list."""
        told = self.fields.present
        if told is None or (not told and self.source is Source.EXTRACTION):
            return None  # a small model sends an empty list when the text does not tell who is present
        return [who for name in told for who in self._people(name) if who != self.state.player]

    def _left_behind(self, met: list[str]) -> list[str]:
        """The members of the company who stay behind on a move, if the block has no complete list.

        If the block names any member as met, it names all who come along. If it names none, the company comes along,
        except for characters who belong to the place: they were never elsewhere with the player, and neither the
        player's message nor the reply names them.
        """
        state = self.state
        named = [who for who in met if who in state.present]
        if named:
            return [who for who in state.present if who not in named]
        where, parts = state.whereabouts, parts_alone(state.entities.values())
        bound = [who for who in state.present if who in where and not where[who].along]
        called = {who: (*state.entities[who].names, *parts.get(who, ())) for who in bound}
        return [who for who in bound if not any(mentions(self.told, name) for name in called[who])]

    # -- who has what ------------------------------------------------------------------------------------------------

    def _belongings(self) -> Iterator[Event]:
        fields, names, player = self.fields, self.names, self.state.player
        if fields.hp is not None:
            yield deltas.HpSet(player, fields.hp.now, fields.hp.top)
        elif fields.hp_change:
            yield deltas.HpChanged(player, fields.hp_change)
        given = [self._transfer(transfer) for transfer in fields.items_transferred]
        lost = list(map(self._with_owner, fields.items_lost))
        taken = {(taker, thing) for _, taker, thing, _ in given}
        gained = list(self._gains())
        left = self._leaving(given, lost)
        absolute, habits = self._judged(gained, left)
        for owner, thing, quantity in gained:
            # Otherwise this block reports the transfer twice, or repeats it from the block before.
            told_twice = (owner, thing) in taken or self._is_all_given(owner, thing, quantity, given)
            again = owner == player and thing in absolute
            if not told_twice and not again and not self._repeats(owner, thing, quantity):
                yield self._gained(owner, thing, quantity)
        for giver, receiver, thing, quantity in given:
            if giver is not None and receiver is not None and giver != receiver:
                yield deltas.ItemTransferred(giver, receiver, thing, quantity)
            elif giver is None and receiver is not None:
                yield self._gained(receiver, thing, quantity)
            elif giver is not None and receiver is None:
                yield deltas.ItemLost(giver, thing, quantity)
        yield from self._losses(given, gained, lost)  # what was taken from somebody and burned was had in between
        for owner, thing, quantity in gained:
            if owner == player and thing in absolute and self._count(player, thing) - left.get(thing, 0) != quantity:
                yield deltas.ItemCounted(player, thing, quantity)
        before = habits_of(self.state.entities.get(player))
        if habits.lists != before.lists:
            yield deltas.AttributeSet(player, LISTS, habits.lists)
        if habits.totals != before.totals:
            yield deltas.AttributeSet(player, TOTALS, habits.totals)
        for coins in fields.money:
            yield deltas.ItemCounted(player, names.ensure(Kind.ITEM, coins.name), coins.quantity)

    def _losses(self, given: list[_Given], gained: list[_Owned], items: list[ItemAmount]) -> Iterator[Event]:
        """What is lost. A thing both lost and handed over is one loss reported twice, unless the owner has enough for
        both, and the narrator is not known to repeat losses so."""
        lost: list[tuple[_Owned, int, bool]] = []
        passed_on = {each.item for each in self.fields.items_transferred}
        coming = {each[:2] for each in gained} | {(receiver, thing) for _, receiver, thing, _ in given}
        is_sure = False
        for item in items:
            name, named = self._whose(item)
            owner = named or self.state.player
            thing, quantity = self._handed(owner, name, item.quantity)
            if named is None and (owner, thing) not in coming:
                owner = self._loser(thing, quantity) or owner
            passed = sum(count for giver, _, given_thing, count in given if (giver, given_thing) == (owner, thing))
            come = sum(count for _, receiver, come_thing, count in given if (receiver, come_thing) == (owner, thing))
            is_enough = self._count(owner, thing) + come >= passed + quantity
            is_sure = is_sure or (passed == quantity and not is_enough and item.name in passed_on)
            lost.append(((owner, thing, quantity), passed, is_enough))
        player = self.state.entities.get(self.state.player)
        is_habit = player is not None and bool(player.get(REPEATED))
        if is_sure and not is_habit:
            yield deltas.AttributeSet(self.state.player, REPEATED, 1)
        for (owner, thing, quantity), passed, is_enough in lost:
            is_repeated = passed == quantity and (is_sure or is_habit)
            if not passed or (is_enough and not is_repeated):
                yield deltas.ItemLost(owner, thing, quantity)

    def _loser(self, thing: str, quantity: int) -> str | None:
        """Who lost a thing that the player does not have: its only holder, if she is there. What she got in the turn
        before may be a gift told twice, so then a note must say so of her alone: "Pell has lost the coat"."""
        holder = self._holder(thing, quantity, self.state.player)
        if holder not in self.state.present:
            return None
        if (holder, thing) not in self.taken_over:
            return holder
        said = (each for each in sentences_of(self.fields.notes or "") if mentions(each, self.state.name(thing)))
        return holder if any(self.names.named_in(each) == [holder] for each in said) else None

    def _gains(self) -> Iterator[_Owned]:
        """Owner, thing and quantity of each gain. In an inventory, a thing that may be one carried is that one."""
        player, names = self.state.player, self.names
        carried = self.state.belongings.get(player, {})
        again = {found for each in self.fields.items_gained if (found := names.find(Kind.ITEM, each.name)) in carried}
        for item in self.fields.items_gained:
            name, owner = self._whose(item)
            near = names.held_by(player, name) if owner in (None, player) and len(again) > 1 else None
            thing = near if near is not None and near not in again else names.ensure(Kind.ITEM, name)
            yield owner or player, thing, item.quantity

    def _leaving(self, given: list[_Given], lost: list[ItemAmount]) -> dict[str, int]:
        """What leaves the player's hands in this block, by thing."""
        player, left = self.state.player, dict[str, int]()
        for item in lost:
            name, owner = self._whose(item)
            if owner in (None, player) and (thing := self.names.held_by(player, name)) is not None:
                left[thing] = left.get(thing, 0) + item.quantity
        for giver, _, thing, quantity in given:
            if giver == player:
                left[thing] = left.get(thing, 0) + quantity
        return left

    def _judged(self, gained: list[_Owned], left: Mapping[str, int]) -> tuple[frozenset[str], Habits]:
        """The things whose gains say how many the player has, and the narrator's habits (see ``absolute_gains``)."""
        player = self.state.player
        gains = {thing: quantity for owner, thing, quantity in gained if owner == player}
        carried = {thing: stack.quantity for thing, stack in self.state.belongings.get(player, {}).items()}
        habits = habits_of(self.state.entities.get(player))
        return absolute_gains(gains, carried, left, habits, self._is_mentioned)

    def _is_mentioned(self, thing: str) -> bool:
        """Whether the player's words or the reply name a thing, or a part of its name."""
        told = self.told.casefold()
        known = self.state.entities.get(thing)
        return any(
            (word[-2:] if caseless(word) else word[:5]) in told
            for name in (known.names if known is not None else ())
            for word in words_of_thing(name)
        )

    def _whose(self, item: ItemAmount) -> tuple[str, str | None]:
        """The name of a thing that somebody got or lost, and the id of who that is; None if the block does not say."""
        if item.owner:
            return item.name, self._hand(item.owner)
        owner, colon, thing = item.name.partition(":")
        who = self.names.find(Kind.CHARACTER, owner) if colon and thing.strip() else None
        return (thing.strip(), who) if who is not None else self.names.owner_in(item.name)

    def _with_owner(self, item: ItemAmount) -> ItemAmount:
        """A thing lost, with the owner that its name tells, if she has it and the player has none such: Pim's watch."""
        names, (owner, thing) = self.names, owner_of(item.name)
        who = names.find(Kind.CHARACTER, owner) if owner and not item.owner else None
        hers = who is not None and names.held_by(who, thing) and not names.held_by(self.state.player, item.name)
        return evolve(item, name=thing, owner=owner) if hers else item

    def _transfer(self, transfer: ItemTransfer) -> _Given:
        """Giver, receiver, thing and quantity. The thing is looked up among the giver's belongings.

        A side that the block omits is the player, unless the other side is the player too. None is an unknown side.
        """
        if self._is_the_players_act(transfer) and transfer.giver:
            self.names.learn(self.state.player, transfer.giver)
        giver, receiver = self._hand(transfer.giver), self._hand(transfer.receiver)
        if giver == receiver == self.state.player and transfer.giver != transfer.receiver:
            giver, receiver = giver if transfer.giver else None, receiver if transfer.receiver else None
        if giver is None:
            return giver, receiver, self.names.ensure(Kind.ITEM, transfer.item), transfer.quantity
        thing, quantity = self._handed(giver, transfer.item, transfer.quantity)
        return giver, receiver, thing, quantity

    def _is_the_players_act(self, transfer: ItemTransfer) -> bool:
        """Whether the giver is the player under a name that was not known, such as a cover name.

        Nobody of this name is reported as there, and the player addresses nobody by it. But the reply addresses
        somebody by it, who hands over what the player has.
        """
        fields, names, giver = self.fields, self.names, transfer.giver
        if not giver or not transfer.receiver or names.is_player(transfer.receiver) or giver in self.words:
            return False
        listed = (*(fields.present or ()), *fields.npc_met, *fields.npc_separated)
        return (
            not names.knows(Kind.CHARACTER, giver)
            and names.held_by(self.state.player, transfer.item) is not None
            and giver not in (name for each in listed for name in names.joined(each))
            and is_addressed(giver, self.told)
        )

    def _handed(self, giver: str, name: str, quantity: int) -> tuple[str, int]:
        """The thing that leaves the giver's hands, and its quantity.

        "All silver" is as much as the giver has.
        """
        names = self.names
        hands = self.state.belongings.get(giver, {})
        whole = _WHOLE.fullmatch(name) if quantity == 1 and not names.knows(Kind.ITEM, name) else None
        if whole and (thing := names.held_by(giver, next(filter(None, whole.groups())))) is not None:
            return thing, hands[thing].quantity
        thing = names.find(Kind.ITEM, name)
        if thing in hands and thing is not None:
            return thing, quantity
        thing = names.held_by(giver, name) or self._told_of(hands, name) or self._cash(giver, name, quantity)
        return thing or names.ensure(Kind.ITEM, name), quantity

    def _cash(self, giver: str, name: str, quantity: int) -> str | None:
        """The money from which a sum is paid, if one of the two has only the name of the currency: 현금 for 15000원. Of
        nothing else has anybody hundreds."""
        stacks = [each for each, own in self.state.belongings.get(giver, {}).items() if own.quantity >= quantity]
        if quantity < _SUM or len(stacks) != 1:
            return None
        return stacks[0] if any(map(_CURRENCY.fullmatch, (name, self.state.name(stacks[0])))) else None

    def _told_of(self, hands: Iterable[str], name: str) -> str | None:
        """The only thing in ``hands`` of the same kind that the texts name: the brass key, for a reported "safe key".

        None if the texts have ``name`` itself beside it.
        """
        told = self.told.casefold()
        called = {thing: self.state.name(thing).casefold() for thing in hands}
        near = (thing for thing, each in called.items() if is_of_kind(each, name) and each in told)
        found = [thing for thing in near if not told_apart(name, called[thing])]
        alone = len(found) == 1 and name.casefold() not in told.replace(called[found[0]], "")
        return found[0] if alone else None

    def _hand(self, told: str | None) -> str | None:
        """Who is on one side of a transfer: a character, or a known place in which the thing lies."""
        if not told:
            return self.state.player if told is None else None
        place = self.names.find(Kind.LOCATION, told) if self.names.find(Kind.CHARACTER, told) is None else None
        return place or self.names.ensure(Kind.CHARACTER, told)

    def _is_all_given(self, owner: str, thing: str, gained: int, given: list[_Given]) -> bool:
        """Whether a gain is a transfer from the owner in other words. It is not if the two are of different size, or if
        the owner did not have enough to give: "gained two, gave one"."""
        passed = sum(count for giver, _, given_thing, count in given if (giver, given_thing) == (owner, thing))
        return gained == passed <= self._count(owner, thing)

    def _repeats(self, owner: str, thing: str, quantity: int) -> bool:
        """Whether a gain is the transfer of a specific thing that the block before has reported."""
        again = (owner, thing) in self.taken_over and quantity == self._count(owner, thing) == 1
        return again and is_particular(self.state.name(thing))

    def _gained(self, owner: str, thing: str, quantity: int) -> Event:
        holder = self._holder(thing, quantity, owner)
        if holder is None:
            return deltas.ItemGained(owner, thing, quantity)
        return deltas.ItemTransferred(holder, owner, thing, quantity)

    def _holder(self, thing: str, quantity: int, owner: str) -> str | None:
        """The only one of the company who has exactly the gained quantity of a thing; it was handed over, not found."""
        state = self.state
        hands = {who: state.belongings.get(who, {}) for who in (*state.present, state.player) if who != owner}
        holders = [who for who, own in hands.items() if thing in own and own[thing].quantity == quantity]
        if not holders and quantity == 1 and is_particular(state.name(thing)):
            # A thing with a specific name is unique, so it came from its holder, wherever that holder is.
            holders = [who for who, own in state.belongings.items() if who != owner and thing in own]
        return holders[0] if len(holders) == 1 and not self._count(owner, thing) else None

    def _count(self, owner: str, thing: str) -> int:
        stack = self.state.belongings.get(owner, {}).get(thing)
        return stack.quantity if stack is not None else 0

    # -- what is counted ---------------------------------------------------------------------------------------------

    def _counts(self) -> Iterator[Event]:
        fields, state = self.fields, self.state
        derived = {each.name for each in state.trackers if each.derived}
        reports = [each for each in fields.counts if each.tracker not in derived]
        if reports:
            present = self._present()
            met = [who for told in fields.npc_met for who in self._people(told) if who != state.player]
            company = present if present is not None else list(dict.fromkeys((*state.present, *met)))
            place = self._place(fields.location) if fields.location else state.location
            yield from count_events(reports, state, self.names, company, place, self.complain)

    # -- who is what -------------------------------------------------------------------------------------------------

    def _relations(self) -> Iterator[Event]:
        said: dict[tuple[str, str], RelationChange] = {}  # what is owed
        for change in self.fields.relationship_changes:
            source = self.names.ensure(Kind.CHARACTER, change.source)
            target = self.names.ensure(Kind.CHARACTER, change.target)
            if source != target:
                if is_debt(change.type) or is_settled(change.type):
                    said[source, target] = change
                yield deltas.RelationChanged(source, target, change.type, change.delta)
        yield from self._paid(said)

    def _paid(self, said: Mapping[tuple[str, str], RelationChange]) -> Iterator[Event]:
        """Debts that the block settles in another way than by the relation itself.

        This may be the relation in the other direction, or a sentence in a note. Such a sentence settles the debt
        between two characters if it names both and nobody else; the player may be left out. A sentence that names
        nobody settles the only debt there is.
        """
        debts = {
            pair: each.owed
            for pair, each in self.state.relations.items()
            # A block may repeat an old debt; with a delta that leaves nothing of it, it has settled the debt.
            if each.owed
            and ((own := said.get(pair)) is None or own.type == each.owed.type)
            and (own is None or not own.delta or each.owed.strength + own.delta)
        }
        for source, target in list(debts):
            back = said.get((target, source))
            if back is not None and is_settled(back.type):
                yield deltas.RelationChanged(source, target, back.type, 0)
                del debts[source, target]
        player, notes = self.state.player, self.fields.notes or ""
        if not debts or not notes:
            return
        everybody = set(self.names.named_in(notes)) - {player}
        for sentence in (each for each, says in telling(notes) if says is Says.SETTLES):
            named = set(self.names.named_in(sentence)) - {player}
            for pair in list(debts):
                others = set(pair) - {player}
                if named == others or (not named and len(debts) == 1 and everybody <= others):
                    yield deltas.RelationChanged(*pair, settled(debts.pop(pair).type), 0)

    def _destroyed(self) -> Iterator[Event]:
        """Things and places that no longer exist according to their status, or do again: ``rebuilt``. An unknown name
        is taken for a thing."""
        for status in self.fields.status_changes:
            if self.names.find(Kind.CHARACTER, status.name) is not None:
                continue
            place = self.names.find(Kind.LOCATION, status.name)
            if _GONE.search(status.status.casefold()) is None:
                thing = place or self.names.find(Kind.ITEM, status.name)
                name, known = "status" if place else CONDITION, self.state.entities.get(thing or "")
                is_worn = place is None and _WORN.fullmatch(status.status.strip(" .。"))
                if thing is not None and (is_worn or (known is not None and known.get(name))):
                    yield deltas.AttributeSet(thing, name, status.status)
                continue
            thing = place or self.names.ensure(Kind.ITEM, status.name)
            yield deltas.AttributeSet(thing, "status", status.status)
            for owner, hands in self.state.belongings.items():
                if thing in hands:
                    yield deltas.ItemLost(owner, thing, hands[thing].quantity)

    def _other_names(self) -> OtherNames:
        return OtherNames(self.names, self.state.player, self.told)

    def _statuses(self) -> Iterator[Event]:
        now: dict[str, str] = {}
        fields = self.fields
        things = (each.name for each in (*fields.items_gained, *fields.items_lost))
        handed = (each.item for each in fields.items_transferred)
        new = set(map(squash, (fields.location or "", *things, *handed)))
        for status in fields.status_changes:
            character = self.names.find(Kind.CHARACTER, status.name)
            character = None if self._is_hers(character, status, new) else character
            if character is None and (
                squash(status.name) in new
                or self.names.find(Kind.ITEM, status.name)
                or self.names.find(Kind.LOCATION, status.name)
            ):
                continue  # things and places have no health
            if character is None and (_BROKEN.search(status.status.casefold()) or self._is_worn_thing(status)):
                continue  # a thing that is not known yet
            revealed = _REVEALS.fullmatch(status.status.strip(" .。"))
            if revealed is not None and revealed.lastgroup is not None:
                yield from self._other_names().revealed(status.name, revealed[revealed.lastgroup].strip())
                continue
            said, remark = remarked(status.status) or (status.status, "")
            unmasked = list(self._other_names().in_remark(status.name, remark))
            yield from unmasked
            told = said if unmasked else status.status
            is_dead = character is None and status_of(told) == DEAD
            who = (self._fallen(status.name) if is_dead else None) or self.names.ensure(Kind.CHARACTER, status.name)
            known = self.state.entities.get(who)
            before = now.get(who) or str((known.get("status") if known is not None else None) or "")
            now[who] = beside(before, status_of(told))
            yield deltas.StatusChanged(who, now[who])

    def _fallen(self, name: str) -> str | None:
        """Of several whom the name of a dead person may mean, the one who was here and whom the report no longer lists:
        "the cook Hakim" is Hakim Osei, if Hakim Reza is there."""
        present = None if name in (self.fields.present or ()) else self._present()
        word = last_word(name) if caseless(name) else name
        forms = {word, *map(word.removesuffix, name_words("endearments"))}
        people = [each for each in self.state.of_kind(Kind.CHARACTER) if not each.dead and each.id != self.state.player]
        fits = [each.id for each in people if any(alike(form, known) for form in forms for known in each.names)]
        gone = [each for each in fits if each not in (present or ())]
        return gone[0] if present and len(gone) == 1 < len(fits) and gone[0] in self.state.present else None

    def _is_hers(self, who: str | None, status: StatusChange, new: set[str]) -> bool:
        """Whether a status is that of a place or a thing whose name goes on behind somebody's: 오 영감 전당포."""
        known, name = self.state.entities.get(who or ""), squash(status.name)
        if known is None or any(is_form_of(status.name, each) for each in known.names):
            return False
        is_kept = any(self.names.knows(kind, status.name) for kind in (Kind.LOCATION, Kind.ITEM)) or name in new
        is_kept |= _BROKEN.search(status.status.casefold()) is not None
        return is_kept and any(name.startswith(squash(each)) for each in known.names)

    def _is_worn_thing(self, status: StatusChange) -> bool:
        """Whether a status of somebody unknown is that of a thing, and the name may be one."""
        may_be = caseless(status.name) or not may_be_somebody(status.name, self.names)
        worn = _WORN.fullmatch(status.status.strip(" .。")) is not None
        return may_be and worn and not is_of_body(status.status)

    def _alive_again(self) -> Iterator[Event]:
        """The dead who are listed as company, and of whom a note says that they did not die, or live again."""
        fields, entities = self.fields, self.state.entities
        listed = (name for told in (*(fields.present or ()), *fields.npc_met) for name in self.names.joined(told))
        found = (entities.get(self.names.find(Kind.CHARACTER, name) or "") for name in listed)
        told = [each.strip() for text in (fields.notes, fields.event_trigger) for each in sentences_of(text or "")]
        for who in (each for each in found if each is not None and each.dead):
            called = (*who.names, *parts_alone(entities.values()).get(who.id, ()))
            behind = (each.removeprefix(name).lstrip() for each in told for name in called if begins_about(each, name))
            if any(map(LIVES.match, behind)):
                yield deltas.StatusChanged(who.id, ALIVE)

    def _bodies(self, dead: Iterable[str]) -> Iterator[Event]:
        """The dead who were elsewhere and whose bodies are found where the player is."""
        fields, state = self.fields, self.state
        here = self._place(fields.location) if fields.location else state.location
        away = [who for who in dict.fromkeys(dead) if who not in state.entities or not state.entities[who].dead]
        away = [who for who in away if who not in state.whereabouts or state.whereabouts[who].place != here]
        if here is None or not away:
            return
        told = "\n".join((self.told.removeprefix(self.words), fields.event_trigger or "", fields.notes or ""))
        lying = [each for line in told.splitlines() for each in sentences_of(line) if _LIES.search(each)]
        for status in fields.status_changes if lying else ():
            who = self.names.find(Kind.CHARACTER, status.name)
            if who in away and any(mentions(each, name) for each in lying for name in self._called(who, status.name)):
                yield deltas.Moved(who, here)

    def _called(self, who: str, name: str) -> tuple[str, ...]:
        known = self.state.entities.get(who)
        return (name, *known.names) if known is not None else (name,)

    def _informed(self) -> Iterator[Event]:
        """Who learned what happened at an earlier turn. Names that the story does not know are left out."""
        for text in self.fields.informed:
            found = _NAME_AND_TURN.fullmatch(text)
            if found is None or not 0 < int(found["turn"]) <= self.state.depth:
                continue
            # The last word is part of the name, as a title, or a word for the turn.
            called = (f"{found['name']}{found['last'] or ''}", found["name"])
            known = (self.names.find(Kind.CHARACTER, each.strip(" :(,")) for each in called)
            who = next((each for each in known if each is not None), None)
            if who is not None:
                yield deltas.AudienceSet(int(found["turn"]), who=(who,))

    def _participants(self, event: str) -> tuple[str, ...]:
        """The ids of the characters whom an event names and who were there, or with whom it begins: a letter about
        Corin is not his. The player if it names nobody."""
        state, fields = self.state, self.fields
        named = self.names.named_in(event)
        told = (*(fields.present or ()), *fields.npc_met, *fields.npc_separated)
        there = {state.player, *state.present, *(who for each in told for who in self._people(each))}
        known = {who: state.entities[who].names if who in state.entities else () for who in named}
        secret = is_confided(event)
        part = (who for who in named if who in there or any(tells_deed(event, name, secret) for name in known[who]))
        return tuple(part) if named else (state.player,)
