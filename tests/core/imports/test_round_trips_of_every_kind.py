"""Made-up files of every kind, in and out and in again: what is lost is what docs/import.md says."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from saga_backends.importers.tavern import card_of, chat_of, lorebook_of
from saga_core import Saga
from saga_core.imports import Card, Chat, ChatMessage, Lorebook, Losses, plan_stories, read_file, world_of
from saga_core.maintenance import ImportOptions
from saga_core.maintenance.story_turns import add_story
from saga_core.world import LoreRule, World, parse_world, render_world
from tests.core.imports.every_field import FIELDS, FILES, FIXED, NEEDED, Part

WORDS = st.text("aZ é한字あ😀0.,:;-_'", max_size=12).map(lambda text: f"w{' '.join(text.split())}x")
NAMES = st.sampled_from(["Ysolde", "미라 한", "Jean-Luc d'Or", "小雨"])
Case = tuple[str, tuple[str, ...], Callable[[Part], bytes]]


def some(data: st.DataObject, case: Case) -> bytes:
    """A file of a kind with some fields, whose free texts are anything."""
    _, tables, build = case
    drawn: dict[str, dict[str, Any]] = {}
    for table in tables:
        fields = FIELDS[table]
        chosen = data.draw(st.sets(st.sampled_from(sorted(fields)))) | NEEDED.get(table, set())
        free = {name for name, value in fields.items() if isinstance(value, str) and value and name not in FIXED}
        if table in ("kobold_chat", "decorators"):
            free = set()
        drawn[table] = {
            name: data.draw(NAMES if "name" in name else WORDS) if name in free else fields[name]
            for name in sorted(fields)
            if name in chosen
        }
    return build(drawn.__getitem__)


def through_files(world: World) -> World:
    read, _ = parse_world(render_world(world), world.name)
    assert read == world, "its files say all of it"
    return read


def rules(book: Lorebook, title: str) -> list[tuple[str, bool, LoreRule]]:
    return [(item.content.replace("{{char}}", title), item.constant, item.rule) for item in book.items]


def with_names(book: Lorebook, world: World) -> Lorebook:
    """The book with the names of its entries as keys where they have none: so SAGA finds them."""
    items = [
        item if item.rule.keys else evolve(item, rule=evolve(item.rule, keys=(entry.name, *entry.aliases)))
        for item, entry in zip(book.items, world.lore, strict=True)
    ]
    return evolve(book, items=tuple(items))


BOOKS = [case for case in FILES if case[0].endswith(("book", "_info", "_v3"))]
CARDS = [case for case in FILES if case[0] == "card"]
CHATS = [case for case in FILES if case[0].endswith("_chat") or case[0] == "openai_messages"]


@given(case=st.sampled_from(BOOKS), data=st.data())
def test_a_lorebook_of_any_kind_comes_back_with_its_rules(case: Case, data: st.DataObject) -> None:
    (found,) = read_file("x", some(data, case)).found
    assert isinstance(found.record, Lorebook)
    world = through_files(world_of(None, [found.record], "x", Losses()).world)
    (back,) = read_file("x", json.dumps(lorebook_of(world)).encode()).found
    assert isinstance(back.record, Lorebook)
    assert rules(back.record, world.title) == rules(with_names(found.record, world), world.title)


@given(case=st.sampled_from(CARDS), data=st.data())
def test_a_card_of_any_kind_comes_back(case: Case, data: st.DataObject) -> None:
    found = read_file("x", some(data, case)).found[0]
    card = found.record
    assert isinstance(card, Card)
    world = through_files(world_of(card, [], "x", Losses()).world)
    (again,) = read_file("x", json.dumps(card_of(world)).encode()).found
    back = again.record
    assert isinstance(back, Card)
    called = card.nickname or card.name or "x"

    def named(text: str) -> str:
        return text.replace("{{char}}", called).strip()

    texts = "description personality scenario first_mes mes_example system_prompt creator_notes creator depth_prompt"
    for name in (*texts.split(), "post_history_instructions", "character_version"):
        assert getattr(back, name) == named(getattr(card, name)), name
    assert (back.tags, back.source) == (card.tags, card.source)
    greetings = (*card.alternate_greetings, *card.group_only_greetings)
    assert back.alternate_greetings == tuple(map(named, greetings))
    assert back.book is not None
    assert rules(back.book, called) == rules(with_names(card.book or Lorebook(), world), called)


@settings(max_examples=settings().max_examples // 4, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(case=st.sampled_from(CHATS), data=st.data())
async def test_a_chat_of_any_kind_comes_back(case: Case, data: st.DataObject) -> None:
    raw = some(data, case)
    found = next(found for found in read_file("x", raw).found if isinstance(found.record, Chat))
    before = found.record
    assert isinstance(before, Chat)
    async with Saga.open({"storage": {"profile": "memory"}, "session": {"default_world": "harrow"}}) as saga:
        (story,), _ = plan_stories([("x", before)])
        made = await add_story(saga.maintenance.tools, story, "", saga.worlds.get("harrow"), "x")
        written = chat_of(await saga.maintenance.story_path(made.id))
        after = read_file("x.jsonl", written).found[0].record
        assert isinstance(after, Chat)
        assert told(after) == told(before)
        again = await saga.maintenance.import_files([("x.jsonl", written)], ImportOptions())
        assert [(each.state, each.session) for each in again.things] == [("known", made.id)]


def told(chat: Chat) -> list[Any]:
    """What of a chat is to come back: its texts up to the last reply, who says them, and the replies not taken.

    In a group the speaker stands before each reply.
    """
    rows: list[Any] = []
    for each in chat.messages:
        named = bool(chat.members) and each.role == "assistant" and bool(each.speaker)
        text = f"{each.speaker}: {each.text}" if named else each.text
        rows.append((each.role, text, {f"{each.speaker}: {swipe}" if named else swipe for swipe in each.swipes}))
    while rows and rows[-1][0] == "user":
        rows.pop()
    return rows


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The gate opens.", "Mara: The gate opens."),
        ("Note: the gate opens.", "Mara: Note: the gate opens."),  # no name, though it looks like one
        ("Mara: The gate opens.", "Mara: The gate opens."),
        ("Mara：The gate opens.", "Mara：The gate opens."),
    ],
)
def test_a_reply_in_a_group_has_its_speaker_once(text: str, kept: str) -> None:
    said = [("user", "Dez", "I knock."), ("assistant", "Mara", text), ("assistant", "Ezra", "Who is it?")]
    chat = Chat.of("x", [ChatMessage(role=role, speaker=name, text=line) for role, name, line in said])
    (story,), _ = plan_stories([("x", chat)])
    assert [turn.reply for turn in story.turns][:1] == [kept]
