"""A reply under construction, with its sentences, the changes that they tell, and the current scene."""

from __future__ import annotations

import re

from attrs import define, evolve, field

from saga_backends.chat.offline.intent import Amount
from saga_backends.chat.offline.scene import Scene, resolve
from saga_backends.chat.offline.voice import Voice
from saga_core.language import fold_name, mentions
from saga_core.state_block import BlockFields, ItemAmount, ItemTransfer, RelationChange, StatusChange

_HOSTILE = re.compile(r"hostile|적대", re.IGNORECASE)
_OWNS = re.compile(r"(?<!\s)\s*\((?:가진 것|has)\)$")
_SHORT = 220


@define
class Telling:
    """The reply so far. Later actions in the same reply see the changes of earlier ones."""

    scene: Scene
    voice: Voice
    variant: int
    prose: list[str] = field(factory=list)
    mood: str | None = None
    event: str | None = None
    moved: bool = False
    hp: int = 0
    _notes: list[str] = field(factory=list)
    _gained: list[ItemAmount] = field(factory=list)
    _lost: list[ItemAmount] = field(factory=list)
    _transferred: list[ItemTransfer] = field(factory=list)
    _met: list[str] = field(factory=list)
    _separated: list[str] = field(factory=list)
    _relations: list[RelationChange] = field(factory=list)
    _statuses: list[StatusChange] = field(factory=list)

    def line(self, key: str, **words: str) -> bool:
        """Add a sentence. Returns True, which means that the action succeeded."""
        self.prose.append(self.voice.say(key, self.variant, **words))
        return True

    def refuse(self, key: str, **words: str) -> bool:
        """Add a sentence about why the action is impossible. Returns False, which ends the turn."""
        self.line(key, **words)
        return False

    def note(self, key: str, **words: str) -> None:
        """Add a remark to the state block."""
        self._notes.append(self.voice.phrase(key, **words))

    def fields(self) -> BlockFields:
        """Return the changes for the state block."""
        place = self.scene.place
        return BlockFields(
            location=place or None,
            location_moved=self.moved if place else None,
            hp_change=self.hp or None,
            items_gained=tuple(self._gained),
            items_lost=tuple(self._lost),
            items_transferred=tuple(self._transferred),
            npc_met=tuple(self._met),
            npc_separated=tuple(self._separated),
            relationship_changes=tuple(self._relations),
            status_changes=tuple(self._statuses),
            mood=self.mood,
            event_trigger=self.event,
            notes="; ".join(self._notes) or None,
        )

    @property
    def player(self) -> str:
        """The player's name in the state block."""
        return self.scene.player or self.voice.words["player"]

    def arrive(self, place: str) -> None:
        """Move the player and their company to ``place``. Hostile characters stay behind."""
        for who in self.scene.present:
            if self._hostile(who):
                self.leave(who)
        self.scene = evolve(self.scene, place=place, nearby=(), ways=())
        self.moved = True
        self.note("note_go", place=place)

    def meet(self, who: str) -> None:
        """Add ``who`` to the player's company."""
        if who not in self.scene.present:
            self._met.append(who)
            self.note("note_met", person=who)
            self.scene = evolve(self.scene, present=(*self.scene.present, who))

    def leave(self, who: str) -> None:
        """Remove ``who`` from the player's company."""
        self._separated.append(who)
        self.scene = evolve(self.scene, present=tuple(name for name in self.scene.present if name != who))

    def feel(self, who: str, feeling: str, delta: int) -> None:
        """Change the relationship between the player and ``who``."""
        self._relations.append(RelationChange(self.player, who, feeling, delta))

    def fall(self, who: str) -> None:
        """Let ``who`` die."""
        if who in self.scene.present:
            self.leave(who)
        self._statuses.append(StatusChange(who, "dead"))
        self.event = self.voice.phrase("death", name=who)
        self.scene = evolve(self.scene, dead=(*self.scene.dead, who))

    def fell(self, person: str) -> bool:
        """Return whether an earlier reply told of this person's death. Only used if there is no SAGA block."""
        marks = self.voice.words["death_marks"].split("|")
        said = () if self.scene.told else self.scene.said
        return any(mentions(text, person) and any(mark in text for mark in marks) for text in said)

    def gain(self, item: Amount, giver: str = "") -> None:
        """Give the player an item, under its known name if there is one.

        If the prompt says that the giver had the item, it is transferred from them.
        """
        wanted = fold_name(item.name)
        known = (name for name, _ in (*self.scene.inventory, *self.scene.lore))
        name = next((name for name in known if fold_name(name) == wanted), item.name)
        if giver and self._holds(giver, name):
            self._transferred.append(ItemTransfer(name, giver, self.player, item.quantity))
        else:
            self._gained.append(ItemAmount(name, item.quantity))
        self._carry(name, item.quantity)

    def lose(self, name: str, quantity: int) -> None:
        """Take some of an item from the player."""
        self._lost.append(ItemAmount(name, quantity))
        self._carry(name, -quantity)

    def hand_over(self, name: str, quantity: int, receiver: str) -> None:
        """Transfer an item from the player to ``receiver``."""
        self._transferred.append(ItemTransfer(name, self.player, receiver, quantity))
        self._carry(name, -quantity)

    def owned(self, name: str, quantity: int = 1) -> str:
        """Return the known name of the item if the player has at least ``quantity`` of it, else "".

        Without a SAGA block, the player is assumed to have any item that the chat mentions.
        """
        scene = self.scene
        own = resolve(name, dict(scene.inventory))
        if own:
            return own if scene.count(own) >= quantity else ""
        return name if not scene.told and any(mentions(text, name) for text in scene.said) else ""

    def heal(self, amount: int) -> int:
        """Add hit points, up to the maximum if it is known. Returns how many were gained."""
        hp, top = self.scene.hp, self.scene.max_hp
        if hp is not None and top is not None:
            amount = max(0, min(amount, top - hp - self.hp))
        self.hp += amount
        return amount

    def wound(self, amount: int) -> int:
        """Remove hit points. If their number is known, at least one is left. Returns how many were lost."""
        if self.scene.hp is not None:
            amount = max(0, min(amount, self.scene.hp + self.hp - 1))
        self.hp -= amount
        return amount

    def _carry(self, name: str, quantity: int) -> None:
        held = dict(self.scene.inventory)
        held[name] = held.get(name, 0) + quantity
        self.scene = evolve(self.scene, inventory=tuple((item, count) for item, count in held.items() if count > 0))

    def _holds(self, who: str, item: str) -> bool:
        owned = next((line for line in self.scene.related if line.startswith(f"{who} →") and _OWNS.search(line)), "")
        return item in _OWNS.sub("", owned).partition("→")[2].strip().split(", ")

    def _hostile(self, who: str) -> bool:
        return any(mentions(line, who) and _HOSTILE.search(line) for line in self.scene.related)


def shortened(text: str) -> str:
    """Return the first sentences of a text, up to about two lines."""
    text = " ".join(text.split())
    if len(text) <= _SHORT:
        return text
    cut = text[:_SHORT]
    end = max(cut.rfind(mark) for mark in ".!?…")
    return cut[: end + 1] if end > 0 else cut.rstrip() + "…"
