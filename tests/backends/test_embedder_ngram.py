"""The n-gram embedder: the same vectors everywhere, nearness by spelling in both languages, a measured baseline."""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import sys
import unicodedata
from array import array
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_backends.embedder.ngram import BACKEND, NgramEmbedder
from saga_core.errors import BadInput
from saga_core.registry import OpenOptions, load
from saga_core.stores.vector import cosine

KOREAN = (
    "고블린 크룩은 어둠의 숲 입구에서 아리아에게 길을 막고 통행료를 요구했다.",
    "대장장이 한스가 완성한 불꽃 검을 아리아에게 건네주었다.",
    "여관 주인 마르타는 밀린 방값 은화 세 닢을 다음 주까지 갚으라고 했다.",
    "낡은 마법사의 탑은 은빛 열쇠가 있어야만 문이 열린다.",
    "늙은 사냥꾼은 붉은 용의 가슴 아래 비늘이 하나 빠져 있다고 속삭였다.",
    "폭우로 강이 불어나 나무 다리가 떠내려갔다.",
    "한밤중에 굶주린 늑대들이 야영지를 습격했다.",
    "백작이 따라 준 포도주에는 독이 들어 있었다.",
)
KOREAN_QUESTIONS = (
    "크룩이 숲에서 뭐라고 했지?",
    "불꽃 검은 누가 만들었더라",
    "여관 방값을 갚아야 하는데",
    "은빛 열쇠로 탑에 들어가자",
    "용의 비늘에 약점이 있다던데",
    "다리가 없으면 강을 어떻게 건너지",
    "늑대가 야영지에 또 오면?",
    "포도주를 마셔도 될까",
)
ENGLISH = (
    "Kruk the goblin blocked the path at the edge of the Dark Forest and demanded a toll.",
    "Hans the blacksmith finished forging the Flame Sword and handed it to Aria.",
    "The innkeeper Martha wants three silver coins for the unpaid room by next week.",
    "The old wizard tower only opens with a silver key.",
    "An old hunter whispered that the red dragon is missing a scale below its chest.",
    "The flood swept the wooden bridge across the river away.",
    "Hungry wolves attacked the camp in the middle of the night.",
    "The wine poured by the count contained poison.",
)
ENGLISH_QUESTIONS = (
    "What did Kruk say in the forest?",
    "Where did I get the flame sword?",
    "How much do I owe the innkeeper for the room?",
    "key of the wizard's tower",
    "Where is the dragon missing scales?",
    "Can we cross the river without a bridge?",
    "Will the wolves attack again at night?",
    "Is there poison in my wine?",
)


async def embed(texts: Sequence[str], dimension: int = 256) -> list[array[float]]:
    return await NgramEmbedder(dimension).embed(texts, "passage")


async def near(one: str, other: str) -> float:
    left, right = await embed([one, other])
    return cosine(left, right)


async def test_it_is_registered() -> None:
    embedder = await load("embedder", "ngram").open(OpenOptions())
    assert (embedder.id, embedder.dimension) == ("ngram-1/256", 256)
    small = await BACKEND.open(OpenOptions(options={"dimension": 64}))
    assert (small.id, small.dimension, len((await small.embed(["검"], "query"))[0])) == ("ngram-1/64", 64, 64)
    for dimension in (15, 4_097, -1, 2.5, "64"):
        with pytest.raises(BadInput, match="dimension"):
            await BACKEND.open(OpenOptions(options={"dimension": dimension}))
    await embedder.aclose()


@given(st.lists(st.text(), max_size=4), st.sampled_from([16, 256]))
async def test_vectors_are_of_unit_length_or_zero_for_blank_texts(texts: list[str], dimension: int) -> None:
    vectors = await embed(texts, dimension)
    assert len(vectors) == len(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert isinstance(vector, array)
        assert (vector.typecode, len(vector)) == ("f", dimension)
        blank = not unicodedata.normalize("NFKC", text).split()
        assert math.hypot(*vector) == (0.0 if blank else pytest.approx(1.0, abs=1e-6))
    assert await embed(texts, dimension) == vectors


async def test_texts_without_letters_are_not_nothing() -> None:
    stars, dots, emoji, emoji_again = await embed(["***", "...", "🗡️ 🐉", "🗡️ 🐉!"])
    assert any(stars) and any(dots) and stars != dots
    assert cosine(emoji, emoji_again) > 0.5


async def test_n_grams_that_cancel_each_other_are_not_nothing() -> None:
    # Of 16 components both letters have the same one, with opposite signs.
    (vector,) = await embed(["b y"], 16)
    assert sorted(vector) == [0.0] * 15 + [1.0]


async def test_each_text_is_embedded_by_itself_and_queries_like_passages() -> None:
    embedder = NgramEmbedder()
    together = await embedder.embed([*KOREAN, *ENGLISH], "passage")
    alone = [(await embedder.embed([text], "query"))[0] for text in (*KOREAN, *ENGLISH)]
    assert together == alone
    assert await embedder.embed([], "query") == []


KNOWN = {
    # Non-zero components of texts of one or two n-grams. These change only together with the version in the id.
    "검": {189: -1.0},
    "ab": {47: -0.57735, 56: 0.57735, 195: 0.57735},
}


async def test_vectors_are_pinned() -> None:
    for text, expected in KNOWN.items():
        (vector,) = await embed([text])
        assert {index: round(value, 6) for index, value in enumerate(vector) if value} == expected


def test_vectors_are_the_same_in_every_process() -> None:
    code = """
import asyncio, hashlib
from saga_backends.embedder.ngram import NgramEmbedder
texts = ["크룩이 어둠의 숲에서 기다린다", "The goblin waits in the Dark Forest"]
vectors = asyncio.run(NgramEmbedder().embed(texts, "query"))
print(hashlib.sha256(b"".join(vector.tobytes() for vector in vectors)).hexdigest())
"""
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "12345")
    }
    assert len(found) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("크룩이", "크룩에게서"),
        ("불꽃 검을 들었다", "불꽃 검이 들었다"),
        (unicodedata.normalize("NFD", "어둠의 숲"), "어둠의 숲"),
        ("DARK Forest", "dark forest"),
        ("ＨＰ１０", "hp10"),
        ("대장장이 한스가", "대장장이 한스는"),
    ],
)
async def test_what_is_written_alike_is_near(one: str, other: str) -> None:
    assert await near(one, other) > 0.6


@pytest.mark.parametrize(
    ("near_one", "far_one", "text"),
    [
        ("goblins", "goal", "goblin"),
        ("어둠의숲", "어두운 방", "어둠의 숲"),
        ("the dragon", "the and with from", "dragon's"),
        ("고블린 크룩", "크리스탈", "크룩"),
    ],
)
async def test_nearness_follows_spelling(near_one: str, far_one: str, text: str) -> None:
    assert await near(text, near_one) > await near(text, far_one) + 0.1


@pytest.mark.parametrize(
    ("questions", "passages", "at_least"), [(KOREAN_QUESTIONS, KOREAN, 7), (ENGLISH_QUESTIONS, ENGLISH, 7)]
)
async def test_questions_find_their_passages(questions: Sequence[str], passages: Sequence[str], at_least: int) -> None:
    asked, known = await embed(questions), await embed(passages)
    first = [max(range(len(known)), key=lambda place: cosine(question, known[place])) for question in asked]
    assert sum(place == index for index, place in enumerate(first)) >= at_least


@pytest.mark.parametrize("passages", [KOREAN, ENGLISH])
@pytest.mark.parametrize("dimension", [256, 1_024])
async def test_the_baseline_is_that_of_unrelated_texts(passages: Sequence[str], dimension: int) -> None:
    vectors = await embed(passages, dimension)
    mean = statistics.mean(cosine(one, other) for one, other in combinations(vectors, 2))
    assert mean == pytest.approx(NgramEmbedder(dimension).baseline, abs=0.04)


async def test_languages_do_not_meet_by_chance() -> None:
    vectors = await embed([*KOREAN, *ENGLISH], 1_024)
    across = [cosine(one, other) for one in vectors[:8] for other in vectors[8:]]
    assert abs(statistics.mean(across)) < 0.02
