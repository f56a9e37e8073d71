"""Splits a list of a state block into its elements, whatever the notation of its records."""

from __future__ import annotations

import re
from collections.abc import Iterator

from saga_core.language import squash
from saga_core.state_block.fields import Kind, record_key
from saga_core.state_block.flow import Node, Pairs, Scalar, Seq
from saga_core.state_block.values import nothing_in_list

LONGEST = 1_000
"""The maximum number of characters of one element that is written as text."""
MUTUAL = re.compile(r"<-{1,3}>|<={1,3}>|↔|⇔|⟷")
ARROW = re.compile(rf"{MUTUAL.pattern}|-{{1,3}}>|={{1,3}}>|→|➔|➜|➡\ufe0f?|⇒")
_PAIR = re.compile(r"(?P<key>[^:：=＝]{1,40}?)\s*[:：=＝]\s*(?P<value>.*)", re.DOTALL)
_SLASH = re.compile(r"(?<!\s)\s+[/|／｜]\s+")


def records(node: Node, kind: Kind) -> Iterator[Node]:
    """The elements of ``node``. Nested lists are flattened; ``from: A, to: B, …`` without braces gives one record."""
    loose: list[tuple[str, Node]] = []
    for element in _each(_elements(node, kind), kind):
        pair = _loose_pair(element, kind)
        if pair and record_key(kind, pair[0]) not in {record_key(kind, key) for key, _ in loose}:
            loose.append(pair)
            continue
        if loose:
            yield Pairs(tuple(loose))
        loose = [pair] if pair else []
        if not pair:
            yield element
    if loose:
        yield Pairs(tuple(loose))


def _each(elements: Iterator[Node], kind: Kind) -> Iterator[Node]:
    """The elements, split at slashes and bars with spaces around them, and without phrases for "nothing"."""
    for element in elements:
        if not isinstance(element, Scalar) or element.quoted or element.literal:
            yield element
        elif (
            kind in (Kind.ITEMS, Kind.NAMES, Kind.COMPANY)
            and _SLASH.search(element.text)
            and len(element.text) <= LONGEST
        ):
            yield from (Scalar(part) for part in _SLASH.split(element.text) if part.strip())
        elif not nothing_in_list(element):
            yield element


def _elements(node: Node, kind: Kind) -> Iterator[Node]:
    if isinstance(node, Seq):
        for item in node.items:
            yield from _elements(item, kind)
    elif isinstance(node, Pairs):
        yield from _maps(node, kind)
    else:
        yield node


def _maps(node: Pairs, kind: Kind) -> Iterator[Node]:
    """The records in ``node``. A repeated key begins the next record; a value without a key is an element.

    A different word for a key that is already present does not begin a record. The rest of a status or of a relation
    that was split at a comma belongs to it: ``{name: Joan, status: alive, sprained ankle}``.
    """
    pairs: list[tuple[str, Node]] = []
    seen: set[str] = set()
    for key, value in node.pairs:
        if not key:
            if pairs and (whole := _continued(*pairs[-1], value, kind)) is not None:
                pairs[-1] = (pairs[-1][0], whole)
            else:
                yield from _elements(value, kind)
            continue
        if record_key(kind, key) and squash(key) in seen:
            yield Pairs(tuple(pairs))
            pairs, seen = [], set()
        pairs.append((key, value))
        seen.add(squash(key))
    if pairs:
        yield Pairs(tuple(pairs))


def _continued(key: str, value: Node, rest: Node, kind: Kind) -> Scalar | None:
    """The value of a key together with the rest that stands behind a comma; None if that is no part of it."""
    if kind not in (Kind.STATUSES, Kind.RELATIONS) or record_key(kind, key) not in (None, "status", "type"):
        return None
    if not isinstance(value, Scalar) or not isinstance(rest, Scalar) or not value.text:
        return None
    if value.quoted is not rest.quoted or ARROW.search(rest.text) or _PAIR.fullmatch(rest.text):
        return None
    return Scalar(f"{value.text}, {rest.text}", value.quoted, value.literal or rest.literal)


def _loose_pair(element: Node, kind: Kind) -> tuple[str, Node] | None:
    if not isinstance(element, Scalar) or element.quoted:
        return None
    pair = _PAIR.fullmatch(element.text)
    return (pair["key"], Scalar(pair["value"].strip())) if pair and record_key(kind, pair["key"]) else None


def rejoin(elements: Iterator[Node]) -> Iterator[Node]:
    """Join elements that were split at a comma, such as ``A -> B: hostile`` and ``-2``."""
    held: Scalar | None = None
    for element in elements:
        plain = isinstance(element, Scalar) and not element.quoted
        if held and isinstance(element, Scalar) and plain and not ARROW.search(element.text):
            held = Scalar(f"{held.text}, {element.text}")
            continue
        if held:
            yield held
            held = None
        if isinstance(element, Scalar) and plain and ARROW.search(element.text):
            held = element
        else:
            yield element
    if held:
        yield held
