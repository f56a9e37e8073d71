"""Reads and writes the notation of one carried item and of one relation in a field."""

from __future__ import annotations

import re

from saga_core.language import every, language_of
from saga_core.world.model import ItemStack, SheetRelation

_EQUIPPED = re.compile(rf"(.*\S)\s*\((?:{'|'.join(each.world.equipped for each in every())})\)", re.IGNORECASE)
_QUANTITY = re.compile(r"(.*\S)\s+[xX×]\s?([0-9]{1,12})")
_NUMBER = re.compile(r"[+-]?[0-9]+")
_STRENGTH = re.compile(r"(.*\S)\s+([+-]?[0-9]{1,9})")


def read_stack(text: str) -> ItemStack | None:
    """Read ``치유 물약 x2``, ``불꽃 검 (장착)`` or ``arrow x20 (equipped)``; None if the quantity is 0."""
    worn = _EQUIPPED.fullmatch(text)
    name = worn.group(1) if worn is not None else text
    counted = _QUANTITY.fullmatch(name)
    if counted is None:
        return ItemStack(name, 1, worn is not None)
    quantity = int(counted.group(2))
    return ItemStack(counted.group(1), quantity, worn is not None) if quantity > 0 else None


def write_stack(stack: ItemStack, language: str) -> str:
    """The inverse of ``read_stack``. A name that would be misread is written with its quantity even if it is 1."""
    text = stack.name
    if stack.quantity != 1 or _QUANTITY.fullmatch(text) or _EQUIPPED.fullmatch(text):
        text += f" x{stack.quantity}"
    return f"{text} ({language_of(language).world.equipped})" if stack.equipped else text


def read_relation(text: str) -> SheetRelation | None:
    """Read ``에르겐: trusts +2``. Without a number the strength is 0. None if the name or the kind is missing."""
    to, _, kind = (part.strip() for part in text.rpartition(":"))
    graded = _STRENGTH.fullmatch(kind)
    strength = int(graded.group(2)) if graded is not None else 0
    kind = graded.group(1) if graded is not None else kind
    if not to or not kind or _NUMBER.fullmatch(kind):
        return None
    return SheetRelation(to, kind, strength)


def write_relation(relation: SheetRelation) -> str:
    """The inverse of ``read_relation``. A strength of 0 is left out if possible."""
    text = f"{relation.to}: {relation.type}"
    graded = relation.strength != 0 or _STRENGTH.fullmatch(relation.type) is not None
    return f"{text} {relation.strength:+d}" if graded else text
