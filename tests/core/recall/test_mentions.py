"""One pass over a text finds exactly the names that ``korean.mentions`` finds one by one."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.language import is_hangul, match_name, mentions, nfc
from saga_core.language.ko.grammar import PARTICLES
from saga_core.recall.lorebook import NameIndex, Passage

PIECES = [*"성 여성 숲 어둠 의 에서 은 이 크룩 문 King king the Goblin . , ' _ - 『 』 \n 3".split(" "), " ", "  "]
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
names = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join).filter(str.strip)


def found(text: str, *several: str) -> list[str]:
    index = NameIndex((name, (name,)) for name in several)
    return sorted(index.found_in(Passage.of(text)))


@given(texts, st.lists(names, max_size=8, unique=True))
def test_equals_the_rule_name_by_name(text: str, several: list[str]) -> None:
    folded = Passage.of(text).folded
    expected = set()
    for name in several:
        form = " ".join(match_name(nfc(name)).split())
        joined = form.replace(" ", "")
        forms = {form, joined} if is_hangul(joined[0]) and joined.isalnum() else {form}
        if any(mentions(folded, each) for each in forms):
            expected.add(name)
    assert found(text, *several) == sorted(expected)


def test_a_name_is_no_part_of_another_word() -> None:
    assert found("여성이 성문을 지났다.", "성") == []
    assert found("성의 뜰에 섰다. 성!", "성") == ["성"]


def test_particles_case_and_spaces() -> None:
    assert found("고블린왕 크룩에게서 어둠의숲으로", "고블린왕 크룩", "어둠의 숲", "크룩") == [
        "고블린왕 크룩",
        "어둠의 숲",
        "크룩",
    ]
    assert found("KRUK, the goblin\nking!", "Kruk", "the goblin king", "gob") == ["Kruk", "the goblin king"]


def test_no_name_reaches_from_one_text_into_the_next() -> None:
    index = NameIndex([(1, ("어둠의 숲",))])
    assert index.found_in(Passage.of("어둠의", "숲")) == set()
    assert index.found_in(Passage.of("어둠의\n숲")) == {1}


@given(texts, st.lists(names, min_size=1, max_size=5))
def test_both_normal_forms_agree(text: str, several: list[str]) -> None:
    composed = NameIndex((name, (name,)) for name in several)
    decomposed = NameIndex((name, (unicodedata.normalize("NFD", name),)) for name in several)
    passage = Passage.of(unicodedata.normalize("NFD", text))
    assert composed.found_in(Passage.of(text)) == decomposed.found_in(passage)


def test_one_name_may_mean_two_things_and_one_thing_have_two_names() -> None:
    index = NameIndex([("forge", ("대장간", "광장")), ("square", ("광장",))])
    assert index.found_in(Passage.of("광장으로")) == {"forge", "square"}
    assert index.found_in(Passage.of("대장간에")) == {"forge"}


def test_names_are_cut_out_with_their_particles() -> None:
    index = NameIndex([(1, ("크룩",)), (2, ("Elder Maren",)), (3, ("성",))])
    assert index.cut_from("크룩에게  열쇠를 물었다, Elder Maren's key") == "열쇠를 물었다, 's key"
    assert index.cut_from("여성은 성에 있다") == "여성은 있다"
    assert index.cut_from("아무도 없다") == "아무도 없다"
    assert index.cut_from("Elder Marens, Elder brother; Elder Maren에게 간다") == "Elder Marens, Elder brother; 간다"
    assert index.cut_from("İ 성 İ") == "i̇ i̇"
    both = NameIndex([(1, ("어둠의 숲",)), (2, ("숲",)), (3, ("", " "))])
    assert both.cut_from("어둠의 숲으로 간다") == "간다"
    assert both.found_in(Passage.of("어둠의 숲으로")) == {1, 2}


@given(texts, st.lists(names, max_size=5))
def test_what_was_cut_is_not_found_again(text: str, several: list[str]) -> None:
    index = NameIndex((name, (name,)) for name in several if " " not in name.strip() and name.isalnum())
    assert index.found_in(Passage.of(index.cut_from(text))) == set()


@pytest.mark.parametrize(
    "tail",
    "에서 에서는 에서도 으로 으로는 은 이 을 의 과 와 도 만 까지 부터 처럼 보다 하고 이랑 이나 에는 에도 에만 에의 "
    "에서만 에서의 에게는 에게서는 한테는 한테도 께서는 으로만 으로도 으로부터는 까지도 까지는 부터는 부터의 "
    "보다는 처럼도 만은 만이 만의 마다 마저도 조차도 밖에 밖에는 뿐 뿐이다 쯤 대로 만큼은 이라는 라는 이라고 라고 "
    "이란 이라도 이라면 이라니 이야 이에요 예요 입니다 입니까 이었다 였다 이었어요 이었던 이지만 인데 인가요 일까 "
    "이네요 이구나 이다 에선 까진 들은 들이 들에게 들이라는".split(),
)
def test_whatever_may_stand_behind_a_name_in_korean(tail: str) -> None:
    for name in ("폐광", "크룩", "바다"):
        assert mentions(f"나는 {name}{tail} 생각했다", name)
        assert found(f"{name}{tail} 뭐가 있지?", name) == [name]
        assert found(f"{name}{tail}꾼", name) == [], "a particle ends the word"


def test_no_longer_name_is_taken_for_a_shorter_one_with_a_particle() -> None:
    """Of names and words of which one begins another none of the longer ones is taken for the shorter one, but where it
    goes on with a simple particle: nobody can tell 조안나 from 조안 and 나."""
    words = (
        "가람 가람휘 고블린 고블린왕 구름 구름이끼 그림 그림자 기린 기린초 나라 나라사랑 나래 나래울 나무 나무꾼 "
        "나비 나비꽃 노을 노을빛 다니엘 다니엘라 다미 다미엔 다솜 다솜비 달래 달래강 도깨비 도깨비불 독수리 "
        "독수리성 돌담 돌담길 라온 라온제나 라파엘 라파엘라 레나 레나타 레이 레이나드 레이라 레이븐 레이엔 레이첼 "
        "로잘린 로잘린드 로즈 로즈마리 루나 루나리아 루시 루시아 루시안 루시엔 루카 루카스 리나 리나리 리아 리아나 "
        "리안 리안느 마르 마르코 마르타 마리 마리네 마리안 마리엔 마리온 마을 마을회관 마음 마음씨 메리 메리골드 "
        "모란 모란디 무릉 무릉도원 미나 미나리 미라 미라벨 미르 미르난데 바다 바다새 바람 바람개비 벨라 벨라돈나 "
        "별이 별이끼 보름 보름달 비비 비비안 비비엔 사라 사라반드 사이 사이렌 산들 산들바람 세라 세라핀 세실 "
        "세실리아 소나 소나기 소나무 소라 소라게 솔라 솔라리스 수리 수리온 숲속 숲속집 시나 시나브로 아나 아나벨 "
        "아델 아델라 아라 아라곤 아라벨 아르 아르엔 아르카 아리 아리아 아리엔 아리엘 아린 아린델 아버지 아벨 "
        "아벨리아 아이 아이네 아이든 아이라 아이란 아이린 안나 안나벨 안젤 안젤라 알렉 알렉산더 앨리 앨리스 에리 "
        "에리카 에스텔 에스텔라 엘리 엘리사 엘리엔 여우 여우비 올리비 올리비아 용사 용사제 유리 유리안 유리카 유진 "
        "유진초 이사벨 이사벨라 이안 이안나 이야기 이야기꾼 인디 인디고 자매 자매나무 장미 장미란 제니 제니퍼 조안 "
        "조안나 줄리 줄리안 줄리엣 진주 진주조개 천만 천만복 카라 카라반 카렌 카렌듈라 카이 카이든 카이라 카이로스 "
        "카이엔 카타리 카타리나 칼리 칼리오페 클라라 테오 테오도르 토끼 토끼풀 파올 파올라 페이 페이지 피오나 하나 "
        "하나비 하늘 하늘소 하람 하람결 한나 한나라 한달 한달래 한별 한별희 해나 해나리 헤이 헤이든 헬레 헬레나 "
        "호수 호수공원"
    ).split()
    pairs = [(one, other) for one in words for other in words if one != other and other.startswith(one)]
    pairs = [(one, other) for one, other in pairs if other.removeprefix(one) not in PARTICLES]
    assert len(pairs) > 110
    assert [(one, other) for one, other in pairs if mentions(other, one) or found(f"{other}에게 간다", one)] == []
