"""The table of the admin API: what its rows say is what handlers take and answer, and where they are answered."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_type_hints

import pytest
from aiohttp import web
from attrs import define, fields, frozen, has
from multidict import MultiDict

from saga_core.curation import FIELDS
from saga_server.admin.endpoint import JSON, Endpoint, in_query
from saga_server.admin.endpoints import ENDPOINTS
from saga_server.admin.mounting import PATHS
from saga_server.admin.openapi import schemas_of
from saga_server.admin.parameters import Narrowing
from saga_server.admin.read_params import params_of, read_params
from saga_server.admin.reply import to_text
from saga_server.http.access import _OPEN
from saga_server.http.bodies import BODY
from saga_server.http.errors import RequestError
from tests.server.client import Client


def test_a_handler_takes_and_answers_what_its_row_says() -> None:
    for endpoint in ENDPOINTS:
        hints = get_type_hints(endpoint.handler)
        assert hints["return"] == endpoint.answer, endpoint.request
        assert endpoint.handler.__doc__ and endpoint.tags, endpoint.request
        assert (endpoint.media == JSON) == has(endpoint.answer), endpoint.request


def test_the_parts_of_a_path_are_parameters() -> None:
    for endpoint in ENDPOINTS:
        taken = [each.name for each in params_of(endpoint.handler) if each.spec.place == "path"]
        assert sorted(taken) == sorted(re.findall(r"\{(\w+)\}", endpoint.path))


def test_every_path_is_one_of_those_that_are_routed() -> None:
    assert [each.path for each in ENDPOINTS if each.path not in PATHS and not each.path.startswith("/api/")] == []


def test_what_needs_no_key_is_what_the_guard_lets_through() -> None:
    assert {each.path for each in ENDPOINTS if each.open} == _OPEN


def test_a_row_that_does_not_say_whose_its_answer_is_is_none() -> None:
    row: Any = Endpoint
    with pytest.raises(TypeError, match="reach"):
        row("GET", "/api/x", answer, "", tags=("x",))


def test_a_row_of_ones_own_names_a_session_or_keeps_to_the_owner_itself() -> None:
    """What takes no session, or may be asked without one, is listed here: its handler goes by ``scope``."""
    by_itself = {
        "GET /api/sessions", "POST /api/sessions", "GET /api/jobs", "POST /api/jobs/retry", "GET /api/events",
        "GET /api/me", "GET /api/chats/{chat}", "GET /api/trash",
        "POST /api/trash/{deleted}", "DELETE /api/trash/{deleted}",
    }  # fmt: skip
    for endpoint in ENDPOINTS:
        needed = [each for each in params_of(endpoint.handler) if each.key == "session" and each.needed]
        if endpoint.reach == "own":
            assert bool(needed) != (endpoint.request in by_itself), (
                f"{endpoint.request} needs a session, so remove it from `by_itself`"
                if needed
                else f"{endpoint.request} needs no session: restrict its handler to `request[BEARER].scope`, "
                "and add it to `by_itself`"
            )


def test_no_field_of_a_correction_has_the_name_of_another_parameter() -> None:
    assert FIELDS.isdisjoint({"kind", "turn"})


def test_an_answer_with_a_field_of_no_json_is_found() -> None:
    @frozen
    class Odd:
        when: complex

    with pytest.raises(TypeError, match="is no type of an answer's field"):
        schemas_of(Odd)
    with pytest.raises(TypeError, match="complex has no form in JSON"):
        to_text(Odd(1j))


def test_an_answer_is_what_its_schema_says() -> None:
    for endpoint in ENDPOINTS:
        if endpoint.media != JSON:
            continue
        schemas = schemas_of(endpoint.answer)
        assert list(schemas[endpoint.answer.__name__]["properties"]) == [each.name for each in fields(endpoint.answer)]
        assert json.loads(json.dumps(schemas)) == schemas


@define
class Query:
    """As much of a request as reading its parameters needs."""

    query: Mapping[str, str]

    def __getitem__(self, key: object) -> bytes:
        assert key is BODY
        return b""


async def answer(
    request: web.Request,
    count: Annotated[int, in_query(least=1, most=9)] = 3,
    pause: Annotated[float, in_query(most=60)] = 1.0,
    loud: Annotated[bool, in_query()] = False,
    name: Annotated[str | None, in_query()] = None,
) -> web.Response:
    raise NotImplementedError


async def read(**query: str) -> dict[str, Any]:
    found: Any = Query(query)
    return await read_params(Endpoint("GET", "/api/x", answer, "", tags=("x",), reach="own"), found, {})


async def test_parameters_are_read_by_their_types() -> None:
    found = {"count": 9, "pause": 2.5, "loud": True, "name": "a"}
    assert await read(count="9", pause="2.5", loud="1", name=" a ") == found
    assert await read() == await read(name="  ") == {}


@pytest.mark.parametrize("blank", ["", "  ", "\t"])
async def test_what_narrows_a_removal_refuses_a_blank(blank: str) -> None:
    async def removed(request: web.Request, name: Narrowing = None) -> web.Response:
        raise NotImplementedError

    endpoint = Endpoint("POST", "/api/x", removed, "", tags=("x",), reach="own")
    found: Any = Query({"name": blank})
    with pytest.raises(RequestError, match=r"name: .* is blank; without it more would be removed; give a text"):
        await read_params(endpoint, found, {})


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"count": "0"}, "count: '0' is not allowed; give a whole number from 1 to 9"),
        ({"count": "٣"}, "count: '٣' is not allowed; give a whole number from 1 to 9"),
        ({"count": ""}, "count: '' is not allowed; give a whole number from 1 to 9"),
        ({"pause": "nan"}, "pause: 'nan' is not allowed; give seconds from 0 to 60"),
        ({"loud": "yes"}, "loud: 'yes' is not allowed; give 1 or 0"),
        ({"colour": "red"}, "colour: unknown parameter; this path takes count, pause, loud, name"),
    ],
)
async def test_what_is_wrong_is_told_with_field_value_and_remedy(query: dict[str, str], message: str) -> None:
    with pytest.raises(RequestError) as found:
        await read(**query)
    assert (str(found.value), found.value.param) == (message, next(iter(query)))


async def test_a_parameter_is_given_once() -> None:
    endpoint = Endpoint("GET", "/api/x", take, "", tags=("x",), reach="own")
    found: Any = Query(MultiDict([("name", "a"), ("name", "b")]))
    with pytest.raises(RequestError, match="name: given twice; give it once"):
        await read_params(endpoint, found, {})


async def take(
    request: web.Request,
    turns: Annotated[int, in_query(least=1, most=9)],
    pause: Annotated[float, in_query(most=60)],
    loud: Annotated[bool, in_query()],
    order: Annotated[Literal["up", "down"], in_query()],
    name: Annotated[str, in_query()],
) -> web.Response:
    raise NotImplementedError


async def test_what_is_missing_is_told_with_what_to_give() -> None:
    endpoint = Endpoint("GET", "/api/x", take, "", tags=("x",), reach="own")
    query, told = dict[str, str](), list[str]()
    for name, value in (("turns", "2"), ("pause", "1"), ("loud", "1"), ("order", "up"), ("name", "a")):
        given: Any = Query(query)
        with pytest.raises(RequestError) as found:
            await read_params(endpoint, given, {})
        assert found.value.param == name
        told.append(str(found.value))
        query[name] = value
    assert told == [
        "turns: missing; give a whole number from 1 to 9",
        "pause: missing; give seconds from 0 to 60",
        "loud: missing; give 1 or 0",
        "order: missing; give one of up, down",
        "name: missing; give a text",
    ]


_READ = [each for each in ENDPOINTS if each.method == "GET" and "{" not in each.path and each.path != "/api/events"]


@pytest.mark.parametrize("endpoint", _READ, ids=lambda each: each.request)
async def test_the_headers_alone_are_those_of_the_answer(offline: Client, endpoint: Endpoint) -> None:
    """``wget --spider``, uptime monitors and load balancers ask in this way."""
    async with offline.request("HEAD", endpoint.path) as alone, offline.request("GET", endpoint.path) as whole:
        assert (alone.status, await alone.read()) == (whole.status, b"")
        assert alone.content_type == whole.content_type


async def test_events_have_no_headers_alone(offline: Client) -> None:
    refused = await offline.send("HEAD", "/api/events")
    assert refused.status == 405 and "GET" in refused.headers["Allow"]
