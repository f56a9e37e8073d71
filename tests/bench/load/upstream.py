"""The model's server of a load run, in its own process: ``python -m tests.bench.load.upstream OPTIONS``.

It speaks the OpenAI chat API, knows the script of every session, and sends replies piece by piece at the given pace.
``OPTIONS`` is JSON. It prints its port, and ends when its stdin does.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from aiohttp import web
from attrs import define, field
from cattrs import structure

from tests.bench.load.script import LoadOptions, Script, read_tag
from tests.bench.story.storyteller import Told

PIECE = 12
"""Characters in a piece."""


@define(eq=False)
class ScriptedModel:
    """Replies with the turn of a session's script that a request asks for."""

    options: LoadOptions
    _scripts: dict[int, Script] = field(factory=dict)
    _told: dict[int, Told] = field(factory=dict)

    def told(self, number: int, turn: int) -> Told:
        """The next turn of a session, or its last turn again. Raises ``ValueError`` for any other turn."""
        script = self._scripts.get(number)
        if script is None:
            script = self._scripts[number] = Script(self.options, number)
        if turn == script.turn + 1:
            self._told[number] = script.next()
        elif turn != script.turn or not turn:
            raise ValueError(f"session {number} asks for turn {turn}; the last one was {script.turn}")
        return self._told[number]

    async def complete(self, request: web.Request) -> web.StreamResponse:
        """``POST /v1/chat/completions``, streaming."""
        body = await request.json()
        try:
            told = self.told(*read_tag(body["user"]))
        except (KeyError, ValueError) as error:
            return web.json_response({"error": {"message": str(error), "type": "invalid_request_error"}}, status=400)
        if told.words not in str(body["messages"][-1]["content"]):
            return web.json_response({"error": {"message": "these are other words"}}, status=400)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        loop, pace = asyncio.get_running_loop(), self.options.pieces
        due, raw = loop.time(), told.raw
        for start in range(0, len(raw), PIECE):
            if pace:
                due += 1 / pace
                await asyncio.sleep(due - loop.time())
            await response.write(_event({"content": raw[start : start + PIECE]}))
        await response.write(_event({}, "stop") + b"data: [DONE]\n\n")
        return response

    async def models(self, request: web.Request) -> web.Response:
        """``GET /v1/models``."""
        return web.json_response({"object": "list", "data": [{"id": "scripted", "object": "model"}]})


def _event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [choice]}
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()


async def serve(options: LoadOptions) -> None:
    """Serve until stdin ends."""
    model = ScriptedModel(options)
    app = web.Application(client_max_size=64 << 20)
    app.add_routes([web.post("/v1/chat/completions", model.complete), web.get("/v1/models", model.models)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1_024)
    await site.start()
    sys.stdout.write(f"{site.port}\n")
    sys.stdout.flush()
    try:
        await asyncio.to_thread(sys.stdin.read)
    finally:
        await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve(structure(json.loads(sys.argv[1]), LoadOptions)))
