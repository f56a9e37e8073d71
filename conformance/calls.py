"""Calls of a store as data, and what comes of them in a form that compares by type: 0 is not 0.0 is not False."""

from __future__ import annotations

import inspect
from array import array
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

import saga_core.errors
from conformance.check import CheckFailed
from saga_core.errors import Conflict, SagaError
from saga_core.stores import Edge, Hit, Node, Pages, VectorItem


@frozen
class Call:
    """A method and its arguments."""

    method: str
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(factory=dict)

    def __str__(self) -> str:
        parts = [_shown(value) for value in self.args]
        parts += [f"{name}={_shown(value)}" for name, value in self.options.items()]
        return f"{self.method}({', '.join(parts)})"


def _shown(value: object) -> str:
    try:
        return repr(value)
    except RecursionError:
        return f"a {type(value).__name__} nested deeper than can be shown"


def call(method: str, *args: Any, **options: Any) -> Call:
    """``Call`` as it is written."""
    return Call(method, args, options)


@frozen
class Refused:
    """What a call came to that raised: the name of the error, and the key that a ``Conflict`` names."""

    error: str
    key: tuple[str, ...] | None = None


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


def refusal(error: SagaError) -> Refused:
    """``error`` by the name of the nearest class of ``saga_core.errors``."""
    name = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == saga_core.errors.__name__)
    return Refused(name, error.key if isinstance(error, Conflict) else None)


async def answer(store: Any, made: Call) -> object:
    """What ``store`` gives, or a ``Refused``. Raises ``CheckFailed`` for an error that is none of SAGA's."""
    try:
        result = getattr(store, made.method)(*made.args, **made.options)
        return await result if inspect.isawaitable(result) else result
    except SagaError as error:
        return refusal(error)
    except Exception as error:  # whatever the engine raises
        raise CheckFailed(f"{made} let {type(error).__name__} escape: {error}", clause="L-7") from error
