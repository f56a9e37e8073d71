"""Writes fields as JSON text that SQL and Python read in the same way, because numbers have all their digits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from types import NoneType
from typing import Any

from saga_core.errors import StoreCorrupt
from saga_core.stores import Value

_TOKENS = {True: "true", False: "false", None: "null"}


def dumps(fields: Mapping[str, Value]) -> str:
    """Return a JSON object with sorted names.

    A ``json`` column keeps the exact text, so 1 and 1.0 stay different, and -0.0 keeps its sign.
    """
    return "{" + ",".join(f"{_text(name)}:{_value(fields[name])}" for name in sorted(fields)) + "}"


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


def _value(value: Value) -> str:
    if type(value) is str:
        return _text(value)
    if type(value) is int:
        return str(value)
    if type(value) is float:
        return _float(value)
    if type(value) is tuple:
        return "[" + ",".join(map(_value, value)) + "]"
    return _TOKENS[value]  # type: ignore[index]


def _float(value: float) -> str:
    """Write all digits, because the database compares decimals and Python compares exact binary values."""
    written = format(Decimal(value), "f")
    return written if "." in written else written + ".0"


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
