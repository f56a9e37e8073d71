"""Embeds texts as hashed character n-grams, without a model, a download or a dependency.

This embedder compares spelling, not meaning: "불꽃 검을" is near "불꽃 검이", but "칼" is far from "검". That is enough
to find the same words again in any language, while a real model finds paraphrases too.

A word in a syllabic script (Hangul, Han, kana) yields its 1- to 3-grams, after a Korean particle is removed. A word in
another script yields its 3- to 5-grams, including marks at both ends. N-grams that occur in nearly every sentence have
a low weight (English function words, Korean n-grams of only the commonest syllables). Each n-gram is hashed (mixed
CRC-32) to a component and a sign, so vectors are the same in every process and on every machine.

Measurements with 20 Korean and 20 English questions, one correct sentence each, and dimension 256: the correct sentence
ranks first for 17 and 20 questions, and its mean cosine is 0.38 and 0.48. Unrelated pairs of sentences have a cosine of
0.02 ± 0.06 (Korean) and 0.06 ± 0.07 (English). Unrelated questions and sentences have 0.02 and 0.02, which led to the
baseline.
"""

from __future__ import annotations

import asyncio
import re
from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from math import hypot, log
from zlib import crc32

from attrs import field, frozen, validators

from saga_core.errors import BadInput
from saga_core.language import normalized, particle_stems
from saga_core.ports import Mode
from saga_core.registry import Backend, OpenOptions

VERSION = 1
"""Part of the embedder's id. It increases with every change that alters vectors."""

BASELINE = 0.03
"""The mean cosine of unrelated texts. It does not depend on the dimension, because the hash includes a sign."""

_SMALLEST, _LARGEST = 16, 4_096
_AT_ONCE = 8
"""The number of texts to embed before other tasks get a chance to run."""

_GOLDEN = 0x9E3779B97F4A7C15
_WORD = re.compile(r"[^\W_]+")
_CACHED_WORDS = 4_096

_SYLLABIC_WEIGHTS = {1: 0.7, 2: 1.0, 3: 0.7}
_COMMON_WEIGHT = 0.3
_COMMON_SYLLABLES = frozenset(
    "가거게고기그까나난네는다단대던데도된들라려로를리만며면서선수습시아어었에여였요으은을의이인있자저적지처하한할해했"
)
_FUNCTION_WORD_WEIGHT = 0.2
_FUNCTION_WORDS = frozenset(
    "a about all an and are as at be been but by did do does for from had has have he her him his how i if in into is "
    "it its me my of on or our she so that the their them then there they this to was we were what when where which "
    "who why will with would you your".split()
)

_Feature = tuple[int, float]
"""The hash of an n-gram, and its weight."""


def _is_syllabic(char: str) -> bool:
    """Whether ``char`` is a Hangul syllable, kana, or Han (including Extension A)."""
    return "가" <= char <= "힣" or "\u3040" <= char <= "\u30ff" or "\u3400" <= char <= "\u9fff"


def _hash(gram: str) -> int:
    # Lone surrogates are allowed. The multiplication removes correlations that remain in the CRC.
    return crc32(gram.encode("utf-8", "surrogatepass")) * _GOLDEN >> 32 & 0xFFFF_FFFF


def _syllabic_grams(run: str) -> Iterator[tuple[str, float]]:
    *_, stem = particle_stems(run)
    for size, weight in _SYLLABIC_WEIGHTS.items():
        for start in range(len(stem) - size + 1):
            gram = stem[start : start + size]
            yield gram, weight * _COMMON_WEIGHT if _COMMON_SYLLABLES.issuperset(gram) else weight


def _letter_grams(run: str) -> Iterator[tuple[str, float]]:
    weight = _FUNCTION_WORD_WEIGHT if run in _FUNCTION_WORDS else 1.0
    marked = f"^{run}$"
    for size in (3, 4, 5):
        for start in range(len(marked) - size + 1):
            yield marked[start : start + size], weight


@lru_cache(_CACHED_WORDS)
def _features(word: str) -> tuple[_Feature, ...]:
    """The n-grams of a word. A word with several scripts ("hp가") is split where the script changes."""
    found: list[_Feature] = []
    for syllabic, chars in groupby(word, key=_is_syllabic):
        grams = (_syllabic_grams if syllabic else _letter_grams)("".join(chars))
        found.extend((_hash(gram), weight) for gram, weight in grams)
    return tuple(found)


def _embed(text: str, dimension: int) -> array[float]:
    text = normalized("NFKC", text).casefold()
    # If the text is only punctuation or emoji, they are treated as words.
    words = _WORD.findall(text) or text.split()
    weights: dict[int, float] = {}
    for word in words:
        for gram, weight in _features(word):
            weights[gram] = weights.get(gram, 0.0) + weight
    components = [0.0] * dimension
    for gram, weight in weights.items():
        damped = weight if weight <= 1.0 else 1.0 + log(weight)
        components[gram % dimension] += damped if gram >> 31 else -damped
    norm = hypot(*components)
    if weights and norm < 1e-6:
        # In a very short text, all n-grams may cancel out in pairs of opposite sign.
        components = [0.0] * dimension
        for gram, weight in weights.items():
            components[gram % dimension] += weight
        norm = hypot(*components)
    return array("f", [component / norm for component in components] if norm else components)


@frozen
class NgramEmbedder:
    """The stateless embedder of this module. It embeds queries and passages in the same way."""

    dimension: int = field(default=256, validator=validators.instance_of(int))

    @dimension.validator
    def _in_range(self, _attribute: object, value: int) -> None:
        if not _SMALLEST <= value <= _LARGEST:
            raise BadInput(f"dimension: {value} is out of range; give {_SMALLEST} to {_LARGEST} (256 is the default)")

    @property
    def id(self) -> str:
        """``ngram-<version>/<dimension>``."""
        return f"ngram-{VERSION}/{self.dimension}"

    @property
    def baseline(self) -> float:
        """The cosine of unrelated texts, as measured."""
        return BASELINE

    @property
    def semantic(self) -> bool:
        """False, because this embedder compares spelling and not meaning."""
        return False

    @property
    def at_once(self) -> bool:
        """True, because ``embed`` only computes and never waits."""
        return True

    async def embed(self, texts: Sequence[str], mode: Mode) -> list[array[float]]:
        """Return a unit vector for each text, or a zero vector for a blank one. 100 characters take about 0.1 ms."""
        found = []
        for number, text in enumerate(texts):
            if number and number % _AT_ONCE == 0:
                await asyncio.sleep(0)
            found.append(_embed(text, self.dimension))
        return found

    async def aclose(self) -> None:
        """Do nothing, because there are no resources to release."""


async def _open(options: OpenOptions) -> NgramEmbedder:
    return NgramEmbedder(**options.take(dimension=256))


BACKEND = Backend(
    kind="embedder",
    name="ngram",
    open=_open,
    summary="Hashed character n-grams: works offline, sees spelling and not meaning",
)
