"""Reads the lists of a state block element by element: items, names, transfers, relations and statuses."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from attrs import evolve

from saga_core.language import DEFAULT, all_of, any_of, as_it_stands, every, squash
from saga_core.state_block.amounts import read_quantity, split_amount
from saga_core.state_block.elements import ARROW, LONGEST, MUTUAL, records, rejoin
from saga_core.state_block.fields import (
    NONE,
    Field,
    ItemAmount,
    ItemTransfer,
    Kind,
    Placeholders,
    RelationChange,
    StatusChange,
    record_key,
)
from saga_core.state_block.flow import Node, Pairs, Scalar, Seq
from saga_core.state_block.values import (
    MAX_NAME,
    Unreadable,
    is_nothing,
    is_unknown,
    read_change,
    read_name,
    read_text,
    shown,
    sole,
    split_remark,
)

MAX_ENTRIES = 100
MAX_DELTA = 1_000
_LONGEST_SENTENCE = 120
"""The maximum number of characters of a sentence about a transfer. Longer ones can be split in too many ways."""
_NOBODY = frozenset(map(squash, all_of(lambda each: each.values.nobody)))

Complain = Callable[[str], None]


_BEHIND_TARGET = re.compile(r"(?P<target>[^:：(（,，/|]+)[:：(（,，/|]\s*(?P<rest>.+)", re.DOTALL)
_SIGNED_END = re.compile(r"(?P<target>.*\S)\s+(?P<rest>[+\-−–]\s*\d+)")
_INTEGER = re.compile(r"(?<![\w.])(?:[+\-−–]\s*)?\d+(?![\w.])")
_STATUS = re.compile(
    rf"(?P<name>.*?\S)\s*(?:[:：=]|{ARROW.pattern}|(?<=\s)[-–—](?=\s)|[(（])\s*(?P<status>[^()（）]*[^()（）\s])\s*[)）]?"
)
_TELLS = re.compile(any_of(lambda each: each.block.tells_giving))
_DIGIT = re.compile(r"\d")
_ROLE = re.compile(r"(?P<head>[^\s:：].*?)(?:\s+[-–—]\s+|\s*[:：]\s*)\S.*")
_COLON = re.compile(r"(?<!\s)\s*[:：]\s*")
_SIGN = re.compile(r"(?P<sign>[+＋\-－−])(?P<name>[^\W\d_].*)")
_BARE_COUNT = re.compile(r"[xX×✕]\s?\d{1,13}")
"""A count without a name, as in ``[rope] x2``, where the brackets separate the name from it."""
_IN_PARENTHESES = re.compile(r"(?P<item>.*\S)\s*[(（](?P<hands>[^()（）]*)[)）]")


# Patterns with the words of all languages take long to compile, so these are compiled on first use.


@cache
def _labels() -> re.Pattern[str]:
    return re.compile(rf"(?:{any_of(lambda each: each.block.labels)})\s*[:=]?", re.IGNORECASE)


@cache
def _gives() -> tuple[re.Pattern[str], ...]:
    default_last = sorted(every(), key=lambda each: each.tag == DEFAULT)
    return tuple(re.compile(told, re.I) for each in default_last for told in each.block.gives)


@cache
def _ended() -> re.Pattern[str]:
    return re.compile(
        rf"(?P<name>\S.*?)(?:\s+|(?:{any_of(lambda each: each.block.subject)})\s+)"
        rf"(?P<status>{any_of(lambda each: each.block.statuses)})\.?",
        re.I,
    )


@cache
def _statuses_alone() -> re.Pattern[str]:
    return re.compile(rf"(?:{any_of(lambda each: each.block.statuses)})[.。]?", re.I)


def is_status(text: str) -> bool:
    """Whether a text is one of the words for how somebody fared, such as "dead"."""
    return _statuses_alone().fullmatch(text.strip()) is not None


@cache
def _supposed() -> re.Pattern[str]:
    return re.compile(rf"\s(?:{any_of(lambda each: each.statuses.supposed)})\Z", re.I)


def read_destination(node: Node, templates: Placeholders) -> str | None:
    """One place. In ``from -> to`` it is the second one. Raises ``Unreadable`` for several arrows."""
    way = sole(node)
    if isinstance(way, Scalar) and not way.quoted and len(way.text) <= LONGEST:
        parts = ARROW.split(way.text)
        if len(parts) > 1:
            if len(parts) > 2 or not parts[1].strip() or MUTUAL.search(way.text):
                raise Unreadable(f"{shown(way)}, where one place belongs")
            node = Scalar(parts[1].strip())
    return read_text(node, templates, one_name=True)


def read_list(node: Node, field: Field, complain: Complain) -> tuple[Any, ...]:
    """Read a list: items with quantities, names, or records in several notations.

    A transfer is ``{item, from, to}``, ``item: from -> to``, ``from -> to: item`` or ``item (from -> to)``, a change of
    a relation ``{from, to, type, delta}`` or ``from -> to: type (delta)``; ``<->`` gives two. A change of status is
    ``{name, status}``, ``name: status``, ``name -> status`` or ``name (status)``. Calls ``complain`` with a message for
    each element that cannot be read.
    """
    elements = records(node, field.kind)
    if field.kind in (Kind.TRANSFERS, Kind.RELATIONS):
        elements = rejoin(elements)
    read, found = _READERS[field.kind], list[Any]()
    for element in elements:
        try:
            if isinstance(element, Scalar) and len(element.text) > LONGEST:
                raise Unreadable(f"{shown(element)} is too long")
            found.extend(read(element, field))
        except Unreadable as problem:
            complain(str(problem))
        if len(found) > MAX_ENTRIES:
            complain(f"more than {MAX_ENTRIES} entries; the first {MAX_ENTRIES} count")
            break
    return tuple(found[:MAX_ENTRIES])


def read_company(node: Node, field: Field, complain: Complain) -> tuple[str, ...] | None:
    """The complete list of the characters present: () for nobody, None if the block does not say."""
    names = read_list(node, field, complain)
    if names:
        return names
    bare = sole(node)
    if isinstance(bare, Seq):
        return () if not bare.items else None
    if isinstance(bare, Scalar) and not bare.literal and squash(split_remark(bare.text)[0]) in _NOBODY:
        return ()
    return None


_IN_FORM = {Kind.TRANSFERS: ("item", "from", "to"), Kind.RELATIONS: ("from", "to", "type", "delta")}
"""The keys of a record in the order of the form, which a narrator who translates them keeps."""


def _table(pairs: Pairs, kind: Kind) -> tuple[dict[str, Node], list[tuple[str, Node]]]:
    """The known keys of a record by their names, and its other keys. The first value for a name counts."""
    known: dict[str, Node] = {}
    other: list[tuple[str, Node]] = []
    names = [record_key(kind, key) for key, _ in pairs.pairs]
    form = _IN_FORM.get(kind, ())
    if len(names) == len(form) and all(name in (None, own) for name, own in zip(names, form, strict=True)):
        names = list(form)
    for name, (key, value) in zip(names, pairs.pairs, strict=True):
        if name is None:
            other.append((key, value))
        else:
            known.setdefault(name, value)
    return known, other


def _name_in(known: dict[str, Node], key: str, templates: Placeholders = NONE) -> str | None:
    node = sole(known.get(key, Scalar("")))
    if not isinstance(node, Scalar):
        raise Unreadable(f"{shown(node)}, where the name for '{key}' belongs")
    return read_name(node, templates)


def _amount(node: Node | None, templates: Placeholders, quantity: Node | None) -> ItemAmount | None:
    node = sole(node or Scalar(""))
    if not isinstance(node, Scalar):
        raise Unreadable(f"{shown(node)}, where the name of an item belongs")
    if is_nothing(node, templates) or _BARE_COUNT.fullmatch(node.text):
        return None
    count = read_quantity(quantity) if quantity else None
    if count is None and not node.literal:
        if not node.quoted and ARROW.search(node.text):
            raise Unreadable(f"{shown(node)} does not say which part is the name of the item")
        name, count = split_amount(node.text)
        if count is None and not node.quoted and split_remark(node.text)[1]:
            head, number = split_amount(split_remark(node.text)[0])
            name, count = (head, number) if number is not None else (name, None)
        if name != node.text:
            node = Scalar(name)
    found = read_name(node, templates)
    return ItemAmount(found, 1 if count is None else count) if found else None


def _items(element: Node, field: Field) -> list[ItemAmount]:
    if isinstance(element, Pairs):
        known, other = _table(element, field.kind)
        thing = "item" if "item" in known else "name"
        if thing not in known:
            counted = [_amount(Scalar(key, quoted=True), field.templates, value) for key, value in other]
            if known or not counted:
                raise Unreadable("an item without a name")
            return [amount for amount in counted if amount]
        amount = _amount(known[thing], field.templates, known.get("quantity"))
        whose = ("who", "to" if field.name == "items_gained" else "from", "name")
        owner = next((_name_in(known, key, field.templates) for key in whose if key in known and key != thing), None)
        amount = evolve(amount, owner=owner) if amount else None
    else:
        amount = _amount(_unsigned(element, field), field.templates, None)
    return [amount] if amount else []


def _unsigned(element: Node, field: Field) -> Node:
    """An item without a leading sign that repeats the field's meaning. Raises ``Unreadable`` for the opposite sign."""
    if not isinstance(element, Scalar) or element.quoted or not (found := _SIGN.fullmatch(element.text)):
        return element
    if (found["sign"] in "+＋") is not (field.name == "items_gained"):
        raise Unreadable(f"{shown(element)} says the opposite of {field.name}")
    return Scalar(found["name"])


def _names(element: Node, field: Field) -> list[str]:
    if isinstance(element, Pairs):
        known, _ = _table(element, field.kind)
        if "name" not in known:
            raise Unreadable("a person without a name")
        name = _name_in(known, "name", field.templates)
    else:
        name = read_name(_unremarked(element), field.templates) if isinstance(element, Scalar) else None
    return [name] if name else []


def _unremarked(scalar: Scalar) -> Scalar:
    """The name without a role behind it. A remark in parentheses stays, because it may be another name."""
    if not scalar.quoted and (role := _ROLE.fullmatch(scalar.text)):
        scalar = Scalar(role["head"])
    return scalar


def _transfers(element: Node, field: Field) -> list[ItemTransfer]:
    if isinstance(element, Pairs):
        known, other = _table(element, field.kind)
        if not known and len(other) == 1 and isinstance(other[0][1], Scalar):
            return _transfers(Scalar(f"{other[0][0]}: {other[0][1].text}"), field)
        item = known.get("item", known.get("name"))
        if isinstance(item, Scalar) and not item.quoted and ARROW.search(item.text):
            raise Unreadable(f"{shown(item)}, where the name of an item belongs")
        amount = _amount(item, field.templates, known.get("quantity"))
        giver, receiver = _hands(known.get("from"), known.get("to"), field.templates)
        if amount is None and (giver or receiver):
            raise Unreadable("a transfer without an item")
        return [ItemTransfer(amount.name, giver, receiver, amount.quantity)] if amount else []
    if not isinstance(element, Scalar) or is_nothing(element, field.templates):
        return []
    if not element.quoted and "," in element.text:
        raise Unreadable(f"{shown(element)} holds more than one transfer")
    item_text, giver_text, receiver_text = _transfer_parts(element)
    amount = _amount(Scalar(item_text, literal=element.literal), field.templates, None)
    sides = [Scalar(text) if text else None for text in (giver_text, receiver_text)]
    giver, receiver = _hands(sides[0], sides[1], field.templates)
    if amount is None and field.templates.holds(item_text) and giver is None and receiver is None:
        return []  # a copy of the form
    if amount is None:
        raise Unreadable(f"{shown(element)} names no item")
    return [ItemTransfer(amount.name, giver, receiver, amount.quantity)]


def _hands(giver: Node | None, receiver: Node | None, templates: Placeholders) -> tuple[str | None, str | None]:
    """The sides of a transfer. What somebody hands to nobody goes to no one, and not to the player."""
    one, other = _hand(giver, templates), _hand(receiver, templates)
    to = sole(receiver) if receiver is not None else None
    return one, "" if one and other is None and isinstance(to, Scalar) and is_nothing(to) else other


def _hand(node: Node | None, templates: Placeholders) -> str | None:
    """The name of the giver or the receiver; None if it is missing, "" if the block says that it is unknown."""
    node = sole(node or Scalar(""))
    if not isinstance(node, Scalar):
        raise Unreadable(f"{shown(node)}, where the name of a person belongs")
    return "" if is_unknown(node) else read_name(node, templates)


def _transfer_parts(scalar: Scalar) -> tuple[str, str, str]:
    """The texts of item, giver and receiver; "" for a missing one."""
    text = scalar.text
    arrows = list(ARROW.finditer(text))
    if not arrows and not scalar.literal:
        for told in _gives() if len(text) <= _LONGEST_SENTENCE else ():
            if match := told.fullmatch(text):
                return match["item"], match["giver"], match["receiver"]
        if not scalar.quoted and _TELLS.search(text):
            raise Unreadable(f"{shown(text)} does not say who gives what to whom")
    if not arrows or scalar.literal:
        return text, "", ""
    if len(arrows) > 1 or MUTUAL.fullmatch(arrows[0].group()):
        raise Unreadable(f"{shown(text)} does not say who gives what to whom")
    arrow = arrows[0]
    inside = _IN_PARENTHESES.fullmatch(text)
    if inside and inside.start("hands") <= arrow.start():
        start = inside.start("hands")
        return inside["item"], text[start : arrow.start()].strip(), text[arrow.end() : -1].strip()
    left, right = text[: arrow.start()].strip(), text[arrow.end() :].strip()
    before, after = _COLON.split(left, maxsplit=1), _COLON.split(right, maxsplit=1)
    if len(before) == 2 and len(after) == 1:
        return before[0], before[1], right
    if len(after) == 2 and len(before) == 1:
        return after[1], left, after[0]
    if len(before) == len(after) == 1:
        return left, "", right
    raise Unreadable(f"{shown(text)} does not say who gives what to whom")


def _relations(element: Node, field: Field) -> list[RelationChange]:
    if isinstance(element, Pairs):
        known, other = _table(element, field.kind)
        if not known and len(other) == 1 and ARROW.search(other[0][0]) and isinstance(other[0][1], Scalar):
            return _relations(Scalar(f"{other[0][0]}: {other[0][1].text}"), field)
        source, target = (_name_in(known, key, field.templates) for key in ("from", "to"))
        kind, status = (_name_in(known, key, field.templates) or "" for key in ("type", "status"))
        type_ = as_it_stands(kind, status)[:MAX_NAME]
        delta = read_change(known["delta"]) if "delta" in known else None
        mutual = False
        if source is None and target is None and ("from" in known or "to" in known):
            return []  # both are placeholders
    elif not isinstance(element, Scalar) or is_nothing(element, field.templates):
        return []
    else:
        source, target, type_, delta, mutual = _relation_parts(element.text, field)
        if source is None and target is None:
            return []  # a copy of the form
    if source is None or target is None:
        raise Unreadable("a relation that does not name both sides")
    if not type_ and delta is None:
        raise Unreadable(f"no type and no delta for the relation of {shown(source)} and {shown(target)}")
    if delta is not None and abs(delta) > MAX_DELTA:
        raise Unreadable(f"a change of relation by {delta} is too large (at most {MAX_DELTA})")
    changes = [RelationChange(source, target, type_, delta or 0)]
    if mutual:
        changes.append(RelationChange(target, source, type_, delta or 0))
    return changes


def _relation_parts(text: str, field: Field) -> tuple[str | None, str | None, str, int | None, bool]:
    arrow = ARROW.search(text)
    if arrow is None:
        raise Unreadable(f"{shown(text)} does not name both sides of a relation")
    right = text[arrow.end() :].strip()
    behind = _SIGNED_END.fullmatch(right) if not re.search(r"[:：(（,，/|]", right) else None
    behind = behind or _BEHIND_TARGET.fullmatch(right)
    if behind is None:
        raise Unreadable(f"{shown(text)} does not say what changed")
    rest = _labels().sub(" ", behind["rest"])
    numbers = _INTEGER.findall(rest)
    if len(numbers) > 1:
        raise Unreadable(f"{shown(text)} gives {len(numbers)} numbers")
    delta = read_change(Scalar(numbers[0])) if numbers else None
    type_ = read_name(Scalar(_INTEGER.sub(" ", rest).strip(" \t()（）,，:：/|")))
    source, target = (
        read_name(Scalar(name.strip()), field.templates) for name in (text[: arrow.start()], behind["target"])
    )
    return source, target, type_ or "", delta, bool(MUTUAL.fullmatch(arrow.group()))


def _statuses(element: Node, field: Field) -> list[StatusChange]:
    if isinstance(element, Pairs):
        known, other = _table(element, field.kind)
        if not known:
            return [
                StatusChange(name, status)
                for key, value in other
                if (status := _name_in({"status": value}, "status")) and (name := read_name(Scalar(key, quoted=True)))
            ]
        if len(known) < 2:
            raise Unreadable("a status without a name, or a name without a status")
        name, status = _name_in(known, "name", field.templates), _name_in(known, "status")
    elif not isinstance(element, Scalar) or is_nothing(element, field.templates):
        return []
    else:
        parts = _STATUS.fullmatch(element.text)
        if parts is None and len(element.text) <= 2 * _LONGEST_SENTENCE:
            parts = _ended().fullmatch(element.text)
        if parts is None:
            raise Unreadable(f"{shown(element)} does not give a name and a status")
        called, told = parts["name"], parts["status"]
        if parts.re is _ended() and (words := _supposed().search(called)):
            called, told = called[: words.start()], f"{words[0].strip()} {told}"
        name, status = read_name(Scalar(called), field.templates), read_name(Scalar(told))
    if status and not isinstance(element, Pairs) and len(ways := ARROW.split(status)) > 1:
        status = ways[-1].strip()  # in "alive -> dead" the last one is the current status
    return [StatusChange(name, status)] if name and status else []


_READERS: dict[Kind, Callable[[Node, Field], list[Any]]] = {
    Kind.ITEMS: _items,
    Kind.NAMES: _names,
    Kind.COMPANY: _names,
    Kind.TRANSFERS: _transfers,
    Kind.RELATIONS: _relations,
    Kind.STATUSES: _statuses,
}
