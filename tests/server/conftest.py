from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from tests.server.client import Client
from tests.server.upstream import Upstream

Serve = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    async with Upstream() as server:
        yield server


@pytest.fixture
def serve() -> Serve:
    """``async with serve(section={...}) as client``: SAGA in memory on a free port; offline unless told otherwise."""

    @asynccontextmanager
    async def served(*, environ: dict[str, str] | None = None, **sections: Any) -> AsyncIterator[Client]:
        async with Client.of(sections, environ or {}) as client:
            yield client

    return served


@pytest.fixture
async def client(upstream: Upstream, serve: Serve) -> AsyncIterator[Client]:
    """SAGA in memory, narrated by ``upstream``."""
    async with serve(providers={"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}}) as found:
        yield found


@pytest.fixture
async def offline(serve: Serve) -> AsyncIterator[Client]:
    """SAGA in memory, narrated offline."""
    async with serve() as found:
        yield found
