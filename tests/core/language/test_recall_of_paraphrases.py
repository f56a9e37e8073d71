"""Things told, and asked for in other words: how many are found, in each language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from saga_core.language import detect, every, known, simplified
from saga_core.language.han import variants
from saga_core.recall import looks_back
from saga_core.recall.lexical import LexicalIndex

PAIRS: list[dict[str, Any]] = yaml.load(
    Path(__file__).with_name("pairs.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
)


def hits(language: str, k: int, told: Any = str, asked: Any = str) -> float:
    """The percentage of questions whose passage is among the first ``k``."""
    index = LexicalIndex()
    for number, pair in enumerate(PAIRS):
        index.add(str(number), told(pair[language][0]))
    found = sum(
        str(number) in [id_ for id_, _ in index.search(asked(pair[language][1]), k=k)]
        for number, pair in enumerate(PAIRS)
    )
    return 100 * found / len(PAIRS)


def test_there_are_enough_pairs_in_every_language() -> None:
    assert len(PAIRS) >= 40
    assert all(set(pair) == {each.tag for each in every()} for pair in PAIRS)
    assert all(detect(text, tag) == tag for pair in PAIRS for tag, texts in pair.items() for text in texts)


FIGURES = {"en": (95.5, 100.0), "ko": (95.5, 100.0), "ja": (97.7, 100.0), "zh": (95.5, 100.0)}
"""The percentages among the first one and the first three, as they are told in docs/recall.md."""


@pytest.mark.parametrize("language", known())
def test_the_figures(language: str) -> None:
    found = (round(hits(language, 1), 1), round(hits(language, 3), 1))
    assert found == FIGURES.get(language), f"{language}: add these figures to FIGURES and to docs/recall.md"


@pytest.mark.parametrize("language", ["ja", "zh"])
def test_within_five_points_of_korean(language: str) -> None:
    for k in (1, 3, 5):
        assert hits(language, k) >= hits("ko", k) - 5


def test_traditional_and_simplified_are_read_alike() -> None:
    assert hits("zh", 1, asked=traditional) == hits("zh", 1, told=traditional) == hits("zh", 1)
    assert simplified(traditional("铁匠把钥匙给了谁")) == "铁匠把钥匙给了谁"
    assert traditional("铁匠") != "铁匠"


def traditional(text: str) -> str:
    """A text with a traditional form for each character that has one; the first, whatever the word would need."""
    forms: dict[str, str] = {}
    for written, plain in variants().items():
        forms.setdefault(plain, chr(written))
    return "".join(forms.get(char, char) for char in text)


@pytest.mark.parametrize("language", known())
def test_the_questions_are_seen_to_look_back(language: str) -> None:
    assert all(looks_back(pair[language][1]) for pair in PAIRS)
