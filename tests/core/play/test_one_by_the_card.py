"""Whom the card gives several names is one person under all of them."""

from __future__ import annotations

import pytest

from saga_core import Saga
from saga_core.state_block import StatusChange
from tests.core.frontend import Frontend, memory_config

ROZ = (
    'Write a reply.\n[Roz\'s description: Rosalind Okonkwo-Hale, "Roz" to everyone but her aunt, who calls her Rosie. '
    'She rents the shop from Mrs. Dalgleish, a widow whom the whole street calls "the Duchess". '
    'Her ex-boyfriend, Dr. Finn Aldous ("Doc"), is the vet.]\n[Jules is a piano tuner.]'
)
EVIE = (
    'Write a reply.\n[Lady Evangeline "Evie" Thorne: 26, widow.]\n[Captain Jonathan "Jack" Ashby: her late husband\'s '
    "brother.]\n[Marcus Vane is a physician.]"
)
SCHOOL = "[하은: 학생.]\n[배경: 안개 속의 학교. 교장은 백운 선생, 사감은 차갑기로 소문난 '얼음 마녀' 서리 선생이다.]"


@pytest.mark.parametrize(
    ("card", "one", "other"),
    [
        (ROZ, "Roz", "Rosalind Okonkwo-Hale"),
        (ROZ, "Rosalind Okonkwo-Hale", "Rosie"),
        (ROZ, "Doc", "Dr. Finn Aldous"),
        (ROZ, "Doc", "Dr. Aldous"),
        (ROZ, "Mrs. Dalgleish", "the Duchess"),
        (EVIE, "Evie", "Lady Evangeline"),
        (EVIE, "Jack", "Captain Ashby"),
        (SCHOOL, "백운 교장", "백운 선생"),
        (SCHOOL, "백운 선생님", "백운 교장 선생님"),
        (SCHOOL, "백운 교장", "교장 백운"),
        (SCHOOL, "백운 교장", "백운"),
        (SCHOOL, "백운", "백운 선생님"),
        ("[백운: 별무리 학교의 교장.]", "백운 교장", "교장 백운"),
        ("[백운은 별무리 학교의 교장이다.]", "백운 교장", "백운"),
    ],
)
async def test_she_is_here_under_another_name(card: str, one: str, other: str) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "Rain.", card, "Be brief.")
        await chat.say("I sit down.", f"{one} pours the tea.", location="shop", present=(one,))
        turn = await chat.say("We go to the dance.", f"{other} laughs.", location="hall", present=(other,))
        people = [each for each in await saga.memory.entities(turn.session.id) if each["kind"] == "character"]
        (who,) = [each for each in people if not each["player"]]
        assert one in (who["name"], *who["aliases"])


@pytest.mark.parametrize(
    ("card", "one", "other"),
    [
        (SCHOOL, "백운 교장", "백운 사감"),
        ("여관에 하인과 요리사가 있다. 여관 하인은 젊다. 여관 요리사는 늙었다.", "여관 하인", "여관 요리사"),
        ("교장은 백운 선생을 미워한다.", "백운 교장", "백운 선생"),
        ("가주는 남궁 대협이다. 남궁 소저가 있다.", "남궁 가주", "남궁 소저"),
    ],
)
async def test_one_title_is_not_another(card: str, one: str, other: str) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "비가 온다.", card, "짧게.")
        await chat.say("앉는다.", f"{one}이 차를 따른다.", location="방", present=(one,))
        turn = await chat.say("나간다.", f"{other}이 웃는다.", location="마당", present=(other,))
        people = [each for each in await saga.memory.entities(turn.session.id) if each["kind"] == "character"]
        assert [each["name"] for each in people if not each["player"]] == [one, other]


async def test_the_dead_headmaster_is_not_told_as_ill() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "종이 울린다.", SCHOOL, "짧게.")
        ill, dead = StatusChange("백운 교장", "중병"), StatusChange("백운 선생", "dead")
        await chat.say("탑에 올라간다.", "백운 교장이 기침한다.", present=("백운 교장",), status_changes=(ill,))
        await chat.say("온실로 간다.", '"백운 선생님이 돌아가셨대."', present=("하은",), status_changes=(dead,))
        told = (await chat.begin("정말?")).context.text
        assert "사망: 백운 교장" in told and "중병" not in told


async def test_a_question_about_the_dead_comes_with_the_turn_where_nothing_tells() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "종이 울린다.", "이야기를 쓴다.", "짧게.")
        ill, dead = StatusChange("백운 교장", "중병"), StatusChange("백운 선생", "dead")
        await chat.say("탑에 올라간다.", "백운 교장이 기침한다.", present=("백운 교장",), status_changes=(ill,))
        for swiped in (False, True):
            said, block = '"백운 선생님이 돌아가셨대."', {"present": ("하은",), "status_changes": (dead,)}
            turn = await (chat.swipe(said + "!", **block) if swiped else chat.say("온실로 간다.", said, **block))
            await saga.background.drain(20)
            findings = (await saga.memory.curated(turn.session.id))["findings"]
            assert [each["text"] for each in findings] == ["백운 선생과 백운 교장은 같은 사람일 수 있습니다."]
