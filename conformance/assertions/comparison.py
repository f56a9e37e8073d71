"""Comparison by type and value, in which 0, 0.0 and False all differ."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

from conformance.assertions.failure import CheckFailed, shown
from conformance.assertions.refusals import Refused
from saga_core.stores import Edge, Hit, Node, Pages, VectorItem


def typed(value: object) -> object:
    """Convert ``value`` to plain tuples that are equal only if all types and values are."""
    made = _TYPED.get(type(value))
    if made is not None:
        return made(value)
    if isinstance(value, Refused):
        return ("refused", value.error, value.key)
    if isinstance(value, Pages):
        return ("pages", typed(value.files), typed(value.watermark))
    if isinstance(value, Mapping):
        return ("mapping", tuple(sorted((typed(key), typed(part)) for key, part in value.items())))
    if isinstance(value, list | tuple):
        return (type(value).__name__, tuple(typed(part) for part in value))
    return (type(value).__name__, repr(value))


_TYPED: dict[type, Any] = {
    # Most compared values are of these plain types. The name of the type keeps equal values of different types apart.
    str: lambda value: ("str", value),
    int: lambda value: ("int", value),
    bool: lambda value: ("bool", value),
    bytes: lambda value: ("bytes", value),
    float: lambda value: ("float", repr(value)),
    Node: lambda value: ("node", typed(value.id), typed(value.label), typed(value.properties)),
    Edge: lambda value: (
        "edge",
        *(typed(part) for part in (value.source, value.type, value.target, value.key, value.properties)),
    ),
    VectorItem: lambda value: ("item", typed(value.id), typed(value.vector), typed(value.text), typed(value.metadata)),
    Hit: lambda value: ("hit", typed(value.id), typed(value.score), typed(value.text), typed(value.metadata)),
    array: lambda value: ("array", value.typecode, value.tobytes()),
}


def same(found: Any, wanted: Any, what: str, *, clause: str = "") -> None:
    """Raise ``CheckFailed`` unless both are equal, types included."""
    if typed(found) != typed(wanted):
        raise CheckFailed(f"{what}: gave {shown(found)}, expected {shown(wanted)}", clause=clause)
