"""Names that stand only in the text about the player are the player's, once a report has her deal with others."""

from __future__ import annotations

import pytest

from saga_core import Saga
from saga_core.model import Kind
from tests.core.frontend import Frontend

CARD = (
    "Write Ewan's next reply in a fictional chat between Ewan and Josephine.\n\n"
    "Josephine is Josephine Marrable, 31, stewardess. Nobody aboard has ever called her anything but Joss. Her younger"
    " sister, always Miss Cecily, was left at home.\n\n"
    "Ewan Teague, 44, bosun. Also saved: Wilf, the galley boy."
)
JOSS = "present: [Ewan]\nitems_transferred: [{item: lantern, from: Ewan, to: Joss}]"


async def people(*blocks: str, card: str = CARD, told: str = "The wind howls.") -> tuple[set[str], set[str]]:
    """The player's names, and the others'."""
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = Frontend(saga, system=card, greeting="", note="")
        for number, block in enumerate(blocks):
            await chat.say(f"I go on ({number}).", f"{told}\n\n```state\n{block}\n```")
            await saga.background.drain(20)
        assert chat.last is not None
        state = await saga.views.state(chat.last.session.id)
        everybody = list(state.of_kind(Kind.CHARACTER))
        own = next(set(each.names) for each in everybody if each.id == state.player)
        return own, {each.name for each in everybody if each.id != state.player}


async def test_a_name_that_no_word_marks() -> None:
    own, others = await people("location: beach\npresent: [Ewan, Wilf]", JOSS)
    assert "Joss" in own
    assert others == {"Ewan", "Wilf"}


async def test_what_was_taken_for_another_is_joined() -> None:
    own, others = await people("location: beach\nstatus_changes: [{name: Joss, status: wet}]", JOSS)
    assert "Joss" in own
    assert others == {"Ewan"}


@pytest.mark.parametrize(
    "block",
    [
        "present: [Ewan, Miss Cecily]\nrelationship_changes: [{from: Ewan, to: Miss Cecily, type: polite, delta: 1}]",
        "present: [Ewan]\nrelationship_changes: [{from: Josephine, to: Miss Cecily, type: love, delta: 1}]",
        "present: [Ewan]\nitems_transferred: [{item: letter, from: Joss, to: Miss Cecily}]",
        "present: [Ewan]\nrelationship_changes: [{from: Miss Cecily, to: Hugo, type: love, delta: 1}]",
    ],
    ids=["who is here", "beside the player's name", "beside another such name", "with somebody elsewhere"],
)
async def test_a_sister_of_whom_the_text_tells_is_not_the_player(block: str) -> None:
    own, others = await people("location: beach\npresent: [Ewan]", block)
    assert not any("Cecily" in name for name in own)
    assert any("Cecily" in name for name in others)


ROOM = "Jules rents the room in Roz's flat."
GIVES = "Hattie gives Roz a note and goes. Roz leans in the doorway."
NOTE = "present: [Roz]\nitems_transferred: [{item: five-pound note, from: Hattie, to: Roz}]"


@pytest.mark.parametrize("lists", ["present: [Roz, Jules]", "present: [Roz, Player]", "present: [Roz (tired), you]"])
async def test_who_is_listed_beside_the_player_never_is_the_player(lists: str) -> None:
    card = f"The story of a fictional chat between Roz and Jules.\n\n{ROOM}"
    for blocks in ((lists, NOTE), (lists, "present: [Roz]", NOTE)):
        own, others = await people("present: [Roz]", *blocks, card=card, told=GIVES)
        assert "Roz" not in own
        assert "Roz" in others


async def test_whose_next_reply_is_asked_for_never_is_the_player() -> None:
    card = f"Write Roz's next reply in a fictional chat between Roz and Jules.\n\n{ROOM}"
    own, others = await people("location: flat", "present: [Jules]", NOTE, card=card, told=GIVES)
    assert "Roz" not in own
    assert "Roz" in others


async def test_that_the_narrator_lists_the_player_is_a_habit_and_nothing_that_is_told() -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = Frontend(saga, system=CARD, greeting="", note="")
        for number in range(2):
            await chat.say(
                f"I go on ({number}).", "Wind.\n\n```state\nlocation: beach\nnpc_met: [Josephine, Ewan]\n```"
            )
            await saga.background.drain(20)
        assert chat.last is not None
        described = await saga.describe(chat.last.session.id)
        assert described["habits"] == ["player_listed"]
        assert described["npcs_present"] == ["Ewan"]
        begun = await chat.begin("I look around.")
        assert "listed" not in begun.context.text
