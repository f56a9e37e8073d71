"""Clients of the official SDKs of OpenAI and Anthropic, imported and created off the event loop."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

NO_KEY = "none"
"""Satisfies an SDK; never sent."""

_CONNECT_SECONDS = 10.0


def client_settings(sdk: ModuleType, timeout: float) -> dict[str, Any]:
    """What every client is made with. It goes where its settings say and nowhere else: no redirect is followed."""
    patience = sdk.Timeout(timeout, connect=min(_CONNECT_SECONDS, timeout))
    door = sdk.DefaultAsyncHttpxClient(timeout=patience, follow_redirects=False)
    return {"timeout": patience, "max_retries": 0, "http_client": door}


async def open_client(module: str, make: Callable[[ModuleType], Any]) -> tuple[ModuleType, Any]:
    """An SDK, and the client that ``make`` makes of it.

    Made beside the loop: an SDK takes a second to import, a client 50 ms for the certificates that it trusts, and what
    the first call imports of the network layer as much again.
    """

    def opened() -> tuple[ModuleType, Any]:
        sdk = importlib.import_module(module)
        network = sys.modules.get("anyio")
        if network is not None:
            network.run(network.sleep, 0)
        return sdk, make(sdk)

    return await asyncio.to_thread(opened)
