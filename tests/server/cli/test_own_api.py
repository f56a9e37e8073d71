"""The admin API of a command: nobody but the command is answered."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import ClientSession

from saga_core import Saga
from saga_core.config import load_config
from saga_server.cli.data.own_api import own_api
from saga_server.tenancy import Tenancy


@pytest.mark.parametrize("wrong", [{}, {"X-SAGA-Own": ""}, {"X-SAGA-Own": "0" * 64}, {"Authorization": "Bearer k"}])
async def test_a_stranger_is_refused(tmp_path: Path, wrong: dict[str, str]) -> None:
    config = load_config({"storage": {"path": str(tmp_path)}, "server": {"api_keys": ["k"]}}, environ={})
    async with (
        Saga.open(config, resume=False, hosting=Tenancy()) as saga,
        own_api(saga, config) as (address, own),
        ClientSession(address) as http,
    ):
        async with http.get("/api/sessions", headers=wrong) as refused:
            assert refused.status == 403 and "sessions" not in await refused.json()
        async with http.get("/api/sessions", headers=own) as answered:
            assert (answered.status, (await answered.json())["sessions"]) == (200, [])
