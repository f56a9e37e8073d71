"""From a state block's fields to a delta."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from attrs import frozen

from saga_core.extraction.company import learn_other_names
from saga_core.extraction.other_names import OtherNames
from saga_core.extraction.player import the_player
from saga_core.language import Says, every, fold_name, is_debt, is_settled, settled, telling
from saga_core.model import ALIVE, DEAD, Delta, Event, Kind, Source, Status, WorldState, deltas, fold
from saga_core.naming import Evidence, Names, is_last_part, is_particular
from saga_core.state_block import BlockFields, ItemTransfer, StateReading

_STATUS = {"ok": Status.OK, "partial": Status.PARTIAL, "fallback": Status.FALLBACK}


def read_delta(
    reading: StateReading,
    state: WorldState,
    *,
    player_name: str = "",
    sure: bool = True,
    source: Source = Source.BLOCK,
    later: WorldState | None = None,
    told: str = "",
    card: str = "",
) -> Delta:
    """What the reply reports, as events on ``state``: names resolved, new entities introduced.

    ``player_name`` is the client's name for the player, if it tells one, and ``sure`` whether it is (see
    ``the_player``): it is known before the first name in the block is read. ``source`` says who reports. ``later`` is a
    state further down the path, whose names are known too. ``told``: the player's words and the reply; ``card``: what
    the client says of the characters. They prove that a title and a name are one person's, and who comes along.
    """
    head = the_player(state, player_name, sure=sure)
    if head:
        state = fold(state, Delta(head), turn=state.turn, depth=state.depth)
    evidence = Evidence(told, card, "\n".join(text for _, text in state.notes))
    names = Names(state, later, evidence, _people(reading.fields))
    events = tuple(_Reports(reading.fields, state, names, source, told).events())
    cut = reading.cut if source is Source.BLOCK else ""
    status = Status.CUT if cut else _STATUS[reading.status.value]
    said_by = "state block" if source is Source.BLOCK else source.value
    problems = tuple(f"{said_by}: {problem}" for problem in reading.problems)
    return Delta(
        (*head, *names.introduced, *events),
        Source.NONE if status is Status.FALLBACK else source,
        status,
        problems,
        cut=cut,
    )


def _people(fields: BlockFields) -> Iterator[str]:
    """The names that a block's fields say of people."""
    yield from (*(fields.present or ()), *fields.npc_met, *fields.npc_separated)
    for transfer in fields.items_transferred:
        yield from (each for each in (transfer.giver, transfer.receiver) if each)
    for change in fields.relationship_changes:
        yield from (change.source, change.target)
    yield from (status.name for status in fields.status_changes)


_DEAD_WORDS = frozenset(word for each in every() for word in each.block.dead.split())
_DEAD_ENDS = tuple(word for each in every() for word in each.block.dead_ends)
_WELL_WORDS = frozenset(fold_name(word) for each in every() for word in each.block.well.split())
_REVEALS = re.compile("|".join(each.names.reveals.replace("?P<name>", f"?P<{each.tag}>") for each in every()), re.I)
_BROKEN = re.compile("|".join(each.block.broken for each in every()))
_GONE = re.compile("|".join(f"{each.block.gone}|{each.block.broken}" for each in every()))
_COUNTED = re.compile(r"(?P<name>.*\S)\s+(?P<count>[1-9]\d{0,2})")
_ALIVE_WORDS = frozenset(word for each in every() for word in each.block.alive.split())


def _status(word: str) -> str:
    """A status in the word that the state knows it by: whoever is dead is ``dead``, whatever the block calls it."""
    folded = fold_name(word).strip(".!。！")
    if folded in _DEAD_WORDS or (_DEAD_ENDS and folded.endswith(_DEAD_ENDS)):
        return DEAD
    return ALIVE if folded in _ALIVE_WORDS or folded in _WELL_WORDS else word


def _is_gone(word: str) -> bool:
    """Whether a status says that a thing is no more."""
    return _GONE.search(word.casefold()) is not None


def mention_event(lore: Iterable[str]) -> tuple[Event, ...]:
    """The event for lore entries that a turn's words named; nothing for none."""
    named = tuple(lore)
    return (deltas.Mentioned(named),) if named else ()


@frozen
class _Reports:
    """What a block's fields report, as events."""

    fields: BlockFields
    state: WorldState
    names: Names
    source: Source
    told: str

    def events(self) -> Iterator[Event]:
        """In an order that the fold reads rightly: who stays behind, where one goes, whom one meets there, the rest."""
        told = list(self._statuses())
        statuses = [each for each in told if isinstance(each, deltas.StatusChanged)]
        yield from (each for each in told if not isinstance(each, deltas.StatusChanged))
        # Whoever comes back to life can be met again in the same reply, and whoever dies in it is no company any more.
        yield from (each for each in statuses if each.status != DEAD)
        yield from self._whereabouts()
        yield from self._belongings()
        yield from self._destroyed()
        yield from self._relations()
        yield from (each for each in statuses if each.status == DEAD)
        player, fields = self.state.player, self.fields
        if fields.mood:
            yield deltas.MoodChanged(player, fields.mood)
        if fields.event_trigger:
            event = self.names.ensure(Kind.EVENT, fields.event_trigger)
            yield deltas.EventTriggered(event, fields.event_trigger, self._participants(fields.event_trigger))
        if fields.notes:
            yield from self._other_names().told_in(fields.notes)
            yield deltas.Noted(fields.notes)

    # -- who is where ------------------------------------------------------------------------------------------------

    def _whereabouts(self) -> Iterator[Event]:
        fields, state, player = self.fields, self.state, self.state.player
        if fields.present and self.source is Source.BLOCK:
            learn_other_names(self.names, state, fields.present, fields.npc_met)
        left = [who for told in fields.npc_separated for who in self._people(told)]
        met = [who for told in fields.npc_met for who in self._people(told) if who != player]
        place = self._place(fields.location) if fields.location else None
        present = self._present()
        moves = place is not None and state.location is not None and place != state.location
        stays: list[str] = []
        if present is not None:
            stays = [who for who in state.present if who not in present]
            met = present
        elif moves:
            stays = [who for who in self._left_behind(met) if who not in left]
        said = left if present is None else [who for who in left if who not in present]
        parted = dict.fromkeys((*said, *stays))
        yield from (deltas.Separated(who, away=not moves) for who in parted if who != player)
        # Turns above may be read later and move the player elsewhere: who says that one went there says where one is.
        if place is not None and (place != state.location or fields.location_moved):
            yield deltas.Moved(player, place)
        yield from (deltas.Met(who) for who in dict.fromkeys(met))

    def _place(self, told: str) -> str:
        """The place of that name: also the one where the player is, by the last part of its name alone."""
        here = self.state.location
        if here is not None and self.names.find(Kind.LOCATION, told) is None:
            short, long = sorted((told, self.state.name(here)), key=len)
            if is_last_part(short, long) and (long != told or not self.fields.location_moved):
                self.names.learn(here, told, Kind.LOCATION)
        return self.names.ensure(Kind.LOCATION, told)

    def _people(self, told: str) -> list[str]:
        return [self.names.ensure(Kind.CHARACTER, name) for name in self.names.joined(told)]

    def _present(self) -> list[str] | None:
        """The complete company that the block names; None where it names none."""
        told = self.fields.present
        if told is None or (not told and self.source is Source.EXTRACTION):
            return None  # a small model leaves an empty list for whatever it was not told
        return [who for name in told for who in self._people(name) if who != self.state.player]

    def _left_behind(self, met: list[str]) -> list[str]:
        """Who of the company does not come along to another place, where the block has no complete list.

        A block that names anybody of the company again names all who come along. One that names nobody takes the
        company along, but not those who belong to the place: who were never elsewhere with the player, and of whom
        neither the player nor the reply speaks.
        """
        state = self.state
        named = [who for who in met if who in state.present]
        if named:
            return [who for who in state.present if who not in named]
        spoken = set(self.names.named_in(self.told))
        where = state.whereabouts
        return [who for who in state.present if who in where and not where[who].along and who not in spoken]

    # -- who has what ------------------------------------------------------------------------------------------------

    def _belongings(self) -> Iterator[Event]:
        fields, names, player = self.fields, self.names, self.state.player
        if fields.hp is not None:
            yield deltas.HpSet(player, fields.hp.now, fields.hp.top)
        elif fields.hp_change:
            yield deltas.HpChanged(player, fields.hp_change)
        given = [self._transfer(transfer) for transfer in fields.items_transferred]
        handed = {(giver, thing) for giver, _, thing, _ in given} | {(taker, thing) for _, taker, thing, _ in given}
        for item in fields.items_gained:
            name, owner = names.owner_in(item.name)
            thing, owner = names.ensure(Kind.ITEM, name), owner or player
            if (owner, thing) not in handed:  # else the block reports it twice
                yield self._gained(owner, thing, item.quantity)
        for item in fields.items_lost:
            name, owner = names.owner_in(item.name)
            owner = owner or player
            thing, quantity = self._handed(owner, name, item.quantity)
            passed = sum(count for giver, _, given_thing, count in given if (giver, given_thing) == (owner, thing))
            # What is lost and handed over is one loss told twice, unless there is enough of it for both.
            if not passed or self._count(owner, thing) >= passed + quantity:
                yield deltas.ItemLost(owner, thing, quantity)
        for giver, receiver, thing, quantity in given:
            if giver is not None and receiver is not None and giver != receiver:
                yield deltas.ItemTransferred(giver, receiver, thing, quantity)
            elif giver is None and receiver is not None:
                yield self._gained(receiver, thing, quantity)
            elif giver is not None and receiver is None:
                yield deltas.ItemLost(giver, thing, quantity)
        for coins in fields.money:
            yield deltas.ItemCounted(player, names.ensure(Kind.ITEM, coins.name), coins.quantity)

    def _transfer(self, transfer: ItemTransfer) -> tuple[str | None, str | None, str, int]:
        """Giver, receiver, thing and quantity. What is given is something that the giver has.

        Of whom the block does not speak is the player, but nobody hands himself anything. None: it is not known who.
        """
        giver, receiver = self._hand(transfer.giver), self._hand(transfer.receiver)
        if giver == receiver == self.state.player and transfer.giver != transfer.receiver:
            giver, receiver = giver if transfer.giver else None, receiver if transfer.receiver else None
        if giver is None:
            return giver, receiver, self.names.ensure(Kind.ITEM, transfer.item), transfer.quantity
        return giver, receiver, *self._handed(giver, transfer.item, transfer.quantity)

    def _handed(self, giver: str, name: str, quantity: int) -> tuple[str, int]:
        """The thing, and how many of it, that leaves somebody's hands.

        A number at the end of a name is how many, where there are as many of what it is called without, and nothing is
        called so with it; and a number that was read as how many belongs to the name of what is called so with it.
        """
        names = self.names
        hands = self.state.belongings.get(giver, {})
        thing = names.find(Kind.ITEM, name)
        if thing in hands and thing is not None:
            return thing, quantity
        if quantity == 1 and (counted := _COUNTED.fullmatch(name)):
            thing, count = names.held_by(giver, counted["name"]), int(counted["count"])
            if thing is not None and hands[thing].quantity >= count:
                return thing, count
        if quantity > 1:
            thing = names.find(Kind.ITEM, f"{name} {quantity}")
            if thing in hands and thing is not None and names.held_by(giver, name) in (None, thing):
                return thing, 1
        return names.held_by(giver, name) or names.ensure(Kind.ITEM, name), quantity

    def _hand(self, told: str | None) -> str | None:
        return self.state.player if told is None else self.names.ensure(Kind.CHARACTER, told) if told else None

    def _gained(self, owner: str, thing: str, quantity: int) -> Event:
        holder = self._holder(thing, quantity, owner)
        if holder is None:
            return deltas.ItemGained(owner, thing, quantity)
        return deltas.ItemTransferred(holder, owner, thing, quantity)

    def _holder(self, thing: str, quantity: int, owner: str) -> str | None:
        """Who of the company has just what somebody gains: then it was taken or handed over, and not found."""
        state = self.state
        hands = {who: state.belongings.get(who, {}) for who in (*state.present, state.player) if who != owner}
        holders = [who for who, own in hands.items() if thing in own and own[thing].quantity == quantity]
        if not holders and quantity == 1 and is_particular(state.name(thing)):
            # What has a name of its own there is one of: it was taken back, wherever its holder is.
            holders = [who for who, own in state.belongings.items() if who != owner and thing in own]
        return holders[0] if len(holders) == 1 and not self._count(owner, thing) else None

    def _count(self, owner: str, thing: str) -> int:
        stack = self.state.belongings.get(owner, {}).get(thing)
        return stack.quantity if stack is not None else 0

    # -- who is what -------------------------------------------------------------------------------------------------

    def _relations(self) -> Iterator[Event]:
        said: dict[tuple[str, str], str] = {}
        for change in self.fields.relationship_changes:
            source = self.names.ensure(Kind.CHARACTER, change.source)
            target = self.names.ensure(Kind.CHARACTER, change.target)
            if source != target:
                said[source, target] = change.type
                yield deltas.RelationChanged(source, target, change.type, change.delta)
        yield from self._paid(said)

    def _paid(self, said: Mapping[tuple[str, str], str]) -> Iterator[Event]:
        """Debts that are settled, where the block says so in another way than by that relation.

        By the relation the other way round, or in a note. A note's sentence settles what is between two if it names
        both, of whom the player may go unnamed, and nobody else; one that names nobody settles the only debt there is.
        """
        debts = {
            pair: each
            for pair, each in self.state.relations.items()
            if is_debt(each.type) and said.get(pair, each.type) == each.type  # a block may repeat what was so
        }
        for source, target in list(debts):
            if is_settled(said.get((target, source), "")):
                yield deltas.RelationChanged(source, target, said[target, source], 0)
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
        """Things and places that are no more, by their status. One that nobody has named yet is a thing."""
        for status in self.fields.status_changes:
            if self.names.find(Kind.CHARACTER, status.name) is not None or not _is_gone(status.status):
                continue
            place = self.names.find(Kind.LOCATION, status.name)
            thing = place or self.names.ensure(Kind.ITEM, status.name)
            yield deltas.AttributeSet(thing, "status", status.status)
            for owner, hands in self.state.belongings.items():
                if thing in hands:
                    yield deltas.ItemLost(owner, thing, hands[thing].quantity)

    def _other_names(self) -> OtherNames:
        return OtherNames(self.names, self.state.player, self.told)

    def _statuses(self) -> Iterator[Event]:
        for status in self.fields.status_changes:
            character = self.names.find(Kind.CHARACTER, status.name)
            if character is None and (
                self.names.find(Kind.ITEM, status.name) or self.names.find(Kind.LOCATION, status.name)
            ):
                continue  # things and places have no health
            if character is None and _BROKEN.search(status.status.casefold()):
                continue  # a thing that nobody has named yet
            revealed = _REVEALS.fullmatch(status.status.strip(" .。"))
            if revealed is not None and revealed.lastgroup is not None:
                yield from self._other_names().revealed(status.name, revealed[revealed.lastgroup].strip())
                continue
            yield deltas.StatusChanged(self.names.ensure(Kind.CHARACTER, status.name), _status(status.status))

    def _participants(self, event: str) -> tuple[str, ...]:
        """Who took part in an event: those whom it names. One that names nobody happened to the player."""
        return tuple(self.names.named_in(event)) or (self.state.player,)
