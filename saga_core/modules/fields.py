"""Checks what a plugin gives by the declared types of its fields, so that what is recorded can be read again."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from attrs import fields, has

from saga_core.errors import BadInput

_LONGEST = 20_000
"""Characters of a text."""
_LARGEST = 2**63
_NAMES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    type(None): "None",
    Mapping: "a mapping",
    Callable: "a function",
}


def check_fields(where: str, given: Any) -> None:
    """Check the fields of an attrs object, and of those in it. Raises ``BadInput``, which names field and value."""
    for name, wanted in _types(given.__class__).items():
        value = getattr(given, name)
        if not _fits(value, wanted):
            shown = repr(value) if len(repr(value)) < 80 else f"{repr(value)[:80]}…"
            limits = f" of at most {_LONGEST:,} characters that UTF-8 can store" if isinstance(value, str) else ""
            what = _in_words(wanted) + (limits if wanted is str else "")
            if get_origin(wanted) is tuple and _fits((value,), wanted):
                what += "; a tuple of one has a comma, as in (one,)"
            raise BadInput(f"{where} {type(given).__name__}({name}={shown}); give {what}")


@cache
def _types(kind: Any) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}


def _fits(value: Any, wanted: Any) -> bool:
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is tuple:
        each = parts[:1] * len(value) if type(value) is tuple and parts[1:] == (...,) else parts
        return type(value) is tuple and len(value) == len(each) and all(map(_fits, value, each))
    if origin is Callable:
        return callable(value)
    if origin is not None:
        key, held = parts
        return isinstance(value, Mapping) and all(
            _fits(name, key) and _fits(each, held) for name, each in value.items()
        )
    if has(wanted):
        return isinstance(value, wanted) and all(_fits(getattr(value, name), of) for name, of in _types(wanted).items())
    if issubclass(wanted, Enum):
        return isinstance(value, wanted)
    if wanted is float:
        return type(value) in (int, float) and math.isfinite(value)
    if wanted is int:
        return type(value) is int and -_LARGEST <= value < _LARGEST
    if wanted is str:
        return type(value) is str and len(value) <= _LONGEST and value == value.encode(errors="replace").decode()
    return type(value) is wanted


def _in_words(wanted: Any) -> str:
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin in (Union, UnionType):
        return " or ".join(map(_in_words, parts))
    if origin is tuple:
        return f"a tuple, each {_in_words(parts[0])}"
    return _NAMES.get(origin or wanted) or f"a {wanted.__name__}"
