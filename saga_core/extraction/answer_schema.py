"""The JSON schema of an extraction answer, with the state block's fields, for providers that enforce schemas."""

from __future__ import annotations

from typing import Any

from saga_core.state_block import FIELDS, RECORD_KEYS_OF, Kind

_NUMBERS = ("quantity", "delta")
_LEFT_OUT = {Kind.ITEMS: ("item",), Kind.TRANSFERS: ("name",), Kind.RELATIONS: ("status",)}
"""Keys that the parser also accepts, but that the schema does not offer."""
_SINGLE: dict[Kind, list[str]] = {Kind.FLAG: ["boolean", "null"], Kind.CHANGE: ["integer", "null"]}


def answer_schema() -> dict[str, Any]:
    """The schema of an object with every field. A field that did not change is null or an empty list."""
    return _object({field.name: _field(field.kind) for field in FIELDS})


def _field(kind: Kind) -> dict[str, Any]:
    if kind is Kind.COMPANY:
        return {"type": ["array", "null"], "items": {"type": "string"}}
    if kind is Kind.NAMES:
        return {"type": "array", "items": {"type": "string"}}
    if kind in RECORD_KEYS_OF:
        keys = [key for key in RECORD_KEYS_OF[kind] if key not in _LEFT_OUT.get(kind, ())]
        record = _object({key: {"type": "integer" if key in _NUMBERS else "string"} for key in keys})
        return {"type": "array", "items": record}
    return {"type": _SINGLE.get(kind, ["string", "null"])}


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
