"""Korean verbs, given as conjugation stems. ``_`` stands for an optional space."""

from __future__ import annotations

import re

from saga_backends.chat.offline.intent import Act
from saga_backends.chat.offline.verbs import Verb


def _verb(act: Act, anywhere: str = "", *, alone: str = "", deadly: bool = False) -> Verb:
    """Build a verb. The stems in ``alone`` are so short that they are only matched at the start of a word.

    A match extends to the end of the word, so "발견" matches all of "발견하고".
    """
    forms = "|".join(anywhere.split())
    words = "|".join(alone.split())
    pattern = "|".join(part for part in (forms, f"(?<![가-힣])(?:{words})" if words else "") if part)
    return Verb(act, re.compile(f"(?:{pattern})[가-힣]*".replace("_", r"\s*")), deadly)


VERBS: tuple[Verb, ...] = (
    _verb(
        Act.ATTACK,
        "숨통[을를]?_끊 목숨[을를]?_끊 숨[을를]?_끊 목을_벤 목을_베 목을_친다 목을_치 목을_자르 심장을_찌 "
        "심장을_꿰 심장을_뚫 마지막_일격 결정타 끝장 처치 죽인 죽이 죽여 쓰러뜨 해치운 해치우 해치워 베어_넘",
        deadly=True,
    ),
    _verb(
        Act.ATTACK,
        "공격 찌른 찌르 찔러 때린 때리 때려 내리친 내리치 내려친 내려치 덤벼 덤빈 싸운 싸우 싸워 돌격 맞선 칼을_겨눈",
        alone="벤다 베어 베고 벴 쏜다 쏘아 쏘고 쐈 친다 치고",
    ),
    _verb(Act.PART, "헤어[지져진졌질] 작별 떠나보[내낸] 배웅 남겨_두 이별 돌려보[내낸]"),
    _verb(
        Act.GO,
        "(?:되?돌아|들어|걸어|달려|올라|내려|건너|찾아|나아|뛰어|넘어|따라)_"
        "(?:간다|가자|갑니다|가고|가서|가며|가려|가겠|갔다|가요|갈게) "
        "향한다 향해 향하 향했 이동한다 이동해 이동하 이동했 떠난다 떠나자 떠나고 발걸음을_옮 걸음을_옮",
        alone="간다 가자 갑니다 가고 가서 가려 가겠 갔다 가요 갈게 가_본다 가_볼 가_보자",
    ),
    _verb(Act.LOOK, "둘러본 둘러보 살펴본 살펴보 살핀 살피 관찰"),
    _verb(Act.BUY, "구입 구매", alone="산다 사고 사서 샀 사겠 살게 사려"),
    _verb(Act.THANK, "고맙 고마 감사 칭찬 격려"),
    _verb(Act.INSULT, "모욕 비웃 조롱 욕설 욕한 욕하 욕을 침을_뱉 저주를_퍼"),
    _verb(
        Act.TALK,
        "말을?_건 말을?_걸 말한 말하 이야기 대화 인사 만난 만나 부른다 부르 불러 불렀 다가간 다가가 다가선 외친 외치",
        alone="묻는 묻자 물어 물었",
    ),
    _verb(
        Act.TAKE,
        "줍 주워 주웠 집어 집는 챙긴 챙겨 챙기 획득 발견 찾아낸 손에_넣 꺼낸 꺼내 뽑는 뽑아 건네받",
        alone="얻는 얻어 얻고 얻었 받는 받아 받고 받았 든다 찾는",
    ),
    _verb(
        Act.GIVE,
        "건네 건넨 내민 내밀 바친 바치 넘긴다 넘겨 선물 돌려_준 돌려_주",
        alone="준다 주고 줘 주었 줬 주며 주겠 줄게 주자",
    ),
    _verb(Act.DROP, "버린 버리 버려 내버 떨어뜨 떨어트 잃어 내려_놓"),
    _verb(Act.DRINK, "마신 마시 마셔 마셨 들이켠 들이켜 삼킨 삼키 먹는 먹고 먹었 바른다 바르고"),
    _verb(Act.WIELD, "사용 휘두 휘둘 꺼내_든 치켜든", alone="쓴다 쓰고 써서 썼 켠다"),
    _verb(
        Act.REST,
        "쉰다 쉬고 쉬며 쉬었 쉬자 휴식 잠을 잠든 잠이 야영 눈을_붙 숨을_고[르른]",
        alone="잔다 자자 눕는",
    ),
    _verb(Act.CONTINUE, "계속 이어서 그다음"),
)

USING = ("사용", "쓴", "쓰", "써", "썼")
"""Verbs for using an item without saying how. A potion is then drunk, and a sword is swung."""
