"""Play a story by the rules of the engine, and write it down: the chat with all that was taken back, and questions.

A story is a list of records, each a mapping ready for JSON. tests/fork/README.md describes them. The same arguments
give the same story.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from attrs import define, evolve, field, frozen

from tests.fork.engine import Broken, Event, Key, State, Town, keys
from tests.fork.language import Language, filled, language

FORMAT = 1
Record = dict[str, Any]
_OPS = ("swipe", "edit", "branch", "return")
_OFTEN = (6, 2, 1, 1)
_EDITED = 3
"""How many of the last replies may be edited."""
_BACK = (2, 8)
"""How many turns a branch goes back, at least and at most."""
_REMEMBERED = 2
"""To how many of the paths that were left last the player may return."""
_EVERY = 5
"""Turns between questions."""
_ASKED = 4
_NONE = ""
"""What is true of a wound that is healed, and of a plan that is done."""


Gone = dict[Key, dict[str, set[str]]]
"""What replies that are gone told: by what it is about and by value, the steps that took it back."""


@frozen
class Node:
    """A turn: the player's words, the sentences of the reply, and what the reply changed."""

    id: int
    asked: int
    """The number of the player's words, which swiped replies share."""
    words: str
    sentences: tuple[tuple[str, int], ...]
    """Each sentence with the index of its event, -1 for none."""
    events: tuple[Event, ...]
    edited: bool = False


@define
class _Story:
    town: Town
    spoken: Language
    dice: random.Random
    rate: float
    path: tuple[Node, ...]
    """The turns that the chat shows, first the greeting."""
    leaves: list[tuple[Node, ...]] = field(factory=list)
    """Paths that were left and may be returned to."""
    written: list[Node] = field(factory=list)
    """All turns ever written, also those that were taken back."""
    gone: dict[int, str] = field(factory=dict)
    """By turn that was taken back, the step that did it last."""
    drawn: int = 0
    asked: int = 0
    _folded: tuple[tuple[Node, ...], list[State]] = ((), [])
    """The path that was folded last, and the state after each of its turns."""

    def state(self, path: Sequence[Node]) -> State:
        """What is true after ``path``. Raises ``Broken`` if a reply in it is impossible."""
        return self.states(path)[-1] if path else State()

    def states(self, path: Sequence[Node]) -> list[State]:
        """What is true after each turn of ``path``. Raises ``Broken`` as ``state`` does."""
        known = sum(takewhile(bool, (one is other for one, other in zip(path, self._folded[0], strict=False))))
        found = self._folded[1][:known]
        for node in path[known:]:
            found.append(self.town.after(found[-1] if found else State(), node.events))
        self._folded = (tuple(path), found)
        return found

    # --- Turns ----------------------------------------------------------------------------------------------------

    def turn(self, above: Sequence[Node], again: Node | None = None) -> Node:
        """A new turn below ``above``; with ``again``, another reply to the words of that turn."""
        state = self.state(above)
        events = self.town.happening(state, self.dice)
        words = again.words if again else self._words(events)
        return self.written_node(words, self._sentences(events, state), events, again)

    def written_node(
        self,
        words: str,
        sentences: Iterable[tuple[str, int]],
        events: Iterable[Event],
        again: Node | None = None,
        *,
        edited: bool = False,
    ) -> Node:
        """A turn, noted as written. With ``again``, it answers the same words as that turn."""
        self.drawn += 1
        asked = again.asked if again else self.drawn
        node = Node(self.drawn, asked, words, tuple(sentences), tuple(events), edited)
        self.written.append(node)
        return node

    def _words(self, events: Sequence[Event]) -> str:
        """The player's words before a reply. They name at most what an event is about, never what became of it."""
        if not events:
            return self._said("say", "idle", {})
        event = events[0]
        if event["do"] == "move":
            return self._said("say", "walk" if event["who"] == self.town.player else "move", {"who": event["who"]})
        if event["do"] == "know":
            return self._said("say", "know", {})
        return self._said("say", event["do"], {"who": event.get("who", ""), "thing": event.get("thing", "")})

    def _sentences(self, events: Sequence[Event], state: State) -> Iterator[tuple[str, int]]:
        company = self.town.company(state, self.town.player)
        for number, event in enumerate(events):
            yield from self._filling(company)
            yield self.told(event, state), number
            state = self.town.after(state, [event])
        yield from self._filling(company)

    def _filling(self, company: Sequence[str]) -> Iterator[tuple[str, int]]:
        for _ in range(self.dice.choices((0, 1, 2), (3, 5, 2))[0]):
            if company and self.dice.random() < 0.5:
                yield self._said("fill", "with", {"who": self.dice.choice(company)}), -1
            else:
                yield self._said("fill", "any", {}), -1

    def told(self, event: Event, state: State) -> str:
        """The sentence of the reply that says what happened. It names one value and no other."""
        player = self.town.player
        match event["do"]:
            case "move":
                who, to = event["who"], event["to"]
                here = state.at.get(player)
                seen = here in (to, state.at.get(who))
                row = "walk" if who == player else "move" if seen else "move_away"
                return self._said("tell", row, {"who": who, "value": to})
            case "hold":
                row = "hold_player" if event["by"] == player else "hold"
                return self._said("tell", row, {"thing": event["thing"], "value": event["by"]})
            case "lay":
                return self._said("tell", "lay", {"thing": event["thing"], "value": event["in"]})
            case "know":
                who = self.spoken.list.join(event["who"])
                return self._said("tell", "know", {"who": who, "value": event["fact"]})
        value = event.get("with") or event.get("to") or ""
        return self._said("tell", event["do"], {"who": event["who"], "value": value})

    def _said(self, section: str, row: str, slots: Mapping[str, str]) -> str:
        return filled(self.dice.choice(self.spoken.templates[section][row]), slots)

    # --- What is taken back ---------------------------------------------------------------------------------------

    def taken_back(self) -> Record | None:
        """Take something back, and return the step; None if the chat is too short for what the dice chose."""
        op = self.dice.choices(_OPS, _OFTEN)[0]
        path = getattr(self, f"_{op}")()
        return None if path is None else self.step(op, path)

    def _swipe(self) -> tuple[Node, ...] | None:
        if len(self.path) < 2:
            return None
        above, last = self.path[:-1], self.path[-1]
        return (*above, self.turn(above, last))

    def _edit(self) -> tuple[Node, ...] | None:
        """Change one fact in one of the last replies, so that all that follows is still possible."""
        places = range(max(1, len(self.path) - _EDITED), len(self.path))
        found = []
        for at in places:
            node, before = self.path[at], self.state(self.path[:at])
            for number, event in enumerate(node.events):
                here = self.town.after(before, node.events[:number])
                found += [(at, number, other, here) for other in self.town.others(event, here)]
        self.dice.shuffle(found)
        for at, number, other, here in found:
            node = self.path[at]
            events = (*node.events[:number], other, *node.events[number + 1 :])
            try:
                self.state((*self.path[:at], evolve(node, events=events), *self.path[at + 1 :]))
            except Broken:
                continue
            text_now = self.told(other, here)
            sentences = [(text_now if index == number else text, index) for text, index in node.sentences]
            new = self.written_node(node.words, sentences, events, node, edited=True)
            return (*self.path[:at], new, *self.path[at + 1 :])
        return None

    def _branch(self) -> tuple[Node, ...] | None:
        least, most = _BACK
        if len(self.path) < least + 2:
            return None
        back = self.dice.randint(least, min(most, len(self.path) - 2))
        self._leave()
        above = self.path[:-back]
        return (*above, self.turn(above))

    def _return(self) -> tuple[Node, ...] | None:
        others = [leaf for leaf in self.leaves if leaf[-1] not in self.path]
        if not others:
            return None
        chosen = self.dice.choice(others)
        self.leaves = [leaf for leaf in self.leaves if leaf is not chosen]
        self._leave()
        return chosen

    def _leave(self) -> None:
        """Remember the path as it is, and forget all but the latest ones."""
        self.leaves = [*self.leaves, self.path][-_REMEMBERED:]

    # --- Records --------------------------------------------------------------------------------------------------

    def step(self, op: str, path: tuple[Node, ...]) -> Record:
        """The record of a step from the chat as it is to ``path``."""
        old = [message["id"] for message in self.messages()]
        kept = {node.id for node in path}
        self.gone |= {node.id: op for node in self.path if node.id not in kept}
        self.path = path
        chat = self.messages()
        alike = (one == message["id"] for one, message in zip(old, chat, strict=False))
        keep = sum(takewhile(bool, alike))
        return {"type": "step", "op": op, "keep": keep, "add": chat[keep:]}

    def messages(self) -> list[Record]:
        """The chat as it is."""
        found: list[Record] = []
        for node, state in zip(self.path, self.states(self.path), strict=True):
            if node.words:
                found.append({"id": f"u{node.asked}", "role": "user", "content": node.words})
            reply: Record = {
                "id": f"a{node.id}",
                "role": "assistant",
                "content": self.spoken.join.join(text for text, _ in node.sentences),
                "events": [dict(event) for event in node.events],
                "scene": {
                    "place": state.at[self.town.player],
                    "present": self.town.company(state, self.town.player),
                },
            }
            if node.edited:
                reply["edited"] = True
            found.append(reply)
        return found

    # --- Questions ------------------------------------------------------------------------------------------------

    def questions(self, count: int) -> list[Record]:
        """Questions about what is true now, of a random kind each.

        Half of them are about something that a reply now gone told otherwise, where there is such a thing.
        """
        values, past, since = self._said_here()
        gone: Gone = {}
        shown = {node.id for node in self.path}
        for node in self.written:
            if node.id not in shown:
                for event in node.events:
                    for key, value in _values(event):
                        gone.setdefault(key, {}).setdefault(value, set()).add(self.gone[node.id])
        asked: list[Record] = []
        able = sorted(self._askable(values, gone, since))
        while able and len(asked) < count:
            kind = self.dice.choice(sorted({key[0] for key in able}))
            alike = [key for key in able if key[0] == kind]
            traps = [key for key in alike if set(gone.get(key, ())) - past.get(key, set()) - {_NONE}]
            key = self.dice.choice(traps if traps and self.dice.random() < 0.5 else alike)
            able.remove(key)
            asked.append(self._question(key, values, past, gone, since))
        return asked

    def _said_here(self) -> tuple[dict[Key, str], dict[Key, set[str]], dict[Key, int]]:
        """By what it is about: the value now, all values of the path, and how many turns ago the value was told."""
        values: dict[Key, str] = {}
        past: dict[Key, set[str]] = {}
        since: dict[Key, int] = {}
        for depth, node in enumerate(self.path):
            for event in node.events:
                for key, value in _values(event):
                    values[key] = value
                    past.setdefault(key, set()).add(value)
                    since[key] = len(self.path) - 1 - depth
        return values, past, since

    def _askable(self, values: Mapping[Key, str], gone: Gone, since: dict[Key, int]) -> Iterator[Key]:
        """What can be asked now: what has a value, and as often who knows something as who does not."""
        known = [key for key in values if key[0] == "knows"]
        me = ("place", self.town.player)
        yield from (key for key, value in values.items() if value != _NONE and key[0] != "knows" and key != me)
        facts: dict[str, int] = {}
        for key in known:
            facts[key[2]] = min(since[key], facts.get(key[2], since[key]))
        strangers = [("knows", who, fact) for fact in sorted(facts) for who in self.town.people]
        strangers = [key for key in strangers if key not in values]
        trapped = [key for key in sorted(gone) if key[0] == "knows" and key not in values]
        count = min(len(known), len(strangers) + len(trapped))
        yield from self.dice.sample(known, count)
        chosen = trapped[:count]
        rest = [key for key in strangers if key not in chosen]
        chosen += self.dice.sample(rest, min(len(rest), count - len(chosen)))
        for key in chosen:
            since.setdefault(key, facts.get(key[2], len(self.path) - 1))
            yield key

    def _question(
        self,
        key: Key,
        values: Mapping[Key, str],
        past: Mapping[Key, set[str]],
        gone: Gone,
        since: Mapping[Key, int],
    ) -> Record:
        self.asked += 1
        kind, about = key[0], key[1]
        withdrawn = set(gone.get(key, ())) - past.get(key, set()) - {_NONE}
        record: Record = {"type": "question", "id": f"q{self.asked}", "kind": kind, "about": list(key[1:])}
        if kind == "knows":
            slots = {"who": about, "fact": key[2]}
            record |= {"answer": "yes" if key in values else "no", "withdrawn": ["yes"] if withdrawn else []}
        else:
            slots = {"thing" if kind == "holder" else "who": about}
            stale = past[key] - {values[key], _NONE}
            record |= {"answer": values[key], "stale": sorted(stale), "withdrawn": sorted(withdrawn)}
        record["text"] = self._said("ask", kind, slots)
        record["since"] = since[key]
        record["by"] = sorted({op for value in withdrawn for op in gone[key][value]})
        return record


def _values(event: Event) -> Iterator[tuple[Key, str]]:
    """What ``event`` decides, with the value that it gives."""
    value = event.get("by") if event["do"] == "hold" else event.get("in") or event.get("with") or event.get("to")
    for key in keys(event):
        yield key, "yes" if key[0] == "knows" else value or _NONE


def story(tag: str, seed: int, turns: int, rate: float) -> Iterator[Record]:
    """A story in the language ``tag``, played until its chat has ``turns`` turns.

    After each turn, something is taken back with the probability ``rate``: the reply is swiped, one of the last three
    replies is edited, the player branches off two to eight turns above, or returns to a path that was left.
    """
    dice = random.Random(f"fork {FORMAT} {tag} {seed} {turns} {rate}")
    spoken = language(tag)
    town = Town.built(spoken, dice)
    opening = tuple(town.opening(dice))
    play = _Story(town, spoken, dice, rate, ())
    sentences = [(spoken.greeting, -1)]
    for number, event in enumerate(opening):
        sentences.append((play.told(event, town.after(State(), opening[:number])), number))
    greeting = play.written_node("", sentences, opening)
    yield {
        "type": "story",
        "format": FORMAT,
        "id": f"{tag}-{turns}-{round(100 * rate)}-{seed}",
        "language": tag,
        "seed": seed,
        "turns": turns,
        "rate": rate,
        "player": town.player,
        "system": spoken.system,
    }
    play.path = (greeting,)
    yield {"type": "step", "op": "greeting", "keep": 0, "add": play.messages()}
    number = 0
    while len(play.path) <= turns:
        number += 1
        yield play.step("turn", (*play.path, play.turn(play.path)))
        while dice.random() < rate:
            if (step := play.taken_back()) is not None:
                yield step
        if number % _EVERY == 0:
            yield from play.questions(_ASKED)
