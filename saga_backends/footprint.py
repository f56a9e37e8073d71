"""How much memory values take, estimated: what the limits of caches are counted in."""

from __future__ import annotations

from collections.abc import Mapping
from sys import getsizeof

from saga_core.stores import Edge, Node, Value

_EMPTY_DICT = getsizeof({})
_DICT_ENTRY = 40
_OBJECT = 64
"""An attrs instance or a proxy, and what refers to it."""


def mapping_bytes(mapping: Mapping[str, Value]) -> int:
    """A dict of scalars and tuples of scalars behind a proxy. Field names are shared by many, and not counted."""
    values = mapping.values()
    total = _EMPTY_DICT + _OBJECT + _DICT_ENTRY * len(mapping) + sum(map(getsizeof, values))
    for value in values:
        if type(value) is tuple:
            total += sum(map(getsizeof, value))
    return total


def node_bytes(node: Node) -> int:
    """A node with its places in the dicts that find it and its edges."""
    return 4 * _DICT_ENTRY + _OBJECT + getsizeof(node.id) + getsizeof(node.label) + mapping_bytes(node.properties)


def edge_bytes(edge: Edge) -> int:
    """An edge with its places in the dicts of both its ends. The ids belong to the nodes."""
    return 6 * _DICT_ENTRY + 2 * _OBJECT + _EMPTY_DICT + mapping_bytes(edge.properties)
