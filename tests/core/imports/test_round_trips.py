"""Out again and in again: what is lost is what docs/import.md says."""

from __future__ import annotations

import json
from typing import Any

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from saga_backends.importers.tavern import card_of, chat_of, lorebook_of
from saga_core import Saga
from saga_core.imports import Card, Chat, Lorebook, Losses, read_file, world_of
from saga_core.maintenance import ImportOptions
from saga_core.world import LoreRule, World, parse_world, render_world
from tests.core.imports import samples


def record(plain: Any) -> Any:
    (found,) = read_file("x.json", samples.plain(plain)).found
    return found.record


def world(card: Card) -> World:
    made = world_of(card, [], "x", Losses()).world
    read, _ = parse_world(render_world(made), made.name)
    assert read == made, "its files say all of it"
    return read


def named(text: str) -> str:
    return text.replace("{{char}}", "Ys")


def test_a_card_comes_back() -> None:
    card = record(samples.card_v3())
    back = record(card_of(world(card)))
    texts = "name description personality scenario first_mes mes_example system_prompt creator_notes creator"
    for name in (*texts.split(), "post_history_instructions", "character_version", "depth_prompt"):
        assert getattr(back, name) == named(getattr(card, name)).strip(), name
    assert (back.tags, back.source, back.nickname) == (card.tags, card.source, "Ys")
    assert back.alternate_greetings == (*map(named, card.alternate_greetings), *card.group_only_greetings)


def rules(book: Lorebook) -> list[tuple[str, bool, LoreRule]]:
    return [(item.content, item.constant, item.rule) for item in book.items]


def test_a_lorebook_comes_back_with_its_rules() -> None:
    for sample in (samples.world_info(), samples.character_book(), samples.RISU_LORE, samples.AGNAI_BOOK):
        book = record(sample)
        made = world_of(None, [book], "x", Losses()).world
        read, _ = parse_world(render_world(made), made.name)
        back = record(lorebook_of(read))
        kept = [(text.replace("{{char}}", made.title), constant, rule) for text, constant, rule in rules(book)]
        assert rules(back) == kept


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Cn")), max_size=12)
ENTRIES = st.lists(
    st.fixed_dictionaries(
        {
            "keys": st.lists(NAMES, max_size=3),
            "content": st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cn")), max_size=60),
            "comment": NAMES,
            "extensions": st.fixed_dictionaries({"sticky": st.integers(0, 9), "probability": st.integers(0, 100)}),
            "enabled": st.booleans(),
            "insertion_order": st.integers(-999, 999),
            "constant": st.booleans(),
        }
    ),
    max_size=6,
)


@given(ENTRIES, NAMES, st.text(max_size=80))
def test_whatever_a_card_says_its_world_can_be_written_and_read(
    entries: list[dict[str, Any]], name: str, text: str
) -> None:
    """Titles that look like headings, texts that look like fields, keys with commas: nothing is lost in the files."""
    plain = samples.card_v2(name=name, description=text, character_book={"entries": entries}, first_mes=text)
    raw = json.dumps(plain).encode()
    (found,) = read_file("y.json", raw).found
    assert isinstance(found.record, Card)
    made = world_of(found.record, [], "y", Losses()).world
    files = render_world(made)
    assert parse_world(files, made.name)[0] == made


async def test_a_chat_comes_back_with_its_swipes_and_branches() -> None:
    main, branch = samples.st_chat(turns=5), samples.st_chat(turns=3, tail=" elsewhere", parent="main")
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        files = [("main.jsonl", main), ("branch.jsonl", branch)]
        found = await saga.maintenance.import_files(files, ImportOptions())
        session = found.things[0].session
        assert session is not None
        ends = {"branch": "branch", "main": None}
        for name, raw in (("main", main), ("branch", branch)):
            before = read_file("a.jsonl", raw).found[0].record
            end = ends[name] or (await _end(saga, session, raw))
            written = chat_of(await saga.maintenance.story_path(session, end))
            after = read_file("a.jsonl", written).found[0].record
            assert isinstance(before, Chat) and isinstance(after, Chat)
            told = [(each.role, each.text.replace("{{user}}", "Alex"), each.at) for each in before.messages[1:]]
            assert [(each.role, each.text, each.at) for each in after.messages[1:]] == told
            swipes = [set(each.swipes) for each in before.messages[1:]]
            assert all(ours >= theirs for ours, theirs in zip(
                (set(each.swipes) for each in after.messages[1:]), swipes, strict=True))  # fmt: skip
            again = await saga.maintenance.import_files([(f"{name}.jsonl", written)], ImportOptions())
            assert again.things[0].state == "known" and again.things[0].session == session


async def _end(saga: Saga, session: str, raw: bytes) -> str:
    live = await saga.parts.live.get(session)
    chat = read_file("a", raw).found[0].record
    assert isinstance(chat, Chat)
    turns = await saga.parts.journal.turns(session, list(live.tree.nodes))
    return next(turn.id for turn in turns if turn.reply == chat.messages[-1].text)


def test_what_is_lost_is_told() -> None:
    """A field that does not come back is one that the loss list names."""
    found = read_file("x.json", samples.plain(samples.card_v3())).found[0]
    told = {loss.field.partition(".")[0] for loss in found.losses}
    card = found.record
    assert isinstance(card, Card)
    back = record(card_of(world(card)))
    assert isinstance(back, Card)
    changed = {
        name
        for name in ("creator_notes_multilingual", "creation_date", "modification_date", "group_only_greetings")
        if name in samples.card_v3()["data"]
    }
    assert changed <= told
    assert evolve(back, book=None, alternate_greetings=()) != card
