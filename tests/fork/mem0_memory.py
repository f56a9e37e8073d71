"""mem0 as a memory of the fork test, with a model that reads without mistakes. Needs ``pip install mem0ai``.

The model is a fake that answers mem0's request for facts with exactly the sentences that tell events, as they stand in
the reply. Nothing is sent anywhere.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ["MEM0_TELEMETRY"] = "False"
os.environ["MEM0_DIR"] = str(Path(tempfile.gettempdir()) / "fork-mem0")

from mem0 import Memory

from tests.fork.memories import SHOWN, joined
from tests.fork.runner import Message
from tests.fork.truthful import FOUND, SLOTS, Told, facts, vector

_STORY = {"user_id": "story"}


class Words:
    """Embeds a text by its words."""

    def embed(self, text: str, action: str | None = None) -> list[float]:
        """One vector."""
        return vector(text)

    def embed_batch(self, texts: Sequence[str], action: str | None = None) -> list[list[float]]:
        """One vector for each text."""
        return list(map(vector, texts))


class Truthful:
    """Answers with the facts that were put into it."""

    facts: Sequence[str] = ()
    calls = 0

    def generate_response(self, messages: Sequence[Message], **_: Any) -> str:
        """The facts, in the form that mem0 asks for."""
        self.calls += 1
        return json.dumps({"memory": [{"id": str(at), "text": text} for at, text in enumerate(self.facts)]})


class Mem0:
    """mem0, told each new turn once. What it finds comes in the order in which it was told."""

    removes = False
    """Whether the memories of replies that the chat no longer has are deleted."""

    def __init__(self, story: Mapping[str, Any]) -> None:
        self.told = Told(story)
        self.folder = tempfile.TemporaryDirectory(prefix="fork-mem0-")
        store = {"collection_name": "fork", "path": self.folder.name + "/store", "embedding_model_dims": SLOTS}
        unused = {"provider": "openai", "config": {"api_key": "unused"}}
        self.memory = Memory.from_config(
            {
                "llm": unused,
                "embedder": unused,
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": self.folder.name + "/history.db",
            }
        )
        self.memory.llm, self.memory.embedding_model = self.model, _ = Truthful(), Words()
        self.memories: dict[str, list[str]] = {}

    @property
    def calls(self) -> int:
        """How often mem0 asked its model."""
        return self.model.calls

    def add(self, messages: Sequence[Message]) -> None:
        """Tell the turns that are new."""
        for gone in sorted(self.told.gone(messages)) if self.removes else ():
            for id_ in self.memories.pop(gone):
                self.memory.delete(id_)
        for words, reply in self.told.new(messages):
            self.model.facts = [fact.text for fact in facts(reply["content"], self.told.spoken)]
            said = [{"role": "user", "content": words}] if words else []
            found = self.memory.add([*said, {"role": "assistant", "content": reply["content"]}], **_STORY)["results"]
            self.memories[reply["id"]] = [each["id"] for each in found]

    def context(self, question: str) -> str:
        """The memories that are found, oldest first, and the end of the chat."""
        found = self.memory.search(question, top_k=FOUND, filters=_STORY)["results"]
        order = [id_ for ids in self.memories.values() for id_ in ids]
        found.sort(key=lambda each: order.index(each["id"]))
        return "\n".join([*(each["memory"] for each in found), joined(self.told.chat[-SHOWN:])])

    def close(self) -> None:
        """Close the stores."""
        self.memory.close()
        self.folder.cleanup()


class Removing(Mem0):
    """The same with a frontend that deletes what is taken back."""

    removes = True
