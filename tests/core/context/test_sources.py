"""What each source offers, in Korean and English."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import evolve

from saga_core.context.model import Piece, ReadRequest, Section, Slot
from saga_core.context.recollection import Recollection
from saga_core.context.source import ContextSource
from saga_core.context.sources import Briefing, Connections, Deaths, Events, Lorebook
from saga_core.ids import entity_id
from saga_core.model.curated import merge
from saga_core.model.deltas import Merged
from saga_core.model.entities import Entity, Happening, Kind, Placement, Relation, Stack
from saga_core.model.tree import ReportStatus
from saga_core.model.world_state import WorldState
from saga_core.recall.episodes import PathEpisodes, Ranking
from saga_core.recall.lexical import LexicalIndex
from saga_core.recall.lorebook import LoreIndex
from saga_core.stores.graph import Edge
from saga_core.stores.vector import Hit
from saga_core.world.model import CharacterSheet, ItemStack, LoreEntry, World
from tests.core.context.reading_stage import (
    ARIA,
    ERGEN,
    FOREST,
    KO_WORLD,
    KRUK,
    MARA,
    POTION,
    RAID,
    RUINS,
    SQUARE,
    CannedVectors,
    EdgeGraph,
    OneVector,
    ask,
    edges_of,
    event,
    id_of,
    item,
    ko_state,
    path_episodes,
    path_tree,
    place,
    scene_of,
    who,
)


async def gather(source: ContextSource, request: ReadRequest, **options: Any) -> Sequence[Piece]:
    return await source.gather(scene_of(request, **options))


def texts(pieces: Sequence[Piece]) -> list[str]:
    return [piece.text for piece in sorted(pieces, key=lambda piece: (piece.order, -piece.score, piece.key))]


def changed(state: WorldState, *entities: Entity, **changes: Any) -> WorldState:
    together = {**state.entities, **{entity.id: entity for entity in entities}}
    return evolve(state, entities=together, **changes)


def kill(state: WorldState, id_: str, **attributes: Any) -> WorldState:
    victim = state.entities[id_]
    return changed(state, evolve(victim, attributes={**victim.attributes, "status": "dead", **attributes}))


# The briefing


async def test_the_briefing_always_tells_the_essentials() -> None:
    assert texts(await gather(Briefing(), ask())) == [
        "위치: 어둠의 숲 | HP: 85/100 | 인벤토리: 불꽃 검, 치유 물약 ×2 | 기분: tense",
        "플레이어: 아리아 | 곁에 있는 인물: 에르겐",
        "근처 인물: 마라 | 갈 수 있는 곳: 고대 유적, 마을 광장",
    ]
    assert texts(await gather(Briefing(), ask(language="en"))) == [
        "Place: 어둠의 숲 | HP: 85/100 | Inventory: 불꽃 검, 치유 물약 ×2 | Mood: tense",
        "Player: 아리아 | Present: 에르겐",
        "Nearby: 마라 | Ways: 고대 유적, 마을 광장",
    ]


async def test_what_is_not_known_is_left_out_and_an_inventory_is_empty_only_if_a_sheet_listed_it() -> None:
    nobody = WorldState(player=ARIA, entities={ARIA: who("아리아")})
    assert texts(await gather(Briefing(), ask(state=nobody, graph=None))) == ["플레이어: 아리아"]
    empty = evolve(nobody, belongings={ARIA: {}})
    assert texts(await gather(Briefing(), ask(state=empty, graph=None))) == ["플레이어: 아리아"]
    sheet = CharacterSheet("아리아", player=True, items=(ItemStack("동전"),))
    listed = ask(state=empty, graph=None, world=World("w", "세계", characters=(sheet,)))
    assert texts(await gather(Briefing(), listed)) == ["인벤토리: 없음", "플레이어: 아리아"]
    unnamed = WorldState(player=ARIA, entities={ARIA: who("플레이어")})
    assert texts(await gather(Briefing(), ask(state=unnamed, graph=None))) == []
    assert texts(await gather(Briefing(), ask(state=WorldState(), graph=None, language="en"))) == []


async def test_a_long_inventory_is_cut_and_says_so() -> None:
    things = {f"i{at:02}": Stack(at + 1) for at in range(30)}
    entities = [Entity(id_, Kind.ITEM, f"물건{id_}") for id_ in things]
    state = changed(ko_state(), *entities, belongings={ARIA: things})
    essentials = (await gather(Briefing(), ask(state=state)))[0]
    assert essentials.text.endswith("물건i23 ×24, 외 6 | 기분: tense")
    assert [len(text) for text in essentials.shorter] == sorted(map(len, essentials.shorter), reverse=True)
    assert essentials.shorter[-1] == "위치: 어둠의 숲 | HP: 85/100"


async def test_the_dead_are_not_among_the_company() -> None:
    state = kill(kill(ko_state(), ERGEN), MARA)
    assert texts(await gather(Briefing(), ask(state=state)))[1:] == [
        "플레이어: 아리아",
        "갈 수 있는 곳: 고대 유적, 마을 광장",
    ]


async def test_nothing_is_told_as_changed_when_the_pages_are_fresh_or_absent() -> None:
    state = ko_state()
    same_again = evolve(ko_state(), depth=3, turn="t3")
    for pinned in (None, state, same_again, evolve(state, depth=3), evolve(state, relations=dict(state.relations))):
        pieces = await gather(Briefing(), ask(state=state, pinned=pinned))
        assert [piece for piece in pieces if piece.order == Slot.CHANGED] == []


async def test_what_changed_since_the_pages_is_told() -> None:
    old = ko_state()
    new = changed(
        old,
        who("고블린왕 크룩", ("크룩",), hp=40, max_hp=90, mood="분노"),
        evolve(old.entities[MARA], name="마라 경"),
        who("아리아", is_player=True, hp=1, max_hp=100, mood="다침"),
        relations={(KRUK, ARIA): Relation("grudging respect", 1, 12), (MARA, ARIA): Relation("knows", 0, 12)},
        whereabouts={**old.whereabouts, KRUK: Placement(SQUARE, 12), MARA: Placement(FOREST, 3)},
    )
    pieces = await gather(Briefing(), ask(state=new, pinned=old))
    told = sorted(piece.text for piece in pieces if piece.order == Slot.CHANGED)
    assert told == sorted(
        [
            "고블린왕 크룩 → 아리아: grudging respect (+1)",
            "마라 경 → 아리아: knows (+0)",
            "에르겐 → 아리아 관계 없음",
            "고블린왕 크룩 → 마을 광장 (12턴부터 거기 있음)",
            "고블린왕 크룩 HP 40/90",
            "고블린왕 크룩 기분 분노",
            "마라의 지금 이름은 마라 경",
        ]
    )


async def test_what_only_looks_changed_is_not_told() -> None:
    old = ko_state()
    copies = {pair: evolve(relation, since=12) for pair, relation in old.relations.items()}
    again = {who_: evolve(where, since=12) for who_, where in old.whereabouts.items()}
    newcomer, stone = who("새 사람"), evolve(old.entities[POTION], attributes={"colour": "blue"})
    state = changed(kill(old, KRUK), newcomer, stone, relations=copies, whereabouts=again)
    pieces = await gather(Briefing(), ask(state=state, pinned=old))
    assert [piece.text for piece in pieces if piece.order == Slot.CHANGED] == []


async def test_somebody_alive_again_is_told() -> None:
    pieces = await gather(Briefing(), ask(state=ko_state(), pinned=kill(ko_state(), KRUK), language="en"))
    assert "고블린왕 크룩 is alive" in texts(pieces)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "마라 and 에르겐 are the same"),
        ("ko", "마라 = 에르겐(같은 대상)"),
        ("ja", "마라は에르겐と同じ"),
        ("zh", "마라就是에르겐"),
    ],
)
async def test_whoever_turned_out_to_be_another_is_told_by_both_names(language: str, said: str) -> None:
    old = evolve(ko_state(), relations={(MARA, ARIA): Relation("knows", 1, 3)})
    new = merge(old, Merged(MARA, ERGEN))
    assert isinstance(new, WorldState)
    pieces = await gather(Briefing(), ask(state=new, pinned=old, language=language))
    told = [piece.text for piece in pieces if piece.order == Slot.CHANGED]
    assert said in told
    assert not any(MARA in text or ERGEN in text for text in told), "no id is told"
    assert any("에르겐 → 아리아: knows (+1)" in text for text in told)


async def test_whoever_was_forgotten_is_told_by_the_name_that_the_pages_show() -> None:
    old = evolve(ko_state(), relations={(MARA, ARIA): Relation("knows", 1, 3)})
    entities = {id_: each for id_, each in old.entities.items() if id_ != MARA}
    pieces = await gather(Briefing(), ask(state=evolve(old, entities=entities, relations={}), pinned=old))
    assert "마라 → 아리아 관계 없음" in texts(pieces)


# Deaths


@pytest.mark.parametrize(("said", "stated"), [("크룩을 찾는다", True), ("주위를 둘러본다", False), ("Kruk?", False)])
async def test_a_dead_character_who_is_mentioned_is_stated(said: str, stated: bool) -> None:
    pieces = await gather(Deaths(), ask(said, state=kill(ko_state(), KRUK)))
    assert texts(pieces) == (["고블린왕 크룩"] if stated else [])


async def test_the_near_dead_the_newly_dead_and_the_player_are_stated() -> None:
    near = kill(ko_state(), MARA, status_since=11)
    assert texts(await gather(Deaths(), ask(state=near))) == ["마라 (11턴부터)"]
    assert texts(await gather(Deaths(), ask(state=near, language="en"))) == ["마라 (since turn 11)"]
    new = kill(ko_state(), KRUK)
    assert texts(await gather(Deaths(), ask(state=new, pinned=ko_state()))) == ["고블린왕 크룩"]
    assert texts(await gather(Deaths(), ask(state=new, pinned=new))) == []
    assert texts(await gather(Deaths(), ask(state=kill(ko_state(), ARIA)))) == ["아리아"]
    assert await gather(Deaths(), ask()) == []


async def test_a_title_and_name_is_known_by_the_name_alone() -> None:
    state = changed(ko_state(), who("늙은 사냥꾼 바르가", status="dead"), who("Krook the Goblin King", status="dead"))
    assert texts(await gather(Deaths(), ask("바르가는 어디에? Krook!", state=state))) == [
        "Krook the Goblin King",
        "늙은 사냥꾼 바르가",
    ]


# Lore


async def test_lore_by_place_mention_and_meaning() -> None:
    vectors = CannedVectors({f"lore:{KO_WORLD.digest}": [Hit("대붕괴", 0.6, "", {}), Hit("은빛 성채", 0.5, "", {})]})
    request = ask("에르겐의 비밀이 뭐지?")
    pieces = await gather(Lorebook(), request, vectors=vectors, embedder=OneVector())
    assert {piece.key: round(piece.score, 6) for piece in pieces} == {
        "lore:어둠의 숲": 5.0,
        "lore:대붕괴": 3.0,
        "lore:에르겐의 비밀": 2.5,
    }
    assert all(piece.section is Section.LORE for piece in pieces)


async def test_without_lore_nothing_is_looked_for() -> None:
    store = CannedVectors({})
    request = ask(lore=LoreIndex(()))
    assert await gather(Lorebook(), request, vectors=store, embedder=OneVector()) == []
    scene = scene_of(request, vectors=store, embedder=OneVector())
    assert await scene.similar_lore() == {} and store.asked == []


async def test_a_secret_says_who_knows_it() -> None:
    pieces = await gather(Lorebook(), ask("에르겐의 비밀이 뭐지?"))
    assert "에르겐의 비밀: 그는 문지기의 제자다. (비밀: 에르겐만 안다)" in texts(pieces)
    world = World("w", "w", language="en", lore=(LoreEntry("Oath", "concept", "A1", text="Sworn.", secret=True),))
    request = ask("the oath", world=world, lore=LoreIndex(world.lore), language="en")
    assert texts(await gather(Lorebook(), request)) == ["Oath: Sworn. (secret, known to nobody)"]


async def test_lore_about_somebody_dead_says_so() -> None:
    world = World("w", "w", lore=(LoreEntry("에르겐", "character", "A1", text="마을의 약초상."),))
    request = ask(world=world, lore=LoreIndex(world.lore), state=kill(ko_state(), ERGEN))
    assert texts(await gather(Lorebook(), request)) == ["에르겐: 마을의 약초상. (지금은 사망)"]
    alive = evolve(request, state=ko_state())
    assert texts(await gather(Lorebook(), alive)) == ["에르겐: 마을의 약초상."]


def lore_edge(place_: str, name: str) -> Edge:
    return Edge(place_, "HAS_LORE", entity_id("lore", name))


async def test_the_graph_brings_lore_nearer_but_not_that_of_the_place_itself() -> None:
    edges = [
        *edges_of(ko_state()),
        lore_edge(FOREST, "어둠의 숲"),
        lore_edge(FOREST, "대붕괴"),
        lore_edge(SQUARE, "은빛 성채"),
        lore_edge(FOREST, "이 세계에 없는 것"),
    ]
    request = ask("대붕괴와 은빛 성채 이야기를 한다", graph=EdgeGraph(edges))
    why = {piece.key: dict(piece.why) for piece in await gather(Lorebook(), request)}
    assert why["lore:어둠의 숲"] == {"location": 3.0, "layer": 2.0}
    assert why["lore:대붕괴"]["graph"] == 1.0 and why["lore:은빛 성채"]["graph"] == 0.5
    flat = {piece.key: dict(piece.why) for piece in await gather(Lorebook(expand=False), request)}
    assert "graph" not in flat["lore:대붕괴"]


async def test_the_lore_of_a_neighbouring_place_is_one_hop_away() -> None:
    # "광장" is a tag of the entry, and tags are no mention.
    assert "lore:마을 광장" not in {piece.key for piece in await gather(Lorebook(), ask("광장으로"))}
    (square,) = [p for p in await gather(Lorebook(), ask("마을 광장은?", recent=("마을 광장",))) if "광장" in p.key]
    assert "graph" not in square.why  # named: the scene is about it, at no distance
    vectors = CannedVectors({f"lore:{KO_WORLD.digest}": [Hit("마을 광장", 0.6, "", {})]})
    (square,) = [p for p in await gather(Lorebook(), ask(), vectors=vectors, embedder=OneVector()) if "광장" in p.key]
    assert square.why["graph"] == 1.0


# Connections


async def test_connections_are_readable_and_do_not_repeat_the_briefing() -> None:
    old = ko_state()
    state = evolve(
        old,
        belongings={**old.belongings, KRUK: {POTION: Stack()}},
        links=old.links | {(KRUK, "INVOLVED_IN", RAID), (SQUARE, "ADJACENT", RUINS)},
    )
    edges = [*edges_of(state), Edge(ERGEN, "KNOWS", entity_id("lore", "에르겐의 비밀"))]
    request = ask("크룩은 어디 있지?", state=state, graph=EdgeGraph(edges))
    assert texts(await gather(Connections(), request)) == [
        "고블린왕 크룩 → 아리아: hostile (-2)",
        "에르겐 → 아리아: trusts (+2)",
        "고블린왕 크룩 → 고대 유적 (5턴부터 거기 있음)",
        "고블린왕 크룩 → 치유 물약 (가진 것)",
        "고블린왕 크룩 → 고블린 습격 (겪은 일)",
    ]
    nearer = ask("고대 유적으로 간다", state=state, graph=EdgeGraph(edges))
    assert "고대 유적 → 마을 광장 (이어짐)" in texts(await gather(Connections(), nearer))


@pytest.mark.parametrize(("status", "told"), [("부상", " (부상)"), ("alive", ""), (None, "")])
async def test_how_somebody_is_who_is_not_here_is_told_with_the_place(status: str | None, told: str) -> None:
    old = ko_state()
    kruk = old.entities[KRUK]
    state = changed(old, evolve(kruk, attributes={**kruk.attributes, "status": status}))
    lines = texts(await gather(Connections(), ask("크룩은 어디 있지?", state=state, graph=EdgeGraph(edges_of(state)))))
    assert f"고블린왕 크룩{told} → 고대 유적 (5턴부터 거기 있음)" in lines


async def test_one_line_for_many_targets() -> None:
    state = changed(ko_state(), *(place(f"장소{at}") for at in range(9)))
    links = {(RUINS, "ADJACENT", id_of(Kind.LOCATION, f"장소{at}")) for at in range(9)}
    state = evolve(state, links=frozenset(links), relations={}, whereabouts={})
    request = ask("고대 유적으로", state=state, graph=EdgeGraph(edges_of(state)), language="en")
    (line,) = texts(await gather(Connections(), request))
    subject, _, rest = line.partition(" → ")
    *named, more = rest.split(", ")
    assert subject == "고대 유적" and more == "3 more (leads to)"
    assert len(set(named)) == 6 and all(name.startswith("장소") for name in named)


async def test_the_state_speaks_where_a_graph_says_otherwise() -> None:
    edges = [
        Edge(KRUK, "RELATES_TO", ARIA, properties={"rel_type": "friendly", "strength": 9}),
        Edge(KRUK, "RELATES_TO", ERGEN, properties={"rel_type": "friendly", "strength": 9}),
        Edge(KRUK, "LOCATED_AT", SQUARE),
        Edge(KRUK, "OWNS", POTION),
        Edge(KRUK, "INVOLVED_IN", RAID),
        Edge(SQUARE, "ADJACENT", RUINS),
        Edge(KRUK, "OWNS", "nobody knows what"),
        Edge(KRUK, "SIBLING_OF", ERGEN),
    ]
    request = ask("크룩", graph=EdgeGraph(edges), language="en")
    assert texts(await gather(Connections(), request)) == [
        "고블린왕 크룩 → 아리아: hostile (-2)",
        "고블린왕 크룩 → 에르겐 (SIBLING_OF)",
    ]


async def test_the_dead_are_nowhere_and_no_more_than_the_best_edges_are_read() -> None:
    state = kill(ko_state(), KRUK)
    told = texts(await gather(Connections(), ask("크룩", state=state, graph=EdgeGraph(edges_of(state)))))
    assert "고블린왕 크룩 → 아리아: hostile (-2)" in told and not any("고대 유적" in line for line in told)
    people = [who(f"사람{at:02}") for at in range(60)]
    relations = {(each.id, KRUK): Relation("knows", 1) for each in people}
    crowd = changed(ko_state(), *people, relations=relations)
    pieces = await gather(Connections(), ask("크룩", state=crowd, graph=EdgeGraph(edges_of(crowd))))
    assert len(pieces) == 8


async def test_what_has_no_bearing_on_the_moment_is_not_told() -> None:
    people = [who(f"사람{at:02}") for at in range(9)]
    relations = {(each.id, ARIA): Relation("knows", 1) for each in people}
    state = changed(ko_state(), *people, relations={**ko_state().relations, **relations})
    graph = EdgeGraph(edges_of(state))
    quiet = texts(await gather(Connections(), ask(state=state, graph=graph)))
    assert not any("사람" in line for line in quiet)
    asked = texts(await gather(Connections(), ask("사람03은 어디 있지?", state=state, graph=graph)))
    assert any(line.startswith("사람03 → 아리아") for line in asked)
    named = texts(await gather(Connections(), ask(state=state, graph=graph, recent=("사람04가 왔었다.", "그래."))))
    assert any(line.startswith("사람04 → 아리아") for line in named)
    assert not any("사람05" in line for line in (*asked, *named))


@pytest.mark.parametrize(
    ("thing", "other", "words", "not_it"),
    [
        ("sealed letter", "love letter", "Where is the letter?", "A letter lies there."),
        ("silver watch", "gold watch", "Who has my watch?", "I watch the road."),
        ("letter of the duke", "letter opener", "And that letter?", "The carrier comes."),
        ("silver coins", "gold coin", "Where is the coin?", "I coin a word."),
        ("silver tuning fork", "fork", "Who has the tuning fork?", "Who has the garden fork?"),
        ("florin", "silver florin", "Do you have the florins?", "Florins are money."),
        ("strongbox key", "brass keys", "Where are the keys?", "He keys it in."),
        ("검은 수첩", "붉은 수첩", "수첩은 어디 있지?", "수첩장은 없다."),
        ("黒い手帳", "赤い手帳", "手帳はどこ？", "黒い夜だ。"),
        ("银怀表", "金怀表", "怀表在哪里？", "他心怀不满。"),
    ],
)
async def test_the_only_thing_of_its_kind_is_found_by_the_word_for_it(
    thing: str, other: str, words: str, not_it: str
) -> None:
    async def has(words: str, *things: str) -> bool:
        known = map(item, (thing, *things))
        state = changed(ko_state(), *known, belongings={KRUK: {item(thing).id: Stack()}})
        found = await gather(Connections(), ask(words, state=state, graph=EdgeGraph(edges_of(state))))
        return f"고블린왕 크룩 → {thing} (가진 것)" in texts(found)

    assert await has(words)
    assert not await has(words, other) and not await has(not_it)


async def test_the_only_one_with_a_title_is_found_by_it() -> None:
    def asked(words: str, *names: str) -> int:
        return len(scene_of(ask(words, state=changed(ko_state(), *map(who, names)))).asked)

    assert asked("Where is the doctor?", "Dr. Weiss") == asked("I ask the Captain.", "Captain Lucan Vey") == 1
    assert not asked("Where is the doctor?", "Dr. Weiss", "Doctor Brandt")
    assert not asked("I ask the guard.", "Guard Tom")


async def test_without_a_graph_there_are_no_connections() -> None:
    assert await gather(Connections(), ask(graph=None)) == []
    assert await gather(Connections(), ask(), hops=0) == []


# Earlier turns

PAST = [
    "",
    "Turn 1 | 장소: 마을 광장\n> 인사한다\n에르겐이 손을 흔들었다.",
    "Turn 2 | 장소: 마을 광장\n> 물약을 산다\n은화 두 닢을 냈다.",
    "Turn 3 | 장소: 고대 유적 | 만남: 고블린왕 크룩\n> 열쇠를 묻는다\n크룩은 열쇠를 삼켰다고 했다. 그는 웃지 않았다.",
    "Turn 4 | 장소: 고대 유적\n> 물러난다\n돌이 굴렀다.",
    "Turn 5 | 장소: 어둠의 숲\n> 쉰다\n모닥불을 피웠다.",
    "Turn 6 | 장소: 어둠의 숲\n> 걷는다\n빗방울이 떨어졌다.",
    "Turn 7 | 장소: 어둠의 숲\n> 노래한다\n아무도 듣지 않았다.",
]


def remembering(words: str, **changes: Any) -> ReadRequest:
    return ask(words, state=ko_state(depth=7, turn="t7"), episodes=path_episodes(PAST), **changes)


async def test_an_earlier_turn_is_found_by_its_words() -> None:
    pieces = await gather(Recollection(), remembering("열쇠는 어떻게 됐지?"))
    best = max(pieces, key=lambda piece: piece.score)
    assert best.text == (
        "(3턴) 장소: 고대 유적 | 만남: 고블린왕 크룩 — > 열쇠를 묻는다 크룩은 열쇠를 삼켰다고 했다. 그는 웃지 않았다."
    )
    assert best.section is Section.EARLIER and best.order == 3 and best.why["lexical"] > 0


async def test_turns_that_the_history_shows_are_never_recalled() -> None:
    shown = frozenset({"t3", "t7"})
    vectors = CannedVectors({"episodes:s": [Hit("t3", 0.9, "", {"depth": 3}), Hit("t2", 0.8, "", {"depth": 2})]})
    request = remembering("열쇠는 어떻게 됐지?", shown=shown)
    pieces = await gather(Recollection(), request, vectors=vectors, embedder=OneVector())
    keys = {piece.key for piece in pieces}
    assert "turn:t2" in keys and keys.isdisjoint({"turn:t3", "turn:t7"})


async def test_turns_of_other_branches_are_never_recalled() -> None:
    vectors = CannedVectors({"episodes:s": [Hit("t99", 0.9, "", {"depth": 4}), Hit("t5", 0.8, "", {"depth": 5})]})
    pieces = await gather(Recollection(), remembering("잠은?"), vectors=vectors, embedder=OneVector())
    assert "turn:t99" not in {piece.key for piece in pieces} and "turn:t5" in {piece.key for piece in pieces}


async def test_characters_are_kept_out_of_the_dense_query_and_lifted_in_the_lexical_one() -> None:
    embedder = OneVector()
    vectors = CannedVectors({})
    await gather(Recollection(), remembering("크룩에게 열쇠를 묻는다"), vectors=vectors, embedder=embedder)
    assert embedder.asked == ["열쇠를 묻는다"]
    await gather(Recollection(), remembering("크룩!"), vectors=vectors, embedder=embedder)
    assert embedder.asked == ["열쇠를 묻는다"]
    past = ["", "Turn 1\n열쇠를 보았다", "Turn 2", "", "", "", "Turn 6\n크룩이 열쇠를 보았다 또", "Turn 7"]
    request = ask("크룩의 열쇠", state=ko_state(depth=7), episodes=path_episodes(past))
    pieces = await gather(Recollection(), request)
    assert max(pieces, key=lambda piece: piece.score).key == "turn:t6"


async def test_the_store_is_not_asked_for_what_is_shown_anyway() -> None:
    hits = [Hit("t7", 0.9, "", {"depth": 7}), Hit("t1", 0.5, "", {"depth": 1})]
    scene = scene_of(
        remembering("인사?", shown=frozenset({"t6", "t7"})),
        vectors=CannedVectors({"episodes:s": hits}),  # type: ignore[arg-type]
        embedder=OneVector(),
    )
    assert await scene.similar_episodes() == {"t1": 0.5}


@pytest.mark.parametrize("words", ["", "   ", "zzz qqq"])
async def test_nothing_asked_nothing_recalled(words: str) -> None:
    assert await gather(Recollection(), remembering(words)) == []
    assert await gather(Recollection(), ask("열쇠")) == []


async def test_of_many_similar_turns_the_nearest_count() -> None:
    past = ["", *(f"Turn {at}\n말 {at}" for at in range(1, 60))]
    hits = [Hit(f"t{at}", 0.9 - at / 100, "", {"depth": at}) for at in range(1, 49)]
    request = ask("열쇠", state=ko_state(depth=59, turn="t59"), episodes=path_episodes(past))
    vectors = CannedVectors({"episodes:s": hits})
    pieces = await gather(Recollection(30), request, vectors=vectors, embedder=OneVector())
    assert pieces and max(piece.order for piece in pieces) <= 30


async def test_words_that_look_back_bring_more_than_deeds() -> None:
    held = dict.fromkeys(range(9, 60, 9), "은빛 새장 ")
    past = ["", *(f"Turn {at}\n열쇠 {held.get(at, '')}{'돌 ' * (at % 5)}{at}" for at in range(1, 60))]
    state, episodes = ko_state(depth=59, turn="t59"), path_episodes(past)

    async def told(words: str) -> Sequence[Piece]:
        return await gather(Recollection(most=1_500), ask(words, state=state, episodes=episodes))

    asked, done = await told("열쇠는 어디 있지?"), await told("은빛 새장 열쇠를 던진다.")
    assert len(asked) > 10 and 1 <= len(done) <= 3
    assert min(piece.score for piece in asked) >= 2.5, "they compete with more"
    assert {piece.order for piece in done} <= set(held)
    assert not await told("열쇠를 던진다."), "what every turn tells of has no bearing"


async def test_of_a_talk_the_speaker_counts_and_neighbours_do() -> None:
    past = [
        "",
        "8 May 2023\nMelanie: Did you find a name for the kitten, Caroline?",
        "8 May 2023\nCaroline: Biscuit!",
        *(f"9 May 2023\nMelanie: The weather again, {at}." for at in range(3, 12)),
        "10 May 2023\nMelanie: My kitten sleeps, Caroline.",
    ]
    people = (who("Caroline"), who("Melanie"))
    state = changed(ko_state(depth=12, turn="t12"), *people)
    request = ask("What is the name of Caroline's kitten?", state=state, episodes=path_episodes(past), language="en")
    pieces = {piece.key: piece for piece in await gather(Recollection(), request)}
    assert (
        pieces["turn:t2"].text == "8 May 2023 — Caroline: Biscuit!" and pieces["turn:t2"].bare == "Caroline: Biscuit!"
    )
    assert (pieces["turn:t2"].within, pieces["turn:t2"].brief) == ("2023", "8 May — Caroline: Biscuit!")
    assert pieces["turn:t2"].score > pieces["turn:t12"].score  # it is hers, though no word of it was asked for


async def test_of_a_talk_without_days_no_turn_has_a_number() -> None:
    past = [
        "",
        *(f"\nMelanie: My kitten sleeps, {at}." for at in range(1, 4)),
        "Turn 4 | place: inn\nThe kitten plays.",
    ]
    request = ask(
        "Where is the kitten?", state=ko_state(depth=4, turn="t4"), episodes=path_episodes(past), language="en"
    )
    pieces = {piece.key: piece for piece in await gather(Recollection(), request)}
    assert pieces["turn:t2"].text == "Melanie: My kitten sleeps, 2." and not pieces["turn:t2"].within
    assert pieces["turn:t4"].text == "(turn 4) place: inn — The kitten plays."


async def test_of_a_talk_what_everybody_says_anytime_is_left_out() -> None:
    talk = "Turn {at}\n> How was your day? Same old, same old.\nWow! I love that, good for you! {more}"
    past = ["", *(talk.format(at=at, more="Take care!") for at in range(1, 40))]
    past[7] = talk.format(at=7, more="We fired the kiln. Take care!")
    past[8] = "Turn 8\n> How was your day? The kiln cracked, at night.\nTake care!"
    state = ko_state(depth=39, turn="t39")
    request = ask("Kiln?", state=state, episodes=path_episodes(past), language="en")
    pieces = {piece.key: piece.text for piece in await gather(Recollection(), request)}
    assert pieces["turn:t7"] == "… We fired the kiln. …"
    assert pieces["turn:t8"] == "> … The kiln cracked, at night. …"
    assert set(pieces) == {"turn:t7", "turn:t8"}  # and neither the neighbours, nor what is said every day
    few = ask("Kiln?", state=ko_state(depth=9, turn="t9"), episodes=path_episodes(past[:10]), language="en")
    whole = {piece.key: piece.text for piece in await gather(Recollection(), few)}
    assert whole["turn:t8"] == "> How was your day? The kiln cracked, at night. Take care!"


async def test_of_long_turns_the_first_two_are_told_most_of() -> None:
    filler = "The wind goes round the house and finds every crack. "
    told = "The barge {at} is late. " * 12
    past = ["", *(f"Turn {at}\n> On.\n{filler * 9}{told.format(at=at)}{filler * 9}" for at in range(1, 31))]
    request = ask(
        "Where was the barge?", state=ko_state(depth=30, turn="t30"), episodes=path_episodes(past), language="en"
    )
    sizes = [len(piece.text) for piece in await gather(Recollection(most=1_500), request)]
    assert len(sizes) > 10
    assert min(sizes[:2]) > max(sizes[2:8]) > max(sizes[8:])


async def test_what_a_talk_tells_again_and_again_is_told_by_a_few_turns() -> None:
    talk = "Turn {at}\n> How is the dog?\n{says}"
    says = (
        "Rex the dog sleeps.",
        "My dog is called Rex.",
        "Rex and I walked.",
        "The dog Rex is fine.",
        "Rex ate, dog!",
    )
    past = ["", *(talk.format(at=at, says=says[at % len(says)]) for at in range(1, 60))]
    request = ask(
        "What is my dog called?", state=ko_state(depth=59, turn="t59"), episodes=path_episodes(past), language="en"
    )
    lines = [piece.text for piece in await gather(Recollection(), request)]
    assert any("Rex" in line for line in lines)
    assert 1 <= len(lines) <= 3


async def test_in_a_talk_who_asks_how_many_is_told_of_turns_with_a_number_first() -> None:
    past = ["", *(f"\nMelanie: My dog sleeps, {name}." for name in ("a", "b", "c", "d", "e", "f", "g"))]
    past[1] = "\nMelanie: My dog is now eleven years of age."
    asked = {}
    for words in ("How old is the dog?", "Where is the dog?"):
        state = ko_state(depth=7, turn="t7")
        request = ask(words, state=state, episodes=path_episodes(past), language="en")
        asked[words] = {piece.key: piece for piece in await gather(Recollection(), request)}
    old, where = asked.values()
    assert next(iter(old)) == "turn:t1"
    assert old["turn:t1"].why["fused"] > where["turn:t1"].why["fused"]
    assert old["turn:t1"].why["amounts"] > 0 and "amounts" not in {**where["turn:t1"].why, **old["turn:t4"].why}


async def test_each_line_says_which_signals_brought_it() -> None:
    past = [
        "",
        "8 May 2023\nMelanie: Did you find a name for the kitten, Caroline?",
        "8 May 2023\nCaroline: Biscuit!",
        *(f"9 May 2023\nMelanie: The weather again, {at}." for at in range(3, 12)),
    ]
    state = changed(ko_state(depth=11, turn="t11"), who("Caroline"), who("Melanie"))
    words = "What did Caroline name the kitten in the beginning?"
    request = ask(words, state=state, episodes=path_episodes(past), language="en")
    why = {piece.key: piece.why for piece in await gather(Recollection(), request)}
    signals = {"words", "feedback", "neighbours", "names", "closeness", "time"}
    assert why["turn:t2"].keys() & signals == {"words", "feedback", "neighbours", "names", "time"}
    assert why["turn:t1"].keys() & signals == {"words", "feedback", "neighbours", "time"}
    for parts in why.values():
        assert sum(value for name, value in parts.items() if name in signals) == pytest.approx(parts["lexical"])


async def test_a_second_search_finds_what_shares_no_word_with_the_question_where_turns_are_long() -> None:
    filler = "The wind goes round the house and finds every crack in it, and nobody wants to be the first to sleep. "
    past = ["", *(f"\n> Round {at}.\n{filler * 6}" for at in range(1, 61))]
    past[12] += "In the end Osric lets you have the brass compass for three river pearls."
    past[40] += "On the back of the brass compass is the mark of House Tarn."
    past[50] += "House Vey burned down."
    words = "Osric, what did you give me for the pearls? And whose?"
    request = ask(words, state=ko_state(depth=60, turn="t60"), episodes=path_episodes(past), language="en")
    source = Recollection(ranking=Ranking(hop=0.2))
    found = {piece.key: piece for piece in await gather(source, request)}
    assert "House Tarn" in found["turn:t40"].text and found["turn:t40"].why["feedback"] > 0
    assert found["turn:t40"].why.get("words", 0.0) < found["turn:t12"].why["words"]
    without = await gather(Recollection(), request)
    assert not any("House Tarn" in piece.text for piece in without)
    when = evolve(request, player_words=f"{words} It was three days ago.")
    assert not any("feedback" in piece.why for piece in await gather(source, when)), "one of many similar turns"


async def test_in_a_chat_the_neighbours_of_a_turn_stand_nearer_than_in_a_talk_turn_by_turn() -> None:
    for text, near in (("\n> Kol{0}.\nPev{0}.", {3, 4, 5}), ("\nMia: kol{0}.", {2, 3, 4, 5, 6})):
        past = ["", *(text.format(chr(96 + at)) for at in range(1, 25))]
        request = ask("Where is kold?", state=ko_state(depth=24), episodes=path_episodes(past), language="en")
        source = Recollection(ranking=Ranking(feedback=0.0))
        assert {piece.order for piece in await gather(source, request)} == near


async def test_in_a_chat_what_follows_a_question_is_nearer_than_what_follows_anything_else() -> None:
    past = ["", *(f"\n> Kol{chr(96 + at)}.\nPev{chr(96 + at)}." for at in range(1, 25))]
    past[6] = '\n> Ahem.\n"Where did you leave the kiln?"'
    past[14] = "\n> Ahem.\nYou left the kiln there."
    request = ask("Where is the kiln?", state=ko_state(depth=24), episodes=path_episodes(past), language="en")
    source = Recollection(ranking=Ranking(feedback=0.0))
    lexical = {piece.order: piece.why["lexical"] for piece in await gather(source, request)}
    assert lexical[7] / lexical[6] == pytest.approx(0.6) and lexical[15] / lexical[14] == pytest.approx(0.3)
    assert lexical[5] / lexical[6] == pytest.approx(0.2), "what stands before a question is no answer"


async def test_what_was_said_again_and_again_takes_no_room_from_the_rest() -> None:
    past = ["", *["\nMelanie: Good night, Caroline, sleep well!"] * 60, "\nMelanie: Good old Tom is a cat."]
    request = ask("Good?", state=ko_state(depth=61, turn="t61"), episodes=path_episodes(past), language="en")
    assert "turn:t61" in {piece.key for piece in await gather(Recollection(most=30), request)}


async def test_old_names_are_asked_for_too() -> None:
    old = ko_state(depth=7, turn="t7")
    renamed = evolve(old.entities[KRUK], name="붉은 손", aliases=("고블린왕 크룩", "크룩"))
    state = evolve(old, entities={**old.entities, KRUK: renamed})
    pieces = await gather(Recollection(), ask("붉은 손은 뭐라고 했지?", state=state, episodes=path_episodes(PAST)))
    assert pieces and pieces[0].key == "turn:t3"


async def test_of_somebody_who_is_not_here_turns_are_told_without_being_asked_for() -> None:
    past = ["", *(f"Turn {at}\n마라와 에르겐이 불가에 앉는다." for at in range(1, 60))]
    state = changed(ko_state(depth=59, turn="t59"), present=(ERGEN,))

    async def told(words: str) -> int:
        return len(await gather(Recollection(), ask(words, state=state, episodes=path_episodes(past))))

    assert await told("마라를 생각한다.") > 0
    assert await told("에르겐에게 웃어 보인다.") == 0, "he sits beside"


async def test_no_more_than_top_k() -> None:
    past = ["", *(f"Turn {at}\n열쇠 {at}" for at in range(1, 30))]
    request = ask("열쇠는 어디 있지?", state=ko_state(depth=29), episodes=path_episodes(past))
    assert len(await gather(Recollection(2), request)) == 2


# Events


async def test_events_are_told_with_their_turn_and_kind() -> None:
    assert texts(await gather(Events(), ask())) == ["[combat] 고블린 습격 (7턴)"]
    assert texts(await gather(Events(), ask(language="en"))) == ["[combat] 고블린 습격 (turn 7)"]
    assert texts(await gather(Events(), ask(due=("복선: 종이 울린다", " ")))) == [
        "[combat] 고블린 습격 (7턴)",
        "복선: 종이 울린다",
    ]


async def test_an_event_that_a_line_of_the_pages_tells_is_told_again_only_if_it_is_mentioned() -> None:
    pages: dict[str, Any] = {"pinned": ko_state(), "in_front": frozenset({"[고블린 습격]"})}
    assert texts(await gather(Events(), ask(**pages))) == []
    assert texts(await gather(Events(), ask("고블린 습격 때는?", **pages))) == ["[combat] 고블린 습격 (7턴)"]


async def test_only_the_last_time_of_an_event_and_only_the_newest_eight() -> None:
    many = [event(f"사건{at}") for at in range(12)]
    happenings = [Happening(each.id, each.name, at) for at, each in enumerate(many)]
    happenings.append(Happening(many[3].id, many[3].name, 12))
    state = changed(ko_state(), *many, happenings=tuple(happenings))
    told = texts(await gather(Events(), ask(state=state)))
    assert told == [*(f"사건{at} ({at}턴)" for at in range(5, 12)), "사건3 (12턴)"]
    named = texts(await gather(Events(), ask("사건0이 뭐였지?", state=state)))
    assert named[0] == "사건0 (0턴)"


async def test_an_event_since_the_pages_is_worth_more() -> None:
    pinned = evolve(ko_state(), depth=5)
    (new,), (old,) = await gather(Events(), ask(pinned=pinned)), await gather(Events(), ask(pinned=ko_state()))
    assert new.score > old.score and new.why["new"] == 1.0


async def test_who_was_not_there_does_not_know() -> None:
    def tree(present: tuple[str, ...] | None) -> PathEpisodes:
        past, index = (
            path_tree(["", "Turn 1 | 장소: 유적\n비석에 새겨진 이름을 보았다.", "Turn 2\n길을 걸었다."]),
            LexicalIndex(),
        )
        past.nodes["t1"] = evolve(past.nodes["t1"], present=present, status=ReportStatus.OK)
        for node in past.nodes.values():
            index.add(node.id, node.episode)
        return PathEpisodes(past, index, "t2")

    async def told(words: str, present: tuple[str, ...] | None) -> str:
        request = ask(words, state=ko_state(depth=2), episodes=tree(present))
        return next(piece.text for piece in await gather(Recollection(), request) if piece.key == "turn:t1")

    assert (await told("에르겐, 비석에 새겨진 이름이 뭐였지?", ())).endswith("이름을 보았다. (에르겐 없었음)")
    assert "없었음" not in await told("에르겐, 비석에 새겨진 이름이 뭐였지?", (ERGEN,))
    assert "없었음" not in await told("에르겐, 비석에 새겨진 이름이 뭐였지?", None), "nobody noted who was there"
    assert "없었음" not in await told("비석에 새겨진 이름이 뭐였지?", ()), "nobody is spoken to"
    assert "없었음" not in await told("크룩에 대한 비석의 이름이 뭐였지?", ()), "he is not here now either"


async def test_lore_that_play_has_overtaken_tells_what_is_so_now() -> None:
    state = ko_state(learned={"어둠의숲": "불타서 재만 남았다.", "없는 표제": "아무것도 아니다."})
    (piece,) = [each for each in await gather(Lorebook(), ask(state=state)) if each.key == "lore:어둠의 숲"]
    assert piece.text == "어둠의 숲: 불타서 재만 남았다. (전에는: 에르시아 변방의 위험한 숲.)"
    assert piece.shorter == ("어둠의 숲: 불타서 재만 남았다.",)
    (before,) = [each for each in await gather(Lorebook(), ask()) if each.key == "lore:어둠의 숲"]
    assert before.text == "어둠의 숲: 에르시아 변방의 위험한 숲." and before.score == piece.score


async def test_a_secret_that_play_has_overtaken_stays_one() -> None:
    state = ko_state(learned={"에르겐의 비밀": "모두 알게 되었다."})
    (piece,) = [
        each for each in await gather(Lorebook(), ask("에르겐의 비밀을 묻는다", state=state)) if "비밀" in each.key
    ]
    assert piece.text == "에르겐의 비밀: 모두 알게 되었다. (전에는: 그는 문지기의 제자다.) (비밀: 에르겐만 안다)"
