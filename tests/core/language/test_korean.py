"""Korean as it is written: particles, names in sentences, family names, time, numbers."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from saga_core.language import josa, learns, mentions
from saga_core.language.ko.grammar import plain
from saga_core.model import Entity, Kind, WorldState
from saga_core.naming.names import Names
from saga_core.recall.questions import Meant, amount_sought, states_amount, time_named
from saga_core.state_block.amounts import split_amount


@pytest.mark.parametrize(
    ("word", "pair", "whole"),
    [
        ("3", "이/가", "3이"),
        ("2", "이/가", "2가"),
        ("7", "으로/로", "7로"),
        ("10", "과/와", "10과"),
        ("HP", "을/를", "HP를"),
        ("XL", "을/를", "XL을"),
        ("XL", "으로/로", "XL로"),
        ("John", "은/는", "John은"),
        ("Jack", "이/가", "Jack이"),
        ("Robert", "은/는", "Robert는"),
        ("Alex", "은/는", "Alex는"),
        ("은빛 열쇠(낡은 것)", "을/를", "은빛 열쇠(낡은 것)을"),
    ],
)
def test_a_particle_goes_by_how_a_word_is_read(word: str, pair: str, whole: str) -> None:
    assert josa(word, pair) == whole


def test_the_particles_of_the_texts_are_the_one_after_a_consonant_and_the_one_after_a_vowel() -> None:
    texts = (files("saga_core.language.ko") / "texts.toml").read_text(encoding="utf-8")
    pairs = set(re.findall(r"\{\w+:([^{}]+/[^{}]+)\}", texts))
    assert {"은/는", "과/와"} <= pairs <= {"은/는", "이/가", "을/를", "과/와", "으로/로"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("지훈이가 말했다", "지훈"),
        ("지훈이에게서 들었어", "지훈"),
        ("지훈이네 집", "지훈"),
        ("크룩님께서는", "크룩"),
        ("공작님이랑", "공작"),
        ("강산이요?", "강산"),
        ("민지가요?", "민지"),
        ("마렌이잖아", "마렌"),
        ("타비니까", "타비"),
    ],
)
def test_a_name_is_found_with_what_hangs_on_it(text: str, name: str) -> None:
    assert mentions(text, name)


@pytest.mark.parametrize(
    ("text", "name"), [("손님이 왔다", "손"), ("종이를 접었다", "종"), ("유리창이 깨졌다", "유리")]
)
def test_another_word_is_no_name(text: str, name: str) -> None:
    assert not mentions(text, name)


@pytest.mark.parametrize(
    ("known", "kind", "said", "meant"),
    [
        (("남궁혁", "제갈린"), Kind.CHARACTER, "남궁 공자", "남궁혁"),
        (("남궁혁", "제갈린"), Kind.CHARACTER, "제갈 소저", "제갈린"),
        (("선우은서", "선우진"), Kind.CHARACTER, "은서", "선우은서"),
        (("선우은서", "선우진"), Kind.CHARACTER, "선우 소저", None),
        (("황보라", "남궁혁"), Kind.CHARACTER, "보라", "황보라"),
        (("황후 이레네",), Kind.CHARACTER, "이레네 마마", "황후 이레네"),
        (("황후 이레네",), Kind.CHARACTER, "황후 마마", "황후 이레네"),
        (("카페 '모모'",), Kind.LOCATION, "카페 모모에서", "카페 '모모'"),
    ],
)
def test_whom_a_name_means(known: tuple[str, ...], kind: Kind, said: str, meant: str | None) -> None:
    entities = {f"k{number}": Entity(f"k{number}", kind, name) for number, name in enumerate(known)}
    entities["p"] = Entity("p", Kind.CHARACTER, "하늘별")
    found = Names(WorldState(turn="t", player="p", entities=entities)).find(kind, said)
    assert (entities[found].name if found else None) == meant


@pytest.mark.parametrize(
    ("words", "days"),
    [
        ("지지난주에 뭐 했어?", 14),
        ("저저번 주 일 기억나?", 14),
        ("지지난달에 산 것", 60),
        ("그끄저께 뭐라고 했지?", 3),
        ("어저께 먹은 거", 1),
        ("작년 겨울에 만났지", 365),
        ("재작년 일", 730),
        ("일 년 전에", 365),
        ("삼 일 전", 3),
        ("이 주 전에", 14),
        ("석 달 전", 90),
        ("며칠 전에 본 사람", 3),
    ],
)
def test_days_in_words(words: str, days: int) -> None:
    assert time_named(words) == Meant(days=days)


@pytest.mark.parametrize(
    "words", ["사흘 전쟁이 이어졌다", "3일 전투", "그제야 알았다", "이 일 후에 우리는", "지난 주인의 물건"]
)
def test_what_only_looks_like_a_time(words: str) -> None:
    assert time_named(words) is None


@pytest.mark.parametrize(
    ("text", "name", "quantity"),
    [
        ("화살 열두 개", "화살", 12),
        ("은화 스물다섯 닢", "은화", 25),
        ("은자 만 이천 냥", "은자", 12_000),
        ("3만 골드", "골드", 30_000),
        ("1만 2천 골드", "골드", 12_000),
        ("금화 서너 개", "금화", 3),
        ("편지 한 통", "편지", 1),
        ("책 다섯 권", "책", 5),
        ("만 개의 별", "별", 10_000),
        ("만 이천 냥", "냥", 12_000),
    ],
)
def test_a_number_in_words(text: str, name: str, quantity: int) -> None:
    assert split_amount(text) == (name, quantity)


@pytest.mark.parametrize(
    "name",
    [
        *("마법서 2권", "한 병", "천 조각", "십자가", "네 잎 클로버"),
        *("사원 지도", "천장 열쇠", "이병 군번줄", "사장 명함", "이장 도장", "낡은 사원"),
    ],
)
def test_a_name_that_looks_like_a_number(name: str) -> None:
    assert split_amount(name) == (name, None)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("모두 몇 명이었어?", "사람이 서너 명 서 있었다."),
        ("얼마나 줬지?", "은자 만 이천 냥을 건넸다."),
        ("술 얼마나 남았어?", "반 병쯤 남았다."),
        ("언제 보자고 했지?", "글피에 보자고 했다."),
    ],
)
def test_what_answers_a_question_for_an_amount(words: str, told: str) -> None:
    asked = amount_sought(words)
    assert asked is not None and states_amount(f"Turn 1\n{told}", asked)
    assert not states_amount("Turn 1\n반대편에서 웃음소리가 났다.", asked)


@pytest.mark.parametrize(
    ("said", "learned"),
    [
        ("수연이 할머니께 빚을 말씀드렸다", True),
        ("서장님이 할머니에게 빚을 전하셨다", True),
        ("할머니는 빚을 알아내셨다", True),
        ("할머니는 편지를 읽으셨다", True),
        ("할머니는 편지를 읽지 않으셨다", False),
        ("할머니는 편지를 두고 오셨다", False),
    ],
)
def test_verbs_with_a_mark_of_respect_are_read_like_plain_ones(said: str, learned: bool) -> None:
    assert learns(said, ("할머니",)) is learned
    assert plain("가셨다 보셨고 주셨는데 떠나셨다 앉으셨다") == "갔다 봤고 줬는데 떠났다 앉았다"
