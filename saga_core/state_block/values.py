"""Single values: nothing, names and lines of text, flags, levels and signed changes."""

from __future__ import annotations

import re

from saga_core.language import all_of, any_of, caseless, clean_name, normalized, squash
from saga_core.state_block.fields import NONE, HitPoints, Placeholders
from saga_core.state_block.flow import Node, Pairs, Scalar, Seq

MAX_NAME = 200
MAX_TEXT = 2_000
MAX_CHANGE = 1_000_000
MAX_QUANTITY = 1_000_000_000_000
_MAX_WRITTEN = 200  # characters of a flag, a number, or a word for nothing
_SHOWN = 40


class Unreadable(Exception):
    """A value cannot be read; the message says why. The parser catches it and never lets it escape."""


def shown(value: str | Node) -> str:
    """``value`` for a message: quoted and shortened."""
    if isinstance(value, Scalar):
        value = value.text
    if isinstance(value, str):
        return f"'{value[:_SHOWN]}…'" if len(value) > _SHOWN else f"'{value}'"
    return "a list" if isinstance(value, Seq) else "a map"


# Nothing

_NOTHING_WORDS = frozenset(map(squash, all_of(lambda each: each.values.nothing)))
_UNKNOWN_WORDS = frozenset(map(squash, all_of(lambda each: each.values.unknown)))
_UNKNOWN_ONE = re.compile(any_of(lambda each: each.values.unknown_one), re.I)
_QUESTION_MARKS = frozenset("?？")
_NOTHING_SIGNS = re.compile(r"[\s.…·?？~\-–—_=]*|<[^<>]*>|＜[^＜＞]*＞|[(（]\s*[)）]")
_REMARK = re.compile(r"(?P<head>|.*?\S)\s*+[(（](?P<remark>[^()（）]*)[)）]\s*[.。]?", re.DOTALL)
_NOTHING_SAID = re.compile(any_of(lambda each: each.values.nothing_said), re.I)
_PICTURE = "[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\ufe0f\u200d]"
_PICTURES = re.compile(rf"^(?:{_PICTURE}++\s*+)++|(?<!\s)(?:\s*+{_PICTURE}++)+$")
_WHOLE = re.compile(r"「([^「」]+)」|『([^『』]+)』|《([^《》]+)》|〈([^〈〉]+)〉|\[\[([^\[\]|]+)\]\]")
_EMPHASIS = re.compile(r"(\*{1,3}|_{1,3}|`{1,2})(?P<inner>[^*_`].*)\1", re.DOTALL)


def split_remark(text: str) -> tuple[str, str]:
    """Split ``-15 (goblin)`` into the text and the remark in parentheses behind it; "" if there is no remark."""
    match = _REMARK.fullmatch(text)
    return (match["head"].strip(), match["remark"].strip()) if match else (text, "")


def strip_emphasis(text: str) -> str:
    """``text`` without Markdown emphasis, if the emphasis encloses the whole text."""
    match = _EMPHASIS.fullmatch(text)
    return match["inner"].strip() if match else text


def unclothed(text: str) -> str:
    """A name without enclosing brackets (``「wood」``, ``[[wood]]``), emoji before and after it, or a full stop after a
    letter without case."""
    if match := _WHOLE.fullmatch(text):
        text = next(part for part in match.groups() if part is not None).strip()
    bare = _PICTURES.sub("", text)
    text = bare if any(map(str.isalnum, bare)) else text
    return text[:-1] if text[-1:] in (".", "。") and len(text) > 1 and caseless(text[-2]) else text


def nothing_in_list(scalar: Scalar) -> bool:
    """Whether an element of a list is a phrase for "nothing": ``nobody else``, ``no new items``."""
    if scalar.literal or len(scalar.text) > _MAX_WRITTEN:
        return False
    return _NOTHING_SAID.fullmatch(scalar.text.strip()) is not None


def is_nothing(scalar: Scalar, templates: Placeholders = NONE, *, bracketed: bool = False) -> bool:
    """Whether ``scalar`` means that there is no value: ``none``, ``none (stayed)``, ``...``, ``<item>``, or one of the
    field's placeholders. ``bracketed`` says that brackets around it were already removed."""
    if scalar.literal or len(scalar.text) > _MAX_WRITTEN:
        return False
    text = strip_emphasis(scalar.text.strip())
    return any(
        _NOTHING_SIGNS.fullmatch(each) or squash(each) in _NOTHING_WORDS or templates.holds(each, bracketed=bracketed)
        for each in dict.fromkeys((text, split_remark(text)[0]))
    )


def is_unknown(scalar: Scalar) -> bool:
    """Whether ``scalar`` stands for an unknown person: ``unknown``, ``???``."""
    if scalar.literal or len(scalar.text) > _MAX_WRITTEN:
        return False
    text = split_remark(strip_emphasis(scalar.text.strip()))[0]
    return squash(text) in _UNKNOWN_WORDS or (bool(text) and _QUESTION_MARKS.issuperset(text))


def names_nobody(text: str) -> bool:
    """Whether a text in place of a person's name says that it is unknown who: ``somebody``, ``Who stole it?``."""
    plain = strip_emphasis(text.strip())
    return squash(split_remark(plain)[0]) in _UNKNOWN_WORDS or plain[-1:] in _QUESTION_MARKS


def tells_little(text: str) -> bool:
    """Whether a text in place of a person's name only says what sort of person an unknown one is."""
    return _UNKNOWN_ONE.fullmatch(normalized("NFKC", text.strip())) is not None


def sole(node: Node) -> Node:
    """The item of a list with a single item, at any depth of nesting; any other node as it is."""
    while isinstance(node, Seq) and len(node.items) == 1:
        node = node.items[0]
    return node


# Names and text

_HALF_QUOTED = re.compile(r'["“”][^"“”]*|[^"“”]*["“”]')
_TWO_QUOTED = re.compile(r'["”][ \t]+["“]')
NO_WORDS = all_of(lambda each: each.values.no)
YES_WORDS = all_of(lambda each: each.values.yes)


def read_name(
    scalar: Scalar, templates: Placeholders = NONE, limit: int = MAX_NAME, *, bracketed: bool = False
) -> str | None:
    """A name or a line of text, cleaned; None for "nothing" and for ``false``.

    Raises ``Unreadable`` for ``true``, which gives no text, for unbalanced quote marks, and beyond ``limit``.
    """
    if len(scalar.text) > 2 * limit:
        raise Unreadable(f"{len(scalar.text)} characters are too many (at most {limit})")
    if is_nothing(scalar, templates, bracketed=bracketed):
        return None
    if not scalar.literal and (word := squash(scalar.text)) in NO_WORDS | YES_WORDS:
        if word in NO_WORDS:
            return None
        raise Unreadable(f"{shown(scalar)}, where a text belongs")
    text = scalar.text if scalar.quoted else strip_emphasis(scalar.text.strip())
    if limit == MAX_NAME and not scalar.literal:
        text = unclothed(text.strip())
    name = clean_name(text)
    if not scalar.quoted and limit == MAX_NAME and _HALF_QUOTED.fullmatch(name):
        raise Unreadable(f"{shown(name)} has a quote mark without its partner")
    if not scalar.literal and limit == MAX_NAME and _TWO_QUOTED.search(name):
        raise Unreadable(f"{shown(name)} is more than one quoted text")
    if len(name) > limit:
        raise Unreadable(f"{len(name)} characters are too many (at most {limit})")
    return name or None


def read_text(node: Node, templates: Placeholders, *, one_name: bool) -> str | None:
    """A line of text. A list of texts is joined with commas, unless ``one_name`` is set.

    Raises ``Unreadable`` for a map, and for a list of several values if ``one_name`` is set.
    """
    bracketed = not isinstance(node, Scalar)
    node = sole(node)
    if isinstance(node, Scalar):
        return read_name(node, templates, MAX_NAME if one_name else MAX_TEXT, bracketed=bracketed)
    if isinstance(node, Pairs):
        if not node.pairs:
            return None
        raise Unreadable("a map, where a text belongs")
    if one_name and node.items:
        raise Unreadable(f"{len(node.items)} values, where one belongs")
    texts = [read_text(item, templates, one_name=False) for item in node.items]
    joined = ", ".join(text for text in texts if text)
    return read_name(Scalar(joined, literal=True), limit=MAX_TEXT) if joined else None


# Flags

_TRUE = YES_WORDS | all_of(lambda each: each.values.true)
_FALSE = NO_WORDS | all_of(lambda each: each.values.false)
_TICKS, _CROSSES = "✓✔✅⭕", "✗✘❌"


def read_flag(node: Node) -> bool | None:
    """A flag in any language; None if there is no value. Raises ``Unreadable`` for anything else."""
    node = sole(node)
    if isinstance(node, Seq) and not node.items:
        return None
    if not isinstance(node, Scalar) or len(node.text) > _MAX_WRITTEN:
        raise Unreadable(f"{shown(node)}, where true or false belongs")
    for text in (node.text, split_remark(node.text)[0]):
        word = squash(text)
        if word in _TRUE or word in _FALSE:
            return word in _TRUE
        if text[:1] and text[0] in _TICKS + _CROSSES and len(text) <= 2:
            return text[0] in _TICKS
    if is_nothing(node):
        return None
    raise Unreadable(f"{shown(node)} is neither true nor false")


# Signed changes

_MINUSES = dict.fromkeys(map(ord, "−‐‑‒–—﹣"), "-")
_ARROW_WORDS = rf"(?:-{{1,3}}>|={{1,3}}>|→|➔|➜|➡|⇒|{any_of(lambda each: each.values.becomes)})"
_MINUS = any_of(lambda each: each.values.minus)
_PLUS = any_of(lambda each: each.values.plus)
_SIGNS = (
    (re.compile(rf"^\s*(?:[↓⬇▼▽🔻📉]\ufe0f?|{_MINUS})\s*(?=\d)"), "-"),
    (re.compile(rf"^\s*(?:[↑⬆▲△🔺📈]\ufe0f?|{_PLUS})\s*(?=\d)"), "+"),
)
_SUM = re.compile(r"(\d{1,9})\s*([+-])\s*(\d{1,9})\s*=\s*(\d{1,9})(?:\s*/\s*\d+)?")
_ARROWS = re.compile("[↓↑⬇⬆▼▽▲△🔻🔺📉📈]")
_HIT_POINTS = any_of(lambda each: each.values.hit_points)
_LEVELS = re.compile(
    rf"(?:{_HIT_POINTS})?\s*(\d{{1,9}})(?:\s*/\s*\d+)?\s*(?:hp)?\s*{_ARROW_WORDS}"
    rf"\s*(\d{{1,9}})(?:\s*/\s*\d+)?\s*(?:hp)?(?:{any_of(lambda each: each.values.became)})?"
)
_NUMBER = re.compile(r"(?<![\d.])([+-]?)\s*(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?![\d.])")
_LOSS = re.compile(any_of(lambda each: each.values.loss))
_GAIN = re.compile(any_of(lambda each: each.values.gain))
_NEGATION = re.compile(any_of(lambda each: each.values.negation))
_UNITS = re.compile(any_of(lambda each: each.values.units))
_STRAY = re.compile(r"[%/~±\d]|[+-]\s*\x00|\x00[+-]|\x00(?!(?:hp|hit|health|pts?|points?|p|dmg)\b)[a-z]")


_LEVEL = re.compile(
    rf"(?:hp|{any_of(lambda each: each.values.hit_points)})?\s*"
    r"(?P<now>\d{1,9})\s*(?:/|out of|of)\s*(?P<top>\d{1,9})\s*(?:hp)?"
)
_BARE_LEVEL = re.compile(r"(?P<now>\d{1,9})\s*(?:hp|%)?")


def read_level(node: Node) -> HitPoints | None:
    """The current hit points: ``85/100``, ``85``; None for anything else.

    A bare 0 gives None, because models that report changes write it for "no change".
    """
    node = sole(node)
    if not isinstance(node, Scalar) or len(node.text) > _MAX_WRITTEN:
        return None
    text = split_remark(strip_emphasis(normalized("NFKC", node.text).casefold().strip()))[0]
    if found := _LEVEL.fullmatch(text):
        now, top = int(found["now"]), int(found["top"])
        return HitPoints(_bounded(now), _bounded(top)) if top > 0 and now <= top else None
    found = _BARE_LEVEL.fullmatch(text)
    return HitPoints(_bounded(int(found["now"]))) if found and int(found["now"]) else None


def read_change(node: Node, *, level: bool = False) -> int | None:
    """A signed integer with its sign as a symbol or in words: ``-15``, ``lost 15``, ``+5 (healed)``, ``100 -> 85``.

    ``level`` says that the key names a level, not a change; a bare ``85`` is then unreadable. None if there is no
    value. Raises ``Unreadable`` if the number or its sign would be a guess.
    """
    listed = isinstance(node, Seq)
    node = sole(node)
    if isinstance(node, Seq) and not node.items:
        return None
    if not isinstance(node, Scalar) or len(node.text) > _MAX_WRITTEN:
        raise Unreadable(f"{shown(node)}, where a number belongs")
    text = normalized("NFKC", node.text).translate(_MINUSES).casefold().strip()
    text = strip_emphasis(text)
    if is_nothing(Scalar(text)):
        return None
    if text == "±0":
        return 0
    if levels := _LEVELS.fullmatch(split_remark(text)[0].removeprefix("from ")):
        return _bounded(int(levels[2]) - int(levels[1]))
    if sum_ := _SUM.fullmatch(split_remark(text)[0]):
        change = int(sum_[3]) * (-1 if sum_[2] == "-" else 1)
        if int(sum_[1]) + change != int(sum_[4]):
            raise Unreadable(f"{shown(node)} does not add up")
        return _bounded(change)
    for mark, sign in _SIGNS:
        text = mark.sub(sign, text)
    if _ARROWS.search(text):
        raise Unreadable(f"{shown(node)} does not say whether it is harm or healing")
    if _NEGATION.search(text) and not any(char.isdigit() for char in text):
        return None
    head, remark = split_remark(text.rstrip(".。"))
    numbers = list(_NUMBER.finditer(head))
    rest = _NUMBER.sub("\x00", head)
    if len(numbers) != 1 or _STRAY.search(rest) or _NEGATION.search(rest):
        raise Unreadable(f"{shown(node)} is no whole number")
    sign, digits, fraction = numbers[0].groups()
    if fraction and fraction.strip(".0"):
        raise Unreadable(f"{shown(node)} is no whole number")
    number = _bounded_digits(digits)
    loss, gain = bool(_LOSS.search(rest)), bool(_GAIN.search(rest))
    if sign:
        if (loss and gain) or (loss and sign == "+") or (gain and sign == "-"):
            raise Unreadable(f"{shown(node)} says both harm and healing")
        return -number if sign == "-" else number
    loss, gain = loss or bool(_LOSS.search(remark)), gain or bool(_GAIN.search(remark))
    if loss != gain:
        return -number if loss else number
    if not number and _NEGATION.search(remark):
        return 0
    unsaid = squash(_UNITS.sub(" ", rest)) or squash(remark)
    if loss or unsaid or listed or level:
        raise Unreadable(f"{shown(node)} does not say whether it is harm or healing")
    return number


def _bounded_digits(digits: str) -> int:
    digits = digits.replace(",", "")
    if len(digits.lstrip("0")) > 9:
        raise Unreadable(f"{shown(digits)} is too large (at most {MAX_CHANGE})")
    return _bounded(int(digits))


def _bounded(number: int) -> int:
    if abs(number) > MAX_CHANGE:
        raise Unreadable(f"{number} is too large (at most {MAX_CHANGE})")
    return number
