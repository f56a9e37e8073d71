"""Read the parameters of an endpoint from a request, strictly by the types and bounds of their class.

Error messages give the field's name, its value and the allowed values.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from types import UnionType
from typing import Any, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from aiohttp import web
from attrs import NOTHING, Attribute, fields, frozen
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, override

from saga_server.admin.endpoint import Endpoint, Spec
from saga_server.http import BODY, RequestError, read_json

P = TypeVar("P")
_CONVERTER = Converter(detailed_validation=False)
_MOST = 10**12
_LARGE = 1 << 18
"""Size of a body in bytes from which on it is read in a thread."""


@frozen
class Param:
    """A field of a parameter class."""

    attribute: Attribute[Any]
    spec: Spec
    type: Any
    """The type without None: ``str``, ``int``, ``float``, ``bool``, ``bytes``, a ``Literal`` or a mapping."""

    @property
    def name(self) -> str:
        """The name in the request."""
        return self.spec.name or self.attribute.name

    @property
    def needed(self) -> bool:
        """Whether the parameter is required."""
        return self.attribute.default is NOTHING


def params_of(cls: type) -> tuple[Param, ...]:
    """Return the fields of a parameter class, in order."""
    hints = get_type_hints(cls)
    return tuple(Param(each, each.metadata[Spec], _plain(hints[each.name])) for each in fields(cls))


def _plain(hint: Any) -> Any:
    """Return an optional type without None."""
    if get_origin(hint) in (Union, UnionType):
        return next(each for each in get_args(hint) if each is not type(None))
    return hint


@frozen
class ParamsReader(Generic[P]):
    """Reads the parameters of one endpoint."""

    any_query: bool
    cls: type[P]
    params: tuple[Param, ...]
    _structure: Callable[[Mapping[str, Any], Any], P]

    @classmethod
    def of(cls, endpoint: Endpoint[P, Any]) -> ParamsReader[P]:
        """Make the reader for ``endpoint``."""
        params = params_of(endpoint.params)
        return cls(endpoint.any_query, endpoint.params, params, _structure(endpoint.params, params))

    async def read(self, request: web.Request, path: Mapping[str, str]) -> P:
        """Read the parameters of a request; ``path`` has the parts of its path. Raises ``RequestError``."""
        given: dict[str, Any] = {}
        if not self.any_query:
            _refuse_unknown(request, self.params)
        raw = request[BODY]
        large = len(raw) >= _LARGE
        body = await asyncio.to_thread(_body, raw, self.params) if large else _body(raw, self.params)
        for param in self.params:
            found = raw if param.spec.place == "upload" else _found(param, request, path, body)
            if found is not None:
                given[param.attribute.name] = found
            elif param.needed:
                remedy = param.spec.remedy or f"give {_allowed(param)}"
                raise RequestError(f"{param.name}: missing; {remedy}", param=param.name)
        return self._structure(given, self.cls)


def _refuse_unknown(request: web.Request, params: tuple[Param, ...]) -> None:
    """Raise ``RequestError`` for an unknown query parameter, so that a misspelt one is not silently ignored."""
    names = [param.name for param in params if param.spec.place == "query"]
    for name in request.query:
        if name not in names:
            allowed = ", ".join(names) or "none"
            raise RequestError(f"{name}: unknown parameter; this path takes {allowed}", param=name)


def _body(raw: bytes, params: tuple[Param, ...]) -> Mapping[str, Any]:
    """Return the JSON object in the body; an empty body counts as an empty object.

    Its fields must be texts or null. A whole number is converted to a text if its field allows numbers.
    """
    names, numbers = body_names(params), body_numbers(params)
    if not names:
        return {}
    found = read_json(raw) if raw.strip() else {}
    if not isinstance(found, dict):
        raise RequestError("the body is no JSON object", param="body")
    for name, value in found.items():
        if name in numbers and type(value) is int and 0 <= value <= _MOST:
            found[name] = str(value)
            continue
        if name not in names:
            raise RequestError(f"{name}: unknown field; this path takes {', '.join(sorted(names))}", param=name)
        if value is not None and not isinstance(value, str):
            raise RequestError(f"{name}: give a text or null", param=name)
    return found


def body_names(params: tuple[Param, ...]) -> dict[str, bool]:
    """Return the names of the body's fields, and whether each is required."""
    names = {param.name: param.needed for param in params if param.spec.place == "body"}
    for param in params:
        if param.spec.names is not None:
            names |= dict.fromkeys(sorted(param.spec.names()), False)
    return names


def body_numbers(params: tuple[Param, ...]) -> frozenset[str]:
    """Return the names of the body's fields that may be whole numbers."""
    return frozenset(param.name for param in params if param.spec.place == "body" and param.spec.number)


def _found(param: Param, request: web.Request, path: Mapping[str, str], body: Mapping[str, Any]) -> Any:
    """Return the value that a request gives for a field, None if there is none.

    Blank text counts as none in a query, and in the body if the field is required.
    """
    match param.spec.place:
        case "path":
            return path[param.name]
        case "query":
            value = request.query.get(param.name)
            return (value or "").strip() or None if param.type is str else value
        case "body":
            value = body.get(param.name)
            return None if param.needed and not (value or "").strip() else value
        case _:
            own = param.spec.names() if param.spec.names is not None else ()
            return {name: value for name, value in body.items() if name in own and value is not None}


def _structure(cls: type[P], params: tuple[Param, ...]) -> Callable[[Mapping[str, Any], Any], P]:
    """Return the function by which cattrs makes a ``cls`` from the raw values."""
    hooks: dict[str, Any] = {param.attribute.name: override(struct_hook=_reader(param)) for param in params}
    return make_dict_structure_fn(cls, _CONVERTER, _cattrs_detailed_validation=False, **hooks)


def _allowed(param: Param) -> str:
    """Return in words what may be given for a query parameter."""
    if get_origin(param.type) is Literal:
        return f"one of {', '.join(get_args(param.type))}"
    if param.type is int:
        return f"a whole number from {param.spec.least} to {param.spec.most}"
    if param.type is float:
        return f"seconds from 0 to {param.spec.most:g}"
    return "1 or 0" if param.type is bool else "a text"


def _reader(param: Param) -> Callable[[Any, Any], Any]:
    spec, kind = param.spec, param.type

    def refuse(value: str) -> RequestError:
        return RequestError(f"{param.name}: {value!r} is not allowed; give {_allowed(param)}", param=param.name)

    def whole(value: str, _: Any) -> int:
        number = int(value) if value.isascii() and value.isdigit() and len(value) <= 12 else -1
        if not spec.least <= number <= spec.most:
            raise refuse(value)
        return number

    def flag(value: str, _: Any) -> bool:
        if value not in ("0", "1"):
            raise refuse(value)
        return value == "1"

    def choice(value: str, _: Any) -> str:
        if value not in get_args(kind):
            raise refuse(value)
        return value

    def seconds(value: str, _: Any) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not 0 <= number <= spec.most:
            raise refuse(value)
        return number

    def as_it_is(value: Any, _: Any) -> Any:
        return value

    if get_origin(kind) is Literal:
        return choice
    return {int: whole, bool: flag, float: seconds}.get(kind, as_it_is)
