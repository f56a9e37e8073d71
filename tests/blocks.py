"""State blocks as tests have a narrator write them."""

from __future__ import annotations

import re
import unicodedata

from attrs import fields as attributes

from saga_core.language import squash
from saga_core.state_block import (
    FIELDS,
    BlockFields,
    ItemAmount,
    ItemTransfer,
    RelationChange,
    StatusChange,
    parse_block,
)
from saga_core.state_block.amounts import split_amount
from saga_core.state_block.fields import HitPoints, Kind, Placeholders
from saga_core.state_block.flow import Scalar
from saga_core.state_block.values import (
    NO_WORDS,
    YES_WORDS,
    Unreadable,
    is_nothing,
    is_unknown,
    nothing_in_list,
    unclothed,
)


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
    nothing = _reads_as_nothing(text) or unclothed(text) != text or "\u2212" in text
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
        goes_on = escaped and (not parts or unicodedata.combining(char) > 0)
        escaped = bool(_UNSAFE.match(char)) or char == "\u2212" or goes_on
        parts.append(_escape(char) if escaped else char)
    return '"' + "".join(parts) + '"'


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[index]:02x}{units[index + 1]:02x}" for index in range(0, len(units), 2))
