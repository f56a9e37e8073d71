"""Lore that keeps its rules, from a file through the import to what is told, against the page's own reading of it."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from saga_core.imports import Lorebook, Losses, read_file, world_of
from saga_core.recall import AuthoredLore, LoreMoment
from saga_core.world import parse_world, render_world
from tests.core.recall.lore_page import made_up
from tests.core.recall.lore_page.oracle import Past, Said, Scene, tell
from tests.core.recall.lore_page.rule import Rule, book_rules, world_info_rules

GREETING = Said("char", "A quiet morning.")
TRIGGERS = ("normal", "normal", "swipe", "normal", "continue", "normal", "normal")
Story = tuple[dict[str, Any], list[Rule], list[Said]]


def imported(plain: dict[str, Any]) -> AuthoredLore:
    """The lore of a file, in the form in which its world's files have it."""
    (found,) = read_file("book.json", json.dumps(plain).encode()).found
    assert isinstance(found.record, Lorebook)
    made = world_of(None, [found.record], "Ysolde", Losses(), mode="keep").world
    read, _ = parse_world(render_world(made), made.name)
    return AuthoredLore(read.lore)


def at(lore: AuthoredLore, scene: Scene, told: dict[str, int], **more: Any) -> LoreMoment:
    return LoreMoment(
        messages=[said.text for said in reversed(scene.chat)][: lore.deepest],
        count=scene.count,
        replies=scene.replies - 1,  # without the greeting
        triggers=frozenset({scene.trigger}),
        characters=frozenset({scene.character.casefold()}),
        user=scene.user,
        told=told,
        **{"seed": f"t{scene.count}", **more},
    )


def made_story(number: int, entries: int, texts: int) -> Story:
    dice = random.Random(f"lore {number}")
    make = (made_up.world_info, made_up.tavern_card_book, made_up.v3_book)[number % 3]
    plain = make(dice, entries)
    rules = world_info_rules(plain) if "entries" in plain else book_rules(plain["data"])
    return plain, rules, [GREETING, *made_up.chat(dice, texts - 1)]


def differences(story: Story, room: int | None = None) -> list[tuple[int, set[str]]]:
    """The requests of a chat at which the two do not tell the same, with the entries that only one tells."""
    plain, rules, chat = story
    lore, past, told = imported(plain), Past(), dict[str, int]()
    found = []
    for place, count in enumerate(range(2, len(chat) + 1, 2)):
        scene = Scene(chat[:count], trigger=TRIGGERS[place % len(TRIGGERS)])
        fired = lore.fire(at(lore, scene, told, budget=room))
        told |= {each.entry.name: count for each in fired if each.why in ("key", "constant")}
        theirs = set(tell(rules, scene, past, room=float("inf") if room is None else room))
        if unlike := {each.entry.name for each in fired} ^ theirs:
            found.append((count, unlike))
    return found


@pytest.mark.parametrize("number", range(6))
def test_the_same_entries_are_told(number: int) -> None:
    pytest.importorskip("re2", reason="patterns that repeat want the linear engine")
    assert differences(made_story(number, 40, 50)) == []


def test_the_same_entries_have_room() -> None:
    pytest.importorskip("re2", reason="patterns that repeat want the linear engine")
    story = made_story(0, 40, 30)
    assert [differences(story, room) for room in (0, 100, 400)] == [[], [], []]


@pytest.mark.deep
@pytest.mark.parametrize("number", range(20))
def test_2000_entries_and_500_texts_each(number: int) -> None:
    pytest.importorskip("re2", reason="patterns that repeat want the linear engine")
    story = made_story(number, 100, 500)
    assert differences(story) == []
    assert differences(story, 1_500) == []


# -- the reference itself, by the manual's examples --------------------------------------------------------------


def rule(name: str, *keys: str, **more: Any) -> Rule:
    return Rule(**{"name": name, "keys": keys, "content": f"{name} is told.", **more})


def once(*rules: Rule, text: str) -> set[str]:
    return set(tell(rules, Scene([GREETING, Said("user", text)]), Past()))


def test_the_manuals_examples() -> None:
    bessie = rule("one", "Bessie", content="Bessie is a cow and a friend of Rufus.")
    assert once(bessie, rule("two", "Rufus"), text="Where is Bessie?") == {"one", "two"}
    songs = [
        rule(name, "song", "sing", key, groups=("songs",), scoring=True, override=True, order=order)
        for name, key, order in (("cat", "Black Cat", 2), ("ghosts", "Ghosts", 1))
    ]
    assert once(*songs, text="sing me a song") == {"cat"}
    assert once(*songs, text="sing me a song about Ghosts") == {"ghosts"}
    king = rule("king", "king", whole=True)
    assert once(king, text="long live the king") == {"king"}
    assert once(king, text="it's not to my liking") == set()
    assert once(rule("rose", "Rose", case=True), text="a rose") == set()


def test_times_go_by_messages() -> None:
    timed, past = rule("e", "key", sticky=3, cooldown=2, delay=2), Past()
    told = [bool(tell([timed], Scene([Said("user", "key")] * count), past)) for count in range(1, 8)]
    assert told == [False, True, True, True, False, False, True]


# -- what the dice decide ----------------------------------------------------------------------------------------


def dice_book() -> dict[str, Any]:
    """One entry of two chances, and two of a group with weights of 30 and 90."""
    entry = {"key": ["key"], "content": "Told.", "useProbability": True, "probability": 100, "order": 1, "group": ""}
    rows = (
        {**entry, "comment": "half", "probability": 50},
        {**entry, "comment": "light", "group": "pair", "groupWeight": 30},
        {**entry, "comment": "heavy", "group": "pair", "groupWeight": 90},
    )
    return {"entries": {str(number): row for number, row in enumerate(rows)}}


def test_a_turn_decides_what_is_left_to_chance() -> None:
    lore, scene = imported(dice_book()), Scene([GREETING, Said("user", "a key")])
    turns = [[each.entry.name for each in lore.fire(at(lore, scene, {}, seed=f"t{turn}"))] for turn in range(400)]
    again = [[each.entry.name for each in lore.fire(at(lore, scene, {}, seed=f"t{turn}"))] for turn in range(400)]
    assert turns == again, "the same turn is told the same"
    assert all(("light" in told) != ("heavy" in told) for told in turns), "one of a group"
    assert 150 < sum("half" in told for told in turns) < 250
    assert 60 < sum("light" in told for told in turns) < 140
