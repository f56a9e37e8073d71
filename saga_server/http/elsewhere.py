"""Merge the event streams of other servers into a listener's stream.

Each server is asked for the same stream with the listener's own key, so that it sends only what the listener may see.
Without listeners nothing is requested. Events of a server that cannot be reached are lost; the journal has the data.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from aiohttp import web

from saga_server.http.app_keys import SAGA
from saga_server.http.passing import PASSED, client_of, kept
from saga_server.tenancy import tenancy_of

_LOOK_SECONDS: Final = 0.5
"""Seconds between two checks which servers are alive."""
_LONGEST: Final = 1 << 20
"""The largest event in bytes. If a server sends a larger one, its stream is opened anew."""


async def follow_others(request: web.Request, take: Callable[[bytes], None]) -> None:
    """Pass each event of the same stream on the other live servers to ``take``, until cancelled."""
    leases = tenancy_of(request.app[SAGA]).leases
    if leases is None or PASSED in request.headers:
        return
    following: dict[str, asyncio.Task[None]] = {}
    try:
        while True:
            others = leases.status()["others"]
            alive = {each["server"]: each["address"] for each in others if each["alive"] and each["address"]}
            for server in following.keys() - alive.keys():
                following.pop(server).cancel()
            for server, address in alive.items():
                if server not in following or following[server].done():
                    following[server] = asyncio.create_task(_follow(request, leases.server, address, take))
            await asyncio.sleep(_LOOK_SECONDS)
    finally:
        for task in following.values():
            task.cancel()
        await asyncio.gather(*following.values(), return_exceptions=True)


async def _follow(request: web.Request, server: str, address: str, take: Callable[[bytes], None]) -> None:
    import aiohttp

    headers = kept(request.headers)
    headers.popall("Accept-Encoding", None)
    headers[PASSED] = server
    try:
        async with client_of(request.app).get(address + request.path_qs, headers=headers) as answer:
            left = b""
            while answer.status == 200 and len(left) <= _LONGEST:
                piece = await answer.content.readany()
                if not piece:
                    return
                *events, left = (left + piece).split(b"\n\n")
                for each in events:
                    if each.startswith(b"event:"):  # keep-alive comments are dropped; this server sends its own
                        take(each + b"\n\n")
    except (aiohttp.ClientError, OSError):
        return  # the caller asks again while the server is alive
