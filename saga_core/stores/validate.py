"""Input checks for the stores, shared so that every backend refuses the same values with the same messages.

The checks are pure functions without I/O. Each raises ``BadInput``, which names the field, the value and the remedy.
They return nothing unless documented. A backend calls them before it touches its engine, so that refused input changes
nothing.

Text rules: lone surrogates are refused everywhere, because no engine stores them. NUL is refused in names, properties,
metadata and texts of the graph and vector stores, because engines disagree about it. The segments of a StateKV key and
the text of a page may contain it. Property and metadata values have exactly one of the types ``str``, ``int``,
``float``, ``bool`` and ``NoneType``. Subclasses such as a ``StrEnum`` or a numpy number would not round-trip.
"""

from __future__ import annotations

import inspect
import math
from array import array
from collections.abc import Collection, Iterable, Mapping, Set
from functools import cache
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from saga_core.arguments import check_awaited
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, NotFound, ScopeMismatch
from saga_core.stores.curator import Curator, Remembering
from saga_core.stores.filters import And, Compare, Exists, Filter, Not, Or, Within, check_filter
from saga_core.stores.graph import Edge, EdgeKey, GraphStore, Mutation, NativeExpand, Node, RawQuery
from saga_core.stores.lifecycle import MINIMUM, Compacting, Holding, Limits, StoreInfo
from saga_core.stores.md_cache import MdCache, Pages
from saga_core.stores.state_kv import Batch, Key, StateKV
from saga_core.stores.vector import ScopeSpec, Vector, VectorItem, VectorStore

DEFAULT_LIMITS = Limits()

SEGMENT_END_BYTES = 2
"""The bytes that the end of a segment adds to the size of a key. A NUL in a segment counts twice, for its escape."""
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_NUMBER_BYTES = 8
_SHOWN = 60
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "state": ("key_bytes", "value_bytes", "batch"),
    "graph": ("value_bytes", "batch", "name_chars"),
    "vector": ("value_bytes", "batch", "dimension", "name_chars"),
    "cache": ("value_bytes", "name_chars"),
}
MAX_FILTER_DEPTH = 64
"""The largest nesting depth of ``And``, ``Or`` and ``Not``."""


def shown(value: object) -> str:
    """Return the repr of ``value`` for an error message, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text)} characters)"


def check_type(where: str, value: object, kind: type[Any]) -> None:
    """Check that ``value`` is an instance of ``kind``."""
    if not isinstance(value, kind):
        raise BadInput(f"{where}: {shown(value)} is a {type(value).__name__}; give a {kind.__name__}")


def too_small(kind: str, limits: Limits) -> tuple[str, ...]:
    """Return the limits below the ``MINIMUM`` of ``kind``, with both numbers: ``batch: 100, SAGA needs 2000``."""
    least = MINIMUM.get(kind, Limits())
    return tuple(
        f"{name}: {getattr(limits, name)}, SAGA needs {getattr(least, name)}"
        for name in _NEEDED.get(kind, ())
        if getattr(limits, name) < getattr(least, name)
    )


# --- names and numbers ---------------------------------------------------------------------------------------


def check_text(where: str, value: object, *, nul: bool = False) -> int:
    """Check a string and return its size in UTF-8. NUL is refused unless ``nul`` is true."""
    if type(value) is not str:
        raise BadInput(f"{where}: {shown(value)} is a {type(value).__name__}; give a str")
    if not nul and "\0" in value:
        raise BadInput(f"{where}: {shown(value)} holds a NUL character; remove it")
    if value.isascii():
        return len(value)
    try:
        return len(value.encode())
    except UnicodeEncodeError:
        raise BadInput(
            f"{where}: {shown(value)} holds a lone surrogate, which UTF-8 cannot store; bring text through "
            "saga_core.language.normal_forms.nfc"
        ) from None


def check_name(where: str, value: object, limits: Limits = DEFAULT_LIMITS) -> None:
    """Check a scope, id, label, type or field name: not empty, no NUL, at most ``limits.name_chars`` characters."""
    check_text(where, value)
    assert isinstance(value, str)
    if not value:
        raise BadInput(f"{where}: is empty; give a name")
    if len(value) > limits.name_chars:
        raise BadInput(f"{where}: {shown(value)} is too long; the limit is {limits.name_chars} characters")


def check_scope(scope: object, limits: Limits = DEFAULT_LIMITS) -> None:
    """Check the name of a scope."""
    check_name("scope", scope, limits)


def check_names(where: str, values: object, limits: Limits = DEFAULT_LIMITS) -> None:
    """Check a sequence of at most ``limits.batch`` names, such as ids to get. A bare string is refused."""
    for index, value in enumerate(collection_of(where, values, limits.batch)):
        check_name(f"{where}[{index}]", value, limits)


def check_limit(where: str, value: object) -> None:
    """Check a number of results: an int of at least 1."""
    if type(value) is not int:
        raise BadInput(f"{where}: {shown(value)} is a {type(value).__name__}; give an int")
    if value < 1:
        raise BadInput(f"{where}: {value} is below 1; ask for at least one")


def collection_of(where: str, values: object, most: int) -> Collection[Any]:
    """Check that ``values`` is a collection of at most ``most`` entries, and return it."""
    if isinstance(values, str | bytes) or not isinstance(values, Collection):
        raise BadInput(f"{where}: {shown(values)} is a {type(values).__name__}; give a list or a tuple")
    if len(values) > most:
        raise BadInput(f"{where}: {len(values)} entries; the limit is {most}: split them")
    return values


# --- StateKV -------------------------------------------------------------------------------------------------


def check_key(key: object, limits: Limits = DEFAULT_LIMITS, *, where: str = "key") -> None:
    """Check a StateKV key: a tuple of one or more non-empty segments, with at most ``limits.key_bytes`` in total."""
    if key == ():
        raise BadInput(f"{where}: () is empty; a key has at least one segment")
    check_prefix(key, limits, where=where)


def check_prefix(prefix: object, limits: Limits = DEFAULT_LIMITS, *, where: str = "prefix") -> None:
    """Check a prefix like a key, but allow the empty tuple, which stands for the whole store."""
    if type(prefix) is not tuple:
        raise BadInput(f"{where}: {shown(prefix)} is a {type(prefix).__name__}; give a tuple of str")
    size = 0
    for index, segment in enumerate(prefix):
        if segment == "":
            raise BadInput(f"{where}: segment {index} of {shown(prefix)} is empty; give it a text")
        size += check_text(f"{where}[{index}]", segment, nul=True) + SEGMENT_END_BYTES + segment.count("\0")
    if size > limits.key_bytes:
        raise BadInput(
            f"{where}: {shown(prefix)} has {size} bytes with the ends of its segments; the limit is {limits.key_bytes}"
        )


def check_keys(keys: object, limits: Limits = DEFAULT_LIMITS) -> None:
    """Check keys to get: at most ``limits.batch``. A single key is refused, because a key is a sequence itself."""
    for index, key in enumerate(collection_of("keys", keys, limits.batch)):
        check_key(key, limits, where=f"keys[{index}]")


def check_scan(prefix: object, after: object, limit: object, limits: Limits = DEFAULT_LIMITS) -> None:
    """Check the arguments of ``StateKV.scan``."""
    check_prefix(prefix, limits)
    if after is not None:
        check_key(after, limits, where="after")
    check_limit("limit", limit)


def check_batch(batch: Batch, expected: Mapping[Key, bytes | None] | None, limits: Limits = DEFAULT_LIMITS) -> None:
    """Check the arguments of ``StateKV.commit``. Puts and deletes count together, and ``expected`` separately."""
    check_type("batch", batch, Batch)
    check_type("batch.puts", batch.puts, Mapping)
    check_type("batch.deletes", batch.deletes, Set)
    if expected is not None:
        check_type("expected", expected, Mapping)
    size = len(batch.puts) + len(batch.deletes)
    if size > limits.batch:
        raise BadInput(f"batch: {size} puts and deletes; the limit is {limits.batch}: split them")
    for key, value in batch.puts.items():
        check_key(key, limits, where="batch.puts")
        _check_value("batch.puts", key, value, limits)
    for key in batch.deletes:
        check_key(key, limits, where="batch.deletes")
        if key in batch.puts:
            raise BadInput(f"batch: the key {shown(key)} is in both puts and deletes; keep one of the two")
    if expected is None:
        return
    if len(expected) > limits.batch:
        raise BadInput(f"expected: {len(expected)} keys; the limit is {limits.batch}")
    for key, wanted in expected.items():
        check_key(key, limits, where="expected")
        if wanted is not None:
            _check_value("expected", key, wanted, limits)


def _check_value(where: str, key: Key, value: object, limits: Limits) -> None:
    if type(value) is not bytes:
        raise BadInput(f"{where}[{shown(key)}]: {shown(value)} is a {type(value).__name__}; give bytes")
    if len(value) > limits.value_bytes:
        raise BadInput(f"{where}[{shown(key)}]: {len(value)} bytes; the limit is {limits.value_bytes}")


# --- properties and metadata ---------------------------------------------------------------------------------


def check_scalar(where: str, value: object) -> int:
    """Check a scalar (text, 64-bit integer, finite float, boolean or None) and return its size in bytes."""
    kind = type(value)
    if kind is str:
        return check_text(where, value)
    if kind is float and not math.isfinite(value):  # type: ignore[arg-type]
        raise BadInput(f"{where}: {value} is not finite; leave it out or give a number")
    if kind is int and not _INT64_MIN <= value <= _INT64_MAX:  # type: ignore[operator]
        raise BadInput(f"{where}: {shown(value)} does not fit 64 bits; store it as text")
    if kind not in (int, float, bool, type(None)):
        raise BadInput(f"{where}: {shown(value)} is a {kind.__name__}; give a str, int, float, bool or None")
    return _NUMBER_BYTES


def check_properties(where: str, properties: object, limits: Limits = DEFAULT_LIMITS) -> None:
    """Check the properties of a node or edge: scalars and tuples of scalars. A list would come back as a tuple."""
    _check_mapping(where, properties, limits, tuples=True)


def check_metadata(where: str, metadata: object, limits: Limits = DEFAULT_LIMITS) -> None:
    """Check the metadata of a vector item: only scalars."""
    _check_mapping(where, metadata, limits, tuples=False)


def _check_mapping(where: str, mapping: object, limits: Limits, *, tuples: bool) -> None:
    if not isinstance(mapping, Mapping):
        raise BadInput(f"{where}: {shown(mapping)} is a {type(mapping).__name__}; give a dict")
    size = 0
    for name, value in mapping.items():
        check_name(f"{where}: field name", name, limits)
        size += len(name.encode())
        place = f"{where}[{name!r}]"
        if tuples and type(value) is tuple:
            size += sum(check_scalar(place, part) for part in value)
        else:
            size += check_scalar(place, value)
    if size > limits.value_bytes:
        raise BadInput(f"{where}: {size} bytes; the limit is {limits.value_bytes}")


# --- GraphStore ----------------------------------------------------------------------------------------------


def check_node(node: Node, limits: Limits = DEFAULT_LIMITS, *, where: str = "node") -> None:
    """Check a node's id, label and properties."""
    check_type(where, node, Node)
    check_name(f"{where}.id", node.id, limits)
    check_name(f"{where}.label", node.label, limits)
    check_properties(f"{where} {node.id!r}", node.properties, limits)


def check_edge_key(key: EdgeKey | Edge, limits: Limits = DEFAULT_LIMITS, *, where: str = "edge") -> None:
    """Check an edge's identity. ``key`` may be empty, the other three may not."""
    if not isinstance(key, EdgeKey | Edge):
        raise BadInput(f"{where}: {shown(key)} is a {type(key).__name__}; give an EdgeKey")
    check_name(f"{where}.source", key.source, limits)
    check_name(f"{where}.type", key.type, limits)
    check_name(f"{where}.target", key.target, limits)
    if key.key != "":
        check_name(f"{where}.key", key.key, limits)


def check_edge(edge: Edge, limits: Limits = DEFAULT_LIMITS, *, where: str = "edge") -> None:
    """Check an edge's identity and properties."""
    check_type(where, edge, Edge)
    check_edge_key(edge, limits, where=where)
    check_properties(f"{where} {edge.source!r}-{edge.type}->{edge.target!r}", edge.properties, limits)


def check_mutation(mutation: Mutation, limits: Limits = DEFAULT_LIMITS) -> None:
    """Check everything about a mutation that does not need the store. ``check_endpoints`` checks the rest."""
    check_type("mutation", mutation, Mutation)
    for name in ("put_nodes", "put_edges", "delete_nodes", "delete_edges"):
        check_type(name, getattr(mutation, name), tuple)
    size = mutation.size
    if size > limits.batch:
        raise BadInput(f"mutation: {size} entries; the limit is {limits.batch}: split it")
    for index, node in enumerate(mutation.put_nodes):
        check_node(node, limits, where=f"put_nodes[{index}]")
    for index, edge in enumerate(mutation.put_edges):
        check_edge(edge, limits, where=f"put_edges[{index}]")
    for index, node_id in enumerate(mutation.delete_nodes):
        check_name(f"delete_nodes[{index}]", node_id, limits)
    for index, key in enumerate(mutation.delete_edges):
        check_edge_key(key, limits, where=f"delete_edges[{index}]")
    if mutation.watermark is not None:
        check_name("watermark", mutation.watermark, limits)


def endpoints(mutation: Mutation) -> frozenset[str]:
    """Return the nodes that ``mutation``'s edges need but that it does not put, so the store must have them already."""
    named = {edge.source for edge in mutation.put_edges} | {edge.target for edge in mutation.put_edges}
    return frozenset(named.difference(node.id for node in mutation.put_nodes))


def check_endpoints(mutation: Mutation, present: Collection[str]) -> None:
    """Refuse an edge if one of its nodes is missing. ``present`` are the nodes of ``endpoints(mutation)`` that exist.

    A node that the mutation deletes and does not put again counts as missing.
    """
    needed = endpoints(mutation)
    # Test each id separately: ``difference`` would iterate over a whole graph.
    gone = {node_id for node_id in needed if node_id not in present} | needed.intersection(mutation.delete_nodes)
    for index, edge in enumerate(mutation.put_edges):
        for end, node_id in (("source", edge.source), ("target", edge.target)):
            if node_id in gone:
                raise BadInput(
                    f"put_edges[{index}].{end}: no node {node_id!r} in the scope after this mutation; "
                    "put the node in the same mutation or before"
                )


def check_neighbors(
    ids: object, types: object, direction: object, limit: object, limits: Limits = DEFAULT_LIMITS
) -> None:
    """Check the arguments of ``GraphStore.neighbors`` except the scope."""
    check_names("ids", ids, limits)
    if types is not None:
        check_names("types", types, limits)
    if direction not in ("out", "in", "both"):
        raise BadInput(f"direction: {shown(direction)}; give 'out', 'in' or 'both'")
    if limit is not None:
        check_limit("limit", limit)


def check_expand(ids: object, hops: object, types: object, limits: Limits = DEFAULT_LIMITS) -> None:
    """Check the arguments of ``NativeExpand.expand`` except the scope."""
    check_names("ids", ids, limits)
    if type(hops) is not int or not 0 <= hops <= 4:
        raise BadInput(f"hops: {shown(hops)}; give 0 to 4")
    if types is not None:
        check_names("types", types, limits)


def check_node_scan(label: object, after: object, limit: object, limits: Limits = DEFAULT_LIMITS) -> None:
    """Check the arguments of ``GraphStore.scan`` except the scope."""
    if label is not None:
        check_name("label", label, limits)
    if after is not None:
        check_name("after", after, limits)
    check_limit("limit", limit)


# --- VectorStore --------------------------------------------------------------------------------------------


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


def check_same_spec(scope: str, found: ScopeSpec, spec: ScopeSpec) -> None:
    """Raise ``ScopeMismatch`` if the scope was created with another spec."""
    if found != spec:
        raise ScopeMismatch(
            f"scope {scope!r} was made by {found.embedder!r} with dimension {found.dimension}, not by "
            f"{spec.embedder!r} with {spec.dimension}; drop it and rebuild"
        )


def unknown_scope(scope: str) -> NotFound:
    """Return the error for an upsert into a scope that does not exist."""
    return NotFound(f"vector scope {scope!r} does not exist; create it with its embedder's id first")


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


# --- MdCache -------------------------------------------------------------------------------------------------


def check_pages(pages: Pages, limits: Limits = DEFAULT_LIMITS) -> None:
    """Check the text of each page, and the watermark, which may be empty."""
    check_type("pages", pages, Pages)
    for name, text in pages.files.items():
        size = check_text(f"pages[{name!r}]", text, nul=True)
        if size > limits.value_bytes:
            raise BadInput(f"pages[{name!r}]: {size} bytes; the limit is {limits.value_bytes}")
    if pages.watermark != "":
        check_name("pages.watermark", pages.watermark, limits)


# --- stores ---------------------------------------------------------------------------------------------------

PROTOCOLS: Mapping[str, type[Any]] = {
    "state": StateKV,
    "graph": GraphStore,
    "vector": VectorStore,
    "cache": MdCache,
    "curator": Curator,
}


_PROMISED: Mapping[tuple[str, frozenset[Capability]], type[Any]] = {
    **{(kind, frozenset({Capability.COMPACTS})): Compacting for kind in ("state", "graph", "vector", "cache")},
    ("graph", frozenset({Capability.NATIVE_EXPAND})): NativeExpand,
    ("graph", frozenset({Capability.RAW_QUERY})): RawQuery,
    ("curator", frozenset({Capability.REMEMBERS})): Remembering,
    **{(kind, frozenset({Capability.RESIDENT, Capability.SHARED})): Holding for kind in ("graph", "vector")},
}
"""What a store of a kind also has if it declares these capabilities."""


def check_store(where: str, kind: str, store: object) -> None:
    """Raise ``BadInput`` unless ``store`` says that it is of this kind, and has the operations of its protocol.

    It also has to have those of the capabilities that it declares. Each takes the arguments of the protocol.
    """
    check_awaited(where, store)
    if inspect.isclass(store) or inspect.isroutine(store):
        raise BadInput(f"{where}: {store!r} is no {kind} store; give an instance")
    its = type(store).__name__
    lacking = [name for name in operations(PROTOCOLS[kind]) if not hasattr(store, name)]
    if lacking:
        raise BadInput(f"{where}: {its} is no {kind} store; it lacks {', '.join(lacking)}")
    info = getattr(store, "info", None)
    if not isinstance(info, StoreInfo):
        raise BadInput(f"{where}: the info of {its} is {info!r}; give a saga_core.stores.StoreInfo")
    if info.kind != kind:
        raise BadInput(f"{where}: {its} says that it is a {info.kind!r} store; give one of {kind!r}")
    if not isinstance(info.capabilities, Set):
        raise BadInput(f"{where}: the capabilities of {its} are {shown(info.capabilities)}; give a frozenset")
    for (of, capabilities), protocol in _PROMISED.items():
        lacking = [name for name in operations(protocol) if not hasattr(store, name)]
        if of == kind and capabilities <= info.capabilities and lacking:
            declared = " and ".join(sorted(capabilities))
            raise BadInput(f"{where}: {its} declares {declared}, and lacks {', '.join(lacking)}")
        if of == kind and capabilities <= info.capabilities:
            check_calls(where, store, protocol)
    check_calls(where, store, PROTOCOLS[kind])


def check_object(where: str, given: object, protocol: type[Any]) -> None:
    """Raise ``BadInput`` unless ``given`` is an instance of a class with the members of ``protocol``."""
    kind = protocol.__name__
    check_awaited(where, given)
    if inspect.isclass(given) or inspect.isroutine(given):
        raise BadInput(f"{where}: {given!r} is no {kind}; give an instance")
    if lacking := [name for name in operations(protocol) if not hasattr(given, name)]:
        raise BadInput(f"{where}: {type(given).__name__} is no {kind}; it lacks {', '.join(lacking)}")
    check_calls(where, given, protocol)


def check_calls(where: str, given: object, protocol: Any) -> None:
    """Raise ``BadInput`` unless the methods of ``given`` can be called as those of ``protocol``."""
    for name, wanted, signature in _methods(protocol):
        if not hasattr(given, name):
            continue
        call, its = getattr(given, name), f"{type(given).__name__}.{name}"
        function = call.__func__ if inspect.ismethod(call) else None
        if inspect.isfunction(function) and wanted in _FITTING.setdefault(function, set()):
            continue
        awaited = inspect.iscoroutinefunction(call)
        plain = inspect.isfunction(getattr(call, "__func__", call)) and not awaited
        if inspect.isasyncgenfunction(call) and inspect.iscoroutinefunction(wanted):
            raise BadInput(f"{where}: {its} yields its results; return all of them at once")
        if plain and not hasattr(call, "__wrapped__") and inspect.iscoroutinefunction(wanted):
            raise BadInput(f"{where}: {its} is not asynchronous; write it with async def")
        if awaited and "AsyncIterator" in str(signature.return_annotation):
            raise BadInput(f"{where}: {its} yields nothing; write it with async def, and yield each part")
        if awaited and not inspect.iscoroutinefunction(wanted):
            raise BadInput(f"{where}: {its} is asynchronous; write it with def")
        _, *needed = signature.parameters.values()
        named = {each.name: None for each in needed if each.kind is each.KEYWORD_ONLY}
        try:
            inspect.signature(call).bind(*needed[: len(needed) - len(named)], **named)
        except (TypeError, ValueError) as error:
            form = inspect.Signature([each.replace(annotation=each.empty) for each in needed])
            raise BadInput(f"{where}: {its} cannot be called as {name}{form}: {error}") from error
        if inspect.isfunction(function):
            _FITTING[function].add(wanted)


_FITTING: WeakKeyDictionary[Any, set[Any]] = WeakKeyDictionary()
"""Functions of classes, and the methods of protocols that they can be called as. Each is looked at once."""


@cache
def _methods(protocol: Any) -> tuple[tuple[str, Any, inspect.Signature], ...]:
    found = ((name, getattr(protocol, name)) for name in operations(protocol))
    return tuple((name, wanted, inspect.signature(wanted)) for name, wanted in found if inspect.isfunction(wanted))


def operations(protocol: type[Any]) -> list[str]:
    """The members of a protocol and of those that it extends."""
    parts = [each for each in protocol.__mro__ if each is not Protocol and getattr(each, "_is_protocol", False)]
    return sorted({name for part in parts for name in vars(part) if not name.startswith("_")})
