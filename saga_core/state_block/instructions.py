"""The instruction that asks the narrator for a state block, and the rendering of a block by SAGA itself."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from attrs import fields as attributes

from saga_core.language import DEFAULT, known, language_of, primary, squash
from saga_core.state_block.amounts import split_amount
from saga_core.state_block.fields import (
    FIELDS,
    BlockFields,
    HitPoints,
    ItemAmount,
    ItemTransfer,
    Kind,
    RelationChange,
    StatusChange,
)
from saga_core.state_block.flow import Scalar
from saga_core.state_block.form import FORM
from saga_core.state_block.parser import parse_block
from saga_core.state_block.placeholders import Placeholders
from saga_core.state_block.values import (
    NO_WORDS,
    YES_WORDS,
    Unreadable,
    is_nothing,
    is_unknown,
    nothing_in_list,
    unclothed,
)
from saga_core.trackers import NO_TRACKERS, Tracker, TrackerKind, Trackers, Whose


def instruction(language: str = DEFAULT, *, tools: bool = False, counted: Trackers = NO_TRACKERS) -> str:
    """The text that asks the narrator for a state block. It is fixed for each language, so that it can be cached.

    ``language`` is a known tag or an extension of one, such as "ko-KR". Raises ``ValueError`` for any other. A model
    that copies the form without filling it in states nothing. ``tools`` says that the narrator may call tools; the
    block is then requested in the reply that follows their results. ``counted`` are the story's trackers.
    """
    if primary(language) not in known():
        raise ValueError(f"language {language!r} has no state block instruction: use one of {', '.join(known())}")
    return _instruction(language_of(language).tag, tools, counted)


@lru_cache(maxsize=64)
def _instruction(tag: str, tools: bool, counted: Trackers) -> str:
    asked = language_of(tag).request
    # The last sentence is about names of people beyond those present.
    lead = asked.lead if counted.asks("npc_met") else "".join(re.split(r"(?<=[.。])(?=\s*\S)", asked.lead)[:-1])
    parts = [lead, block_form(tag, counted)]
    if counted.asked:
        parts.insert(1, "\n".join([asked.counted, *(_meaning(each) for each in counted.asked if each.description)]))
    if tools and asked.tools:
        parts.append(asked.tools)
    return "\n\n".join(parts)


def block_form(language: str = DEFAULT, counted: Trackers = NO_TRACKERS) -> str:
    """The form of the block in a language, including its fences and a line for each tracker."""
    slots = language_of(language).block.slots
    form = FORM.format(**slots)
    if counted == NO_TRACKERS:
        return form
    form = "\n".join(line for line in form.split("\n") if counted.asks(line.partition(":")[0]))
    head, notes, tail = form.rpartition("\nnotes:")
    return head + "".join(f"\n{each.name}: {_counted(each, slots)}" for each in counted.asked) + notes + tail


def _counted(tracker: Tracker, slots: Mapping[str, str]) -> str:
    """The placeholder of a tracker in the form."""
    if tracker.kind is TrackerKind.LIST:
        value = f"[+<{slots['item']}>, -<{slots['item']}>]"
    elif tracker.kind is TrackerKind.CHOICE:
        value = f"<{'|'.join(name for _, name in tracker.steps)}>"
    else:
        value = _EXAMPLES[tracker.kind]
    return f"{{<{slots['name']}>: {value}}}" if tracker.whose in (Whose.CHARACTER, Whose.PAIR) else value


_EXAMPLES = {
    TrackerKind.NUMBER: "<12|+3>",
    TrackerKind.COUNTER: "<+1>",
    TrackerKind.MONEY: "<12|+3>",
    TrackerKind.TEXT: "<…>",
    TrackerKind.FLAG: "<true|false>",
    TrackerKind.CLOCK: "<+2h|19:30>",
    TrackerKind.METER: "<+5>",
    TrackerKind.THREADS: "[+<…> (<19:30>), <…>: <…>, -<…>]",
}


def _meaning(tracker: Tracker) -> str:
    least, most = tracker.limits
    limits = f" ({least}–{most})" if tracker.kind is TrackerKind.NUMBER and None not in (least, most) else ""
    return f"- {tracker.name}{limits}: {tracker.description}"


def render_block(fields: BlockFields) -> str:
    """Render ``fields`` as a block, including its fences, without a line end after it.

    Every field gets a line, except that ``status_changes``, ``present``, ``hp``, ``money`` and ``informed`` are omitted
    if they have no value.

    ``parse_block`` returns the same fields, whatever text the names contain. Raises ``ValueError`` with the name of the
    field for a value that no block can state: an empty or overlong text, text that is not clean (see ``clean_name``), a
    quantity below 1, or a number or list beyond the parser's limits.
    """
    stated = (
        field
        for field in FIELDS
        if field.name not in _OPTIONAL
        or getattr(fields, field.name) not in (None, ())
        or (field.kind is Kind.COMPANY and fields.present is not None)
    )
    body = "".join(f"{field.name}: {_line(getattr(fields, field.name))}\n" for field in stated)
    read = parse_block(body).fields
    if read != fields:
        name = next(a.name for a in attributes(BlockFields) if getattr(read, a.name) != getattr(fields, a.name))
        raise ValueError(
            f"{name}: no state block can state {getattr(fields, name)!r}; it would be read as {getattr(read, name)!r}. "
            "Clean names with clean_name and keep to the limits of the parser"
        )
    return f"```state\n{body}```"


def _line(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, HitPoints):
        return str(value.now) if value.top is None else f"{value.now}/{value.top}"
    if isinstance(value, tuple):
        return "[" + ", ".join(_element(element) for element in value) + "]"
    return _text(str(value), _PLAIN_LINE)


def _element(element: object) -> str:
    if isinstance(element, ItemAmount):
        if not _is_ambiguous(element.name):
            if element.quantity == 1:
                return _text(element.name)
            if _PLAIN.fullmatch(element.name) and not _reads_as_nothing(element.name):
                return f"{element.name} x{element.quantity}"
        return f"{{name: {_text(element.name)}, quantity: {element.quantity}}}"
    if isinstance(element, ItemTransfer):
        pairs = [("item", _text(element.item))]
        pairs += [
            (key, _text(name) if name else "unknown")
            for key, name in (("from", element.giver), ("to", element.receiver))
            if name is not None
        ]
        if element.quantity != 1 or _is_ambiguous(element.item):
            pairs.append(("quantity", str(element.quantity)))
        return _map(pairs)
    if isinstance(element, RelationChange):
        pairs = [("from", _text(element.source)), ("to", _text(element.target))]
        pairs += [("type", _text(element.type))] if element.type else []
        return _map([*pairs, ("delta", str(element.delta))])
    if isinstance(element, StatusChange):
        return _map([("name", _text(element.name)), ("status", _text(element.status))])
    return _text(str(element))


def _map(pairs: list[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"


_OPTIONAL = frozenset({"status_changes", "present", "hp", "money", "informed"})
_PLAIN = re.compile(r"[^\W\d_]\w*(?: \w+)*")
_PLAIN_LINE = re.compile(r"[^\W\d_]\w*(?:[,.!?]? \w+)*[.!?]?")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f`~<&\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_TEMPLATES = Placeholders(
    frozenset().union(*(field.templates.words for field in FIELDS)),
    frozenset().union(*(field.templates.parts for field in FIELDS)),
)


def _reads_as_nothing(text: str) -> bool:
    plain = Scalar(text)
    said = is_nothing(plain, _TEMPLATES) or nothing_in_list(plain) or is_unknown(plain)
    return said or squash(text) in NO_WORDS | YES_WORDS


def _is_ambiguous(name: str) -> bool:
    """Whether an unquoted name would be read as a name with a quantity or as a different name."""
    try:
        return split_amount(name) != (name, None)
    except Unreadable:
        return True


def _text(text: str, plain: re.Pattern[str] = _PLAIN) -> str:
    """``text`` as it is where that is safe, else in double quotes, with fences and tags escaped.

    If a text would be read as "nothing" or be shortened, one character is escaped, because an escape makes it literal.
    """
    nothing = _reads_as_nothing(text) or unclothed(text) != text
    if plain.fullmatch(text) and not nothing:
        return text
    quoted = _quoted(text)
    return _quoted(text, escape_first=True) if nothing and "\\" not in quoted else quoted


def _quoted(text: str, *, escape_first: bool = False) -> str:
    parts: list[str] = []
    escaped = escape_first
    for char in text:
        if char in '"\\':
            parts.append("\\" + char)
            escaped = False
            continue
        # A combining mark must not follow the last digit of an escape: many compose with "c" and "e".
        escaped = bool(_UNSAFE.match(char)) or (escaped and (not parts or unicodedata.combining(char) > 0))
        parts.append(_escape(char) if escaped else char)
    return '"' + "".join(parts) + '"'


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[index]:02x}{units[index + 1]:02x}" for index in range(0, len(units), 2))
