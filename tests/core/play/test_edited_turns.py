"""A reply that was edited stands in the history: nothing of what it said before is told beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from saga_core import Saga
from saga_core.maintenance.transfer import read_file
from saga_core.model import BLANK
from tests.core.frontend import Frontend

REPLIES = (
    "Borin unlocks the cellar with a brass key. The old wine smells of cherries and dust. Nobody came since the flood.",
    "The mill wheel turns slowly in the green water. A heron stands on the weir and does not move. Borin counts sacks.",
    "Mara brings bread and a jar of honey. She tells of the seal that lies beneath the hearth stone. Nobody listens.",
    "Rain begins at noon and does not stop. The road to Farport is under water, says the carter. He wants his money.",
    "In the evening a lamp burns in the tower window. Borin swears that it is empty since years. The dog growls.",
    "They find a letter under the door, sealed with black wax. It says only one word, in a hand that Mara knows.",
)
LOOKING_BACK = "Wasn't there something about that seal, and the brass key, the heron, the lamp and the letter?"
EDITS = {
    "one letter": lambda text: text.replace("e", "E", 1),
    "a sentence less": lambda text: text.split(". ", 1)[1],
    "a sentence more": lambda text: text + " It is late.",
    "another text": lambda text: text.split(". ")[0] + ". Something quite different happens, far away from here.",
    "other names": lambda text: text.replace("Borin", "Corwin").replace("Mara", "Sela"),
}


@pytest.mark.parametrize("how", EDITS)
@pytest.mark.parametrize("edited", range(len(REPLIES)))
@pytest.mark.parametrize("greeting", ["", "The inn is full tonight, and the rain has not even begun."])
async def test_an_edited_reply_is_not_remembered_beside_itself(edited: int, how: str, greeting: str) -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = Frontend(saga, system="You tell.", greeting=greeting, note="")
        for number, reply in enumerate(REPLIES):
            await chat.say(f"I go on, number {number}, and look for Mara and Borin.", reply, mood="calm")
        message = chat.history[2 * edited + 1]
        message["content"] = EDITS[how](message["content"])
        turn = await chat.begin(LOOKING_BACK)
        assert not [each.text for each in turn.context.pieces if each.source == "recollection"]


async def test_a_turn_that_was_hidden_is_remembered_beside_one_that_was_edited() -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = Frontend(saga, system="You tell.", greeting="", note="")
        for number, reply in enumerate(REPLIES):
            await chat.say(f"I go on, number {number}, and look for Mara and Borin.", reply, mood="calm")
        chat.history[3]["content"] = EDITS["other names"](chat.history[3]["content"])
        del chat.history[4:6]
        turn = await chat.begin(LOOKING_BACK)
        told = "\n".join(each.text for each in turn.context.pieces if each.source == "recollection")
        assert "hearth stone" in told and "heron" not in told


def news(text: str) -> str:
    for old, new in (("old mill", "new mill"), ("cherries", "apples"), ("honey", "butter")):
        text = text.replace(old, new)
    return text


async def edited_in_the_middle(saga: Saga, edit: Callable[[str], str], *, at: int) -> Frontend:
    """A chat of six turns whose message ``at`` is edited, and two turns after that."""
    chat = Frontend(saga, system="You tell.", greeting="", note="")
    for number, reply in enumerate(REPLIES):
        await chat.say(f"I go on, number {number}, and look for Mara and Borin at the old mill.", reply, mood="calm")
    chat.history[at]["content"] = edit(chat.history[at]["content"])
    for number in range(2):
        await chat.say(
            f"I wait, {number}.", f"Nothing happens, but bell number {number} strikes far away.", mood="calm"
        )
        await saga.drain(10)
    return chat


def session_of(chat: Frontend) -> str:
    assert chat.last is not None
    return chat.last.session.id


async def remembered(chat: Frontend, words: str) -> str:
    """What is remembered for ``words`` when the window shows the last turn only."""
    shown, chat.history = chat.history, chat.history[-2:]
    turn = await chat.begin(words)
    chat.history = shown
    return "\n".join(each.text for each in turn.context.pieces if each.source == "recollection")


@pytest.mark.parametrize("at", [1, 2, 4, 5])
async def test_a_small_edit_above_other_turns_is_remembered_as_the_chat_shows_it(at: int) -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = await edited_in_the_middle(saga, news, at=at)
        turn = (await saga.views.turns(session_of(chat)))[at // 2 + 1]
        assert (turn.user, turn.reply)[at % 2] == chat.history[at]["content"]
        words = {1: "apples", 5: "butter"}.get(at, "new mill")
        found = await remembered(chat, f"Where was it, number {at // 2}, with the {words}, and the wine, bread or jar?")
        assert words in found and chat.history[at]["content"] in found
        assert [each["events"][0]["t"] for each in await saga.memory.changes(session_of(chat))] == ["text_edited"]
        assert not (await saga.maintenance.verify()).findings


@pytest.mark.parametrize("how", ["another text", "a sentence less", "a note after the words"])
async def test_what_is_no_small_edit_leaves_the_text_as_it_was(how: str) -> None:
    edit, at = EDITS.get(how, lambda text: text + " [Be brief.]"), 4 if how == "a note after the words" else 5
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = await edited_in_the_middle(saga, edit, at=at)
        assert not await saga.memory.changes(session_of(chat))


async def test_an_edit_is_undone_by_hand_or_by_another_edit_and_lasts_in_another_process(tmp_path: Path) -> None:
    config = {"storage": {"profile": "lite", "path": str(tmp_path)}}
    async with Saga.open(config) as saga:
        chat = await edited_in_the_middle(saga, news, at=5)

    async def reply() -> str:
        return (await chat.saga.views.turns(session_of(chat)))[3].reply

    async with Saga.open(config) as saga:
        chat.saga = saga
        assert await reply() == news(REPLIES[2])
        await chat.say("I go on.", "The road is long and dusty, and nobody speaks for an hour.", mood="calm")
        await saga.drain(10)
        (change,) = await saga.memory.changes(session_of(chat))
        await saga.memory.undo(session_of(chat), change["id"])
        await chat.say("I rest.", "The moon comes up behind the tower, and owls are heard.", mood="calm")
        await saga.drain(10)
        assert await reply() == REPLIES[2]  # the chat still shows the edit
        chat.history[5]["content"] = news(REPLIES[2]).replace("bread", "cake")
        await chat.say("I eat.", "The last of the cheese is dry, and the dog gets the rind.", mood="calm")
        await saga.drain(10)
        assert await reply() == chat.history[5]["content"]
        chat.history[5]["content"] = REPLIES[2]
        await chat.say("I sleep.", "Morning comes with frost on the sill and a cold stove.", mood="calm")
        await saga.drain(10)
        assert await reply() == REPLIES[2]
        assert not (await saga.maintenance.verify()).findings


async def test_an_edit_is_in_exports_and_goes_with_a_forgotten_name() -> None:
    memory = {"storage": {"profile": "memory"}}
    async with Saga.open(memory) as saga, Saga.open(memory) as other:
        chat = await edited_in_the_middle(saga, news, at=5)
        path = await saga.maintenance.story_path(session_of(chat))
        assert path.turns[2].replies == [news(REPLIES[2])]
        raw = b"".join([line async for line in saga.maintenance.export_session(session_of(chat))])
        made = await other.maintenance.import_session(read_file(raw))
        assert (await other.views.turns(made.id))[3].reply == news(REPLIES[2])
        await saga.maintenance.forget_name(session_of(chat), "butter")
        chat.history[5]["content"] = news(REPLIES[2]).replace("bread", "cake")
        await chat.say("I go.", "The lane is white with frost, and no light is left in the village.", mood="calm")
        await saga.drain(10)
        assert (await saga.views.turns(session_of(chat)))[3].reply == news(REPLIES[2]).replace("butter", BLANK)
