"""An excerpt: the part of a remembered text that a query asks about."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_core.language import content_words
from saga_core.recall.excerpts import excerpt as _excerpt
from saga_core.recall.excerpts import word_weights


def excerpt(text: str, words: Sequence[str], limit: int) -> str:
    """With words of the same weight."""
    return _excerpt(text, dict.fromkeys(words, 1.0), limit)


STORY = "장소는 숲이다. 크룩이 웃었다. 그는 열쇠를 삼켰다고 말했다. 비가 왔다. 아리아는 말이 없었다. 밤이 왔다."


def test_the_excerpt_is_what_is_asked_about() -> None:
    found = excerpt(STORY, ["열쇠", "말했다"], 36)
    assert "열쇠를 삼켰다고 말했다." in found and found.startswith("… ") and found.endswith(" …")
    assert excerpt(STORY, ["장소"], 24) == "장소는 숲이다. 크룩이 웃었다. …"
    assert excerpt(STORY, [], 24).startswith("장소는 숲이다.")
    assert excerpt("짧은\n글", ["x"], 40) == "짧은 글"
    assert excerpt("열쇠를 주웠다. 열쇠는 검고 열쇠는 차다. 비가 왔다. 밤이 깊었다.", ["열쇠", "검고"], 30) == (
        "열쇠를 주웠다. 열쇠는 검고 열쇠는 차다. …"
    )


def test_a_long_sentence_is_cut_around_the_word() -> None:
    text = "가" * 200 + " 열쇠를 " + "나" * 200
    found = excerpt(text, ["열쇠"], 60)
    assert "열쇠를" in found and len(found) <= 60


@given(st.text(st.sampled_from("가나다 .!?\nab…”"), max_size=200), st.lists(st.sampled_from("가 나다 ab".split())))
@pytest.mark.parametrize("limit", [20, 80])
def test_an_excerpt_fits_and_is_one_line(limit: int, text: str, words: list[str]) -> None:
    found = excerpt(text, words, limit)
    assert len(found) <= limit and "\n" not in found
    assert bool(found) == bool(text.strip())
    for part in found.strip("… ").split():
        assert part in text


def test_letters_that_fold_to_several_keep_their_places() -> None:
    text = "Ein Anfang ohne Belang. " + "Die große Straße, STRAẞE und ﬁn. " + "Viel mehr steht hier nicht geschrieben."
    assert excerpt(text, ["und"], 50) == "… Die große Straße, STRAẞE und ﬁn. …"


def test_a_long_sentence_may_have_more_room_before_it_is_cut() -> None:
    long = "The lantern that nobody had lit since the flood hung above the door of the mill, and swung. "
    text = f"It rained. {long}It rained. " * 3
    assert _excerpt(text, {"lantern": 1.0}, 60, sentence=120) == f"… {long}…"
    assert len(_excerpt(text, {"lantern": 1.0}, 60)) <= 60
    assert len(_excerpt(text, {"lantern": 1.0}, 60, sentence=80)) <= 80


def test_sentences_are_whole_and_lines_are_sentences() -> None:
    text = 'She came.\nHe "left!" The rain went on. Nobody spoke a word that night.'
    assert excerpt(text, ["rain"], 26) == "… The rain went on. …"
    assert excerpt(text, ["left"], 20) == '… He "left!" …'


def test_a_speech_that_is_cut_keeps_its_quotation_marks() -> None:
    text = '> "T. B.," I read. "Not twice." She blows out the candle.\n“True. I was there. Ask me.” Then rain fell.'
    assert excerpt(text, ["twice"], 30) == '… "Not twice." …'
    assert excerpt(text, ["read"], 30) == '> "T. B.," I read. …'
    assert excerpt(text, ["there"], 20) == "… “I was there.” …"
    assert excerpt("「本当だ。雪だ。」彼女は去る。雨が降る。", ["雪"], 10) == "… 「雪だ。」 …"


@pytest.mark.parametrize("limit", range(20, 60))
def test_no_limit_costs_a_speech_its_marks(limit: int) -> None:
    text = '"Two decks down. Follow the smell. Quiet now," she says. "I have debts, Dana. Tell no one." The bell rings.'
    for word in ("smell", "debts", "decks"):
        found = excerpt(text, [word], limit)
        assert found.count('"') % 2 == 0, found


def test_without_a_word_the_beginning_is_told() -> None:
    assert (
        excerpt("Hm. It rains on the mill. A dog barks. Night falls.", [], 45)
        == "Hm. It rains on the mill. A dog barks. …"
    )


def test_of_equal_neighbours_the_later_is_told_too() -> None:
    assert excerpt("One a. Two b. Key c. Four d. Five e.", ["key"], 24) == "… Key c. Four d. …"


def test_the_answer_behind_a_question_is_told_with_it() -> None:
    text = "It rained all day long. Have you found the ring? Under the third stair. Nobody came to the door."
    assert excerpt(text, ["ring"], 60) == "… Have you found the ring? Under the third stair. …"


def test_a_word_is_no_part_of_another_one_but_a_stem_begins_one() -> None:
    text = "He always stood in the shadow of it. The way had been long. Castles rose over there."
    assert excerpt(text, ["way"], 34) == "… The way had been long. …"
    assert excerpt(text, ["castl"], 34) == "… Castles rose over there."
    assert excerpt("처음은 지루했다. 가죽장갑을 잃었다. 끝도 지루했다.", ["장갑"], 20) == "… 가죽장갑을 잃었다. …"


def test_what_few_texts_have_is_worth_more_and_function_words_nothing() -> None:
    texts = ["Mara has the ring.", "Mara has a song.", "Mara sleeps."]
    weights, each = word_weights(content_words("What has Mara, the ring?"), texts)
    assert set(weights) == {"mara", "ring"} and weights["ring"] > weights["mara"] > 0
    assert [set(having) for having in each] == [{"mara", "ring"}, {"mara"}, {"mara"}]
    assert all(weights[word] == worth for having in each for word, worth in having.items())
    assert word_weights(["mara", "ring", "has"], texts, [["mara"]] * len(texts))[0].keys() == {"mara", "ring", "has"}
    assert not any("ring" in having for having in word_weights(["mara", "ring"], texts, [["mara"]] * len(texts))[1])
    assert set(word_weights(["what"], texts)[0]) == {"what"} and word_weights([], texts)[0] == {}


def test_words_that_ask_in_korean_are_worth_nothing() -> None:
    texts = ["무슨 상관이지? 네로아가 웃었다.", "네로아가 잤다."]
    assert set(word_weights(content_words("네로아가 무슨 노래를 언제 불렀지?"), texts)[0]) == {
        "네로아",
        "노래",
        "불렀지",
    }
