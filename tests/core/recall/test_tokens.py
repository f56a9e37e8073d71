"""Index terms: Korean bigrams, English stems, and both normal forms alike."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.language.en.grammar import stem
from saga_core.language.ko.grammar import LONGEST, PARTICLES, particle_stems, stripped
from saga_core.language.tokens import content_words, telling_nothing, terms

hangul = st.text(st.sampled_from("가나다라숲검성크룩에서게는은을의로부터이고라"), min_size=1, max_size=8)


def test_korean_words_become_bigrams_without_their_particle() -> None:
    assert terms("어둠의숲에서") == ["어둠", "둠의", "의숲", "어"]
    assert terms("크룩에게서") == terms("크룩이") == terms("크룩") == ["크룩", "크"]


def test_a_one_syllable_word_is_found_with_and_without_particle() -> None:
    assert terms("숲") == ["숲"]
    assert "숲" in terms("숲에서") and "숲" in terms("숲을")
    assert terms("사과") == ["사과", "사"]


def test_a_word_is_not_cut_to_pieces_by_what_only_looks_like_a_particle() -> None:
    assert "성" not in terms("여성")
    assert terms("여성이") == ["여성", "여"]


@pytest.mark.parametrize("words", ["끊겨서 끊어져 끊긴", "닫으라고 닫도록 닫아", "씻기가 씻었어요", "늦는다고 늦을"])
def test_forms_of_a_korean_verb_have_something_in_common(words: str) -> None:
    first, *others = (set(terms(word)) for word in words.split())
    assert all(first & other for other in others)


@pytest.mark.parametrize(
    "words",
    [
        "attack attacks attacked attacking",
        "hurry hurried hurries hurrying",
        "goblin goblins",
        "forge forged forging forges",
        "stop stopped stopping",
        "take took taken takes taking",
        "knife knives",
        "quick quickly quickness",
        "box boxes",
        "Kruk's kruk",
        "die died dies dying",
        "hiss hisses hissing hissed",
        "agree agreed agrees",
        "tie ties",
        "create created creating creation",
        "happy happily happiness",
    ],
)
def test_forms_of_one_english_word_have_one_stem(words: str) -> None:
    assert len({stem(word.lower()) for word in words.split()}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("king", "kin"), ("boss", "bo"), ("bus", "bu"), ("sing", "s"), ("red", "r")]
)
def test_different_english_words_keep_apart(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz'", min_size=1, max_size=14))
def test_a_stem_is_never_longer_than_the_word_by_more_than_a_letter(word: str) -> None:
    assert len(stem(word)) <= len(word) + 1


def test_numbers_other_scripts_and_accents() -> None:
    assert terms("HP 85, café, 東京都 Москва") == ["hp", "85", "café", "东京", "京都", "东", "京", "都", "москва"]
    assert terms("hp가 10") == ["hp", "가", "10"]


@given(st.text(max_size=60))
def test_any_text_gives_terms_and_both_normal_forms_agree(text: str) -> None:
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert terms(composed) == terms(decomposed)
    assert all(terms(composed))


@given(hangul)
def test_stripping_takes_the_longest_particle_and_leaves_two_syllables(word: str) -> None:
    *_, shortest = particle_stems(word)
    assert stripped(word) == shortest


def test_the_longest_particle_is_as_long_as_it_says() -> None:
    assert max(map(len, PARTICLES)) == LONGEST


def test_content_words_stand_in_sentences_of_other_inflection() -> None:
    sentence = "크룩은 열쇠를 삼켰다고 말했다. he attacked them."
    found = [word for word in content_words("크룩이 열쇠는? a attacks") if word in sentence]
    assert found == ["크룩", "열쇠", "attack"]


@pytest.mark.parametrize(
    ("words", "digits"),
    [
        ("three wolves", "3 wolves"),
        ("Seven pearls", "7 pearls"),
        ("twenty soldiers", "20 soldiers"),
        ("eleven days", "11 days"),
    ],
)
def test_numbers_in_words_are_those_in_digits(words: str, digits: str) -> None:
    assert terms(words) == terms(digits)


def test_korean_numbers_in_words_are_found_by_digits_too() -> None:
    assert "7" in terms("진주 일곱 개") and "7" in terms("7개의 진주") and "일곱" in terms("진주 일곱 개")
    assert "12" in terms("열두 명") and "2" in terms("둘 다") and "9" in terms("아홉을")
    assert terms("one 하나 세 사람").count("1") == 0 and "3" not in terms("세상")
    assert "10" not in terms("열쇠") and "2" not in terms("둘레") and "10" not in terms("열이 난다")


@pytest.mark.parametrize(
    "text", ["Mercy has none.", "Are you ready?", "sixty crowns", "He was waving.", "It is a story."]
)
def test_content_words_of_english_stand_in_the_text_that_they_are_of(text: str) -> None:
    assert all(word in text.casefold() for word in content_words(text) if word not in telling_nothing())


def test_content_words_of_english_are_few_other_words() -> None:
    assert content_words("having using mercy story waving joking hurried told") == [
        "have", "use", "mercy", "story", "wav", "jok", "hurri", "tell"
    ]  # fmt: skip
