"""Letta as a memory of the fork test, with a model that reads without mistakes. Needs ``letta-client`` and a server.

The server is at ``LETTA_BASE_URL``, and takes its model from the port after its own, where this file serves one.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from letta_client import Letta as Client

from tests.fork.memories import SHOWN, joined
from tests.fork.runner import Message
from tests.fork.truthful import SLOTS, Fact, Told, facts

_URL = os.environ.get("LETTA_BASE_URL", "http://127.0.0.1:8283")
_PORT = int(_URL.rpartition(":")[2]) + 1
_MODEL = {"model": "truthful", "context_window": 128_000, "parallel_tool_calls": True}
_MODEL |= {"model_endpoint_type": "openai", "model_endpoint": f"http://127.0.0.1:{_PORT}/v1"}
_EMBEDDER = {"embedding_model": "unused", "embedding_dim": SLOTS, "embedding_endpoint_type": "openai"}
_BLOCK = {"label": "story", "description": "What is true in the story now, a line each.", "limit": 100_000, "value": ""}
_SHOWN = re.compile(r"<story>.*?<value>\n(.*?)\n</value>", re.S)


class Letta:
    """A Letta agent that keeps a memory block, told each new turn once, without the turns before."""

    def __init__(self, story: Mapping[str, Any]) -> None:
        self.told = Told(story)
        self.facts: Sequence[Fact] = ()
        self.calls = 0
        self.model = HTTPServer(("127.0.0.1", _PORT), _handler(self))
        threading.Thread(target=self.model.serve_forever, daemon=True).start()
        self.client = Client(base_url=_URL)
        made: dict[str, Any] = {"agent_type": "letta_v1_agent", "llm_config": _MODEL, "embedding_config": _EMBEDDER}
        made |= {"memory_blocks": [_BLOCK], "tools": ["memory_rethink"], "message_buffer_autoclear": True}
        self.agent = self.client.agents.create(**made, include_base_tools=False).id

    def add(self, messages: Sequence[Message]) -> None:
        """Tell the turns that are new."""
        for words, reply in self.told.new(messages):
            self.facts = facts(reply["content"], self.told.spoken)
            said = f"Player: {words}\n" if words else ""
            told = [{"role": "user", "content": f"{said}Narrator: {reply['content']}"}]
            answer = self.client.agents.messages.create(self.agent, messages=told, max_steps=1)
            failed = [each for each in answer.messages if getattr(each, "status", "success") != "success"]
            if failed:
                raise RuntimeError(f"Letta refused a tool call: {failed[0]}")

    def answer(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the model says: it writes the block anew."""
        self.calls += 1
        shown = _SHOWN.search(asked["messages"][0]["content"])
        if shown is None:
            raise ValueError("the request shows no block")
        old = [line for line in shown[1].split("\n") if line]
        new = self._true(old)
        call = {"name": "memory_rethink", "arguments": json.dumps({"label": "story", "new_memory": "\n".join(new)})}
        calls = [{"id": "1", "type": "function", "function": call}] if new != old else None
        said = {"role": "assistant", "content": "", "tool_calls": calls}
        choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": said}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "truthful"}
        return {**answer, "choices": [choice], "usage": usage}

    def _true(self, lines: Sequence[str]) -> Sequence[str]:
        """The lines of the block without those that a fact of the reply replaces, and then the facts."""
        for fact in self.facts:
            lines = [each for each in lines if not any(map(fact.replaces, facts(each, self.told.spoken)))]
            lines = [*(each for each in lines if each != fact.text), fact.text]
        return lines

    def context(self, question: str) -> str:
        """The block, and the end of the chat."""
        block = self.client.agents.blocks.retrieve("story", agent_id=self.agent)
        return "\n".join([block.value, joined(self.told.chat[-SHOWN:])])

    def close(self) -> None:
        """Delete the agent, and stop its model."""
        self.client.agents.delete(self.agent)
        self.model.shutdown()
        self.model.server_close()


def _handler(memory: Letta) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            body = json.dumps(memory.answer(asked)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
