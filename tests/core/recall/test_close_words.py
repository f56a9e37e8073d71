"""Closeness: several words at one place are worth more than each somewhere else."""

from __future__ import annotations

from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.recall.excerpts import SearchedWords
from saga_core.recall.excerpts import closeness as close_to
from saga_core.recall.questions import looks_back

FAR = "The ring is old. " + "Rain falls on the roof. " * 20 + "Mara sleeps by the well."
NEAR = "Mara threw the ring into the well. " + "Rain falls on the roof. " * 20
NONE = "Rain falls on the roof. " * 20
WORDS = ["mara", "ring", "well"]
D = TypeVar("D", int, str)


def closeness(texts: dict[D, str], words: list[str], reach: int) -> dict[D, float]:
    """As a read asks for it."""
    return close_to(texts, SearchedWords(words), reach)


def test_words_at_one_place_count_together() -> None:
    found = closeness({"far": FAR, "near": NEAR, "none": NONE}, WORDS, 160)
    assert found["near"] == pytest.approx(1.0) and 0 < found["far"] < 0.8 and found["none"] == 0.0


def test_what_all_of_them_have_tells_nothing_apart() -> None:
    found = closeness({1: "rain and a ring", 2: "rain and a well"}, ["rain", "ring"], 160)
    assert found == {1: pytest.approx(1.0), 2: 0.0}
    assert closeness({1: "rain", 2: "rain"}, ["rain"], 160) == {1: 0.0, 2: 0.0}
    assert closeness({1: "rain"}, [], 160) == {1: 0.0} and closeness({}, ["rain"], 160) == {}


def test_a_text_is_looked_through_once() -> None:
    sought = SearchedWords(["mara", "well"])
    assert sought.possible(FAR) == ("mara", "well") == sought.possible(NONE)
    assert sought.standing(FAR) == ["mara", "well"] and sought.standing(NONE) == []
    assert sought.possible(NONE) == [] and sought.possible(FAR) is sought.standing(FAR)


TEXTS = st.dictionaries(st.integers(0, 9), st.text(alphabet="ab 열쇠", max_size=60), max_size=6)


@given(TEXTS, st.lists(st.sampled_from(["a", "b", "ab", "열", "쇠"]), unique=True), st.integers(1, 60))
def test_it_is_a_part_of_one_whatever_the_order(texts: dict[int, str], words: list[str], reach: int) -> None:
    found = closeness(texts, words, reach)
    assert found.keys() == texts.keys() and all(-1e-9 <= part <= 1 + 1e-9 for part in found.values())
    backwards = closeness(dict(reversed(texts.items())), words, reach)
    assert backwards == pytest.approx(found)
    wider = closeness(texts, words, reach + 5)
    assert all(wider[key] >= found[key] - 1e-9 for key in found)


@pytest.mark.parametrize(
    "words",
    [
        "Where did she hide it?",
        "I try to remember his name",
        "크룩이 뭐라고 했더라",
        "어제 들은 암호를 떠올린다",
        "열쇠는？",
        "Would Mara like to go camping",
        "I see. Did he marry.",
        "do you still have the key",
        "Tell me of the war",
        "*whispers* tell us everything",
        "Name the kings of the north.",
        "List all of Anton's pets",
        "아리아가 결혼했니",
        "그가 아직 살아 있나요",
        "왕의 이름을 말해 줘",
        "열쇠를 찾았는지 알려 주게",
    ],
)
def test_questions_and_words_of_remembering_look_back(words: str) -> None:
    assert looks_back(words)


@pytest.mark.parametrize(
    "words",
    [
        "I draw my sword and charge.",
        "나는 칼을 뽑아 달려든다.",
        "",
        "문을 연다!",
        "Do it now!",
        "Have at you!",
        "He was there. We go on.",
        "I name the sword Dawn.",
        "She tells me a tale; I nod.",
        "I explain the plan to Mara.",
        "Could be worse.",
        "칼을 뽑았으니까.",
        "비가 오니 동굴로 들어간다.",
        "나는 말해 주었다.",
    ],
)
def test_deeds_do_not(words: str) -> None:
    assert not looks_back(words)
