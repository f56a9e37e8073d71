"""The door ``/mcp``: the tools over MCP's streamable HTTP, for hosts that speak to an address.

Behind a base URL (``/s/SESSION/mcp``) the tools are those of that session alone. Each call asks the admin API of this
very server with the caller's own key, so that access, quotas, the audit log and the owner of a session count as they
do everywhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from aiohttp import web

from saga_server.http import Door, Failure, RequestError


async def over_http(request: web.Request) -> web.StreamResponse:
    """Answer one message. The package ``mcp`` is imported when the first one arrives."""
    try:
        module: Any = await asyncio.to_thread(import_module, "saga_server.tools.over_http")
    except ModuleNotFoundError as error:
        raise RequestError(
            f"mcp: {error.name} is not installed; run pip install 'saga-rp[mcp]' where SAGA runs", status=501
        ) from error
    answered: web.StreamResponse = await module.answered(request)
    return answered


_NO_JSON, _REFUSED = -32700, -32600
"""The codes of JSON-RPC for a body that cannot be read as JSON, and for an invalid request."""


def rpc_error(failure: Failure) -> Mapping[str, Any]:
    """An error in the format of JSON-RPC. The message that it answers may not have been read."""
    code = _NO_JSON if (failure.status, failure.param) == (400, "body") else _REFUSED
    return {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": failure.message}}


DOOR = Door(paths={"/mcp": {"POST": over_http}}, admin=True, error=rpc_error)
