"""Narrators who list what the player carries as gains."""

from __future__ import annotations

from saga_core.extraction import read_delta
from saga_core.model import WorldState, fold
from saga_core.model.entities import Entity, Kind, Placement
from saga_core.state_block import read_reply

START = WorldState(
    player="p",
    entities={"p": Entity("p", Kind.CHARACTER, "Wren", (), {"hp": 100, "max_hp": 100, "is_player": True})},
    whereabouts={"p": Placement("s")},
)


def played(*turns: tuple[str, str]) -> list[dict[str, int]]:
    """What the player carries after each turn: the reply's words and the fields of its block."""
    state, carried = START, []
    for number, (said, block) in enumerate(turns, 1):
        reading = read_reply(f"{said}\n\n```state\n{block}\n```")
        state = fold(state, read_delta(reading, state, told=said), turn=f"t{number}", depth=number)
        carried.append({state.name(each): stack.quantity for each, stack in state.belongings.get("p", {}).items()})
    return carried


def test_a_thing_of_an_inventory_that_may_be_one_carried_is_that_one() -> None:
    turns = [
        ("You pack.", "items_gained: [Colt revolver, 12 cartridges, carpetbag]"),
        ("She sets them on your nose.", "items_transferred: [{item: Widow's spectacles, from: Widow, to: Player}]"),
        ("Rain.", "items_gained: [Colt revolver, 12 cartridges, carpetbag, spectacles]"),
    ]
    assert played(*turns)[2] == {"Colt revolver": 1, "cartridges": 12, "carpetbag": 1, "Widow's spectacles": 1}


def test_what_is_handed_over_and_lost_too_is_one_loss_once_that_is_the_habit() -> None:
    pay = "items_lost: [10 gold]\nitems_transferred: [{item: 10 gold, from: Player, to: Baek}]"
    turns = [
        ("You have money.", "items_gained: [50 gold, sword]"),
        ("You pay.", pay),
        ("You hand it over.", "items_lost: [sword]\nitems_transferred: [{item: sword, from: Player, to: Baek}]"),
        ("You pay again.", pay),
    ]
    assert [each["gold"] for each in played(*turns)] == [50, 30, 30, 20]


def test_an_inventory_under_gains_is_counted_once() -> None:
    turns = [
        ("She counts six dollars into your palm.", "items_gained: [6 dollars]"),
        ("Something glints in the straw.", "items_gained: [6 dollars, brass whistle]"),
        ("You take the key.", "items_gained: [6 dollars, brass whistle, trunk key]"),
        (
            "The butcher takes two.",
            "items_lost: [2 dollars]\nitems_gained: [4 dollars, brass whistle, trunk key, liver]",
        ),
        ("Rain.", "items_gained: [4 dollars, brass whistle, trunk key, liver]"),
    ]
    assert played(*turns)[2:] == [
        {"dollars": 6, "brass whistle": 1, "trunk key": 1},
        {"dollars": 4, "brass whistle": 1, "trunk key": 1, "liver": 1},
        {"dollars": 4, "brass whistle": 1, "trunk key": 1, "liver": 1},
    ]


def test_what_a_reply_speaks_of_is_a_gain_although_the_player_has_one() -> None:
    turns = [
        ("You find an arrow and a potion.", "items_gained: [arrow x3, potion]"),
        ("Another potion, and three more arrows!", "items_gained: [arrow x3, potion]"),
        ("A potion stands there.", "items_gained: [potion]"),
    ]
    assert played(*turns)[-1] == {"arrow": 6, "potion": 3}


def test_the_rest_of_what_is_spent_is_no_gain() -> None:
    turns = [
        ("二十两银子。", "items_gained: [银子二十两]"),
        ("赏他二两银子。", "items_lost: [银子二两]\nitems_gained: [银子十八两]"),
    ]
    assert list(played(*turns)[-1].values()) == [18]


def test_a_narrator_who_stops_repeating_is_believed_again() -> None:
    inventory = ("Rain.", "items_gained: [6 dollars, brass whistle, trunk key]")
    found = ("The chest holds a rope.", "items_gained: [rope]")
    again = ("She pays you two dollars.", "items_gained: [2 dollars]")
    assert played(inventory, inventory, found, again)[-1] == {
        "dollars": 8,
        "brass whistle": 1,
        "trunk key": 1,
        "rope": 1,
    }


def test_one_thing_of_an_inventory_may_be_missing() -> None:
    turns = [
        ("You pack rope, a lamp and three nails.", "items_gained: [rope, lamp, 3 nails]"),
        ("The nun hands you her veil.", "items_gained: [the nun's veil]"),
        ("Snow.", "items_gained: [rope, lamp, 3 nails]"),
    ]
    assert played(*turns)[-1] == {"rope": 1, "lamp": 1, "nails": 3, "nun's veil": 1}


def test_two_things_of_four_that_are_found_again_are_gains() -> None:
    turns = [
        ("You pack.", "items_gained: [rope, lamp, 3 nails, saw]"),
        ("In the shed.", "items_gained: [rope, lamp]"),
    ]
    assert played(*turns)[-1] == {"rope": 2, "lamp": 2, "nails": 3, "saw": 1}
