"""What can be looked at of a session: its states, its turns, its tree, its graph, its pages, and why."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from saga_core import Saga
from saga_core.errors import NotFound, NotSupported
from tests.core.frontend import MEMORY, Frontend, memory_config


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open(memory_config()) as opened:
        yield opened


@pytest.fixture
async def chat(saga: Saga) -> Frontend:
    found = Frontend(saga, session="모험")
    await found.say("숲으로 간다.", "어두운 숲에 들어선다. 열쇠가 반짝인다.", hp_change=-5)
    await found.say("더 간다.", "다리가 하나 나온다. 물이 깊다.", hp_change=-5)
    await saga.drain(10)
    return found


async def test_a_state_is_the_heads_or_that_of_a_turn(saga: Saga, chat: Frontend) -> None:
    assert chat.last is not None
    first = chat.last.parent.id
    head, above = await saga.views.state("모험"), await saga.views.state("모험", first)
    assert (head.turn, above.turn) == (chat.last.id, first)
    assert ((await saga.views.describe("모험"))["hp"], (await saga.views.describe("모험", first))["hp"]) == (90, 95)
    for unknown in (("모험", "t9"), ("nobody", None)):
        with pytest.raises(NotFound):
            await saga.views.state(*unknown)


async def test_turns_of_a_path_are_bounded_at_both_ends_and_have_all_that_is_known(saga: Saga, chat: Frontend) -> None:
    assert [turn.depth for turn in await saga.views.turns("모험")] == [0, 1, 2]
    assert [turn.depth for turn in await saga.views.turns("모험", from_turn=1, to_turn=1)] == [1]
    assert [turn.depth for turn in await saga.views.turns("모험", to_turn=0)] == [0]
    (_, first, _) = await saga.views.turns("모험")
    await saga.memory.correct("모험", "hp", {"who": "아리아", "hp": "40"}, first.id)
    (again,) = await saga.views.turns("모험", from_turn=1, head=first.id)
    assert len(again.delta.events) > len(first.delta.events)


async def test_the_tree_shows_every_branch_by_the_beginning_of_what_was_said(saga: Saga, chat: Frontend) -> None:
    await chat.swipe("가" * 200)
    tree = await saga.views.tree("모험")
    assert chat.last is not None and tree["head"] == chat.last.id and len(tree["nodes"]) == 4
    assert {len(node["reply"]) for node in tree["nodes"] if node["id"] == tree["head"]} == {80}
    assert next(node for node in tree["nodes"] if node["parent"] is None)["id"] == tree["root"]


async def test_the_graph_is_that_of_the_head_with_its_edges_in_words(saga: Saga, chat: Frontend) -> None:
    graph = await saga.views.graph("모험")
    assert chat.last is not None and graph["watermark"] == chat.last.id
    ids = {node["id"] for node in graph["nodes"]}
    assert graph["edges"] and all({edge["source"], edge["target"]} <= ids for edge in graph["edges"])
    assert any("아리아" in line for line in graph["words"])
    with pytest.raises(NotSupported, match=r"has no query language; choose one that has in storage\.graph"):
        await saga.views.graph_query("MATCH (n) RETURN n", timeout=1.0, limit=1)


async def test_pages_are_shown_and_made_anew(saga: Saga, chat: Frontend) -> None:
    pages, folder = await saga.views.pages("모험")
    assert pages is not None and folder is None and "90" in pages.files["state.md"]
    assert (await saga.views.regenerate_pages("모험")).files == pages.files
    async with Saga.open({**MEMORY, "md_cache": {"enabled": False}}) as without:
        await Frontend(without, session="모험").say("가자.", "간다. 길이 멀고 험하다.")
        assert await without.views.pages("모험") == (None, None)
        with pytest.raises(NotSupported, match=r"md_cache\.enabled is false"):
            await without.views.regenerate_pages("모험")


async def test_turns_are_searched_on_the_active_path(saga: Saga, chat: Frontend) -> None:
    (found,) = await saga.views.search("열쇠", session_id="모험")
    assert found["depth"] == 1 and "열쇠" in found["text"] and found["score"] > 0
    assert await saga.views.search("용", session_id="모험") == []


async def test_why_something_was_told_is_at_hand_or_read_anew(saga: Saga, chat: Frontend) -> None:
    assert chat.last is not None
    told = await saga.views.explain("모험")
    assert (told["turn"], told["anew"]) == (chat.last.id, False)
    root = await saga.views.explain("모험", "0")
    assert root["anew"] and root["turn"] == chat.last.session.root
    with pytest.raises(NotFound):
        await saga.views.explain("모험", "탑")


async def test_what_stands_in_the_chat_or_in_the_pages_is_not_called_untold(saga: Saga) -> None:
    chat = Frontend(saga, session="긴 모험")
    await chat.say("숲으로 간다.", "어두운 숲에 들어선다. 은빛 열쇠가 반짝인다.", notes="파란 편지는 우물에 있다")
    for step in range(12):
        await chat.say(f"{step}째 길을 간다.", f"{step}째 갈림길이 나온다.")
    (row, *_) = (await saga.views.why_untold("긴 모험", "은빛 열쇠가 반짝인다"))["found"]
    assert (row["kind"], row["turn"], row["reason"]) == ("turn", 1, "in_chat")
    (row, *_) = (await saga.views.why_untold("긴 모험", "파란 편지는 우물에 있다"))["found"]
    assert (row["kind"], row["reason"]) == ("page", "in_front")
