"""From a request to its row in the table: the path, the parameters, the handler, the answer."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from saga_server.admin.endpoint import Endpoint
from saga_server.admin.endpoints import ENDPOINTS
from saga_server.admin.read_params import ParamsReader
from saga_server.admin.reply import as_json
from saga_server.http import Handler


def dispatcher() -> Handler:
    """Answers every request of the table. Raises as aiohttp does for other paths and methods, ``SagaError`` else."""
    router = web.UrlDispatcher()
    rows: dict[web.AbstractRoute, tuple[Endpoint[Any, Any], ParamsReader[Any]]] = {}
    for endpoint in ENDPOINTS:
        add = router.add_get if endpoint.method == "GET" else router.add_post
        add = router.add_delete if endpoint.method == "DELETE" else add
        rows[add(endpoint.path, _unused)] = endpoint, ParamsReader.of(endpoint)

    async def dispatch(request: web.Request) -> web.StreamResponse:
        match = await router.resolve(request)
        if match.http_exception is not None:
            raise match.http_exception
        endpoint, reader = rows[match.route]
        found = await endpoint.handler(request, await reader.read(request, match))
        if isinstance(found, web.StreamResponse):
            return found
        return as_json(found, endpoint.status if endpoint.status_of is None else endpoint.status_of(found))

    return dispatch


async def _unused(request: web.Request) -> web.StreamResponse:
    raise AssertionError("the dispatcher calls the handler of the row")
