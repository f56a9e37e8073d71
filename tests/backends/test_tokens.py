"""The token estimate against true counts, and what callers rely on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_backends.tokens import estimate
from saga_backends.tokens.estimate import BACKEND, EstimateCounter
from saga_core.errors import BadInput
from saga_core.registry import OpenOptions

KOREAN = """\
비가 그친 항구 도시 라벤의 골목에는 생선 비린내와 젖은 나무 냄새가 뒤섞여 있었다. 카이는 모자를 깊이 눌러쓰고 \
선술집 '인어의 한숨'의 문을 밀었다. 안쪽 구석, 촛불이 거의 닿지 않는 자리에 약속한 여자가 앉아 있었다.

"늦었네." 여자가 술잔을 내려놓으며 말했다. "미행은 없었고?"

"두 명 있었는데 시장에서 따돌렸어. 물건은?"

그녀는 대답 대신 기름종이로 싼 꾸러미를 탁자 위로 밀었다. 카이가 손을 뻗자 그녀의 손이 먼저 꾸러미를 덮었다. \
"돈부터. 금화 삼십 닢이라고 했지?"

*카이는 한숨을 쉬며 주머니를 뒤졌다. 스물일곱 닢. 세 닢이 모자랐다.*
"""
ENGLISH = """\
Rain had stopped over the harbor of Raven, leaving the alleys smelling of fish and wet timber. Kai pulled his hat down \
low and shouldered open the door of the Mermaid's Sigh. In the far corner, where the candlelight barely reached, the \
woman he was supposed to meet sat waiting.

"You're late," she said, putting her tankard down. "Anyone follow you?"

"Two of them. I lost them at the market. Where's the package?"

Instead of answering she slid an oilcloth bundle across the table. When Kai reached for it, her hand covered it first. \
"Money. Thirty gold pieces, wasn't it?"

*Kai sighed and dug through his pockets. Twenty-seven. Three short.*
"""
PAGE = """\
---
session: s01hq3zkt7
player: 카이
location: 항구 도시 라벤
hp: 72
---

# State

| item | quantity |
| --- | --- |
| 등대지기의 열쇠 | 1 |
| gold coin | 27 |

- **미라** (fence): wary, +1
"""
JAPANESE = "彼女は微笑んで、何も言わずに扉を開けた。その夜、王国の首都には雪が降っていた。"
CHINESE = "她微微一笑，什么也没说，只是推开了门。那天夜里，王国的首都下着雪。"
RECORD = '{"moved": {"to": "북쪽 탑"}, "hp": -5, "gained": [], "lost": ["은화 10"]}'
RANDOM = "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ"

# Text, its true count in o200k_base, and the error that is allowed.
SAMPLES = {
    "korean": (KOREAN, 219, 0.06),
    "english": (ENGLISH, 146, 0.06),
    "page": (PAGE, 76, 0.15),
    "japanese": (JAPANESE, 35, 0.15),
    "chinese": (CHINESE, 31, 0.15),
    "record": (RECORD, 34, 0.2),
    "random": (RANDOM, 49, 0.25),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_estimate_is_near_the_true_count(name: str) -> None:
    text, true, allowed = SAMPLES[name]
    assert EstimateCounter().count(text) == pytest.approx(true, rel=allowed)


def test_long_texts_cost_what_their_parts_cost() -> None:
    counter = EstimateCounter()
    assert counter.count(KOREAN * 50) == pytest.approx(50 * counter.count(KOREAN), rel=0.02)


@given(st.text() | st.text(st.characters(exclude_categories=[])))
def test_any_text_has_a_count(text: str) -> None:
    counter = EstimateCounter()
    first = counter.count(text)
    assert (first >= 1) if text else (first == 0)
    assert counter.count(text) == first
    assert counter.count("".join(list(text))) == first


@given(st.sampled_from(["-", " ", "\n", "━", "{", "a", "A", "7", "가", "漢", "😀", "й", "\udc00"]), st.integers(1, 300))
def test_runs_are_never_free_nor_absurd(sign: str, times: int) -> None:
    assert 1 <= EstimateCounter().count(sign * times) <= 3 * times + 3


def test_more_korean_is_more_tokens() -> None:
    counter = EstimateCounter()
    counts = [counter.count(KOREAN[:length]) for length in range(0, len(KOREAN), 25)]
    assert counts == sorted(counts) and counts[0] == 0


def test_the_memory_of_counts_is_bounded_and_keeps_what_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "_ENTRIES", 4)
    computed: list[str] = []
    real = estimate._estimate

    def counted(text: str) -> float:
        computed.append(text[0])
        return real(text)

    monkeypatch.setattr(estimate, "_estimate", counted)
    counter = EstimateCounter()
    kept = counter._known
    for name in "abacadaeba":
        counter.count(name * 100)
        assert len(kept._known) <= 4
    assert "".join(computed) == "abcdeb", "what is used again and again stays, and what is not goes"
    counter.count("short")
    counter.count("short")
    assert computed[-2:] == ["b", "s"], "short ones are kept apart"
    assert len(kept._known) <= 4


async def test_scale_multiplies_and_shows_in_the_id() -> None:
    plain = await BACKEND.open(OpenOptions())
    scaled = await BACKEND.open(OpenOptions(options={"scale": 1.6}))
    assert scaled.count(KOREAN) == pytest.approx(1.6 * plain.count(KOREAN), abs=2)
    assert plain.id != scaled.id and "1.6" in scaled.id
    for scale in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(BadInput, match=r"options\.scale"):
            await BACKEND.open(OpenOptions(options={"scale": scale}))
    with pytest.raises(BadInput, match=r"options\.model: unknown option"):
        await BACKEND.open(OpenOptions(options={"model": "gpt"}))
