"""Merges a block that was cut off with a second report of the same turn."""

from __future__ import annotations

from typing import Any

from attrs import fields as attributes

from saga_core.language import fold_name
from saga_core.state_block.fields import (
    BlockFields,
    CountReport,
    ItemAmount,
    ItemTransfer,
    RelationChange,
    StatusChange,
)
from saga_core.state_block.parser import parse_block
from saga_core.trackers import NO_TRACKERS, Trackers

_HIT_POINTS = {"hp", "hp_change"}
"""Two fields for the same fact. If the block states one of them, both count as stated."""


def merged(cut: str, rest: BlockFields, own: Trackers = NO_TRACKERS) -> BlockFields:
    """The fields of ``cut``, the body of a block that was cut off, completed with the fields of ``rest``.

    A field that the block states completely is taken from the block. Any other list keeps the elements read from the
    block and gains the missing ones from ``rest``. Any other field comes from ``rest``, if the block gave no value.
    """
    parsed = parse_block(cut, closed=False, own=own)
    stated = set(parsed.stated) - set(parsed.invalid)
    if stated & _HIT_POINTS:
        stated |= _HIT_POINTS
    found: dict[str, Any] = {}
    for attribute in attributes(BlockFields):
        read, more = getattr(parsed.fields, attribute.name), getattr(rest, attribute.name)
        if attribute.name in stated:
            found[attribute.name] = read
        elif isinstance(read, tuple) and isinstance(more, tuple):
            known = {_same(each) for each in read}
            found[attribute.name] = (*read, *(each for each in more if _same(each) not in known))
        else:
            found[attribute.name] = more if read is None else read
    return BlockFields(**found)


def _same(element: object) -> tuple[str, ...]:
    """A key that is equal for two elements of a list if they report the same thing."""
    if isinstance(element, ItemAmount | StatusChange):
        return (fold_name(element.name),)
    if isinstance(element, ItemTransfer):
        return (fold_name(element.item), fold_name(element.giver or ""), fold_name(element.receiver or ""))
    if isinstance(element, RelationChange):
        return (fold_name(element.source), fold_name(element.target))
    if isinstance(element, CountReport):
        return (element.tracker, fold_name(element.subject))
    return (fold_name(str(element)),)
