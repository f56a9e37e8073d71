"""What other servers tell those who listen here: each is asked for the same stream, and its events are passed on.

They are asked with the listener's own key, so that each tells what the listener may know. Nothing is asked while nobody
listens. What a server told while it could not be reached is not made up for: it is read from the journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from aiohttp import web

from saga_server.http.app_keys import SAGA
from saga_server.http.passing import PASSED, client_of, kept

_LOOK_SECONDS: Final = 0.5
"""How often it is looked which servers there are."""
_LONGEST: Final = 1 << 20
"""Bytes of an event; whoever sends more is asked anew."""


async def follow_others(request: web.Request, take: Callable[[bytes], None]) -> None:
    """Give ``take`` each event of the same stream at the other servers that live, until cancelled."""
    leases = request.app[SAGA].parts.leases
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
                    if each.startswith(b"event:"):  # signs of life are the listener's own server's
                        take(each + b"\n\n")
    except (aiohttp.ClientError, OSError):
        return  # it is asked again while it lives
