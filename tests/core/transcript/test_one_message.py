"""A chat in one message: who speaks, and what is the frontend's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from saga_core.model import TurnKind
from saga_core.transcript import Located, locate, one_message, read_transcript
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


async def test_of_a_book_behind_a_name_no_more_is_looked_at_than_a_reply_has(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf()
    _, first = await shelf.story("go", EN[0])
    inner, looked = one_message.identity, list[int]()

    def counted(text: str) -> str:
        looked.append(len(text))
        return inner(text)

    monkeypatch.setattr(one_message, "identity", counted)
    book = [f"Ned: {'It rains on the mill. ' * 1_500}" for _ in range(30)]
    found = await located(shelf, "Lian: go", f"Mera: {EN[0]}", "Lian: I wait.")
    assert found.match.parent == first
    await located(shelf, "Lian: go", f"Mera: {EN[0]}", *book, "Lian: I wait.")
    assert looked and max(looked) <= one_message._READ


async def test_a_register_of_names_is_no_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf()
    await shelf.story("go", EN[0])
    monkeypatch.setattr(one_message, "_look_up", lambda *_: pytest.fail("nothing is looked up for it"))
    names = "\n".join(f"Ned: the {number}th" for number in range(one_message._MOST))
    assert (await located(shelf, f"Mera: {EN[0]}", names)).match.parent == ""


class Places(Sequence[int]):
    """Places of notes; it counts how many of them were looked at."""

    def __init__(self, places: list[int]) -> None:
        self.places, self.asked = places, 0

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, at: Any) -> Any:
        self.asked += 1
        return self.places[at]


def test_what_is_between_a_line_and_a_note_is_found_without_going_through_all_notes() -> None:
    lines = 2_000
    text = "".join(f"Mera: on\nsystem: {number:4}\n" for number in range(lines))
    marks = [one_message._Mark("Mera", at, at + 6) for at in range(0, len(text), len(text) // lines)]
    notes = Places([mark.at + 9 for mark in marks])
    only = read_transcript(user(text)).utterances[0]
    parts, _, _ = one_message._parts(only, text, marks, {"Mera"}, notes)
    assert [each.text for each in parts] == ["on"] * lines
    assert notes.asked <= lines * 16
