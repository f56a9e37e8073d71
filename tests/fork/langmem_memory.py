"""LangMem as a memory of the fork test, with a model that reads without mistakes. Needs ``pip install langmem``.

The memories are in LangGraph's store, in memory. Nothing is sent anywhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.store.memory import InMemoryStore
from langmem import create_memory_store_manager

from tests.fork.language import Language
from tests.fork.memories import SHOWN, joined
from tests.fork.runner import Message
from tests.fork.truthful import FOUND, SLOTS, Fact, Told, facts, vector

_SHOWN = re.compile(r'<instance id=(\w+) schema_type="Memory">\n(.*?)\n</instance>')


class Truthful(BaseChatModel):
    """Calls LangMem's tools: searches for each fact of the reply, then inserts it, or updates what it replaces."""

    spoken: Language
    facts: Sequence[Fact] = ()
    calls: int = 0

    @property
    def _llm_type(self) -> str:
        return "truthful"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        """The model with the names of the tools."""
        return self.bind(tools=[_name(tool) for tool in tools])

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **given: Any) -> ChatResult:
        self.calls += 1
        if "search_memory" in given["tools"]:
            found = [("search_memory", {"query": fact.text}) for fact in self.facts]
        else:
            found = list(self._changes(_SHOWN.findall(messages[0].content)))
        calls = [{"name": name, "args": args, "id": str(at)} for at, (name, args) in enumerate(found)]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content="", tool_calls=calls))])

    def _changes(self, shown: Sequence[tuple[str, str]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The tool calls that make the memories true, of which those are ``shown`` that were searched for."""
        known = {id_: ast.literal_eval(content)["content"] for id_, content in shown}
        for fact in self.facts:
            replaced = [id_ for id_, text in known.items() if any(map(fact.replaces, facts(text, self.spoken)))]
            for id_ in replaced:
                patch = {"op": "replace", "path": "/content", "value": fact.text}
                yield "PatchDoc", {"json_doc_id": id_, "planned_edits": "", "patches": [patch]}
            if not replaced and fact.text not in known.values():
                yield "Memory", {"content": fact.text}


def _name(tool: Any) -> str:
    if isinstance(tool, dict):
        return str(tool["function"]["name"])
    return str(getattr(tool, "name", None) or tool.__name__)


class LangMem:
    """LangMem, told each new turn once. What it finds comes in the order in which it was written."""

    def __init__(self, story: Mapping[str, Any]) -> None:
        self.told = Told(story)
        self.model = Truthful(spoken=self.told.spoken)
        index = {"dims": SLOTS, "embed": lambda texts: list(map(vector, texts)), "fields": ["content.content"]}
        self.manager = create_memory_store_manager(
            self.model,
            query_model=self.model,
            query_limit=FOUND,
            namespace=("story",),
            store=InMemoryStore(index=index),
        )

    @property
    def calls(self) -> int:
        """How often LangMem asked its model."""
        return self.model.calls

    def add(self, messages: Sequence[Message]) -> None:
        """Tell the turns that are new."""
        for words, reply in self.told.new(messages):
            self.model.facts = facts(reply["content"], self.told.spoken)
            said = [{"role": "user", "content": words}] if words else []
            self.manager.invoke({"messages": [*said, {"role": "assistant", "content": reply["content"]}]})

    def context(self, question: str) -> str:
        """The memories that are found, and the end of the chat."""
        found = sorted(self.manager.search(query=question, limit=FOUND), key=lambda each: each.updated_at)
        return "\n".join([*(each.value.content for each in found), joined(self.told.chat[-SHOWN:])])
