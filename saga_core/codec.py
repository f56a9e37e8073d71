"""Records to bytes and back: JSON in which maps keep their order, so that what is read equals what was written."""

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
    """JSON in UTF-8: no spaces, no NaN, keys in the order of the map."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def no_constant(name: str) -> Any:
    """Refuses NaN and the infinities, which JSON proper does not know. For ``parse_constant``."""
    raise ValueError(f"{name} is no JSON number")


def finite(text: str) -> float:
    """A number that is not too large for a float. For ``parse_float``."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is too large a number")
    return value


_READER = json.JSONDecoder(parse_constant=no_constant, parse_float=finite)
UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, OverflowError)
"""What reading a value that anybody may have written can raise."""


def loads(raw: bytes) -> Any:
    """What ``dumps`` made ``raw`` of. Raises ``StoreCorrupt`` for anything else, whoever wrote it."""
    try:
        return _read(raw)
    except (ValueError, RecursionError) as error:
        raise StoreCorrupt(f"a stored value cannot be read: {error!r}") from error


def _read(raw: bytes) -> Any:
    text = raw.decode()
    value = _READER.decode(text)
    if "\\u" in text:  # only there can half a character be, which nobody can write again
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _tag(cls: type) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"{str(value)[:20]!r} is no number")
    return float(value)


def _plain_converter() -> Converter:
    """For everything but events."""
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
        """Made for the first event, with readers and writers for all kinds: 15 ms, which starting does without."""
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
    """Make the readers and writers of these records now, which the first record of each kind waits for otherwise."""
    for kind in kinds:
        _CONVERTER.get_structure_hook(kind)
        _CONVERTER.get_unstructure_hook(kind)


def to_plain(value: AttrsInstance) -> dict[str, Any]:
    """``value`` as JSON-able data, defaults left out."""
    plain: dict[str, Any] = _CONVERTER.unstructure(value)
    return plain


def from_plain(plain: Any, cls: type[T]) -> T:
    """The value that ``to_plain`` made ``plain`` of."""
    return _CONVERTER.structure(plain, cls)


def encode(value: AttrsInstance) -> bytes:
    """A record as stored."""
    return dumps(to_plain(value))


def decode(raw: bytes, cls: type[T]) -> T:
    """The record that ``encode`` made ``raw`` of. Raises ``StoreCorrupt`` for anything else."""
    try:
        return _CONVERTER.structure(_read(raw), cls)
    except UNREADABLE as error:
        raise StoreCorrupt(f"a stored {cls.__name__} cannot be read: {error!r}") from error
