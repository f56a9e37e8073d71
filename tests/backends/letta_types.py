"""Whether plain JSON is what letta-client's types say: nothing missing, nothing unknown, every value of its type."""

from __future__ import annotations

import collections.abc
import types
from typing import Any, Literal, Required, Union, get_args, get_origin

from typing_extensions import get_type_hints, is_typeddict


def faults(kind: Any, value: Any, where: str = "") -> list[str]:
    """What of ``value`` is not as ``kind`` says, each with its place."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Required:
        return faults(inner[0], value, where)
    if origin in (Union, types.UnionType):
        found = [faults(each, value, where) for each in inner]
        return [] if not all(found) else min(found, key=len)
    if is_typeddict(kind):
        return _table(kind, value, where)
    if origin is Literal:
        return [] if value in inner else [f"{where}: {value!r} is none of {inner}"]
    if origin is dict:
        return [] if isinstance(value, dict) else [f"{where}: {value!r} is no object"]
    if origin in (collections.abc.Iterable, collections.abc.Sequence, list):
        if not isinstance(value, list):
            return [f"{where}: {value!r} is no list"]
        return [fault for at, each in enumerate(value) for fault in faults(inner[0], each, f"{where}[{at}]")]
    if kind in (Any, object):
        return []
    wanted: Any = type(None) if kind is None else kind
    if wanted is int and isinstance(value, bool):
        return [f"{where}: {value!r} is no number"]
    return [] if isinstance(value, wanted) else [f"{where}: {value!r} is no {wanted.__name__}"]


def _table(kind: Any, value: Any, where: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{where}: {value!r} is no object"]
    hints = get_type_hints(kind, include_extras=True)
    needed = {name for name in kind.__required_keys__ if name in hints}
    found = [f"{where}.{name}: unknown" for name in value.keys() - hints.keys()]
    found += [f"{where}.{name}: missing" for name in needed - value.keys()]
    for name in value.keys() & hints.keys():
        found += faults(hints[name], value[name], f"{where}.{name}")
    return found
