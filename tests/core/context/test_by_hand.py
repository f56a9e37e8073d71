"""What a person adds or corrects is told before what the narrator itself reported, however much that is."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from saga_core import Saga
from saga_core.config import load_config
from saga_core.errors import BadInput
from tests.core.frontend import MEMORY, Frontend

SCENE = """
location: the hall
present: [Mara, Osric, Priya Nair]
time: Monday 18:00
affection: {Mara: 80, Player -> Mara: 80}
trust: {Mara: 52, Priya Nair: 5}
jealousy: {Player -> Mara: 2}
outfit: {Mara: "green dress, boots", Player: pressed shirt}
items_gained: ["Nell's headscarf", boathouse deed, flask, grey scarf, kitten Marmalade]
mood: guilty
courage: 10
weather: clear
boathouse: [+new oak door]
status_changes: [{name: Mara, status: sprained ankle}]
"""
TRACKERS = {
    "courage": {"kind": "number", "start": 2, "range": "0..10"},
    "weather": {"kind": "text", "for": "world"},
    "boathouse": {"kind": "list", "for": "world"},
}
NOTES = (
    "Mara is left-handed when she kneads",
    "Osric is afraid of geese",
    "The inn has a second cellar under the first",
    "Priya Nair once lost a goat in the cellar and never told Mara of it",
    "The bell over the door was cast from the cannon of the old fort",
)


@pytest.fixture
async def chat() -> AsyncIterator[Frontend]:
    config = load_config({**MEMORY, "session": {}, "profile": "romance", "trackers": TRACKERS})
    async with Saga.open(config) as saga:
        greeting = "Mara and Osric are both in the hall of the old inn tonight."
        yield Frontend(saga, session="inn", greeting=greeting, system="Mara and Osric keep the inn.")


async def play(chat: Frontend, block: str, words: str) -> None:
    turn = await chat.begin(words)
    reply = f'"Wait," says Mara, and puts another log on the fire: {words}'
    turn.replies[0].feed(f"{reply}\n\n```state\n{block.strip()}\n```")
    await turn.commit()
    chat.history += [{"role": "user", "content": words}, {"role": "assistant", "content": reply}]


async def test_what_is_said_by_hand_is_told_first(chat: Frontend) -> None:
    await play(chat, SCENE, "Good evening, both.")
    await play(chat, "present: [Mara, Osric, Priya Nair]", "What shall we do?")
    for text in NOTES:
        await chat.saga.memory.correct("inn", "note", {"text": text})
    for number in range(3):
        told = (await chat.begin("And then what?")).context.text
        (changed,) = [line for line in told.splitlines() if line.startswith("Changed: ")]
        assert changed == f"Changed: {'; '.join(reversed(NOTES))}"
        assert "Place: the hall" in told and "Mara" in told
        await play(chat, "present: [Mara, Osric, Priya Nair]", f"And then what, number {number}?")

    await chat.saga.memory.correct("inn", "note", {"text": f"The song goes {'la ' * 600}"})
    told = (await chat.begin("And then what?")).context.text
    assert "Changed: The song goes la la" in told and "la …;" in told, "the beginning of what is too long"


async def test_a_correction_is_told_before_what_the_narrator_reported() -> None:
    async with Saga.open(load_config({**MEMORY, "session": {}, "curator": {"interval": 4}})) as saga:
        chat = Frontend(saga, session="inn", greeting="It snows.", system="Mara and Osric keep the inn.")
        for number in range(12):
            await play(chat, "present: [Mara, Osric]\nlocation: the hall", f"What shall we do, number {number}?")
            chat.history = chat.history[-6:]
            await saga.drain(10)
        others = ", ".join(f"{{from: Guest {n}, to: Mara, type: indebted to her, delta: 5}}" for n in range(30))
        await play(chat, f"present: [Mara, Osric]\nrelationship_changes: [{others}]", "And then?")
        wanted = {"from": "Osric", "to": "Mara", "type": "estranged", "strength": "-5"}
        await saga.memory.correct("inn", "relation", wanted)
        context = (await chat.begin("And then what?")).context
        assert any(piece.key.startswith("relation:") for piece in context.skipped), "not all of them have room"
        assert "Changed: Osric → Mara: estranged (-5); " in context.text


async def test_a_place_that_burned_down_is_told_so_until_it_is_rebuilt() -> None:
    async with Saga.open(load_config({**MEMORY, "session": {}})) as saga:
        chat = Frontend(saga, session="inn", greeting="It snows.", system="Mara and Osric keep the inn.")
        await play(chat, "location: boathouse\nstatus_changes: [{name: boathouse, status: burned down}]", "Fire!")
        assert "Place: boathouse (burned down)" in (await chat.begin("And?")).context.text
        await play(chat, "status_changes: [{name: boathouse, status: rebuilt}]", "We build.")
        assert "Place: boathouse (rebuilt)" in (await chat.begin("And?")).context.text


async def test_people_who_came_after_the_pages_are_told_to_be_one() -> None:
    async with Saga.open(load_config({**MEMORY, "session": {}})) as saga:
        chat = Frontend(saga, session="inn", greeting="It snows.", system="Mara and Osric keep the inn.")
        await play(chat, "location: deck\npresent: [Ruta, Pell]", "I go on deck.")
        await play(chat, "location: churchyard\npresent: [Sister Agnes]\nnpc_separated: [Ruta, Pell]", "A nun!")
        await saga.memory.correct("inn", "merge", {"one": "Sister Agnes", "into": "Ruta"})
        assert "Sister Agnes and Ruta are the same" in (await chat.begin("And?")).context.text


async def test_a_debt_is_set_by_hand_apart_from_what_is_felt() -> None:
    async with Saga.open(load_config({**MEMORY, "session": {}})) as saga:
        chat = Frontend(saga, session="inn", greeting="It snows.", system="Mara and Osric keep the inn.")
        owes = "{from: Osric, to: Mara, type: debt, delta: 1}, {from: Osric, to: Mara, type: hostile, delta: -2}"
        await play(chat, f"present: [Mara, Osric]\nrelationship_changes: [{owes}]", "And then?")
        ties = [(each["type"], each["strength"]) for each in (await saga.describe("inn"))["relationships"]]
        assert ties == [("hostile", -2), ("debt", 1)]
        await saga.memory.correct("inn", "relation", {"from": "Osric", "to": "Mara", "type": "debt", "strength": "3"})
        assert "Osric → Mara: hostile (-2), debt (+3)" in (await chat.begin("And then what?")).context.text
        await saga.memory.correct("inn", "relation", {"from": "Osric", "to": "Mara", "type": "debt", "strength": "0"})
        assert [each["type"] for each in (await saga.describe("inn"))["relationships"]] == ["hostile"]


async def test_a_relation_is_ended_by_hand_and_a_paid_debt_is_told_no_more() -> None:
    async with Saga.open(load_config({**MEMORY, "session": {}})) as saga:
        chat = Frontend(saga, session="inn", greeting="It snows.", system="Mara and Osric keep the inn.")
        owes = "{from: Osric, to: Mara, type: debt, delta: 1}"
        await play(chat, f"present: [Mara, Osric]\nrelationship_changes: [{owes}]", "And then?")
        assert "Osric → Mara: debt (+1)" in (await chat.begin("And?")).context.text
        await play(chat, "relationship_changes: [{from: Osric, to: Mara, type: debt, delta: -1}]", "He pays.")
        assert "Osric → Mara" not in (await chat.begin("Where are Mara and Osric?")).context.text
        assert (await saga.describe("inn"))["relationships"] == []
        feels = "{from: Osric, to: Mara, type: jealous, delta: 1}"
        await play(chat, f"relationship_changes: [{feels}, {owes}]", "They quarrel.")
        with pytest.raises(BadInput, match="known: jealous, debt"):
            await saga.memory.correct("inn", "unrelate", {"from": "Osric", "to": "Mara", "type": "love"})
        change = await saga.memory.correct("inn", "unrelate", {"from": "Osric", "to": "Mara", "type": "jealous"})
        assert "Osric → Mara: debt (+1)" in (await chat.begin("And?")).context.text
        await saga.memory.correct("inn", "unrelate", {"from": "Osric", "to": "Mara"})
        assert "Osric → Mara" not in (await chat.begin("And?")).context.text
        await saga.memory.undo("inn", change)
        assert [each["type"] for each in (await saga.describe("inn"))["relationships"]] == ["jealous"]


async def test_a_thing_that_broke_is_told_so_and_one_that_is_new_is_nobody() -> None:
    async with Saga.open(load_config({**MEMORY, "session": {}})) as saga:
        chat = Frontend(saga, session="inn", greeting="It snows.", system="Mara and Osric keep the inn.")
        await play(chat, "present: [Mara]\nitems_gained: [pocket watch, rope]", "I take them.")
        lamp = "{name: brass lamp, status: broken}, {name: 등불, status: 깨짐}, {name: goblin, status: wounded}"
        await play(chat, f"status_changes: [{{name: pocket watch, status: cracked}}, {lamp}]", "I fall.")
        told = (await chat.begin("And?")).context.text
        assert "pocket watch (cracked), rope" in told
        people = {each["name"] for each in await saga.memory.entities("inn") if each["kind"] == "character"}
        assert "goblin" in people and not people & {"brass lamp", "등불", "pocket watch"}
        await play(chat, "status_changes: [{name: pocket watch, status: repaired}]", "I mend it.")
        assert "pocket watch (repaired)" in (await chat.begin("And?")).context.text
