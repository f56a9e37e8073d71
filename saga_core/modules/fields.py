"""Checks what a plugin gives by the declared types of its fields, so that what is recorded can be read again."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from operator import call
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from attrs import fields, has

from saga_core.errors import BadInput

LONGEST = 20_000
"""Characters of a text."""
_LARGEST = 2**63
_NAMES = {
    str: "a text",
    bytes: "bytes",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    type(None): "None",
    Mapping: "a mapping",
    Callable: "a function",
}


def check_fields(where: str, given: Any, longest: int = LONGEST) -> None:
    """Check the fields of an attrs object, and of those in it. Raises ``BadInput``, which names field and value.

    ``longest`` is the most characters of a text.
    """
    for name, wanted in _types(given.__class__).items():
        value = getattr(given, name)
        if _test(wanted, longest)(value):
            continue
        for at, each in enumerate(value if type(value) is tuple else (value,), 1):
            if has(each.__class__) and each.__class__ in (wanted, *get_args(wanted)):  # the field is in there
                inner = f"{where} {type(given).__name__}, {name}{f' {at}' if type(value) is tuple else ''}:"
                check_fields(inner, each, longest)
        shown = repr(value) if len(repr(value)) < 80 else f"{repr(value)[:80]}…"
        limits = f" of at most {longest:,} characters that UTF-8 can store" if isinstance(value, str) else ""
        what = _in_words(wanted) + (limits if wanted is str else "")
        if get_origin(wanted) is tuple and _test(wanted, longest)((value,)):
            what += "; a tuple of one has a comma, as in (one,)"
        raise BadInput(f"{where} {type(given).__name__}({name}={shown}); give {what}")


@cache
def _types(kind: Any) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}


@cache
def _tests(kind: Any, longest: int) -> tuple[tuple[str, Callable[[Any], bool]], ...]:
    return tuple((name, _test(wanted, longest)) for name, wanted in _types(kind).items())


@cache
def _test(wanted: Any, longest: int) -> Callable[[Any], bool]:
    """What tells whether a value is of a type. Made once for each, because a chat has hundreds of thousands."""
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin is Literal:
        return lambda value: type(value) is str and value in parts
    if origin in (Union, UnionType):
        either = [_test(part, longest) for part in parts]
        return lambda value: any(test(value) for test in either)
    if origin is tuple and parts[1:] == (...,):
        of_each = _test(parts[0], longest)
        return lambda value: type(value) is tuple and all(map(of_each, value))
    if origin is tuple:
        tests = [_test(part, longest) for part in parts]
        return lambda value: type(value) is tuple and len(value) == len(tests) and all(map(call, tests, value))
    if origin is Callable:
        return callable
    if origin is not None:
        key, held = (_test(part, longest) for part in parts)
        return lambda value: isinstance(value, Mapping) and all(key(name) and held(value[name]) for name in value)
    if has(wanted):
        return lambda value: (
            isinstance(value, wanted) and all(test(getattr(value, name)) for name, test in _tests(wanted, longest))
        )
    return _plain(wanted, longest)


def _plain(wanted: Any, longest: int) -> Callable[[Any], bool]:
    if issubclass(wanted, Enum):
        return lambda value: isinstance(value, wanted)
    if wanted is float:
        return lambda value: type(value) in (int, float) and math.isfinite(value)
    if wanted is int:
        return lambda value: type(value) is int and -_LARGEST <= value < _LARGEST
    if wanted is str:
        return lambda value: isinstance(value, str) and len(value) <= longest and _storable(value)
    return lambda value: type(value) is wanted


def is_line(value: Any) -> bool:
    """Whether a value is a text of at most ``LONGEST`` characters that UTF-8 can store."""
    return isinstance(value, str) and len(value) <= LONGEST and _storable(value)


def _storable(text: str) -> bool:
    """Whether UTF-8 can store a text, so that it holds no lone surrogate."""
    return text.isascii() or text == text.encode(errors="replace").decode()


def _in_words(wanted: Any) -> str:
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin in (Union, UnionType):
        return " or ".join(map(_in_words, parts))
    if origin is Literal:
        return " or ".join(map(repr, parts))
    if origin is tuple:
        return f"a tuple, each {_in_words(parts[0])}"
    return _NAMES.get(origin or wanted) or f"a {wanted.__name__}"
