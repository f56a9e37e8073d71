"""Telling: what of a turn of a talk is told."""

from __future__ import annotations

from saga_core.recall.excerpts import SentenceTerms, most_similar_sentence, particular_sentences


def told(text: str, *words: str) -> str:
    """What is left of ``text`` where sentences with one of ``words`` are particular."""

    def particular(worded: SentenceTerms) -> int:
        bits = 0
        for word in words:
            bits |= worded.places.get(word, 0)
        return bits

    return particular_sentences(text, particular)


def test_what_everybody_says_is_left_out_and_marked() -> None:
    text = "> Hi! I bought a kiln. Great, isn't it?\nWow! Where is it? It stands in the shed. Bye!"
    assert told(text, "kiln", "shed") == "> … I bought a kiln. … It stands in the shed. …"
    assert told(text, "shed") == "… It stands in the shed. …"
    assert particular_sentences(text, lambda worded: (1 << 7) - 1) == text.replace("\n", " ")


def test_a_question_is_told_with_what_answers_it_or_alone() -> None:
    text = "> I bought a kiln. Where is the shed?\nIn the barn. And your kiln?"
    assert told(text, "kiln", "shed") == "> I bought a kiln. …"
    assert told(text, "shed", "barn") == "> … Where is the shed? In the barn. …"
    assert told(text, "shed") == "> … Where is the shed? …"


def test_of_words_that_stay_it_is_told_whose_they_are() -> None:
    assert told("Melanie: Wow! I bought a kiln. Bye!", "kiln") == "Melanie: … I bought a kiln. …"
    assert told("> Hi!\nMelanie: I bought a kiln.", "kiln") == "… Melanie: I bought a kiln."
    assert told("> Hi!\nMelanie: Wow! I bought a kiln.", "kiln") == "Melanie: … I bought a kiln."


def test_a_speech_that_is_cut_keeps_its_quotation_marks() -> None:
    text = '"Two dogs. Never in the shed. No," she says. "A kiln?" She lights a lamp. "Hm." Bye!'
    assert told(text, "shed", "lamp") == '… "Never in the shed." … She lights a lamp. …'
    assert told(text, "dog", "kiln", "lamp") == '"Two dogs." … "A kiln?" She lights a lamp. …'
    assert told("「蔵だ。手帳だ。」雨。", "手账") == "… 「手帳だ。」 …"


def test_a_turn_in_which_nothing_is_particular_has_nothing_to_tell() -> None:
    text = "> Hi there!\nHow was your day? A good day, I hope. Bye!"
    assert told(text) == ""
    assert most_similar_sentence(text, {"hi": 1.0}) == "> Hi there! …"
    assert most_similar_sentence(text, {"day": 1.0, "hope": 1.0}) == "… A good day, I hope. …"
    assert most_similar_sentence(text, {"kiln": 1.0}) == "" and most_similar_sentence(text, {}) == ""


def test_what_follows_a_question_is_told_with_it() -> None:
    assert (
        most_similar_sentence("> Hi!\nHow was your day? A good day. Bye!", {"day": 1.0})
        == "… How was your day? A good day. …"
    )
    assert most_similar_sentence("A good day. How was yours?", {"yours": 1.0}) == "… How was yours?"


def test_a_turn_is_told_anew_when_other_sentences_are_particular() -> None:
    text = "One kiln. Two dogs. Three lakes. Four barns."
    for words in (("kiln",), ("dog",), ("kiln", "lake"), ("dog", "barn"), ("kiln", "dog", "lake", "barn"), ("kiln",)):
        line = told(text, *words)
        assert all((word in line) == (word in words) for word in ("kiln", "dog", "lake", "barn")), line
    assert [told(text, *words) for words in ((), ("kiln",))] == ["", "One kiln. …"]
