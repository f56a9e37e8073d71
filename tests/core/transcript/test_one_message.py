"""A chat in one message: who speaks, and what is the frontend's."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core.model import TurnKind
from saga_core.transcript import Located, locate, read_transcript
from tests.core.transcript.known import EN, KO, Shelf, user

NARRATION, CONTINUATION, SIDE = TurnKind.NARRATION, TurnKind.CONTINUATION, TurnKind.SIDE
CARD = "Mera keeps the gate.\n\nName: Mera\nAge: 41\nScenario: a toll house by the river\n\n[Start a new Chat]"
ON = "[Continue your last message without repeating its original content.]"
PLAY = f"{EN[0]}\n\nGuard: Halt!\nGuard: Who goes there?\n\nNobody answers him."


async def of_ersia() -> str:
    return "ersia"


async def located(shelf: Shelf, *parts: str, behind: str = "") -> Located:
    messages: list[dict[str, Any]] = user("\n\n".join([CARD, "Mera: What brings you here?", *parts]))
    messages += [{"role": "assistant", "content": behind}] if behind else []
    return await locate(shelf.matcher, read_transcript(messages), owner="", only=None, world=of_ersia)


def said(found: Located) -> list[tuple[str, str]]:
    return [(each.speaker, each.text) for each in found.transcript.utterances]


async def test_known_replies_tell_who_is_a_character() -> None:
    shelf = Shelf()
    _, first, second = await shelf.story("go", EN[0], "on", EN[1])
    found = await located(shelf, "Lian: go", f"Mera: {EN[0]}", "Lian: on", f"Mera: {EN[1]}", "Lian: I wait.")
    assert (found.match.parent, found.kind, found.transcript.player_words) == (second, NARRATION, "I wait.")
    assert found.match.shown == {first, second}
    assert ("Age", "41") not in said(found) and ("Lian", "go") in said(found)


async def test_a_reply_has_lines_of_its_own_that_begin_with_a_name() -> None:
    shelf = Shelf()
    _, first = await shelf.story("go", PLAY)
    found = await located(shelf, "Lian: go", f"Mera: {PLAY}", "Lian: I wait.")
    assert (found.match.parent, said(found)[-1]) == (first, ("Lian", "I wait."))
    on = await located(shelf, "Lian: go", f"Mera: {PLAY}", ON)
    assert (on.match.parent, on.kind, on.match.unknown) == (first, CONTINUATION, ())


@pytest.mark.parametrize("note", ["Keep it short.", "Format: three paragraphs", "Name three things, and nothing else."])
async def test_what_follows_a_known_reply_without_a_name_is_no_reply(note: str) -> None:
    shelf = Shelf()
    _, first = await shelf.story("go", KO[0])
    opened = "Write Mera's next reply in a fictional chat between Mera and Lian."
    found = await located(shelf, opened, "Lian: go", f"Mera: {KO[0]}", note)
    assert (found.match.parent, found.kind, found.match.unknown) == (first, SIDE, ())
    on = await located(shelf, opened, "Lian: go", f"Mera: {KO[0]}", note, ON)
    assert (on.match.parent, on.kind, on.match.unknown) == (first, CONTINUATION, ())


async def test_a_name_alone_at_the_end_asks_for_the_next_reply() -> None:
    shelf = Shelf()
    _, first = await shelf.story("go", EN[0])
    found = await located(shelf, "Lian: go", f"Mera: {EN[0]}", "Lian: I wait.\nMera:", "[At least two paragraphs.]")
    assert (found.match.parent, found.kind, found.transcript.player_words) == (first, NARRATION, "I wait.")
    without = await located(shelf, "Lian: go", f"Mera: {EN[0]}\nMera:", "[At least two paragraphs.]")
    assert (without.match.parent, without.kind) == (first, NARRATION)


@pytest.mark.parametrize("names", [("user", "assistant"), ("Human", "Assistant"), ("H", "A")])
async def test_roles_are_names_too(names: tuple[str, str]) -> None:
    shelf = Shelf()
    _, first = await shelf.story("go", EN[0])
    player, model = names
    told = (f"{player}: go", f"{model}: {EN[0]}")
    found = await located(shelf, *told, f"{player}: I wait.")
    assert (found.match.parent, found.kind, found.transcript.player_words) == (first, NARRATION, "I wait.")
    prefilled = await located(shelf, *told, f"{player}: I wait.", behind="Certainly:")
    assert (prefilled.match.parent, prefilled.kind) == (first, NARRATION)
    assert (prefilled.transcript.prefill, prefilled.transcript.player_words) == ("Certainly:", "I wait.")
    on = await located(shelf, *told)
    assert (on.match.parent, on.kind) == (first, CONTINUATION)


async def test_the_first_reply_was_stopped() -> None:
    shelf = Shelf()
    _, first = await shelf.story("go", EN[0])
    found = await located(shelf, "Lian: go", f"Mera: {EN[0][:30]}", ON)
    assert (found.kind, found.match.unknown[-1].text) == (CONTINUATION, EN[0][:30])
    assert first not in found.match.shown


async def test_short_replies_prove_nothing_beside_a_long_one() -> None:
    shelf = Shelf()
    _, _, second = await shelf.story("Yes.", "Yes.", "on", EN[1])
    found = await located(shelf, "Lian: Yes.", "Mera: Yes.", "Lian: on", f"Mera: {EN[1]}", "Lian: Yes.")
    assert (found.match.parent, found.transcript.player_words) == (second, "Yes.")


async def test_a_text_that_shows_no_known_reply_is_left_whole() -> None:
    shelf = Shelf()
    await shelf.story("go", EN[0])
    found = await located(shelf, "Lian: go")
    assert [each.speaker for each in found.transcript.utterances] == [""]
    assert found.match.session is None
