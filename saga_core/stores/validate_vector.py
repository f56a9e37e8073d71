"""Input checks for vector stores: specs, vectors, items, queries and filters. See ``saga_core.stores.validate``."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable

from saga_core.errors import BadInput, ScopeMismatch
from saga_core.stores.filters import And, Compare, Exists, Filter, Not, Or, Within, check_filter
from saga_core.stores.lifecycle import Limits
from saga_core.stores.validate import (
    DEFAULT_LIMITS,
    check_limit,
    check_metadata,
    check_name,
    check_names,
    check_scalar,
    check_text,
    check_type,
    collection_of,
    shown,
)
from saga_core.stores.vector import ScopeSpec, Vector, VectorItem

MAX_FILTER_DEPTH = 64
"""The largest nesting depth of ``And``, ``Or`` and ``Not``."""


def check_spec(spec: ScopeSpec, limits: Limits = DEFAULT_LIMITS) -> None:
    """Check a scope's embedder id and dimension."""
    check_type("spec", spec, ScopeSpec)
    check_name("spec.embedder", spec.embedder, limits)
    check_limit("spec.dimension", spec.dimension)
    if spec.dimension > limits.dimension:
        raise BadInput(f"spec.dimension: {spec.dimension}; the limit is {limits.dimension}")


def as_float32(where: str, vector: Vector) -> array[float]:
    """Return ``vector`` as a new ``array('f')``. Raises ``BadInput`` for values that are not finite 32-bit numbers."""
    if isinstance(vector, str | bytes | bytearray) or not hasattr(vector, "__len__"):
        raise BadInput(f"{where}: {shown(vector)} is a {type(vector).__name__}; give a sequence of numbers")
    try:
        floats = array("f", vector)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"{where}: {shown(vector)}: {error}; give a sequence of numbers") from None
    # The sum is finite exactly if all components are: it is computed in 64 bits, where 32-bit values cannot overflow.
    if not math.isfinite(sum(floats)):
        raise BadInput(f"{where}: holds NaN, an infinity or a number beyond 32-bit floats; give finite ones")
    return floats


def check_dimension(where: str, vector: Vector, scope: str, spec: ScopeSpec) -> None:
    """Raise ``ScopeMismatch`` if ``vector`` does not have the dimension of the scope."""
    if len(vector) != spec.dimension:
        raise ScopeMismatch(
            f"{where}: {len(vector)} components, but scope {scope!r} has {spec.dimension} (embedder "
            f"{spec.embedder!r}); rebuild the scope to change its embedder"
        )


def check_item(item: VectorItem, limits: Limits = DEFAULT_LIMITS, *, where: str = "item") -> None:
    """Check an item's id, text and metadata. ``as_float32`` and ``check_dimension`` check its vector."""
    check_name(f"{where}.id", item.id, limits)
    size = check_text(f"{where} {item.id!r}: text", item.text)
    if size > limits.value_bytes:
        raise BadInput(f"{where} {item.id!r}: text of {size} bytes; the limit is {limits.value_bytes}")
    check_metadata(f"{where} {item.id!r}: metadata", item.metadata, limits)


def check_items(items: object, limits: Limits = DEFAULT_LIMITS) -> None:
    """Check the items of an upsert except their vectors."""
    for index, item in enumerate(collection_of("items", items, limits.batch)):
        if not isinstance(item, VectorItem):
            raise BadInput(f"items[{index}]: {shown(item)} is a {type(item).__name__}; give a VectorItem")
        check_item(item, limits, where=f"items[{index}]")


def check_query(scopes: object, k: object, where: Filter | None, limits: Limits = DEFAULT_LIMITS) -> None:
    """Check the arguments of ``VectorStore.query`` except the vector."""
    check_names("scopes", scopes, limits)
    check_limit("k", k)
    check_where(where, limits)


def check_item_scan(after: object, limit: object, limits: Limits = DEFAULT_LIMITS) -> None:
    """Check the arguments of ``VectorStore.scan`` except the scope."""
    if after is not None:
        check_name("after", after, limits)
    check_limit("limit", limit)


def check_delete(ids: object, where: Filter | None, limits: Limits = DEFAULT_LIMITS) -> None:
    """Check the arguments of ``VectorStore.delete`` except the scope: exactly one of ids and filter."""
    if (ids is None) == (where is None):
        raise BadInput("delete: give either ids or where; to remove everything use drop")
    if ids is not None:
        check_names("ids", ids, limits)
    check_where(where, limits)


def check_where(where: Filter | None, limits: Limits = DEFAULT_LIMITS) -> None:
    """Check a filter with ``check_filter``, and refuse names and values that no metadata can have."""
    if where is None:
        return
    _check_depth(where)
    check_filter(where)
    for leaf in _leaves(where):
        check_name("where: field name", leaf.name, limits)
        if isinstance(leaf, Compare):
            check_scalar(f"where: {leaf.name} {leaf.op}", leaf.value)
        elif isinstance(leaf, Within):
            place = f"where: {leaf.name} in"
            for value in collection_of(place, leaf.values, limits.batch):
                check_scalar(place, value)


def _check_depth(where: Filter) -> None:
    """Check the depth level by level, because the filter may be too deep for recursion."""
    level: list[Filter] = [where]
    for _ in range(MAX_FILTER_DEPTH + 1):
        parts = [part for each in level if isinstance(each, And | Or) for part in _parts(each)]
        level = parts + [each.part for each in level if isinstance(each, Not)]
        if not level:
            return
    raise BadInput(f"where: is nested deeper than {MAX_FILTER_DEPTH} levels; make it flatter")


def _parts(where: And | Or) -> tuple[Filter, ...]:
    check_type("where: parts", where.parts, tuple)
    return where.parts


def _leaves(where: Filter) -> Iterable[Compare | Within | Exists]:
    if isinstance(where, And | Or):
        for part in where.parts:
            yield from _leaves(part)
    elif isinstance(where, Not):
        yield from _leaves(where.part)
    elif isinstance(where, Compare | Within | Exists):
        yield where
    else:
        raise BadInput(f"where: {shown(where)} is a {type(where).__name__}; give a filter of saga_core.stores.filters")
