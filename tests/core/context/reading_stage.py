"""A stage for reads: small and large worlds, and stores in memory that share no code with the real ones."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.oracles import passes
from saga_core.context.model import ReadRequest
from saga_core.context.scene import EntityNames, Scene
from saga_core.ids import entity_id
from saga_core.model.entities import Entity, Happening, Kind, Placement, Relation, Stack
from saga_core.model.tree import Tree, TurnKind
from saga_core.model.tree import TurnNode as TreeNode
from saga_core.model.world_state import WorldState
from saga_core.recall.episodes import PathEpisodes, spec_of
from saga_core.recall.lexical import LexicalIndex
from saga_core.recall.lorebook import LoreIndex
from saga_core.stores.filters import Filter
from saga_core.stores.graph import Direction, Edge
from saga_core.stores.vector import Hit, ScopeSpec, Vector
from saga_core.world.model import LoreEntry, World


class WordCounter:
    """A token for every four characters, and one for the rest."""

    id = "quarter"

    def count(self, text: str) -> int:
        return -(-len(text) // 4)


class EdgeGraph:
    """A graph of edges in a dict; ``neighbors`` never waits."""

    def __init__(self, edges: Sequence[Edge]) -> None:
        self.calls = 0
        self._edges = sorted(edges, key=lambda edge: (edge.source, edge.type, edge.target, edge.key))
        self._touching: dict[str, list[int]] = {}
        for rank, edge in enumerate(self._edges):
            for end in {edge.source, edge.target}:
                self._touching.setdefault(end, []).append(rank)

    async def neighbors(
        self,
        scope: str,
        ids: Sequence[str],
        *,
        types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int | None = None,
    ) -> list[Edge]:
        assert direction == "both"
        self.calls += 1
        found = sorted({rank for id_ in ids for rank in self._touching.get(id_, ())})
        edges = [self._edges[rank] for rank in found]
        return [edge for edge in edges if types is None or edge.type in types][:limit]


class CannedVectors:
    """Answers ``query`` with prepared hits by scope, filtered and cut as asked; the vector itself is not looked at."""

    def __init__(self, hits: Mapping[str, Sequence[Hit]]) -> None:
        self.hits = hits
        self.made_by: ScopeSpec | None = None
        """None: by ``OneVector``, as it is to be."""
        self.asked: list[str] = []

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        self.asked += scopes
        found = [hit for scope in scopes for hit in self.hits.get(scope, ())]
        return [hit for hit in found if where is None or passes(where, hit.metadata)][:k]

    async def describe(self, scope: str) -> ScopeSpec | None:
        return (self.made_by or spec_of(scope, OneVector())) if scope in self.hits else None


class OneVector:
    """An embedder that has one vector for everything, and remembers what it was asked."""

    id = "one"
    dimension = 4
    baseline = 0.1
    semantic = True

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str], mode: str) -> list[array[float]]:
        self.asked += texts
        return [array("f", (1.0, 0.0, 0.0, 0.0)) for _ in texts]

    async def aclose(self) -> None:
        pass


class Never:
    """An embedder, a vector store or a graph that does not answer. ``stubborn`` ones do not even end when cancelled."""

    id = "never"
    dimension = 4
    baseline = 0.0
    semantic = True

    def __init__(self, *, stubborn: bool = False) -> None:
        self.release = asyncio.Event()
        self.cancelled = 0
        self._stubborn = stubborn

    async def _wait(self) -> Any:
        while True:
            try:
                await self.release.wait()
                return []
            except asyncio.CancelledError:
                self.cancelled += 1
                if not self._stubborn:
                    raise

    async def embed(self, texts: Sequence[str], mode: str) -> Any:
        return await self._wait()

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> Any:
        return await self._wait()

    async def describe(self, scope: str) -> Any:
        return await self._wait()

    async def neighbors(self, scope: str, ids: Sequence[str], **_: Any) -> Any:
        return await self._wait()

    async def aclose(self) -> None:
        pass


class Broken:
    """A store that fails with an error of nobody's tree."""

    def __init__(self) -> None:
        self.calls = 0

    def _fail(self) -> Any:
        self.calls += 1
        raise RuntimeError("the disk is on fire")

    async def describe(self, scope: str) -> Any:
        self._fail()

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> Any:
        return self._fail()

    async def neighbors(self, scope: str, ids: Sequence[str], **_: Any) -> Any:
        return self._fail()


def location(name: str, **extra: Any) -> LoreEntry:
    return LoreEntry(name, "location", extra.pop("layer", "A2"), **extra)


KO_WORLD = World(
    "ersia",
    "에르시아",
    language="ko",
    lore=(
        location("어둠의 숲", layer="A1", tags=("숲",), text="에르시아 변방의 위험한 숲.", neighbours=("마을 광장",)),
        location("마을 광장", tags=("마을", "광장"), text="돌을 깐 둥근 광장.", neighbours=("어둠의 숲",)),
        LoreEntry("대붕괴", "event", "A1", places=("어둠의 숲",), text="300년 전 마법 재앙."),
        LoreEntry("은빛 성채", "faction", "A3", tags=("성",), text="북쪽의 성채."),
        LoreEntry("에르겐의 비밀", "concept", "A4", text="그는 문지기의 제자다.", known_by=("에르겐",), secret=True),
    ),
)


def id_of(kind: Kind, name: str) -> str:
    return entity_id(kind.value, name)


def who(name: str, aliases: tuple[str, ...] = (), **attributes: Any) -> Entity:
    return Entity(id_of(Kind.CHARACTER, name), Kind.CHARACTER, name, aliases, attributes)


def place(name: str) -> Entity:
    return Entity(id_of(Kind.LOCATION, name), Kind.LOCATION, name)


def item(name: str) -> Entity:
    return Entity(id_of(Kind.ITEM, name), Kind.ITEM, name)


def event(name: str, **attributes: Any) -> Entity:
    return Entity(id_of(Kind.EVENT, name), Kind.EVENT, name, (), attributes)


ARIA, KRUK, ERGEN, MARA = (id_of(Kind.CHARACTER, name) for name in ("아리아", "고블린왕 크룩", "에르겐", "마라"))
FOREST, SQUARE, RUINS = (id_of(Kind.LOCATION, name) for name in ("어둠의 숲", "마을 광장", "고대 유적"))
SWORD, POTION = (id_of(Kind.ITEM, name) for name in ("불꽃 검", "치유 물약"))
RAID = id_of(Kind.EVENT, "고블린 습격")


def ko_state(**changes: Any) -> WorldState:
    """아리아 in the forest with 에르겐, 마라 near, 크룩 in the ruins; turn 12."""
    entities = [
        who("아리아", is_player=True, hp=85, max_hp=100, mood="tense"),
        who("고블린왕 크룩", ("크룩",), hp=90, max_hp=90),
        who("에르겐", ("약초상",)),
        who("마라"),
        place("어둠의 숲"),
        place("마을 광장"),
        place("고대 유적"),
        item("불꽃 검"),
        item("치유 물약"),
        event("고블린 습격", event_type="combat"),
    ]
    values: dict[str, Any] = {
        "turn": "t12",
        "depth": 12,
        "player": ARIA,
        "entities": {entity.id: entity for entity in entities},
        "whereabouts": {
            ARIA: Placement(FOREST, 10),
            ERGEN: Placement(FOREST, 10),
            MARA: Placement(FOREST, 3),
            KRUK: Placement(RUINS, 5),
        },
        "belongings": {ARIA: {POTION: Stack(2), SWORD: Stack(1, True)}},
        "relations": {(KRUK, ARIA): Relation("hostile", -2, 5), (ERGEN, ARIA): Relation("trusts", 2, 4)},
        "links": frozenset({(FOREST, "ADJACENT", SQUARE), (RUINS, "ADJACENT", FOREST)}),
        "present": (ERGEN,),
        "happenings": (Happening(RAID, "고블린 습격", 7),),
    }
    return WorldState(**{**values, **changes})


def edges_of(state: WorldState) -> list[Edge]:
    """The state's edges, lore left out."""
    edges = [Edge(who_, "LOCATED_AT", where.place) for who_, where in state.whereabouts.items()]
    edges += [Edge(owner, "OWNS", thing) for owner, hands in state.belongings.items() for thing in hands]
    edges += [
        Edge(source, "RELATES_TO", target, properties={"rel_type": relation.type, "strength": relation.strength})
        for (source, target), relation in state.relations.items()
    ]
    return edges + [Edge(source, type_, target) for source, type_, target in state.links]


def path_tree(episodes: Sequence[str]) -> Tree:
    """A path of turns ``t0``, ``t1``, … with these episodes."""
    tree = Tree("s")
    for depth, text in enumerate(episodes):
        parent = f"t{depth - 1}" if depth else None
        jump = tree.jump_for(parent) if parent else None
        kind = TurnKind.NARRATION if depth else TurnKind.ROOT
        tree.add(TreeNode(f"t{depth}", parent, depth, float(depth), kind, jump=jump, episode=text))
    return tree


def path_episodes(episodes: Sequence[str]) -> PathEpisodes:
    tree = path_tree(episodes)
    index = LexicalIndex()
    for node in tree.nodes.values():
        if node.episode:
            index.add(node.id, node.episode)
    return PathEpisodes(tree, index, f"t{len(episodes) - 1}")


def ask(words: str = "주위를 둘러본다.", **changes: Any) -> ReadRequest:
    """A request in the Korean world."""
    state = changes.pop("state", None) or ko_state()
    values: dict[str, Any] = {
        "session": "s",
        "state": state,
        "world": KO_WORLD,
        "lore": LoreIndex(KO_WORLD.lore),
        "player_words": words,
        "language": "ko",
        "graph": EdgeGraph(edges_of(state)),
        "graph_scope": "s.0",
    }
    return ReadRequest(**{**values, **changes})


def scene_of(request: ReadRequest, **options: Any) -> Scene:
    names = EntityNames().of(request.session, request.state)
    return Scene(request, names, **{"count": WordCounter().count, **options})
