"""The filter grammar of vector stores and its semantics.

A comparison is true only if the field exists, is not null, and has a value of a comparable type: numbers with numbers
(``True`` is not a number here), text with text, booleans with booleans. Two values of different types are ``ne``,
except with null. So ``ne`` is false where the field is missing or null; ``Not(Compare(f, "eq", v))`` is true there.
``matches`` defines the semantics; a backend may compute them elsewhere. ``predicate`` prepares a filter for many items.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Literal, assert_never

from attrs import field, frozen, validators

from saga_core.errors import BadInput
from saga_core.stores.graph import Scalar

Operator = Literal["eq", "ne", "lt", "le", "gt", "ge"]
_OPERATORS = ("eq", "ne", "lt", "le", "gt", "ge")


@frozen
class Compare:
    """``field op value``. Booleans and null allow only ``eq`` and ``ne``. ``eq None`` matches an explicit null."""

    name: str
    op: Operator = field(validator=validators.in_(_OPERATORS))
    value: Scalar


@frozen
class Within:
    """The field equals one of ``values`` (``in``), or exists and equals none of them (``nin``: ``negate``)."""

    name: str
    values: tuple[Scalar, ...]
    negate: bool = False


@frozen
class Exists:
    """The field exists, even if it is null."""

    name: str


@frozen
class And:
    """All of ``parts``; true if there are none."""

    parts: tuple[Filter, ...]


@frozen
class Or:
    """Any of ``parts``; false if there are none."""

    parts: tuple[Filter, ...]


@frozen
class Not:
    """The negation of ``part``."""

    part: Filter


Filter = Compare | Within | Exists | And | Or | Not


_KINDS = {type(None): "null", bool: "bool", int: "number", float: "number", str: "text"}


def _kind(value: Scalar) -> str:
    found = _KINDS.get(type(value))
    if found is None:  # a subclass
        found = "number" if isinstance(value, int | float) else "text"
    return found


def _compare(actual: Scalar, op: Operator, wanted: Scalar) -> bool:
    kind = _kind(actual)
    if kind != _kind(wanted):
        # Values of different types are not equal and have no order. Null does not count as a value here.
        return op == "ne" and kind != "null" and wanted is not None
    if op == "eq":
        return actual == wanted
    if op == "ne":
        return actual != wanted
    if kind in ("null", "bool"):
        raise BadInput(f"filter: {op!r} does not apply to {wanted!r}; use eq or ne")
    assert actual is not None and wanted is not None
    if op == "lt":
        return actual < wanted  # type: ignore[operator]
    if op == "le":
        return actual <= wanted  # type: ignore[operator]
    if op == "gt":
        return actual > wanted  # type: ignore[operator]
    if op == "ge":
        return actual >= wanted  # type: ignore[operator]
    assert_never(op)


def check_filter(filter_: Filter) -> None:
    """Raise ``BadInput`` for an order comparison with a boolean or null, whatever the data.

    ``validate.check_where`` checks names and values, and calls this function too.
    """
    if isinstance(filter_, Compare):
        if filter_.op not in ("eq", "ne") and _kind(filter_.value) in ("null", "bool"):
            raise BadInput(f"filter: {filter_.op!r} does not apply to {filter_.value!r}; use eq or ne")
    elif isinstance(filter_, And | Or):
        for part in filter_.parts:
            check_filter(part)
    elif isinstance(filter_, Not):
        check_filter(filter_.part)


def matches(filter_: Filter, metadata: Mapping[str, Scalar]) -> bool:
    """Whether ``metadata`` passes ``filter_``."""
    if isinstance(filter_, Compare):
        return filter_.name in metadata and _compare(metadata[filter_.name], filter_.op, filter_.value)
    if isinstance(filter_, Within):
        if filter_.name not in metadata:
            return False
        found = any(_compare(metadata[filter_.name], "eq", value) for value in filter_.values)
        return found is not filter_.negate
    if isinstance(filter_, Exists):
        return filter_.name in metadata
    if isinstance(filter_, And):
        return all(matches(part, metadata) for part in filter_.parts)
    if isinstance(filter_, Or):
        return any(matches(part, metadata) for part in filter_.parts)
    return not matches(filter_.part, metadata)


Predicate = Callable[[Mapping[str, Scalar]], bool]


def predicate(filter_: Filter) -> Predicate:
    """Return ``matches`` prepared for ``filter_``. Each ``Within`` is one set lookup, whatever its number of values.

    Raises ``BadInput`` as ``check_filter`` does.
    """
    check_filter(filter_)
    return _prepare(filter_)


def _prepare(filter_: Filter) -> Predicate:
    if isinstance(filter_, Compare):
        return _prepare_compare(filter_)
    if isinstance(filter_, Within):
        return _prepare_within(filter_)
    if isinstance(filter_, Exists):
        name = filter_.name
        return lambda metadata: name in metadata
    if isinstance(filter_, Not):
        inner = _prepare(filter_.part)
        return lambda metadata: not inner(metadata)
    parts = tuple(_prepare(part) for part in filter_.parts)
    return _every(parts) if isinstance(filter_, And) else _some(parts)


def _every(parts: tuple[Predicate, ...]) -> Predicate:
    def every(metadata: Mapping[str, Scalar]) -> bool:
        for part in parts:  # noqa: SIM110 - a generator for each item takes three times as long
            if not part(metadata):
                return False
        return True

    return every


def _some(parts: tuple[Predicate, ...]) -> Predicate:
    def some(metadata: Mapping[str, Scalar]) -> bool:
        for part in parts:  # noqa: SIM110 - as above
            if part(metadata):
                return True
        return False

    return some


def _prepare_compare(filter_: Compare) -> Predicate:
    name, wanted, kind = filter_.name, filter_.value, _kind(filter_.value)
    if wanted is None:
        if filter_.op == "ne":
            return lambda metadata: False
        return lambda metadata: name in metadata and metadata[name] is None
    holds: Callable[[Scalar, Scalar], bool] = getattr(operator, filter_.op)
    across = filter_.op == "ne"

    def compare(metadata: Mapping[str, Scalar]) -> bool:
        actual = metadata.get(name)
        if actual is None:
            return False
        return holds(actual, wanted) if _kind(actual) == kind else across

    return compare


def _prepare_within(filter_: Within) -> Predicate:
    name, negate = filter_.name, filter_.negate
    values: dict[str, set[Scalar]] = {"null": set(), "bool": set(), "number": set(), "text": set()}
    for value in filter_.values:
        values[_kind(value)].add(value)

    def within(metadata: Mapping[str, Scalar]) -> bool:
        actual = metadata.get(name)
        if actual is None and name not in metadata:
            return False
        return (actual in values[_kind(actual)]) is not negate

    return within
