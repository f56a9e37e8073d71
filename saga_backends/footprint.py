"""Estimates the memory that values take. Cache limits are measured with these estimates."""

from __future__ import annotations

from collections.abc import Mapping
from sys import getsizeof

from saga_core.stores import Edge, Node, Value

_EMPTY_DICT = getsizeof({})
_DICT_ENTRY = 40
_OBJECT = 64
"""An attrs instance or a mapping proxy, with the reference to it."""


def mapping_bytes(mapping: Mapping[str, Value]) -> int:
    """The bytes of a proxied dict of scalars and tuples of scalars. Field names are shared and not counted."""
    values = mapping.values()
    total = _EMPTY_DICT + _OBJECT + _DICT_ENTRY * len(mapping) + sum(map(getsizeof, values))
    for value in values:
        if type(value) is tuple:
            total += sum(map(getsizeof, value))
    return total


def node_bytes(node: Node) -> int:
    """The bytes of a node, including its entries in the dicts that index it and its edges."""
    return 4 * _DICT_ENTRY + _OBJECT + getsizeof(node.id) + getsizeof(node.label) + mapping_bytes(node.properties)


def edge_bytes(edge: Edge) -> int:
    """The bytes of an edge, including its entries in the dicts of both end nodes. Node ids are not counted again."""
    return 6 * _DICT_ENTRY + 2 * _OBJECT + _EMPTY_DICT + mapping_bytes(edge.properties)
