"""A client that goes away before it is answered is no failure of the server."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import cast

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from saga_server.http import CURRENT, errors_as_json
from saga_server.process import Current, Mask


async def test_who_goes_before_the_first_word_leaves_no_error_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def answers_too_late(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.close()
        response = web.StreamResponse()
        await response.prepare(request)
        raise AssertionError("unreachable")

    async def fails(request: web.Request) -> web.StreamResponse:
        raise ConnectionError("to a store, not to the client")

    app = web.Application(middlewares=[errors_as_json])
    app[CURRENT] = cast("Current", SimpleNamespace(mask=Mask.of(())))
    app.router.add_get("/late", answers_too_late)
    app.router.add_get("/fails", fails)
    async with TestClient(TestServer(app)) as client:
        with caplog.at_level(logging.ERROR), pytest.raises(aiohttp.ClientError):
            await client.get("/late")
        assert caplog.records == []
        assert (await client.get("/fails")).status == 500
        assert "unexpected error" in caplog.text
