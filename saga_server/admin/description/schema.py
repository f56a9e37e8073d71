"""Generate JSON schemas from the classes of parameters and answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from attrs import fields, has

from saga_server.admin.endpoint import may_be_left_out
from saga_server.admin.read_params import Param

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}


def reference(cls: type) -> dict[str, str]:
    """Return a reference to the schema of an answer in the document."""
    return {"$ref": f"#/components/schemas/{cls.__name__}"}


def schemas_of(cls: type) -> dict[str, Any]:
    """Return the schemas of an answer and of all classes inside it, by class name."""
    hints = get_type_hints(cls)
    found = {
        cls.__name__: {
            "type": "object",
            "description": cls.__doc__ or "",
            "required": [each.name for each in fields(cls) if not may_be_left_out(each)],
            "additionalProperties": False,
            "properties": {
                each.name: _schema(_known(hints[each.name]) if may_be_left_out(each) else hints[each.name])
                for each in fields(cls)
            },
        }
    }
    for hint in hints.values():
        for inner in _inside(hint):
            found |= schemas_of(inner)
    return found


def _inside(hint: Any) -> list[type]:
    """Return the attrs classes inside a type."""
    if isinstance(hint, type) and has(hint):
        return [hint]
    return [each for part in get_args(hint) for each in _inside(part)]


def _known(hint: Any) -> Any:
    """Return an optional type without None."""
    return next(each for each in get_args(hint) if each is not NoneType)


def _schema(hint: Any) -> dict[str, Any]:
    """Return the schema of a type. Raises ``TypeError`` for a type that answers do not support."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return {}
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if origin in (Union, UnionType) and NoneType in parts and len(parts) == 2:
        inner = _schema(_known(hint))
        if "type" not in inner:
            return {"anyOf": [inner, {"type": "null"}]}
        return {**inner, "type": [inner["type"], "null"]}
    if origin is Mapping:
        values = _schema(parts[1])
        return {"type": "object", **({"additionalProperties": values} if values else {})}
    if origin is Sequence:
        items = _schema(parts[0])
        return {"type": "array", **({"items": items} if items else {})}
    if isinstance(hint, type) and has(hint):
        return dict(reference(hint))
    raise TypeError(f"{hint} is no type of an answer's field")


def query_schema(param: Param) -> dict[str, Any]:
    """Return the schema of a query parameter."""
    kind = param.type
    if get_origin(kind) is Literal:
        found: dict[str, Any] = {"type": "string", "enum": list(get_args(kind))}
    elif kind is bool:
        found = {"type": "string", "enum": ["0", "1"]}
    elif kind is int:
        found = {"type": "integer", "minimum": param.spec.least, "maximum": param.spec.most}
    elif kind is float:
        found = {"type": "number", "minimum": 0, "maximum": param.spec.most}
    else:
        found = {"type": "string"}
    if param.needed:
        found["minLength"] = 1
    return found


def body_schema(names: Mapping[str, bool], numbers: Collection[str] = ()) -> dict[str, Any]:
    """Return the schema of a body whose fields are texts.

    ``names`` says for each field whether it is required. Fields in ``numbers`` may also be whole numbers.
    """

    def kinds(name: str, need: bool) -> list[str] | str:
        found = ["string", *(["integer"] if name in numbers else []), *([] if need else ["null"])]
        return found if len(found) > 1 else found[0]

    return {
        "type": "object",
        "properties": {name: {"type": kinds(name, need)} for name, need in names.items()},
        "required": [name for name, need in names.items() if need],
        "additionalProperties": False,
    }
