"""What no block can mean: it is named and left out, never guessed, and the rest of the block counts."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core.state_block import BlockFields, BlockStatus, ItemAmount, RelationChange, parse_block

Case = tuple[str, BlockFields, str]


def bad(invalid: str, body: str | list[str], **fields: Any) -> Case:
    """The field that cannot be read, the body or its lines, and all that can be read."""
    return body if isinstance(body, str) else "\n".join(body), BlockFields(**fields), invalid


def items(*names: str) -> tuple[ItemAmount, ...]:
    return tuple(ItemAmount(name) for name in names)


KROOK = (RelationChange("아리아", "크룩", "hostile", -2),)

UNREADABLE: dict[str, Case] = {
    "a place for a flag": bad("location_moved", "location_moved: 어둠의 숲\nlocation: 숲", location="숲"),
    "a range": bad("hp_change", "hp_change: 10~15\nmood: x", mood="x"),
    "a per cent": bad("hp_change", "hp_change: -15%\nmood: x", mood="x"),
    "dice": bad("hp_change", "hp_change: -2d6\nmood: x", mood="x"),
    "half": bad("hp_change", "hp_change: 절반\nmood: x", mood="x"),
    "a fraction": bad("hp_change", "hp_change: -1.5\nmood: x", mood="x"),
    "beyond measure": bad("hp_change", "hp_change: 1e30\nmood: x", mood="x"),
    "beyond digits": bad("hp_change", "hp_change: -" + "9" * 5000 + "\nmood: x", mood="x"),
    "beyond bounds": bad("hp_change", "hp_change: -2,000,000\nmood: x", mood="x"),
    "harm and healing": bad("hp_change", "hp_change: +15 피해\nmood: x", mood="x"),
    "whose number": bad("hp_change", "hp_change: 15 (고블린의 공격)\nmood: x", mood="x"),
    "somebody else's number": bad("hp_change", "hp_change: {wolf: -12}\nmood: x", mood="x"),
    "a bullet or a minus": bad("hp_change", ["hp_change:", "  - 15", "mood: x"], mood="x"),
    "two numbers": bad("hp_change", "hp_change: -15, +5\nmood: x", mood="x"),
    "a doubled sign": bad("hp_change", "hp_change: --15\nmood: x", mood="x"),
    "a list for a number": bad("hp_change", "hp_change: [1, 2]\nmood: x", mood="x"),
    "two places": bad("location", "location: [숲, 마을]\nmood: x", mood="x"),
    "a map for a place": bad("location", "location: {from: 숲, to: 마을}\nmood: x", mood="x"),
    "said twice": bad("location", ["location: 숲", "location: 마을", "mood: x"], mood="x"),
    "said thrice": bad("location", ["location: 숲", "location: 마을", "location: 숲", "mood: x"], mood="x"),
    "a name too long": bad("location", f"location: {'숲' * 201}\nmood: x", mood="x"),
    "yes to whom": bad("npc_met", "npc_met: true\nmood: x", mood="x"),
    "which event": bad("event_trigger", "event_trigger: true\nmood: x", mood="x"),
    "no such quantity": bad(
        "items_gained", "items_gained: [검, 방패 x0, 물약 x99999999999999]", items_gained=items("검")
    ),
    "quantity in words": bad(
        "items_gained", "items_gained: [{name: 검, quantity: many}, 활]", items_gained=items("활")
    ),
    "an item without a name": bad("items_gained", "items_gained: [{quantity: 2}, 활]", items_gained=items("활")),
    "a transfer of nothing": bad(
        "items_transferred", "items_transferred: [{from: 아리아, to: 크룩}]\nmood: x", mood="x"
    ),
    "from hand to hand to hand": bad(
        "items_transferred", "items_transferred: [은반지: a -> b -> c]\nmood: x", mood="x"
    ),
    "two things at once": bad("items_transferred", "items_transferred: [a -> b: 은반지, 검]\nmood: x", mood="x"),
    "a relation to nobody": bad(
        "relationship_changes", "relationship_changes: [{from: 아리아, type: hostile}]\nmood: x", mood="x"
    ),
    "a relation of one": bad("relationship_changes", "relationship_changes: [크룩: hostile]\nmood: x", mood="x"),
    "a relation of names": bad(
        "relationship_changes", "relationship_changes: [아리아, 크룩, hostile, -2]\nmood: x", mood="x"
    ),
    "a relation without change": bad(
        "relationship_changes", "relationship_changes: [{from: 아리아, to: 크룩}]\nmood: x", mood="x"
    ),
    "one of two relations": bad(
        "relationship_changes",
        "relationship_changes: [{from: 아리아, to: 크룩, type: hostile, delta: -2}, {from: 라나}]",
        relationship_changes=KROOK,
    ),
    "a delta in words": bad(
        "relationship_changes", "relationship_changes: [{from: a, to: b, type: x, delta: 많이}]\nmood: x", mood="x"
    ),
    "a delta beyond bounds": bad(
        "relationship_changes", ["relationship_changes: [{from: a, to: b, type: x, delta: -5000}]", "mood: x"], mood="x"
    ),
    "a status of nobody": bad("status_changes", "status_changes: [dead]\nmood: x", mood="x"),
    "a map for a flag": bad("location_moved", "location_moved: {a: b}\nmood: x", mood="x"),
    "digits beyond measure": bad("hp_change", "hp_change: -9999999999\nmood: x", mood="x"),
    "a text far too long": bad("notes", f"notes: {'x' * 5000}\nmood: x", mood="x"),
    "an item far too long": bad(
        "items_gained", f"items_gained: [{'x' * 300}, {'y' * 2000}, 검]", items_gained=items("검")
    ),
    "a list of quantities": bad(
        "items_gained", "items_gained: [{name: 검, quantity: [1, 2]}, 활]", items_gained=items("활")
    ),
    "a list for an item": bad("items_gained", "items_gained: [{name: [검, 방패]}, 활]", items_gained=items("활")),
    "half a quote": bad("items_gained", 'items_gained: ["불꽃 검, 방패]', items_gained=items("방패")),
    "a person without a name": bad("npc_met", "npc_met: [{attitude: hostile}, 크룩]", npc_met=("크룩",)),
    "a transfer of a placeholder": bad("items_transferred", "items_transferred: [없음: a -> b]\nmood: x", mood="x"),
    "an arrow for an item": bad("items_transferred", "items_transferred: [item: a -> b]\nmood: x", mood="x"),
    "a quote over lines": bad("items_gained", ['items_gained: ["검', '방패"]', "mood: x"], mood="x"),
    "a transfer with two colons": bad("items_transferred", "items_transferred: [a: b -> c: d]\nmood: x", mood="x"),
    "two sources": bad("relationship_changes", "관계 변화: [{from: [a, b], to: c, type: x}]\nmood: x", mood="x"),
    "an arrow and no more": bad("relationship_changes", "관계 변화: [a -> b]\nmood: x", mood="x"),
    "two deltas": bad("relationship_changes", "관계 변화: [a -> b: x 1 2]\nmood: x", mood="x"),
    "a name without a status": bad("status_changes", "status_changes: [{name: 크룩}]\nmood: x", mood="x"),
}


@pytest.mark.parametrize(("body", "fields", "invalid"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_named_and_not_guessed(body: str, fields: BlockFields, invalid: str) -> None:
    parsed = parse_block(body)
    assert parsed.fields == fields
    assert (parsed.status, parsed.invalid) == (BlockStatus.PARTIAL, (invalid,))
    assert any(problem.startswith(f"{invalid}: ") for problem in parsed.problems)
