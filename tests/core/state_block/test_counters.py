"""Counter words of all four languages behind and before names; names that only look like a count stay whole."""

from __future__ import annotations

import pytest

from saga_core.state_block.amounts import split_amount

KOREAN = """
산삼 3뿌리=산삼 3|로프 2동=로프 2|산삼 세 뿌리=산삼 3|산삼 스무 뿌리=산삼 20|산삼 이십 뿌리=산삼 20|3뿌리의 산삼=산삼 3
세 뿌리의 산삼=산삼 3|산삼(3뿌리)=산삼 3|화살 다섯 대=화살 5
화살 5대=화살 5|화살 열다섯 대=화살 15|은침 세 쌍=은침 3|짚신 두 켤레=짚신 2|장미 열 송이=장미 10|배추 세 포기=배추 3
소나무 두 그루=소나무 2|배 두 척=배 2|집 세 채=집 3|편지 두 통=편지 2|파 한 단=파 1|장작 두 묶음=장작 2
탕약 열 첩=탕약 10
보약 한 제=보약 1|환약 열 알=환약 10|쌀 세 톨=쌀 3|마늘 다섯 쪽=마늘 5|물 세 모금=물 3|밥 두 숟갈=밥 2
비단 세 필=비단 3
말 두 마리=말 2|종이 열 장=종이 10|마법서 세 권=마법서 3|술 두 병=술 2|약 세 봉지=약 3|쌀 두 가마니=쌀 2
쌀 서 말=쌀 3|쌀 석 되=쌀 3
금 3돈=금 3|실 두 타래=실 2|담배 세 개비=담배 3|담배 두 갑=담배 2|약재 두 근=약재 2|고기 두 점=고기 2
그림 두 폭=그림 2|신발 세 짝=신발 3
밧줄 두 가닥=밧줄 2|알약 2정=알약 2|소총 두 정=소총 2|약초 두 줄기=약초 2|도시락 2인분=도시락 2|식량 3일분=식량 3
식량 3일 치=식량 3
칼 세 자루=칼 3|엽전 한 꿰미=엽전 1|부적 다섯 매=부적 5|화살 다섯=화살 5
"""
JAPANESE = """
饅頭×四=饅頭 4|蝋燭×十三本=蝋燭 13
矢十本=矢 10|符三枚=符 3|魔石５個=魔石 5|兎 二匹=兎 2|馬 三頭=馬 3|鳥 二羽=鳥 2|着物 一着=着物 1|草履 二足=草履 2
豆腐 一丁=豆腐 1|鉄砲 三挺=鉄砲 3
刀 二振り=刀 2|薬草五束=薬草 5|丸薬 三粒=丸薬 3|酒 二瓶=酒 2|米 三袋=米 3|薬 二包み=薬 2|手紙 二通=手紙 2
本 三冊=本 3|苗木 二株=苗木 2
花 三輪=花 3|弁当 二人前=弁当 2|薬 二服=薬 2|鏡 一面=鏡 1|酒 一升=酒 1|反物 三反=反物 3|船 二艘=船 2|酒 三樽=酒 3
写真 二葉=写真 2|鯛 三尾=鯛 3
食料 三日分=食料 3|携帯食三日分=携帯食 3|携帯食 五食=携帯食 5|金貨 三十=金貨 30
"""
CHINESE = """
人参三根=人参 3|树苗两株=树苗 2|药丸五颗=药丸 5|丹药三粒=丹药 3|铜钱十枚=铜钱 10|箭五支=箭 5|剑两柄=剑 2
匕首一把=匕首 1|宝剑 一口=宝剑 1
眼镜一副=眼镜 1|手套两双=手套 2|耳环一对=耳环 1|马三匹=马 3|牛两头=牛 2|信三封=信 3|画两卷=画 2|书四册=书 4
書四冊=書 4|酒两瓶=酒 2|酒一壶=酒 1
酒两坛=酒 2|药三包=药 3|膏药四贴=膏药 4|银子五两=银子 5|茶叶三钱=茶叶 3|香三炷=香 3|车三辆=车 3|符箓三道=符箓 3
镜子 一面=镜子 1|门 两扇=门 2
米三斗=米 3|布 三尺=布 3|药 三服=药 3|竹子 两节=竹子 2|长袍一袭=长袍 1|罐头三听=罐头 3|干粮三天份=干粮 3
大洋 五十=大洋 50
"""
ENGLISH = """
2 pairs of gloves=pairs of gloves 2|two vials of insulin=vials of insulin 2|three bottles of wine=bottles of wine 3
gloves (2 pairs)=gloves 2
a dozen arrows=arrows 12|half a dozen eggs=eggs 6|two dozen arrows=arrows 24|twelve arrows=arrows 12
twenty arrows=arrows 20|bread (3 loaves)=bread 3
"""
WHOLE = """
제3권|만병통치약|일지매|세 자매의 반지|두 대의 왕관|사인검|5번 열쇠|삼지창|천 조각|일곱 난쟁이 인형|흰 말|방 3
세 번째 편지|고대 한자|왕의 석판|낡은 세단|검은 서재
열대 열매|황금 두건|기어 3단|전시실 3관|시험지 100점|책 3쪽|은 세제|황제의 석관
一本道|三日月|五月雨の剣|七支刀|百足の牙|十手|三味線|八咫鏡|一輪車|二枚貝|千羽鶴|三つ編みの紐|百合の花|造花 百合
一角獣の角|妖狐九尾|三本足の烏|一張羅|二足歩行機
三頭犬の牙|出羽三山|奇門八門
九把刀|三节棍|一把手|双截棍|三张机|百宝箱|千里镜|五味子|八卦镜|九节鞭|三件套|两面针|五粮液|奇经八门|玲珑八面|三生石
三头六臂像
pair of gloves|bottle of wine|Volume 3|pistol (6 rounds)|ten of swords|sword +2|Seven Sins
"""


def _table(text: str) -> list[tuple[str, str, int]]:
    rows = [each.split("=") for each in text.strip().replace("\n", "|").split("|")]
    return [(written, *_pair(told)) for written, told in rows]


def _pair(told: str) -> tuple[str, int]:
    name, _, number = told.rpartition(" ")
    return name, int(number)


@pytest.mark.parametrize(
    ("written", "name", "number"), [row for each in (KOREAN, JAPANESE, CHINESE, ENGLISH) for row in _table(each)]
)
def test_a_counter_counts(written: str, name: str, number: int) -> None:
    assert split_amount(written) == (name, number)


@pytest.mark.parametrize("name", WHOLE.strip().replace("\n", "|").split("|"))
def test_a_name_that_looks_like_a_count_stays_whole(name: str) -> None:
    assert split_amount(name) == (name, None)
