"""Encode records as bytes and decode them. Records are JSON, and maps keep their order, so round trips are exact."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from attrs import AttrsInstance
from cattrs import Converter
from cattrs.strategies import configure_tagged_union

from saga_core.errors import StoreCorrupt
from saga_core.model import Event, Relation
from saga_core.values import Value

T = TypeVar("T")


def dumps(value: Any) -> bytes:
    """Encode ``value`` as JSON in UTF-8, without spaces or NaN. Keys keep the order of the map."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def no_constant(name: str) -> Any:
    """Refuse NaN and the infinities, which are not valid JSON. For ``parse_constant``."""
    raise ValueError(f"{name} is no JSON number")


def finite(text: str) -> float:
    """Parse a float. Raises ``ValueError`` for numbers too large for a float. For ``parse_float``."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is too large a number")
    return value


_READER = json.JSONDecoder(parse_constant=no_constant, parse_float=finite)
UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, OverflowError)
"""The exceptions that reading an untrusted value can raise."""


def loads(raw: bytes) -> Any:
    """Decode the output of ``dumps``. Raises ``StoreCorrupt`` for anything else."""
    try:
        return _read(raw)
    except (ValueError, RecursionError) as error:
        raise StoreCorrupt(f"a stored value cannot be read: {error!r}") from error


def _read(raw: bytes) -> Any:
    text = raw.decode()
    value = _READER.decode(text)
    if "\\u" in text:  # Only an escape can produce a lone surrogate, which could not be encoded again.
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _tag(cls: type) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"{str(value)[:20]!r} is no number")
    return float(value)


def _plain_converter() -> Converter:
    """Return a converter for all types except events."""
    converter = Converter(omit_if_default=True, detailed_validation=False)
    converter.register_unstructure_hook(tuple, list)
    converter.register_structure_hook_func(
        lambda annotation: annotation == Value, lambda value, _: tuple(value) if isinstance(value, list) else value
    )
    converter.register_unstructure_hook_func(lambda annotation: annotation == Value, lambda value: value)
    converter.register_structure_hook(float, lambda value, _: _number(value))
    by_parts = Mapping[tuple[str, str], Relation]
    converter.register_unstructure_hook_func(
        lambda annotation: annotation == by_parts,
        lambda relations: [[*pair, converter.unstructure(relation)] for pair, relation in relations.items()],
    )
    converter.register_structure_hook_func(
        lambda annotation: annotation == by_parts,
        lambda rows, _: {(row[0], row[1]): converter.structure(row[2], Relation) for row in rows},
    )
    links = frozenset[tuple[str, str, str]]
    converter.register_unstructure_hook_func(
        lambda annotation: annotation == links, lambda rows: [list(row) for row in sorted(rows)]
    )
    return converter


def _make_converter() -> Converter:
    converter = _plain_converter()

    @cache
    def events() -> Converter:
        """Build the converter for events at its first use, because that takes 15 ms and would slow down the start."""
        found = _plain_converter()
        configure_tagged_union(Event, found, tag_generator=_tag, tag_name="t")
        return found

    converter.register_structure_hook_factory(
        lambda annotation: annotation == Event, lambda _: events().get_structure_hook(Event)
    )
    converter.register_unstructure_hook_factory(
        lambda annotation: annotation == Event, lambda _: events().get_unstructure_hook(Event)
    )
    return converter


_CONVERTER = _make_converter()


def prepare(*kinds: type) -> None:
    """Build the hooks for these record types now. Otherwise the first record of each type waits for them."""
    for kind in kinds:
        _CONVERTER.get_structure_hook(kind)
        _CONVERTER.get_unstructure_hook(kind)


def to_plain(value: AttrsInstance) -> dict[str, Any]:
    """Convert ``value`` to JSON-able data without default values."""
    plain: dict[str, Any] = _CONVERTER.unstructure(value)
    return plain


def from_plain(plain: Any, cls: type[T]) -> T:
    """Convert the output of ``to_plain`` back to a ``cls``."""
    return _CONVERTER.structure(plain, cls)


def encode(value: AttrsInstance) -> bytes:
    """Encode a record for storage."""
    return dumps(to_plain(value))


def decode(raw: bytes, cls: type[T]) -> T:
    """Decode the output of ``encode``. Raises ``StoreCorrupt`` for anything else."""
    try:
        return _CONVERTER.structure(_read(raw), cls)
    except UNREADABLE as error:
        raise StoreCorrupt(f"a stored {cls.__name__} cannot be read: {error!r}") from error
