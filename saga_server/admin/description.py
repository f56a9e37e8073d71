"""The admin API as an OpenAPI document: ``GET /api/openapi.json``, and docs/openapi.json."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.metadata import version
from typing import Any

from aiohttp import web

from saga_server.admin.operations import JSON, OPERATIONS, Operation
from saga_server.admin.query import known_only

_OPEN = ("/", "/healthz", "/readyz")
_KINDS = {"s": "string", "i": "integer", "n": "number", "b": "boolean", "o": "object"}
_FAILURES = {
    "400": "The request cannot be served as it is",
    "401": "A key is wanted",
    "403": "This key, page or Host name may not ask this",
    "404": "There is no such thing",
    "409": "It is there already",
    "413": "The request is too large",
    "500": "A store failed, or the unexpected",
    "501": "It is switched off, or the store does not have it",
    "503": "A store cannot be reached, or the server starts or stops",
}
_PARAMETERS = {
    "id": "A session's id, or its name where only one session has it",
    "name": "A timeline's name",
    "change": "A change's id",
}


@cache
def describe_api() -> dict[str, Any]:
    """The document."""
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        method, path = operation.request.split()
        paths.setdefault(path, {})[method.lower()] = _operation(operation, path)
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
            "schemas": {"Error": _ERROR},
            "responses": {name: _failure(why) for name, why in _FAILURES.items()},
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "One of server.api_keys, where there are any",
                }
            },
        },
        "security": [{}, {"key": []}],
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


def _failure(why: str) -> dict[str, Any]:
    return {"description": why, "content": {JSON: {"schema": {"$ref": "#/components/schemas/Error"}}}}


def _operation(operation: Operation, path: str) -> dict[str, Any]:
    schema = _fields(operation.answer) if operation.media == JSON else {"type": "string"}
    answers = {
        str(operation.status): {"description": operation.summary, "content": {operation.media: {"schema": schema}}}
    }
    if path == "/readyz":
        answers["503"] = {**answers["200"], "description": "Not now, and why"}
    elif path not in _OPEN:
        answers |= {status: {"$ref": f"#/components/responses/{status}"} for status in _FAILURES}
    found: dict[str, Any] = {"summary": operation.summary, "operationId": _name(operation.request)}
    parameters = [_in_path(name) for name in re.findall(r"\{(\w+)\}", path)] + [
        _in_query(each) for each in operation.query.split()
    ]
    if parameters:
        found["parameters"] = parameters
    if operation.body:
        found["requestBody"] = _body(operation.body.split())
    elif operation.upload:
        content = {operation.upload: {"schema": {"type": "string", "minLength": 1}}}
        found["requestBody"] = {"required": True, "content": content}
    if path in _OPEN:
        found["security"] = []
    return {**found, "responses": answers}


def _name(request: str) -> str:
    method, path = request.split()
    return "_".join((method.lower(), *re.findall(r"\w+", path.removeprefix("/api"))))


def _in_path(name: str) -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1}
    return {"name": name, "in": "path", "required": True, "description": _PARAMETERS[name], "schema": schema}


def _in_query(pair: str) -> dict[str, Any]:
    name, _, kind = pair.partition(":")
    word, _, rest = kind.rstrip("!)").partition("(")
    given = rest.split(",")
    schema: dict[str, Any] = {"type": "string"}
    if word in ("one", "flag"):
        schema["enum"] = given if word == "one" else ["0", "1"]
    elif word == "whole":
        schema = {"type": "integer", "minimum": int(given[0]), "maximum": int(given[1])}
    elif word == "seconds":
        schema = {"type": "number", "minimum": 0, "maximum": float(given[0])}
    needed = kind.endswith("!")
    if needed:
        schema["minLength"] = 1
    return {"name": name, "in": "query", "required": needed, "schema": schema}


def _body(names: list[str]) -> dict[str, Any]:
    needed = [name[:-1] for name in names if name.endswith("!")]
    properties = {
        name.rstrip("!"): {"type": "string"} if name.endswith("!") else {"type": ["string", "null"]} for name in names
    }
    schema = {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}
    return {"required": bool(needed), "content": {JSON: {"schema": schema}}}


def _fields(answer: str) -> dict[str, Any]:
    pairs = [pair.split(":") for pair in answer.split()]
    return {
        "type": "object",
        "required": [name for name, kind in pairs if not kind.endswith("~")],
        "additionalProperties": False,
        "properties": {name: _kind(kind.rstrip("~")) for name, kind in pairs},
    }


def _kind(kind: str) -> dict[str, Any]:
    if kind.startswith("["):
        inside = kind[1:-1]
        return {"type": "array", "items": _kind(inside)} if inside else {"type": "array"}
    plain = _KINDS[kind[0]]
    return {"type": [plain, "null"] if kind.endswith("?") else plain}


def description_text() -> str:
    """The document as docs/openapi.json has it: without the version, which is that of the server that is asked."""
    document = describe_api()
    return json.dumps({**document, "info": {**document["info"], "version": "*"}}, ensure_ascii=False, indent=1) + "\n"


async def show_description(request: web.Request) -> web.Response:
    """``GET /api/openapi.json``."""
    known_only(request)
    return web.json_response(describe_api())
