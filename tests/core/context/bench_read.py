"""CPU of a whole read, by hand: ``python -m tests.core.context.bench_read [turns …]``.

500 lore entries, 200 entities, Korean text, two messages of 700 characters; the stores are the stage's own, so that
what is measured is the core.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time

from attrs import evolve

from saga_core.config.model import Config
from saga_core.context import ReadRequest, default_reader
from saga_core.model.entities import Entity, Happening, Kind, Placement, Relation, Stack
from saga_core.model.world_state import WorldState
from saga_core.recall.lorebook import LoreIndex
from saga_core.stores.graph import Edge
from saga_core.stores.vector import Hit
from saga_core.world.model import LAYERS, LoreEntry, World
from tests.core.context.reading_stage import CannedVectors, EdgeGraph, OneVector, WordCounter, edges_of, path_episodes

READS = 60
_PARTICLES = ("", "은", "는", "이", "가", "을", "를", "에서", "에게", "의", "으로", "")


def build(turns: int, seed: int = 7) -> tuple[list[ReadRequest], CannedVectors]:
    """A world, and ``READS`` requests at the end of so many turns."""
    rng = random.Random(seed)
    syllables = [chr(0xAC00 + rng.randrange(11_172)) for _ in range(300)]
    words = ["".join(rng.choice(syllables) for _ in range(rng.choice((2, 2, 2, 3, 3, 4)))) for _ in range(5_000)]
    weights = [1 / (rank + 3) for rank in range(len(words))]

    def prose(count: int) -> str:
        return " ".join(
            word + rng.choice(_PARTICLES) + ("." if rng.random() < 0.1 else "")
            for word in rng.choices(words, weights, k=count)
        )

    names = list(dict.fromkeys(rng.choice(words) + " " + rng.choice(words) for _ in range(900)))
    lore = tuple(
        LoreEntry(
            name,
            "location" if at < 60 else "concept",
            rng.choice(LAYERS),
            tags=tuple(rng.sample(words[:400], 3)),
            aliases=(name.split()[0],),
            text=prose(40),
            constant=at % 200 == 0,
        )
        for at, name in enumerate(names[:500])
    )
    world = World("bench", "bench", language="ko", lore=lore)
    places = [Entity(f"l{at:03}", Kind.LOCATION, names[at]) for at in range(60)]
    people = [Entity(f"c{at:03}", Kind.CHARACTER, names[600 + at], (), {"hp": 10, "max_hp": 10}) for at in range(80)]
    things = [Entity(f"i{at:03}", Kind.ITEM, names[700 + at]) for at in range(50)]
    events = [Entity(f"e{at:03}", Kind.EVENT, names[800 + at]) for at in range(10)]
    state = WorldState(
        turn=f"t{turns}",
        depth=turns,
        player="c000",
        entities={each.id: each for each in (*people, *places, *things, *events)},
        whereabouts={each.id: Placement(rng.choice(places[:20]).id) for each in people},
        belongings={each.id: {rng.choice(things).id: Stack() for _ in range(3)} for each in people[:40]},
        relations={
            (one.id, other.id): Relation("knows", 1)
            for one in people
            for other in rng.sample(people, 3)
            if one is not other
        },
        links=frozenset((each.id, "ADJACENT", rng.choice(places).id) for each in places for _ in range(2)),
        present=("c001", "c002", "c003"),
        happenings=tuple(Happening(each.id, each.name, 3) for each in events),
        mentioned={entry.name: rng.randrange(turns + 1) for entry in lore[:200]},
    )
    pinned = evolve(state, relations=dict(list(state.relations.items())[:-6]))
    index = LoreIndex(lore)
    lore_ties = [
        Edge(rng.choice(places).id, "HAS_LORE", node) for node in [index_node(entry.name) for entry in lore[100:300]]
    ]
    graph = EdgeGraph([*edges_of(state), *lore_ties])
    episodes = path_episodes(
        [f"Turn {at} | 장소: {rng.choice(places).name}\n> {prose(8)}\n{prose(16)}" for at in range(turns + 1)]
    )
    requests = []
    for _ in range(READS):
        said = prose(12) + " " + rng.choice(people).name + "에게 " + rng.choice(names[:500])
        recent = (prose(200), said + " " + prose(150))
        requests.append(
            ReadRequest(
                "s",
                state,
                world,
                index,
                said,
                recent,
                pinned,
                "ko",
                episodes,
                frozenset(f"t{turns - back}" for back in range(20)),
                graph,
                "s.0",
            )
        )
    vectors = CannedVectors(
        {
            f"lore:{world.digest}": [Hit(entry.name, 0.9 - at / 50, "", {}) for at, entry in enumerate(lore[40:70])],
            "episodes:s": [
                Hit(f"t{depth}", 0.8 - at / 100, "", {"depth": depth})
                for at, depth in enumerate(rng.sample(range(turns), min(60, turns)))
            ],
        }
    )
    return requests, vectors


def index_node(name: str) -> str:
    from saga_core.ids import entity_id

    return entity_id("lore", name)


async def measure(turns: int) -> None:
    """Print the CPU and wall milliseconds of a read, and the wall time of each source (they overlap)."""
    requests, vectors = build(turns)
    reader = default_reader(Config(), WordCounter(), vectors=vectors, embedder=OneVector())  # type: ignore[arg-type]
    for request in requests[:5]:
        await reader.read(request)
    spent: dict[str, float] = {}
    costs, walls = [], []
    for request in requests * 3:
        start, began = time.process_time(), time.perf_counter()
        context = await reader.read(request)
        costs.append((time.process_time() - start) * 1_000)
        walls.append((time.perf_counter() - began) * 1_000)
        for name, ms in context.timings.items():
            spent[name] = spent.get(name, 0.0) + ms / (3 * len(requests))
    costs.sort()
    parts = " ".join(f"{name} {ms:.2f}" for name, ms in sorted(spent.items()))
    walls.sort()
    low, middle = costs[len(costs) // 10], costs[len(costs) // 2]
    wall = walls[len(walls) // 2]
    print(f"{turns:6} turns: CPU p10 {low:.2f} p50 {middle:.2f} ms, wall p50 {wall:.2f}; {context.tokens} tokens")
    print(f"       {parts}")


if __name__ == "__main__":
    for count in [int(argument) for argument in sys.argv[1:]] or [100, 1_000, 10_000]:
        asyncio.run(measure(count))
