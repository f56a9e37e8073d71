"""docs/openapi.json: it is what the server serves, and the server takes and answers what it says."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from saga_server.admin.endpoints import ENDPOINTS
from saga_server.admin.openapi import describe_api, document_text
from tests.docs.pages import ROOT, page
from tests.server.client import Client

WITHOUT_QUERY_CHECK = ("/", "/healthz", "/readyz", "/metrics")
OPERATIONS = {
    f"{method.upper()} {path}": operation
    for path, methods in describe_api(ENDPOINTS)["paths"].items()
    for method, operation in methods.items()
}


@pytest.fixture
async def offline() -> AsyncIterator[Client]:
    async with Client.of({}, {}) as client:
        yield client


def test_the_file_is_what_the_server_serves() -> None:
    text = (ROOT / "docs" / "openapi.json").read_text(encoding="utf-8")
    assert text == document_text(ENDPOINTS), "write it anew: make endpoints"


def test_it_has_every_path_of_the_server_and_no_other() -> None:
    assert set(OPERATIONS) == {endpoint.request for endpoint in ENDPOINTS}


def test_operations_have_names_of_their_own() -> None:
    names = [operation["operationId"] for operation in OPERATIONS.values()]
    assert len(set(names)) == len(names)


def test_its_answers_have_the_fields_of_the_page() -> None:
    """What stands on the page is compared with real answers."""
    told = {
        row[0].strip("`").partition("?")[0]: set(re.findall(r"`(\w+)`", row[1]))
        for row in page("docs/http.md").rows
        if re.match(r"`(GET|POST|DELETE) /api/", row[0])
    }
    described = {}
    for request, operation in OPERATIONS.items():
        answers = [each for status, each in operation["responses"].items() if status.startswith("2")]
        (media,) = answers[0]["content"].values()
        if "/api" in request:
            name = media["schema"].get("$ref", "").rpartition("/")[2]
            described[request] = set(
                describe_api(ENDPOINTS)["components"]["schemas"].get(name, {}).get("properties", ())
            )
    assert described == told


async def test_the_server_takes_the_parameters_that_it_says(offline: Client) -> None:
    for request, operation in OPERATIONS.items():
        method, path = request.split()
        if path in WITHOUT_QUERY_CHECK:
            continue
        answer = await offline.send(method, re.sub(r"\{\w+\}", "x", path), params={"no-such": "1"})
        names = [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"]
        assert answer.status == 400, request
        assert answer.error["message"].endswith(f"this path takes {', '.join(names) or 'none'}"), request


async def test_the_server_takes_the_fields_that_it_says(offline: Client) -> None:
    for request, operation in OPERATIONS.items():
        method, path = request.split()
        schema: Any = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        if schema is None:
            continue
        answer = await offline.send(method, re.sub(r"\{\w+\}", "x", path), json={"no-such": "1"})
        assert answer.error["message"] == (
            f"no-such: unknown field; this path takes {', '.join(sorted(schema['properties']))}"
        )


async def test_it_is_served(offline: Client) -> None:
    assert (await offline.get("/api/openapi.json")).json == describe_api(ENDPOINTS)


@pytest.mark.parametrize("request_", [request for request in OPERATIONS if "POST" in request])
def test_what_is_needed_is_among_what_is_taken(request_: str) -> None:
    for media in OPERATIONS[request_].get("requestBody", {}).get("content", {}).values():
        assert set(media["schema"].get("required", ())) <= set(media["schema"].get("properties", ()))


def test_it_is_json_without_what_json_lacks() -> None:
    assert json.loads(json.dumps(describe_api(ENDPOINTS), allow_nan=False)) == describe_api(ENDPOINTS)
