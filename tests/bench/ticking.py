"""A provider whose replies carry timestamps: ``python -m tests.bench.ticking [PORT]`` prints its base URL.

It speaks the OpenAI chat API. The extra request fields ``ticks`` and ``interval_ms`` set the number of a reply's pieces
and the milliseconds between them, which is 0 otherwise. Each piece has the time of the monotonic clock in nanoseconds.
All processes of a machine share that clock.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

from aiohttp import web

TICK = "⏱"
"""Encloses the timestamp of a piece."""


async def complete(request: web.Request) -> web.StreamResponse:
    """Give a reply, or stream one of timestamped pieces at a steady pace."""
    asked = await request.json()
    if not asked.get("stream"):
        message = {"role": "assistant", "content": "비가 그친다. " * int(asked.get("ticks", 10))}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        whole = {"id": "tick", "object": "chat.completion", "created": 1, "model": "tick"}
        return web.json_response({**whole, "choices": [choice], "usage": usage})
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    loop = asyncio.get_running_loop()
    due = loop.time()
    for number in range(int(asked.get("ticks", 10))):
        if number:
            due += float(asked.get("interval_ms", 0)) / 1_000
            await asyncio.sleep(max(0.0, due - loop.time()))
        text = f"{TICK}{time.perf_counter_ns()}{TICK} 비가 그친다. "
        await response.write(_event({"index": 0, "delta": {"content": text}, "finish_reason": None}))
    await response.write(_event({"index": 0, "delta": {}, "finish_reason": "stop"}))
    await response.write(b"data: [DONE]\n\n")
    return response


def _event(choice: dict[str, object]) -> bytes:
    chunk = {"id": "tick", "object": "chat.completion.chunk", "created": 1, "model": "tick", "choices": [choice]}
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()


async def serve(port: int) -> None:
    """Serve until the process is ended."""
    app = web.Application(client_max_size=64 << 20)
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, backlog=1_024)
    await site.start()
    print(f"http://127.0.0.1:{site.port}/v1", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
