"""Generate the OpenAPI document of the admin API, for ``GET /api/openapi.json`` and docs/openapi.json."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.metadata import version
from typing import Any

from saga_server.admin.description.schema import body_schema, query_schema, reference, schemas_of
from saga_server.admin.endpoint import JSON, Endpoint
from saga_server.admin.parameters import MULTIPART
from saga_server.admin.read_params import Param, body_names, body_numbers, params_of

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
    "id": "The id of a session, or its name if no other session has that name",
    "name": "The name of a timeline",
    "change": "The id of a change",
    "rule": "The id of a standing rule",
    "key": "The id of a key",
    "entity": "The id of an entity, as listed by GET /api/sessions/{id}/entities",
    "world": "The name of a world's folder",
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
def describe_api(endpoints: tuple[Endpoint[Any, Any], ...]) -> dict[str, Any]:
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


def _operation(endpoint: Endpoint[Any, Any]) -> dict[str, Any]:
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
    params = params_of(endpoint.params)
    parameters = [_in_path(each) for each in params if each.spec.place == "path"]
    parameters += [_in_query(each) for each in params if each.spec.place == "query"]
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


def _name(endpoint: Endpoint[Any, Any]) -> str:
    return "_".join((endpoint.method.lower(), *re.findall(r"\w+", endpoint.path.removeprefix("/api"))))


def _in_path(param: Param) -> dict[str, Any]:
    return {
        "name": param.name,
        "in": "path",
        "required": True,
        "description": _IN_PATH[param.name],
        "schema": {"type": "string", "minLength": 1},
    }


def _in_query(param: Param) -> dict[str, Any]:
    return {"name": param.name, "in": "query", "required": param.needed, "schema": query_schema(param)}


def document_text(endpoints: tuple[Endpoint[Any, Any], ...]) -> str:
    """Return the text of docs/openapi.json. It has ``*`` as version; a running server gives its own."""
    document = describe_api(endpoints)
    return json.dumps({**document, "info": {**document["info"], "version": "*"}}, ensure_ascii=False, indent=1) + "\n"
