"""Writes fields as JSON text, and reads what may have been written by somebody else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from types import NoneType
from typing import Any

from saga_core.errors import StoreCorrupt
from saga_core.stores import Value

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def dumps(fields: Mapping[str, Value]) -> str:
    """Return a JSON object with sorted names.

    A ``json`` column keeps the exact text, so 1 and 1.0 stay different, and -0.0 keeps its sign.
    """
    return _ENCODER.encode(dict(fields))


def loads(text: str) -> dict[str, Any]:
    """Parse the output of ``dumps``. Tuples are restored as tuples. Raises ``StoreCorrupt`` for other texts."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StoreCorrupt(f"stored fields cannot be read: {error!r}") from error
    if type(found) is not dict:
        raise StoreCorrupt(f"stored fields are no object: {text[:80]!r}")
    for name, value in found.items():
        if type(value) is list:
            value = found[name] = tuple(value)
        for each in value if type(value) is tuple else (value,):
            if not _is_value(each):
                raise StoreCorrupt(f"the stored field {name[:80]!r} is no value: {text[:80]!r}")
    return found


def _is_value(value: Any) -> bool:
    return type(value) in (str, int, bool, NoneType) or (type(value) is float and isfinite(value))
