from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from saga_core.config import load_config
from saga_server.server import Server
from tests.web.chromium import MISSING, chromium
from tests.web.stories import play_demo

if TYPE_CHECKING:
    from playwright.async_api import Browser


SETTINGS = {
    "storage": {"profile": "memory"},
    "server": {"port": 0, "drain_timeout": 5},
    "extraction": {"automatic": "never"},
}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One for all pages, each of which is opened in a context of its own."""
    if chromium() is None:
        pytest.skip(MISSING)
    from tests.web.browsing import open_browser

    async with open_browser() as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def played() -> AsyncIterator[tuple[Server, str]]:
    """A server with Harrow Staithe played to its end, and the session's id."""
    tree = {
        "storage": {"profile": "memory"},
        "server": {"port": 0, "drain_timeout": 5},
        "extraction": {"automatic": "never"},
    }
    async with Server(load_config(tree, environ={}), {}) as server:
        yield server, await play_demo(server)
