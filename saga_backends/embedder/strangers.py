"""Measures the baseline of a model, which is the cosine of unrelated texts.

Some models give unrelated texts a cosine of 0.1, others 0.8. Only a similarity above the baseline is meaningful.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from statistics import fmean

QUESTIONS = (
    "여관 방값을 갚아야 하는데",
    "은빛 열쇠로 탑에 들어가자",
    "다리가 없으면 강을 어떻게 건너지",
    "Who forged the burning blade?",
    "Was the wine safe to drink?",
    "Where do the wolves come from?",
)
"""Queries that are unrelated to all of the passages."""
PASSAGES = (
    "등대지기는 도시로 떠난 딸에게 매일 저녁 편지를 썼다.",
    "시장 사람들은 새로 온 광대의 춤을 보며 웃었다.",
    "산꼭대기 수도원에서는 새벽마다 종을 친다.",
    "The cartographer had never seen the southern coast.",
    "Two children traded marbles behind the schoolhouse.",
    "Snow fell on the orchard all through the night.",
)


def baseline_of(questions: Sequence[array[float]], passages: Sequence[array[float]]) -> float:
    """Return the mean cosine of all pairs of a question and a passage, from 0 to 1. All vectors have unit length."""
    cosines = [sum(a * b for a, b in zip(one, other, strict=True)) for one in questions for other in passages]
    return min(1.0, max(0.0, fmean(cosines)))
