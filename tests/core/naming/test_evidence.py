"""Evidence: what texts say of who bears a title or another name."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize(
    ("card", "name"),
    [
        ("[群聊成员：沈若梅、沈若松、鲍师傅。每个角色只写自己看见的。]", "沈若梅"),
        ("Party members: Anna, Bram and Cole.", "Anna"),
        ("등장인물: 한서윤, 김복자, 오만석", "김복자"),
        ("登場人物：朝倉渚、小夜、源蔵", "小夜"),
        ("In the tavern: Anna, Bram and Cole.", "Bram"),
    ],
)
def test_who_is_listed_is_not_what_the_heading_says(card: str, name: str) -> None:
    assert Evidence(card=card).described_as(name) == ""


@pytest.mark.parametrize(
    ("card", "name"),
    [
        ("[Known survivors: Marcus Oyelaran, 41, ex-paramedic. Ruth Feld, 70s.]", "Marcus"),
        ("Known survivors: Marcus Oyelaran, 41, ex-paramedic, calm.", "Marcus Oyelaran"),
        ("Known Survivors: Marcus Oyelaran (41), ex-paramedic", "Marcus"),
        ("SURVIVORS: Marcus, 41, calm", "Marcus"),
        ("- Leader: Marcus Oyelaran, 41.", "Marcus"),
        ("**Leader:** Marcus Oyelaran, 41.", "Marcus"),
        ("Captain: Teo Vance, thirty-one", "Teo"),
        ("[Love interest: Marcus Oyelaran, 41]", "Marcus"),
        ("Lighthouse keeper: Agnes Bell, 60, deaf", "Agnes"),
        ("Marcus's wife: Lena Oyelaran, 38", "Lena"),
        ("생존자: 박두칠, 41세, 전직 구급대원", "박두칠"),
        ("리더: 박두칠, 41세", "박두칠"),
        ("팀장: 박두칠, 41세", "박두칠"),
        ("생존자들: 박두칠(41세), 막례(20세)", "막례"),
        ("生存者：朝倉渚、二十八歳、記者", "朝倉渚"),
        ("リーダー：ガルム、ドワーフ", "ガルム"),
        ("幸存者：林清，四十一岁，医生", "林清"),
        ("隊長：顾长风，三十二岁", "顾长风"),
    ],
)
def test_a_heading_that_says_what_somebody_is_names_nobody(card: str, name: str) -> None:
    assert Evidence(card=card).described_as(name) == ""


@pytest.mark.parametrize(
    ("card", "title", "name"),
    [
        ("Marcus: Paramedic, 41, calm", "paramedic", "Marcus"),
        ("Marcus Oyelaran: ex-army sergeant, 41", "sergeant", "Marcus Oyelaran"),
        ("Old Tom: ferryman, deaf", "ferryman", "Old Tom"),
        ("The innkeeper: widow, 50", "widow", "The innkeeper"),
        ("박두칠: 대장, 41세", "대장", "박두칠"),
        ("朝倉渚：記者、二十八歳", "記者", "朝倉渚"),
        ("林清：医生，四十一岁", "医生", "林清"),
    ],
)
def test_a_name_before_what_somebody_is_stays_a_name(card: str, title: str, name: str) -> None:
    assert Evidence(card=card).described_as(title) == name


def test_a_list_of_titles_is_still_a_description() -> None:
    assert Evidence(card="鲍师傅：船匠、轮机手。").described_as("轮机手") == "鲍师傅"
    assert Evidence(card="Mara: innkeeper, widow, healer.").described_as("healer") == "Mara"


@pytest.mark.parametrize(
    ("card", "title", "name"),
    [
        ("THE CAPTAIN (me): Teo Vance, thirty-one, hull cutter.", "Captain", "Teo Vance"),
        ("호위무사 (나): 리안, 서른 살.", "호위무사", "리안"),
        ("船長（我）：顾长风，三十二岁。", "船長", "顾长风"),
        ("隊長（私）：朝倉渚、記者。", "隊長", "朝倉渚"),
    ],
)
def test_a_heading_about_the_players_own_character_is_her_title(card: str, title: str, name: str) -> None:
    assert Evidence(card=card).described_as(title) == name


@pytest.mark.parametrize(
    ("card", "name", "known"),
    [
        ("リーゼロッテ・フォン・アイゼン（愛称リーゼ）：十七歳。", "リーゼ", "リーゼロッテ・フォン・アイゼン"),
        ("リーゼロッテ（あだ名：リゼ）は剣士。", "リゼ", "リーゼロッテ"),
        ("Elisabeth von Eisen (nickname Liz): a knight.", "Liz", "Elisabeth von Eisen"),
        ("Liz (short for Elisabeth) is a knight.", "Elisabeth", "Liz"),
        ("박두칠 (별명 두칠이): 젊은 내관.", "두칠이", "박두칠"),
        ("한도현(애칭: 도야): 금부도사.", "도야", "한도현"),
        ("石磊（昵称小石头）：十二岁。", "小石头", "石磊"),
        ("石磊（外号：石头）——十二岁。", "石头", "石磊"),
        ("石磊（綽號「石頭」）", "石頭", "石磊"),
    ],
)
def test_a_nickname_in_parentheses(card: str, name: str, known: str) -> None:
    entry = Evidence(card=card).entry(name)
    assert entry is not None and entry.head == known and name in entry.names
