"""The rules of the fork test's stories: rooms, people with plans, things, wounds, and who knows what.

An *event* is one change, as a mapping ready for JSON. Names are the words of the language:

- ``{"do": "move", "who": "Mara", "to": "mill"}``
- ``{"do": "hold", "thing": "lantern", "by": "Mara"}``, ``{"do": "lay", "thing": "lantern", "in": "mill"}``
- ``{"do": "wound", "who": "Mara", "with": "burnt hand"}``, ``{"do": "heal", "who": "Mara"}``
- ``{"do": "plan", "who": "Mara", "to": "paint the gate"}``, ``{"do": "done", "who": "Mara"}``
- ``{"do": "know", "who": ["Mara"], "fact": "the well is poisoned", "by": "Tobin"}``
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from tests.fork.language import Language

Event = Mapping[str, Any]
Key = tuple[str, ...]
"""What an event says something about: ``("place", "Mara")``, ``("knows", "Mara", "the well is poisoned")``."""
_KINDS = ("move", "walk", "hold", "lay", "wound", "heal", "plan", "done", "know")
_WEIGHTS = (5, 3, 6, 3, 3, 1, 3, 1, 3)
_AWAY = 0.3
"""The share of moves that the player only hears of."""
_WITH = 0.5
"""How likely somebody who is with the player goes along."""
_TRIES = 40


class Broken(ValueError):
    """An event that the rules do not allow in this state."""


@frozen
class State:
    """What is true after a message. Who and what is in no mapping has not appeared yet."""

    at: Mapping[str, str] = {}
    held: Mapping[str, str] = {}
    """The person who has each thing."""
    lying: Mapping[str, str] = {}
    """The room in which each thing lies."""
    wounds: Mapping[str, str] = {}
    plans: Mapping[str, str] = {}
    known: frozenset[tuple[str, str]] = frozenset()
    """Pairs of a person and a fact."""


def keys(event: Event) -> tuple[Key, ...]:
    """What ``event`` decides."""
    match event["do"]:
        case "move":
            return (("place", event["who"]),)
        case "hold" | "lay":
            return (("holder", event["thing"]),)
        case "wound" | "heal":
            return (("wound", event["who"]),)
        case "plan" | "done":
            return (("plan", event["who"]),)
        case _:
            return tuple(("knows", who, event["fact"]) for who in event["who"])


@frozen
class Town:
    """The rules of one town. ``ways`` has the neighbours of each room."""

    language: Language
    player: str
    people: Sequence[str]
    rooms: Sequence[str]
    things: Sequence[str]
    ways: Mapping[str, Sequence[str]]
    sites: Mapping[str, str]
    """The room in which each task is done."""

    @classmethod
    def built(cls, spoken: Language, dice: random.Random) -> Town:
        """A town whose ways, and the sites of whose tasks, come from ``dice``."""
        rooms = list(spoken.words["rooms"])
        dice.shuffle(rooms)
        ways = {room: {rooms[at - 1], rooms[(at + 1) % len(rooms)]} for at, room in enumerate(rooms)}
        for _ in range(len(rooms) // 2):
            one, other = dice.sample(rooms, 2)
            ways[one].add(other)
            ways[other].add(one)
        return cls(
            spoken,
            spoken.player[0],
            spoken.words["people"],
            rooms,
            spoken.words["things"],
            {room: sorted(near) for room, near in ways.items()},
            {task: dice.choice(rooms) for task in spoken.words["tasks"]},
        )

    def after(self, state: State, events: Iterable[Event]) -> State:
        """The state after ``events``. Raises ``Broken`` if one of them is impossible."""
        for event in events:
            state = self._after(state, event)
        return state

    def _after(self, state: State, event: Event) -> State:
        match event["do"]:
            case "move":
                who, to = event["who"], event["to"]
                here = state.at.get(who)
                if here is not None and to not in self.ways[here]:
                    raise Broken(f"{who} cannot walk from {here} to {to}")
                return evolve(state, at={**state.at, who: to})
            case "hold":
                thing, by = event["thing"], event["by"]
                if thing in state.held or thing in state.lying:
                    where = state.lying.get(thing) or state.at[state.held[thing]]
                    if by == state.held.get(thing) or state.at.get(by) != where:
                        raise Broken(f"{by} cannot take the {thing}")
                elif by not in state.at:
                    raise Broken(f"{by} is nowhere yet")
                lying = {each: room for each, room in state.lying.items() if each != thing}
                return evolve(state, held={**state.held, thing: by}, lying=lying)
            case "lay":
                thing, room = event["thing"], event["in"]
                if thing in state.lying or (thing in state.held and state.at[state.held[thing]] != room):
                    raise Broken(f"the {thing} cannot be laid down in the {room}")
                held = {each: who for each, who in state.held.items() if each != thing}
                return evolve(state, held=held, lying={**state.lying, thing: room})
            case "wound":
                self._placed(state, event["who"])
                return evolve(state, wounds={**state.wounds, event["who"]: event["with"]})
            case "heal":
                if event["who"] not in state.wounds:
                    raise Broken(f"{event['who']} is not hurt")
                return evolve(state, wounds={k: v for k, v in state.wounds.items() if k != event["who"]})
            case "plan":
                self._placed(state, event["who"])
                return evolve(state, plans={**state.plans, event["who"]: event["to"]})
            case "done":
                who = event["who"]
                if who not in state.plans or state.at[who] != self.sites[state.plans[who]]:
                    raise Broken(f"{who} cannot have finished")
                return evolve(state, plans={k: v for k, v in state.plans.items() if k != who})
            case "know":
                return self._learned(state, event)
        raise Broken(f"no such event: {event['do']}")

    def _learned(self, state: State, event: Event) -> State:
        by, fact = event["by"], event["fact"]
        self._placed(state, by)
        if (by, fact) not in state.known and any(known == fact for _, known in state.known):
            raise Broken(f"{by} does not know it")
        hearers = {who for who in (by, *self.company(state, by)) if (who, fact) not in state.known}
        if not hearers or hearers != set(event["who"]):
            raise Broken("whoever is there hears it, and nobody else")
        return evolve(state, known=state.known | {(who, fact) for who in hearers})

    def _placed(self, state: State, who: str) -> None:
        if who not in state.at:
            raise Broken(f"{who} is nowhere yet")

    def company(self, state: State, who: str) -> list[str]:
        """The people in the same room as ``who``, without the player."""
        here = state.at.get(who)
        return [each for each in self.people if each != who and here is not None and state.at.get(each) == here]

    def opening(self, dice: random.Random) -> list[Event]:
        """The events of the greeting: where the player and two people are."""
        first = dice.choice(self.rooms)
        pair = dice.sample(list(self.people), 2)
        return [{"do": "move", "who": who, "to": first} for who in (self.player, *pair)]

    def happening(self, state: State, dice: random.Random) -> list[Event]:
        """What happens in one turn: one to three events, each about something else."""
        found: list[Event] = []
        decided: set[Key] = set()
        for _ in range(dice.choices((1, 2, 3), (5, 4, 2))[0]):
            for _ in range(_TRIES):
                events = self._event(dice.choices(_KINDS, _WEIGHTS)[0], state, dice)
                touched = {key for event in events for key in keys(event)}
                if not events or touched & decided:
                    continue
                try:
                    state = self.after(state, events)
                except Broken:
                    continue
                found += events
                decided |= touched
                break
        return found

    def _event(self, kind: str, state: State, dice: random.Random) -> list[Event]:
        here = state.at[self.player]
        near = self.company(state, self.player)
        someone = dice.choice(near) if near and dice.random() > _AWAY else dice.choice(list(self.people))
        match kind:
            case "move":
                return [{"do": "move", "who": someone, "to": self._step(state, someone, dice)}]
            case "walk":
                to = dice.choice(self.ways[here])
                company = [who for who in near if dice.random() < _WITH][:2]
                return [{"do": "move", "who": who, "to": to} for who in (self.player, *company)]
            case "hold":
                by = dice.choice([self.player, *near, *near])
                return [{"do": "hold", "thing": dice.choice(self.things), "by": by}]
            case "lay":
                thing = dice.choice(self.things)
                room = state.at[state.held[thing]] if thing in state.held else here
                return [{"do": "lay", "thing": thing, "in": room}]
            case "wound":
                wounds = [each for each in self.language.words["wounds"] if each != state.wounds.get(someone)]
                return [{"do": "wound", "who": someone, "with": dice.choice(wounds)}]
            case "heal":
                return [{"do": "heal", "who": dice.choice(sorted(state.wounds))}] if state.wounds else []
            case "plan":
                tasks = [each for each in self.sites if each != state.plans.get(someone)]
                return [{"do": "plan", "who": someone, "to": dice.choice(tasks)}]
            case "done":
                ready = [who for who, task in state.plans.items() if state.at[who] == self.sites[task]]
                return [{"do": "done", "who": dice.choice(sorted(ready))}] if ready else []
        return self._talk(state, dice)

    def _step(self, state: State, who: str, dice: random.Random) -> str:
        """Where ``who`` goes next. Somebody with a plan goes to where it is done, by the shortest way."""
        here = state.at.get(who)
        if here is None:
            return dice.choice([state.at[self.player], dice.choice(self.rooms)])
        site = self.sites[state.plans[who]] if who in state.plans else here
        return self.way(here, site) if site != here else dice.choice(self.ways[here])

    def way(self, here: str, there: str) -> str:
        """The first room on a shortest way from ``here`` to another room."""
        reached, edge = {there}, [there]
        while edge:
            following = []
            for room in edge:
                for near in self.ways[room]:
                    if near == here:
                        return room
                    if near not in reached:
                        reached.add(near)
                        following.append(near)
            edge = following
        raise ValueError(f"no way leads from {here} to {there}")

    def _talk(self, state: State, dice: random.Random) -> list[Event]:
        near = self.company(state, self.player)
        if not near:
            return []
        by = dice.choice(near)
        around = {fact for _, fact in state.known}
        facts = [f for f in self.language.words["facts"] if f not in around or (by, f) in state.known]
        if not facts:
            return []
        fact = dice.choice(facts)
        hearers = [who for who in (by, *self.company(state, by)) if (who, fact) not in state.known]
        return [{"do": "know", "who": hearers, "fact": fact, "by": by}] if hearers else []

    def others(self, event: Event, state: State) -> list[Event]:
        """Other outcomes of ``event`` in the state before it: of the same kind, about the same, with another value."""
        match event["do"]:
            case "move":
                rooms = self.ways[state.at[event["who"]]] if event["who"] in state.at else self.rooms
                found = [{**event, "to": room} for room in rooms if room != event["to"]]
            case "hold":
                found = [{**event, "by": who} for who in (self.player, *self.people) if who != event["by"]]
            case "wound":
                found = [{**event, "with": each} for each in self.language.words["wounds"] if each != event["with"]]
            case "plan":
                found = [{**event, "to": task} for task in self.sites if task != event["to"]]
            case _:
                found = []
        return found
