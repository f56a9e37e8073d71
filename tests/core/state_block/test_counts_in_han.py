"""Counts that Chinese and Japanese write in words, before and behind a name; names that hold a numeral stay whole."""

from __future__ import annotations

import pytest

from saga_core.language.han import value
from saga_core.state_block import ItemAmount, parse_block
from saga_core.state_block.amounts import split_amount


@pytest.mark.parametrize(
    ("written", "name", "number"),
    [
        ("三十塊大洋", "大洋", 30),
        ("三十块大洋", "大洋", 30),
        ("大洋三十塊", "大洋", 30),
        ("三百大洋", "大洋", 300),
        ("三万块大洋", "大洋", 30_000),
        ("三十多块大洋", "大洋", 30),
        ("氧气瓶（四瓶）", "氧气瓶", 4),
        ("団子（三本）", "団子", 3),
        ("两箱磺胺", "磺胺", 2),
        ("磺胺兩箱", "磺胺", 2),
        ("二百块", "块", 200),
        ("一百二十元", "元", 120),
        ("現金二十万元", "現金", 200_000),
        ("三两银子", "银子", 3),
        ("银子三十两", "银子", 30),
        ("三五个铜板", "铜板", 3),
        ("十几颗子弹", "子弹", 10),
        ("一百零五枚铜钱", "铜钱", 105),
        ("两支药剂", "药剂", 2),
        ("介绍信一封", "介绍信", 1),
        ("三张一百元钞票", "一百元钞票", 3),
        ("三枚の銀貨", "銀貨", 3),
        ("三十枚の銀貨", "銀貨", 30),
        ("銀貨三十枚", "銀貨", 30),
        ("百枚の銀貨", "銀貨", 100),
        ("銀貨 十二枚", "銀貨", 12),
        ("千円札三枚", "千円札", 3),
        ("現金三千円", "現金", 3_000),
        ("200万円", "円", 2_000_000),
        ("三百両", "両", 300),
        ("おにぎり二つ", "おにぎり", 2),
        ("二枚貝三個", "二枚貝", 3),
        ("水三本", "水", 3),
        ("200만 원", "원", 2_000_000),
        ("30냥", "냥", 30),
    ],
)
def test_a_numeral_with_a_measure_word_is_a_count(written: str, name: str, number: int) -> None:
    assert split_amount(written) == (name, number)
    assert parse_block(f"items_lost: [{written}]").fields.items_lost == (ItemAmount(name, number),)


@pytest.mark.parametrize(
    "name",
    (
        "三节棍 八仙桌 一品香 千本桜 七星剑 十六号码头 三棱军刺 五花肉 四书五经 百宝箱 万金油 十手 千両箱 "
        "二刀流の書 百花酿 六味地黄丸 十全大补丸 四大名捕 三件套西装 三张机 一枚岩 二枚貝 二枚舌 一本道の地図 "
        "三本柱 十文字槍 十束剣 九頭龍の鱗 三丁目の地図 千円札 一万円札 五円玉 五百円の剣 十元纸币 一百元的衬衫 "
        "百元大钞 三百块大洋欠条 五十两银子的借据 第三本日记 第二张地图 独一份 三號箱 万里江山图 千里镜 九连环 "
        "半块玉佩 两仪剑 両手剣 双节棍 407套房钥匙 二本 几个铜板 三八大盖 四つ葉のクローバー 一つ目小僧 "
        "唐诗三百首"
    ).split(),
)
def test_a_numeral_in_a_name_is_none(name: str) -> None:
    assert split_amount(name) == (name, None)


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("十", 10),
        ("三十二", 32),
        ("兩百五十", 250),
        ("一千零五十", 1_050),
        ("千五百", 1_500),
        ("3千", 3_000),
        ("3万", 30_000),
        ("三万五千", 35_000),
        ("一亿二千万", 120_000_000),
        ("五百五十五萬", 5_550_000),
        ("两三", 2),
        ("一二〇", 120),
        ("三八", None),
        ("十十", None),
        ("二三十", None),
        ("零", None),
        ("열", None),
    ],
)
def test_numbers_in_words(written: str, number: int | None) -> None:
    assert value(written) == number


def test_a_quantity_may_be_in_words() -> None:
    body = "items_gained: [{item: 大洋, quantity: 三十}, {item: 磺胺, quantity: 两箱}, {item: 火把, quantity: 三八}]"
    parsed = parse_block(body)
    assert parsed.fields.items_gained == (ItemAmount("大洋", 30), ItemAmount("磺胺", 2))
    assert len(parsed.problems) == 1
