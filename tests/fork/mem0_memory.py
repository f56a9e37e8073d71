"""mem0 as a memory of the fork test, with a model that reads without mistakes. Needs ``pip install mem0ai``.

The model is a fake that answers mem0's request for facts with exactly the sentences that tell events, as they stand in
the reply. The embedder counts words, in as many slots as a small model has dimensions. Nothing is sent anywhere.
"""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import Any

from tests.fork.language import filled, folded, language, names, passages
from tests.fork.memories import SHOWN, joined, terms
from tests.fork.runner import Message

os.environ["MEM0_TELEMETRY"] = "False"
os.environ["MEM0_DIR"] = str(Path(tempfile.gettempdir()) / "fork-mem0")

_SLOTS = 384
_STORY = {"user_id": "story"}


class Words:
    """Embeds a text by its words."""

    def embed(self, text: str, action: str | None = None) -> list[float]:
        """The normalised counts of the words, each in a slot chosen by its checksum."""
        found = [0.0] * _SLOTS
        for term in terms(text):
            found[zlib.crc32(term.encode()) % _SLOTS] += 1.0
        length = sqrt(sum(each * each for each in found)) or 1.0
        return [each / length for each in found]

    def embed_batch(self, texts: Sequence[str], action: str | None = None) -> list[list[float]]:
        """One vector for each text."""
        return [self.embed(text) for text in texts]


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

    def __init__(self, story: Mapping[str, Any]) -> None:
        from mem0 import Memory  # type: ignore[import-not-found, unused-ignore]

        self.spoken = language(story["language"])
        self.seen: set[str] = set()
        self.chat: Sequence[Message] = ()
        self.folder = tempfile.TemporaryDirectory(prefix="fork-mem0-")
        store = {"collection_name": "fork", "path": self.folder.name + "/store", "embedding_model_dims": _SLOTS}
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
        self.order: list[str] = []

    @property
    def calls(self) -> int:
        """How often mem0 asked its model."""
        return self.model.calls

    def add(self, messages: Sequence[Message]) -> None:
        """Tell the messages that are new, with the player's words before each reply."""
        self.chat = messages[1:]
        words = ""
        for message in self.chat:
            if message["role"] == "user":
                words = message["content"]
            elif message["id"] not in self.seen:
                self.seen.add(message["id"])
                self.model.facts = self._facts(message)
                told = [{"role": "user", "content": words}] if words else []
                told.append({"role": "assistant", "content": message["content"]})
                found = self.memory.add(told, **_STORY)["results"]
                self.order += (each["id"] for each in found)

    def _facts(self, message: Message) -> list[str]:
        """The sentences of a reply that tell its events."""
        spoken = self.spoken
        values = [form for kind, forms in spoken.words.items() if kind not in ("people", "things") for form in forms]
        subjects = [*spoken.words["people"], *spoken.words["things"]]
        over = {
            folded(filled(text, {"who": who}))
            for row in ("heal", "done")
            for text in spoken.templates["tell"][row]
            for who in spoken.words["people"]
        }
        found = []
        for sentence in passages(message["content"]):
            about = names(sentence, subjects, spoken.spaced)
            people = [each for each in spoken.words["people"] if names(sentence, [each], spoken.spaced)]
            thing = names(sentence, spoken.words["things"], spoken.spaced)
            if sentence in over or (about and (names(sentence, values, spoken.spaced) or (thing and people))):
                found.append(sentence)
        return found

    def context(self, question: str) -> str:
        """The memories that are found, oldest first, and the end of the chat."""
        found = self.memory.search(question, top_k=20, filters=_STORY)["results"]
        found.sort(key=lambda each: self.order.index(each["id"]))
        return "\n".join([*(each["memory"] for each in found), joined(self.chat[-SHOWN:])])

    def close(self) -> None:
        """Close the stores."""
        self.memory.close()
        self.folder.cleanup()
