"""Two of a kind: floors, halves, sides and numbers tell places and things apart in every language."""

from __future__ import annotations

import pytest

from saga_core.model import Entity, Kind, WorldState
from saga_core.naming.names import Names, may_be, told_apart

PLACES = [
    ("黒鉄の迷宮 第一層", "黒鉄の迷宮 第二層"),
    ("黒鉄の迷宮・第二層", "黒鉄の迷宮・第三層"),
    ("黑铁迷宫地下第一层", "黑铁迷宫地下第二层"),
    ("黑鐵迷宮地下第一層", "黑铁迷宫地下第三层"),
    ("黒鉄の迷宮 第十二層", "黒鉄の迷宮 第二十層"),
    ("冒険者の宿の本館", "冒険者の宿の別館"),
    ("冒険者の宿の男湯", "冒険者の宿の女湯"),
    ("冒険者ギルドの東門", "冒険者ギルドの北門"),
    ("冒険者ギルドの入口", "冒険者ギルドの出口"),
    ("冒険者ギルド壱号倉庫", "冒険者ギルド弐号倉庫"),
    ("冒険者ギルドの大広間", "冒険者ギルドの小広間"),
    ("冒険者ギルドの客室", "冒険者ギルドの浴室"),
    ("圣玛利医院的前门", "圣玛利医院的后门"),
    ("圣玛利医院的左楼", "圣玛利医院的右楼"),
    ("聖瑪利醫院的內院", "圣玛利医院的外院"),
    ("圣玛利医院甲号病房", "圣玛利医院乙号病房"),
    ("王都の城壁の内側", "王都の城壁の外側"),
    ("던전의 세 번째 방", "던전의 네 번째 방"),
    ("던전 지하 일층", "던전 지하 칠층"),
    ("행복아파트 가동", "행복아파트 나동"),
    ("영주 저택의 앞뜰", "영주 저택의 옆뜰"),
    ("여관의 위층 복도", "여관의 아래층 복도"),
    ("던전 지하 1층", "던전 지하 2층"),
    ("던전 첫째 방", "던전 둘째 방"),
    ("성의 왼쪽 탑", "성의 오른쪽 탑"),
    ("Gallery A", "Gallery B"),
    ("Dungeon Level II", "Dungeon Level IV"),
    ("Dungeon Level IX", "Dungeon Level XI"),
    ("Dungeon Floor 1", "Dungeon Floor 2"),
    ("Dungeon, first level", "Dungeon, second level"),
]
THINGS = [
    ("密码本上半册", "密码本下半册"),
    ("密碼本上半冊", "密码本下半册"),
    ("上卷", "下卷"),
    ("中卷", "上卷"),
    ("上联", "下联"),
    ("左手套", "右手套"),
    ("甲の鍵", "乙の鍵"),
    ("上巻", "下巻"),
    ("前編", "後編"),
    ("壱の巻", "弐の巻"),
    ("みぎの手袋", "ひだりの手袋"),
    ("うえの鍵", "したの鍵"),
    ("ひとつめの鍵", "ふたつめの鍵"),
    ("あかい鍵", "あおい鍵"),
    ("大きな鍵", "小さな鍵"),
    ("상권", "하권"),
    ("왼쪽 장갑", "오른쪽 장갑"),
    ("세 번째 편지", "네 번째 편지"),
    ("첫째 열쇠", "둘째 열쇠"),
    ("1호 열쇠", "2호 열쇠"),
    ("big key", "small key"),
    ("old map", "new map"),
    ("left glove", "right glove"),
    ("upper half of the ledger", "lower half of the ledger"),
    ("volume I", "volume II"),
]


def named(kind: Kind, name: str) -> Names:
    return Names(WorldState(turn="t", player="p", entities={"x": Entity("x", kind, name)}))


@pytest.mark.parametrize(("one", "other"), PLACES)
def test_two_places_of_a_kind_are_two(one: str, other: str) -> None:
    assert named(Kind.LOCATION, one).find(Kind.LOCATION, other) is None
    assert named(Kind.LOCATION, other).find(Kind.LOCATION, one) is None


@pytest.mark.parametrize(("one", "other"), THINGS)
def test_two_things_of_a_kind_are_two(one: str, other: str) -> None:
    assert named(Kind.ITEM, one).find(Kind.ITEM, other) is None
    assert named(Kind.ITEM, other).find(Kind.ITEM, one) is None
    assert not may_be(one, other) and not may_be(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("黒騎士団の男の団員", "黒騎士団の女の団員"), ("Mr. Anderson", "Ms. Anderson"), ("세 번째 기사", "네 번째 기사")],
)
def test_two_people_of_a_kind_are_two(one: str, other: str) -> None:
    assert named(Kind.CHARACTER, one).find(Kind.CHARACTER, other) is None


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        (Kind.LOCATION, "黒鉄の迷宮 第一層", "黒鐵の迷宮・第一層"),
        (Kind.ITEM, "密碼本上半冊", "密码本上半册"),
        (Kind.ITEM, "the small silver coins", "silver coin"),
        (Kind.ITEM, "手中的剑", "手里的剑"),
    ],
)
def test_other_spellings_of_one_are_one(kind: Kind, one: str, other: str) -> None:
    assert named(kind, one).find(kind, other) == "x"


def test_a_shorter_name_is_not_told_apart() -> None:
    assert not told_apart("三楼", "甲号楼三楼")
    assert not told_apart("十一号楼", "十一号楼三层") and told_apart("十一号楼三层", "十一号楼四层")
    assert may_be("密码本", "密码本下半册") and may_be("half tally", "half a brass tally")
