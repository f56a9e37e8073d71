"""Dialogues and plays of the recall benchmark, stored as a session has them.

The product's own context reader reads them, and does not know the questions in advance.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time

from attrs import define, field, frozen

from saga_backends.memory import MemoryVector
from saga_backends.resident.vectors import ResidentVectors
from saga_core.context import ReadRequest
from saga_core.ids import entity_id
from saga_core.model import Entity, Kind, Tree, TurnKind, TurnNode, WorldState
from saga_core.ports import Embedder
from saga_core.projection import spoken_day
from saga_core.projection.episodes import _cut
from saga_core.recall import LexicalIndex, LoreIndex, PathEpisodes, episodes_scope, lore_scope, passage_of, spec_of
from saga_core.stores import VectorItem
from saga_core.world import World
from tests.bench.recall.dialogue_set import Dialogue

_MEMORY = 512 * 2**20
_NOON = time(12)
_LONGEST = 1_600
"""Characters of an utterance that are kept."""


@frozen
class Evidence:
    """What a context must contain: the line of a turn, words, or a turn's line with the words in it."""

    turn: str = ""
    words: str = ""


@frozen
class Case:
    """One question, and what its context must contain."""

    request: ReadRequest
    evidence: tuple[Evidence, ...]
    group: str
    answer: str = ""
    """The part of the evidence that answers the question; "" if it is not known."""


@define
class Stage:
    """A session: its turns in the order of play, in a tree, an index and a vector store."""

    id: str
    cases: list[Case] = field(factory=list)
    chat: list[tuple[str, str]] = field(factory=list)
    """The player's words and the reply of each turn, where the stage is a play."""
    tree: Tree = field(init=False)
    index: LexicalIndex = field(factory=lambda: LexicalIndex())
    vectors: ResidentVectors = field(factory=lambda: ResidentVectors(MemoryVector(), limit_bytes=_MEMORY))

    def __attrs_post_init__(self) -> None:
        self.tree = Tree(self.id, "root")
        self.tree.add(TurnNode("root", None, 0, 0.0, TurnKind.ROOT))

    def add(
        self, turn: str, parent: str, episode: str, at: float | None = None, said: tuple[str, str] | None = None
    ) -> None:
        """Record a turn that was played at ``at``, in seconds since the epoch; if None, its depth stands for the time.

        ``said`` has the player's words and the reply.
        """
        if said is not None:
            self.chat.append(said)
        depth = self.tree.get(parent).depth + 1
        node = TurnNode(
            turn,
            parent,
            depth,
            float(depth) if at is None else at,
            TurnKind.NARRATION,
            jump=self.tree.jump_for(parent),
            episode=episode,
        )
        self.tree.add(node)
        self.index.add(turn, episode)

    async def embed(self, embedder: Embedder, world: World) -> None:
        """Put the episodes of all turns, and the world's lore, into the vector store."""
        episodes = [node for node in self.tree.nodes.values() if node.episode]
        vectors = await embedder.embed([passage_of(node.episode) for node in episodes], "passage")
        items = [
            VectorItem(node.id, vector, "", {"depth": node.depth})
            for node, vector in zip(episodes, vectors, strict=True)
        ]
        await self._fill(episodes_scope(self.id), embedder, items)
        entries = list(world.lore)
        vectors = await embedder.embed([f"{entry.name}\n{entry.text}" for entry in entries], "passage")
        lore = [VectorItem(entry.name, vector, "", {}) for entry, vector in zip(entries, vectors, strict=True)]
        await self._fill(lore_scope(world.digest), embedder, lore)

    async def _fill(self, scope: str, embedder: Embedder, items: Sequence[VectorItem]) -> None:
        await self.vectors.create(scope, spec_of(scope, embedder))
        for start in range(0, len(items), 500):
            await self.vectors.upsert(scope, items[start : start + 500])


async def stage_dialogue(dialogue: Dialogue, embedder: Embedder) -> Stage:
    """A dialogue as a session of its own. Each turn is an episode with its speaker and day.

    The speakers are the characters. No turn counts as shown by the history, because a question is asked long after it.
    """
    stage = Stage(dialogue.id)
    parent, at = "root", 0.0
    for said in dialogue.turns:
        when = ""
        if said.day is not None:
            when = spoken_day(said.day, dialogue.language)
            at = max(at, datetime.combine(said.day, _NOON, UTC).timestamp())
        # The ids of a file may be any text. They need to differ within their session only.
        stage.add(said.id, parent, f"{when}\n{said.speaker}: {_cut(said.text, _LONGEST)}", at)
        parent = said.id
    speakers = {said.speaker: entity_id("character", said.speaker) for said in dialogue.turns}
    world = World("dialogue", "dialogue", language=dialogue.language)
    state = WorldState(
        world=world.digest,
        turn=parent,
        depth=len(dialogue.turns),
        entities={id_: Entity(id_, Kind.CHARACTER, name) for name, id_ in speakers.items()},
    )
    await stage.embed(embedder, world)
    episodes, lore = PathEpisodes(stage.tree, stage.index, parent), LoreIndex(())
    for question in dialogue.questions:
        request = ReadRequest(
            session=stage.id,
            state=state,
            world=world,
            lore=lore,
            player_words=question.text,
            language=dialogue.language,
            episodes=episodes,
            now=at,
        )
        stage.cases.append(Case(request, tuple(Evidence(turn) for turn in question.evidence), question.group))
    return stage
