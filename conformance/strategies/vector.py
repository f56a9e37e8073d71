"""Random calls of a VectorStore."""

from __future__ import annotations

from random import Random

from conformance.calls import Call, call
from conformance.inputs import NFD
from conformance.models import Model
from conformance.strategies.call_strategy import CallStrategy, bare, get_of_ids, of_scope
from conformance.strategies.pools import IDS, SCALARS, SCOPES, chance, scope_of, some
from saga_core.stores import And, Compare, Exists, Filter, Not, Or, ScopeSpec, VectorItem, Within

_SPECS = (ScopeSpec("ngram-1/3", 3), ScopeSpec("ngram-1/3", 3), ScopeSpec("ngram-1/2", 2))
_FIELDS = ("turn", "깊이", "a.b")


def _vector(random: Random, dimension: int = 3) -> tuple[float, ...]:
    return tuple(float(random.choice((-1, 0, 1, 1, 2))) for _ in range(dimension))


def _create(random: Random, model: Model) -> Call:
    return call("create", scope_of(random, model), random.choice(_SPECS))


def _item(random: Random, dimension: int) -> VectorItem:
    metadata = {name: random.choice(SCALARS) for name in some(random, _FIELDS, 3)}
    text = random.choice(("", "text", "크룩이 왔다", NFD))
    return VectorItem(random.choice(IDS), _vector(random, dimension), text, metadata)


def _upsert(random: Random, model: Model) -> Call:
    scope = scope_of(random, model)
    spec = model.describe(scope)
    if spec is None and not chance(random, 4):
        return call("create", scope, random.choice(_SPECS))
    dimension = random.choice((2, 3)) if spec is None or chance(random, 8) else spec.dimension
    return call("upsert", scope, [_item(random, dimension) for _ in range(random.randint(0, 4))])


def filters(random: Random, depth: int = 2) -> Filter:
    """Draw a well-formed filter."""
    name = random.choice(_FIELDS)
    kind = random.randint(0, 6 if depth else 3)
    if kind == 0:
        return Compare(name, random.choice(("eq", "ne")), random.choice(SCALARS))
    if kind == 1:
        ordered = [value for value in SCALARS if value is not None and not isinstance(value, bool)]
        return Compare(name, random.choice(("lt", "le", "gt", "ge")), random.choice(ordered))
    if kind == 2:
        return Within(name, some(random, SCALARS, 3), chance(random, 2))
    if kind == 3:
        return Exists(name)
    if kind == 4:
        return Not(filters(random, depth - 1))
    parts = tuple(filters(random, depth - 1) for _ in range(random.randint(0, 2)))
    return And(parts) if kind == 5 else Or(parts)


def _where(random: Random) -> Filter | None:
    return filters(random) if chance(random, 2) else None


def _query(random: Random, model: Model) -> Call:
    scopes = some(random, SCOPES, 3)
    return call("query", scopes, _vector(random), random.randint(1, 9), where=_where(random))


def _delete(random: Random, model: Model) -> Call:
    if chance(random, 2):
        return call("delete", scope_of(random, model), where=filters(random))
    return call("delete", scope_of(random, model), ids=some(random, IDS, 3))


def _count(random: Random, model: Model) -> Call:
    return call("count", scope_of(random, model), where=_where(random))


def _item_scan(random: Random, model: Model) -> Call:
    after = random.choice((None, random.choice(IDS), "a!", "가"))
    return call("scan", scope_of(random, model), after=after, limit=random.randint(1, 9))


VECTOR = CallStrategy(
    {"upsert": _upsert, "create": _create, "delete": _delete, "drop": of_scope("drop")},
    {
        "query": _query,
        "count": _count,
        "scan": _item_scan,
        "get": get_of_ids,
        "describe": of_scope("describe"),
        "scopes": bare("scopes"),
    },
    {
        "create": ("V-1", "V-2"),
        "upsert": ("V-4", "V-6", "V-7", "V-8"),
        "query": ("V-14", "V-15", "V-16", "V-17", "V-18", "V-19", "V-20"),
        "count": ("V-23",),
        "scan": ("V-13",),
        "get": ("V-10", "V-11", "V-12"),
        "describe": ("V-1",),
        "scopes": ("V-5",),
        "delete": ("V-22",),
        "drop": ("V-24",),
    },
)
