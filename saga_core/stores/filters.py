"""The filter grammar of vector stores and its semantics.

A comparison is true only if the field exists, is not null, and has a value of a comparable type: numbers with numbers
(``True`` is not a number here), text with text, booleans with booleans. Two values of different types are ``ne``,
except with null. So ``ne`` is false where the field is missing or null; ``Not(Compare(f, "eq", v))`` is true there.
``predicate`` prepares a filter for many items; a backend may compute the same elsewhere.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Literal

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


def check_filter(filter_: Filter) -> None:
    """Raise ``BadInput`` for an order comparison with a boolean or null, whatever the data.

    ``validate.check_where`` checks names and values, and calls this function too.
    """
    if isinstance(filter_, Compare):
        if filter_.op not in ("eq", "ne") and (filter_.value is None or isinstance(filter_.value, bool)):
            raise BadInput(f"filter: {filter_.op!r} does not apply to {filter_.value!r}; use eq or ne")
    elif isinstance(filter_, And | Or):
        for part in filter_.parts:
            check_filter(part)
    elif isinstance(filter_, Not):
        check_filter(filter_.part)


Predicate = Callable[[Mapping[str, Scalar]], bool]


def predicate(filter_: Filter) -> Predicate:
    """Return a function that tells whether metadata pass ``filter_``. Raises ``BadInput`` as ``check_filter`` does."""
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
    decisive = isinstance(filter_, Or)

    def several(metadata: Mapping[str, Scalar]) -> bool:
        for part in parts:  # a generator for each item takes three times as long
            if part(metadata) is decisive:
                return decisive
        return not decisive

    return several


def _prepare_compare(filter_: Compare) -> Predicate:
    name, wanted, kind = filter_.name, filter_.value, _KINDS[type(filter_.value)]
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
        return holds(actual, wanted) if _KINDS[type(actual)] == kind else across

    return compare


def _prepare_within(filter_: Within) -> Predicate:
    name, negate = filter_.name, filter_.negate
    among = {(_KINDS[type(value)], value) for value in filter_.values}

    def within(metadata: Mapping[str, Scalar]) -> bool:
        actual = metadata.get(name)
        if actual is None and name not in metadata:
            return False
        return ((_KINDS[type(actual)], actual) in among) is not negate

    return within
