"""Fields that say how things stand and not what changed: who is present, hit points, money."""

from __future__ import annotations

import pytest

from saga_core.state_block import BlockFields, ItemAmount, parse_block
from saga_core.state_block.fields import HitPoints
from tests.blocks import render_block


@pytest.mark.parametrize(
    ("body", "present"),
    [
        ("present: [Ysolde, Corin]", ("Ysolde", "Corin")),
        ("present: []", ()),
        ("present: none", ()),
        ("present: [nobody]", ()),
        ("함께 있는 사람: 없음", ()),
        ("present: 誰もいない", ()),
        ("在场: 無人", ()),
        ("present: null", None),
        ("present: [<name>, <name>]", None),
        ("present: [이름]", None),
        ("mood: calm", None),
    ],
)
def test_who_is_present(body: str, present: tuple[str, ...] | None) -> None:
    assert parse_block(body).fields.present == present


@pytest.mark.parametrize(
    ("body", "hp"),
    [
        ("hp: 85/100", HitPoints(85, 100)),
        ("HP: 85", HitPoints(85)),
        ("체력: 85/100 (부상)", HitPoints(85, 100)),
        ("hp: 0/100", HitPoints(0, 100)),
        ("hp: 0", None),
        ("hp: -15", None),
        ("hp: 120/100", None),
        ("hp_change: -15", None),
    ],
)
def test_hit_points_that_are_left(body: str, hp: HitPoints | None) -> None:
    assert parse_block(body).fields.hp == hp


def test_a_change_under_the_name_of_a_level_stays_a_change() -> None:
    assert parse_block("hp: -15").fields.hp_change == -15


def test_money() -> None:
    assert parse_block("money: [12 silver coins, gold x3]").fields.money == (
        ItemAmount("silver coins", 12),
        ItemAmount("gold", 3),
    )


@pytest.mark.parametrize(
    "fields",
    [
        BlockFields(present=()),
        BlockFields(present=("Ysolde", "Tom, the cook")),
        BlockFields(hp=HitPoints(85, 100), mood="calm"),
        BlockFields(hp=HitPoints(85), money=(ItemAmount("gold", 3),)),
    ],
)
def test_they_are_written_as_they_are_read(fields: BlockFields) -> None:
    assert parse_block(render_block(fields).removeprefix("```state\n").removesuffix("```")).fields == fields
