"""Small files that would become large: macros that stand for long names, swipes, long names."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from saga_core import Saga
from saga_core.imports import Card, Chat, Losses, importer, plan_stories, read_file, world_of
from saga_core.maintenance import ImportOptions
from saga_core.world import MacroRoom, TooManyMacros, fill_macros, library, name_character
from tests.core.frontend import memory_config
from tests.core.imports import samples


def why(raw: bytes) -> str:
    reading = read_file("x.jsonl", raw)
    assert not reading.found
    return reading.refused[0].why


def test_macros_that_would_become_too_much_are_refused_before_the_text_grows() -> None:
    name, text = "N" * 1_000, "{{user}}" * 40_000 + "<CHAR>" * 40_000
    fills: tuple[Callable[[MacroRoom], str], ...] = (
        lambda room: name_character(text, name, room),
        lambda room: fill_macros(text, user=name, seed="", room=room),
    )
    for fill in fills:
        tracemalloc.start()
        with pytest.raises(TooManyMacros, match=r"40,000 times in it, for a name of 1,000 .* 40,000,000 characters"):
            fill(MacroRoom())
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
        tracemalloc.stop()


def test_texts_share_their_room() -> None:
    room = MacroRoom(100)
    assert name_character("{{char}}" * 6, "N" * 10, room) == "N" * 60
    assert room.left == 40
    with pytest.raises(TooManyMacros, match="where 40 are left"):
        fill_macros("{{user}}" * 5, user="N" * 10, seed="", room=room)


def test_a_chat_of_macros_is_refused_and_the_next_one_is_told() -> None:
    rows: list[Any] = [samples.HEADER]
    for number in range(6):
        rows.append(samples.message("A" * 1_000, "{{user}}" * 20_000, user=number % 2 == 0))
    (large,) = read_file("large.jsonl", samples.jsonl(*rows)).found
    (small,) = read_file("small.jsonl", samples.st_chat()).found
    assert isinstance(large.record, Chat) and isinstance(small.record, Chat)
    stories, refused = plan_stories([("large", large.record), ("small", small.record)])
    assert [story.files for story in stories] == [["small"]]
    assert [each.file for each in refused] == ["large"] and refused[0].why.startswith("message 2: {{user}} stands")


def test_a_card_of_macros_is_refused() -> None:
    entries = [{"keys": ["k"], "content": "{{char}}" * 10_000, "enabled": True} for _ in range(10)]
    raw = samples.plain(samples.card_v2(name="N" * 900, character_book={"entries": entries}))
    (found,) = read_file("x.json", raw).found
    assert isinstance(found.record, Card)
    with pytest.raises(TooManyMacros, match="entry 4: "):
        world_of(found.record, [], "x", Losses())


def test_long_names_are_refused_by_their_field() -> None:
    assert "name has 20,000 characters" in why(samples.plain(samples.card_v2(name="N" * 20_000)))
    assert "nickname has" in why(samples.plain(samples.card_v2(nickname="N" * 20_000)))
    rows = [samples.HEADER, samples.message("A" * 20_000, "I go.", user=True), samples.message("Ysolde", "Go.")]
    assert "the player's name has 20,000" in why(samples.jsonl(*rows))


def test_no_character_of_a_name_turns_the_name_of_a_folder_around() -> None:
    world = world_of(Card(name="Ann\u202egpj\u2066", version="2"), (), "x", Losses()).world
    assert world.name == "Anngpj"


def test_very_many_losses_are_counted_together() -> None:
    losses = Losses()
    for number in range(5_000):
        losses.add(f"extensions.{number}", "dropped", "of another tool", "a.json")
    losses.add("extensions.7", "dropped", "of another tool")
    found = losses.listed()
    assert len(found) == 1_001 and sum(each.count for each in found) == 5_001
    assert (found[-1].field, found[-1].count, found[7].count) == ("other fields", 4_000, 2)


def test_swipes_count_as_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "MESSAGES", 10)
    swipes = [f"It is {number}." for number in range(9)]
    rows = [samples.HEADER, samples.message("Alex", "I go.", user=True)]
    assert read_file("x.jsonl", samples.jsonl(*rows, samples.message("Y", swipes[0], swipes=swipes, swipe_id=0))).found
    more = samples.jsonl(*rows, samples.message("Y", "It is 9.", swipes=[*swipes, "It is 9."], swipe_id=9))
    assert "2 messages and 9 swipes; at most 10 of both" in why(more)
    risu = {"type": "risuChat", "ver": 1, "data": {"name": "x", "message": [
        {"role": "user", "data": "I go."}, {"role": "char", "data": "It is 9.", "swipes": swipes}]}}  # fmt: skip
    assert "9 swipes" in why(json.dumps(risu).encode())


async def test_each_card_and_chat_looks_at_its_own_world_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    looks, stamp = 0, library._stamp

    def counted(folder: Any) -> Any:
        nonlocal looks
        looks += 1
        return stamp(folder)

    monkeypatch.setattr(library, "_stamp", counted)
    files = []
    for number in range(30):
        name = f"Ysolde the {number}."
        told = [samples.message("A", f"I go {number} miles.", user=True), samples.message(name, f"{number} miles!")]
        rows = [{**samples.HEADER, "character_name": name}, *told]
        files.append((f"{number}.json", samples.plain(samples.card_v2(name=name))))
        files.append((f"{number}.jsonl", samples.jsonl(*rows)))
    async with Saga.open(memory_config()) as saga:
        found = await saga.maintenance.import_files(files, ImportOptions())
        assert len(found.things) == 60 and not found.refused
        assert {each.world for each in found.things} == {f"Ysolde the {number}" for number in range(30)}
        there = len(saga.worlds.names())
    assert looks < 8 * there
