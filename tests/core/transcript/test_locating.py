"""Placing a request: its kind and its place together, and what a message at the end is."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core.model import TurnKind
from saga_core.transcript import Located, locate, read_transcript
from tests.core.transcript.known import EN, KO, Shelf, told, user


async def located(shelf: Shelf, messages: list[dict[str, Any]], **options: Any) -> Located:
    given = {"owner": "", "only": None, "world": lambda: "ersia", **options}
    return await locate(shelf.matcher, read_transcript(messages), **given)


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


async def test_a_turn_of_a_known_story_is_placed_with_its_kind() -> None:
    shelf = Shelf()
    _, first = await shelf.story("가자", KO[0])
    found = await located(shelf, [*told("가자", KO[0]), *user("더")])
    assert (found.kind, found.match.parent, found.outside) == (TurnKind.NARRATION, first, False)


async def test_a_side_request_that_shows_nothing_known_is_outside() -> None:
    shelf = Shelf()
    await shelf.story("go", EN[0])
    task = user("Translate the following text: it rains")
    found = await located(shelf, task)
    assert (found.kind, found.outside) == (TurnKind.SIDE, True)
    assert (await located(shelf, task, only=shelf.sessions["s1"])).outside
    note = {"role": "system", "content": "Summarize the story."}
    known = await located(shelf, [*told("go", EN[0]), note])
    assert (known.kind, known.outside) == (TurnKind.SIDE, False)


@pytest.mark.parametrize("reply", [KO[0], EN[0]])
async def test_a_request_that_quotes_a_known_reply_in_no_chat_is_aside(reply: str) -> None:
    shelf = Shelf()
    await shelf.story("go", reply)
    messages = [{"role": "system", "content": "Answer in a word."}, *user(f"Mood?\n{reply}")]
    assert (await located(shelf, messages)).kind is TurnKind.SIDE
    assert (
        await located(shelf, [messages[0], *user("Mood?\nof another text that nobody told")])
    ).kind is TurnKind.NARRATION


async def test_an_unfinished_known_reply_is_to_go_on() -> None:
    shelf = Shelf()
    _, first = await shelf.story("go", EN[0])
    found = await located(shelf, told("go", EN[0]))
    assert (found.kind, found.match.parent) == (TurnKind.CONTINUATION, first)
    edited = await located(shelf, told("I go, slowly", EN[0]))
    assert (edited.kind, edited.match.parent) == (TurnKind.CONTINUATION, first), "also under words that were edited"


@pytest.mark.parametrize(
    "change", [lambda text: text[:30], lambda text: f"{text} And more.", lambda text: text.replace("lamp", "lantern")]
)
async def test_so_is_one_that_was_stopped_grown_or_edited(change: Any) -> None:
    shelf = Shelf()
    _, first, _ = await shelf.story("go", EN[0], "on", EN[0].replace("wind", "rain"))
    found = await located(shelf, [*told("go", EN[0]), *user("on"), assistant(change(EN[0].replace("wind", "rain")))])
    assert found.kind is TurnKind.CONTINUATION and found.transcript.prefill == ""
    assert found.match.parent == first and found.match.unknown[-1].text.startswith("The rain")


@pytest.mark.parametrize("prefill", ["Mina:", "그녀는 말했다:", "The moon is made of an old green cheese, they say."])
async def test_words_put_into_the_mouth_of_the_reply_stand_in_no_story(prefill: str) -> None:
    shelf = Shelf()
    _, first = await shelf.story("go", EN[0])
    found = await located(shelf, [*told("go", EN[0]), *user("on"), assistant(prefill)])
    assert (found.kind, found.match.parent, found.match.unknown) == (TurnKind.NARRATION, first, ())
    assert found.transcript.prefill == prefill and found.transcript.player_words == "on"


async def test_a_prefill_in_a_chat_that_nobody_knows_is_left_out_too() -> None:
    found = await located(Shelf(), [*user("on"), assistant("Mina:")])
    assert (found.match.session, found.transcript.prefill) == (None, "Mina:")
