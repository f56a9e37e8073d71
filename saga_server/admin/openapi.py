"""The OpenAPI document of the admin API, for ``GET /api/openapi.json`` and docs/openapi.json, and its JSON schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from attrs import fields, has

from saga_server.admin.endpoint import JSON, Endpoint, may_be_left_out
from saga_server.admin.parameters import MULTIPART
from saga_server.admin.read_params import Param, body_names, body_numbers, params_of

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
    if origin in (Sequence, tuple):
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


# -- Generate the OpenAPI document of the admin API, for ``GET /api/openapi.json`` and docs/openapi.json -------

_FAILURES = {
    "400": "The request is invalid",
    "401": "A valid key is required",
    "403": "This key, page or Host name is not permitted to do this",
    "404": "Not found",
    "409": "It already exists, or is already running",
    "413": "The request is too large",
    "500": "A store failed, or an unexpected error occurred",
    "501": "It is switched off, or the store does not support it",
    "503": "A store cannot be reached, or the server is starting or stopping",
}
_IN_PATH = {
    "chat": "The id that the frontend gave with the header X-SAGA-Chat or the marker [[saga:chat=ID]]",
    "id": "The id of a session, or its name if no other session has that name",
    "name": "The name of a timeline",
    "change": "The id of a change",
    "deleted": "The id of a deleted session",
    "rule": "The id of a standing rule",
    "key": "The id of a key",
    "entity": "The id or a name of an entity, as listed by GET /api/sessions/{id}/entities",
    "world": "The name of a world's folder",
    "module": "The name of a module, such as map",
    "turn": "The id or number of a turn, or the name of a timeline for its head",
}
_ERROR = {
    "type": "object",
    "required": ["error"],
    "additionalProperties": False,
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "additionalProperties": False,
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {"type": ["string", "null"]},
                "code": {"type": ["string", "null"]},
            },
        }
    },
}


@cache
def describe_api(endpoints: tuple[Endpoint, ...]) -> dict[str, Any]:
    """Return the OpenAPI document for a table of endpoints."""
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = {"Error": _ERROR}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
        if endpoint.media == JSON:
            schemas |= schemas_of(endpoint.answer)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "SAGA",
            "version": version("saga-rp"),
            "description": "Looking inside, correcting and looking after. docs/http.md tells what the answers mean.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": {name: _failure(why) for name, why in _FAILURES.items()},
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A key from server.api_keys, or one created by POST /api/keys",
                }
            },
        },
        "security": [{}, {"key": []}],
    }


def _failure(why: str) -> dict[str, Any]:
    return {"description": why, "content": {JSON: {"schema": {"$ref": "#/components/schemas/Error"}}}}


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    schema: dict[str, Any] = dict(reference(endpoint.answer)) if endpoint.media == JSON else {"type": "string"}
    content = {endpoint.media: {"schema": schema}}
    answers: dict[str, Any] = {str(endpoint.status): {"description": endpoint.summary, "content": content}}
    if endpoint.status_of is not None:
        status, when = endpoint.other_status
        answers[str(status)] = {"description": when, "content": content}
    if not endpoint.open:
        answers |= {status: {"$ref": f"#/components/responses/{status}"} for status in _FAILURES}
    found: dict[str, Any] = {
        "summary": endpoint.summary,
        "operationId": _name(endpoint),
        "tags": list(endpoint.tags),
        "x-reach": endpoint.reach,
    }
    params = params_of(endpoint.handler)
    parameters = [_in_path(each) for each in params if each.spec.place == "path"]
    parameters += [
        {"name": each.name, "in": "query", "required": each.needed, "schema": query_schema(each)}
        for each in params
        if each.spec.place == "query"
    ]
    if endpoint.if_match is not None:
        about = f"The ETag of GET {endpoint.if_match} that you read. The request is refused if it has changed since"
        parameters.append(
            {"name": "If-Match", "in": "header", "required": False, "description": about, "schema": {"type": "string"}}
        )
        answers["412"] = _failure("The resource has changed since it was read")
    if parameters:
        found["parameters"] = parameters
    if names := body_names(params):
        content = {JSON: {"schema": body_schema(names, body_numbers(params))}}
        found["requestBody"] = {"required": any(names.values()), "content": content}
    for each in params:
        if each.spec.place == "upload":
            content = {media: {"schema": _uploaded(media)} for media in (each.spec.media, *each.spec.others)}
            found["requestBody"] = {"required": True, "content": content}
    if endpoint.open:
        found["security"] = []
    return {**found, "responses": answers}


def _uploaded(media: str) -> dict[str, Any]:
    """Return the schema of an uploaded body: the files of a form, or raw bytes."""
    if media != MULTIPART:
        return {"type": "string", "minLength": 1}
    files = {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}}
    return {"type": "object", "properties": {"file": files}, "required": ["file"]}


def _name(endpoint: Endpoint) -> str:
    return "_".join((endpoint.method.lower(), *re.findall(r"\w+", endpoint.path.removeprefix("/api"))))


def _in_path(param: Param) -> dict[str, Any]:
    return {
        "name": param.name,
        "in": "path",
        "required": True,
        "description": _IN_PATH[param.name],
        "schema": {"type": "string", "minLength": 1},
    }


def document_text(endpoints: tuple[Endpoint, ...]) -> str:
    """Return the text of docs/openapi.json. It has ``*`` as version; a running server gives its own."""
    document = describe_api(endpoints)
    return json.dumps({**document, "info": {**document["info"], "version": "*"}}, ensure_ascii=False, indent=1) + "\n"
