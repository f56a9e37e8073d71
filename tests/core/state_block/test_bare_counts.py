"""A bare number behind a name: how many, or a part of the name."""

from __future__ import annotations

import pytest

from saga_core.state_block import ItemAmount, parse_block
from saga_core.state_block.amounts import split_amount


@pytest.mark.parametrize(
    ("written", "name", "number"),
    [
        ("육포 6", "육포", 6),
        ("물주머니 2", "물주머니", 2),
        ("물주머니 1", "물주머니", 1),
        ("가방 3", "가방", 3),
        ("낡은 열쇠 2", "낡은 열쇠", 2),
        ("여권 2", "여권", 2),
        ("水囊 2", "水囊", 2),
        ("干粮 12", "干粮", 12),
        ("乾パン 3", "乾パン", 3),
        ("おにぎり ３", "おにぎり", 3),
        ("rations 6", "rations", 6),
        ("torches 3", "torches", 3),
        ("Torches 3", "Torches", 3),
        ("iron keys 4", "iron keys", 4),
        ("Healing Potions 3", "Healing Potions", 3),
        ("£20", "£", 20),
        ("$ 1200", "$", 1200),
        ("20 €", "€", 20),
    ],
)
def test_a_bare_number_behind_what_is_counted_is_how_many(written: str, name: str, number: int) -> None:
    assert split_amount(written) == (name, number)
    assert parse_block(f"items_gained: [{written}, x]").fields.items_gained[0] == ItemAmount(name, number)


@pytest.mark.parametrize(
    "name",
    "Key 7|Room 204 key|Model 3|Volume 3|torch 3|sword +2|Class 3|Paris 3|series 3|Barracks 2|USB 2|카드키 B2|방 3"
    "|£4.50|£20 note"
    "|객실 204|사물함 12|302호 1|3번 2|비밀번호 486|챕터 3|제3 열쇠|물약 1000|물약 0|A카드 3|방 열쇠 101"
    "|房间钥匙 204|房间 204|房間 3|密码 486|第三号 2|ロッカー 12|教室 3|レベル 3".split("|"),
)
def test_a_number_of_its_own_stays_in_the_name(name: str) -> None:
    assert split_amount(name) == (name, None)


def test_a_part_of_money_is_lost_from_the_whole() -> None:
    fields = parse_block("items_gained: [£20]\nitems_lost: [£5]").fields
    assert fields.items_gained == (ItemAmount("£", 20),) and fields.items_lost == (ItemAmount("£", 5),)
