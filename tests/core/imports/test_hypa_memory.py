"""Summaries of RisuAI's HypaV3: the story so far of the chats that they came with."""

from __future__ import annotations

from typing import Any

from saga_core import Saga
from saga_core.imports import Chat, ChatSummary, read_file
from saga_core.maintenance import ImportOptions
from saga_core.model import Delta, Source, StoryPart, deltas
from tests.core.imports import samples


def said(turns: int, tail: str = "") -> list[dict[str, Any]]:
    """So many turns; from the third on they are those of ``tail``."""
    rows = []
    for turn in range(1, turns + 1):
        end = tail if turn > 2 else ""
        rows += [
            {"role": "user", "data": f"On to the {turn}th ford{end}.", "chatId": f"u{turn}{end}"},
            {"role": "char", "data": f"The {turn}th ford lies still{end}.", "chatId": f"c{turn}{end}"},
        ]
    return rows


def summary(text: str, *memos: str, **more: Any) -> dict[str, Any]:
    return {"text": text, "chatMemos": list(memos), "isImportant": False, **more}


def one_chat(turns: int = 4) -> bytes:
    """A chat whose second summary shares a message with the first, and whose third has lost its messages."""
    told = [
        summary("They crossed\nthe first two fords.", "u1", "c1", "u2", "c2"),
        summary("The third was cold.", "c2", "u3", "c3"),
        summary("Nobody knows when.", "gone"),
        summary("", "u4"),
    ]
    if turns > 4:
        told.append(summary("{{user}} crossed the fourth and the fifth.", "u4", "c4", "u5", "c5", tags=["water"]))
    data = {"name": "Fords", "message": said(turns), "hypaV3Data": {"summaries": told}}
    return samples.plain({"type": "risuChat", "ver": 2, "data": data})


def two_chats() -> bytes:
    """Two chats that part after the second turn, each with what it told of its own end."""
    chats = [
        {
            "name": f"Fords{tail}",
            "message": said(4, tail),
            "hypaV3Data": {"summaries": [
                summary("Two fords.", "u1", "c2"), summary(f"The end{tail}.", f"u3{tail}", f"c4{tail}"),
            ]},
        }
        for tail in (" east", " west")
    ]  # fmt: skip
    return samples.plain({"type": "risuAllChats", "ver": 2, "data": chats})


def test_summaries_have_the_places_of_their_messages() -> None:
    (found,) = read_file("x", one_chat()).found
    assert isinstance(found.record, Chat)
    assert found.record.summaries == (
        ChatSummary("They crossed the first two fords.", 0, 3),
        ChatSummary("The third was cold.", 4, 5),
    )
    why = {loss.why for loss in found.losses if loss.field == "summaries"}
    assert why == {"none of its messages is in the chat", "it has no text"}


def test_a_summary_within_another_is_told_once() -> None:
    data = {"message": said(2), "hypaV3Data": {"summaries": [summary("All.", "u1", "c2"), summary("Part.", "u2")]}}
    (found,) = read_file("x", samples.plain({"type": "risuChat", "data": data})).found
    assert isinstance(found.record, Chat)
    assert [each.text for each in found.record.summaries] == ["All."]
    assert any("told by another" in loss.why for loss in found.losses)


async def story(saga: Saga, session: str, turn: str) -> list[tuple[int, int, str]]:
    live = await saga.parts.live.get(session)
    state = await live.state(turn)
    assert all(isinstance(part, StoryPart) for part in state.story)
    return [(part.first, part.last, part.text) for part in state.story]


async def test_a_chat_has_its_story_and_more_of_it_when_it_has_grown() -> None:
    first = [(1, 2, "They crossed the first two fords."), (3, 3, "The third was cold.")]
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        (thing,) = (await saga.maintenance.import_files([("a", one_chat())], ImportOptions())).things
        session = thing.session
        assert session is not None
        live = await saga.parts.live.get(session)
        assert await story(saga, session, live.head) == first
        assert await story(saga, session, live.tree.get(live.head).parent or "") == first
        (again,) = (await saga.maintenance.import_files([("a", one_chat(6))], ImportOptions())).things
        assert (again.state, again.session) == ("grown", session)
        live = await saga.parts.live.get(session)
        told = await story(saga, session, live.head)
        assert told == [*first, (4, 5, "{{user}} crossed the fourth and the fifth.")]


async def test_each_branch_has_its_own_story() -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        things = (await saga.maintenance.import_files([("a", two_chats())], ImportOptions())).things
        (session,) = {thing.session for thing in things}
        assert session is not None
        live = await saga.parts.live.get(session)
        (line,) = live.timelines.values()
        ends = [await story(saga, session, turn) for turn in (live.head, line.head)]
        assert sorted(ends) == [[(1, 2, "Two fords."), (3, 4, f"The end{tail}.")] for tail in (" east", " west")]


def test_what_is_read_later_leaves_the_story() -> None:
    part = Delta((deltas.StoryTold("scene", 1, 2, "Two fords."),), Source.CURATION, id="a1")
    read = Delta((deltas.Noted("x"),), Source.EXTRACTION)
    assert Delta().amended([part, read]).events == (*read.events, *part.events)
