"""What may stand behind a Korean name in one word with it: particles, several of them, and the copula.

Only for telling where a name stands. Words of recall lose simple particles alone (``particles.py``): their terms are
stored. Left out is what common names end with: 엔, 론, 란, 든, 라, 네, 님, and 들 by itself for "아들" and its like.
"""

from __future__ import annotations

from saga_core.language.ko.particles import PARTICLES

# Each with what may follow it. Particles of place, direction and person take nearly everything.
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
    "같은 같이 에다 에다가 에선 에겐 한텐 으론 까진 부턴 보단 께선 에게선 한테선 으로써 로써 이여 이시여"
)
_COPULA = (
    "이다 이야 이에요 예요 이예요 에요 이죠 이지 이지요 이지만 이네 이네요 이군 이군요 이구나 이고 이며 이니 이니까 "
    "인데 인데요 인지 인가 인가요 입니다 입니까 이었다 였다 이었어 였어 이었어요 였어요 이었지 였지 이었지만 였지만 "
    "이었던 였던 이었고 였고 이었는데 였는데 이었습니다 였습니다 이었나 였나 일까 일까요 이라는 라는 이라고 라고 "
    "이라고는 라고는 이라고도 라고도 이라네 라네 이래 이래요"
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
"""All of them, for looking one up."""
