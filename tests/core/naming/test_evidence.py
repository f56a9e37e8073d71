"""Evidence: what texts say of who bears a title or another name."""

from __future__ import annotations

from saga_core.naming import Evidence

CARD = """\
# 인물
- 현허진인: 청하문의 장문인. 일흔 남짓.
- 조일청: 청하문의 대사형. 서른.
- 유소하: 막내 사매.
外门小师弟石磊，十二岁，外号小石头。
"""


def test_a_title_beside_a_name() -> None:
    told = Evidence("그 곁에 시립한 대사형 조일청이 돌아섰다. 师姐苏晚晴笑了。")
    assert told.is_beside("대사형", "조일청") and told.is_beside("조일청", "대사형")
    assert told.is_beside("师姐", "苏晚晴")
    assert not told.is_beside("장문인", "조일청")
    assert not Evidence("Captain Vey went with Tom Alder.").is_beside("Vey", "Captain"), "no sign in English"


def test_what_the_card_calls_somebody() -> None:
    evidence = Evidence(card=CARD)
    assert evidence.described_as("장문인") == "현허진인"
    assert evidence.described_as("사매") == "유소하"
    assert evidence.described_as("조 대사형") == "조일청"
    assert evidence.described_as("방주") == ""
    assert Evidence(told=CARD).described_as("장문인") == "", "only the card describes"


def test_a_title_that_two_bear_is_nobodys() -> None:
    assert Evidence(card="- 맹호연: 사형\n- 조일청: 사형\n").described_as("사형") == ""


def test_a_nickname() -> None:
    assert Evidence(card=CARD).is_nickname("小石头", "石磊")
    assert not Evidence(card=CARD).is_nickname("小石头", "조일청")
    assert Evidence("Robert, known as Bobby, waves.").is_nickname("Bobby", "Robert")
    assert Evidence("로버트, 별명은 바비, 손을 흔든다.").is_nickname("바비", "로버트")
    assert not Evidence("로버트가 왔다. 별명은 바비.").is_nickname("바비", "로버트"), "another sentence"
    far = "로버트" + " 저쪽에" * 60 + " 별명은 바비"
    assert not Evidence(far).is_nickname("바비", "로버트"), "too far away"
