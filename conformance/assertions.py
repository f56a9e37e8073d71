"""Assertions on the results of a store. They raise exceptions, so ``python -O`` does not disable them."""

from __future__ import annotations

from array import array
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar

from attrs import frozen

import saga_core.errors
from saga_core.errors import Conflict, SagaError
from saga_core.stores import Edge, Hit, Node, Pages, VectorItem


class CheckFailed(Exception):
    """The store broke a clause. Checks raise it instead of asserting, so ``python -O`` does not disable them."""

    def __init__(self, message: str, *, clause: str = "") -> None:
        self.clause = clause
        """The broken clause, if the check covers several. May name several, separated by spaces."""
        super().__init__(message)


def require(condition: object, message: str, *, clause: str = "") -> None:
    """Raise ``CheckFailed`` unless ``condition`` holds."""
    if not condition:
        raise CheckFailed(message, clause=clause)


def shown(value: object) -> str:
    """The ``repr`` of ``value`` for a failure message, cut to 600 characters."""
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - the store's own value; the failure is about what it gave
        return f"a {type(value).__name__} whose repr raises {type(error).__name__}"
    return text if len(text) <= 600 else f"{text[:600]}… ({len(text)} characters)"


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


T = TypeVar("T")


@frozen
class Refused:
    """The result of a call that raised: the name of the error, and the key of a ``Conflict``."""

    error: str
    key: tuple[str, ...] | None = None


def refusal(error: SagaError) -> Refused:
    """Convert ``error`` to a ``Refused`` with the name of its nearest class in ``saga_core.errors``."""
    name = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == saga_core.errors.__name__)
    return Refused(name, error.key if isinstance(error, Conflict) else None)


async def refused(error: type[SagaError], made: Awaitable[T], what: str) -> SagaError:
    """Return the error that ``made`` raises. Raises ``CheckFailed`` if it raises another error or none."""
    try:
        result = await made
    except error as caught:
        return caught
    except SagaError as other:
        raise CheckFailed(f"{what}: raised {type(other).__name__} ({other}), expected {error.__name__}") from other
    raise CheckFailed(f"{what}: gave {shown(result)}, expected {error.__name__}")
