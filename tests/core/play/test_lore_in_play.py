"""Lore with times of its own in a chat that is played: told at the requests at which its format's rules tell it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from saga_core import Saga
from saga_core.context import sources
from saga_core.imports import Lorebook, Losses, read_file, world_of
from saga_core.world import fill_macros, render_world, write_world
from tests.core.frontend import Frontend
from tests.core.recall.lore_page.oracle import Past, Said, Scene, tell
from tests.core.recall.lore_page.rule import book_rules

WORDS = ("the mill", "a key", "the old bridge", "Mira's letter", "nothing at all")


def entry(name: str, keys: list[str], head: str = "", **own: Any) -> dict[str, Any]:
    return {
        "name": name, "keys": keys, "secondary_keys": [], "content": f"{head}{name} stands in the book of the house.",
        "extensions": own, "enabled": True, "insertion_order": 10, "selective": False, "use_regex": False,
    }  # fmt: skip


def book() -> dict[str, Any]:
    """An entry for each rule that counts messages, replies, or what was told before."""
    tavern = {"selectiveLogic": 0, "probability": 100, "useProbability": True}
    return {
        "entries": [
            entry("Sticky", ["key"], **tavern, sticky=3),
            entry("Resting", ["mill"], **tavern, cooldown=5),
            entry("Both", ["bridge"], **tavern, sticky=3, cooldown=3),
            entry("Delayed", ["mill", "key"], **tavern, delay=7),
            entry("Deep", ["letter"], **tavern, scan_depth=5),
            entry("After", ["mill", "key"], "@@activate_only_after 4\n"),
            entry("Every", ["mill", "key", "bridge"], "@@activate_only_every 3\n"),
            entry("Kept", ["bridge"], "@@keep_activate_after_match\n"),
            entry("Once", ["key"], "@@dont_activate_after_match\n"),
        ]
    }


async def test_what_is_told_at_each_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = {"spec": "lorebook_v3", "data": book()}
    (found,) = read_file("book.json", json.dumps(plain).encode()).found
    assert isinstance(found.record, Lorebook)
    world = world_of(None, [found.record], "House", Losses(), mode="keep").world
    write_world(tmp_path / "worlds", world.name, render_world(world), {}, {})
    monkeypatch.chdir(tmp_path)
    rules, past, dice = book_rules(plain["data"]), Past(), random.Random(5)
    config = {"storage": {"profile": "memory"}, "session": {"default_world": world.name}}
    async with Saga.open(config) as saga:
        front = Frontend(saga, greeting="A quiet morning.", system="You tell a story.")
        said = [Said("char", "A quiet morning.")]
        for turn in range(14):
            words = f"We look at {dice.choice(WORDS)}, for the {turn}th time."
            said.append(Said("user", words))
            pending = await front.say(words, reply := f"They saw {dice.choice(WORDS)}.")
            text = pending.context.text
            told = {each.name for each in rules if f"{each.name} stands in the book" in text}
            assert told == set(tell(rules, Scene(said), past)), turn
            said.append(Said("char", reply))
    assert past.told == {each.name for each in rules}, "each of them was told at some turn"


async def test_lore_of_megabytes_is_not_filled_at_a_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = {**entry("Large", []), "content": "{{user}}" * 100_000, "constant": True}
    plain = {"spec": "lorebook_v3", "data": {"entries": [large, {**entry("Small", []), "constant": True}]}}
    (found,) = read_file("book.json", json.dumps(plain).encode()).found
    assert isinstance(found.record, Lorebook)
    world = world_of(None, [found.record], "House", Losses(), mode="keep").world
    write_world(tmp_path / "worlds", world.name, render_world(world), {}, {})
    monkeypatch.chdir(tmp_path)
    filled: list[int] = []
    real = fill_macros

    def counted(text: str, **given: Any) -> str:
        filled.append(len(text))
        return real(text, **given)

    monkeypatch.setattr(sources, "fill_macros", counted)
    async with Saga.open({"storage": {"profile": "memory"}, "session": {"default_world": world.name}}) as saga:
        pending = await Frontend(saga, system="You tell a story.").say("I go.", "They went.")
        assert "Small stands in the book" in pending.context.text
        (skipped,) = (each for each in pending.context.skipped if each.too_long)
        assert skipped.text.startswith("Large: {{user}}") and len(skipped.text) < 300
    assert max(filled, default=0) <= sources.MOST_TOLD


async def test_words_that_are_tried_find_what_a_turn_with_them_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = {"spec": "lorebook_v3", "data": {"entries": [entry("Inn", ["inn"]), entry("Far", ["rope"])]}}
    (found,) = read_file("book.json", json.dumps(plain).encode()).found
    assert isinstance(found.record, Lorebook)
    world = world_of(None, [found.record], "House", Losses(), mode="keep").world
    write_world(tmp_path / "worlds", world.name, render_world(world), {}, {})
    monkeypatch.chdir(tmp_path)
    async with Saga.open({"storage": {"profile": "memory"}, "session": {"default_world": world.name}}) as saga:
        front = Frontend(saga, session="one", greeting="", system="You tell a story.")
        await front.say("I go.", "They went.")
        tried = await saga.views.explain("one", text="We look at the inn.")
        turn = await front.begin("We look at the inn.")
        assert "Inn stands in the book" in turn.context.text
        lore = [[each.text for each in turn.context.pieces if each.source == "lorebook"]]
        lore += [[each["text"] for each in tried["pieces"] if each["source"] == "lorebook"]]
        assert lore[0] == lore[1] and "Inn stands in the book" in tried["text"]
