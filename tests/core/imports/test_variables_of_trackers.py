"""What other trackers count, in a card or a lorebook, is declared in the world that is made of it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from saga_core.imports import Card, Lorebook, Losses, read_file, world_of
from saga_core.trackers import Tracker, TrackerKind, Whose
from saga_core.world import World, parse_world, render_world


def world_from(plain: Any) -> tuple[World, dict[str, str]]:
    reading = read_file("file.json", json.dumps(plain, ensure_ascii=False).encode())
    losses = Losses()
    record = reading.found[0].record
    card = record if isinstance(record, Card) else None
    world = world_of(card, [record] if isinstance(record, Lorebook) else [], "file", losses).world
    noted = [*reading.found[0].losses, *losses.listed()]
    return world, {each.field: each.verdict for each in noted}


def named(world: World) -> dict[str, Tracker]:
    return {each.name: each for each in world.trackers}


def card(**data: Any) -> dict[str, Any]:
    return {"spec": "chara_card_v2", "data": {"name": "理", "description": "圣女", "first_mes": "你好。", **data}}


def book(text: str, title: str = "[InitVar]初始化") -> dict[str, Any]:
    entry = {"keys": [], "content": text, "comment": title, "enabled": False, "insertion_order": 1, "extensions": {}}
    return {"entries": [entry]}


INITIAL = {
    "天气": ["晴", "现在的天气，随剧情变化"],
    "魔法解禁": False,
    "$meta": {"extensible": True},
    "理": {"好感度": [20, "[-100,100]之间，对玩家的好感"], "物品栏": [[], "持有的物品"], "深": {"更深": 1}},
    "{{user}}": {"金币": 12, "money": 3},
    "王国": {"税收": 4},
}


def test_initial_variables_of_a_card() -> None:
    world, noted = world_from(card(character_book=book(json.dumps(INITIAL, ensure_ascii=False))))
    found = named(world)
    assert list(found) == ["天气", "魔法解禁", "好感度", "物品栏", "金币"]
    assert (found["天气"].kind, found["天气"].whose, found["天气"].start) == (TrackerKind.TEXT, Whose.WORLD, "晴")
    assert found["天气"].description == "现在的天气，随剧情变化"
    assert (found["魔法解禁"].kind, found["魔法解禁"].start) == (TrackerKind.FLAG, "no")
    liking = found["好感度"]
    assert (liking.kind, liking.whose, liking.limits, liking.start) == (
        TrackerKind.NUMBER, Whose.CHARACTER, (-100, 100), "20",
    )  # fmt: skip
    assert (found["物品栏"].kind, found["物品栏"].whose) == (TrackerKind.LIST, Whose.CHARACTER)
    assert (found["金币"].whose, found["金币"].start) == (Whose.PLAYER, "12")
    assert noted["好感度"] == "mapped"
    assert noted["money"] == noted["[InitVar] 理.深"] == noted["[InitVar] 王国.税收"] == "dropped"


def test_initial_variables_as_yaml_in_a_lorebook() -> None:
    entry = {"uid": 0, "key": [], "comment": "[initvar]", "content": "世界:\n  时间: 早上\n主角:\n  体力: 80\n"}
    world, _ = world_from({"entries": {"0": entry}})
    found = named(world)
    assert found["时间"].whose is Whose.WORLD
    assert (found["体力"].whose, found["体力"].start) == (Whose.PLAYER, "80")


@pytest.mark.parametrize("text", ["金币: [1, 2", "just words", "a: " + "x" * 70_000, "[" * 5000, "&a [*a]"])
def test_unreadable_variables_are_noted(text: str) -> None:
    world, noted = world_from(card(character_book=book(text)))
    assert world.trackers == ()
    assert noted["[InitVar]"] == "dropped"


def merged(depth: int) -> str:
    rows = ["a: &a {x: 1}"]
    before = "a"
    for level in range(depth):
        rows.append(f"k{level}: &k{level}\n  <<: [{', '.join([f'*{before}'] * 10)}]")
        before = f"k{level}"
    return "\n".join(rows)


@pytest.mark.parametrize(
    "text",
    [
        merged(9),
        "a: &a {x: 1, " + ", ".join(["<<: *a"] * 40) + "}",
        "a: " + "[" * 20_000,
        "a: {" * 3_000,
        "a:\n " + "- " * 3_000,
    ],
    ids=["merge keys", "a merge with itself", "brackets", "maps", "lists"],
)
def test_variables_that_unfold_or_nest_are_refused_while_they_are_parsed(text: str) -> None:
    started = time.process_time()
    world, noted = world_from(card(character_book=book(text)))
    assert time.process_time() - started < 1, "the parser stops at the limit"
    assert world.trackers == ()
    assert noted["[InitVar]"] == "dropped"


def test_a_few_references_in_variables_are_read() -> None:
    text = "世界: &shared\n  时间: 早上\n主角:\n  <<: *shared\n  体力: 80\n"
    world, _ = world_from(card(character_book=book(text)))
    assert named(world)["体力"].start == "80"


def test_the_variables_of_a_lorebook_are_bounded_together() -> None:
    entries = {
        str(at): {"uid": at, "key": [], "comment": f"[initvar]{at}", "content": f"a{at}: {'x' * 40_000}\n"}
        for at in range(9)
    }
    _, noted = world_from({"entries": entries})
    assert noted["[InitVar]"] == "dropped"
    assert noted["a0"] == "mapped" and "a1" not in noted


def test_an_entry_of_another_name_declares_nothing() -> None:
    world, _ = world_from(card(character_book=book(json.dumps({"gold": 3}), "The purse [InitVar]")))
    assert world.trackers == ()


def test_rpg_companion() -> None:
    config = {
        "userStats": {
            "customStats": [{"name": "Energy", "enabled": True}, {"name": "Hygiene", "enabled": False}],
            "rpgAttributes": [{"id": "str", "name": "STR", "enabled": True}],
            "statusSection": {"enabled": True, "customFields": ["Conditions"]},
        },
        "infoBox": {"widgets": {"time": {"enabled": True}, "weather": {"enabled": True}, "date": {"enabled": False}}},
        "presentCharacters": {"customFields": [{"name": "Demeanor", "enabled": True, "description": "How one acts"}]},
    }
    world, noted = world_from(card(extensions={"rpg_companion": {"trackerConfig": config}}))
    found = named(world)
    assert list(found) == ["Energy", "STR", "Conditions", "time", "weather", "Demeanor"]
    assert found["Energy"].limits == (0, 100)
    assert found["time"].kind is TrackerKind.CLOCK
    assert (found["Demeanor"].whose, found["Demeanor"].description) == (Whose.CHARACTER, "How one acts")
    assert noted["rpg_companion"] == "mapped"


def test_horae() -> None:
    settings = {
        "rpgBarConfig": [{"key": "mp", "name": "MP", "color": "#6366f1"}],
        "rpgAttributeConfig": [{"key": "str", "name": "力量", "desc": "近战伤害"}],
        "rpgBarsUserOnly": True,
    }
    world, _ = world_from(card(extensions={"horae": settings}))
    found = named(world)
    assert (found["MP"].whose, found["力量"].whose) == (Whose.PLAYER, Whose.CHARACTER)
    assert found["力量"].description == "近战伤害"


def test_what_is_read_stands_in_the_world_file_and_no_more_than_a_story_counts() -> None:
    many = {f"count {number}": number for number in range(40)}
    world, noted = world_from(card(character_book=book(json.dumps({**many, "count 1 ": 5}))))
    assert len(world.trackers) == 32
    assert noted["count 39"] == "dropped"
    read, _ = parse_world(render_world(world), world.name)
    assert read.trackers == world.trackers


@pytest.mark.parametrize(
    "text", ["a: 0x" + "f" * 5_000, "? 0b" + "1" * 20_000 + "\n: 1", json.dumps({"a": 1})[:-1] + "9" * 5_000 + "}"]
)
def test_a_number_of_thousands_of_digits_is_none(text: str) -> None:
    world, noted = world_from(book(text))
    assert not world.trackers and noted["[InitVar]"] == "dropped"
