"""The fields of a state block: their values, the form that the narrator is shown, and the names that models use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache

from attrs import frozen

from saga_core.language import all_of, every, normalized, squash
from saga_core.trackers import NO_TRACKERS, Trackers

# -- placeholders: the words of a template in place of values, which state nothing -------------------------------------

_LONGEST_PLACEHOLDER = 60
_BRACKETED = re.compile(
    r"\[(.*)\]|［(.*)］|\{(.*)\}|｛(.*)｝|【(.*)】|〔(.*)〕|\((.*)\)|（(.*)）|<(.*)>|＜(.*)＞|「(.*)」|%(.*)%", re.S
)
_ENUMERATORS = "".join(each.block.enumerators for each in every())
_NUMBERED = re.compile(
    rf"(?P<stem>.*[^\W\d_])[\s_#.\-]{{0,3}}\d{{1,3}}|(?P<lettered>.*[^\W\d_])[\s_#.\-]{{1,3}}[A-Za-z]"
    rf"|(?P<native>.*[^\W\d_\x00-\x7f])[\s_]?[A-Za-z{_ENUMERATORS}]",
    re.S,
)
_FILLERS = all_of(lambda each: each.block.fillers)
_TYPE = re.compile(
    r"(?:str|int|integer|float|bool|boolean|string\[\])|(?:list|array|dict|optional)\s?[\[<].*[\]>]", re.S
)
"""A type of a programming language."""


@frozen
class Placeholders:
    """The placeholders of a field in every language. ``words`` are complete placeholders, squashed like keys.

    A placeholder in brackets may also be composed of ``parts`` and filler words: ``[name of the NPC]``. ``numbered``
    says whether a number behind a placeholder is part of it (``item 2``) and not a quantity.
    """

    words: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    numbered: bool = True

    def holds(self, text: str, *, bracketed: bool = False) -> bool:
        """Whether ``text`` is a placeholder. ``bracketed`` says that brackets around it were already removed."""
        if len(text) > _LONGEST_PLACEHOLDER:
            return False
        if _TYPE.fullmatch(text.strip()):
            return True
        while found := _BRACKETED.fullmatch(text.strip()):
            text, bracketed = next(part for part in found.groups() if part is not None), True
        if self._is_word(text, bracketed=bracketed):
            return True
        found = _NUMBERED.fullmatch(normalized("NFKC", text).strip()) if self.numbered else None
        stem = next((part for part in found.groups() if part is not None), "") if found else ""
        return bool(stem) and self._is_word(stem, bracketed=bracketed)

    def _is_word(self, text: str, *, bracketed: bool) -> bool:
        word = squash(text)
        return word in self.words or (bracketed and self._is_made_of_parts(word))

    def _is_made_of_parts(self, word: str) -> bool:
        """Whether ``word`` can be split into ``parts`` and filler words, with at least one of ``parts``."""
        reached = {0: False}
        for end in range(1, len(word) + 1):
            for start in [start for start in reached if start < end]:
                piece = word[start:end]
                if piece in self.parts or piece in _FILLERS:
                    reached[end] = reached.get(end, False) or reached[start] or piece in self.parts
        return reached.get(len(word), False)


NONE = Placeholders()
"""For values that no template contains."""


# -- values ------------------------------------------------------------------------------------------------------------


@frozen
class ItemAmount:
    """An item and its quantity, at least 1. ``owner`` is None if the block does not say whose it is."""

    name: str
    quantity: int = 1
    owner: str | None = None


@frozen
class ItemTransfer:
    """An item that passed from one character to another.

    A side is None if the block does not name it, and "" if the block says that it is unknown or nobody. Such a side is
    not the player.
    """

    item: str
    giver: str | None
    receiver: str | None
    quantity: int = 1


@frozen
class RelationChange:
    """The new relation of ``source`` to ``target``. ``type`` is "" and ``delta`` is 0 if the block does not say."""

    source: str
    target: str
    type: str
    delta: int


@frozen
class StatusChange:
    """The new status of ``name``, such as "dead" or "captured"."""

    name: str
    status: str


@frozen
class HitPoints:
    """The current hit points, and the maximum in ``top``, which is None if the block does not say."""

    now: int
    top: int | None = None


@frozen
class CountReport:
    """What a block says of a declared tracker.

    ``subject`` is the key below which the value stands, such as the name of a character or ``Mina -> Joon``; empty if
    the value stands alone. ``values`` are the texts of a list, or the one text of another value.
    """

    tracker: str
    values: tuple[str, ...]
    subject: str = ""


@frozen
class BlockFields:
    """The content of one block. None and () mean that the block does not mention the field.

    All text is NFC on one line, as returned by ``clean_name``. A negative ``hp_change`` is harm. ``present``, ``hp``
    and ``money`` give the state at the end of the reply and not a change. An empty ``present`` means that nobody is
    with the player, None that the block does not say.
    """

    location: str | None = None
    location_moved: bool | None = None
    hp_change: int | None = None
    items_gained: tuple[ItemAmount, ...] = ()
    items_lost: tuple[ItemAmount, ...] = ()
    items_transferred: tuple[ItemTransfer, ...] = ()
    npc_met: tuple[str, ...] = ()
    npc_separated: tuple[str, ...] = ()
    relationship_changes: tuple[RelationChange, ...] = ()
    mood: str | None = None
    event_trigger: str | None = None
    notes: str | None = None
    status_changes: tuple[StatusChange, ...] = ()
    present: tuple[str, ...] | None = None
    hp: HitPoints | None = None
    money: tuple[ItemAmount, ...] = ()
    informed: tuple[str, ...] = ()
    """Who learned what happened at an earlier turn: a name and the turn's number, as in ``Mina 3``."""
    counts: tuple[CountReport, ...] = ()
    """What the block says of declared trackers."""


class Kind(Enum):
    """How a field is read and written."""

    NAME = "one name"
    TEXT = "one line of text"
    FLAG = "true or false"
    CHANGE = "a signed whole number"
    LEVEL = "hit points left, of how many"
    COMPANY = "the complete list of names"
    ITEMS = "a list of items"
    NAMES = "a list of names"
    TRANSFERS = "a list of {item, from, to}"
    RELATIONS = "a list of {from, to, type, delta}"
    STATUSES = "a list of {name, status}"
    COUNT = "a declared tracker"


LIST_KINDS = frozenset({Kind.ITEMS, Kind.NAMES, Kind.COMPANY, Kind.TRANSFERS, Kind.RELATIONS, Kind.STATUSES})


@frozen
class Field:
    """One field: its name in the block and in ``BlockFields``, and its kind."""

    name: str
    kind: Kind

    @property
    def aliases(self) -> str:
        """Other names that a model may use for the field, separated by spaces."""
        found = (alias for each in every() for alias in each.block.fields.get(self.name, "").split())
        return " ".join(dict.fromkeys(found))

    @property
    def templates(self) -> Placeholders:
        """The placeholders that templates contain in place of its value."""
        return _TEMPLATES.get(self.name, NONE)


FIELDS: tuple[Field, ...] = (
    Field("location", Kind.NAME),
    Field("location_moved", Kind.FLAG),
    Field("present", Kind.COMPANY),
    Field("hp_change", Kind.CHANGE),
    Field("hp", Kind.LEVEL),
    Field("items_gained", Kind.ITEMS),
    Field("items_lost", Kind.ITEMS),
    Field("items_transferred", Kind.TRANSFERS),
    Field("money", Kind.ITEMS),
    Field("npc_met", Kind.NAMES),
    Field("npc_separated", Kind.NAMES),
    Field("relationship_changes", Kind.RELATIONS),
    Field("status_changes", Kind.STATUSES),
    Field("mood", Kind.TEXT),
    Field("event_trigger", Kind.TEXT),
    Field("notes", Kind.TEXT),
    Field("informed", Kind.NAMES),
)
RECORD_KEYS_OF: dict[Kind, tuple[str, ...]] = {
    Kind.ITEMS: ("name", "item", "quantity", "who", "from", "to"),
    Kind.NAMES: ("name",),
    Kind.COMPANY: ("name",),
    Kind.TRANSFERS: ("item", "from", "to", "quantity", "name"),
    Kind.RELATIONS: ("from", "to", "type", "delta", "status"),
    Kind.STATUSES: ("name", "status"),
}
WHO, WHOM = "who", "whom"
"""The keys under which a language lists further names of the key for a person. The first are used with things too."""
_OF_PEOPLE = frozenset({Kind.NAMES, Kind.COMPANY, Kind.STATUSES})

FORM = """\
```state
location: <{place}>
location_moved: <true|false>
present: [<{name}>, <{name}>]
hp_change: <-15|0|+5>
items_gained: [<{item}>, <{item}> x2]
items_lost: []
items_transferred: [{{item: <{item}>, from: <{name}>, to: <{name}>}}]
npc_met: [<{name}>]
npc_separated: []
relationship_changes: [{{from: <{name}>, to: <{name}>, type: hostile, delta: -2}}]
status_changes: [{{name: <{name}>, status: dead}}]
mood: <{mood}>
event_trigger: null
notes: <{notes}>
```"""
"""The form of a block. The slots in braces are filled with words of each language."""

_LINE = re.compile(r"^(?P<field>\w+): (?P<value>.*)$", re.M)
_SLOT = re.compile(r"<\{(\w+)\}>")
SLOTS = {found["field"]: tuple(dict.fromkeys(_SLOT.findall(found["value"]))) for found in _LINE.finditer(FORM)}
"""The slots in the line of each field."""
_NAMED_BY = {"name": ("present", "npc_met", "npc_separated"), "item": ("items_gained", "items_lost")}
"""For a slot, the fields that contain only its values. Their placeholders are used for it in records too."""


def _slots(field: Field) -> tuple[str, ...]:
    """The slots of a field in the form. If its line has none, those of another list field of the same kind."""
    if SLOTS.get(field.name):
        return SLOTS[field.name]
    alike = (SLOTS.get(each.name, ()) for each in FIELDS if each.kind is field.kind and field.kind in LIST_KINDS)
    return next((slots for slots in alike if slots), ())


def _placeholders(field: Field) -> Placeholders:
    """The placeholders of a field: the slot names and template words of each language, and aliases containing them."""
    slots = [each.block.slots[slot] for each in every() for slot in _slots(field)]
    alike = {field.name, *(name for slot in _slots(field) for name in _NAMED_BY.get(slot, ()))}
    others = [word for each in every() for name in alike for word in each.block.templates.get(name, "").split()]
    words = {squash(word) for word in (*slots, *others)}
    if field.kind in (Kind.NAME, Kind.TEXT):  # elsewhere a string may be a thing
        words |= {"string", "number"}
    aliases = field.aliases.split()
    words |= {alias for alias in aliases if any(len(word) > 1 and word in alias for word in words)}
    own = ("name", WHO, *RECORD_KEYS_OF.get(field.kind, ()))
    keys = [each.block.keys.get(key, "") for each in every() for key in own]
    parts = words | {squash(word) for text in (*slots, *keys) for word in text.split()} | {*aliases, squash(field.name)}
    return Placeholders(frozenset(words), frozenset(parts), numbered=field.name != "money")


_TEMPLATES = {each.name: _placeholders(each) for each in FIELDS}

# If two fields have the same alias, the first field wins: "hp" is a change, unless its value is a level.
_BY_ALIAS: dict[str, Field] = {
    alias: field for field in reversed(FIELDS) for alias in (squash(field.name), *field.aliases.split())
}
# Keys inside the records of the composite kinds. Kinds that only name people have more words for the name.
_RECORD_KEYS = {
    kind: {
        key: frozenset(
            alias
            for each in every()
            for source in ((key, WHO, WHOM) if key == "name" and kind in _OF_PEOPLE else (key,))
            for alias in each.block.keys.get(source, "").split()
        )
        for key in keys
    }
    for kind, keys in RECORD_KEYS_OF.items()
}
_HEADERS = all_of(lambda each: each.block.headers)
# Under these keys, an unsigned number may be the hit points left and not a change.
_LEVELS = all_of(lambda each: each.block.levels)
_MAX_KEY = 60


def _spellings(key: str) -> tuple[str, ...]:
    """The squashed key, and for ``place (location)`` also its two parts."""
    return _short_spellings(key) if len(key) <= _MAX_KEY else ()


@lru_cache(maxsize=1_024)
def _short_spellings(key: str) -> tuple[str, ...]:
    """Cached, because a model writes the same keys in every block."""
    head, _, tail = normalized("NFKC", key).partition("(")
    return tuple(squash(part) for part in (key, head, tail))


def field_of(key: str, own: Trackers = NO_TRACKERS) -> Field | None:
    """The field that ``key`` names, in any spelling; None if there is none. ``own`` are the story's trackers."""
    if own and (tracker := own.find(key)) is not None:
        return Field(tracker.name, Kind.COUNT)
    return next((_BY_ALIAS[spelling] for spelling in _spellings(key) if spelling in _BY_ALIAS), None)


_FORMS = tuple(
    [next(field for field in FIELDS if field.name == name) for name in SLOTS if name not in left_out]
    for left_out in (frozenset[str](), frozenset({"present"}))
)
"""The fields in the order of the form, and without the one that many narrators leave out."""
_LEAST_KNOWN = 2


def in_order_of_form(found: Sequence[tuple[Field | None, bool]]) -> list[Field | None]:
    """The fields of a whole block, with those that are None filled in where the others stand in the order of the form.

    ``found`` has each field with whether its value is a list. A narrator who writes in a language of her own translates
    the form line by line.
    """
    fields = [field for field, _ in found]
    known = sum(field is not None for field in fields)
    for form in _FORMS:
        is_whole = len(found) == len(form) and _LEAST_KNOWN <= known < len(form)
        if is_whole and all(map(_may_stand, found, form)):
            return list(form)
    return fields


def _may_stand(found: tuple[Field | None, bool], own: Field) -> bool:
    field, is_list = found
    return field == own or (field is None and is_list is (own.kind in LIST_KINDS))


def names_level(key: str) -> bool:
    """Whether ``key`` names hit points themselves and not a change of them."""
    return next((spelling for spelling in _spellings(key) if spelling in _BY_ALIAS), "") in _LEVELS


def is_header(key: str) -> bool:
    """Whether ``key`` names the block as a whole."""
    return squash(key) in _HEADERS


def record_key(kind: Kind, key: str) -> str | None:
    """The canonical name of ``key`` in a record of ``kind``: "from" for "giver"; None if there is none."""
    spellings = _spellings(key)
    for name in RECORD_KEYS_OF.get(kind, ()):
        if any(spelling in _RECORD_KEYS[kind][name] for spelling in spellings):
            return name
    return None
