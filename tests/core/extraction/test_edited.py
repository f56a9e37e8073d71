"""What an edited reply no longer tells."""

from __future__ import annotations

import pytest
from attrs import evolve

from saga_core import Saga
from saga_core.extraction import still_told
from saga_core.model import Delta, Entity, Event, Kind, WorldState, deltas
from saga_core.state_block import ItemAmount, ItemTransfer
from tests.core.frontend import Frontend

STATE = WorldState(
    player="p",
    entities={
        each.id: each
        for each in (
            Entity("p", Kind.CHARACTER, "Alex"),
            Entity("m", Kind.CHARACTER, "Mara", ("the miller",)),
            Entity("t", Kind.CHARACTER, "Tobin"),
            Entity("l", Kind.ITEM, "lantern"),
            Entity("c", Kind.LOCATION, "chapel"),
            Entity("w", Kind.LOCATION, "mill"),
        )
    },
)
OLD = "Rain falls. {told} Somewhere a dog barks. Nobody speaks for a while."
GIVEN = deltas.ItemTransferred("p", "m", "l")


@pytest.mark.parametrize(
    ("event", "told", "now", "stays"),
    [
        (GIVEN, "Mara takes the lantern.", "Tobin takes the lantern.", False),
        (GIVEN, "Mara takes the lantern.", "The miller takes the lantern.", True),
        (GIVEN, "Mara takes the lantern.", "Mara quickly takes the old lantern.", True),
        (GIVEN, "Mara takes the lantern.", "She takes the lantern.", True),
        (GIVEN, "Mara takes the lantern.", "Mara nods.", False),
        (GIVEN, "Mara takes it.", "Tobin takes it.", True),
        (deltas.ItemGained("p", "l"), "You find a lantern.", "You find nothing.", False),
        (deltas.ItemGained("p", "l"), "You find a lantern.", "", False),
        (deltas.ItemLost("p", "l"), "Your lantern is gone.", "Your lantern flickers.", True),
        (deltas.Moved("p", "c"), "You reach the chapel.", "You reach the mill.", False),
        (deltas.Moved("p", "c"), "You reach the chapel.", "You go inside.", True),
        (deltas.Met("t"), "Tobin comes in.", "He comes in.", True),
        (deltas.Met("t"), "Tobin comes in.", "Mara comes in.", False),
        (deltas.StatusChanged("m", "burnt hand"), "Mara has a burnt hand.", "Mara has a cut cheek.", False),
        (deltas.StatusChanged("m", "dead"), "Mara falls and moves no more.", "Mara falls, and gets up.", True),
        (deltas.HpChanged("p", -3), "It hurts.", "It does not hurt.", True),
        (GIVEN, "Mara takes the lantern.", "The old woman takes the lantern.", True),
        (GIVEN, "Mara takes the lantern.", "The lantern stays under your arm, and nobody asks.", False),
        (GIVEN, "Mara takes the lantern.", "The lantern is in her hands.", True),
        (GIVEN, 'Mara takes the lantern. "Mine," she says.', "The lantern stays here, and nobody asks.", False),
        (GIVEN, 'Mara takes the lantern. "It is mine."', "You keep the lantern. You nod.", False),
        (deltas.Moved("p", "c"), "In the chapel he stops.", "In the chart room he stops.", False),
        (deltas.Moved("p", "c"), "In the chapel he stops.", "In there he stops.", True),
        (deltas.Moved("p", "c"), "You reach the chapel at last.", "You reach a farm at last.", False),
        (deltas.Noted("Mara hid the lantern."), "Mara takes the lantern.", "Tobin takes the lantern.", False),
        (deltas.Noted("Mara is tired."), "Mara takes the lantern.", "Tobin takes the lantern.", True),
    ],
)
def test_what_a_sentence_told_goes_with_it(event: Event, told: str, now: str, stays: bool) -> None:
    delta = Delta((event, deltas.MoodChanged("p", "calm")))
    found = still_told(delta, OLD.format(told=told), OLD.format(told=now), STATE)
    assert found.events == (delta.events if stays else delta.events[1:])


@pytest.mark.parametrize(
    ("thing", "told", "now", "other"),
    [
        ("sealed letter", "Alex puts the letter before Mara.", "Alex keeps still.", "love letter"),
        ("letter of the duke", "Alex puts the letter before Mara.", "Alex keeps still.", "letter of the king"),
        ("봉인된 편지", "알렉스가 편지를 마라 앞에 놓는다.", "알렉스는 가만히 있다.", "찢어진 편지"),
        ("公爵の手紙", "アレックスは手紙をマーラの前に置く。", "アレックスは黙っている。", "王の手紙"),
        ("公爵的密信", "亚历克斯把密信放在玛拉面前。", "亚历克斯没有动。", "国王的密信"),
    ],
)
def test_the_only_one_of_its_kind_is_called_by_the_last_word_of_its_name(
    thing: str, told: str, now: str, other: str
) -> None:
    delta = Delta((deltas.ItemTransferred("p", "m", "s"),))
    mara = Entity("m", Kind.CHARACTER, "Mara", ("마라", "マーラ", "玛拉"))
    one = evolve(STATE, entities={**STATE.entities, "m": mara, "s": Entity("s", Kind.ITEM, thing)})
    two = evolve(STATE, entities={**one.entities, "o": Entity("o", Kind.ITEM, other)})
    old, new = OLD.format(told=told), OLD.format(told=now)
    assert still_told(delta, old, new, two) is delta, "it may be the other one"
    assert not still_told(delta, old, new, one).events


@pytest.mark.parametrize(
    ("name", "told", "now", "namesake"),
    [
        ("Mara Pike", "Mara takes the lantern.", "Tobin takes the lantern.", "Mara Finch"),
        ("Captain Mara Pike", "Pike takes the lantern.", "Tobin takes the lantern.", "Ada Pike"),
        ("叶知秋", "知秋拿走了灯笼。", "托宾拿走了灯笼。", "白知秋"),
        ("강도윤", "도윤이 랜턴을 가져간다.", "토빈이 랜턴을 가져간다.", "박도윤"),
    ],
)
def test_somebody_is_called_by_a_name_that_nobody_else_has(name: str, told: str, now: str, namesake: str) -> None:
    delta = Delta((GIVEN,))
    tobin = Entity("t", Kind.CHARACTER, "Tobin", ("托宾", "토빈"))
    lantern = Entity("l", Kind.ITEM, "lantern", ("灯笼", "랜턴"))
    changed = {"m": Entity("m", Kind.CHARACTER, name), "t": tobin, "l": lantern}
    one = evolve(STATE, entities={**STATE.entities, **changed})
    two = evolve(STATE, entities={**one.entities, "o": Entity("o", Kind.CHARACTER, namesake)})
    old, new = OLD.format(told=told), OLD.format(told=now)
    assert still_told(delta, old, new, two) is delta
    assert not still_told(delta, old, new, one).events


@pytest.mark.parametrize(
    ("place", "told", "now", "unnamed"),
    [
        ("옥상", "옥상에서 그가 물었다.", "약품실 앞에서 그가 물었다.", "거기서 그가 물었다."),
        ("부엌", "우리는 부엌으로 갔다.", "우리는 학교로 갔다.", "우리는 안으로 갔다."),
        ("屋上", "二人は屋上で話した。", "二人は薬局の前で話した。", "二人はそこで話した。"),
        ("屋顶", "他们在屋顶上说话。", "他们在药房上说话。", "他们在那里说话。"),
    ],
)
def test_a_place_that_is_named_instead_need_not_be_known(place: str, told: str, now: str, unnamed: str) -> None:
    delta = Delta((deltas.Moved("p", "c"),))
    state = evolve(STATE, entities={**STATE.entities, "c": Entity("c", Kind.LOCATION, place)})
    assert not still_told(delta, OLD.format(told=told), OLD.format(told=now), state).events
    assert still_told(delta, OLD.format(told=told), OLD.format(told=unnamed), state) is delta


def test_a_note_follows_the_sentence_that_it_quotes() -> None:
    old, new = OLD.format(told="Mara plans to sail."), OLD.format(told="Mara plans to stay.")
    delta = Delta((deltas.Noted("Mara plans to sail. It is late."),))
    assert still_told(delta, old, new, STATE).events == (deltas.Noted("Mara plans to stay. It is late."),)
    assert still_told(Delta((deltas.Noted("Mara plans to sail."),)), old, OLD.format(told=""), STATE).events == ()


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ("Then she folds it small and gives it to you to keep.", "The company is engaged for Saturday."),
        ("Then she hurls the letter out of the porthole.", "The company is engaged for Saturday. NOTE"),
        ("Then she throws the leter, torn, out of the porthole.", "The company is engaged for Saturday. NOTE"),
    ],
)
def test_a_sentence_of_a_note_goes_with_the_sentence_that_had_its_words(told: str, left: str) -> None:
    note = "The Dame throws the letter into the canal."
    old = OLD.format(told="Then she tears the letter, and throws it out of the porthole.")
    delta = Delta((deltas.Noted(f"The company is engaged for Saturday. {note}"),))
    kept = still_told(delta, old, OLD.format(told=told), STATE).events
    assert kept == (deltas.Noted(left.replace("NOTE", note)),)


def test_a_script_that_changes_every_sentence_takes_nothing_back() -> None:
    old = OLD.format(told="Mara takes the lantern.")
    delta = Delta((GIVEN,))
    assert still_told(delta, old, old.replace("a", "e").replace(".", "!"), STATE) is delta
    assert still_told(delta, old, old, STATE) is delta
    assert still_told(delta, old, f"{old} It is late.", STATE) is delta


async def test_an_edit_of_the_last_reply_takes_back_what_it_told() -> None:
    reply = "You push the door. A lantern stands on the table, and you take the lantern. The cellar smells of wet wool."
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = Frontend(saga, system="You tell.", greeting="", note="")
        await chat.say("I go in.", reply, location="cellar", items_gained=(ItemAmount("lantern"),))
        chat.history[-1]["content"] = reply.replace("you take the lantern", "leave it").replace("A lantern", "A candle")
        turn = await chat.begin("And now?")
        state = await saga.describe(turn.session.id, turn.parent.id)
        await turn.abandon()
    assert (state["location"], state["inventory"]) == ("cellar", [])


@pytest.mark.parametrize("still", ["", " The ledger is on the table."])
async def test_what_only_an_edited_sentence_told_of_is_no_longer_known(still: str) -> None:
    taken = "Otter comes after you, with the ledger under one arm."
    reply = f"You land in nettles. {taken} Nobody else comes.{still}"
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = Frontend(saga, system="You tell.", greeting="", note="")
        passed = (ItemTransfer("ledger", "Ruck", "Otter"),)
        await chat.say("I jump.", reply, location="lane", present=("Otter",), items_transferred=passed)
        chat.history[-1]["content"] = reply.replace(", with the ledger under one arm", "")
        turn = await chat.begin("And now?")
        known = [each["name"] for each in await saga.memory.entities(turn.session.id)]
        await turn.abandon()
    assert ("ledger" in known) is bool(still) and "Otter" in known
