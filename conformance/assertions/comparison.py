"""Comparing by type: 0 is not 0.0 is not False."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

from conformance.assertions.failure import CheckFailed, shown
from conformance.assertions.refusals import Refused
from saga_core.stores import Edge, Hit, Node, Pages, VectorItem


def typed(value: object) -> object:
    """``value`` as plain tuples that are equal only when all types and values are."""
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
    # The plain ones are most of what is compared, and each is told from the others by its type.
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
