"""The Korean adventure, Ersia: from the village square to the goblin king and back."""

from __future__ import annotations

from saga_server.demo.adventure import Adventure, Expected, Step

_START = {"낡은 장검": 1, "성채의 의뢰장": 1, "은화": 14, "마른 빵": 2, "부싯돌": 1}
_SHOPPED = {**_START, "은화": 2, "치유 물약": 2}
_ARMED = {**_SHOPPED, "불꽃 검": 1}
_HEALED = {**_ARMED, "치유 물약": 1}
_KROOK = "고블린왕 크룩"
_VARGA = "고블린 족장 바르가"

STEPS = (
    Step(1, "send", "주위를 둘러본다.", stream=True, expected=Expected(place="마을 광장", hp=100, inventory=_START)),
    Step(
        2,
        "send",
        '에르겐에게 다가가 인사한다. "편지에 당신을 먼저 만나라고 적혀 있었어요."',
        stream=True,
        expected=Expected(present=frozenset({"에르겐"}), says=("에르겐",)),
    ),
    Step(3, "send", "에르겐에게 대붕괴에 대해 묻는다.", expected=Expected(says=("300년",))),
    Step(
        4,
        "send",
        "은화 열두 닢을 주고 에르겐에게서 치유 물약 두 병을 산다.",
        remark="수량이 있는 거래",
        expected=Expected(inventory=_SHOPPED),
    ),
    Step(
        5,
        "send",
        "에르겐과 작별하고 어둠의 숲으로 간다.",
        stream=True,
        expected=Expected(place="어둠의 숲", present=frozenset()),
    ),
    Step(6, "send", "바르가에게 말을 건다.", expected=Expected(present=frozenset({_VARGA}))),
    Step(
        7,
        "send",
        "낡은 장검으로 바르가를 공격한다.",
        stream=True,
        expected=Expected(hp=85),
    ),
    Step(
        8,
        "swipe",
        remark="같은 요청을 다시 보내고 두 번째 응답을 고른다. 피해는 쌓이지 않아야 한다.",
        stream=True,
        expected=Expected(hp=70, inventory=_SHOPPED),
    ),
    Step(
        9,
        "branch",
        "바르가에게 은화 두 닢을 건넨다.",
        at=6,
        remark="싸우기 전으로 돌아가 다른 길을 간다.",
        expected=Expected(hp=100, place="어둠의 숲"),
    ),
    Step(
        10,
        "send",
        "수풀에서 황금 왕관을 줍는다.",
        expected=Expected(hp=100, inventory={**{k: v for k, v in _SHOPPED.items() if k != "은화"}, "황금 왕관": 1}),
    ),
    Step(
        11,
        "return",
        "바르가와 작별하고 벼락 참나무로 간다.",
        stream=True,
        remark="원래 길로 돌아온다. 왕관은 여기 없고, 은화는 그대로다.",
        expected=Expected(place="벼락 참나무", hp=70, inventory=_SHOPPED, present=frozenset()),
    ),
    Step(
        12,
        "kill",
        "참나무에서 불꽃 검을 천천히 뽑는다.",
        stream=True,
        remark="응답이 끝나자마자 서버를 죽이고(SIGKILL), 같은 데이터로 다시 켠다.",
        expected=Expected(inventory=_ARMED),
    ),
    Step(
        13,
        "send",
        "내 인벤토리에 뭐가 있지?",
        expected=Expected(inventory=_ARMED, hp=70, says=("불꽃 검", "치유 물약 2개"), silent=("황금 왕관",)),
    ),
    Step(14, "send", "치유 물약을 한 병 마신다.", stream=True, expected=Expected(hp=100, inventory=_HEALED)),
    Step(15, "send", "어둠의 숲으로 돌아간다.", expected=Expected(place="어둠의 숲")),
    Step(16, "send", "크룩에게 다가가 이름을 말한다.", stream=True, expected=Expected(present=frozenset({_KROOK}))),
    Step(17, "send", "불꽃 검으로 크룩을 공격한다.", expected=Expected(hp=85)),
    Step(
        18,
        "send",
        "불꽃 검으로 크룩의 숨통을 끊는다.",
        stream=True,
        expected=Expected(dead=frozenset({_KROOK}), present=frozenset()),
    ),
    Step(19, "send", "마을 광장으로 돌아간다.", expected=Expected(place="마을 광장")),
    Step(
        20,
        "send",
        "에르겐에게 고맙다고 말한다.",
        stream=True,
        expected=Expected(present=frozenset({"에르겐"}), hp=85),
    ),
    Step(
        21,
        "send",
        "에르겐이 까마귀에 대해 뭐라고 했지?",
        remark="두 번째 턴의 말이다. 화면 밖으로 밀려나 프론트엔드는 더 이상 보내지 않는다.",
        expected=Expected(repeats=2),
    ),
    Step(
        22, "send", "에르겐과 작별하고 어둠의 숲으로 간다.", expected=Expected(place="어둠의 숲", present=frozenset())
    ),
    Step(
        23,
        "send",
        '크룩을 부른다. "크룩, 대답해!"',
        stream=True,
        remark="죽은 자는 대답하지 않는다.",
        expected=Expected(dead=frozenset({_KROOK}), present=frozenset(), silent=("크룩이 말한다",)),
    ),
    Step(24, "send", "나무에 기대어 잠시 쉰다.", stream=True, expected=Expected(hp=95)),
)

ADVENTURE = Adventure(
    language="ko",
    world="ersia",
    title="에르시아 변방",
    player="아리아",
    card=(
        "너는 에르시아 변방의 이야기꾼이다. 플레이어 아리아의 다음 장면을 쓴다.",
        "이야기꾼은 짧고 차분하게 쓰고, 아리아의 생각과 말을 대신 정하지 않는다.",
        "[새 대화]",
    ),
    greeting="북쪽 고개를 넘은 지 나흘째. 우물이 있는 광장에 종소리가 낮게 깔린다. "
    "의뢰장에는 한 줄뿐이다. 약초상을 먼저 만날 것.",
    after="[세 문장을 넘기지 않는다.]",
    window=8,
    steps=STEPS,
    final=Expected(
        place="어둠의 숲",
        hp=95,
        inventory=_HEALED,
        present=frozenset(),
        met=frozenset({"에르겐", _VARGA, _KROOK}),
        relations={
            "셀린": ("고용주", 1),
            _VARGA: ("hostile", -2),
            _KROOK: ("hostile", -2),
            "에르겐": ("friendly", 1),
        },
        dead=frozenset({_KROOK}),
    ),
    nowhere="황금 왕관",
)
