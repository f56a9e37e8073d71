"""Intents, which are values that describe what the player wants to do."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

_LONGEST_NAME = 60


class Act(StrEnum):
    """The actions that the narrator understands."""

    GO = "go"
    LOOK = "look"
    TALK = "talk"
    PART = "part"
    TAKE = "take"
    BUY = "buy"
    GIVE = "give"
    DRINK = "drink"
    WIELD = "wield"
    """Use an item that is not used up."""
    ATTACK = "attack"
    REST = "rest"
    THANK = "thank"
    INSULT = "insult"
    DROP = "drop"
    CONTINUE = "continue"
    ASK_INVENTORY = "ask_inventory"
    ASK_PLACE = "ask_place"
    ASK_HP = "ask_hp"
    ASK_COMPANY = "ask_company"
    ASK_PAST = "ask_past"
    ASK_LORE = "ask_lore"


@frozen
class Amount:
    """A quantity of an item, named in the player's words."""

    name: str
    quantity: int = 1


@frozen
class Intent:
    """One action and its objects, in the player's words. The story decides whether these objects exist."""

    act: Act
    person: str = ""
    item: Amount | None = None
    place: str = ""
    topic: str = ""
    price: Amount | None = None
    """What the player offers for an item."""
    tool: str = ""
    """The item with which the action is performed."""
    deadly: bool = False
    """Whether the player means to kill."""

    @property
    def complete(self) -> bool:
        """Whether the action has the objects that it needs, and no name is too long to be a name."""
        things = [amount.name for amount in (self.item, self.price) if amount]
        if any(len(name) > _LONGEST_NAME for name in (self.person, self.place, self.topic, self.tool, *things)):
            return False
        match self.act:
            case Act.GO:
                return bool(self.place)
            case Act.TALK | Act.PART | Act.ATTACK | Act.THANK | Act.INSULT:
                return bool(self.person)
            case Act.TAKE | Act.BUY | Act.DRINK | Act.WIELD | Act.DROP:
                return self.item is not None
            case Act.GIVE:
                return self.item is not None and bool(self.person)
            case Act.ASK_PAST | Act.ASK_LORE:
                return bool(self.topic or self.person)
            case _:
                return True
