"""Handles taking, buying, giving, using up and dropping items. Only items that the player carries can be used."""

from __future__ import annotations

import re

from attrs import evolve

from saga_backends.chat.offline.intent import Act, Amount, Intent
from saga_backends.chat.offline.people import find
from saga_backends.chat.offline.scene import resolve
from saga_backends.chat.offline.telling import Telling

HEALING = 30
"""The hit points that a remedy restores."""
MEAL = 5
"""The hit points that food and drink restore."""
_REMEDY = re.compile(r"물약|포션|약|연고|potion|elixir|draught|tonic|salve|balm|herb", re.IGNORECASE)
_SALVE = re.compile(r"연고|고약|salve|balm", re.IGNORECASE)
_FOOD = re.compile(r"빵|육포|사과|음식|bread|biscuit|apple|ration|food|cake|meat", re.IGNORECASE)
_NO_THING = frozenset("hand hands arm seat step breath look care time aim notice heed turn 손 자리 숨 팔 마음".split())


def handle(telling: Telling, intent: Intent) -> bool:
    """Perform an action with an item. Returns False if it could not be done."""
    item = intent.item
    if item is None or not item.name or item.name.split()[-1].casefold() in _NO_THING:
        return telling.line("idle")
    match intent.act:
        case Act.TAKE:
            return _take(telling, item, intent.person)
        case Act.BUY:
            return _buy(telling, item, intent.price, intent.person)
        case Act.GIVE:
            return _give(telling, item, intent.person)
        case Act.WIELD:
            return has_tool(telling, item.name) and telling.line("wield", item=telling.owned(item.name))
    return _use_up(telling, item, lose=intent.act is Act.DROP)


def has_tool(telling: Telling, name: str) -> bool:
    """Return whether the player has the item. If not, the reply says so."""
    return bool(telling.owned(name)) or telling.refuse("lacking", item=name)


def _take(telling: Telling, item: Amount, person: str) -> bool:
    giver = resolve(person, telling.scene.around)
    shown = telling.voice.amount(item)
    telling.gain(item, giver)
    if not giver:
        return telling.line("take", item=shown)
    telling.meet(giver)
    return telling.line("take_from", person=giver, item=shown)


def _buy(telling: Telling, item: Amount, price: Amount | None, person: str) -> bool:
    seller = find(telling, person) if person else ""
    if person and not seller:
        return False
    if price:
        coin = telling.owned(price.name, price.quantity)
        if not coin:
            return telling.refuse("short", item=price.name)
        if seller:
            telling.hand_over(coin, price.quantity, seller)
        else:
            telling.lose(coin, price.quantity)
    telling.gain(item, seller)
    shown = telling.voice.amount(item)
    if not seller:
        return telling.line("buy_alone", item=shown)
    telling.meet(seller)
    return telling.line("buy", person=seller, item=shown)


def _give(telling: Telling, item: Amount, person: str) -> bool:
    name = telling.owned(item.name, item.quantity)
    if not name:
        return telling.refuse("lacking", item=item.name)
    who = find(telling, person)
    if not who:
        return False
    telling.meet(who)
    telling.hand_over(name, item.quantity, who)
    return telling.line("give", person=who, item=telling.voice.amount(evolve(item, name=name)))


def _use_up(telling: Telling, item: Amount, *, lose: bool) -> bool:
    name = telling.owned(item.name, item.quantity)
    if not name:
        return telling.refuse("lacking", item=item.name)
    telling.lose(name, item.quantity)
    shown = telling.voice.amount(evolve(item, name=name))
    if lose:
        return telling.line("drop", item=shown)
    gained = telling.heal((HEALING if _REMEDY.search(name) else MEAL) * item.quantity)
    way = "salve" if _SALVE.search(name) else "eat" if _FOOD.search(name) else "drink"
    return telling.line(way, item=shown) and telling.line("healed" if gained else "unhurt")
