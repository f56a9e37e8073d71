"""The steps of a scripted provider: good replies, and every way to fail. They are the same in every dialect."""

from __future__ import annotations

import asyncio

from aiohttp import web

from tests.fake_providers.server import Step, Wire


def says(*pieces: str, finish: str = "stop", gate: asyncio.Event | None = None, thoughts: tuple[str, ...] = ()) -> Step:
    """Send a good reply in pieces, after its thoughts. With a gate, wait for it after the first piece."""

    async def step(wire: Wire) -> web.StreamResponse:
        for thought in thoughts:
            await wire.think(thought)
        for number, piece in enumerate(pieces):
            await wire.text(piece)
            if gate is not None and number == 0:
                await gate.wait()
        return await wire.end(finish)

    return step


def calls(name: str, arguments: str, *pieces: str) -> Step:
    """Send some text, then a tool call."""

    async def step(wire: Wire) -> web.StreamResponse:
        for piece in pieces:
            await wire.text(piece)
        await wire.call(name, arguments)
        return await wire.end("tool")

    return step


def waits(gate: asyncio.Event, then: Step, *, pings: int = 0) -> Step:
    """Send ``pings`` keep-alives in the stream, wait until the gate opens, and continue with ``then``."""

    async def step(wire: Wire) -> web.StreamResponse:
        for _ in range(pings):
            await wire.ping()
        await gate.wait()
        return await then(wire)

    return step


def fails(status: int, message: str = "no", kind: str = "", **headers: str) -> Step:
    """Answer with an error in the provider's format. Header names are given with ``_`` for ``-``."""

    async def step(wire: Wire) -> web.StreamResponse:
        return wire.error(status, message, kind, {name.replace("_", "-"): value for name, value in headers.items()})

    return step


def page(status: int = 502) -> Step:
    """Answer with a web page, as a gateway in between would."""

    async def step(wire: Wire) -> web.StreamResponse:
        return web.Response(
            text="<html><body><h1>Bad gateway</h1></body></html>", content_type="text/html", status=status
        )

    return step


def raw(body: bytes, kind: str = "text/event-stream", status: int = 200) -> Step:
    """Answer with exactly these bytes."""

    async def step(wire: Wire) -> web.StreamResponse:
        return web.Response(body=body, status=status, content_type=kind)

    return step


def hangs(*pieces: str) -> Step:
    """Hang for ever after some pieces. Without pieces, not even headers are sent."""

    async def step(wire: Wire) -> web.StreamResponse:
        for piece in pieces:
            await wire.text(piece)
        await asyncio.Event().wait()
        raise AssertionError("the event is never set")

    return step


def resets(*pieces: str) -> Step:
    """Cut the connection, before anything or after some pieces."""

    async def step(wire: Wire) -> web.StreamResponse:
        for piece in pieces:
            await wire.text(piece)
        return wire.reset()

    return step


def truncates(*pieces: str) -> Step:
    """Close the stream cleanly after some pieces, in the middle of the reply."""

    async def step(wire: Wire) -> web.StreamResponse:
        await wire.start()
        for piece in pieces:
            await wire.text(piece)
        assert wire.response is not None
        return wire.response

    return step


def errors(*pieces: str, message: str = "Overloaded") -> Step:
    """Send an error inside the stream, after some pieces."""

    async def step(wire: Wire) -> web.StreamResponse:
        await wire.start()
        for piece in pieces:
            await wire.text(piece)
        await wire.error_event(message)
        assert wire.response is not None
        return wire.response

    return step
