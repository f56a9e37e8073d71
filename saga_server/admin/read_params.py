"""Read the parameters of an endpoint from a request, strictly by the types and bounds in its handler's signature.

Error messages give the field's name, its value and the allowed values.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import Parameter, signature
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from aiohttp import web
from attrs import frozen

from saga_server.admin.endpoint import Endpoint, Spec
from saga_server.http import BODY, RequestError, read_json

_MOST = 10**12
_LARGE = 1 << 18
"""Size of a body in bytes from which on it is read in a thread."""


@frozen
class Param:
    """A parameter of a handler."""

    key: str
    """The name in the handler's signature."""
    spec: Spec
    type: Any
    """The type without None: ``str``, ``int``, ``float``, ``bool``, ``bytes``, a ``Literal`` or a mapping."""
    needed: bool
    """Whether the parameter is required."""

    @property
    def name(self) -> str:
        """The name in the request."""
        return self.spec.name or self.key


@cache
def params_of(handler: Callable[..., Any]) -> tuple[Param, ...]:
    """Return the parameters of a handler besides the request, in order."""
    hints = get_type_hints(handler, include_extras=True)
    found = []
    for key, parameter in list(signature(handler).parameters.items())[1:]:
        kind, spec = get_args(hints[key])
        found.append(Param(key, spec, _plain(kind), parameter.default is Parameter.empty))
    return tuple(found)


def _plain(hint: Any) -> Any:
    """Return an optional type without None."""
    if get_origin(hint) in (Union, UnionType):
        return next(each for each in get_args(hint) if each is not type(None))
    return hint


async def read_params(endpoint: Endpoint, request: web.Request, path: Mapping[str, str]) -> dict[str, Any]:
    """Read the parameters of a request; ``path`` has the parts of its path. Raises ``RequestError``."""
    params = params_of(endpoint.handler)
    if not endpoint.any_query:
        _refuse_unknown(request, params)
    raw = request[BODY] if endpoint.method != "GET" else b""
    body = await asyncio.to_thread(_body, raw, params) if len(raw) >= _LARGE else _body(raw, params)
    given: dict[str, Any] = {}
    for param in params:
        found = raw if param.spec.place == "upload" else _found(param, request, path, body)
        if found is not None:
            given[param.key] = _value(param, found)
        elif param.needed:
            remedy = param.spec.remedy or f"give {_allowed(param)}"
            raise RequestError(f"{param.name}: missing; {remedy}", param=param.name)
    return given


def _refuse_unknown(request: web.Request, params: Sequence[Param]) -> None:
    """Raise ``RequestError`` for a query parameter that is unknown or given twice, so that none is silently ignored."""
    names = [param.name for param in params if param.spec.place == "query"]
    seen = set[str]()
    for name, _ in request.query.items():  # the keys alone are given once each
        if name in seen:
            raise RequestError(f"{name}: given twice; give it once", param=name)
        seen.add(name)
        if name not in names:
            allowed = ", ".join(names) or "none"
            raise RequestError(f"{name}: unknown parameter; this path takes {allowed}", param=name)


def _body(raw: bytes, params: Sequence[Param]) -> Mapping[str, Any]:
    """Return the JSON object in the body; an empty body counts as an empty object.

    Its fields must be texts or null. A whole number is converted to a text if its field allows numbers.
    """
    names, numbers = body_names(params), body_numbers(params)
    if any(param.spec.place == "upload" for param in params):
        return {}
    found = read_json(raw) if raw.strip() else {}
    if not isinstance(found, dict):
        raise RequestError("the body is no JSON object", param="body")
    for name, value in found.items():
        if name in numbers and type(value) is int and 0 <= value <= _MOST:
            found[name] = str(value)
            continue
        if name not in names:
            allowed = ", ".join(sorted(names)) or "none"
            raise RequestError(f"{name}: unknown field; this path takes {allowed}", param=name)
        if value is not None and not isinstance(value, str):
            raise RequestError(f"{name}: give a text or null", param=name)
    return found


def body_names(params: Sequence[Param]) -> dict[str, bool]:
    """Return the names of the body's fields, and whether each is required."""
    names = {param.name: param.needed for param in params if param.spec.place == "body"}
    for param in params:
        names |= dict.fromkeys(sorted(param.spec.names()), False)
    return names


def body_numbers(params: Sequence[Param]) -> frozenset[str]:
    """Return the names of the body's fields that may be whole numbers."""
    return frozenset(param.name for param in params if param.spec.place == "body" and param.spec.number)


def _found(param: Param, request: web.Request, path: Mapping[str, str], body: Mapping[str, Any]) -> Any:
    """Return the value that a request gives for a parameter, None if there is none.

    Blank text counts as none in a query, and in the body if the field is required. A parameter that narrows what is
    removed refuses it: it is a value that came out empty, and the request would concern more than was meant.
    """
    match param.spec.place:
        case "path":
            return path[param.name]
        case "query":
            value = request.query.get(param.name)
            if param.type is not str or value is None:
                return value
            if not value.strip() and param.spec.narrows:
                told = f"{param.name}: {value!r} is blank; without it more would be removed; give a text"
                raise RequestError(told, param=param.name)
            return value.strip() or None
        case "body":
            value = body.get(param.name)
            return None if param.needed and not (value or "").strip() else value
        case _:
            own = param.spec.names()
            return {name: value for name, value in body.items() if name in own and value is not None}


def _allowed(param: Param) -> str:
    """Return in words what may be given for a query parameter."""
    if get_origin(param.type) is Literal:
        return f"one of {', '.join(get_args(param.type))}"
    if param.type is int:
        return f"a whole number from {param.spec.least} to {param.spec.most}"
    if param.type is float:
        return f"seconds from 0 to {param.spec.most:g}"
    return "1 or 0" if param.type is bool else "a text"


def _value(param: Param, given: Any) -> Any:
    """Return what was given as the parameter's type. Raises ``RequestError``."""
    least, most = param.spec.least, param.spec.most
    value: Any = given
    fits = True
    if get_origin(param.type) is Literal:
        fits = given in get_args(param.type)
    elif param.type is bool:
        value, fits = given == "1", given in ("0", "1")
    elif param.type is int:
        value = int(given) if given.isascii() and given.isdigit() and len(given) <= 12 else -1
        fits = least <= value <= most
    elif param.type is float:
        try:
            value = float(given)
        except ValueError:
            value = math.nan
        fits = 0 <= value <= most
    if not fits:
        raise RequestError(f"{param.name}: {given!r} is not allowed; give {_allowed(param)}", param=param.name)
    return value
