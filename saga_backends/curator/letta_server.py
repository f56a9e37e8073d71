"""Calls a Letta server through its official client. The server has one agent with memory blocks per session."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from attrs import define, field, frozen

from saga_backends.http_client import bounded, is_local
from saga_core.curation import BLOCK_CHARS
from saga_core.errors import UpstreamError
from saga_core.model_calls import ModelCallFailed
from saga_core.ports import MOST_TOKENS, Usage, UsagePart

TAG = "saga-curator"
_SESSION_TAG = "saga-session:{}"
_CONNECT = 10.0
_SHOWN = 200
_PAGES = 20
_AGENTS = 50
_FINE = frozenset({"end_turn", "no_tool_call", "tool_rule", "max_steps", "invalid_tool_call", "requires_approval"})
"""Stop reasons with which a reply may be complete."""


@frozen
class AgentReply:
    """The reply of an agent, with its text and the calls of our tools whose results it waits for."""

    text: str
    calls: tuple[tuple[str, str, str], ...] = ()
    """Triples of id, tool and arguments as JSON."""
    bill: UsagePart | None = None


async def connect(base_url: str, api_key: str | None, model: str, embedding: str | None, timeout: float) -> LettaServer:
    """Create a client for the server at ``base_url``, without contacting it. Raises ``ImportError``."""
    sdk = await asyncio.to_thread(importlib.import_module, "letta_client")  # takes a second
    settings: dict[str, Any] = {
        "base_url": base_url,
        "api_key": api_key or "",  # with None, the client would send the key from the environment to any address
        "timeout": sdk.Timeout(timeout, connect=min(_CONNECT, timeout)),
        "max_retries": 0,
        "http_client": bounded(sdk.DefaultAsyncHttpxClient)(base_url=base_url, trust_env=not is_local(base_url)),
    }
    if api_key is None:
        settings["default_headers"] = {"Authorization": sdk.omit}
    return LettaServer(sdk, sdk.AsyncLetta(**settings), base_url, api_key or "", model, embedding, timeout)


@define(eq=False)
class LettaServer:
    """The calls to the server. Each raises ``UpstreamError`` for a refusal and ``ModelCallFailed`` for a bad reply."""

    sdk: ModuleType
    client: Any = field(repr=False)
    url: str
    _secret: str = field(repr=False)
    model: str
    embedding: str | None
    timeout: float
    """The maximum duration of one call, in seconds."""

    async def version(self, timeout: float) -> str:
        """Return the version of the server, which also shows that it is reachable."""
        health = await self._asked(self.client.health, timeout=timeout)
        return self._text(health, "version")

    async def prepare(self, session: str, system: str, blocks: Mapping[str, str]) -> str:
        """Prepare the agent of the session with these memory blocks and no messages, and return its id.

        The agent is found by its tags, and created if there is none. The previous contents of its blocks are replaced.
        """
        found = await self._agents(session)
        if not found:
            return await self._create(session, system, blocks)
        agent = self._text(found[0], "id")
        if getattr(found[0], "system", None) != system or getattr(found[0], "model", None) != self.model:
            await self._asked(self.client.agents.update, agent, system=system, model=self.model)
        await self._asked(self.client.agents.messages.reset, agent, add_default_initial_messages=False)
        await self.write(session, agent, blocks)
        return agent

    async def write(self, session: str, agent: str, blocks: Mapping[str, str]) -> None:
        """Write these texts to an agent's blocks. Missing blocks are created, and unwanted ones are removed."""
        known = {self._text(each, "label"): each for each in await self._blocks(agent)}
        for label, text in blocks.items():
            if label not in known:
                made = await self._asked(self.client.blocks.create, **self._block(session, label, text))
                await self._asked(self.client.agents.blocks.attach, self._text(made, "id"), agent_id=agent)
            elif (_value(known[label]), getattr(known[label], "limit", None)) != (text, BLOCK_CHARS):
                await self._asked(
                    self.client.agents.blocks.update, label, agent_id=agent, value=text, limit=BLOCK_CHARS
                )
        for label in known.keys() - blocks.keys():
            await self._asked(self.client.blocks.delete, self._text(known[label], "id"))

    async def read(self, agent: str) -> dict[str, str]:
        """Return the current texts of an agent's blocks."""
        return {self._text(each, "label"): _value(each) for each in await self._blocks(agent)}

    async def say(self, agent: str, text: str, tools: Sequence[Mapping[str, Any]], steps: int) -> AgentReply:
        """Send a user message to an agent and return its reply."""
        return await self._told(agent, {"role": "user", "content": text}, tools, steps)

    async def answer(
        self, agent: str, returns: Mapping[str, tuple[bool, str]], tools: Sequence[Mapping[str, Any]], steps: int
    ) -> AgentReply:
        """Send the results of pending tool calls. ``returns`` maps call ids to whether a call succeeded, and a text."""
        said = [
            {"type": "tool", "tool_call_id": call, "status": "success" if fine else "error", "tool_return": words}
            for call, (fine, words) in returns.items()
        ]
        return await self._told(agent, {"type": "tool_return", "tool_returns": said}, tools, steps)

    async def remove(self, session: str) -> None:
        """Remove every agent of a session. Blocks are removed first, so that a retry after a failure finds the rest."""
        for _ in range(_PAGES):
            found = await self._agents(session)
            for agent in found:
                id_ = self._text(agent, "id")
                for block in await self._blocks(id_):
                    await self._gone(self.client.blocks.delete, self._text(block, "id"))
                await self._gone(self.client.agents.delete, id_)
            if not found:
                return
        raise ModelCallFailed(f"the Letta server at {self.url} still lists agents of session {session} after deleting")

    async def aclose(self) -> None:
        """Close the connections."""
        await self.client.close()

    # -- calls ---------------------------------------------------------------------------------------------------

    async def _create(self, session: str, system: str, blocks: Mapping[str, str]) -> str:
        wanted: dict[str, Any] = {
            "name": f"{TAG}-{session}",
            "description": "Reviews a story for SAGA. SAGA writes its memory before each review, and deletes it.",
            "agent_type": "letta_v1_agent",
            "tags": [TAG, _SESSION_TAG.format(session)],
            "system": system,
            "model": self.model,
            "memory_blocks": [self._block(session, label, text) for label, text in blocks.items()],
            "include_base_tools": False,
        }
        if self.embedding is not None:
            wanted["embedding"] = self.embedding
        return self._text(await self._asked(self.client.agents.create, **wanted), "id")

    @staticmethod
    def _block(session: str, label: str, text: str) -> dict[str, Any]:
        tags = [TAG, _SESSION_TAG.format(session)]
        return {"label": label, "value": text, "limit": BLOCK_CHARS, "tags": tags}

    async def _agents(self, session: str) -> list[Any]:
        tags = [TAG, _SESSION_TAG.format(session)]
        page = await self._asked(
            self.client.agents.list, tags=tags, match_all_tags=True, order="asc", limit=_AGENTS, include=["agent.tags"]
        )
        # Filtered here again, so that no other agents are removed if the server ignores the filter.
        return [each for each in self._items(page) if set(tags) <= set(getattr(each, "tags", None) or ())]

    async def _blocks(self, agent: str) -> list[Any]:
        return self._items(await self._asked(self.client.agents.blocks.list, agent))

    async def _told(
        self, agent: str, message: Mapping[str, Any], tools: Sequence[Mapping[str, Any]], steps: int
    ) -> AgentReply:
        said = await self._asked(
            self.client.agents.messages.create,
            agent,
            messages=[message],
            client_tools=[each["function"] for each in tools],
            max_steps=steps,
            streaming=False,
        )
        messages, stop = getattr(said, "messages", None), getattr(said, "stop_reason", None)
        why = getattr(stop, "stop_reason", None)
        if not isinstance(messages, list) or not isinstance(why, str):
            raise self._nonsense(said)
        if why not in _FINE:
            raise ModelCallFailed(f"the Letta agent stopped: {why}")
        return self._reply(messages, why, getattr(said, "usage", None))

    def _reply(self, messages: Sequence[Any], why: str, usage: Any) -> AgentReply:
        text: list[str] = []
        calls: list[tuple[str, str, str]] = []
        for each in messages:
            kind = getattr(each, "message_type", None)
            if kind == "assistant_message":
                text.append(_content(getattr(each, "content", "")))
            elif kind == "approval_request_message" and why == "requires_approval":
                several = getattr(each, "tool_calls", None)
                for call in several if isinstance(several, list) else [getattr(each, "tool_call", None)]:
                    named = [getattr(call, name, None) for name in ("tool_call_id", "name", "arguments")]
                    if not all(isinstance(part, str) for part in named):
                        raise ModelCallFailed(f"the Letta server at {self.url} names a tool call without id and name")
                    calls.append((str(named[0]), str(named[1]), str(named[2])))
        return AgentReply("\n".join(text), tuple(dict.fromkeys(calls)), self._bill(usage))

    def _bill(self, usage: Any) -> UsagePart | None:
        """Return the usage as the server reports it. The input includes cached tokens."""

        def tokens(name: str) -> int:
            value = getattr(usage, name, None)
            return value if isinstance(value, int) and 0 < value < MOST_TOKENS else 0

        whole, read, written = (tokens(f"{name}_tokens") for name in ("prompt", "cached_input", "cache_write"))
        if not whole:
            return None
        return UsagePart(Usage(whole, tokens("completion_tokens"), read, written), self.model)

    async def _gone(self, call: Callable[..., Awaitable[Any]], id_: str) -> None:
        try:
            await self._asked(call, id_)
        except UpstreamError as error:
            if error.status != 404:
                raise

    async def _asked(self, call: Callable[..., Awaitable[Any]], *given: Any, **named: Any) -> Any:
        seconds = named.get("timeout", self.timeout)
        try:
            async with asyncio.timeout(seconds):
                return await call(*given, **named)
        except (TimeoutError, self.sdk.APITimeoutError):
            raise ModelCallFailed(f"the Letta server at {self.url} gave no answer within {seconds:g} s") from None
        except self.sdk.APIStatusError as error:
            about = error.body if isinstance(error.body, str) else json.dumps(error.body, ensure_ascii=False)
            said = self._shown("" if about.lstrip().startswith("<") else about)
            words = f"the Letta server at {self.url} answered {error.status_code}{f' ({said})' if said else ''}"
            if error.status_code in (401, 403):
                words += "; check curator.options.api_key"
            raise UpstreamError(words, status=int(error.status_code)) from None
        except self.sdk.APIConnectionError as error:
            why = self._shown(str(error.__cause__ or error))
            raise UpstreamError(f"cannot reach the Letta server at {self.url} ({why}); is it running?") from None
        except (self.sdk.LettaError, ValueError, TypeError, AttributeError) as error:
            # The client builds its types from unchecked data of the server.
            what = self._shown(f"{type(error).__name__}: {error}")
            raise ModelCallFailed(f"the Letta server at {self.url} answered nonsense ({what})") from None

    def _items(self, page: Any) -> list[Any]:
        items = getattr(page, "items", None)
        if not isinstance(items, list):
            raise self._nonsense(page)
        return items

    def _text(self, answer: Any, name: str) -> str:
        value = getattr(answer, name, None)
        if not isinstance(value, str) or not value:
            raise self._nonsense(answer)
        return value

    def _nonsense(self, answer: Any) -> ModelCallFailed:
        return ModelCallFailed(f"the Letta server at {self.url} answered nonsense ({self._shown(str(answer))})")

    def _shown(self, text: str) -> str:
        """Return ``text`` on one line, shortened and without the key."""
        line = " ".join(text.split())
        return (line.replace(self._secret, "(key)") if self._secret else line)[:_SHOWN]


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(text for each in parts if isinstance(text := getattr(each, "text", None), str))


def _value(block: Any) -> str:
    value = getattr(block, "value", None)
    return value if isinstance(value, str) else ""
