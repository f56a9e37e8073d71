"""Assertions on the results of a store. They raise exceptions, so ``python -O`` does not disable them."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from itertools import zip_longest
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

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


EACH_CALL = "each call MUST."
"""Begins the line of a failure with a rule that is of no clause, because every check needs it."""
IT_ENDS = f"\n{EACH_CALL} It returns or raises, and leaves the process running."


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
    equal(typed(found), typed(wanted), what, clause=clause)


def equal(found: Any, wanted: Any, what: str, *, clause: str = "") -> None:
    """Raise ``CheckFailed`` unless two typed values are equal."""
    if found != wanted:
        raise CheckFailed(f"{what}: {difference(found, wanted)}", clause=clause)


def among(found: Any, allowed: Sequence[Any], what: str) -> None:
    """Raise ``CheckFailed`` unless a typed value is one of ``allowed``, with its difference from the last of them."""
    if found not in allowed:
        equal(found, allowed[-1], what)


_BRIEF = 400
"""The characters of a value up to which a message has it whole."""


def difference(found: Any, wanted: Any) -> str:
    """Describe how two unequal typed values differ: in their order, or in their first entries that are not equal."""
    rows, due = _parts(found), _parts(wanted)
    if rows is None or due is None or _name(found) != _name(wanted) or max(len(rows), len(due)) < 2:
        return f"gave {_plain(found)}, expected {_plain(wanted)}"
    at, (one, other) = next(
        (at, pair) for at, pair in enumerate(zip_longest(rows, due, fillvalue=_END)) if pair[0] != pair[1]
    )
    entry = f"gave {_plain(one)}, expected {_plain(other)}"
    if len(rows) == len(due) and found[0] != "mapping" and Counter(rows) == Counter(due):
        return f"the same {len(rows)} entries in another order; first at position {at}: {entry}"
    whole = f"gave {_plain(found, None)}, expected {_plain(wanted, None)}"
    if len(whole) <= _BRIEF:
        return whole
    if len(rows) != len(due):
        return f"gave {len(rows)} entries, expected {len(due)}; first at position {at}: {entry}"
    return f"at position {at}: {difference(one, other)}"


_END = ("end",)


def _name(value: Any) -> Any:
    return value[0] if isinstance(value[0], str) else "entry"


def _parts(value: Any) -> tuple[Any, ...] | None:
    """The typed values in a typed value; None if it holds none."""
    if not isinstance(value, tuple) or not value or value[0] == "refused":
        return None
    if isinstance(value[0], tuple):  # an entry of a mapping
        return value
    if value[0] in ("list", "tuple", "mapping"):
        return tuple(value[1])
    rest = value[1:]
    return rest if rest and all(isinstance(part, tuple) for part in rest) else None


def _plain(value: Any, most: int | None = _BRIEF) -> str:
    """A typed value as one writes it in Python, cut to ``most`` characters."""
    if value is _END:
        return "the end"
    name, parts = _name(value), _parts(value)
    if name == "refused":
        text = str(Refused(value[1], value[2]))
    elif parts is None:
        text = repr(value[1]) if name in ("str", "bytes", "bool", "int", "array") else str(value[1])
        text = text if name in ("str", "bytes", "bool", "int", "float", "NoneType") else f"{name} {text}"
    elif name == "mapping":
        text = "{" + ", ".join(_plain(part, most) for part in parts) + "}"
    elif name == "entry":
        text = ": ".join(_plain(part, most) for part in parts)
    else:
        inside = ", ".join(_plain(part, most) for part in parts) + ("," if name == "tuple" and len(parts) == 1 else "")
        text = f"[{inside}]" if name == "list" else f"({inside})" if name == "tuple" else f"{name}({inside})"
    return text if most is None or len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def misfit(value: object, wanted: Any) -> str:
    """Say what of ``value`` is not of the annotation ``wanted``; empty if it fits. One entry stands for all."""
    if wanted is Any:
        return ""
    origin, inside = get_origin(wanted), get_args(wanted)
    if origin in (UnionType, Union):
        return "" if any(not misfit(value, each) for each in inside) else f"a {type(value).__name__}"
    if not isinstance(value, origin or wanted):
        return "None" if value is None else f"a {type(value).__name__}"
    if isinstance(value, Mapping):
        pairs = [(part, each) for entry in list(value.items())[:1] for part, each in zip(entry, inside, strict=True)]
    elif isinstance(value, list):
        pairs = [(each, inside[0]) for each in value[:1]]
    elif isinstance(value, tuple) and len(value) == len(inside) and ... not in inside:
        pairs = list(zip(value, inside, strict=True))
    else:
        pairs = []
    within = next((found for part, each in pairs if (found := misfit(part, each))), "")
    return f"a {type(value).__name__} with {within}" if within else ""


def annotated(wanted: Any) -> str:
    """An annotation as one writes it, without the modules of its classes."""
    text = "None" if wanted is NoneType else wanted.__name__ if isinstance(wanted, type) else str(wanted)
    return re.sub(r"(?:\w+\.)+(?=[A-Za-z])", "", text)


T = TypeVar("T")


@frozen(repr=False)
class Refused:
    """The result of a call that raised: the name of the error, and the key of a ``Conflict``."""

    error: str
    key: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        told = f"{self.error}: {self.error.told}" if isinstance(self.error, _ErrorName) else self.error
        return told if self.key is None else f"{told} (key {self.key!r})"


class _ErrorName(str):
    """The name of an error. It is equal to the name alone, and carries the message for the reader of a failure."""

    told = ""


def refusal(error: SagaError) -> Refused:
    """Convert ``error`` to a ``Refused`` with the name of its nearest class in ``saga_core.errors``."""
    name = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == saga_core.errors.__name__)
    told = _ErrorName(name)
    told.told = str(error)
    return Refused(told, error.key if isinstance(error, Conflict) else None)


async def refused(error: type[SagaError], made: Awaitable[T], what: str) -> SagaError:
    """Return the error that ``made`` raises. Raises ``CheckFailed`` if it raises another error or none."""
    try:
        result = await made
    except error as caught:
        return caught
    except SagaError as other:
        raise CheckFailed(f"{what}: raised {type(other).__name__} ({other}), expected {error.__name__}") from other
    raise CheckFailed(f"{what}: gave {shown(result)}, expected {error.__name__}")
