"""The endings that may follow a Korean name within one word: particles, combinations of them, and the copula.

They serve only to find names. For recall, words lose only simple particles (``particles.py``), because their terms are
stored. Endings of common names are left out: 엔, 론, 란, 든, 라, 네, and also a bare 들 because of "아들" and the like.
"""

from __future__ import annotations

from saga_core.language.ko.particles import PARTICLES

# Particles with the particles that may follow them. Those of place, direction and person take nearly all.
_FOLLOWED = {
    "에 에서 에게 에게서 한테 한테서 으로 으로부터 로부터 으로서 로서": (
        "는 도 만 만은 만이 만도 의 나 라도 까지 까지는 까지도 조차 마저 야 요"
    ),
    "로": "도 만 만은 의 까지 라도",
    "께 께서": "는 도 만 라도",
    "와 과": "는 도 의 만 만은",
    "하고": "는 도 만 의",
    "이랑 랑": "은 도 만",
    "까지 부터": "는 도 만 만은 의 가 라도 요",
    "보다": "는 도 야",
    "처럼 만큼": "은 도 만 이나",
    "만": "은 이 을 도 의 으로 으로는 으로도 큼 이라도 이다 이야",
    "조차 마저": "도 가",
    "마다": "의 에 에서",
    "밖에": "는 도",
    "말고": "는 도",
    "대로": "는 라면",
}
_ALONE = (
    "만큼 마다 밖에 대로 말고 뿐 뿐만 뿐이 뿐이다 뿐이야 뿐인 쯤 쯤은 쯤이야 커녕 은커녕 는커녕 치고 더러 "
    "이라도 라도 이나마 나마 이든지 든지 이란 이라면 라면 이라서 라서 이라니 라니 이라며 라며 이야말로 야말로 "
    "같은 같이 에다 에다가 에선 에겐 한텐 으론 까진 부턴 보단 께선 에게선 한테선 "
    "가요 는요 은요 를요 을요 도요 만요 랑요 이랑요 한테요 에게요 으로써 로써 이여 이시여"
)
_COPULA = (
    "이다 이야 이에요 예요 이예요 에요 이죠 이지 이지요 이지만 이네 이네요 이군 이군요 이구나 이고 이며 이니 이니까 "
    "인데 인데요 인지 인가 인가요 입니다 입니까 이었다 였다 이었어 였어 이었어요 였어요 이었지 였지 이었지만 였지만 "
    "이었던 였던 이었고 였고 이었는데 였는데 이었습니다 였습니다 이었나 였나 일까 일까요 이라는 라는 이라고 라고 "
    "이라고는 라고는 이라고도 라고도 이라네 라네 이래 이래요 이요 이잖아 잖아 이잖아요 잖아요 니까 니까요 죠 지요 네요 "
    "군요 구나"
)
_PLURAL = (
    "은 이 을 의 도 만 과 에게 에게는 에게서 에게도 한테 한테는 에서 에는 로 로는 로부터 처럼 보다 까지 이나 이랑 "
    "하고 뿐 이다 이야 입니다 이라는 이라고 이었다"
)

BEHIND_NAMES: frozenset[str] = frozenset(
    {
        *PARTICLES,
        *(first + second for heads, tails in _FOLLOWED.items() for first in heads.split() for second in tails.split()),
        *_ALONE.split(),
        *_COPULA.split(),
        *("들" + tail for tail in _PLURAL.split()),
    }
)
"""All endings, for lookup."""

_OPEN_FORMS = (
    "가 는 를 도 의 만 만은 만이 와 랑 랑은 랑도 하고 야 에게 에게는 에게도 에게만 에게서 에게서도 한테 한테는 한테도 "
    "한테만 한테서 한테서는 한테서만 께 께는 께도 께서 께서는 께서도 께서만 로 로부터 보다 보다는 처럼 만큼 "
    "까지 까지도 부터 조차 마저 밖에 뿐 요 "
    "라면 라도 라서 라고 라는 라니 나 며 가요 는요 를요 도요 만요 랑요 한테요 에게요 네 네가 네는 네도 네에 네에서"
)
_CLOSED_FORMS = (
    "이 은 을 과 이랑 이랑은 이나 으로 이야 이에요 이세요 이신데 이다 이라면 이라도 이라고 이라는 입니다 이십니다"
)
_HONORIFICS = {"님": f"{_OPEN_FORMS} {_CLOSED_FORMS}", "이": _OPEN_FORMS}

BEHIND_LONG_NAMES: frozenset[str] = frozenset(
    {"님", *(head + tail for head, tails in _HONORIFICS.items() for tail in tails.split())}
)
"""Endings of names of two syllables or more: 님, the 이 of 지훈이, and particles after them. After one syllable they
form other words: 손님 from 손, 종이를 from 종. 씨 is left out because of 마음씨 and the like."""
