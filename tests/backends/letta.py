"""A strict server that speaks the part of Letta's API that the curator uses, on 127.0.0.1, scripted by tests.

Requests are checked against letta-client's own types, and answers are built from them. It keeps agents, blocks and
messages, and refuses what a Letta server refuses.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from aiohttp import web
from attrs import define, field, frozen
from letta_client.types import agent_create_params, agent_update_params, block_create_params
from letta_client.types.agents import block_update_params, message_create_params, message_reset_params

from tests.backends.letta_types import faults

WHEN = "2026-11-22T00:00:00Z"
VERSION = "0.16.8"
Said = Mapping[str, Any]
"""``text`` and ``calls`` (tool, arguments) of an agent, or ``why`` it stopped, or a ``status`` with a ``body``."""
LLM = {"context_window": 32_000, "model": "gpt-5-mini", "model_endpoint_type": "openai"}


def text(words: str) -> Said:
    return {"text": words}


def calls(*wanted: tuple[str, dict[str, Any] | str], words: str = "") -> Said:
    return {"calls": wanted, "text": words}


@frozen
class Thought:
    """What an agent had before it when it was asked."""

    agent: str
    system: str
    blocks: dict[str, str]
    messages: tuple[dict[str, Any], ...]
    body: dict[str, Any]

    @property
    def question(self) -> str:
        (message,) = self.body["messages"]
        return json.dumps(message, ensure_ascii=False)


@define
class Agent:
    id: str
    record: dict[str, Any]
    blocks: list[str] = field(factory=list)
    messages: list[dict[str, Any]] = field(factory=list)
    pending: tuple[str, ...] = ()


@define
class LettaFake:
    """``async with LettaFake() as letta``. Each message to an agent takes the next of ``script``, or ``otherwise``."""

    password: str | None = None
    script: deque[Said | Callable[[Agent], Said]] = field(factory=deque)
    otherwise: Said = field(factory=lambda: calls(("finish", {})))
    agents: dict[str, Agent] = field(factory=dict)
    blocks: dict[str, dict[str, Any]] = field(factory=dict)
    thoughts: list[Thought] = field(factory=list)
    requests: list[tuple[str, str]] = field(factory=list)
    wrong: list[str] = field(factory=list)
    """What was not as the types say."""
    headers: list[Mapping[str, str]] = field(factory=list)
    broken: dict[tuple[str, str], Said] = field(factory=dict)
    """(method, beginning of a path) -> the status and body that it is answered with."""
    port: int = 0
    _made: int = 0
    _runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def then(self, *said: Said | Callable[[Agent], Said]) -> None:
        self.script.extend(said)

    def memory(self, agent: Agent) -> dict[str, str]:
        return {self.blocks[id_]["label"]: self.blocks[id_]["value"] for id_ in agent.blocks}

    async def __aenter__(self) -> Self:
        app = web.Application(middlewares=[self._guard])
        app.add_routes(
            [
                web.get("/v1/health/", self._health),
                web.get("/v1/agents/", self._list),
                web.post("/v1/agents/", self._create),
                web.patch("/v1/agents/{agent}", self._update),
                web.delete("/v1/agents/{agent}", self._delete),
                web.patch("/v1/agents/{agent}/reset-messages", self._reset),
                web.post("/v1/agents/{agent}/messages", self._message),
                web.get("/v1/agents/{agent}/core-memory/blocks", self._agent_blocks),
                web.patch("/v1/agents/{agent}/core-memory/blocks/{label}", self._write),
                web.patch("/v1/agents/{agent}/core-memory/blocks/attach/{block}", self._attach),
                web.post("/v1/blocks/", self._new_block),
                web.delete("/v1/blocks/{block}", self._delete_block),
            ]
        )
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = site.port
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    @web.middleware
    async def _guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.requests.append((request.method, request.path))
        self.headers.append(dict(request.headers))
        if self.password is not None and request.headers.get("Authorization") != f"Bearer {self.password}":
            return web.json_response({"detail": f"Unauthorized: {request.headers.get('Authorization')}"}, status=401)
        for (method, start), said in self.broken.items():
            if request.method == method and request.path.startswith(start):
                return await self._fail(said)
        response: web.StreamResponse = await handler(request)
        return response

    async def _fail(self, said: Said) -> web.StreamResponse:
        if said["status"] == 0:
            await asyncio.Event().wait()
        if isinstance(said["body"], str):
            return web.Response(text=said["body"], status=said["status"], content_type=said.get("type", "text/html"))
        return web.json_response(said["body"], status=said["status"])

    async def _body(self, request: web.Request, kind: Any) -> dict[str, Any]:
        body: dict[str, Any] = await request.json()
        found = faults(kind, body)
        self.wrong += found
        if found:
            raise web.HTTPUnprocessableEntity(text=json.dumps({"detail": found}), content_type="application/json")
        return body

    def _agent(self, request: web.Request) -> Agent:
        agent = self.agents.get(request.match_info["agent"])
        if agent is None:
            raise web.HTTPNotFound(text='{"detail": "Agent not found"}', content_type="application/json")
        return agent

    def _id(self, kind: str) -> str:
        self._made += 1
        return f"{kind}-00000000-0000-4000-8000-{self._made:012d}"

    def state(self, agent: Agent) -> dict[str, Any]:
        blocks = [self.blocks[id_] for id_ in agent.blocks]
        record = agent.record
        return {
            "id": agent.id,
            "agent_type": record["agent_type"],
            "blocks": blocks,
            "llm_config": LLM,
            "memory": {"blocks": blocks},
            "model": record["model"],
            "name": record["name"],
            "sources": [],
            "system": record["system"],
            "tags": record["tags"],
            "tools": [],
        }

    async def _health(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"status": "ok", "version": VERSION})

    async def _list(self, request: web.Request) -> web.StreamResponse:
        tags = set(request.query.getall("tags", []))
        every = request.query.get("match_all_tags") == "true"
        found = [
            agent
            for agent in self.agents.values()
            if (tags <= set(agent.record["tags"]) if every else tags & set(agent.record["tags"]))
        ]
        shown = found[: int(request.query.get("limit", "50"))]
        return web.json_response([self.state(agent) for agent in shown])

    def _add_block(self, given: Mapping[str, Any]) -> str:
        id_ = self._id("block")
        self.blocks[id_] = {"id": id_, "limit": 20_000, "tags": [], **given}
        return id_

    async def _create(self, request: web.Request) -> web.StreamResponse:
        body = await self._body(request, agent_create_params.AgentCreateParams)
        if "model" not in body:
            return web.json_response({"detail": "model is required"}, status=400)
        agent = Agent(self._id("agent"), body, [self._add_block(each) for each in body.get("memory_blocks", [])])
        self.agents[agent.id] = agent
        return web.json_response(self.state(agent))

    async def _update(self, request: web.Request) -> web.StreamResponse:
        agent = self._agent(request)
        agent.record.update(await self._body(request, agent_update_params.AgentUpdateParams))
        return web.json_response(self.state(agent))

    async def _delete(self, request: web.Request) -> web.StreamResponse:
        del self.agents[self._agent(request).id]
        return web.json_response({"message": "Agent deleted"})

    async def _reset(self, request: web.Request) -> web.StreamResponse:
        agent = self._agent(request)
        await self._body(request, message_reset_params.MessageResetParams)
        agent.messages, agent.pending = [], ()
        return web.json_response(self.state(agent))

    async def _agent_blocks(self, request: web.Request) -> web.StreamResponse:
        return web.json_response([self.blocks[id_] for id_ in self._agent(request).blocks])

    async def _write(self, request: web.Request) -> web.StreamResponse:
        agent, label = self._agent(request), request.match_info["label"]
        body = await self._body(request, block_update_params.BlockUpdateParams)
        found = [self.blocks[id_] for id_ in agent.blocks if self.blocks[id_]["label"] == label]
        if not found:
            return web.json_response({"detail": f"no block {label}"}, status=404)
        fresh = {**found[0], **body}
        if len(fresh["value"]) > fresh["limit"]:
            return web.json_response({"detail": "Edit failed: exceeds the character limit"}, status=400)
        self.blocks[fresh["id"]] = fresh
        return web.json_response(fresh)

    async def _attach(self, request: web.Request) -> web.StreamResponse:
        agent = self._agent(request)
        agent.blocks.append(self.blocks[request.match_info["block"]]["id"])
        return web.json_response(self.state(agent))

    async def _new_block(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(
            self.blocks[self._add_block(await self._body(request, block_create_params.BlockCreateParams))]
        )

    async def _delete_block(self, request: web.Request) -> web.StreamResponse:
        id_ = request.match_info["block"]
        if self.blocks.pop(id_, None) is None:
            return web.json_response({"detail": "no block"}, status=404)
        for agent in self.agents.values():
            agent.blocks = [each for each in agent.blocks if each != id_]
        return web.json_response(None)

    async def _message(self, request: web.Request) -> web.StreamResponse:
        agent = self._agent(request)
        body = await self._body(request, message_create_params.MessageCreateParamsNonStreaming)
        (message,) = body["messages"]
        if "tool_returns" in message:
            answered = tuple(each["tool_call_id"] for each in message["tool_returns"])
            if set(answered) != set(agent.pending):
                return web.json_response({"detail": f"pending are {agent.pending}, not {answered}"}, status=400)
        elif agent.pending:
            return web.json_response({"detail": "PENDING_APPROVAL"}, status=409)
        agent.pending = ()
        thought = Thought(agent.id, agent.record["system"], self.memory(agent), tuple(agent.messages), body)
        self.thoughts.append(thought)
        agent.messages.append(message)
        step = self.script.popleft() if self.script else self.otherwise
        said = step(agent) if callable(step) else step
        if "status" in said:
            return await self._fail(said)
        return web.json_response(self._answer(agent, said))

    def _answer(self, agent: Agent, said: Said) -> dict[str, Any]:
        common = {"date": WHEN}
        out: list[dict[str, Any]] = [
            {"id": self._id("message"), "message_type": "reasoning_message", "reasoning": "Let me see. {}", **common}
        ]
        if said.get("text"):
            part = {"id": self._id("message"), "message_type": "assistant_message", "content": said["text"], **common}
            out.append(part)
        wanted = [
            {
                "tool_call_id": self._id("call"),
                "name": tool,
                "arguments": given if isinstance(given, str) else json.dumps(given, ensure_ascii=False),
            }
            for tool, given in said.get("calls", ())
        ]
        why = said.get("why", "end_turn")
        if wanted:
            why = "requires_approval"
            agent.pending = tuple(each["tool_call_id"] for each in wanted)
            out.append(
                {
                    "id": self._id("message"),
                    "message_type": "approval_request_message",
                    "tool_call": wanted[0],
                    "tool_calls": wanted,
                    **common,
                }
            )
        agent.messages += out
        return {
            "messages": out,
            "stop_reason": {"message_type": "stop_reason", "stop_reason": why},
            "usage": {"prompt_tokens": 900, "completion_tokens": 40, "step_count": 1, "cached_input_tokens": 100},
        }
