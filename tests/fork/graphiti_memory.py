"""Graphiti as a memory of the fork test, with a model that reads without mistakes. Needs ``graphiti-core[kuzu]``.

The graph is in Kuzu, in memory. Nothing is sent anywhere.
"""

from __future__ import annotations

import ast
import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"

from graphiti_core import Graphiti as Graph
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.kuzu_driver import KuzuDriver
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.llm_client import LLMClient
from graphiti_core.nodes import EpisodeType
from graphiti_core.search.search_config_recipes import EDGE_HYBRID_SEARCH_RRF

from tests.fork.language import Language
from tests.fork.memories import SHOWN, joined
from tests.fork.runner import Message
from tests.fork.truthful import FOUND, Fact, Told, facts, vector

# Texts with few words in common are less alike by their words than by a model: with 0.6, Graphiti finds half as much.
EDGE_HYBRID_SEARCH_RRF.edge_config.sim_min_score = 0.0


class Words(EmbedderClient):
    """Embeds a text by its words."""

    async def create(self, input_data: Any) -> list[float]:
        """One vector, of the first text."""
        return vector(input_data if isinstance(input_data, str) else input_data[0])

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        """One vector for each text."""
        return [vector(each) for each in input_data_list]


class Unused(CrossEncoderClient):
    """The plain search ranks without a model."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        """Refuse."""
        raise NotImplementedError


class Truthful(LLMClient):
    """Answers each of Graphiti's requests from the facts of the reply, and from the facts that the request shows."""

    def __init__(self, spoken: Language) -> None:
        super().__init__(None)
        self.spoken = spoken
        self.facts: Sequence[Fact] = ()
        self.now = ""
        self.calls = 0

    async def _generate_response(self, messages: Any, response_model: Any = None, *_: Any, **__: Any) -> dict[str, Any]:
        self.calls += 1
        asked = messages[-1].content
        match response_model.__name__:
            case "ExtractedEntities":
                named = dict.fromkeys(name for fact in self.facts for name in (*fact.subjects, fact.value))
                return {"extracted_entities": [{"name": name, "entity_type_id": 0} for name in named]}
            case "NodeResolutions":
                return {"entity_resolutions": list(_resolved(asked))}
            case "ExtractedEdges":
                return {"edges": [edge for fact in self.facts for edge in self._edges(fact)]}
            case "EdgeDuplicate":
                return {"duplicate_facts": [], "contradicted_facts": self._contradicted(asked)}
            case "SummarizedEntities":
                return {"summaries": []}  # they tell who an entity is, and are not among the facts that are found
        raise NotImplementedError(response_model.__name__)

    def _edges(self, fact: Fact) -> list[dict[str, Any]]:
        kept = {"relation_type": fact.kind.upper(), "fact": fact.text, "valid_at": self.now}
        return [{"source_entity_name": who, "target_entity_name": fact.value, **kept} for who in fact.subjects]

    def _contradicted(self, asked: str) -> list[int]:
        """Which of the facts that are shown the new one replaces."""
        [new] = facts(_shown(asked, "NEW FACT"), self.spoken)
        shown = [
            each
            for name in ("EXISTING FACTS", "FACT INVALIDATION CANDIDATES")
            for each in ast.literal_eval(_shown(asked, name))
        ]
        return [each["idx"] for each in shown if any(new.replaces(other) for other in facts(each["fact"], self.spoken))]


def _resolved(asked: str) -> Any:
    """No entity is another one of another name."""
    for each in ast.literal_eval(_shown(asked, "ENTITIES")):
        yield {"id": each["id"], "name": each["name"], "duplicate_candidate_id": -1}


def _shown(asked: str, name: str) -> str:
    found = re.search(rf"<{name}>\n(.*?)\n</{name}>", asked, re.S)
    if found is None:
        raise ValueError(f"the request has no {name}: {asked[:500]}")
    return found[1]


class Graphiti:
    """Graphiti, told each new turn once as an episode, a minute after the one before."""

    removes = False
    """Whether the episodes of replies that the chat no longer has are removed."""

    def __init__(self, story: Mapping[str, Any]) -> None:
        self.told = Told(story)
        self.player = story["player"]
        self.model = Truthful(self.told.spoken)
        self.loop = asyncio.Runner()
        self.loop.run(self._open())
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.episodes: dict[str, str] = {}

    async def _open(self) -> None:
        driver = KuzuDriver()
        self.graph = Graph(graph_driver=driver, llm_client=self.model, embedder=Words(), cross_encoder=Unused())
        await driver.graph_ops.build_indices_and_constraints(driver)

    @property
    def calls(self) -> int:
        """How often Graphiti asked its model."""
        return self.model.calls

    def add(self, messages: Sequence[Message]) -> None:
        """Tell the turns that are new."""
        for id_ in sorted(self.told.gone(messages)) if self.removes else ():
            self.loop.run(self.graph.remove_episode(self.episodes.pop(id_)))
        for words, reply in self.told.new(messages):
            self.now += timedelta(minutes=1)
            self.model.facts, self.model.now = facts(reply["content"], self.told.spoken), self.now.isoformat()
            said = [f"{self.player}: {words}"] if words else []
            body = "\n".join([*said, f"Narrator: {reply['content']}"])
            added = self.loop.run(self.graph.add_episode("turn", body, "role-play", self.now, EpisodeType.message))
            self.episodes[reply["id"]] = added.episode.uuid

    def context(self, question: str) -> str:
        """The facts that are found, in the order in which they were told last, and the end of the chat."""
        found = self.loop.run(self.graph.search(question, num_results=FOUND))
        order = list(self.episodes.values())
        found.sort(key=lambda edge: max(map(order.index, edge.episodes)))
        return "\n".join([*dict.fromkeys(edge.fact for edge in found), joined(self.told.chat[-SHOWN:])])

    def close(self) -> None:
        """Close the graph."""
        self.loop.run(self.graph.close())
        self.loop.close()


class Removing(Graphiti):
    """The same with a frontend that removes what is taken back."""

    removes = True
